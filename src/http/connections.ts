import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Descriptors that the public listener leaves to the admin listener, the database, the journal and calls to the service. */
export const DESCRIPTORS_KEPT_BACK = 300;
/** Connections of the admin listener at once. */
export const ADMIN_CONNECTIONS = 100;

/** How many connections the public listener may have, of those that were asked for. `descriptors`: what the process may open. */
export function connectionsWithin(asked: number, descriptors: number): number {
  return Math.min(asked, Math.max(descriptors - DESCRIPTORS_KEPT_BACK, Math.floor(descriptors / 3)));
}

/** How many files and connections this process may have open; Infinity where the system does not say. */
export function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/** A connection, as Node's HTTP server marks one that has a request. */
type HttpSocket = Socket & { readonly _httpMessage?: { readonly req: IncomingMessage } | null };

/**
 * Bounds the connections of a server. A new one beyond the limit takes the place of the one that has waited longest for a request to
 * arrive; where none waits for a request, of one that is kept alive between two. One that is being answered is never closed: where all
 * are, the new one is.
 */
export function limitConnections(server: Server, limit: number): void {
  // In the order of their arrival.
  const open = new Set<HttpSocket>();
  const served = new WeakSet<Socket>();
  server.on('request', (request) => served.add(request.socket));
  server.on('connection', (socket: HttpSocket) => {
    if (open.size >= limit) {
      const closed = oldestOf(open, served) ?? socket;
      open.delete(closed);
      closed.destroy();
      if (closed === socket) return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
}

function oldestOf(open: ReadonlySet<HttpSocket>, served: WeakSet<Socket>): HttpSocket | null {
  let keptAlive: HttpSocket | null = null;
  for (const socket of open) {
    const message = socket._httpMessage;
    const answering = message !== null && message !== undefined;
    if (answering ? !message.req.complete : !served.has(socket)) return socket;
    if (!answering) keptAlive ??= socket;
  }
  return keptAlive;
}
