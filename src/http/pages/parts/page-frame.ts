import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../../context/context.ts';
import { can } from '../../../core/roles.ts';
import { sourcesOf } from '../../auth/access.ts';
import { csrfToken, officerOf } from '../../auth/sessions.ts';
import type { PageFrame } from './layout.tsx';

/** What every page needs to know about the signed-in officer. */
export function pageFrame(
  context: Pick<Context, 'config' | 'version' | 'sources'>,
  request: FastifyRequest,
  reply: FastifyReply,
): PageFrame {
  const { name, role, personId, current, sources: permitted } = officerOf(request);
  const sources = sourcesOf(context, request).list();
  return {
    sources,
    seesAll: permitted === null,
    current: sources.some(({ slug }) => slug === current) ? current : null,
    path: request.url.split('?')[0] ?? '/',
    canWork: can(role, 'work'),
    officer: name,
    personId,
    role,
    csrf: csrfToken(request, reply),
    timeZone: context.config.timeZone,
    version: context.version,
    sourceName: (slug) => context.sources.findAny(slug)?.name ?? slug,
  };
}

/**
 * A page shows what was just written, unless the projector takes longer than this; then it shows what has been
 * projected.
 */
const PATIENCE_MS = 5000;

/** Waits until the read models contain an entry. */
export async function untilProjected(context: Pick<Context, 'projector' | 'log'>, seq: number): Promise<void> {
  const projected = context.projector
    .projected(seq)
    .catch((error: unknown) => context.log.warn({ err: error }, 'a page did not wait for its own entry'));
  await Promise.race([projected, pause(PATIENCE_MS)]);
}

/** Most documents and short syncs finish within this time, so the page comes back with the result. */
const JOB_PATIENCE_MS = 1500;
const LOOK_EVERY_MS = 75;

/** Waits briefly for a job to end. */
export async function untilDoneSoon(context: Pick<Context, 'jobs' | 'projector' | 'log'>, id: string): Promise<void> {
  for (let waited = 0; waited < JOB_PATIENCE_MS; waited += LOOK_EVERY_MS) {
    const job = await context.jobs.find(id);
    if (job === null || job.finishedAt !== null) {
      const seq = (job?.result as { seq?: unknown } | null | undefined)?.seq;
      if (typeof seq === 'number') await untilProjected(context, seq);
      return;
    }
    await pause(LOOK_EVERY_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Sends a page. */
export function html(reply: FastifyReply, page: string, status = 200): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}
