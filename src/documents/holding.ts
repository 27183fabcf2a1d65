import { createReadStream } from 'node:fs';
import { dateIn } from '../core/zoned-days.ts';
import type { DocumentRow } from './check.ts';
import { documentPath } from './register.ts';

/** What documents are searched for. */
export interface LookedFor {
  readonly seqs: ReadonlySet<number>;
  /** Commitments of entries (hex), and ids of cases and subjects as they occur in rows. */
  readonly tokens: ReadonlySet<string>;
  /** Cases to be erased as a whole. */
  readonly caseIds: ReadonlySet<string>;
  /**
   * Digests of the erased subjects in every form; reports identify their subject by such a digest (`subjectSha256`).
   */
  readonly subjectDigests: ReadonlySet<string>;
  /** Dates of the erased withdrawals by request and of the erased requests: `YYYY-MM-DD`. */
  readonly withdrawnAt: readonly string[];
  readonly requestedAt: readonly string[];
}

/**
 * Why a document contains some of it, in words; null: it does not. Text files are searched; for packs, the list of
 * files; a PDF cannot be searched and is judged by what its report prints. The delivery log does not name anyone.
 */
export async function holdsSome(folder: string, document: DocumentRow, wanted: LookedFor): Promise<string | null> {
  const { case_id: caseId, name, format } = document;
  if (caseId !== null && wanted.caseIds.has(caseId)) return `made for case ${caseId}`;
  const parameters = JSON.parse(document.parameters) as Readonly<Record<string, unknown>>;
  const { subjectSha256, from, to, timeZone } = parameters;
  if (typeof subjectSha256 === 'string' && wanted.subjectDigests.has(subjectSha256))
    return 'has the history of the subject';
  if (name === 'delivery-log') return null;
  const path = documentPath(folder, { documentId: document.document_id, format });
  // An attachment may be anything; the search finds only text.
  if (name === 'attachment') return (await mentions(path, wanted.tokens)) ? 'names it' : null;
  switch (format) {
    case 'csv':
    case 'json':
    case 'html':
    case 'txt':
      return (await mentions(path, wanted.tokens)) ? 'names it' : null;
    case 'zip':
      return (await enclosesSome(path, wanted.seqs)) ? 'encloses the record' : null;
    case 'pdf': {
      const covers = (at: string) => {
        const day = dateIn(at, typeof timeZone === 'string' ? timeZone : 'UTC');
        return typeof from === 'string' && typeof to === 'string' && from <= day && day < to;
      };
      if (name === 'consent-audit' && wanted.withdrawnAt.some(covers)) return 'may name the subject (PDF)';
      if (name === 'dsar-register' && wanted.requestedAt.some(covers)) return 'lists the request (PDF)';
      return null;
    }
    default:
      return null;
  }
}

/** Longer than any token, so that one cut off at the end of a chunk is found with the next. */
const OVERLAP = 512;

async function mentions(path: string, tokens: ReadonlySet<string>): Promise<boolean> {
  if (tokens.size === 0) return false;
  for await (const text of overlapping(path, 'utf8')) if (textMentions(text, tokens)) return true;
  return false;
}

/** A file in pieces, each with the end of the one before; none if it does not exist. */
async function* overlapping(path: string, encoding: 'utf8' | 'latin1'): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(path, encoding)) {
      const text = rest + (chunk as string);
      yield text;
      rest = text.slice(-OVERLAP);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Whether a text contains one of the tokens as a separate word. */
export function textMentions(text: string, tokens: ReadonlySet<string>): boolean {
  for (const [word] of text.matchAll(/[^\s"'<>,;()[\]{}\\]+/g)) if (tokens.has(word)) return true;
  return false;
}

/** Whether a pack encloses one of these entries. Names of files are not compressed in a ZIP, so it need not be unpacked. */
async function enclosesSome(path: string, seqs: ReadonlySet<number>): Promise<boolean> {
  for await (const text of overlapping(path, 'latin1'))
    for (const [, seq] of text.matchAll(/proofs\/(\d{1,15})\.(?:meta|body)/g)) if (seqs.has(Number(seq))) return true;
  return false;
}
