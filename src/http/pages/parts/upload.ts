import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../../../core/errors.ts';
import type { Rule } from '../../auth/route-permissions.ts';
import { requireCsrf } from '../../auth/sessions.ts';

/** An uploaded file, in memory. */
export interface Upload {
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** A form with one file, which arrives as `F`. */
export interface UploadForm<F> {
  readonly path: string;
  readonly rule: Rule;
  /** Maximum size of the file. */
  readonly bytes: number;
  /** Answers with status 413 if the file is larger. */
  readonly tooLarge: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  /** `file` is null if none was chosen. */
  readonly handler: (request: FastifyRequest, reply: FastifyReply, file: F | null) => Promise<unknown>;
}

/**
 * A form with one file, sent with `POST` to a path. Registers its own scope next to the guarded one: a multipart body
 * must be read before the form's token can be checked, and is read only here, within these limits, once the person is
 * known and permitted.
 */
export async function uploadForm(
  app: FastifyInstance,
  { path, rule, bytes, tooLarge, handler }: UploadForm<Upload>,
): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: { fileSize: bytes, files: 1, fields: 10, fieldSize: 10_000, parts: 11, headerPairs: 20 },
      async onFile(part: MultipartFile) {
        const upload: Upload = { fileName: part.filename, bytes: await part.toBuffer() };
        (part as MultipartFile & { value: Upload }).value = upload;
      },
    });
    requireCsrf(scope);
    scope.post(path, {
      config: { rule },
      // The file is held in memory; the limits above are stricter for everything else.
      bodyLimit: bytes + 200_000,
      errorHandler(error: FastifyError, request, reply) {
        if (isBrokenForm(error)) throw new CodedError('invalid_request');
        if (error.statusCode !== 413) throw error;
        tooLarge(request, reply).catch((failure: Error) => void reply.send(failure));
      },
      handler: (request, reply) => handler(request, reply, fileOf(request.body)),
    });
  });
}

/** Whether a multipart body is truncated or has no boundary: the parser's errors for these have neither a status nor a code. */
function isBrokenForm({ statusCode, code, message }: FastifyError): boolean {
  return statusCode === undefined && code === undefined && /\bmultipart\b/i.test(message);
}

/** The uploaded file as stored by onFile; null if none was chosen. */
function fileOf(body: unknown): Upload | null {
  const { file } = (body ?? {}) as { file?: unknown };
  const upload = (Array.isArray(file) ? file[0] : file) as Partial<Upload> | undefined;
  return Buffer.isBuffer(upload?.bytes) && (upload.bytes.length > 0 || (upload.fileName ?? '') !== '')
    ? { fileName: String(upload.fileName ?? ''), bytes: upload.bytes }
    : null;
}
