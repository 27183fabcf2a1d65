import { EMPTY_FRONTIER, type Frontier, growFrontier, rootOf } from '../../crypto/merkle.ts';
import { inPortions } from '../../store/queries/entry-pages.ts';
import type { Query } from '../../store/store.ts';
import type { ProofOptions } from '../prove-entry.ts';
import { entryFromRow } from '../read-entries.ts';
import { frontierOf } from '../seal.ts';
import { diagnoseEntry } from './entry-fault.ts';

/** Entries, and bytes of content, per page. */
const AT_ONCE = { entries: 500, bytes: 4 << 20 };

/**
 * Checks many entries, given in order of seq, as far as the database allows: commitment, leaf hash and MAC, and that
 * each stretch between two checkpoints that contains one of them gives the signed root. Reads the leaf hashes of these
 * stretches once. Null if all are sound.
 */
export async function verifyEntries(
  options: ProofOptions,
  seqs: Iterable<number>,
): Promise<{ readonly seq: number; readonly sentence: string } | null> {
  const state = { provenUpTo: 0 };
  for await (const portion of inPortions(options.store.read, seqs, AT_ONCE)) {
    const fault = await checkPage(options, portion, state);
    if (fault !== null) return fault;
  }
  return null;
}

async function checkPage(options: ProofOptions, seqs: readonly number[], state: { provenUpTo: number }) {
  const { read } = options.store;
  const rows = await read.selectFrom('entries').selectAll().where('seq', 'in', seqs).execute();
  const entries = new Map(rows.map((row) => [row.seq, entryFromRow(row)]));
  for (const seq of seqs) {
    const entry = entries.get(seq);
    const fault = entry === undefined ? 'the entry is missing' : diagnoseEntry(entry, options.keys.instance)?.sentence;
    if (fault !== undefined) return { seq, sentence: fault };
    if (seq <= state.provenUpTo) continue;
    const stretch = await proveStretch(options, seq);
    if (typeof stretch === 'string') return { seq, sentence: stretch };
    // Not sealed yet, and neither is anything after it.
    state.provenUpTo = stretch ?? Number.POSITIVE_INFINITY;
  }
  return null;
}

/**
 * The size of the first checkpoint over `seq`, if the entries give its root; null if there is no checkpoint; a sentence
 * if they do not.
 */
async function proveStretch(options: ProofOptions, seq: number): Promise<number | null | string> {
  const { read } = options.store;
  const over = await checkpoints(read).where('size', '>=', seq).orderBy('size').executeTakeFirst();
  if (over === undefined) return null;
  const before = await checkpoints(read).where('size', '<', seq).orderBy('size', 'desc').executeTakeFirst();
  const signer = { ...options, publicKey: options.keys.verifying };
  const wanted = frontierOf(signer, over);
  const from = before === undefined ? EMPTY_FRONTIER : frontierOf(signer, before);
  if (wanted === null) return `the checkpoint at ${over.size} is not the one that was signed`;
  if (from === null) return `the checkpoint at ${before?.size} is not the one that was signed`;
  const found = await grownTo(read, from, wanted.size);
  return found !== null && rootOf(found).equals(rootOf(wanted))
    ? wanted.size
    : `the first ${wanted.size} entries do not give the root that the checkpoint at ${wanted.size} was signed for`;
}

function checkpoints(read: Query) {
  return read.selectFrom('checkpoints').select(['epoch', 'size', 'root', 'frontier', 'note']).limit(1);
}

/** Null if an entry is missing, or if its leaf hash is not a hash. */
async function grownTo(read: Query, from: Frontier, size: number): Promise<Frontier | null> {
  let frontier = from;
  while (frontier.size < size) {
    const rows = await read
      .selectFrom('entries')
      .select(['seq', 'leaf_hash'])
      .where('seq', '>', frontier.size)
      .where('seq', '<=', size)
      .orderBy('seq')
      .limit(2000)
      .execute();
    const first = frontier.size + 1;
    if (rows.length === 0 || rows.some((row, place) => row.seq !== first + place || !Buffer.isBuffer(row.leaf_hash)))
      return null;
    frontier = growFrontier(
      frontier,
      rows.map((row) => row.leaf_hash),
    );
  }
  return frontier;
}
