import { readFile } from 'node:fs/promises';
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { type CertificateFormat, certificateFormats, type ErasureFacts } from '../../reports/erasure-certificate.ts';
import { DEFAULT_SOURCE } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { erasureReasonCodes, erasureReasons } from '../core/erasure.ts';
import { UsageError } from '../core/errors.ts';
import { reapplyErasures } from '../erasure/again.ts';
import { erasureFactsOf, lastErasure, produceErasureCertificate } from '../erasure/certificate.ts';
import { choose, type ErasureChoice, periodKinds } from '../erasure/choose.ts';
import { carryOut, type ErasureDecision, finishErasures, isUnfinished, problemsOf } from '../erasure/erase.ts';
import { type ErasurePlan, planErasure } from '../erasure/plan.ts';
import { sourcesNeedingSecondOfficer } from '../erasure/proposal.ts';
import { rewriteErasureRecords } from '../erasure/records.ts';
import { summaryOf } from '../erasure/summary.ts';
import type { ProofOptions } from '../ledger/prove-entry.ts';
import {
  type CommandIo,
  counted,
  type OptionsOf,
  printable,
  printResult,
  timeOf,
  withJson,
  writeOut,
} from './command-io.ts';
import { noSuchSource, withContext } from './run-context.ts';

type EraseFlags = OptionsOf<ReturnType<typeof eraseCommand>>;

/** `ledger erase`: erases content from the ledger for good. */
export function registerLedgerErase(ledger: CommandUnknownOpts, io: CommandIo): void {
  eraseCommand(ledger).action((entries, flags) =>
    withContext(async (context) => {
      if (flags.finish === true) return finish(context, io, flags);
      if (flags.again === true) return again(context, io, flags);
      await lookForInterrupted(context, io, flags);
      const plan = await planOf(context, entries, flags);
      if (flags.yes !== true) return printResult(io, flags, { outcome: 'preview', ...plan }, () => previewText(plan));
      const decision = decisionOf(context, flags);
      await assertSecondOfficer(context, plan, decision);
      const done = await carryOut(context.erasure, plan, decision);
      if (done.outcome === 'refused') throw new UsageError(done.problems);
      const { seqs, erasedAt } = done;
      const lawName = lawNameOf(context, decision.law);
      const facts = erasureFactsOf({ ...decision, by: plan.by }, summaryOf(plan), {
        ...{ seqs, erasedAt, lawName },
        suppressed: plan.suppress.length > 0,
      });
      const certificate = await certify(context, flags, plan.suppress[0]?.source ?? plan.entries[0]?.source, facts);
      if (certificate?.problem != null) io.exitCode = 1;
      printResult(io, flags, { ...done, plan, certificate }, () =>
        [
          `${pc.green('✓')} ${counted(done.entries, 'entry', 'entries')}${done.documents > 0 ? ` and ${counted(done.documents, 'document')}` : ''} erased, recorded as entry ${done.seqs.join(', ')}.`,
          ...leftText(plan),
          ...certificateText(certificate),
        ].join('\n'),
      );
    }),
  );
}

function eraseCommand(ledger: CommandUnknownOpts) {
  return withJson(ledger.command('erase'))
    .argument('[entries...]', 'entry numbers and ranges, e.g. 12 15-20')
    .description('show what an erasure would remove and what would remain; with --yes, erase for good')
    .option('--subject <identifier>', 'everything about a person: e-mail address, visitor hash or record id')
    .option('--case <id>', 'everything about a case')
    .option('--to <time>', 'everything received before this time: YYYY-MM-DD or ISO 8601')
    .option('--from <time>', 'with --to: only entries received from this time on')
    .addOption(
      new Option('--kind <kind...>', 'with --to: only these kinds')
        .choices(periodKinds)
        .default(undefined, 'all of them'),
    )
    .option('--source <slug>', `with --subject (default: ${DEFAULT_SOURCE}) and --to (default: every source)`)
    .option('--with-cases', 'with --subject: also the person’s requests')
    .option('--yes', 'erase; needs --reason, --law and --officer')
    .addOption(new Option('--reason <code>', 'why').choices(erasureReasonCodes))
    .option('--law <id>', 'id of the law that applies, e.g. eu-gdpr (ids: docs/deadlines.md)')
    .option('--officer <name>', 'who decided; recorded in the ledger')
    .option('--confirmed-by <name>', 'a second officer who agrees')
    .option('--despite <name...>', 'erase despite these open cases and legal holds', collect)
    .option(
      '--certificate <file>',
      'with --yes, or with --finish for the last erasure: a certificate for the requester, .pdf or .json',
      certificateFile,
    )
    .option('--finish', 'finish an interrupted erasure, and rewrite erasure records missing from DATA_DIR/erasures')
    .option('--again', 'after restoring an older backup: repeat the erasures made since')
    .addHelpText(
      'after',
      `
Reasons: ${erasureReasonCodes.map((code) => `${code} (${erasureReasons[code]})`).join(', ')}.
Without --yes nothing is changed. While the database is rewritten at the end, deliveries wait or are answered with 503 (SQLite: about as long as copying its file takes); erase large
amounts at a quiet time. The content cannot be recovered; its position in the ledger and every proof remain.`,
    );
}

interface CertificateFile {
  readonly path: string;
  readonly format: CertificateFormat;
}

function certificateFile(path: string): CertificateFile {
  const format = certificateFormats.find((one) => path.toLowerCase().endsWith(`.${one}`));
  if (format === undefined) throw new InvalidArgumentError('Use a file name that ends in .pdf or .json.');
  return { path, format };
}

interface Certificate {
  readonly file: string;
  readonly documentId: string | null;
  readonly problem: string | null;
}

/** The erasure is done by now: a problem with its certificate is reported but does not undo it. */
async function certify(
  context: Pick<Context, 'documents'>,
  { certificate, source }: EraseFlags,
  from: string | null | undefined,
  erasure: ErasureFacts,
): Promise<Certificate | null> {
  if (certificate === undefined) return null;
  const { path: file, format } = certificate;
  const made = await produceErasureCertificate(context.documents, {
    ...{ source: source ?? from ?? DEFAULT_SOURCE, erasure, format, actor: erasure.officer },
  });
  if (made.outcome !== 'produced')
    return {
      file,
      documentId: null,
      problem: made.outcome === 'refused' ? made.problem : 'No certificate: its source is unknown.',
    };
  return { file, documentId: made.documentId, problem: await writeOut(file, await readFile(made.path)) };
}

function certificateText(certificate: Certificate | null): string[] {
  if (certificate === null) return [];
  return [
    certificate.problem === null ? `Certificate: ${certificate.file}` : `${pc.yellow('!')} ${certificate.problem}`,
  ];
}

function lawNameOf({ cases }: Pick<Context, 'cases'>, law: string): string {
  return cases.regimes.regimes.get(law)?.law ?? law;
}

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name];
}

async function planOf(
  context: Pick<Context, 'config' | 'sources' | 'erasure'>,
  entries: readonly string[],
  flags: EraseFlags,
): Promise<ErasurePlan> {
  const scopes = [
    entries.length > 0,
    flags.subject !== undefined,
    flags.case !== undefined,
    flags.to !== undefined,
  ].filter(Boolean).length;
  if (scopes !== 1)
    throw new UsageError(['Choose what to erase: entry numbers, --subject, --case or --to (only one of them).']);
  const { source } = flags;
  if (source !== undefined && context.sources.findAny(source) === null) throw noSuchSource(source);
  const { erasure, sources } = context;
  const choice = await choose({ ...erasure, sources }, choiceOf(context, entries, flags));
  if (choice.outcome === 'refused') throw new UsageError(choice.problems);
  return planErasure(erasure, choice.chosen);
}

function choiceOf({ config }: Pick<Context, 'config'>, entries: readonly string[], flags: EraseFlags): ErasureChoice {
  const { source, subject, case: caseId, to, from, kind } = flags;
  if (subject !== undefined) {
    const withCases = flags.withCases === true;
    return { by: 'subject', source: source ?? DEFAULT_SOURCE, identifier: subject, withCases };
  }
  if (caseId !== undefined) return { by: 'case', caseId };
  if (to === undefined) return { by: 'entries', entries };
  return {
    by: 'period',
    source: source ?? null,
    from: from === undefined ? null : timeOf(from, '--from', config.timeZone),
    to: timeOf(to, '--to', config.timeZone),
    kinds: kind ?? periodKinds,
  };
}

function decisionOf({ cases }: Pick<Context, 'cases'>, flags: EraseFlags): ErasureDecision {
  const { reason, law, officer, confirmedBy = null, despite = [] } = flags;
  const problems: string[] = [];
  if (reason === undefined) problems.push('--yes requires --reason: the reason for erasing (see --help).');
  if (law === undefined) problems.push('--yes requires --law: the id of the law that applies, e.g. eu-gdpr.');
  else if (!cases.regimes.regimes.has(law))
    problems.push(`Unknown law ${printable(law)}: use an id from docs/deadlines.md, e.g. eu-gdpr, uk-gdpr or us-ca.`);
  if (officer === undefined || officer.trim() === '')
    problems.push('--yes requires --officer: who decided, as recorded in the ledger.');
  if (confirmedBy?.trim() === '') problems.push('--confirmed-by requires the name of the second officer.');
  if (problems.length > 0 || reason === undefined || law === undefined || officer === undefined)
    throw new UsageError(problems);
  return { officer, confirmedBy, reason, law, despite };
}

/** Throws UsageError if a controller profile requires two officers and there is only one. */
async function assertSecondOfficer(
  context: Pick<Context, 'sources' | 'loadProfile'>,
  plan: ErasurePlan,
  { confirmedBy }: ErasureDecision,
): Promise<void> {
  if (confirmedBy !== null) return;
  const [source] = await sourcesNeedingSecondOfficer(context, plan);
  if (source !== undefined)
    throw new UsageError([
      `The controller profile of ${source} requires two officers: add --confirmed-by with the name of the second.`,
    ]);
}

function previewText(plan: ErasurePlan): string {
  const { entries, alreadyErased, rows, documents, files, jobs, rejected } = plan;
  const kinds = new Map<string, number[]>();
  for (const { seq, kind, what } of entries) {
    const name = what === null ? kind : `${kind} ${what}`;
    const seqs = kinds.get(name);
    if (seqs === undefined) kinds.set(name, [seq]);
    else seqs.push(seq);
  }
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return [
    `${counted(entries.length, 'entry', 'entries')} would be erased:`,
    ...[...kinds].map(([kind, seqs]) => `  ${seqs.length} × ${printable(kind)}: ${rangesText(seqs)}`),
    ...(alreadyErased.length > 0 ? [`  (${counted(alreadyErased.length, 'entry', 'entries')} erased before)`] : []),
    ...(total > 0
      ? [
          `with ${counted(total, 'row')} of the read models: ${Object.entries(rows)
            .map(([table, count]) => `${table} ${count}`)
            .join(', ')}`,
        ]
      : []),
    ...(documents.length > 0
      ? [
          `and ${counted(documents.length, 'document')}, whose hashes are kept:`,
          ...documents.map(
            ({ name, format, documentId, why, isThere }) =>
              `  ${name} (${format}) ${documentId}: ${why}${isThere ? '' : '; its file is missing'}`,
          ),
        ]
      : []),
    ...(files.length > 0 ? [`and ${counted(files.length, 'file')} of banner evidence`] : []),
    ...(jobs.length > 0 ? [`and ${counted(jobs.length, 'job')} that ${jobs.length === 1 ? 'names' : 'name'} it`] : []),
    ...(rejected.length > 0 ? [`and ${counted(rejected.length, 'refused delivery', 'refused deliveries')}`] : []),
    ...leftText(plan),
    ...problemsOf(plan, { officer: 'preview', confirmedBy: null, reason: 'request', law: '', despite: [] }).map(
      (problem) => `${pc.yellow('!')} ${printable(problem)}`,
    ),
    'Nothing was changed. To erase, add --yes with --reason, --law and --officer.',
  ].join('\n');
}

function leftText({ kept, residues, suppress }: ErasurePlan): string[] {
  return [
    ...(kept.length > 0
      ? [
          'Kept:',
          ...kept.map(
            ({ what, why, hint, seqs }) =>
              `  ${what} (${counted(seqs.length, 'entry', 'entries')}: ${rangesText(seqs)}): ${why}; ${hint}`,
          ),
        ]
      : []),
    ...(suppress.length > 0
      ? ['Rows of this person from before the erasure will not be pulled again (a keyed hash remains).']
      : []),
    'Left behind:',
    ...residues.map(({ where, until, hint }) => `  ${where}: ${until}${hint === undefined ? '' : `; ${hint}`}`),
  ];
}

/** `3, 5–9, 12 …`. */
function rangesText(seqs: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && seq === last[1] + 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  const shown = ranges.slice(0, 12).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`));
  return `${shown.join(', ')}${ranges.length > shown.length ? ` and ${ranges.length - shown.length} more` : ''}`;
}

/**
 * Reports what an interrupted erasure left first, and cleans it up with --yes: running the same command again would
 * find nothing left to erase.
 */
async function lookForInterrupted(
  { erasure }: Pick<Context, 'erasure'>,
  io: CommandIo,
  { yes }: EraseFlags,
): Promise<void> {
  if (!(await isUnfinished(erasure))) return;
  if (yes === true) await finishErasures(erasure);
  io.stderr.write(
    yes === true
      ? `${pc.green('✓')} An interrupted erasure has been finished: its entries are gone from every file.\n`
      : `${pc.yellow('!')} An erasure was interrupted or is still running: files and the database may still contain what it erased. If none is running, run \`consent-ledger ledger erase --finish\`.\n`,
  );
}

async function finish(
  context: ProofOptions & Pick<Context, 'cases' | 'documents' | 'erasure'>,
  io: CommandIo,
  flags: EraseFlags,
): Promise<void> {
  const finished = await finishErasures(context.erasure);
  const records = await rewriteErasureRecords(context.erasure);
  const certificate = await certifyLast(context, flags);
  if (certificate?.problem != null) io.exitCode = 1;
  printResult(io, flags, { finished, records, ...(certificate === null ? {} : { certificate }) }, () =>
    [
      finished
        ? `${pc.green('✓')} the erasure is finished`
        : records > 0
          ? `${pc.green('✓')} ${records} ${records === 1 ? 'record' : 'records'} of erasures rewritten to DATA_DIR/erasures`
          : 'There is no unfinished erasure.',
      ...certificateText(certificate),
    ].join('\n'),
  );
}

async function certifyLast(
  context: ProofOptions & Pick<Context, 'cases' | 'documents'>,
  flags: EraseFlags,
): Promise<Certificate | null> {
  if (flags.certificate === undefined) return null;
  const last = await lastErasure(context, (law) => lawNameOf(context, law));
  if ('problem' in last) return { file: flags.certificate.path, documentId: null, problem: last.problem };
  return certify(context, flags, last.source, last.facts);
}

async function again({ erasure }: Pick<Context, 'erasure'>, io: CommandIo, flags: EraseFlags): Promise<void> {
  const done = await reapplyErasures(erasure);
  if (done.problems.length > 0) io.exitCode = 1;
  printResult(io, flags, done, () =>
    [
      `${counted(done.erasures, 'erasure')} repeated: ${counted(done.entries, 'entry', 'entries')} erased.`,
      ...done.problems.map((problem) => `${pc.yellow('!')} ${printable(problem)}`),
    ].join('\n'),
  );
}
