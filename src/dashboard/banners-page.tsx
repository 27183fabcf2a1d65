import { evidenceKindText } from '../banners/media-type.ts';
import type { Source } from '../core/source.ts';
import type { BannerEvidence } from '../store/queries/history-banners.ts';
import { sizeText } from './format.ts';
import { Csrf, Page, type PageFrame } from './layout.tsx';
import { Field, Moment, Notice, Panel, Problems, Select } from './parts.tsx';

export interface BannersProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly source: string;
  readonly evidence: readonly BannerEvidence[];
  /** Ids that consent records or evidence name, to choose from. */
  readonly bannerIds: readonly string[];
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** How banners were shown: what officers added, and the form that adds more. */
export function BannersPage(props: BannersProps) {
  const { frame, sources, source, evidence, bannerIds, form = {}, problems = [], done = null } = props;
  const value = (name: string) => form[name] ?? '';
  return (
    <Page title="Banners" frame={frame} current="banners">
      <h1>Banner evidence</h1>
      <p class="lead">
        A consent record names a banner but not what the visitor saw. Add a screenshot or the text of each banner, with
        the period in which it looked like this. Reports and packs cite it.
      </p>
      {done === null ? null : <Notice tone="good">{done}</Notice>}
      <Problems title="This was not recorded:" problems={problems} />
      <Panel id="evidence" title="Evidence">
        {sources.length > 1 ? (
          <form method="get" action="/banners" class="filter">
            <label for="of">Source</label>
            <Select id="of" name="source" value={source} options={sources.map(({ slug, name }) => [slug, name])} />
            <button type="submit" class="quiet slim">
              Show
            </button>
          </form>
        ) : null}
        <EvidenceTable frame={frame} evidence={evidence} />
      </Panel>
      <Panel id="add" title="Add evidence">
        {sources.length === 0 ? (
          <p>No sources yet.</p>
        ) : (
          <form method="post" action="/banners" enctype="multipart/form-data">
            <Csrf token={frame.csrf} />
            <div class="pair">
              <Field id="source" label="Source">
                <Select
                  id="source"
                  name="source"
                  value={value('source') || source}
                  options={sources.map(({ slug, name }) => [slug, name])}
                />
              </Field>
              <Field id="bannerId" label="Banner" hint="The id used in the consent records.">
                <input
                  id="bannerId"
                  name="bannerId"
                  type="text"
                  maxLength={200}
                  list="bannerIds"
                  value={value('bannerId')}
                  aria-describedby="bannerId-hint"
                  autocomplete="off"
                  required
                />
                <datalist id="bannerIds">
                  {bannerIds.map((id) => (
                    <option key={id} value={id} />
                  ))}
                </datalist>
              </Field>
              <Field id="from" label="Shown from" hint={`First day, in ${frame.timeZone}.`}>
                <input id="from" name="from" type="date" value={value('from')} aria-describedby="from-hint" required />
              </Field>
              <Field id="to" label="Until" optional hint="Last day; leave empty if it still looks like this.">
                <input id="to" name="to" type="date" value={value('to')} aria-describedby="to-hint" />
              </Field>
            </div>
            <Field id="file" label="File" hint="PNG, JPEG, WebP, PDF, HTML or text, at most 10 MiB.">
              <input
                id="file"
                name="file"
                type="file"
                accept="image/png,image/jpeg,image/webp,application/pdf,text/html,text/plain"
                aria-describedby="file-hint"
                required
              />
            </Field>
            <Field id="note" label="Note" optional hint="What the file shows, for example: second layer, German.">
              <input
                id="note"
                name="note"
                type="text"
                maxLength={2000}
                value={value('note')}
                aria-describedby="note-hint"
              />
            </Field>
            <button type="submit">Add evidence</button>
          </form>
        )}
      </Panel>
    </Page>
  );
}

function EvidenceTable({ frame, evidence }: Pick<BannersProps, 'frame' | 'evidence'>) {
  if (evidence.length === 0)
    return <p>None yet. Until you add some, documents say “banner as shown: not evidenced”.</p>;
  return (
    <table class="stacks" role="table">
      <caption>
        The period is stated by the officer; the time of adding is recorded by the ledger. A retracted file stays on
        record but is no longer cited.
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            Banner
          </th>
          <th scope="col" role="columnheader">
            Shown
          </th>
          <th scope="col" role="columnheader">
            File
          </th>
          <th scope="col" role="columnheader">
            Added
          </th>
          <th scope="col" role="columnheader">
            Entry
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {evidence.map((one) => (
          <EvidenceRow key={one.seq} frame={frame} one={one} />
        ))}
      </tbody>
    </table>
  );
}

function EvidenceRow({ frame, one }: { readonly frame: PageFrame; readonly one: BannerEvidence }) {
  const { timeZone } = frame;
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        {one.bannerId}
        {one.note === null ? null : (
          <>
            <br />
            <span class="soft small">{one.note}</span>
          </>
        )}
      </th>
      <td role="cell" data-label="Shown">
        <span class="small">
          from <Moment iso={one.from} timeZone={timeZone} />
          <br />
          {one.to === null ? 'still shown' : ['until ', <Moment key="to" iso={one.to} timeZone={timeZone} />]}
        </span>
      </td>
      <td role="cell" data-label="File">
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
      </td>
      <td role="cell" data-label="Added">
        <span class="small">
          <Moment iso={one.addedAt} timeZone={timeZone} />
          <br />
          <span class="soft">by {one.actor}</span>
        </span>
      </td>
      <td role="cell" data-label="Entry">
        {one.seq}
        {one.retraction === null ? (
          <details>
            <summary>Retract</summary>
            <form method="post" action={`/banners/evidence/${one.seq}/retract`}>
              <Csrf token={frame.csrf} />
              <Field id={`reason-${one.seq}`} label="Reason">
                <input id={`reason-${one.seq}`} name="reason" type="text" maxLength={2000} required />
              </Field>
              <button type="submit" class="quiet slim">
                Retract evidence {one.seq}
              </button>
            </form>
          </details>
        ) : (
          <p class="small">
            <span class="badge warn">retracted</span> {one.retraction.reason}{' '}
            <span class="soft">
              (entry {one.retraction.seq}, by {one.retraction.actor})
            </span>
          </p>
        )}
      </td>
    </tr>
  );
}
