import type { Command } from 'commander';
import pc from 'picocolors';
import { listCases } from '../cases/list-cases.ts';
import { DEFAULT_SOURCE } from '../config.ts';
import { UsageError } from '../core/errors.ts';
import { offboardSource } from '../sources/offboard.ts';
import { type CommandIo, counted, printResult, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';
import { noSuchSource } from './source-text.ts';

interface OffboardFlags {
  readonly force?: boolean;
  readonly reason?: string;
  readonly officer: string;
  readonly json?: boolean;
}

/** `source offboard`: a client leaves. */
export function registerSourceOffboard(source: Command, io: CommandIo): void {
  withJson(source.command('offboard'))
    .argument('<slug>', 'which source')
    .description(
      'let a client go: nothing more is pulled or accepted, its credentials are destroyed, the evidence stays',
    )
    .option('--force', 'although requests still wait for an answer; needs --reason')
    .option('--reason <text>', 'why, as the ledger records it')
    .option('--officer <name>', 'who lets it go, as the ledger records it', COMMAND_LINE_ACTOR)
    .action((slug: string, options: OffboardFlags) =>
      withContext(async (context) => {
        const { force, reason, officer } = options;
        if (force === true && (reason === undefined || reason.trim() === ''))
          throw new UsageError(['--force needs --reason: what becomes of the requests that still wait.']);
        const result = await offboardSource(
          {
            read: context.store.read,
            sources: context.sources,
            rejected: context.rejected,
            jobs: context.jobs,
            catchUp: () => context.projector.catchUp(),
            openCases: async (one) => {
              const now = context.clock().toISOString();
              const open = await listCases(context.cases, { open: true, source: one, now });
              return open.map(({ row }) => row.case_id);
            },
            seal: () => context.seal(),
            compact: () => context.store.compact(),
          },
          {
            slug,
            actor: officer,
            reason,
            ...(force === true && reason !== undefined ? { force: { reason } } : {}),
          },
        );
        switch (result.outcome) {
          case 'done': {
            const { remains } = result;
            return printResult(io, options, { outcome: 'done', source: slug, seq: result.seq, remains }, () =>
              [
                `${pc.green('✓')} ${slug} left, recorded as entry ${result.seq}. Its credentials are destroyed; its webhook address answers 404 within two seconds.`,
                `  What stays: ${counted(remains.entries, 'entry', 'entries')}, ${counted(remains.documents, 'document')}, ${counted(remains.cases, 'case')}; reports, packs and \`ledger verify\` go on as before.`,
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
                `  \`source add ${slug}\` takes it up again; its numbers go on.`,
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
              () => `${pc.red('✗')} Someone else changed ${slug} at the same time: look at it, and try again.`,
            );
          case 'left':
            return printResult(
              io,
              options,
              { outcome: 'left', source: slug },
              () => `Nothing to do: ${slug} left before.`,
            );
          case 'unknown':
            throw noSuchSource(slug);
          case 'configured':
            throw new UsageError([
              `\`${DEFAULT_SOURCE}\` comes from the environment: take WEBHOOK_SECRETS and the SERVICE_… variables away there and start the server again. Its entries stay.`,
            ]);
          default:
            return result satisfies never;
        }
      }),
    );
}
