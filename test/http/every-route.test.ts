import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { sideBySide } from '../../src/core/side-by-side.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { rules } from '../../src/http/rules.ts';
import { isLong } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';
import { fetchedText, seedRequests } from './pages/seed.ts';

/** Texts that try to break out of their place into elements, attributes, headers or addresses. */
const breakOuts = [
  '"><hostile-tag onx=1>',
  `'><hostile-tag>`,
  '</title></textarea></script></style><hostile-tag>',
  '" hostile-attribute="1',
  "' hostile-attribute='1",
  '--><hostile-tag><!--',
  '<![CDATA[<hostile-tag>]]>',
  '&lt;hostile-tag&gt;&#x3c;hostile-tag&#x3e;',
  'x\r\nhostile-header: 1\r\n\r\n<hostile-tag>',
  '%0d%0ahostile-header:%201',
  'javascript:hostile()//',
  'data:text/html,<hostile-tag>',
  '//hostile.example/x',
  'https://hostile.example/x',
  '/\\hostile.example',
  '\\\\hostile.example\\x',
  '/%2fhostile.example',
  '../../../../etc/passwd',
  '..%2f..%2f..%2fetc%2fpasswd',
  "'; DROP TABLE entries; --",
  '{{7*7}}${7*7}<%= 7*7 %>',
  '\u202e\u2066\ufeff<hostile-tag>',
  '\ud800',
  '=HYPERLINK("https://hostile.example")',
] as const;

/**
 * A quarter of the texts for each route, and each quarter for a quarter of the routes, since the same few functions read all
 * fields. `npm run test:long` uses all.
 */
const breakOutsFor = (place: number) => breakOuts.filter((_, n) => isLong || n % 4 === place % 4);

/** Names in forms, addresses and bodies of this program, and names that a similar program might have. */
const names = [
  ...[
    'source',
    'id',
    'q',
    'done',
    'after',
    'before',
    'token',
    'next',
    'url',
    'return',
    'redirect',
    'back',
    'to',
    'from',
  ],
  ...['name', 'email', 'kind', 'format', 'language', 'step', 'place', 'at', 'identifier', 'subject', 'reason', 'by'],
  ...[
    'slug',
    'case',
    'caseId',
    'state',
    'event',
    'outcome',
    'entry',
    'older',
    'newer',
    'cursor',
    'limit',
    'type',
    'law',
  ],
  ...[
    'text',
    'title',
    'view',
    'cron',
    'note',
    'bannerId',
    'policyId',
    'jurisdiction',
    'move',
    'basedOn',
    'list',
    'file',
  ],
];

/** One world for the file, where every name is a text that tries to break out. */
let world: OfficeWorld;
let owner: Visitor;
let token: Awaited<ReturnType<typeof tokenOf>>;
let parameters: Readonly<Record<string, string>>;
const NAME = `Zoe ${breakOuts[0]} ${breakOuts[3]}`;

const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});

beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  const { context } = world;
  await seedRequests(world);
  await fetchedText(world, { at: new Date().toISOString(), page: `<h1>${NAME}</h1>`, policyId: NAME });
  await world.event(`consent.${NAME}`, {
    consent_id: NAME,
    banner_id: NAME,
    visitor_hash: NAME,
    consent: { [NAME]: true },
  });
  await world.event('policy.published', { policy_id: NAME, type: NAME, url: breakOuts[10], language: NAME });
  await context.sources.add({ slug: 'shop', name: NAME, webhookSecrets: ['a-secret-of-the-shop'] }, NAME);
  const opened = await openCase(context.cases, {
    ...{
      source: 'default',
      kind: 'access',
      channel: NAME,
      requesterName: NAME,
      requesterEmail: null,
      jurisdiction: 'DE',
    },
    ...{ message: NAME, subject: null, receivedAt: new Date().toISOString(), actor: NAME },
  });
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
  const evidence = await addBannerEvidence(context, {
    ...{ source: 'default', actor: NAME, bannerId: 'bnr_1', note: NAME, from: '2026-01-01T00:00:00.000Z', to: null },
    ...{ fileName: `${NAME}.html`, bytes: Buffer.from(`<html><hostile-tag>${NAME}`) },
  });
  if (evidence.outcome !== 'added') throw new Error(JSON.stringify(evidence));
  const rawBody = Buffer.from(JSON.stringify({ event: NAME }));
  context.rejected.note({
    source: 'default',
    reason: 'missing',
    rawBody,
    headers: { 'user-agent': NAME },
    address: NAME,
  });
  await context.rejected.flush();
  const [refused] = await context.rejected.list({ source: 'default' });
  await context.projector.catchUp();
  const report = await produceReport(context.documents, {
    ...{ name: 'delivery-log', source: 'default', format: 'csv', actor: NAME },
    ...{ from: '2020-01-01', to: '2099-12-31' },
  });
  parameters = {
    caseId: opened.caseId,
    documentId: 'documentId' in report ? report.documentId : '',
    seq: String(evidence.seq),
    refusedId: String(refused?.id),
    slug: 'shop',
  };
  owner = await signedInAs(world, 'owner', { name: NAME });
  token = await tokenOf(world, 'owner', { scope: 'read', name: NAME });
});

const routes = Object.keys(rules).map((route) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, path };
});
/** A stream that does not end, and requests that end the session. */
const apart = /\/events$|\/live$|^\/(?:mcp|sign-out)$/;
const gets = routes.filter(({ method, path }) => method === 'GET' && !apart.test(path));
const posts = routes.filter(({ method, path }) => method === 'POST' && !apart.test(path));

const addressOf = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(Buffer.from(values[name] ?? 'none').toString()).replaceAll('%2F', '/'),
  );

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = new Headers(init.headers);
  if (path.startsWith('/api/')) headers.set('authorization', `Bearer ${token.secret}`);
  else headers.set('cookie', cookie);
  const response = await fetch(world.adminUrl + path, { ...init, headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The faults of a response, whatever was requested. */
function faultsOf({ status, headers, text }: Answer): readonly string[] {
  const faults: string[] = [];
  if (status >= 500) faults.push(`status ${status}`);
  if (headers.has('hostile-header')) faults.push('a header was injected');
  const location = headers.get('location');
  if (location !== null && new URL(location, world.adminUrl).origin !== new URL(world.adminUrl).origin)
    faults.push(`leads to ${location}`);
  if (headers.get('x-content-type-options') !== 'nosniff') faults.push('may be sniffed');
  if (/\bat .+\.[jt]s:\d+|SQLITE_|SqliteError|node:internal/.test(text)) faults.push('tells of the inside');
  const type = headers.get('content-type') ?? '';
  const disposition = headers.get('content-disposition') ?? '';
  if (/[\u0000-\u001f\u007f]/.test(disposition)) faults.push('a name of a file with control characters');
  if (type.includes('html') && !disposition.startsWith('attachment')) {
    if (!/default-src 'none'|default-src 'self'/.test(headers.get('content-security-policy') ?? ''))
      faults.push('no content security policy');
    if (!/no-store/.test(headers.get('cache-control') ?? '')) faults.push('may be kept by a cache');
    faults.push(...madeIn(parse(text)));
  }
  return faults;
}

/** Elements, attributes and addresses that no page of this program should have. */
function madeIn(node: DefaultTreeAdapterTypes.Node): readonly string[] {
  const faults: string[] = [];
  if ('tagName' in node) {
    if (node.tagName === 'hostile-tag') faults.push('an element broke out');
    for (const { name, value } of node.attrs) {
      // The empty icon that keeps browsers from requesting one, and the QR code for an authenticator app.
      if (value === 'data:,' || (node.tagName === 'img' && value.startsWith('data:image/svg+xml;base64,'))) continue;
      if (/^on|hostile/.test(name)) faults.push(`an attribute broke out: ${name}`);
      if (['href', 'src', 'action', 'formaction'].includes(name) && isHostile(value))
        faults.push(`${node.tagName} leads to ${value}`);
    }
  }
  if ('childNodes' in node) for (const child of node.childNodes) faults.push(...madeIn(child));
  return faults;
}

function isHostile(address: string): boolean {
  const { protocol, hostname } = new URL(address, world.adminUrl);
  return protocol === 'javascript:' || protocol === 'data:' || hostname === 'hostile.example';
}

/** Requests in parallel; returns the faults, with the request. */
async function faultsIn<T>(list: readonly T[], work: (one: T) => Promise<readonly [string, Answer]>) {
  const faults: string[] = [];
  await sideBySide([...list], 20, async (one) => {
    const [asked, answer] = await work(one);
    faults.push(...faultsOf(answer).map((fault) => `${asked.slice(0, 200)}: ${fault}`));
  });
  return faults;
}

describe('every route', () => {
  it('escapes names that try to break out of the markup', async () => {
    const faults = await faultsIn(gets, async ({ path }) => {
      const address = addressOf(path, parameters);
      const query = path.startsWith('/api/') ? '' : '?source=default';
      return [address, await ask(address + query)];
    });
    expect(faults).toEqual([]);
    // The texts of the world do appear on pages.
    for (const path of [
      '/cases',
      `/cases/${parameters['caseId']}`,
      '/sources',
      '/policies',
      '/deliveries',
      '/documents',
    ])
      expect([path, (await ask(path)).text.includes('&lt;hostile-tag')]).toEqual([path, true]);
  });

  it('handles hostile address parameters without harm', async () => {
    const tried = gets.flatMap(({ path }, place) => {
      const texts = breakOutsFor(place);
      const alike = texts.map((text) => {
        const query = new URLSearchParams(names.map((name) => [name, text]));
        return `${addressOf(path, parameters)}?${query.toString()}`;
      });
      const within = path.includes(':')
        ? texts.map((text) =>
            addressOf(path, Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, text]))),
          )
        : [];
      const twice = `${addressOf(path, parameters)}?${names.map((name) => `${name}=a&${name}=b&${name}[]=c&${name}[x]=d`).join('&')}`;
      return [...alike, ...within, twice];
    });
    expect(tried.length).toBeGreaterThan(isLong ? 1500 : 500);
    expect(await faultsIn(tried, async (path) => [path, await ask(path)])).toEqual([]);
  });

  it('handles hostile form fields and bodies without harm', async () => {
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await ask('/account')).text)?.[1] ?? '';
    const tried = posts.flatMap(({ path }, place) =>
      breakOutsFor(place).map((text) => ({ path: addressOf(path, parameters), text, isApi: path.startsWith('/api/') })),
    );
    const faults = await faultsIn(tried, async ({ path, text, isApi }) => {
      const fields = Object.fromEntries(names.map((name) => [name, text]));
      const init: RequestInit = isApi
        ? { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', 'idempotency-key': 'k' } }
        : { body: new URLSearchParams({ ...fields, _csrf: csrf }) };
      return [`POST ${path} ${text}`, await ask(path, { method: 'POST', ...init })];
    });
    expect(faults).toEqual([]);
  });

  it('changes nothing for another site’s form, or without its token', async () => {
    await world.context.projector.catchUp();
    const size = async () =>
      Number(
        (
          await world.context.store.read
            .selectFrom('entries')
            .select((eb) => eb.fn.max('seq').as('n'))
            .executeTakeFirstOrThrow()
        ).n,
      );
    const before = await size();
    const wrong: unknown[] = [];
    const own = posts.filter(({ path }) => !path.startsWith('/api/') && rules[`POST ${path}`]?.who !== 'anyone');
    expect(own.length).toBeGreaterThan(50);
    for (const { path } of own)
      for (const body of [
        new URLSearchParams({ source: 'default' }),
        new URLSearchParams({ source: 'default', _csrf: 'A'.repeat(40) }),
        JSON.stringify({ source: 'default' }),
      ]) {
        const headers =
          typeof body === 'string' ? { 'content-type': 'text/plain' } : { origin: 'https://hostile.example' };
        const { status } = await ask(addressOf(path, parameters), { method: 'POST', body, headers });
        if (status < 400 || status >= 500) wrong.push([path, status]);
      }
    expect(wrong).toEqual([]);
    expect(await size()).toBe(before);
    // The API does not accept a session cookie.
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const { path } of posts.filter((one) => one.path.startsWith('/api/'))) {
      const { status } = await fetch(world.adminUrl + addressOf(path, parameters), {
        ...{ method: 'POST', body: '{}', headers: { cookie, 'content-type': 'application/json' } },
      });
      expect([path, status]).toEqual([path, 401]);
    }
  });
});
