import { type FileHandle, open } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import { dateText } from '../../../core/time-words.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { sha256OfStream } from '../../../crypto/hash.ts';
import { type DocumentRow, findDocument, loadProduced } from '../../../documents/check.ts';
import { readableName } from '../../../documents/file-name.ts';
import { documentPath, recordDownload } from '../../../documents/register.ts';
import { attachment } from '../parts/attachment.ts';

const contentTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  zip: 'application/zip',
};

/** Sends the file of a document if it is byte for byte the registered one; the download is recorded as an entry. */
export async function sendDocument(
  context: Pick<Context, 'store' | 'keys' | 'instance' | 'sources' | 'documents' | 'projector' | 'ledger' | 'clock'>,
  reply: FastifyReply,
  documentId: string,
  officer: string,
): Promise<FastifyReply> {
  return sendRegistered(context, reply, documentId, ({ source, sha256 }) =>
    recordDownload(context, { source, documentId, sha256, actor: officer }),
  );
}

/**
 * The same, with `note` to record the download. Nothing is sent if it rejects, because every download must be in the
 * ledger.
 */
export async function sendRegistered(
  context: Pick<Context, 'store' | 'keys' | 'instance' | 'sources' | 'documents' | 'projector'>,
  reply: FastifyReply,
  documentId: string,
  note: (row: DocumentRow) => Promise<void>,
): Promise<FastifyReply> {
  const find = () => findDocument(context.store.read, documentId);
  // Its job may be done before its entry has been folded.
  const row = (await find()) ?? (await context.projector.catchUp().then(find));
  if (row === null || !/^[\w-]+$/.test(row.document_id) || !/^\w+$/.test(row.format)) {
    throw new CodedError('not_found', 'Unknown document.');
  }
  if (row.erased_at !== null)
    throw new CodedError(
      'not_found',
      `This document was erased on ${dateText(dateIn(row.erased_at, context.documents.timeZone))} (entry ${row.erased_seq}). Its hash stays in the ledger.`,
    );
  const produced = await loadProduced(context, row.seq, row.sha256);
  const problem =
    typeof produced === 'string'
      ? produced
      : produced.recorded.documentId === documentId
        ? null
        : `Entry ${row.seq} should register this file, but it registers another document.`;
  if (problem !== null) throw new CodedError('conflict', `${problem} Tell an admin; it cannot be downloaded.`);
  const file = await openRegistered(
    documentPath(context.documents.folder, { documentId, format: row.format }),
    row.sha256,
  );
  try {
    // Recorded before the first byte is sent.
    await note(row);
  } catch (error) {
    await file.close();
    throw error;
  }
  return reply
    .header('content-disposition', attachment(readableName(row, (slug) => context.sources.findAny(slug)?.name ?? slug)))
    .header('content-length', row.bytes)
    .type(contentTypes[row.format] ?? 'application/octet-stream')
    .send(file.createReadStream({ start: 0 }));
}

/** Opens a file if it is byte for byte the registered one: an altered file is never sent under its old name. */
async function openRegistered(path: string, sha256: string): Promise<FileHandle> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CodedError(
      'not_found',
      'The file of this document is missing from the documents folder: restore it from a backup, or create it again.',
    );
  });
  try {
    if ((await sha256OfStream(file.createReadStream({ start: 0, autoClose: false }))) !== sha256) {
      throw new CodedError(
        'conflict',
        'The file of this document differs from the registered one (different hash) and is not served. Tell an admin.',
      );
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
