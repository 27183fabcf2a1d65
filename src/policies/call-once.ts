import { randomUUID } from 'node:crypto';
import {
  type CallIntent,
  type CallMeta,
  type CallOperation,
  type CallResult,
  type CallWay,
  callSchema,
} from '../core/call.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import { changedNothing, neverSent, ServiceError } from '../service/service-error.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { CallableSource, PolicyDeps } from './callable-source.ts';
import { NoSlot, releaseSlot, reserveSlot, type Slot, writePause } from './limits.ts';

/** What to send, and to which source. */
interface SendOrder {
  readonly source: CallableSource;
  /** The exact bytes; empty for a publish. */
  readonly body: Buffer;
  /** Maximum time in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A response with a success status. */
interface Sent {
  readonly status: number;
  /** The exact bytes of the response. */
  readonly bytes: Buffer;
}

/**
 * Sends one call exactly once. Rejects with a ServiceError, which says whether it certainly changed nothing, or with
 * the signal's reason.
 */
export type Send = (order: SendOrder) => Promise<Sent>;

/** The subject of a call, for the ledger and for settling it later. */
export interface CallOrder {
  readonly source: CallableSource;
  readonly actor: string;
  readonly operation: CallOperation;
  readonly via: CallWay;
  /** Below the API root. */
  readonly path: string;
  readonly body: Buffer;
  readonly timeoutMs: number;
  readonly about: Partial<
    Pick<
      CallIntent,
      'policyType' | 'jurisdiction' | 'language' | 'businessName' | 'policyId' | 'planId' | 'positions' | 'shown'
    >
  >;
  /** Default: random. A second call with the same id is not sent: `taken`. */
  readonly requestId?: string;
  /** The key that makes a second intent a duplicate; default: the request id. */
  readonly intentKey?: readonly string[];
  /** Not sent (`taken`) if a plan, call or result of the source was recorded after this entry. */
  readonly nothingSince?: number;
}

/** Rolls back what was decided with less than was recorded. */
export class Overtaken extends Error {}

/** Whether an entry after `asOf` and before `seq` is a plan, a call or the result of one. */
export async function hasCallBetween(
  { query }: StoreTransaction,
  source: string,
  asOf: number,
  seq: number,
): Promise<boolean> {
  const found = await query
    .selectFrom('entries')
    .select('seq')
    .where('seq', '>', asOf)
    .where('seq', '<', seq)
    .where('kind', '=', 'call')
    .where('source', '=', source)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Facts from a response that the ledger stores in addition to its bytes. */
type AnswerFacts = Partial<
  Pick<CallResult, 'policyId' | 'version' | 'hostedUrl' | 'remaining' | 'webhooksQueued' | 'batchId' | 'items'>
>;

export interface CallFailure {
  /** A ServiceErrorKind, or `stopped`. */
  readonly kind: string;
  /** Plain sentences, ending with what to do. */
  readonly message: string;
  readonly status: number | null;
  /** Milliseconds. */
  readonly retryAfterMs: number | null;
}

/**
 * `done`: the service said so. `refused`: it certainly changed nothing. `unknown`: the outcome is not known; never sent
 * again automatically. `no-slot`: not sent, a rate limit is used up until then. `stopped`: not sent. `taken`: another
 * process has sent this request.
 */
export type CallOutcome<T> =
  | { readonly outcome: 'done'; readonly requestId: string; readonly value: T; readonly seq: number }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | { readonly outcome: 'no-slot'; readonly freeAt: Date; readonly limit: string }
  | { readonly outcome: 'stopped' }
  | { readonly outcome: 'taken' };

/** When a slot of the rate limit is free, and which limit is used up. */
export type NoSlotFacts = Pick<Extract<CallOutcome<never>, { outcome: 'no-slot' }>, 'freeAt' | 'limit'>;

/** Why a call was not sent. */
export function notSentText(
  ended:
    | ({ readonly outcome: 'no-slot' } & NoSlotFacts)
    | { readonly outcome: 'stopped' | 'taken' }
    | { readonly outcome: 'not-configured'; readonly reason: string },
  noSlotText: (slot: NoSlotFacts) => string,
): string {
  switch (ended.outcome) {
    case 'no-slot':
      return noSlotText(ended);
    case 'stopped':
      return 'Stopped before anything was sent.';
    case 'taken':
      return 'Another process has already sent this request.';
    case 'not-configured':
      return ended.reason;
  }
}

/** Options for sending a call. */
interface Calling {
  /** Not sent if this is aborted; a call in flight continues. */
  readonly signal?: AbortSignal | undefined;
  /** Also aborts a call in flight, whose outcome is then unknown. */
  readonly giveUp?: AbortSignal | undefined;
}

/**
 * Makes one call that changes something (docs/architecture.md, Calls): commits the intent with its slot of the rate
 * limit, sends the call, then commits the result. Whatever happens in between, the ledger shows at least that it may
 * have been sent. Rejects with StoreUnavailable if the intent cannot be written (then nothing was sent), or if the
 * result cannot; then the error contains what the service said.
 */
export async function callOnce<T>(
  deps: PolicyDeps,
  order: CallOrder,
  {
    send,
    read,
  }: { readonly send: Send; readonly read: (bytes: Buffer) => { readonly value: T; readonly facts: AnswerFacts } },
  options: Calling = {},
): Promise<CallOutcome<T>> {
  const { giveUp } = options;
  if (options.signal?.aborted || giveUp?.aborted) return { outcome: 'stopped' };
  const requestId = order.requestId ?? `req-${randomUUID()}`;
  const slot = { requestId, keyId: keyIdOf(deps.ledger, order.source.apiKey), sort: order.operation };
  const reserved = await appendIntent(deps, order, slot);
  if (reserved !== null) return reserved;

  const ended = await attempt(order, send, read, giveUp);
  const seq = await appendResult(
    deps,
    order.source.slug,
    { meta: resultMeta(requestId, ended), bytes: ended.bytes },
    afterwards(deps, slot, ended),
  );
  switch (ended.outcome) {
    case 'done':
      return { outcome: 'done', requestId, value: ended.value, seq };
    case 'refused':
    case 'unknown':
      if (ended.fault !== undefined) throw ended.fault;
      return { outcome: ended.outcome, requestId, error: ended.error };
  }
}

/** Identifies an API key without revealing it: an HMAC under a key that never rotates. */
export function keyIdOf(ledger: Pick<Ledger, 'keyOf'>, apiKey: string): string {
  return ledger.keyOf('api-key', apiKey).toString('hex').slice(0, 16);
}

async function appendIntent(
  deps: PolicyDeps,
  order: CallOrder,
  slot: Slot,
): Promise<Extract<CallOutcome<never>, { outcome: 'no-slot' | 'taken' }> | null> {
  const { source, actor, operation, via, path, body, timeoutMs, about } = order;
  const { requestId, keyId } = slot;
  const meta: CallIntent = {
    call: 'intent',
    requestId,
    operation,
    via,
    actor,
    path,
    keyId,
    timeoutMs,
    policyType: about.policyType ?? null,
    jurisdiction: about.jurisdiction ?? null,
    language: about.language ?? null,
    businessName: about.businessName ?? null,
    policyId: about.policyId ?? null,
    planId: about.planId ?? null,
    positions: about.positions ?? [],
    ...(about.shown === undefined ? {} : { shown: about.shown }),
  };
  try {
    const { outcome } = await appendCall(
      deps,
      source.slug,
      { meta, keyParts: order.intentKey ?? [requestId, 'intent'], body },
      async (tx, [appended]) => {
        if (appended?.outcome !== 'stored') return;
        const { nothingSince } = order;
        if (nothingSince !== undefined && (await hasCallBetween(tx, source.slug, nothingSince, appended.seq)))
          throw new Overtaken();
        await reserveSlot(tx, slot, deps.clock());
      },
    );
    return outcome === 'duplicate' ? { outcome: 'taken' } : null;
  } catch (error) {
    if (error instanceof Overtaken) return { outcome: 'taken' };
    if (error instanceof NoSlot) return { outcome: 'no-slot', freeAt: error.freeAt, limit: error.limit };
    throw error;
  }
}

type Ended<T> =
  | {
      readonly outcome: 'done';
      readonly status: number;
      readonly bytes: Buffer;
      readonly value: T;
      readonly facts: AnswerFacts;
    }
  | {
      readonly outcome: 'refused' | 'unknown';
      readonly status: number | null;
      readonly bytes: Buffer;
      readonly error: CallFailure;
      /** It does not count against the service's limits. */
      readonly unsent: boolean;
      /** A bug, thrown once the known facts have been recorded. */
      readonly fault?: Error;
    };

async function attempt<T>(
  order: CallOrder,
  send: Send,
  read: (bytes: Buffer) => { readonly value: T; readonly facts: AnswerFacts },
  signal: AbortSignal | undefined,
): Promise<Ended<T>> {
  let sent: Sent | null = null;
  try {
    sent = await send({ source: order.source, body: order.body, timeoutMs: order.timeoutMs, signal });
    return { outcome: 'done', ...sent, ...read(sent.bytes) };
  } catch (error) {
    if (error instanceof ServiceError) {
      const { kind, message, retryAfterMs } = error;
      const status = sent?.status ?? error.status;
      return {
        outcome: sent === null && changedNothing(error) ? 'refused' : 'unknown',
        status,
        bytes: sent?.bytes ?? error.answer ?? NOTHING,
        error: { kind, message, status, retryAfterMs },
        unsent: sent === null && neverSent(error),
      };
    }
    const isStopped = signal?.aborted === true;
    const message = isStopped ? 'Stopped while waiting for the response.' : 'This program failed.';
    return {
      outcome: 'unknown',
      status: sent?.status ?? null,
      bytes: sent?.bytes ?? NOTHING,
      error: { kind: isStopped ? 'stopped' : 'fault', message, status: null, retryAfterMs: null },
      unsent: false,
      ...(isStopped ? {} : { fault: error instanceof Error ? error : new Error(String(error)) }),
    };
  }
}

const NOTHING = Buffer.alloc(0);

function resultMeta(requestId: string, ended: Ended<unknown>): CallResult {
  const facts = ended.outcome === 'done' ? ended.facts : {};
  return {
    call: 'result',
    requestId,
    outcome: ended.outcome,
    status: ended.status,
    error: ended.outcome === 'done' ? null : { kind: ended.error.kind, message: storable(ended.error.message) },
    policyId: textOf(facts.policyId),
    version: textOf(facts.version),
    hostedUrl: textOf(facts.hostedUrl),
    remaining: facts.remaining ?? null,
    webhooksQueued: facts.webhooksQueued ?? null,
    batchId: textOf(facts.batchId),
    items: (facts.items ?? []).map((item) => ({ ...item, policyId: textOf(item.policyId) })),
  };
}

/** What a result means for other calls with the key, written together with it so that all processes see it. Null: nothing. */
function afterwards(deps: Pick<PolicyDeps, 'clock'>, slot: Slot, ended: Ended<unknown>): AlsoWritten | null {
  if (ended.outcome !== 'refused') return null;
  if (ended.unsent) return (tx) => releaseSlot(tx, slot.requestId);
  const { kind, retryAfterMs } = ended.error;
  if (kind !== 'rate-limited' || retryAfterMs === null || retryAfterMs <= 0) return null;
  return (tx) => writePause(tx, slot, retryAfterMs, deps.clock());
}

function textOf(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storable(text).slice(0, 1000);
}

/** Writes that commit together with an entry. */
type AlsoWritten = (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>;

/** Appends one entry of kind `call`, deduplicated by these key parts. */
export async function appendCall(
  deps: Pick<PolicyDeps, 'ledger' | 'clock'>,
  source: string,
  { meta, keyParts, body }: { readonly meta: CallMeta; readonly keyParts: readonly string[]; readonly body: Buffer },
  alsoInTransaction?: AlsoWritten,
): Promise<Appended> {
  const [appended] = await deps.ledger.append(
    [
      {
        source,
        kind: 'call',
        dedupeKey: deps.ledger.keyOf('call', ...keyParts),
        receivedAt: deps.clock().toISOString(),
        meta: canonicalJson(callSchema.parse(meta)),
        body,
      },
    ],
    alsoInTransaction,
  );
  if (appended === undefined) throw new Error('the ledger returned no entry');
  return appended;
}

const RESULT_TRIES = 6;

/**
 * Retries for about half a minute, because without the response the call would stay unknown; then throws
 * StoreUnavailable with what the service said, which is recorded nowhere else.
 */
async function appendResult(
  deps: Pick<PolicyDeps, 'ledger' | 'clock' | 'sleep'>,
  source: string,
  { meta, bytes }: { readonly meta: CallResult; readonly bytes: Buffer },
  also: AlsoWritten | null,
): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    try {
      const key = [meta.requestId, 'result'];
      return (await appendCall(deps, source, { meta, keyParts: key, body: bytes }, also ?? undefined)).seq;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (tried === RESULT_TRIES) throw new StoreUnavailable(notKeptText(meta, error), { cause: error });
      await deps.sleep(500 * 2 ** tried);
    }
  }
}

/** What to do about a response that could not be stored: it exists only in this message. */
function notKeptText(meta: CallResult, cause: Error): string {
  const made = meta.items.map(({ position, status, policyId }) => `item ${position + 1} ${policyId ?? status}`);
  const said = {
    done: `The service did it${meta.policyId === null ? '' : ` (policy ${meta.policyId})`}${made.length === 0 ? '' : `: ${made.join(', ')}`}.`,
    refused: `The service refused it; nothing was generated. ${meta.error?.message ?? ''}`,
    unknown: `The service may or may not have done it. ${meta.error?.message ?? ''}`,
  }[meta.outcome].trim();
  const settle =
    meta.outcome === 'unknown'
      ? 'When the ledger can be written again, `consent-ledger policy calls --open` shows the call.'
      : `When the ledger can be written again, the call counts as unknown after some minutes; then run: consent-ledger policy settle ${meta.requestId} --as ${meta.outcome === 'done' ? 'created' : 'not-created'}${meta.outcome === 'done' && meta.policyId !== null && meta.items.length === 0 ? ` --policy ${meta.policyId}` : ''}`;
  return `The service’s response could not be written to the ledger (${cause.message}), so it is reported here. ${said} ${settle}`;
}

/** Makes the service's text safe for canonical JSON and for every database. */
export function storable(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Called while a call waits for its turn: until when, and why. */
type OnWait = (until: Date, why: string) => void;

/** How long a call may wait for its turn. */
export interface Patience {
  /** Ends waiting; a call in flight is finished, since aborting it would leave its outcome unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Aborts even a call in flight. */
  readonly giveUp?: AbortSignal | undefined;
  /** Longest single wait in milliseconds; 0: never wait. */
  readonly maxWaitMs: number;
  readonly onWait?: OnWait | undefined;
}

/** Retries after the first attempt, if that certainly changed nothing. */
const MORE_TRIES = 3;

/**
 * Calls until there is an outcome: waits for a free slot of the rate limits, and retries calls that the service
 * postponed (429) or that never left this machine (connection refused, DNS). Any other outcome is returned at once; an
 * unknown one is never retried.
 */
export async function callPatiently<T>(
  deps: Pick<PolicyDeps, 'clock' | 'sleep'>,
  call: () => Promise<CallOutcome<T>>,
  patience: Patience,
): Promise<CallOutcome<T>> {
  for (let more = MORE_TRIES; ; ) {
    const ended = await call();
    if (ended.outcome === 'no-slot') {
      if (!(await waitUntil(deps, ended.freeAt, ended.limit, patience)))
        return patience.signal?.aborted ? { outcome: 'stopped' } : ended;
      continue;
    }
    const pause = ended.outcome === 'refused' && more > 0 ? retryPause(ended.error, MORE_TRIES - more) : null;
    if (pause === null || ended.outcome !== 'refused') return ended;
    const until = new Date(deps.clock().getTime() + pause);
    if (!(await waitUntil(deps, until, ended.error.message, patience))) return ended;
    more -= 1;
  }
}

/** How long to wait before sending it again, milliseconds; null: that would not help. */
export function retryPause(error: { kind: string; retryAfterMs: number | null }, tried: number): number | null {
  if (error.kind === 'rate-limited') return Math.max(error.retryAfterMs ?? 0, 1000 * 2 ** tried * (1 + Math.random()));
  // A refusal of kind network was never sent.
  return error.kind === 'network' ? 500 * 2 ** tried * (1 + Math.random()) : null;
}

/** Waits until a time; false if that is longer than allowed, or if it was stopped while waiting. */
export async function waitUntil(
  deps: Pick<PolicyDeps, 'clock' | 'sleep'>,
  until: Date,
  why: string,
  { signal, maxWaitMs, onWait }: Patience,
): Promise<boolean> {
  const ms = until.getTime() - deps.clock().getTime();
  if (ms > maxWaitMs || (ms > 0 && maxWaitMs === 0)) return false;
  if (ms > 0) {
    onWait?.(until, why);
    await deps.sleep(ms, signal);
  }
  return !signal?.aborted;
}
