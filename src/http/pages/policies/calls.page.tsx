import { z } from 'zod';
import { counted } from '../../../../reports/format.ts';
import { policyIdSchema } from '../../../core/call.ts';
import type { Source } from '../../../core/source.ts';
import { type CallRow, settleByOfficer, settleProblem } from '../../../policies/settle-calls.ts';
import { hasCall, loadCalls, loadUnknownItems } from '../../../policies/show.ts';
import { assertPolicyOf } from '../../auth/access.ts';
import { number, pagesWith, type Said, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  type Column,
  ErrorText,
  Input,
  Moment,
  Notice,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { callStateText } from './call-words.ts';

const { page, form } = pagesWith<'store' | 'sources' | 'projector' | 'policies'>();

/** Calls per page. */
const SHOWN = 50;

/** Calls that change something at the service. */
const calls = page({
  path: '/policies/calls',
  rule: { who: 'read', source: 'query' },
  query: z.object({ source: text, open: text, before: number }),
  done: { settled: 'Recorded in the ledger.' },
  async load({ context, permitted, fields: { source: slug, open, before } }) {
    const { read } = context.store;
    const source = permitted.findAny(slug)?.slug ?? null;
    await context.projector.catchUp();
    const filter = { source: source ?? '', open: open === 'yes' ? 'yes' : '' };
    const found = await loadCalls(read, {
      sources: source === null ? permitted.slugs : [source],
      open: open === 'yes',
      before: before ?? undefined,
      limit: SHOWN + 1,
    });
    const shown = found.slice(0, SHOWN);
    const address = (more: Record<string, string>) =>
      `/policies/calls?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      sources: permitted.list(),
      filter,
      calls: shown,
      unknown: await loadUnknownItems(read, shown),
      first: before === null ? null : address({}),
      next: found.length > SHOWN ? address({ before: String(shown.at(-1)?.intent_seq ?? 0) }) : null,
    };
  },
  show: (data, { frame, said }) => <CallsPage frame={frame} {...data} said={said} />,
});

/** Settles a call whose outcome is unknown. */
const settle = form({
  path: '/policies/calls',
  rule: { who: 'work', source: 'form' },
  body: z.object({ source: text, request: text, outcome: text, policy: text }),
  async act(visit) {
    const { context, by, fields, request } = visit;
    const { source, request: requestId, outcome } = fields;
    const refuse = (problem: string, status = 422) =>
      calls.again(visit, { fields: { source, open: '', before: null }, said: { problems: [problem] }, status });
    if (!(await hasCall(context.store.read, source, requestId))) return refuse('Unknown call.');
    if (outcome !== 'happened' && outcome !== 'not-happened') return refuse('Choose the outcome of the call.');
    const policyId = outcome === 'happened' ? fields.policy.trim() || undefined : undefined;
    if (policyId !== undefined && !policyIdSchema.safeParse(policyId).success) return refuse('Unknown policy.');
    if (policyId !== undefined) await assertPolicyOf(context, request, source, policyId);
    const settled = await settleByOfficer(context.policies, {
      requestId,
      happened: outcome === 'happened',
      actor: by.officer,
      policyId,
    });
    if (settled.outcome !== 'settled') return refuse(settleProblem(settled), 409);
    return visit.goTo(`/policies/calls?${new URLSearchParams({ source, done: 'settled' }).toString()}`);
  },
});

export const routes = [calls, settle];

interface CallsProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly open: string };
  readonly calls: readonly CallRow[];
  /** By call, the positions (from 0) of the items in a batch whose outcome is unknown. */
  readonly unknown: ReadonlyMap<string, readonly number[]>;
  readonly said: Said;
  readonly first: string | null;
  readonly next: string | null;
}

function CallsPage({ frame, sources, filter, calls, unknown, said, first, next }: CallsProps) {
  const unknownOf = (call: CallRow) => unknown.get(call.request_id)?.length ?? 0;
  const open = calls.filter((call) => call.state === 'unknown' || unknownOf(call) > 0);
  return (
    <Page title="Calls to the service" frame={frame} current="calls">
      <h1>Calls to the service</h1>
      <p class="lead">
        Policies generated and published here. A call without a response is not repeated, because it may have been
        carried out and counts against the quota.
      </p>
      {said.done === null ? null : <Notice tone="good">{said.done}</Notice>}
      <Problems title="Nothing was recorded:" problems={said.problems} />
      {frame.canWork && open.length > 0 ? (
        <Panel id="settle" title="Settle unknown outcomes">
          <p>Check the outcome of the call in the service's dashboard, and record it here.</p>
          {open.map((call) => (
            <details key={call.request_id}>
              <summary>
                {call.operation} of {aboutText(call)}, sent <Moment iso={call.asked_at} timeZone={frame.timeZone} />
              </summary>
              <SettleForm frame={frame} call={call} unknownItems={unknownOf(call)} />
            </details>
          ))}
        </Panel>
      ) : null}
      <Panel id="list" title="Calls">
        <form class="filter" method="get" action="/policies/calls">
          <SourceFilter frame={frame} sources={sources} value={filter.source} />
          <Choice
            id="open"
            label="Outcome"
            value={filter.open}
            options={[
              ['', 'Every outcome'],
              ['yes', 'Still unknown'],
            ]}
          />
          <button type="submit" class="quiet">
            Show
          </button>
        </form>
        {calls.length > 0 ? (
          <Table caption="Newest first." columns={columnsOf(frame, sources.length > 1, unknownOf)} rows={calls} />
        ) : filter.open === 'yes' ? (
          <p>The outcome of every call is known.</p>
        ) : (
          <p>
            No calls yet. {frame.canWork ? <a href="/policies/generate">Generate a policy</a> : 'None was generated'};
            the policies themselves are under <a href="/policies">All policies</a>.
          </p>
        )}
        <Pages first={first} next={next} />
      </Panel>
    </Page>
  );
}

function SettleForm({ frame, call, unknownItems }: { frame: PageFrame; call: CallRow; unknownItems: number }) {
  const id = (name: string) => `${name}-${call.intent_seq}`;
  const isPublish = call.operation === 'publish';
  return (
    <PostForm frame={frame} action="/policies/calls">
      <input type="hidden" name="source" value={call.source} />
      <input type="hidden" name="request" value={call.request_id} />
      <div class="pair">
        <Choice
          id={id('outcome')}
          name="outcome"
          label="Outcome"
          required
          hint={
            unknownItems > 0
              ? `Of ${counted(unknownItems, 'item', 'items')} whose outcome is unknown; an admin can settle single items on the server, with consent-ledger policy settle.`
              : undefined
          }
          options={[
            ['', 'Choose'],
            ['happened', isPublish ? 'It was published' : 'It was created'],
            ['not-happened', isPublish ? 'It was not published' : 'It was not created'],
          ]}
        />
        {call.operation === 'generate' ? (
          <Input id={id('policy')} name="policy" label="Id of the policy" optional maxLength={300} autocomplete="off" />
        ) : null}
      </div>
      <button type="submit">Record</button>
    </PostForm>
  );
}

/** The subject of a call. */
function aboutText(call: CallRow): string {
  if (call.operation === 'publish') return call.policy_id ?? '';
  if (call.operation === 'bulk') {
    const { length } = JSON.parse(call.positions) as number[];
    return counted(length, 'item', 'items');
  }
  return [call.policy_type, call.jurisdiction, call.language].filter((part) => part !== null).join(', ');
}

function columnsOf(
  frame: PageFrame,
  withSource: boolean,
  unknownOf: (call: CallRow) => number,
): readonly Column<CallRow>[] {
  return [
    {
      title: 'Call',
      cell: ({ operation, via, source, intent_seq: seq }) => (
        <>
          {via === 'mcp' ? `${operation} (MCP)` : operation}
          <br />
          <span class="soft small">
            <a href={`/entries/${seq}`}>entry {seq}</a>
            {withSource ? ` · ${frame.sourceName(source)}` : ''}
          </span>
        </>
      ),
    },
    {
      title: 'About',
      cell: (call) => (
        <div class="outside">
          <bdi>{aboutText(call)}</bdi>
          {call.policy_id === null ? null : (
            <>
              <br />
              <a
                href={`/policies/policy?${new URLSearchParams({ source: call.source, id: call.policy_id }).toString()}`}
              >
                <bdi>{call.policy_id}</bdi>
              </a>
            </>
          )}
        </div>
      ),
    },
    { title: 'Sent', cell: ({ asked_at: iso }) => <Moment iso={iso} timeZone={frame.timeZone} /> },
    { title: 'By', cell: ({ actor }) => <bdi>{actor}</bdi> },
    {
      title: 'Outcome',
      cell: (call) => (
        <div>
          <Badge {...callStateText(call, unknownOf(call))} />
          {call.error === null ? null : (
            <p class="hint outside">
              <ErrorText text={call.error} frame={frame} />
            </p>
          )}
        </div>
      ),
    },
  ];
}
