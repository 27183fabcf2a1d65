import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  chunksOf,
  type ErasureRecord,
  erasureRecordName,
  listSoundErasures,
  macOfErasureRecord,
  type RecordedErasure,
  readErasureRecord,
} from '../ledger/erase.ts';
import type { ErasureDeps } from './plan.ts';

const folderOf = ({ dataDir }: Pick<ErasureDeps, 'dataDir'>) => join(dataDir, 'erasures');

/**
 * Writes erasures to DATA_DIR/erasures, one synced file each. After an older backup is restored, they say what has to
 * be erased again. The files contain numbers and hashes, and a MAC, so that nobody without INSTANCE_KEY can cause an
 * erasure by writing one.
 */
export async function writeErasureRecords(deps: ErasureDeps, erasures: readonly RecordedErasure[]): Promise<void> {
  const folder = folderOf(deps);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { seq, receivedAt, ...erasure } of erasures) {
    const commitments: string[] = [];
    for (const chunk of chunksOf(erasure.seqs)) {
      const rows = await deps.store.read
        .selectFrom('entries')
        .select(['seq', 'commitment'])
        .where('seq', 'in', chunk)
        .execute();
      const found = new Map(rows.map((row) => [row.seq, row.commitment.toString('hex').slice(0, 16)]));
      commitments.push(...chunk.map((one) => found.get(one) ?? ''));
    }
    const { instance, epoch } = deps;
    const record: ErasureRecord = { instance, epoch, seq, receivedAt, erasure, commitments };
    const path = join(folder, erasureRecordName(erasure.id, seq));
    const file = await open(`${path}.draft`, 'w', 0o600);
    try {
      await file.writeFile(
        `${JSON.stringify({ record, mac: macOfErasureRecord(deps.ledger.keyOf, record).toString('hex') })}\n`,
      );
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(`${path}.draft`, path);
  }
}

/** Every erasure recorded in DATA_DIR/erasures, in order; files that this installation did not write are named in `problems`. */
export async function loadErasureRecords(
  deps: ErasureDeps,
): Promise<{ readonly records: readonly ErasureRecord[]; readonly problems: readonly string[] }> {
  const folder = folderOf(deps);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const records: ErasureRecord[] = [];
  const problems: string[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).sort()) {
    const record = await readErasureRecord(deps.ledger.keyOf, join(folder, name));
    if (record === null) problems.push(`${join(folder, name)} is not a record that this installation wrote.`);
    else if (record.instance === deps.instance) records.push(record);
  }
  records.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : a.receivedAt > b.receivedAt ? 1 : a.seq - b.seq));
  return { records, problems };
}

/** Writes records that are missing in DATA_DIR/erasures or were not written by this installation; returns their number. */
export async function rewriteErasureRecords(deps: ErasureDeps): Promise<number> {
  const lost: RecordedErasure[] = [];
  for (const erasure of await listSoundErasures(deps.store.read, deps.ledger)) {
    const path = join(folderOf(deps), erasureRecordName(erasure.id, erasure.seq));
    const record = await readErasureRecord(deps.ledger.keyOf, path);
    if (record?.seq !== erasure.seq) lost.push(erasure);
  }
  await writeErasureRecords(deps, lost);
  return lost.length;
}
