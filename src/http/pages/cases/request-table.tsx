import type { Match } from '../../../cases/match-subject.ts';
import type { CaseView } from '../../../cases/view.ts';
import { decidingLaw } from '../../../law/deadlines.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Assignee, Badge, type Column, Day, LegalLimit, ownAssignee, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { identityText, kindsText, matchText, stateText } from '../parts/words.ts';

interface RequestTableProps {
  readonly caption: string;
  /** Without any `match` (requesters were not looked up), the column is left out. */
  readonly requests: readonly { readonly view: CaseView; readonly match?: Match }[];
  /** The names of sources; null: the source is not shown. */
  readonly sourceName: ((slug: string) => string) | null;
  /** The reader. */
  readonly frame: PageFrame;
  /** The list to return to after taking a request, with its filter as a query. */
  readonly from: { readonly list: 'today' | 'requests'; readonly filter: string };
}

/** Requests, one per line. */
export function RequestTable({ caption, requests, sourceName, frame, from }: RequestTableProps) {
  const matched = requests.some(({ match }) => match !== undefined);
  const columns: readonly Column<(typeof requests)[number]>[] = [
    {
      title: 'Request',
      cell: ({ view: { row, kinds } }) => (
        <>
          <a href={`/cases/${encodeURIComponent(row.case_id)}`}>
            {kindsText(kinds)} · {row.case_id}
          </a>
          <br />
          <span class="soft small">
            <bdi>{row.requester_name ?? row.requester_email ?? 'requester not named'}</bdi>
            {sourceName === null ? '' : ` · ${sourceName(row.source)}`}
          </span>
        </>
      ),
    },
    {
      title: 'Legal limit',
      cell: ({ view }) => (
        <span>
          <LegalLimit view={view} />
        </span>
      ),
    },
    { title: 'Aim for', cell: ({ view }) => <Day date={view.deadline.aimFor} /> },
    {
      title: 'Law',
      cell: ({ view }) => (
        <span>
          {decidingLaw(view.deadline)?.name ?? 'none recorded'}{' '}
          {view.folded.placeAsGiven === null ? null : <Badge text="choose the place" tone="warn" />}
        </span>
      ),
    },
    {
      title: 'State',
      cell: ({ view }) => (
        <div>
          {stateText(view.row.state)}
          {(view.folded.openMessages ?? []).length === 0 ? null : (
            <>
              {' '}
              <Badge text="message open" tone="warn" />
            </>
          )}
          {canTake(view, frame) ? (
            <>
              <br />
              <TakeButton row={view.row} />
            </>
          ) : view.folded.assignee === null ? null : (
            <>
              <br />
              <span class="soft small">
                for <Assignee assignee={view.folded.assignee} viewer={frame.personId} />
              </span>
            </>
          )}
        </div>
      ),
    },
    {
      title: 'Identity',
      cell: ({ view }) => (
        <span>
          <Badge {...identityText(view)} />
        </span>
      ),
    },
    {
      title: 'Consent records',
      label: 'Records',
      cell: ({ match }) => <span>{match === undefined ? null : <Badge {...matchText(match)} />}</span>,
    },
  ];
  return (
    <>
      {requests.some(({ view }) => canTake(view, frame)) ? <TakeForm frame={frame} from={from} /> : null}
      <Table caption={caption} columns={matched ? columns : columns.slice(0, -1)} rows={requests} />
    </>
  );
}

/** Whether the reader can assign the request to themselves: nobody handles it. */
function canTake({ folded, moves, open }: CaseView, frame: PageFrame): boolean {
  return folded.assignee === null && frame.canWork && moves.includes('assign') && open;
}

/**
 * One form for all buttons of a list, each of which names its request: a form in every row would make up a third of the
 * page.
 */
const TAKE_FORM = 'take-requests';

function TakeForm({ frame, from }: Pick<RequestTableProps, 'frame' | 'from'>) {
  return (
    <PostForm frame={frame} id={TAKE_FORM}>
      <input type="hidden" name="move" value="assign" />
      <input type="hidden" name="assignee" value={ownAssignee(frame)} />
      <input type="hidden" name="list" value={from.list} />
      <input type="hidden" name="filter" value={from.filter} />
    </PostForm>
  );
}

function TakeButton({ row }: { readonly row: CaseView['row'] }) {
  return (
    <button
      class="quiet slim"
      type="submit"
      form={TAKE_FORM}
      formAction={`/cases/${encodeURIComponent(row.case_id)}/moves`}
      name="basedOn"
      value={row.version}
      aria-label={`Take ${row.case_id}`}
    >
      Take it
    </button>
  );
}
