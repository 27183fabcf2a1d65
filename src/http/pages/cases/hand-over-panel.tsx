import { randomUUID } from 'node:crypto';
import { counted } from '../../../../reports/format.ts';
import type { DocumentRow } from '../../../documents/check.ts';
import { givenFiles } from '../../../hand-over/given-files.ts';
import {
  CODE_ATTEMPTS,
  HAND_OVER_DAYS,
  HAND_OVER_DAYS_MAX,
  type ListedHandOver,
} from '../../../hand-over/hand-over.ts';
import { ONLY_LOCAL_LINKS } from '../../../hand-over/task-link.ts';
import { optionText } from '../documents/document-table.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { Badge, Choice, type Column, Input, Moment, Notice, Panel, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { handOverText } from '../parts/words.ts';
import type { CasePageData } from './load-case.ts';

/** A new link with its code. */
export interface NewHandOver {
  readonly link: string;
  readonly code: string;
  readonly expiresAt: string;
  /** The server has no public address: the link only works on this machine. */
  readonly localOnly: boolean;
}

interface HandOverPanelProps {
  readonly frame: PageFrame;
  readonly data: CasePageData;
  readonly fresh: NewHandOver | null;
  /** The refused form, to be corrected. */
  readonly refused: Readonly<Record<string, string>> | null;
}

/** Links for the requester to open the pack: a form for a new one, and the state of existing ones. */
export function HandOverPanel({ frame, data, fresh, refused }: HandOverPanelProps) {
  const { handOvers, endedHandOvers, documents, shown } = data;
  const { row } = shown.view;
  const packs = documents.filter(({ name, erased_at }) => name === 'dsar-pack' && erased_at === null);
  const files = documents.filter(({ name, erased_at }) => name === 'attachment' && erased_at === null);
  const typed = refused ?? {};
  const held = data.held.get('answer');
  const settled = row.state === 'answered' || row.state === 'closed';
  const possible = packs.length > 0 && (row.state === 'ready' || settled);
  return (
    <Panel id="hand-over" title="Hand over">
      {fresh === null ? null : <FreshLink frame={frame} fresh={fresh} settled={settled} />}
      <p class="small">
        With a link and a code, the requester opens a page where they can download and check the pack, ask a question or
        object, and read your replies. Each step is recorded.
      </p>
      {handOvers.length === 0 ? null : (
        <Table caption="Links, newest first" columns={columnsFor(frame, row.case_id, files)} rows={handOvers} />
      )}
      {endedHandOvers.length === 0 ? null : (
        <ul class="plain small">
          {endedHandOvers.map(({ handOverId, createdAt, createdBy, endedAt }) => (
            <li key={handOverId}>
              {handOverId}, created <Moment iso={createdAt} timeZone={frame.timeZone} /> by {createdBy}:{' '}
              <Badge text="ended" tone="calm" /> a backup was restored{' '}
              <Moment iso={endedAt} timeZone={frame.timeZone} />, which ends every link given out before.
            </li>
          ))}
        </ul>
      )}
      {!frame.canWork ? null : held !== undefined && !settled ? (
        <p class="small">{held}</p>
      ) : possible ? (
        <details open={handOvers.length === 0 || refused !== null}>
          <summary>Create a link</summary>
          <PostForm frame={frame} action={`/cases/${encodeURIComponent(row.case_id)}/hand-overs#hand-over`}>
            <input type="hidden" name="reference" value={randomUUID()} />
            <Choice
              id="hand-over-document"
              name="document"
              label="Pack"
              value={typed['document'] ?? packs[0]?.document_id ?? ''}
              options={packs.map((pack) => [pack.document_id, optionText(pack, frame.timeZone)])}
            />
            {files.length === 0 ? null : (
              <fieldset>
                <legend>Files to hand over with it</legend>
                {files.map(({ document_id: id, file_name: name }) => (
                  <label key={id} class="box">
                    <input type="checkbox" name={`file-${id}`} value="yes" checked={typed[`file-${id}`] === 'yes'} />{' '}
                    <bdi class="outside">{name}</bdi>
                  </label>
                ))}
              </fieldset>
            )}
            <Input
              id="hand-over-days"
              name="days"
              label="Valid for days"
              inputMode="numeric"
              maxLength={2}
              value={typed['days'] ?? String(HAND_OVER_DAYS)}
              hint={`1 to ${HAND_OVER_DAYS_MAX}.`}
            />
            {shown.profile?.role === 'processor' ? (
              <Input
                id="hand-over-approved"
                name="approvedBy"
                label="Approved by"
                maxLength={300}
                value={typed['approvedBy'] ?? ''}
                required={!settled}
                hint="Who approved the release for the controller."
              />
            ) : null}
            {data.doubtful === null ? null : (
              <p class="small">
                Check first: is <bdi>{data.doubtful.controller}</bdi> the controller?
              </p>
            )}
            <button class="quiet" type="submit">
              Create the link
            </button>
          </PostForm>
        </details>
      ) : (
        <p class="small">
          {packs.length === 0
            ? 'Create the response pack first.'
            : 'A link can be created once the request is ready to be answered.'}
        </p>
      )}
    </Panel>
  );
}

function FreshLink({ frame, fresh, settled }: { frame: PageFrame; fresh: NewHandOver; settled: boolean }) {
  return (
    <Notice tone="good">
      <p>
        <strong>Link and code are shown only once.</strong> Send them to the requester through two different channels,
        for example the link by e-mail and the code by text message or post.
      </p>
      <p>
        Link: <span class="mono">{fresh.link}</span>
      </p>
      <p>
        Code: <strong class="mono">{`${fresh.code.slice(0, 4)} ${fresh.code.slice(4)}`}</strong>
      </p>
      <p class="small">
        Valid until <Moment iso={fresh.expiresAt} timeZone={frame.timeZone} />; {CODE_ATTEMPTS} wrong codes lock it.
        {settled ? null : ' Once both are sent, record “The answer was sent” with this pack as the document.'}
        {fresh.localOnly ? ` ${ONLY_LOCAL_LINKS}` : null}
      </p>
    </Notice>
  );
}

function columnsFor(
  frame: PageFrame,
  caseId: string,
  files: readonly DocumentRow[],
): readonly Column<ListedHandOver>[] {
  const { timeZone } = frame;
  const fileNames = new Map(files.map((one) => [one.document_id, one.file_name]));
  const columns: Column<ListedHandOver>[] = [
    {
      title: 'Created',
      cell: ({ row }) => (
        <span class="small">
          <Moment iso={row.created_at} timeZone={timeZone} />
          <br />
          <span class="soft">
            {row.hand_over_id} · by {row.created_by}
            {givenFiles(row).map(({ documentId }) => (
              <bdi key={documentId} class="outside">
                {' '}
                · with {fileNames.get(documentId) ?? 'an erased file'}
              </bdi>
            ))}
          </span>
        </span>
      ),
    },
    {
      title: 'State',
      cell: ({ row, state }) => (
        <span class="small">
          <Badge {...handOverText(state)} />
          <br />
          <span class="soft">
            {row.revoked_at === null ? 'until ' : 'on '}
            <Moment iso={row.revoked_at ?? row.expires_at} timeZone={timeZone} />
          </span>
        </span>
      ),
    },
    {
      title: 'Used',
      cell: ({ row }) => (
        <span class="small">
          {row.opened_at === null ? (
            'not opened'
          ) : (
            <>
              opened <Moment iso={row.opened_at} timeZone={timeZone} />
            </>
          )}
          <br />
          <span class="soft">
            {counted(row.downloads, 'download', 'downloads')}, {counted(row.messages, 'message', 'messages')},{' '}
            {counted(row.failures, 'wrong code', 'wrong codes')}
          </span>
        </span>
      ),
    },
  ];
  if (!frame.canWork) return columns;
  return [
    ...columns,
    {
      title: 'Change',
      cell: ({ row }) =>
        row.revoked_at !== null ? null : (
          <PostForm frame={frame} action={`/cases/${encodeURIComponent(caseId)}/hand-overs/revoke`}>
            <input type="hidden" name="handOver" value={row.hand_over_id} />
            <button class="quiet slim" type="submit" aria-label={`Revoke the link ${row.hand_over_id}`}>
              Revoke
            </button>
          </PostForm>
        ),
    },
  ];
}
