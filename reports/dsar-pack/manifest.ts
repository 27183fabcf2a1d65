import { missingProfileParts } from '../../src/law/profile.ts';
import { limits, noLegalAdvice } from '../closing.ts';
import { renderJson } from '../render/json.ts';
import type { PackContext, WrittenFile } from './context.ts';

/** The list of the files with their hashes, the checkpoint and how to verify: the last file of the pack. */
export function manifest(context: PackContext, written: readonly WrittenFile[]): AsyncIterable<Uint8Array> {
  const { input, reference, disclosure } = context;
  return renderJson({
    reference,
    case: input.case.case_id,
    source: input.source,
    regime: input.deadline.regime,
    disclosure,
    covers: 'consent and policy records only',
    generatedAt: input.generatedAt,
    generator: `consent-ledger ${input.version}`,
    sample: input.sample,
    asOf: input.asOf,
    files: written,
    notStatedByTheController:
      input.profile === null ? ['the controller profile as a whole'] : missingProfileParts(input.profile),
    checkpoint: input.checkpoint,
    verify: [
      'Each file: its SHA-256 is listed above (`sha256sum FILE`).',
      'The pack as a whole: its SHA-256 stands in the ledger; the controller finds it with `consent-ledger document check FILE`.',
      'The ledger: `consent-ledger ledger verify` recomputes every hash. The checkpoint is a C2SP tlog-checkpoint signed with Ed25519, over a Merkle tree as in RFC 6962.',
    ],
    limits: [...limits, noLegalAdvice],
  });
}
