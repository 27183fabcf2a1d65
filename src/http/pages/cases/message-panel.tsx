import { isThroughLink, type ThreadMessage } from '../../../cases/messages.ts';
import { choiceTexts, type MoveName, moves } from '../../../cases/moves.ts';
import { FieldInput, fieldsOf } from '../parts/fields.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, Moment, Panel } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import type { CasePageData } from './load-case.ts';

interface MessagePanelProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  /** The refused form, to be corrected. */
  readonly refused: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
}

/** What requester and officers wrote to each other, oldest first, and the forms that answer what is open. */
export function MessagePanel(props: MessagePanelProps) {
  const { frame, data, refused } = props;
  const { view, profile } = data.shown;
  if (data.thread.length === 0) return null;
  const open = view.folded.openMessages?.length ?? 0;
  const needsApproval = view.open && (profile?.secondPersonFor ?? []).length > 0;
  return (
    <Panel id="messages" title="Messages">
      <ol class="plain">
        {data.thread.map((message) => (
          <li key={message.seq}>
            <Message frame={frame} data={data} message={message} />
          </li>
        ))}
      </ol>
      {frame.canWork ? (
        <>
          <details open={open > 0 || refused?.move === 'reply'}>
            <summary>{open > 0 ? moves.reply.label : 'Write again'}</summary>
            <div>
              <p class="small">{data.reach.says}</p>
              {view.open ? (
                <p class="small">
                  A reply is correspondence. It does not answer the request or stop its deadline
                  {needsApproval
                    ? ', and nobody has to approve it: what grants or refuses the request goes into the answer, which a second person approves.'
                    : '.'}
                </p>
              ) : null}
              <AnswerForm {...props} move="reply" label="Reply" />
            </div>
          </details>
          {open === 0 ? null : (
            <details open={refused?.move === 'no-reply'}>
              <summary>{moves['no-reply'].label}</summary>
              <div>
                <p class="small">
                  For what needs no answer, or was answered another way. Your name is recorded with it; the requester
                  sees neither.
                </p>
                <AnswerForm
                  {...props}
                  move="no-reply"
                  label={open === 1 ? 'It needs no reply' : 'They need no reply'}
                />
              </div>
            </details>
          )}
        </>
      ) : null}
    </Panel>
  );
}

function Message({ frame, data, message }: Pick<MessagePanelProps, 'frame' | 'data'> & { message: ThreadMessage }) {
  const { at, move, actor, text, about, isOpen } = message;
  const when = <Moment iso={at} timeZone={frame.timeZone} />;
  return (
    <>
      <p class="small">
        {move === 'requester-message' ? (
          <>
            <strong>The requester</strong> {wayOf(message)}, {when}
            {about === null ? '' : `: ${choiceTexts[about].toLowerCase()}`}{' '}
            {isOpen ? <Badge text="open" tone="warn" /> : null}
          </>
        ) : move === 'reply' ? (
          <>
            <strong>Reply</strong> by <bdi>{actor}</bdi>, {when} <Told frame={frame} data={data} message={message} />
          </>
        ) : (
          <>
            <strong>Needs no reply</strong>, says <bdi>{actor}</bdi>, {when}
          </>
        )}
      </p>
      {text === null ? null : (
        <blockquote class="lines">
          <bdi class="outside">{text}</bdi>
        </blockquote>
      )}
    </>
  );
}

/** How a message came, and who recorded it if that was not its sender. */
function wayOf({ channel, actor }: ThreadMessage): string {
  if (channel === null) return '';
  return isThroughLink(channel) ? 'through their link' : `(${channel}, recorded by ${actor})`;
}

/** Whether the requester was told of a reply. */
function Told({ frame, data, message }: Pick<MessagePanelProps, 'frame' | 'data'> & { message: ThreadMessage }) {
  const mail = data.replyMails.get(message.version);
  const job = data.replyJobs.get(message.version);
  if (mail?.isSent === true)
    return (
      <span class="soft">
        · told by e-mail <Moment iso={mail.at} timeZone={frame.timeZone} />
      </span>
    );
  if (mail !== undefined)
    return <Badge text="not known whether they were told: the connection to the mail server broke" tone="warn" />;
  if (job === undefined) return <Badge text="not told by e-mail" tone="warn" />;
  return job.error === null ? <Badge text="being told" tone="calm" /> : <span class="outside">· {job.error}</span>;
}

function AnswerForm({ frame, data, refused, move, label }: MessagePanelProps & { move: MoveName; label: string }) {
  const { row } = data.shown.view;
  const values = refused?.move === move ? refused.form : {};
  return (
    <PostForm frame={frame} action={`/cases/${encodeURIComponent(row.case_id)}/moves#messages`}>
      <input type="hidden" name="move" value={move} />
      <input type="hidden" name="basedOn" value={row.version} />
      {fieldsOf(moves[move].details).map((field) => (
        <FieldInput
          key={field.name}
          id={`${move}-${field.name}`}
          // What the hint says in general, the sentence above says for this requester.
          field={move === 'reply' ? { ...field, label: 'Your reply', hint: null } : field}
          value={values[field.name] ?? ''}
          timeZone={frame.timeZone}
        />
      ))}
      <button class={move === 'reply' ? '' : 'quiet'} type="submit">
        {label}
      </button>
    </PostForm>
  );
}
