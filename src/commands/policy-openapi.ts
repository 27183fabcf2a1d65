import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { UsageError } from '../core/errors.ts';
import { diffTexts } from '../snapshots/diff.ts';
import { loadDescriptions, operationChanges, type StoredDescription } from '../snapshots/openapi-watch.ts';
import { loadStoredText } from '../snapshots/texts.ts';
import { type CommandIo, printable, printResult, tableText, wholeNumberFrom, withJson } from './command-io.ts';
import { colour } from './policy-diff.ts';
import { assertSource } from './policy-targets.ts';
import { withContext } from './run-context.ts';

interface OpenapiFlags {
  readonly source: string;
  readonly seq?: readonly number[];
  readonly diff?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
}

/** `policy openapi`: the service's description of its API as it was stored, and what changed in it. */
export function registerPolicyOpenapi(policy: Command, io: CommandIo): void {
  const seqOf = wholeNumberFrom(1);
  withJson(policy.command('openapi'))
    .description('print the stored OpenAPI description of the service, list its versions, or compare two')
    .option('--source <slug>', 'source', 'default')
    .option('--list', 'list the stored versions')
    .option('--diff', 'show what changed between the last two versions, or the two named by --seq')
    .option('--seq <entry>', 'entry that holds the version; default: the last one', (text, before: number[] = []) => [
      ...before,
      seqOf(text),
    ])
    .action((options: OpenapiFlags) =>
      withContext(async (context) => {
        assertSource(context, options.source);
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
          const result = await compare(context, options.source, before, after);
          return printResult(io, options, result, () => diffText(result));
        }
        const [seq, ...more] = options.seq ?? [];
        if (more.length > 0) throw new UsageError(['Use --seq once, or add --diff to compare two versions.']);
        const one = seq === undefined ? stored.at(-1) : stored.find((version) => version.seq === seq);
        if (one === undefined) throw noSuchVersion(seq);
        const text = await loadText(context, options.source, one);
        printResult(io, options, { ...one, text }, () => text.split('\n').map(printable).join('\n').trimEnd());
      }),
    );
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

async function compare(context: Context, source: string, before: StoredDescription, after: StoredDescription) {
  const [older, newer] = [await loadText(context, source, before), await loadText(context, source, after)];
  const side = ({ seq, receivedAt, sha256 }: StoredDescription, text: string) => ({
    name: `entry ${seq}, seen ${receivedAt}`,
    text: { seq, bytes: Buffer.from(text), contentType: 'application/json', bodySha256: sha256 },
  });
  const compared = diffTexts(side(before, older), side(after, newer), { raw: true });
  const diff = compared.outcome === 'diff' ? compared.diff : null;
  return { source, before, after, operations: operationChanges(older, newer), diff };
}

function diffText({ operations, diff }: Awaited<ReturnType<typeof compare>>): string {
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

async function loadText(context: Context, source: string, { seq }: StoredDescription): Promise<string> {
  const stored = await loadStoredText(context.store.read, source, seq);
  if (stored === null) throw new UsageError([`The description in entry ${seq} was erased.`]);
  const text = stored.bytes.toString('utf8');
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
