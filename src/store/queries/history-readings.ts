import { parseJson } from '../../core/json.ts';
import type { ReadingChange } from '../../core/reading-change.ts';
import type { Query } from '../store.ts';
import type { Scope } from './scope.ts';

/** A new version's reading of a source's records that was put in force (`reading.adopted`). */
export interface AdoptedReading {
  /** Its entry, and when it was recorded. */
  readonly seq: number;
  readonly at: string;
  /** Versions of the reading. */
  readonly before: number;
  readonly version: number;
  readonly changes: readonly { readonly change: ReadingChange; readonly count: number }[];
  /** The entries that are read differently since, as `12-14,19`. */
  readonly entries: string;
  /** Documents made with the earlier reading that cover such an entry. */
  readonly documents: readonly EarlierDocument[];
  /** How many documents were made with the earlier reading in all. */
  readonly documentsBefore: number;
}

/** A document that was made before a reading was put in force. */
export interface EarlierDocument {
  readonly documentId: string;
  readonly name: string;
  readonly seq: number;
  readonly at: string;
  readonly caseId: string | null;
}

/** Documents that are named. */
const NAMED = 100;

export function createReadingQueries(query: Query) {
  async function details(scope: Scope, action: string): Promise<{ seq: number; at: string; details: string }[]> {
    const rows = await query
      .selectFrom('action_history')
      .select(['seq', 'received_at', 'details'])
      .where('source', '=', scope.source)
      .where('action', '=', action)
      .where('seq', '<=', scope.asOf)
      .orderBy('seq')
      .execute();
    return rows.map((row) => ({ seq: Number(row.seq), at: row.received_at, details: row.details }));
  }

  return {
    /** The readings that were put in force for a source up to asOf; none: every record is read as it always was. */
    async adoptedReadings(scope: Scope): Promise<readonly AdoptedReading[]> {
      const adopted = await details(scope, 'reading.adopted');
      if (adopted.length === 0) return [];
      const documents = (await details(scope, 'document.produced')).map(({ seq, at, details: text }) => ({
        ...(parseJson(text) as Produced),
        seq,
        at,
      }));
      const readings: AdoptedReading[] = [];
      for (const { seq, at, details: text } of adopted) {
        const { before, version, changes, entries } = parseJson(text) as Adopted;
        const earlier = documents.filter((document) => document.seq < seq);
        const times = earlier.length === 0 ? [] : await timesOf(scope, rangesIn(entries));
        const concerned = earlier.filter((document) => covers(document, times));
        readings.push({
          ...{ seq, at, before, version, changes, entries },
          documents: concerned
            .slice(0, NAMED)
            .map(({ documentId, name, caseId, ...made }) => ({ documentId, name, caseId, seq: made.seq, at: made.at })),
          documentsBefore: earlier.length,
        });
      }
      return readings;
    },
  };

  /** Entries in these ranges with the day of what they record, as read now. */
  async function timesOf(
    { source }: Scope,
    ranges: readonly Range[],
  ): Promise<readonly { seq: number; day: string }[]> {
    const [first, last] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
    const rows = await query
      .selectFrom('decision_history')
      .select(['seq', 'at'])
      .where('source', '=', source)
      .where('seq', '>=', first)
      .where('seq', '<=', last)
      .execute();
    const days = new Map(rows.map(({ seq, at }) => [Number(seq), at.slice(0, 10)]));
    return ranges.flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, place) => ({ seq: from + place, day: days.get(from + place) ?? '' })),
    );
  }
}

interface Adopted {
  readonly before: number;
  readonly version: number;
  readonly changes: AdoptedReading['changes'];
  readonly entries: string;
}

interface Produced {
  readonly documentId: string;
  readonly name: string;
  readonly asOf: number;
  readonly caseId: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** `12-14,19` as numbers. */
export function rangesIn(entries: string): readonly Range[] {
  return entries.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return from === undefined || to === undefined || !(from > 0 && to >= from) ? [] : [{ from, to }];
  });
}

/**
 * Whether a document may show one of these entries: it was made as of a later one, and its period, if it has one, includes the day. The
 * time of a record may itself be what changed, so a record without a known day counts in any period.
 */
function covers({ asOf, parameters }: Produced, entries: readonly { seq: number; day: string }[]): boolean {
  const [from, to] = [parameters['from'], parameters['to']];
  return entries.some(
    ({ seq, day }) =>
      seq <= asOf &&
      (typeof from !== 'string' || typeof to !== 'string' || day === '' || (day >= dayBefore(from) && day <= to)),
  );
}

/** Periods are days of a time zone, times are UTC. */
function dayBefore(day: string): string {
  const time = Date.parse(`${day.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time - 86_400_000).toISOString().slice(0, 10);
}
