import { randomUUID } from 'node:crypto';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { publicUrlOf } from '../core/address.ts';
import { OutsideError, UsageError } from '../core/errors.ts';
import { TEST_EVENT } from '../core/vocabulary.ts';
import { type Resent, resendOf, sendAgain } from '../outside/resend.ts';
import { type CommandIo, printable, printResult, withJson } from './command-io.ts';
import { targetOf } from './delivery-resend.ts';
import { findOnlySource, withContext } from './run-context.ts';

const TIMEOUT_MS = 15_000;

/**
 * `delivery test`: checks whether a signed delivery reaches this installation's public listener, without waiting for
 * the service to send one.
 */
export function registerDeliveryTest(delivery: CommandUnknownOpts, io: CommandIo): void {
  withJson(delivery.command('test'))
    .description('send one signed test event to your own public listener, and say how it answered')
    .option('--source <slug>', 'the source whose address and newest signing secret are used')
    .option('--to <url>', 'send it to this http or https address instead of PUBLIC_URL or HOST and PORT', targetOf)
    .addHelpText(
      'after',
      `\nThe event is named ${TEST_EVENT} and contains no personal data. If it is accepted, it stays in the ledger as a delivery with an unknown\nevent and does not count as consent. Redirects are not followed. The exit code is 1 unless the response is 200.`,
    )
    .action((options) =>
      withContext(async (context) => {
        const source = findOnlySource(context, options.source);
        const to =
          options.to ??
          `${publicUrlOf(context.config, context.config.port).replace(/\/$/, '')}/webhooks/${source.slug}`;
        const body = Buffer.from(
          JSON.stringify({ event: TEST_EVENT, id: randomUUID(), sent_at: new Date().toISOString() }),
        );
        const meta = Buffer.from(JSON.stringify({ contentType: 'application/json' }));
        const test = resendOf({ meta, body }, source.webhookSecrets);
        if (test.secretId === null)
          throw new UsageError([
            `The source ${source.slug} has no signing secret: set WEBHOOK_SECRETS, or run \`consent-ledger source rotate ${source.slug}\`.`,
          ]);
        const sent = await sendAgain(test, to, TIMEOUT_MS).catch((cause: unknown) => {
          if (!(cause instanceof OutsideError)) throw cause;
          return { status: null, error: cause.message };
        });
        const isTaken = sent.status === 200;
        if (!isTaken) io.exitCode = 1;
        const remedy = remedyOf(sent.status);
        printResult(io, options, { source: source.slug, to, signedWith: test.secretId, ...sent, remedy }, () =>
          [
            `${isTaken ? pc.green('✓') : pc.red('✗')} ${'error' in sent ? printable(sent.error) : answerText(to, sent)}`,
            ...(remedy === null ? [] : [`  ${remedy}`]),
          ].join('\n'),
        );
      }),
    );
}

function answerText(to: string, { status, milliseconds, answer }: Resent): string {
  return `${printable(to)} answered HTTP ${status} after ${milliseconds} ms${answer === '' ? '' : `: ${printable(answer)}`}`;
}

function remedyOf(status: number | null): string | null {
  if (status === 200) return null;
  if (status === null)
    return 'Start `consent-ledger serve`, and check PUBLIC_URL, HOST and PORT, the proxy and its certificate.';
  if (status === 401)
    return 'The server has different secrets, or a proxy changes the body: restart it with the current WEBHOOK_SECRETS, and run `consent-ledger delivery diagnose`.';
  if (status === 404) return 'That server has no such source: check the address and `consent-ledger source list`.';
  if (status === 413) return 'A proxy limits the size of a body: raise its limit to 1 MiB.';
  if (status >= 300 && status < 400)
    return 'Redirects are not followed, by the service either: use the final address, usually with https.';
  if (status >= 500) return 'Look at the log of the server, and of the proxy in front of it.';
  return 'Something other than `consent-ledger serve` may be answering: check the address and the proxy.';
}
