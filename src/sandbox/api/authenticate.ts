import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKey, judgeKey, type Scope } from '../keys.ts';
import type { LimitedKind, Limits } from '../limits.ts';
import type { World } from '../world.ts';
import { AnswerError, forbidden, unauthorized } from './answers.ts';

/** The clients that a request's key reaches: one or, with an agency-wide key, all. Never none. */
export type Caller = readonly [World, ...World[]];

/** Determines for which clients a request is made, or throws a refusal: 401, 402 or 403 (docs/service.md §5, §7). */
export type Authenticate = (request: FastifyRequest, needed?: Scope) => Caller;

export function createAuthenticate(keys: readonly ApiKey[], worlds: readonly World[], clock: () => Date): Authenticate {
  return (request, asked) => {
    // The scope that an endpoint needs is not documented: reading needs `read`, everything else `write`.
    const needed: Scope = asked ?? (request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write');
    const verdict = judgeKey(keys, request.headers.authorization, needed);
    switch (verdict.outcome) {
      case 'missing':
        throw unauthorized('The Authorization header is missing.');
      case 'invalid':
        throw unauthorized(verdict.reason === 'revoked' ? 'This API key was revoked.' : 'This API key is not valid.');
      case 'scope-missing':
        throw forbidden(`This API key lacks the scope ${verdict.needed}.`);
      case 'accepted': {
        const { clients } = verdict.key;
        verdict.key.lastUsedAt = clock();
        const reached = worlds.filter(({ client }) => clients.includes(client.slug));
        if (reached.some(({ client }) => client.account === 'expired'))
          throw new AnswerError(402, 'payment_required', 'The subscription has expired.');
        const [first, ...others] = reached;
        if (first === undefined || reached.some(({ client }) => client.account === 'no-api'))
          throw forbidden('The plan has no access to the API.');
        return [first, ...others];
      }
    }
  };
}

/** Counts an authenticated request against the limits of its key, or refuses it with 429 (docs/service.md §8). */
export function createLimiter(
  limits: Limits,
  clock: () => Date,
): (request: FastifyRequest, reply: FastifyReply, kind?: LimitedKind) => void {
  return (request, reply, given) => {
    const { target } = request.routeOptions.config;
    const kind: LimitedKind = given ?? (target === 'generate' || target === 'bulk' ? target : 'other');
    const verdict = limits.take(request.headers.authorization?.trim().split(/ +/).at(-1) ?? '', kind, clock());
    reply.headers(verdict.headers);
    if (verdict.outcome === 'free') return;
    reply.header('retry-after', String(verdict.retryAfterSeconds));
    throw new AnswerError(429, 'rate_limited', 'Too many requests for this API key.');
  };
}

/**
 * The client that receives a generated policy: of several, the one with that domain, otherwise the first. How the
 * service decides this is not documented.
 */
export function worldFor(caller: Caller, domain: string | undefined): World {
  if (domain === undefined) return caller[0];
  const host = domain
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[/?#:].*$/s, '')
    .replace(/^www\./i, '')
    .toLowerCase();
  return caller.find(({ client }) => client.domain === host) ?? caller[0];
}
