import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { Context } from '../context/context.ts';
import { clearTextProblem, webUrlOf } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import { findEntry } from '../ledger/read-entries.ts';
import { type Resend, resendOf, sendAgain } from '../outside/resend.ts';
import { type CommandIo, durationFrom, printable, printResult, wholeNumberFrom, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

const LONGEST_MS = 10 * 60_000;

/** `delivery resend`: sends a stored delivery to another receiver, for developers of receivers. */
export function registerDeliveryResend(delivery: CommandUnknownOpts, io: CommandIo): void {
  withJson(delivery.command('resend'))
    .argument('<seq>', 'entry number of a delivery', wholeNumberFrom(1))
    .description('send a stored delivery to another address, such as a receiver that you are developing')
    .requiredOption(
      '--to <url>',
      'an http or https address; http only to this machine or a host in HTTP_ALLOWED_HOSTS',
      targetOf,
    )
    .option('--unsigned', 'do not sign it')
    .option('--timeout <duration>', 'how long to wait for the answer, at most 10m', durationFrom, 15_000)
    .addHelpText(
      'after',
      '\nSends the exact bytes, the content type and the stored headers. Signatures are not stored: the delivery is signed again with the secret that\nverified it, or with the first valid one of its source. Redirects are not followed. The body may contain personal data.',
    )
    .action((seq, options) =>
      withContext(async (context) => {
        const { to, unsigned = false, timeout } = options;
        if (timeout > LONGEST_MS) throw new UsageError(['--timeout is at most 10m.']);
        assertSafe(to, context);
        const resend = await loadResend(context, seq, { unsigned });
        const sent = await sendAgain(resend, to, timeout);
        const isTaken = sent.status >= 200 && sent.status < 300;
        if (!isTaken) io.exitCode = 1;
        const { host } = new URL(to);
        const value = { seq, to: host, bytes: resend.body.length, signedWith: resend.secretId, ...sent };
        printResult(io, options, value, () =>
          [
            `${isTaken ? pc.green('✓') : pc.red('✗')} ${host} answered HTTP ${sent.status} after ${sent.milliseconds} ms (${resend.body.length} bytes, ${resend.secretId === null ? 'unsigned' : `signed with ${printable(resend.secretId)}`})`,
            ...(sent.answer === '' ? [] : [sent.answer.split('\n').map(printable).join('\n')]),
          ].join('\n'),
        );
      }),
    );
}

/**
 * A stored delivery prepared for sending again. Throws UsageError if the entry is not a delivery, its content was
 * erased or nothing can sign it.
 */
export async function loadResend(
  context: Pick<Context, 'store' | 'sources'>,
  seq: number,
  { unsigned }: { unsigned: boolean },
): Promise<Resend> {
  const { source, meta, body } = await loadStored(context, seq);
  const secrets = unsigned ? [] : (context.sources.find(source)?.webhookSecrets ?? []);
  const resend = resendOf({ meta, body }, secrets);
  if (!unsigned && resend.secretId === null)
    throw new UsageError([`The source ${source} has no signing secret: use --unsigned.`]);
  return resend;
}

/** The bytes of a stored delivery. Throws UsageError if the entry is not a delivery, or its content was erased. */
export async function loadStored({ store }: Pick<Context, 'store'>, seq: number) {
  const entry = await findEntry(store.read, seq);
  if (entry?.kind !== 'webhook')
    throw new UsageError([
      `Entry ${seq} ${entry === null ? 'does not exist' : 'is not a delivery'}: see \`consent-ledger delivery list\`.`,
    ]);
  const { source, meta, body } = entry;
  if (meta === null || body === null)
    throw new UsageError([`The content of entry ${seq} was erased: there is nothing to send.`]);
  return { source, meta, body };
}

/** Throws UsageError if others could read the delivery in transit. */
export function assertSafe(to: string, { config }: Pick<Context, 'config'>): void {
  const problem = clearTextProblem(to, config.httpAllowedHosts, 'the delivery');
  if (problem !== null) throw new UsageError([`The address of --to ${problem}.`]);
}

/** Parses --to. */
export function targetOf(text: string): string {
  const url = webUrlOf(text);
  if (url === null) throw new InvalidArgumentError('Use an http or https URL without a user name or password.');
  return url.href;
}
