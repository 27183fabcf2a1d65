import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { UsageError } from '../core/errors.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { appendAction } from '../ledger/append-action.ts';
import { type Verification, verifyLedger } from '../ledger/verify/verify-ledger.ts';
import { type ReadModelName, readModelNames } from '../projections/tables.ts';
import { keyOf } from '../store/schema.ts';
import { MOVED_TO, readSetting, removeSetting, UNFINISHED_COPY, writeSetting } from '../store/settings.ts';
import type { Query, Store } from '../store/store.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { copiedOnly, copiedWhole, copyByPage, copyEntries, copyWhole, readByKey } from './copy-tables.ts';

interface CopyOptions {
  readonly context: Context;
  readonly to: Store;
  /** A name for the other database without a password, shown to people. */
  readonly name: string;
  /** Retire the old installation: its database accepts no more entries. */
  readonly retire: boolean;
  /** Who requested it. */
  readonly actor: string;
  readonly onProgress: (step: 'copied' | 'projected' | 'verified', done: number, total: number) => void;
}

/** The result of a copy. Complete if `verification.faults` is empty and every table in `readModels` is equal. */
export interface CopyReport {
  /** Entries copied by this run; an earlier, interrupted run may have copied others. */
  readonly copied: number;
  readonly seq: number;
  /** The first entry with a different leaf hash; null: none. */
  readonly differentLeaf: number | null;
  readonly verification: Verification;
  /** Null: the installation kept running, so its rows could not be compared. */
  readonly readModels: readonly ComparedTable[] | null;
  /** Entries appended to the old database during the copy; another run copies them. */
  readonly behind: number;
  readonly retired: boolean;
}

/** How often entries appended during the copy are copied before the rest is left to another run. */
const PASSES = 5;

/**
 * Copies an installation into another database: same seq, same bytes, same leaf hashes. The read models are folded
 * again there and compared. An interrupted copy continues where it stopped. The old database is unchanged, unless it is
 * retired. Throws UsageError if the other database contains something else or has entries of its own.
 */
export async function copyInstallation(options: CopyOptions): Promise<CopyReport> {
  const { context, to, onProgress } = options;
  const from = context.store;
  await assertFits(from, to);
  await writeSetting(to, UNFINISHED_COPY, new Date(context.clock()).toISOString());
  const before = await lastSeq(to.read);

  let seq = before;
  const follow = async () => {
    for (let pass = 0; pass < PASSES; pass += 1) {
      const head = await lastSeq(from.read);
      // Copied first: a sync cursor may be behind the entries, but never ahead of them.
      for (const table of [...copiedWhole, ...copiedOnly]) await copyWhole(from, to, table);
      await copyEntries(from, to, head, (done, total) => onProgress('copied', done, total));
      await copyByPage(from, to, head);
      seq = head;
      if ((await lastSeq(from.read)) === head) return;
    }
  };
  await follow();
  if (options.retire) {
    if ((await readSetting(from, MOVED_TO)) === null) await retire(options);
    await follow();
  }

  const projector = context.projectorOver(to);
  try {
    while ((await projector.runOnce()) !== 'caught-up') onProgress('projected', projector.position(), seq);
  } finally {
    await projector.close();
  }
  const differentLeaf = await findDifferentLeaf(from, to, seq);
  const verification = await verifyLedger({
    store: to,
    journal: context.journal,
    keys: context.keys.instance,
    publicKey: context.keys.verifying,
    instance: context.instance,
    epoch: context.epoch,
    evidenceFolder: context.evidenceFolder,
    documentsFolder: context.documentsFolder,
    onProgress: (done, total) => onProgress('verified', done, total),
  });
  await context.projector.catchUp();
  const readModels = await compareReadModels(from, to);
  const behind = (await lastSeq(from.read)) - seq;
  const whole = differentLeaf === null && verification.faults.length === 0 && readModels.every(({ same }) => same);
  // A copy with a fault stays marked, so it is not mistaken for the installation.
  if (whole || (behind > 0 && differentLeaf === null && verification.faults.length === 0))
    await removeSetting(to, UNFINISHED_COPY);
  return {
    copied: seq - before,
    seq,
    differentLeaf,
    verification,
    readModels: behind > 0 ? null : readModels,
    behind,
    retired: options.retire,
  };
}

/** Checks that the other database is empty, or contains an earlier state of this installation and nothing else. */
async function assertFits(from: Store, to: Store): Promise<void> {
  const moved = await readSetting(from, MOVED_TO);
  const theirs = await readSetting(to, 'instance_id');
  const ours = await readSetting(from, 'instance_id');
  const there = await lastSeq(to.read);
  if (moved !== null && theirs !== ours)
    throw new UsageError([`This installation has moved to ${moved}: set DATABASE_URL to it, and copy from there.`]);
  if (theirs !== null && theirs !== ours) {
    throw new UsageError([
      `The target database belongs to another installation (${theirs}; this one is ${ours ?? 'nameless'}): use an empty database.`,
    ]);
  }
  if (theirs === null && there > 0)
    throw new UsageError(['The target database contains entries but no installation: use an empty database.']);
  const here = await lastSeq(from.read);
  const different = there === 0 ? null : await findDifferentLeaf(from, to, Math.min(there, here));
  if (there > here || different !== null) {
    throw new UsageError([
      different === null
        ? `The target database has entries that this one lacks: it ends at ${there}, this one at ${here}. The installation has moved there; nothing was copied.`
        : `The target database differs from entry ${different} onwards: each has entries that the other lacks. Nothing was copied.`,
    ]);
  }
}

/** The last entry of the old database says where the installation has moved; later appends are refused there. */
async function retire({ context, name, actor }: CopyOptions): Promise<void> {
  const { ledger, clock, instance } = context;
  await appendAction(
    ledger,
    'installation',
    { action: 'installation.moved', actor, to: name },
    ['installation.moved', instance, name, String(await lastSeq(context.store.read))],
    clock().toISOString(),
    (tx) => tx.insertMany('settings', [{ name: MOVED_TO, value: name }], 'replace'),
  );
}

/** A read model in both databases. */
interface ComparedTable {
  readonly table: ReadModelName;
  /** Rows in the copy. */
  readonly rows: number;
  readonly same: boolean;
}

const PAGE = 2000;

/** The first seq up to `upTo` with different leaf hashes; null if all are equal. */
async function findDifferentLeaf(from: Store, to: Store, upTo: number): Promise<number | null> {
  const leaves = (store: Store, after: number) =>
    store.read
      .selectFrom('entries')
      .select(['seq', 'leaf_hash'])
      .where('seq', '>', after)
      .where('seq', '<=', upTo)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
  for (let after = 0; after < upTo; after += PAGE) {
    const [ours, theirs] = await Promise.all([leaves(from, after), leaves(to, after)]);
    for (const [place, row] of ours.entries()) {
      const other = theirs[place];
      if (other?.seq !== row.seq || !other.leaf_hash.equals(row.leaf_hash)) return row.seq;
    }
    if (ours.length !== theirs.length) return theirs[ours.length]?.seq ?? after + 1;
  }
  return null;
}

/** Compares every row of every read model by digest, so that only digests leave either database. */
async function compareReadModels(from: Store, to: Store): Promise<ComparedTable[]> {
  const compared: ComparedTable[] = [];
  for (const table of readModelNames) {
    const [ours, theirs] = await Promise.all([digest(from.read, table), digest(to.read, table)]);
    compared.push({ table, rows: theirs.rows, same: ours.rows === theirs.rows && ours.sha256 === theirs.sha256 });
  }
  return compared;
}

async function digest(read: Query, table: ReadModelName): Promise<{ rows: number; sha256: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const page of readByKey(read, table, keyOf(table))) {
    for (const row of page) hash.update(canonicalJson(row)).update('\n');
    rows += page.length;
  }
  return { rows, sha256: hash.digest('hex') };
}
