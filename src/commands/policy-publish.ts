import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from '../context/context.ts';
import { notSentText } from '../policies/call-once.ts';
import { type Arrival, awaitWebhooks, type PublishOutcome, publishPolicy } from '../policies/publish.ts';
import { settleCalls } from '../policies/settle-calls.ts';
import {
  type CommandIo,
  counted,
  type OptionsOf,
  printable,
  printResult,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import {
  assertPolicyOf,
  callableSource,
  noSlotText,
  patienceOf,
  policyIdFrom,
  refusedText,
  unknownPublishText,
} from './policy-call.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

type PublishFlags = OptionsOf<ReturnType<typeof publishCommand>>;

/** `policy publish`: makes a policy public, and says whether the webhooks about it arrived (docs/service.md §4.4). */
export function registerPolicyPublish(policy: CommandUnknownOpts, io: CommandIo): void {
  publishCommand(policy).action((ids, flags) =>
    withContext(async (context) => {
      const published: Awaited<ReturnType<typeof publishOne>>[] = [];
      for (const id of new Set(ids)) {
        const one = await publishOne(context, io, id, flags);
        published.push(one);
        if (one.ended.outcome !== 'done') io.exitCode = 1;
        // These outcomes would be the same for every policy, so report them once.
        if (one.ended.outcome === 'stopped' || one.ended.outcome === 'not-configured') break;
      }
      const values = published.map(({ id, ended, arrivals }) => ({ policyId: id, ...ended, arrivals }));
      printResult(io, flags, values.length === 1 && ids.length === 1 ? values[0] : values, () =>
        published.map(({ text }) => text).join('\n'),
      );
    }),
  );
}

function publishCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('publish'))
    .argument('<id...>', 'ids of generated policies', (text, before: string[] = []) => [...before, policyIdFrom(text)])
    .description('publish policies one after the other, and wait for the webhooks about each')
    .option('--source <slug>', 'source whose account to use')
    .option('--no-wait', 'do not wait for the webhooks or the rate limit')
    .option('--seconds <number>', 'seconds to wait for the webhooks about each policy', wholeNumberFrom(1), 30);
}

async function publishOne(
  context: Pick<Context, 'store' | 'sources' | 'policies' | 'projector'>,
  io: CommandIo,
  id: string,
  flags: PublishFlags,
) {
  const source = callableSource(context, flags.source);
  const { line, ...patience } = patienceOf(io, flags);
  await settleCalls(context.policies);
  await assertPolicyOf(context, source.slug, id);
  const began = Date.now();
  const request = { source, policyId: id, actor: COMMAND_LINE_ACTOR, ...patience };
  const ended = await publishPolicy(context.policies, request);
  const queued = ended.outcome === 'done' ? ended.published.webhooksQueued : null;
  let arrivals: readonly Arrival[] | null = null;
  if (ended.outcome === 'done' && queued !== null && flags.wait && queued > 0) {
    arrivals = await awaitWebhooks(
      context.policies,
      { source: source.slug, policyId: id, requestId: ended.requestId, queued },
      {
        waitMs: flags.seconds * 1000,
        signal: patience.signal,
        onArrival: (arrived) => line.say(`webhooks: ${arrived} of ${queued} arrived here`),
      },
    );
  }
  line.end();
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  return { id, ended, arrivals, text: sentenceOf(id, ended, { waited: flags.wait, arrivals, seconds }) };
}

function sentenceOf(
  id: string,
  ended: PublishOutcome,
  {
    waited,
    arrivals,
    seconds,
  }: { readonly waited: boolean; readonly arrivals: readonly Arrival[] | null; readonly seconds: string },
): string {
  switch (ended.outcome) {
    case 'done': {
      const { hostedUrl, link, webhooksQueued } = ended.published;
      const address = link ?? hostedUrl;
      return [
        `Published ${printable(id)}${address === null ? '' : `: ${printable(address)}`}`,
        webhookText(webhooksQueued, arrivals, seconds),
      ].join('\n');
    }
    case 'refused':
      return `Not published: ${refusedText(ended.error)}`;
    case 'unknown':
      return unknownPublishText(ended.requestId, ended.error);
    default:
      return notSentText(ended, (slot) => noSlotText(slot, waited));
  }
}

function webhookText(queued: number | null, arrivals: readonly Arrival[] | null, seconds: string): string {
  if (queued === null) return 'The service does not say how many webhooks it queued.';
  if (queued === 0)
    return 'The service queued no webhook because no endpoint of the account is subscribed to policy.published. Register this installation’s address with the service.';
  const webhooks = counted(queued, 'webhook');
  if (arrivals === null)
    return `The service queued ${webhooks}. Run \`consent-ledger policy show\` to see whether it arrived.`;
  if (arrivals.length >= queued)
    return `The service queued ${webhooks}; ${queued === 1 ? 'it' : 'all'} arrived here within ${seconds} s (${arrivals.map(({ seq }) => `entry ${seq}`).join(', ')}).`;
  if (arrivals.length > 0)
    return `The service queued ${webhooks}; ${arrivals.length} arrived here (${arrivals.map(({ seq }) => `entry ${seq}`).join(', ')}); the others may belong to other endpoints of the account.`;
  return `The service queued ${webhooks}; none arrived here within ${seconds} s. Check that the server is running (\`consent-ledger serve\`) and that the registered address points to it; \`consent-ledger delivery diagnose\` explains refused deliveries.`;
}
