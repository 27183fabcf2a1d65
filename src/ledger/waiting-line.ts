import type { EntryKind } from '../core/vocabulary.ts';
import type { NewEntry } from '../crypto/entry.ts';
import type { StoreTransaction } from '../store/store.ts';

/** The outcome for an entry: newly stored, or already in the ledger under this seq. */
export interface Appended {
  readonly outcome: 'stored' | 'duplicate';
  readonly seq: number;
}

/**
 * Commits together with the entries of one call (a page and its cursor) and receives the outcome of each entry. If the
 * transaction is repeated, it runs again, so it must have no effect outside the database.
 */
export type AlsoInTransaction = (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>;

/** Limits of one batch and of the queue. */
export interface AppendLimits {
  readonly batchEntries: number;
  readonly batchBytes: number;
  /** Bytes of meta and body that may wait; further appends are refused as `overloaded`. */
  readonly waitingBytes: number;
}

/** An entry prepared for its batch. Everything that does not depend on its number is computed while the previous batch commits. */
export interface Prepared {
  readonly entry: NewEntry;
  readonly salt: Buffer;
  readonly commitment: Buffer;
  /** Equal for two entries with the same source, kind and key. */
  readonly identity: string;
}

/** A pending call of `append`. Its entries commit together. */
export interface Call {
  readonly prepared: readonly Prepared[];
  readonly bytes: number;
  readonly also: AlsoInTransaction | undefined;
  resolve(appended: readonly Appended[]): void;
  reject(error: Error): void;
}

/** The calls that commit together, in order of arrival. */
export class Batch {
  readonly calls: Call[] = [];
  /** The entries of all calls. */
  readonly prepared: Prepared[] = [];
  readonly sources = new Set<string>();
  readonly #identities = new Set<string>();
  #bytes = 0;

  constructor(calls: readonly Call[] = []) {
    for (const call of calls) this.add(call);
  }

  add(call: Call): void {
    this.calls.push(call);
    for (const one of call.prepared) {
      this.prepared.push(one);
      this.sources.add(one.entry.source);
      this.#identities.add(one.identity);
    }
    this.#bytes += call.bytes;
  }

  get isEmpty(): boolean {
    return this.calls.length === 0;
  }

  /**
   * Whether there is room for a call. Calls that change more than the ledger are batched separately, because the others
   * can be committed faster.
   */
  hasRoomFor(call: Call, limits: AppendLimits): boolean {
    if (this.changesMore !== (call.also !== undefined)) return false;
    const entries = this.prepared.length + call.prepared.length;
    return entries <= limits.batchEntries && this.#bytes + call.bytes <= limits.batchBytes;
  }

  repeats({ prepared }: Call): boolean {
    return prepared.some(({ identity }) => this.#identities.has(identity));
  }

  get hasRepeats(): boolean {
    return this.#identities.size < this.prepared.length;
  }

  /** Kind of the first entry. */
  get kind(): EntryKind | undefined {
    return this.prepared[0]?.entry.kind;
  }

  /** Whether its calls change more than the ledger. */
  get changesMore(): boolean {
    return this.calls[0]?.also !== undefined;
  }

  /** Runs the additional writes of each call, in order of arrival. */
  async also(tx: StoreTransaction, appended: readonly Appended[]): Promise<void> {
    for (const [{ also }, own] of this.#outcomes(appended)) await also?.(tx, own);
  }

  /** Gives each call the outcomes of its entries. */
  resolve(appended: readonly Appended[]): void {
    for (const [{ resolve }, own] of this.#outcomes(appended)) resolve(own);
  }

  *#outcomes(appended: readonly Appended[]): Generator<[Call, readonly Appended[]]> {
    let place = 0;
    for (const call of this.calls) {
      yield [call, appended.slice(place, place + call.prepared.length)];
      place += call.prepared.length;
    }
  }

  reject(error: Error): void {
    for (const call of this.calls) call.reject(error);
  }

  /** Two batches with half of the calls each. */
  halves(): readonly [Batch, Batch] {
    const middle = this.calls.length >> 1;
    return [new Batch(this.calls.slice(0, middle)), new Batch(this.calls.slice(middle))];
  }
}

/** Calls that are not in a batch yet, in order of arrival. */
export class WaitingLine {
  readonly #calls: Call[] = [];
  readonly #limits: AppendLimits;
  #bytes = 0;
  #entries = 0;

  constructor(limits: AppendLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Whether a full batch of entries is waiting. */
  get fillsBatch(): boolean {
    return this.#entries >= this.#limits.batchEntries;
  }

  /** Whether a call of this many bytes may wait. The first one always may. */
  hasRoomFor(bytes: number): boolean {
    return this.isEmpty || this.#bytes + bytes <= this.#limits.waitingBytes;
  }

  push(call: Call): void {
    this.#calls.push(call);
    this.#bytes += call.bytes;
    this.#entries += call.prepared.length;
  }

  /** Takes the next batch: the first call, however large, and as many more as fit. */
  take(): Batch {
    const batch = new Batch();
    this.#moveInto(batch, (call) => batch.isEmpty || batch.hasRoomFor(call, this.#limits));
    return batch;
  }

  /**
   * Adds calls that have arrived since to a batch that is about to be inserted. Stops at the first call with another
   * source or with a repeat, which would make the whole batch fail.
   */
  fillUp(batch: Batch, sources: { has(source: string): boolean }): void {
    this.#moveInto(
      batch,
      (call) =>
        batch.hasRoomFor(call, this.#limits) &&
        !batch.repeats(call) &&
        call.prepared.every(({ entry }) => sources.has(entry.source)),
    );
  }

  #moveInto(batch: Batch, mayGo: (call: Call) => boolean): void {
    for (let call = this.#calls[0]; call !== undefined && mayGo(call); call = this.#calls[0]) {
      this.#calls.shift();
      this.#bytes -= call.bytes;
      this.#entries -= call.prepared.length;
      batch.add(call);
    }
  }
}
