import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { isoNow } from '../../core/clock.ts';
import { CodedError } from '../../core/errors.ts';
import { loadProduced } from '../../documents/check.ts';
import { documentPath } from '../../documents/register.ts';
import { appendAction } from '../../ledger/append-action.ts';
import { officerOf } from '../auth/guard.ts';

const contentTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  zip: 'application/zip',
};

/** Registered documents as files. */
export async function documentRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get<{ Params: { documentId: string } }>('/documents/:documentId/download', async (request, reply) => {
    const { documentId } = request.params;
    const row = await context.store.read
      .selectFrom('documents')
      .selectAll()
      .where('document_id', '=', documentId)
      .executeTakeFirst();
    if (row === undefined || !/^[\w-]+$/.test(row.document_id) || !/^\w+$/.test(row.format)) {
      throw new CodedError('not_found', 'Unknown document.');
    }
    const produced = await loadProduced(context, row.seq, row.sha256);
    if (typeof produced === 'string') {
      throw new CodedError('conflict', `${produced} Tell the operator; it is not handed out.`);
    }
    const file = await openRegistered(
      documentPath(context.documents.folder, { documentId, format: row.format }),
      row.sha256,
    );
    try {
      // Before the first byte leaves: a download that is not in the ledger did not happen.
      const { officer } = officerOf(request);
      const action = { action: 'document.downloaded' as const, actor: officer, documentId, sha256: row.sha256 };
      await appendAction(
        context.ledger,
        row.source,
        action,
        ['document.downloaded', documentId, randomUUID()],
        isoNow(context.clock),
      );
    } catch (error) {
      await file.close();
      throw error;
    }
    return reply
      .header('content-disposition', attachment(row.file_name))
      .header('content-length', row.bytes)
      .type(contentTypes[row.format] ?? 'application/octet-stream')
      .send(file.createReadStream({ start: 0 }));
  });
}

/** Opens a file that is byte for byte the registered one. What was altered since never leaves under its old name. */
async function openRegistered(path: string, sha256: string): Promise<FileHandle> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CodedError(
      'not_found',
      'The file of this document is missing from the documents folder: restore it from a backup, or create it again.',
    );
  });
  try {
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer);
    if (hash.digest('hex') !== sha256) {
      throw new CodedError(
        'conflict',
        'The file of this document differs from the registered one (different hash) and is not served. Tell the operator.',
      );
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** RFC 6266: a plain name for every browser, and the exact one beside it. */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\w.-]+/g, '_');
  const exact = encodeURIComponent(Buffer.from(fileName).toString()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
