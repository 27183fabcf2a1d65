import type { Selectable } from 'kysely';
import { type Action, actionSchema } from '../core/action.ts';
import type { Entry } from '../crypto/entry.ts';
import { listUncheckedErasures } from '../ledger/erase.ts';
import { type ProofOptions, proveEntry } from '../ledger/prove-entry.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { differencesIn, tidyPack } from './check-pack.ts';
import { type OutsideFile, type ReadOutsideFile, readOutsideFile } from './outside-file.ts';

export type DocumentRow = Selectable<Tables['documents']>;

/** Documents, newest first. */
export function listDocuments(
  read: Query,
  filter: {
    readonly source?: string;
    /** Only these sources; null or absent: all. */
    readonly sources?: readonly string[] | null;
    readonly name?: string;
    readonly caseId?: string;
    /** Only documents registered by an earlier entry. */
    readonly before?: number | null;
    /** Only documents made from this time on; ISO 8601 UTC. */
    readonly since?: string | undefined;
    readonly limit?: number;
  } = {},
): Promise<DocumentRow[]> {
  const { source, sources = null, name, caseId, before = null, since } = filter;
  let query = read.selectFrom('documents').selectAll();
  if (source !== undefined) query = query.where('source', '=', source);
  if (sources !== null) query = query.where('source', 'in', [...sources]);
  if (name !== undefined) query = query.where('name', '=', name);
  if (caseId !== undefined) query = query.where('case_id', '=', caseId);
  if (before !== null) query = query.where('seq', '<', before);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  return query
    .orderBy('seq', 'desc')
    .limit(filter.limit ?? 100)
    .execute();
}

/** A document by its id; null: there is none, or its entry has not been folded yet. */
export async function findDocument(read: Query, documentId: string): Promise<DocumentRow | null> {
  const row = await read.selectFrom('documents').selectAll().where('document_id', '=', documentId).executeTakeFirst();
  return row ?? null;
}

/** The number of documents of these sources; null: of all. */
export async function countDocuments(read: Query, sources: readonly string[] | null): Promise<number> {
  let query = read.selectFrom('documents').select((eb) => eb.fn.countAll<number>().as('count'));
  if (sources !== null) query = query.where('source', 'in', [...sources]);
  return Number((await query.executeTakeFirstOrThrow()).count);
}

/** A document with a checked entry. */
export interface ProducedDocument {
  readonly seq: number;
  readonly source: string;
  readonly createdAt: string;
  readonly recorded: Extract<Action, { action: 'document.produced' }>;
  /** Size of the checkpoint that proves the entry; null while it is not sealed. */
  readonly sealedUnder: number | null;
}

/** A pack, according to its sealed list of files (`document.manifest`). */
interface SealedPack {
  /** Which of its files was given; null: all of them, in another ZIP. */
  readonly file: string | null;
  readonly seq: number;
  readonly source: string;
  readonly createdAt: string;
  readonly recorded: Manifest;
  readonly sealedUnder: number | null;
}
interface ExtendedPack extends SealedPack {
  /** The names of the other files. */
  readonly additions: readonly string[];
}
type Manifest = Extract<Action, { action: 'document.manifest' }>;

/** A document that was erased here; a copy of it is still genuine. */
interface ErasedCopy {
  /** The erasure entry, and when it was made. */
  readonly seq: number;
  readonly erasedAt: string;
  readonly documentId: string;
  readonly name: string;
  readonly format: string;
  readonly sealedUnder: number | null;
}

/** A file that an officer added to a request: registered here, but not made here. */
export function isUpload({ recorded }: Pick<ProducedDocument, 'recorded'>): boolean {
  return recorded.name === 'attachment';
}

/** Whether this installation produced a file. */
interface CheckedFile {
  readonly sha256: string;
  /** Genuine if there is one. */
  readonly documents: readonly ProducedDocument[];
  /** Erasures that name it; also genuine if there is one. */
  readonly erased: readonly ErasedCopy[];
  /** Packs that contain the file, or the same files in another ZIP. */
  readonly packs: readonly SealedPack[];
  /** Packs of which the file holds every file unchanged, and others besides: not genuine as a whole. */
  readonly extended: readonly ExtendedPack[];
  /** Problems in the table of documents or in entries that it refers to, in sentences. */
  readonly problems: readonly string[];
}

/**
 * Checks whether this installation produced a file. The entry `document.produced` with its SHA-256 decides, once
 * commitment, MAC and inclusion under a signed root are checked. The table of documents, which is derived from the
 * entries, only says where to look first. Rejects if the file cannot be read.
 */
export async function checkFile(
  proofs: ProofOptions & { readonly readOutsideFile?: ReadOutsideFile },
  path: string,
): Promise<CheckedFile> {
  const { readOutsideFile: read = readOutsideFile } = proofs;
  const file = await read(path);
  const { sha256 } = file;
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
  const erased = await erasuresOf(proofs, sha256, problems);
  for (const { seq } of listed) await judge(seq);
  if (documents.length > 0) return { sha256, documents, erased, packs: [], extended: [], problems };
  for await (const { seq, action } of entriesNaming(proofs.store.read, sha256)) {
    if (action.action === 'document.produced' && !listed.some((row) => row.seq === seq)) await judge(seq);
  }
  if (documents.length > 0)
    problems.push('The list of documents lacks this document: run `consent-ledger ledger rebuild`.');
  const isKnown = documents.length + erased.length > 0;
  const found = isKnown ? { packs: [], extended: [] } : await packsOf(proofs, file, problems);
  return { sha256, documents, erased, ...found, problems };
}

/** Erasures that name a document with these bytes, each checked like the entry of a document. */
async function erasuresOf(proofs: ProofOptions, sha256: string, problems: string[]): Promise<readonly ErasedCopy[]> {
  const found: ErasedCopy[] = [];
  for (const { seq, documents } of await listUncheckedErasures(proofs.store.read)) {
    const document = documents.find((one) => one.sha256 === sha256);
    if (document === undefined) continue;
    const proof = await proveEntry(proofs, seq);
    if (proof.outcome === 'unproven') problems.push(`Entry ${seq} should record its erasure, but ${proof.sentence}.`);
    else {
      const { documentId, name, format } = document;
      found.push({ seq, erasedAt: proof.entry.receivedAt, documentId, name, format, sealedUnder: proof.sealedUnder });
    }
  }
  return found;
}

/** The most packs named for one file. Limited, since many packs contain the verifier. */
const PACKS = 10;

async function packsOf(
  proofs: ProofOptions,
  { sha256, zip }: OutsideFile,
  problems: string[],
): Promise<Pick<CheckedFile, 'packs' | 'extended'>> {
  const packs: SealedPack[] = [];
  const extended: ExtendedPack[] = [];
  const pack = zip.outcome === 'read' ? tidyPack(zip.members) : null;
  const list = pack?.files.get('manifest.json');
  const wanted = list?.sha256 ?? sha256;
  if (zip.outcome === 'refused') problems.push(`Its files cannot be compared with a pack: ${zip.reason}.`);
  for await (const { seq, action } of entriesNaming(proofs.store.read, wanted)) {
    if (action.action !== 'document.manifest' || packs.length + extended.length === PACKS) continue;
    const [file = null] = Object.entries(action.files).find(([, digest]) => digest === wanted) ?? [];
    if (list !== undefined && action.sha256 !== wanted) continue;
    const proof = await proveEntry(proofs, seq);
    if (proof.outcome === 'unproven') {
      problems.push(`Entry ${seq} should seal this pack, but ${proof.sentence}.`);
      continue;
    }
    const { entry, sealedUnder } = proof;
    const { changes, additions } =
      pack === null || list === undefined ? { changes: [], additions: [] } : await differencesIn(proofs, pack, entry);
    if (changes.length > 0) {
      problems.push(changedText([...changes, ...additions.map((name) => `${name} is not a file of the pack`)]));
      continue;
    }
    const name = list !== undefined ? null : (file ?? 'manifest.json');
    const found = { file: name, seq, source: entry.source, createdAt: entry.receivedAt, recorded: action, sealedUnder };
    if (additions.length > 0) extended.push({ ...found, additions });
    else packs.push(found);
  }
  if (packs.length + extended.length > 0 && pack !== null && pack.leftovers.length > 0)
    problems.push(
      `It also contains what a file manager adds, which was not checked: ${pack.leftovers.slice(0, 5).join(', ')}.`,
    );
  return { packs, extended };
}

/** A verdict on a pack with additions: "all files of a pack are there and unchanged; besides, it holds x, y". */
export function extendedText({ additions }: ExtendedPack): string {
  const named = additions.slice(0, 5).map((name) => JSON.stringify(name).slice(1, -1));
  const more = additions.length > named.length ? ` and ${additions.length - named.length} more` : '';
  return `all files of a pack are there and unchanged; besides, it holds ${named.join(', ')}${more}`;
}

function changedText(changes: readonly string[]): string {
  return `It contains the list of files of a pack that was produced here, but not its files: ${changes.slice(0, 5).join('; ')}.`;
}

/** The document with this SHA-256 that an entry registers; a sentence if the entry is unreliable or registers none. */
export async function loadProduced(
  proofs: ProofOptions,
  seq: number,
  sha256: string,
): Promise<ProducedDocument | string> {
  const proof = await proveEntry(proofs, seq);
  if (proof.outcome === 'unproven') return `Entry ${seq} should register this file, but ${proof.sentence}.`;
  const { entry, sealedUnder } = proof;
  const recorded = producedBy(entry);
  if (recorded?.sha256 !== sha256)
    return `Entry ${seq} should register this file, but it registers no document with these bytes.`;
  return { seq, source: entry.source, createdAt: entry.receivedAt, recorded, sealedUnder };
}

/**
 * Before files of a case leave: what is wrong with the first whose entry does not register it for this case, in a
 * sentence; null: nothing. Somebody may have assigned another person's file to the case in the table of documents.
 */
export async function faultOfCaseFiles(
  proofs: ProofOptions,
  caseId: string,
  rows: readonly DocumentRow[],
): Promise<string | null> {
  for (const { seq, sha256, document_id: documentId, file_name: name } of rows) {
    const produced = await loadProduced(proofs, seq, sha256);
    if (typeof produced === 'string') return produced;
    if (produced.recorded.caseId !== caseId || produced.recorded.documentId !== documentId)
      return `The ledger does not register the file ${name} for this request: run \`consent-ledger ledger rebuild --check\`.`;
  }
  return null;
}

function producedBy(entry: Pick<Entry, 'kind' | 'body'>): ProducedDocument['recorded'] | null {
  const action = documentActionOf(entry);
  return action?.action === 'document.produced' ? action : null;
}

function documentActionOf({
  kind,
  body,
}: Pick<Entry, 'kind' | 'body'>): ProducedDocument['recorded'] | Manifest | null {
  if (kind !== 'action' || body === null) return null;
  try {
    const { data } = actionSchema.safeParse(JSON.parse(body.toString('utf8')));
    return data?.action === 'document.produced' || data?.action === 'document.manifest' ? data : null;
  } catch {
    return null;
  }
}

/** Entries whose bodies register a file with this SHA-256; uses no table that could be forged. */
async function* entriesNaming(read: Query, sha256: string) {
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
      if (!Buffer.isBuffer(row.body) || !row.body.includes(sha256)) continue;
      const action = documentActionOf(row);
      const digests = action?.action === 'document.manifest' ? Object.values(action.files) : [];
      if (action !== null && [action.sha256, ...digests].includes(sha256)) yield { seq: row.seq, action };
    }
    const last = rows.at(-1);
    if (last === undefined || !(last.seq > after)) return;
    after = last.seq;
  }
}
