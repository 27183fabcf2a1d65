import { once } from 'node:events';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../context/context.ts';
import { CodedError } from '../core/errors.ts';
import { officerOf } from './auth/sessions.ts';

/** Duration of a stream in milliseconds: a client that follows opens another and is authenticated again. */
const STREAM_MS = 60_000;
/** Concurrent streams in this process, and of one person or token, so that one cannot use up all of them. */
const STREAMS = 100;
const STREAMS_EACH = 20;

let streams = 0;
const streamsOf = new Map<string, number>();

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server closes, which ends streams. */
    readonly closing: AbortSignal;
  }
}

/** Ends the streams of this server when it closes. Call it on the root. */
export function endStreamsOnClose(app: FastifyInstance): void {
  const closing = new AbortController();
  app.decorate('closing', closing.signal);
  app.addHook('preClose', async () => closing.abort());
}

/** One event; a client sends its `id` in the header Last-Event-ID when it reopens a stream. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: number;
}

/**
 * Answers with server-sent events (WHATWG HTML, section 9.2) for at most a minute, until they end, the client
 * disconnects or the server closes. Errors: too_many_requests.
 */
export async function sendEvents(
  { log }: Pick<Context, 'log'>,
  reply: FastifyReply,
  closing: AbortSignal,
  eventsUntil: (end: AbortSignal) => AsyncIterable<StreamedEvent>,
): Promise<FastifyReply> {
  const { personId, handle } = officerOf(reply.request);
  const who = personId ?? handle;
  const own = streamsOf.get(who) ?? 0;
  if (streams >= STREAMS || own >= STREAMS_EACH) throw new CodedError('too_many_requests');
  streams += 1;
  streamsOf.set(who, own + 1);
  reply.hijack();
  const gone = new AbortController();
  const end = AbortSignal.any([closing, gone.signal, AbortSignal.timeout(STREAM_MS)]);
  const { raw } = reply;
  raw.on('close', () => gone.abort());
  raw.on('error', () => gone.abort());
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  raw.flushHeaders();
  try {
    for await (const { event, data, id } of eventsUntil(end)) {
      const isTaken = raw.write(
        `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
      );
      if (!isTaken) await once(raw, 'drain', { signal: end });
      if (end.aborted) break;
    }
  } catch (error) {
    if (!end.aborted) log.warn({ err: error }, 'a stream of events ended early');
  } finally {
    streams -= 1;
    const left = (streamsOf.get(who) ?? 1) - 1;
    if (left === 0) streamsOf.delete(who);
    else streamsOf.set(who, left);
    raw.end();
  }
  return reply;
}
