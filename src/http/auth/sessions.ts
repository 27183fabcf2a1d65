import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context/context.ts';
import { CodedError } from '../../core/errors.ts';
import { TooManyPasswords } from '../../people/passwords.ts';
import { findPerson, presentPasswordProblem } from '../../people/people.ts';
import { ENDED_DAYS, findSession, type NewSession, type PeopleDeps, type Session } from '../../people/sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null before it was looked up, or if nobody is. */
    signedIn: Session | null;
    /** The account whose ended session sent a form with typed text, until that is kept (late-forms.tsx). */
    lateSender: string | null;
  }
}

/** Cookies are shared by all ports of a host, so each installation uses its own name. */
export function sessionCookie(context: Pick<Context, 'instance'>): string {
  return `consent_ledger_session_${context.instance}`;
}

/**
 * Cookie options: invisible to scripts, only over HTTPS if the page was loaded that way, and from other sites only when
 * a person follows a link, as in a mail or chat (`lax`).
 */
export function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' } as const;
}

export function setSessionCookie(context: Pick<Context, 'instance'>, reply: FastifyReply, session: NewSession): void {
  // Longer than the session, so that a form sent after its end can still be attributed to its account.
  const expires = new Date(Date.parse(session.expiresAt) + ENDED_DAYS * 86_400_000);
  void reply.setCookie(sessionCookie(context), session.id, { ...cookieOptions(reply.request), expires });
}

/** Looks up who is signed in; the request continues either way. */
export async function recogniseOfficer(
  context: Pick<Context, 'store' | 'keys' | 'instance' | 'clock' | 'sources'>,
  request: FastifyRequest,
): Promise<void> {
  // A page that refreshes itself does not keep the session of a person who has left.
  const isUse = !/[?&]live=yes(?:&|$)|^\/jobs\/[^/?]+\/events/.test(request.url);
  request.signedIn = await findSession(context, request.cookies[sessionCookie(context)], isUse);
  lookAtCurrent(context, request);
}

/**
 * A page about one or all sources shows the one that the person works on, unless its address names another. Before the
 * rules are enforced, so that what is recorded as seen is what was shown.
 */
function lookAtCurrent({ sources }: Pick<Context, 'sources'>, request: FastifyRequest): void {
  const { rule } = request.routeOptions.config;
  const current = sources.find(request.signedIn?.current ?? '')?.slug;
  const query = request.query as Record<string, unknown>;
  if (current !== undefined && rule !== undefined && 'source' in rule && rule.source === 'query')
    query['source'] ||= current;
}

/** Requires, for every request in this scope that may change something, the token of the form it came from. */
export function requireCsrf(app: FastifyInstance): void {
  app.addHook('preValidation', (request, reply, done) => {
    if (request.method === 'GET' || request.method === 'HEAD') done();
    else app.csrfProtection(request, reply, done);
  });
}

/** The signed-in session, for pages that require one. */
export function officerOf(request: FastifyRequest): Session {
  if (request.signedIn === null) throw new CodedError('sign_in_required');
  return request.signedIn;
}

/** The token of a form, bound to the account (or, before signing in, to the browser). */
export function csrfToken(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf({ ...cookieOptions(request), userInfo: formOwner(request) });
}

/**
 * What a form's token is bound to, besides the browser: the account, so that a page that was open when the session
 * ended works again after signing in; the session, if it has no account; or a placeholder before signing in.
 */
export function formOwner({ signedIn, lateSender }: FastifyRequest): string {
  return signedIn?.personId ?? signedIn?.handle ?? lateSender ?? 'nobody';
}

const browsers = [
  [/\bEdg\//, 'Edge'],
  [/\bFirefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Describes a request's browser so that its owner can distinguish sessions: `Firefox on Linux`. */
export function browserOf(request: FastifyRequest): string {
  const agent = request.headers['user-agent'] ?? '';
  const [, browser = 'a browser'] = browsers.find(([pattern]) => pattern.test(agent)) ?? [];
  const [, system] = systems.find(([pattern]) => pattern.test(agent)) ?? [];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Checks passwords; if the queue is full, callers are told to try again. */
export async function notTooMany<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooManyPasswords) throw new CodedError('too_many_requests');
    throw error;
  }
}

/**
 * Why a change that a hijacked session must not make is refused: the current password is missing or wrong. Null: it is
 * right, or the person signed in by a one-time link, without an account, and so has none.
 */
export async function ownPasswordProblem(
  context: PeopleDeps,
  request: FastifyRequest,
  present = '',
): Promise<string | null> {
  const { personId } = officerOf(request);
  const person = personId === null ? null : await findPerson(context, personId);
  return person === null ? null : notTooMany(() => presentPasswordProblem(context, person, present));
}
