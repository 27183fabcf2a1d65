import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  addBannerEvidence,
  BANNER_NAME_LENGTH,
  EVIDENCE_BYTES,
  findBannerEvidence,
  nameBanner,
  retractBannerEvidence,
  evidenceExtensions,
  evidenceKindText,
} from '../../../banners/evidence.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { renderPage, Csrf, Page, type PageFrame } from '../parts/layout.tsx';
import { readEvidenceFile } from '../../../ledger/evidence-files.ts';
import { createBannerQueries, type BannerEvidence, type BannerNames } from '../../../store/queries/history-banners.ts';
import { columnOf } from '../../../sync/position.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { attachment } from '../documents/download.page.tsx';
import { uploadForm } from '../parts/upload.ts';
import type { Source } from '../../../core/source.ts';
import { sizeText } from '../parts/words.ts';
import {
  BannerName,
  Choice,
  type Column,
  Done,
  Input,
  Moment,
  NoSources,
  Panel,
  Problems,
  Select,
  sourceOptions,
  Table,
} from '../parts/parts.tsx';

const doneTexts: Readonly<Record<string, string>> = {
  added: 'The evidence has been recorded in the ledger.',
  exists: 'This file is already recorded for this banner and period.',
  retracted: 'The evidence has been retracted. The file stays on record.',
  named: 'The name has been recorded in the ledger.',
  unchanged: 'The banner already has this name.',
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
          'The file in DATA_DIR/evidence differs from the recorded one (different hash) and is not served. Tell an admin.',
        );
      case 'sound':
        // Sent as a download with the type of its bytes and without scripts, so that it never acts as a page of this
        // origin.
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

  app.post('/banners/names', async (request, reply) => {
    const { source = '', bannerId = '', name = '' } = formOf(request.body);
    const named = await nameBanner(context, { source, bannerId, name, actor: officerOf(request).officer });
    if (named.outcome === 'refused')
      return sendBanners(context, request, reply, { source, problems: named.problems }, 422);
    if (named.seq !== null) await untilProjected(context, named.seq);
    return reply.redirect(`/banners?source=${encodeURIComponent(source)}&done=${named.outcome}`, 303);
  });

  async function find(seq: string) {
    const found = /^\d{1,15}$/.test(seq) ? await findBannerEvidence(context.store, Number(seq)) : null;
    if (found === null) throw new CodedError('not_found', 'Unknown evidence.');
    return found;
  }
}

/** The upload of a file. */
export async function bannerUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  await uploadForm(app, {
    path: '/banners',
    bytes: EVIDENCE_BYTES,
    tooLarge: (request, reply) =>
      sendBanners(context, request, reply, { source: '', problems: ['The file is larger than 10 MiB.'] }, 413),
    async handler(request, reply, file) {
      const form = formOf(request.body);
      const { source = '', bannerId = '', from = '', to = '', note = '' } = form;
      const period = periodOf(from, to);
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

interface Shown {
  readonly source: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** The most banners offered in the form. */
const BANNERS_OFFERED = 200;

async function sendBanners(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: Shown,
  status = 200,
): Promise<FastifyReply> {
  const permitted = sourcesOf(context, request);
  const sources = permitted.list();
  const source = permitted.findAny(shown.source)?.slug ?? sources[0]?.slug ?? '';
  const scope = { source, asOf: Number.MAX_SAFE_INTEGER };
  const queries = createBannerQueries(context.store.read);
  const [evidence, names] = await Promise.all([queries.bannerEvidence(scope), queries.bannerNames(scope)]);
  const pulled = await context.store.read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source)
    .where('banner_id', '!=', columnOf(null))
    .orderBy('banner_id')
    .limit(BANNERS_OFFERED)
    .execute();
  const bannerIds = [
    ...new Set([...pulled.map((row) => row.banner_id), ...evidence.map((one) => one.bannerId), ...names.keys()]),
  ].sort();
  const { form, problems, done } = shown;
  const props = {
    ...{ sources, source, evidence, names, bannerIds },
    ...(form && { form }),
    ...(problems && { problems }),
    done: done ?? null,
  };
  return html(reply, renderPage(<BannersPage frame={pageFrame(context, request, reply)} {...props} />), status);
}

interface BannersProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly source: string;
  readonly evidence: readonly BannerEvidence[];
  /** The officers' names for them. */
  readonly names: BannerNames;
  /** Ids in consent records, evidence or names, to choose from. */
  readonly bannerIds: readonly string[];
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** How banners were shown: the officers' evidence, and a form to add more. */
function BannersPage(props: BannersProps) {
  const { frame, sources, source, evidence, names, bannerIds, form = {}, problems = [], done = null } = props;
  const value = (name: string) => form[name] ?? '';
  return (
    <Page title="Banners" frame={frame} current="banners">
      <h1>Banners</h1>
      <p class="lead">
        A consent record names a banner but does not show what the visitor saw. Add a screenshot or the text of each
        banner, with the period in which it looked like this, and a name for each banner. Reports and packs cite them.
      </p>
      <Done text={done} />
      <Problems title="This was not recorded:" problems={problems} />
      <Panel id="evidence" title="Evidence">
        {sources.length > 1 ? (
          <form method="get" action="/banners" class="filter">
            <label for="of">Source</label>
            <Select id="of" name="source" value={source} options={sourceOptions(sources)} />
            <button type="submit" class="quiet slim">
              Show
            </button>
          </form>
        ) : null}
        <EvidenceTable frame={frame} evidence={evidence} names={names} />
      </Panel>
      {bannerIds.length === 0 || !frame.canWork ? null : <Names {...{ frame, source, names, bannerIds }} />}
      {frame.canWork ? (
        <Panel id="add" title="Add evidence">
          {sources.length === 0 ? (
            <NoSources frame={frame} />
          ) : (
            <form method="post" action="/banners" enctype="multipart/form-data">
              <Csrf token={frame.csrf} />
              <div class="pair">
                <Choice id="source" label="Source" value={value('source') || source} options={sourceOptions(sources)} />
                <Input
                  id="bannerId"
                  label="Banner"
                  maxLength={200}
                  list="bannerIds"
                  value={value('bannerId')}
                  autocomplete="off"
                  hint="The id used in the consent records."
                >
                  <datalist id="bannerIds">
                    {bannerIds.map((id) => (
                      <option key={id} value={id} />
                    ))}
                  </datalist>
                </Input>
                <Input
                  id="from"
                  label="Shown from"
                  type="date"
                  value={value('from')}
                  hint={`First day, in ${frame.timeZone}.`}
                />
                <Input
                  id="to"
                  label="Until"
                  type="date"
                  value={value('to')}
                  optional
                  hint="Last day; leave empty if it still looks like this."
                />
              </div>
              <Input
                id="file"
                label="File"
                type="file"
                accept="image/png,image/jpeg,image/webp,application/pdf,text/html,text/plain"
                hint="PNG, JPEG, WebP, PDF, HTML or text, at most 10 MiB."
              />
              <Input
                id="note"
                label="Note"
                maxLength={2000}
                value={value('note')}
                optional
                hint="What the file shows, for example: second layer, German."
              />
              <button type="submit">Add evidence</button>
            </form>
          )}
        </Panel>
      ) : null}
    </Page>
  );
}

/** The banners of a source, each with its name and a form to change it. */
function Names({ frame, source, names, bannerIds }: Pick<BannersProps, 'frame' | 'source' | 'names' | 'bannerIds'>) {
  return (
    <Panel id="names" title="Names">
      <p class="small soft">Shown next to the id on pages and in documents made from now on.</p>
      {bannerIds.map((id, place) => (
        <form key={id} method="post" action="/banners/names" class="filter">
          <Csrf token={frame.csrf} />
          <input type="hidden" name="source" value={source} />
          <input type="hidden" name="bannerId" value={id} />
          <label for={`name-${place}`} class="mono">
            {id}
          </label>
          <input
            id={`name-${place}`}
            name="name"
            type="text"
            maxLength={BANNER_NAME_LENGTH}
            value={names.get(id) ?? ''}
            autocomplete="off"
          />
          <button type="submit" class="quiet slim" aria-label={`Save the name of ${id}`}>
            Save
          </button>
        </form>
      ))}
    </Panel>
  );
}

function EvidenceTable({ frame, evidence, names }: Pick<BannersProps, 'frame' | 'evidence' | 'names'>) {
  if (evidence.length === 0)
    return <p>None yet. Until you add some, documents say “banner as shown: not evidenced”.</p>;
  const { timeZone } = frame;
  const columns: readonly Column<BannerEvidence>[] = [
    {
      title: 'Banner',
      cell: ({ bannerId, note }) => (
        <>
          <BannerName id={bannerId} names={names} />
          {note === null ? null : (
            <>
              <br />
              <span class="soft small">{note}</span>
            </>
          )}
        </>
      ),
    },
    {
      title: 'Shown',
      cell: ({ from, to }) => (
        <span class="small">
          from <Moment iso={from} timeZone={timeZone} />
          <br />
          {to === null ? 'still shown' : ['until ', <Moment key="to" iso={to} timeZone={timeZone} />]}
        </span>
      ),
    },
    {
      title: 'File',
      cell: (one) => (
        <>
          <a href={`/banners/evidence/${one.seq}/file`} download>
            {one.fileName}
          </a>
          <br />
          <span class="soft small">
            {evidenceKindText[one.mediaType]}, {sizeText(one.bytes)},{' '}
            <span class="mono" title={one.sha256}>
              {one.sha256.slice(0, 12)}…
            </span>
          </span>
        </>
      ),
    },
    {
      title: 'Added',
      cell: ({ addedAt, actor }) => (
        <span class="small">
          <Moment iso={addedAt} timeZone={timeZone} />
          <br />
          <span class="soft">by {actor}</span>
        </span>
      ),
    },
    { title: 'Entry', cell: (one) => <Retraction one={one} csrf={frame.canWork ? frame.csrf : null} /> },
  ];
  const caption =
    'The period is stated by the officer; the time of adding is recorded by the ledger. A retracted file stays on record but is no longer cited.';
  return <Table caption={caption} columns={columns} rows={evidence} />;
}

/** The entry of a piece of evidence, with a form to retract it, or the reason for its retraction. */
function Retraction({ one: { seq, retraction }, csrf }: { one: BannerEvidence; csrf: string | null }) {
  return (
    <>
      {seq}
      {retraction === null ? (
        csrf === null ? null : (
          <details>
            <summary>Retract</summary>
            <form method="post" action={`/banners/evidence/${seq}/retract`}>
              <Csrf token={csrf} />
              <Input id={`reason-${seq}`} label="Reason" name="reason" maxLength={2000} />
              <button type="submit" class="quiet slim">
                Retract evidence {seq}
              </button>
            </form>
          </details>
        )
      ) : (
        <p class="small">
          <span class="badge warn">retracted</span> {retraction.reason}{' '}
          <span class="soft">
            (entry {retraction.seq}, by {retraction.actor})
          </span>
        </p>
      )}
    </>
  );
}
