import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Context } from '../context.ts';
import { answerErrors } from './errors.ts';
import type { Metrics } from './metrics.ts';

/** The admin listener's app: the officer's pages and `/metrics`. Meant for a private network or a reverse proxy with access control. */
export async function createAdminApp(context: Context, metrics: Metrics): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: context.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 65_536,
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;
  answerErrors(app);
  app.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  return app;
}
