import { randomUUID } from 'node:crypto';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { countNotices, sentenceOf } from '../attention/find-notices.ts';
import { listNotices, mailCheckpoint, testChannels } from '../attention/send-notices.ts';
import { emailSchema } from '../core/email.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, counted, printable, printResult, tableText, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `notify`: current notices, and whether they reach people. */
export function registerNotify(program: CommandUnknownOpts, io: CommandIo): void {
  const notify = program
    .command('notify')
    .description('notifications by mail, chat and webhook (docs/notifications.md)');

  withJson(notify.command('list'))
    .description('list what needs attention now, and when notices of it were sent')
    .action((options) =>
      withContext(async (context) => {
        const notices = await listNotices(context.notifying);
        printResult(io, options, { notices }, () =>
          tableText(
            ['kind', 'source', 'what', 'told'],
            countNotices(notices).map((one) => {
              const since = notices.filter(({ kind, source }) => kind === one.kind && source === one.source);
              const told = since.map((notice) => notice.since ?? '').sort()[0] ?? '';
              return [one.kind, one.source ?? '', sentenceOf({ ...one, source: null }), told || 'not yet'];
            }),
            'Nothing needs attention.',
          ),
        );
      }),
    );

  withJson(notify.command('test'))
    .description('send a test through every configured channel (exit code 1 if one fails)')
    .option('--to <address>', 'recipient of the test mail; default: CHECKPOINT_MAIL_TO', mailAddress)
    .action((options) =>
      withContext(async (context) => {
        const to = options.to === undefined ? context.config.checkpointMail.to : [options.to];
        if (context.config.mail !== null && to.length === 0)
          throw new UsageError(['Specify the recipient of the test mail: --to <address>.']);
        const tried = await testChannels(context.notifying, to);
        if (tried.length === 0)
          throw new UsageError([
            'No channel is configured: set SMTP_URL and MAIL_FROM, NOTIFY_CHAT_URL or NOTIFY_WEBHOOK_URL (docs/notifications.md).',
          ]);
        if (tried.some(({ problem }) => problem !== null)) io.exitCode = 1;
        printResult(io, options, { tried }, () =>
          tried
            .map(({ channel, problem }) =>
              problem === null
                ? `${pc.green('✓')} ${channel}: sent`
                : `${pc.red('✗')} ${channel}: ${printable(problem)}`,
            )
            .join('\n'),
        );
      }),
    );

  withJson(notify.command('checkpoint'))
    .description('mail the newest checkpoint to CHECKPOINT_MAIL_TO now')
    .action((options) =>
      withContext(async (context) => {
        if (context.config.mail === null || context.config.checkpointMail.to.length === 0)
          throw new UsageError(['Set SMTP_URL, MAIL_FROM and CHECKPOINT_MAIL_TO (docs/notifications.md).']);
        const mailed = await mailCheckpoint(context.notifying, { id: randomUUID() });
        if (mailed.outcome !== 'mailed') io.exitCode = mailed.outcome === 'empty' ? 1 : 3;
        printResult(io, options, mailed, () =>
          'size' in mailed
            ? `${pc.green('✓')} the checkpoint over ${counted(mailed.size, 'entry', 'entries')} was mailed to ${counted(mailed.recipients, 'address', 'addresses')}`
            : `${pc.red('✗')} nothing was mailed: ${mailed.outcome}`,
        );
      }),
    );
}

/** Parses a flag that takes an e-mail address. */
export function mailAddress(text: string): string {
  const read = emailSchema.safeParse(text);
  if (!read.success)
    throw new InvalidArgumentError(`${JSON.stringify(text)} is not an e-mail address: use one like olga@example.org.`);
  return read.data;
}
