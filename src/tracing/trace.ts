/**
 * Spans of the work on an entry: what the rest of the program calls. Without a tracer (the default) a span costs one comparison; start.ts sets
 * one. What a span may say is listed here and nowhere else: no person, no address, no body, no secret.
 */
export type SpanName = 'delivery' | 'append' | 'fold' | 'job' | 'sync' | 'request';

/** What a span says of its work. */
export interface SpanFacts {
  readonly source?: string | undefined;
  /** Kind of an entry or a job. */
  readonly kind?: string | undefined;
  /** An event that the service documents, or an action of ours; anything else is `other`. */
  readonly event?: string | undefined;
  readonly seq?: number | undefined;
  /** Of several entries. */
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

/** A span under way. */
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

/** What start.ts sets. */
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

/** Whether spans are made in this thread. */
export function isTracing(): boolean {
  return tracer !== null;
}

/** Does work within a span, child of the one under way. A failure is the span's outcome, without its message. */
export function traced<T>(name: SpanName, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return tracer === null ? work(noSpan) : tracer.run(name, facts, work);
}

/** The span under way stored these entries: what is done with them later joins its trace. */
export function tracedEntries(seqs: readonly number[]): void {
  tracer?.appended(seqs);
}

/** Entries are in the read models: a span in the trace of each append that this process remembers. */
export function tracedFold(fold: Fold): void {
  tracer?.folded(fold);
}

/** Links the span under way to the appends of these entries, as far as this process remembers them. */
export function linkEntries(seqs: Iterable<number>): void {
  tracer?.linkEntries(seqs);
}
