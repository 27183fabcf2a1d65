import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { UsageError } from '../core/errors.ts';
import { type CallRow, findCall, type SettleOutcome, settleByOfficer, settleCalls } from '../policies/settle-calls.ts';
import {
  lastPublish,
  loadCalls,
  loadPolicy,
  loadUnknownItems,
  loadWorkingLink,
  type PolicyView,
} from '../policies/show.ts';
import { loadPolicyTexts, type NamedVersion, type TargetTexts } from '../policy-snapshots/stored-texts.ts';
import {
  type CommandIo,
  counted,
  minuteText,
  printable,
  printResult,
  tableText,
  timeText,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { assertPolicyOf, callStateLine, policyIdFrom } from './policy-call.ts';
import { cameText, targetText } from './policy-stored-text.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

/** `policy show`, `policy calls`, `policy settle`: work on what is known here, without asking the service. */
export function registerPolicyShow(policy: CommandUnknownOpts, io: CommandIo): void {
  registerShow(policy, io);

  registerCalls(policy, io);

  registerSettle(policy, io);
}

function registerShow(policy: CommandUnknownOpts, io: CommandIo): void {
  withJson(policy.command('show'))
    .argument('<id>', 'id of the policy')
    .description('show a policy: history, listing by the service, texts, calls about it')
    .option('--source <slug>', 'only this source')
    .action((id, flags) =>
      withContext(async (context) => {
        await settleCalls(context.policies);
        const views = await loadPolicy(context.store.read, id, flags.source);
        const texts = await Promise.all(
          views.map(({ source, listed }) =>
            loadPolicyTexts(context.store.read, { source, policyId: id, policyType: listed?.policy_type ?? null }),
          ),
        );
        const links = await Promise.all(views.map((view) => loadWorkingLink(context.store.read, view)));
        if (views.length === 0) io.exitCode = 1;
        const shown = views.map((view, place) => ({
          ...shownPolicy(view, links[place] ?? null),
          texts: texts[place] ?? [],
        }));
        printResult(io, flags, shown, () =>
          views.length === 0
            ? `Unknown policy ${printable(id)}: run \`consent-ledger policy list\` to fetch the list from the service.`
            : views
                .map((view, place) =>
                  [policyText(view, links[place] ?? null), ...textLines(id, texts[place] ?? [])].join('\n'),
                )
                .join('\n\n'),
        );
      }),
    );
}

function registerCalls(policy: CommandUnknownOpts, io: CommandIo): void {
  withJson(policy.command('calls'))
    .description('list calls that change something at the service, newest first, with who made them and their outcome')
    .option('--source <slug>', 'only this source')
    .option('--open', 'only calls whose outcome is still unknown')
    .option('--limit <number>', 'maximum number of rows', wholeNumberFrom(1), 50)
    .action((flags) =>
      withContext(async (context) => {
        await settleCalls(context.policies);
        const rows = await loadCalls(context.store.read, flags);
        const unknown = await loadUnknownItems(context.store.read, rows);
        const unknownOf = (row: CallRow) => unknown.get(row.request_id) ?? [];
        const shown = rows.map((row) => ({
          ...shownCall(row),
          unknownItems: unknownOf(row).map((position) => position + 1),
        }));
        printResult(io, flags, shown, () =>
          tableText(
            ['sent', 'source', 'what', 'about', 'state', 'HTTP', 'by', 'request'],
            rows.map((row) => [
              minuteText(row.asked_at),
              row.source,
              row.via === 'mcp' ? `${row.operation} (MCP)` : row.operation,
              aboutText(row),
              callStateLine(row, unknownOf(row).length),
              row.http_status,
              row.actor,
              row.request_id,
            ]),
            flags.open === true ? 'The outcome of every call is known.' : 'No calls yet.',
          ),
        );
      }),
    );
}

function registerSettle(policy: CommandUnknownOpts, io: CommandIo): void {
  withJson(policy.command('settle'))
    .argument('<request>', 'request id from `policy calls --open`')
    .description('record the outcome of a call whose outcome is unknown, after checking the service’s dashboard')
    .requiredOption('--as <outcome>', 'created or not-created (for a publish call: published or not-published)')
    .option('--policy <id>', 'id of the generated policy', policyIdFrom)
    .option('--items <numbers>', 'for a batch: only these item numbers of the file, such as 3,4,9')
    .action((requestId, flags) =>
      withContext(async (context) => {
        const call = await findCall(context.store.read, requestId);
        if (call !== null && flags.policy !== undefined) await assertPolicyOf(context, call.source, flags.policy);
        const outcome = await settleByOfficer(context.policies, {
          requestId,
          happened: happenedOf(flags.as),
          actor: COMMAND_LINE_ACTOR,
          policyId: flags.policy,
          positions: flags.items === undefined ? undefined : positionsOf(flags.items),
        });
        if (outcome.outcome !== 'settled') io.exitCode = 1;
        printResult(io, flags, outcome, () => settledText(requestId, flags.as, outcome));
      }),
    );
}

function happenedOf(word: string): boolean {
  if (word === 'created' || word === 'published') return true;
  if (word === 'not-created' || word === 'not-published') return false;
  throw new UsageError(['Invalid --as: use created or not-created, or for a publish call published or not-published.']);
}

function positionsOf(text: string): number[] {
  const numbers = text.split(',').map((part) => (/^ *[1-9]\d{0,6} *$/.test(part) ? Number(part) : 0));
  if (numbers.includes(0))
    throw new UsageError(['Invalid --items: use item numbers from 1, comma-separated, such as 3,4,9.']);
  return numbers.map((number) => number - 1);
}

function settledText(requestId: string, as: string, outcome: SettleOutcome): string {
  switch (outcome.outcome) {
    case 'settled':
      return outcome.left === 0
        ? `Settled as ${as} (entry ${outcome.seq}).`
        : `Settled as ${as} (entry ${outcome.seq}); ${counted(outcome.left, 'item')} of the batch ${outcome.left === 1 ? 'is' : 'are'} still unknown.`;
    case 'unknown-call':
      return `Unknown call ${printable(requestId)}: see \`consent-ledger policy calls --open\`.`;
    case 'conflict':
      return 'Someone else settled this call at the same time: see `consent-ledger policy calls`.';
    case 'not-open':
      return outcome.state === 'sent'
        ? `The response may still arrive. If the process that sent the call has ended, the call counts as unknown from ${outcome.dueAt}: settle it then.`
        : `Nothing to settle: this call is ${outcome.state}.`;
    case 'no-such-item':
      return `The outcome of item ${outcome.positions.map((position) => position + 1).join(', ')} of this batch is already known.`;
  }
}

function aboutText(row: CallRow): string {
  if (row.operation === 'publish') return row.policy_id ?? '';
  if (row.operation === 'bulk')
    return `${counted((JSON.parse(row.positions) as number[]).length, 'item')} of ${row.plan_id}`;
  const what = [row.policy_type, row.jurisdiction, row.language].filter((part) => part !== null).join(', ');
  return row.policy_id === null ? what : `${what}: ${row.policy_id}`;
}

function shownCall(row: CallRow) {
  return {
    requestId: row.request_id,
    source: row.source,
    operation: row.operation,
    via: row.via,
    actor: row.actor,
    askedAt: row.asked_at,
    state: row.state,
    unknownFrom: row.state === 'sent' ? row.due_at : null,
    finishedAt: row.finished_at,
    status: row.http_status,
    error: row.error,
    policyType: row.policy_type,
    jurisdiction: row.jurisdiction,
    language: row.language,
    policyId: row.policy_id,
    planId: row.plan_id,
    settledBy: row.settled_by,
    evidence: row.evidence,
    intentSeq: row.intent_seq,
    answerSeq: row.answer_seq,
  };
}

function shownPolicy(view: PolicyView, link: string | null) {
  const { asked } = view;
  const published = lastPublish(view);
  return {
    source: view.source,
    policyId: view.policyId,
    policyType: view.policy?.policy_type ?? view.listed?.policy_type ?? asked?.policy_type ?? null,
    title: view.policy?.title ?? view.listed?.title ?? null,
    jurisdiction: view.policy?.jurisdiction ?? view.listed?.jurisdiction ?? asked?.jurisdiction ?? null,
    language: view.policy?.language ?? view.listed?.language ?? asked?.language ?? null,
    status: view.policy?.status ?? null,
    url: link ?? view.listed?.url ?? view.policy?.hosted_url ?? published?.hosted_url ?? null,
    listedSince: view.listed?.first_listed_at ?? null,
    goneAt: view.listed?.gone_at ?? null,
    history: view.history.map((row) => ({
      seq: row.seq,
      at: row.at,
      receivedAt: row.received_at,
      change: row.change,
      version: row.version,
    })),
    calls: view.calls.map(shownCall),
  };
}

/** The fetched texts, the newest of each target last. */
function textLines(policyId: string, texts: readonly TargetTexts[]): string[] {
  if (texts.length === 0) return ['  texts     none fetched'];
  const lines = texts.flatMap(({ target, versions }, place) => [
    `  texts     ${targetText(target)}${place === 0 ? '' : besideText(texts[0], versions.at(-1))}`,
    ...versions.map((version) => {
      const isOther = version.policyId !== null && version.policyId !== policyId;
      const more = [
        `entry ${version.firstSeq}`,
        ...(version.settled ? [] : ['provisional']),
        ...(isOther ? [`of another policy, ${version.policyId}`] : []),
      ];
      return `    ${cameText(version)}  ${version.textSha256 ?? 'no text'}  (${more.join(', ')})`;
    }),
  ]);
  return [...lines, `            to read: consent-ledger policy text ${policyId} --at …`].map((line) =>
    printable(line).trimEnd(),
  );
}

/** Whether the embed endpoint shows the same as the public page. */
function besideText(page: TargetTexts | undefined, shown: NamedVersion | undefined): string {
  const own = page?.versions.at(-1);
  if (own === undefined || shown === undefined) return '';
  if (own.textSha256 === shown.textSha256) return ': same text as the public page';
  return `: differs from the public page, compare with policy diff --seq ${own.firstSeq} --seq ${shown.firstSeq}`;
}

function policyText(view: PolicyView, link: string | null): string {
  const facts = shownPolicy(view, link);
  const what = [facts.policyType, facts.jurisdiction, facts.language].filter((part) => part !== null).join(', ');
  const lines = [
    `${view.policyId} of ${view.source}: ${what || 'no details known'}${facts.title === null ? '' : ` (${facts.title})`}`,
    `  address   ${facts.url ?? 'unknown'}`,
    `  listed    ${facts.goneAt !== null ? `no longer since ${timeText(facts.goneAt)}` : timeText(facts.listedSince ?? 'never')}`,
    `  webhooks  ${facts.history.length === 0 ? 'none' : ''}`,
    ...facts.history.map(
      ({ seq, at, change, version }) =>
        `    ${timeText(at)}  ${change}${version === null ? '' : ` version ${version}`}  (entry ${seq})`,
    ),
    `  calls     ${facts.calls.length === 0 ? 'none from here' : ''}`,
    ...view.calls.map(
      (row) =>
        `    ${timeText(row.asked_at)}  ${row.operation} by ${row.actor}: ${callStateLine(row)}  (${row.request_id})`,
    ),
  ];
  return lines.map((line) => printable(line).trimEnd()).join('\n');
}
