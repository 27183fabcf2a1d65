import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { type ConsentRecord, consentRecordText } from '../../reports/consent-record.ts';
import { contradictionWords, signalWords } from '../../reports/signal-words.ts';
import {
  bannerPhrase,
  type CitedDecision,
  evidenceWords,
  type LookUp,
  lookUpConsent,
  policyWords,
  purposeStateWords,
  purposeWord,
  readLookUpTime,
  standingWords,
  type Untrusted,
  wayInWords,
} from '../consent/look-up.ts';
import { loadConsentRecord } from '../consent/record.ts';
import { UsageError } from '../core/errors.ts';
import { lastCheckpoint } from '../documents/begin-document.ts';
import { type CommandIo, printable, printResult, timeText, withJson, writeOut } from './command-io.ts';
import { COMMAND_LINE_ACTOR, findSource, withContext } from './run-context.ts';

/** `consent show|record`: a person's consent at a given time, and one decision as a consent record. */
export function registerConsent(program: CommandUnknownOpts, io: CommandIo): void {
  const consent = program.command('consent').description('a person’s consent at a given time, and the evidence for it');

  registerShow(consent, io);

  registerRecord(consent, io);
}

function registerShow(consent: CommandUnknownOpts, io: CommandIo): void {
  withJson(consent.command('show'))
    .description('show a person’s consent at a given time: purposes, decisions, policy texts and evidence')
    .argument('<id>', 'visitor hash, e-mail address or id of a consent record')
    .option('--at <time>', 'ISO 8601 time, or the end of a day (YYYY-MM-DD in TIME_ZONE); default: now')
    .option('--source <slug>', 'source', 'default')
    .option('--text', 'also print the policy texts')
    .action((identifier, flags) =>
      withContext(async (context) => {
        findSource(context, flags.source);
        const asOf = await context.projector.catchUp();
        const found = await lookUpConsent(context, {
          source: flags.source,
          identifier,
          at: momentOf(flags.at, context.config.timeZone, context.clock().toISOString()),
          asOf,
          actor: COMMAND_LINE_ACTOR,
          withTexts: flags.text === true,
        });
        if (found.outcome === 'refused') throw new UsageError(found.problems);
        if (found.outcome === 'untrusted') return refuse(io, flags, found);
        if (found.outcome === 'not-found') io.exitCode = 1;
        const shown =
          found.outcome === 'found' ? { ...found, bannerNames: Object.fromEntries(found.bannerNames) } : found;
        printResult(io, flags, shown, () =>
          found.outcome === 'found'
            ? foundText(found)
            : `No consent record matches ${found.by === 'email' ? 'this e-mail address' : printable(identifier)}. (This look-up is recorded as entry ${found.recorded}.)`,
        );
      }),
    );
}

function registerRecord(consent: CommandUnknownOpts, io: CommandIo): void {
  withJson(consent.command('record'))
    .description('export one decision as a consent record according to ISO/IEC TS 27560 (JSON with DPV terms)')
    .argument('<id>', 'decision id, record id, or number of one of its entries')
    .option('--source <slug>', 'source', 'default')
    .option('--out <file>', 'write the record to this file')
    .action((id, flags) =>
      withContext(async (context) => {
        findSource(context, flags.source);
        const asOf = await context.projector.catchUp();
        // Seals entries after the last checkpoint, so that each has a proof.
        await context.seal();
        const found = await loadConsentRecord(context, {
          source: flags.source,
          id,
          asOf,
          actor: COMMAND_LINE_ACTOR,
          profile: await context.loadProfile(context.sources.findAny(flags.source)),
          checkpoint: await lastCheckpoint(context.documents, asOf),
        });
        switch (found.outcome) {
          case 'refused':
            throw new UsageError(found.problems);
          case 'untrusted':
            return refuse(io, flags, found);
          case 'not-found':
            throw new UsageError([`Unknown decision ${printable(id)} in source ${flags.source}.`]);
          case 'found': {
            const text = consentRecordText(found.record);
            const problem = flags.out === undefined ? null : await writeOut(flags.out, text);
            if (problem !== null) throw new UsageError([problem]);
            if (flags.out === undefined || flags.json === true) io.stdout.write(text);
            else io.stdout.write(writtenText(flags.out, found.record));
            return;
          }
          default:
            return found satisfies never;
        }
      }),
    );
}

/** What was written, and whether it claims to conform to the profile of the standard. */
function writtenText(file: string, { header }: ConsentRecord): string {
  const { record_id, schema_version: claim } = header;
  const conforms = typeof claim === 'string' ? `conforms to ${claim}` : `conformance ${claim.not_known}`;
  return `${printable(file)}: consent record ${printable(record_id)}\n${conforms}\n`;
}

/** Reports an altered entry with exit code 3. */
function refuse(io: CommandIo, flags: { readonly json?: boolean }, found: Untrusted): void {
  io.exitCode = 3;
  printResult(io, flags, found, () => `${pc.red('✗')} ${found.problem}`);
}

function momentOf(at: string | undefined, timeZone: string, now: string): string {
  if (at === undefined) return now;
  const read = readLookUpTime(at, timeZone, now);
  if (read.problem === undefined) return read.at;
  throw new UsageError([`Invalid time "${printable(at)}" for --at: ${read.problem}`]);
}

function foundText(found: Extract<LookUp, { outcome: 'found' }>): string {
  const lines = [
    pc.bold(`Consent at ${timeText(found.at)}, as known at entry ${found.asOf}`),
    `visitor      ${printable(found.subjects.join(', ') || 'not stated in the record')}`,
    `decisions    ${found.total} in total, ${found.later} of them later`,
    '',
  ];
  const byId = new Map(found.decisions.map((decision) => [decision.decisionId, decision]));
  for (const { bannerId, purposes, necessary } of found.standing) {
    lines.push(pc.bold(printable(bannerPhrase(bannerId, found.bannerNames))));
    for (const { purpose, state, since, decisionId } of purposes) {
      const seqs = byId.get(decisionId)?.entries.map(({ seq }) => seq) ?? [];
      const word = state === 'granted' ? pc.green('granted') : pc.yellow(purposeStateWords[state]);
      lines.push(
        `  ${printable(purposeWord(purpose))}: ${word} since ${timeText(since)}, decision ${printable(decisionId)} (${seqs.length === 1 ? 'entry' : 'entries'} ${seqs.join(', ')})`,
      );
    }
    if (purposes.length === 0) lines.push('  no decision about a purpose that needs consent');
    if (necessary.length > 0) lines.push(`  necessary, no consent needed: ${printable(necessary.join(', '))}`);
  }
  if (found.standing.length === 0) lines.push('No decision had been made by then.');
  if (found.knownThen !== null) {
    const then = standingWords(found.knownThen, found.bannerNames);
    lines.push('', pc.yellow('According to what had been received by then:'));
    lines.push(...(then.length === 0 ? ['  nothing'] : then.map((line) => `  ${printable(line)}`)));
  }
  for (const decision of found.decisions) {
    lines.push(
      '',
      pc.bold(`decision ${printable(decision.decisionId)}  ${timeText(decision.at)} (${decision.timeBasis})`),
    );
    if (decision.caseId !== null) lines.push(`  case       ${printable(decision.caseId)}`);
    for (const { seq, wayIn, receivedAt, signature, commitment } of decision.entries)
      lines.push(
        `  entry ${seq}  ${wayInWords[wayIn]}, received ${timeText(receivedAt)}${signature === null ? '' : `, signature ${signature}`}`,
        `             commitment ${commitment}`,
      );
    for (const text of decision.contradictions) lines.push(`  ${pc.red('contradicts')} ${printable(text)}`);
    lines.push(`  under      ${printable(policyWords(decision))}`);
    for (const text of decision.policy.texts) {
      lines.push(
        `             SHA-256 ${text.textSha256 ?? 'no text'}, entry ${text.bodySeq}, first seen ${timeText(text.firstSeen)}, last seen ${timeText(text.lastSeen)}`,
      );
      if (text.lines !== undefined)
        lines.push(
          ...(text.lines ?? ['The text was erased.']).map(
            (line) => `             | ${printable(line.replaceAll('\t', '  '))}`,
          ),
        );
    }
    lines.push(...signalLines(decision));
    if (decision.banner.length === 0) lines.push('  banner     no evidence of its appearance');
    for (const one of decision.banner)
      lines.push(`  banner     ${printable(evidenceWords(one, timeText))}, SHA-256 ${one.sha256}`);
  }
  lines.push('', `This look-up is recorded as entry ${found.recorded}.`);
  return lines.join('\n');
}

/** What the signals of a decision say, and where they contradict it. */
function signalLines({ signals }: CitedDecision): readonly string[] {
  if (signals === null) return [];
  return [
    ...contradictionWords(signals.contradictions).map((text) => `  ${pc.red('contradicts')} ${printable(text)}`),
    ...signalWords(signals.decoded, timeText).flatMap(({ title, says, damaged }) =>
      says.map((text, index) => {
        const said = damaged ? pc.yellow(printable(text)) : printable(text);
        return index === 0 ? `  signal     ${title}: ${said}` : `             ${said}`;
      }),
    ),
  ];
}
