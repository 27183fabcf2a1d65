import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { EmbedForm } from '../dialect.ts';
import { type ApiKey, isSameText } from '../keys.ts';
import { escapeHtml, type Policy } from '../policy-shelf.ts';
import type { World } from '../world.ts';
import { invalidRequest, notFound } from './answers.ts';

/** How long the edge caches a response of the embed endpoint (docs/service.md §8). */
const EDGE_MS = 300_000;

const querySchema = z.object({ siteKey: z.string().min(1), type: z.string().min(1) });

interface SiteRoutes {
  readonly worlds: readonly World[];
  readonly keys: readonly ApiKey[];
  readonly clock: () => Date;
  readonly siteUrl: () => string;
  readonly dialect: { readonly embed: EmbedForm };
}

/** The content of the service's public origin: embed endpoint and script, hosted pages (docs/service.md §4.7, §4.8, §2.2). */
export function addSiteRoutes(app: FastifyInstance, { worlds, keys, clock, siteUrl, dialect }: SiteRoutes): void {
  // Like an edge, serves what it fetched for five minutes, whatever is published in the meantime.
  const edge = new Map<string, EmbedAnswer & { etag: string; since: number }>();

  app.get('/api/embed/policy', { config: { target: 'embed' } }, async (request, reply) => {
    // For refusals too, or a script on a client's page could not read them.
    reply.header('access-control-allow-origin', '*');
    const query = querySchema.safeParse(request.query);
    if (!query.success) throw invalidRequest('siteKey and type are required.');
    const { siteKey, type } = query.data;
    if (keys.some(({ value, revoked }) => revoked && isSameText(value, siteKey))) throw notFound('No such site key.');
    const now = clock().getTime();
    const key = JSON.stringify([siteKey, type]);
    let cached = edge.get(key);
    if (cached === undefined || now >= cached.since + EDGE_MS || now < cached.since) {
      const answer = embedAnswer(worlds, { siteKey, type }, { form: dialect.embed, now: clock(), siteUrl: siteUrl() });
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
  { form, now, siteUrl }: { readonly form: EmbedForm; readonly now: Date; readonly siteUrl: string },
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

/** Facts about a policy, apart from its text. */
interface EmbedEntry {
  readonly id: string;
  readonly policy_type: string;
  readonly title: string;
  readonly language: string;
  readonly updated_at: string;
  readonly url: string;
}

/** A policy with its text. */
interface EmbedText {
  readonly entry: EmbedEntry;
  readonly version: number;
  readonly html: string;
  readonly markdown: string;
}

/** A response of the embed endpoint, whose shape is not documented (docs/service.md §4.7). */
interface EmbedAnswer {
  readonly type: string;
  readonly body: string;
}

/** One policy in a form. */
function embedText(form: EmbedForm, { entry, version, html, markdown }: EmbedText): EmbedAnswer {
  switch (form) {
    case 'fields':
      return json({ ...entry, version, html, markdown });
    case 'content':
      return json({ ...entry, version, content: markdown });
    case 'html':
      return json({ html });
    case 'data':
      return json({ data: { ...entry, version, html } });
    case 'web page':
      return page(html);
    case 'markdown':
      return { type: 'text/markdown; charset=utf-8', body: markdown };
  }
}

/** The list of all policies in a form. */
function embedHub(form: EmbedForm, policies: readonly EmbedEntry[]): EmbedAnswer {
  switch (form) {
    case 'fields':
    case 'content':
      return json({ policies });
    case 'html':
      return json(policies);
    case 'data':
      return json({ data: policies });
    case 'web page': {
      const items = policies.map(
        ({ title, url }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a></li>\n`,
      );
      return page(`<ul>\n${items.join('')}</ul>\n`);
    }
    case 'markdown':
      return {
        type: 'text/markdown; charset=utf-8',
        body: policies.map(({ title, url }) => `- [${title}](${url})\n`).join(''),
      };
  }
}

function json(value: unknown): EmbedAnswer {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function page(body: string): EmbedAnswer {
  return { type: 'text/html; charset=utf-8', body };
}

/**
 * The embed script (docs/service.md §4.8): draws a client's policy into the page that includes it, into
 * `data-container` or after the script tag (at the end of the page if the tag is in its head). Without `data-policy`,
 * the type follows from the page's address; if none fits, the hub is shown.
 */
function embedScript(siteUrl: string): string {
  return `(function () {
  'use strict';
  var script = document.currentScript;
  if (!script || !script.dataset.siteKey) return;
  var slugs = ['privacy-policy', 'cookie-policy', 'terms-of-service', 'terms-and-conditions', 'imprint', 'return-policy',
    'refund-policy', 'shipping-policy', 'disclaimer', 'acceptable-use-policy', 'data-processing-agreement'];
  function detect() {
    var path = location.pathname.toLowerCase();
    for (var i = 0; i < slugs.length; i += 1) {
      if (path.indexOf(slugs[i]) !== -1) return slugs[i];
      if (path.indexOf('/' + slugs[i].split('-')[0]) !== -1) return slugs[i];
    }
    return 'hub';
  }
  var type = script.dataset.policy || detect();
  var address = ${JSON.stringify(`${siteUrl}/api/embed/policy`)} + '?siteKey=' + encodeURIComponent(script.dataset.siteKey) +
    '&type=' + encodeURIComponent(type);
  function place() {
    var target = script.dataset.container ? document.getElementById(script.dataset.container) : null;
    if (!target) {
      target = document.createElement('div');
      // The content of the head is not shown.
      if (document.head.contains(script)) document.body.appendChild(target);
      else script.insertAdjacentElement('afterend', target);
    }
    target.setAttribute('data-service-policy', type);
    if (script.dataset.theme) target.setAttribute('data-theme', script.dataset.theme);
    draw(target);
  }
  // The text may come as JSON of several shapes, as HTML or as Markdown.
  function draw(target) {
    fetch(address).then(function (answer) {
      if (!answer.ok) throw new Error('status ' + answer.status);
      var form = answer.headers.get('content-type') || '';
      return answer.text().then(function (text) {
        if (form.indexOf('json') === -1) {
          if (form.indexOf('html') === -1) target.replaceChildren(plainText(text));
          else target.innerHTML = text;
          return;
        }
        var found = JSON.parse(text);
        var policy = found.data || found;
        if (policy.html) target.innerHTML = policy.html;
        else if (policy.content) target.replaceChildren(plainText(policy.content));
        else target.replaceChildren(listOf(Array.isArray(policy) ? policy : policy.policies || []));
      });
    }).catch(function (error) {
      target.textContent = 'The policy could not be loaded (' + error.message + ').';
    });
  }
  function listOf(policies) {
    var list = document.createElement('ul');
    policies.forEach(function (policy) {
      var item = document.createElement('li');
      item.appendChild(linkTo(policy.title, policy.url));
      list.appendChild(item);
    });
    return list;
  }
  function linkTo(title, url) {
    var link = document.createElement('a');
    link.href = url;
    link.textContent = title;
    return link;
  }
  // Line by line; of Markdown only links in lists are drawn as such.
  function plainText(text) {
    var article = document.createElement('article');
    text.split('\\n').forEach(function (line) {
      var link = /^- \\[(.*)\\]\\((https?:.*)\\)$/.exec(line);
      var paragraph = document.createElement('p');
      if (link) paragraph.appendChild(linkTo(link[1], link[2]));
      else paragraph.textContent = line;
      if (line) article.appendChild(paragraph);
    });
    return article;
  }
  // A container may come after the script in the page.
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', place);
  else place();
})();
`;
}
