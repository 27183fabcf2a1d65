import { z } from 'zod';
import type { Context } from '../../../context/context.ts';
import { UsageError } from '../../../core/errors.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, startOfDay } from '../../../core/zoned-days.ts';
import { type Hold, holdReason, isHoldOf, liftHold, listHolds, placeHold } from '../../../erasure/holds.ts';
import { retentionUnder } from '../../../erasure/retention.ts';
import { retentionPeriodText } from '../../../law/profile.ts';
import { pagesWith, type Said, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  Done,
  EVERY_SOURCE,
  Input,
  Moment,
  Panel,
  Problems,
  SourceChoice,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

const { page, form } = pagesWith<'store' | 'projector' | 'erasure' | 'sources' | 'config' | 'loadProfile'>();

/** The most sources whose periods are listed. */
const SHOWN = 20;

/** How long data is kept, and what must not be erased. */
const retention = page({
  path: '/settings/retention',
  rule: { who: 'read', source: 'installation' },
  done: {
    placed: 'The hold is in force: the data it covers is not erased.',
    lifted: 'The hold is lifted.',
    gone: 'The hold is not in force.',
  },
  async load({ context, permitted }) {
    await context.projector.catchUp();
    const sources = permitted.list();
    const kept: Kept[] = [];
    for (const source of sources.slice(0, SHOWN)) kept.push(await keptAt(context, source));
    return {
      ...{ kept, sources },
      seesAll: permitted.slugs === null,
      holds: (await listHolds(context.store.read)).filter((hold) => isHoldOf(hold, permitted.slugs)),
    };
  },
  show: (data, { frame, said }) => <RetentionPage frame={frame} {...data} {...said} />,
});

const place = form({
  path: '/settings/retention/holds',
  rule: { who: 'work', source: 'form', isWritten: true },
  body: z.object({ source: text, reason: text, caseId: text, subject: text, from: text, to: text }),
  async act(visit) {
    const { context, fields } = visit;
    const { source, reason, caseId, subject } = fields;
    const { timeZone } = context.config;
    const [from, to] = [dayOf(fields.from, timeZone), dayOf(fields.to, timeZone, 1)];
    const problems = [
      ...(holdReason.safeParse(reason).error?.issues.map(({ message }) => message) ?? []),
      ...(from === undefined || to === undefined ? ['Enter days as YYYY-MM-DD.'] : []),
      ...(source === '' ? ['Choose a source, or every source.'] : []),
      ...(subject.trim() !== '' && source === EVERY_SOURCE ? ['Choose the source of the person.'] : []),
    ];
    if (problems.length > 0) return retention.again(visit, { fields: {}, said: { problems } });
    await context.projector.catchUp();
    const placed = await placeHold(
      { ...context.erasure, sources: context.sources },
      {
        officer: visit.by.officer,
        reason,
        source: source === EVERY_SOURCE ? null : source,
        caseId: caseId.trim() || null,
        subject: subject.trim() || null,
        from: from ?? null,
        to: to ?? null,
      },
    );
    if (placed.outcome === 'refused')
      return retention.again(visit, { fields: {}, said: { problems: placed.problems } });
    await visit.projected(placed.seq);
    return visit.goTo('/settings/retention?done=placed#holds');
  },
});

const lift = form({
  path: '/settings/retention/holds/lift',
  rule: { who: 'work', source: 'installation' },
  body: z.object({ hold: text, reason: text }),
  async act(visit) {
    const { context, fields, permitted } = visit;
    const { hold: holdId, reason } = fields;
    const gone = '/settings/retention?done=gone#holds';
    await context.projector.catchUp();
    const hold = (await listHolds(context.store.read)).find((one) => one.holdId === holdId);
    if (hold === undefined || !isHoldOf(hold, permitted.slugs)) return visit.goTo(gone);
    const lifted = await liftHold(context.erasure, { holdId, reason, officer: visit.by.officer });
    if (lifted.outcome === 'refused')
      return retention.again(visit, { fields: {}, said: { problems: lifted.problems, form: {} } });
    await context.projector.catchUp();
    return visit.goTo(lifted.outcome === 'lifted' ? '/settings/retention?done=lifted#holds' : gone);
  },
});

export const routes = [retention, place, lift];

/** How long the data of a source is kept. */
interface Kept {
  readonly source: Source;
  /** Null: the controller profile cannot be read. */
  readonly periods: ReturnType<typeof retentionUnder> | null;
  /** Whether the nightly job erases what is due. */
  readonly isErased: boolean;
}

async function keptAt({ loadProfile }: Pick<Context, 'loadProfile'>, source: Source): Promise<Kept> {
  const profile = await loadProfile(source).catch((error: unknown) => {
    if (error instanceof UsageError) return undefined;
    throw error;
  });
  const periods = profile === undefined ? null : retentionUnder(profile);
  return { source, periods, isErased: profile?.retention !== undefined };
}

/** The start of a day, `more` days later. Null: not given; undefined: not a valid day. */
function dayOf(day: string, timeZone: string, more = 0): string | null | undefined {
  if (day === '') return null;
  try {
    return startOfDay(addDays(day, more), timeZone);
  } catch {
    return undefined;
  }
}

interface RetentionProps extends Pick<Said, 'done' | 'problems' | 'form'> {
  readonly frame: PageFrame;
  readonly kept: readonly Kept[];
  readonly sources: readonly Source[];
  readonly seesAll: boolean;
  readonly holds: readonly Hold[];
}

function RetentionPage(props: RetentionProps) {
  const { frame, kept, sources, problems, done } = props;
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
                        {retentionPeriodText(period)}
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

function PlaceHold({ frame, sources, seesAll, form }: RetentionProps) {
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
          <SourceChoice
            frame={frame}
            sources={sources}
            value={value('source')}
            every={seesAll ? 'Every source' : undefined}
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
