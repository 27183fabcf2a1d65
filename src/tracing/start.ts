import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from 'node:http';
import type * as Api from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { withoutPasswords } from '../core/address.ts';
import { CodedError, StoreUnavailable } from '../core/errors.ts';
import { type Fold, type OpenSpan, type SpanFacts, type SpanName, setTracer, type Tracer } from './trace.ts';

/** Where traces are sent, as configured by OTEL_… (docs/configuration.md). */
export interface TracingSettings {
  /** The address to which spans are posted, including the path. */
  readonly endpoint: string;
  /** Sent with spans; may contain a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** Share of traces taken by a ratio sampler, 0 to 1. */
  readonly ratio: number;
}

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
type SamplerName = (typeof samplerNames)[number];

interface TracingLog {
  warn(details: object, message: string): void;
}

/** Milliseconds that the last spans may take to be sent when the process ends. */
const FLUSH_MS = 2000;
/** Milliseconds between log lines about a collector that does not accept spans. */
const TOLD_AGAIN_MS = 600_000;

/**
 * Starts sending spans; returns a function that flushes and ends it within {@link FLUSH_MS}. Spans wait in a limited
 * queue and are sent in the background: if a collector is down or hangs, they are dropped and nothing else waits. The
 * libraries are imported only here.
 */
export async function startTracing(
  settings: TracingSettings,
  { version, log }: { readonly version: string; readonly log: TracingLog },
): Promise<() => Promise<void>> {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    settings.protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  api.diag.setLogger(createDiagnostics(log), { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  let agent: Agent | null = null;
  const exporter = new OTLPTraceExporter({
    url: settings.endpoint,
    headers: { ...settings.headers },
    // Our own agent, so that a hanging connection to a collector ends with the process.
    httpAgentOptions: async (protocol: string) => {
      const { Agent: Made } = await (protocol === 'https:' ? import('node:https') : import('node:http'));
      agent = new Made({ keepAlive: true });
      return agent;
    },
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      ...settings.resource,
      'service.name': settings.serviceName,
      'service.version': version,
    }),
    sampler: samplerOf(sdk, settings),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = createTracer(api, provider.getTracer('consent-ledger', version));
  setTracer(tracer);
  return async () => {
    setTracer(null);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
    agent?.destroy();
    api.diag.disable();
  };
}

function samplerOf(sdk: typeof Sdk, { sampler, ratio }: TracingSettings): Sdk.Sampler {
  const root = sampler.endsWith('always_off')
    ? new sdk.AlwaysOffSampler()
    : sampler.endsWith('traceidratio')
      ? new sdk.TraceIdRatioBasedSampler(ratio)
      : new sdk.AlwaysOnSampler();
  // A trace is complete or absent, and nothing from outside decides it.
  return new sdk.ParentBasedSampler({ root });
}

/** The libraries' error messages, at most one line in ten minutes. */
function createDiagnostics(log: TracingLog) {
  let last = Number.NEGATIVE_INFINITY;
  const say = (message: string) => {
    const now = performance.now();
    if (now - last < TOLD_AGAIN_MS) return;
    last = now;
    log.warn({ reason: withoutPasswords(reasonIn(message)).slice(0, 300) }, 'traces could not be sent');
  };
  const nothing = () => undefined;
  return { error: say, warn: say, info: nothing, debug: nothing, verbose: nothing };
}

/** An error comes as JSON with its stack. */
function reasonIn(message: string): string {
  const [, reason] = /"message":"((?:[^"\\]|\\.)*)"/.exec(message) ?? [];
  return reason ?? message;
}

/** Entries whose appends are remembered. */
const REMEMBERED = 10_000;
/** The most links of one span. */
const LINKS = 100;

interface Remembered {
  readonly context: Api.SpanContext;
  readonly source: string | undefined;
}

function createTracer(api: typeof Api, tracer: Api.Tracer): Tracer {
  const under = new AsyncLocalStorage<{ readonly span: Api.Span; readonly facts: SpanFacts }>();
  const appends = new Map<number, Remembered>();
  const kinds: Partial<Record<SpanName, number>> = {
    delivery: api.SpanKind.SERVER,
    job: api.SpanKind.CONSUMER,
    request: api.SpanKind.CLIENT,
  };
  const contextOf = (parent: Api.SpanContext | undefined): Api.Context =>
    parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);

  return {
    async run(name, facts, work) {
      // A job begins a trace, whatever woke the worker.
      const parent = name === 'job' ? undefined : under.getStore()?.span.spanContext();
      const options = { kind: kinds[name] ?? api.SpanKind.INTERNAL, attributes: attributesOf(facts) };
      const span = tracer.startSpan(titleOf(name, facts), options, contextOf(parent));
      const open: OpenSpan = { set: (more) => void span.setAttributes(attributesOf(more)) };
      try {
        return await under.run({ span, facts }, () => work(open));
      } catch (error) {
        span.setAttributes(attributesOf({ outcome: outcomeOf(error) }));
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    appended(seqs) {
      const now = under.getStore();
      if (now === undefined || !now.span.isRecording()) return;
      const context = now.span.spanContext();
      for (const seq of seqs) appends.set(seq, { context, source: now.facts.source });
      for (const oldest of appends.keys()) {
        if (appends.size <= REMEMBERED) break;
        appends.delete(oldest);
      }
    },
    folded(fold) {
      for (const [{ context, source }, entries] of foldsByAppend(fold, appends)) {
        const facts = { source, ...rangeOf(entries) };
        const options = { startTime: fold.startedAt, attributes: attributesOf(facts) };
        tracer.startSpan('fold', options, contextOf(context)).end(fold.endedAt);
      }
    },
    linkEntries(seqs) {
      const span = under.getStore()?.span;
      if (span === undefined || !span.isRecording()) return;
      const linked = new Set<string>();
      for (const seq of seqs) {
        const context = appends.get(seq)?.context;
        if (context === undefined || linked.has(context.spanId)) continue;
        linked.add(context.spanId);
        span.addLink({ context, attributes: attributesOf({ seq }) });
        if (linked.size >= LINKS) return;
      }
    },
  };
}

/** The folded entries, by remembered append. */
function foldsByAppend({ entries }: Fold, appends: ReadonlyMap<number, Remembered>) {
  const found = new Map<
    Api.SpanContext,
    { readonly append: Remembered; readonly entries: Fold['entries'][number][] }
  >();
  for (const entry of entries) {
    const append = appends.get(entry.seq);
    if (append === undefined) continue;
    const known = found.get(append.context);
    if (known === undefined) found.set(append.context, { append, entries: [entry] });
    else known.entries.push(entry);
  }
  return [...found.values()].map(({ append, entries }) => [append, entries] as const);
}

function rangeOf(entries: Fold['entries']): SpanFacts {
  const [first] = entries;
  if (entries.length === 1) return { seq: first?.seq, event: first?.event };
  return { seq: first?.seq, lastSeq: entries.at(-1)?.seq, entries: entries.length };
}

function titleOf(name: SpanName, facts: SpanFacts): string {
  if (name === 'job') return `job ${facts.kind ?? ''}`.trim();
  if (name === 'request') return `${facts.method ?? ''} service`.trim();
  return name;
}

const names = {
  source: 'consent_ledger.source',
  kind: 'consent_ledger.kind',
  event: 'consent_ledger.event',
  seq: 'consent_ledger.seq',
  lastSeq: 'consent_ledger.last_seq',
  entries: 'consent_ledger.entries',
  outcome: 'consent_ledger.outcome',
  bytes: 'consent_ledger.bytes',
  job: 'consent_ledger.job',
  attempt: 'consent_ledger.attempt',
  method: 'http.request.method',
  status: 'http.response.status_code',
} as const satisfies Record<keyof SpanFacts, string>;

function attributesOf(facts: SpanFacts): Record<string, string | number> {
  const attributes: Record<string, string | number> = {};
  for (const name of Object.keys(names) as (keyof SpanFacts)[]) {
    const value = facts[name];
    if (value !== undefined) attributes[names[name]] = value;
  }
  return attributes;
}

/** A word of our own, because messages may quote text from outside. */
function outcomeOf(error: unknown): string {
  if (error instanceof CodedError) return error.code;
  if (error instanceof StoreUnavailable) return 'store_unavailable';
  const kind = error instanceof Error && 'kind' in error ? error.kind : null;
  return typeof kind === 'string' && /^[a-z-]{1,40}$/.test(kind) ? kind : 'failed';
}
