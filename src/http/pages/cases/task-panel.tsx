import type { CaseTask } from '../../../cases/folded.ts';
import { type MoveName, moves, TASK_DAYS } from '../../../cases/moves.ts';
import { FieldInput, fieldsOf, typedIn } from '../parts/fields.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, Day, Moment, Notice, Panel, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import type { Worded } from '../parts/words.ts';
import type { CasePageData } from './load-case.ts';

interface TaskPanelProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  /** The refused form, to be corrected. */
  readonly refused: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
  /** The entry of an earlier task that pre-fills the new one; null: an empty form. */
  readonly again: string | null;
}

interface Row {
  readonly number: string;
  readonly task: CaseTask;
}

/** Tasks for the owners of other systems: their outcomes and links, and a form for another task. */
export function TaskPanel(props: TaskPanelProps) {
  const { frame, data } = props;
  const { view } = data.shown;
  const rows = (view.folded.tasks ?? []).map((task, place): Row => ({ number: String(place + 1), task }));
  if (rows.length === 0 && !view.moves.includes('add-task')) return null;
  return (
    <Panel id="tasks" title="Tasks for other systems">
      {rows.length === 0 ? (
        <p class="small">
          Work for someone else, such as deleting a customer in the shop. The owner reports through a link when it is
          done; each step is recorded.
        </p>
      ) : (
        <Table
          caption={null}
          columns={[
            { title: 'Task', cell: ({ number, task }: Row) => <What number={number} task={task} /> },
            {
              title: 'State',
              cell: ({ task }) => <State frame={frame} data={data} task={task} />,
            },
          ]}
          rows={rows}
        />
      )}
      {frame.canWork
        ? rows
            .filter(
              ({ number, task }) =>
                task.outcome !== 'done' ||
                (task.linkUntil !== null && (data.taskLinks.get(number)?.endedAt ?? null) === null),
            )
            .map((row) => <Changes key={row.number} {...props} row={row} />)
        : null}
      {frame.canWork && view.moves.includes('add-task') ? <AddTask {...props} /> : null}
    </Panel>
  );
}

function What({ number, task }: Row) {
  return (
    <span>
      {number}. <bdi class="outside">{task.what}</bdi>
      {task.owner === null && task.ownerEmail === null ? null : (
        <span class="small soft">
          {' '}
          · <bdi class="outside">{[task.owner, task.ownerEmail].filter((part) => part !== null).join(', ')}</bdi>
        </span>
      )}
    </span>
  );
}

function State({ frame, data, task }: { frame: PageFrame; data: CasePageData; task: CaseTask }) {
  const { timeZone } = frame;
  return (
    <span class="small">
      <Badge {...stateText(task, data.today)} /> {task.outcome === null ? 'by ' : 'was due '}
      <Day date={task.due} />
      {task.finishedAt === null ? null : (
        <>
          <br />
          <Moment iso={task.finishedAt} timeZone={timeZone} /> by {task.finishedBy}
        </>
      )}
      {task.note === null ? null : (
        <>
          <br />
          <bdi class="outside">{task.note}</bdi>
        </>
      )}
      {task.sentAt === null ? null : (
        <>
          <br />
          sent <Moment iso={task.sentAt} timeZone={timeZone} />
        </>
      )}
    </span>
  );
}

function stateText({ outcome, due }: CaseTask, today: string): Worded {
  if (outcome === 'done') return { text: 'done', tone: 'good' };
  if (outcome === 'not-done') return { text: 'not done', tone: 'bad' };
  return due < today ? { text: 'late', tone: 'bad' } : { text: 'open', tone: due === today ? 'warn' : 'calm' };
}

function Changes({ frame, data, row: { number, task }, refused }: TaskPanelProps & { row: Row }) {
  const { link, endedAt, job } = data.taskLinks.get(number) ?? { link: null, endedAt: null, job: null };
  const wrong = refused?.form['task'] === number ? refused : null;
  return (
    <details
      open={wrong !== null || endedAt !== null || (link !== null && task.sentAt === null && task.outcome === null)}
    >
      <summary>
        Change task {number}: <bdi class="outside">{task.what}</bdi>
      </summary>
      <div>
        {link === null ? null : (
          <Notice tone="calm">
            <p>
              The owner can report here without an account, until{' '}
              <Moment iso={task.linkUntil ?? ''} timeZone={frame.timeZone} />. Do not pass it on.
            </p>
            <p class="mono">{link}</p>
          </Notice>
        )}
        {endedAt === null ? null : (
          <Notice tone="warn">
            <p>
              The link no longer works: a backup was restored <Moment iso={endedAt} timeZone={frame.timeZone} />, which
              ended every link given out before. Send a new one to the owner.
            </p>
          </Notice>
        )}
        {task.linkUntil === null || endedAt !== null || data.taskLinkProblem === null ? null : (
          <p class="small">{data.taskLinkProblem}</p>
        )}
        {job?.error == null ? null : <p class="small">{job.error}</p>}
        {task.outcome === 'done' ? null : (
          <>
            {task.ownerEmail === null || !data.canMail ? null : job?.state === 'waiting' || job?.state === 'running' ? (
              <p>
                <Badge text="being sent" tone="calm" />
              </p>
            ) : (
              <PostForm frame={frame} action={`${pathOf(data)}/tasks/mail`}>
                <input type="hidden" name="task" value={number} />
                <button class="quiet" type="submit">
                  {task.sentAt === null ? 'Send to' : 'Remind'} <bdi class="outside">{task.ownerEmail}</bdi>
                </button>
              </PostForm>
            )}
            <TaskMove frame={frame} data={data} move="finish-task" number={number} values={wrong?.form ?? {}} />
            <TaskMove
              frame={frame}
              data={data}
              move="share-task"
              number={number}
              values={wrong?.move === 'share-task' ? wrong.form : { days: String(TASK_DAYS) }}
              label={link === null ? 'Create a link' : 'Replace the link'}
            />
          </>
        )}
        {task.linkUntil === null || endedAt !== null ? null : (
          <TaskMove frame={frame} data={data} move="unshare-task" number={number} values={{}} label="Revoke the link" />
        )}
      </div>
    </details>
  );
}

function pathOf(data: CasePageData): string {
  return `/cases/${encodeURIComponent(data.shown.view.row.case_id)}`;
}

function TaskMove(props: {
  frame: PageFrame;
  data: CasePageData;
  move: MoveName;
  /** Null for a new task. */
  number: string | null;
  values: Readonly<Record<string, string>>;
  label?: string;
}) {
  const { frame, data, move, number, values, label = moves[move].label } = props;
  return (
    <PostForm frame={frame} action={`${pathOf(data)}/moves#tasks`}>
      <input type="hidden" name="move" value={move} />
      <input type="hidden" name="basedOn" value={data.shown.view.row.version} />
      {number === null ? null : <input type="hidden" name="task" value={number} />}
      {fieldsOf(moves[move].details)
        .filter(({ name }) => name !== 'task')
        .map((field) => (
          <FieldInput
            key={field.name}
            id={`${move}-${number ?? 'new'}-${field.name}`}
            field={field}
            value={typedIn(values, field)}
            timeZone={frame.timeZone}
          />
        ))}
      <button class="quiet" type="submit">
        {label}
      </button>
    </PostForm>
  );
}

/** A new task, empty or filled in from an earlier one of the source. */
function AddTask({ frame, data, refused, again }: TaskPanelProps) {
  const there = new Set((data.shown.view.folded.tasks ?? []).map(({ what }) => what));
  const earlier = data.earlierTasks.filter(({ what }) => !there.has(what)).slice(0, 5);
  const chosen = data.earlierTasks.find(({ seq }) => String(seq) === again);
  const wrong = refused?.move === 'add-task' ? refused.form : null;
  const proposed = { what: chosen?.what ?? '', owner: chosen?.owner ?? '', ownerEmail: chosen?.ownerEmail ?? '' };
  return (
    <details open={wrong !== null || chosen !== undefined}>
      <summary>{moves['add-task'].label}</summary>
      <div>
        {earlier.length === 0 ? null : (
          <>
            <p class="small">As on an earlier request:</p>
            <ul class="plain small">
              {earlier.map(({ seq, what, owner }) => (
                <li key={seq}>
                  <a href={`${pathOf(data)}?again=${seq}#tasks`}>
                    <bdi class="outside">{what}</bdi>
                    {owner === null ? null : <bdi class="outside"> ({owner})</bdi>}
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
        <TaskMove
          frame={frame}
          data={data}
          move="add-task"
          number={null}
          values={wrong ?? proposed}
          label="Add the task"
        />
      </div>
    </details>
  );
}
