import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../../context.ts';
import { isoNow } from '../../../core/clock.ts';
import { CodedError } from '../../../core/errors.ts';
import { dateText, momentText } from '../../../core/time-words.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { sha256OfStream } from '../../../crypto/hash.ts';
import { loadProduced } from '../../../documents/check.ts';
import { readableName, safeFileName } from '../../../documents/file-name.ts';
import { documentPath } from '../../../documents/register.ts';
import { appendAction } from '../../../ledger/append-action.ts';
import { officerOf } from '../../auth/sessions.ts';
import { findReport } from '../../../../reports/index.ts';
import { formatCount, formatPeriod } from '../../../../reports/format.ts';
import { isLetterStep } from '../../../../reports/letters/texts.ts';
import { languageText, letterText, sizeText, type Worded } from '../parts/words.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { ErrorText, Badge, type Column, Moment, Table } from '../parts/parts.tsx';
import { type Job, payloadText } from '../../../jobs/job.ts';

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
  app.get<{ Params: { documentId: string } }>('/documents/:documentId/download', (request, reply) =>
    sendDocument(context, reply, request.params.documentId, officerOf(request).officer),
  );
}

/** Sends the file of a document if it is byte for byte the registered one; the download is recorded as an entry. */
export async function sendDocument(
  context: Context,
  reply: FastifyReply,
  documentId: string,
  officer: string,
): Promise<FastifyReply> {
  return sendRegistered(context, reply, documentId, async ({ source, sha256 }) => {
    const action = { action: 'document.downloaded' as const, actor: officer, documentId, sha256 };
    const keyParts = ['document.downloaded', documentId, randomUUID()];
    await appendAction(context.ledger, source, action, keyParts, isoNow(context.clock));
  });
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
  const find = () =>
    context.store.read.selectFrom('documents').selectAll().where('document_id', '=', documentId).executeTakeFirst();
  // Its job may be done before its entry has been folded.
  const row = (await find()) ?? (await context.projector.catchUp().then(find));
  if (row === undefined || !/^[\w-]+$/.test(row.document_id) || !/^\w+$/.test(row.format)) {
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

/** RFC 6266: a plain name for every browser, and the exact name in addition. */
export function attachment(name: string): string {
  const fileName = safeFileName(name);
  const plain = fileName.replace(/[^\w.-]+/g, '_');
  const exact = encodeURIComponent(Buffer.from(fileName).toString()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/** Registered files. The link downloads; each download is an entry. */
export function DocumentTable({
  frame: { timeZone, sourceName },
  documents,
  awaiting,
  total,
  also = [],
}: {
  frame: PageFrame;
  documents: readonly DocumentRow[];
  /** Ids of those that a second person has yet to approve. */
  awaiting: ReadonlySet<string>;
  total?: number;
  /** Additional columns. */
  also?: readonly Column<DocumentRow>[];
}) {
  if (documents.length === 0) return <p>None yet.</p>;
  const more = (total ?? documents.length) - documents.length;
  const columns: readonly Column<DocumentRow>[] = [
    {
      title: 'Document',
      cell: (document) => (
        <>
          {document.erased_at === null ? (
            <a href={`/documents/${encodeURIComponent(document.document_id)}/download`} class="outside" download>
              {titleOf(document)}
              <span class="soft">
                {' '}
                ({document.name === 'attachment' ? 'file' : document.format.toUpperCase()}, {sizeText(document.bytes)})
              </span>
            </a>
          ) : (
            <>
              {titleOf(document)}
              <span class="soft"> (erased on {dateText(dateIn(document.erased_at, timeZone))})</span>
            </>
          )}
          {awaiting.has(document.document_id) ? (
            <>
              {' '}
              <Badge text="not approved yet" tone="warn" />
            </>
          ) : null}
          <br />
          <span class="soft small">{aboutOf(document, sourceName)}</span>
        </>
      ),
    },
    {
      title: 'Made',
      cell: ({ created_at, actor }) => (
        <span class="small">
          <Moment iso={created_at} timeZone={timeZone} />
          <br />
          <span class="soft">by {actor}</span>
        </span>
      ),
    },
    {
      title: 'SHA-256',
      cell: ({ sha256 }) => (
        <span class="mono" title={sha256}>
          {sha256.slice(0, 12)}…
        </span>
      ),
    },
    { title: 'Downloads', isNumber: true, cell: ({ downloads }) => formatCount(downloads) },
    ...also,
  ];
  const unapproved = documents.some(({ document_id: id }) => awaiting.has(id))
    ? ' What is not approved yet is for review: a second person has to approve it before it leaves.'
    : '';
  const some = more > 0 ? `The newest ${documents.length} of ${formatCount(total ?? 0)}. ` : '';
  return (
    <Table
      caption={`${some}Each download is recorded in the ledger.${unapproved}`}
      columns={columns}
      rows={documents}
    />
  );
}

/** A document within its case, for a selection list: `Response pack for default-46, made 21 Nov 2026, 11:32`. */
export function optionText(document: DocumentRow, timeZone: string): string {
  return `${titleOf(document)}, made ${momentText(document.created_at, timeZone)}`;
}

function titleOf({ name, case_id: caseId, parameters }: DocumentRow): string {
  return documentTitle({ name, caseId, parameters: JSON.parse(parameters) as Readonly<Record<string, unknown>> });
}

/** `Response pack for default-46`, `Consent audit`, `Erasure certificate`. */
export function documentTitle({
  name,
  caseId,
  parameters: { step, language, fileName },
}: {
  readonly name: string;
  readonly caseId: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
}): string {
  if (name === 'letter') {
    const title = typeof step === 'string' && isLetterStep(step) ? letterText(step) : 'Letter';
    const inLanguage = typeof language === 'string' ? `, in ${languageText(language.replace(/-.*/, ''))}` : '';
    return `${title} for ${caseId ?? ''}${inLanguage}`;
  }
  if (name === 'attachment') return `${typeof fileName === 'string' ? fileName : 'File'} for ${caseId ?? ''}`;
  const title = findReport(name)?.title;
  if (caseId !== null) return `${title ?? 'Response pack'} for ${caseId}`;
  return title ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
}

/** Period and source, if the document has them. */
function aboutOf({ parameters, source, as_of }: DocumentRow, sourceName: PageFrame['sourceName']): string {
  const { from, to } = JSON.parse(parameters) as { from?: unknown; to?: unknown };
  const period = typeof from === 'string' && typeof to === 'string' ? `${periodText(from, to)} · ` : '';
  return `${period}${sourceName(source)} · as of entry ${formatCount(as_of)}`;
}

function periodText(from: string, to: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(from) && /^\d{4}-\d{2}-\d{2}$/.test(to)
    ? formatPeriod(from, to)
    : `${from} – ${to}`;
}

/** Requested jobs and their progress. The page does not reload by itself; it has a link for that. */
export function JobList({ frame, jobs, again }: { frame: PageFrame; jobs: readonly Job[]; again: string }) {
  const nameOf = (job: Job) => jobName(job, frame.sourceName);
  return (
    <>
      <ul class="jobs">
        {jobs.map((job) => (
          <li key={job.id}>
            {nameOf(job)} <Badge {...stateOf(job)} />
            <br />
            <span class="soft small">
              requested <Moment iso={job.createdAt} timeZone={frame.timeZone} />
              {payloadText(job, 'actor') === null ? '' : ` by ${payloadText(job, 'actor')}`}
            </span>
            <Progress job={job} name={nameOf(job)} />
            {job.error !== null && job.state !== 'done' ? (
              <p class="hint">
                <ErrorText text={job.error} frame={frame} />
              </p>
            ) : null}
          </li>
        ))}
      </ul>
      {jobs.some((job) => job.finishedAt === null) ? (
        <p>
          <a href={again}>Refresh</a>
        </p>
      ) : null}
    </>
  );
}

function Progress({ job, name }: { job: Job; name: string }) {
  if (job.state !== 'running' || job.progress === null) return null;
  const { done, total, message } = job.progress;
  return (
    <p class="hint">
      {total === null ? null : <progress aria-label={`Progress of ${name}`} value={done} max={Math.max(total, 1)} />}{' '}
      {message}
    </p>
  );
}

function jobName(job: Job, sourceName: PageFrame['sourceName']): string {
  const source = payloadText(job, 'source');
  if (job.kind === 'sync') return `Sync of ${source === null ? 'all sources' : sourceName(source)}`;
  const caseId = payloadText(job, 'caseId');
  if (caseId !== null) return `Response pack for ${caseId}`;
  const name = payloadText(job, 'name') ?? 'document';
  return `${findReport(name)?.title ?? name} (${(payloadText(job, 'format') ?? '').toUpperCase()})`;
}

function stateOf(job: Job): Worded {
  switch (job.state) {
    case 'waiting':
      return job.attempts > 0 ? { text: 'failed, will be retried', tone: 'warn' } : { text: 'waiting', tone: 'calm' };
    case 'running':
      return { text: 'running', tone: 'calm' };
    case 'done':
      return failedBanners(job) > 0
        ? { text: 'completed with failures', tone: 'warn' }
        : { text: 'done', tone: 'good' };
    case 'failed':
      return { text: 'failed', tone: 'bad' };
    case 'cancelled':
      return { text: 'cancelled', tone: 'calm' };
  }
}

function failedBanners({ result }: Job): number {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return 0;
  const { failed } = result as { failed?: unknown };
  return typeof failed === 'number' ? failed : 0;
}
