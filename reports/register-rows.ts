import { rebuildCase } from '../src/cases/fold.ts';
import type { CaseFolded, RequestPart } from '../src/cases/folded.ts';
import { type CaseView, identityCheckOf, viewCase } from '../src/cases/view.ts';
import { dateIn, daysBetween } from '../src/core/zoned-days.ts';
import { decidingLaw } from '../src/law/deadlines.ts';
import { mapJurisdiction } from '../src/law/jurisdictions.ts';
import { datelessText, unrecordedCodes, unrecordedText } from '../src/law/not-recorded.ts';
import { createRegimeTable, type RegimeTable } from '../src/law/regime-table.ts';
import type { CaseMoveRow, WithdrawalByRequest } from '../src/store/queries/history.ts';
import { type ReportInput, reportPeriod } from './report.ts';
import { kindWord } from './words.ts';

/**
 * The outcome of a request. 11 CCR 7102(a)(1) counts `complied`, `in-part` and `denied`; `no-match` is an answer that
 * no record could be linked; `not-recorded` is an answer without a record of what was done.
 */
const outcomes = [
  'complied',
  'in-part',
  'denied',
  'no-match',
  'not-recorded',
  'withdrawn',
  'duplicate',
  'open',
] as const;
type Outcome = (typeof outcomes)[number];

/** A request with the fields that 11 CCR 7101 requires, and its deadline. No name or address: the case id leads to them. */
export interface RegisterRow {
  readonly caseId: string;
  readonly receivedAt: string;
  readonly receiptBasis: string;
  readonly kind: CaseView['kind'];
  /** What was done about each of several rights, `kind` first; absent: there is only one. */
  readonly rights?: readonly {
    readonly kind: CaseView['kind'];
    readonly outcome: RequestPart['outcome'];
    /** As of the day of its outcome, or of the register if there is none yet. */
    readonly isLate: boolean | null;
  }[];
  readonly jurisdiction: string | null;
  /** BCP 47; null: not known. */
  readonly language: string | null;
  readonly channel: string;
  /** Id and name of the deciding law. */
  readonly regime: string;
  readonly law: string;
  readonly aimFor: string | null;
  readonly legalLimit: string | null;
  /** Codes of the laws that may apply and are not recorded here; and which they are, in words, if there is a date. */
  readonly notRecorded: readonly string[];
  readonly caveat: string | null;
  /** The controller's own target where a law is not recorded; it is no law's. */
  readonly ownTarget: string | null;
  readonly computation: readonly string[];
  readonly citation: string;
  /** When receipt was confirmed to the requester, and the legal date for it. */
  readonly acknowledgedAt: string | null;
  readonly acknowledgeBy: string | null;
  readonly identity: (typeof identityWords)[keyof typeof identityWords];
  /** When the identity was confirmed or rejected; null: neither. */
  readonly identityAt: string | null;
  readonly extension: { readonly noticeAt: string; readonly until: string | null; readonly reasons: string } | null;
  readonly state: string;
  /** When and how it was answered or refused; null while it is open. */
  readonly responseAt: string | null;
  readonly response: string | null;
  readonly basisOfDenial: string | null;
  readonly outcome: Outcome;
  /** As of the response, or of the register if there is none yet; null if no recorded law sets a date. */
  readonly isLate: boolean | null;
  /** Days from receipt to response, or until now. */
  readonly days: number;
  readonly lastEntry: number;
}

/** The requests received in the period, from the history of their moves up to asOf. */
export async function* registerRows(input: ReportInput): AsyncGenerator<RegisterRow> {
  const regimes = input.regimes ?? createRegimeTable();
  const { from, to } = reportPeriod(input);
  const withdrawals = new Map<string, WithdrawalByRequest[]>();
  for (const one of await input.history.withdrawalsByRequest(input)) {
    const known = withdrawals.get(one.caseId);
    if (known === undefined) withdrawals.set(one.caseId, [one]);
    else known.push(one);
  }
  for await (const { case_id: caseId } of input.history.caseOpenings(input)) {
    const moves = await input.history.caseMoves(input, caseId);
    const row = registerRow(moves, withdrawals.get(caseId) ?? [], input, regimes);
    // Filtered here because the receipt may have been corrected since the opening.
    if (row !== null && row.receivedAt >= from && row.receivedAt < to) yield row;
  }
}

function registerRow(
  moves: readonly CaseMoveRow[],
  withdrawals: readonly WithdrawalByRequest[],
  input: ReportInput,
  regimes: RegimeTable,
): RegisterRow | null {
  const row = rebuildCase(moves);
  if (row === null) return null;
  const { timeZone, profile, generatedAt } = input;
  const jurisdiction = row.jurisdiction === null ? null : mapJurisdiction(row.jurisdiction);
  const view = viewCase({ ...row, jurisdiction }, { regimes, timeZone, profile, now: generatedAt });
  const { folded, kind } = view;
  const dates = datesOf(view);
  const merged = (folded.duplicates ?? []).map(
    (one) =>
      `same request as ${one.caseId}, received ${dateIn(one.receivedAt, timeZone)}: the earliest receipt governs`,
  );
  const responded = responseOf(view, row.closed_at, withdrawals);
  const until = dateIn(responded.responseAt ?? generatedAt, timeZone);
  const { extension } = folded;
  const rights = view.parts.map(({ kind: right, outcome, at, deadline: { limit } }) => ({
    kind: right,
    outcome,
    isLate: limit === null ? null : (at === null ? until : dateIn(at, timeZone)) > limit,
  }));
  return {
    caseId: row.case_id,
    receivedAt: row.receipt_at,
    receiptBasis: row.receipt_basis,
    kind,
    ...(rights.length === 0 ? {} : { rights }),
    jurisdiction: row.jurisdiction,
    language: row.language,
    channel: row.channel,
    ...dates,
    computation: [...dates.computation, ...merged],
    acknowledgedAt: folded.acknowledgedAt,
    ...identityOf(view),
    extension:
      extension === null ? null : { noticeAt: extension.noticeAt, until: extension.until, reasons: extension.reasons },
    state: row.state,
    ...responded,
    isLate: dates.legalLimit === null ? null : until > dates.legalLimit || rights.some(({ isLate }) => isLate === true),
    days: Math.max(0, daysBetween(dateIn(row.receipt_at, timeZone), until)),
    lastEntry: row.last_seq,
  };
}

function datesOf({
  deadline,
}: CaseView): Pick<
  RegisterRow,
  | 'regime'
  | 'law'
  | 'aimFor'
  | 'legalLimit'
  | 'notRecorded'
  | 'caveat'
  | 'ownTarget'
  | 'computation'
  | 'citation'
  | 'acknowledgeBy'
> {
  const law = decidingLaw(deadline);
  const others = deadline.laws
    .filter((one) => one !== law)
    .map((one) => `also applies: ${one.name}, due ${one.limit} (${one.citation})`);
  const caveat = law === null ? null : unrecordedText(deadline);
  return {
    regime: law?.id ?? 'none',
    law: law?.name ?? datelessText(deadline) ?? '',
    aimFor: deadline.aimFor,
    legalLimit: deadline.limit,
    notRecorded: unrecordedCodes(deadline.unrecorded),
    caveat,
    ownTarget: deadline.ownTarget,
    computation:
      law === null ? deadline.says : [...law.explanation, ...others, ...(caveat === null ? [] : [`but ${caveat}`])],
    citation: law?.citation ?? '',
    acknowledgeBy: deadline.acknowledgeBy,
  };
}

const identityWords = {
  'not-allowed': 'no check allowed',
  'not-looked-at': 'not looked at',
  'no-doubt': 'no reasonable doubt',
  asked: 'asked',
  confirmed: 'confirmed',
  failed: 'not confirmed',
  recheck: 'to be checked again',
} as const;

function identityOf({ folded, deadline }: CaseView): Pick<RegisterRow, 'identity' | 'identityAt'> {
  const check = identityCheckOf(folded, deadline);
  const isDecided = check === 'confirmed' || check === 'failed' || check === 'no-doubt';
  return { identity: identityWords[check], identityAt: isDecided ? folded.identity.checkedAt : null };
}

type Responded = Pick<RegisterRow, 'responseAt' | 'response' | 'basisOfDenial' | 'outcome'>;

function responseOf(
  { folded, kind }: CaseView,
  closedAt: string | null,
  withdrawals: readonly WithdrawalByRequest[],
): Responded {
  const { answer, refusal, withdrawal, duplicateOf } = folded;
  if (answer !== null) {
    const parts = answer.parts.length > 0 ? answer.parts : rightsDone(folded.parts ?? []);
    const done = { ...answer, parts };
    const denied = parts.filter(({ outcome }) => outcome !== 'done');
    return {
      responseAt: answer.at,
      response: `Answered by ${answer.channel}. ${doneWords(done, kind, withdrawals)}`,
      basisOfDenial: denied.length === 0 ? null : denied.map(({ ground = '' }) => ground).join('; '),
      outcome: outcomeOf(done, kind, withdrawals),
    };
  }
  if (refusal !== null)
    return {
      responseAt: refusal.at,
      response: `Refused: ${refusal.reasons}`,
      basisOfDenial: refusal.basis,
      outcome: 'denied',
    };
  if (withdrawal !== null)
    return {
      responseAt: withdrawal.at,
      response: 'Withdrawn by the requester.',
      basisOfDenial: null,
      outcome: 'withdrawn',
    };
  if (duplicateOf !== null)
    return {
      responseAt: closedAt,
      response: `Merged into ${duplicateOf}: the same request, answered there.`,
      basisOfDenial: null,
      outcome: 'duplicate',
    };
  return { responseAt: null, response: null, basisOfDenial: null, outcome: 'open' };
}

/** What was recorded about each of several rights, as parts of the answer. */
function rightsDone(parts: readonly RequestPart[]): Answer['parts'] {
  return parts.flatMap(({ kind, outcome, ground, note }) =>
    outcome === null
      ? []
      : {
          what: kindWord(kind),
          outcome,
          ...(ground === null ? {} : { ground }),
          ...(note === null ? {} : { note }),
        },
  );
}

type Answer = NonNullable<CaseFolded['answer']>;

const wantsCopy = (kind: string) => kind === 'access' || kind === 'portability';
const partWords = { done: 'done', partly: 'done in part', refused: 'refused' } as const;

/** What was done, in words: by part if that was recorded, otherwise as far as the content of the answer shows. */
function doneWords(
  { parts, disclosure }: Answer,
  kind: CaseView['kind'],
  withdrawals: readonly WithdrawalByRequest[],
): string {
  if (parts.length > 0)
    return parts
      .map(({ what, outcome, ground, note }) => {
        const why = [ground, note].filter((text) => text !== undefined).join('; ');
        return `${what}: ${partWords[outcome]}${why === '' ? '' : ` (${why})`}.`;
      })
      .join(' ');
  if (disclosure === 'no-match') return 'No record could be linked to the requester, who was told so.';
  if (wantsCopy(kind))
    return disclosure === 'full'
      ? 'A copy of the records was given.'
      : 'The categories of data were given, but no record of the person.';
  if (withdrawals.length > 0) {
    const named = [...new Set(withdrawals.flatMap(({ purposes }) => purposes))].sort();
    const entries = withdrawals.map(({ seq }) => seq).join(', ');
    return `Consent was withdrawn in the consent records: ${named.length === 0 ? 'all purposes' : named.join(', ')} (${withdrawals.length === 1 ? 'entry' : 'entries'} ${entries}).`;
  }
  return `What was done about the ${kindWord(kind).toLowerCase()} was not recorded.`;
}

function outcomeOf(
  { parts, disclosure }: Answer,
  kind: CaseView['kind'],
  withdrawals: readonly WithdrawalByRequest[],
): Outcome {
  if (parts.length > 0) {
    if (parts.every(({ outcome }) => outcome === 'done')) return 'complied';
    return parts.every(({ outcome }) => outcome === 'refused') ? 'denied' : 'in-part';
  }
  if (disclosure === 'no-match') return 'no-match';
  // Only parts can tell whether the named purposes were all that was requested.
  if (withdrawals.length > 0)
    return withdrawals.every(({ purposes }) => purposes.length === 0) ? 'complied' : 'in-part';
  if (!wantsCopy(kind)) return 'not-recorded';
  return disclosure === 'full' ? 'complied' : 'in-part';
}

/** Requests of one kind, or of all, as counted by 11 CCR 7102(a). */
export interface RegisterTotals {
  readonly kind: CaseView['kind'] | null;
  readonly received: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** By legal limit, for requests answered or refused and for open ones. */
  readonly answered: number;
  /** Of those answered or refused, the ones with a legal limit: without one nobody can say whether they were in time. */
  readonly answeredWithLimit: number;
  /** Requests under a law that is not recorded here, with a limit of another law or without one. */
  readonly notRecorded: number;
  readonly answeredInTime: number;
  readonly openLate: number;
  /** Days from receipt to answer or refusal, median and mean; null if there are none. */
  readonly medianDays: number | null;
  readonly meanDays: number | null;
}

/** Totals by kind, in the order of their first request, and of all. Uses one number of memory per request. */
export async function registerTotals(input: ReportInput): Promise<{
  readonly byKind: readonly RegisterTotals[];
  readonly all: RegisterTotals;
}> {
  const kinds = new Map<CaseView['kind'], Tally>();
  const all = emptyTally();
  for await (const row of registerRows(input)) {
    addTo(all, row);
    // Each right of a request counts among those of its kind.
    for (const { kind, outcome, isLate } of row.rights ?? [{ ...row, outcome: null }]) {
      const own = kinds.get(kind) ?? emptyTally();
      kinds.set(kind, own);
      const isAnswered = outcome !== null && row.responseAt !== null;
      addTo(own, { ...row, isLate, ...(isAnswered ? { outcome: rightOutcomes[outcome] } : {}) });
    }
  }
  return { byKind: [...kinds].map(([kind, tally]) => totalsOf(kind, tally)), all: totalsOf(null, all) };
}

const rightOutcomes = { done: 'complied', partly: 'in-part', refused: 'denied' } as const;

interface Tally {
  received: number;
  readonly outcomes: Record<Outcome, number>;
  answeredWithLimit: number;
  notRecorded: number;
  answeredInTime: number;
  openLate: number;
  readonly days: number[];
}

function emptyTally(): Tally {
  const zero = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  return {
    received: 0,
    outcomes: zero,
    answeredWithLimit: 0,
    notRecorded: 0,
    answeredInTime: 0,
    openLate: 0,
    days: [],
  };
}

function addTo(tally: Tally, row: RegisterRow): void {
  tally.received += 1;
  tally.outcomes[row.outcome] += 1;
  if (row.notRecorded.length > 0) tally.notRecorded += 1;
  if (row.outcome === 'open') {
    if (row.isLate === true) tally.openLate += 1;
  } else if (row.outcome !== 'withdrawn' && row.outcome !== 'duplicate') {
    tally.days.push(row.days);
    if (row.isLate !== null) tally.answeredWithLimit += 1;
    if (row.isLate === false) tally.answeredInTime += 1;
  }
}

function totalsOf(kind: CaseView['kind'] | null, { days, ...tally }: Tally): RegisterTotals {
  const sorted = [...days].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
  return {
    kind,
    ...tally,
    answered: days.length,
    medianDays: days.length === 0 ? null : (median ?? null),
    meanDays: days.length === 0 ? null : days.reduce((sum, n) => sum + n, 0) / days.length,
  };
}
