import type { OpenRequest } from '../attention/officer-attention.ts';
import { Badge, Day } from './parts.tsx';
import { dueText, identityText, kindText, matchText, stateText } from './words.ts';

/** The open requests, the nearest legal limit first. */
export function RequestTable({ requests, timeZone, withSource }: { requests: readonly OpenRequest[]; timeZone: string; withSource: boolean }) {
  if (requests.length === 0) return <p>No request waits for an answer.</p>;
  return (
    <table class="stacks" role="table">
      <caption>Open requests by legal limit. Dates are days in {timeZone}.</caption>
      <thead role="rowgroup">
        <tr role="row">
          {['Request', 'Legal limit', 'Aim for', 'Law', 'State', 'Identity', 'Consent records'].map((title) => (
            <th key={title} scope="col" role="columnheader">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {requests.map(({ view, match }) => {
          const { row, deadline, resolution } = view;
          return (
            <tr role="row" key={row.case_id}>
              <th scope="row" role="rowheader">
                <a href={`/cases/${encodeURIComponent(row.case_id)}`}>
                  {kindText(view.kind)} · {row.case_id}
                </a>
                <br />
                <span class="soft small">
                  {row.requester_name ?? row.requester_email ?? 'requester not named'}
                  {withSource ? ` · ${row.source}` : ''}
                </span>
              </th>
              <td role="cell" data-label="Legal limit">
                <span>
                  <Day date={deadline.legalLimit} /> <Badge {...dueText(view)} />
                </span>
              </td>
              <td role="cell" data-label="Aim for">
                <Day date={deadline.aimFor} />
              </td>
              <td role="cell" data-label="Law">
                {resolution.regime.id}
              </td>
              <td role="cell" data-label="State">
                {stateText(row.state)}
              </td>
              <td role="cell" data-label="Identity">
                <span>
                  <Badge {...identityText(view)} />
                </span>
              </td>
              <td role="cell" data-label="Records">
                <span>
                  <Badge {...matchText(match)} />
                </span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
