import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { z } from 'zod';
import type { EvidenceMediaType } from '../core/action.ts';
import { type Clock, isoNow } from '../core/clock.ts';
import { unknownSource } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { asOneLine, isOneLine, lineOf, ONE_LINE } from '../core/validation.ts';
import { appendAction } from '../ledger/append-action.ts';
import { writeEvidenceFile } from '../ledger/evidence-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type BannerEvidence, createBannerQueries } from '../store/queries/history-banners.ts';
import type { Store } from '../store/store.ts';

/** Maximum size of an evidence file. */
export const EVIDENCE_BYTES = 10 * 1024 * 1024;

interface EvidenceDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly sources: { findAny(slug: string): Source | null };
  /** DATA_DIR/evidence. */
  readonly evidenceFolder: string;
}

const moment = z.iso.datetime();
const bannerIdSchema = z.string().trim().min(1, 'Enter the banner id.').max(200, 'The banner id is too long.');
const inputSchema = z
  .object({
    source: z.string(),
    actor: z.string(),
    bannerId: bannerIdSchema,
    fileName: z.string(),
    bytes: z.instanceof(Buffer),
    /** ISO 8601 UTC. Start of the period during which the banner was shown like this. */
    from: moment,
    /** End of the period, exclusive. Null: still shown, as far as the officer knows. */
    to: moment.nullable(),
    note: z.string().trim().max(2000, 'The note is longer than 2,000 characters.').nullable(),
  })
  .refine(({ from, to }) => to === null || from < to, { error: 'The period ends before it starts.', path: ['to'] });
type NewBannerEvidence = z.infer<typeof inputSchema>;

type AddedEvidence =
  | {
      readonly outcome: 'added' | 'exists';
      /** The entry, whose number is cited. */
      readonly seq: number;
      readonly sha256: string;
      readonly bytes: number;
      readonly mediaType: EvidenceMediaType;
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/**
 * Records how a banner was shown in a period (GDPR Art. 7(1); EDPB 05/2020 §108: "a copy of the information that was
 * presented"). The file is durable before the entry that commits to its SHA-256 is appended. The same file for the same
 * banner and period is recorded once, unless it was retracted in between. What the picture shows, and when, is the
 * officer's statement.
 */
export async function addBannerEvidence(deps: EvidenceDeps, input: NewBannerEvidence): Promise<AddedEvidence> {
  const parsed = inputSchema.safeParse(input);
  const problems = parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
  if (deps.sources.findAny(input.source) === null) problems.push(unknownSource(input.source));
  if (input.bytes.length === 0) problems.push('Choose a file that is not empty.');
  else if (input.bytes.length > EVIDENCE_BYTES) problems.push('The file is larger than 10 MiB.');
  const mediaType = sniffMediaType(input.bytes);
  if (mediaType === null && input.bytes.length > 0)
    problems.push('The file type is not supported: use PNG, JPEG, WebP, PDF, HTML or UTF-8 text.');
  if (!parsed.success || mediaType === null || problems.length > 0) return { outcome: 'refused', problems };

  const { source, actor, bannerId, bytes, from, to, note } = parsed.data;
  const sha256 = await writeEvidenceFile(deps.evidenceFolder, bytes);
  const earlier = await createBannerQueries(deps.store.read).bannerEvidence({ source, asOf: Number.MAX_SAFE_INTEGER });
  const retracted = earlier.filter(
    (one) =>
      one.retraction !== null &&
      one.bannerId === bannerId &&
      one.sha256 === sha256 &&
      one.from === from &&
      one.to === to,
  );
  const { outcome, seq } = await appendAction(
    deps.ledger,
    source,
    {
      action: 'banner.evidence-added',
      actor,
      bannerId,
      sha256,
      bytes: bytes.length,
      mediaType,
      fileName: shownName(input.fileName),
      from,
      to,
      note: note === '' ? null : note,
    },
    ['banner.evidence-added', source, bannerId, sha256, from, to ?? '', String(retracted.length)],
    isoNow(deps.clock),
  );
  return { outcome: outcome === 'stored' ? 'added' : 'exists', seq, sha256, bytes: bytes.length, mediaType };
}

/** The name of the officer's file, only for people: it determines no path. Exported for tests. */
export function shownName(fileName: string): string {
  const name = basename(fileName.replaceAll('\\', '/'))
    .slice(-200)
    // Half of a character that the cut divided.
    .replace(/^[\udc00-\udfff]/, '');
  return name === '' ? 'unnamed' : asOneLine(name, 200);
}

const REASON = 'Enter a reason of at most 2,000 characters.';
/** Why a piece of evidence is retracted. */
export const retractionReason = lineOf(2000, { missing: REASON, long: REASON });

type RetractedEvidence =
  | { readonly outcome: 'retracted'; readonly seq: number }
  | { readonly outcome: 'unknown' | 'retracted-before' }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/**
 * Records that a piece of evidence does not show what it was said to show. The entry and its file stay; documents no
 * longer cite it.
 */
export async function retractBannerEvidence(
  deps: EvidenceDeps,
  input: { readonly seq: number; readonly actor: string; readonly reason: string },
): Promise<RetractedEvidence> {
  const read = retractionReason.safeParse(input.reason);
  if (!read.success) return { outcome: 'refused', problems: read.error.issues.map(({ message }) => message) };
  const reason = read.data;
  const found = await findBannerEvidence(deps.store, input.seq);
  if (found === null) return { outcome: 'unknown' };
  if (found.retraction !== null) return { outcome: 'retracted-before' };
  const { outcome, seq } = await appendAction(
    deps.ledger,
    found.source,
    { action: 'banner.evidence-retracted', actor: input.actor, evidence: found.seq, bannerId: found.bannerId, reason },
    ['banner.evidence-retracted', String(found.seq)],
    isoNow(deps.clock),
  );
  return outcome === 'stored' ? { outcome: 'retracted', seq } : { outcome: 'retracted-before' };
}

/** Maximum length of a banner's name. */
export const BANNER_NAME_LENGTH = 100;

const nameSchema = z.object({
  source: z.string(),
  actor: z.string(),
  bannerId: bannerIdSchema,
  /** Empty: the banner's id is shown again. */
  name: z
    .string()
    .trim()
    .max(BANNER_NAME_LENGTH, `The name is longer than ${BANNER_NAME_LENGTH} characters.`)
    .refine(isOneLine, `The name ${ONE_LINE}.`),
});

export type NamedBanner =
  | { readonly outcome: 'named' | 'unchanged'; readonly seq: number | null; readonly name: string | null }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Gives a banner a name. Pages and documents show it next to the id. */
export async function nameBanner(deps: EvidenceDeps, input: z.infer<typeof nameSchema>): Promise<NamedBanner> {
  const parsed = nameSchema.safeParse(input);
  const problems = parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
  if (deps.sources.findAny(input.source) === null) problems.push(unknownSource(input.source));
  if (!parsed.success || problems.length > 0) return { outcome: 'refused', problems };
  const { source, actor, bannerId } = parsed.data;
  const name = parsed.data.name === '' ? null : parsed.data.name;
  const names = await createBannerQueries(deps.store.read).bannerNames({ source, asOf: Number.MAX_SAFE_INTEGER });
  if ((names.get(bannerId) ?? null) === name) return { outcome: 'unchanged', seq: null, name };
  const action = { action: 'banner.named', actor, bannerId, name } as const;
  const { seq } = await appendAction(deps.ledger, source, action, ['banner.named', randomUUID()], isoNow(deps.clock));
  return { outcome: 'named', seq, name };
}

/** One piece of evidence by its entry; null if there is none. */
export async function findBannerEvidence(store: Pick<Store, 'read'>, seq: number): Promise<BannerEvidence | null> {
  const row = await store.read.selectFrom('banner_evidence').select('source').where('seq', '=', seq).executeTakeFirst();
  if (row === undefined) return null;
  const all = await createBannerQueries(store.read).bannerEvidence({
    source: row.source,
    asOf: Number.MAX_SAFE_INTEGER,
  });
  return all.find((one) => one.seq === seq) ?? null;
}

/**
 * The type of a file according to its bytes; its name and the sender's claims are ignored. Null: not an accepted type
 * (signatures: WHATWG MIME Sniffing §6). A text counts as HTML if it begins like a page; any other UTF-8 text without
 * control characters (SVG, a saved stylesheet, notes) is plain text.
 */
export function sniffMediaType(bytes: Buffer): EvidenceMediaType | null {
  const starts = (signature: string, at = 0) =>
    bytes.subarray(at, at + signature.length).equals(Buffer.from(signature, 'latin1'));
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  if (starts('%PDF-')) return 'application/pdf';
  if (!isUtf8(bytes) || CONTROL.test(bytes.toString('utf8'))) return null;
  const head = bytes.subarray(0, 4096).toString('utf8');
  return HTML.test(head) ? 'text/html' : 'text/plain';
}

const CONTROL = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/;
// A byte order mark, white space and comments may precede the first tag.
const HTML =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body|div|script|style|iframe|section|dialog)[\s>]/i;

/** File name extensions by type; HTML never gets one that a double click would run. */
export const evidenceExtensions: Readonly<Record<EvidenceMediaType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'text/html': 'html.txt',
  'text/plain': 'txt',
};

/** The types in words, for people. */
export const evidenceKindText: Readonly<Record<EvidenceMediaType, string>> = {
  'image/png': 'PNG image',
  'image/jpeg': 'JPEG image',
  'image/webp': 'WebP image',
  'application/pdf': 'PDF',
  'text/html': 'HTML',
  'text/plain': 'text',
};
