import { randomUUID } from 'node:crypto';
import type { CallIntent, CallOperation, CallResult, CallWay } from '../core/call.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { changedNothing, neverSent, ServiceError } from '../service/service-error.ts';
import { type AlsoWritten, appendCall, appendResult, storable } from './append-call.ts';
import type { CallableSource, PolicyDeps } from './callable.ts';
import { NoSlot, releaseSlot, reserveSlot, type Slot, writePause } from './limits.ts';

/** What is sent, and to whom. */
export interface SendOrder {
  readonly source: CallableSource;
  /** The exact bytes; empty for a publish. */
  readonly body: Buffer;
  /** Longest time, milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer with a success status. */
export interface Sent {
  readonly status: number;
  /** The exact bytes of the answer. */
  readonly bytes: Buffer;
}

/**
 * Sends one call, exactly once. Rejects with a ServiceError, which tells whether it certainly changed nothing,
 * or with the signal's reason.
 */
export type Send = (order: SendOrder) => Promise<Sent>;

/** What a call is about, for the ledger and for settling it later. */
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
    Pick<CallIntent, 'policyType' | 'jurisdiction' | 'language' | 'businessName' | 'policyId' | 'planId' | 'positions'>
  >;
  /** Default: a random one. The same id a second time is not sent: `taken`. */
  readonly requestId?: string;
  /** What a second intent would repeat; default: the request id. */
  readonly intentKey?: readonly string[];
}

/** What an answer says, as the ledger keeps it beside the bytes. */
export type AnswerFacts = Partial<
  Pick<CallResult, 'policyId' | 'version' | 'hostedUrl' | 'remaining' | 'webhooksQueued' | 'batchId' | 'items'>
>;

export interface CallFailure {
  /** A ServiceErrorKind, or `stopped`. */
  readonly kind: string;
  /** Plain sentences that end with what to do. */
  readonly message: string;
  readonly status: number | null;
  /** Milliseconds. */
  readonly retryAfterMs: number | null;
}

/**
 * `done`: the service said so. `refused`: it certainly changed nothing. `unknown`: nobody can tell; never sent again by itself. `no-slot`: not sent,
 * a rate limit is used up until then. `stopped`: not sent. `taken`: another process has sent this request.
 */
export type CallOutcome<T> =
  | { readonly outcome: 'done'; readonly requestId: string; readonly value: T; readonly seq: number }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | { readonly outcome: 'no-slot'; readonly freeAt: Date; readonly limit: string }
  | { readonly outcome: 'stopped' }
  | { readonly outcome: 'taken' };

/** How a call is sent besides what it is. */
export interface Calling {
  /** Not sent once this is aborted; a call under way goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up a call under way, too: its outcome is then unknown. */
  readonly giveUp?: AbortSignal | undefined;
}

/**
 * One call that changes something (docs/architecture.md, Calls): the intent and its slot of the rate limit are committed together, then it is
 * sent, then what came back is committed. Whatever happens in between, the ledger holds at least that it may have been sent.
 * Rejects with StoreUnavailable when the intent cannot be written (nothing was sent then), or when the result cannot: what the service said
 * is in the error then.
 */
export async function callOnce<T>(
  deps: PolicyDeps,
  order: CallOrder,
  send: Send,
  read: (bytes: Buffer) => { readonly value: T; readonly facts: AnswerFacts },
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
    resultMeta(requestId, ended),
    ended.bytes,
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

/** Which API key, without the key: an HMAC under a key that never rotates. */
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
  };
  try {
    const { outcome } = await appendCall(
      deps,
      source.slug,
      meta,
      order.intentKey ?? [requestId, 'intent'],
      body,
      async (tx, [appended]) => {
        if (appended?.outcome === 'stored') await reserveSlot(tx, slot, deps.clock());
      },
    );
    return outcome === 'duplicate' ? { outcome: 'taken' } : null;
  } catch (error) {
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
      /** No limit of the service counts it. */
      readonly unsent: boolean;
      /** A bug: told once what is known has been written down. */
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

/** What a result means for other calls of the key: told to all processes together with it. Null: nothing. */
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
