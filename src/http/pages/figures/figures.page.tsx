import { Readable } from 'node:stream';
import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { type CsvColumn, renderCsv, spreadsheetNote } from '../../../../reports/render/csv-json.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { countBySource } from '../../../store/queries/decisions-in.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith, text, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { type Column, FilterForm, Input, Pages, Panel, Problems, Table } from '../parts/parts.tsx';
import { periodOf } from '../parts/period.ts';

type Parts = 'store' | 'config' | 'clock' | 'sources' | 'projector';
const { page, file } = pagesWith<Parts>();

/** Sources per page. */
const SHOWN = 100;

const days = z.object({ from: text, to: text });

/** How much happened at each source in a period, for example for an invoice. Also of offboarded sources. */
const figures = page({
  path: '/figures',
  rule: { who: 'read', source: 'installation' },
  query: days.extend({ after: text }),
  async load(visit) {
    const { after } = visit.fields;
    const found = await loadFigures(visit);
    const { from, to, all } = found;
    const rest = all.filter(({ slug }) => slug > after);
    const shown = rest.slice(0, SHOWN);
    const address = (more: Record<string, string>) =>
      `/figures?${new URLSearchParams({ from, to, ...more }).toString()}`;
    return {
      ...found,
      shown,
      first: after === '' ? null : address({}),
      next: rest.length > SHOWN ? address({ after: shown.at(-1)?.slug ?? '' }) : null,
    };
  },
  show: (data, { frame }) => <FiguresPage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

const figuresFile = file({
  path: '/figures/file',
  rule: { who: 'read', source: 'installation' },
  query: days.extend({ after: text }),
  async send(visit) {
    const { from, to, problems, all } = await loadFigures(visit);
    if (problems.length > 0) return figures.again(visit, { fields: visit.fields });
    return visit.reply
      .header('content-disposition', attachment(`figures ${from} to ${to}.csv`))
      .type('text/csv; charset=utf-8')
      .send(Readable.from(renderCsv(fileColumns(from, to), all)));
  },
});

export const routes = [figures, figuresFile];

interface SourceFigures {
  readonly slug: string;
  readonly name: string;
  readonly decisions: number;
  readonly requests: number;
}

/**
 * The figures of every source that the person may see. Without days: the current quarter up to today. None if the days
 * are wrong.
 */
async function loadFigures({ context, permitted, fields }: Visit<Parts, z.output<typeof days>>) {
  const { timeZone } = context.config;
  const now = context.clock();
  const today = dateIn(now.toISOString(), timeZone);
  const from = fields.from || quarterOf(today);
  const to = fields.to || today;
  const { period, problems: invalid } = periodOf({ from, to }, { now, timeZone });
  const isReversed = invalid.length === 0 && from > to;
  const problems = isReversed ? ['The last day is before the first day.'] : invalid;
  if (problems.length > 0) return { from, to, problems, all: [] };
  const sources = [
    ...permitted.list(),
    ...context.sources.offboarded().flatMap(({ source }) => permitted.findAny(source.slug) ?? []),
  ];
  await context.projector.catchUp();
  const slugs = sources.map(({ slug }) => slug);
  const counts = await countBySource(context.store.read, slugs, period);
  const all = sources
    .map(({ slug, name }): SourceFigures => ({ slug, name, ...(counts.get(slug) ?? { decisions: 0, requests: 0 }) }))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return { from, to, problems, all };
}

/** The first day of the quarter of a day. */
function quarterOf(day: string): string {
  const month = Math.floor((Number(day.slice(5, 7)) - 1) / 3) * 3 + 1;
  return `${day.slice(0, 4)}-${String(month).padStart(2, '0')}-01`;
}

function fileColumns(from: string, to: string): readonly CsvColumn<SourceFigures>[] {
  return [
    { title: 'Source', value: ({ slug }) => slug },
    { title: 'Name', value: ({ name }) => name },
    { title: 'First day', value: () => from },
    { title: 'Last day', value: () => to },
    { title: 'Decisions', value: ({ decisions }) => decisions },
    { title: 'Requests', value: ({ requests }) => requests },
  ];
}

interface FiguresProps {
  readonly frame: PageFrame;
  readonly from: string;
  readonly to: string;
  readonly problems: readonly string[];
  readonly all: readonly SourceFigures[];
  readonly shown: readonly SourceFigures[];
  readonly first: string | null;
  readonly next: string | null;
}

function FiguresPage({ frame, from, to, problems, all, shown, first, next }: FiguresProps) {
  const sum = (of: (one: SourceFigures) => number) => all.reduce((total, one) => total + of(one), 0);
  const days = new URLSearchParams({ from, to }).toString();
  const columns: readonly Column<SourceFigures>[] = [
    {
      title: 'Source',
      cell: ({ slug, name }) => (
        <a href={`/sources/${slug}`}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    { title: 'Decisions', cell: ({ decisions }) => formatCount(decisions), isNumber: true },
    { title: 'Requests', cell: ({ requests }) => formatCount(requests), isNumber: true },
  ];
  return (
    <Page title="Figures" frame={frame} current="figures">
      <h1>Figures</h1>
      <p class="lead">How many decisions and requests each source had in a period, for example for an invoice.</p>
      <Problems title="Correct the days:" problems={problems} />
      <FilterForm action="/figures">
        <Input id="from" label="First day" type="date" value={from} hint={`In ${frame.timeZone}.`} />
        <Input id="to" label="Last day" type="date" value={to} />
      </FilterForm>
      {problems.length > 0 ? null : (
        <Panel id="list" title="Sources">
          <p>
            In all:{' '}
            {counted(
              sum(({ decisions }) => decisions),
              'decision',
              'decisions',
            )}
            ,{' '}
            {counted(
              sum(({ requests }) => requests),
              'request',
              'requests',
            )}
            . <a href={`/figures/file?${days}`}>Download the list (CSV)</a> <span class="small">{spreadsheetNote}</span>
          </p>
          <Table caption={null} columns={columns} rows={shown} />
          <Pages first={first} next={next} />
          <p class="hint">
            A decision counts at the time of the choice, and once, however many records of it came in. A request counts
            on the day of its receipt. What was erased is not counted.
          </p>
        </Panel>
      )}
    </Page>
  );
}
