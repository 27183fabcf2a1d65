import Fastify, { type FastifyInstance } from 'fastify';
import type { Dialect } from '../dialect.ts';
import type { Cursors } from '../keys.ts';
import type { Limits } from '../limits.ts';
import type { World } from '../world.ts';
import { answerErrors, CONTROLS } from './answers.ts';
import { createAuthenticate, createLimiter } from './authenticate.ts';
import { addConsentLogRoutes } from './consent-logs.ts';
import { addControlRoutes, type ControlRoutes } from './control.ts';
import { addFaultHooks } from './fault-hooks.ts';
import { addMcpRoute } from './mcp.ts';
import { describeApi } from './openapi.ts';
import { addBulkRoute, addPolicyRoutes, type GenerateOptions } from './policies.ts';
import { addSiteRoutes } from './site.ts';

interface AppOptions extends ControlRoutes, GenerateOptions {
  readonly worlds: readonly World[];
  readonly dialect: Dialect;
  readonly cursors: Cursors;
  readonly limits: Limits;
  readonly nextBatch: () => number;
  /** Called after every request that may have changed something. */
  readonly changed: () => void;
}

/** The service's HTTP surface under /api/v1 (docs/service.md §4). */
export function createApp(options: AppOptions): FastifyInstance {
  const app = Fastify({ logger: false, bodyLimit: 1_048_576, forceCloseConnections: true });
  answerErrors(app, options.dialect.errors);
  app.addHook('onSend', async (_request, reply) => {
    // The service's own time: that of the sandbox's clock, not the machine's.
    reply.header('date', options.clock().toUTCString());
  });
  app.addHook('onResponse', async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD') options.changed();
  });
  // Publish takes no documented body: an empty one is accepted, whatever its type.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') return done(null, null);
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(Object.assign(new Error('The body is not JSON.'), { statusCode: 400 }), undefined);
    }
  });
  const authenticate = createAuthenticate(options.keys, options.worlds, options.clock);
  const limit = createLimiter(options.limits, options.clock);
  void app.register(
    async (api) => {
      addFaultHooks(api, options.faults);
      api.addHook('onRequest', async (request, reply) => {
        // Before the body is read; only requests with a valid key count.
        authenticate(request);
        limit(request, reply);
      });
      addConsentLogRoutes(api, { ...options, authenticate });
      addPolicyRoutes(api, { ...options, authenticate });
      addBulkRoute(api, { ...options, authenticate });
    },
    { prefix: '/api/v1' },
  );
  void app.register(async (site) => {
    addFaultHooks(site, options.faults);
    addSiteRoutes(site, options);
    addMcpRoute(site, { ...options, authenticate, limit });
    // Both documented addresses; whether the one below the API root needs a key is an open choice.
    for (const path of ['/openapi', '/api/v1/openapi']) {
      const needsKey = options.dialect.openapiNeedsKey && path !== '/openapi';
      site.get(path, { config: { target: 'openapi' } }, async (request, reply) => {
        if (needsKey) {
          authenticate(request);
          limit(request, reply);
        }
        return describeApi(options.siteUrl(), options.dialect);
      });
    }
  });
  void app.register(async (control) => addControlRoutes(control, options), { prefix: CONTROLS });
  return app;
}
