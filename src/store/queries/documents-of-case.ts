import { z } from 'zod';
import { StoreUnavailable } from '../../core/errors.ts';
import type { Query } from '../store.ts';

/** A document of a case that was not erased. */
export interface DocumentOfCase {
  readonly documentId: string;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Of the entry that registers it. */
  readonly seq: number;
}

/** The most entries that are read because the read models do not hold them yet. */
const UNFOLDED = 20_000;

const producedSchema = z.object({
  action: z.literal('document.produced'),
  caseId: z.string(),
  documentId: z.string(),
  name: z.string(),
  sha256: z.string(),
  bytes: z.number(),
});

/**
 * The documents of a case in order of registration, also those that the read models do not hold yet: with the query of
 * a transaction that appends, all that were registered before it. `before`: only entries below this number. Throws
 * StoreUnavailable if the read models are more than {@link UNFOLDED} entries behind.
 */
export async function documentsOfCase(
  query: Query,
  of: { readonly source: string; readonly caseId: string; readonly before?: number },
): Promise<readonly DocumentOfCase[]> {
  const { source, caseId, before = Number.MAX_SAFE_INTEGER } = of;
  // First the position: an entry folded in between is then read twice, not left out.
  const position = await query
    .selectFrom('fold_positions')
    .select('seq')
    .where('name', '=', 'projector')
    .executeTakeFirst();
  const foldedUpTo = Number(position?.seq ?? 0);
  const folded = (await documentsOfCases(query, [caseId])).get(caseId) ?? [];
  const found = new Map(folded.filter(({ seq }) => seq < before).map((one) => [one.documentId, one]));
  for (const one of await unfoldedDocuments(query, { source, caseId, from: foldedUpTo, before }))
    if (!found.has(one.documentId)) found.set(one.documentId, one);
  return [...found.values()].sort((a, b) => a.seq - b.seq);
}

/** The documents of cases that the read models hold, as pages show them. At most a few hundred cases at once. */
export async function documentsOfCases(
  query: Query,
  caseIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DocumentOfCase[]>> {
  if (caseIds.length === 0) return new Map();
  const rows = await query
    .selectFrom('documents')
    .select(['case_id', 'document_id', 'name', 'sha256', 'bytes', 'seq'])
    .where('case_id', 'in', [...caseIds])
    .where('erased_at', 'is', null)
    .orderBy('seq')
    .execute();
  const found = new Map<string, DocumentOfCase[]>();
  for (const { case_id: caseId, document_id: documentId, name, sha256, bytes, seq } of rows) {
    const one = { documentId, name, sha256, bytes: Number(bytes), seq: Number(seq) };
    if (caseId !== null) found.set(caseId, [...(found.get(caseId) ?? []), one]);
  }
  return found;
}

async function unfoldedDocuments(
  query: Query,
  { source, caseId, from, before }: { source: string; caseId: string; from: number; before: number },
): Promise<readonly DocumentOfCase[]> {
  const last = await query
    .selectFrom('entries')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .executeTakeFirst();
  if (Number(last?.seq ?? 0) - from > UNFOLDED)
    throw new StoreUnavailable(`the read models are more than ${UNFOLDED} entries behind the ledger`);
  const entries = await query
    .selectFrom('entries')
    .select(['seq', 'body'])
    .where('seq', '>', from)
    .where('seq', '<', before)
    .where('source', '=', source)
    .where('kind', '=', 'action')
    .execute();
  return entries.flatMap(({ seq, body }) => {
    const read = body === null ? undefined : producedSchema.safeParse(JSON.parse(body.toString('utf8')));
    if (read?.success !== true || read.data.caseId !== caseId) return [];
    const { documentId, name, sha256, bytes } = read.data;
    return [{ documentId, name, sha256, bytes, seq: Number(seq) }];
  });
}
