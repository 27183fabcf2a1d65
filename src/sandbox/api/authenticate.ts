import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKey, judgeKey, type Scope } from '../keys.ts';
import type { LimitedKind, Limits } from '../limits.ts';
import type { World } from '../world.ts';
import { forbidden, ServiceError, unauthorized } from './answers.ts';

/** Finds out on whose behalf a request is made, or refuses it with 401 or 403 (docs/service.md §5). */
export function createAuthenticate(
  keys: readonly ApiKey[],
  worlds: readonly World[],
): (request: FastifyRequest) => World {
  return (request) => {
    // Which scope an endpoint needs is not documented: reading needs `read`, everything else `write`.
    const needed: Scope = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
    const verdict = judgeKey(keys, request.headers.authorization, needed);
    switch (verdict.outcome) {
      case 'missing':
        throw unauthorized('The Authorization header is missing.');
      case 'invalid':
        throw unauthorized(verdict.reason === 'revoked' ? 'This API key was revoked.' : 'This API key is not valid.');
      case 'scope-missing':
        throw forbidden(`This API key lacks the scope ${verdict.needed}.`);
      case 'accepted': {
        const world = worlds.find(({ client }) => verdict.key.clients.includes(client.slug));
        if (world === undefined) throw forbidden('This API key reaches no client.');
        return world;
      }
    }
  };
}

/** Counts an authenticated request against the limits of its key, or refuses it with 429 (docs/service.md §8). */
export function createLimiter(
  limits: Limits,
  clock: () => Date,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    const { target } = request.routeOptions.config;
    const kind: LimitedKind = target === 'generate' || target === 'bulk' ? target : 'other';
    const verdict = limits.take(request.headers.authorization?.trim().split(/ +/).at(-1) ?? '', kind, clock());
    reply.headers(verdict.headers);
    if (verdict.outcome === 'free') return;
    reply.header('retry-after', String(verdict.retryAfterSeconds));
    throw new ServiceError(429, 'rate_limited', 'Too many requests for this API key.');
  };
}
