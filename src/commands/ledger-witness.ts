import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { UsageError } from '../core/errors.ts';
import type { Witnessing } from '../ledger/witnessed.ts';
import { type CommandIo, printable, printResult, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `ledger witness`: lets others sign what the ledger is at the moment (docs/proofs.md). */
export function registerLedgerWitness(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('witness'))
    .argument('[policy]', 'file with witnesses, their addresses and the quorum (C2SP tlog-policy); default: WITNESSES')
    .description(
      'seal, and have witnesses sign the checkpoint now (exit code 3 if one has seen another history, 1 without a quorum)',
    )
    .action((path, options) =>
      withContext(async (context) => {
        const policy = path === undefined ? context.config.witnesses : resolve(path);
        const witnessing = await context.witness({ path: policy, again: true });
        if (witnessing.outcome === 'empty') throw new UsageError(['The ledger is empty: there is nothing to witness.']);
        if (witnessing.outcome === 'refused') {
          io.exitCode = 3;
          printResult(
            io,
            options,
            witnessing,
            () =>
              `${pc.red('✗ not sealed')}: entry ${witnessing.seq}: ${witnessing.reason}. Run \`consent-ledger ledger verify\`.`,
          );
          return;
        }
        const { size, quorum, results, files } = witnessing;
        if (results.some(({ result }) => result.outcome === 'forked')) io.exitCode = 3;
        else if (!quorum) io.exitCode = 1;
        const witnesses = results.map(({ name, result }) => ({
          name,
          outcome: result.outcome,
          ...('at' in result ? { at: result.at } : {}),
          ...('reason' in result ? { reason: result.reason } : {}),
        }));
        printResult(io, options, { size, quorum, files, witnesses }, () =>
          [
            ...results.map(({ name, result }) => resultLine(name, size, result)),
            quorum ? 'The quorum is reached.' : 'The quorum is not reached.',
            ...files.map((file) => `Kept: ${file}`),
          ].join('\n'),
        );
      }),
    );
}

type Result = Extract<Witnessing, { readonly outcome: 'witnessed' }>['results'][number]['result'];

const verbs = {
  cosigned: 'cosigned',
  stamped: 'put a time to',
  copied: 'holds a copy of the checkpoint over',
} as const;

function resultLine(name: string, size: number, result: Result): string {
  if ('reason' in result) return `${pc.red('✗')} ${printable(name)}: ${printable(result.reason)}`;
  if (result.outcome === 'unchanged') return `${pc.green('✓')} ${printable(name)} has seen this checkpoint before`;
  return `${pc.green('✓')} ${printable(name)} ${verbs[result.outcome]} ${size} entries, ${result.at}`;
}
