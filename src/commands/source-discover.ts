import { setTimeout as delay } from 'node:timers/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { type Discovery, discover, type EventDiscovery, effectsOfMapping } from '../../receivers/discover/discover.ts';
import { alteringIn, type Effects } from '../../receivers/discover/effects.ts';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { changePhrase } from '../core/reading-change.ts';
import type { FieldMapping } from '../sources/changes.ts';
import {
  countDeliveriesAfter,
  doubtfulPaths,
  type Gathered,
  gatherSamples,
  isEmptyProposal,
  lastDelivery,
  loadProposal,
  proposalFrom,
  saveProposal,
} from '../sources/discovery.ts';
import {
  type CommandIo,
  counted,
  durationFrom,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, changedMeanwhile, findSource, withContext } from './run-context.ts';

type DiscoverFlags = OptionsOf<ReturnType<typeof discoverCommand>>;

/** `source discover`: how a sender writes its payloads, and the mapping that reads them. */
export function registerSourceDiscover(source: CommandUnknownOpts, io: CommandIo): void {
  discoverCommand(source).action((slug, options) =>
    withContext(async (context) => {
      const one = findSource(context, slug);
      if (options.accept !== undefined) return accept(context, io, slug, options);
      const waited = await listen(context, io, slug, options);
      const { samples, headers, encodings, refused, notes } = await gatherSamples(
        { store: context.store, rejected: context.rejected, clock: context.clock, serviceFor: context.sync.serviceFor },
        one,
      );
      const { including = [] } = options;
      const found = discover(samples, one.options, including);
      const unknown = including.filter((path) => !doubtfulPaths(found.events).includes(path));
      if (unknown.length > 0)
        throw new UsageError([
          `--including: ${unknown.map(printable).join(', ')}: not among the fields that were left out. Use the names that \`source discover ${slug}\` shows after “not in the proposal”.`,
        ]);
      const proposal = proposalFrom(slug, found, encodings, including);
      const isEmpty = isEmptyProposal(proposal);
      if (!isEmpty) await saveProposal(context.store, slug, proposal);
      const document = {
        source: slug,
        arrivedMeanwhile: waited,
        headers,
        refusedNotLookedAt: refused,
        notes,
        ...found,
        proposal: isEmpty ? null : proposal,
      };
      printResult(io, options, document, () => text(slug, document, found));
    }),
  );
}

function discoverCommand(source: CommandUnknownOpts) {
  return withJson(source.command('discover'))
    .argument('<slug>', 'source slug')
    .description(
      'examine the fields that a source sends (values masked), show which are understood, and propose a mapping for the others',
    )
    .option('--for <duration>', 'first wait this long for deliveries to a running server, e.g. 10m', durationFrom)
    .option(
      '--deliveries <n>',
      'wait until this many deliveries have arrived, not counting test events',
      wholeNumberFrom(1),
    )
    .option(
      '--including <path...>',
      'also propose these fields, which change how payloads are read that are already understood',
    )
    .option('--accept [proposal]', 'apply the proposal shown last (or the one with this id) from now on')
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR);
}

async function accept(
  context: Pick<Context, 'store' | 'sources' | 'rejected' | 'clock'>,
  io: CommandIo,
  slug: string,
  options: DiscoverFlags,
): Promise<void> {
  const proposal = await loadProposal(context.store.read, slug);
  if (proposal === null) throw new UsageError([`No proposal for ${slug} yet: run \`source discover ${slug}\` first.`]);
  if (options.accept !== true && options.accept !== proposal.proposalId)
    throw new UsageError([
      `The latest proposal for ${slug} is ${proposal.proposalId}: run \`source discover ${slug}\` again and review it.`,
    ]);
  await assertStillHolds(context, slug, proposal);
  const outcome = await context.sources.acceptMapping(slug, proposal, options.officer);
  switch (outcome.outcome) {
    case 'done':
      return printResult(
        io,
        options,
        { outcome: 'accepted', source: slug, seq: outcome.seq, proposal },
        () =>
          `${pc.green('✓')} ${slug} now uses proposal ${proposal.proposalId}, accepted by ${printable(options.officer)}, recorded as entry ${outcome.seq}.\nTo read earlier deliveries again, run \`consent-ledger ledger rebuild --reread ${slug}\`${Object.keys(proposal.secretEncodings).length > 0 ? `; for refused deliveries, \`consent-ledger delivery readmit --source ${slug}\`` : ''}.`,
      );
    case 'unchanged':
      return printResult(
        io,
        options,
        { outcome: 'unchanged' },
        () => `Nothing to do: ${slug} already uses this proposal.`,
      );
    case 'invalid':
      throw new UsageError(outcome.problems);
    case 'unknown':
    case 'exists':
    case 'configured':
    case 'conflict':
      io.exitCode = 1;
      return printResult(io, options, { outcome: outcome.outcome }, () => `${pc.red('✗')} ${changedMeanwhile(slug)}`);
    default:
      return outcome satisfies never;
  }
}

/** Judges a proposal on what arrived since; throws UsageError if it changes what is understood without a decision to do so. */
async function assertStillHolds(
  context: Pick<Context, 'store' | 'sources' | 'rejected' | 'clock'>,
  slug: string,
  proposal: FieldMapping,
): Promise<void> {
  if (proposal.including.length > 0) return;
  const { store, rejected, clock } = context;
  const source = findSource(context, slug);
  const { samples } = await gatherSamples({ store, rejected, clock, serviceFor: null }, source);
  const altering = alteringIn(effectsOfMapping(samples, source.options, proposal));
  if (altering.length > 0)
    throw new UsageError([
      `With what has arrived since, ${altering.map(({ change, count }) => changePhrase(change, count)).join(', ')}: run \`source discover ${slug}\` again and review it.`,
    ]);
}

/** Waits for deliveries to any server on the same database: ledger and ring contain them. */
async function listen(
  context: Pick<Context, 'store' | 'rejected'>,
  io: CommandIo,
  slug: string,
  options: DiscoverFlags,
): Promise<number> {
  if (options.for === undefined && options.deliveries === undefined) return 0;
  const { store, rejected } = context;
  let kept = { count: 0, upTo: await lastDelivery(store.read, slug) };
  const known = new Set((await rejected.list({ source: slug })).map(({ id }) => id));
  const arrived = async () => {
    const { count: more, upTo } = await countDeliveriesAfter(store.read, slug, kept.upTo);
    kept = { count: kept.count + more, upTo };
    return kept.count + (await rejected.list({ source: slug })).filter(({ id }) => !known.has(id)).length;
  };
  const stop = new AbortController();
  void io.untilStopped().then(() => stop.abort());
  const end = options.for === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.for;
  io.stderr.write(`Listening for deliveries to ${slug} …\n`);
  let count = 0;
  while (!stop.signal.aborted && Date.now() < end && count < (options.deliveries ?? Number.POSITIVE_INFINITY)) {
    await delay(Math.min(1000, Math.max(0, end - Date.now())), undefined, { signal: stop.signal }).catch(
      () => undefined,
    );
    const now = await arrived();
    if (now > count) io.stderr.write(`${counted(now, 'delivery', 'deliveries')}\n`);
    count = now;
  }
  return count;
}

function text(
  slug: string,
  {
    headers,
    refusedNotLookedAt,
    notes,
    proposal,
  }: Pick<Gathered, 'headers' | 'notes'> & {
    readonly refusedNotLookedAt: number;
    readonly proposal: FieldMapping | null;
  },
  found: Discovery,
): string {
  return [
    ...(headers.length === 0
      ? []
      : [
          pc.bold('Headers'),
          tableText(
            ['name', 'times', 'values'],
            headers.map(({ name, count, shapes }) => [name, count, shapes.join(' | ')]),
            '',
          ),
          '',
        ]),
    discoveryText(found),
    ...(refusedNotLookedAt > 0
      ? [
          `! ${counted(refusedNotLookedAt, 'refused delivery matches', 'refused deliveries match')} no secret in any encoding and could not be used: run \`delivery diagnose\` for the reason.`,
        ]
      : []),
    ...notes.map((note) => `! ${printable(note)}`),
    ...(proposal === null
      ? ['Nothing to propose.']
      : [
          ...Object.entries(proposal.secretEncodings).map(
            ([id, encoding]) => `The signing secret ${id} matches when decoded as ${encoding}.`,
          ),
          ...Object.entries(proposal.eventNames).map(
            ([given, documented]) => `“${printable(given)}” seems to be ${documented}.`,
          ),
          `In the payloads examined: ${effectsText(found.effects)}`,
          `${pc.bold(`Proposal ${proposal.proposalId}`)}: apply it with \`consent-ledger source discover ${slug} --accept ${proposal.proposalId}\`. Review it first: a wrong mapping is worse than none.`,
        ]),
  ].join('\n');
}

/** What was found in a source's payloads, for people. Contains shapes but no values. */
function discoveryText({ samples, notJson, events }: Discovery): string {
  if (samples === 0) return 'No deliveries and no rows yet: wait for some with --for 10m, or pull rows with `sync`.';
  return [
    ...(notJson > 0
      ? [`${counted(notJson, 'body is', 'bodies are')} not a JSON object and could not be examined.`]
      : []),
    ...events.map(eventText),
  ].join('\n\n');
}

function eventText({
  event,
  samples,
  platforms,
  alwaysGranted,
  paths,
  understood,
  missing,
  unread,
  proposals,
}: EventDiscovery): string {
  const name = event === 'row' ? 'Rows of the consent log' : event === null ? 'Unknown events' : event;
  return [
    pc.bold(`${printable(name)} (${samples})`),
    tableText(
      ['field', 'in', 'different', 'values look like'],
      paths.map(({ path, present, distinct, shapes }) => [path, present, distinct, shapes.join(' | ')]),
      'No fields.',
    ),
    ...platforms.map(({ name: one, count }) => `${pc.green('✓')} looks like ${one}: ${count} of ${samples}`),
    ...alwaysGranted.map(
      ({ purpose, count }) =>
        `${pc.yellow('?')} ${printable(purpose)} is granted in all ${count} payloads that name it, while others are refused: if it needs no consent, say so with --necessary-purpose ${printable(purpose)} (\`source change\`)`,
    ),
    ...(understood.length > 0 ? [`${pc.green('✓')} understood: ${understood.join(', ')}`] : []),
    ...(missing.length > 0 ? [`· not in all of them: ${missing.join(', ')}`] : []),
    ...(unread.length > 0 ? [`· not read: ${unread.map(printable).join(', ')}`] : []),
    ...proposals.map(
      ({ what, field, path, because, foundBefore, foundAfter, effects, doubt }) =>
        `${pc.yellow('→')} ${what} (${field}) seems to be in ${printable(path)}: ${because.join(', ')}; found in ${foundAfter} of ${samples} instead of ${foundBefore}${
          doubt === null
            ? ''
            : `\n  ${pc.red('not in the proposal')}: ${doubt}; add --including ${printable(path)} only if you are sure\n  ${effectsText(effects)}`
        }`,
    ),
  ].join('\n');
}

/** `21 refusals would become consent.` and up to three examples. */
export function effectsText({ changes, examples }: Effects): string {
  if (changes.length === 0) return 'no choice, time or visitor that is read now would change.';
  return [
    `${changes.map(({ change, count }) => changePhrase(change, count)).join(', ')}.`,
    ...examples.map(
      ({ seq, before, after }) =>
        `  ${seq === null ? 'not stored' : `entry ${seq}`}: read now: ${printable(before)} | would be read: ${printable(after)}`,
    ),
  ].join('\n');
}
