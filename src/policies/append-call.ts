import { canonicalJson } from '../crypto/canonical.ts';
import { type CallMeta, type CallResult, callSchema } from '../core/call.ts';
import { StoreUnavailable } from '../core/errors.ts';
import type { Appended } from '../ledger/ledger.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { PolicyDeps } from './callable.ts';

/** What is committed together with an entry. */
export type AlsoWritten = (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>;

/** Appends one entry of kind `call`; its key is made of the parts given. */
export async function appendCall(
  deps: Pick<PolicyDeps, 'ledger' | 'clock'>,
  source: string,
  meta: CallMeta,
  keyParts: readonly string[],
  body: Buffer,
  alsoInTransaction?: AlsoWritten,
): Promise<Appended> {
  const [appended] = await deps.ledger.append(
    [
      {
        source,
        kind: 'call',
        dedupeKey: deps.ledger.keyOf('call', ...keyParts),
        receivedAt: deps.clock().toISOString(),
        meta: canonicalJson(callSchema.parse(meta)),
        body,
      },
    ],
    alsoInTransaction,
  );
  if (appended === undefined) throw new Error('the ledger answered for no entry');
  return appended;
}

const RESULT_TRIES = 6;

/**
 * The answer is worth waiting for the store: without it the call would stay unknown although somebody knew. Some half a minute, then
 * StoreUnavailable with what the service said, which stands nowhere else.
 */
export async function appendResult(
  deps: Pick<PolicyDeps, 'ledger' | 'clock' | 'sleep'>,
  source: string,
  meta: CallResult,
  bytes: Buffer,
  also: AlsoWritten | null,
): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    try {
      const key = [meta.requestId, 'result'];
      return (await appendCall(deps, source, meta, key, bytes, also ?? undefined)).seq;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (tried === RESULT_TRIES) throw new StoreUnavailable(notKeptText(meta, error), { cause: error });
      await deps.sleep(500 * 2 ** tried);
    }
  }
}

/** What to do with an answer that could not be written down: nobody but the reader of this knows it. */
function notKeptText(meta: CallResult, cause: Error): string {
  const made = meta.items.map(({ position, status, policyId }) => `item ${position + 1} ${policyId ?? status}`);
  const said = {
    done: `The service did it${meta.policyId === null ? '' : ` (policy ${meta.policyId})`}${made.length === 0 ? '' : `: ${made.join(', ')}`}.`,
    refused: `The service refused it; nothing was generated. ${meta.error?.message ?? ''}`,
    unknown: `The service may or may not have done it. ${meta.error?.message ?? ''}`,
  }[meta.outcome].trim();
  const settle =
    meta.outcome === 'unknown'
      ? 'When the ledger can be written again, `consent-ledger policy calls --open` shows the call.'
      : `When the ledger can be written again, the call counts as unknown after some minutes; then run: consent-ledger policy settle ${meta.requestId} --as ${meta.outcome === 'done' ? 'created' : 'not-created'}${meta.outcome === 'done' && meta.policyId !== null && meta.items.length === 0 ? ` --policy ${meta.policyId}` : ''}`;
  return `The service’s response could not be written to the ledger (${cause.message}), so it is reported here. ${said} ${settle}`;
}

/** Text of the service that canonical JSON and every database can hold. */
export function storable(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed().replaceAll('\0', '\uFFFD');
}
