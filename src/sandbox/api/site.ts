import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type ApiKey, isSameText } from '../keys.ts';
import type { EmbedForm } from '../dialect.ts';
import { escapeHtml } from '../sample-text.ts';
import type { Policy } from '../policies.ts';
import type { World } from '../world.ts';
import { invalidRequest, notFound } from './answers.ts';
import { type EmbedAnswer, type EmbedEntry, embedHub, embedText } from './embed-answer.ts';
import { embedScript } from './embed-script.ts';

/** How long the edge keeps an answer of the embed endpoint (docs/service.md §8). */
const EDGE_MS = 300_000;

const querySchema = z.object({ siteKey: z.string().min(1), type: z.string().min(1) });

interface SiteRoutes {
  readonly worlds: readonly World[];
  readonly keys: readonly ApiKey[];
  readonly clock: () => Date;
  readonly siteUrl: () => string;
  readonly dialect: { readonly embed: EmbedForm };
}

/** What the service's public origin serves: embed endpoint and script, hosted pages (docs/service.md §4.7, §4.8, §2.2). */
export function addSiteRoutes(app: FastifyInstance, { worlds, keys, clock, siteUrl, dialect }: SiteRoutes): void {
  // As at an edge, what was fetched is served for five minutes, whatever is published meanwhile.
  const edge = new Map<string, EmbedAnswer & { etag: string; since: number }>();

  app.get('/api/embed/policy', { config: { target: 'embed' } }, async (request, reply) => {
    // Refusals too: a script on a client's page could not read them otherwise.
    reply.header('access-control-allow-origin', '*');
    const query = querySchema.safeParse(request.query);
    if (!query.success) throw invalidRequest('siteKey and type are required.');
    const { siteKey, type } = query.data;
    if (keys.some(({ value, revoked }) => revoked && isSameText(value, siteKey))) throw notFound('No such site key.');
    const now = clock().getTime();
    const key = JSON.stringify([siteKey, type]);
    let cached = edge.get(key);
    if (cached === undefined || now >= cached.since + EDGE_MS || now < cached.since) {
      const answer = embedAnswer(worlds, { siteKey, type }, dialect.embed, clock(), siteUrl());
      const etag = `"${createHash('sha256').update(answer.body).digest('hex').slice(0, 24)}"`;
      cached = { ...answer, etag, since: now };
      edge.set(key, cached);
    }
    reply.headers({
      'cache-control': 'public, max-age=300',
      age: String(Math.floor((now - cached.since) / 1000)),
      etag: cached.etag,
    });
    if (request.headers['if-none-match'] === cached.etag) return reply.code(304).send();
    return reply.type(cached.type).send(cached.body);
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

function embedAnswer(
  worlds: readonly World[],
  { siteKey, type }: z.infer<typeof querySchema>,
  form: EmbedForm,
  now: Date,
  siteUrl: string,
): EmbedAnswer {
  const world = worlds.find(({ client }) => isSameText(client.siteKey, siteKey));
  if (world === undefined) throw notFound('No such site key.');
  const entryOf = (policy: Policy): EmbedEntry => ({
    id: policy.id,
    policy_type: policy.policyType,
    title: policy.title,
    language: policy.language,
    updated_at: policy.updatedAt.toISOString(),
    url: `${siteUrl}${world.shelf.path(policy)}`,
  });
  const listed = world.shelf.list(now);
  if (type === 'hub') return embedHub(form, listed.map(entryOf));
  const policy = listed.findLast(({ policyType }) => policyType === type);
  if (policy === undefined) throw notFound('No such policy.');
  const { html, markdown } = world.shelf;
  return embedText(form, {
    entry: entryOf(policy),
    version: policy.version,
    html: html(policy),
    markdown: markdown(policy),
  });
}
