import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { unzipSync } from 'fflate';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { type Action, actionSchema } from '../core/action.ts';
import type { Entry } from '../crypto/entry.ts';
import { sha256Hex, sha256OfStream } from '../crypto/hash.ts';
import { listUncheckedErasures } from '../ledger/erase.ts';
import { OUTSIDE_FILE_BYTES } from '../ledger/verify/outside-checkpoints.ts';
import { type ProofOptions, proveEntry } from '../ledger/prove-entry.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';

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

/** Whether this installation produced a file. */
interface CheckedFile {
  readonly sha256: string;
  /** Genuine if there is one. */
  readonly documents: readonly ProducedDocument[];
  /** Erasures that name it; also genuine if there is one. */
  readonly erased: readonly ErasedCopy[];
  /** Packs that contain the file, or the same files in another ZIP. */
  readonly packs: readonly SealedPack[];
  /** Problems in the table of documents or in entries that it refers to, in sentences. */
  readonly problems: readonly string[];
}

/**
 * Checks whether this installation produced a file. The entry `document.produced` with its SHA-256 decides, once
 * commitment, MAC and inclusion under a signed root are checked. The table of documents, which is derived from the
 * entries, only says where to look first. Rejects if the file cannot be read.
 */
export async function checkFile(proofs: ProofOptions, path: string): Promise<CheckedFile> {
  const sha256 = await sha256OfStream(createReadStream(path));
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
  if (documents.length > 0) return { sha256, documents, erased, packs: [], problems };
  for await (const { seq, action } of entriesNaming(proofs.store.read, sha256)) {
    if (action.action === 'document.produced' && !listed.some((row) => row.seq === seq)) await judge(seq);
  }
  if (documents.length > 0)
    problems.push('The list of documents lacks this document: run `consent-ledger ledger rebuild`.');
  const packs = documents.length + erased.length > 0 ? [] : await packsOf(proofs, path, sha256, problems);
  return { sha256, documents, erased, packs, problems };
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
  path: string,
  sha256: string,
  problems: string[],
): Promise<readonly SealedPack[]> {
  const packs: SealedPack[] = [];
  const zip = await readZip(path);
  const list = zip?.files.get('manifest.json');
  const wanted = list === undefined ? sha256 : sha256Hex(list);
  for await (const { seq, action } of entriesNaming(proofs.store.read, wanted)) {
    if (action.action !== 'document.manifest' || packs.length === PACKS) continue;
    const [file = null] = Object.entries(action.files).find(([, digest]) => digest === wanted) ?? [];
    if (list !== undefined && action.sha256 !== wanted) continue;
    const proof = await proveEntry(proofs, seq);
    if (proof.outcome === 'unproven') problems.push(`Entry ${seq} should seal this pack, but ${proof.sentence}.`);
    else {
      const { entry, sealedUnder } = proof;
      const name = list !== undefined ? null : (file ?? 'manifest.json');
      packs.push({ file: name, seq, source: entry.source, createdAt: entry.receivedAt, recorded: action, sealedUnder });
    }
  }
  if (zip == null || packs.length === 0) return packs;
  const changed = [...zip.oddities, ...(await changesIn(proofs.store.read, zip.files))];
  if (changed.length === 0) return packs;
  problems.push(
    `It contains the list of files of a pack that was produced here, but not its files: ${changed.slice(0, 5).join('; ')}.`,
  );
  return [];
}

interface Zip {
  /** Without a folder around them. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** What else a reader may find in it, in phrases. */
  readonly oddities: readonly string[];
}

/** The files of a ZIP; null for other files. */
async function readZip(path: string): Promise<Zip | null> {
  const { size } = await stat(path);
  if (size > OUTSIDE_FILE_BYTES) return null;
  const bytes = await readFile(path);
  if (bytes.subarray(0, 4).toString('latin1') !== 'PK\x03\x04') return null;
  try {
    const { names, oddities } = readDirectory(bytes);
    const unzipped = unzipSync(bytes, { filter: ({ originalSize }) => originalSize <= OUTSIDE_FILE_BYTES });
    const files = Object.entries(unzipped);
    const [around = ''] = files
      .map(([name]) => /^(.*\/)?manifest\.json$/.exec(name)?.[1])
      .filter((folder) => folder !== undefined);
    const inside = files.filter(([name]) => name.startsWith(around) && !name.endsWith('/'));
    const outside = names.filter(
      (name) => !name.endsWith('/') && (!name.startsWith(around) || !Object.hasOwn(unzipped, name)),
    );
    return {
      files: new Map(inside.map(([name, content]) => [name.slice(around.length), Buffer.from(content)])),
      oddities: [...oddities, ...outside.map((name) => `${name} is not a file of the pack`)],
    };
  } catch {
    return null;
  }
}

/**
 * The names in the directory of a ZIP. `oddities`: a name that occurs twice, or that differs from the one in front of
 * the content: programs do not agree on which file to show. Throws RangeError if the directory leads out of the file.
 */
function readDirectory(bytes: Buffer): { readonly names: readonly string[]; readonly oddities: readonly string[] } {
  const names = new Set<string>();
  const oddities: string[] = [];
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place));
    const own = bytes.subarray(at + 46, at + 46 + (nameLength ?? 0));
    const local = bytes.readUInt32LE(at + 42);
    const name = own.toString('utf8');
    if (names.has(name)) oddities.push(`it holds two files named ${name}`);
    if (!own.equals(bytes.subarray(local + 30, local + 30 + bytes.readUInt16LE(local + 26))))
      oddities.push(`${name} has another name inside the archive`);
    names.add(name);
    at += 46 + own.length + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return { names: [...names], oddities };
}

const listSchema = z.object({ files: z.array(z.object({ name: z.string(), sha256: z.string() })) });

/** Differences between an archive and its manifest or the entries. */
async function changesIn(read: Query, zip: ReadonlyMap<string, Buffer>): Promise<readonly string[]> {
  const changes: string[] = [];
  const { files } = listSchema.parse(JSON.parse(zip.get('manifest.json')?.toString('utf8') ?? ''));
  for (const { name, sha256 } of files) {
    const content = zip.get(name);
    if (content === undefined) changes.push(`${name} is missing`);
    else if (sha256Hex(content) !== sha256) changes.push(`${name} was changed`);
  }
  const listed = new Set(files.map(({ name }) => name));
  for (const [name, content] of zip) {
    if (listed.has(name) || /^(?:manifest\.json|proofs\/manifest\.(?:tlog-proof|meta|body))$/.test(name)) continue;
    const [, seq, part] = /^proofs\/(\d{1,15})\.(meta|body)$/.exec(name) ?? [];
    const row =
      seq === undefined
        ? undefined
        : await read.selectFrom('entries').select(['meta', 'body']).where('seq', '=', Number(seq)).executeTakeFirst();
    const stored = part === 'meta' ? row?.meta : row?.body;
    if (stored?.equals(content) !== true)
      changes.push(`${name} is ${seq === undefined ? 'not a file of the pack' : `not what entry ${seq} holds`}`);
  }
  return changes;
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
