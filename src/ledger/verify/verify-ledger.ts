import { originOf, verifierKeyOf } from '../../crypto/checkpoint.ts';
import type { Entry } from '../../crypto/entry.ts';
import type { InstanceKeys } from '../../crypto/keys.ts';
import { EMPTY_FRONTIER, type Frontier } from '../../crypto/merkle.ts';
import { createBackgroundTurns } from '../../jobs/event-loop.ts';
import type { Store } from '../../store/store.ts';
import { readEntryPages } from '../read-entries.ts';
import { frontierOf } from '../seal.ts';
import type { Counts, Run, StatedTime } from './check-types.ts';
import { checks } from './checks.ts';
import { createFaultList, type Fault } from './entry-fault.ts';
import { readSignedNotes, type SignedNotesOptions } from './signed-notes.ts';

/** The result of a verification. Sound if `faults` is empty. */
export interface Verification extends Counts {
  /** Entries that were not read because a checkpoint was trusted for them. 0: all were read. */
  readonly since: number;
  readonly entries: number;
  readonly faults: readonly Fault[];
  /** Number of faults beyond the first thousand, which are not listed. */
  readonly moreFaults: number;
  /** Where backups were restored: the first entry of each later epoch, and how many earlier entries are known to be lost. */
  readonly restored: readonly { readonly epoch: number; readonly first: number; readonly lost: number }[];
}

export interface VerifyOptions extends SignedNotesOptions {
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  /** DATA_DIR/evidence: the files to which entries commit. */
  readonly evidenceFolder: string;
  /** DATA_DIR/documents: the files that entries register. */
  readonly documentsFolder: string;
  /**
   * DATA_DIR/erasures: the records of erasures. Absent: not checked, for instance when restoring a backup made during
   * an erasure.
   */
  readonly erasuresFolder?: string;
  /** Absent: by the clock of this machine. */
  readonly now?: Date;
  /** DATA_DIR/log.vkey. Absent: not checked. */
  readonly keyFile?: string;
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * Reads only entries after the last checkpoint over at most this many entries, and trusts that checkpoint for the
   * earlier ones.
   */
  readonly since?: number;
}

const nothing: Counts = {
  erased: 0,
  bytes: 0,
  sources: 0,
  checkpoints: 0,
  unsealed: 0,
  unfinishedNotes: 0,
  files: 0,
  documents: 0,
  cosignatures: 0,
  timestamps: 0,
  copies: 0,
  witnessed: 0,
  unchecked: [],
  misdated: [],
  root: '',
};

/** Reads the whole ledger once, in order of seq, and runs every check (checks.ts) along the way. */
export async function verifyLedger(options: VerifyOptions): Promise<Verification> {
  const { store, keys, evidenceFolder, documentsFolder, erasuresFolder = null, publicKey, onProgress } = options;
  const { report, listed } = createFaultList();
  // Read the notes first: then everything that they cover is read, even if entries are appended and sealed in the
  // meantime.
  const signed = await readSignedNotes(options);
  const since = await startOf(options);
  const { highest, total } = await extentOf(store, since.size);
  const sourceEnds = await sourceEndsAt(store, since.size);
  const stated: StatedTime[] = [];
  const begun = checks.map((check) =>
    check.begin({
      store,
      keys,
      now: options.now ?? new Date(),
      evidenceFolder,
      documentsFolder,
      erasuresFolder,
      publicKey,
      keyFile: keyFileOf(options),
      signed,
      since,
      sourceEnds,
      highest,
      stated,
      report,
    }),
  );

  let done = 0;
  const turns = createBackgroundTurns();
  for await (const page of readEntryPages(store.read, since.size || Number.MIN_SAFE_INTEGER, highest)) {
    for (const entry of page) {
      if (isNumbered(entry, report)) for (const check of begun) check.entry?.(entry);
      if (turns.areDue()) await turns.take();
    }
    done += page.length;
    onProgress?.(done, total);
  }
  if (done < total) {
    const sentence = `${total - done} entries have impossible numbers`;
    report({ seq: null, fault: 'foreign-entry', sentence });
  }
  for (const check of begun) await check.end?.();
  const counts = begun.reduce((sum, check) => {
    const more = check.counts?.() ?? {};
    return { ...sum, ...more, unchecked: [...sum.unchecked, ...(more.unchecked ?? [])] };
  }, nothing);
  const restored = signed.epochs
    .slice(1)
    .map(({ epoch, first, lostTo }) => ({ epoch, first, lost: Math.max(0, lostTo - first + 1) }));
  return { entries: total, since: since.size, ...counts, ...listed(), restored };
}

function keyFileOf({ keyFile, instance, epoch, publicKey }: VerifyOptions): Run['keyFile'] {
  return keyFile === undefined
    ? null
    : { path: keyFile, verifierKey: verifierKeyOf(originOf(instance, epoch), publicKey) };
}

/** The right edge of the tree from which to read on, as `since` says; empty if there is no sound checkpoint. */
async function startOf({ store, since = 0, publicKey, instance }: VerifyOptions): Promise<Frontier> {
  if (since <= 0) return EMPTY_FRONTIER;
  const rows = await store.read
    .selectFrom('checkpoints')
    .select(['epoch', 'size', 'root', 'frontier', 'note'])
    .where('size', '<=', since)
    .orderBy('size', 'desc')
    .orderBy('epoch', 'desc')
    .limit(1)
    .execute();
  const [row] = rows;
  return (row === undefined ? null : frontierOf({ publicKey, instance }, row)) ?? EMPTY_FRONTIER;
}

async function sourceEndsAt(store: Store, size: number): Promise<ReadonlyMap<string, number>> {
  if (size === 0) return new Map();
  const rows = await store.read
    .selectFrom('entries')
    .select((eb) => ['source', eb.fn.max('source_seq').as('last')])
    .where('seq', '<=', size)
    .groupBy('source')
    .execute();
  return new Map(rows.map(({ source, last }) => [source, Number(last)]));
}

async function extentOf(store: Store, after: number): Promise<{ highest: number; total: number }> {
  let query = store.read
    .selectFrom('entries')
    .select((eb) => [eb.fn.max('seq').as('highest'), eb.fn.countAll().as('total')]);
  if (after > 0) query = query.where('seq', '>', after);
  const { highest, total } = await query.executeTakeFirstOrThrow();
  return { highest: Number(highest ?? after), total: Number(total) };
}

function isNumbered({ seq }: Entry, report: (fault: Fault) => void): boolean {
  if (seq >= 1) return true;
  report({ seq, fault: 'foreign-entry', sentence: 'entries are numbered from 1: this program did not write it' });
  return false;
}
