import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { sideBySide } from '../core/side-by-side.ts';
import { isCallable } from '../policies/callable-source.ts';
import {
  type Disagreement,
  fetchPolicyList,
  findDisagreements,
  type ListedRow,
  type ListOutcome,
  listedPolicyKey,
  loadCatalogue,
  loadListedLinks,
} from '../policies/list.ts';
import { settleCalls } from '../policies/settle-calls.ts';
import {
  type CommandIo,
  counted,
  createProgress,
  dayText,
  minuteText,
  printable,
  printResult,
  tableText,
  withJson,
} from './command-io.ts';
import { registerPolicyBulk } from './policy-bulk.ts';
import { registerPolicyGenerate } from './policy-generate.ts';
import { registerPolicyPublish } from './policy-publish.ts';
import { registerPolicyShow } from './policy-show.ts';
import { registerPolicySnapshots } from './policy-snapshot.ts';
import { registerPolicyText } from './policy-stored-text.ts';
import { COMMAND_LINE_ACTOR, findSource, withContext } from './run-context.ts';

/** `policy …`: commands for the service (generate, bulk, list, publish) and for what is known of each policy. */
export function registerPolicy(program: CommandUnknownOpts, io: CommandIo): void {
  const policy = program
    .command('policy')
    .description('policies at the service: generate, publish, list, texts and their changes');
  registerPolicyGenerate(policy, io);
  registerPolicyBulk(policy, io);
  registerPolicyList(policy, io);
  registerPolicyPublish(policy, io);
  registerPolicyShow(policy, io);
  registerPolicySnapshots(policy, io);
  registerPolicyText(policy, io);
}

/** Sources asked concurrently: hundreds one by one would take minutes, and all at once would look like an attack. */
const AT_ONCE = 4;

/**
 * `policy list`: requests the published policies from the service and stores them in the local catalogue
 * (docs/service.md §4.3).
 */
function registerPolicyList(policy: CommandUnknownOpts, io: CommandIo): void {
  withJson(policy.command('list'))
    .description(
      'list the published policies of every source (or one): fetches the list from the service and stores it',
    )
    .option('--source <slug>', 'only this source')
    .option('--local', 'show the stored list without asking the service')
    .option('--gone', 'include policies that the service no longer lists')
    .action((flags) =>
      withContext(async (context) => {
        const { source: slug } = flags;
        const one = slug === undefined ? null : findSource(context, slug);
        const stop = new AbortController();
        void io.untilStopped().then(() => stop.abort(new Error('stopped')));
        const progress = createProgress(io, 'sources asked');
        const sources = one === null ? context.sources.list().filter(isCallable) : [one];
        let answered = 0;
        const asked = await sideBySide(
          flags.local === true ? [] : sources,
          AT_ONCE,
          async (source): Promise<SourceList> => {
            if (sources.length > 1) progress.report(answered, sources.length);
            const request = { source, actor: COMMAND_LINE_ACTOR, signal: stop.signal };
            const outcome = await fetchPolicyList(context.policies, request);
            answered += 1;
            return { source: source.slug, ...outcome };
          },
        );
        progress.end();
        // A list may reveal the outcome of a publish that is still unknown.
        await settleCalls(context.policies);
        const rows = await loadCatalogue(context.policies, { source: slug, gone: flags.gone });
        const disagreements = await findDisagreements(context.store.read, {
          timeZone: context.config.timeZone,
          source: slug,
        });
        const links = await loadListedLinks(context.store.read, rows);
        const addressOf = (row: ListedRow) => links.get(listedPolicyKey(row.source, row.policy_id)) ?? row.url;
        if (asked.some(({ outcome }) => outcome === 'failed' || outcome === 'not-configured')) io.exitCode = 1;
        printResult(io, flags, { asked, policies: rows.map((row) => shown(row, addressOf(row))), disagreements }, () =>
          textOf(asked, rows, addressOf, disagreements),
        );
      }),
    );
}

function shown(row: ListedRow, url: string | null) {
  return {
    source: row.source,
    policyId: row.policy_id,
    policyType: row.policy_type,
    title: row.title,
    jurisdiction: row.jurisdiction,
    language: row.language,
    updatedAt: row.updated_at,
    url,
    firstListedAt: row.first_listed_at,
    goneAt: row.gone_at,
  };
}

type SourceList = { readonly source: string } & ListOutcome;

function textOf(
  asked: readonly SourceList[],
  rows: readonly ListedRow[],
  addressOf: (row: ListedRow) => string | null,
  disagreements: readonly Disagreement[],
): string {
  const table = tableText(
    ['source', 'type', 'jurisdiction', 'language', 'updated', 'id', 'address'],
    rows.map((row) => [
      row.source,
      row.policy_type,
      row.jurisdiction,
      row.language,
      row.gone_at === null
        ? row.updated_at === null
          ? null
          : minuteText(row.updated_at)
        : `gone ${dayText(row.gone_at)}`,
      row.policy_id,
      addressOf(row),
    ]),
    'No published policies.',
  );
  const notes = asked.flatMap((one) => {
    switch (one.outcome) {
      case 'stored':
        return [
          `${one.source}: ${counted(one.policies, 'published policy', 'published policies')}, stored as a new list${partText(one)}`,
        ];
      case 'unchanged':
        return [`${one.source}: unchanged since the list of ${minuteText(one.since)}${partText(one)}`];
      case 'failed':
      case 'not-configured':
        return [
          `${one.source}: could not fetch the list; the rows shown are from the last one. ${printable(one.reason)}`,
        ];
    }
  });
  for (const { source, sentence } of disagreements) notes.push(`${source}: ${printable(sentence)}`);
  return [table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function partText({ whole }: { readonly whole: boolean }): string {
  return whole
    ? ''
    : '. The service says that this list is incomplete: policies it leaves out are shown as before, and none is marked as gone';
}
