import { z } from 'zod';
import type { NewJob } from '../jobs/jobs.ts';
import type { CaseHistoryRow } from './fold.ts';
import { isMoveName, type MoveName, messageKinds, replyMoves } from './moves.ts';

/** A message between requester and officers, or the decision that none is needed. */
export interface ThreadMessage {
  readonly seq: number;
  /** The version of the case that it made. */
  readonly version: number;
  /** When it was written, or came if that was recorded later; ISO 8601 UTC. */
  readonly at: string;
  readonly move: 'requester-message' | 'reply' | 'no-reply';
  /** As named in the ledger. */
  readonly actor: string;
  /** The words; of `no-reply` the reason, if one was given. */
  readonly text: string | null;
  /** What the requester's message is; null: it is an officer's. */
  readonly about: (typeof messageKinds)[number] | null;
  /** How the requester's message came; null: it is an officer's. */
  readonly channel: string | null;
  /** Of the requester, and not answered yet. */
  readonly isOpen: boolean;
}

/** The channel of a message that the requester wrote on the page of a link. */
export function channelOf(handOverId: string): string {
  return `hand-over ${handOverId}`;
}

/** Whether a message came through a link, so that the requester may see it there. */
export function isThroughLink(channel: string | null): boolean {
  return channel?.startsWith(channelOf('h-')) === true;
}

/** The job that tells a requester by mail that there is a reply (hand-over/mail-reply.ts). */
export const REPLY_MAIL = 'reply-mail';
/** `version`: of the case, which the reply made. */
export const replyMailSchema = z.object({ caseId: z.string(), version: z.number().int(), actor: z.string() });
/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;

/** A job that tells the requester of one reply; the move enqueues it in its transaction. */
export function replyMailJob(reply: z.infer<typeof replyMailSchema>): NewJob {
  const key = `${reply.caseId}/${reply.version}`;
  return { kind: REPLY_MAIL, key, payload: { ...reply }, maxAttempts: MAIL_ATTEMPTS };
}

/** The moves that make up the thread of a case. */
export const threadMoves: readonly MoveName[] = ['requester-message', ...replyMoves];

type ThreadRow = Pick<CaseHistoryRow, 'seq' | 'version' | 'received_at' | 'move' | 'actor' | 'details'>;

/** The messages of a case in order, from its history; other moves are left out. Pure. */
export function threadOf(history: readonly ThreadRow[]): readonly ThreadMessage[] {
  const answered = history.findLastIndex(({ move }) => isMoveName(move) && replyMoves.includes(move));
  return history.flatMap((row, place) => {
    const { move } = row;
    if (move !== 'requester-message' && move !== 'reply' && move !== 'no-reply') return [];
    const details = JSON.parse(row.details) as Readonly<Record<string, string | undefined>>;
    return [
      {
        seq: Number(row.seq),
        version: row.version,
        at: details['at'] ?? row.received_at,
        move,
        actor: row.actor,
        text: (move === 'no-reply' ? details['reason'] : details['text']) ?? null,
        about: messageKinds.find((kind) => kind === details['about']) ?? null,
        channel: details['channel'] ?? null,
        isOpen: move === 'requester-message' && place > answered,
      },
    ];
  });
}
