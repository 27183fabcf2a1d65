import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { PackCase } from '../../src/cases/load-pack-case.ts';
import type { Match } from '../../src/cases/match.ts';
import { answerPartSchema, type Disclosure, requesterRoles } from '../../src/cases/move-details.ts';
import { decidingLaw, type Deadlines } from '../../src/law/deadlines.ts';
import type { Letter } from '../letters/letter.ts';
import type { Tables } from '../../src/store/schema.ts';
import { type DocumentInput, frameParameters, type Parameters, referenceOf } from '../report.ts';

/** What the pack of one case is made from. */
export interface DsarPackInput extends DocumentInput {
  /** The case as it stood at asOf. */
  readonly case: Selectable<Tables['cases']>;
  readonly deadline: PackDeadline;
  readonly disclosure: Disclosure;
  /** How the requester was found in the records, and under which subjects. */
  readonly match: Pick<Match, 'status' | 'subjects'>;
  /** Whether the identity check that applies was made; how, in words (never a document). */
  readonly identity: PackCase['identity'];
  /** The controller's other systems, as the case marks them; null: not marked. */
  readonly systems?: PackCase['systems'];
  /** DATA_DIR/evidence; absent: the files of evidence are named as missing. */
  readonly evidenceFolder?: string;
  /** What its letter says of the law and the time, and the letter itself. */
  readonly letter?: LetterOfCase;
}

/** Dates are YYYY-MM-DD; null: no law sets one, or what is asked takes effect at once. */
export interface LetterOfCase {
  /** Ids of the laws that apply, the one that decides first. */
  readonly laws: readonly string[];
  readonly limit: string | null;
  readonly firstLimit: string | null;
  /** Whether this kind of request must not depend on an identity check. */
  readonly unchecked: boolean;
  /** Why the request cannot be refused, in words for the officer; null: it can. */
  readonly irrefusable: string | null;
  /** The answer as an officer last made it as a letter; null: not yet. */
  readonly written: Letter | null;
}

/** The dates of the case under the law that decides. */
export interface PackDeadline {
  /** Id of the deciding law; `none` where no law known here gives a right to an answer. */
  readonly regime: string;
  readonly aimFor: string | null;
  readonly legalLimit: string | null;
  readonly explanation: readonly string[];
  readonly citation: string;
}

/** What a pack says of the deadlines of its case. */
export function packDeadline(deadlines: Deadlines): PackDeadline {
  const law = decidingLaw(deadlines);
  return {
    regime: law?.id ?? 'none',
    aimFor: deadlines.aimFor,
    legalLimit: deadlines.limit,
    explanation: law?.explanation ?? [],
    citation: law?.citation ?? '',
  };
}

/** What a pack is made from besides the entries up to asOf. Who was matched follows from them. */
export function packParameters(input: DsarPackInput): Parameters {
  return { ...frameParameters(input), disclosure: input.disclosure };
}

/** What a pack prints to be found again; the id under which it is registered begins with it. */
export function packReference(input: DsarPackInput): string {
  const { asOf } = input;
  const parameters = packParameters(input);
  return referenceOf({ name: 'dsar-pack', format: 'zip', asOf, caseId: input.case.case_id, parameters });
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
  identity: z
    .looseObject({
      requester: z.enum(requesterRoles).nullable(),
      represented: z.string().nullable().default(null),
    })
    .optional(),
  answer: z.looseObject({ at: z.string().optional(), parts: z.array(answerPartSchema).default([]) }).nullish(),
  refusal: z
    .looseObject({ at: z.string(), reasons: z.string(), basis: z.string(), remedies: z.string() })
    .nullish()
    .transform((value) => value ?? null),
});

/** What the letter needs of the moves of a case. */
export function readFolded(input: DsarPackInput): z.infer<typeof foldedSchema> {
  return foldedSchema.parse(JSON.parse(input.case.folded));
}
