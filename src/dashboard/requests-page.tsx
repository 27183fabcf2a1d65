import type { CaseView } from '../cases/view.ts';
import type { Source } from '../core/source.ts';
import { Page, type PageFrame } from './layout.tsx';
import { Panel } from './parts.tsx';
import { RequestTable } from './request-table.tsx';
import { SourceFilter } from './source-filter.tsx';

export interface RequestsProps {
  readonly frame: PageFrame;
  readonly cases: readonly CaseView[];
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  readonly source: string | null;
}

/** Every open request, and the latest of those that are settled. */
export function RequestsPage({ frame, cases, sources, source }: RequestsProps) {
  const [open, settled] = [cases.filter((view) => view.open), cases.filter((view) => !view.open)];
  const withSource = sources.length > 1 && source === null;
  const table = (views: readonly CaseView[], caption: string, none: string) =>
    views.length === 0 ? (
      <p>{none}</p>
    ) : (
      <RequestTable caption={caption} requests={views.map((view) => ({ view }))} withSource={withSource} />
    );
  return (
    <Page title="All requests" frame={frame} current="requests">
      <h1>All requests</h1>
      <p class="lead">
        {open.length} open, {settled.length} settled shown.
      </p>
      {sources.length > 1 ? <SourceFilter action="/cases" sources={sources} source={source} /> : null}
      <Panel id="open" title="Open">
        {table(open, 'By legal limit, nearest first', 'No open requests.')}
      </Panel>
      <Panel id="settled" title="Settled">
        {table(settled, 'By receipt, latest first', 'None yet.')}
      </Panel>
    </Page>
  );
}
