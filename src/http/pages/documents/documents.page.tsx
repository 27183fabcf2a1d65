import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reports } from '../../../../reports/index.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import { checkFile, isUpload } from '../../../documents/check.ts';
import { sourcesOf } from '../../auth/access.ts';
import { requireCsrf } from '../../auth/sessions.ts';
import { awaitingApproval } from '../../../documents/awaiting-approval.ts';
import { documentTitle, DocumentTable } from './document-table.tsx';
import { formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import type { DocumentRow } from '../../../documents/check.ts';
import {
  Choice,
  Field,
  FilterForm,
  Input,
  Moment,
  Notice,
  Pages,
  Panel,
  Problems,
  SourceFilter,
} from '../parts/parts.tsx';

/** Documents per page. */
const SHOWN = 50;
/** A consent audit of a million decisions is about 200 MB as CSV. */
const FILE_BYTES = 512 * 1024 ** 2;

/** All documents, and a check whether a file is one of them. */
export async function libraryRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/documents', async (request, reply) => {
    const { source: slug = '', name = '', format = '', case: caseId = '', before = '' } = formOf(request.query);
    const permitted = sourcesOf(context, request);
    const source = permitted.findAny(slug)?.slug ?? null;
    const sources = source === null ? permitted.slugs : [source];
    let query = context.store.read.selectFrom('documents').selectAll();
    if (sources !== null) query = query.where('source', 'in', [...sources]);
    if (name !== '') query = query.where('name', '=', name);
    if (format !== '') query = query.where('format', '=', format);
    if (caseId !== '') query = query.where('case_id', '=', caseId.trim());
    if (/^\d{1,15}$/.test(before)) query = query.where('seq', '<', Number(before));
    const rows = await query
      .orderBy('seq', 'desc')
      .limit(SHOWN + 1)
      .execute();
    const shown = rows.slice(0, SHOWN);
    const filter = { source: source ?? '', name, format, case: caseId };
    const address = (more: Record<string, string>) =>
      `/documents?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    const page = (
      <LibraryPage
        frame={pageFrame(context, request, reply)}
        sources={permitted.list()}
        filter={filter}
        documents={shown}
        awaiting={await awaitingApproval(context.cases, shown)}
        first={before === '' ? null : address({})}
        next={rows.length > SHOWN ? address({ before: String(shown.at(-1)?.seq ?? 0) }) : null}
      />
    );
    return html(reply, renderPage(page));
  });

  app.get('/documents/check', (request, reply) => sendCheck(context, request, reply, {}));
}

/**
 * The upload of a file to check, in its own scope like that of banners (banners.tsx). The file is hashed in a temporary
 * folder and removed.
 */
export async function checkUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.decorateRequest('upload', null);
  const tidy = async ({ upload }: FastifyRequest) => {
    if (upload !== null) await rm(upload.folder, { recursive: true, force: true });
  };
  app.addHook('onResponse', tidy);
  app.addHook('onRequestAbort', tidy);
  await app.register(multipart, {
    attachFieldsToBody: 'keyValues',
    limits: { fileSize: FILE_BYTES, files: 1, fields: 5, fieldSize: 10_000, parts: 6, headerPairs: 20 },
    async onFile(this: FastifyRequest, part: MultipartFile) {
      const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-check-'));
      const path = join(folder, 'file');
      this.upload = { name: part.filename, folder, path };
      const { socket } = this.raw;
      const gone = new AbortController();
      const end = () => gone.abort();
      socket.once('close', end);
      if (socket.destroyed) end();
      try {
        await pipeline(part.file, createWriteStream(path, { mode: 0o600 }), gone);
      } catch (error) {
        // The sender may have disconnected before the folder was created.
        await tidy(this);
        throw error;
      } finally {
        socket.off('close', end);
      }
      if (part.file.truncated) throw new CodedError('body_too_large');
    },
  });
  requireCsrf(app);

  app.post('/documents/check', {
    bodyLimit: FILE_BYTES + 200_000,
    errorHandler(error: FastifyError, request, reply) {
      const isTooLarge = error.statusCode === 413 || (error instanceof CodedError && error.code === 'body_too_large');
      if (!isTooLarge) {
        // The multipart parser's error for a truncated body has neither a status nor a code.
        if (!(error instanceof CodedError) && error.statusCode === undefined && error.code === undefined)
          throw new CodedError('invalid_request');
        throw error;
      }
      const problems = [
        'The file is larger than 512 MiB. An admin can check it on the server, with consent-ledger document check.',
      ];
      sendCheck(context, request, reply, { problems }, 413).catch((failure: Error) => void reply.send(failure));
    },
    async handler(request, reply) {
      // Never taken from the body, where a text field could replace the file and name any other file on this machine.
      const { upload } = request;
      if (upload === null || upload.name === '')
        return sendCheck(context, request, reply, { problems: ['Choose a file.'] }, 422);
      await context.projector.catchUp();
      const checked = await checkFile(context, upload.path);
      return sendCheck(context, request, reply, { name: upload.name, checked });
    },
  });
}

interface Upload {
  readonly name: string;
  /** Removed after the response. */
  readonly folder: string;
  readonly path: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where an uploaded file waits to be checked. */
    upload: Upload | null;
  }
}

interface CheckShown {
  readonly problems?: readonly string[];
  readonly name?: string;
  readonly checked?: Awaited<ReturnType<typeof checkFile>>;
}

async function sendCheck(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: CheckShown,
  status = 200,
): Promise<FastifyReply> {
  const { slugs } = sourcesOf(context, request);
  const props = { frame: pageFrame(context, request, reply), slugs, ...shown };
  return html(reply, renderPage(<CheckPage {...props} />), status);
}

interface LibraryProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly name: string; readonly format: string; readonly case: string };
  readonly documents: readonly DocumentRow[];
  readonly awaiting: ReadonlySet<string>;
  readonly first: string | null;
  readonly next: string | null;
}

const kinds: readonly (readonly [string, string])[] = [
  ['', 'Every kind'],
  ...reports.map(({ name, title }) => [name, title] as const),
  ['dsar-pack', 'Response pack'],
  ['letter', 'Letter'],
  ['attachment', 'File added to a request'],
];

function LibraryPage({ frame, sources, filter, documents, awaiting, first, next }: LibraryProps) {
  const filtered = Object.values(filter).some((one) => one !== '');
  return (
    <Page title="Documents" frame={frame} current="documents">
      <h1>Documents</h1>
      <p class="lead">
        Every report, pack and letter made here, and every file added to a request. Each is registered in the ledger
        with its hash, and each download is recorded.
      </p>
      <Panel id="filter" title="What to show">
        <FilterForm action="/documents">
          <SourceFilter sources={sources} value={filter.source} />
          <Choice id="name" label="Kind" value={filter.name} options={kinds} />
          <Choice
            id="format"
            label="Format"
            value={filter.format}
            options={[
              ['', 'Every format'],
              ...['pdf', 'csv', 'json', 'html', 'zip'].map((one) => [one, one.toUpperCase()] as const),
            ]}
          />
          <Input id="case" label="Case" value={filter.case} optional maxLength={200} autocomplete="off" />
        </FilterForm>
      </Panel>
      <Panel id="list" title="Documents">
        {documents.length > 0 ? (
          <DocumentTable frame={frame} documents={documents} awaiting={awaiting} />
        ) : filtered ? (
          <p>
            No document matches. <a href="/documents">Show all of them</a>
          </p>
        ) : (
          <p>
            None yet. <a href="/#report">Create a report</a>, or make a pack on the page of a{' '}
            <a href="/cases">request</a>.
          </p>
        )}
        <Pages first={first} next={next} />
      </Panel>
    </Page>
  );
}

interface CheckProps extends CheckShown {
  readonly frame: PageFrame;
  /** Sources that the viewer may see; null: all. */
  readonly slugs: readonly string[] | null;
}

function CheckPage({ frame, problems = [], name, checked, slugs }: CheckProps) {
  return (
    <Page title="Check a file" frame={frame} current="check">
      <h1>Check a file</h1>
      <p class="lead">
        Checks whether a document, or a file from a pack, is exactly what was made here. The upload is not kept.
      </p>
      <Problems title="The file was not checked:" problems={problems} />
      {checked === undefined ? null : <Verdict frame={frame} name={name ?? ''} checked={checked} slugs={slugs} />}
      <Panel id="upload" title="The file">
        <PostForm frame={frame} action="/documents/check" hasFile>
          <Field id="file" label="File" hint="Drop the file here or choose it, exactly as downloaded.">
            <input id="file" name="file" class="drop" type="file" required aria-describedby="file-hint" />
          </Field>
          <button type="submit">Check</button>
        </PostForm>
      </Panel>
    </Page>
  );
}

function Verdict({
  frame,
  name,
  checked,
  slugs,
}: {
  frame: PageFrame;
  name: string;
  checked: NonNullable<CheckShown['checked']>;
  slugs: CheckProps['slugs'];
}) {
  const { sha256, documents, erased, packs, problems } = checked;
  const genuine = documents.length + erased.length + packs.length > 0;
  const mine = ({ source }: { source: string }) => slugs?.includes(source) ?? true;
  const hidden = [...documents, ...packs].some((one) => !mine(one));
  return (
    <Notice tone={genuine ? 'good' : 'bad'}>
      <p>
        <strong>
          {genuine && documents.length > 0 && documents.every(isUpload)
            ? 'Registered, but not made here: somebody uploaded it for a request: '
            : genuine
              ? 'Genuine: '
              : problems.length > 0
                ? 'Not proven: the ledger does not confirm that this file was made here: '
                : 'Unknown: no document with these bytes was made here: '}
          <bdi>{name}</bdi>
        </strong>
      </p>
      <ul>
        {documents.filter(mine).map(({ seq, source, createdAt, recorded, sealedUnder }) => (
          <li key={seq}>
            {documentTitle(recorded)}, {frame.sourceName(source)}, as of entry {recorded.asOf}, registered as{' '}
            <a href={`/entries/${seq}`}>entry {seq}</a> on <Moment iso={createdAt} timeZone={frame.timeZone} /> by{' '}
            {recorded.actor}; {sealedText(sealedUnder)}
          </li>
        ))}
        {packs.filter(mine).map(({ seq, file, createdAt, recorded, sealedUnder }) => (
          <li key={seq}>
            {file === null ? 'Another ZIP of the files' : file} of the pack {recorded.reference} for case{' '}
            {recorded.caseId ?? 'unknown'}, sealed as <a href={`/entries/${seq}`}>entry {seq}</a> on{' '}
            <Moment iso={createdAt} timeZone={frame.timeZone} />; {sealedText(sealedUnder)}
          </li>
        ))}
        {erased.map(({ seq, erasedAt }) => (
          <li key={seq}>
            It was erased here on <Moment iso={erasedAt} timeZone={frame.timeZone} /> (entry {seq}).
          </li>
        ))}
        {hidden ? <li>It concerns a source that you may not see.</li> : null}
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
        <li>
          SHA-256 <span class="mono">{sha256}</span>
        </li>
      </ul>
      {genuine ? null : (
        <p class="small">A single changed byte changes the hash: ask for the file exactly as it was downloaded.</p>
      )}
    </Notice>
  );
}

function sealedText(size: number | null): string {
  return size === null ? 'not sealed yet.' : `covered by the signed checkpoint over ${size} entries.`;
}
