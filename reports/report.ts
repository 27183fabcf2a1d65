import { startOfDay } from '../src/core/zoned-days.ts';
import { canonicalJson } from '../src/crypto/canonical.ts';
import { sha256Hex } from '../src/crypto/hash.ts';
import type { ControllerProfile } from '../src/law/profile.ts';
import type { RegimeTable } from '../src/law/regime-table.ts';
import type { History } from '../src/store/queries/history.ts';
import type { BannerNames } from '../src/store/queries/history-banners.ts';
import type { Period } from '../src/store/queries/scope.ts';
import { formatCount, formatPeriod } from './format.ts';
import type { Frame } from './render/blocks.ts';

export type ReportFormat = 'pdf' | 'csv' | 'json' | 'html';

/** A signed tree head to print: the published note and its content. */
export interface CheckpointToPrint {
  readonly note: string;
  readonly size: number;
  readonly rootHex: string;
  readonly keyId: string;
  /** The log's key in the form used by C2SP tools: `<name>+<key hash>+<key>`. */
  readonly verifierKey: string;
}

/** The input of every document. The same input gives the same bytes. */
export interface DocumentInput {
  readonly source: string;
  readonly sourceName: string;
  /** The last ledger entry that the document takes into account. */
  readonly asOf: number;
  /** IANA name; days are days of this zone. */
  readonly timeZone: string;
  /**
   * When it is made, which is its printed date and decides what is late. ISO 8601 UTC, from the caller's clock, or
   * given in order to reproduce it.
   */
  readonly generatedAt: string;
  /** Version of the program. */
  readonly version: string;
  readonly profile: ControllerProfile | null;
  readonly history: History;
  /** The officers' names for the source's banners at asOf; absent: none. */
  readonly bannerNames?: BannerNames;
  readonly checkpoint: CheckpointToPrint | null;
  /** True: every page is marked SAMPLE. */
  readonly sample: boolean;
  /** The deadline rules in force (REGIMES_FILE); absent: the built-in ones. */
  readonly regimes?: RegimeTable;
  /** SHA-256 of the settings for reading this source's payloads (field and event names, assumed offset). */
  readonly mappingSha256?: string;
  readonly language: 'en';
}

export interface ReportInput extends DocumentInput {
  readonly format: ReportFormat;
  /** Dates YYYY-MM-DD in the time zone; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  /** A subject whose history is appended, if the report supports it; absent: none. */
  readonly subject?: string;
}

/** A document about a period. Add new ones to the list in reports/index.ts. */
export interface Report {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  /** One sentence: its content and for whom it is. */
  readonly description: string;
  readonly formats: readonly [ReportFormat, ...ReportFormat[]];
  /** It shows repeats and refusals, so their counters are recorded before it is made (`counters.observed`). */
  readonly tellsCounters: boolean;
  /** It can append the history of one subject. */
  readonly takesSubject: boolean;
  /** The file, in pieces. Throws RangeError for an unknown format or an empty period. */
  produce(input: ReportInput): AsyncIterable<Uint8Array>;
}

/** Digest of a value too long to be a parameter. Maps are treated as lists of pairs. */
export function digestOf(value: unknown): string {
  const plain: unknown = JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (part instanceof Map ? [...(part as Map<unknown, unknown>)] : part)),
  );
  return sha256Hex(canonicalJson(plain));
}

export type Parameters = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Everything from which a document is made besides asOf and the entries up to it: with the same parameters and asOf it
 * can be reproduced byte for byte. Content of files and settings is identified by its SHA-256. Recorded with the
 * document (`document.produced`).
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
  // The identifier itself is not stored in the entry; it must be given again to reproduce the report.
  return {
    ...frameParameters(input),
    from,
    to,
    ...(subject === undefined ? {} : { subjectSha256: digestOf(subject) }),
  };
}

/** The reference printed in a document: 16 hex digits over the parameters. The id of the registered document begins with it. */
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

/** The period as times. Throws RangeError if it is empty. */
export function reportPeriod(input: ReportInput): Period {
  return { source: input.source, asOf: input.asOf, ...momentsOf(input) };
}

/** The first moment of a period of days and the first moment after it, ISO 8601 UTC. Throws RangeError if the period is empty. */
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
