import type { FastifyInstance } from 'fastify';

/** What an orchestrator asks. */
export interface Health {
  /** Null when deliveries can be kept; else why not, in a few words that leak nothing. */
  readonly notReady: () => Promise<string | null>;
}

/** `/healthz`: the process answers. `/readyz`: deliveries can be kept, else 503. */
export async function healthRoutes(app: FastifyInstance, health: Health): Promise<void> {
  app.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reason = await health.notReady();
    if (reason === null) return reply.send({ status: 'ready' });
    return reply.code(503).send({ status: 'not ready', reason });
  });
}
