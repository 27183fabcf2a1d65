import { actionSchema, type Action } from '../core/action.ts';
import { canonicalJson } from '../core/canonical.ts';
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
  if (appended === undefined) throw new Error('the ledger answered for no entry');
  return appended;
}
