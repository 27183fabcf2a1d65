import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type DestinationRule, isPermitted, isPrivateLiteral, isPublicAddress } from '../core/destination.ts';

/**
 * A request. This file is the only way out of this program over HTTP: to the service (api-transport.ts), its public
 * pages (public-fetch.ts), its MCP endpoint (mcp.ts), object storage and webhooks (src/outside). It never follows
 * redirects. Every limit is explicit, and a response that breaks its own encoding ends the exchange.
 */
interface HttpRequest {
  readonly url: string;
  /** Which addresses it may connect to. `anywhere`: the operator set the address, in the environment or at a shell. */
  readonly destinations: DestinationRule | 'anywhere';
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Maximum time in milliseconds, including reading the whole body. */
  readonly timeoutMs: number;
  /** Maximum size of the body in bytes, both as sent and after decompression. */
  readonly maxBytes: number;
  /** The same for a response outside 2xx; default: maxBytes. */
  readonly maxErrorBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed. Null: a response came, but its body was not accepted; `fault` says why. */
  readonly bytes: Buffer | null;
  readonly fault: BodyFault | null;
  /**
   * The compressed body ended early, so `bytes` is only its beginning. A reader that cannot notice this itself must not
   * treat it as complete.
   */
  readonly isCutOff: boolean;
}

/** `too-large`: over maxBytes. `broken`: the connection broke during the body. `encoding`: not what its content-encoding says. */
export interface BodyFault {
  readonly type: 'too-large' | 'broken' | 'encoding';
  readonly detail: string;
  readonly cause?: unknown;
}

/** The exchange took too long. */
export class HttpTimeout extends Error {
  override readonly name = 'HttpTimeout';
}

/** The address, or what its name resolves to, is private, and the operator has not named it. Nothing was sent. */
export class PrivateDestination extends Error {
  override readonly name = 'PrivateDestination';
  readonly code = 'ERR_PRIVATE_DESTINATION';
}

const CONNECT_MS = 10_000;

/** The library with its connections; imported for the first request, since most commands send none. */
let client: ReturnType<typeof loadClient> | null = null;

async function loadClient() {
  const { Agent, request } = await import('undici');
  const agent = (connect: { lookup?: LookupFunction }) =>
    new Agent({ connect: { timeout: CONNECT_MS, ...connect }, maxHeaderSize: 64 * 1024, keepAliveTimeout: 4_000 });
  // Each has its own connections, so that none made for one is used for the other.
  return { request, anywhere: agent({}), internet: agent({ lookup: lookUpPublic() }) };
}

/**
 * Resolves a name for a connection, and refuses with {@link PrivateDestination} if any of its addresses is not on the
 * internet. What is checked here is what is connected to, so a name that resolves differently the next time gains
 * nothing. `resolve`: replaced by tests.
 */
export function lookUpPublic(resolve: typeof lookUp = lookUp): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, []);
      const [first] = found;
      if (first === undefined || found.some(({ address }) => !isPublicAddress(address)))
        return done(new PrivateDestination(`${hostname} resolves to an address that is not on the internet`), []);
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });
  };
}

/** Upper limits of this process for all times, in milliseconds; lowered by tests. `pauseMs`: between two attempts. */
export const longest = { exchangeMs: Number.POSITIVE_INFINITY, pauseMs: Number.POSITIVE_INFINITY };

/** Supported encodings; request these, or `identity`. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/**
 * Sends one request and reads its response. Races against its own timer, so it settles whatever the connection, decoder
 * or server does. Errors: {@link HttpTimeout}; {@link PrivateDestination}; the signal's reason if aborted; otherwise the runtime's error for a
 * connection that failed before a response came.
 */
export function exchange(request: HttpRequest): Promise<HttpAnswer> {
  return withDeadline(request.timeoutMs, request.signal, async (signal) => {
    const { status, headers, body } = await open({ ...request, signal });
    const isSuccess = status >= 200 && status < 300;
    const maxBytes = isSuccess ? request.maxBytes : (request.maxErrorBytes ?? request.maxBytes);
    return { status, headers, ...(await readWhole(body, headers, maxBytes)) };
  });
}

/** Runs `work` for at most `ms` milliseconds; then its signal is aborted, without waiting for it to notice. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = Math.min(ms, longest.exchangeMs);
  // Uses its own controller: AbortSignal.any would accumulate listeners on a signal that lives for a whole run.
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (reason: unknown) => {
      controller.abort(reason);
      reject(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
    };
    timer = setTimeout(() => end(new HttpTimeout(`not finished after ${limit} ms`)), limit);
    onAbort = () => end(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    const working = work(controller.signal);
    working.catch(() => undefined);
    return await Promise.race([working, ended]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    // An unread body holds its connection.
    controller.abort(new Error('the exchange has ended'));
  }
}

interface Opened {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

async function open(request: Omit<HttpRequest, 'maxBytes'>): Promise<Opened> {
  const { url, destinations, method = 'GET', headers, body = null, timeoutMs, signal } = request;
  const isFree = destinations === 'anywhere' || isPermitted(new URL(url), destinations);
  // No name is looked up for an IP address.
  if (!isFree && isPrivateLiteral(new URL(url)))
    throw new PrivateDestination(`${new URL(url).hostname} is not on the internet`);
  client ??= loadClient();
  const { request: send, anywhere, internet } = await client;
  signal?.throwIfAborted();
  const response = await send(url, {
    method,
    headers,
    body,
    dispatcher: isFree ? anywhere : internet,
    // Slightly later than the race, which gives the better error.
    headersTimeout: timeoutMs + 1000,
    bodyTimeout: timeoutMs + 1000,
    ...(signal === undefined ? {} : { signal }),
  });
  // The race reports aborts; without a listener this error would crash the process.
  response.body.on('error', () => undefined);
  const own = new Headers();
  for (const [name, values] of Object.entries(response.headers))
    for (const value of [values ?? []].flat()) own.append(name, value);
  return { status: response.statusCode, headers: own, body: response.body };
}

async function readWhole(
  body: Readable,
  headers: Headers,
  maxBytes: number,
): Promise<Pick<HttpAnswer, 'bytes' | 'fault' | 'isCutOff'>> {
  const failed = (fault: BodyFault) => ({ bytes: null, fault, isCutOff: false });
  const tooLarge = (detail: string) => failed({ type: 'too-large', detail });
  const announced = Number(headers.get('content-length') ?? 0);
  if (announced > maxBytes) {
    body.destroy();
    return tooLarge(`${announced} bytes, at most ${maxBytes} are accepted`);
  }
  const chunks: Buffer[] = [];
  let total = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      total += chunk.length;
      // Leaving the loop closes the connection.
      if (total > maxBytes) return tooLarge(`at most ${maxBytes} bytes are accepted`);
      chunks.push(chunk);
    }
  } catch (cause) {
    return failed({ type: 'broken', detail: 'the connection broke before the response was complete', cause });
  }
  let bytes: Buffer = Buffer.concat(chunks, total);
  let isCutOff = false;
  for (const encoding of encodingsOf(headers).reverse()) {
    const decode = decoders[encoding];
    if (decode === undefined)
      return failed({ type: 'encoding', detail: 'the response has an encoding that was not requested' });
    if (bytes.length === 0) continue;
    const packed = bytes;
    try {
      bytes = await decode(packed, maxBytes, true).catch((error: unknown) => {
        if (!isUnfinished(error)) throw error;
        isCutOff = true;
        return decode(packed, maxBytes, false);
      });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        return tooLarge(`at most ${maxBytes} bytes are accepted after decompression`);
      return failed({ type: 'encoding', detail: `the compressed response (${encoding}) is broken`, cause });
    }
  }
  return { bytes, fault: null, isCutOff };
}

/** At most three encodings are decoded: more would be an attack. */
function encodingsOf(headers: Headers): string[] {
  const names = (headers.get('content-encoding') ?? '').toLowerCase().split(',');
  const encodings = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  return encodings.length > 3 ? ['too many'] : encodings;
}

const [gunzip, inflate, inflateRaw, brotli] = [
  promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate),
  promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflateRaw),
  promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
];
/** Unpacks at most `max` bytes. `whole`: fails on truncated data; otherwise yields what there is. */
type Decode = (bytes: Buffer, max: number, whole: boolean) => Promise<Buffer>;
const { Z_FINISH, Z_SYNC_FLUSH, BROTLI_OPERATION_FINISH, BROTLI_OPERATION_FLUSH } = zlib.constants;
const zlibOptions = (maxOutputLength: number, whole: boolean) => ({
  maxOutputLength,
  finishFlush: whole ? Z_FINISH : Z_SYNC_FLUSH,
});
const unzip: Decode = (bytes, max, whole) => gunzip(bytes, zlibOptions(max, whole));
const decoders: Readonly<Record<string, Decode>> = {
  gzip: unzip,
  'x-gzip': unzip,
  // With the wrapper required by RFC 9110 §8.4.1.2, or without it, as some servers send it.
  deflate: (bytes, max, whole) =>
    ((bytes[0] ?? 0) & 0x0f) === 8
      ? inflate(bytes, zlibOptions(max, whole))
      : inflateRaw(bytes, zlibOptions(max, whole)),
  br: (bytes, maxOutputLength, whole) =>
    brotli(bytes, { maxOutputLength, finishFlush: whole ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH }),
};

/** Whether the decoder reached the end of its input too early. */
function isUnfinished(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
}

/** A fetch whose bodies are read while they arrive, for the MCP client; requests no encoding. */
export function createStreamingFetch(destinations: HttpRequest['destinations'], timeoutMs: number): typeof fetch {
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const signal = init.signal ?? undefined;
    const { status, headers, body } = await open({
      url,
      destinations,
      method: init.method as 'GET' | 'POST',
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
      body: init.body as string | undefined,
      timeoutMs,
      signal,
    });
    const isEmpty = [204, 205, 304].includes(status);
    if (isEmpty) body.resume();
    const decoded = encodingsOf(headers).includes('gzip') ? pipeline(body, zlib.createGunzip(), () => undefined) : body;
    const stream = isEmpty ? null : streamOf(decoded);
    return new Response(stream, { status, headers });
  };
}

/** Not Readable.toWeb, which keeps writing to a cancelled stream. */
function streamOf(body: Readable): ReadableStream<Uint8Array> {
  const parts = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const part = await parts.next();
      if (part.done === true) controller.close();
      else controller.enqueue(part.value);
    },
    cancel() {
      body.destroy();
    },
  });
}
