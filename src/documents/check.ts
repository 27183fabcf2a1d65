import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Selectable } from 'kysely';
import { type Action, actionSchema } from '../core/action.ts';
import type { Entry } from '../crypto/entry.ts';
import { type ProofOptions, proveEntry } from '../ledger/prove-entry.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

export type DocumentRow = Selectable<Tables['documents']>;

/** Documents, newest first. */
export function listDocuments(read: Query, filter: { source?: string; limit?: number } = {}): Promise<DocumentRow[]> {
  let query = read.selectFrom('documents').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  return query
    .orderBy('seq', 'desc')
    .limit(filter.limit ?? 100)
    .execute();
}

/** A document whose entry was checked. */
export interface ProducedDocument {
  readonly seq: number;
  readonly source: string;
  readonly createdAt: string;
  readonly recorded: Extract<Action, { action: 'document.produced' }>;
  /** Entries under the checkpoint that proves the entry; null while it is not sealed. */
  readonly sealedUnder: number | null;
}

/** Whether a file is one that this installation produced. */
interface CheckedFile {
  readonly sha256: string;
  /** Genuine when there is one. */
  readonly documents: readonly ProducedDocument[];
  /** What is wrong with the table of documents or with entries that it points to, in sentences. */
  readonly problems: readonly string[];
}

/**
 * Whether a file is one that this installation produced. The entry `document.produced` with its SHA-256 decides, once commitment, MAC and inclusion
 * under a signed root are checked. The table of documents, which follows from the entries, only tells where to look first.
 * Rejects as reading the file does.
 */
export async function checkFile(proofs: ProofOptions, path: string): Promise<CheckedFile> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  const sha256 = hash.digest('hex');
  const listed = await proofs.store.read
    .selectFrom('documents')
    .select('seq')
    .where('sha256', '=', sha256)
    .orderBy('seq')
    .execute();
  const documents: ProducedDocument[] = [];
  const problems: string[] = [];
  const judge = async (seq: number) => {
    const judged = await loadProduced(proofs, seq, sha256);
    if (typeof judged === 'string') problems.push(judged);
    else documents.push(judged);
  };
  for (const { seq } of listed) await judge(seq);
  if (documents.length > 0) return { sha256, documents, problems };
  for await (const seq of entriesNaming(proofs.store.read, sha256)) {
    if (!listed.some((row) => row.seq === seq)) await judge(seq);
  }
  if (documents.length > 0)
    problems.push('The list of documents does not have this document: run `consent-ledger ledger rebuild`.');
  return { sha256, documents, problems };
}

/** The document with this SHA-256 that an entry registers; a sentence when the entry cannot be relied on or registers none. */
export async function loadProduced(
  proofs: ProofOptions,
  seq: number,
  sha256: string,
): Promise<ProducedDocument | string> {
  const proof = await proveEntry(proofs, seq);
  if (proof.outcome === 'unproven') return `Entry ${seq} is said to register this file, but ${proof.sentence}.`;
  const { entry, sealedUnder } = proof;
  const recorded = producedBy(entry);
  if (recorded?.sha256 !== sha256)
    return `Entry ${seq} is said to register this file, but it registers no document with these bytes.`;
  return { seq, source: entry.source, createdAt: entry.receivedAt, recorded, sealedUnder };
}

function producedBy({ kind, body }: Pick<Entry, 'kind' | 'body'>): ProducedDocument['recorded'] | null {
  if (kind !== 'action' || body === null) return null;
  try {
    const { data } = actionSchema.safeParse(JSON.parse(body.toString('utf8')));
    return data?.action === 'document.produced' ? data : null;
  } catch {
    return null;
  }
}

/** Entries that register a document with this SHA-256, by their bodies: no table is asked that could be forged. */
async function* entriesNaming(read: Query, sha256: string): AsyncGenerator<number> {
  for (let after = 0; ; ) {
    const rows = await read
      .selectFrom('entries')
      .select(['seq', 'kind', 'body'])
      .where('kind', '=', 'action')
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(500)
      .execute();
    for (const row of rows) {
      if (Buffer.isBuffer(row.body) && row.body.includes(sha256) && producedBy(row)?.sha256 === sha256) yield row.seq;
    }
    const last = rows.at(-1);
    if (last === undefined || !(last.seq > after)) return;
    after = last.seq;
  }
}
