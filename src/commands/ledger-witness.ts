import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { UsageError } from '../core/errors.ts';
import { openTree } from '../ledger/tree.ts';
import { parseWitnessPolicy, type Post, submitCheckpoint, type Witness, type Witnessed } from '../ledger/witness.ts';
import { exchange } from '../service/http.ts';
import { type CommandIo, printable, printResult, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

const WITNESS_MS = 20_000;
const ANSWER_BYTES = 64 * 1024;

const post: Post = async (url, body) => {
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  const { status, bytes } = await exchange({
    url,
    method: 'POST',
    headers,
    body,
    timeoutMs: WITNESS_MS,
    maxBytes: ANSWER_BYTES,
  });
  return { status, text: bytes?.toString('utf8') ?? '' };
};

/** `ledger witness`: lets others sign what the ledger is at the moment (docs/proofs.md). */
export function registerLedgerWitness(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('witness'))
    .argument('<policy>', 'file with witnesses, their addresses and the quorum (C2SP tlog-policy)')
    .description(
      'seal, and have witnesses cosign the checkpoint (exit code 3 if one has seen another history, 1 without a quorum)',
    )
    .action((path, options) =>
      withContext(async (context) => {
        const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new UsageError([`Cannot read ${path} (${error.code ?? 'error'}).`]);
        });
        const policy = parseWitnessPolicy(text);
        if (typeof policy === 'string')
          throw new UsageError([`${path} is not a C2SP tlog-policy: ${printable(policy)}.`]);
        const sealing = await context.seal();
        if (sealing.outcome === 'empty') throw new UsageError(['The ledger is empty: there is nothing to witness.']);
        if (sealing.outcome === 'refused') {
          io.exitCode = 3;
          printResult(
            io,
            options,
            sealing,
            () =>
              `${pc.red('✗ not sealed')}: entry ${sealing.seq}: ${sealing.reason}. Run \`consent-ledger ledger verify\`.`,
          );
          return;
        }
        const { note, size } = sealing.checkpoint;
        const tree = openTree(context.store.read, context.epoch);
        const ask = (witness: Witness) =>
          submitCheckpoint(witness, note, tree, post).catch(
            (error: unknown): Witnessed => ({
              outcome: 'failed',
              reason: error instanceof Error ? error.message : String(error),
            }),
          );
        const results: { name: string; result: Witnessed }[] = [];
        for (const witness of policy.witnesses) results.push({ name: witness.name, result: await ask(witness) });
        const lines = results.flatMap(({ result }) => (result.outcome === 'cosigned' ? [`${result.line}\n`] : []));
        const quorum = policy.isQuorum(
          new Set(results.flatMap(({ name, result }) => (result.outcome === 'cosigned' ? [name] : []))),
        );
        const file =
          lines.length === 0
            ? null
            : await keep(join(context.config.dataDir, 'witnessed'), size, note + lines.join(''));
        if (results.some(({ result }) => result.outcome === 'forked')) io.exitCode = 3;
        else if (!quorum) io.exitCode = 1;
        const witnesses = results.map(({ name, result }) => ({ name, ...result }));
        printResult(io, options, { size, quorum, file, witnesses }, () =>
          [
            ...results.map(({ name, result }) =>
              result.outcome === 'cosigned'
                ? `${pc.green('✓')} ${printable(name)} cosigned ${size} entries at ${result.at}`
                : `${pc.red('✗')} ${printable(name)}: ${printable(result.reason)}`,
            ),
            `${quorum ? 'The quorum is reached.' : 'The quorum is not reached.'}${file === null ? '' : ` Kept in ${file}: a checkpoint for \`consent-ledger ledger verify --public\`.`}`,
          ].join('\n'),
        );
      }),
    );
}

/** The cosigned note, under its size. */
async function keep(folder: string, size: number, note: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${String(size).padStart(16, '0')}.txt`);
  await writeFile(`${path}.draft`, note);
  await rename(`${path}.draft`, path);
  return path;
}
