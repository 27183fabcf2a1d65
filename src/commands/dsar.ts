import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { z } from 'zod';
import { partsOfAssignee, readAssignee } from '../cases/assignee.ts';
import { findCase, listCases, type ShownCase, showCase } from '../cases/list-cases.ts';
import { threadOf } from '../cases/messages.ts';
import { moveCase, type OpenCaseInput, openCase } from '../cases/move-case.ts';
import { caseStates, moves, withTimesIn } from '../cases/moves.ts';
import { type CaseSummary, summariseCase } from '../cases/summarise.ts';
import type { CaseWriting } from '../cases/view.ts';
import { purposeWord } from '../consent/look-up.ts';
import type { Context } from '../context/context.ts';
import { isoNow } from '../core/clock.ts';
import { UsageError, unknownCase } from '../core/errors.ts';
import { languageText } from '../core/language.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { listPeople } from '../people/people.ts';
import {
  type CommandIo,
  printable,
  printResult,
  readDetails,
  readField,
  readVersion,
  tableText,
  timeOf,
  timeOrDay,
  timeText,
  withJson,
} from './command-io.ts';
import { dsarDescription, registerDeadline } from './deadline.ts';
import { registerDsarLetter, registerDsarPack } from './dsar-documents.ts';
import { registerHandOver } from './dsar-hand-over.ts';
import { registerTask } from './dsar-task.ts';
import { COMMAND_LINE_ACTOR, findSource, withCaughtUp } from './run-context.ts';

/** `dsar list|show|open|move|letter|pack|hand-over|task`: data subject requests as cases. */
export function registerDsar(program: CommandUnknownOpts, io: CommandIo): void {
  const dsar = program.command('dsar').description(dsarDescription);

  registerList(dsar, io);

  withJson(dsar.command('show'))
    .description('show one case: deadline, what is missing, history')
    .argument('<case>', 'case id')
    .action((caseId, options) => withCases((deps) => printCase(io, deps, caseId, options)));

  registerOpen(dsar, io);

  registerMove(dsar, io);
  registerDeadline(dsar, io);
  registerDsarLetter(dsar, io);
  registerDsarPack(dsar, io);
  registerHandOver(dsar, io);
  registerTask(dsar, io);
}

function registerList(dsar: CommandUnknownOpts, io: CommandIo): void {
  withJson(dsar.command('list'))
    .description('list cases with their deadlines, most urgent first')
    .option('--source <slug>', 'only this source')
    .addOption(new Option('--state <state>', 'only cases in this state').choices(caseStates))
    .option(
      '--assignee <who>',
      'only cases assigned to this account (id, name or e-mail address) or name; `nobody`: unassigned ones',
    )
    .option('--open', 'only cases whose requester is still waiting')
    .option('--open-messages', 'only cases with a message of the requester that nobody has answered yet')
    .option('--since <time>', `only requests received since ${timeOrDay}`)
    .option('--search <text>', 'only cases with this text in a name, an address, a number or an id')
    .action((options) =>
      withCases(async (deps, context) => {
        const { config } = context;
        const { source, state, open, openMessages, since, search, assignee } = options;
        const from = since === undefined ? '' : timeOf(since, '--since', config.timeZone);
        const found = await listCases(deps, {
          ...(source ? { source } : {}),
          ...(state ? { state } : {}),
          ...(open ? { open } : {}),
          ...(openMessages ? { openMessages } : {}),
          ...(assignee === undefined ? {} : { assignee: await assigneeIn(context, assignee) }),
          ...(search ? { text: search } : {}),
          now: isoNow(deps.clock),
        });
        const cases = found.filter(({ row }) => row.receipt_at >= from).map(summariseCase);
        printResult(io, options, cases, () => listText(cases));
      }),
    );
}

/** As the page and the API filter: null for unassigned requests, the id of an account, or the text that names someone without one. */
async function assigneeIn(context: Pick<Context, 'store'>, given: string): Promise<string | null> {
  const wanted = given.trim();
  if (wanted === 'nobody') return null;
  if (wanted === 'me')
    throw new UsageError([
      'The command line has no account: instead of `me`, use the id, name or e-mail address of your account.',
    ]);
  return partsOfAssignee(readAssignee(wanted, await listPeople(context))).personId ?? wanted;
}

function registerOpen(dsar: CommandUnknownOpts, io: CommandIo): void {
  withJson(dsar.command('open'))
    .description('record a request received by letter, e-mail, telephone or in person')
    .requiredOption(
      '--received <time>',
      `when the request arrived through any channel: ${timeOrDay}, e.g. 2026-07-01T14:02Z or 2026-07-01`,
    )
    .addOption(new Option('--kind <kind>', 'kind of request').choices(requestKinds).makeOptionMandatory())
    .requiredOption('--channel <channel>', 'how it arrived: letter, mail, telephone …')
    .option('--source <slug>', 'source that the request concerns', 'default')
    .option('--jurisdiction <code>', 'where the requester is: ISO 3166 code such as DE, GB or US-CA, or EU')
    .option(
      '--language <code>',
      'language of the requester (BCP 47), such as de; letters are written in it. Default: not-known; letters then ask',
    )
    .option('--name <name>', 'name of the requester')
    .option('--email <address>', 'e-mail address of the requester')
    .option('--address <lines>', 'postal address of the requester without the name, lines separated by |')
    .option('--subject <id>', 'the id that the requester copied from their browser')
    .option('--message <text>', 'the request in the requester’s words')
    .option('--reference <text>', 'your reference; repeating it does not open a second case')
    .action((options) =>
      withCases(async (deps, context) => {
        findSource(context, options.source);
        const opened = await openCase(deps, openingOf(options, context.config.timeZone));
        if (opened.outcome === 'refused') throw new UsageError(opened.problems.map(namingFlag));
        await context.projector.catchUp();
        await printCase(io, deps, opened.caseId, options);
      }),
    );
}

function registerMove(dsar: CommandUnknownOpts, io: CommandIo): void {
  withJson(dsar.command('move'))
    .description('move a case to its next state')
    .argument('<case>', 'case id')
    .argument('<move>', `one of ${Object.keys(moves).join(', ')}`)
    .argument('[field=value...]', 'details of the move, e.g. channel=e-mail; below are the fields of each move')
    .option('--details <json>', 'details of the move as a JSON object', '{}')
    .option('--purposes <names>', 'for an answer that ends consent: only these purposes, comma-separated')
    .option('--based-on <version>', 'refuse if the case has a newer version than this')
    .addHelpText(
      'after',
      () => `
Fields of each move, optional ones in brackets:
${moveFieldsText()}

Example: confirm the receipt
  $ consent-ledger dsar move default-3 acknowledge channel=e-mail

Example: answer the messages of the requester, who reads the reply on the page of their link and is told of it by mail; or record that none is needed
  $ consent-ledger dsar move default-3 reply text="We hold no other data."
  $ consent-ledger dsar move default-3 no-reply reason="answered by phone"

Example: an erasure with an exception for what the law requires to be kept (outcome: done, partly or refused; partly and refused need a ground):
  $ consent-ledger dsar move default-3 answer --details '{"channel":"e-mail","disclosure":"categories-only","parts":[
      {"what":"newsletter profile","outcome":"done"},
      {"what":"proof of consent","outcome":"refused","ground":"GDPR Art. 17(3)(e): needed for legal claims"}]}'

Answering a request to withdraw consent, opt out or object ends the subject’s consent if the subject was matched: for every purpose, or
for the purposes named, at the time of the answer or earlier:
  $ consent-ledger dsar move default-4 answer --purposes marketing,analytics --details '{"channel":"e-mail","disclosure":"categories-only","effectiveAt":"2026-07-01T09:00:00Z"}'`,
    )
    .action((caseId, move, fields, options) =>
      withCases(async (deps, context) => {
        const basedOn = options.basedOn === undefined ? await versionOf(deps, caseId) : readVersion(options.basedOn);
        const purposes = options.purposes?.split(',').map((purpose) => purpose.trim());
        const given = {
          ...readDetails(options.details),
          ...Object.fromEntries(fields.map(readField)),
          ...(purposes === undefined ? {} : { purposes }),
        };
        const details = withTimesIn(move, given, context.config.timeZone);
        const moved = await moveCase(deps, { caseId, basedOn, move, details, actor: COMMAND_LINE_ACTOR });
        switch (moved.outcome) {
          case 'moved':
            await context.projector.catchUp();
            return printCase(io, deps, caseId, {
              ...options,
              ...(move === 'reply' ? { reach: await reachOf(context, caseId) } : {}),
            });
          case 'refused':
            throw new UsageError(moved.problems);
          case 'not-found':
            throw new UsageError([unknownCase(printable(caseId))]);
          case 'conflict':
            io.exitCode = 1;
            return printResult(
              io,
              options,
              moved,
              () =>
                `${pc.red('✗')} ${caseId} is now at version ${moved.version}: review it with \`dsar show ${caseId}\`.`,
            );
          default:
            return moved satisfies never;
        }
      }),
    );
}

type OpenFlags = Readonly<Record<'received' | 'kind' | 'channel' | 'source', string>> &
  Readonly<
    Partial<
      Record<'jurisdiction' | 'language' | 'name' | 'email' | 'address' | 'subject' | 'message' | 'reference', string>
    >
  >;

/** A problem with a field of the request, with the flag in its place. */
function namingFlag(problem: string): string {
  const flags: Readonly<Record<string, string>> = {
    receivedAt: 'received',
    requesterName: 'name',
    requesterEmail: 'email',
    requesterAddress: 'address',
  };
  return problem.replace(/^(\w+): /, (_, field: string) => `--${flags[field] ?? field}: `);
}

function openingOf(flags: OpenFlags, timeZone: string): OpenCaseInput {
  return {
    source: flags.source,
    actor: COMMAND_LINE_ACTOR,
    receivedAt: timeOf(flags.received, '--received', timeZone),
    kind: flags.kind as OpenCaseInput['kind'],
    channel: flags.channel,
    jurisdiction: flags.jurisdiction ?? null,
    language: flags.language ?? null,
    requesterName: flags.name ?? null,
    requesterEmail: flags.email ?? null,
    requesterAddress: flags.address?.split(/\s*\|\s*/).join('\n') ?? null,
    subject: flags.subject ?? null,
    message: flags.message ?? null,
    ...(flags.reference === undefined ? {} : { reference: flags.reference }),
  };
}

/** Opens the installation and brings its read models up to date, so that recent appends are visible. */
function withCases<T>(
  work: (
    deps: CaseWriting,
    context: Pick<Context, 'config' | 'store' | 'sources' | 'projector' | 'clock' | 'cases'>,
  ) => Promise<T>,
): Promise<T> {
  return withCaughtUp(async (context) => {
    return work(context.cases, context);
  });
}

async function versionOf(deps: CaseWriting, caseId: string): Promise<number> {
  const shown = await showCase(deps, caseId, isoNow(deps.clock));
  if (shown === null) throw new UsageError([unknownCase(printable(caseId))]);
  return shown.view.row.version;
}

/** The details that `dsar move` accepts for each move, from its schema. */
function moveFieldsText(): string {
  return Object.entries(moves)
    .map(([name, { details }]) => {
      const fields = Object.entries<z.ZodType>(details.shape).map(([field, schema]) =>
        schema.safeParse(undefined).success ? `[${field}]` : field,
      );
      return `  ${name.padEnd(22)}${fields.join(' ')}`.trimEnd();
    })
    .join('\n');
}

/** How a reply reaches the requester, in words. Loaded here: other commands do not need it. */
async function reachOf(
  context: Pick<Context, 'store' | 'clock' | 'cases' | 'config'>,
  caseId: string,
): Promise<string> {
  const { loadReplyReach } = await import('../hand-over/mail-reply.ts');
  const row = await findCase(context.store.read, caseId);
  return (await loadReplyReach(context, { caseId, email: row?.requester_email ?? null })).says;
}

/** `reach`: how the reply that was just recorded reaches the requester. */
async function printCase(
  io: CommandIo,
  deps: CaseWriting,
  caseId: string,
  options: { json?: boolean; reach?: string },
): Promise<void> {
  const shown = await showCase(deps, caseId, isoNow(deps.clock));
  if (shown === null) throw new UsageError([unknownCase(printable(caseId))]);
  const summary = summariseCase(shown.view);
  const { match, readiness, disclosure, sameAs, consentAfter } = shown;
  const history = shown.history.map(({ seq, received_at, version, move, from_state, to_state, actor, details }) => ({
    seq,
    recordedAt: received_at,
    version,
    move,
    fromState: from_state,
    toState: to_state,
    actor,
    details: JSON.parse(details) as unknown,
  }));
  printResult(
    io,
    options,
    {
      ...summary,
      match,
      readiness,
      disclosure,
      sameAs,
      consentAfter,
      thread: threadOf(shown.history),
      ...(options.reach === undefined ? {} : { reach: options.reach }),
      history,
    },
    () => [...(options.reach === undefined ? [] : [printable(options.reach), '']), caseText(summary, shown)].join('\n'),
  );
}

function listText(cases: readonly CaseSummary[]): string {
  return tableText(
    ['case', 'kind', 'law', 'state', 'assigned to', 'aim for', 'legal limit', 'left'],
    cases.map((one) => [
      one.caseId,
      kindsOf(one).join(' + '),
      one.regime ?? '–',
      one.openMessages === 0 ? one.state : `${one.state}, message open`,
      one.assignee === null ? '–' : partsOfAssignee(one.assignee).name,
      one.aimFor ?? '–',
      dueText(one),
      leftText(one),
    ]),
    'No requests.',
  );
}

/** Every right asked for. */
function kindsOf({ kind, parts }: CaseSummary): readonly string[] {
  return parts.length === 0 ? [kind] : parts.map((part) => part.kind);
}

function dueText({ legalLimit, atOnce, ownRule, caveat, ownTarget }: CaseSummary): string {
  const target = ownTarget === null ? '' : ` (your own target: ${ownTarget})`;
  if (legalLimit === null) return `${caveat ?? ''}${target}`;
  const known = `${legalLimit}${atOnce ? ' (immediately)' : ''}${ownRule ? ' (own rule)' : ''}`;
  return `${known}${caveat === null ? '' : ` (${caveat})`}${target}`;
}

function leftText({ daysLeft }: CaseSummary): string {
  if (daysLeft === null) return '–';
  if (daysLeft < 0) return `${-daysLeft} ${daysLeft === -1 ? 'day' : 'days'} late`;
  return daysLeft === 0 ? 'today' : `${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}`;
}

/** Lines shown about consent after a withdrawal; the JSON has all of it. */
const CONSENTS_SHOWN = 10;

function consentAfterText(found: ShownCase['consentAfter']): readonly string[] {
  const more = found.length - CONSENTS_SHOWN;
  return [
    ...found
      .slice(0, CONSENTS_SHOWN)
      .map(
        ({ at, seq, purposes }) =>
          `${pc.yellow('consent after')} entry ${seq}, ${timeText(at)}: ${printable(purposes.map(purposeWord).join(', '))} granted after this case withdrew it. Check whether the person was asked again.`,
      ),
    ...(more > 0 ? [`${pc.yellow('consent after')} ${more} more: see --json`] : []),
  ];
}

/** The messages of the requester that nobody has answered yet. */
function openText({ caseId, openMessages }: CaseSummary, { history }: ShownCase): readonly string[] {
  if (openMessages === 0) return [];
  return [
    ...threadOf(history)
      .filter(({ isOpen }) => isOpen)
      .map(
        ({ at, about, text }) =>
          `message      open since ${timeText(at)}${about === null ? '' : ` (${about})`}: ${printable(text ?? '')}`,
      ),
    `             \`dsar move ${caseId} reply text=…\`, or \`dsar move ${caseId} no-reply\``,
  ];
}

/** What two cases that may be the same request have in common. */
const sameWords = { email: 'e-mail address', subject: 'id', name: 'name' } as const;

function caseText(summary: CaseSummary, shown: ShownCase): string {
  const requester =
    [summary.requesterName, summary.requesterEmail, summary.requesterAddress?.replaceAll('\n', ', ') ?? null]
      .filter((part) => part !== null)
      .join(', ') || 'unknown';
  const lines = [
    pc.bold(`${summary.caseId}  ${kindsOf(summary).join(' + ')}, ${summary.state}, version ${summary.version}`),
    `requester    ${printable(requester)}`,
    `language     ${languageText(summary.language)}`,
    `law          ${summary.law ?? 'none recorded'}`,
    `due          ${dueText(summary)}${summary.daysLeft === null ? '' : ` (${leftText(summary)})`}, aim for ${summary.aimFor ?? '–'}`,
    ...summary.laws.map(
      (law) => `${law.id === summary.regime ? 'decides' : 'applies'}      ${law.id}, ${law.limit}: ${law.explanation}`,
    ),
    ...summary.parts.map(
      ({ kind, outcome, ground, legalLimit }) =>
        `part         ${kind}: ${outcome === null ? `nothing recorded yet, due ${legalLimit ?? 'unknown'}` : `${outcome}${ground === null ? '' : ` (${printable(ground)})`}`}`,
    ),
    ...(shown.view.folded.duplicates ?? []).map(
      (one) => `duplicate    ${one.caseId}, received ${timeText(one.receivedAt)}; the earliest receipt governs`,
    ),
    ...shown.sameAs.map(
      (one) =>
        `same as?     ${one.caseId}, received ${timeText(one.receivedAt)}, same ${sameWords[one.because]}: \`dsar move ${summary.caseId} close-duplicate duplicateOf=${one.caseId}\``,
    ),
    ...openText(summary, shown),
    `match        ${shown.match.status}, ${shown.match.decisions} decisions: ${printable(shown.match.says)}`,
    `may hold     ${shown.disclosure}`,
    ...consentAfterText(shown.consentAfter),
    ...summary.says.map((text) => `note         ${printable(text)}`),
    '',
    shown.readiness.ready ? `${pc.green('✓')} nothing required is missing` : `${pc.yellow('!')} not ready yet`,
    ...shown.readiness.lacks.map((lack) => `  ${lack.blocking ? pc.red('✗') : '·'} ${printable(lack.text)}`),
    '',
    tableText(
      ['version', 'recorded', 'move', 'state', 'by', 'entry'],
      shown.history.map((row) => [row.version, row.received_at, row.move, row.to_state, row.actor, row.seq]),
      '',
    ),
    '',
    `moves: ${summary.moves.join(', ')}`,
  ];
  return lines.join('\n');
}
