import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { profilesForImport } from '../../../config/profile-file.ts';
import { type ImportReport, importOutcomes, importSources } from '../../../sources/import/import-sources.ts';
import { importColumns, importLimits, importTemplate } from '../../../sources/import/read-csv.ts';
import { isOfServer, noReaders } from '../../../sources/import/read-lines.ts';
import { ownPasswordProblem } from '../../auth/sessions.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith, type Said, text, ticked } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Badge, Input, Notice, Panel, PresentPassword, Problems, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** Lines and problems listed on the page. */
const SHOWN = 200;

/** The most lines per upload: the response waits until each is stored. */
const LINES = 1000;

const { page, file, upload } = pagesWith<'store' | 'ledger' | 'projector' | 'keys' | 'clock' | 'config' | 'sources'>();

const rule = { who: 'administer', source: 'installation' } as const;

/** Imports many sources from a CSV file, like `source import`. */
const importing = page({
  path: '/sources/import',
  rule,
  load: (_visit, { report }: Said<{ report: ImportReport }>) => ({ report: report ?? null }),
  show: (data, { frame, said: { form, problems } }) => (
    <ImportPage frame={frame} {...data} form={form} problems={problems} />
  ),
});

const template = file({
  path: '/sources/import/template',
  rule,
  send: async ({ reply }) =>
    reply
      .header('content-disposition', attachment('sources.csv'))
      .type('text/csv; charset=utf-8')
      .send(importTemplate((name) => !isOfServer(name))),
});

/** The upload of the file. It is not stored, because it may contain secrets. */
const importUpload = upload({
  path: '/sources/import',
  rule,
  body: z.object({ do: text, present: text, update: ticked, skipInvalid: ticked }),
  bytes: importLimits.bytes,
  tooLarge: (visit) =>
    importing.again(visit, {
      fields: {},
      said: { problems: ['The file is larger than 5 MiB: split it.'], form: {} },
      status: 413,
    }),
  async act(visit, chosen) {
    const { context, fields, by, request } = visit;
    const { sources, config } = context;
    const { update, skipInvalid } = fields;
    const refuse = (problem: string) => importing.again(visit, { fields: {}, said: { problems: [problem] } });
    if (chosen === null) return refuse('Choose a file.');
    const dryRun = fields.do !== 'import';
    // A file may give a source another address.
    const wrong = dryRun ? null : await ownPasswordProblem(context, request, fields.present);
    if (wrong !== null) return refuse(wrong);
    const report = await importSources(
      {
        sources,
        isConfigured: (slug) => config.defaultSource?.slug === slug,
        readers: noReaders,
        profiles: profilesForImport(context),
      },
      { csv: chosen.bytes, actor: by.officer, maxLines: LINES, update, skipInvalid, dryRun },
    );
    const last = Math.max(0, ...report.lines.map(({ seq }) => seq ?? 0));
    if (last > 0) await visit.projected(last);
    return importing.again(visit, { fields: {}, said: { report }, status: report.outcome === 'refused' ? 422 : 200 });
  },
});

export const routes = [importing, template, importUpload];

interface ImportProps extends Pick<Said, 'form' | 'problems'> {
  readonly frame: PageFrame;
  /** What came of the file; null: none was sent. */
  readonly report: ImportReport | null;
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
      {report === null ? null : <Report report={report} />}
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
