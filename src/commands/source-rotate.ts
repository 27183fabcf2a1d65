import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { verifySignature } from '../../receivers/signature-node.ts';
import { checkKey } from '../context/check-key.ts';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { type Source, secretEncodings } from '../core/source.ts';
import type { SourceOutcome } from '../sources/sources.ts';
import { type CommandIo, durationFrom, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, noSuchSource, withContext } from './run-context.ts';
import { readSecrets, withSecret } from './source-flags.ts';
import { noSuchSecret, report } from './source-text.ts';

const apiKey = { flag: 'api-key', what: 'new API key (pak_live_…)' };
const webhookSecret = { flag: 'webhook-secret', what: 'new webhook signing secret' };

interface Step {
  readonly verb: 'rotated' | 'changed';
  /** The state after this step. */
  readonly what: string;
  readonly do: () => Promise<SourceOutcome>;
  readonly secretId?: string;
}

/** `source rotate` and `source retire`: replace credentials without losing deliveries in between. */
export function registerSourceRotate(source: CommandUnknownOpts, io: CommandIo): void {
  const rotate = withJson(source.command('rotate'))
    .argument('<slug>', 'source slug')
    .description('add a signing secret (the old ones stay valid until retired), or replace the API key')
    .addOption(
      new Option('--encoding <encoding>', 'encoding of the new signing secret')
        .choices(secretEncodings)
        .default('text'),
    )
    .option('--retire <secret>', 'stop accepting the signing secret with this id')
    .option(
      '--retire-after <duration>',
      'stop accepting the old signing secrets after this long, e.g. 24h (default: never)',
      durationFrom,
    )
    .option('--unchecked', 'use the new API key without checking it with the service');
  for (const flag of [webhookSecret, apiKey]) withSecret(rotate, flag);
  rotate.action(async (slug, options) => {
    const secrets = await readSecrets(options, [webhookSecret, apiKey]);
    const secret = secrets.get('webhook-secret') ?? null;
    const key = secrets.get('api-key') ?? null;
    const { retire, retireAfter } = options;
    if (secret === null && key === null && retire === undefined)
      throw new UsageError([
        'Nothing to do: pass a new secret with --webhook-secret-file (- for standard input), a new key with --api-key-file, or an old secret with --retire.',
      ]);
    if (retireAfter !== undefined && secret === null)
      throw new UsageError(['--retire-after requires a new secret: to retire an old one now, use --retire.']);
    await withContext(async (context) => {
      const present = context.sources.find(slug);
      if (present !== null && retire !== undefined && !present.webhookSecrets.some(({ id }) => id === retire))
        throw noSuchSecret(slug, retire);
      if (key !== null && options.unchecked !== true) await assertKeyWorks(context, present, slug, key);
      const retireOthersAt =
        retireAfter === undefined ? undefined : new Date(context.clock().getTime() + retireAfter).toISOString();
      // New credentials first: if they are refused, the old ones stay.
      const steps: Step[] = [];
      const { sources } = context;
      if (key !== null)
        steps.push({
          verb: 'changed',
          what: 'the new API key is in use',
          do: () => sources.change(slug, { apiKey: key }, COMMAND_LINE_ACTOR),
        });
      if (secret !== null) {
        const rotation = { encoding: options.encoding, retireOthersAt };
        steps.push({
          verb: 'rotated',
          what: 'the new signing secret is accepted',
          do: () => sources.rotateSecret(slug, secret, COMMAND_LINE_ACTOR, rotation),
        });
      }
      if (retire !== undefined)
        steps.push({
          verb: 'rotated',
          what: `the signing secret ${retire} is retired`,
          do: () => sources.retireSecret(slug, retire, COMMAND_LINE_ACTOR),
          secretId: retire,
        });
      const done: string[] = [];
      for (const [place, step] of steps.entries()) {
        const outcome = await step.do();
        // A secret that is already accepted does not prevent retiring the old one, so the command can be repeated.
        const goesOn = ['done', 'unchanged', 'exists'].includes(outcome.outcome) && place < steps.length - 1;
        if (outcome.outcome === 'done') done.push(`${step.what} (entry ${outcome.seq})`);
        if (goesOn) continue;
        if (outcome.outcome !== 'done' && done.length > 0) io.stderr.write(`Done before this: ${done.join(', ')}.\n`);
        report(io, options, context, {
          slug,
          outcome,
          verb: step.verb,
          waiting: await waitingFor(context, slug),
          secretId: step.secretId,
        });
        break;
      }
    });
  });

  withJson(source.command('retire'))
    .argument('<slug>', 'source slug')
    .argument('<secret>', 'signing secret id from `source list`')
    .description('stop accepting a signing secret')
    .action((slug, secretId, options) =>
      withContext(async (context) => {
        const outcome = await context.sources.retireSecret(slug, secretId, COMMAND_LINE_ACTOR);
        report(io, options, context, { slug, outcome, verb: 'changed', secretId });
      }),
    );
}

/** Keeps the old key until the new one is known to work: the service shows a key only once, and typing errors are common. */
async function assertKeyWorks(
  context: Pick<Context, 'config' | 'clock'>,
  present: Source | null,
  slug: string,
  key: string,
): Promise<void> {
  if (present === null) throw noSuchSource(slug);
  if (present.baseUrl === null || context.config.defaultSource?.slug === slug) return;
  const check = await checkKey({ ...present, apiKey: key }, context);
  if (check.outcome === 'refused')
    throw new UsageError([`${check.sentence} The old API key is kept.`, 'Use --unchecked to replace it anyway.']);
}

/** How many refused deliveries of a source are valid under its current secrets. */
async function waitingFor({ rejected, sources }: Pick<Context, 'sources' | 'rejected'>, slug: string): Promise<number> {
  const secrets = sources.find(slug)?.webhookSecrets ?? [];
  let count = 0;
  for (const { id } of await rejected.list({ source: slug })) {
    const item = await rejected.read(id);
    if (item !== null && verifySignature({ ...item, secrets }).outcome === 'verified') count += 1;
  }
  return count;
}
