import type { Selectable } from 'kysely';
import { isAsSeen, NOT_COVERED } from '../cases/approval.ts';
import { checkMove } from '../cases/check-move.ts';
import { keepsApproval } from '../cases/fold-move.ts';
import type { ShownCase } from '../cases/list-cases.ts';
import type { Disclosure, MoveName } from '../cases/moves.ts';
import type { secondPersonMoves } from '../law/profile.ts';
import type { Condition } from '../ledger/append-action.ts';
import type { Tables } from '../store/schema.ts';

/** A registered document of a case. */
export type CaseDocument = Selectable<Tables['documents']>;

/** Moves after which an earlier document is still correct. */
const changesNothing: readonly MoveName[] = [...keepsApproval, 'mark-ready', 'answer', 'close'];

/**
 * Why a document that answers a request may not be sent, in sentences; empty: it may. Everything that prevents an
 * officer from recording the answer applies here too (blockers, disclosure, approval), and the case must not have
 * changed since. For an answered case, only the document named in the answer may be sent.
 */
export function problemsOfLeaving(
  shown: ShownCase,
  document: CaseDocument,
  context: {
    readonly channel: string;
    readonly actor: string;
    readonly approvedBy: string | undefined;
    readonly now: string;
    readonly timeZone: string;
  },
): readonly string[] {
  const { view, history } = shown;
  const { state } = view.row;
  const what = document.name === 'letter' ? 'letter' : 'response pack';
  if (state === 'answered' || state === 'closed') {
    const { answer } = view.folded;
    if (answer?.documentSha256 === document.sha256) return [];
    return [
      answer === null
        ? 'The case was settled without an answer: there is nothing to hand over.'
        : 'The recorded answer names another document, or none: hand over the one it names, or reopen the request.',
    ];
  }
  const { channel, actor, approvedBy, now, timeZone } = context;
  const { disclosure } = JSON.parse(document.parameters) as { readonly disclosure: Disclosure };
  // The document says what was done, and is one of those approved.
  const { parts } = view.folded.approval ?? {};
  const details = {
    ...{ channel, disclosure },
    ...(parts === undefined ? {} : { parts }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  };
  const problems = checkMove(view, { move: 'answer', details }, { ...shown, timeZone, now, actor });
  if (problems.length > 0) return problems;
  const changed = history.findLast(({ move }) => !(changesNothing as readonly string[]).includes(move))?.seq ?? 0;
  return Number(document.as_of) >= Number(changed)
    ? []
    : [`The case has changed since its ${what} was made: create the ${what} again.`];
}

/**
 * Under the write lock, before something leaves as an answer or a refusal: whether a letter, file or pack was added to
 * the case since a second person approved it. Allows it for a case that is settled, or needs no approval.
 */
export function stillApproved(
  { view, profile }: Pick<ShownCase, 'view' | 'profile'>,
  as: (typeof secondPersonMoves)[number],
): Condition {
  const needsApproval = view.open && profile?.secondPersonFor?.includes(as) === true;
  return async ({ query }, recorded) =>
    !needsApproval || (await isAsSeen(query, view.row, recorded, view.folded.approval?.seen)) ? null : NOT_COVERED;
}
