import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { DEFAULT_SOURCE } from '../config/config.ts';
import { offboardSource } from '../context/offboard.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, counted, printResult, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, changedMeanwhile, noSuchSource, withContext } from './run-context.ts';

/** `source offboard`: a client leaves. */
export function registerSourceOffboard(source: CommandUnknownOpts, io: CommandIo): void {
  withJson(source.command('offboard'))
    .argument('<slug>', 'source slug')
    .description('offboard a client: stop pulling and accepting, destroy its credentials, keep the evidence')
    .option('--force', 'even if requests are still waiting for an answer; requires --reason')
    .option('--reason <text>', 'reason to record in the ledger')
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
    .action((slug, options) =>
      withContext(async (context) => {
        const { force, reason, officer } = options;
        if (force === true && (reason === undefined || reason.trim() === ''))
          throw new UsageError([
            '--force requires --reason: say what happens to the requests still waiting for an answer.',
          ]);
        const result = await offboardSource(context, {
          slug,
          actor: officer,
          reason,
          ...(force === true && reason !== undefined ? { force: { reason } } : {}),
        });
        switch (result.outcome) {
          case 'done': {
            const { remains } = result;
            return printResult(io, options, { outcome: 'done', source: slug, seq: result.seq, remains }, () =>
              [
                `${pc.green('✓')} ${slug} offboarded, recorded as entry ${result.seq}. Its credentials are destroyed; its webhook address answers 404 within two seconds.`,
                `  Kept: ${counted(remains.entries, 'entry', 'entries')}, ${counted(remains.documents, 'document')}, ${counted(remains.cases, 'case')}; reports, packs and \`ledger verify\` still work.`,
                ...(remains.openCases.length > 0
                  ? [
                      `! ${counted(remains.openCases.length, 'request')} still ${remains.openCases.length === 1 ? 'waits' : 'wait'} for an answer: ${remains.openCases.slice(0, 10).join(', ')}.`,
                    ]
                  : []),
                ...(remains.rejectedDestroyed > 0
                  ? [
                      `  ${counted(remains.rejectedDestroyed, 'refused delivery', 'refused deliveries')} of it ${remains.rejectedDestroyed === 1 ? 'was' : 'were'} destroyed.`,
                    ]
                  : []),
                '  In the service’s dashboard: revoke its API key and remove its webhook.',
                `  \`source add ${slug}\` adds it again; its numbering continues.`,
              ].join('\n'),
            );
          }
          case 'open-cases':
            io.exitCode = 1;
            return printResult(
              io,
              options,
              { outcome: 'open-cases', source: slug, cases: result.cases },
              () =>
                `${pc.red('✗')} ${counted(result.cases.length, 'request')} of ${slug} still ${result.cases.length === 1 ? 'waits' : 'wait'} for an answer: ${result.cases.slice(0, 10).join(', ')}. Answer them first, or use --force with --reason.`,
            );
          case 'conflict':
            io.exitCode = 1;
            return printResult(
              io,
              options,
              { outcome: 'conflict', source: slug },
              () => `${pc.red('✗')} ${changedMeanwhile(slug)}`,
            );
          case 'left':
            return printResult(
              io,
              options,
              { outcome: 'left', source: slug },
              () =>
                `${slug} is already offboarded. Whatever an interrupted run had left undone (rewriting the database without its credentials) is done now.`,
            );
          case 'unknown':
            throw noSuchSource(slug);
          case 'configured':
            throw new UsageError([
              `Source \`${DEFAULT_SOURCE}\` is configured by environment variables: unset WEBHOOK_SECRETS and the SERVICE_… variables and restart the server, then run this again if it is still listed. Its entries are kept.`,
            ]);
          default:
            return result satisfies never;
        }
      }),
    );
}
