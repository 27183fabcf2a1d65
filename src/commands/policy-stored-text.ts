import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { addDays, startOfDay } from '../core/zoned-days.ts';
import {
  loadPolicyTexts,
  loadReportedChanges,
  loadStoredText,
  type NamedVersion,
  type ReportedChange,
  type TargetTexts,
} from '../policy-snapshots/stored-texts.ts';
import { readPolicyText, withoutTokens } from '../policy-texts/policy-text.ts';
import { HUB } from '../policy-texts/snapshot.ts';
import { inForceBetween } from '../policy-texts/text-versions.ts';
import {
  type CommandIo,
  isDay,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  timeOf,
  timeText,
  withJson,
} from './command-io.ts';
import { findSource, withContext } from './run-context.ts';

type TextFlags = OptionsOf<ReturnType<typeof textCommand>>;

/** The requested time: an instant (a millisecond) or a day. ISO 8601 UTC, `to` exclusive. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly words: string;
}

/** `policy text`: the text that was in force at a given time, for reading. */
export function registerPolicyText(policy: CommandUnknownOpts, io: CommandIo): void {
  textCommand(policy).action((policyName, options) =>
    withContext(async (context) => {
      findSource(context, options.source);
      const asked = askedOf(context, options.at);
      await context.projector.catchUp();
      const [{ target, versions }] = await loadTargets(context, policyName, options);
      const possible = inForceBetween(versions, asked.from, asked.to);
      const [one, ...more] = possible;
      const text = one === undefined || more.length > 0 ? null : await loadText(context, options, one);
      if (text === null) io.exitCode = 1;
      const shown = { source: options.source, policy: policyName, target, from: asked.from, to: asked.to };
      const told = await loadReportedChanges(context.store.read, options.source, target, possible);
      printResult(io, options, { ...shown, possible, told, text }, () => {
        const what = targetText(target);
        if (one === undefined) return noneText(what, asked, versions);
        return more.length > 0 ? severalText(what, asked, possible, told) : oneText(what, asked, one, text);
      });
    }),
  );
}

function textCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('text'))
    .description('print the text of a policy in force at a given time, as fetched')
    .argument('<policy>', 'id of the policy, or a policy type of the embed endpoint')
    .option('--source <slug>', 'source', 'default')
    .option('--at <time>', 'ISO 8601 time, or a day (YYYY-MM-DD in TIME_ZONE); default: now')
    .addOption(viaOption())
    .option('--raw', 'print the stored response instead of its visible text');
}

function askedOf({ clock, config }: Pick<Context, 'clock' | 'config'>, at: string | undefined): Stretch {
  const { timeZone } = config;
  const from = at === undefined ? clock().toISOString() : timeOf(at, '--at', timeZone);
  if (at !== undefined && isDay(at))
    return { from, to: startOfDay(addDays(at, 1), timeZone), words: `on ${at} (${timeZone})` };
  const to = new Date(Date.parse(from) + 1).toISOString();
  return { from, to, words: at === undefined ? 'now' : `at ${from}` };
}

/** Null if it was erased; empty if the service answered 404 or 410. */
async function loadText(
  context: Pick<Context, 'store'>,
  options: TextFlags,
  version: NamedVersion,
): Promise<string | null> {
  if (version.textSha256 === null) return '';
  const stored = await loadStoredText(context.store.read, options.source, version.firstSeq);
  if (stored === null) return null;
  return options.raw === true
    ? withoutTokens(stored.bytes.toString('utf8'))
    : readPolicyText(stored.bytes, stored.contentType).lines.join('\n');
}

function oneText(what: string, asked: Stretch, version: NamedVersion, text: string | null): string {
  const isStill = version.lastSeen < asked.from ? ', nothing newer seen since' : '';
  const isNamed = version.policyId !== null && !what.endsWith(printable(version.policyId));
  const facts = [
    `${what}: in force ${asked.words}`,
    `  appeared   ${cameText(version)}`,
    `  last seen  ${lastText(version)}${isStill}`,
    ...(isNamed ? [`  policy     ${printable(version.policyId ?? '')}`] : []),
    `  SHA-256    ${version.textSha256 ?? 'no text: the service answered that there is none'}`,
    `  entry      ${version.bodySeq}${version.settled ? '' : ' (provisional: seen only soon after a change)'}`,
  ];
  if (text === null) return [...facts, '', 'The text was erased.'].join('\n');
  return [...facts, '', ...text.split('\n').map((line) => printable(line.replaceAll('\t', '  ')))].join('\n').trimEnd();
}

function severalText(
  what: string,
  asked: Stretch,
  possible: readonly NamedVersion[],
  told: readonly ReportedChange[],
): string {
  return [
    `${what}: any of these may have been in force ${asked.words}:`,
    tableText(
      ['entry', 'appeared', 'last seen', 'SHA-256 of the text'],
      possible.map((one) => [one.firstSeq, cameText(one), lastText(one), one.textSha256 ?? 'no text']),
      '',
    ),
    ...told.map(({ seq, at, change, policyId }) => `webhook: ${printable(policyId)} ${change} at ${at} (entry ${seq})`),
    'Use a more exact --at to read one of them, or compare two with `consent-ledger policy diff … --seq … --seq …`.',
  ].join('\n');
}

function noneText(what: string, asked: Stretch, [first]: readonly NamedVersion[]): string {
  return `${what}: the text in force ${asked.words} is unknown; the first one was seen at ${first?.firstSeen ?? 'no time'}.`;
}

/** When a text came into force, as far as known. */
export function cameText({ notBefore, firstSeen }: Pick<NamedVersion, 'notBefore' | 'firstSeen'>): string {
  return notBefore === null
    ? `${timeText(firstSeen)} or before`
    : `between ${timeText(notBefore)} and ${timeText(firstSeen)}`;
}

/** When it was last seen; for a single response, the latest time at which it can have been produced. */
function lastText({ firstSeen, lastSeen }: Pick<NamedVersion, 'firstSeen' | 'lastSeen'>): string {
  return lastSeen < firstSeen ? firstSeen : lastSeen;
}

/** How a text was fetched. */
type Via = 'hosted' | 'embed';

export function viaOption(): Option {
  return new Option('--via <way>', 'the public page or the embed endpoint').choices(['hosted', 'embed']);
}

/** A target in words. */
export function targetText(target: string): string {
  const name = printable(target.slice(target.indexOf(':') + 1));
  if (target.startsWith('hosted:')) return `public page of ${name}`;
  return name === HUB ? 'embed endpoint, list of all (hub)' : `embed endpoint, ${name}`;
}

/** The stored texts of a policy, its public page first, or of a policy type. Throws UsageError if there are none. */
export async function loadTargets(
  context: Pick<Context, 'store'>,
  policyName: string,
  { source, via }: { readonly source: string; readonly via?: Via },
): Promise<readonly [TargetTexts, ...TargetTexts[]]> {
  const { read } = context.store;
  const byId = await loadPolicyTexts(read, { source, policyId: policyName });
  const all = byId.length > 0 ? byId : await loadPolicyTexts(read, { source, policyId: null, policyType: policyName });
  const [first, ...more] = all.filter(({ target }) => via === undefined || target.startsWith(`${via}:`));
  if (first === undefined)
    throw new UsageError([
      `No text of ${printable(policyName)} is stored: fetch it with \`consent-ledger policy snapshot --policy …\`.`,
    ]);
  return [first, ...more];
}
