import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import { type ImportReport, importOutcomes, importSources } from '../../../sources/import/import-sources.ts';
import { importColumns, importLimits, importTemplate } from '../../../sources/import/read-csv.ts';
import { isOfServer, noReaders } from '../../../sources/import/read-lines.ts';
import { officerOf, ownPasswordProblem } from '../../auth/sessions.ts';
import { attachment } from '../parts/attachment.ts';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { Badge, Input, Notice, Panel, PresentPassword, Problems, Table } from '../parts/parts.tsx';
import { uploadForm } from '../parts/upload.ts';

/** Lines and problems listed on the page. */
const SHOWN = 200;

/** The most lines per upload: the response waits until each is stored. */
const LINES = 1000;

/** Imports many sources from a CSV file, like `source import`. */
export async function sourceImportRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/sources/import', (request, reply) => sendImport(context, request, reply, {}));

  app.get('/sources/import/template', (_request, reply) =>
    reply
      .header('content-disposition', attachment('sources.csv'))
      .type('text/csv; charset=utf-8')
      .send(importTemplate((name) => !isOfServer(name))),
  );
}

/** The upload of the file. It is not stored, because it may contain secrets. */
export async function sourceImportUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { sources, config } = context;
  await uploadForm(app, {
    path: '/sources/import',
    bytes: importLimits.bytes,
    tooLarge: async (request, reply) =>
      sendImport(context, request, reply, { problems: ['The file is larger than 5 MiB: split it.'] }, 413),
    async handler(request, reply, file) {
      const form = formOf(request.body);
      if (file === null) return sendImport(context, request, reply, { form, problems: ['Choose a file.'] }, 422);
      // A file may give a source another address.
      const wrong = form['do'] === 'import' ? await ownPasswordProblem(context, request, form['present']) : null;
      if (wrong !== null) return sendImport(context, request, reply, { form, problems: [wrong] }, 422);
      const report = await importSources(
        { sources, isConfigured: (slug) => config.defaultSource?.slug === slug, readers: noReaders },
        {
          csv: file.bytes,
          actor: officerOf(request).officer,
          maxLines: LINES,
          update: form['update'] === 'yes',
          skipInvalid: form['skipInvalid'] === 'yes',
          dryRun: form['do'] !== 'import',
        },
      );
      const last = Math.max(0, ...report.lines.map(({ seq }) => seq ?? 0));
      if (last > 0) await untilProjected(context, last);
      return sendImport(context, request, reply, { form, report }, report.outcome === 'refused' ? 422 : 200);
    },
  });
}

interface Shown {
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly report?: ImportReport;
}

function sendImport(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { form = {}, problems = [], report }: Shown,
  status = 200,
): FastifyReply {
  const page = (
    <ImportPage
      frame={pageFrame(context, request, reply)}
      form={form}
      problems={problems}
      {...(report === undefined ? {} : { report })}
    />
  );
  return html(reply, renderPage(page), status);
}

interface ImportProps extends Required<Pick<Shown, 'form' | 'problems'>> {
  readonly frame: PageFrame;
  readonly report?: ImportReport;
}

function ImportPage({ frame, form, problems, report }: ImportProps) {
  const box = (name: string, text: string) => (
    <label class="box">
      <input type="checkbox" name={name} value="yes" checked={form[name] === 'yes'} /> {text}
    </label>
  );
  return (
    <Page title="Import sources" frame={frame} within="sources">
      <p>
        <a href="/sources">Sources</a>
      </p>
      <h1>Import sources</h1>
      <p class="lead">
        Adds every source listed in a CSV file, one per line. Nothing is written while any line is invalid, and
        importing the same file again changes nothing.
      </p>
      <Problems title="Nothing was imported:" problems={problems} />
      {report === undefined ? null : <Report report={report} />}
      <Panel id="file-panel" title="File">
        <PostForm frame={frame} action="/sources/import" hasFile>
          <Input
            id="file"
            label="CSV file"
            type="file"
            accept=".csv,text/csv,text/tab-separated-values,text/plain"
            hint={`UTF-8, with commas, semicolons or tabs; at most ${formatCount(LINES)} lines and 5 MiB. The file is not stored here: delete yours after the import if it contains secrets.`}
          />
          {frame.personId === null ? null : <PresentPassword hint="Needed to import, not to check the file." />}
          {box('update', 'Also change existing sources that differ (an empty cell keeps the current value)')}
          {box('skipInvalid', 'Import the valid lines even if others are invalid')}
          <div class="buttons">
            <button type="submit" name="do" value="check">
              Check the file
            </button>
            <button type="submit" class="quiet" name="do" value="import">
              Import
            </button>
          </div>
        </PostForm>
      </Panel>
      <Panel id="columns" title="Columns">
        <p>
          <a href="/sources/import/template" download>
            Download an example file
          </a>
        </p>
        <Table
          caption="Only slug is required. Several values in one cell are separated by spaces."
          columns={[
            { title: 'Column', cell: ({ name }: (typeof importColumns)[number]) => <code>{name}</code> },
            { title: 'What it is', cell: ({ what }) => what.replace('; prefer api_key_file or api_key_env', '') },
          ]}
          rows={importColumns.filter(({ name }) => !isOfServer(name))}
        />
      </Panel>
    </Page>
  );
}

const tones = {
  added: 'good',
  changed: 'good',
  unchanged: 'calm',
  'planned-add': 'calm',
  'planned-change': 'calm',
  failed: 'bad',
} as const satisfies Record<ImportReport['lines'][number]['outcome'], string>;

function Report({ report: { outcome, lines, problems, warnings } }: { readonly report: ImportReport }) {
  return (
    <>
      <Notice tone={problems.length > 0 ? 'bad' : outcome === 'imported' ? 'good' : 'calm'}>
        <p>
          {outcome === 'refused'
            ? 'Nothing was imported: correct the file, or import the valid lines only.'
            : outcome === 'dry-run'
              ? 'Nothing was imported yet. Choose the file again, and press “Import”.'
              : `${counted(lines.filter(({ seq }) => seq !== null).length, 'source was', 'sources were')} added or changed.`}
        </p>
      </Notice>
      {problems.length === 0 ? null : (
        <Panel id="problems" title={counted(problems.length, 'problem', 'problems')}>
          <Table
            caption={problems.length > SHOWN ? `The first ${SHOWN}.` : null}
            columns={[
              { title: 'Line', cell: ({ line }) => (line === null ? 'the file' : formatCount(line)) },
              { title: 'Source', cell: ({ slug }) => <bdi>{slug ?? ''}</bdi> },
              { title: 'Column', cell: ({ column }) => column ?? '' },
              { title: 'Problem', cell: ({ problem }) => problem },
            ]}
            rows={problems.slice(0, SHOWN)}
          />
        </Panel>
      )}
      {warnings.length === 0 ? null : (
        <Notice tone="warn">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Notice>
      )}
      {lines.length === 0 ? null : (
        <Panel id="lines" title={counted(lines.length, 'valid line', 'valid lines')}>
          <Table
            caption={lines.length > SHOWN ? `The first ${SHOWN}.` : null}
            columns={[
              {
                title: 'Source',
                cell: ({ slug, seq }) => (seq === null ? slug : <a href={`/sources/${slug}`}>{slug}</a>),
              },
              { title: 'Line', cell: ({ line }) => formatCount(line) },
              {
                title: 'Result',
                cell: (line) => <Badge text={importOutcomes[line.outcome]} tone={tones[line.outcome]} />,
              },
              { title: 'Set', cell: ({ changed }) => changed.join(', ') },
            ]}
            rows={lines.slice(0, SHOWN)}
          />
        </Panel>
      )}
    </>
  );
}
