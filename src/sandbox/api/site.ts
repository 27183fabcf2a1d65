import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { isSameText } from '../keys.ts';
import { escapeHtml } from '../sample-text.ts';
import type { World } from '../world.ts';
import { invalidRequest, notFound } from './answers.ts';
import { embedScript } from './embed-script.ts';

/** How long the edge keeps an answer of the embed endpoint (docs/service.md §8). */
const EDGE_MS = 300_000;

const querySchema = z.object({ siteKey: z.string().min(1), type: z.string().min(1) });

export interface SiteRoutes {
  readonly worlds: readonly World[];
  readonly clock: () => Date;
  readonly siteUrl: () => string;
}

/** What the service's public origin serves: embed endpoint and script, hosted pages (docs/service.md §4.7, §4.8, §2.2). */
export function addSiteRoutes(app: FastifyInstance, { worlds, clock, siteUrl }: SiteRoutes): void {
  // As at an edge, what was fetched is served for five minutes, whatever is published meanwhile.
  const edge = new Map<string, { body: string; etag: string; since: number }>();

  app.get('/api/embed/policy', { config: { target: 'embed' } }, async (request, reply) => {
    // Refusals too: a script on a client's page could not read them otherwise.
    reply.header('access-control-allow-origin', '*');
    const query = querySchema.safeParse(request.query);
    if (!query.success) throw invalidRequest('siteKey and type are required.');
    const { siteKey, type } = query.data;
    const now = clock().getTime();
    const key = JSON.stringify([siteKey, type]);
    let cached = edge.get(key);
    if (cached === undefined || now >= cached.since + EDGE_MS || now < cached.since) {
      const body = JSON.stringify(embedBody(worlds, siteKey, type, clock(), siteUrl()));
      cached = { body, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 24)}"`, since: now };
      edge.set(key, cached);
    }
    reply.headers({
      'cache-control': 'public, max-age=300',
      age: String(Math.floor((now - cached.since) / 1000)),
      etag: cached.etag,
    });
    if (request.headers['if-none-match'] === cached.etag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(cached.body);
  });

  app.get('/embed.js', async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .send(embedScript(siteUrl())),
  );

  app.get<{ Params: { type: string; id: string }; Querystring: { token?: string } }>(
    '/policy/:type/:id',
    async (request, reply) => {
      const { type, id } = request.params;
      for (const { client, shelf } of worlds) {
        const policy = shelf.find(id, clock());
        if (policy === null || policy.publishedAt === null || policy.policyType !== type) continue;
        const token = new URL(shelf.path(policy), 'http://sandbox.invalid').searchParams.get('token') ?? '';
        if (!isSameText(token, request.query.token ?? '')) break;
        const title = escapeHtml(`${policy.title} – ${client.name}`);
        return reply
          .headers({ 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' })
          .type('text/html; charset=utf-8')
          .send(
            `<!doctype html>\n<html lang="${escapeHtml(policy.language)}"><head><meta charset="utf-8"><title>${title}</title></head>\n<body>${shelf.html(policy)}</body></html>\n`,
          );
      }
      throw notFound('No such policy.');
    },
  );
}

function embedBody(worlds: readonly World[], siteKey: string, type: string, now: Date, siteUrl: string): unknown {
  const world = worlds.find(({ client }) => isSameText(client.siteKey, siteKey));
  if (world === undefined) throw notFound('No such site key.');
  const listed = world.shelf.list(now).map((policy) => ({
    id: policy.id,
    policy_type: policy.policyType,
    title: policy.title,
    language: policy.language,
    updated_at: policy.updatedAt.toISOString(),
    url: `${siteUrl}${world.shelf.path(policy)}`,
    policy,
  }));
  if (type === 'hub') return { policies: listed.map(({ policy: _policy, ...entry }) => entry) };
  const found = listed.findLast((entry) => entry.policy_type === type);
  if (found === undefined) throw notFound('No such policy.');
  const { policy, ...entry } = found;
  return { ...entry, version: policy.version, html: world.shelf.html(policy), markdown: world.shelf.markdown(policy) };
}
