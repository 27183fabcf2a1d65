import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Erasure, erasureSchema, readErasure } from '../core/erasure.ts';
import { CodedError, VerificationFault } from '../core/errors.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { equalBytes } from '../crypto/hash.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { entryFromRow } from './read-entries.ts';

/** Seqs per statement. */
const AT_ONCE = 500;

/** Further writes in the transaction of an erasure, given the seq of its entry. */
export type AlsoErase = (tx: StoreTransaction, seq: number) => Promise<void>;

/**
 * Appends an erasure entry and clears meta, body and salt of every entry that it names, in one transaction.
 * Commitments, hashes and keys stay, so every proof remains valid and a row that arrives again is a repeat
 * (docs/ledger-format.md, Erasing). Resolves with the seq of the entry. Rejects with CodedError `conflict`, with
 * nothing changed, if an entry does not exist, has already been erased, or is itself an erasure.
 */
export async function appendErasure(
  ledger: Ledger,
  erasure: Erasure,
  receivedAt: string,
  also: AlsoErase = () => Promise.resolve(),
): Promise<number> {
  const body = canonicalJson(erasureSchema.parse(erasure));
  const entry = {
    source: INSTALLATION,
    kind: 'erasure' as const,
    dedupeKey: ledger.keyOf('erasure', randomUUID()),
    receivedAt,
    meta: canonicalJson({ actor: erasure.officer }),
    body,
  };
  const [appended] = await ledger.append([entry], async (tx, [own]) => {
    if (own === undefined) throw new Error('the ledger returned no entry');
    await takeContent(tx, erasure.seqs);
    await also(tx, own.seq);
  });
  if (appended === undefined) throw new Error('the ledger returned no entry');
  return appended.seq;
}

async function takeContent({ query }: StoreTransaction, seqs: readonly number[]): Promise<void> {
  for (const chunk of chunksOf(seqs)) {
    const { numUpdatedRows } = await query
      .updateTable('entries')
      .set({ meta: null, body: null, salt: null })
      .where('seq', 'in', chunk)
      .where('kind', '!=', 'erasure')
      .where('body', 'is not', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== BigInt(chunk.length))
      throw new CodedError('conflict', 'Some of these entries were erased in the meantime. Review the preview again.');
  }
}

/** Parts of a list of seqs, each short enough for one statement. */
export function* chunksOf<T>(items: readonly T[], size = AT_ONCE): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** An erasure as the ledger records it. */
export interface RecordedErasure extends Erasure {
  readonly seq: number;
  readonly receivedAt: string;
}

/**
 * Every erasure after an entry, in order; one that was altered, or written by somebody without INSTANCE_KEY, is left
 * out. They are few and found through an index on source and kind.
 */
export async function listErasures(query: Query, ledger: Judge, after = 0): Promise<readonly RecordedErasure[]> {
  const rows = await erasureEntries(query).where('seq', '>', after).orderBy('seq').execute();
  return recordedErasures(rows.filter((row) => ledger.faultOf(entryFromRow(row)) === null));
}

/**
 * Like {@link listErasures}, for what removes files or says what is to be erased: throws VerificationFault if one was
 * altered.
 */
export async function listSoundErasures(query: Query, ledger: Judge, after = 0): Promise<readonly RecordedErasure[]> {
  const rows = await erasureEntries(query).where('seq', '>', after).orderBy('seq').execute();
  for (const row of rows) {
    const fault = ledger.faultOf(entryFromRow(row));
    if (fault !== null)
      throw new VerificationFault(
        `The erasure in entry ${row.seq} cannot be relied on: ${fault}. Nothing was removed. Run \`consent-ledger ledger verify\` to list each fault.`,
      );
  }
  return recordedErasures(rows);
}

/** Every erasure as the table has it, for callers that prove each one that they rely on. */
export async function listUncheckedErasures(query: Query): Promise<readonly RecordedErasure[]> {
  return recordedErasures(await erasureEntries(query).orderBy('seq').execute());
}

type Judge = Pick<Ledger, 'faultOf'>;

/** Erasures before an entry, newest first, at most `limit`. */
export async function loadErasurePage(
  query: Query,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly RecordedErasure[]> {
  let entries = erasureEntries(query);
  if (before !== null) entries = entries.where('seq', '<', before);
  return recordedErasures(await entries.orderBy('seq', 'desc').limit(limit).execute());
}

function erasureEntries(query: Query) {
  return query.selectFrom('entries').selectAll().where('source', '=', INSTALLATION).where('kind', '=', 'erasure');
}

function recordedErasures(
  rows: readonly { readonly seq: number; readonly received_at: string; readonly body: Buffer | null }[],
): readonly RecordedErasure[] {
  return rows.flatMap(({ seq, received_at: receivedAt, body }) => {
    const erasure = readErasure(body);
    return erasure === null ? [] : [{ ...erasure, seq, receivedAt }];
  });
}

const recordSchema = z.object({
  instance: z.string(),
  epoch: z.number(),
  seq: z.number(),
  receivedAt: z.string(),
  erasure: erasureSchema,
  /** The beginning of each erased entry's commitment, because an entry with the same number in another epoch is a different one. */
  commitments: z.array(z.string()),
});
/** A file of DATA_DIR/erasures. After an older backup was restored, it says what has to be erased again. */
export type ErasureRecord = z.infer<typeof recordSchema>;
const fileSchema = z.object({ record: recordSchema, mac: z.string().regex(/^[0-9a-f]{64}$/) });

export function erasureRecordName(id: string, seq: number): string {
  return `${id}.${seq}.json`;
}

/** Prevents anyone without INSTANCE_KEY from causing an erasure by writing a record. */
export function macOfErasureRecord(keyOf: Ledger['keyOf'], record: ErasureRecord): Buffer {
  return keyOf('erasure-record', canonicalJson(record));
}

/** Null if there is none, or if it is not what this installation wrote. */
export async function readErasureRecord(keyOf: Ledger['keyOf'], path: string): Promise<ErasureRecord | null> {
  try {
    const { record, mac } = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    return equalBytes(macOfErasureRecord(keyOf, record), Buffer.from(mac, 'hex')) ? record : null;
  } catch {
    return null;
  }
}
