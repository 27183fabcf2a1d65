import { z } from 'zod';
import { contradictionsOf } from '../../../../reports/reconciliation/agreement.ts';
import { stateWord } from '../../../../reports/words.ts';
import {
  type FindingKind,
  type FoundDecision,
  type Lack,
  loadFindings,
  settledKinds,
  whyNothingUndelivered,
} from '../../../consent/findings.ts';
import type { Source } from '../../../core/source.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import { pagesWith, type Said, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  BannerName,
  Choice,
  type Column,
  Done,
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
import {
  type ListedFinding,
  SettledBy,
  SettleForm,
  type SettleSaid,
  settleDone,
  settleFields,
  settleTicked,
  TickBox,
} from '../parts/settle.tsx';
import { DecisionId, LookUpForm, PeriodInputs } from './decision-lists.tsx';

const { page, form } = pagesWith<'store' | 'config' | 'clock' | 'ledger' | 'projector'>();

/** Decisions per page. */
const SHOWN = 50;

const kinds = {
  contradictions: {
    views: 'contradictory decisions',
    title: 'Contradictory decisions',
    lead: 'Decisions whose records say different things. None of them counts as consent, settled here or not: the controller must be able to demonstrate it (GDPR Art. 7(1)).',
    none: 'No contradictory decisions in this period.',
    noneSettled: 'No contradictory decision of this period has been settled.',
  },
  undelivered: {
    views: 'undelivered decisions',
    title: 'Decisions never delivered',
    lead: 'Decisions in the service’s consent log that never arrived as a webhook: the endpoint was unreachable, or the event is not subscribed. They are recorded anyway.',
    none: 'Every decision that the consent log has for this period was delivered.',
    noneSettled: 'No undelivered decision of this period has been settled.',
  },
} as const satisfies Record<FindingKind, unknown>;

const filterFields = { source: text, from: text, to: text, settled: text };
const listFields = z.object({ ...filterFields, after: text });

/** The list behind a figure on the Today page: contradictory decisions, or decisions that were never delivered. */
const listOf = (kind: FindingKind) =>
  page<`/consent/${FindingKind}`, Omit<ListProps, 'frame' | 'said'>, typeof listFields, SettleSaid>({
    path: `/consent/${kind}`,
    rule: { who: 'read', source: 'query', views: kinds[kind].views },
    query: listFields,
    done: settleDone,
    async load({ context, permitted, fields: { source: slug, from, to, settled, after } }) {
      const { read } = context.store;
      const { timeZone } = context.config;
      const source = permitted.find(slug)?.slug ?? null;
      const now = context.clock();
      const { period, problems } = periodOf({ from, to }, { now, timeZone });
      const sources = permitted.list().filter((one) => source === null || one.slug === source);
      const { rows, next } = await loadFindings(read, {
        ...{ kind, period, sources: sources.map((one) => one.slug) },
        ...{ after, limit: SHOWN, isSettled: settled === 'yes' },
      });
      const names = await createBannerQueries(read).bannerNamesBySource();
      const filter = { source: source ?? '', from, to, settled };
      return {
        kind,
        sources: permitted.list(),
        filter,
        problems,
        rows,
        lacks:
          rows.length > 0 || kind === 'contradictions' || settled === 'yes'
            ? null
            : await whyNothingUndelivered(read, sources, period),
        namesOf: (of: string) => names.get(of),
        next: next === null ? null : `/consent/${kind}?${new URLSearchParams({ ...filter, after: next }).toString()}`,
        isFirst: after === '',
        now: now.getTime(),
      };
    },
    show: (data, { frame, said }) => <ListPage frame={frame} {...data} said={said} />,
    status: ({ problems }) => (problems.length > 0 ? 422 : 200),
  });

/** The list, and the form that settles what is ticked in it. */
const routesOf = (kind: FindingKind) => {
  const list = listOf(kind);
  const settle = form({
    path: `/consent/${kind}/settle`,
    rule: { who: 'work', source: 'installation', isWritten: true },
    body: z.object({ ...filterFields, ...settleFields }),
    async act(visit) {
      const outcome = await settleTicked(visit, settledKinds[kind]);
      const { source, from, to, settled, finding: ticked } = visit.fields;
      const filter = { source, from, to, settled };
      if (outcome.outcome !== 'settled')
        return list.again(visit, {
          fields: { ...filter, after: '' },
          said: { problems: outcome.problems, ticked },
          status: outcome.outcome === 'conflict' ? 409 : 422,
        });
      const done = outcome.seqs.length > 0 ? 'settled' : 'nothing';
      return visit.goTo(`/consent/${kind}?${new URLSearchParams({ ...filter, done }).toString()}`);
    },
  });
  return [list, settle];
};

export const routes = [...routesOf('contradictions'), ...routesOf('undelivered')];

interface ListProps {
  readonly kind: FindingKind;
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: Readonly<Record<'source' | 'from' | 'to' | 'settled', string>>;
  readonly problems: readonly string[];
  readonly rows: readonly FoundDecision[];
  /** Why an empty list means nothing. */
  readonly lacks: Lack | null;
  readonly namesOf: (source: string) => BannerNames | undefined;
  readonly next: string | null;
  readonly isFirst: boolean;
  /** Milliseconds. */
  readonly now: number;
  readonly said: Said<SettleSaid>;
}

const FORM = 'settle';

function findingOf({ source, decision, upTo, settlement }: FoundDecision): ListedFinding {
  return { source, key: decision.decisionId, upTo, settlement };
}

function ListPage(props: ListProps) {
  const { kind, frame, sources, filter, problems, rows, next, isFirst, said } = props;
  const { title, lead } = kinds[kind];
  return (
    <Page title={title} frame={frame} current={kind}>
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
      <Done text={said.done} />
      <Problems title="Nothing was recorded:" problems={said.problems} />
      <Problems title="The filter was not applied:" problems={problems} />
      <Panel id="filter" title="What to show">
        <FilterForm action={`/consent/${kind}`}>
          <SourceFilter frame={frame} sources={sources} value={filter.source} />
          <PeriodInputs frame={frame} filter={filter} />
          <Choice
            id="settled"
            label="Show"
            value={filter.settled}
            options={[
              ['', 'To settle'],
              ['yes', 'Settled'],
            ]}
          />
        </FilterForm>
      </Panel>
      <Panel id="decisions" title="Decisions">
        {rows.length === 0 ? (
          <Nothing {...props} />
        ) : (
          <Table caption="By source, oldest first." columns={columnsOf(props)} rows={rows} />
        )}
        <SettleForm
          frame={frame}
          id={FORM}
          kind={settledKinds[kind]}
          action={`/consent/${kind}/settle`}
          findings={rows.map(findingOf)}
          filter={filter}
          isSettled={filter.settled === 'yes'}
          typed={said.form}
        />
        <Pages first={isFirst ? null : `/consent/${kind}?${new URLSearchParams(filter).toString()}`} next={next} />
      </Panel>
    </Page>
  );
}

function Nothing({ kind, frame, sources, lacks, filter }: ListProps) {
  if (sources.length === 0) return <NoSources frame={frame} />;
  if (filter.settled === 'yes') return <p>{kinds[kind].noneSettled}</p>;
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

function columnsOf({ kind, frame, sources, filter, namesOf, now, said }: ListProps): readonly Column<FoundDecision>[] {
  const first = ({ decision: { rows } }: FoundDecision) => rows[0];
  const bannerOf = (row: FoundDecision) => first(row)?.banner_id ?? null;
  return [
    {
      title: 'Decision',
      cell: (row) => {
        const { decision, source } = row;
        const id = <DecisionId frame={frame} id={decision.decisionId} source={source} named={sources.length > 1} />;
        if (!frame.canWork) return id;
        return (
          <label class="box">
            <TickBox form={FORM} finding={findingOf(row)} about={`Decision ${decision.decisionId}`} said={said} />{' '}
            <span>{id}</span>
          </label>
        );
      },
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
    ...(filter.settled === 'yes'
      ? [
          {
            title: 'Settled',
            cell: ({ settlement }: FoundDecision) =>
              settlement === null ? null : <SettledBy frame={frame} settlement={settlement} />,
          },
        ]
      : []),
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
