import { ACTOR_LENGTH, type Action, actionSchema } from '../core/action.ts';
import { asOneLine } from '../core/validation.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { NewEntry } from '../crypto/entry.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { Appended, Ledger } from './ledger.ts';

/**
 * Appends an action of an officer, the operator or the program itself. `keyParts` name the object and the version on
 * which the action was based: if the same action is repeated, or two officers act on the same version at once, the keys
 * are equal, and the second gets `duplicate` with the seq of the first.
 */
export async function appendAction(
  ledger: Ledger,
  source: string,
  action: Action,
  keyParts: readonly string[],
  receivedAt: string,
  alsoInTransaction?: (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>,
): Promise<Appended> {
  const [appended] = await ledger.append(
    [entryOf(ledger, source, { action, keyParts }, receivedAt)],
    alsoInTransaction,
  );
  if (appended === undefined) throw new Error('the ledger returned no entry');
  return appended;
}

/** Rolls back what may not be recorded; the message says why, for the person who asked. */
export class NotAllowed extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'NotAllowed';
  }
}

/**
 * What decides whether something may be recorded, under the write lock: everything recorded before is there, and nothing
 * can be added before it is recorded. Resolves with the reason against it in a sentence; null: it may be recorded.
 */
export type Condition = (tx: StoreTransaction, recorded: Appended) => Promise<string | null>;

/**
 * Runs an append whose transaction calls {@link assertAllowed}: nothing is written if it refuses. This is how limits and
 * approvals are enforced: a check before the transaction only saves work.
 */
export async function unlessRefused<T>(
  append: () => Promise<T>,
): Promise<T | { readonly outcome: 'refused'; readonly problem: string }> {
  try {
    return await append();
  } catch (error) {
    if (error instanceof NotAllowed) return { outcome: 'refused', problem: error.message };
    throw error;
  }
}

/** Throws {@link NotAllowed} if the condition refuses. What was recorded before is not judged again. */
export async function assertAllowed(condition: Condition, tx: StoreTransaction, recorded: Appended): Promise<void> {
  const problem = recorded.outcome === 'duplicate' ? null : await condition(tx, recorded);
  if (problem !== null) throw new NotAllowed(problem);
}

/** The entry of an action, to be appended with others. */
export function entryOf(
  { keyOf }: Pick<Ledger, 'keyOf'>,
  source: string,
  { action, keyParts }: Pick<KeyedAction, 'action' | 'keyParts'>,
  receivedAt: string,
): NewEntry {
  // Accounts have names of one line; `--officer` and the like take any text.
  const actor = asOneLine(action.actor, ACTOR_LENGTH);
  return {
    source,
    kind: 'action',
    dedupeKey: keyOf('action', ...keyParts),
    receivedAt,
    meta: canonicalJson({ action: action.action, actor }),
    body: canonicalJson(actionSchema.parse({ ...action, actor })),
  };
}

/** An action with the parts of its key ({@link appendAction}). */
export interface KeyedAction {
  readonly action: Action;
  readonly keyParts: readonly string[];
  /** For a consequence: if it was recorded before, record nothing. */
  readonly mustBeNew?: boolean;
}

/** Rolls back the consequences of an action that was recorded before. */
class RecordedBefore extends Error {
  readonly seq: number;
  constructor(seq: number) {
    super('the action was recorded before');
    this.seq = seq;
  }
}

/**
 * Appends an action with its consequences in one transaction: all are recorded or none. If the first one, or one that
 * must be new, was recorded before, nothing is recorded and the answer is `duplicate` with its seq. Otherwise `seq` is
 * that of the last. Throws {@link NotAllowed}, with nothing recorded, if the condition of the first refuses. `also`:
 * what else is written in the transaction.
 */
export async function appendWithConsequences(
  ledger: Ledger,
  source: string,
  {
    first,
    consequences,
    condition = () => Promise.resolve(null),
    also = () => Promise.resolve(),
  }: {
    readonly first: KeyedAction;
    readonly consequences: readonly KeyedAction[];
    readonly condition?: Condition;
    readonly also?: (tx: StoreTransaction) => Promise<void>;
  },
  receivedAt: string,
): Promise<Appended> {
  const entries = [first, ...consequences].map((keyed) => entryOf(ledger, source, keyed, receivedAt));
  try {
    const appended = await ledger.append(entries, async (tx, all) => {
      const before = all.find(
        ({ outcome }, place) => outcome === 'duplicate' && (place === 0 || consequences[place - 1]?.mustBeNew === true),
      );
      if (before !== undefined) throw new RecordedBefore(before.seq);
      const [recorded] = all;
      if (recorded !== undefined) await assertAllowed(condition, tx, recorded);
      await also(tx);
    });
    const last = appended.at(-1);
    if (last === undefined) throw new Error('the ledger returned no entry');
    return last;
  } catch (error) {
    if (error instanceof RecordedBefore) return { outcome: 'duplicate', seq: error.seq };
    throw error;
  }
}
