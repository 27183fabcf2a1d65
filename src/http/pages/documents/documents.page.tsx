import { z } from 'zod';
import { reports } from '../../../../reports/index.ts';
import type { Source } from '../../../core/source.ts';
import { awaitingApproval } from '../../../documents/awaiting-approval.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import { checkFile, extendedText, isUpload, listDocuments } from '../../../documents/check.ts';
import { number, pagesWith, type Said, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Choice,
  chipsOf,
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
import { PostForm } from '../parts/post-form.tsx';
import { DocumentTable, documentTitle } from './document-table.tsx';

const { page, largeUpload } = pagesWith<'store' | 'cases' | 'keys' | 'instance' | 'projector'>();

/** Documents per page. */
const SHOWN = 50;
/** A consent audit of a million decisions is about 200 MB as CSV. */
const FILE_BYTES = 512 * 1024 ** 2;

/** All documents. */
const library = page({
  path: '/documents',
  rule: { who: 'read', source: 'query', views: 'documents' },
  query: z.object({ source: text, name: text, format: text, case: text, before: number }),
  async load({ context, permitted, fields }) {
    const { name, format, case: caseId, before } = fields;
    const source = permitted.findAny(fields.source)?.slug ?? null;
    const sources = source === null ? permitted.slugs : [source];
    const rows = await listDocuments(context.store.read, {
      ...{ sources, before, limit: SHOWN + 1 },
      ...(name !== '' && { name }),
      ...(format !== '' && { format }),
      ...(caseId !== '' && { caseId: caseId.trim() }),
    });
    const documents = rows.slice(0, SHOWN);
    const filter = { source: source ?? '', name, format, case: caseId };
    const address = (more: Record<string, string>) =>
      `/documents?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      ...{ sources: permitted.list(), filter, documents },
      awaiting: await awaitingApproval(context.cases, documents),
      first: before === null ? null : address({}),
      next: rows.length > SHOWN ? address({ before: String(documents.at(-1)?.seq ?? 0) }) : null,
    };
  },
  show: (data, { frame }) => <LibraryPage frame={frame} {...data} />,
});

/** Checks whether a file is one of the documents. */
const check = page({
  path: '/documents/check',
  rule: { who: 'read', source: 'installation' },
  load: ({ permitted: { slugs } }, _said: Said<CheckedFile>) => ({ slugs }),
  show: ({ slugs }, { frame, said }) => <CheckPage frame={frame} slugs={slugs} {...said} />,
});

const checkUpload = largeUpload({
  path: '/documents/check',
  rule: { who: 'read', source: 'installation' },
  bytes: FILE_BYTES,
  tooLarge: (visit) =>
    check.again(visit, {
      fields: {},
      said: {
        problems: [
          'The file is larger than 512 MiB. An admin can check it on the server, with consent-ledger document check.',
        ],
      },
      status: 413,
    }),
  async act(visit, file) {
    if (file === null) return check.again(visit, { fields: {}, said: { problems: ['Choose a file.'] } });
    await visit.context.projector.catchUp();
    const checked = await checkFile(visit.context, file.path);
    return check.again(visit, { fields: {}, said: { name: file.fileName, checked }, status: 200 });
  },
});

export const routes = [library, check, checkUpload];

interface CheckedFile {
  readonly name: string;
  readonly checked: Awaited<ReturnType<typeof checkFile>>;
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
      <FilterForm
        action="/documents"
        chips={chipsOf('/documents', filter, {
          name: (name) => kinds.find(([value]) => value === name)?.[1] ?? name,
          format: (format) => format.toUpperCase(),
          case: (caseId) => `case ${caseId}`,
        })}
      >
        <SourceFilter frame={frame} sources={sources} value={filter.source} />
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

interface CheckProps extends Partial<CheckedFile> {
  readonly frame: PageFrame;
  /** Sources that the viewer may see; null: all. */
  readonly slugs: readonly string[] | null;
  readonly problems: readonly string[];
}

function CheckPage({ frame, problems, name, checked, slugs }: CheckProps) {
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
  checked: CheckedFile['checked'];
  slugs: CheckProps['slugs'];
}) {
  const { sha256, documents, erased, packs, extended, problems } = checked;
  const [withMore] = extended;
  const genuine = documents.length + erased.length + packs.length > 0;
  const mine = ({ source }: { source: string }) => slugs?.includes(source) ?? true;
  const hidden = [...documents, ...packs, ...extended].some((one) => !mine(one));
  return (
    <Notice tone={genuine ? 'good' : withMore === undefined ? 'bad' : 'warn'}>
      <p>
        <strong>
          {genuine && documents.length > 0 && documents.every(isUpload)
            ? 'Registered, but not made here: somebody uploaded it for a request: '
            : genuine
              ? 'Genuine: '
              : withMore !== undefined
                ? `Not only the pack: ${extendedText(withMore)}: `
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
        {[...packs, ...extended].filter(mine).map(({ seq, file, createdAt, recorded, sealedUnder }) => (
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
      {genuine ? null : withMore !== undefined ? (
        <p class="small">What was added was not made here: remove it, or ask for the file exactly as downloaded.</p>
      ) : (
        <p class="small">A single changed byte changes the hash: ask for the file exactly as it was downloaded.</p>
      )}
    </Notice>
  );
}

function sealedText(size: number | null): string {
  return size === null ? 'not sealed yet.' : `covered by the signed checkpoint over ${size} entries.`;
}
