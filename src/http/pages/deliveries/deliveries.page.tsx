import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import {
  countDeliveriesByDay,
  listEvents,
  loadDeliveries,
  loadRefusedCounts,
  type StoredDelivery,
} from '../../../attention/deliveries.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, dateIn, spansOf } from '../../../core/zoned-days.ts';
import { number, pagesWith, text, ticked } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  type Column,
  chipsOf,
  DayBars,
  FilterForm,
  Input,
  Moment,
  NoSources,
  Notice,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
  WebhookAddress,
} from '../parts/parts.tsx';
import { sizeText } from '../parts/words.ts';
import { outcomeTexts, verdictText } from './delivery-words.ts';

const { page } = pagesWith<'store' | 'rejected' | 'config' | 'clock'>();

/** Deliveries per page, and days in the histogram. */
const SHOWN = 50;
const DAYS = 30;
/** Seconds between reloads of a page with automatic refresh. */
const REFRESH_SECONDS = 10;

/** Deliveries to the webhook endpoint that were stored. */
const deliveries = page({
  path: '/deliveries',
  rule: { who: 'read', source: 'query', views: 'deliveries' },
  query: z.object({ source: text, event: text, outcome: text, before: number, entry: text, live: ticked }),
  instead: ({ fields: { entry } }) => (number.parse(entry) === null ? null : `/entries/${entry}`),
  async load({ context, permitted, reply, fields }) {
    const { event, outcome, before, entry, live } = fields;
    if (live) void reply.header('refresh', String(REFRESH_SECONDS));
    const source = permitted.findAny(fields.source)?.slug ?? null;
    const sources = source === null ? permitted.slugs : [source];
    const { read } = context.store;
    const { timeZone } = context.config;
    const today = dateIn(context.clock().toISOString(), timeZone);
    const shownDays = spansOf(addDays(today, 1 - DAYS), addDays(today, 1), timeZone, 'day');
    const [rows, days, events, refused] = await Promise.all([
      loadDeliveries(read, {
        source: undefined,
        sources,
        event: event === '' ? undefined : event,
        outcome: isOutcome(outcome) ? outcome : undefined,
        before,
        limit: SHOWN + 1,
      }),
      countDeliveriesByDay(read, { days: shownDays, sources }),
      listEvents(read, permitted.slugs),
      loadRefusedCounts(context, undefined),
    ]);
    const shown = rows.slice(0, SHOWN);
    const filter = { source: source ?? '', event, outcome };
    const address = (more: Record<string, string>) =>
      `/deliveries?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      sources: permitted.list(),
      filter,
      events,
      rows: shown,
      days,
      refused: refused
        .filter((one) => sources === null || sources.includes(one.source))
        .reduce((sum, { count }) => sum + count, 0),
      first: before === null ? null : address({}),
      next: rows.length > SHOWN ? address({ before: String(shown.at(-1)?.seq ?? 0) }) : null,
      live,
      liveToggle: address(live ? {} : { live: 'yes' }),
      problems: entry === '' ? [] : ['Enter the number of an entry.'],
    };
  },
  show: (data, { frame }) => <DeliveriesPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

export const routes = [deliveries];

function isOutcome(text: string): text is StoredDelivery['outcome'] {
  return Object.hasOwn(outcomeTexts, text);
}

interface DeliveriesProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly event: string; readonly outcome: string };
  readonly events: readonly string[];
  readonly rows: readonly StoredDelivery[];
  readonly days: readonly { readonly day: string; readonly stored: number; readonly refused: number }[];
  /** In the last 72 hours. */
  readonly refused: number;
  readonly first: string | null;
  readonly next: string | null;
  readonly live: boolean;
  readonly liveToggle: string;
  readonly problems: readonly string[];
}

function DeliveriesPage(props: DeliveriesProps) {
  const { frame, sources, filter, events, rows, days, refused, first, next, live, liveToggle, problems } = props;
  return (
    <Page title="Deliveries" frame={frame} current="deliveries">
      <h1>Deliveries</h1>
      <p class="lead">
        Deliveries from the service to the webhook addresses. Everything with a valid signature is stored exactly as
        received.
      </p>
      <Problems title="No entry was found:" problems={problems} />
      {refused === 0 ? null : (
        <Notice tone="warn">
          <p>
            <a href="/deliveries/refused">{counted(refused, 'delivery was', 'deliveries were')} refused</a> in the last
            72 hours.
          </p>
        </Notice>
      )}
      <FilterForm
        action="/deliveries"
        chips={chipsOf('/deliveries', filter, {
          event: (event) => event,
          outcome: (outcome) => outcomeTexts[outcome as keyof typeof outcomeTexts]?.text ?? outcome,
        })}
      >
        <SourceFilter frame={frame} sources={sources} value={filter.source} />
        <Choice
          id="event"
          label="Event"
          value={filter.event}
          options={[['', 'Every event'], ...events.map((event) => [event, event] as const)]}
        />
        <Choice
          id="outcome"
          label="Outcome"
          value={filter.outcome}
          options={[
            ['', 'Every outcome'],
            ...Object.entries(outcomeTexts).map(([value, { text }]) => [value, text] as const),
          ]}
        />
        <Input id="entry" label="Number of an entry" optional inputMode="numeric" maxLength={15} autocomplete="off" />
      </FilterForm>
      <Panel id="list" title="Deliveries">
        {rows.length === 0 ? (
          <Nothing frame={frame} sources={sources} filtered={Object.values(filter).some((one) => one !== '')} />
        ) : (
          <Table caption="Newest first." columns={columnsOf(frame, sources.length > 1)} rows={rows} />
        )}
        <Pages first={first} next={next} />
        <p class="small">
          <a href={liveToggle}>{live ? 'Stop updating' : `Update every ${REFRESH_SECONDS} seconds`}</a>
        </p>
      </Panel>
      <Panel id="days" title={`The last ${DAYS} days`}>
        <DayBars
          what="Deliveries by day"
          series={[
            { name: 'stored', tone: 'calm' },
            { name: 'refused', tone: 'bad' },
          ]}
          days={days.map(({ day, stored, refused: out }) => ({ day, values: [stored, out] }))}
        />
      </Panel>
    </Page>
  );
}

function Nothing({ frame, sources, filtered }: Pick<DeliveriesProps, 'frame' | 'sources'> & { filtered: boolean }) {
  if (filtered)
    return (
      <p>
        No delivery matches. <a href="/deliveries">Show all of them</a>
      </p>
    );
  if (sources.length === 0) return <NoSources frame={frame} />;
  return (
    <p>
      Nothing has arrived yet. Register the <WebhookAddress sources={sources} /> with the service, for all events;
      deliveries with a wrong signature are under <a href="/deliveries/refused">Refused</a>.
    </p>
  );
}

function columnsOf(frame: PageFrame, withSource: boolean): readonly Column<StoredDelivery>[] {
  return [
    {
      title: 'Delivery',
      cell: ({ seq, event, source }) => (
        <>
          <a href={`/entries/${seq}`}>
            <bdi>{event ?? 'event not named'}</bdi>
          </a>
          <br />
          <span class="soft small">
            entry {formatCount(seq)}
            {withSource ? ` · ${frame.sourceName(source)}` : ''}
          </span>
        </>
      ),
    },
    { title: 'Received', cell: ({ receivedAt }) => <Moment iso={receivedAt} timeZone={frame.timeZone} /> },
    {
      title: 'Outcome',
      cell: ({ outcome, note }) => (
        <div>
          <Badge {...outcomeTexts[outcome]} />
          {note === null ? null : <p class="hint outside">{note}</p>}
        </div>
      ),
    },
    { title: 'Signature', cell: ({ verdict }) => verdictText(verdict) },
    { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
    { title: 'Repeats', isNumber: true, cell: ({ repeats }) => formatCount(repeats) },
  ];
}
