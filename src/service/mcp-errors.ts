import { HttpTimeout } from './http.ts';
import { networkFaultOf } from './network-fault.ts';
import { waitFromHeaders } from './rate-limit.ts';
import { cleanText, readEnvelope } from './error-envelope.ts';
import { kindOfStatus, ServiceError, type ServiceErrorKind } from './service-error.ts';

/** What the last exchange with the endpoint came to, which the SDK's own errors do not say. */
export interface LastExchange {
  /** Status of a refusal; null where the last answer was none. */
  readonly status: number | null;
  /** How long that refusal asks to wait, milliseconds. */
  readonly retryAfterMs: number | null;
  /** Why there was no answer; null where there was one. */
  readonly failure: unknown;
  readonly tooLarge: boolean;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** A fetch that follows no redirects, takes no endless answer and remembers how the last exchange ended. */
export function createWatchedFetch(ask: typeof fetch): { readonly fetch: typeof fetch; last(): LastExchange } {
  const silent: LastExchange = { status: null, retryAfterMs: null, failure: null, tooLarge: false };
  let last = silent;
  return {
    last: () => last,
    fetch: async (input, init) => {
      // The stream that the SDK opens beside its requests says nothing about them.
      const counts = init?.method === 'POST';
      try {
        const response = await ask(input, { ...init, redirect: 'manual' });
        const { status, headers } = response;
        if (counts)
          last = response.ok ? silent : { ...silent, status, retryAfterMs: waitFromHeaders(headers, Date.now()) };
        // With an opaque status the SDK would go on as if it had been answered.
        if (status >= 300 && status < 400) {
          await response.body?.cancel();
          return new Response(null, { status: 502 });
        }
        if (response.body === null) return response;
        const bounded = response.body.pipeThrough(limit(() => (last = { ...last, tooLarge: true })));
        return new Response(bounded, { status, headers });
      } catch (error) {
        if (counts) last = { ...silent, failure: error };
        throw error;
      }
    },
  };
}

function limit(onTooLarge: () => void): TransformStream<Uint8Array, Uint8Array> {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.length;
      if (total <= MAX_BYTES) return controller.enqueue(chunk);
      onTooLarge();
      controller.error(new Error('too large'));
    },
  });
}

/** A failure of the protocol or the connection as what REST would have said. */
export function asMcpError(
  error: unknown,
  about: LastExchange & { readonly apiKey: string; readonly unsent: boolean },
): ServiceError {
  if (error instanceof ServiceError) return error;
  const { unsent, status, retryAfterMs } = about;
  const details = { about: 'policies', unsent } as const;
  if (about.tooLarge) return new ServiceError('too-large', details);
  if (error instanceof HttpTimeout) return new ServiceError('timeout', details);
  if (status !== null) {
    const kind = kindOfStatus(status);
    const envelope = error instanceof Error ? readEnvelope(jsonIn(error.message), about.apiKey) : {};
    const wait = kind === 'rate-limited' && retryAfterMs !== null ? { retryAfterMs } : {};
    return new ServiceError(kind, { ...details, status, ...envelope, ...wait });
  }
  const code = codeOf(error);
  // The SDK's own time-out, and its word for a connection that closed.
  if (code === REQUEST_TIMEOUT) return new ServiceError('timeout', details);
  if (about.failure !== null) {
    const cause = about.failure instanceof Error && about.failure.cause ? about.failure.cause : about.failure;
    return new ServiceError('network', { ...details, fault: networkFaultOf(cause) });
  }
  const detail = error instanceof Error ? cleanText(error.message, about.apiKey, 200) : '';
  if (error instanceof Error && error.name === 'ZodError') return new ServiceError('unreadable', details);
  return new ServiceError(kindOfCode(code), { ...details, ...(detail === '' ? {} : { detail }) });
}

const REQUEST_TIMEOUT = -32001;

function codeOf(error: unknown): number | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'number' ? code : null;
}

/** JSON-RPC: a request that is not valid was not acted on; anything else leaves it open. */
function kindOfCode(code: number | null): ServiceErrorKind {
  if (code === -32602 || code === -32601 || code === -32600 || code === -32700) return 'bad-request';
  return code === null ? 'network' : 'server-error';
}

/** The JSON in a text that has words before it; the text itself where it has none. */
function jsonIn(text: string): string {
  const start = text.indexOf('{');
  return start === -1 ? text : text.slice(start);
}

/**
 * What the tool says when it fails. Its words are not documented: the envelope of REST is looked for, and its code or, without one, the
 * text decides. What cannot be told leaves open whether a policy was made.
 */
export function toolError(text: string, apiKey: string): ServiceError {
  const { code, detail } = readEnvelope(jsonIn(text), apiKey);
  const kind = code === undefined ? kindOfText(detail ?? text) : kindOfWord(code);
  return new ServiceError(kind, {
    about: 'policies',
    ...(code === undefined ? {} : { code }),
    detail: detail ?? cleanText(text, apiKey, 200),
    answer: Buffer.from(text, 'utf8'),
  });
}

/** Only words about the request itself: `invalid_output` or `model_not_found` may come from half way through. */
const codes: readonly (readonly [RegExp, ServiceErrorKind])[] = [
  [/rate.?limit|too.?many/i, 'rate-limited'],
  [/quota|payment|subscription/i, 'payment-required'],
  [/unauthori[sz]ed|invalid.?(api.?)?key|revoked/i, 'unauthorized'],
  [/forbidden|permission|scope/i, 'forbidden'],
  [/^((policy|client|resource|banner).?)?not.?found$/i, 'not-found'],
  [
    /^(bad.?request|validation.*|missing.*|invalid(.?(request|input|argument|param|field|policy|type|jurisdiction|language).*)?)$/i,
    'bad-request',
  ],
];

function kindOfWord(code: string): ServiceErrorKind {
  return codes.find(([pattern]) => pattern.test(code))?.[1] ?? 'server-error';
}

/** Running text is only believed where it cannot be about something that went wrong half way. */
function kindOfText(text: string): ServiceErrorKind {
  if (/^(MCP error -32602|Input validation error)/i.test(text.trim())) return 'bad-request';
  if (/rate limit|too many requests/i.test(text)) return 'rate-limited';
  return /\bquota\b|payment required/i.test(text) ? 'payment-required' : 'server-error';
}
