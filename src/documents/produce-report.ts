import { documentIdOf, type Report, type ReportFormat } from '../../reports/report.ts';
import { findReport } from '../../reports/index.ts';
import type { DocumentDeps, RegisteredDocument } from './deps.ts';
import { frameOf, type UnknownSource } from './frame.ts';
import { registerDocument } from './register.ts';

/** A report that someone asked for. Dates are YYYY-MM-DD in the configured zone, `to` exclusive. */
export interface ReportRequest {
  readonly name: string;
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly format: ReportFormat;
  readonly actor: string;
  /** Reproduces the report as of an earlier entry; default: everything up to now. */
  readonly asOf?: number | undefined;
}

export type ReportOutcome =
  | ({ readonly outcome: 'produced' } & RegisteredDocument)
  | { readonly outcome: 'invalid'; readonly problem: string }
  | UnknownSource;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Produces a report and registers it. Errors: as the store and the ledger; UnprintableText for a PDF with a character that no font has. */
export async function produceReport(
  deps: DocumentDeps,
  request: ReportRequest,
  signal?: AbortSignal,
): Promise<ReportOutcome> {
  const report = findReport(request.name);
  const problem = problemOf(report, request);
  if (report === null || problem !== null) return { outcome: 'invalid', problem: problem ?? '' };
  const frame = await frameOf(deps, request.source, request.asOf);
  if ('outcome' in frame) return frame;
  const { name, from, to, format, actor, source } = request;
  const input = { ...frame, from, to, format };
  const facts = {
    actor,
    documentId: documentIdOf(name, input),
    name,
    format,
    asOf: input.asOf,
    caseId: null,
    parameters: { source, from, to, timeZone: input.timeZone, language: input.language, sample: input.sample },
  };
  return { outcome: 'produced', ...(await registerDocument(deps, source, facts, report.produce(input), signal)) };
}

function problemOf(report: Report | null, { name, format, from, to }: ReportRequest): string | null {
  if (report === null) return `There is no report ${name}.`;
  if (!report.formats.includes(format))
    return `The report ${name} comes as ${report.formats.join(', ')}, not as ${format}.`;
  for (const date of [from, to]) {
    if (!DATE.test(date) || Number.isNaN(Date.parse(date)) || new Date(date).toISOString().slice(0, 10) !== date) {
      return `${date} is no date: write it as YYYY-MM-DD.`;
    }
  }
  return from < to ? null : `The period from ${from} to ${to} has no day in it (the second date is not included).`;
}
