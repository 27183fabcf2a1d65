import { type Action, actionSchema } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { timelineOf } from '../core/consent-timeline.ts';
import { appendAction } from '../ledger/append-action.ts';
import { createDecisionQueries, type JudgedRow } from '../store/queries/history-decisions.ts';
import { createWithdrawalQueries } from '../store/queries/history-withdrawals.ts';
import { columnsOf } from '../store/schema.ts';
import type { CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';
import { type Match, matchCase, subjectsOfCase } from './match-subject.ts';
import type { MoveDetails } from './moves.ts';
import type { CaseReading, CaseWriting } from './view.ts';

/** Kinds of request that end the subject's consent once answered (GDPR Art. 7(3), 21(3); CCPA §1798.120). */
export const withdrawingKinds: readonly string[] = ['withdraw-consent', 'opt-out', 'objection'];

/** The most subjects and banners from which one answer may withdraw: all its entries go into one transaction. */
export const WITHDRAWALS = 250;

type ConsentWithdrawn = Extract<Action, { action: 'consent.withdrawn-by-request' }>;

/**
 * Whether answering such a request withdraws consent: the subject was found, is the requester's own, and not everything
 * was refused.
 */
export function takesEffect(row: AnsweredRow, match: Match, details: MoveDetails<'answer'>): boolean {
  if (endingRight(row) === null) return false;
  if (match.status !== 'from-device' && match.status !== 'computed') return false;
  return !refusesAll(details);
}

type AnsweredRow = Pick<CaseRow, 'kind' | 'folded'>;

/** The right of a case that ends consent, and when it was carried out; null: there is none, or it was refused. */
function endingRight({ kind, folded }: AnsweredRow): { readonly kind: string; readonly at: string | null } | null {
  const { parts = [{ kind, outcome: null, at: null }] } = parseFolded(folded);
  return parts.find((part) => withdrawingKinds.includes(part.kind) && part.outcome !== 'refused') ?? null;
}

/** Whether an answer refuses the whole request. */
export function refusesAll({ parts }: Pick<MoveDetails<'answer'>, 'parts'>): boolean {
  return parts?.every(({ outcome }) => outcome === 'refused') === true;
}

/** The effect of a case's answer on the consent records: one withdrawal for each banner on which the subject decided something. */
export async function withdrawalsOf(
  deps: Pick<CaseReading, 'store'>,
  row: CaseRow,
  match: Match,
  answer: { readonly details: MoveDetails<'answer'>; readonly actor: string; readonly now: string },
): Promise<readonly ConsentWithdrawn[]> {
  const { details, actor, now } = answer;
  const right = endingRight(row);
  if (right === null || !takesEffect(row, match, details)) return [];
  const at = details.effectiveAt ?? right.at ?? details.at ?? now;
  const withdrawals: ConsentWithdrawn[] = [];
  for (const subject of match.subjects)
    for (const [bannerId, stood] of await stoodAt(deps, row.source, subject, at))
      withdrawals.push({
        action: 'consent.withdrawn-by-request',
        actor,
        caseId: row.case_id,
        basedOn: row.version,
        kind: right.kind,
        subject,
        bannerId,
        all: details.purposes === undefined,
        purposes: details.purposes ?? [...stood],
        at,
        requestedAt: row.receipt_at,
      });
  return withdrawals;
}

/** The banners on which a subject decided anything, with the purposes granted there at a time. */
async function stoodAt(
  { store }: Pick<CaseReading, 'store'>,
  source: string,
  subject: string,
  at: string,
): Promise<ReadonlyMap<string | null, readonly string[]>> {
  const rows: JudgedRow[] = [];
  const scope = { source, asOf: Number.MAX_SAFE_INTEGER };
  for await (const row of createDecisionQueries(store.read).decisionRowsOf(scope, [subject])) rows.push(row);
  const banners = new Map<string | null, readonly string[]>();
  for (const { bannerId, at: decidedAt, stands } of timelineOf(rows))
    banners.set(bannerId, decidedAt <= at ? stands : (banners.get(bannerId) ?? []));
  return new Map([...banners].sort(([one], [other]) => ((one ?? '') < (other ?? '') ? -1 : 1)));
}

/** What extending withdrawals needs; `catchUp` brings the read models up to the end of the ledger. */
type ExtendingDeps = Pick<CaseWriting, 'store' | 'ledger' | 'clock' | 'recipeOf'> & {
  readonly catchUp: () => Promise<unknown>;
};

/** The key of a withdrawal in the ledger: one for each answer, subject and banner. */
export function withdrawalKey({ caseId, basedOn, subject, bannerId }: ConsentWithdrawn): readonly string[] {
  return ['consent-withdrawn', caseId, String(basedOn), subject, ...(bannerId === null ? [] : [bannerId])];
}

/**
 * Extends withdrawals by request to records that became known after the answer. Consent given before the withdrawal but
 * pulled or delivered late, on another banner or of a person for whom nothing had been found, would otherwise still
 * count (GDPR Art. 7(3)). Each extension is an entry that cites the same case and answer. Works on the read models as
 * they are, and brings them up to date if it appended anything. Resolves with the number of entries appended.
 */
export async function extendWithdrawals(deps: ExtendingDeps, source: string): Promise<number> {
  const { ledger, clock, catchUp } = deps;
  let appended = 0;
  if (!(await hasAnswered(deps, source))) return appended;
  for (const action of [...(await onFurtherBanners(deps, source)), ...(await ofPersonsFoundSince(deps, source))]) {
    const { outcome } = await appendAction(ledger, source, action, withdrawalKey(action), isoNow(clock));
    if (outcome === 'stored') appended += 1;
  }
  if (appended > 0) await catchUp();
  return appended;
}

async function onFurtherBanners(deps: ExtendingDeps, source: string): Promise<readonly ConsentWithdrawn[]> {
  const found: ConsentWithdrawn[] = [];
  for (const { body, bannerId } of await createWithdrawalQueries(deps.store.read).withdrawalsToExtend(source)) {
    const answered = actionSchema.parse(JSON.parse(body.toString('utf8'))) as ConsentWithdrawn;
    const { all, subject, at } = answered;
    const stood = all ? (await stoodAt(deps, source, subject, at)).get(bannerId) : answered.purposes;
    found.push({ ...answered, actor: 'schedule', bannerId, purposes: [...(stood ?? [])] });
  }
  return found;
}

const caseColumns = columnsOf('cases');

/** The requests of a source whose answers may withdraw consent, as a query. */
function answeredCases({ store }: ExtendingDeps, source: string) {
  return store.read
    .selectFrom('cases')
    .where('source', '=', source)
    .where('kind', 'in', [...withdrawingKinds])
    .where('state', 'in', ['answered', 'closed']);
}

/** Whether a source has any withdrawal by request, or a request whose answer may be one: most have neither. */
async function hasAnswered(deps: ExtendingDeps, source: string): Promise<boolean> {
  const found = await createWithdrawalQueries(deps.store.read)
    .casesThatWithdrew(source)
    .unionAll(answeredCases(deps, source).select('case_id'))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The requester was told that the withdrawal holds whether or not a record was found, so apply it to records found later. */
async function ofPersonsFoundSince(deps: ExtendingDeps, source: string): Promise<readonly ConsentWithdrawn[]> {
  const { read } = deps.store;
  const unmatched = await answeredCases(deps, source)
    .select(caseColumns)
    .where('case_id', 'not in', createWithdrawalQueries(read).casesThatWithdrew(source))
    .orderBy('opened_seq')
    .execute();
  const forms = new Map<CaseRow, readonly string[]>();
  for (const row of unmatched) forms.set(row, await subjectsOfCase(deps, row));
  const known = await createDecisionQueries(read).subjectsAmong(source, [...forms.values()].flat());
  const found: ConsentWithdrawn[] = [];
  for (const [row, subjects] of forms) {
    if (!subjects.some((subject) => known.has(subject))) continue;
    const answer = await read
      .selectFrom('case_history')
      .select(['version', 'details', 'received_at'])
      .where('case_id', '=', row.case_id)
      .where('move', '=', 'answer')
      .orderBy('version', 'desc')
      .executeTakeFirst();
    if (answer === undefined || parseFolded(row.folded).answer === null) continue;
    const details = JSON.parse(answer.details) as MoveDetails<'answer'>;
    const given = { details, actor: 'schedule', now: answer.received_at };
    const match = await matchCase(deps, row);
    found.push(...(await withdrawalsOf(deps, { ...row, version: answer.version - 1 }, match, given)));
  }
  return found;
}
