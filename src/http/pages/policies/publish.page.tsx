import { z } from 'zod';
import { policyIdSchema } from '../../../core/call.ts';
import { CodedError } from '../../../core/errors.ts';
import {
  type BeforePublishing,
  type GeneratedText,
  loadBeforePublishing,
  shownOf,
  type Unknown,
} from '../../../policies/before-publishing.ts';
import { isCallable } from '../../../policies/callable-source.ts';
import { publishJob } from '../../../policies/policy-jobs.ts';
import { loadPolicy, loadPublicAddress, type PolicyView, type PublicAddress } from '../../../policies/show.ts';
import { assertPolicyOf } from '../../auth/access.ts';
import { pagesWith, type Said, text, ticked, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { EntryNumber, Facts, Moment, Notice, Panel, Problems, TextLines } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { COMPARE_MS, DifferenceTable, PublicLink, policyAddress, sourceNamed, textAddress } from './text-parts.tsx';

type Needs = 'store' | 'jobs' | 'sources' | 'projector';
const { page, form } = pagesWith<Needs>();

/** What would become public, as far as it is known here, before the button. */
const before = page({
  path: '/policies/publish',
  rule: { who: 'work', source: 'query' },
  query: z.object({ source: text, id: text }),
  load: (visit) => loadPage(visit, visit.fields),
  show: (data, { frame, said }) => <BeforePage frame={frame} {...data} said={said} />,
});

const publish = form({
  path: '/policies/publish',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, policy: text, shown: text, read: ticked }),
  async act(visit) {
    const { context, by, fields } = visit;
    const { source, policy: policyId } = fields;
    const known = await loadPage(visit, { source, id: policyId });
    const problem = problemOf(known, fields);
    if (problem !== null)
      return before.again(visit, {
        fields: { source, id: policyId },
        said: { problems: [problem.sentence], form: {} },
        status: problem.status,
      });
    const shown = shownOf(known.about, fields.read);
    const { id } = await context.jobs.enqueue(publishJob({ source, policyId, actor: by.officer, shown }));
    await visit.doneSoon(id);
    return visit.goTo('/policies/generate#made');
  },
});

export const routes = [before, publish];

type Known = Awaited<ReturnType<typeof loadPage>>;

async function loadPage(
  { context, permitted, request }: Pick<Visit<Needs>, 'context' | 'permitted' | 'request'>,
  { source: slug, id }: { readonly source: string; readonly id: string },
) {
  const source = sourceNamed(permitted, slug);
  if (!policyIdSchema.safeParse(id).success) throw new CodedError('not_found');
  await assertPolicyOf(context, request, source.slug, id);
  const { read } = context.store;
  const [found] = await loadPolicy(read, id, source.slug);
  // The service may have policies that nothing here knows of.
  const nothing = {
    source: source.slug,
    policyId: id,
    policy: null,
    history: [],
    listed: null,
    calls: [],
    asked: null,
  };
  const view: PolicyView = found ?? nothing;
  return {
    view,
    isCallable: isCallable(source),
    about: await loadBeforePublishing(read, view, COMPARE_MS),
    publicAt: await loadPublicAddress(read, view),
  };
}

function problemOf(
  { view, about, isCallable: mayBeCalled }: Known,
  { shown, read }: { readonly shown: string; readonly read: boolean },
): { readonly sentence: string; readonly status: number } | null {
  if (!mayBeCalled)
    return { sentence: 'This source has no API address or no API key: set them on its page.', status: 422 };
  if (view.policy?.status === 'deleted')
    return { sentence: 'The service reported that the policy was deleted.', status: 409 };
  if (shown !== (about.generated?.sha256 ?? ''))
    return { sentence: 'What is known here changed after you opened the page: look at it again.', status: 409 };
  if (about.unknown !== null && !read)
    return { sentence: 'Read the text in the service first, then tick that you did.', status: 422 };
  return null;
}

const reasons: Readonly<Record<Unknown, string>> = {
  'not-here':
    'The text is not known here: it was written in the service, or in a bulk generation, whose response has no texts. It cannot be read here before it is public.',
  erased: 'The text is not known here any more: the response that contained it was erased.',
  updated:
    'The text was changed in the service after it was generated, as a delivery reported. The changed text cannot be read here before it is public.',
  differs:
    'The public page had another text after it was generated, so it may have been changed in the service. A changed text cannot be read here before it is public.',
};

function BeforePage({
  frame,
  view,
  about,
  publicAt,
  isCallable: mayBeCalled,
  said,
}: Known & { readonly frame: PageFrame; readonly said: Said }) {
  const { source, policyId, policy, listed, asked } = view;
  const type = policy?.policy_type ?? listed?.policy_type ?? asked?.policy_type ?? null;
  const isDeleted = policy?.status === 'deleted';
  return (
    <Page title={`Publish ${policyId}`} frame={frame} within="policies">
      <h1>Publish a policy</h1>
      <p class="lead">
        <a href={policyAddress(source, policyId)}>
          <bdi>{policy?.title ?? listed?.title ?? type ?? policyId}</bdi>
        </a>
        {', '}
        <bdi>{policyId}</bdi>, {frame.sourceName(source)}
      </p>
      <Problems title="Nothing was published:" problems={said.problems} />
      <TextPanel frame={frame} about={about} />
      <PublicPanel frame={frame} source={source} about={about} publicAt={publicAt} />
      <Panel id="publish" title="Publish">
        {isDeleted ? (
          <p>The service reported that the policy was deleted.</p>
        ) : !mayBeCalled ? (
          <p>The source has no API address or no API key: set them on its page.</p>
        ) : (
          <PostForm frame={frame} action="/policies/publish">
            <input type="hidden" name="source" value={source} />
            <input type="hidden" name="policy" value={policyId} />
            <input type="hidden" name="shown" value={about.generated?.sha256 ?? ''} />
            <p>
              The service publishes its current saved text.{' '}
              {about.unknown === null
                ? 'If somebody changed it there and no delivery reported it, that is the text that becomes public, not the one above.'
                : 'Read it there before you publish it.'}
            </p>
            {about.unknown === null ? null : (
              <label class="box">
                <input type="checkbox" name="read" value="yes" required /> I have read the text in the service
              </label>
            )}
            <div class="buttons">
              <button type="submit">{publicAt === null ? 'Publish' : 'Publish again'}</button>
              <a href={policyAddress(source, policyId)}>Do not publish</a>
            </div>
          </PostForm>
        )}
      </Panel>
    </Page>
  );
}

function TextPanel({ frame, about: { generated, unknown } }: { frame: PageFrame; about: BeforePublishing }) {
  return (
    <Panel id="text" title={unknown === null ? 'Text as the service generated it' : 'Text'}>
      {unknown === null ? null : <Notice tone="warn">{reasons[unknown]}</Notice>}
      {generated === null ? null : (
        <>
          <Origin frame={frame} generated={generated} />
          <br />
          {unknown === null ? (
            <TextLines lines={generated.lines} />
          ) : (
            <details>
              <summary>The text as it was generated</summary>
              <TextLines lines={generated.lines} />
            </details>
          )}
        </>
      )}
    </Panel>
  );
}

function Origin({ frame, generated: { call, seq, sha256 } }: { frame: PageFrame; generated: GeneratedText }) {
  return (
    <Facts
      rows={[
        [
          'Generated from here',
          <>
            <Moment iso={call.finished_at ?? call.asked_at} timeZone={frame.timeZone} /> by <bdi>{call.actor}</bdi>
          </>,
        ],
        ['Response', <EntryNumber seq={seq} />],
        ['SHA-256 of the text', <span class="mono">{sha256}</span>],
      ]}
    />
  );
}

function PublicPanel({
  frame,
  source,
  about: { generated, published, difference },
  publicAt,
}: {
  readonly frame: PageFrame;
  readonly source: string;
  readonly about: BeforePublishing;
  readonly publicAt: PublicAddress | null;
}) {
  const seen = published?.version ?? null;
  const seenAt = seen === null ? null : seen.last_seen < seen.first_seen ? seen.first_seen : seen.last_seen;
  return (
    <Panel id="public" title="Difference to what is public">
      {publicAt === null ? null : (
        <p>
          Public address: <PublicLink {...publicAt} />
        </p>
      )}
      {published === null || seenAt === null ? (
        <p>No public text of this policy was fetched yet, so there is nothing to compare with.</p>
      ) : published.look.text_sha256 === null ? (
        <p>
          There was no public text when the page was last fetched, <Moment iso={seenAt} timeZone={frame.timeZone} />.
        </p>
      ) : (
        <>
          <p>
            Compared with the <a href={textAddress(source, published.look.seq)}>public text</a> last seen{' '}
            <Moment iso={seenAt} timeZone={frame.timeZone} />. A public page may also have words around the policy.
          </p>
          {generated === null ? (
            <p>The new text is not known here, so they cannot be compared.</p>
          ) : published.stored === null ? (
            <p>The public text was erased.</p>
          ) : difference === null ? (
            <p>The two texts are too different to compare line by line.</p>
          ) : difference.length === 0 ? (
            <p>The two texts are the same.</p>
          ) : (
            <DifferenceTable older="Public" newer="Generated" stretches={difference} />
          )}
        </>
      )}
    </Panel>
  );
}
