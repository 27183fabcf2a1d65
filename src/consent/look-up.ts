import { randomUUID } from 'node:crypto';
import {
  createTextCitation,
  loadPolicyTextIntervals,
  type PolicyTextInterval,
  type TextKnown,
} from '../../reports/policy-texts.ts';
import { differencesOf } from '../../reports/reconciliation/agreement.ts';
import { type SaidSignals, signalsOf } from '../../reports/signal-words.ts';
import type { Clock } from '../core/clock.ts';
import { ALL_PURPOSES, doubtWords } from '../core/consent-judgement.ts';
import {
  type BannerStanding,
  type PurposeState,
  standingAt,
  type TimedDecision,
  timelineOf,
} from '../core/consent-timeline.ts';
import { unknownSource } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { subjectForms, subjectOfEmail } from '../core/subject.ts';
import { addDays, type ReadTime, readTime, startOfDay } from '../core/zoned-days.ts';
import { appendAction } from '../ledger/append-action.ts';
import { createCited, UntrustedEntry } from '../ledger/cited.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ProofOptions } from '../ledger/prove-entry.ts';
import { readPolicyText } from '../policy-texts/policy-text.ts';
import { createHistory, type History } from '../store/queries/history.ts';
import { type BannerEvidence, type BannerNames, createBannerCitation } from '../store/queries/history-banners.ts';
import type { DecisionRow } from '../store/queries/history-decisions.ts';
import type { Query, Store } from '../store/store.ts';

/** Includes the options for checking entries before an answer cites them. */
export interface LookUpDeps extends ProofOptions {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly sources: { findAny(slug: string): Source | null };
}

interface LookUpRequest {
  readonly source: string;
  /** An e-mail address, a visitor hash, or the id of a consent record or decision. */
  readonly identifier: string;
  /** ISO 8601 UTC: the requested time. */
  readonly at: string;
  /** The ledger's last projected entry. */
  readonly asOf: number;
  readonly actor: string;
  /** Encloses the visible texts of the policies. */
  readonly withTexts?: boolean;
}

/** The person whose records were found, and how the identifier led to them. */
interface FoundSubject {
  readonly by: 'email' | 'record' | 'subject';
  /** In the forms used in the records; empty if the record does not name a visitor. */
  readonly subjects: readonly string[];
  readonly rows: readonly DecisionRow[];
}

/** A decision as cited in an answer. */
export interface CitedDecision {
  readonly decisionId: string;
  readonly recordId: string | null;
  readonly bannerId: string | null;
  readonly at: string;
  /** The basis of the time. */
  readonly timeBasis: string;
  readonly outcomes: Readonly<Record<string, PurposeState>>;
  readonly expiresAt: string | null;
  readonly disputed: boolean;
  /** Contradictions between its records, one sentence each. */
  readonly contradictions: readonly string[];
  /** The request that it carries out. */
  readonly caseId: string | null;
  readonly entries: readonly {
    readonly seq: number;
    readonly wayIn: DecisionRow['via'];
    readonly receivedAt: string;
    readonly commitment: string;
    /** Verdict on the signature of a delivery; null for other channels. */
    readonly signature: string | null;
  }[];
  readonly policy: {
    readonly policyId: string | null;
    readonly version: string | null;
    readonly known: TextKnown;
    readonly texts: readonly CitedText[];
  };
  readonly banner: readonly BannerEvidence[];
  /** What accompanies the choice: TCF and GPP strings, Global Privacy Control …; null: nothing. */
  readonly signals: SaidSignals | null;
}
interface CitedText extends PolicyTextInterval {
  /** The visible text; undefined if not requested, null if it was erased. */
  readonly lines?: readonly string[] | null;
}

export type LookUp =
  | {
      readonly outcome: 'found';
      readonly source: string;
      readonly by: FoundSubject['by'];
      readonly subjects: readonly string[];
      readonly at: string;
      readonly asOf: number;
      /** The consent at that time, according to everything known now. */
      readonly standing: readonly BannerStanding[];
      /** The consent according to what was known at that time; null: it is the same. */
      readonly knownThen: readonly BannerStanding[] | null;
      /** The decisions that determined it, and those that became known later. */
      readonly decisions: readonly CitedDecision[];
      /** The officers' names for the source's banners. */
      readonly bannerNames: BannerNames;
      /** The person's decisions in total, and those made after that time. */
      readonly total: number;
      readonly later: number;
      /** The entry that records this look-up. */
      readonly recorded: number;
    }
  | { readonly outcome: 'not-found'; readonly by: FoundSubject['by']; readonly recorded: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** An entry that the answer would cite differs from what was sealed, so no answer is given. */
export type Untrusted = { readonly outcome: 'untrusted'; readonly problem: string };

/** The most records read for one person. More cannot belong to a single person. */
const ROWS = 20_000;

/**
 * A person's consent at a given time: per banner and purpose, by which decision, under which policy text, with which
 * banner evidence, and what contradicts it (GDPR Art. 7(1)). Each look-up is an entry, with a keyed hash instead of the
 * identifier.
 */
export function lookUpConsent(deps: LookUpDeps, request: LookUpRequest): Promise<LookUp | Untrusted> {
  return fromSoundEntries(deps, request.asOf, (sound) => answerLookUp(sound, request));
}

/**
 * The time of a look-up as typed: see `readTime`. A day means its end, because choices made on that day count; today
 * means now.
 */
export function readLookUpTime(text: string, timeZone: string, now: string): ReadTime {
  const start = readTime(text, timeZone);
  if (start.problem !== undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return start;
  const end = new Date(Date.parse(startOfDay(addDays(text, 1), timeZone)) - 1).toISOString();
  return { at: start.at <= now && now < end ? now : end };
}

/**
 * Returns the result of `answer` after checking every entry that it read: commitment, MAC, and inclusion under a signed
 * root. Entries appended by `answer` itself are not checked.
 */
export async function fromSoundEntries<T>(
  deps: LookUpDeps,
  asOf: number,
  answer: (deps: LookUpDeps) => Promise<T>,
): Promise<T | Untrusted> {
  const cited = createCited(asOf);
  try {
    const result = await answer({ ...deps, store: { read: cited.over(deps.store.read) } });
    await cited.assertSound(deps);
    return result;
  } catch (error) {
    if (error instanceof UntrustedEntry) return { outcome: 'untrusted', problem: error.message };
    throw error;
  }
}

async function answerLookUp(deps: LookUpDeps, request: LookUpRequest): Promise<LookUp> {
  const { source, at, asOf } = request;
  const now = deps.clock().toISOString();
  if (Number.isNaN(Date.parse(at))) return { outcome: 'refused', problems: [`Invalid time "${at}".`] };
  if (at > now) return { outcome: 'refused', problems: ['The time is in the future.'] };
  const found = await findSubject(deps, request);
  if ('outcome' in found) return found;
  const recorded = await recordLookUp(deps, request, found);
  if (found.rows.length === 0) return { outcome: 'not-found', by: found.by, recorded };

  const timeline = timelineOf(found.rows);
  const standing = standingAt(timeline, at);
  const then = timelineOf(found.rows.filter((row) => row.received_at <= at));
  const knownThen = standingAt(then, at);
  const cited = new Set([...standing, ...knownThen].flatMap(({ purposes }) => purposes.map((one) => one.decisionId)));
  const history = createHistory(deps.store.read);
  const cite = await createCitations(history, { source, asOf }, timeline);
  const decisions: CitedDecision[] = [];
  for (const decision of timeline) {
    if (!cited.has(decision.decisionId)) continue;
    const one = cite(decision);
    decisions.push(request.withTexts === true ? await withTexts(history, request, one) : one);
  }
  return {
    outcome: 'found',
    source,
    by: found.by,
    subjects: found.subjects,
    at,
    asOf,
    standing,
    knownThen: JSON.stringify(knownThen) === JSON.stringify(standing) ? null : knownThen,
    decisions,
    bannerNames: await history.bannerNames(request),
    total: timeline.length,
    later: timeline.filter((decision) => decision.at > at).length,
    recorded,
  };
}

/** Finds the person to whom an identifier leads, and reads their records. */
export async function findSubject(
  deps: Pick<LookUpDeps, 'store' | 'sources'>,
  { source, identifier, asOf }: Pick<LookUpRequest, 'source' | 'identifier' | 'asOf'>,
): Promise<FoundSubject | Extract<LookUp, { outcome: 'refused' }>> {
  const known = deps.sources.findAny(source);
  if (known === null) return { outcome: 'refused', problems: [unknownSource(source)] };
  const given = identifier.trim();
  if (given === '' || given.length > 500)
    return { outcome: 'refused', problems: ['Enter an e-mail address, a visitor hash or the id of a record.'] };
  const rows = (query: Query) =>
    query.selectFrom('decision_history').selectAll().where('source', '=', source).where('seq', '<=', asOf);
  const { read } = deps.store;
  if (given.includes('@')) {
    const recipe = known.options.subjectRecipe;
    if (recipe === null)
      return {
        outcome: 'refused',
        problems: [
          'The e-mail hash recipe of this source is not configured: use the visitor hash or the id of a record.',
        ],
      };
    return ofSubjects('email', subjectForms(subjectOfEmail(given, recipe)));
  }
  const record = await rows(read)
    .where('decision_id', 'in', [given, ...versionsOf(given)])
    .orderBy('seq')
    .orderBy('part')
    .execute();
  const [first] = record;
  if (first === undefined) return ofSubjects('subject', subjectForms(given));
  return first.subject === null
    ? { by: 'record', subjects: [], rows: record }
    : ofSubjects('record', subjectForms(first.subject));

  async function ofSubjects(by: FoundSubject['by'], forms: readonly string[]): Promise<FoundSubject | Refusal> {
    const ofForms = rows(read)
      .clearSelect()
      .select('decision_id')
      .where('subject', 'in', [...forms]);
    const found = await rows(read)
      .where('decision_id', 'in', ofForms)
      .orderBy('seq')
      .limit(ROWS + 1)
      .execute();
    if (found.length > ROWS) {
      const problems = [`This identifier has more than ${ROWS} records, so it cannot belong to one person.`];
      return { outcome: 'refused', problems };
    }
    // A decision belongs to the first subject that its records name; all of its records are used to judge it.
    const owners = new Map<string, string>();
    for (const { decision_id, subject } of found)
      if (subject !== null && !owners.has(decision_id)) owners.set(decision_id, subject);
    const all = found.filter(({ decision_id }) => forms.includes(owners.get(decision_id) ?? ''));
    const subjects = [...new Set(all.flatMap(({ decision_id }) => owners.get(decision_id) ?? []))].sort();
    return { by, subjects, rows: all };
  }
}
type Refusal = Extract<LookUp, { outcome: 'refused' }>;

/** The decisions that a record id may have: one, or several if the id is a visitor's (projections/decisions.ts). */
function versionsOf(recordId: string): readonly string[] {
  const most = 50;
  return Array.from({ length: most }, (_, at) => (at === 0 ? `r:${recordId}` : `v${at + 1}:${recordId}`));
}

/** Records each look-up of personal data: who looked, when, about which time, and a keyed hash of the subject. */
export async function recordLookUp(
  { ledger, clock }: Pick<LookUpDeps, 'ledger' | 'clock'>,
  request: Pick<LookUpRequest, 'source' | 'identifier' | 'actor'> & { readonly at: string | null },
  found: FoundSubject,
): Promise<number> {
  // The same person always has the same hash, whichever identifier was used, in all look-ups of this installation.
  const [about = ''] = [...subjectForms((found.subjects[0] ?? request.identifier).toLowerCase())].sort();
  const { seq } = await appendAction(
    ledger,
    request.source,
    {
      action: 'consent.looked-up',
      actor: request.actor,
      by: found.by,
      about: ledger.keyOf('action', 'consent.looked-up', request.source, about).toString('hex'),
      at: request.at,
      records: found.rows.length,
    },
    ['consent.looked-up', randomUUID()],
    clock().toISOString(),
  );
  return seq;
}

/** Creates the citations of a timeline's decisions. Reads policy texts, banner evidence and verdicts once. */
async function createCitations(
  history: History,
  scope: { readonly source: string; readonly asOf: number },
  timeline: readonly TimedDecision<DecisionRow>[],
): Promise<(decision: TimedDecision<DecisionRow>) => CitedDecision> {
  const policies = new Set(timeline.flatMap(({ rows }) => rows.flatMap(({ policy_id }) => policy_id ?? [])));
  const from = timeline[0]?.at ?? '';
  const intervals =
    policies.size === 0 ? [] : await loadPolicyTextIntervals(history.textLooks(scope, policies), from, END_OF_TIME);
  const citeText = createTextCitation(intervals);
  const citeBanner = createBannerCitation(await history.bannerEvidence(scope));
  const deliveries = timeline.flatMap(({ rows }) => rows.filter(({ via }) => via === 'webhook').map(({ seq }) => seq));
  const verdicts = await history.signatures(scope, deliveries);
  return (decision) => {
    const { rows, at, bannerId } = decision;
    const [first] = rows;
    const policyId = rows.find(({ policy_id }) => policy_id !== null)?.policy_id ?? null;
    const { known, texts } = citeText({ policy_id: policyId, at });
    return {
      decisionId: decision.decisionId,
      recordId: first.record_id,
      bannerId,
      at,
      timeBasis: Number(first.occurred_counts) === 1 ? first.occurred_basis : 'received',
      outcomes: Object.fromEntries(decision.outcomes),
      expiresAt: decision.expiresAt,
      disputed: decision.disputed,
      contradictions: [
        ...rows.flatMap(({ doubts }) => doubtWords(doubts)),
        ...rows.slice(1).flatMap((row) => differencesOf(first, row)),
      ],
      caseId: first.case_id,
      entries: rows.map((row) => ({
        seq: row.seq,
        wayIn: row.via,
        receivedAt: row.received_at,
        commitment: row.commitment,
        signature: verdicts.get(row.seq) ?? null,
      })),
      policy: {
        policyId,
        version: rows.find(({ policy_version }) => policy_version !== null)?.policy_version ?? null,
        known,
        texts,
      },
      banner: citeBanner({ bannerId, at }),
      signals: signalsOf(rows),
    };
  };
}

export const END_OF_TIME = '9999-12-31T23:59:59.999Z';
async function withTexts(
  history: History,
  { source, asOf }: Pick<LookUpRequest, 'source' | 'asOf'>,
  decision: CitedDecision,
): Promise<CitedDecision> {
  const texts: CitedText[] = [];
  for (const text of decision.policy.texts) {
    const [entry] = text.textSha256 === null ? [] : await history.rawEntries({ source, asOf }, [text.bodySeq]);
    const lines =
      text.textSha256 === null ? [] : entry?.body == null ? null : readPolicyText(entry.body, text.contentType).lines;
    texts.push({ ...text, lines });
  }
  return { ...decision, policy: { ...decision.policy, texts } };
}

/** The result of a look-up in words, the same on the command line and on the page. */
export const purposeStateWords: Readonly<Record<PurposeState, string>> = {
  granted: 'granted',
  refused: 'refused',
  withdrawn: 'withdrawn',
  disputed: 'disputed: not proven as granted',
  unclear: 'unclear: a later choice could not be read',
  expired: 'expired',
  terminated: 'terminated',
  invalidated: 'invalidated',
};

const timeBasisWords: Readonly<Record<string, string>> = {
  payload: 'as the delivery states',
  row: 'as the consent log states',
  received: 'time of arrival',
  'assumed-offset': 'as stated, UTC offset assumed',
  officer: 'as recorded by an officer',
};

/** The basis of a decision's time. */
export function timeBasisWord(basis: string): string {
  return timeBasisWords[basis] ?? basis;
}

export function purposeWord(purpose: string): string {
  return purpose === ALL_PURPOSES ? 'all purposes (none named)' : purpose;
}

export function bannerPhrase(bannerId: string | null, names: BannerNames): string {
  if (bannerId === null) return 'no banner named';
  const name = names.get(bannerId);
  return name === undefined ? `banner ${bannerId}` : `banner ${name} (${bannerId})`;
}

export const wayInWords: Readonly<Record<CitedDecision['entries'][number]['wayIn'], string>> = {
  webhook: 'delivery',
  pull: 'consent log',
  request: 'request, carried out by an officer',
};

const textWords: Readonly<Record<CitedDecision['policy']['known'], string>> = {
  seen: 'seen before and after',
  'last-seen': 'the last one seen by then',
  changing: 'one of two: it changed around that time',
  'not-yet-fetched': 'unknown: it was first fetched later',
  'never-fetched': 'unknown: never fetched',
  'policy-not-stated': 'unknown: the record names no policy',
};

/** The policy text: `policy pol-1, version 3; text seen before and after`. */
export function policyWords({ policy }: CitedDecision): string {
  if (policy.policyId === null) return 'the record names no policy';
  const version = policy.version === null ? '' : `, version ${policy.version}`;
  return `policy ${policy.policyId}${version}; text ${textWords[policy.known]}`;
}

/** When a banner was shown, according to its evidence. `time` writes an ISO 8601 UTC time for the reader. */
export function evidenceWords(
  { seq, from, to, addedAt, actor }: CitedDecision['banner'][number],
  time: (iso: string) => string,
): string {
  const period = to === null ? `since ${time(from)}` : `from ${time(from)} to ${time(to)}`;
  return `evidence ${seq}: shown ${period} according to ${actor}, added ${time(addedAt)}`;
}

/** What was known at that time, if it differs from what is known now: `marketing: refused`. */
export function standingWords(standing: readonly BannerStanding[], names: BannerNames): readonly string[] {
  return standing.flatMap(({ bannerId, purposes }) =>
    purposes.map(
      ({ purpose, state }) => `${bannerPhrase(bannerId, names)}, ${purposeWord(purpose)}: ${purposeStateWords[state]}`,
    ),
  );
}
