import type { KyselyPlugin } from 'kysely';
import type { Query } from '../store/store.ts';
import { isTracing, linkEntries } from '../tracing/trace.ts';
import { listErasures } from './erase.ts';
import type { Ledger } from './ledger.ts';
import type { ProofOptions } from './prove-entry.ts';
import { verifyEntries } from './verify/verify-entries.ts';

/** Thrown if an answer would cite an entry that differs from what was sealed. The message names the entry. */
export class UntrustedEntry extends Error {
  constructor(seq: number, sentence: string) {
    super(
      `Entry ${seq} cannot be relied on: ${sentence}. Nothing was produced. Run \`consent-ledger ledger verify\` to list each fault.`,
    );
    this.name = 'UntrustedEntry';
  }
}

/** Thrown if an entry was erased while the document was made. Made again, the document does not contain it. */
export class ErasedMeanwhile extends UntrustedEntry {
  constructor(seq: number) {
    super(seq, 'it was erased while the document was being made; create the document again');
    this.name = 'ErasedMeanwhile';
  }
}

/** The entries used in a document or an answer, collected while it is made. */
export interface Cited {
  /** The same reader, which also records the seq of every row that it returns. */
  over(read: Query): Query;
  /** Throws {@link UntrustedEntry} for the first entry with a wrong commitment, MAC or inclusion under a signed root. */
  assertSound(proofs: ProofOptions): Promise<void>;
  /**
   * Throws {@link ErasedMeanwhile} if one of the entries was erased while the document was made: it must not appear
   * after the erasure.
   */
  assertThere(read: Query, ledger: Pick<Ledger, 'faultOf'>): Promise<void>;
}

/** Records entries up to `asOf`, one bit each. `position`: the end of the ledger when the document was begun. */
export function createCited(asOf: number, position = asOf): Cited {
  const bits = new Uint8Array((asOf >> 3) + 1);
  let outside: number | null = null;
  function note(seq: unknown): void {
    if (seq === undefined || seq === null) return;
    const number = Number(seq);
    if (Number.isSafeInteger(number) && number >= 1 && number <= asOf)
      bits[number >> 3] = (bits[number >> 3] as number) | (1 << (number & 7));
    else outside ??= number;
  }
  function* noted(): Generator<number> {
    for (let seq = 1; seq <= asOf; seq += 1) {
      if (((bits[seq >> 3] as number) & (1 << (seq & 7))) !== 0) yield seq;
    }
  }
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      for (const row of result.rows) note(row['seq']);
      return Promise.resolve(result);
    },
  };
  return {
    over: (read) => read.withPlugin(plugin),
    async assertSound(proofs) {
      if (outside !== null) throw new UntrustedEntry(outside, `no entry up to ${asOf} has this number`);
      linkEntries(isTracing() ? noted() : []);
      const fault = await verifyEntries(proofs, noted());
      if (fault !== null) throw new UntrustedEntry(fault.seq, fault.sentence);
    },
    async assertThere(read, ledger) {
      for (const { seqs } of await listErasures(read, ledger, position))
        for (const seq of seqs)
          if (seq <= asOf && ((bits[seq >> 3] as number) & (1 << (seq & 7))) !== 0) throw new ErasedMeanwhile(seq);
    },
  };
}
