import { randomUUID } from 'node:crypto';
import { channelOf, isThroughLink, type ThreadMessage, threadMoves, threadOf } from '../cases/messages.ts';
import { moveLatest } from '../cases/move-case.ts';
import type { messageKinds } from '../cases/moves.ts';
import { isoNow } from '../core/clock.ts';
import { equalBytes, hmacSha256 } from '../crypto/hash.ts';
import { type GivenFile, givenFiles } from './given-files.ts';
import {
  CODE_ATTEMPTS,
  codeHash,
  type HandOverDeps,
  type HandOverRow,
  recordHandOver,
  stateOf,
  tokenHash,
} from './hand-over.ts';

/*
 * What a data subject does with a link. A link that is unknown, revoked, expired, locked or withheld always gives null:
 * callers cannot tell these apart, and neither can an attacker.
 */

/** Minutes for which the right code gives access to the page. */
const VISIT_MINUTES = 30;
/** The most messages that a data subject may send through one link. */
const MESSAGES = 20;
/** Maximum length of a message, as in a case's moves. */
export const MESSAGE_LENGTH = 4000;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** The hand-over that a link opens; null: it opens none, or no longer does. */
export async function findHandOver(deps: HandOverDeps, token: string): Promise<HandOverRow | null> {
  if (!tokenPattern.test(token)) return null;
  const row = await deps.store.read
    .selectFrom('hand_overs')
    .selectAll()
    .where('token_hash', '=', tokenHash(deps, token))
    .executeTakeFirst();
  if (row === undefined) return null;
  return (await stateOf(deps, row, isoNow(deps.clock))) === 'open' ? row : null;
}

type Opened =
  | { readonly outcome: 'opened'; readonly visit: string }
  | { readonly outcome: 'refused'; readonly attemptsLeft: number }
  | { readonly outcome: 'gone' };

/**
 * Tries a code. It is counted as wrong before it is checked, so that concurrent attempts count like consecutive ones;
 * the right one takes its own count back. Both are entries.
 */
export async function openWithCode(deps: HandOverDeps, row: HandOverRow, code: string): Promise<Opened> {
  const id = row.hand_over_id;
  const failures = await deps.store.transaction(async ({ query }) => {
    const { numUpdatedRows } = await query
      .updateTable('hand_overs')
      .set((eb) => ({ failures: eb('failures', '+', 1) }))
      .where('hand_over_id', '=', id)
      .where('failures', '<', CODE_ATTEMPTS)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', isoNow(deps.clock))
      .executeTakeFirst();
    if (Number(numUpdatedRows) !== 1) return null;
    const counted = await query
      .selectFrom('hand_overs')
      .select('failures')
      .where('hand_over_id', '=', id)
      .executeTakeFirstOrThrow();
    return counted.failures;
  });
  if (failures === null) return { outcome: 'gone' };
  const digits = code.replaceAll(/[\s-]/g, '');
  if (!equalBytes(codeHash(deps, row, digits), row.code_hash)) {
    // Random key, because a count that was taken back will occur again.
    await recordHandOver(
      deps,
      row,
      { action: 'hand-over.code-refused', actor: actorOf(row), key: [randomUUID()], more: { failures } },
      async () => {},
    );
    return failures >= CODE_ATTEMPTS
      ? { outcome: 'gone' }
      : { outcome: 'refused', attemptsLeft: CODE_ATTEMPTS - failures };
  }
  const now = isoNow(deps.clock);
  await recordHandOver(
    deps,
    row,
    { action: 'hand-over.opened', actor: actorOf(row), key: [randomUUID()], more: {} },
    ({ query }) =>
      query
        .updateTable('hand_overs')
        .set((eb) => ({ failures: eb('failures', '-', 1), opened_at: eb.fn.coalesce('opened_at', eb.val(now)) }))
        .where('hand_over_id', '=', id)
        .execute(),
  );
  const until = deps.clock().getTime() + VISIT_MINUTES * 60_000;
  return { outcome: 'opened', visit: `${until}.${visitMac(deps, row, until)}` };
}

/** Whether the cookie value was issued for this link and code and is still valid. */
export function isVisiting(deps: Pick<HandOverDeps, 'keys' | 'clock'>, row: HandOverRow, visit: string): boolean {
  const [, until = '', mac = ''] = /^(\d{13})\.([0-9a-f]{64})$/.exec(visit) ?? [];
  if (until === '') return false;
  return (
    equalBytes(Buffer.from(mac), Buffer.from(visitMac(deps, row, Number(until)))) &&
    Number(until) > deps.clock().getTime()
  );
}

function visitMac({ keys }: Pick<HandOverDeps, 'keys'>, row: HandOverRow, until: number): string {
  const files = givenFiles(row).map(({ documentId, sha256 }) => ` ${documentId} ${sha256}`);
  const given = `hand-over visit ${row.hand_over_id} ${row.code_hash.toString('hex')} ${row.document_id} ${row.sha256}${files.join('')} ${until}`;
  return hmacSha256(keys.instance.session, Buffer.from(given)).toString('hex');
}

/** Records that the pack is downloaded. Call it before the first byte is sent. */
export async function noteDownload(deps: HandOverDeps, row: HandOverRow): Promise<void> {
  await recordHandOver(
    deps,
    row,
    { action: 'hand-over.downloaded', actor: actorOf(row), key: [randomUUID()], more: {} },
    ({ query }) =>
      query
        .updateTable('hand_overs')
        .set((eb) => ({ downloads: eb('downloads', '+', 1) }))
        .where('hand_over_id', '=', row.hand_over_id)
        .execute(),
  );
}

/** Records that a file handed over with the pack is downloaded. Call it before the first byte is sent. */
export async function noteFileDownload(deps: HandOverDeps, row: HandOverRow, file: GivenFile): Promise<void> {
  await recordHandOver(
    deps,
    row,
    { action: 'hand-over.downloaded', actor: actorOf(row), key: [randomUUID()], more: file },
    async () => {},
  );
}

type Sent =
  | { readonly outcome: 'sent'; readonly at: string; readonly seq: number }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'too-many' };

/** Records a question or objection of the data subject as a move of the case. `refused`: it is empty or too long. */
export async function sendMessage(
  deps: HandOverDeps & { readonly catchUp: () => Promise<unknown> },
  row: HandOverRow,
  about: (typeof messageKinds)[number],
  written: string,
): Promise<Sent> {
  // Browsers count a line break as one character but send two.
  const text = written.replaceAll('\r\n', '\n');
  if (!text.trim() || text.trim().length > MESSAGE_LENGTH) return { outcome: 'refused' };
  const { numUpdatedRows } = await deps.store.transaction(({ query }) =>
    query
      .updateTable('hand_overs')
      .set((eb) => ({ messages: eb('messages', '+', 1) }))
      .where('hand_over_id', '=', row.hand_over_id)
      .where('messages', '<', MESSAGES)
      .executeTakeFirst(),
  );
  if (Number(numUpdatedRows) !== 1) return { outcome: 'too-many' };
  const details = { about, text, channel: channelOf(row.hand_over_id) };
  const move = { caseId: row.case_id, move: 'requester-message', details, actor: actorOf(row) };
  // Counted first, so that no number of messages at once exceeds the limit; one that is not kept does not count.
  const moved = await moveLatest(deps.cases, move, deps.catchUp).catch(async (error: unknown) => {
    await uncount(deps, row);
    throw error;
  });
  if (moved.outcome === 'moved') return { outcome: 'sent', at: isoNow(deps.clock), seq: moved.seq };
  await uncount(deps, row);
  return { outcome: 'refused' };
}

async function uncount({ store }: Pick<HandOverDeps, 'store'>, row: HandOverRow): Promise<void> {
  await store.transaction(({ query }) =>
    query
      .updateTable('hand_overs')
      .set((eb) => ({ messages: eb('messages', '-', 1) }))
      .where('hand_over_id', '=', row.hand_over_id)
      .where('messages', '>', 0)
      .execute(),
  );
}

/** The actor as named in the ledger, without a personal name, because entries outlive an erasure of the case. */
function actorOf({ hand_over_id: id }: HandOverRow): string {
  return `data subject (hand-over ${id})`;
}

/**
 * What the requester of a case wrote through its links, this one or an earlier one, and the replies, in order. Left out
 * is what officers noted for themselves: messages that they recorded, and why something needs no reply.
 */
export async function messagesOf(
  { store }: Pick<HandOverDeps, 'store'>,
  { case_id: caseId }: Pick<HandOverRow, 'case_id'>,
): Promise<readonly ThreadMessage[]> {
  const rows = await store.read
    .selectFrom('case_history')
    .select(['seq', 'version', 'received_at', 'move', 'actor', 'details'])
    .where('case_id', '=', caseId)
    .where('move', 'in', [...threadMoves])
    .orderBy('seq')
    .execute();
  return threadOf(rows).filter(
    ({ move, channel }) => move === 'reply' || (move === 'requester-message' && isThroughLink(channel)),
  );
}
