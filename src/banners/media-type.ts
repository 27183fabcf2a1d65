import { isUtf8 } from 'node:buffer';
import type { EvidenceMediaType } from '../core/action.ts';

/**
 * What a file is by its own bytes; its name and what the sender says of it decide nothing. Null: none of the kinds that are taken
 * (WHATWG MIME Sniffing §6 for the signatures). A text counts as HTML when it begins like a page; any other UTF-8 text without control
 * characters (SVG, a saved stylesheet, notes) is plain text.
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
// A byte order mark, white space and comments may stand before the first tag.
const HTML =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body|div|script|style|iframe|section|dialog)[\s>]/i;

/** How a file of each kind is named; HTML is never given a name that a double click would run. */
export const evidenceExtensions: Readonly<Record<EvidenceMediaType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'text/html': 'html.txt',
  'text/plain': 'txt',
};

/** The kinds in words, for people. */
export const evidenceKindText: Readonly<Record<EvidenceMediaType, string>> = {
  'image/png': 'PNG image',
  'image/jpeg': 'JPEG image',
  'image/webp': 'WebP image',
  'application/pdf': 'PDF',
  'text/html': 'HTML',
  'text/plain': 'text',
};
