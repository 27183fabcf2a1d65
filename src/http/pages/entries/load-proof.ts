import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Entry } from '../../../crypto/entry.ts';
import { type ProofFiles, proofFiles, proveEntry } from '../../../ledger/prove-entry.ts';
import { hasEntry } from '../../../ledger/read-entries.ts';
import { number } from '../parts/define-page.ts';

/** What a proof is made from. */
export type ProofNeeds = 'store' | 'keys' | 'instance' | 'cosigned';

interface Proven extends ProofFiles {
  readonly seq: number;
  /** Size of the checkpoint. */
  readonly size: number;
  readonly entry: Entry;
}

/** Throws `not_found`, or `conflict` if the entry is not sealed yet or was altered. */
export async function loadProof(
  context: Pick<Context, ProofNeeds>,
  seq: string,
  options: { content: boolean },
): Promise<Proven> {
  const wanted = number.parse(seq) ?? 0;
  if (!(await hasEntry(context.store.read, wanted))) throw new CodedError('not_found', 'Unknown entry.');
  const proof = await proveEntry(context, wanted, 'witnessed');
  if (proof.outcome === 'unproven')
    throw new CodedError('conflict', `Entry ${wanted} cannot be proven: ${proof.sentence}. Tell an admin.`);
  const { entry, inclusion } = proof;
  if (inclusion === null)
    throw new CodedError(
      'conflict',
      `Entry ${wanted} is not sealed yet, so it has no proof. Try again in five minutes, or make a checkpoint.`,
    );
  // A service may repeat the API key in its response to a call.
  const withContent = options.content && entry.kind !== 'call';
  return { seq: wanted, size: inclusion.head.size, entry, ...proofFiles(entry, inclusion, withContent) };
}
