import type { CheckpointToPrint, DocumentInput } from '../../reports/report.ts';
import { keyHashOf, parseTreeHead } from '../core/checkpoint.ts';
import type { DocumentDeps } from './deps.ts';

/** A source that is not there, or was never there. */
export type UnknownSource = { readonly outcome: 'unknown-source'; readonly source: string };

/**
 * What every document is made from, as of an entry: the given one, or the newest. Its time is the time of that entry and its checkpoint
 * the last one up to it, so that the same document can be made again, byte for byte.
 */
export async function frameOf(
  deps: DocumentDeps,
  slug: string,
  wantedAsOf?: number,
): Promise<DocumentInput | UnknownSource> {
  const source = deps.sources.find(slug);
  if (source === null) return { outcome: 'unknown-source', source: slug };
  const position = await deps.catchUp();
  await deps.seal();
  const asOf = Math.min(wantedAsOf ?? position, position);
  const newest = await deps.read.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
  return {
    source: slug,
    sourceName: source.name,
    asOf,
    timeZone: deps.timeZone,
    generatedAt: newest?.received_at ?? deps.clock().toISOString(),
    version: deps.version,
    profile: await deps.loadProfile(source),
    history: deps.history,
    checkpoint: await lastCheckpoint(deps, asOf),
    sample: deps.sample,
    regimes: deps.regimes,
    language: 'en',
  };
}

async function lastCheckpoint(deps: DocumentDeps, asOf: number): Promise<CheckpointToPrint | null> {
  const row = await deps.read
    .selectFrom('checkpoints')
    .select(['size', 'root', 'note'])
    .where('epoch', '=', deps.epoch)
    .where('size', '<=', asOf)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const origin = parseTreeHead(row.note)?.origin ?? '';
  return {
    note: row.note,
    size: row.size,
    rootHex: row.root.toString('hex'),
    keyId: keyHashOf(origin, deps.publicKey).toString('hex'),
  };
}
