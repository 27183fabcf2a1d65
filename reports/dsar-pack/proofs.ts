import { readFile } from 'node:fs/promises';
import type { ProofFiles } from '../../src/ledger/prove-entry.ts';
import { pageIn } from '../verifier/languages.ts';
import { type GatheredPack, type PackFile, withholdingSource } from './gather.ts';
import { languageOf } from './letter.ts';

/** What proves the entries of a pack to someone who has only the pack. */
export interface PackProofs {
  readonly verifierKey: string;
  /** One for each of {@link entriesIn}, in their order. */
  readonly entries: AsyncIterable<EntryProof>;
}

/** An entry as sealed, with its proof. */
export interface EntryProof {
  readonly seq: number;
  readonly kind: string;
  files(withContent: boolean): ProofFiles;
}

/** An entry that is proven in the pack; its files are in the folder proofs, named by its number. */
export interface ProvenEntry {
  readonly entry: number;
  readonly what: 'request' | 'record';
  /** Whether meta and body are enclosed, erased, or not disclosed. */
  readonly content: 'enclosed' | 'erased' | 'withheld';
}

/**
 * A file of the pack. `isEntry`: it is content of an entry, so the manifest must not contain a hash of it, which would
 * outlive an erasure.
 */
export interface ProofFile extends PackFile {
  readonly isEntry: boolean;
}

/** Key, policy and verifier, then the request and each record with its proof. Adds what was proven to `proven`. */
export async function* proofFilesOf(
  context: GatheredPack,
  proofs: PackProofs,
  proven: ProvenEntry[],
): AsyncGenerator<ProofFile> {
  const { input, disclosure } = context;
  const witnesses = (await isWitnessed(context)) ? (input.witnessed?.by ?? []) : [];
  yield* filesToCheckWith(proofs.verifierKey, languageOf(context), tlogPolicy(proofs.verifierKey, witnesses, false));
  const mayEnclose = disclosure === 'full' && withholdingSource(input) === null;
  const request = Number(input.case.opened_seq);
  const stamps = collectStamps();
  for await (const { seq, ...proof } of proofs.entries) {
    const what = seq === request ? 'request' : 'record';
    // The requester may know when a request was recorded, but not who recorded it, nor what else came with it.
    const withContent =
      mayEnclose && !(what === 'request' && proof.kind === 'action') && !(await input.history.holdsSeveral(input, seq));
    const files = proof.files(withContent);
    proven.push({
      entry: seq,
      what,
      content: withContent ? (files.body === null ? 'erased' : 'enclosed') : 'withheld',
    });
    stamps.add(files);
    yield* filesOfProof(String(seq), files);
  }
  yield* stamps.files();
}

/** Whether witnesses have signed a checkpoint over at least one entry that the pack proves. */
export async function isWitnessed(context: GatheredPack): Promise<boolean> {
  const { witnessed } = context.input;
  if (witnessed === undefined) return false;
  for await (const seq of entriesIn(context)) if (seq <= witnessed.size) return true;
  return false;
}

/** What `ledger prove` writes into a folder: verifier, key, policy, and each entry with its proof. */
export async function* proofFolder(
  verifierKey: string,
  entries: Iterable<ProofFiles & { readonly seq: number }>,
): AsyncGenerator<ProofFile> {
  const proven = [...entries];
  const witnesses = proven.flatMap((one) => one.witnesses);
  const areAllSigned = proven.every((one) => one.witnesses.length > 0);
  yield* filesToCheckWith(verifierKey, 'en', tlogPolicy(verifierKey, witnesses, areAllSigned));
  const stamps = collectStamps();
  for (const { seq, ...files } of proven) {
    stamps.add(files);
    yield* filesOfProof(String(seq), files);
  }
  yield* stamps.files();
}

async function* filesToCheckWith(verifierKey: string, language: string, policy: string): AsyncGenerator<ProofFile> {
  const { script, pageFor } = await loadVerifier();
  yield plain(
    'verify.html',
    'open it in a browser and drop this ZIP on it: it shows whether anything was changed',
    pageFor(language),
  );
  yield plain('verify.mjs', 'the same for node', script);
  yield plain('log.vkey', 'the key that checks every signature in this pack', `${verifierKey}\n`);
  yield plain('tlog-policy', 'the same for tools that know C2SP tlog-policy', policy);
}

/** Time stamps are over a checkpoint, which several proofs may share. */
function collectStamps() {
  const found = new Map<string, readonly [what: string, content: string | Buffer]>();
  return {
    add({ stamps, sealedNote }: ProofFiles): void {
      for (const { file, token } of stamps)
        found
          .set(file, ['an authority’s time stamp over it', token])
          .set(file.replace(/\..*/, '.note'), ['the checkpoint that was time-stamped', sealedNote]);
    },
    *files(): Generator<ProofFile> {
      for (const [name, [what, content]] of found) yield plain(`witnessed/${name}`, what, content);
    },
  };
}

export function* filesOfProof(name: string, { tlogProof, meta, body }: ProofFiles): Generator<ProofFile> {
  yield plain(`proofs/${name}.tlog-proof`, `the proof of entry ${name}`, tlogProof);
  if (meta !== null) yield { ...plain(`proofs/${name}.meta`, '', meta), isEntry: true };
  if (body !== null) yield { ...plain(`proofs/${name}.body`, '', body), isEntry: true };
}

/** The entries that a pack proves: the request first, then each record once. */
export async function* entriesIn(context: GatheredPack): AsyncGenerator<number> {
  const request = Number(context.input.case.opened_seq);
  const seen = new Set([request]);
  yield request;
  for await (const row of context.decisions()) {
    const seq = Number(row.seq);
    if (seen.has(seq)) continue;
    seen.add(seq);
    yield seq;
  }
}

function plain(name: string, what: string, content: string | Buffer): ProofFile {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(content);
  }
  return { name, what, content: pieces(), isEntry: false };
}

/**
 * The verifier for Node, and the same as a page for a browser. Both are handed out with what they check and share no
 * code with this program. They are in reports/verifier; the build copies them next to the compiled program
 * (scripts/bundle.ts).
 */
export async function loadVerifier(): Promise<{
  readonly script: string;
  /** The page in a language of the letters. */
  readonly pageFor: (language: string) => string;
  /** For exports; it imports verify.mjs. */
  readonly exportScript: string;
}> {
  const read = (name: string) => readFile(new URL(`../verifier/${name}`, import.meta.url), 'utf8');
  const names = ['verify.mjs', 'verify.html', 'verify-export.mjs'];
  const [script = '', shell = '', exportScript = ''] = await Promise.all(names.map(read));
  // The script must not contain its own end tag.
  const inline = script.replace(/^#!.*\n/, '').replaceAll('</script', '<\\/script');
  return {
    script,
    exportScript,
    pageFor: (language) => pageIn(shell, language).replace('/* verify.mjs */\n', () => inline),
  };
}

/**
 * Who has to sign a checkpoint (c2sp.org/tlog-policy): the log; and at least one of the witnesses that did, if there is
 * one for each enclosed proof. The reader's own policy decides whether that is enough.
 */
function tlogPolicy(verifierKey: string, witnesses: ProofFiles['witnesses'], areAllSigned: boolean): string {
  const keys = [...new Map(witnesses.map((one) => [one.verifierKey, one])).values()];
  const isRequired = areAllSigned && keys.length > 0;
  // Witnesses and groups share their names.
  let group = 'enclosed';
  while (keys.some(({ name }) => name === group)) group += '-all';
  return [
    `log ${verifierKey}`,
    ...keys.map(({ name, verifierKey: key }) => `witness ${name} ${key}`),
    ...(isRequired ? [`group ${group} any ${keys.map(({ name }) => name).join(' ')}`] : []),
    `quorum ${isRequired ? group : 'none'}\n`,
  ].join('\n');
}
