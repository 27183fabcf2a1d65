import type { Server } from 'node:http';
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { type WebhookEndpointOptions, webhookEndpoint } from '../../receivers/endpoint.ts';
import type { Config } from '../config/config.ts';
import { answerErrors, answersToMalformed } from './error-pages.tsx';
import { handOverPages } from './subjects/hand-over-routes.tsx';
import { requestFormPages } from './subjects/request-form-routes.tsx';
import type { SubjectContext } from './subjects/subject-page.tsx';
import { taskPages } from './subjects/task.tsx';
import { type TilesContext, tileRoutes } from './tiles.ts';

interface PublicAppOptions {
  readonly config: Pick<Config, 'bodyLimit' | 'trustProxy' | 'inFlightLimit' | 'inFlightLimitPerAddress'>;
  readonly webhooks: Omit<WebhookEndpointOptions, 'bodyLimit' | 'inFlight'>;
  readonly health: Health;
  /** The log's verifier key (C2SP signed-note). */
  readonly verifierKey: string;
  /** For the pages on which data subjects open their packs, under /h/; absent: there are none. */
  readonly subjects?: SubjectContext;
  /** For the tree's hashes (PUBLISH_TILES); null or absent: they are not published. */
  readonly tiles?: TilesContext | null;
  readonly logger?: FastifyServerOptions['loggerInstance'];
}

/**
 * Milliseconds that a request may take to arrive on either listener: its headers, and headers and body. Node checks
 * every second.
 */
export const requestTimes = {
  requestTimeout: 30_000,
  http: { headersTimeout: 15_000, connectionsCheckingInterval: 1000 },
} satisfies Pick<FastifyHttpOptions<Server>, 'requestTimeout' | 'http'>;

/** Where the public listener publishes the verifier key and, if asked to, the tree (RFC 8615). */
const WELL_KNOWN = '/.well-known/consent-ledger';

/**
 * The app of the public listener: webhooks, hand-overs, request forms, tasks, /healthz, /readyz, the verifier key and,
 * by a setting, the tree's hashes. Nothing else is reachable from outside.
 */
export function createPublicApp(options: PublicAppOptions): FastifyInstance {
  const { config, logger } = options;
  const app = Fastify({
    // One logger for all requests: log lines about deliveries do not name the request, and creating a logger for each
    // costs a thirtieth of the work.
    ...(logger ? { loggerInstance: logger, childLoggerFactory: () => logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(config.trustProxy),
    bodyLimit: config.bodyLimit,
    ...requestTimes,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Requests on an open connection during closing are answered as usual, and the connection is closed afterwards.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => withoutSlashes(url),
    ...answersToMalformed,
  }) as unknown as FastifyInstance;
  answerErrors(app);
  app.register(webhookEndpoint, {
    ...options.webhooks,
    bodyLimit: config.bodyLimit,
    inFlight: { bytes: config.inFlightLimit, bytesPerAddress: config.inFlightLimitPerAddress },
  });
  app.register(healthRoutes, options.health);
  const { subjects } = options;
  if (subjects !== undefined) {
    app.register((scope) => handOverPages(scope, subjects), { prefix: '/h' });
    app.register((scope) => requestFormPages(scope, subjects), { prefix: '/r' });
    app.register((scope) => taskPages(scope, subjects), { prefix: '/t' });
  }
  // Lets recipients of a document compare its key with one obtained in another way.
  app.get(`${WELL_KNOWN}/log.vkey`, (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'public, max-age=3600')
      .send(`${options.verifierKey}\n`),
  );
  const { tiles } = options;
  if (tiles) app.register((scope) => tileRoutes(scope, tiles), { prefix: WELL_KNOWN });
  return app;
}

/**
 * The address of a webhook without superfluous slashes, which come from joining addresses:
 * `https://ledger.example/` and `/webhooks/acme/`.
 */
function withoutSlashes(url: string): string {
  return url.replace(/^\/+webhooks\/+([^/?#]+)\/*(?=[?#]|$)/, '/webhooks/$1');
}

/** A number means the number of proxies in front; Fastify's types accept it only as a function of the hop. */
export function proxyTrust(
  trust: Config['trustProxy'],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}

/** For orchestrators. */
export interface Health {
  /** Null if deliveries can be stored; otherwise a short reason that reveals nothing. */
  readonly notReady: () => Promise<string | null>;
}

/** `/healthz`: the process answers. `/readyz`: deliveries can be stored, otherwise 503. */
export async function healthRoutes(app: FastifyInstance, health: Health): Promise<void> {
  // HEAD as well, also where an app answers it for no other address: monitoring uses it.
  const options = { exposeHeadRoute: true };
  app.get('/healthz', options, (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/readyz', options, async (_request, reply) => {
    const reason = await health.notReady();
    if (reason === null) return reply.send({ status: 'ready' });
    return reply.code(503).send({ status: 'not ready', reason });
  });
}
