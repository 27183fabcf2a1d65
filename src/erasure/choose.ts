import { subjectsOfCase } from '../cases/match-subject.ts';
import { findSubject } from '../consent/look-up.ts';
import { unknownCase } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { canonicalSubject, subjectForms } from '../core/subject.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import { chunksOf } from '../ledger/erase.ts';
import { encodingOf } from '../projections/load-entries.ts';
import { inPortions } from '../store/queries/entry-pages.ts';
import { seqsSettling } from '../store/queries/settled-findings.ts';
import type { Query } from '../store/store.ts';
import { mentionsOf } from './mentions.ts';
import { type Chosen, type ErasureDeps, type Kept, pinnedReason } from './plan.ts';

/** An impossible choice, with sentences saying why. */
type NotChosen = { readonly outcome: 'refused'; readonly problems: readonly string[] };
type Choice = { readonly outcome: 'chosen'; readonly chosen: Chosen } | NotChosen;

const refused = (...problems: string[]): NotChosen => ({ outcome: 'refused', problems });

/** What someone asks to be erased. */
export type ErasureChoice =
  | { readonly by: 'entries'; readonly entries: readonly string[] }
  | ({ readonly by: 'subject' } & SubjectRequest)
  | { readonly by: 'case'; readonly caseId: string }
  | ({ readonly by: 'period' } & PeriodRequest);

/** Finds the entries of a choice. */
export function choose(
  deps: ErasureDeps & { readonly sources: { findAny(slug: string): Source | null } },
  choice: ErasureChoice,
): Promise<Choice> {
  switch (choice.by) {
    case 'entries':
      return Promise.resolve(chooseEntries(choice.entries));
    case 'subject':
      return chooseSubject(deps, choice);
    case 'case':
      return chooseCase(deps, choice.caseId);
    case 'period':
      return choosePeriod(deps, choice);
  }
}

/** The most entries in a range. */
const RANGE = 1_000_000;

/** Entries by number: `12`, `15-20`. */
export function chooseEntries(ranges: readonly string[]): Choice {
  const seqs = new Set<number>();
  for (const range of ranges) {
    const [, first, last = first] = /^([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(range) ?? [];
    if (first === undefined) return refused(`Invalid entry "${range}": use a number or a range, e.g. 12 or 15-20.`);
    if (Number(last) < Number(first) || Number(last) - Number(first) >= RANGE)
      return refused(`Invalid range "${range}": it must be ascending and cover at most ${RANGE} entries.`);
    for (let seq = Number(first); seq <= Number(last); seq += 1) seqs.add(seq);
  }
  return { outcome: 'chosen', chosen: { by: 'entries', seqs } };
}

/** Everything about a case: its opening, every move, and access to its documents. Withdrawals recorded for it stay. */
export async function chooseCase(deps: ErasureDeps, caseId: string): Promise<Choice> {
  await deps.projector.catchUp();
  const { read } = deps.store;
  const row = await read.selectFrom('cases').selectAll().where('case_id', '=', caseId).executeTakeFirst();
  if (row === undefined) return refused(unknownCase(caseId));
  const seqs = await seqsOfCases(deps, [caseId]);
  const withdrawals = await read
    .selectFrom('decision_history')
    .select('seq')
    .where('case_id', '=', caseId)
    .where('via', '=', 'request')
    .orderBy('seq')
    .execute();
  const kept: Kept[] =
    withdrawals.length === 0
      ? []
      : [
          {
            what: 'withdrawals of consent that the case caused',
            why: 'they must still be honoured',
            hint: 'erase the person (--subject) to remove them',
            seqs: withdrawals.map(({ seq }) => seq),
          },
        ];
  const terms = [row.requester_email, row.requester_name].flatMap((term) => term ?? []);
  return { outcome: 'chosen', chosen: { by: 'case', seqs, caseIds: [caseId], terms, kept } };
}

async function seqsOfCases({ store }: ErasureDeps, caseIds: readonly string[]): Promise<readonly number[]> {
  const seqs: number[] = [];
  for (const chunk of chunksOf(caseIds))
    seqs.push(
      ...(await store.read.selectFrom('case_history').select('seq').where('case_id', 'in', chunk).execute()).map(
        ({ seq }) => seq,
      ),
    );
  return seqs;
}

interface SubjectRequest {
  readonly source: string;
  /** An e-mail address, a visitor hash, or the id of a consent record. */
  readonly identifier: string;
  /** Whether the person's requests are erased too; otherwise they stay as proof of how they were answered. */
  readonly withCases: boolean;
}

/**
 * Everything about a person at one source: decisions from any channel, look-ups, unreadable deliveries and rows that
 * name the person, and requests if wanted. Found like in `consent show`; in addition, every body is searched for the
 * identifier.
 */
export async function chooseSubject(
  deps: ErasureDeps & { readonly sources: { findAny(slug: string): Source | null } },
  { source, identifier, withCases }: SubjectRequest,
): Promise<Choice> {
  const asOf = await deps.projector.catchUp();
  const given = identifier.trim();
  const cases = await casesOf(deps, source, given);
  const found = await findSubject(deps, { source, identifier, asOf });
  // Without the source's recipe an address leads to no records, but there may be requests from it.
  if ('outcome' in found && cases.length === 0) return refused(...found.problems);
  const subjects = 'outcome' in found ? [] : found.subjects;
  const rows = 'outcome' in found ? [] : found.rows;
  const forms = [...new Set(subjects.flatMap((subject) => subjectForms(subject)))];
  const seqs = new Set(rows.map(({ seq }) => seq));
  const shared = await sharedWithOthers(deps.store.read, rows);
  for (const seq of shared) seqs.delete(seq);
  for (const seq of await lookUpsOf(deps, source, forms)) seqs.add(seq);
  // What an officer found out about a decision names it, and its reason may say more.
  const decided = [...new Set(rows.map(({ decision_id: id }) => id))];
  for (const seq of await seqsSettling(deps.store.read, source, decided)) seqs.add(seq);
  const unread = await bodiesWith(deps, source, [...forms, ...(given.includes('@') ? [given] : [])]);
  const elsewhere: number[] = [];
  const ofCases = new Set(await seqsOfCases(deps, cases));
  for (const { seq, kind, isOthers } of unread) {
    if (ofCases.has(seq) || seqs.has(seq) || shared.includes(seq)) continue;
    if (isOthers || kind === 'action' || pinnedReason(kind, null) !== null) elsewhere.push(seq);
    else seqs.add(seq);
  }
  if (withCases) for (const seq of ofCases) seqs.add(seq);
  if (seqs.size + shared.length === 0 && cases.length === 0)
    return refused('The ledger has no record of this person: check the identifier, and the source.');
  const kept: Kept[] = [];
  if (!withCases && ofCases.size > 0)
    kept.push({
      what: `${cases.length === 1 ? 'the request' : 'the requests'} ${cases.join(', ')}`,
      why: 'proof of how and when the request was answered',
      hint: '--with-cases erases it too',
      seqs: [...ofCases].sort((a, b) => a - b),
    });
  if (shared.length > 0)
    kept.push({
      what: 'deliveries that hold records of other people, too',
      why: 'a delivery can only be erased as a whole',
      hint: 'list them by number to erase them',
      seqs: shared,
    });
  if (elsewhere.length > 0)
    kept.push({
      what: 'entries that mention the identifier',
      why: 'they are records about other people, or of officers’ actions',
      hint: 'list them by number to erase them',
      seqs: elsewhere,
    });
  return {
    outcome: 'chosen',
    chosen: {
      by: 'subject',
      seqs,
      caseIds: withCases ? cases : [],
      ...(forms.length === 0 ? {} : { subject: { source, forms } }),
      terms: given.includes('@') ? [given] : [],
      kept,
    },
  };
}

/** Of the entries of a person's records, those with several events of which some are not theirs. */
async function sharedWithOthers(
  read: Query,
  rows: readonly { readonly seq: number; readonly part: number }[],
): Promise<readonly number[]> {
  const own = new Map<number, number>();
  for (const { seq } of rows) own.set(seq, (own.get(seq) ?? 0) + 1);
  const shared: number[] = [];
  for (const chunk of chunksOf([...own.keys()])) {
    const several = await read
      .selectFrom('delivery_history')
      .select(['seq', 'events'])
      .where('seq', 'in', chunk)
      .where('events', '>', 1)
      .execute();
    for (const { seq, events } of several) if ((own.get(seq) ?? 0) < events) shared.push(seq);
  }
  return shared;
}

/** Requests of a person, by address or subject. */
async function casesOf(deps: ErasureDeps, source: string, given: string): Promise<readonly string[]> {
  const rows = await deps.store.read.selectFrom('cases').selectAll().where('source', '=', source).execute();
  const email = given.includes('@') ? given.toLowerCase() : null;
  const found: string[] = [];
  for (const row of rows) {
    if (email !== null && row.requester_email?.trim().toLowerCase() === email) found.push(row.case_id);
    else if (email === null) {
      const forms = await subjectsOfCase(deps, row);
      if (forms.some((form) => canonicalSubject(form) === canonicalSubject(given))) found.push(row.case_id);
    }
  }
  return found;
}

/** Look-ups are recorded under a keyed hash of the person. */
async function lookUpsOf(deps: ErasureDeps, source: string, forms: readonly string[]): Promise<readonly number[]> {
  if (forms.length === 0) return [];
  const [about = ''] = [...subjectForms((forms[0] ?? '').toLowerCase())].sort();
  const object = deps.ledger.keyOf('action', 'consent.looked-up', source, about).toString('hex');
  const rows = await deps.store.read
    .selectFrom('action_history')
    .select('seq')
    .where('action', '=', 'consent.looked-up')
    .where('object', '=', object)
    .execute();
  return rows.map(({ seq }) => seq);
}

/** Entries per page, and bytes of content in memory at a time. */
const PAGE = { entries: 500, bytes: 4 << 20 };

/**
 * Entries of a source whose bytes or headers contain one of these texts. `isOthers`: they were read as someone else's
 * record, or belong to someone else's request. Reads every body once.
 */
async function bodiesWith(
  { store }: ErasureDeps,
  source: string,
  texts: readonly string[],
): Promise<readonly { seq: number; kind: EntryKind; isOthers: boolean }[]> {
  const isMentioned = mentionsOf(texts);
  if (isMentioned === null) return [];
  const found: { seq: number; kind: EntryKind; isOthers: boolean }[] = [];
  for (let after = 0; ; ) {
    const rows = await store.read
      .selectFrom('entries')
      .select(['seq', 'kind'])
      .where('source', '=', source)
      .where('seq', '>', after)
      .where('body', 'is not', null)
      .orderBy('seq')
      .limit(PAGE.entries)
      .execute();
    const mentioned = await seqsWith(store.read, rows, isMentioned);
    const others = await othersAmong(store.read, [...mentioned], texts);
    for (const { seq, kind } of rows) if (mentioned.has(seq)) found.push({ seq, kind, isOthers: others.has(seq) });
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.seq;
  }
}

/** Which of these entries were read, at least in part, as someone else's record, or belong to a request. */
async function othersAmong(
  read: Query,
  seqs: readonly number[],
  texts: readonly string[],
): Promise<ReadonlySet<number>> {
  if (seqs.length === 0) return new Set();
  const told = await read.selectFrom('decision_history').select(['seq', 'subject']).where('seq', 'in', seqs).execute();
  const ofCases = await read.selectFrom('case_history').select('seq').where('seq', 'in', seqs).execute();
  return new Set([
    ...told.filter(({ subject }) => subject !== null && !texts.includes(subject)).map(({ seq }) => seq),
    ...ofCases.map(({ seq }) => seq),
  ]);
}

/** Which of these entries contain the searched texts. */
async function seqsWith(
  read: Query,
  entries: readonly { readonly seq: number }[],
  isMentioned: NonNullable<ReturnType<typeof mentionsOf>>,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const seqs = entries.map(({ seq }) => seq);
  for await (const portion of inPortions(read, seqs, PAGE)) {
    const rows = await read.selectFrom('entries').select(['seq', 'meta', 'body']).where('seq', 'in', portion).execute();
    for (const { seq, meta, body } of rows) {
      const encoding = meta === null ? null : encodingOf(meta);
      if ((meta !== null && isMentioned(meta)) || (body !== null && isMentioned(body, encoding))) found.add(seq);
    }
  }
  return found;
}

interface PeriodRequest {
  /** Null: all sources. */
  readonly source: string | null;
  /** Times of receipt, ISO 8601 UTC, `to` exclusive; null: from the beginning. */
  readonly from: string | null;
  readonly to: string;
  readonly kinds: readonly EntryKind[];
}

/** Kinds that may be erased by period; officers' actions are erased by case or number. */
export const periodKinds = ['webhook', 'consent-log', 'snapshot'] as const satisfies readonly EntryKind[];

/** Everything received in a period except entries of cases, which are erased as a whole, by case. */
export async function choosePeriod(deps: ErasureDeps, request: PeriodRequest): Promise<Choice> {
  await deps.projector.catchUp();
  const { source, from, to, kinds } = request;
  let query = deps.store.read
    .selectFrom('entries')
    .leftJoin('case_history', 'case_history.seq', 'entries.seq')
    .select(['entries.seq', 'case_history.case_id'])
    .where('entries.kind', 'in', [...kinds])
    .where('entries.received_at', '<', to)
    .where('entries.body', 'is not', null)
    .orderBy('entries.seq');
  if (source !== null) query = query.where('entries.source', '=', source);
  if (from !== null) query = query.where('entries.received_at', '>=', from);
  const rows = await query.execute();
  const ofCases = rows.filter((row) => row.case_id !== null).map(({ seq }) => seq);
  const seqs = rows.filter((row) => row.case_id === null).map(({ seq }) => seq);
  if (rows.length === 0) return refused('Nothing was received in this period.');
  const kept: Kept[] =
    ofCases.length === 0
      ? []
      : [
          {
            what: 'requests of data subjects',
            why: 'a request is erased as a whole',
            hint: 'use --case',
            seqs: ofCases,
          },
        ];
  return { outcome: 'chosen', chosen: { by: 'period', seqs, kept } };
}
