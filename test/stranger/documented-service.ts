import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { plainReading, type Reading } from './readings.ts';

/**
 * The service exactly as its documentation (docs/service.md) describes it, written from that text alone, without the
 * sandbox or the client, so it can disagree with both. Where the text can be read in several ways, a {@link Reading}
 * chooses one. It refuses everything that its reading does not allow.
 */
export interface DocumentedService {
  readonly baseUrl: string;
  readonly siteUrl: string;
  readonly apiKey: string;
  readonly siteKey: string;
  /** Revokes the site key: the embed endpoint no longer knows it. */
  revokeSiteKey(): void;
  readonly secret: string;
  /** Where webhooks go; null: nowhere. */
  webhookUrl: string | null;
  readonly policies: readonly Policy[];
  readonly decisions: readonly Decision[];
  /** Requests answered with 4xx or 5xx: `METHOD path?query status`. */
  readonly refusals: readonly string[];
  /** Records a visitor's decision, and delivers it unless `silently`; resolves when the delivery was answered. */
  decide(input: {
    /** Another banner than the one of this log. */
    readonly banner?: string;
    readonly visitor: string;
    readonly at: Date;
    readonly granted: boolean;
    readonly silently?: boolean;
  }): Promise<void>;
  close(): Promise<void>;
}

export interface Policy {
  readonly id: string | number;
  readonly type: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly markdown: string;
  readonly createdAt: Date;
  publishedAt: Date | null;
}

export interface Decision {
  readonly nth: number;
  readonly banner: string;
  readonly visitor: string;
  readonly at: Date;
  readonly granted: boolean;
}

/** An answer of the service: a status, a body, headers. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** The content of a request to generate. */
interface Wanted {
  readonly type: string;
  readonly jurisdiction: string;
  readonly language: string;
}

const BANNER = 'banner-main';

/** Starts the service on a free port of this machine. The caller closes it. */
export async function startDocumentedService(chosen: Partial<Reading> = {}): Promise<DocumentedService> {
  const reading: Reading = { ...plainReading, ...chosen };
  const policies: Policy[] = [];
  const decisions: Decision[] = [];
  const refusals: string[] = [];
  // Limits are per key, so each service has its own.
  const siteKey = `pk_${randomUUID()}`;
  const apiKey = reading.apiKey === 'legacy' ? siteKey : `pak_live_${randomUUID()}`;
  const key = randomBytes(32);
  const secret = reading.secret === 'text' ? `whsec_${randomUUID()}` : key.toString(reading.secret);
  let knownSiteKey: string | null = siteKey;
  const hesitated = new Set<string>();

  const server = createServer((incoming, response) => {
    void (async () => {
      const url = new URL(incoming.url ?? '/', service.siteUrl);
      const body = await buffer(incoming);
      const after: (() => Promise<unknown>)[] = [];
      const answer = await route(incoming, url, body, after);
      if (answer.status >= 400) refusals.push(`${incoming.method} ${url.pathname}${url.search} ${answer.status}`);
      if (reading.deliveryTime === 'before the answer') for (const deliverNow of after) await deliverNow();
      send(reading, incoming, response, answer);
      if (reading.deliveryTime === 'after the answer') for (const deliverLater of after) await deliverLater();
    })().catch(() => response.destroy());
  });

  async function route(
    incoming: IncomingMessage,
    url: URL,
    body: Buffer,
    after: (() => Promise<unknown>)[],
  ): Promise<Answer> {
    const { pathname } = url;
    if (pathname === '/api/embed/policy') return embed(url);
    const hosted = /^\/policy\/([^/]+)\/([^/]+)$/.exec(pathname);
    if (hosted !== null) return hostedPage(url, decodeURIComponent(hosted[2] ?? ''));
    if (!pathname.startsWith('/api/')) return refusal(404, 'not_found', 'There is no such address.');
    if (
      incoming.headers.authorization !== `Bearer ${apiKey}` &&
      !(reading.openapiKey === 'no' && pathname.endsWith('/openapi'))
    )
      return refusal(401, 'unauthorized', 'The API key is missing, invalid or revoked.');
    if (pathname === '/api/mcp') return mcp(incoming, body, after);
    const json = readBody(incoming, body);
    const endpoint = `${incoming.method} ${pathname.replace(/^\/api\/v1/, '').replace(/^\/policies\/[^/]+\/publish$/, '/policies/{id}/publish')}`;
    // People have to settle what may have been generated after a 500, so only reads get one here.
    const hesitates =
      endpoint === 'GET /consent/logs' || (endpoint === 'POST /policies/generate' && reading.firstAnswer !== '500');
    if (reading.firstAnswer !== 'plain' && hesitates && !hesitated.has(endpoint)) {
      hesitated.add(endpoint);
      return hesitation(reading.firstAnswer);
    }
    switch (endpoint) {
      case 'POST /policies/generate':
        return json === null ? badRequest('The body must be a JSON object.') : generate(json, after);
      case 'POST /policies/bulk':
        return json === null ? badRequest('The body must be a JSON object.') : bulk(json, after);
      case 'GET /policies':
        return list(url);
      case 'POST /policies/{id}/publish':
        return publish(incoming, body, decodeURIComponent(pathname.split('/').at(-2) ?? ''), after);
      case 'GET /consent/logs':
        return consentLog(url);
      case 'GET /openapi':
        return openapi();
      default:
        return refusal(404, 'not_found', 'There is no such address.');
    }
  }

  // §4.1
  function generate(json: Record<string, unknown>, after: (() => Promise<unknown>)[]): Answer {
    const made =
      reading.generateRequest === 'b' || (reading.generateRequest === 'both' && 'type' in json)
        ? readFormB(json)
        : readFormA(json);
    if (typeof made === 'string') return badRequest(made);
    const policy = create(made.type, made.jurisdiction, made.language, after);
    return { status: reading.generateStatus, body: generated(policy) };
  }

  function readFormB(json: Record<string, unknown>): Wanted | string {
    const { type, jurisdiction, language = 'en' } = json;
    if (typeof type !== 'string' || type.includes('-')) return 'type must be a slug with underscores.';
    if (!Array.isArray(jurisdiction) || typeof jurisdiction[0] !== 'string') return 'jurisdiction must be an array.';
    if (typeof language !== 'string') return 'language must be a string.';
    const unknown = Object.keys(json).find(
      (name) => !['type', 'jurisdiction', 'language', 'tone', 'custom_clauses'].includes(name),
    );
    return unknown === undefined
      ? { type: type.replaceAll('_', '-'), jurisdiction: jurisdiction[0], language }
      : `${unknown} is not known.`;
  }

  function readFormA(json: Record<string, unknown>): Wanted | string {
    const fields = ['policy_type', 'jurisdiction', 'language', 'business_name', 'domain', 'industry', 'business_type'];
    const wrong = fields.find((name) => name in json && typeof json[name] !== 'string');
    if (wrong !== undefined) return `${wrong} must be a string.`;
    const unknown = Object.keys(json).find((name) => !fields.includes(name));
    if (unknown !== undefined) return `${unknown} is not known.`;
    const { policy_type: type, jurisdiction, language = 'en' } = json;
    if (typeof type !== 'string') return 'policy_type is required.';
    if (typeof jurisdiction !== 'string') return 'jurisdiction is required.';
    return { type, jurisdiction, language: String(language) };
  }

  function create(type: string, jurisdiction: string, language: string, after: (() => Promise<unknown>)[]): Policy {
    const nth = policies.length + 1;
    const policy: Policy = {
      id: {
        string: `pol_${nth}`,
        number: 9_007_199_254_740_000 + nth,
        uuid: uuidOf(nth),
        punctuated: `pol:${nth}~é.v1`,
      }[reading.ids],
      type,
      jurisdiction,
      language,
      markdown: `# ${type}\n\nText ${nth} for *${jurisdiction}*.\n`,
      createdAt: new Date(),
      publishedAt: null,
    };
    policies.push(policy);
    if (reading.createdEvent === 'sent') after.push(() => deliver(policyEvent('policy.created', policy)));
    return policy;
  }

  // §2.1 and the second form of §4.1
  function generated(policy: Policy): object {
    const { id, type, jurisdiction, language, markdown } = policy;
    const created_at = timeOf(policy.createdAt);
    if (reading.generateAnswer === 'b')
      return {
        id,
        type: type.replaceAll('-', '_'),
        version: 1,
        hosted_url: addressOf(policy),
        html: htmlOf(policy),
        markdown,
        created_at,
      };
    const form = { id, policy_type: type, jurisdiction, language, content: markdown, created_at };
    return reading.generateAnswer === 'a with the quota'
      ? { ...form, policies_remaining: 500 - policies.length }
      : form;
  }

  // §4.2, §2.4
  function bulk(json: Record<string, unknown>, after: (() => Promise<unknown>)[]): Answer {
    const { items } = json;
    if (!Array.isArray(items) || items.length === 0 || items.length > 20)
      return badRequest('items must hold 1 to 20 items.');
    const read = items.map((item: unknown) =>
      typeof item === 'object' && item !== null ? readFormA({ ...item }) : 'An item must be an object.',
    );
    const wrong = read.find((item) => typeof item === 'string');
    if (typeof wrong === 'string') return badRequest(wrong);
    const results = read.flatMap(
      (item, nth): { id?: string | number | null; policy_type: string; status: string }[] => {
        if (typeof item === 'string') return [];
        const policy_type = reading.bulkType === 'as sent' ? item.type : item.type.replaceAll('-', '_');
        const without = { null: { id: null, policy_type }, absent: { policy_type }, empty: { id: '', policy_type } }[
          reading.skippedId
        ];
        if (nth >= reading.bulkQuota) return [{ ...without, status: 'skipped' }];
        if (nth === reading.bulkFails) return reading.failedItem === 'listed' ? [{ ...without, status: 'failed' }] : [];
        return [{ id: create(item.type, item.jurisdiction, item.language, after).id, policy_type, status: 'created' }];
      },
    );
    const created = results.filter(({ status }) => status === 'created').length;
    const failed = reading.bulkFails < read.length ? 1 : 0;
    if (reading.bulkOrder === 'reversed') results.reverse();
    return {
      status: reading.bulkStatus,
      body: { batch_id: `batch_${policies.length}`, total: items.length, created, failed, results },
    };
  }

  // §4.3, §2.2
  function list(url: URL): Answer {
    const rows = policies
      .filter(({ publishedAt }) => publishedAt !== null)
      .map((policy) => ({
        id: policy.id,
        policy_type: policy.type,
        title: `The ${policy.type}`,
        jurisdiction: policy.jurisdiction,
        language: policy.language,
        updated_at: timeOf(policy.publishedAt ?? policy.createdAt),
        url: addressOf(policy),
      }));
    if (reading.listForm === 'count and policies') return ok({ count: rows.length, policies: rows });
    const start = Number(url.searchParams.get('cursor') ?? 0);
    const end = start + reading.listPage;
    return ok({ data: rows.slice(start, end), ...nextCursor(end < rows.length ? String(end) : null, reading.listEnd) });
  }

  // §4.4, §2.3
  function publish(incoming: IncomingMessage, body: Buffer, id: string, after: (() => Promise<unknown>)[]): Answer {
    const type = incoming.headers['content-type'] ?? '';
    if (reading.publishBody === 'none' && body.length > 0) return badRequest('This takes no body.');
    if (reading.publishBody === 'object' && body.toString() !== '{}')
      return badRequest('The body must be a JSON object.');
    if (reading.publishBody === 'object' && !type.startsWith('application/json'))
      return badRequest('Send Content-Type: application/json.');
    const policy = policies.find((one) => String(one.id) === id);
    if (policy === undefined) return refusal(404, 'not_found', 'There is no such policy.');
    policy.publishedAt ??= new Date();
    if (service.webhookUrl !== null) after.push(() => deliver(policyEvent('policy.published', policy)));
    return {
      status: reading.publishStatus,
      body: {
        id: policy.id,
        hosted_url: reading.publishAddress === 'with its token' ? addressOf(policy) : addressOf(policy).split('?')[0],
        published_at: timeOf(policy.publishedAt),
        webhook_deliveries_queued: service.webhookUrl === null ? 0 : 1,
      },
    };
  }

  // §4.5
  function consentLog(url: URL): Answer {
    const given = Object.fromEntries(url.searchParams);
    const { cursor } = given;
    const names = ['banner_id', 'from', 'to', 'limit', 'cursor'];
    const unknown = Object.keys(given).find((name) => !names.includes(name));
    if (unknown !== undefined) return badRequest(`${unknown} is not known.`);
    const beside = Object.keys(given).filter((name) => name !== 'cursor');
    if (cursor !== undefined && reading.logCursor === 'alone' && beside.length > 0)
      return badRequest('cursor must be the only parameter.');
    if (cursor !== undefined && reading.logCursor === 'with the limit' && beside.some((name) => name !== 'limit'))
      return badRequest('cursor takes nothing beside it but limit.');
    const state = cursor === undefined ? { ...given, place: 0 } : readCursor(cursor);
    if (state === null) return badRequest('cursor is not known.');
    if (cursor !== undefined && reading.logCursor === 'with the same parameters') {
      const same = ['banner_id', 'from', 'to', 'limit'].every((name) => given[name] === state[name]);
      if (!same) return badRequest('cursor belongs to other parameters.');
    }
    const wanted: Record<string, unknown> = state;
    if (reading.logLimit === 'required' && wanted.limit === undefined) return badRequest('limit is required.');
    if (reading.logBanner === 'required' && wanted.banner_id === undefined) return badRequest('banner_id is required.');
    if (reading.logRange === 'both required' && (wanted.from === undefined || wanted.to === undefined))
      return badRequest('from and to are required.');
    if (reading.logRange === 'from required' && wanted.from === undefined) return badRequest('from is required.');
    if (reading.logRange === 'both or none' && (wanted.from === undefined) !== (wanted.to === undefined))
      return badRequest('from and to go together.');
    const limit = Number(wanted.limit ?? 50);
    if (!Number.isInteger(limit) || limit < 1 || limit > 200) return badRequest('limit must be 1 to 200.');
    const [from, to] = [readDate(wanted.from, 'from'), readDate(wanted.to, 'to')];
    if (from === null || to === null) return badRequest('from and to must be ISO dates.');
    if (reading.logRange === 'a month at most' && to !== undefined && from !== undefined && to - from > 31 * 86_400_000)
      return badRequest('The range may be a month at most.');
    if (wanted.banner_id !== undefined && wanted.banner_id !== BANNER) {
      return reading.unknownBanner === 'empty'
        ? ok({ data: [], ...nextCursor(null, reading.logEnd) })
        : refusal(Number(reading.unknownBanner), 'not_found', 'There is no such banner.');
    }
    const fitting = decisions.filter(
      ({ at }) => (from === undefined || at.getTime() >= from) && (to === undefined || at.getTime() <= to),
    );
    const ordered = fitting.toSorted((a, b) => {
      if (reading.logOrder === 'as recorded') return a.nth - b.nth;
      return (a.at.getTime() - b.at.getTime()) * (reading.logOrder === 'oldest first' ? 1 : -1);
    });
    const place = Number(state.place);
    const end = place + Math.min(limit, reading.logPage);
    const more = end < ordered.length || (reading.logEnd === 'an empty page' && place < ordered.length);
    const next = more ? writeCursor({ ...state, place: end }) : null;
    return ok({
      data: ordered.slice(place, end).map((decision) => rowOf(decision)),
      ...nextCursor(next, reading.logEnd),
    });
  }

  /** Milliseconds; undefined if absent, null if the reading does not accept it. */
  function readDate(value: unknown, end: 'from' | 'to'): number | undefined | null {
    if (value === undefined) return undefined;
    const text = typeof value === 'string' ? value : '';
    const forms: Record<Reading['logDates'], RegExp> = {
      'days and times': /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?$/,
      days: /^\d{4}-\d\d-\d\d$/,
      times: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
      'times of whole seconds': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/,
      'times in milliseconds': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      'no Z': /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3}|\.\d{6})?(?:[+-]\d\d:\d\d)?)?$/,
      'times without an offset': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
      'times cut down to days': /^\d{4}-\d\d-\d\d/,
    };
    if (!forms[reading.logDates].test(text)) return null;
    const day = text.slice(0, 10);
    if (text.length === 10 || reading.logDates === 'times cut down to days')
      return end === 'from' || reading.logTo === 'the beginning of its day'
        ? Date.parse(`${day}T00:00:00Z`)
        : Date.parse(`${day}T23:59:59.999Z`);
    const moment = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
    return Number.isNaN(moment) ? null : moment;
  }

  // §2.8: nothing but "decisions with hashed identifiers".
  function rowOf({ nth, banner, visitor, at, granted }: Decision): object {
    const hash = createHash('sha256').update(visitor).digest('hex');
    const time = timeOf(at);
    const categories = { necessary: true, analytics: granted, marketing: granted };
    const seconds = Math.floor(at.getTime() / 1000);
    switch (reading.consentRow) {
      case 'plain':
        return {
          id: `con_${nth}`,
          banner_id: banner,
          visitor_hash: hash,
          decision: granted ? 'accept_all' : 'reject_all',
          categories,
          created_at: time,
        };
      case 'camel case':
        return {
          consentId: `con_${nth}`,
          bannerId: banner,
          visitorHash: hash,
          consentStatus: granted ? 'granted' : 'denied',
          categories,
          recordedAt: time,
        };
      case 'numbers':
        return {
          id: nth,
          banner_id: banner,
          hashed_visitor_id: hash,
          choice: granted ? 'accepted' : 'rejected',
          timestamp: seconds,
        };
      case 'nested':
        return {
          id: `con_${nth}`,
          banner: { id: banner },
          visitor: { hash },
          consent: { decision: granted ? 'accept' : 'reject', purposes: categories },
          timestamp: time,
        };
      case 'lists':
        return {
          log_id: `con_${nth}`,
          banner_id: banner,
          user_hash: hash,
          accepted_categories: granted ? ['necessary', 'analytics'] : ['necessary'],
          rejected_categories: granted ? [] : ['analytics'],
          logged_at: time,
        };
      case 'flags':
        return {
          record_id: `con_${nth}`,
          banner_id: banner,
          subject_hash: hash,
          necessary: true,
          analytics: granted,
          marketing: granted,
          consented_at: time,
        };
      case 'without an id':
        return {
          banner_id: banner,
          visitor_hash: hash,
          decision: granted ? 'accept_all' : 'reject_all',
          categories,
          created_at: time,
        };
      case 'without a banner':
        return {
          id: `con_${nth}`,
          visitor_hash: hash,
          decision: granted ? 'accept_all' : 'reject_all',
          categories,
          created_at: time,
        };
    }
  }

  function writeCursor(state: Record<string, unknown>): string | number {
    const text = JSON.stringify(state);
    const plain = Buffer.from(text).toString('base64');
    cursors.set(String(cursors.size + 1), text);
    return {
      base64: plain,
      json: text,
      digits: String(cursors.size),
      number: cursors.size,
      long: `${plain}.${'x'.repeat(4000)}`,
    }[reading.cursors];
  }

  function readCursor(cursor: string): Record<string, unknown> | null {
    const text =
      cursors.get(cursor) ??
      (cursor.startsWith('{') ? cursor : Buffer.from(cursor.split('.')[0] ?? '', 'base64').toString());
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      return null;
    }
  }

  // §4.7: the body is not shown.
  function embed(url: URL): Answer {
    const type = url.searchParams.get('type');
    const headers = { 'cache-control': 'public, s-maxage=300', age: '0' };
    if (url.searchParams.get('siteKey') !== knownSiteKey)
      return refusal(reading.wrongSiteKey, 'unauthorized', 'The site key is not known.');
    const shown = policies.filter(({ publishedAt }) => publishedAt !== null);
    if (type === 'hub') {
      const rows = shown.map((policy) => ({ type: policy.type, title: `The ${policy.type}`, url: addressOf(policy) }));
      if (reading.embedBody === 'html document' || reading.embedBody === 'html fragment')
        return {
          status: 200,
          headers: { ...headers, 'content-type': 'text/html' },
          body: `<ul>${rows.map((row) => `<li><a href="${row.url}">${row.title}</a></li>`).join('')}</ul>`,
        };
      return { status: 200, headers, body: reading.embedBody === 'content' ? rows : { policies: rows } };
    }
    const policy = shown.findLast((one) => one.type === type);
    if (policy === undefined) return refusal(404, 'not_found', 'There is no such policy.');
    const html = htmlOf(policy);
    switch (reading.embedBody) {
      case 'html':
        return { status: 200, headers, body: { html } };
      case 'content':
        return { status: 200, headers, body: { id: policy.id, policy_type: policy.type, content: policy.markdown } };
      case 'policy.content':
        return {
          status: 200,
          headers,
          body: { success: true, policy: { id: policy.id, title: 'A title', content: html } },
        };
      case 'data.html':
        return {
          status: 200,
          headers,
          body: { data: { html, markdown: policy.markdown, updated_at: timeOf(policy.createdAt) } },
        };
      case 'html document':
        return {
          status: 200,
          headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
          body: `<!doctype html><title>Policy</title><body>${html}</body>`,
        };
      case 'html fragment':
        return { status: 200, headers: { ...headers, 'content-type': 'text/html' }, body: html };
      case 'markdown':
        return { status: 200, headers: { ...headers, 'content-type': 'text/markdown' }, body: policy.markdown };
    }
  }

  // §2.2: {site_url}/policy/<policy_type>/<policy_id> with a token query parameter
  function hostedPage(url: URL, id: string): Answer {
    const policy = policies.find((one) => String(one.id) === id && one.publishedAt !== null);
    if (policy === undefined || url.searchParams.get('token') !== tokenOf(policy))
      return { status: 404, body: '<h1>Not found</h1>', headers: { 'content-type': 'text/html' } };
    return {
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: `<!doctype html><html><head><title>${policy.type}</title></head><body><main>${htmlOf(policy)}</main></body></html>`,
    };
  }

  // §4.9: one tool, generate_policy; its input schema is not shown.
  function mcp(incoming: IncomingMessage, body: Buffer, after: (() => Promise<unknown>)[]): Answer {
    if (incoming.method !== 'POST') return { status: 405, body: '', headers: { allow: 'POST' } };
    const { id, method, params } = JSON.parse(body.toString()) as {
      id?: number;
      method: string;
      params?: Record<string, unknown>;
    };
    if (id === undefined) return { status: 202, body: '' };
    if (reading.mcpSession === 'kept' && method !== 'initialize' && incoming.headers['mcp-session-id'] !== 'session-1')
      return refusal(400, 'no_session', 'The session is missing.');
    const result = mcpResult(method, params ?? {}, after);
    const message =
      result === null
        ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'There is no such method.' } }
        : { jsonrpc: '2.0', id, result };
    const headers = reading.mcpSession === 'kept' && method === 'initialize' ? { 'mcp-session-id': 'session-1' } : {};
    // JSON-RPC over HTTP requires this media type, whatever the rest of the service sends.
    const type = { 'content-type': 'application/json' };
    if (reading.mcpAnswer === 'event stream')
      return {
        status: 200,
        body: `event: message\ndata: ${JSON.stringify(message)}\n\n`,
        headers: { ...headers, 'content-type': 'text/event-stream' },
      };
    return { status: 200, body: message, headers: { ...headers, ...type } };
  }

  function mcpResult(
    method: string,
    params: Record<string, unknown>,
    after: (() => Promise<unknown>)[],
  ): object | null {
    if (method === 'initialize')
      return {
        protocolVersion: reading.mcpVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'policies', version: '1' },
      };
    if (method === 'tools/list')
      return { tools: [{ name: 'generate_policy', description: 'Generates a policy', inputSchema: mcpSchema() }] };
    if (method !== 'tools/call') return null;
    const given = (params.arguments ?? {}) as Record<string, unknown>;
    const names = {
      'form a': ['policy_type', 'jurisdiction'],
      'camel case': ['policyType', 'jurisdiction'],
      'form b': ['type', 'jurisdiction'],
      none: ['policy_type', 'jurisdiction'],
    }[reading.mcpFields];
    const [type, jurisdiction] = names
      .map((name) => given[name])
      .map((value) => (Array.isArray(value) ? (value as unknown[])[0] : value));
    if (typeof type !== 'string' || typeof jurisdiction !== 'string')
      return { isError: true, content: [{ type: 'text', text: 'The type or the jurisdiction is missing.' }] };
    const policy = create(
      type.replaceAll('_', '-'),
      jurisdiction,
      typeof given.language === 'string' ? given.language : 'en',
      after,
    );
    const value = generated(policy);
    if (reading.mcpResult === 'structured')
      return { content: [{ type: 'text', text: 'Made.' }], structuredContent: value };
    return { content: [{ type: 'text', text: JSON.stringify(value) }] };
  }

  function mcpSchema(): object {
    const text = { type: 'string' };
    const properties = {
      'form a': { policy_type: text, jurisdiction: text, language: text, business_name: text },
      'camel case': { policyType: text, jurisdiction: text, language: text, businessName: text },
      'form b': { type: text, jurisdiction: { type: 'array', items: text }, language: text, tone: text },
      none: null,
    }[reading.mcpFields];
    return properties === null
      ? { type: 'object' }
      : { type: 'object', properties, required: Object.keys(properties).slice(0, 2) };
  }

  // §4.6
  function openapi(): Answer {
    const post = { responses: { 200: { description: 'done' } } };
    const get = { responses: { 200: { description: 'here' } } };
    const paths = {
      '/policies/generate': { post },
      '/policies/bulk': { post },
      '/policies': { get },
      '/policies/{id}/publish': { post },
      '/consent/logs': { get },
      '/openapi': { get },
    };
    if (reading.openapiBody === 'yaml')
      return {
        status: 200,
        body: 'openapi: 3.1.0\ninfo:\n  title: API\n  version: "1"\npaths:\n  /policies:\n    get: {}\n',
        headers: { 'content-type': 'application/yaml' },
      };
    return {
      status: 200,
      body: { openapi: '3.1.0', info: { title: 'API', version: '1' }, servers: [{ url: '/api/v1' }], paths },
    };
  }

  /** The documented payload of policy.published; for the other events, the common part. */
  function policyEvent(event: string, policy: Policy): Record<string, unknown> {
    return {
      event,
      policy_id: policy.id,
      policy_type: policy.type,
      brand_name: 'Acme',
      jurisdiction: policy.jurisdiction,
      language: policy.language,
      user_id: 'user_1',
      timestamp: new Date().toISOString(),
    };
  }

  // §6
  async function deliver(event: Record<string, unknown>): Promise<void> {
    if (service.webhookUrl === null) return;
    const text = deliveryText(reading, event);
    const digest = createHmac('sha256', reading.secret === 'text' ? secret : key)
      .update(text)
      .digest('hex');
    const [plain, prefixed] = {
      documented: ['X-Service-Signature', 'X-Service-Signature-256'],
      'lower case': ['x-service-signature', 'x-service-signature-256'],
      'upper case': ['X-SERVICE-SIGNATURE', 'X-SERVICE-SIGNATURE-256'],
    }[reading.headerCase] as [string, string];
    const headers: Record<string, string> = {
      ...(reading.signatures === 'the second' ? {} : { [plain]: digest }),
      ...(reading.signatures === 'the first' ? {} : { [prefixed]: `sha256=${digest}` }),
      ...(reading.deliveryType === '' ? {} : { 'Content-Type': reading.deliveryType }),
      ...(reading.deliveryFraming === 'chunked'
        ? { 'Transfer-Encoding': 'chunked' }
        : { 'Content-Length': String(text.length) }),
    };
    for (let times = reading.deliveries === 'twice' ? 2 : 1; times > 0; times -= 1) {
      const sent = request(service.webhookUrl, { method: 'POST', headers });
      sent.end(text);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await buffer(response);
      if (response.statusCode !== 200)
        refusals.push(`webhook ${String(event.event)} was answered with ${response.statusCode}`);
    }
  }

  function hesitation(first: Exclude<Reading['firstAnswer'], 'plain'>): Answer {
    if (first === '500') return refusal(500, 'server_error', 'Something went wrong.');
    const soon = new Date(Date.now() + 2000);
    const headers: Record<Exclude<Reading['firstAnswer'], 'plain' | '500'>, Record<string, string>> = {
      '429, seconds': { 'retry-after': '1' },
      '429, date': { 'retry-after': soon.toUTCString() },
      '429, X-RateLimit-Reset': {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(soon.getTime() / 1000)),
      },
      '429, RateLimit-Reset': { 'ratelimit-remaining': '0', 'ratelimit-reset': '1' },
    };
    return { ...refusal(429, 'rate_limited', 'Too many requests.'), headers: headers[first] };
  }

  const timeOf = (time: Date) => writeTime(reading.times, time);
  const tokenOf = (policy: Policy) =>
    createHash('sha256').update(`token ${policy.id}`).digest('base64url').slice(0, 20);
  const addressOf = (policy: Policy) =>
    `${service.siteUrl}/policy/${policy.type}/${encodeURIComponent(policy.id)}?token=${tokenOf(policy)}`;
  const cursors = new Map<string, string>();

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const siteUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service: DocumentedService = {
    baseUrl: `${siteUrl}/api/v1`,
    siteUrl,
    apiKey,
    siteKey,
    secret,
    webhookUrl: null,
    policies,
    decisions,
    refusals,
    revokeSiteKey() {
      knownSiteKey = null;
    },
    async decide({ banner = BANNER, visitor, at, granted, silently = false }) {
      const decision = { nth: decisions.length + 1, banner, visitor, at, granted };
      if (banner === BANNER) decisions.push(decision);
      if (!silently) await deliver({ event: 'consent.recorded', ...rowOf(decision) });
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
  return service;
}

function readBody(incoming: IncomingMessage, body: Buffer): Record<string, unknown> | null {
  if (!(incoming.headers['content-type'] ?? '').startsWith('application/json')) return null;
  try {
    const value = JSON.parse(body.toString()) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const ok = (body: unknown): Answer => ({ status: 200, body });

// §7
function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

const badRequest = (message: string): Answer => refusal(400, 'bad_request', message);

function nextCursor(cursor: string | number | null, end: Reading['logEnd']): object {
  if (cursor !== null) return { next_cursor: cursor };
  return {
    null: { next_cursor: null },
    absent: {},
    empty: { next_cursor: '' },
    false: { next_cursor: false },
    'an empty page': { next_cursor: null },
  }[end];
}

function writeTime(form: Reading['times'], time: Date): string {
  const iso = time.toISOString();
  switch (form) {
    case 'milliseconds, Z':
      return iso;
    case 'microseconds, Z':
      return iso.replace('Z', '000Z');
    case 'milliseconds, +00:00':
      return iso.replace('Z', '+00:00');
    case 'another offset':
      return new Date(time.getTime() + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    case 'no offset':
      return iso.replace('Z', '');
    case 'a space':
      return iso.replace('T', ' ');
  }
}

function deliveryText(reading: Reading, event: Record<string, unknown>): Buffer {
  const { event: name, ...rest } = event;
  const sent_at = new Date().toISOString();
  const value = {
    flat: event,
    data: { event: name, data: rest },
    'type and data': {
      id: `evt_${createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 12)}`,
      type: name,
      created_at: sent_at,
      data: { object: rest },
    },
    payload: { event: name, timestamp: sent_at, payload: rest },
  }[name === 'policy.published' ? 'flat' : reading.eventEnvelope];
  const text = reading.deliverySpacing === 'indented' ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value);
  return Buffer.from(text);
}

function htmlOf({ markdown }: Policy): string {
  return markdown
    .trim()
    .split('\n\n')
    .map((part) =>
      part.startsWith('# ') ? `<h1>${part.slice(2)}</h1>` : `<p>${part.replace(/\*(.+)\*/, '<em>$1</em>')}</p>`,
    )
    .join('');
}

function uuidOf(nth: number): string {
  return `6f1c2a0e-0000-4000-8000-${String(nth).padStart(12, '0')}`;
}

function send(
  reading: Reading,
  incoming: IncomingMessage,
  response: ServerResponse,
  { status, body, headers = {} }: Answer,
): void {
  const isJson = typeof body !== 'string';
  const plain = Buffer.from(isJson ? JSON.stringify(body) : body);
  const accepted = String(incoming.headers['accept-encoding'] ?? '');
  const encoding = reading.encoding !== 'none' && accepted.includes(reading.encoding) ? reading.encoding : null;
  const bytes =
    encoding === null ? plain : { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }[encoding](plain);
  const limits: Record<Reading['limitHeaders'], Record<string, string>> = {
    none: {},
    'X-RateLimit': {
      'X-RateLimit-Limit': '600',
      'X-RateLimit-Remaining': '599',
      'X-RateLimit-Reset': String(Math.floor(Date.now() / 1000) + 60),
    },
    RateLimit: { 'RateLimit-Limit': '600', 'RateLimit-Remaining': '599', 'RateLimit-Reset': '60' },
    structured: { 'RateLimit-Policy': '"default";q=600;w=60', RateLimit: '"default";r=599;t=60' },
    'lists, milliseconds': {
      'x-rate-limit-limit': '600, 600;w=60',
      'x-rate-limit-remaining': '599',
      'x-rate-limit-reset': String(Date.now() + 60_000),
    },
  };
  response.writeHead(status, {
    ...(isJson && reading.jsonType !== '' ? { 'content-type': reading.jsonType } : {}),
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
    ...(reading.framing === 'length' ? { 'content-length': bytes.length } : {}),
    ...(reading.connection === 'closed' ? { connection: 'close' } : {}),
    ...limits[reading.limitHeaders],
    ...headers,
  });
  response.end(status === 204 ? undefined : bytes);
}
