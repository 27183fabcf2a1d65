import { canonicalJson } from '../src/core/canonical.ts';
import { sha256Hex } from '../src/core/hash.ts';
import type { RegimeTable } from '../src/core/regime-table.ts';
import type { ControllerProfile } from '../src/core/profile.ts';
import { startOfDay } from '../src/core/zoned-days.ts';
import type { History } from '../src/store/queries/history.ts';
import type { Period } from '../src/store/queries/scope.ts';
import type { Frame } from './render/blocks.ts';
import { formatCount, formatPeriod } from './format.ts';

export type ReportFormat = 'pdf' | 'csv' | 'json' | 'html';

/** A signed tree head to print: the note as it is published, and what it says. */
export interface CheckpointToPrint {
  readonly note: string;
  readonly size: number;
  readonly rootHex: string;
  readonly keyId: string;
}

/** What every document is made from. The same input gives the same bytes. */
export interface DocumentInput {
  readonly source: string;
  readonly sourceName: string;
  /** The last entry of the ledger that the document knows. */
  readonly asOf: number;
  /** IANA name: days are days there. */
  readonly timeZone: string;
  /** ISO 8601 UTC. */
  readonly generatedAt: string;
  /** Version of the program. */
  readonly version: string;
  readonly profile: ControllerProfile | null;
  readonly history: History;
  readonly checkpoint: CheckpointToPrint | null;
  /** True: every page is marked SAMPLE. */
  readonly sample: boolean;
  /** The rules of deadlines in force here (REGIMES_FILE); absent: the built-in ones. */
  readonly regimes?: RegimeTable;
  readonly language: 'en';
}

export interface ReportInput extends DocumentInput {
  readonly format: ReportFormat;
  /** Dates YYYY-MM-DD in the time zone; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
}

/** A document over a period. A new one is added to the list in reports/index.ts. */
export interface Report {
  /** As on the command line. */
  readonly name: string;
  readonly title: string;
  /** One sentence: what is in it and whom it is for. */
  readonly description: string;
  readonly formats: readonly ReportFormat[];
  /** The file, in pieces. Throws RangeError for a format it lacks or a period that is none, UnprintableText (render/fonts.ts) for a PDF. */
  produce(input: ReportInput): AsyncIterable<Uint8Array>;
}

/** The id under which a report is registered and which it prints: 16 hex digits over everything that was asked. */
export function documentIdOf(name: string, input: ReportInput): string {
  const { format, source, from, to, asOf, timeZone, generatedAt, version, sample, language } = input;
  return sha256Hex(
    canonicalJson({ name, format, source, from, to, asOf, timeZone, generatedAt, version, sample, language }),
  ).slice(0, 16);
}

/** The period in moments. Throws RangeError for a period that is none. */
export function periodOf(input: ReportInput): Period {
  if (!(input.from < input.to)) throw new RangeError(`the period from ${input.from} to ${input.to} has no day in it`);
  return {
    source: input.source,
    asOf: input.asOf,
    from: startOfDay(input.from, input.timeZone),
    to: startOfDay(input.to, input.timeZone),
  };
}

/** The frame of a report's pages. */
export function reportFrame(name: string, title: string, input: ReportInput): Frame {
  return {
    title,
    owner: input.profile?.name ?? input.sourceName,
    footer: `Document ${documentIdOf(name, input)} · ${formatPeriod(input.from, input.to)} (${input.timeZone}) · as of entry ${formatCount(input.asOf)}`,
    language: input.language,
    producer: `consent-ledger ${input.version}`,
    createdAt: input.generatedAt,
    watermark: input.sample ? 'SAMPLE' : null,
    kind: 'report',
  };
}

export function unknownFormat(report: string, format: string): RangeError {
  return new RangeError(`the report ${report} has no format ${format}`);
}
