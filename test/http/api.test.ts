import { request as httpRequest } from 'node:http';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { isoNow } from '../../src/core/clock.ts';
import { can, type Role, roles, tokenRole, tokenScopes } from '../../src/core/roles.ts';
import { sideBySide } from '../../src/core/side-by-side.ts';
import { apiRoutes } from '../../src/http/api/api.ts';
import { forgetAnswers } from '../../src/http/api/idempotency.ts';
import type { Rule } from '../../src/http/auth/route-permissions.ts';
import { rules } from '../../src/http/rules.ts';
import { isLong } from '../temporary.ts';
import { type Answer, type Caller, createCaller, tokenOf } from './api-caller.ts';
import { addDocumentWithoutFile, createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

/** One world for the file. */
let world: OfficeWorld;
let own: Objects;
let foreign: Objects;
let worker: Caller;
const FOREIGN = 'Bolt';

interface Objects {
  readonly source: string;
  readonly caseId: string;
  readonly documentId: string;
  readonly jobId: string;
  readonly seq: string;
}

const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});

beforeAll(async () => {
  world = await createOfficeWorld({ API_RATE_LIMIT: '1000000' }, { atEnd: (work) => ending.push(work) });
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  own = await createObjects('default', 'Acme');
  foreign = await createObjects('bolt', FOREIGN);
  worker = await tokenOf(world, 'officer', { scope: 'work', name: 'Wanda Worker' });
});

async function createObjects(source: string, name: string): Promise<Objects> {
  const { context } = world;
  const opened = await openCase(context.cases, {
    source,
    actor: name,
    receivedAt: isoNow(context.clock),
    kind: 'access',
    channel: 'letter',
    requesterName: `${name} Requester`,
    jurisdiction: 'DE',
  });
  if (opened.outcome === 'refused') throw new Error(opened.problems.join());
  await context.projector.catchUp();
  const documentId = `document-of-${name}`;
  await addDocumentWithoutFile(context, { documentId, source, name, seq: opened.seq });
  // Never due while this file runs.
  const runAt = new Date('2090-01-01T00:00:00Z');
  const payload = { source, actor: name };
  const { id: jobId } = await context.jobs.enqueue({ kind: 'sync', key: `test ${source}`, payload, runAt });
  return { source, caseId: opened.caseId, documentId, jobId, seq: String(opened.seq) };
}

/** Except the stream of a job that does not end while this file runs (api-work.test.ts). */
const api = Object.entries(rules).filter(
  ([route, rule]) => route.includes(' /api/v1/') && rule.who !== 'anyone' && !route.endsWith('/events'),
);

/** Requests a route for the objects of one source. Bodies contain only their source. */
function call(caller: Pick<Caller, 'get' | 'post'>, route: string, rule: Rule, objects: Objects): Promise<Answer> {
  const [method = '', pattern = ''] = route.split(' ');
  const { source, caseId, documentId, jobId, seq } = objects;
  const path = pattern
    .replace(':caseId', caseId)
    .replace(':documentId', documentId)
    .replace(':jobId', jobId)
    .replace(':seq', seq)
    .replace(':slug', source)
    .replace(':scheduleId', 'document-0')
    .replace(':planId', 'bulk-0');
  const named = 'source' in rule && ['query', 'form'].includes(rule.source);
  if (method === 'GET') return caller.get(named ? `${path}?source=${source}` : path);
  return caller.post(path, named ? { source } : {});
}

/** Not all at once, since a listener accepts a hundred connections. */
async function onEach(routes: typeof api, work: (route: string, rule: Rule) => Promise<void>): Promise<void> {
  await sideBySide(routes, 16, ([route, rule]) => work(route, rule));
}

const answered = (status: number): number | 'answered' => ([401, 403, 500, 503].includes(status) ? status : 'answered');

describe('the routes of the API', () => {
  it('are exactly those in the table of rules', () => {
    const described = apiRoutes.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    expect([...described].sort()).toEqual(
      Object.keys(rules)
        .filter((route) => route.includes(' /api/v1/'))
        .sort(),
    );
  });

  it('answer nobody without a token, with an invented one, or with a browser’s session', async () => {
    const visitor = await signedInAs(world, 'owner');
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const nobody = createCaller(world.adminUrl, null);
    const callers = [
      nobody,
      createCaller(world.adminUrl, `clt_${'A'.repeat(43)}`),
      createCaller(world.adminUrl, [...visitor.cookies.values()][0] ?? ''),
      {
        get: (path: string) => nobody.get(path, { cookie }),
        post: (path: string, body: unknown) => nobody.post(path, body, { cookie }),
      },
    ];
    const before = await countEntries();
    for (const caller of callers)
      await onEach(api, async (route, rule) => {
        const { status, json, headers, text } = await call(caller, route, rule, own);
        expect([route, status, json['code']]).toEqual([route, 401, 'sign_in_required']);
        expect(headers.get('content-type')).toContain('application/problem+json');
        expect(headers.get('www-authenticate')).toContain('Bearer');
        expect(text).not.toContain('Acme');
      });
    expect(await countEntries()).toBe(before);
  });

  it('do not accept a token on pages, which need a session', async () => {
    const caller = await tokenOf(world, 'owner', { scope: 'work' });
    for (const path of ['/', '/cases', '/people', '/account']) expect((await caller.get(path)).status).toBe(401);
    expect((await caller.post('/cases', { source: 'default' })).status).toBe(401);
  });

  for (const role of roles)
    for (const scope of tokenScopes)
      it(`admit a token of the role ${role} with scope ${scope} exactly where a rule says so`, async () => {
        if (scope !== 'read' && !can(role, scope)) {
          await expect(tokenOf(world, role, { scope })).rejects.toThrow(/auditor|owner or admin/);
          return;
        }
        const caller = await tokenOf(world, role, { scope });
        await onEach(api, async (route, rule) => {
          const { status } = await call(caller, route, rule, own);
          const allowed = rule.who === 'self' || (rule.who !== 'anyone' && can(tokenRole(role, scope), rule.who));
          expect([route, allowed ? answered(status) : status]).toEqual([route, allowed ? 'answered' : 403]);
        });
      });

  for (const [role, sources, tokenSources] of [
    ['officer', ['default'], null],
    ['auditor', ['default'], null],
    ['officer', null, ['default']],
    ['owner', null, ['default']],
  ] satisfies [Role, string[] | null, string[] | null][])
    it(`show a token of ${role} limited to one source (${sources === null ? 'by the token' : 'by the person'}) nothing about another`, async () => {
      const scope = role === 'auditor' ? 'read' : 'work';
      const caller = await tokenOf(world, role, { scope, sources, tokenSources });
      const mine = api.filter(
        ([, { who }]) => who === 'self' || (who !== 'anyone' && can(tokenRole(role, scope), who)),
      );
      expect(mine.length).toBeGreaterThan(8);
      const before = await countEntries('bolt');
      await onEach(mine, async (route, rule) => {
        const theirs = await call(caller, route, rule, own);
        expect([route, theirs.text.includes(FOREIGN)]).toEqual([route, false]);
        const other = await call(caller, route, rule, foreign);
        expect([route, other.text.includes(FOREIGN)]).toEqual([route, false]);
        if (!('source' in rule) || rule.source === 'installation') return;
        expect([route, other.status]).toEqual([route, 404]);
        // The answer does not distinguish objects there from objects that exist nowhere.
        const nowhere = {
          source: 'nowhere',
          caseId: 'nowhere-1',
          documentId: 'no-document',
          jobId: 'no-job',
          seq: '999999',
        };
        expect((await call(caller, route, rule, nowhere)).text).toBe(other.text);
      });
      for (const path of ['/api/v1/cases', '/api/v1/documents', '/api/v1/sources', '/api/v1/jobs', '/api/v1/syncs']) {
        const { status, text } = await caller.get(path);
        expect([path, status, /bolt/i.test(text)]).toEqual([path, 200, false]);
      }
      expect(await countEntries('bolt')).toBe(before);
    });
});

async function countEntries(source?: string): Promise<number> {
  const { count } = await world.context.store.read
    .selectFrom('entries')
    .$if(source !== undefined, (some) => some.where('source', '=', source ?? ''))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

describe('a token', () => {
  it('has its person’s current rights, and ends with the account', async () => {
    const caller = await tokenOf(world, 'officer', { scope: 'work' });
    const set = (changes: Record<string, string | null>) =>
      world.context.store.transaction((tx) =>
        tx.query.updateTable('people').set(changes).where('person_id', '=', caller.personId).execute(),
      );
    const body = { source: 'default' };
    expect((await caller.post('/api/v1/reports', body)).status).toBe(400);
    await set({ role: 'auditor' });
    const refused = await caller.post('/api/v1/reports', body);
    expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining('it needs the scope work')]);
    expect((await caller.get('/api/v1/me')).json).toMatchObject({ role: 'auditor', personId: caller.personId });
    await set({ sources: '["bolt"]' });
    expect((await caller.get(`/api/v1/cases/${own.caseId}`)).status).toBe(404);
    await set({ disabled_at: isoNow(world.context.clock) });
    expect((await caller.get('/api/v1/me')).status).toBe(401);
  });

  it('ends when it expires, and is stored only as a hash with its last use', async () => {
    const caller = await tokenOf(world, 'officer');
    expect((await caller.get('/api/v1/me')).status).toBe(200);
    const row = await world.context.store.read
      .selectFrom('api_tokens')
      .selectAll()
      .where('token_id', '=', caller.tokenId)
      .executeTakeFirstOrThrow();
    expect(row.last_used_at).not.toBeNull();
    expect(JSON.stringify(row)).not.toContain(caller.secret);
    expect(row.token_hash.includes(Buffer.from(caller.secret))).toBe(false);
    world.setNow(new Date(Date.now() + 31 * 86_400_000).toISOString());
    const after = await caller.get('/api/v1/me');
    world.setNow(new Date().toISOString());
    expect(after.status).toBe(401);
  });

  it('is created under Your account, shown once, listed and revoked there, with entries for both', async () => {
    const visitor = await signedInAs(world, 'officer', { name: 'Tina Token', sources: ['default'] });
    const { hashPassword } = await import('../../src/people/passwords.ts');
    const password = 'plough amber tuesday kettle';
    const hashed = await hashPassword(password);
    await world.context.store.transaction((tx) =>
      tx.query.updateTable('people').set({ password: hashed }).where('person_id', '=', visitor.personId).execute(),
    );
    const form = { label: 'the <b>data</b> warehouse', scope: 'read', days: '30' };
    expect((await visitor.post('/account/tokens', { ...form, present: 'wrong' })).status).toBe(422);
    const made = await visitor.post('/account/tokens', { ...form, present: password });
    const secret = /clt_[\w-]{43}/.exec(made.text)?.[0] ?? '';
    expect([made.status, secret]).toEqual([200, expect.stringMatching(/^clt_/)]);
    const caller = createCaller(world.adminUrl, secret);
    expect((await caller.get('/api/v1/me')).json).toMatchObject({ role: 'auditor', personRole: 'officer' });
    const page = await visitor.get('/account');
    expect(page.text).not.toContain(secret);
    expect(page.text).toContain('the &lt;b>data&lt;/b> warehouse');
    // The token sees no more than its owner.
    expect(page.text).not.toContain('every source');
    const tokenId = /name="token" value="(t-[0-9a-f]{8})"/.exec(page.text)?.[1] ?? '';
    const stranger = await signedInAs(world, 'owner');
    expect((await stranger.post('/account/tokens/revoke', { token: tokenId })).status).toBe(422);
    expect((await caller.get('/api/v1/me')).status).toBe(200);
    expect((await visitor.post('/account/tokens/revoke', { token: tokenId })).status).toBe(303);
    expect((await caller.get('/api/v1/me')).status).toBe(401);
    for (const name of ['person.token-created', 'person.token-revoked'])
      expect((await world.actions(name)).filter(({ actor }) => actor.startsWith('Tina Token'))).toHaveLength(1);
  });
});

describe('requests over the API', () => {
  const request = {
    source: 'default',
    kind: 'access',
    receivedAt: '2026-06-01T09:00:00+02:00',
    channel: 'e-mail',
    requesterName: 'Rosa Requester',
    jurisdiction: 'DE',
  };

  it('are recorded, listed in pages, viewed and moved; an unlawful move is refused with the reason', async () => {
    const opened = await worker.post('/api/v1/cases', request);
    expect([opened.status, opened.json['outcome']]).toEqual([201, 'opened']);
    const caseId = String(opened.json['caseId']);
    const shown = await worker.get(`/api/v1/cases/${caseId}`);
    expect(shown.json).toMatchObject({
      caseId,
      version: 0,
      state: 'opened',
      regime: 'eu-gdpr',
      legalLimit: '2026-07-01',
      history: [{ seq: opened.json['seq'], move: 'opened' }],
    });
    const moved = await worker.post(`/api/v1/cases/${caseId}/moves`, { move: 'start', basedOn: 0 });
    expect([moved.status, moved.json['version']]).toEqual([200, 1]);
    const stale = await worker.post(`/api/v1/cases/${caseId}/moves`, {
      move: 'note',
      basedOn: 0,
      details: { text: 'late' },
    });
    expect([stale.status, stale.json['code']]).toEqual([409, 'conflict']);
    const refused = await worker.post(`/api/v1/cases/${caseId}/moves`, {
      move: 'answer',
      basedOn: 1,
      details: { channel: 'letter', disclosure: 'full' },
    });
    expect([refused.status, refused.json['code']]).toEqual([422, 'refused']);
    expect(refused.json['problems']).toContainEqual(expect.stringContaining('not possible while'));
    const [entry] = (await world.actions('case.moved')).slice(-1);
    expect(entry?.actor).toMatch(/^Wanda Worker \(p-[0-9a-f]{8}\) by token t-[0-9a-f]{8}$/);

    const seen = new Set<unknown>();
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Answer = await worker.get(`/api/v1/cases?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
      expect(page.json.items?.length).toBe(1);
      for (const { caseId: id } of page.json.items ?? []) seen.add(id);
      cursor = page.json['nextCursor'] as string | null;
      pages += 1;
    } while (cursor !== null && pages < 20);
    expect(seen.size).toBe(pages);
    expect(seen).toContain(own.caseId);
    expect(seen).toContain(caseId);
    const filtered = await worker.get('/api/v1/cases?state=in-progress&open=true&source=default');
    expect(filtered.json.items?.map(({ caseId: id }) => id)).toEqual([caseId]);
  });

  it('are recorded once under one Idempotency-Key, whatever else is sent with it', async () => {
    const key = { 'idempotency-key': 'a-key-1' };
    const [first, second] = await Promise.all([
      worker.post('/api/v1/cases', request, key),
      worker.post('/api/v1/cases', request, key),
    ]);
    expect([first.status, second.status].sort()).toEqual([
      201,
      expect.toSatisfy((status) => [201, 409].includes(status as number)),
    ]);
    const again = await worker.post('/api/v1/cases', request, key);
    const original = first.status === 201 ? first : second;
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, original.text, 'true']);
    const other = await worker.post('/api/v1/cases', { ...request, channel: 'letter' }, key);
    expect([other.status, other.json['code']]).toEqual([422, 'refused']);
    const stranger = await tokenOf(world, 'officer', { scope: 'work' });
    const theirs = await stranger.post('/api/v1/cases', request, key);
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect(theirs.json['caseId']).not.toBe(again.json['caseId']);
    expect((await worker.post('/api/v1/cases', request, { 'idempotency-key': 'ü'.normalize('NFC') })).status).toBe(400);
    const kept = await world.context.store.read.selectFrom('idempotency_keys').selectAll().execute();
    for (const row of kept) expect(row.answer?.includes(Buffer.from(String(again.json['caseId'])))).not.toBe(true);
  });

  it('keep no answer for longer than a day, even if no other key is used', async () => {
    const kept = () => world.context.store.read.selectFrom('idempotency_keys').select('key_hash').execute();
    await worker.post('/api/v1/cases', request, { 'idempotency-key': 'a-key-2' });
    await forgetAnswers(world.context);
    expect((await kept()).length).toBeGreaterThan(0);
    const clock = () => new Date(world.context.clock().getTime() + 25 * 3_600_000);
    await forgetAnswers({ ...world.context, clock });
    expect(await kept()).toEqual([]);
  });

  it('are recorded as one entry for each token, object and hour when viewed', async () => {
    const caller = await tokenOf(world, 'auditor', { name: 'Lena Looker' });
    for (let look = 0; look < 2; look += 1) await caller.get(`/api/v1/cases/${own.caseId}`);
    await caller.get('/api/v1/cases');
    const looks = (await world.actions('record.viewed')).filter(({ actor }) => actor.startsWith('Lena Looker'));
    expect(looks.map(({ object }) => object)).toEqual([own.caseId, 'requests']);
    expect(looks[0]?.actor).toContain(`by token ${caller.tokenId}`);
  });
});

describe('documents and look-ups over the API', () => {
  // Removes fixture rows that have no entry: reports are refused while there are any.
  beforeAll(() =>
    world.context.store.foldTransaction((tx) =>
      tx.query.deleteFrom('documents').where('document_id', 'like', 'document-of-%').execute(),
    ),
  );

  it('a report is made as a job, found and downloaded, and the download is an entry', async () => {
    const asked = await worker.post('/api/v1/reports', {
      name: 'delivery-log',
      source: 'default',
      from: '2026-01-01',
      to: '2026-01-31',
      format: 'json',
    });
    expect(asked.status).toBe(202);
    let job: Answer = asked;
    await expect
      .poll(async () => {
        job = await worker.get(`/api/v1/jobs/${String(asked.json['jobId'])}`);
        return job.json['state'];
      })
      .not.toMatch(/waiting|running/);
    expect(job.json).toMatchObject({ state: 'done', error: null });
    const { documentId, sha256 } = job.json['result'] as { documentId: string; sha256: string };
    const listed = await worker.get('/api/v1/documents?name=delivery-log&source=default');
    expect(listed.json.items?.map((one) => one['documentId'])).toContain(documentId);
    expect((await worker.get(`/api/v1/documents/${documentId}`)).json).toMatchObject({ documentId, sha256 });
    const file = await worker.get(`/api/v1/documents/${documentId}/download`);
    expect(file.status).toBe(200);
    expect(file.headers.get('content-disposition')).toContain('attachment');
    expect((await world.actions('document.downloaded')).at(-1)?.actor).toContain('Wanda Worker');
    const backwards = { name: 'delivery-log', source: 'default', from: '2026-02-01', to: '2026-01-01', format: 'json' };
    expect((await worker.post('/api/v1/reports', backwards)).status).toBe(422);
  });

  it('a look-up answers with cited entries and is itself an entry', async () => {
    const seq = await world.event('consent.recorded', {
      consent_id: 'rec-api-1',
      banner_id: 'bnr_1',
      visitor_hash: 'visitor-of-the-api',
      consent: { analytics: true, marketing: false },
      recorded_at: '2026-05-01T10:00:00.000Z',
    });
    const found = await worker.post('/api/v1/consent/look-up', {
      source: 'default',
      identifier: 'rec-api-1',
      at: isoNow(world.context.clock),
    });
    expect([found.status, found.json['outcome']]).toEqual([200, 'found']);
    expect(found.text).toContain(`"seq":${seq}`);
    expect(found.json['standing']).toMatchObject([
      { purposes: expect.arrayContaining([expect.objectContaining({ purpose: 'analytics', state: 'granted' })]) },
    ]);
    const deliveries = await worker.get('/api/v1/deliveries?event=consent.recorded&limit=1');
    expect(deliveries.json.items).toMatchObject([{ seq, source: 'default', outcome: 'read' }]);
    const entry = await worker.get(`/api/v1/entries/${seq}`);
    expect(entry.json).toMatchObject({ seq, kind: 'webhook', commitment: deliveries.json.items?.[0]?.['commitment'] });
    expect(String(entry.json['bodyText'])).toContain('rec-api-1');
    const none = await worker.post('/api/v1/consent/look-up', {
      source: 'default',
      identifier: 'nobody-at-all',
      at: isoNow(world.context.clock),
    });
    expect(none.json['outcome']).toBe('not-found');
    expect((await world.actions('consent.looked-up')).length).toBeGreaterThan(1);
    const texts = await worker.get('/api/v1/policies/texts?source=default&policyId=p1&withText=true');
    expect([texts.status, texts.json.items]).toEqual([200, []]);
  });
});

/** Strings that have broken other programs. */
const naughty = [
  '../../etc/passwd',
  '%00',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}${7*7}',
  'a'.repeat(5000),
  '\u202Eoverride',
  '💥'.repeat(50),
  '-1',
  '9'.repeat(30),
  'null',
  '\r\nX-Evil: 1',
  '__proto__',
];
const hostileBodies: readonly unknown[] = [
  null,
  [],
  'text',
  { __proto__: null, constructor: { prototype: { admin: true } } },
  { source: 'default', kind: ['access'] },
  { source: { $ne: '' } },
  { source: 'default', identifier: '\u0000', at: 'now' },
  JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`),
];

describe('hostile or wrong use', () => {
  it('in address, query or body of any API route gives an answer or a problem, never a 5xx', async () => {
    const caller = await tokenOf(world, 'admin', { scope: 'administer' });
    let asked = 0;
    // `npm test` uses a third of the texts for each route: the code that parses an address is the same for all.
    for (const [nth, [route, rule]] of api.entries()) {
      const [method = '', pattern = ''] = route.split(' ');
      const places: string[] = [];
      for (const text of naughty.filter((_, place) => isLong || place % 3 === nth % 3)) {
        const safe = encodeURIComponent(text);
        places.push(pattern.replaceAll(/:\w+/g, safe));
        const names = ['source', 'cursor', 'limit', 'asOf', 'policyId', 'state', 'constructor'];
        for (const name of [names[places.length % 7] ?? '', names[(places.length + 3) % 7] ?? ''])
          places.push(
            `${pattern.replace(':caseId', own.caseId).replace(':jobId', own.jobId).replace(':seq', own.seq)}?${name}=${safe}`,
          );
      }
      for (const path of new Set(places)) {
        const answer = method === 'GET' ? await caller.get(path) : await caller.post(path, {});
        asked += 1;
        expect([path, answer.status < 500]).toEqual([path, true]);
        expect(answer.headers.get('x-evil')).toBeNull();
        if (answer.status >= 400)
          expect([path, answer.headers.get('content-type')]).toEqual([path, expect.stringContaining('json')]);
      }
      if (method !== 'POST') continue;
      const path = pattern.replace(':caseId', own.caseId);
      for (const body of [...hostileBodies, '{"source":"\\ud800"}', '{', '']) {
        const { status, json } = await caller.post(path, typeof body === 'string' ? body : JSON.stringify(body));
        asked += 1;
        expect([path, body, status >= 200 && status < 500]).toEqual([path, body, true]);
        if (status >= 400) expect(typeof json['code']).toBe('string');
      }
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
        const { status } = await caller.post(path, 'source=default', { 'content-type': type });
        expect([path, type, status]).toEqual([path, type, 415]);
      }
      expect('source' in rule).toBe(true);
    }
    expect(asked).toBeGreaterThan(isLong ? 500 : 250);
  });

  it('with an unknown route or method, or a number without a JSON form, gets a problem', async () => {
    for (const answer of [
      await worker.get('/api/v1/nothing'),
      await worker.get('/api/v1/cases/x/y/z'),
      await createCaller(world.adminUrl, null).get('/api/v1'),
      await worker.post('/api/v1/me', {}),
    ]) {
      expect([answer.status, answer.json['code']]).toEqual([404, 'not_found']);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    }
    const body = '{"source":"default","kind":1e400}';
    const endless = await worker.post('/api/v1/cases', body, { 'idempotency-key': 'endless' });
    expect([endless.status, endless.json['code']]).toEqual([400, 'invalid_request']);
    const cut = await worker.post('/api/v1/cases', '{"source":"default",', { 'idempotency-key': 'cut' });
    expect([cut.status, cut.json['code'], cut.json['detail']]).toEqual([
      400,
      'invalid_request',
      'The body is not valid JSON.',
    ]);
  });

  it('cannot read the bytes of a call to the service, which may repeat its API key', async () => {
    const { context } = world;
    const [appended] = await context.ledger.append([
      {
        source: 'default',
        kind: 'call',
        dedupeKey: context.ledger.keyOf('call', 'a test of the API'),
        receivedAt: isoNow(context.clock),
        meta: Buffer.from('{}'),
        body: Buffer.from('{"echo":"pak_live_secret"}'),
      },
    ]);
    const { status, text, json } = await worker.get(`/api/v1/entries/${appended?.seq}`);
    expect([status, json['kind'], json['bodyText'], json['bodyBase64']]).toEqual([200, 'call', null, null]);
    expect(text).not.toContain('pak_live');
  });

  it('with a token that has no visible source left shows nothing', async () => {
    const caller = await tokenOf(world, 'officer', { sources: ['default'], tokenSources: ['default'] });
    await world.context.store.transaction((tx) =>
      tx.query.updateTable('people').set({ sources: '["bolt"]' }).where('person_id', '=', caller.personId).execute(),
    );
    for (const list of ['cases', 'documents', 'deliveries', 'jobs', 'syncs', 'policies', 'sources']) {
      const { status, json } = await caller.get(`/api/v1/${list}`);
      expect([list, status, json.items]).toEqual([list, 200, []]);
    }
  });

  it('gets every problem of a request at once, without its own secrets', async () => {
    const { status, json, text } = await worker.post('/api/v1/cases', { source: 'default', kind: 'x', extra: 1 });
    expect([status, json['code']]).toEqual([400, 'invalid_request']);
    expect((json['problems'] as string[]).length).toBeGreaterThan(2);
    expect(text).not.toContain(worker.secret);
    expect(Object.keys(json).sort()).toEqual(['code', 'detail', 'problems', 'status', 'title', 'type']);
  });

  it('under a foreign host name is refused, and another site cannot read the response', async () => {
    const { hostname, port } = new URL(world.adminUrl);
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { host: 'evil.example', authorization: `Bearer ${worker.secret}` };
      httpRequest({ hostname, port, path: '/api/v1/cases', headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(421);
    const cross = await worker.get('/api/v1/me', { origin: 'https://evil.example' });
    expect(cross.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetch(`${world.adminUrl}/api/v1/cases`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([preflight.ok, preflight.headers.get('access-control-allow-origin')]).toEqual([false, null]);
  });
});

describe('the description of the API', () => {
  it('is valid OpenAPI 3.1, passes the linter, and matches the server’s answers', async () => {
    const anyone = createCaller(world.adminUrl, null);
    const { status, text, json } = await anyone.get('/openapi.json');
    expect([status, json['openapi']]).toEqual([200, '3.1.0']);
    expect(
      (await new Validator().validate(JSON.parse(text) as Parameters<Validator['validate']>[0])).errors,
    ).toBeUndefined();
    const config = await createConfig({ extends: ['recommended-strict'] });
    const findings = await lintFromString({ source: text, config });
    expect(findings.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it('is a page without external resources', async () => {
    const { status, text, headers } = await createCaller(world.adminUrl, null).get('/api');
    expect(status).toBe(200);
    for (const { path, name } of apiRoutes) {
      expect(text).toContain(path.replaceAll('{', '{'));
      expect(text).toContain(`id="${name}"`);
    }
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(text).not.toContain('<script');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('a token with too many requests', () => {
  it('shows how many requests are left, then asks the client to wait', async () => {
    const slow = await createOfficeWorld({ API_RATE_LIMIT: '3' }, { worker: false });
    const caller = await tokenOf(slow, 'officer');
    const other = await tokenOf(slow, 'officer');
    const answers: Answer[] = [];
    for (let at = 0; at < 4; at += 1) answers.push(await caller.get('/api/v1/me'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['2', '1', '0', '0']);
    expect(answers[3]?.json['code']).toBe('too_many_requests');
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await other.get('/api/v1/me')).status).toBe(200);
  });
});
