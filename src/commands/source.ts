import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { effectsOfOptions } from '../../receivers/discover/discover.ts';
import { alteringIn } from '../../receivers/discover/effects.ts';
import { checkKey, type KeyCheck } from '../context/check-key.ts';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { sideBySide } from '../core/side-by-side.ts';
import { type Source, sourceOptionsSchema } from '../core/source.ts';
import type { SourceChanges } from '../sources/changes.ts';
import { gatherSamples } from '../sources/discovery.ts';
import { findSourceFaults, type SourceFault } from '../sources/faults.ts';
import { type CommandIo, printable, printResult, withJson, withOptions } from './command-io.ts';
import { COMMAND_LINE_ACTOR, findSource, withContext } from './run-context.ts';
import { effectsText, registerSourceDiscover } from './source-discover.ts';
import {
  type Clearable,
  clearFlag,
  optionsFrom,
  readSecrets,
  type SourceFlags,
  sourceFlags,
  withSecret,
} from './source-flags.ts';
import { registerSourceImport } from './source-import.ts';
import { registerSourceOffboard } from './source-offboard.ts';
import { registerSourceRotate } from './source-rotate.ts';
import { listText, NO_SOURCES, report, shown, shownOffboarded } from './source-text.ts';

const apiKey = { flag: 'api-key', what: 'API key (pak_live_…)' };
const siteKey = { flag: 'site-key', what: 'site key (pk_…)' };
const webhookSecret = { flag: 'webhook-secret', what: 'webhook signing secret' };

/** `source list|add|change|check` and, in files of their own, `rotate|retire|import|offboard|discover`: the accounts of the service that this installation follows. */
export function registerSource(program: CommandUnknownOpts, io: CommandIo): void {
  const source = program
    .command('source')
    .description('accounts of the service that this installation follows')
    .addHelpText(
      'after',
      '\nSecrets are read from a file, standard input or an environment variable, never from the command line itself.',
    );

  registerList(source, io);

  const add = withJson(source.command('add'))
    .argument('<slug>', 'short name used in the webhook address: lower-case letters, digits, hyphens')
    .description('add a source; its secrets are sealed with INSTANCE_KEY');
  for (const flag of [apiKey, siteKey, webhookSecret]) withSecret(add, flag);
  withOptions(add, sourceFlags).action(async (slug, options) => {
    const secrets = await readSecrets(options, [apiKey, siteKey, webhookSecret]);
    await withContext(async (context) => {
      const { name, baseUrl, siteUrl } = options;
      const secret = secrets.get('webhook-secret') ?? null;
      const outcome = await context.sources.add(
        {
          slug,
          ...(name === undefined ? {} : { name }),
          baseUrl: baseUrl ?? null,
          siteUrl: siteUrl ?? null,
          apiKey: secrets.get('api-key') ?? null,
          siteKey: secrets.get('site-key') ?? null,
          webhookSecrets: secret === null ? [] : [secret],
          // A returning source keeps its options, because its old entries are read with them.
          options: await optionsFrom(options, context.sources.findAny(slug)?.options ?? sourceOptionsSchema.parse({})),
        },
        COMMAND_LINE_ACTOR,
      );
      report(io, options, context, { slug, outcome, verb: 'added' });
    });
  });

  const change = withJson(source.command('change'))
    .argument('<slug>', 'source slug')
    .description('change settings of a source; options you leave out stay unchanged')
    .option(
      '--alter-readings',
      'make the change even if payloads that are already understood would be read differently',
    );
  for (const flag of [apiKey, siteKey]) withSecret(change, flag);
  withOptions(withOptions(change, sourceFlags), clearFlag).action(async (slug, options) => {
    const secrets = await readSecrets(options, [apiKey, siteKey]);
    await withContext(async (context) => {
      const before = findSource(context, slug);
      const changes = await changesFrom(options, secrets, before);
      if (changes.options !== undefined && options.alterReadings !== true)
        await assertNothingAltered(context, before, changes.options);
      report(io, options, context, {
        slug,
        outcome: await context.sources.change(slug, changes, COMMAND_LINE_ACTOR),
        verb: 'changed',
      });
    });
  });

  registerSourceRotate(source, io);
  registerSourceImport(source, io);
  registerSourceOffboard(source, io);
  registerSourceDiscover(source, io);

  registerCheck(source, io);
}

function registerList(source: CommandUnknownOpts, io: CommandIo): void {
  withJson(source.command('list'))
    .description('list sources with their webhook addresses and settings, without secrets')
    .option('--all', 'include offboarded sources')
    .action((options) =>
      withContext(async (context) => {
        const list = context.sources.list().map((one) => shown(context, one));
        const left = options.all === true ? context.sources.offboarded().map(shownOffboarded) : [];
        const damaged = context.sources.damaged();
        if (damaged.length > 0) io.exitCode = 3;
        const document = { sources: list, ...(options.all === true ? { offboarded: left } : {}), damaged };
        printResult(io, options, document, () => listText(list, damaged, left));
      }),
    );
}

function registerCheck(source: CommandUnknownOpts, io: CommandIo): void {
  withJson(source.command('check'))
    .argument('[slug]', 'only this source')
    .description('check the API key of every source (or one) with a single read call')
    .action((slug, options) =>
      withContext(async (context) => {
        const one = slug === undefined ? null : findSource(context, slug);
        const list = one === null ? context.sources.list() : [one];
        const checks = await checkAll(context, list, (done) => {
          if (list.length > AT_ONCE && done % 50 === 0) io.stderr.write(`${done} of ${list.length} checked\n`);
        });
        if (checks.some(({ outcome }) => outcome === 'refused' || (one !== null && outcome !== 'works')))
          io.exitCode = 1;
        printResult(io, options, checks, () =>
          checks.length === 0
            ? NO_SOURCES
            : [
                ...checks.flatMap(({ outcome, sentence, faults }) => [
                  `${outcome === 'works' ? pc.green('✓') : outcome === 'refused' ? pc.red('✗') : '·'} ${printable(sentence)}`,
                  ...faults.map(
                    (fault) => `  ${fault.level === 'fault' ? pc.red('✗') : '!'} ${fault.sentence} ${fault.remedy}`,
                  ),
                ]),
                ...(checks.length > 1 ? [summaryOf(checks)] : []),
              ].join('\n'),
        );
      }),
    );
}

type SourceCheck = KeyCheck & { readonly source: string; readonly faults: readonly SourceFault[] };

/** Sources checked concurrently: each has its own key, and one that does not respond takes as long as its time-out. */
const AT_ONCE = 8;

/** Checks sources, a few concurrently; the results are in the order of the sources. */
function checkAll(
  context: Pick<Context, 'config' | 'sources' | 'clock'>,
  list: readonly Source[],
  onProgress: (done: number) => void,
): Promise<readonly SourceCheck[]> {
  let done = 0;
  const sharingKey = context.sources.sharingKey();
  return sideBySide(list, AT_ONCE, async (one) => {
    const check = { source: one.slug, ...(await checkKey(one, context)), faults: findSourceFaults(one, sharingKey) };
    onProgress((done += 1));
    return check;
  });
}

/** Summarises the problems, which would otherwise be hidden among hundreds of lines. */
function summaryOf(checks: readonly SourceCheck[]): string {
  const slugsOf = (outcome: KeyCheck['outcome']) =>
    checks.filter((check) => check.outcome === outcome).map(({ source }) => source);
  const [works, refused, not] = [slugsOf('works'), slugsOf('refused'), slugsOf('not-configured')];
  const named = (words: string, slugs: readonly string[]) =>
    slugs.length === 0
      ? []
      : [`${slugs.length} ${words} (${slugs.slice(0, 10).join(', ')}${slugs.length > 10 ? ' …' : ''})`];
  return [
    `${works.length} of ${checks.length} keys work`,
    ...named('refused or unreachable', refused),
    ...named('not pulled', not),
  ].join(', ');
}

/** Throws UsageError if other options change how payloads are read that are already understood. */
async function assertNothingAltered(
  { store, rejected, clock }: Pick<Context, 'store' | 'rejected' | 'clock'>,
  source: Source,
  changed: SourceChanges['options'],
): Promise<void> {
  const options = sourceOptionsSchema.safeParse(changed).data;
  // Invalid ones are refused when they are to be saved.
  if (options === undefined) return;
  const { samples } = await gatherSamples({ store, rejected, clock, serviceFor: null }, source);
  const effects = effectsOfOptions(samples, source.options, options);
  if (alteringIn(effects).length > 0)
    throw new UsageError([
      `Nothing was changed. In the newest ${samples.length} payloads of ${source.slug}, ${effectsText(effects)}`,
      'If that is right, add --alter-readings.',
    ]);
}

async function changesFrom(
  flags: SourceFlags,
  secrets: ReadonlyMap<string, string | null>,
  before: Source,
): Promise<SourceChanges> {
  const cleared = (what: Clearable) => flags.clear?.includes(what) === true;
  const next: { -readonly [K in keyof SourceChanges]: SourceChanges[K] } = {};
  if (flags.name !== undefined) next.name = flags.name;
  if (flags.baseUrl !== undefined || cleared('base-url')) next.baseUrl = flags.baseUrl ?? null;
  if (flags.siteUrl !== undefined || cleared('site-url')) next.siteUrl = flags.siteUrl ?? null;
  const [key, site] = [secrets.get('api-key') ?? null, secrets.get('site-key') ?? null];
  if (key !== null || cleared('api-key')) next.apiKey = key;
  if (site !== null || cleared('site-key')) next.siteKey = site;
  const options = await optionsFrom(flags, before.options);
  if (JSON.stringify(options) !== JSON.stringify(before.options)) next.options = options;
  return next;
}
