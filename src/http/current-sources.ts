import type { FastifyInstance } from 'fastify';
import type { Context } from '../context/context.ts';

/**
 * Reads the sources again before each request of a scope if another process changed them, so that a source which was
 * just added answers at once. If they cannot be read, those in memory serve.
 */
export function keepSourcesCurrent(app: FastifyInstance, { sources }: Pick<Context, 'sources'>): void {
  app.addHook('onRequest', async () => {
    await sources.refresh().catch(() => undefined);
  });
}
