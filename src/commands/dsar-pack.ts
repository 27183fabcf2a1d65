import { copyFile } from 'node:fs/promises';
import type { Command } from 'commander';
import pc from 'picocolors';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, momentFrom, printable, printResult, wholeNumberFrom, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

interface PackFlags {
  readonly out?: string;
  readonly officer: string;
  readonly asOf?: number;
  readonly made?: string;
  readonly json?: boolean;
}

/** `dsar pack <case>`: the ZIP that answers a case. */
export function registerDsarPack(dsar: Command, io: CommandIo): void {
  withJson(dsar.command('pack'))
    .argument('<case>', 'case id from `dsar list`')
    .description('create the ZIP that answers a case: letter, history, data, manifest')
    .option('--out <file>', 'also write a copy to this file')
    .option('--as-of <seq>', 'reproduce it from the ledger up to this entry', wholeNumberFrom(0))
    .option(
      '--made <time>',
      'creation time (ISO 8601 with an offset); default: now, or with --as-of the time of the original',
      momentFrom('--made'),
    )
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
    .action((caseId: string, options: PackFlags) =>
      withContext(async (context) => {
        // Loaded only here: the other commands of cases start sooner without what renders documents.
        const { producePack } = await import('../documents/produce-pack.ts');
        const deps = { ...context.documents, cases: context.cases };
        const { officer: actor, asOf, made: madeAt } = options;
        const last = await context.projector.catchUp();
        if (asOf !== undefined && asOf > last)
          throw new UsageError([`--as-of ${asOf} is beyond the end of the ledger (entry ${last}).`]);
        const produced = await producePack(deps, { caseId, actor, asOf, madeAt });
        if (produced.outcome === 'invalid') throw new UsageError([produced.problem]);
        if (produced.outcome === 'unknown-case') {
          throw new UsageError([`Unknown case ${printable(caseId)}: see \`consent-ledger dsar list\`.`]);
        }
        if (produced.outcome === 'unknown-source') {
          throw new UsageError([`The source ${produced.source} of this case is no longer configured.`]);
        }
        if (produced.outcome === 'refused') {
          io.exitCode = 3;
          printResult(io, options, produced, () => `${pc.red('✗')} ${produced.problem}`);
          return;
        }
        if (options.out !== undefined) await copyFile(produced.path, options.out);
        printResult(io, options, { ...produced, out: options.out ?? null }, () =>
          [
            options.out ?? produced.path,
            `pack ${produced.documentId}, as of entry ${produced.asOf}, made ${String(produced.parameters['madeAt'])}, ${produced.bytes} bytes; may hold: ${produced.disclosure}`,
            `SHA-256 ${produced.sha256}, registered as entry ${produced.seq}`,
            produced.readiness.ready
              ? `${pc.green('✓')} nothing required is missing`
              : `${pc.yellow('!')} not ready to send:`,
            ...produced.readiness.lacks.map(({ blocking, text }) => `  ${blocking ? '✗' : '·'} ${printable(text)}`),
          ].join('\n'),
        );
      }),
    );
}
