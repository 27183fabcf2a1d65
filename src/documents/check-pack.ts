import { z } from 'zod';
import type { ZipMember } from '../archives/zip.ts';
import { readCheckpoint } from '../crypto/checkpoint.ts';
import { commitmentOfHashes, type Entry } from '../crypto/entry.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { type ProofOptions, proofFiles } from '../ledger/prove-entry.ts';
import { openTree } from '../ledger/tree.ts';

/*
 * Whether a ZIP holds exactly the files of a sealed pack. The enclosed verifier (reports/verifier/verify.mjs) answers the
 * same question from the proofs alone, and must give the same answer; test/archives/archives.ts has the archives on which
 * they agree.
 */

/** What file managers add to an archive: not part of a pack, and not checked. The files of macOS begin with `._`. */
const LEFTOVER = /(?:^|\/)(?:\._[^/]*|\.DS_Store|\.localized|\.directory|(?:eh)?[Tt]humbs\.db|[Dd]esktop\.ini)$/;

/** The files of a pack by name. */
type PackFiles = ReadonlyMap<string, ZipMember>;

/**
 * The files of a pack without a folder around them. `strangers`: files outside this folder; `leftovers`: see above.
 */
export function tidyPack(members: readonly ZipMember[]): {
  readonly files: PackFiles;
  /** The folder, ending in a slash, or ''. */
  readonly around: string;
  readonly strangers: readonly string[];
  readonly leftovers: readonly string[];
} {
  const leftovers = members.filter(({ name }) => LEFTOVER.test(name)).map(({ name }) => name);
  const files = members.filter(({ name }) => !LEFTOVER.test(name));
  const [around = ''] = files.flatMap(({ name }) => /^((?:.*\/)?)manifest\.json$/.exec(name)?.[1] ?? []);
  const inside = files.filter(({ name }) => name.startsWith(around));
  return {
    files: new Map(inside.map((file) => [file.name.slice(around.length), file])),
    around,
    strangers: files.flatMap(({ name }) => (name.startsWith(around) ? [] : [name])),
    leftovers,
  };
}

const listSchema = z.object({
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })),
  proofs: z.array(z.object({ entry: z.number().int(), content: z.string() })).default([]),
});

/** How an archive differs from the pack whose list it holds. */
interface Differences {
  /** Files that are missing or were changed, in phrases. */
  readonly changes: readonly string[];
  /** Files that the pack did not have, by their names in the archive. */
  readonly additions: readonly string[];
}

/** Compares an archive with its list of files and the entry that seals this list. */
export async function differencesIn(
  options: ProofOptions,
  { files, around, strangers }: ReturnType<typeof tidyPack>,
  sealing: Entry,
): Promise<Differences> {
  const list = listSchema.parse(JSON.parse(files.get('manifest.json')?.text ?? ''));
  const changes: string[] = [];
  const known = new Set(['manifest.json']);
  for (const { name, bytes, sha256 } of list.files) {
    const file = files.get(name);
    known.add(name);
    if (file === undefined) changes.push(`${name} is missing`);
    else if (file.bytes !== bytes || file.sha256 !== sha256) changes.push(`${name} was changed`);
  }
  if (list.proofs.length > 0) changes.push(...(await changesInSeal(options, files, sealing)));
  for (const part of ['tlog-proof', 'meta', 'body']) known.add(`proofs/manifest.${part}`);
  for (const { entry, content } of list.proofs) {
    if (content !== 'enclosed') continue;
    for (const part of ['meta', 'body']) known.add(`proofs/${entry}.${part}`);
    const change = await changeInEntry(options, files, entry);
    if (change !== null) changes.push(change);
  }
  const unknown = [...files.keys()].filter((name) => !known.has(name));
  return { changes, additions: [...strangers, ...unknown.map((name) => around + name)] };
}

/** The proof of the list: content and position of its entry, under a checkpoint that this installation signed. */
async function changesInSeal(
  { store, keys }: ProofOptions,
  files: PackFiles,
  sealing: Entry,
): Promise<readonly string[]> {
  const changes: string[] = [];
  for (const part of ['meta', 'body'] as const) {
    const name = `proofs/manifest.${part}`;
    const stored = sealing[part];
    if (stored === null || files.get(name)?.sha256 !== sha256Hex(stored))
      changes.push(`${name} is missing or was changed`);
  }
  const name = 'proofs/manifest.tlog-proof';
  const text = files.get(name)?.text ?? '';
  const note = text.slice(text.indexOf('\n\n') + 2);
  const reading = readCheckpoint(note, keys.verifying);
  const head = reading.outcome === 'valid' ? reading.head : null;
  const tree = openTree(store.read);
  const root = head === null ? null : await tree.root(head.size);
  const hashes = head === null || head.size < sealing.seq ? null : await tree.inclusion(sealing.seq - 1, head.size);
  const isSame =
    head !== null &&
    hashes !== null &&
    root?.equals(head.root) === true &&
    proofFiles(sealing, { head, note, hashes, witnesses: [], stamps: [] }, true).tlogProof === text;
  return isSame ? changes : [...changes, `${name} is missing or was changed`];
}

/**
 * The content of an entry is checked against its commitment, which outlives an erasure; its salt is in the proof, of which
 * the list has the hash.
 */
async function changeInEntry({ store }: ProofOptions, files: PackFiles, entry: number): Promise<string | null> {
  const [meta, body] = ['meta', 'body'].map((part) => files.get(`proofs/${entry}.${part}`));
  if (meta === undefined || body === undefined) return `the content of entry ${entry} is missing`;
  const row = await store.read.selectFrom('entries').select('commitment').where('seq', '=', entry).executeTakeFirst();
  const salt = saltIn(files.get(`proofs/${entry}.tlog-proof`)?.text ?? '');
  const isSame =
    row !== undefined &&
    salt !== null &&
    commitmentOfHashes(salt, Buffer.from(meta.sha256, 'hex'), Buffer.from(body.sha256, 'hex')).equals(row.commitment);
  return isSame ? null : `proofs/${entry}.body or .meta is not what entry ${entry} holds`;
}

function saltIn(tlogProof: string): Buffer | null {
  const [, extra = ''] = /^extra (\S+)$/m.exec(tlogProof) ?? [];
  const [, salt = ''] = /^[^\n]*\n([0-9a-f]{64})\n$/.exec(Buffer.from(extra, 'base64').toString('utf8')) ?? [];
  return salt === '' ? null : Buffer.from(salt, 'hex');
}
