import type { Match } from '../../cases/match.ts';
import type { CaseView } from '../../cases/view.ts';
import { Badge, Day, Select } from './parts.tsx';
import { dueText, identityText, kindText, matchText, stateText } from './words.ts';
import type { Source } from '../../core/source.ts';

interface RequestTableProps {
  readonly caption: string;
  /** With `match` undefined nobody looked for the requester: the column is left out. */
  readonly requests: readonly { readonly view: CaseView; readonly match?: Match }[];
  readonly withSource: boolean;
}

/** Requests, one a line. */
export function RequestTable({ caption, requests, withSource }: RequestTableProps) {
  const matched = requests.some(({ match }) => match !== undefined);
  const titles = [
    'Request',
    'Legal limit',
    'Aim for',
    'Law',
    'State',
    'Identity',
    ...(matched ? ['Consent records'] : []),
  ];
  return (
    <table class="stacks" role="table">
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {titles.map((title) => (
            <th key={title} scope="col" role="columnheader">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {requests.map(({ view, match }) => {
          const { row, deadline } = view;
          return (
            <tr role="row" key={row.case_id}>
              <th scope="row" role="rowheader">
                <a href={`/cases/${encodeURIComponent(row.case_id)}`}>
                  {kindText(view.kind)} · {row.case_id}
                </a>
                <br />
                <span class="soft small">
                  <bdi>{row.requester_name ?? row.requester_email ?? 'requester not named'}</bdi>
                  {withSource ? ` · ${row.source}` : ''}
                </span>
              </th>
              <td role="cell" data-label="Legal limit">
                <span>
                  <Day date={deadline.limit} /> <Badge {...dueText(view)} />
                </span>
              </td>
              <td role="cell" data-label="Aim for">
                <Day date={deadline.aimFor} />
              </td>
              <td role="cell" data-label="Law">
                <span>
                  {deadline.law ?? 'unknown'}{' '}
                  {view.folded.placeAsGiven === null ? null : <Badge text="choose the place" tone="warn" />}
                </span>
              </td>
              <td role="cell" data-label="State">
                {stateText(row.state)}
              </td>
              <td role="cell" data-label="Identity">
                <span>
                  <Badge {...identityText(view)} />
                </span>
              </td>
              {match === undefined ? null : (
                <td role="cell" data-label="Records">
                  <span>
                    <Badge {...matchText(match)} />
                  </span>
                </td>
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Narrows a page down to one source. */
export function SourceFilter({
  action,
  sources,
  source,
}: {
  action: string;
  sources: readonly Pick<Source, 'slug' | 'name'>[];
  source: string | null;
}) {
  const options = [['', 'All sources'] as const, ...sources.map(({ slug, name }) => [slug, name] as const)];
  return (
    <form class="filter" method="get" action={action}>
      <label for="source-filter">Show</label>
      <Select id="source-filter" name="source" value={source ?? ''} options={options} />
      <button class="quiet" type="submit">
        Apply
      </button>
    </form>
  );
}
