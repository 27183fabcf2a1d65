import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { publicUrlOf } from '../core/address.ts';
import { UsageError, unknownCase } from '../core/errors.ts';
import {
  createHandOver,
  HAND_OVER_DAYS,
  HAND_OVER_DAYS_MAX,
  listHandOvers,
  revokeHandOver,
  summariseHandOver,
} from '../hand-over/hand-over.ts';
import {
  type CommandIo,
  printable,
  printResult,
  tableText,
  timeText,
  warnOfPublicUrl,
  wholeNumber,
  withJson,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, withCaughtUp } from './run-context.ts';

/** `dsar hand-over create|list|revoke`: links through which requesters open their packs. */
export function registerHandOver(dsar: CommandUnknownOpts, io: CommandIo): void {
  const handOver = dsar
    .command('hand-over')
    .description(
      'give the requester a pack through a link and a code; they can open, download and check it, and reply',
    );

  withJson(handOver.command('create'))
    .description('create a link and a code for the pack of a case; both are shown once')
    .argument('<case>', 'case id from `dsar list`')
    .option(
      '--days <days>',
      `how long the link is valid, 1 to ${HAND_OVER_DAYS_MAX}`,
      wholeNumber(1, HAND_OVER_DAYS_MAX),
      HAND_OVER_DAYS,
    )
    .option('--document <id>', 'pack to hand over; default: the newest one of the case')
    .option('--attach <id...>', 'files of the case to hand over with the pack, by their ids from `document list`')
    .option('--approved-by <name>', 'who approved it for the controller, where this installation is a processor')
    .addHelpText(
      'after',
      `
Example:
  $ consent-ledger dsar hand-over create default-3 --days 14
Send the link and the code through different channels. The case must be ready; once both are sent, record the answer:
  $ consent-ledger dsar move default-3 answer channel=portal disclosure=full documentSha256=<SHA-256>`,
    )
    .action((caseId, options) =>
      withCaughtUp(async (context) => {
        const { config } = context;
        const { days, document, approvedBy, attach: attachments = [] } = options;
        warnOfPublicUrl(io, config.publicUrl);
        const publicUrl = publicUrlOf(config, config.port);
        const wanted = { caseId, days, documentId: document, attachments, approvedBy };
        const input = { ...wanted, actor: COMMAND_LINE_ACTOR, publicUrl };
        const created = await createHandOver(context, input);
        if (created.outcome === 'unknown-case') throw new UsageError([unknownCase(printable(caseId))]);
        if (created.outcome === 'refused') throw new UsageError(created.problems);
        if (created.outcome === 'repeated') throw new Error('only forms have a reference');
        const { link, code, handOver: row } = created;
        printResult(io, options, { ...summariseHandOver({ row, state: 'open' }), link, code }, () =>
          [
            `${pc.green('✓')} ${row.hand_over_id}: valid until ${timeText(row.expires_at)}`,
            `link  ${link}`,
            `code  ${code}`,
            'Both are shown only once. Send them through different channels.',
          ].join('\n'),
        );
      }),
    );

  withJson(handOver.command('list'))
    .description('list links with their state, newest first')
    .option('--case <case>', 'only of this case')
    .action((options) =>
      withCaughtUp(async (context) => {
        const of = options.case === undefined ? { sources: null } : { caseId: options.case };
        const found = (await listHandOvers(context, of)).map(summariseHandOver);
        printResult(io, options, found, () =>
          tableText(
            ['link', 'case', 'state', 'expires', 'opened', 'downloads', 'messages', 'wrong codes'],
            found.map((one) => [
              one.handOverId,
              one.caseId,
              one.state,
              one.expiresAt,
              one.openedAt ?? '–',
              one.downloads,
              one.messages,
              one.wrongCodes,
            ]),
            'No links.',
          ),
        );
      }),
    );

  withJson(handOver.command('revoke'))
    .description('end a link at once')
    .argument('<link>', 'id from `dsar hand-over list`')
    .action((handOverId, options) =>
      withCaughtUp(async (context) => {
        if (!(await revokeHandOver(context, handOverId, COMMAND_LINE_ACTOR)))
          throw new UsageError([
            `Unknown link ${printable(handOverId)}, or it was revoked already: see \`consent-ledger dsar hand-over list\`.`,
          ]);
        printResult(
          io,
          options,
          { outcome: 'revoked', handOverId },
          () => `${pc.green('✓')} ${handOverId} is revoked and no longer works`,
        );
      }),
    );
}
