import { z } from 'zod';
import { formatCount } from '../../../../reports/format.ts';
import { stateWord } from '../../../../reports/words.ts';
import { countDecisions, listDecisions } from '../../../consent/decision-list.ts';
import { choiceNames } from '../../../core/consent-judgement.ts';
import type { Source } from '../../../core/source.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import type { JudgedRow } from '../../../store/queries/history-decisions.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  BannerName,
  Choice,
  type Column,
  chipsOf,
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
import { consentChoiceTexts } from '../parts/words.ts';
import { SOURCES_COUNTED } from '../today/load-today.ts';
import { DecisionId, LookUpForm, PeriodInputs } from './decision-lists.tsx';

const { page } = pagesWith<'store' | 'config' | 'clock'>();

/** Decisions per page. */
const SHOWN = 50;

/** The recorded decisions of a period, by choice: the list behind the chart on the Today page. */
const decisions = page({
  path: '/consent/decisions',
  rule: { who: 'read', source: 'query', views: 'decisions' },
  query: z.object({ source: text, from: text, to: text, after: text, choice: text }),
  async load({ context, permitted, fields }) {
    const { from, to, after } = fields;
    const { read } = context.store;
    const source = permitted.find(fields.source)?.slug ?? null;
    const choice = [...choiceNames, 'unknown' as const].find((one) => one === fields.choice) ?? null;
    const now = context.clock();
    const { period, problems } = periodOf({ from, to }, { now, timeZone: context.config.timeZone });
    const sources = permitted.list().flatMap((one) => (source === null || one.slug === source ? one.slug : []));
    const wanted = { sources, period, choice };
    const found = await listDecisions(read, { ...wanted, after, limit: SHOWN });
    // As for the chart of Today.
    const total = sources.length > SOURCES_COUNTED ? null : await countDecisions(read, wanted);
    const names = await createBannerQueries(read).bannerNamesBySource();
    const filter = { source: source ?? '', choice: choice ?? '', from, to };
    const address = (more: Record<string, string>) =>
      `/consent/decisions?${new URLSearchParams({ ...filter, ...more }).toString()}`;
    return {
      sources: permitted.list(),
      filter,
      problems,
      rows: found.rows,
      total,
      namesOf: (of: string) => names.get(of),
      first: after === '' ? null : address({}),
      next: found.next === null ? null : address({ after: found.next }),
      now: now.getTime(),
    };
  },
  show: (data, { frame }) => <DecisionsPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

export const routes = [decisions];

interface DecisionsProps {
  readonly frame: PageFrame;
  readonly sources: readonly Source[];
  readonly filter: Readonly<Record<'source' | 'choice' | 'from' | 'to', string>>;
  readonly problems: readonly string[];
  readonly rows: readonly JudgedRow[];
  /** On all pages; null: not counted, for instance because there are too many sources. */
  readonly total: number | null;
  readonly namesOf: (source: string) => BannerNames | undefined;
  readonly first: string | null;
  readonly next: string | null;
  /** Milliseconds. */
  readonly now: number;
}

function DecisionsPage(props: DecisionsProps) {
  const { frame, sources, filter, problems, rows, total, first, next } = props;
  return (
    <Page title="Decisions" frame={frame} current="decisions">
      <h1>Decisions</h1>
      <p class="lead">
        {total === null ? '' : `${formatCount(total)} in this period. `}
        Each choice of a visitor, as judged by all its records.
      </p>
      <Problems title="The filter was not applied:" problems={problems} />
      <FilterForm
        action="/consent/decisions"
        chips={chipsOf('/consent/decisions', filter, {
          choice: (choice) => consentChoiceTexts[choice as keyof typeof consentChoiceTexts] ?? 'not understood',
          from: (day) => `from ${day}`,
          to: (day) => `to ${day}`,
        })}
      >
        <SourceFilter frame={frame} sources={sources} value={filter.source} />
        <Choice
          id="choice"
          label="Choice"
          value={filter.choice}
          options={[
            ['', 'Every choice'],
            ...choiceNames.map((name) => [name, consentChoiceTexts[name]] as const),
            ['unknown', 'not understood'],
          ]}
        />
        <PeriodInputs frame={frame} filter={filter} />
      </FilterForm>
      <Panel id="decisions" title="Decisions">
        {sources.length === 0 ? (
          <NoSources frame={frame} />
        ) : rows.length === 0 ? (
          <p>No such decision is recorded for this period.</p>
        ) : (
          <Table caption="By source, oldest first." columns={columnsOf(props)} rows={rows} />
        )}
        <Pages first={first} next={next} />
      </Panel>
    </Page>
  );
}

function columnsOf({ frame, sources, namesOf, now }: DecisionsProps): readonly Column<JudgedRow>[] {
  return [
    {
      title: 'Decision',
      cell: ({ decision_id: id, source }) => (
        <DecisionId frame={frame} id={id} source={source} named={sources.length > 1} />
      ),
    },
    { title: 'Made', cell: ({ at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
    {
      title: 'Banner',
      cell: ({ banner_id: id, source }) => (id === null ? 'not named' : <BannerName id={id} names={namesOf(source)} />),
    },
    { title: 'Choice', cell: ({ disputed, label }) => stateWord(disputed === 1 ? 'disputed' : label) },
    { title: 'Entry', cell: ({ seq }) => <EntryNumber seq={seq} /> },
    {
      title: 'Look up',
      label: '',
      cell: ({ source, decision_id: decisionId, at }) => (
        <LookUpForm frame={frame} source={source} decisionId={decisionId} at={at} now={now} />
      ),
    },
  ];
}
