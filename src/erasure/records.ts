import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { erasureSchema } from '../core/erasure.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { equalBytes } from '../crypto/hash.ts';
import { chunksOf, type RecordedErasure } from '../ledger/erase.ts';
import type { ErasureDeps } from './deps.ts';

const recordSchema = z.object({
  instance: z.string(),
  epoch: z.number(),
  seq: z.number(),
  receivedAt: z.string(),
  erasure: erasureSchema,
  /** The beginning of the commitment of each erased entry: an entry of that number in another epoch is another one. */
  commitments: z.array(z.string()),
});
export type ErasureRecord = z.infer<typeof recordSchema>;
const fileSchema = z.object({ record: recordSchema, mac: z.string().regex(/^[0-9a-f]{64}$/) });

const folderOf = ({ dataDir }: Pick<ErasureDeps, 'dataDir'>) => join(dataDir, 'erasures');
const macOf = ({ ledger }: Pick<ErasureDeps, 'ledger'>, record: ErasureRecord) =>
  ledger.keyOf('erasure-record', canonicalJson(record));

/**
 * Writes erasures to DATA_DIR/erasures, one file each, synced: after an older backup was restored they tell what has to be erased again. The files
 * hold numbers and hashes, and a MAC, so that nobody without INSTANCE_KEY can have something erased by writing one.
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
    const path = join(folder, `${erasure.id}.${seq}.json`);
    const file = await open(`${path}.draft`, 'w', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ record, mac: macOf(deps, record).toString('hex') })}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(`${path}.draft`, path);
  }
}

/** Every erasure that DATA_DIR/erasures tells of, in order; files that are not as this installation wrote them are named in `problems`. */
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
    const record = await readRecord(deps, join(folder, name));
    if (record === null) problems.push(`${join(folder, name)} is not a record that this installation wrote.`);
    else if (record.instance === deps.instance) records.push(record);
  }
  records.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : a.receivedAt > b.receivedAt ? 1 : a.seq - b.seq));
  return { records, problems };
}

async function readRecord(deps: ErasureDeps, path: string): Promise<ErasureRecord | null> {
  try {
    const { record, mac } = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    return equalBytes(macOf(deps, record), Buffer.from(mac, 'hex')) ? record : null;
  } catch {
    return null;
  }
}
