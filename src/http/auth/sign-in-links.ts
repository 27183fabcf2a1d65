import { randomBytes } from 'node:crypto';
import type { Context } from '../../context.ts';
import { isoNow } from '../../core/clock.ts';
import { CodedError } from '../../core/errors.ts';
import { hmacSha256 } from '../../crypto/hash.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { appendAction } from '../../ledger/append-action.ts';
import { newSession, type NewSession, sessionRow } from './sessions.ts';

type AuthDeps = Pick<Context, 'store' | 'ledger' | 'keys' | 'clock'>;

/** How long a link opens a session unless said otherwise. */
export const LINK_MINUTES = 15;
/** The officer of a link that names none. */
export const DEFAULT_OFFICER = 'operator';
const TOKEN_BYTES = 32;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

interface NewSignInLink {
  /** 32 random bytes, base64url. Shown once: only its HMAC is kept. */
  readonly token: string;
  readonly officer: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/**
 * Makes a link that opens one session for `officer`; that it was made is an entry, in the same commit.
 * `actor` is who asked for it. Rejects with StoreUnavailable when nothing can be written.
 */
export async function createSignInLink(
  deps: AuthDeps,
  input: { readonly officer?: string; readonly minutes?: number; readonly actor: string },
): Promise<NewSignInLink> {
  const { officer = DEFAULT_OFFICER, minutes = LINK_MINUTES, actor } = input;
  const now = isoNow(deps.clock);
  const expiresAt = new Date(Date.parse(now) + minutes * 60_000).toISOString();
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const detail = `for ${officer}, until ${expiresAt}`;
  await appendAction(
    deps.ledger,
    INSTALLATION,
    { action: 'token.created', actor, detail },
    ['token', randomBytes(16).toString('hex')],
    now,
    async ({ query, insertMany }) => {
      await query.deleteFrom('sign_in_links').where('expires_at', '<', now).execute();
      const token_hash = linkHash(deps, token);
      await insertMany('sign_in_links', [
        { token_hash, officer, created_at: now, expires_at: expiresAt, used_at: null },
      ]);
    },
  );
  return { token, officer, expiresAt };
}

/** Whom a link would sign in; null when it is unknown, used or expired. Uses nothing up. */
export async function findSignInLink(
  deps: Pick<AuthDeps, 'store' | 'keys' | 'clock'>,
  token: string,
): Promise<{ officer: string } | null> {
  if (!tokenPattern.test(token)) return null;
  const link = await deps.store.read
    .selectFrom('sign_in_links')
    .select('officer')
    .where('token_hash', '=', linkHash(deps, token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', isoNow(deps.clock))
    .executeTakeFirst();
  return link ?? null;
}

/**
 * Uses a link up and opens a session with it. Of two at once, one gets the session: the link, the session and the entry
 * that says so are one transaction. Null when the link is unknown, used or expired.
 */
export async function openSession(deps: AuthDeps, token: string): Promise<NewSession | null> {
  const link = await findSignInLink(deps, token);
  if (link === null) return null;
  const now = isoNow(deps.clock);
  const session = newSession(link.officer, now);
  try {
    await appendAction(
      deps.ledger,
      INSTALLATION,
      { action: 'session.opened', actor: link.officer, detail: 'one-time link' },
      ['session-opened', linkHash(deps, token).toString('hex')],
      now,
      async ({ query, insertMany }) => {
        const { numUpdatedRows } = await query
          .updateTable('sign_in_links')
          .set({ used_at: now })
          .where('token_hash', '=', linkHash(deps, token))
          .where('used_at', 'is', null)
          .where('expires_at', '>', now)
          .executeTakeFirst();
        if (Number(numUpdatedRows) !== 1) throw new CodedError('link_invalid');
        await query.deleteFrom('sessions').where('expires_at', '<', now).execute();
        await insertMany('sessions', [sessionRow(deps, session, now)]);
      },
    );
  } catch (error) {
    if (error instanceof CodedError && error.code === 'link_invalid') return null;
    throw error;
  }
  return session;
}

function linkHash(deps: Pick<AuthDeps, 'keys'>, token: string): Buffer {
  return hmacSha256(deps.keys.instance.link, Buffer.from(token));
}
