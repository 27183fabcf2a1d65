import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import { findSession, type NewSession, type Session } from './sessions.ts';

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

/** Looks up who is signed in; the request goes on either way. */
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

/** Whom a form's token is bound to: the session, or nobody yet. */
export function formOwner(request: FastifyRequest): string {
  return request.signedIn?.handle ?? 'nobody';
}
