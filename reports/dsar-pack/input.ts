import type { Selectable } from 'kysely';
import { z } from 'zod';
import { canonicalJson } from '../../src/core/canonical.ts';
import type { Deadline } from '../../src/core/deadline.ts';
import { sha256Hex } from '../../src/core/hash.ts';
import type { CasesTable } from '../../src/store/schema.ts';
import type { DocumentInput } from '../report.ts';

/** What an answer may hold: the records of the person, what the controller says of itself, or that nobody could be linked. */
export type Disclosure = 'full' | 'categories-only' | 'no-match';

/** What the pack of one case is made from. */
export interface DsarPackInput extends DocumentInput {
  /** The case as it stood at asOf. */
  readonly case: Selectable<CasesTable>;
  readonly deadline: Pick<Deadline, 'regime' | 'aimFor' | 'legalLimit' | 'explanation' | 'citation'>;
  readonly disclosure: Disclosure;
  /** How the requester was found in the records, and under which subjects. */
  readonly match: {
    readonly status: 'from-device' | 'computed' | 'shared' | 'none';
    readonly subjects: readonly string[];
  };
  /** Whether the identity check that applies was made; how, in words (never a document). */
  readonly identity: { readonly status: 'met' | 'needed' | 'failed'; readonly how: string | null };
  /** The controller's other systems, as the case marks them; null: not marked. */
  readonly systems?: readonly {
    readonly name: string;
    readonly result: 'nothing-found' | 'attached' | 'not-applicable' | null;
  }[];
}

/** The id under which a pack is registered and which it prints. */
export function packIdOf(input: DsarPackInput): string {
  const { source, asOf, timeZone, generatedAt, version, sample, language, disclosure, match, identity } = input;
  const { case_id: caseId, version: caseVersion } = input.case;
  const key = {
    name: 'dsar-pack',
    caseId,
    caseVersion,
    source,
    asOf,
    timeZone,
    generatedAt,
    version,
    sample,
    language,
    disclosure,
    match,
    identity,
  };
  return sha256Hex(canonicalJson(key)).slice(0, 16);
}

/**
 * What may be disclosed in the end. Whatever the caller says: nothing of a person without the identity check that applies, nothing
 * under a subject that several people share, and nothing in a refusal.
 */
export function effectiveDisclosure(input: DsarPackInput): Disclosure {
  if (input.disclosure !== 'full') return input.disclosure;
  if (input.identity.status !== 'met' || readFolded(input).refusal !== null) return 'categories-only';
  if (input.match.status === 'none' || input.match.status === 'shared' || input.match.subjects.length === 0)
    return 'no-match';
  return 'full';
}

const foldedSchema = z.looseObject({
  refusal: z
    .looseObject({ at: z.string(), reasons: z.string(), basis: z.string(), remedies: z.string() })
    .nullish()
    .transform((value) => value ?? null),
  extension: z
    .looseObject({ noticeAt: z.string(), reasons: z.string() })
    .nullish()
    .transform((value) => value ?? null),
});

/** What the letter needs of the moves of a case. */
export function readFolded(input: DsarPackInput): z.infer<typeof foldedSchema> {
  return foldedSchema.parse(JSON.parse(input.case.folded));
}
