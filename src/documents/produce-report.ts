import { findReport } from '../../reports/index.ts';
import {
  momentsOf,
  type Report,
  type ReportFormat,
  type ReportInput,
  reportParameters,
  reportReference,
} from '../../reports/report.ts';
import { calendarProblem, daysBetween } from '../core/zoned-days.ts';
import { appendAction } from '../ledger/append-action.ts';
import { readCounters } from '../store/queries/counters.ts';
import {
  type DocumentDeps,
  type FrameRequest,
  frameOf,
  type InvalidTime,
  madeBefore,
  type RefusedDocument,
  type RegisteredDocument,
  refusing,
  type UnknownSource,
} from './begin-document.ts';
import { registerDocument } from './register.ts';

/** A requested report. Dates are YYYY-MM-DD in the configured zone, `to` exclusive. */
export interface ReportRequest extends FrameRequest {
  readonly name: string;
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly format: ReportFormat;
  readonly actor: string;
  /** Appends the history of this subject, if the report supports it. */
  readonly subject?: string | undefined;
}

type ReportOutcome =
  | ({ readonly outcome: 'produced' } & RegisteredDocument)
  | InvalidTime
  | RefusedDocument
  | UnknownSource;

/** Maximum length of a subject. */
const SUBJECT = 300;
/** 100 years. Some reports list every day or month of their period. */
const LONGEST_DAYS = 36_525;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Produces a report and registers it. Errors: those of the store and the ledger. */
export async function produceReport(
  deps: DocumentDeps,
  request: ReportRequest,
  signal?: AbortSignal,
): Promise<ReportOutcome> {
  const report = findReport(request.name);
  const problem = problemOf(report, request);
  if (report === null || problem !== null) return { outcome: 'invalid', problem: problem ?? '' };
  return refusing(() => makeReport(deps, report, request, signal));
}

async function makeReport(
  deps: DocumentDeps,
  report: Report,
  request: ReportRequest,
  signal?: AbortSignal,
): Promise<ReportOutcome> {
  const { name, from, to, format, actor, source } = request;
  if (report.tellsCounters && request.asOf === undefined && deps.sources.find(source) !== null)
    await observeCounters(deps, request);
  const { asOf } = request;
  const before =
    asOf === undefined ? null : await madeBefore(deps, { source, name, format, asOf, caseId: null }, { from, to });
  const madeAt = request.madeAt ?? before?.madeAt;
  const framed = await frameOf(deps, source, { asOf, madeAt });
  if ('outcome' in framed) return framed;
  const { cited, ...frame } = framed;
  const fault = await deps.readModelsFault();
  if (fault !== null) return { outcome: 'refused', problem: fault };
  const subject = request.subject?.trim();
  const input: ReportInput = { ...frame, from, to, format, ...(subject ? { subject } : {}) };
  const facts = {
    actor,
    reference: reportReference(name, input),
    name,
    format,
    asOf: input.asOf,
    caseId: null,
    parameters: reportParameters(input),
  };
  const registered = await registerDocument(deps, source, facts, cited, report.produce(input), signal);
  return { outcome: 'produced', ...registered };
}

/**
 * Records the counters kept outside the ledger, so that the report reads only entries. Two processes at one position
 * record them once.
 */
async function observeCounters(deps: DocumentDeps, { source, from, to, actor }: ReportRequest): Promise<void> {
  const asOf = await deps.catchUp();
  const period = { source, asOf, ...momentsOf({ from, to, timeZone: deps.timeZone }) };
  const now = deps.clock().toISOString();
  const action = { action: 'counters.observed' as const, actor, ...(await readCounters(deps.read, period, now)) };
  await appendAction(deps.ledger, source, action, ['counters.observed', source, from, to, String(asOf)], now);
}

function problemOf(report: Report | null, { name, format, from, to, subject = '' }: ReportRequest): string | null {
  if (report === null) return `Unknown report ${name}.`;
  if (!report.formats.includes(format))
    return `The report ${name} is available as ${report.formats.join(', ')}, not as ${format}.`;
  if (subject.trim() !== '' && !report.takesSubject) return `The report ${name} has no appendix for one subject.`;
  if (subject.length > SUBJECT) return `The subject is too long: use at most ${SUBJECT} characters.`;
  for (const date of [from, to]) {
    const problem = DATE.test(date) ? calendarProblem(date) : 'use YYYY-MM-DD.';
    if (problem !== null) return `Invalid date "${date}": ${problem}`;
  }
  if (from >= to) return `The period from ${from} to ${to} is empty (the second date is not included).`;
  return daysBetween(from, to) <= LONGEST_DAYS ? null : `The period from ${from} to ${to} is longer than 100 years.`;
}
