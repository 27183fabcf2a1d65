import { z } from 'zod';

/** Reasons for an erasure, as codes, so that its record contains no personal data (GDPR Art. 17(1), Art. 5(1)(e)). */
export const erasureReasons = {
  request: 'the data subject asked for it',
  'no-longer-needed': 'it is no longer needed for its purpose',
  unlawful: 'it was processed unlawfully',
  'legal-obligation': 'a law obliges the controller to erase it',
  mistake: 'it should never have been recorded',
  retention: 'its retention period ended',
} as const;
export type ErasureReason = keyof typeof erasureReasons;
export const erasureReasonCodes = Object.keys(erasureReasons) as [ErasureReason, ...ErasureReason[]];

/** How the entries were chosen. */
const erasureScopes = ['entries', 'subject', 'case', 'period', 'retention'] as const;
export type ErasureScope = (typeof erasureScopes)[number];

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A document whose file was removed; its hash stays, so that a copy held by someone can be recognised. */
const erasedDocument = z.object({
  // Both become part of a path.
  documentId: z.string().regex(/^[\w-]+$/),
  name: z.string(),
  format: z.string().regex(/^\w+(\.\w+)*$/),
  sha256: hash,
  /** The entry `document.produced`; it is erased too if its parameters contain personal data. */
  seq: z.number().int().positive(),
});
export type ErasedDocument = z.infer<typeof erasedDocument>;

const counted = z.number().int().nonnegative();
/** What an erasure erased, kept and left, in words and numbers that identify nobody; for its certificate, whenever that is made. */
const erasureSummary = z.object({
  /** For all its erasure entries together. */
  entries: counted,
  erased: z.array(z.object({ what: z.string(), count: counted })),
  kept: z.array(z.object({ what: z.string(), why: z.string(), count: counted })),
  residues: z.array(z.object({ where: z.string(), until: z.string() })),
});
export type ErasureSummary = z.infer<typeof erasureSummary>;

/**
 * Body of an entry of kind `erasure`: which entries lost their content, why, and on whose decision. Contains no
 * personal data: codes, numbers, hashes of files, and keyed hashes.
 */
export const erasureSchema = z.object({
  v: z.literal(1),
  /** Random; the same if it is repeated in a restored backup. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  officer: z.string().min(1).max(200),
  /** The second officer, if one has to agree. */
  confirmedBy: z.string().min(1).max(200).nullable(),
  reason: z.enum(erasureReasonCodes),
  /** The applicable law: id of a regime (`eu-gdpr`). */
  law: z.string().max(40),
  by: z.enum(erasureScopes),
  seqs: z.array(z.number().int().positive()),
  documents: z.array(erasedDocument),
  /** Removed files of banner evidence. */
  files: z.array(hash),
  /**
   * Subjects whose earlier rows must not be stored again when pulled: source, and keyed hash of the subject. Rows dated
   * before the erasure are earlier.
   */
  suppress: z.array(z.object({ source: z.string(), subject: hash })),
  /** For an erasure repeated after a restored backup: the time of the first one, ISO 8601 UTC. */
  firstMadeAt: z.string().nullable(),
  /** Only in the first entry of an erasure, and not in repeated ones. */
  summary: erasureSummary.exactOptional(),
});
export type Erasure = z.infer<typeof erasureSchema>;

/** The content of an erasure entry; null if it cannot be read. */
export function readErasure(body: Uint8Array | null): Erasure | null {
  try {
    return erasureSchema.parse(JSON.parse(Buffer.from(body ?? []).toString('utf8')));
  } catch {
    return null;
  }
}

/** The most entries named in one erasure entry; larger erasures use several, so that appends wait only briefly. */
export const ENTRIES_AT_ONCE = 10_000;
