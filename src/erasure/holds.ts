import { randomBytes } from 'node:crypto';
import { findSubject } from '../consent/look-up.ts';
import type { Action } from '../core/action.ts';
import { type Clock, isoNow } from '../core/clock.ts';
import { lineOf } from '../core/validation.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { subjectHash } from '../ledger/suppression.ts';
import { entriesOfCase } from '../store/queries/cases.ts';
import type { Query, Store } from '../store/store.ts';

type Placed = Extract<Action, { action: 'hold.placed' }>;

interface HoldDeps {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** A legal hold in force. */
export interface Hold extends Omit<Placed, 'action' | 'actor'> {
  readonly seq: number;
  readonly officer: string;
  readonly placedAt: string;
}

/** Holds in force, oldest first. `lifted`: includes lifted ones. */
export async function listHolds(query: Query): Promise<readonly Hold[]> {
  const rows = await query
    .selectFrom('action_history')
    .select(['seq', 'action', 'details', 'received_at'])
    .where('source', '=', INSTALLATION)
    .where('action', 'in', ['hold.placed', 'hold.lifted'])
    .orderBy('seq')
    .execute();
  const holds = new Map<string, Hold>();
  for (const { seq, details, received_at: placedAt } of rows) {
    const action = JSON.parse(details) as Extract<Action, { action: 'hold.placed' | 'hold.lifted' }>;
    if (action.action === 'hold.lifted') holds.delete(action.holdId);
    else {
      const { action: _, actor: officer, ...hold } = action;
      holds.set(hold.holdId, { ...hold, seq, officer, placedAt });
    }
  }
  return [...holds.values()];
}

/** Whether a hold concerns these sources. A hold on all sources concerns only those who may see every source (null `slugs`). */
export function isHoldOf({ sourceSlug }: Hold, slugs: readonly string[] | null): boolean {
  return slugs === null || (sourceSlug !== null && slugs.includes(sourceSlug));
}

/** Why a hold is placed or lifted. */
export const holdReason = lineOf(500, {
  missing: 'Enter the reason.',
  long: 'The reason is longer than 500 characters.',
});

interface HoldRequest {
  readonly officer: string;
  readonly reason: string;
  readonly source: string | null;
  readonly caseId: string | null;
  /** Whose records, as in `consent show`: an e-mail address, a visitor hash, or the id of a record. */
  readonly subject: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

type PlacedHold =
  | { readonly outcome: 'placed'; readonly holdId: string; readonly seq: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Places a hold: what it names is not erased, manually or by retention, until it is lifted. */
export async function placeHold(
  deps: HoldDeps & { readonly projector: { catchUp(): Promise<number> } } & Parameters<typeof findSubject>[0],
  request: HoldRequest,
): Promise<PlacedHold> {
  const { source, caseId, subject, from, to, officer: actor } = request;
  const { data: reason = '', error } = holdReason.safeParse(request.reason);
  const problems = error?.issues.map(({ message }) => message) ?? [];
  if (subject !== null && source === null)
    problems.push('The records of a person belong to one source: specify the source.');
  if (from !== null && to !== null && from >= to)
    problems.push('The period is empty: its end must be later than its beginning.');
  if (caseId !== null) {
    const known = await deps.store.read
      .selectFrom('cases')
      .select('case_id')
      .where('case_id', '=', caseId)
      .$if(source !== null, (some) => some.where('source', '=', source ?? ''))
      .executeTakeFirst();
    if (known === undefined) problems.push(`Unknown request ${caseId}${source === null ? '' : ' of this source'}.`);
  }
  const subjects = new Set<string>();
  if (subject !== null && source !== null) {
    const found = await findSubject(deps, { source, identifier: subject, asOf: await deps.projector.catchUp() });
    if ('outcome' in found) problems.push(...found.problems);
    else for (const one of found.subjects) subjects.add(subjectHash(deps.ledger, source, one));
    // A hold that matches nobody would only seem to protect something.
    if (!('outcome' in found) && (found.rows.length === 0 || subjects.size === 0))
      problems.push('The ledger has no record of this person: check the identifier, and the source.');
    if (subjects.size > 1)
      problems.push('The identifier leads to the records of several people: use the hash of one visitor.');
  }
  if (problems.length > 0) return { outcome: 'refused', problems };
  const [about = null] = subjects;
  const holdId = `hold-${randomBytes(4).toString('hex')}`;
  const action = { action: 'hold.placed' as const, actor, holdId, reason, sourceSlug: source, caseId, about, from, to };
  const { seq } = await appendAction(deps.ledger, INSTALLATION, action, ['hold.placed', holdId], isoNow(deps.clock));
  return { outcome: 'placed', holdId, seq };
}

/** Lifts a hold. `unknown`: no hold with this id is in force. */
export async function liftHold(
  deps: HoldDeps,
  {
    holdId,
    officer: actor,
    reason: given,
  }: { readonly holdId: string; readonly officer: string; readonly reason: string },
): Promise<
  { readonly outcome: 'lifted' | 'unknown' } | { readonly outcome: 'refused'; readonly problems: readonly string[] }
> {
  const read = holdReason.safeParse(given);
  if (!read.success) return { outcome: 'refused', problems: read.error.issues.map(({ message }) => message) };
  const reason = read.data;
  const holds = await listHolds(deps.store.read);
  if (!holds.some((hold) => hold.holdId === holdId)) return { outcome: 'unknown' };
  const action = { action: 'hold.lifted' as const, actor, holdId, reason };
  const { outcome } = await appendAction(
    deps.ledger,
    INSTALLATION,
    action,
    ['hold.lifted', holdId],
    isoNow(deps.clock),
  );
  return { outcome: outcome === 'stored' ? 'lifted' : 'unknown' };
}

/** Holds that prevent erasing these entries. */
export async function needsOfHolds(
  deps: Pick<HoldDeps, 'store' | 'ledger'>,
  entries: readonly { readonly seq: number; readonly source: string; readonly receivedAt: string }[],
  decisions: readonly { readonly seq: number; readonly source: string; readonly subject: string | null }[],
  caseIds: ReadonlySet<string>,
) {
  const holds = await listHolds(deps.store.read);
  if (holds.length === 0) return [];
  const aboutOf = new Map<number, string>();
  if (holds.some(({ about }) => about !== null))
    for (const { seq, source, subject } of decisions)
      if (subject !== null) aboutOf.set(seq, subjectHash(deps.ledger, source, subject));
  const needs: { name: string; why: string; seqs: number[] }[] = [];
  for (const hold of holds) {
    const ofCase =
      hold.caseId === null ? null : caseIds.has(hold.caseId) ? await entriesOfCase(deps.store.read, hold.caseId) : [];
    const held = entries.filter(
      ({ seq, source, receivedAt }) =>
        (hold.sourceSlug === null || hold.sourceSlug === source) &&
        (hold.about === null || aboutOf.get(seq) === hold.about) &&
        (ofCase === null || ofCase.includes(seq)) &&
        (hold.from === null || receivedAt >= hold.from) &&
        (hold.to === null || receivedAt < hold.to),
    );
    if (held.length > 0)
      needs.push({
        name: hold.holdId,
        why: `legal hold of ${hold.officer}: ${hold.reason}`,
        seqs: held.map(({ seq }) => seq),
      });
  }
  return needs;
}
