import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { CodedError } from '../../../core/errors.ts';
import { requireCsrf } from '../../auth/sessions.ts';
import type { UploadForm } from './upload.ts';

/** A large uploaded file, in a temporary folder until the response is sent. */
export interface LargeUpload {
  readonly fileName: string;
  readonly path: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The large file of a form, and its folder, which is removed after the response. */
    largeUpload: (LargeUpload & { readonly folder: string }) | null;
  }
}

/** A form with one file that is too large for memory, in a scope of its own like those of upload.ts. */
export async function largeUploadForm(
  app: FastifyInstance,
  { path, rule, bytes, tooLarge, handler }: UploadForm<LargeUpload>,
): Promise<void> {
  await app.register(async (scope) => {
    scope.decorateRequest('largeUpload', null);
    scope.addHook('onResponse', tidy);
    scope.addHook('onRequestAbort', tidy);
    await scope.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: { fileSize: bytes, files: 1, fields: 5, fieldSize: 10_000, parts: 6, headerPairs: 20 },
      async onFile(this: FastifyRequest, part: MultipartFile) {
        await store(this, part);
      },
    });
    requireCsrf(scope);
    scope.post(path, {
      config: { rule },
      bodyLimit: bytes + 200_000,
      errorHandler(error: FastifyError, request, reply) {
        const isCoded = error instanceof CodedError;
        if (error.statusCode === 413 || (isCoded && error.code === 'body_too_large')) {
          tooLarge(request, reply).catch((failure: Error) => void reply.send(failure));
          return;
        }
        // The multipart parser's error for a truncated body has neither a status nor a code.
        if (!isCoded && error.statusCode === undefined && error.code === undefined)
          throw new CodedError('invalid_request');
        throw error;
      },
      // Never taken from the body, where a text field could replace the file and name any other file on this machine.
      handler: (request, reply) => handler(request, reply, request.largeUpload?.fileName ? request.largeUpload : null),
    });
  });
}

async function store(request: FastifyRequest, part: MultipartFile): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-check-'));
  const path = join(folder, 'file');
  request.largeUpload = { fileName: part.filename, folder, path };
  const { socket } = request.raw;
  const gone = new AbortController();
  const end = () => gone.abort();
  socket.once('close', end);
  if (socket.destroyed) end();
  try {
    await pipeline(part.file, createWriteStream(path, { mode: 0o600 }), gone);
  } catch (error) {
    // The sender may have disconnected before the folder was created.
    await tidy(request);
    throw error;
  } finally {
    socket.off('close', end);
  }
  if (part.file.truncated) throw new CodedError('body_too_large');
}

async function tidy({ largeUpload }: FastifyRequest): Promise<void> {
  if (largeUpload !== null) await rm(largeUpload.folder, { recursive: true, force: true });
}
