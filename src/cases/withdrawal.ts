import { type Action, actionSchema } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { timelineOf } from '../core/consent-timeline.ts';
import { appendAction } from '../ledger/append-action.ts';
import { createHistory } from '../store/queries/history.ts';
import type { JudgedRow } from '../store/queries/history-decisions.ts';
import type { CaseReading, CaseWriting } from './view.ts';
import type { CaseRow } from './fold.ts';
import type { Match } from './match.ts';
import type { MoveDetails } from './move-details.ts';

/** Kinds of request that, once answered, end what the subject consented to (GDPR Art. 7(3), 21(3); CCPA §1798.120). */
export const withdrawingKinds: readonly string[] = ['withdraw-consent', 'opt-out', 'objection'];

/** Subjects and banners that one answer may withdraw from: all its entries go into one transaction. */
export const WITHDRAWALS = 250;

type ConsentWithdrawn = Extract<Action, { action: 'consent.withdrawn-by-request' }>;

/** Whether answering such a request withdraws consent: the subject was found, it is the requester's own, and not everything was refused. */
export function takesEffect(kind: string, match: Match, details: MoveDetails<'answer'>): boolean {
  if (!withdrawingKinds.includes(kind)) return false;
  if (match.status !== 'from-device' && match.status !== 'computed') return false;
  return !refusesAll(details);
}

/** Whether an answer grants nothing of what was asked. */
export function refusesAll({ parts }: Pick<MoveDetails<'answer'>, 'parts'>): boolean {
  return parts?.every(({ outcome }) => outcome === 'refused') === true;
}

/** What the answer of a case ends in the consent records: one withdrawal for each banner on which the subject decided something. */
export async function withdrawalsOf(
  deps: Pick<CaseReading, 'store'>,
  row: CaseRow,
  match: Match,
  answer: { readonly details: MoveDetails<'answer'>; readonly actor: string; readonly now: string },
): Promise<readonly ConsentWithdrawn[]> {
  const { details, actor, now } = answer;
  if (!takesEffect(row.kind, match, details)) return [];
  const standing = await deps.store.read
    .selectFrom('decisions')
    .select(['subject', 'banner_id', 'stands'])
    .where('source', '=', row.source)
    .where('subject', 'in', [...match.subjects])
    .orderBy('subject')
    .orderBy('banner_id')
    .execute();
  return standing.map(({ subject, banner_id, stands }) => ({
    action: 'consent.withdrawn-by-request',
    actor,
    caseId: row.case_id,
    basedOn: row.version,
    kind: row.kind,
    subject,
    bannerId: banner_id === '' ? null : banner_id,
    all: details.purposes === undefined,
    purposes: details.purposes ?? (JSON.parse(stands) as string[]),
    at: details.effectiveAt ?? details.at ?? now,
    requestedAt: row.receipt_at,
  }));
}

/** What extending withdrawals works with; `catchUp` brings the read models up to the end of the ledger. */
type ExtendingDeps = Pick<CaseWriting, 'store' | 'ledger' | 'clock'> & { readonly catchUp: () => Promise<unknown> };

/** What names a withdrawal in the ledger: one for each answer, subject and banner. */
export function withdrawalKey({ caseId, basedOn, subject, bannerId }: ConsentWithdrawn): readonly string[] {
  return ['consent-withdrawn', caseId, String(basedOn), subject, ...(bannerId === null ? [] : [bannerId])];
}

/**
 * Extends withdrawals by request to banners that became known after the answer: consent from before the withdrawal, pulled or delivered late, would
 * otherwise still count (GDPR Art. 7(3)). Each extension is an entry that cites the same case and answer. Leaves the read models up to date.
 * Resolves with the number of entries appended.
 */
export async function extendWithdrawals(deps: ExtendingDeps, source: string): Promise<number> {
  const { store, ledger, clock, catchUp } = deps;
  await catchUp();
  const history = createHistory(store.read);
  let appended = 0;
  for (const { body, bannerId } of await history.withdrawalsToExtend(source)) {
    const answered = actionSchema.parse(JSON.parse(body.toString('utf8'))) as ConsentWithdrawn;
    const { all, subject, at } = answered;
    const rows: JudgedRow[] = [];
    for await (const row of history.decisionRowsOf({ source, asOf: Number.MAX_SAFE_INTEGER }, [subject]))
      rows.push(row);
    const before = timelineOf(rows).findLast((decision) => decision.bannerId === bannerId && decision.at <= at);
    const purposes = all ? (before?.stands ?? []) : answered.purposes;
    const action = { ...answered, actor: 'schedule', bannerId, purposes: [...purposes] };
    const { outcome } = await appendAction(ledger, source, action, withdrawalKey(action), isoNow(clock));
    if (outcome === 'stored') appended += 1;
  }
  if (appended > 0) await catchUp();
  return appended;
}
