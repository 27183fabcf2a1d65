import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context/context.ts';
import { CodedError } from '../../core/errors.ts';
import { isWellFormed } from '../../crypto/canonical.ts';
import { findApiToken } from '../../people/api-tokens.ts';
import { enforceRules } from '../auth/access.ts';
import { html } from '../pages/parts/page-frame.ts';
import { caseApi } from './cases.ts';
import { consentApi } from './consent.ts';
import { documentApi } from './documents.ts';
import { answerErrorsAsProblems, sendProblem } from './errors.ts';
import { holdApi } from './holds.ts';
import { answeredBefore, forgetAnswers, keepAnswer } from './idempotency.ts';
import { workApi } from './job-routes.ts';
import { ledgerApi } from './ledger.ts';
import { mcpOverHttp } from './mcp.ts';
import { openApiDocument } from './openapi.ts';
import { policyApi } from './policies.ts';
import { profileApi } from './profile.ts';
import { referencePage } from './reference.tsx';
import { type ApiRoute, RefusedRequest } from './route.ts';
import { sourceApi } from './sources.ts';

/** Every route of the API. */
export const apiRoutes: readonly ApiRoute[] = [
  ...sourceApi,
  ...profileApi,
  ...caseApi,
  ...consentApi,
  ...policyApi,
  ...documentApi,
  ...ledgerApi,
  ...holdApi,
  ...workApi,
];

/** How often expired responses are removed. */
const FORGET_EVERY_MS = 3_600_000;
const NO_ROUTE = 'Unknown route or method: see /api.';

/**
 * The API under /api/v1, in its own scope: callers are identified only by an API token in the Authorization header.
 * Cookies are ignored, so no website can use the session of a browser that shows it.
 */
export async function apiScope(app: FastifyInstance, context: Context): Promise<void> {
  app.removeContentTypeParser('text/plain');
  app.decorateRequest('signedIn', null);
  app.decorateRequest('idempotencyHash', null);
  answerErrorsAsProblems(app);
  app.addHook('onRequest', async (request) => {
    request.signedIn = await findApiToken(context, bearerOf(request));
  });
  enforceRules(app, context, async (_request, reply) => sendProblem(reply, 'sign_in_required', ''));
  await app.register(rateLimit, {
    max: context.config.apiRateLimit,
    timeWindow: '1 minute',
    keyGenerator: (request) => request.signedIn?.handle ?? request.ip,
    enableDraftSpec: true,
  });
  app.addHook('preHandler', async (request, reply) => {
    const before = await answeredBefore(context, request);
    if (before === null) return undefined;
    void reply.header('idempotency-replayed', 'true');
    const isProblem = before.status >= 400;
    return reply
      .code(before.status)
      .type(isProblem ? 'application/problem+json; charset=utf-8' : 'application/json; charset=utf-8')
      .send(before.body.toString('utf8'));
  });
  app.addHook('preValidation', async ({ body, query }) => {
    if (!isStorable(body) || !isStorable(query))
      throw new RefusedRequest('invalid_request', [
        'The request contains a NUL character, half of a surrogate pair, or a number that is too large.',
      ]);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    await keepAnswer(context, request, reply, payload);
    return payload;
  });
  const forgetting = setInterval(() => void forgetAnswers(context), FORGET_EVERY_MS).unref();
  app.addHook('onClose', async () => clearInterval(forgetting));
  // Unknown routes get the API's error envelope, not a page.
  await app.register(
    async (unknown) => unknown.setNotFoundHandler((_request, reply) => sendProblem(reply, 'not_found', NO_ROUTE)),
    { prefix: '/api/v1' },
  );
  await mcpOverHttp(app, context);
  for (const route of apiRoutes)
    app.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: (request, reply) => route.handle(context, request, reply),
    });
}

/**
 * The description of the API and its reference. They say nothing about the installation, so they are public. Each is
 * generated on first request, which takes about 30 ms.
 */
export async function apiDescription(app: FastifyInstance, context: Pick<Context, 'version'>): Promise<void> {
  let description: string | null = null;
  let page: string | null = null;
  app.get('/openapi.json', (_request, reply) => {
    description ??= JSON.stringify(openApiDocument(apiRoutes, context.version));
    return reply.type('application/json; charset=utf-8').send(description);
  });
  app.get('/api', (_request, reply) => html(reply, (page ??= referencePage(apiRoutes))));
}

/** RFC 6750 §2.1. Tokens in addresses or bodies are not accepted, because those are logged. */
function bearerOf({ headers }: FastifyRequest): string {
  return /^Bearer ([\w-]{1,100})$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** Whether all text and numbers in a value can be stored: PostgreSQL refuses NUL, and half a surrogate pair has no UTF-8 form. */
function isStorable(value: unknown, depth = 0): boolean {
  if (depth > 20) throw new CodedError('invalid_request');
  // JSON.parse turns 1e400 into Infinity, which JSON cannot represent.
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return isWellFormed(value) && !value.includes('\0');
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([key, item]) => isStorable(key, depth) && isStorable(item, depth + 1));
}
