import { canonicalJson } from '../src/crypto/canonical.ts';
import { sha256Hex } from '../src/crypto/hash.ts';
import type { RegimeTable } from '../src/law/regime-table.ts';
import type { ControllerProfile } from '../src/law/profile.ts';
import { startOfDay } from '../src/core/zoned-days.ts';
import type { BannerNames } from '../src/store/queries/history-banners.ts';
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
  /** The log's key as C2SP tools take it: `<name>+<key hash>+<key>`. */
  readonly verifierKey: string;
}

/** What every document is made from. The same input gives the same bytes. */
export interface DocumentInput {
  readonly source: string;
  readonly sourceName: string;
  /** The last entry of the ledger that the document knows. */
  readonly asOf: number;
  /** IANA name: days are days there. */
  readonly timeZone: string;
  /** When it is made: the date that it bears, and by which it judges what is late. ISO 8601 UTC, from the caller's clock or told to make it again. */
  readonly generatedAt: string;
  /** Version of the program. */
  readonly version: string;
  readonly profile: ControllerProfile | null;
  readonly history: History;
  /** What officers call the banners of the source, as of the entry; absent: nothing. */
  readonly bannerNames?: BannerNames;
  readonly checkpoint: CheckpointToPrint | null;
  /** True: every page is marked SAMPLE. */
  readonly sample: boolean;
  /** The rules of deadlines in force here (REGIMES_FILE); absent: the built-in ones. */
  readonly regimes?: RegimeTable;
  /** SHA-256 of how payloads of this source are read (its field and event names, its assumed offset). */
  readonly mappingSha256?: string;
  readonly language: 'en';
}

export interface ReportInput extends DocumentInput {
  readonly format: ReportFormat;
  /** Dates YYYY-MM-DD in the time zone; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  /** A subject whose history is appended, where the report has such an appendix; absent: none. */
  readonly subject?: string;
}

/** A document over a period. A new one is added to the list in reports/index.ts. */
export interface Report {
  /** As on the command line. */
  readonly name: string;
  readonly title: string;
  /** One sentence: what is in it and whom it is for. */
  readonly description: string;
  readonly formats: readonly [ReportFormat, ...ReportFormat[]];
  /** It tells of repeats and refusals, so their counters are observed before it is made (`counters.observed`). */
  readonly tellsCounters: boolean;
  /** It can append the history of one subject. */
  readonly takesSubject: boolean;
  /** The file, in pieces. Throws RangeError for an unknown format or an empty period. */
  produce(input: ReportInput): AsyncIterable<Uint8Array>;
}

/** Of what is too long to be a parameter itself. Maps count as lists of pairs. */
export function digestOf(value: unknown): string {
  const plain: unknown = JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (part instanceof Map ? [...(part as Map<unknown, unknown>)] : part)),
  );
  return sha256Hex(canonicalJson(plain));
}

export type Parameters = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Everything besides asOf and the entries up to it that a document is made from: with the same parameters and the same asOf it can be made
 * again, byte for byte. What stands in files and settings is named by its SHA-256. They are recorded with the document (`document.produced`).
 */
export function frameParameters(input: DocumentInput): Parameters {
  const { source, sourceName, timeZone, generatedAt, version, sample, language, profile, regimes, checkpoint } = input;
  return {
    source,
    sourceName,
    timeZone,
    madeAt: generatedAt,
    version,
    sample,
    language,
    profileSha256: profile === null ? null : digestOf(profile),
    regimesSha256: regimes === undefined ? null : digestOf(regimes),
    mappingSha256: input.mappingSha256 ?? null,
    checkpointSize: checkpoint?.size ?? null,
  };
}

export function reportParameters(input: ReportInput): Parameters {
  const { from, to, subject } = input;
  // The identifier itself stays out of the entry; it has to be given again to reproduce the report.
  return {
    ...frameParameters(input),
    from,
    to,
    ...(subject === undefined ? {} : { subjectSha256: digestOf(subject) }),
  };
}

/** What a document prints to be found again: 16 hex digits over what was asked for. The id under which it is registered begins with it. */
export function referenceOf(asked: {
  readonly name: string;
  readonly format: string;
  readonly asOf: number;
  readonly caseId: string | null;
  readonly parameters: Parameters;
}): string {
  return sha256Hex(canonicalJson(asked)).slice(0, 16);
}

export function reportReference(name: string, input: ReportInput): string {
  const { format, asOf } = input;
  return referenceOf({ name, format, asOf, caseId: null, parameters: reportParameters(input) });
}

/** The period as moments. Throws RangeError if it is empty. */
export function periodOf(input: ReportInput): Period {
  return { source: input.source, asOf: input.asOf, ...momentsOf(input) };
}

/** The first moment of a period of days and the first one after it, ISO 8601 UTC. Throws RangeError if the period is empty. */
export function momentsOf({ from, to, timeZone }: Pick<ReportInput, 'from' | 'to' | 'timeZone'>): {
  readonly from: string;
  readonly to: string;
} {
  if (!(from < to)) throw new RangeError(`the period from ${from} to ${to} has no day in it`);
  return { from: startOfDay(from, timeZone), to: startOfDay(to, timeZone) };
}

/** The frame of a report's pages. */
export function reportFrame(name: string, title: string, input: ReportInput): Frame {
  return {
    title,
    owner: input.profile?.name ?? input.sourceName,
    footer: `Reference ${reportReference(name, input)} · ${formatPeriod(input.from, input.to)} (${input.timeZone}) · as of entry ${formatCount(input.asOf)}`,
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
