import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { indentJson } from '../core/json.ts';
import { loadDescriptions, operationChanges, type StoredDescription } from '../policy-snapshots/openapi-watch.ts';
import { diffTexts, findFetch, loadStoredText } from '../policy-snapshots/stored-texts.ts';
import { type TextVersion, textAt } from '../policy-texts/text-versions.ts';
import {
  type CommandIo,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  timeOf,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { loadTargets, targetText, viaOption } from './policy-stored-text.ts';
import { findSource, withContext } from './run-context.ts';

type DiffFlags = OptionsOf<ReturnType<typeof diffCommand>>;

const seqOf = wholeNumberFrom(1);

/** One of the two texts being compared. */
interface Side {
  readonly target: string;
  readonly seq: number;
  readonly textSha256: string | null;
  /** Null: it was selected by its entry, not by a time. */
  readonly version: TextVersion | null;
  /** The text was changing around the requested time, so the next one may already have been in force. */
  readonly uncertain: boolean;
}

/** `policy diff`: the changes between two stored texts of a policy. */
export function registerPolicyDiff(policy: CommandUnknownOpts, io: CommandIo): void {
  diffCommand(policy).action((policyName, options) =>
    withContext(async (context) => {
      findSource(context, options.source);
      await context.projector.catchUp();
      const [before, after] =
        options.seq === undefined
          ? await chooseByTime(context, policyName, options)
          : await chooseBySeq(context, options);
      const result = await compare(context, options, before, after);
      printResult(io, options, result, () => colour(result.diff) || 'The two texts are identical.');
    }),
  );
}

function diffCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('diff'))
    .description('show what changed in the text of a policy between the last two texts, two times or two entries')
    .argument('<policy>', 'id of the policy, or a policy type of the embed endpoint')
    .option('--source <slug>', 'source', 'default')
    .option(
      '--from <time>',
      'older text: the one in force at this ISO 8601 time or day in TIME_ZONE; default: the last but one',
    )
    .option('--to <time>', 'newer text: the one in force at this time; default: the last one')
    .option('--seq <entry>', 'compare the texts in these entries; use it twice', (text, before: number[] = []) => [
      ...before,
      seqOf(text),
    ])
    .addOption(viaOption())
    .option('--raw', 'compare the stored responses instead of their visible text');
}

async function compare(context: Pick<Context, 'store'>, options: DiffFlags, before: Side, after: Side) {
  const [older, newer] = await Promise.all([before, after].map((side) => loadSide(context, options.source, side)));
  if (older === undefined || newer === undefined) throw new Error('a side of the comparison is missing');
  const compared = diffTexts(older, newer, { raw: options.raw === true });
  if (compared.outcome === 'too-different')
    throw new UsageError([
      'The two texts are too different to compare line by line. Save both with `policy text` and compare the files.',
    ]);
  return { source: options.source, before, after, same: compared.diff === '', diff: compared.diff };
}

async function loadSide(context: Pick<Context, 'store'>, source: string, side: Side) {
  if (side.textSha256 === null)
    throw new UsageError([`Entry ${side.seq} has no text: the service answered that there is none.`]);
  const text = await loadStoredText(context.store.read, source, side.seq);
  if (text === null) throw new UsageError([`The text of entry ${side.seq} was erased.`]);
  const { version, uncertain } = side;
  const seen =
    version === null ? '' : `, seen ${version.firstSeen}${uncertain ? ', changing around the given time' : ''}`;
  return { name: `${targetText(side.target)}, entry ${side.seq}${seen}`, text };
}

async function chooseByTime(
  context: Pick<Context, 'config' | 'store'>,
  policyName: string,
  options: DiffFlags,
): Promise<[Side, Side]> {
  const all = await loadTargets(context, policyName, options);
  // The policy's public page, unless only the embed endpoint has more than one text to compare.
  const { target, versions } = all.find((one) => one.versions.length > 1) ?? all[0];
  const last = versions.at(-1) as TextVersion;
  const sideAt = (text: string, flag: string) =>
    at(target, versions, timeOf(text, flag, context.config.timeZone), `${flag} ${printable(text)}`);
  const to = options.to === undefined ? sideOf(target, last) : sideAt(options.to, '--to');
  if (options.from !== undefined) return [sideAt(options.from, '--from'), to];
  const before = versions[(to.version?.version ?? 1) - 2];
  if (before === undefined)
    throw new UsageError([
      `Only one text of the ${targetText(target)} is stored (entry ${to.seq}, first seen ${to.version?.firstSeen}): nothing to compare it with.`,
    ]);
  return [sideOf(target, before), to];
}

function at(target: string, versions: readonly TextVersion[], time: string, asked: string): Side {
  const found = textAt(versions, time);
  switch (found.outcome) {
    case 'certain':
      return sideOf(target, found.version);
    case 'between':
      return { ...sideOf(target, found.earlier), uncertain: true };
    case 'before-first':
      throw new UsageError([
        `${asked} is before the first stored text (${found.first === null ? 'none stored' : `first seen ${found.first.firstSeen}`}).`,
      ]);
    default:
      return found satisfies never;
  }
}

function sideOf(target: string, version: TextVersion): Side {
  return { target, seq: version.firstSeq, textSha256: version.textSha256, version, uncertain: false };
}

async function chooseBySeq(context: Pick<Context, 'store'>, options: DiffFlags): Promise<[Side, Side]> {
  const [first, second, ...more] = options.seq ?? [];
  if (first === undefined || second === undefined || more.length > 0)
    throw new UsageError(['Use --seq twice: the entry of the older text and that of the newer one.']);
  if (options.from !== undefined || options.to !== undefined)
    throw new UsageError(['Use either times (--from, --to) or entries (--seq), not both.']);
  return [await sideOfEntry(context, options.source, first), await sideOfEntry(context, options.source, second)];
}

async function sideOfEntry(context: Pick<Context, 'store'>, source: string, seq: number): Promise<Side> {
  const fetched = await findFetch(context.store.read, source, seq);
  if (fetched === null)
    throw new UsageError([`Entry ${seq} is not a policy text of source ${printable(source)}: see \`policy show\`.`]);
  return { target: fetched.target, seq, textSha256: fetched.textSha256, version: null, uncertain: false };
}

/** Colours the lines for a terminal; the text cannot rewrite the screen. */
function colour(diff: string): string {
  return diff
    .split('\n')
    .map((line) => {
      const text = printable(line.replaceAll('\t', '  '));
      if (line.startsWith('+')) return pc.green(text);
      if (line.startsWith('-')) return pc.red(text);
      return line.startsWith('@@') ? pc.cyan(text) : text;
    })
    .join('\n')
    .trimEnd();
}

type OpenapiFlags = OptionsOf<ReturnType<typeof openapiCommand>>;

/** `policy openapi`: the stored description of the service's API, and its changes. */
export function registerPolicyOpenapi(policy: CommandUnknownOpts, io: CommandIo): void {
  openapiCommand(policy).action((options) =>
    withContext(async (context) => {
      findSource(context, options.source);
      await context.projector.catchUp();
      const stored = await loadDescriptions(context.store.read, options.source);
      if (stored.length === 0)
        throw new UsageError([
          `No API description is stored for ${printable(options.source)} yet: a server or worker fetches it once a day. Sources with the same address share the description of the first one.`,
        ]);
      if (options.list === true) {
        const rows = stored.map(({ seq, receivedAt, sha256, gone }) => [seq, receivedAt, sha256, gone.join(' ')]);
        return printResult(io, options, stored, () => tableText(['entry', 'seen', 'SHA-256', 'missing'], rows, ''));
      }
      if (options.diff === true) {
        const [before, after] = chooseTwo(stored, options);
        const result = await compareDescriptions(context, options.source, before, after);
        return printResult(io, options, result, () => diffText(result));
      }
      const [seq, ...more] = options.seq ?? [];
      if (more.length > 0) throw new UsageError(['Use --seq once, or add --diff to compare two versions.']);
      const one = seq === undefined ? stored.at(-1) : stored.find((version) => version.seq === seq);
      if (one === undefined) throw noSuchVersion(seq);
      const text = await loadDescription(context, options.source, one);
      printResult(io, options, { ...one, text }, () => text.split('\n').map(printable).join('\n').trimEnd());
    }),
  );
}

function openapiCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('openapi'))
    .description('print the stored OpenAPI description of the service, list its versions, or compare two')
    .option('--source <slug>', 'source', 'default')
    .option('--list', 'list the stored versions')
    .option('--diff', 'show what changed between the last two versions, or the two named by --seq')
    .option('--seq <entry>', 'entry that holds the version; default: the last one', (text, before: number[] = []) => [
      ...before,
      seqOf(text),
    ]);
}

function noSuchVersion(seq: number | undefined): UsageError {
  return new UsageError([`Entry ${seq} is not an API description: see \`policy openapi --list\`.`]);
}

function chooseTwo(
  stored: readonly StoredDescription[],
  { seq = [] }: OpenapiFlags,
): [StoredDescription, StoredDescription] {
  if (seq.length !== 0 && seq.length !== 2)
    throw new UsageError(['Use --seq twice: the entry of the older version and that of the newer one.']);
  const [before, after] =
    seq.length === 0 ? stored.slice(-2) : seq.map((wanted) => stored.find((version) => version.seq === wanted));
  if (before !== undefined && after !== undefined) return [before, after];
  if (seq.length > 0) throw noSuchVersion(before === undefined ? seq[0] : seq[1]);
  throw new UsageError([`Only one version is stored (entry ${before?.seq}): nothing to compare it with.`]);
}

async function compareDescriptions(
  context: Pick<Context, 'store'>,
  source: string,
  before: StoredDescription,
  after: StoredDescription,
) {
  const [older, newer] = [
    await loadDescription(context, source, before),
    await loadDescription(context, source, after),
  ];
  const side = ({ seq, receivedAt, sha256 }: StoredDescription, text: string) => ({
    name: `entry ${seq}, seen ${receivedAt}`,
    text: { seq, bytes: Buffer.from(text), contentType: 'application/json', bodySha256: sha256 },
  });
  const compared = diffTexts(side(before, older), side(after, newer), { raw: true });
  const diff = compared.outcome === 'diff' ? compared.diff : null;
  return { source, before, after, operations: operationChanges(older, newer), diff };
}

function diffText({ operations, diff }: Awaited<ReturnType<typeof compareDescriptions>>): string {
  if (diff === '') return 'The two versions are identical.';
  const { added, removed, changed } = operations;
  const lines = [
    ...removed.map((operation) => `removed  ${operation}`),
    ...added.map((operation) => `added    ${operation}`),
    ...changed.map((operation) => `changed  ${operation}`),
  ].map(printable);
  const head = lines.length === 0 ? ['No operation was added, removed or changed.'] : lines;
  return [...head, '', diff === null ? 'The versions are too different to compare line by line.' : colour(diff)].join(
    '\n',
  );
}

async function loadDescription(
  context: Pick<Context, 'store'>,
  source: string,
  { seq }: StoredDescription,
): Promise<string> {
  const stored = await loadStoredText(context.store.read, source, seq);
  if (stored === null) throw new UsageError([`The description in entry ${seq} was erased.`]);
  return indentJson(stored.bytes.toString('utf8'));
}
