import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { readers } from '../../src/projections/projection.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { createWorld, dump, officerAction, rules, type World, webhook } from './world.ts';

const at = '2026-03-01T12:00:00.000Z';
const request = (email: string, more: object = {}) => ({
  event: 'dsar.submitted',
  data: { email, request_type: 'access', submitted_at: '2026-03-01T10:00:00Z', ...more },
});
const consent = (visitor: string, status = 'accepted', more: object = {}) => ({
  event: 'consent.recorded',
  data: { visitor_hash: visitor, banner_id: 'b1', status, timestamp: '2026-03-01T11:00:00Z', ...more },
});

function delivery(body: string | Buffer, headers: Record<string, string> = {}): NewEntry {
  const bytes = Buffer.from(body);
  const meta = canonicalJson({ verdict: 'verified', secretId: 's1', contentType: null, headers });
  return { ...webhook('acme', { event: '' }, at), dedupeKey: sha256(bytes), meta, body: bytes };
}

/** Folds entries with the real readers; checks that a rebuild gives the same rows. */
async function fold(world: World, ...entries: readonly NewEntry[]) {
  await world.ledger.append(entries);
  const projector = world.projector({ read: readers });
  await projector.catchUp();
  expect((await compareWithRebuild({ ...rules(world.store), read: readers })).differences).toEqual([]);
  const { read } = world.store;
  return {
    projector,
    cases: await read.selectFrom('cases').select(['case_id', 'requester_email']).orderBy('case_id').execute(),
    delivery: await read.selectFrom('delivery_history').selectAll().orderBy('seq', 'desc').executeTakeFirstOrThrow(),
  };
}

it('each request in a body opens a case, numbered after the entry and its place in it', async () => {
  const world = await createWorld();
  const body = {
    events: [consent('v1'), request('ann@example.org'), request('ben@example.org'), request('eve@example.org')],
  };
  const { cases, delivery: row } = await fold(world, delivery(JSON.stringify(body)));
  expect(cases).toEqual([
    { case_id: 'acme-1', requester_email: 'ann@example.org' },
    { case_id: 'acme-1.3', requester_email: 'ben@example.org' },
    { case_id: 'acme-1.4', requester_email: 'eve@example.org' },
  ]);
  expect(row).toMatchObject({
    event: 'dsar.submitted',
    outcome: 'read',
    events: 4,
    reason: '4 events: 3 dsar.submitted, 1 consent.recorded',
  });
  const moved = await fold(
    world,
    officerAction(
      'acme',
      { action: 'case.moved', actor: 'ada', caseId: 'acme-1.3', basedOn: 0, move: 'start', details: {} },
      at,
    ),
  );
  expect(moved.cases).toHaveLength(3);
  const state = await world.store.read.selectFrom('cases').select('state').where('case_id', '=', 'acme-1.3').execute();
  expect(state).toEqual([{ state: 'in-progress' }]);
});

it('a request reported twice in a body is one case', async () => {
  const { cases } = await fold(
    await createWorld(),
    delivery(
      JSON.stringify([
        request('ann@example.org', { request_id: 'r1' }),
        request('ann@example.org', { request_id: 'r1', note: 'again' }),
      ]),
    ),
  );
  expect(cases).toEqual([{ case_id: 'acme-1', requester_email: 'ann@example.org' }]);
});

it('the decisions in a body are folded in its order, as if delivered one by one', async () => {
  const events = [
    consent('v1', 'accepted'),
    consent('v2', 'rejected'),
    // The same time: the later record counts.
    consent('v1', 'rejected', { record_id: 'later' }),
    consent('v3', 'accepted', { record_id: 'same' }),
    // Another record of the same decision contradicts it.
    consent('v3', 'rejected', { record_id: 'same' }),
  ];
  const [together, apart] = [await createWorld(), await createWorld()];
  await fold(together, delivery(JSON.stringify({ events })));
  await fold(apart, ...events.map((event) => delivery(JSON.stringify(event))));
  const states = async ({ store }: World) =>
    await store.read
      .selectFrom('decisions')
      .select(['subject', 'state', 'label', 'stands', 'changes'])
      .orderBy('subject')
      .execute();
  expect(await states(together)).toEqual(await states(apart));
  const period = { source: 'acme', asOf: 1, from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
  const later = { ...period, asOf: events.length };
  expect(await createHistory(together.store.read).recordTotals(period)).toEqual(
    await createHistory(apart.store.read).recordTotals(later),
  );
  const groups = async ({ store }: World, scope: typeof period) =>
    (await createHistory(store.read).decisionGroups(scope))
      .map(({ judged, decisions }) => `${judged} ${decisions}`)
      .sort();
  expect(await groups(together, period)).toEqual(await groups(apart, later));
  const rows: string[] = [];
  for await (const row of createHistory(together.store.read).decisionRows(period))
    rows.push(`${row.part} ${row.subject}`);
  expect(rows).toEqual(['0 v1', '1 v2', '2 v1', '3 v3', '4 v3']);
});

it('a page of rows that ends within an entry continues with its next event', async () => {
  const world = await createWorld();
  const bodies = [0, 1, 2].map((n) =>
    Array.from({ length: 900 }, (_, k) => consent(`v-${n}-${k}`, 'accepted', { record_id: `r-${n}-${k}` })),
  );
  await fold(world, ...bodies.map((events) => delivery(JSON.stringify({ events }))));
  const period = { source: 'acme', asOf: 9, from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
  const seen = new Set<string>();
  for await (const { subject } of createHistory(world.store.read).decisionRows(period)) seen.add(subject ?? '');
  expect(seen.size).toBe(2700);
  const found = new Set<string>();
  for await (const { decisionId } of createHistory(world.store.read).reconciledDecisions(period, 'only-webhook'))
    found.add(decisionId);
  expect(found.size).toBe(2700);
});

it('what cannot be read in a body is quarantined and shown, and does not hide the rest', async () => {
  const world = await createWorld();
  const body = { events: [request('ann@example.org'), { event: 'policy.deleted' }, { event: 'moon.risen' }] };
  const { cases, delivery: row } = await fold(world, delivery(JSON.stringify(body)));
  expect(cases).toHaveLength(1);
  expect(row).toMatchObject({ outcome: 'unreadable', events: 3 });
  expect(row.reason).toBe(
    '3 events: 1 dsar.submitted, 1 policy.deleted, 1 moon.risen; 2 not read: It contains no policy id.',
  );
  expect((await dump(world.store.read))['quarantine']).toMatchObject([
    { seq: 1, event: 'policy.deleted', reason: 'Of its 3 events: It contains no policy id.' },
  ]);
});

it('a compressed body, a form and lines of JSON open their cases', async () => {
  const json = JSON.stringify(request('ann@example.org'));
  const { cases } = await fold(
    await createWorld(),
    delivery(gzipSync(json), { 'content-encoding': 'gzip' }),
    delivery(`payload=${encodeURIComponent(JSON.stringify(request('ben@example.org')))}`),
    delivery(`${JSON.stringify(request('cat@example.org'))}\n${JSON.stringify(request('dan@example.org'))}\n`),
    delivery('event=dsar.submitted&email=eve%40example.org&name=%00Eve'),
  );
  expect(cases).toEqual([
    { case_id: 'acme-1', requester_email: 'ann@example.org' },
    { case_id: 'acme-2', requester_email: 'ben@example.org' },
    { case_id: 'acme-3', requester_email: 'cat@example.org' },
    { case_id: 'acme-3.2', requester_email: 'dan@example.org' },
    { case_id: 'acme-4', requester_email: 'eve@example.org' },
  ]);
});

it('a page of entries ends early if their bodies hold very many events', async () => {
  const world = await createWorld();
  const bodies = Array.from({ length: 12 }, (_, n) =>
    delivery(
      JSON.stringify({
        events: Array.from({ length: 1000 }, (__, k) => ({ event: 'integration.connected', id: `${n}-${k}` })),
      }),
    ),
  );
  await fold(world, ...bodies);
  const { n } = await world.store.read
    .selectFrom('integration_history')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  expect(Number(n)).toBe(12_000);
});
