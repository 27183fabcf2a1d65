import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { isoNow } from '../../src/core/clock.ts';
import { can, type Role, roles } from '../../src/core/roles.ts';
import { sideBySide } from '../../src/core/side-by-side.ts';
import { createAdminApp } from '../../src/http/admin.ts';
import { requireRules } from '../../src/http/auth/access.ts';
import type { Rule } from '../../src/http/auth/route-permissions.ts';
import type { Metrics } from '../../src/http/metrics.ts';
import { rules } from '../../src/http/rules.ts';
import { newSession } from '../../src/people/sessions.ts';
import {
  addDocumentWithoutFile,
  createOfficeWorld,
  createVisitor,
  type OfficeWorld,
  signedInAs,
  type Visitor,
} from './office-world.ts';

/** Values for the addresses of a route, of one source. */
interface Objects {
  readonly source: string;
  readonly caseId: string;
  readonly documentId: string;
  readonly seq: string;
  readonly refusedId: string;
}

/** Text in every object of the other source, and nowhere else. */
const FOREIGN = 'Bolt';

/** One world for the file: every role calls every route, for objects of its own source and of another. */
let world: OfficeWorld;
let own: Objects;
let foreign: Objects;

const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});

beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  const { context } = world;
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  own = await createObjects('default', 'Acme');
  foreign = await createObjects('bolt', FOREIGN);
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
    requesterEmail: null,
    subject: null,
    jurisdiction: 'DE',
    message: null,
  });
  if (opened.outcome === 'refused') throw new Error(opened.problems.join());
  const evidence = await addBannerEvidence(context, {
    source,
    actor: 'test',
    bannerId: `banner-of-${name}`,
    note: name,
    from: '2026-01-01T00:00:00.000Z',
    to: null,
    fileName: `${name}.txt`,
    bytes: Buffer.from(`The banner of ${name}`),
  });
  if (evidence.outcome !== 'added') throw new Error(evidence.outcome);
  await context.projector.catchUp();
  const documentId = `document-of-${name}`;
  await addDocumentWithoutFile(context, { documentId, source, name, seq: opened.seq });
  const headers = { 'content-type': 'application/json' };
  const rawBody = Buffer.from(JSON.stringify({ event: 'consent.recorded', note: name }));
  context.rejected.note({ source, reason: 'missing', rawBody, headers, address: '192.0.2.1' });
  await context.rejected.flush();
  const [refused] = await context.rejected.list({ source });
  return { source, caseId: opened.caseId, documentId, seq: String(evidence.seq), refusedId: String(refused?.id) };
}

/**
 * Requests a route for the objects of one source. Forms contain only their source: an authorised sender is told what is
 * missing.
 */
async function call(visitor: Visitor, route: string, rule: Rule, objects: Objects) {
  const [method = '', pattern = ''] = route.split(' ');
  const { source, caseId, documentId, seq, refusedId } = objects;
  const path = pattern
    .replace(':caseId', caseId)
    .replace(':documentId', documentId)
    .replace(':seq', seq)
    .replace(':refusedId', refusedId)
    .replace(':personId', 'p-00000000')
    .replace(':slug', source);
  const named = 'source' in rule && ['query', 'form'].includes(rule.source);
  if (method === 'GET') return visitor.get(named ? `${path}?source=${source}` : path);
  if (['POST /banners', 'POST /documents/check', 'POST /cases/:caseId/attachments'].includes(route)) {
    const form = new FormData();
    form.set('source', source);
    return visitor.post(path, {}, { multipart: form });
  }
  return visitor.post(path, named ? { source } : {});
}

/** Routes of the API and for assistants use no sessions: api.test.ts and mcp.test.ts check the same rules for them. */
const guarded = Object.entries(rules).filter(
  ([route, rule]) => rule.who !== 'anyone' && !/ \/(?:api\/|mcp$)/.test(route),
);
const lasting = guarded.filter(([route]) => route !== 'POST /sign-out');

/** Concurrent requests: fewer than the connections that the admin listener accepts. */
const AT_ONCE = 40;

/** In parallel, since some of them wait a moment for a job. */
async function onEach(routes: typeof guarded, work: (route: string, rule: Rule) => Promise<void>): Promise<void> {
  await sideBySide(routes, AT_ONCE, ([route, rule]) => work(route, rule));
}

/** Neither forbidden nor a server error; the errors of an empty form are not the point here. */
function answered(status: number): number | 'answered' {
  return [401, 403, 500, 503].includes(status) ? status : 'answered';
}

describe('the route table', () => {
  it('names exactly the existing routes', async () => {
    const app = await createAdminApp(world.context, {} as Metrics, { notReady: async () => null });
    try {
      await app.ready();
      for (const route of Object.keys(rules)) {
        const [method = '', url = ''] = route.split(' ');
        if (!url.includes('*')) expect([route, app.hasRoute({ method, url })]).toEqual([route, true]);
      }
    } finally {
      await app.close();
    }
  });

  it('prevents an app from starting if a route has no rule', async () => {
    const app = Fastify({ exposeHeadRoutes: false });
    requireRules(app);
    expect(() => app.get('/healthz', async () => '')).not.toThrow();
    expect(() => app.get('/secrets', async () => '')).toThrow('GET /secrets has no rule');
    await app.close();
  });

  it('admits nobody without a session, or with an invented one', async () => {
    expect(guarded.length).toBeGreaterThan(30);
    for (const cookie of [null, 'A'.repeat(43)]) {
      const stranger = createVisitor(world.adminUrl);
      if (cookie !== null) stranger.cookies.set(`consent_ledger_session_${world.context.instance}`, cookie);
      await onEach(guarded, async (route, rule) => {
        const page = await call(stranger, route, rule, own);
        expect([route, page.status]).toEqual([route, 401]);
        expect(page.text).not.toContain('Acme Requester');
      });
    }
  });

  for (const role of roles)
    it(`admits the role ${role} exactly where a rule says so`, async () => {
      const visitor = await signedInAs(world, role);
      await onEach(lasting, async (route, rule) => {
        const { status } = await call(visitor, route, rule, foreign);
        const allowed = rule.who === 'self' || (rule.who !== 'anyone' && can(role, rule.who));
        if (allowed) expect([route, answered(status)]).toEqual([route, 'answered']);
        else expect([route, status]).toEqual([route, 403]);
      });
      expect((await visitor.post('/sign-out', {})).status).toBe(303);
    });

  for (const role of ['officer', 'auditor'] satisfies Role[])
    it(`shows the role ${role}, limited to one source, nothing about another`, async () => {
      const visitor = await signedInAs(world, role, { sources: ['default'] });
      const mine = lasting.filter(([, { who }]) => who === 'self' || (who !== 'anyone' && can(role, who)));
      await onEach(mine, async (route, rule) => {
        const isOfSource = 'source' in rule && rule.source !== 'installation';
        const theirs = await call(visitor, route, rule, own);
        expect([route, theirs.text.includes(FOREIGN)]).toEqual([route, false]);
        expect([route, answered(theirs.status)]).toEqual([route, 'answered']);
        const other = await call(visitor, route, rule, foreign);
        expect([route, other.text.includes(FOREIGN)]).toEqual([route, false]);
        if (!isOfSource) return;
        expect([route, other.status]).toEqual([route, 404]);
        // The answer does not distinguish objects there from objects that exist nowhere.
        const nowhere = {
          source: 'nowhere',
          caseId: 'nowhere-1',
          documentId: 'no-document',
          seq: '999999',
          refusedId: '9999',
        };
        expect((await call(visitor, route, rule, nowhere)).text).toBe(other.text);
      });
    });

  it('shows people with limited access nothing more if the address names no source', async () => {
    const visitor = await signedInAs(world, 'officer', { sources: ['default'] });
    const all = await signedInAs(world, 'officer');
    for (const path of [
      '/',
      '/cases',
      '/cases/new',
      '/banners',
      '/scans',
      '/figures',
      '/figures/file',
      '/consent',
      '/consent/contradictions',
      '/deliveries',
      '/documents',
      '/documents/schedules',
      '/deliveries/refused',
      '/deadline',
      '/policies',
      '/policies/calls',
      '/policies/generate',
      '/policies/bulk',
      '/evidence',
      '/sources',
      '/sources/default',
      '/sources/default/fields',
      '/settings/profile',
      '/settings/retention',
    ]) {
      const { status, text } = await visitor.get(path);
      expect([path, status, text.includes(FOREIGN)]).toEqual([path, 200, false]);
    }
    for (const path of ['/', '/cases', '/cases/new', '/sources']) expect((await all.get(path)).text).toContain(FOREIGN);
  });
});

describe('an auditor', () => {
  it('sees no form that changes anything but their own account', async () => {
    const visitor = await signedInAs(world, 'auditor');
    for (const path of [
      '/',
      '/cases',
      `/cases/${own.caseId}`,
      '/banners',
      '/scans',
      '/deadline',
      '/sources',
      '/sources/default',
      '/sources/default/fields',
    ]) {
      const { status, text } = await visitor.get(path);
      expect([path, status]).toEqual([path, 200]);
      const posts = [
        ...text.matchAll(/<form method="post" action="([^"]+)"|<form class="\w+" method="post" action="([^"]+)"/g),
      ];
      const paths = posts.map(([, one, two]) => one ?? two ?? '');
      expect(paths).toContain('/sign-out');
      const changing = paths.filter((to) => !['self', 'read'].includes(rules[`POST ${to}`]?.who ?? ''));
      expect([path, changing]).toEqual([path, []]);
      expect(text).not.toContain('href="/cases/new"');
    }
  });
});

describe('access to personal data', () => {
  it('is one entry for each session, object and hour, in the data’s source', async () => {
    const visitor = await signedInAs(world, 'officer', { name: 'Vera Viewer' });
    const looks = async () =>
      (await world.actions('record.viewed')).filter(({ actor }) => actor.startsWith('Vera Viewer (p-'));
    for (let look = 0; look < 3; look += 1) await visitor.get(`/cases/${own.caseId}`);
    await visitor.get('/cases');
    await visitor.get(`/banners/evidence/${own.seq}/file`);
    await visitor.get('/cases/nowhere-1');
    await visitor.get('/banners');
    expect((await looks()).map(({ object }) => object)).toEqual([own.caseId, 'requests', `evidence ${own.seq}`]);
    const [entry] = await world.context.store.read
      .selectFrom('action_history')
      .select('source')
      .where('action', '=', 'record.viewed')
      .where('object', '=', own.caseId)
      .execute();
    expect(entry?.source).toBe('default');
    // A request in the meantime, so that the session does not time out.
    world.setNow(new Date(Date.now() + 1_800_000).toISOString());
    await visitor.get('/account');
    world.setNow(new Date(Date.now() + 3_600_000).toISOString());
    await visitor.get(`/cases/${own.caseId}`);
    world.setNow(new Date().toISOString());
    expect((await looks()).length).toBe(4);
  });

  it('does not include entries that the viewer may not see', async () => {
    const visitor = await signedInAs(world, 'officer', { sources: ['default'], name: 'Nora Nosy' });
    await visitor.get(`/cases/${foreign.caseId}`);
    await visitor.get('/cases?source=bolt');
    expect((await world.actions('record.viewed')).filter(({ actor }) => actor.startsWith('Nora'))).toEqual([]);
  });
});

describe('a session of an account', () => {
  it('has current rights: losing a role takes effect with the next request', async () => {
    const visitor = await signedInAs(world, 'officer');
    expect((await visitor.get('/cases/new')).status).toBe(200);
    const set = (changes: Record<string, string | null>) =>
      world.context.store.transaction((tx) =>
        tx.query.updateTable('people').set(changes).where('person_id', '=', visitor.personId).execute(),
      );
    await set({ role: 'auditor' });
    expect((await visitor.get('/cases/new')).status).toBe(403);
    await set({ sources: '["bolt"]' });
    expect((await visitor.get(`/cases/${own.caseId}`)).status).toBe(404);
    expect((await visitor.get(`/cases/${foreign.caseId}`)).status).toBe(200);
    await set({ disabled_at: isoNow(world.context.clock) });
    expect((await visitor.get('/')).status).toBe(401);
  });

  it('stops working once its account is disabled', async () => {
    const now = isoNow(world.context.clock);
    const opening = { officer: 'Ghost', personId: 'p-ghost', way: 'test', browser: 'test' };
    const { session, row } = newSession(world.context, opening, now);
    await world.context.store.transaction((tx) => tx.insertMany('sessions', [row]));
    const visitor = createVisitor(world.adminUrl);
    visitor.cookies.set(`consent_ledger_session_${world.context.instance}`, session.id);
    expect((await visitor.get('/')).status).toBe(401);
  });
});
