import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Context } from '../../context.ts';
import { isoNow } from '../../core/clock.ts';
import { hmacSha256 } from '../../crypto/hash.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { appendAction } from '../../ledger/append-action.ts';
import type { Tables } from '../../store/schema.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../../core/errors.ts';

type SessionDeps = Pick<Context, 'store' | 'keys' | 'clock'>;

/** A session ends this long after it was opened, however busy it was. */
const SESSION_HOURS = 12;
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
interface Session {
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

/** The session that a cookie names; null if there is none or it has ended. */
async function findSession(deps: SessionDeps, id: string | undefined): Promise<Session | null> {
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

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null before the guard has looked, and on pages that need no one. */
    signedIn: Session | null;
  }
}

/** Cookies are shared by all ports of a host, so each installation has a name of its own. */
export function sessionCookie(context: Pick<Context, 'instance'>): string {
  return `consent_ledger_session_${context.instance}`;
}

/** How cookies are set: for this site alone, out of reach of scripts, and over HTTPS only where the page came that way. */
export function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: request.protocol === 'https' } as const;
}

export function setSessionCookie(context: Pick<Context, 'instance'>, reply: FastifyReply, session: NewSession): void {
  const expires = new Date(session.expiresAt);
  void reply.setCookie(sessionCookie(context), session.id, { ...cookieOptions(reply.request), expires });
}

/** Looks up who is signed in; the request continues either way. */
export async function recogniseOfficer(context: Context, request: FastifyRequest): Promise<void> {
  request.signedIn = await findSession(context, request.cookies[sessionCookie(context)]);
}

/**
 * Closes a scope: no route in it answers without a session, and no form of it is taken without its token. To be called on the
 * scope before its routes are registered.
 */
export function guardScope(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.signedIn === null) throw new CodedError('sign_in_required');
  });
  requireCsrf(app);
}

/** Every request of this scope that may change something needs the token of the form it came from. */
export function requireCsrf(app: FastifyInstance): void {
  app.addHook('preValidation', (request, reply, done) => {
    if (request.method === 'GET' || request.method === 'HEAD') done();
    else app.csrfProtection(request, reply, done);
  });
}

/** Who is signed in, inside a guarded scope. */
export function officerOf(request: FastifyRequest): Session {
  if (request.signedIn === null) throw new CodedError('sign_in_required');
  return request.signedIn;
}

/** The token of a form, bound to the session (or, before signing in, to the browser). */
export function csrfToken(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf({ ...cookieOptions(request), userInfo: formOwner(request) });
}

/** What a form's token is bound to: the session, or a placeholder before signing in. */
export function formOwner(request: FastifyRequest): string {
  return request.signedIn?.handle ?? 'nobody';
}
