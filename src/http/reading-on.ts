import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** How much of a refused body is read and thrown away, and for how long after the answer. */
interface ReadingOn {
  readonly bytes: number;
  readonly ms: number;
}

/** Enough for any body that someone sends by mistake; an attachment has at most 20 MiB. */
const USUAL: ReadingOn = { bytes: 32 * 1024 ** 2, ms: 10_000 };
/** How often what has been read is compared with the limits, milliseconds. */
const LOOK_EVERY_MS = 100;

/**
 * Lets a sender read an answer that came before its body had arrived (413, 404, 401, 503 …): what is left of the body is
 * read and thrown away within limits, before the connection is closed or used again. If it were closed at once, the
 * kernel would answer what still arrives with a reset, and a sender that writes first and reads afterwards would lose the
 * answer and try for ever (RFC 9112 §9.6). Call it before the server listens.
 */
export function readOnAfterRefusals(server: Server, limits: ReadingOn = USUAL): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return;
    const startedAt = performance.now();
    const { socket } = request;
    let isLast = false;
    const closeSoon = () => Socket.prototype.destroySoon.call(socket);
    // Node closes with this method after the last answer of a connection.
    const endFirst = () => {
      isLast = true;
      if (request.complete) closeSoon();
      else socket.end();
    };
    socket.destroySoon = endFirst;
    // After Node's own listener, which closes the connection or prepares it for the next request.
    response.once('finish', () => {
      if (socket.destroySoon === endFirst) Reflect.deleteProperty(socket, 'destroySoon');
      if (request.complete || socket.destroyed) return;
      // Node's limit for the whole request would otherwise send a second answer.
      const left = server.requestTimeout - (performance.now() - startedAt) - 2 * LOOK_EVERY_MS;
      discard(request, socket, { bytes: limits.bytes, ms: Math.min(limits.ms, Math.max(left, 0)) }, () => {
        if (isLast) closeSoon();
      });
    });
  });
}

/** Reads and throws away the rest of a request; `then`: it has arrived. Over a limit, the connection is cut. */
function discard(request: IncomingMessage, socket: Socket, limits: ReadingOn, then: () => void): void {
  const before = socket.bytesRead;
  const until = performance.now() + limits.ms;
  const timer = setInterval(() => {
    if (socket.bytesRead - before > limits.bytes || performance.now() > until) socket.destroy();
  }, LOOK_EVERY_MS);
  const stop = () => clearInterval(timer);
  request.once('end', () => {
    stop();
    then();
  });
  // A sender that gives up.
  request.on('error', stop);
  socket.once('close', stop);
  request.resume();
}
