import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contradictionsOf } from '../../../../reports/reconciliation/agreement.ts';
import { stateWord } from '../../../../reports/words.ts';
import { AGREEMENT_DAYS } from '../../../attention/officer-attention.ts';
import { type FoundDecision, type FindingKind, loadFindings } from '../../../consent/findings.ts';
import type { Context } from '../../../context.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, localTimeOf, startOfDay } from '../../../core/zoned-days.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import { sourcesOf } from '../../auth/access.ts';
import { formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import {
  BannerName,
  type Column,
  EntryNumber,
  FilterForm,
  Input,
  Moment,
  NoSources,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
} from '../parts/parts.tsx';

/** Decisions per page. */
const SHOWN = 50;

const kinds = {
  contradictions: {
    title: 'Contradictory decisions',
    lead: 'Decisions whose records say different things. None of them counts as consent until that is resolved: the controller must be able to demonstrate it (GDPR Art. 7(1)).',
    none: 'No contradictory decisions in this period.',
  },
  undelivered: {
    title: 'Decisions never delivered',
    lead: 'Decisions in the service’s consent log that never arrived as a webhook: the endpoint was unreachable, or the event is not subscribed. They are recorded anyway.',
    none: 'Every decision that the consent log has for this period was delivered.',
  },
} as const satisfies Record<FindingKind, unknown>;

/** The lists behind two figures on the Today page: contradictory decisions, and decisions that were never delivered. */
export async function consentListRoutes(app: FastifyInstance, context: Context): Promise<void> {
  for (const kind of ['contradictions', 'undelivered'] as const)
    app.get(`/consent/${kind}`, (request, reply) => sendList(kind, request, reply));

  async function sendList(kind: FindingKind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { timeZone } = context.config;
    const permitted = sourcesOf(context, request);
    const { source: slug = '', from = '', to = '', after = '' } = formOf(request.query);
    const source = permitted.find(slug)?.slug ?? null;
    const now = context.clock();
    const { period, problems } = periodOf({ from, to }, { now, timeZone });
    const sources = permitted.list().filter((one) => source === null || one.slug === source);
    const found = await loadFindings(context.store.read, {
      ...{ kind, period, sources: sources.map(({ slug }) => slug) },
      ...{ after, limit: SHOWN },
    });
    const names = await createBannerQueries(context.store.read).bannerNamesBySource();
    const { next } = found;
    const filter = { source: source ?? '', from, to };
    const page = (
      <ListPage
        kind={kind}
        frame={pageFrame(context, request, reply)}
        sources={permitted.list()}
        filter={filter}
        problems={problems}
        rows={found.rows}
        lacks={found.rows.length > 0 || kind === 'contradictions' ? null : await lackOf(sources, period)}
        namesOf={(of) => names.get(of)}
        next={next === null ? null : `/consent/${kind}?${new URLSearchParams({ ...filter, after: next }).toString()}`}
        isFirst={after === ''}
        now={now.getTime()}
      />
    );
    return html(reply, renderPage(page), problems.length > 0 ? 422 : 200);
  }

  /** Why nothing can be said about deliveries: nothing was pulled to compare them with, or there were no decisions. */
  async function lackOf(
    sources: readonly Source[],
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<ListProps['lacks']> {
    const { read } = context.store;
    const slugs = sources.map(({ slug }) => slug);
    const pulled = await read
      .selectFrom('sync_positions')
      .select('source')
      .where('source', 'in', slugs)
      .where('last_success_at', 'is not', null)
      .limit(1)
      .executeTakeFirst();
    if (pulled === undefined) return sources.some(isPulled) ? 'pull' : 'access';
    const decision = await read
      .selectFrom('decision_history')
      .select('seq')
      .where('source', 'in', slugs)
      .where('at', '>=', from)
      .where('at', '<', to)
      .limit(1)
      .executeTakeFirst();
    return decision === undefined ? 'decisions' : null;
  }
}

function isPulled({ baseUrl, apiKey }: Source): boolean {
  return baseUrl !== null && apiKey !== null;
}

interface ListProps {
  readonly kind: FindingKind;
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly from: string; readonly to: string };
  readonly problems: readonly string[];
  readonly rows: readonly FoundDecision[];
  /**
   * Why an empty list means nothing: no source has access to the consent log, it has not been pulled yet, or there are
   * no decisions.
   */
  readonly lacks: 'access' | 'pull' | 'decisions' | null;
  readonly namesOf: (source: string) => BannerNames | undefined;
  readonly next: string | null;
  readonly isFirst: boolean;
  /** Milliseconds. */
  readonly now: number;
}

function ListPage(props: ListProps) {
  const { kind, frame, sources, filter, problems, rows, next, isFirst } = props;
  const { title, lead } = kinds[kind];
  return (
    <Page title={title} frame={frame} current={kind}>
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
      <Problems title="The filter was not applied:" problems={problems} />
      <Panel id="filter" title="What to show">
        <FilterForm action={`/consent/${kind}`}>
          <SourceFilter sources={sources} value={filter.source} />
          <PeriodInputs frame={frame} filter={filter} />
        </FilterForm>
      </Panel>
      <Panel id="decisions" title="Decisions">
        {rows.length === 0 ? (
          <Nothing {...props} />
        ) : (
          <Table caption="By source, oldest first." columns={columnsOf(props)} rows={rows} />
        )}
        <Pages first={isFirst ? null : `/consent/${kind}?${new URLSearchParams(filter).toString()}`} next={next} />
      </Panel>
    </Page>
  );
}

function Nothing({ kind, frame, sources, lacks }: ListProps) {
  if (sources.length === 0) return <NoSources frame={frame} />;
  switch (lacks) {
    case null:
      return <p>{kinds[kind].none}</p>;
    case 'access':
      return (
        <p>
          No source has an API address and an API key, so there is no consent log to compare deliveries with.{' '}
          <a href="/sources">See the sources</a>
        </p>
      );
    case 'pull':
      return (
        <p>
          The consent log has not been pulled yet, so deliveries cannot be compared with it.{' '}
          <a href="/#sync">See the state of the pull</a>
        </p>
      );
    case 'decisions':
      return <p>No decision is recorded for this period, so there was nothing to deliver.</p>;
  }
}

function columnsOf({ kind, frame, sources, namesOf, now }: ListProps): readonly Column<FoundDecision>[] {
  const first = ({ decision: { rows } }: FoundDecision) => rows[0];
  const bannerOf = (row: FoundDecision) => first(row)?.banner_id ?? null;
  return [
    {
      title: 'Decision',
      cell: ({ decision, source }) => (
        <DecisionId frame={frame} id={decision.decisionId} source={source} named={sources.length > 1} />
      ),
    },
    { title: 'Made', cell: (row) => <Moment iso={first(row)?.at ?? ''} timeZone={frame.timeZone} /> },
    {
      title: 'Banner',
      cell: (row) => {
        const bannerId = bannerOf(row);
        return bannerId === null ? 'not named' : <BannerName id={bannerId} names={namesOf(row.source)} />;
      },
    },
    kind === 'contradictions'
      ? {
          title: 'What differs',
          cell: ({ decision }) => (
            <ul class="plain small">
              {contradictionsOf(decision).map(({ first: counted, other, differs }) => (
                <li key={other}>
                  {differs.join('; ')}{' '}
                  <span class="soft">
                    (entries <EntryNumber seq={counted} /> and <EntryNumber seq={other} />)
                  </span>
                </li>
              ))}
            </ul>
          ),
        }
      : {
          title: 'Choice',
          cell: (row) => (
            <>
              {stateWord(first(row)?.state ?? 'unknown')}
              <br />
              <span class="soft small">
                entry <EntryNumber seq={first(row)?.seq ?? 0} />, pulled{' '}
                <Moment iso={first(row)?.received_at ?? ''} timeZone={frame.timeZone} />
              </span>
            </>
          ),
        },
    {
      title: 'Look up',
      label: '',
      cell: (row) => (
        <LookUpForm
          frame={frame}
          source={row.source}
          decisionId={row.decision.decisionId}
          at={first(row)?.at ?? ''}
          now={now}
        />
      ),
    },
  ];
}

/** Looks up a decision as of when it was made. */
export function LookUpForm(props: {
  readonly frame: PageFrame;
  readonly source: string;
  readonly decisionId: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Milliseconds. */
  readonly now: number;
}) {
  const { frame, source, decisionId, at, now } = props;
  return (
    <PostForm frame={frame} action="/consent">
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="identifier" value={decisionId} />
      <input type="hidden" name="at" value={localTimeOf(laterOf(at, now), frame.timeZone)} />
      <button class="quiet slim" type="submit" aria-label={`Look up decision ${decisionId}`}>
        Look up
      </button>
    </PostForm>
  );
}

/** The first and the last day of a list. */
export function PeriodInputs({
  frame,
  filter,
}: {
  readonly frame: PageFrame;
  readonly filter: { readonly from: string; readonly to: string };
}) {
  const hint = `In ${frame.timeZone}; empty: the last ${AGREEMENT_DAYS} days.`;
  return (
    <>
      <Input id="from" label="First day" type="date" value={filter.from} optional hint={hint} />
      <Input id="to" label="Last day" type="date" value={filter.to} optional />
    </>
  );
}

/** A decision's id, with the name of its source if there are several. */
export function DecisionId({
  frame,
  id,
  source,
  named,
}: {
  readonly frame: PageFrame;
  readonly id: string;
  readonly source: string;
  readonly named: boolean;
}) {
  return (
    <>
      <span class="outside">{id}</span>
      {named ? (
        <>
          <br />
          <span class="soft small">{frame.sourceName(source)}</span>
        </>
      ) : null}
    </>
  );
}

/** The period of a list, from its first and last day; empty: the last days up to now. */
export function periodOf(
  { from, to }: { readonly from: string; readonly to: string },
  { now, timeZone }: { readonly now: Date; readonly timeZone: string },
): { readonly period: { readonly from: string; readonly to: string }; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const day = (text: string, add: number, otherwise: Date): string => {
    if (text === '') return otherwise.toISOString();
    try {
      return startOfDay(addDays(text, add), timeZone);
    } catch {
      problems.push(`Invalid date "${text.slice(0, 30)}": use YYYY-MM-DD.`);
      return otherwise.toISOString();
    }
  };
  const period = {
    from: day(from, 0, new Date(now.getTime() - AGREEMENT_DAYS * 86_400_000)),
    to: day(to, 1, now),
  };
  return { period, problems };
}

/** The form has minutes only: rounded up, so that the decision had been made by then. */
function laterOf(iso: string, now: number): string {
  return new Date(Math.min(Date.parse(iso) + 60_000, now)).toISOString();
}
