import { z } from 'zod';

/** Why content is erased: codes, so that the record of an erasure holds no personal data (GDPR Art. 17(1), Art. 5(1)(e)). */
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

/** A document whose file was removed; its hash stays, so that a copy somebody still holds is recognised. */
const erasedDocument = z.object({
  documentId: z.string(),
  name: z.string(),
  format: z.string(),
  sha256: hash,
  /** The entry `document.produced`; it is erased too where its parameters hold personal data. */
  seq: z.number().int().positive(),
});
export type ErasedDocument = z.infer<typeof erasedDocument>;

const counted = z.number().int().nonnegative();
/** What an erasure took, kept and left, in words and numbers that name nobody: for its certificate, whenever that is made. */
const erasureSummary = z.object({
  /** Of all erasure entries together that it takes. */
  entries: counted,
  erased: z.array(z.object({ what: z.string(), count: counted })),
  kept: z.array(z.object({ what: z.string(), why: z.string(), count: counted })),
  residues: z.array(z.object({ where: z.string(), until: z.string() })),
});
export type ErasureSummary = z.infer<typeof erasureSummary>;

/**
 * Body of an entry of kind `erasure`: which entries lost their content, why, and by whose word. It holds no personal data: codes, numbers,
 * hashes of files, and keyed hashes.
 */
export const erasureSchema = z.object({
  v: z.literal(1),
  /** Random; the same when it is made again in a restored backup. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  officer: z.string().min(1).max(200),
  /** The second officer, where one has to agree. */
  confirmedBy: z.string().min(1).max(200).nullable(),
  reason: z.enum(erasureReasonCodes),
  /** The law it follows: id of a regime (`eu-gdpr`). */
  law: z.string().max(40),
  by: z.enum(erasureScopes),
  seqs: z.array(z.number().int().positive()),
  documents: z.array(erasedDocument),
  /** Files of banner evidence that were removed. */
  files: z.array(hash),
  /** Subjects whose earlier rows must not be pulled again: source, and keyed hash of the subject. Rows from before the erasure count as earlier. */
  suppress: z.array(z.object({ source: z.string(), subject: hash })),
  /** Of an erasure that was made again after a backup was restored: when the first one was, ISO 8601 UTC. */
  firstMadeAt: z.string().nullable(),
  /** In the first entry of an erasure that was not made again. */
  summary: erasureSummary.exactOptional(),
});
export type Erasure = z.infer<typeof erasureSchema>;

/** What an erasure entry says; null when it cannot be read. */
export function readErasure(body: Uint8Array | null): Erasure | null {
  try {
    return erasureSchema.parse(JSON.parse(Buffer.from(body ?? []).toString('utf8')));
  } catch {
    return null;
  }
}

/** Most entries that one erasure entry names; more are erased in several, so that appends wait only briefly. */
export const ENTRIES_AT_ONCE = 10_000;
