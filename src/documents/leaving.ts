import type { Selectable } from 'kysely';
import { checkMove } from '../cases/check-move.ts';
import { keepsApproval } from '../cases/fold-move.ts';
import type { ShownCase } from '../cases/list-cases.ts';
import type { Disclosure, MoveName } from '../cases/moves.ts';
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
  const details = { channel, disclosure, ...(approvedBy === undefined ? {} : { approvedBy }) };
  const problems = checkMove(view, { move: 'answer', details }, { ...shown, timeZone, now, actor });
  if (problems.length > 0) return problems;
  const changed = history.findLast(({ move }) => !(changesNothing as readonly string[]).includes(move))?.seq ?? 0;
  return Number(document.as_of) >= Number(changed)
    ? []
    : [`The case has changed since its ${what} was made: create the ${what} again.`];
}
