import { z } from 'zod';
import {
  addBannerEvidence,
  BANNER_NAME_LENGTH,
  EVIDENCE_BYTES,
  evidenceExtensions,
  evidenceKindText,
  findBannerEvidence,
  nameBanner,
  retractBannerEvidence,
} from '../../../banners/evidence.ts';
import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { readEvidenceFile } from '../../../ledger/evidence-files.ts';
import { type BannerEvidence, type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import { listPulledBanners } from '../../../sync/position.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith, type Said, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  BannerName,
  type Column,
  Done,
  Input,
  Moment,
  NoSources,
  Panel,
  Problems,
  SourceChoice,
  SourceToChoose,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { sizeText } from '../parts/words.ts';

const { page, form, file, upload } = pagesWith<
  'store' | 'ledger' | 'clock' | 'config' | 'sources' | 'evidenceFolder' | 'projector'
>();

/** The most banners offered in the form. */
const BANNERS_OFFERED = 200;

/** How banners were shown: the officers' evidence, names, and a form to add more. */
const banners = page({
  path: '/banners',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text }),
  done: {
    added: 'The evidence has been recorded in the ledger.',
    exists: 'This file is already recorded for this banner and period.',
    retracted: 'The evidence has been retracted. The file stays on record.',
    named: 'The name has been recorded in the ledger.',
    unchanged: 'The banner already has this name.',
  },
  async load({ context, permitted, fields }) {
    const sources = permitted.list();
    const source =
      permitted.findAny(fields.source)?.slug ?? (sources.length === 1 ? sources[0]?.slug : undefined) ?? '';
    const scope = { source, asOf: Number.MAX_SAFE_INTEGER };
    const queries = createBannerQueries(context.store.read);
    const [evidence, names] = await Promise.all([queries.bannerEvidence(scope), queries.bannerNames(scope)]);
    const pulled = await listPulledBanners(context.store.read, source, BANNERS_OFFERED);
    const bannerIds = [...new Set([...pulled, ...evidence.map((one) => one.bannerId), ...names.keys()])].sort();
    return { sources, source, evidence, names, bannerIds };
  },
  show: (data, { frame, said }) => <BannersPage frame={frame} {...data} said={said} />,
});

const evidenceFile = file({
  path: '/banners/evidence/:seq/file',
  rule: { who: 'read', source: 'evidence', views: 'object' },
  async send({ context, params, reply }) {
    const found = await find(context, params.seq);
    const kept = await readEvidenceFile(context.evidenceFolder, found.sha256);
    switch (kept.state) {
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
          .send(kept.bytes);
      default:
        return kept satisfies never;
    }
  },
});

const retract = form({
  path: '/banners/evidence/:seq/retract',
  rule: { who: 'work', source: 'evidence' },
  body: z.object({ reason: text }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const { seq, source } = await find(context, params.seq);
    const retracted = await retractBannerEvidence(context, { seq, reason: fields.reason, actor: by.officer });
    switch (retracted.outcome) {
      case 'retracted':
        await visit.projected(retracted.seq);
        return visit.goTo(bannersOf(source, 'retracted'));
      case 'refused':
        return banners.again(visit, { fields: { source }, said: { problems: retracted.problems, form: {} } });
      case 'retracted-before':
        throw new CodedError('conflict', 'Someone else retracted this evidence in the meantime.');
      case 'unknown':
        throw new CodedError('not_found', 'Unknown evidence.');
      default:
        return retracted satisfies never;
    }
  },
});

const name = form({
  path: '/banners/names',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, bannerId: text, name: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { source } = fields;
    const named = await nameBanner(context, { ...fields, actor: by.officer });
    if (named.outcome === 'refused')
      return banners.again(visit, { fields: { source }, said: { problems: named.problems, form: {} } });
    if (named.seq !== null) await visit.projected(named.seq);
    return visit.goTo(bannersOf(source, named.outcome));
  },
});

const add = upload({
  path: '/banners',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, bannerId: text, from: text, to: text, note: text }),
  bytes: EVIDENCE_BYTES,
  tooLarge: (visit) =>
    banners.again(visit, {
      fields: { source: '' },
      said: { problems: ['The file is larger than 10 MiB.'], form: {} },
      status: 413,
    }),
  async act(visit, chosen) {
    const { context, fields, by } = visit;
    const { source, bannerId, note } = fields;
    const refuse = (...problems: readonly string[]) => banners.again(visit, { fields: { source }, said: { problems } });
    const period = periodOf(fields, context.config.timeZone);
    if (period === null) return refuse('Enter the first day, and optionally the last day.');
    if (chosen === null) return refuse('Choose a file.');
    const added = await addBannerEvidence(context, { source, actor: by.officer, bannerId, note, ...period, ...chosen });
    if (added.outcome === 'refused') return refuse(...added.problems);
    await visit.projected(added.seq);
    return visit.goTo(bannersOf(source, added.outcome));
  },
});

export const routes = [banners, evidenceFile, retract, name, add];

const bannersOf = (source: string, done: string) => `/banners?source=${encodeURIComponent(source)}&done=${done}`;

async function find({ store }: Pick<Context, 'store'>, seq: string) {
  const found = /^\d{1,15}$/.test(seq) ? await findBannerEvidence(store, Number(seq)) : null;
  if (found === null) throw new CodedError('not_found', 'Unknown evidence.');
  return found;
}

function periodOf({ from, to }: { from: string; to: string }, timeZone: string) {
  try {
    return { from: startOfDay(from, timeZone), to: to === '' ? null : startOfDay(addDays(to, 1), timeZone) };
  } catch {
    return null;
  }
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
  readonly said: Said;
}

function BannersPage({ frame, sources, source, evidence, names, bannerIds, said }: BannersProps) {
  const { form, problems, done } = said;
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
        <SourceToChoose action="/banners" sources={sources} value={source} />
        {source === '' && sources.length > 1 ? (
          <p>Choose the source whose banners you want to see.</p>
        ) : (
          <EvidenceTable frame={frame} evidence={evidence} names={names} />
        )}
      </Panel>
      {bannerIds.length === 0 || !frame.canWork ? null : <Names {...{ frame, source, names, bannerIds }} />}
      {frame.canWork ? (
        <Panel id="add" title="Add evidence">
          {sources.length === 0 ? (
            <NoSources frame={frame} />
          ) : (
            <PostForm frame={frame} action="/banners" hasFile>
              <div class="pair">
                <SourceChoice frame={frame} sources={sources} value={value('source') || source} />
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
            </PostForm>
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
        <PostForm key={id} frame={frame} action="/banners/names" class="filter">
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
        </PostForm>
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
    { title: 'Entry', cell: (one) => <Retraction one={one} frame={frame} /> },
  ];
  const caption =
    'The period is stated by the officer; the time of adding is recorded by the ledger. A retracted file stays on record but is no longer cited.';
  return <Table caption={caption} columns={columns} rows={evidence} />;
}

/** The entry of a piece of evidence, with a form to retract it, or the reason for its retraction. */
function Retraction({ one: { seq, retraction }, frame }: { one: BannerEvidence; frame: PageFrame }) {
  return (
    <>
      {seq}
      {retraction === null ? (
        !frame.canWork ? null : (
          <details>
            <summary>Retract</summary>
            <PostForm frame={frame} action={`/banners/evidence/${seq}/retract`}>
              <Input id={`reason-${seq}`} label="Reason" name="reason" maxLength={2000} />
              <button type="submit" class="quiet slim">
                Retract evidence {seq}
              </button>
            </PostForm>
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
