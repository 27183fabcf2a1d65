import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { verifySignature } from '../../../../receivers/signature-node.ts';
import { counted, formatCount } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import { type Diagnosed, diagnoseRefused, loadRefusedCounts } from '../../../attention/deliveries.ts';
import { CodedError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import { type Source, secretEncodings } from '../../../core/source.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { readmitRejected } from '../../../rejected/readmit.ts';
import type { RejectedContent } from '../../../rejected/ring.ts';
import { pagesWith, type Said, smallNumber, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  AskAdmin,
  Choice,
  type Column,
  Done,
  Facts,
  Input,
  Moment,
  Panel,
  Problems,
  SourceChoice,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { remedyText, sizeText } from '../parts/words.ts';
import { retireHours } from '../sources/source-forms.tsx';

const { page, form } = pagesWith<'store' | 'ledger' | 'clock' | 'sources' | 'rejected'>();

/** Refused deliveries on the page. Diagnosing one takes a few hundred hashes. */
const SHOWN = 50;
const HOURS = 72;

const reasonTexts: Readonly<Record<string, string>> = {
  missing: 'no signature',
  mismatch: 'wrong signature',
  'too-large': 'larger than this server accepts',
  'crowded-out': 'too many at once',
  'unknown-source': 'sent to an address without a source',
};

/** What the webhook endpoint refused, why, and what to do. `in` and `out`: the outcome of readmitting. */
const refused = page({
  path: '/deliveries/refused',
  rule: { who: 'read', source: 'query', views: 'refused deliveries' },
  query: z.object({ in: smallNumber, out: smallNumber }),
  done: { secret: 'The new signing secret is accepted from now on. Readmit the deliveries that it verifies.' },
  async load({ context, permitted, fields }) {
    const { slugs } = permitted;
    await context.rejected.flush();
    const kept = (await context.rejected.list()).filter(({ source }) => slugs?.includes(source) ?? true);
    // A finding may name another source whose secret was used; show that only if the viewer may see the source.
    const asSeen = { rejected: context.rejected, sources: permitted };
    return {
      sources: permitted.list(),
      kept: kept.length,
      diagnosed: await diagnoseRefused(asSeen, kept.slice(0, SHOWN)),
      counts: (await loadRefusedCounts(context, undefined)).filter(({ source }) => slugs?.includes(source) ?? true),
      admins: await listAdminAddresses(context),
      readmitted:
        fields.in === null || fields.out === null
          ? null
          : `${counted(fields.in, 'delivery was', 'deliveries were')} readmitted, ${fields.out} still refused.`,
    };
  },
  show: (data, { frame, said }) => <RefusedListPage frame={frame} {...data} said={said} />,
});

const refusedOne = page({
  path: '/deliveries/refused/:refusedId',
  rule: { who: 'read', source: 'refused', views: 'object' },
  async load({ context: { rejected }, permitted, params }) {
    const id = smallNumber.parse(params.refusedId);
    const content = id === null ? null : await rejected.read(id);
    if (content === null)
      throw new CodedError('not_found', `It is no longer stored: refused deliveries are kept for ${HOURS} hours.`);
    const [diagnosed] = await diagnoseRefused({ rejected, sources: permitted }, [content]);
    if (diagnosed === undefined) throw new CodedError('not_found');
    return { content, diagnosed };
  },
  show: (data, { frame }) => <RefusedPage frame={frame} {...data} />,
});

const unchanged = (...problems: readonly string[]) => ({ fields: { in: null, out: null }, said: { problems } });

const readmit = form({
  path: '/deliveries/refused/readmit',
  rule: { who: 'administer', source: 'form' },
  body: z.object({ source: text }),
  async act(visit) {
    const { context, fields } = visit;
    const { rejected: ring, sources, ledger } = context;
    if (sources.find(fields.source) === null) return refused.again(visit, unchanged('Unknown source.'));
    const results = await readmitRejected({ ring, sources, ledger, verify: verifySignature }, fields);
    const seqs = results.flatMap((one) => ('seq' in one ? [one.seq] : []));
    if (seqs.length > 0) await visit.projected(Math.max(...seqs));
    return visit.goTo(`/deliveries/refused?in=${seqs.length}&out=${results.length - seqs.length}`);
  },
});

const addSecret = form({
  path: '/deliveries/refused/secret',
  rule: { who: 'administer', source: 'form' },
  body: z.object({ source: text, secret: text, encoding: text, retire: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const encoding = secretEncodings.find((one) => one === fields.encoding);
    const hours = retireHours.find(([value]) => value === fields.retire)?.[0];
    if (encoding === undefined || hours === undefined)
      return refused.again(visit, unchanged('Choose the encoding of the secret, and when the old ones expire.'));
    const retireOthersAt =
      hours === '' ? undefined : new Date(context.clock().getTime() + Number(hours) * 3_600_000).toISOString();
    const outcome = await context.sources.rotateSecret(fields.source, fields.secret.trim(), by.officer, {
      encoding,
      retireOthersAt,
    });
    switch (outcome.outcome) {
      case 'done':
        await visit.projected(outcome.seq);
        return visit.goTo('/deliveries/refused?done=secret');
      case 'invalid':
        return refused.again(visit, unchanged(...outcome.problems));
      case 'exists':
      case 'unchanged':
        return refused.again(visit, { ...unchanged('This secret is already accepted.'), status: 409 });
      case 'configured':
      case 'unknown':
        return refused.again(visit, unchanged('Unknown source.'));
      case 'conflict':
        return refused.again(visit, {
          ...unchanged('Someone else has just changed this source: try again.'),
          status: 409,
        });
      default:
        return outcome satisfies never;
    }
  },
});

export const routes = [refused, refusedOne, readmit, addSecret];

interface RefusedListProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  /** Number of refused deliveries in store. */
  readonly kept: number;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  readonly diagnosed: readonly Diagnosed[];
  readonly counts: readonly { readonly source: string; readonly reason: string; readonly count: number }[];
  /** How many were just readmitted, in words. */
  readonly readmitted: string | null;
  readonly said: Said;
}

function RefusedListPage(props: RefusedListProps) {
  const { frame, sources, kept, admins, diagnosed, counts, readmitted, said } = props;
  const administers = can(frame.role, 'administer');
  return (
    <Page title="Refused deliveries" frame={frame} current="refused">
      <h1>Refused deliveries</h1>
      <p class="lead">
        Deliveries without a valid signature. They are kept encrypted for {HOURS} hours outside the ledger, so that a
        wrong secret loses nothing.
      </p>
      <Done text={readmitted ?? said.done} />
      <Problems title="Nothing was changed:" problems={said.problems} />
      <Panel id="counts" title={`The last ${HOURS} hours`}>
        {counts.length === 0 ? (
          <p>
            Nothing was refused. <a href="/deliveries">See stored deliveries</a>
          </p>
        ) : (
          <Table
            caption="All refusals, whether or not the content was kept."
            columns={[
              {
                title: 'Source',
                cell: ({ source }) => (source === '(unknown)' ? 'no source' : frame.sourceName(source)),
              },
              { title: 'Why', cell: ({ reason }) => reasonTexts[reason] ?? reason },
              { title: 'Deliveries', isNumber: true, cell: ({ count }) => formatCount(count) },
            ]}
            rows={counts}
          />
        )}
      </Panel>
      <Panel id="kept" title="Kept">
        {diagnosed.length === 0 ? (
          <p>None.</p>
        ) : (
          <Table
            caption={
              kept > diagnosed.length ? `The newest ${diagnosed.length} of ${formatCount(kept)}.` : 'Newest first.'
            }
            columns={columnsOf(frame, sources.length > 1)}
            rows={diagnosed}
          />
        )}
      </Panel>
      {administers ? <Remedies {...props} /> : <Waiting kept={kept} admins={admins} />}
    </Page>
  );
}

function Waiting({ kept, admins }: Pick<RefusedListProps, 'kept' | 'admins'>) {
  return kept === 0 ? null : (
    <>
      <p>An owner or admin can add a signing secret and readmit the deliveries that it verifies.</p>
      <AskAdmin
        admins={admins}
        subject="Refused deliveries"
        text={`${counted(kept, 'delivery was', 'deliveries were')} refused and ${kept === 1 ? 'is' : 'are'} kept for ${HOURS} hours. Please look under Deliveries: Refused, which says why. There you can add a signing secret and readmit the deliveries that it verifies.`}
      />
    </>
  );
}

function Remedies({ frame, sources, kept }: RefusedListProps) {
  if (sources.length === 0) return null;
  return (
    <div class="columns halves">
      <Panel id="readmit" title="Readmit">
        <p>
          Verifies the stored deliveries again with the current secrets. Valid ones enter the ledger with their time of
          arrival.
        </p>
        {kept === 0 ? (
          <p>Nothing is waiting.</p>
        ) : (
          <PostForm frame={frame} action="/deliveries/refused/readmit">
            <SourceChoice id="readmit-source" frame={frame} sources={sources} />
            <button type="submit">Verify again</button>
          </PostForm>
        )}
      </Panel>
      <Panel id="secret" title="Add a signing secret">
        <PostForm frame={frame} action="/deliveries/refused/secret">
          <SourceChoice id="secret-source" frame={frame} sources={sources} />
          <Input
            id="secret-value"
            name="secret"
            label="Signing secret"
            type="password"
            autocomplete="off"
            maxLength={500}
            hint="As shown in the service’s dashboard. The old ones stay valid until they expire."
          />
          <div class="pair">
            <Choice
              id="secret-encoding"
              name="encoding"
              label="Written as"
              options={secretEncodings.map((one) => [one, one])}
            />
            <Choice id="secret-retire" name="retire" label="The old ones expire" options={retireHours} />
          </div>
          <button type="submit">Add the secret</button>
        </PostForm>
      </Panel>
    </div>
  );
}

function columnsOf(frame: PageFrame, withSource: boolean): readonly Column<Diagnosed>[] {
  return [
    {
      title: 'Received',
      cell: ({ id, source, receivedAt }) => (
        <>
          <a href={`/deliveries/refused/${id}`}>
            <Moment iso={receivedAt} timeZone={frame.timeZone} />
          </a>
          {withSource ? (
            <>
              <br />
              <span class="soft small">{frame.sourceName(source)}</span>
            </>
          ) : null}
        </>
      ),
    },
    {
      title: 'Why it was refused',
      label: 'Why',
      cell: ({ findings, reason }) => {
        const [first] = findings;
        return (
          <>
            {first === undefined ? (reasonTexts[reason] ?? reason) : visibleText(first.sentence)}
            {first === undefined ? null : <p class="hint">{remedyText(first)}</p>}
          </>
        );
      },
    },
    { title: 'From', cell: ({ address }) => <span class="mono">{address}</span> },
    { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
  ];
}

interface RefusedProps {
  readonly frame: PageFrame;
  readonly content: RejectedContent;
  readonly diagnosed: Diagnosed;
}

const TEXT_SHOWN = 20_000;

function RefusedPage({ frame, content, diagnosed }: RefusedProps) {
  const title = `Refused delivery ${content.id}`;
  const text = isUtf8(content.rawBody) ? content.rawBody.toString('utf8') : null;
  return (
    <Page title={title} frame={frame} within="refused">
      <h1>{title}</h1>
      <p class="lead">
        To {frame.sourceName(content.source)}, <Moment iso={content.receivedAt} timeZone={frame.timeZone} />, from{' '}
        <span class="mono">{content.address}</span>. Its content is unverified.
      </p>
      <Panel id="why" title="Why it was refused">
        <ul class="plain">
          {diagnosed.findings.map(({ code, sentence, remedy }) => (
            <li key={code}>
              <strong>{visibleText(sentence)}</strong> {remedyText({ code, remedy })}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel id="headers" title="Headers">
        <Facts
          rows={Object.entries(content.headers).map(([name, value]) => [
            visibleText(name),
            <bdi class="outside">{visibleText([value].flat().join(', '))}</bdi>,
          ])}
        />
      </Panel>
      <Panel id="body" title="Content">
        <pre class="content">
          {text === null ? content.rawBody.subarray(0, 512).toString('hex') : visibleText(text.slice(0, TEXT_SHOWN))}
        </pre>
      </Panel>
    </Page>
  );
}
