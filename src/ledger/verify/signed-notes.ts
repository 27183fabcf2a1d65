import type { KeyObject } from 'node:crypto';
import type { Selectable } from 'kysely';
import { originOf, parseTreeHead, readCheckpoint, type TreeHead } from '../../crypto/checkpoint.ts';
import { equalBytes } from '../../crypto/hash.ts';
import type { InstanceKeys } from '../../crypto/keys.ts';
import type { Tables } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import {
  checkpointInName,
  readWitnessedFiles,
  type WitnessedFiles,
  type WitnessedOptions,
} from '../cosigned-checkpoints.ts';
import { type Epoch, loadEpochs, parseOrigin, placeOf } from '../epochs.ts';
import type { Journal } from '../journal.ts';
import { checkpointMac, frontierOf } from '../seal.ts';
import type { WitnessPolicy } from '../witness-policy.ts';
import type { Fault } from './entry-fault.ts';

/** A note that should be a signed checkpoint of this ledger. */
export interface SignedNote {
  /** Where it was found, for messages about it. */
  readonly where: string;
  readonly note: string;
  /** Entries that it covers, according to its row or the note itself; null if that cannot be read. */
  readonly size: number | null;
  /** The signed tree head; null if the note is invalid. */
  readonly head: TreeHead | null;
  readonly faults: readonly Fault[];
}

/** Everything signed so far, according to the database and the journal. */
export interface SignedNotes {
  readonly database: readonly (SignedNote & {
    /** ISO 8601 UTC, by the installation's clock. */ readonly createdAt: string;
  })[];
  /** Faults of rows without a note. */
  readonly brokenRows: readonly Fault[];
  readonly journal: readonly SignedNote[];
  /** What witnesses signed; null: it was not looked at. */
  readonly witnessed: WitnessedNotes | null;
  /** Journal notes whose writing was cut off. They were never published. */
  readonly unfinished: number;
  /** The current epoch, and all epochs that begin with an entry. */
  readonly epoch: number;
  readonly epochs: readonly Epoch[];
}

export interface WitnessedNotes extends Omit<WitnessedFiles, 'kept' | 'elsewhere'> {
  /** The accepted witnesses; null: none are configured. */
  readonly policy: WitnessPolicy | null;
  readonly kept: readonly (SignedNote & { readonly file: string })[];
  readonly elsewhere: readonly SignedNote[];
}

export interface SignedNotesOptions {
  readonly store: Store;
  readonly journal: Journal;
  readonly publicKey: KeyObject;
  readonly instance: string;
  readonly epoch: number;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  /** Null: do not look at what witnesses signed. */
  readonly witnessed: WitnessedOptions | null;
  /** Leaves out notes of this epoch over more entries: the installation goes on while its copy is verified. */
  readonly upTo?: number;
}

type Judging = SignedNotesOptions & { readonly epochs: readonly Epoch[] };

/**
 * Reads all checkpoints and the whole journal. Reads the database first, because a note is in the journal before it is
 * in the database.
 */
export async function readSignedNotes(asked: SignedNotesOptions): Promise<SignedNotes> {
  const epochs = await loadEpochs(asked.store.read, asked.keys, asked.instance, asked.epoch);
  const options = { ...asked, epochs };
  const database: SignedNotes['database'][number][] = [];
  const brokenRows: Fault[] = [];
  for await (const row of checkpointRows(options.store)) {
    const { size, root, note, created_at, mac } = row;
    const ofBytes = [root, row.frontier, mac].every((bytes) => Buffer.isBuffer(bytes));
    if (
      !Number.isSafeInteger(size) ||
      size < 1 ||
      typeof note !== 'string' ||
      typeof created_at !== 'string' ||
      !ofBytes
    ) {
      const sentence = `there is a checkpoint of an impossible size, ${size}`;
      brokenRows.push({ seq: null, fault: 'checkpoint-invalid', sentence });
      continue;
    }
    database.push(judgeRow(options, row));
  }
  const journal: SignedNote[] = [];
  let unfinished = 0;
  for await (const part of options.journal.read()) {
    if (part.unfinished) unfinished += 1;
    else if (isWithin(options, checkpointIn(part.note)))
      journal.push(judgeNote(options, part.note, `the journal (${part.file})`, 'journal-invalid'));
  }
  const witnessed = options.witnessed === null ? null : await readWitnessed(options, options.witnessed);
  return { database, brokenRows, journal, unfinished, witnessed, epoch: asked.epoch, epochs };
}

async function readWitnessed(options: Judging, from: WitnessedOptions): Promise<WitnessedNotes> {
  const files = await readWitnessedFiles(from, originOf(options.instance, options.epoch));
  const judge = ({ file, note, where }: WitnessedFiles['kept'][number]) => ({
    ...judgeNote(options, note, where, 'witness-invalid'),
    file,
  });
  return {
    ...files,
    policy: from.policy,
    kept: files.kept.filter(({ file }) => isWithin(options, checkpointInName(file))).map(judge),
    tokens: files.tokens.filter(({ name }) => isWithin(options, checkpointInName(name))),
    elsewhere: files.elsewhere.filter(({ note }) => isWithin(options, checkpointIn(note))).map(judge),
  };
}

function checkpointIn(note: string): { readonly epoch: number; readonly size: number } | null {
  const head = parseTreeHead(note);
  const epoch = parseOrigin(head?.origin ?? '')?.epoch;
  return head === null || epoch === undefined ? null : { epoch, size: head.size };
}

/** A note whose size cannot be read is judged anyway. */
function isWithin({ upTo = Infinity, epoch }: SignedNotesOptions, about: ReturnType<typeof checkpointIn>): boolean {
  return about === null || about.epoch < epoch || about.size <= upTo;
}

type CheckpointRow = Pick<
  Selectable<Tables['checkpoints']>,
  'epoch' | 'size' | 'root' | 'frontier' | 'note' | 'created_at' | 'mac'
>;

function judgeRow(options: Judging, row: CheckpointRow): SignedNotes['database'][number] {
  const { size, root, note, created_at, mac } = row;
  const where = `the checkpoint at ${size}`;
  const judged = { ...judgeNote(options, note, where, 'checkpoint-invalid'), size };
  const faults = [...judged.faults];
  const fault = (sentence: string) =>
    faults.push({ seq: size, fault: 'checkpoint-invalid', sentence: `${where} ${sentence}` });
  const said = parseTreeHead(note);
  if (said && (said.size !== size || !said.root.equals(root))) fault('does not match its note');
  else if (said && judged.head !== null && parseOrigin(judged.head.origin)?.epoch !== row.epoch)
    fault('is of a different epoch than its note says');
  else if (said && frontierOf(options, row) === null && judged.head !== null)
    fault('has a right edge of the tree that does not give the signed root');
  if (!equalBytes(checkpointMac(options.keys.append, note, created_at), mac))
    fault('has a time that is not the one that was written');
  return { ...judged, faults, createdAt: created_at };
}

function judgeNote(
  { publicKey, instance, epochs }: Judging,
  note: string,
  where: string,
  fault: 'checkpoint-invalid' | 'journal-invalid' | 'witness-invalid',
): SignedNote {
  const reading = readCheckpoint(note, publicKey);
  const size = parseTreeHead(note)?.size ?? null;
  const refused = (sentence: string): SignedNote => ({
    where,
    note,
    size,
    head: null,
    faults: [{ seq: size, fault, sentence: `${where}: ${sentence}` }],
  });
  if (reading.outcome !== 'valid') return refused(reading.reason);
  const { head } = reading;
  const place = placeOf(epochs, instance, head);
  if (place.outcome === 'placed') return { where, note, size, head, faults: [] };
  // The database must not contain checkpoints over entries that it does not contain.
  if (place.outcome === 'lost' && fault !== 'checkpoint-invalid') return { where, note, size, head: null, faults: [] };
  // Only this installation's signing key makes such a note: either the name or epoch in the database was changed, or
  // the journal is another's.
  return refused(
    place.outcome === 'lost'
      ? `it is over ${head.size} entries, but those from ${place.by.first} on were lost when epoch ${place.by.epoch} began`
      : place.reason,
  );
}

async function* checkpointRows(store: Store) {
  let after: Pick<CheckpointRow, 'epoch' | 'size'> | null = null;
  for (;;) {
    let query = store.read
      .selectFrom('checkpoints')
      .select(['epoch', 'size', 'root', 'frontier', 'note', 'created_at', 'mac'])
      .orderBy('epoch')
      .orderBy('size')
      .limit(1000);
    if (after !== null) {
      const { epoch, size }: Pick<CheckpointRow, 'epoch' | 'size'> = after;
      query = query.where((eb) =>
        eb.or([eb('epoch', '>', epoch), eb.and([eb('epoch', '=', epoch), eb('size', '>', size)])]),
      );
    }
    const rows: CheckpointRow[] = await query.execute();
    yield* rows;
    const final = rows.at(-1);
    if (final === undefined || rows.length < 1000) return;
    after = final;
  }
}
