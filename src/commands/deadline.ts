import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { readConfiguredRegimesFile } from '../config/config.ts';
import { UsageError } from '../core/errors.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { type ComputedCase, computeCase, readDeadlineCase, weekdayText } from '../law/deadline-calculator.ts';
import { datelessText, unrecordedText } from '../law/not-recorded.ts';
import { createRegimeTable, type RegimeTable } from '../law/regime-table.ts';
import { type CommandIo, cannotRead, type OptionsOf, printable, printResult, withJson } from './command-io.ts';

/** Longest line in a file of cases, characters. */
const MAX_LINE = 64 * 1024;

type DeadlineFlags = OptionsOf<ReturnType<typeof deadlineCommand>>;

export const dsarDescription = 'data subject requests: deadlines, progress and answers';

/** `dsar deadline` alone, without loading the other commands of `dsar`. */
export function registerCalculator(program: CommandUnknownOpts, io: CommandIo): void {
  registerDeadline(program.command('dsar').description(dsarDescription), io);
}

/** `dsar deadline`: a calculator. It opens no installation and needs no database, keys or .env. */
export function registerDeadline(dsar: CommandUnknownOpts, io: CommandIo): void {
  deadlineCommand(dsar).action(async (flags) => {
    const path = flags.regimes ?? readConfiguredRegimesFile();
    // The YAML reader is only imported if there is a file, so that the calculator starts fast.
    const own = path === null ? undefined : await (await import('../config/settings-files.ts')).loadRegimesFile(path);
    const regimes = createRegimeTable(own?.rules);
    if (flags.cases !== undefined) return answerCases(io, flags, flags.cases, regimes);
    const read = readDeadlineCase(caseOf(flags));
    if (read.outcome === 'refused') throw new UsageError(read.problems.map(namingFlag));
    const computed = computeCase(read.value, regimes);
    printResult(io, flags, computed.answer, () => caseText(computed));
  });
}

function deadlineCommand(dsar: CommandUnknownOpts) {
  return withJson(dsar.command('deadline'))
    .description('calculate when a request must be answered under every applicable law (no installation needed)')
    .addOption(new Option('--kind <kind>', 'kind of request').choices(requestKinds))
    .option('--received <when>', 'when the request arrived through any channel: YYYY-MM-DD or an ISO 8601 time')
    .option('--place <code>', 'where the person is: ISO 3166 code such as DE, GB or US-CA, or EU (default: unknown)')
    .option('--controller-country <code>', 'where the controller is established, e.g. DE (default: unknown)')
    .option('--controller-region <code>', 'region of the controller for public holidays, e.g. BY')
    .option(
      '--time-zone <zone>',
      'time zone for counting days; default: the zone of the controller’s country if it has only one, otherwise UTC',
    )
    .option('--extension-notice <when>', 'when the requester was notified of an extension')
    .option('--extension-until <date>', 'the new date given in that notice, where the law allows one')
    .option(
      '--clarification <asked,received>',
      'when a clarification was requested and received (repeatable)',
      collect,
      [],
    )
    .option('--identity <asked,received>', 'when identity information was requested and received')
    .option('--fee <asked,received>', 'when a fee was requested and received')
    .option('--as-of <when>', 'count anything still outstanding up to this time')
    .option(
      '--cases <file>',
      'read cases from this file, one JSON object per line (`-` for standard input), instead of the options above',
    )
    .option('--regimes <file>', 'your own rules (docs/deadlines.md); default: REGIMES_FILE if set')
    .addHelpText('after', helpText);
}

const helpText = `
Each line of the cases file has kind, received, place and controller, and optionally extension, clarifications, identity, fee and asOf:
  {"kind":"access","received":"2026-11-25","place":"DE","controller":{"country":"DE","region":"BE","timeZone":"Europe/Berlin"}}
With --json the output has one line per input line, in the same order. An invalid line yields {"error":…} in its place, and
the command exits with code 2. Empty lines are skipped.`;

/** A problem with a field of the case, with the flag in its place. */
function namingFlag(problem: string): string {
  const flags: Readonly<Record<string, string>> = {
    kind: 'kind',
    received: 'received',
    place: 'place',
    'controller.country': 'controller-country',
    'controller.region': 'controller-region',
    'controller.timeZone': 'time-zone',
    'extension.noticeAt': 'extension-notice',
    'extension.until': 'extension-until',
    clarifications: 'clarification',
    identity: 'identity',
    fee: 'fee',
    asOf: 'as-of',
  };
  return problem.replace(/^([\w.]+): /, (whole, path: string) => {
    const flag = flags[path] ?? flags[path.split('.')[0] ?? ''];
    return flag === undefined ? whole : `--${flag}: `;
  });
}

function collect(text: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, text];
}

/** The case described by the flags, in the form of a line of a file. */
function caseOf(flags: DeadlineFlags): unknown {
  const missing = [
    flags.kind === undefined ? '--kind' : null,
    flags.received === undefined ? '--received' : null,
  ].filter((flag) => flag !== null);
  if (missing.length > 0) throw new UsageError([`Add ${missing.join(' and ')}, or pass a file of cases with --cases.`]);
  const { extensionNotice: noticeAt, extensionUntil: until } = flags;
  if (noticeAt === undefined && until !== undefined)
    throw new UsageError([
      '--extension-until requires --extension-notice: a late notice does not extend the deadline.',
    ]);
  return {
    kind: flags.kind,
    received: flags.received,
    place: flags.place ?? null,
    controller: {
      country: flags.controllerCountry ?? null,
      region: flags.controllerRegion ?? null,
      timeZone: flags.timeZone ?? null,
    },
    extension: noticeAt === undefined ? null : { noticeAt, until: until ?? null },
    clarifications: flags.clarification.map((text) => askedOf('--clarification', text)),
    identity: flags.identity === undefined ? null : askedOf('--identity', flags.identity),
    fee: flags.fee === undefined ? null : askedOf('--fee', flags.fee),
    asOf: flags.asOf ?? null,
  };
}

function askedOf(flag: string, text: string): { askedAt: string; receivedAt: string | null } {
  const [askedAt = '', receivedAt = '', ...more] = text.split(',').map((part) => part.trim());
  if (askedAt === '' || more.length > 0)
    throw new UsageError([
      `${flag} takes two dates separated by a comma, e.g. 2026-07-03,2026-07-10; the second is optional.`,
    ]);
  return { askedAt, receivedAt: receivedAt === '' ? null : receivedAt };
}

/** Processes a file line by line, so that it may have any length. */
async function answerCases(io: CommandIo, flags: DeadlineFlags, path: string, regimes: RegimeTable): Promise<void> {
  refuseFlagsBesides(flags);
  const input = path === '-' ? process.stdin : createReadStream(path);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
      if (text.trim() === '') continue;
      const answered = answerLine(text, regimes);
      if ('error' in answered) io.exitCode = 2;
      const out = flags.json
        ? JSON.stringify('error' in answered ? answered : answered.answer)
        : lineText(number, answered);
      if (!io.stdout.write(`${out}\n`)) await once(io.stdout, 'drain');
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || (syscall !== 'open' && syscall !== 'read')) throw error;
    throw cannotRead(path, error);
  }
}

function refuseFlagsBesides(flags: DeadlineFlags): void {
  const besides = (
    [
      'kind',
      'received',
      'place',
      'controllerCountry',
      'controllerRegion',
      'timeZone',
      'extensionNotice',
      'extensionUntil',
      'identity',
      'fee',
      'asOf',
    ] as const
  ).filter((name) => flags[name] !== undefined);
  if (besides.length > 0 || flags.clarification.length > 0)
    throw new UsageError(['--cases cannot be combined with the options of a single case.']);
}

/** Computes one line of a file of cases; `error` says what is wrong with it. */
export function answerLine(line: string, regimes: RegimeTable): ComputedCase | { readonly error: string } {
  if (line.length > MAX_LINE) return { error: `The line is longer than ${MAX_LINE / 1024} KiB.` };
  let input: unknown;
  try {
    input = JSON.parse(line);
  } catch {
    return { error: 'The line is not valid JSON.' };
  }
  const read = readDeadlineCase(input);
  return read.outcome === 'refused' ? { error: read.problems.join(' ') } : computeCase(read.value, regimes);
}

function lineText(number: number, answered: ComputedCase | { readonly error: string }): string {
  if ('error' in answered) return `${number}  ${pc.red('✗')} ${printable(answered.error)}`;
  const { limit, law, aimFor, atOnce } = answered.answer;
  if (limit === null) return `${number}  ${datelessText(answered.deadlines)}`;
  const caveat = unrecordedText(answered.deadlines);
  return `${number}  ${limit}  ${law}  ${atOnce ? 'immediately' : `aim for ${aimFor}`}${caveat === null ? '' : `  ${caveat}`}`;
}

/** A case for people: first the deciding law, then every law in words. */
function caseText({ answer, deadlines, timeZone, timeZoneBasis }: ComputedCase): string {
  const day = (date: string | null) => (date === null ? null : weekdayText(date));
  const caveat = unrecordedText(deadlines);
  const decides = answer.law === null ? '' : `, by ${answer.law}`;
  const lines: (string | null)[] = [
    answer.limit === null
      ? pc.bold(`answer by    ${datelessText(deadlines)}`)
      : pc.bold(`answer by    ${answer.atOnce ? 'immediately: ' : ''}${day(answer.limit)}${decides}`),
    answer.limit === null || caveat === null ? null : pc.yellow(`but          ${caveat}`),
    answer.aimFor === null || answer.atOnce ? null : `aim for      ${day(answer.aimFor)}`,
    answer.warnOn === null ? null : `warn on      ${day(answer.warnOn)}`,
    answer.acknowledgeBy === null ? null : `confirm by   ${day(answer.acknowledgeBy)} (receipt of the request)`,
    `days         in ${timeZone}${zoneText(timeZoneBasis)}`,
  ];
  for (const law of deadlines.laws) {
    const unconfirmed = law.confirmed ? '' : pc.yellow('  unconfirmed: check with counsel');
    lines.push(
      '',
      `${pc.bold(law.id)}  ${law.name}  ${law.limit}${law.id === answer.law ? pc.green('  decides') : ''}${unconfirmed}`,
      ...law.explanation.map((words) => `  ${words}`),
      ...law.row.notes.map((note) => `  note: ${note}`),
    );
  }
  if (deadlines.says.length > 0) lines.push('', ...deadlines.says.map((text) => `note  ${printable(text)}`));
  lines.push('', 'This is a calculation, not legal advice.');
  return lines.filter((line) => line !== null).join('\n');
}

function zoneText(basis: ComputedCase['timeZoneBasis']): string {
  switch (basis) {
    case 'given':
      return '';
    case 'usual':
      return ', the zone of the controller’s country or region';
    case 'UTC':
      return ' because the controller’s country does not determine a zone: set --time-zone';
  }
}
