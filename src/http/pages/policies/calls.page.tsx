import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import type { Source } from '../../../core/source.ts';
import { policyIdSchema } from '../../../core/call.ts';
import { loadCalls, loadUnknownItems } from '../../../policies/show.ts';
import { type CallRow, settleByOfficer, settleProblem } from '../../../policies/settle-calls.ts';
import { assertPolicyOf, sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import {
  ErrorText,
  Badge,
  Choice,
  type Column,
  Input,
  Moment,
  Notice,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
} from '../parts/parts.tsx';
import type { Worded } from '../parts/words.ts';

/** Calls per page. */
const SHOWN = 50;

/** The outcome of a call, for people. */
export function callStateText({ state }: Pick<CallRow, 'state'>, unknownItems: number): Worded {
  switch (state) {
    case 'sent':
      return { text: 'no response yet', tone: 'calm' };
    case 'done':
      return unknownItems === 0
        ? { text: 'done', tone: 'good' }
        : { text: `done, ${counted(unknownItems, 'item', 'items')} unknown`, tone: 'warn' };
    case 'refused':
      return { text: 'refused, nothing done', tone: 'bad' };
    case 'unknown':
      return { text: 'outcome unknown', tone: 'warn' };
    case 'happened':
      return { text: 'done, settled later', tone: 'good' };
    case 'not-happened':
      return { text: 'not done, settled later', tone: 'calm' };
    default:
      return state satisfies never;
  }
}

/** Calls that change something at the service, and the settlement of those whose outcome is unknown. */
export async function policyCallRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const { read } = context.store;

  app.get('/policies/calls', (request, reply) => send(request, reply, formOf(request.query), []));

  app.post('/policies/calls', async (request, reply) => {
    const form = formOf(request.body);
    const { source = '', request: requestId = '', outcome = '', policy = '' } = form;
    const call = await read
      .selectFrom('calls')
      .select('source')
      .where('request_id', '=', requestId)
      .where('source', '=', source)
      .executeTakeFirst();
    if (call === undefined) return send(request, reply, form, ['Unknown call.'], 422);
    if (outcome !== 'happened' && outcome !== 'not-happened')
      return send(request, reply, form, ['Choose the outcome of the call.'], 422);
    const policyId = policy.trim() === '' || outcome !== 'happened' ? undefined : policy.trim();
    if (policyId !== undefined && !policyIdSchema.safeParse(policyId).success)
      return send(request, reply, form, ['Unknown policy.'], 422);
    if (policyId !== undefined) await assertPolicyOf(context, request, source, policyId);
    const settled = await settleByOfficer(context.policies, {
      requestId,
      happened: outcome === 'happened',
      actor: officerOf(request).officer,
      policyId,
    });
    if (settled.outcome === 'settled')
      return reply.redirect(`/policies/calls?${new URLSearchParams({ source, done: 'settled' }).toString()}`, 303);
    return send(request, reply, form, [settleProblem(settled)], 409);
  });

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    form: Readonly<Record<string, string>>,
    problems: readonly string[],
    status = 200,
  ): Promise<FastifyReply> {
    const { source: slug = '', open = '', before = '', done = '' } = form;
    const permitted = sourcesOf(context, request);
    const source = permitted.findAny(slug)?.slug ?? null;
    await context.projector.catchUp();
    const filter = { source: source ?? '', open: open === 'yes' ? 'yes' : '' };
    const calls = await loadCalls(read, {
      sources: source === null ? permitted.slugs : [source],
      open: open === 'yes',
      before: /^\d{1,15}$/.test(before) ? Number(before) : undefined,
      limit: SHOWN + 1,
    });
    const shown = calls.slice(0, SHOWN);
    const address = (more: Record<string, string>) =>
      `/policies/calls?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    const page = (
      <CallsPage
        frame={pageFrame(context, request, reply)}
        sources={permitted.list()}
        filter={filter}
        calls={shown}
        unknown={await loadUnknownItems(read, shown)}
        isSettled={done === 'settled'}
        problems={problems}
        first={before === '' ? null : address({})}
        next={calls.length > SHOWN ? address({ before: String(shown.at(-1)?.intent_seq ?? 0) }) : null}
      />
    );
    return html(reply, renderPage(page), status);
  }
}

interface CallsProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly open: string };
  readonly calls: readonly CallRow[];
  /** By call, the positions (from 0) of the items in a batch whose outcome is unknown. */
  readonly unknown: ReadonlyMap<string, readonly number[]>;
  readonly isSettled: boolean;
  readonly problems: readonly string[];
  readonly first: string | null;
  readonly next: string | null;
}

function CallsPage({ frame, sources, filter, calls, unknown, isSettled, problems, first, next }: CallsProps) {
  const unknownOf = (call: CallRow) => unknown.get(call.request_id)?.length ?? 0;
  const open = calls.filter((call) => call.state === 'unknown' || unknownOf(call) > 0);
  return (
    <Page title="Calls to the service" frame={frame} current="calls">
      <h1>Calls to the service</h1>
      <p class="lead">
        Policies generated and published here. A call without a response is not repeated, because it may have been
        carried out and counts against the quota.
      </p>
      {isSettled ? <Notice tone="good">Recorded in the ledger.</Notice> : null}
      <Problems title="Nothing was recorded:" problems={problems} />
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
          <SourceFilter sources={sources} value={filter.source} />
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
