import type { ProofFiles } from '../../src/ledger/prove-entry.ts';
import { type PackContext, type PackFile, withholdsIdentifiers } from './context.ts';
import { readFile } from 'node:fs/promises';

/** An entry that is proven in the pack: its files lie in the folder proofs, named by its number. */
export interface ProvenEntry {
  readonly entry: number;
  readonly what: 'request' | 'record';
  /** Whether meta and body are there, were erased, or are not disclosed. */
  readonly content: 'enclosed' | 'erased' | 'withheld';
}

/** A file of the pack; `isEntry`: it is content of an entry, of which the manifest must not give a hash that would outlive an erasure. */
export interface ProofFile extends PackFile {
  readonly isEntry: boolean;
}

/** Key, policy and verifier, then the request and each record with its proof. What was proven is noted in `proven`. */
export async function* proofFilesOf(context: PackContext, proven: ProvenEntry[]): AsyncGenerator<ProofFile> {
  const { input, disclosure } = context;
  const { proofs } = input;
  if (proofs === undefined) return;
  const { script, page } = await loadVerifier();
  yield plain(
    'verify.html',
    'open it in a browser and drop this ZIP on it: it shows whether anything was changed',
    page,
  );
  yield plain('verify.mjs', 'the same for node', script);
  yield plain('log.vkey', 'the key that checks every signature in this pack', `${proofs.verifierKey}\n`);
  yield plain('tlog-policy', 'the same for tools that know C2SP tlog-policy', tlogPolicy(proofs.verifierKey));
  const mayEnclose = disclosure === 'full' && !withholdsIdentifiers(input);
  const request = Number(input.case.opened_seq);
  for await (const seq of seqsOf(context, request)) {
    const what = seq === request ? 'request' : 'record';
    const proof = await proofs.of(seq);
    // Who recorded a request here is not the requester's business; when it was recorded is.
    const withContent = mayEnclose && !(what === 'request' && proof.kind === 'action');
    const files = proof.files(withContent);
    proven.push({
      entry: seq,
      what,
      content: withContent ? (files.body === null ? 'erased' : 'enclosed') : 'withheld',
    });
    yield* filesOfProof(String(seq), files);
  }
}

export function* filesOfProof(name: string, { tlogProof, meta, body }: ProofFiles): Generator<ProofFile> {
  yield plain(`proofs/${name}.tlog-proof`, `the proof of entry ${name}`, tlogProof);
  if (meta !== null) yield { ...plain(`proofs/${name}.meta`, '', meta), isEntry: true };
  if (body !== null) yield { ...plain(`proofs/${name}.body`, '', body), isEntry: true };
}

/** The request first, then the records, each once. */
async function* seqsOf(context: PackContext, request: number): AsyncGenerator<number> {
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
 * The verifier for node, and the same as one page for a browser. Both are handed out with what they check; they share no code with this program.
 * They lie in reports/verifier, and the build copies them there beside the compiled program (scripts/bundle.ts).
 */
export async function loadVerifier(): Promise<{
  readonly script: string;
  readonly page: string;
  /** For exports; it imports the script. */
  readonly exportScript: string;
}> {
  const read = (name: string) => readFile(new URL(`../verifier/${name}`, import.meta.url), 'utf8');
  const names = ['verify.mjs', 'verify.html', 'verify-export.mjs'];
  const [script = '', shell = '', exportScript = ''] = await Promise.all(names.map(read));
  // Nothing in the script may end its own element.
  const inline = script.replace(/^#!.*\n/, '').replaceAll('</script', '<\\/script');
  return { script, exportScript, page: shell.replace('/* verify.mjs */\n', () => inline) };
}

/** What a checkpoint has to be signed by (c2sp.org/tlog-policy): the log alone, no witnesses. */
export function tlogPolicy(verifierKey: string): string {
  return `log ${verifierKey}\nquorum none\n`;
}
