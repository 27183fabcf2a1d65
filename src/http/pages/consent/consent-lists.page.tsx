import { z } from 'zod';
import { contradictionsOf } from '../../../../reports/reconciliation/agreement.ts';
import { stateWord } from '../../../../reports/words.ts';
import {
  type FindingKind,
  type FoundDecision,
  type Lack,
  loadFindings,
  whyNothingUndelivered,
} from '../../../consent/findings.ts';
import type { Source } from '../../../core/source.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  BannerName,
  type Column,
  EntryNumber,
  FilterForm,
  Moment,
  NoSources,
  Pages,
  Panel,
  Problems,
  SourceFilter,
  Table,
} from '../parts/parts.tsx';
import { periodOf } from '../parts/period.ts';
import { DecisionId, LookUpForm, PeriodInputs } from './decision-lists.tsx';

const { page } = pagesWith<'store' | 'config' | 'clock'>();

/** Decisions per page. */
const SHOWN = 50;

const kinds = {
  contradictions: {
    views: 'contradictory decisions',
    title: 'Contradictory decisions',
    lead: 'Decisions whose records say different things. None of them counts as consent until that is resolved: the controller must be able to demonstrate it (GDPR Art. 7(1)).',
    none: 'No contradictory decisions in this period.',
  },
  undelivered: {
    views: 'undelivered decisions',
    title: 'Decisions never delivered',
    lead: 'Decisions in the service’s consent log that never arrived as a webhook: the endpoint was unreachable, or the event is not subscribed. They are recorded anyway.',
    none: 'Every decision that the consent log has for this period was delivered.',
  },
} as const satisfies Record<FindingKind, unknown>;

/** The list behind a figure on the Today page: contradictory decisions, or decisions that were never delivered. */
const listOf = (kind: FindingKind) =>
  page({
    path: `/consent/${kind}`,
    rule: { who: 'read', source: 'query', views: kinds[kind].views },
    query: z.object({ source: text, from: text, to: text, after: text }),
    async load({ context, permitted, fields: { source: slug, from, to, after } }) {
      const { read } = context.store;
      const { timeZone } = context.config;
      const source = permitted.find(slug)?.slug ?? null;
      const now = context.clock();
      const { period, problems } = periodOf({ from, to }, { now, timeZone });
      const sources = permitted.list().filter((one) => source === null || one.slug === source);
      const { rows, next } = await loadFindings(read, {
        ...{ kind, period, sources: sources.map((one) => one.slug) },
        ...{ after, limit: SHOWN },
      });
      const names = await createBannerQueries(read).bannerNamesBySource();
      const filter = { source: source ?? '', from, to };
      return {
        kind,
        sources: permitted.list(),
        filter,
        problems,
        rows,
        lacks: rows.length > 0 || kind === 'contradictions' ? null : await whyNothingUndelivered(read, sources, period),
        namesOf: (of: string) => names.get(of),
        next: next === null ? null : `/consent/${kind}?${new URLSearchParams({ ...filter, after: next }).toString()}`,
        isFirst: after === '',
        now: now.getTime(),
      };
    },
    show: (data, { frame }) => <ListPage frame={frame} {...data} />,
    status: ({ problems }) => (problems.length > 0 ? 422 : 200),
  });

export const routes = [listOf('contradictions'), listOf('undelivered')];

interface ListProps {
  readonly kind: FindingKind;
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: { readonly source: string; readonly from: string; readonly to: string };
  readonly problems: readonly string[];
  readonly rows: readonly FoundDecision[];
  /** Why an empty list means nothing. */
  readonly lacks: Lack | null;
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
          <SourceFilter frame={frame} sources={sources} value={filter.source} />
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
