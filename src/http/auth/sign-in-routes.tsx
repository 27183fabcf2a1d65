import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context/context.ts';
import { addressGroup } from '../../core/address.ts';
import { CodedError } from '../../core/errors.ts';
import { findLink, openSession } from '../../people/links.ts';
import { passkeyRequest, signInWithPasskey } from '../../people/passkeys.ts';
import { findPasswordLink, hasPeople, joinByLink, setUpOwner } from '../../people/people.ts';
import { closeSession } from '../../people/sessions.ts';
import { recordRefusal, signIn } from '../../people/sign-in.ts';
import { renderPage } from '../pages/parts/layout.tsx';
import { formOf, html } from '../pages/parts/page-frame.ts';
import { allowScript, passkeyAnswer, passkeyOriginOf } from '../pages/parts/passkey-script.ts';
import { JoinPage, LinkPage, SignedOutPage, SignInPage } from '../pages/sign-in/sign-in-view.tsx';
import {
  browserOf,
  cookieOptions,
  csrfToken,
  notTooMany,
  officerOf,
  requireCsrf,
  sessionCookie,
  setSessionCookie,
} from './sessions.ts';

/** Per address, in addition to the limits for each account (people/attempts.ts). */
export const ATTEMPTS_PER_MINUTE = 30;

type Form = Readonly<Record<string, string>>;

/**
 * Signing in with an account or a one-time link; choosing a password with a link. Opening a link does not use it up;
 * the button does.
 */
export async function signInRoutes(
  app: FastifyInstance,
  context: Pick<Context, 'config' | 'store' | 'ledger' | 'keys' | 'instance' | 'clock'>,
): Promise<void> {
  await app.register(rateLimit, { max: ATTEMPTS_PER_MINUTE, timeWindow: '1 minute' });
  requireCsrf(app);

  app.get('/sign-in', async (request, reply) => {
    const { token, next = '', done = '' } = formOf(request.query);
    if (token === undefined && Array.isArray((request.query as { token?: unknown }).token))
      throw new CodedError('link_invalid');
    if (token === undefined) {
      if (request.signedIn !== null) return reply.redirect(localPath(next), 303);
      return sendSignIn(context, request, reply, {
        next,
        done: Object.hasOwn(doneTexts, done) ? (doneTexts[done] ?? null) : null,
      });
    }
    const link = await findLink(context, token, ['sign-in']);
    if (link === null) throw new CodedError('link_invalid');
    return html(reply, renderPage(<LinkPage officer={link.officer} token={token} csrf={csrfToken(request, reply)} />));
  });

  app.post('/sign-in', async (request, reply) => {
    const { token, email = '', password = '', code = '', next = '' } = formOf(request.body);
    const browser = browserOf(request);
    if (token !== undefined) {
      const session = await openSession(context, token, browser);
      if (session === null) throw new CodedError('link_invalid');
      await leaveEarlier(request);
      setSessionCookie(context, reply, session);
      return reply.redirect('/', 303);
    }
    const address = addressGroup(request.ip);
    const signed = await notTooMany(() => signIn(context, { email, password, code }, { address, browser }));
    switch (signed.outcome) {
      case 'signed-in':
        await leaveEarlier(request);
        setSessionCookie(context, reply, signed.session);
        return reply.redirect(localPath(next), 303);
      case 'refused': {
        request.log.warn({ person: signed.personId }, 'a sign-in was refused');
        const problem = 'Wrong e-mail address, password or one-time code.';
        return sendSignIn(context, request, reply, { next, email, problem, status: 401 });
      }
      case 'blocked': {
        request.log.warn({ until: signed.until }, 'a sign-in came too soon after others that were refused');
        const problem = blockedText(signed.until, context.clock());
        return sendSignIn(context, request, reply, { next, email, problem, status: 429 });
      }
      default:
        return signed satisfies never;
    }
  });

  app.post('/sign-in/passkey', async (request, reply) => {
    const { response = '', next = '' } = formOf(request.body);
    const place = passkeyOriginOf(context.config, request);
    const answer = passkeyAnswer(response);
    const session = place === null ? null : await signInWithPasskey(context, answer, place, browserOf(request));
    if (session === null) {
      await recordRefusal(context, null);
      request.log.warn('a sign-in with a passkey was refused');
      const problem = 'Unknown passkey, or it took too long.';
      return sendSignIn(context, request, reply, { next, problem, status: 401 });
    }
    await leaveEarlier(request);
    setSessionCookie(context, reply, session);
    return reply.redirect(localPath(next), 303);
  });

  app.get('/join', (request, reply) =>
    sendJoin(request, reply, { token: formOf(request.query)['token'] ?? '', form: {}, problems: [] }),
  );

  app.post('/join', async (request, reply) => {
    const form = formOf(request.body);
    const { token = '', name = '', email = '', password = '' } = form;
    const link = await findPasswordLink(context, token);
    const browser = browserOf(request);
    const joined = await notTooMany(() =>
      link?.purpose === 'set-up'
        ? setUpOwner(context, token, { name, email, password }, browser)
        : joinByLink(context, token, password, browser),
    );
    switch (joined.outcome) {
      case 'joined':
        await leaveEarlier(request);
        if (joined.session === null) return reply.redirect('/sign-in?done=password', 303);
        setSessionCookie(context, reply, joined.session);
        return reply.redirect('/', 303);
      case 'refused':
        return sendJoin(request, reply, { token, form, problems: joined.problems, status: 422 });
      case 'gone':
        throw new CodedError('link_invalid');
      default:
        return joined satisfies never;
    }
  });

  app.get('/signed-out', (_request, reply) => html(reply, renderPage(<SignedOutPage />)));

  /** Ends the earlier session if someone signs in again in the same browser, because it would no longer be visible anywhere. */
  async function leaveEarlier(request: FastifyRequest): Promise<void> {
    if (request.signedIn !== null) await closeSession(context, request.signedIn);
  }

  async function sendJoin(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      token,
      form,
      problems,
      status = 200,
    }: {
      readonly token: string;
      readonly form: Form;
      readonly problems: readonly string[];
      readonly status?: number;
    },
  ): Promise<FastifyReply> {
    const link = await findPasswordLink(context, token);
    if (link === null) throw new CodedError('link_invalid');
    const props = { csrf: csrfToken(request, reply), token, ...link, form, problems };
    return html(reply, renderPage(<JoinPage {...props} />), status);
  }
}

/** Confirmations that an address may refer to. */
const doneTexts: Readonly<Record<string, string>> = {
  password: 'The password has been saved. Sign in with it and a one-time code.',
};

/** The sign-in form, also shown instead of a page that requires signing in. */
export async function sendSignIn(
  context: Pick<Context, 'config' | 'store' | 'keys' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    status = 200,
    ...shown
  }: {
    readonly next: string;
    readonly email?: string;
    readonly problem?: string;
    readonly unsent?: string;
    readonly done?: string | null;
    /** Default 200. */
    readonly status?: number;
  },
): Promise<FastifyReply> {
  const next = localPath(shown.next);
  const place = passkeyOriginOf(context.config, request);
  const passkey = place === null ? null : await passkeyRequest(context, place);
  if (passkey !== null) allowScript(reply);
  const signOn = context.config.signOn?.name ?? null;
  const isEmpty = !(await hasPeople(context));
  const props = { csrf: csrfToken(request, reply), isEmpty, signOn, passkey, ...shown, next };
  return html(reply, renderPage(<SignInPage {...props} />), status);
}

/** Signing out. */
export async function signOutRoutes(
  app: FastifyInstance,
  context: Pick<Context, 'store' | 'ledger' | 'keys' | 'instance' | 'clock'>,
): Promise<void> {
  requireCsrf(app);
  app.post('/sign-out', async (request, reply) => {
    await closeSession(context, officerOf(request));
    return reply.clearCookie(sessionCookie(context), cookieOptions(request)).redirect('/signed-out', 303);
  });
}

/** A path of this site to continue to after signing in; otherwise Today. Never another site, however the text is written. */
export function localPath(text: string): string {
  const base = 'http://here.invalid';
  if (!text.startsWith('/') || text.length > 2000) return '/';
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return '/';
  }
  const path = `${url.pathname}${url.search}`;
  // The path itself may still begin with two slashes, which a browser would read as another host (`/.//evil.example`).
  return url.origin === base && /^\/(?![/\\])/.test(path) ? path : '/';
}

function blockedText(until: string | null, now: Date): string {
  if (until === null) return 'This account is locked after too many attempts. Ask an owner or admin for a reset link.';
  const minutes = Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 60_000));
  return `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}
