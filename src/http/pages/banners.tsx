import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  addBannerEvidence,
  EVIDENCE_BYTES,
  findBannerEvidence,
  retractBannerEvidence,
} from '../../banners/evidence.ts';
import { evidenceExtensions } from '../../banners/media-type.ts';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import { addDays, startOfDay } from '../../core/zoned-days.ts';
import { BannersPage } from '../../dashboard/banners-page.tsx';
import { renderPage } from '../../dashboard/layout.tsx';
import { readEvidenceFile } from '../../ledger/evidence-files.ts';
import { createBannerQueries } from '../../store/queries/history-banners.ts';
import { guardScope, officerOf } from '../auth/guard.ts';
import { formOf, html } from '../html.ts';
import { attachment } from './documents.ts';
import { frameOf, untilProjected } from './frame.ts';

const doneTexts: Readonly<Record<string, string>> = {
  added: 'The evidence has been recorded in the ledger.',
  exists: 'This file is already recorded for this banner and period.',
  retracted: 'The evidence has been retracted. The file stays on record.',
};

interface EvidenceParams {
  readonly Params: { readonly seq: string };
}

/** How banners were shown: the list, its files as downloads, and retractions. Inside the guarded scope. */
export async function bannerRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/banners', (request, reply) => {
    const { source = '', done = '' } = formOf(request.query);
    return sendBanners(context, request, reply, { source, done: doneTexts[done] ?? null });
  });

  app.get<EvidenceParams>('/banners/evidence/:seq/file', async (request, reply) => {
    const found = await find(request.params.seq);
    const file = await readEvidenceFile(context.evidenceFolder, found.sha256);
    switch (file.state) {
      case 'missing':
        throw new CodedError('not_found', 'The file is missing from DATA_DIR/evidence: restore it from a backup.');
      case 'altered':
        throw new CodedError(
          'conflict',
          'The file in DATA_DIR/evidence differs from the recorded one (different hash) and is not served. Tell the operator.',
        );
      case 'sound':
        // Never a page of this origin, whatever is in it: a download, of the kind that its bytes are, without scripts.
        return reply
          .header('content-disposition', attachment(`evidence-${found.seq}.${evidenceExtensions[found.mediaType]}`))
          .header('content-security-policy', "default-src 'none'; sandbox")
          .type(found.mediaType.startsWith('text/') ? 'text/plain; charset=utf-8' : found.mediaType)
          .send(file.bytes);
      default:
        return file satisfies never;
    }
  });

  app.post<EvidenceParams>('/banners/evidence/:seq/retract', async (request, reply) => {
    const { seq, source } = await find(request.params.seq);
    const { reason = '' } = formOf(request.body);
    const retracted = await retractBannerEvidence(context, { seq, reason, actor: officerOf(request).officer });
    switch (retracted.outcome) {
      case 'retracted':
        await untilProjected(context, retracted.seq);
        return reply.redirect(`/banners?source=${encodeURIComponent(source)}&done=retracted`, 303);
      case 'refused':
        return sendBanners(context, request, reply, { source, problems: retracted.problems }, 422);
      case 'retracted-before':
        throw new CodedError('conflict', 'Someone else retracted this evidence in the meantime.');
      case 'unknown':
        throw new CodedError('not_found', 'Unknown evidence.');
      default:
        return retracted satisfies never;
    }
  });

  async function find(seq: string) {
    const found = /^\d{1,15}$/.test(seq) ? await findBannerEvidence(context.store, Number(seq)) : null;
    if (found === null) throw new CodedError('not_found', 'Unknown evidence.');
    return found;
  }
}

interface Upload {
  readonly fileName: string;
  readonly bytes: Buffer;
}

/**
 * The upload of a file. A scope of its own, beside the guarded one: a multipart body has to be read before the form's token can be looked at,
 * and is read here only, once the officer is known, within these limits.
 */
export async function bannerUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.addHook('onRequest', async (request) => {
    if (request.signedIn === null) throw new CodedError('sign_in_required');
  });
  await app.register(multipart, {
    attachFieldsToBody: 'keyValues',
    limits: { fileSize: EVIDENCE_BYTES, files: 1, fields: 10, fieldSize: 10_000, parts: 11, headerPairs: 20 },
    async onFile(part: MultipartFile) {
      const upload: Upload = { fileName: part.filename, bytes: await part.toBuffer() };
      (part as MultipartFile & { value: Upload }).value = upload;
    },
  });
  guardScope(app);

  app.post('/banners', {
    // The file is held in memory; the limits above are stricter for everything else.
    bodyLimit: EVIDENCE_BYTES + 200_000,
    errorHandler(error: FastifyError, request, reply) {
      if (isBrokenForm(error)) throw new CodedError('invalid_request');
      if (error.statusCode !== 413) throw error;
      const shown = { source: '', problems: ['The file is larger than 10 MiB.'] };
      sendBanners(context, request, reply, shown, 413).catch((failure: Error) => void reply.send(failure));
    },
    async handler(request, reply) {
      const form = formOf(request.body);
      const { source = '', bannerId = '', from = '', to = '', note = '' } = form;
      const period = periodOf(from, to);
      const file = fileOf(request.body);
      const refuse = (problems: readonly string[]) =>
        sendBanners(context, request, reply, { source, form, problems }, 422);
      if (period === null) return refuse(['Enter the first day, and optionally the last day.']);
      if (file === null) return refuse(['Choose a file.']);
      const actor = officerOf(request).officer;
      const added = await addBannerEvidence(context, { source, actor, bannerId, note, ...period, ...file });
      if (added.outcome === 'refused') return refuse(added.problems);
      await untilProjected(context, added.seq);
      return reply.redirect(`/banners?source=${encodeURIComponent(source)}&done=${added.outcome}`, 303);
    },
  });

  function periodOf(from: string, to: string): { from: string; to: string | null } | null {
    const { timeZone } = context.config;
    try {
      return { from: startOfDay(from, timeZone), to: to === '' ? null : startOfDay(addDays(to, 1), timeZone) };
    } catch {
      return null;
    }
  }
}

/** Whether a multipart body is cut off or has no boundary: what reads it gives such errors neither a status nor a code. */
function isBrokenForm({ statusCode, code, message }: FastifyError): boolean {
  return statusCode === undefined && code === undefined && /\bmultipart\b/i.test(message);
}

/** The uploaded file, as onFile left it; null when none was chosen. */
function fileOf(body: unknown): Upload | null {
  const { file } = (body ?? {}) as { file?: unknown };
  const upload = (Array.isArray(file) ? file[0] : file) as Partial<Upload> | undefined;
  return Buffer.isBuffer(upload?.bytes) && (upload.bytes.length > 0 || (upload.fileName ?? '') !== '')
    ? { fileName: String(upload.fileName ?? ''), bytes: upload.bytes }
    : null;
}

interface Shown {
  readonly source: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** Banners offered in the form. */
const BANNERS_OFFERED = 200;

async function sendBanners(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: Shown,
  status = 200,
): Promise<FastifyReply> {
  const sources = context.sources.list();
  const source = context.sources.findAny(shown.source)?.slug ?? sources[0]?.slug ?? '';
  const evidence = await createBannerQueries(context.store.read).bannerEvidence({
    source,
    asOf: Number.MAX_SAFE_INTEGER,
  });
  const pulled = await context.store.read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source)
    .where('banner_id', '!=', '')
    .orderBy('banner_id')
    .limit(BANNERS_OFFERED)
    .execute();
  const bannerIds = [
    ...new Set([...pulled.map((row) => row.banner_id), ...evidence.map((one) => one.bannerId)]),
  ].sort();
  const { form, problems, done } = shown;
  const props = {
    ...{ sources, source, evidence, bannerIds },
    ...(form && { form }),
    ...(problems && { problems }),
    done: done ?? null,
  };
  return html(reply, renderPage(<BannersPage frame={frameOf(context, request, reply)} {...props} />), status);
}
