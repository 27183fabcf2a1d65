import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import { UsageError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { type Hold, holdReason, isHoldOf, liftHold, listHolds, placeHold } from '../../../erasure/holds.ts';
import { retentionUnder } from '../../../erasure/retention.ts';
import type { RetentionPeriod } from '../../../law/profile.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame, untilProjected } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { Badge, Choice, Done, Input, Moment, Panel, Problems, sourceOptions, Table } from '../parts/parts.tsx';

const doneTexts: Readonly<Record<string, string>> = {
  placed: 'The hold is in force: the data it covers is not erased.',
  lifted: 'The hold is lifted.',
  gone: 'The hold is not in force.',
};

/** The most sources whose periods are listed. */
const SHOWN = 20;

type Form = Readonly<Record<string, string>>;
type Periods = ReturnType<typeof retentionUnder>;

/** How long data is kept, and what must not be erased. */
export async function retentionRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/settings/retention', (request, reply) => {
    const { done = '' } = formOf(request.query);
    return send(request, reply, { done: doneTexts[done] ?? null });
  });

  app.post('/settings/retention/holds', async (request, reply) => {
    const form = formOf(request.body);
    const { source = '', reason = '', caseId = '', subject = '', from = '', to = '' } = form;
    const [start, end] = [dayOf(from), to === '' ? null : dayOf(to, 1)];
    const problems = [
      ...(holdReason.safeParse(reason).error?.issues.map(({ message }) => message) ?? []),
      ...(start === undefined || end === undefined ? ['Enter days as YYYY-MM-DD.'] : []),
      ...(subject.trim() !== '' && source === '' ? ['Choose the source of the person.'] : []),
    ];
    if (problems.length > 0) return send(request, reply, { problems, form }, 422);
    await context.projector.catchUp();
    const placed = await placeHold(
      { ...context.erasure, sources: context.sources },
      {
        officer: officerOf(request).officer,
        reason,
        source: source === '' ? null : source,
        caseId: caseId.trim() || null,
        subject: subject.trim() || null,
        from: start ?? null,
        to: end ?? null,
      },
    );
    if (placed.outcome === 'refused') return send(request, reply, { problems: placed.problems, form }, 422);
    await untilProjected(context, placed.seq);
    return reply.redirect('/settings/retention?done=placed#holds', 303);
  });

  app.post('/settings/retention/holds/lift', async (request, reply) => {
    const { hold: holdId = '', reason = '' } = formOf(request.body);
    await context.projector.catchUp();
    const { slugs } = sourcesOf(context, request);
    const hold = (await listHolds(context.store.read)).find((one) => one.holdId === holdId);
    if (hold === undefined || !isHoldOf(hold, slugs)) return reply.redirect('/settings/retention?done=gone#holds', 303);
    const lifted = await liftHold(context.erasure, { holdId, reason, officer: officerOf(request).officer });
    if (lifted.outcome === 'refused') return send(request, reply, { problems: lifted.problems }, 422);
    await context.projector.catchUp();
    return reply.redirect(`/settings/retention?done=${lifted.outcome === 'lifted' ? 'lifted' : 'gone'}#holds`, 303);
  });

  /** Null: not given; undefined: not a valid day. */
  function dayOf(text: string, more = 0): string | null | undefined {
    if (text === '') return null;
    try {
      return startOfDay(addDays(text, more), context.config.timeZone);
    } catch {
      return undefined;
    }
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Pick<RetentionProps, 'problems' | 'done' | 'form'>,
    status = 200,
  ): Promise<FastifyReply> {
    await context.projector.catchUp();
    const permitted = sourcesOf(context, request);
    const sources = permitted.list();
    const kept: { source: Source; periods: Periods | null; isErased: boolean }[] = [];
    for (const source of sources.slice(0, SHOWN)) {
      const profile = await context.loadProfile(source).catch((error: unknown) => {
        if (error instanceof UsageError) return undefined;
        throw error;
      });
      kept.push({
        source,
        periods: profile === undefined ? null : retentionUnder(profile),
        isErased: profile?.retention !== undefined,
      });
    }
    const props = {
      frame: pageFrame(context, request, reply),
      kept,
      sources,
      seesAll: permitted.slugs === null,
      holds: (await listHolds(context.store.read)).filter((hold) => isHoldOf(hold, permitted.slugs)),
      ...shown,
    };
    return html(reply, renderPage(<RetentionPage {...props} />), status);
  }
}

/** A retention period in words. */
export function periodText(period: RetentionPeriod): string {
  if ('forEver' in period) return `for ever: ${period.forEver}`;
  return 'days' in period ? counted(period.days, 'day', 'days') : counted(period.months, 'month', 'months');
}

interface RetentionProps {
  readonly frame: PageFrame;
  readonly kept: readonly {
    readonly source: Source;
    /** Null: the controller profile cannot be read. */
    readonly periods: Periods | null;
    /** Whether the nightly job erases what is due. */
    readonly isErased: boolean;
  }[];
  readonly sources: readonly Source[];
  readonly seesAll: boolean;
  readonly holds: readonly Hold[];
  readonly problems?: readonly string[];
  readonly done?: string | null;
  readonly form?: Form;
}

function RetentionPage(props: RetentionProps) {
  const { frame, kept, sources, problems = [], done = null } = props;
  return (
    <Page title="Retention and holds" frame={frame} current="retention">
      <h1>Retention and holds</h1>
      <p class="lead">How long each kind of data is kept and why, and which data must not be erased for now.</p>
      {frame.canWork ? (
        <p>
          Before a period ends: <a href="/settings/erasures">Erase a person, a request or a period</a>
        </p>
      ) : null}
      <Done text={done} />
      <Problems title="Nothing was recorded:" problems={problems} />
      <Holds {...props} />
      {kept.map(({ source, periods, isErased }) => (
        <Panel key={source.slug} id={`kept-${source.slug}`} title={sources.length > 1 ? source.name : 'Retention'}>
          {periods === null ? (
            <p>
              The <a href={`/settings/profile?source=${source.slug}`}>controller profile</a> has problems, so its
              periods are unknown.
            </p>
          ) : (
            <>
              <p>
                {isErased ? (
                  <Badge text="data that is due is erased each night" tone="good" />
                ) : (
                  <Badge text="nothing is erased automatically" tone="calm" />
                )}
              </p>
              <Table
                caption={null}
                columns={[
                  { title: 'What', cell: ({ what }) => what },
                  {
                    title: 'Kept',
                    cell: ({ period, isSet }) => (
                      <span class="outside">
                        {periodText(period)}
                        {isSet ? '' : ' (usual)'}
                      </span>
                    ),
                  },
                  { title: 'From', cell: ({ from }) => from },
                  { title: 'Ground', cell: ({ ground }) => ground },
                ]}
                rows={periods}
              />
              <p class="hint">
                {can(frame.role, 'administer') ? 'You change' : 'Owners and admins change'} the periods, and whether
                data is erased automatically, in the{' '}
                <a href={`/settings/profile?source=${source.slug}`}>controller profile</a>.
              </p>
            </>
          )}
        </Panel>
      ))}
      {sources.length > kept.length ? (
        <p>
          The periods of the first {kept.length} of {sources.length} sources.
        </p>
      ) : null}
    </Page>
  );
}

function Holds(props: RetentionProps) {
  const { frame, holds } = props;
  return (
    <Panel id="holds" title="Legal holds">
      {holds.length === 0 ? (
        <p>
          None. Data under a hold is not erased until the hold is lifted, for example because of a claim or an
          authority’s inquiry.
        </p>
      ) : (
        <HoldsTable {...props} />
      )}
      {!frame.canWork ? null : (
        <div class="more">
          {holds.length === 0 ? null : <LiftHold {...props} />}
          <PlaceHold {...props} />
        </div>
      )}
    </Panel>
  );
}

function HoldsTable({ frame, holds }: RetentionProps) {
  return (
    <Table
      caption="In force, oldest first."
      columns={[
        { title: 'Reason', cell: ({ reason }: Hold) => <bdi class="outside">{reason}</bdi> },
        {
          title: 'What it keeps',
          cell: ({ sourceSlug, caseId, about, from, to }) => (
            <div class="outside">
              {sourceSlug === null ? 'every source' : frame.sourceName(sourceSlug)}
              {caseId === null ? '' : `, request ${caseId}`}
              {about === null ? '' : ', one person'}
              {from === null ? null : (
                <>
                  , from <Moment iso={from} timeZone={frame.timeZone} />
                </>
              )}
              {to === null ? null : (
                <>
                  , to <Moment iso={to} timeZone={frame.timeZone} />
                </>
              )}
            </div>
          ),
        },
        {
          title: 'Placed',
          cell: ({ placedAt, officer }) => (
            <>
              <Moment iso={placedAt} timeZone={frame.timeZone} /> <span class="soft">by {officer}</span>
            </>
          ),
        },
      ]}
      rows={holds}
    />
  );
}

function LiftHold({ frame, holds }: RetentionProps) {
  return (
    <details>
      <summary>Lift a hold</summary>
      <PostForm frame={frame} action="/settings/retention/holds/lift">
        <Choice
          id="hold"
          label="Hold"
          options={holds.map(({ holdId, reason }) => [holdId, `${reason.slice(0, 80)} (${holdId})`] as const)}
        />
        <Input id="lift-reason" name="reason" label="Why, without personal data" maxLength={500} />
        <button type="submit">Lift the hold</button>
      </PostForm>
    </details>
  );
}

function PlaceHold({ frame, sources, seesAll, form = {} }: RetentionProps) {
  const value = (name: string) => form[name] ?? '';
  return (
    <details open={form['reason'] !== undefined}>
      <summary>Place a hold</summary>
      <PostForm frame={frame} action="/settings/retention/holds">
        <p class="hint">It covers data that matches every field you fill in.</p>
        <Input
          id="reason"
          label="Reason, without personal data"
          maxLength={500}
          value={value('reason')}
          autocomplete="off"
        />
        <div class="pair">
          <Choice
            id="source"
            label="Source"
            value={value('source')}
            options={[...(seesAll ? [['', 'Every source'] as const] : []), ...sourceOptions(sources)]}
          />
          <Input id="caseId" label="Request" optional maxLength={300} value={value('caseId')} autocomplete="off" />
          <Input
            id="subject"
            label="Person"
            optional
            maxLength={300}
            value={value('subject')}
            autocomplete="off"
            hint="E-mail address, visitor hash or record id; only a keyed hash of it is recorded."
          />
          <span />
          <Input id="from" label="Received from" type="date" optional value={value('from')} />
          <Input id="to" label="Received up to" type="date" optional value={value('to')} />
        </div>
        <button type="submit">Place the hold</button>
      </PostForm>
    </details>
  );
}
