import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { webhookEndpoint, type WebhookEndpointOptions } from '../../receivers/endpoint.ts';
import type { Config } from '../config.ts';
import { answerErrors, answersToMalformed } from './errors.ts';
import { healthRoutes, type Health } from './health.ts';

export interface PublicAppOptions {
  readonly config: Pick<Config, 'bodyLimit' | 'trustProxy'>;
  readonly webhooks: Omit<WebhookEndpointOptions, 'bodyLimit'>;
  readonly health: Health;
  readonly logger?: FastifyServerOptions['loggerInstance'];
}

/** The public listener's app: webhooks, /healthz and /readyz. Nothing else is reachable from outside. */
export function createPublicApp(options: PublicAppOptions): FastifyInstance {
  const { config, logger } = options;
  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(config.trustProxy),
    bodyLimit: config.bodyLimit,
    // A sender that drips its body holds a connection no longer than this.
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // What comes on an open connection while it closes is answered as ever, and the connection closed after it.
    return503OnClosing: false,
    ...answersToMalformed,
  }) as unknown as FastifyInstance;
  answerErrors(app);
  app.register(webhookEndpoint, { ...options.webhooks, bodyLimit: config.bodyLimit });
  app.register(healthRoutes, options.health);
  return app;
}

/** A number is how many proxies stand in front; Fastify's types know it only as a function of the hop. */
export function proxyTrust(
  trust: Config['trustProxy'],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}
