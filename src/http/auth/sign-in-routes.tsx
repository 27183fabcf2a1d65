import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import { renderPage } from '../pages/layout.tsx';
import { SignedOutPage, SignInPage } from '../errors.tsx';
import { formOf, html } from '../pages/frame.ts';
import {
  cookieOptions,
  csrfToken,
  guardScope,
  officerOf,
  requireCsrf,
  sessionCookie,
  setSessionCookie,
  closeSession,
} from './sessions.ts';
import { findSignInLink, openSession } from './sign-in-links.ts';

/** Of one address within a minute; guessing 256 random bits is hopeless anyway, this spares the database. */
const ATTEMPTS_PER_MINUTE = 30;

/** Signing in with a one-time link: looking at it uses nothing up, the button does. */
export async function signInRoutes(app: FastifyInstance, context: Context): Promise<void> {
  await app.register(rateLimit, { max: ATTEMPTS_PER_MINUTE, timeWindow: '1 minute' });
  requireCsrf(app);

  app.get('/sign-in', async (request, reply) => {
    const { token = '' } = formOf(request.query);
    if (token === '' && request.signedIn !== null) return reply.redirect('/', 303);
    const link = await findSignInLink(context, token);
    if (link === null) throw new CodedError('link_invalid');
    return html(
      reply,
      renderPage(<SignInPage officer={link.officer} token={token} csrf={csrfToken(request, reply)} />),
    );
  });

  app.post('/sign-in', async (request, reply) => {
    const { token = '' } = formOf(request.body);
    const session = await openSession(context, token);
    if (session === null) throw new CodedError('link_invalid');
    setSessionCookie(context, reply, session);
    return reply.redirect('/', 303);
  });

  app.get('/signed-out', (_request, reply) => html(reply, renderPage(<SignedOutPage />)));
}

/** Signing out, for who is signed in. */
export async function signOutRoutes(app: FastifyInstance, context: Context): Promise<void> {
  guardScope(app);
  app.post('/sign-out', async (request, reply) => {
    await closeSession(context, officerOf(request));
    return reply.clearCookie(sessionCookie(context), cookieOptions(request)).redirect('/signed-out', 303);
  });
}
