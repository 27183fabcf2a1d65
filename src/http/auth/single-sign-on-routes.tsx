import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from 'openid-client';
import { z } from 'zod';
import type { SignOnSettings } from '../../config/config.ts';
import type { Context } from '../../context/context.ts';
import { isPrivateTransport } from '../../core/address.ts';
import { CodedError } from '../../core/errors.ts';
import { equalBytes, hmacSha256 } from '../../crypto/hash.ts';
import { readProvidedEmail } from '../../people/provided-email.ts';
import { closeSession } from '../../people/sessions.ts';
import { recordRefusal } from '../../people/sign-in.ts';
import { type ProvidedIdentity, signInByProvider } from '../../people/single-sign-on.ts';
import { adminAddressOf } from '../admin-address.ts';
import { formOf } from '../pages/parts/page-frame.ts';
import { browserOf, cookieOptions, setSessionCookie } from './sessions.ts';
import { ATTEMPTS_PER_MINUTE, localPath, sendSignIn } from './sign-in-routes.tsx';
import { explainSignOn } from './sign-on-failure.ts';

const PATH = '/sign-in/sso';
/** Minutes that a person may take to sign in at the provider. */
const MINUTES = 10;
/** Seconds that the provider may take to respond. */
const TIMEOUT_SECONDS = 10;

/** Stored in the browser while the person is at the provider. */
const pendingSchema = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  until: z.number(),
});
type Pending = z.infer<typeof pendingSchema>;

/**
 * Single sign-on with OpenID Connect: the authorization code flow with PKCE, state and nonce (Core 1.0 §3.1, RFC 7636,
 * RFC 9207), using `openid-client`. It opens existing accounts and creates none.
 */
export async function singleSignOnRoutes(
  app: FastifyInstance,
  context: Pick<Context, 'config' | 'store' | 'ledger' | 'keys' | 'instance' | 'clock'>,
): Promise<void> {
  const settings = context.config.signOn;
  await app.register(rateLimit, { max: ATTEMPTS_PER_MINUTE, timeWindow: '1 minute' });
  const provider = settings === null ? null : createProvider(settings);
  const cookie = `consent_ledger_sso_${context.instance}`;
  const optionsOf = (request: FastifyRequest) => ({ ...cookieOptions(request), path: PATH });
  const seal = (text: string) =>
    hmacSha256(context.keys.instance.session, Buffer.from(`single sign-on pending ${text}`)).toString('base64url');
  const addressOf = (request: FastifyRequest) => `${adminAddressOf(context.config, request)}${PATH}/callback`;

  app.get(PATH, async (request, reply) => {
    if (settings === null || provider === null) throw new CodedError('not_found');
    const next = localPath(formOf(request.query)['next'] ?? '');
    const client = await import('openid-client');
    const configuration = await provider().catch((error: unknown) => {
      const { words: _words, ...facts } = explainSignOn(error, settings.name);
      request.log.error({ ...facts, issuer: settings.issuer }, 'single sign-on cannot be reached');
      return null;
    });
    if (configuration === null)
      return sendSignIn(context, request, reply, { next, problem: `${settings.name} does not answer.`, status: 503 });
    const verifier = client.randomPKCECodeVerifier();
    const pending: Pending = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier,
      next,
      until: context.clock().getTime() + MINUTES * 60_000,
    };
    const text = Buffer.from(JSON.stringify(pending)).toString('base64url');
    void reply.setCookie(cookie, `${text}.${seal(text)}`, { ...optionsOf(request), maxAge: MINUTES * 60 });
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: addressOf(request),
      scope: 'openid email',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return reply.redirect(url.href, 303);
  });

  app.get(`${PATH}/callback`, async (request, reply) => {
    if (settings === null) throw new CodedError('not_found');
    const pending = readPending(request.cookies[cookie], seal, context.clock().getTime());
    void reply.clearCookie(cookie, optionsOf(request));
    if (pending === null) return refuse(request, reply, '/', 'It took too long, or was started in another browser.');
    const identity = await identify(request, pending);
    if ('problem' in identity)
      return refuse(request, reply, pending.next, `${settings.name} did not sign you in: ${identity.problem}.`);
    const signed = await signInByProvider(context, identity, browserOf(request));
    switch (signed.outcome) {
      case 'signed-in':
        if (request.signedIn !== null) await closeSession(context, request.signedIn);
        setSessionCookie(context, reply, signed.session);
        return reply.redirect(pending.next, 303);
      case 'unverified':
        request.log.warn(
          { issuer: settings.issuer, claim: settings.email.claim, trust: settings.email.trust },
          'a single sign-on was refused: the provider did not give an address that counts (OIDC_EMAIL_TRUST)',
        );
        return refuse(request, reply, pending.next, `${settings.name} did not give a verified e-mail address.`);
      case 'unknown':
        return refuse(request, reply, pending.next, 'There is no account for you here. Ask an owner or admin for one.');
      case 'another':
        return refuse(
          request,
          reply,
          pending.next,
          `This account is linked to another person at ${settings.name}, or was just changed. Ask an owner or admin for a reset link.`,
        );
      default:
        return signed satisfies never;
    }
  });

  /** The person named by the provider, or why there is none: it refused, or its response does not belong to this request. */
  async function identify(request: FastifyRequest, pending: Pending): Promise<ProvidedIdentity | { problem: string }> {
    if (provider === null || settings === null) throw new CodedError('not_found');
    const client = await import('openid-client');
    try {
      const configuration = await provider();
      const url = new URL(addressOf(request));
      url.search = new URL(request.url, 'http://here.invalid').search;
      const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = pending;
      const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(configuration, url, checks);
      const claims = tokens.claims();
      if (claims === undefined) return { problem: 'its response has no ID token' };
      // Many providers leave the address out of the token but return it on request.
      const told =
        claims[settings.email.claim] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims;
      const read = readProvidedEmail(told, settings.email);
      return { issuer: claims.iss, subject: claims.sub, ...read, nonce: pending.nonce };
    } catch (error) {
      const { words, ...facts } = explainSignOn(error, settings.name);
      request.log.warn({ ...facts, issuer: settings.issuer }, 'a single sign-on was refused');
      return { problem: words };
    }
  }

  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    next: string,
    problem: string,
  ): Promise<FastifyReply> {
    await recordRefusal(context, null);
    return sendSignIn(context, request, reply, { next, problem, status: 401 });
  }
}

/**
 * Requests a provider's own description (Discovery 1.0). Rejects if it does not answer within ten seconds or is not the
 * expected issuer.
 */
export async function discoverProvider({ issuer, clientId, clientSecret }: SignOnSettings): Promise<Configuration> {
  const client = await import('openid-client');
  const address = new URL(issuer);
  // Only for a provider on this machine: the configuration accepts no other without TLS.
  const isLocal = address.protocol === 'http:' && isPrivateTransport(issuer);
  return client.discovery(
    address,
    clientId,
    {},
    clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret),
    { timeout: TIMEOUT_SECONDS, execute: isLocal ? [client.allowInsecureRequests] : [] },
  );
}

/** Discovers the provider on first use, and again after a failure. */
function createProvider(settings: SignOnSettings): () => Promise<Configuration> {
  let found: Promise<Configuration> | null = null;
  return () => {
    found ??= discoverProvider(settings).catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}

/** The data stored in the browser; null if missing, changed or too old. */
function readPending(cookie: string | undefined, seal: (text: string) => string, now: number): Pending | null {
  const [text = '', mac = ''] = (cookie ?? '').slice(0, 4000).split('.');
  if (!equalBytes(Buffer.from(mac), Buffer.from(seal(text)))) return null;
  const pending = pendingSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  return pending.until > now ? pending : null;
}
