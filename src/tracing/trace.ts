/**
 * Spans for the work on an entry, as called by the rest of the program. Without a tracer (the default) a span costs one
 * comparison; start.ts sets one. Everything that a span may contain is listed here: no person, address, body or secret.
 */
export type SpanName = 'delivery' | 'append' | 'fold' | 'job' | 'sync' | 'request';

/** The facts in a span. */
export interface SpanFacts {
  readonly source?: string | undefined;
  /** Kind of an entry or a job. */
  readonly kind?: string | undefined;
  /** An event documented by the service, or one of our actions; anything else is `other`. */
  readonly event?: string | undefined;
  readonly seq?: number | undefined;
  /** The last seq, if there are several entries. */
  readonly lastSeq?: number | undefined;
  readonly entries?: number | undefined;
  readonly outcome?: string | undefined;
  readonly bytes?: number | undefined;
  /** Id of a job. */
  readonly job?: string | undefined;
  readonly attempt?: number | undefined;
  /** Method and status of a request to the service. */
  readonly method?: string | undefined;
  readonly status?: number | undefined;
}

/** An open span. */
export interface OpenSpan {
  set(facts: SpanFacts): void;
}

/** Entries that were folded together, and when. */
export interface Fold {
  readonly entries: readonly { readonly seq: number; readonly event: string | undefined }[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Set by start.ts. */
export interface Tracer {
  run<T>(name: SpanName, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  appended(seqs: readonly number[]): void;
  folded(fold: Fold): void;
  linkEntries(seqs: Iterable<number>): void;
}

const noSpan: OpenSpan = { set: () => undefined };
let tracer: Tracer | null = null;

/** Sets the tracer of this process; null: none. */
export function setTracer(given: Tracer | null): void {
  tracer = given;
}

/** Whether this thread creates spans. */
export function isTracing(): boolean {
  return tracer !== null;
}

/** Does work within a span, a child of the current one. A failure becomes the span's outcome, without its message. */
export function traced<T>(name: SpanName, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return tracer === null ? work(noSpan) : tracer.run(name, facts, work);
}

/** The current span stored these entries: later work on them joins its trace. */
export function tracedEntries(seqs: readonly number[]): void {
  tracer?.appended(seqs);
}

/** Entries are in the read models: adds a span to the trace of each append that this process remembers. */
export function tracedFold(fold: Fold): void {
  tracer?.folded(fold);
}

/** Links the current span to the appends of these entries, as far as this process remembers them. */
export function linkEntries(seqs: Iterable<number>): void {
  tracer?.linkEntries(seqs);
}
