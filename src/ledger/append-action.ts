import { actionSchema, type Action } from '../core/action.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { Appended, Ledger } from './ledger.ts';

/**
 * Appends an action of an officer, the operator or the program itself.
 * `keyParts` name the object and the version the action was based on: the same action twice, or two officers acting on the
 * same version at once, meet at one key, and the second gets `duplicate` with the seq of the first.
 */
export async function appendAction(
  ledger: Ledger,
  source: string,
  action: Action,
  keyParts: readonly string[],
  receivedAt: string,
  alsoInTransaction?: (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>,
): Promise<Appended> {
  const body = canonicalJson(actionSchema.parse(action));
  const [appended] = await ledger.append(
    [
      {
        source,
        kind: 'action',
        dedupeKey: ledger.keyOf('action', ...keyParts),
        receivedAt,
        meta: canonicalJson({ action: action.action, actor: action.actor }),
        body,
      },
    ],
    alsoInTransaction,
  );
  if (appended === undefined) throw new Error('the ledger returned no entry');
  return appended;
}

/** An action and what names its object and version ({@link appendAction}). */
export interface KeyedAction {
  readonly action: Action;
  readonly keyParts: readonly string[];
  /** Of what follows: where it was recorded before, nothing is recorded. */
  readonly mustBeNew?: boolean;
}

/** Rolls back what was to go with an action that was recorded before. */
class RecordedBefore extends Error {
  readonly seq: number;
  constructor(seq: number) {
    super('the action was recorded before');
    this.seq = seq;
  }
}

/**
 * Appends an action together with what follows from it, in one transaction: all of them are recorded or none is. When the first one was recorded
 * before, or one that must be new, the others are not recorded either, and the answer is `duplicate` with its seq. Else `seq` is that of the last.
 */
export async function appendWithConsequences(
  ledger: Ledger,
  source: string,
  first: KeyedAction,
  consequences: readonly KeyedAction[],
  receivedAt: string,
): Promise<Appended> {
  if (consequences.length === 0) return appendAction(ledger, source, first.action, first.keyParts, receivedAt);
  const entries = [first, ...consequences].map(({ action, keyParts }) => ({
    source,
    kind: 'action' as const,
    dedupeKey: ledger.keyOf('action', ...keyParts),
    receivedAt,
    meta: canonicalJson({ action: action.action, actor: action.actor }),
    body: canonicalJson(actionSchema.parse(action)),
  }));
  try {
    const appended = await ledger.append(entries, (_tx, all) => {
      const before = all.find(
        ({ outcome }, place) => outcome === 'duplicate' && (place === 0 || consequences[place - 1]?.mustBeNew === true),
      );
      return before === undefined ? Promise.resolve() : Promise.reject(new RecordedBefore(before.seq));
    });
    const last = appended.at(-1);
    if (last === undefined) throw new Error('the ledger returned no entry');
    return last;
  } catch (error) {
    if (error instanceof RecordedBefore) return { outcome: 'duplicate', seq: error.seq };
    throw error;
  }
}
