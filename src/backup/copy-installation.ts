import { createHash } from 'node:crypto';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { appendAction } from '../ledger/append-action.ts';
import { createLedger } from '../ledger/ledger.ts';
import type { Verification } from '../ledger/verify/verify-ledger.ts';
import { type ReadModelName, readModelNames } from '../projections/tables.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { keyOf } from '../store/schema.ts';
import { MOVED_TO, readSetting, removeSetting, UNFINISHED_COPY, writeSetting } from '../store/settings.ts';
import type { Query, Store } from '../store/store.ts';
import { copiedOnly, copiedWhole, copyByPage, copyEntries, copyWhole, readByKey } from './copy-tables.ts';

interface CopyOptions {
  readonly context: Pick<
    Context,
    'store' | 'ledger' | 'keys' | 'instance' | 'projector' | 'projectorOver' | 'verifyCopy' | 'clock'
  >;
  readonly to: Store;
  /** A name for the other database without a password, shown to people. */
  readonly name: string;
  /** Retire the old installation once the copy has been verified: its database accepts no more entries. */
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
 * retired, which is done once the copy has been verified. Throws UsageError if the other database contains something
 * else or has entries of its own.
 */
export async function copyInstallation(options: CopyOptions): Promise<CopyReport> {
  const { context, to } = options;
  const from = context.store;
  await assertFits(from, to);
  await writeSetting(to, UNFINISHED_COPY, new Date(context.clock()).toISOString());
  const before = await lastSeq(to.read);
  let checked = await check(options, await follow(options), null);
  let retired = (await readSetting(from, MOVED_TO)) !== null;
  if (options.retire && !retired && isSound(checked)) {
    await retire(options);
    retired = true;
    checked = await check(options, await follow(options), checked);
  }
  const { seq, behind, readModels } = checked;
  // A copy with a fault stays marked, so it is not mistaken for the installation.
  if (isSound(checked)) await open(to, retired);
  return { ...checked, readModels: behind > 0 ? null : readModels, copied: seq - before, retired };
}

/** Copies until the copy has every entry, or a few times; resolves with the last entry copied. */
async function follow({ context, to, onProgress }: CopyOptions): Promise<number> {
  const from = context.store;
  let seq = 0;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const head = await lastSeq(from.read);
    // Copied first: a sync cursor may be behind the entries, but never ahead of them.
    for (const table of [...copiedWhole, ...copiedOnly]) await copyWhole(from, to, table);
    await copyEntries(from, to, head, (done, total) => onProgress('copied', done, total));
    await copyByPage(from, to, head);
    seq = head;
    if ((await lastSeq(from.read)) === head) break;
  }
  return seq;
}

/** What is known of a copy up to `seq`. */
interface Checked extends Pick<CopyReport, 'seq' | 'differentLeaf' | 'verification' | 'behind'> {
  readonly readModels: readonly ComparedTable[];
}

/** Folds, verifies and compares the copy up to `seq`. `before`: a check without faults, after which only what is new is verified. */
async function check({ context, to, onProgress }: CopyOptions, seq: number, before: Checked | null): Promise<Checked> {
  const from = context.store;
  const projector = context.projectorOver(to);
  try {
    while ((await projector.runOnce()) !== 'caught-up') onProgress('projected', projector.position(), seq);
  } finally {
    await projector.close();
  }
  const differentLeaf = await findDifferentLeaf(from, to, seq);
  const found = await context.verifyCopy(to, {
    upTo: seq,
    since: before?.seq ?? 0,
    onProgress: (done, total) => onProgress('verified', done, total),
  });
  const verification =
    before === null
      ? found
      : { ...before.verification, ...pick(found), entries: before.verification.entries + seq - before.seq };
  await context.projector.catchUp();
  const readModels = await compareReadModels(from, to);
  return { seq, differentLeaf, verification, readModels, behind: (await lastSeq(from.read)) - seq };
}

/** What a verification that began at an earlier checkpoint says of the whole. */
const pick = ({ root, faults, moreFaults, unsealed }: Verification) => ({ root, faults, moreFaults, unsealed });

/** Read models of an installation that has gone on cannot be compared. */
function isSound({ differentLeaf, verification, readModels, behind }: Checked): boolean {
  return (
    differentLeaf === null && verification.faults.length === 0 && (behind > 0 || readModels.every(({ same }) => same))
  );
}

/** Makes the copy an installation that can be opened. If it was retired before, it accepts entries again. */
function open(to: Store, replaces: boolean): Promise<void> {
  const marks = replaces ? [UNFINISHED_COPY, MOVED_TO] : [UNFINISHED_COPY];
  return to
    .transaction((tx) => tx.query.deleteFrom('settings').where('name', 'in', marks).execute())
    .then(() => undefined);
}

interface ReopenOptions {
  readonly context: Pick<Context, 'store' | 'keys' | 'instance' | 'clock'>;
  /** The database to which the installation moved; null: it is lost. */
  readonly to: Store | null;
  /** A name for this installation's own database without a password, shown to people. */
  readonly ownName: string;
  readonly actor: string;
}

/**
 * Undoes `store copy --retire`: closes the other database, so that it accepts no entries, and opens this one again.
 * May be repeated if it was interrupted. Throws UsageError if this database is not retired, or if the other has entries
 * that this one lacks; nothing is changed then.
 */
export async function reopenInstallation({
  context,
  to,
  ownName,
  actor,
}: ReopenOptions): Promise<{ readonly seq: number }> {
  const { store, clock, instance } = context;
  const movedTo = await readSetting(store, MOVED_TO);
  if (movedTo === null)
    throw new UsageError(['This database has not been retired: it accepts entries, so there is nothing to reopen.']);
  if (to !== null) await closeAgain(store, to, ownName);
  const end = await lastSeq(store.read);
  const ledger = createLedger({ store, keys: context.keys.instance, undoesMove: true });
  try {
    return await appendAction(
      ledger,
      INSTALLATION,
      { action: 'installation.reopened', actor, from: movedTo },
      ['installation.reopened', instance, movedTo, String(end)],
      clock().toISOString(),
      async (tx) => void (await tx.query.deleteFrom('settings').where('name', '=', MOVED_TO).execute()),
    );
  } finally {
    await ledger.close();
  }
}

/** Closes a copy that has no entries of its own. */
async function closeAgain(store: Store, to: Store, ownName: string): Promise<void> {
  const ours = await readSetting(store, 'instance_id');
  if ((await readSetting(to, 'instance_id')) !== ours)
    throw new UsageError(['The other database is not the one to which this installation moved.']);
  const before = await readSetting(to, MOVED_TO);
  await writeSetting(to, MOVED_TO, ownName);
  // Counted after it was closed: a server may still have had it open.
  const [here, there] = [await lastSeq(store.read), await lastSeq(to.read)];
  if (there <= here && (await findDifferentLeaf(store, to, there)) === null) return;
  if (before === null) await removeSetting(to, MOVED_TO);
  throw new UsageError([
    `The other database ends at ${there}, this one at ${here}: it has entries that this one lacks. To go back without losing them, set DATABASE_URL to it and run \`consent-ledger store copy --to <this database> --retire\`.`,
  ]);
}

/** Checks that the other database is empty, or contains an earlier state of this installation and nothing else. */
async function assertFits(from: Store, to: Store): Promise<void> {
  const moved = await readSetting(from, MOVED_TO);
  const theirs = await readSetting(to, 'instance_id');
  const ours = await readSetting(from, 'instance_id');
  const there = await lastSeq(to.read);
  if (moved !== null && theirs !== ours)
    throw new UsageError([
      `This installation has moved to ${moved}: set DATABASE_URL to it and copy from there, or undo the move with \`consent-ledger store reopen\`.`,
    ]);
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
    INSTALLATION,
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
