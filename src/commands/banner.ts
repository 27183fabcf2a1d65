import { readFile, stat } from 'node:fs/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import {
  addBannerEvidence,
  EVIDENCE_BYTES,
  evidenceExtensions,
  evidenceKindText,
  findBannerEvidence,
  nameBanner,
  retractBannerEvidence,
} from '../banners/evidence.ts';
import { UsageError } from '../core/errors.ts';
import { addDays } from '../core/zoned-days.ts';
import { readEvidenceFile, stateOfEvidenceFile } from '../ledger/evidence-files.ts';
import { type BannerEvidence, createBannerQueries } from '../store/queries/history-banners.ts';
import {
  type CommandIo,
  cannotRead,
  counted,
  isDay,
  printable,
  printResult,
  tableText,
  timeOf,
  timeText,
  wholeNumberFrom,
  withJson,
  writeOut,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, findSource, withCaughtUp, withContext } from './run-context.ts';

/**
 * `banner name`, `banner evidence add|list|show|retract`: the names of banners and how they were shown, which the
 * service's API does not provide.
 */
export function registerBanner(program: CommandUnknownOpts, io: CommandIo): void {
  const banner = program
    .command('banner')
    .description('names of consent banners, and evidence of their appearance added by officers');

  registerName(banner, io);

  const evidence = banner.command('evidence').description('add, list, show and retract evidence of a banner');

  registerAdd(evidence, io);

  registerList(evidence, io);

  registerShow(evidence, io);

  registerRetract(evidence, io);
}

function registerName(banner: CommandUnknownOpts, io: CommandIo): void {
  withJson(banner.command('name'))
    .description('give a banner a name, shown next to its id on pages and in documents')
    .argument('<banner>', 'banner id as in the consent records')
    .argument('[name]', 'its name, e.g. "Main site"; leave it out to remove the name')
    .option('--source <slug>', 'source of the banner', 'default')
    .action((bannerId, name, flags) =>
      withContext(async (context) => {
        findSource(context, flags.source);
        await context.projector.catchUp();
        const actor = COMMAND_LINE_ACTOR;
        const named = await nameBanner(context, { source: flags.source, actor, bannerId, name: name ?? '' });
        if (named.outcome === 'refused') throw new UsageError(named.problems);
        printResult(io, flags, named, () => {
          const called = named.name === null ? 'is shown by its id' : `is named ${printable(named.name)}`;
          return named.outcome === 'named'
            ? `${pc.green('✓')} Banner ${printable(bannerId)} ${called} (entry ${named.seq}).`
            : `Banner ${printable(bannerId)} ${called} already.`;
        });
      }),
    );
}

function registerAdd(evidence: CommandUnknownOpts, io: CommandIo): void {
  withJson(evidence.command('add'))
    .description('add a screenshot or the text of a banner, and the period in which it looked like this')
    .requiredOption('--banner <id>', 'banner id as in the consent records')
    .requiredOption('--file <path>', 'PNG, JPEG, WebP, PDF, HTML or text, at most 10 MiB')
    .requiredOption('--from <date>', 'start of the period: YYYY-MM-DD in TIME_ZONE, or an ISO 8601 time')
    .option('--to <date>', 'end of the period (a day is inclusive, a time exclusive); default: still in use')
    .option('--note <text>', 'what the file shows, e.g. "second layer, German"')
    .option('--source <slug>', 'source of the banner', 'default')
    .action((flags) =>
      withContext(async (context) => {
        findSource(context, flags.source);
        const { timeZone } = context.config;
        const until = flags.to === undefined || !isDay(flags.to) ? flags.to : dayAfter(flags.to);
        const added = await addBannerEvidence(context, {
          source: flags.source,
          actor: COMMAND_LINE_ACTOR,
          bannerId: flags.banner,
          fileName: flags.file,
          bytes: await readGiven(flags.file),
          from: timeOf(flags.from, '--from', timeZone),
          to: until === undefined ? null : timeOf(until, '--to', timeZone),
          note: flags.note ?? null,
        });
        if (added.outcome === 'refused') throw new UsageError(added.problems);
        await context.projector.catchUp();
        printResult(io, flags, added, () =>
          added.outcome === 'added'
            ? `${pc.green('✓')} Evidence ${added.seq} added for banner ${printable(flags.banner)}: ${evidenceKindText[added.mediaType]}, ${counted(added.bytes, 'byte')}, SHA-256 ${added.sha256}`
            : `Already recorded as evidence ${added.seq}: the same file, banner and period.`,
        );
      }),
    );
}

function registerList(evidence: CommandUnknownOpts, io: CommandIo): void {
  withJson(evidence.command('list'))
    .description('list the banner evidence of a source by banner and period')
    .option('--source <slug>', 'source', 'default')
    .option('--banner <id>', 'only this banner')
    .action((flags) =>
      withContext(async (context) => {
        findSource(context, flags.source);
        await context.projector.catchUp();
        const scope = { source: flags.source, asOf: Number.MAX_SAFE_INTEGER };
        const all = await createBannerQueries(context.store.read).bannerEvidence(scope);
        const shown = all.filter(({ bannerId }) => flags.banner === undefined || bannerId === flags.banner);
        printResult(io, flags, shown, () =>
          tableText(
            ['evidence', 'banner', 'shown from', 'until', 'file', 'added', 'by', ''],
            shown.map((one) => [
              one.seq,
              one.bannerId,
              one.from,
              one.to ?? 'open',
              `${one.fileName} (${evidenceKindText[one.mediaType]})`,
              one.addedAt,
              one.actor,
              one.retraction === null ? '' : `retracted: ${one.retraction.reason}`,
            ]),
            'No banner evidence yet. To add some, see `consent-ledger banner evidence add --help`.',
          ),
        );
      }),
    );
}

function registerShow(evidence: CommandUnknownOpts, io: CommandIo): void {
  withJson(evidence.command('show'))
    .description('show one piece of evidence and compare its file with the ledger')
    .argument('<evidence>', 'entry number from `banner evidence list`', wholeNumberFrom(1))
    .option('--out <file>', 'write the file here if it matches the ledger')
    .action((seq, flags) =>
      withCaughtUp(async (context) => {
        const found = await findBannerEvidence(context.store, seq);
        if (found === null) throw notEvidence(seq);
        const state = await stateOfEvidenceFile(context.evidenceFolder, found.sha256);
        if (state !== 'sound') io.exitCode = 3;
        let problem: string | null = null;
        if (flags.out !== undefined && state === 'sound') {
          const file = await readEvidenceFile(context.evidenceFolder, found.sha256);
          problem =
            file.state === 'sound'
              ? await writeOut(flags.out, file.bytes)
              : 'The file changed while it was being read: try again.';
          if (problem !== null) io.exitCode = 1;
        }
        printResult(io, flags, { ...found, file: state, problem }, () => evidenceText(found, state, problem));
      }),
    );
}

function registerRetract(evidence: CommandUnknownOpts, io: CommandIo): void {
  withJson(evidence.command('retract'))
    .description('mark evidence as wrong; the entry and its file are kept')
    .argument('<evidence>', 'entry number', wholeNumberFrom(1))
    .requiredOption('--reason <text>', 'why')
    .action((seq, flags) =>
      withCaughtUp(async (context) => {
        const retracted = await retractBannerEvidence(context, {
          seq,
          actor: COMMAND_LINE_ACTOR,
          reason: flags.reason,
        });
        switch (retracted.outcome) {
          case 'refused':
            throw new UsageError(retracted.problems);
          case 'unknown':
            throw notEvidence(seq);
          case 'retracted-before':
          case 'retracted':
            return printResult(io, flags, retracted, () =>
              retracted.outcome === 'retracted'
                ? `${pc.green('✓')} Evidence ${seq} retracted (entry ${retracted.seq}).`
                : `Evidence ${seq} is already retracted.`,
            );
          default:
            return retracted satisfies never;
        }
      }),
    );
}

function notEvidence(seq: number): UsageError {
  return new UsageError([`Entry ${seq} is not banner evidence: see \`consent-ledger banner evidence list\`.`]);
}

function dayAfter(day: string): string {
  try {
    return addDays(day, 1);
  } catch {
    return day;
  }
}

async function readGiven(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > EVIDENCE_BYTES) throw new UsageError([`${printable(path)} is larger than 10 MiB.`]);
    return await readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw cannotRead(path, error);
  }
}

const fileStates = {
  sound: `${pc.green('✓')} the file matches the ledger`,
  missing: `${pc.red('✗')} the file is missing from DATA_DIR/evidence: restore it from a backup`,
  altered: `${pc.red('✗')} the file in DATA_DIR/evidence does not match the ledger: restore it from a backup`,
} as const;

function evidenceText(one: BannerEvidence, state: keyof typeof fileStates, problem: string | null): string {
  return [
    pc.bold(`evidence ${one.seq}  banner ${printable(one.bannerId)} of ${one.source}`),
    `shown        from ${timeText(one.from)} ${one.to === null ? 'onwards (still in use when added)' : `until ${timeText(one.to)}`} (as stated by the officer)`,
    `added        ${timeText(one.addedAt)} by ${printable(one.actor)} (recorded by the ledger)`,
    `file         ${printable(one.fileName)}: ${evidenceKindText[one.mediaType]} (.${evidenceExtensions[one.mediaType]}), ${counted(one.bytes, 'byte')}`,
    `SHA-256      ${one.sha256}`,
    `commitment   ${one.commitment}`,
    ...(one.note === null ? [] : [`note         ${printable(one.note)}`]),
    ...(one.retraction === null
      ? []
      : [
          `${pc.yellow('retracted')}    ${timeText(one.retraction.at)} by ${printable(one.retraction.actor)}: ${printable(one.retraction.reason)} (entry ${one.retraction.seq})`,
        ]),
    fileStates[state],
    ...(problem === null ? [] : [problem]),
  ].join('\n');
}
