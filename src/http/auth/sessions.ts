import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Context } from '../../context.ts';
import { isoNow } from '../../core/clock.ts';
import { hmacSha256 } from '../../crypto/hash.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { appendAction } from '../../ledger/append-action.ts';
import type { Tables } from '../../store/schema.ts';

type SessionDeps = Pick<Context, 'store' | 'keys' | 'clock'>;

/** A session ends this long after it was opened, however busy it was. */
export const SESSION_HOURS = 12;
const ID_BYTES = 32;
const idPattern = /^[A-Za-z0-9_-]{43}$/;

export interface NewSession {
  /** For the cookie alone: only its HMAC is kept. */
  readonly id: string;
  readonly officer: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Who is signed in. */
export interface Session {
  readonly officer: string;
  /** Names the session without being good for anything: what forms are bound to. */
  readonly handle: string;
}

export function newSession(officer: string, now: string): NewSession {
  const expiresAt = new Date(Date.parse(now) + SESSION_HOURS * 3_600_000).toISOString();
  return { id: randomBytes(ID_BYTES).toString('base64url'), officer, expiresAt };
}

export function sessionRow(
  deps: Pick<SessionDeps, 'keys'>,
  session: NewSession,
  now: string,
): Insertable<Tables['sessions']> {
  return {
    id_hash: idHash(deps, session.id),
    officer: session.officer,
    created_at: now,
    expires_at: session.expiresAt,
  };
}

/** The session that a cookie names; null when there is none, or it has ended. */
export async function findSession(deps: SessionDeps, id: string | undefined): Promise<Session | null> {
  if (id === undefined || !idPattern.test(id)) return null;
  const hash = idHash(deps, id);
  const row = await deps.store.read
    .selectFrom('sessions')
    .select('officer')
    .where('id_hash', '=', hash)
    .where('expires_at', '>', isoNow(deps.clock))
    .executeTakeFirst();
  return row === undefined ? null : { officer: row.officer, handle: hash.toString('hex') };
}

/** Ends a session; that it was ended is an entry in the same commit. */
export async function closeSession(deps: SessionDeps & Pick<Context, 'ledger'>, session: Session): Promise<void> {
  await appendAction(
    deps.ledger,
    INSTALLATION,
    { action: 'session.closed', actor: session.officer, detail: null },
    ['session-closed', session.handle],
    isoNow(deps.clock),
    async ({ query }) => {
      await query.deleteFrom('sessions').where('id_hash', '=', Buffer.from(session.handle, 'hex')).execute();
    },
  );
}

function idHash(deps: Pick<SessionDeps, 'keys'>, id: string): Buffer {
  return hmacSha256(deps.keys.instance.session, Buffer.from(id));
}
