import { randomBytes } from 'node:crypto';
import { isoNow } from '../core/clock.ts';
import type { LinkPurpose } from '../core/roles.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { StoreTransaction } from '../store/store.ts';
import { keepSession, type NewSession, newSession, type PeopleDeps } from './sessions.ts';

/** Default lifetime of a sign-in link. */
export const LINK_MINUTES = 15;
/** The officer of a link that names none. */
export const DEFAULT_OFFICER = 'operator';
const TOKEN_BYTES = 32;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** A new link. */
export interface NewLink {
  /** 32 random bytes, base64url. Shown once: only its HMAC is kept. */
  readonly token: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Thrown inside a transaction that uses up a link, to undo it: the link is unknown, used or expired by now. */
export class LinkGone extends Error {
  override readonly name = 'LinkGone';
}

/**
 * Creates a link that opens one session for `officer`, and an entry about it in the same commit. `actor`: who requested
 * it. Rejects with StoreUnavailable if nothing can be written.
 */
export async function createSignInLink(
  deps: PeopleDeps,
  input: { readonly officer?: string; readonly minutes?: number; readonly actor: string },
): Promise<NewLink & { readonly officer: string }> {
  const { officer = DEFAULT_OFFICER, minutes = LINK_MINUTES, actor } = input;
  const drawn = drawLink(deps, { purpose: 'sign-in', officer, personId: null, minutes });
  await recordLink(deps, drawn, actor, `for ${officer}, until ${drawn.link.expiresAt}`);
  return { ...drawn.link, officer };
}

/** Lifetime of the link that creates the first account. */
const SET_UP_MINUTES = 24 * 60;

/** Creates the link that creates the first account. It no longer works once there is an account. */
export async function createSetUpLink(deps: PeopleDeps, actor: string): Promise<NewLink> {
  const drawn = drawLink(deps, { purpose: 'set-up', officer: actor, personId: null, minutes: SET_UP_MINUTES });
  await recordLink(deps, drawn, actor, `to set up the first account, until ${drawn.link.expiresAt}`);
  return drawn.link;
}

async function recordLink(deps: PeopleDeps, drawn: DrawnLink, actor: string, detail: string): Promise<void> {
  await appendAction(
    deps.ledger,
    INSTALLATION,
    { action: 'token.created', actor, detail },
    ['token', randomBytes(16).toString('hex')],
    drawn.row.created_at,
    (tx) => keepLink(tx, drawn),
  );
}

type DrawnLink = ReturnType<typeof drawLink>;

/** Generates a link and its database row. */
export function drawLink(
  deps: Pick<PeopleDeps, 'keys' | 'clock'>,
  input: {
    readonly purpose: LinkPurpose;
    readonly officer: string;
    readonly personId: string | null;
    readonly minutes: number;
  },
) {
  const { purpose, officer, personId, minutes } = input;
  const now = isoNow(deps.clock);
  const expiresAt = new Date(Date.parse(now) + minutes * 60_000).toISOString();
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const link: NewLink = { token, expiresAt };
  const row = {
    token_hash: linkHash(deps, token),
    purpose,
    officer,
    person_id: personId,
    created_at: now,
    expires_at: expiresAt,
    used_at: null,
  };
  return { link, row };
}

/** Stores a link and deletes expired ones. Invalidates an earlier invitation or reset of the same person. */
export async function keepLink({ query, insertMany }: StoreTransaction, { row }: DrawnLink): Promise<void> {
  await query.deleteFrom('sign_in_links').where('expires_at', '<', row.created_at).execute();
  if (row.person_id !== null)
    await query
      .deleteFrom('sign_in_links')
      .where('person_id', '=', row.person_id)
      .where('used_at', 'is', null)
      .execute();
  await insertMany('sign_in_links', [row]);
}

/** The purpose of a link; null if it is unknown, used, expired, or for something else. Does not use it up. */
export async function findLink(
  deps: Pick<PeopleDeps, 'store' | 'keys' | 'clock'>,
  token: string,
  purposes: readonly LinkPurpose[],
) {
  if (!tokenPattern.test(token)) return null;
  const link = await deps.store.read
    .selectFrom('sign_in_links')
    .select(['purpose', 'officer', 'person_id as personId'])
    .where('token_hash', '=', linkHash(deps, token))
    .where('purpose', 'in', [...purposes])
    .where('used_at', 'is', null)
    .where('expires_at', '>', isoNow(deps.clock))
    .executeTakeFirst();
  return link ?? null;
}

/** Uses up a link inside the transaction of its effect. Throws LinkGone if someone else was faster. */
export async function useLinkUp(
  deps: Pick<PeopleDeps, 'keys'>,
  { query }: StoreTransaction,
  token: string,
  now: string,
): Promise<void> {
  const { numUpdatedRows } = await query
    .updateTable('sign_in_links')
    .set({ used_at: now })
    .where('token_hash', '=', linkHash(deps, token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (Number(numUpdatedRows) !== 1) throw new LinkGone();
}

/**
 * Uses up a sign-in link and opens a session. If it is used twice at once, only one gets the session: link, session and
 * entry are written in one transaction. Null if the link is unknown, used or expired.
 */
export async function openSession(deps: PeopleDeps, token: string, browser: string): Promise<NewSession | null> {
  const link = await findLink(deps, token, ['sign-in']);
  if (link === null) return null;
  const now = isoNow(deps.clock);
  const { officer } = link;
  const { session, row } = newSession(deps, { officer, personId: null, way: 'one-time link', browser }, now);
  try {
    await appendAction(
      deps.ledger,
      INSTALLATION,
      { action: 'session.opened', actor: officer, detail: 'one-time link' },
      ['session-opened', linkKey(deps, token)],
      now,
      async (tx) => {
        await useLinkUp(deps, tx, token, now);
        await keepSession(tx, row);
      },
    );
  } catch (error) {
    if (error instanceof LinkGone) return null;
    throw error;
  }
  return session;
}

/** Identifies a link in the key of the entry about its use. */
export function linkKey(deps: Pick<PeopleDeps, 'keys'>, token: string): string {
  return linkHash(deps, token).toString('hex');
}

function linkHash(deps: Pick<PeopleDeps, 'keys'>, token: string): Buffer {
  return hmacSha256(deps.keys.instance.link, Buffer.from(token));
}
