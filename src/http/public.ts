import Fastify, {
  LogController,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyServerOptions,
} from 'fastify';
import type { Server } from 'node:http';
import { webhookEndpoint, type WebhookEndpointOptions } from '../../receivers/endpoint.ts';
import type { Config } from '../config.ts';
import { answerErrors, answersToMalformed } from './errors.ts';
import { healthRoutes, type Health } from './health.ts';

export interface PublicAppOptions {
  readonly config: Pick<Config, 'bodyLimit' | 'trustProxy' | 'inFlightLimit' | 'inFlightLimitPerAddress'>;
  readonly webhooks: Omit<WebhookEndpointOptions, 'bodyLimit' | 'inFlight'>;
  readonly health: Health;
  readonly logger?: FastifyServerOptions['loggerInstance'];
}

/** Milliseconds that a request may take to arrive, on either listener: its headers, and headers and body. Node looks every second. */
export const requestTimes = {
  requestTimeout: 30_000,
  http: { headersTimeout: 15_000, connectionsCheckingInterval: 1000 },
} satisfies Pick<FastifyHttpOptions<Server>, 'requestTimeout' | 'http'>;

/** The public listener's app: webhooks, /healthz and /readyz. Nothing else is reachable from outside. */
export function createPublicApp(options: PublicAppOptions): FastifyInstance {
  const { config, logger } = options;
  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(config.trustProxy),
    bodyLimit: config.bodyLimit,
    ...requestTimes,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // What comes on an open connection while it closes is answered as ever, and the connection closed after it.
    return503OnClosing: false,
    ...answersToMalformed,
  }) as unknown as FastifyInstance;
  answerErrors(app);
  app.register(webhookEndpoint, {
    ...options.webhooks,
    bodyLimit: config.bodyLimit,
    inFlight: { bytes: config.inFlightLimit, bytesPerAddress: config.inFlightLimitPerAddress },
  });
  app.register(healthRoutes, options.health);
  return app;
}

/** A number is how many proxies stand in front; Fastify's types know it only as a function of the hop. */
export function proxyTrust(
  trust: Config['trustProxy'],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}
