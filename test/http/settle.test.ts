import { expect, it } from 'vitest';
import { loadFindings } from '../../src/consent/findings.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** A decision as the service delivers it, the same record again with another choice; resolves with the last entry. */
async function contradict(world: OfficeWorld, id: string, choices = [true, false]): Promise<number> {
  let seq = 0;
  for (const analytics of choices)
    seq = await world.event('consent.recorded', {
      consent_id: id,
      banner_id: 'bnr_1',
      visitor_hash: `visitor-of-${id}`,
      consent: { analytics },
      recorded_at: new Date(Date.now() - 3_600_000).toISOString(),
    });
  return seq;
}

const list = '/consent/contradictions';
const ticksIn = (text: string) =>
  [...text.matchAll(/name="finding"[^>]*value="([^"]+)"/g)].map(([, value = '']) => value);
const today = async (visitor: Visitor) => (await visitor.get('/')).text;
/** Sends the form; fields may be repeated. */
function settle(visitor: Visitor, path: string, finding: readonly string[], fields: Record<string, string>) {
  return visitor.get('/account').then(({ text }) => {
    const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const body = new URLSearchParams({ ...fields, _csrf: csrf });
    for (const one of finding) body.append('finding', one);
    return visitor.send(path, { method: 'POST', body });
  });
}

it('an officer settles all ticked contradictions: the task goes, the entries say who found what and why', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  for (const id of ['a', 'b', 'c']) await contradict(world, id);
  const olga = await signedInAs(world, 'officer', { name: 'Olga Officer' });
  expect(await today(olga)).toContain('Resolve 3 contradictory decisions');
  const page = await olga.get(list);
  const ticks = ticksIn(page.text);
  expect(ticks).toHaveLength(3);
  expect(page.text).toContain('Nothing counts as consent because of it.');
  const done = await settle(olga, `${list}/settle`, ticks.slice(0, 2), {
    conclusion: 'refusal-confirmed',
    reason: 'Ticket 4711 of the service',
  });
  expect([done.status, done.headers.get('location')]).toEqual([303, `${list}?source=&from=&to=&settled=&done=settled`]);
  expect((await olga.get(`${list}?done=settled`)).text).toContain('Recorded. Your name');
  expect(ticksIn((await olga.get(list)).text)).toEqual([ticks[2]]);
  expect(await today(olga)).toContain('Resolve 1 contradictory decision:');
  const settled = (await olga.get(`${list}?settled=yes`)).text;
  for (const words of ['The service confirmed: refused', 'Ticket 4711 of the service', 'Olga Officer'])
    expect(settled).toContain(words);
  const [, entry = ''] = />, <a href="(\/entries\/\d+)">entry \d+<\/a>/.exec(settled) ?? [];
  expect((await olga.get(entry)).text).toContain('finding.settled');
  expect(await world.actions('finding.settled')).toMatchObject([
    { actor: expect.stringContaining('Olga Officer'), object: 'r:a' },
    { actor: expect.stringContaining('Olga Officer'), object: 'r:b' },
  ]);
  // What an officer heard makes nothing count: the records stay in dispute.
  const counts = await world.context.store.read.selectFrom('decision_quarters').selectAll().execute();
  const sum = (name: 'given' | 'refused' | 'other') => counts.reduce((total, row) => total + Number(row[name]), 0);
  expect([sum('given'), sum('refused'), sum('other')]).toEqual([0, 0, 3]);

  // The same form again, and a form of an older page with another conclusion, change nothing.
  for (const conclusion of ['refusal-confirmed', 'disputed'])
    expect((await settle(olga, `${list}/settle`, ticks.slice(0, 2), { conclusion })).headers.get('location')).toContain(
      'done=nothing',
    );
  expect(await world.actions('finding.settled')).toHaveLength(2);

  // From the list of settled ones it can be changed, and opened again.
  const again = ticksIn(settled);
  expect(again).toHaveLength(2);
  await settle(olga, `${list}/settle`, again.slice(0, 1), { conclusion: 'open-again', settled: 'yes' });
  expect(ticksIn((await olga.get(list)).text)).toHaveLength(2);
  expect(await today(olga)).toContain('Resolve 2 contradictory decisions');
  expect((await world.context.readModels.check()).differences).toEqual([]);
});

it('a newer record opens a settled contradiction again, and one that arrives while an officer looks is not settled', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await contradict(world, 'a');
  const olga = await signedInAs(world, 'officer');
  const [tick = ''] = ticksIn((await olga.get(list)).text);
  await world.event('consent.recorded', {
    consent_id: 'a',
    banner_id: 'bnr_2',
    visitor_hash: 'visitor-of-a',
    consent: { analytics: true },
    recorded_at: new Date(Date.now() - 3_600_000).toISOString(),
  });
  const late = await settle(olga, `${list}/settle`, [tick], { conclusion: 'disputed' });
  expect([late.status, late.text.includes('Something new has arrived about one of them')]).toEqual([409, true]);
  const [now = ''] = ticksIn((await olga.get(list)).text);
  expect(now).not.toBe(tick);
  await settle(olga, `${list}/settle`, [now], { conclusion: 'disputed' });
  expect(await today(olga)).not.toContain('contradictory decision');
  await world.event('consent.recorded', {
    consent_id: 'a',
    banner_id: 'bnr_3',
    visitor_hash: 'visitor-of-a',
    consent: { analytics: false },
    recorded_at: new Date(Date.now() - 3_600_000).toISOString(),
  });
  expect(await today(olga)).toContain('Resolve 1 contradictory decision:');
});

it('what is missing in the form is said, with the boxes still ticked', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await contradict(world, 'a');
  const olga = await signedInAs(world, 'officer');
  const [tick = ''] = ticksIn((await olga.get(list)).text);
  const nothing = await settle(olga, `${list}/settle`, [], { conclusion: 'disputed' });
  expect([nothing.status, nothing.text.includes('Tick at least one.')]).toEqual([422, true]);
  const unchosen = await settle(olga, `${list}/settle`, [tick], { conclusion: '', reason: 'I asked' });
  expect([unchosen.status, unchosen.text.includes('Choose what was found.')]).toEqual([422, true]);
  expect(unchosen.text).toMatch(/name="finding"[^>]* checked/);
  const invented = await settle(olga, `${list}/settle`, [tick], { conclusion: 'consent-given' });
  expect(invented.status).toBe(422);
  expect(await world.actions('finding.settled')).toEqual([]);
});

it('people settle only what their sources have, auditors nothing, and unknown findings look like those of others', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const seq = await contradict(world, 'a');
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
  const [bolt, auditor, olga] = [
    await signedInAs(world, 'officer', { sources: ['bolt'] }),
    await signedInAs(world, 'auditor'),
    await signedInAs(world, 'officer'),
  ];
  const tick = `default ${seq} 0 r%3Aa`;
  const fields = { conclusion: 'disputed' };
  const foreign = await settle(bolt, `${list}/settle`, [tick], fields);
  const unknown = await settle(bolt, `${list}/settle`, [`bolt ${seq} 0 r%3Ax`], fields);
  const problem = 'There is no such finding (any more)';
  expect([foreign.status, foreign.text.includes(problem)]).toEqual([422, true]);
  expect([unknown.status, unknown.text.includes(problem)]).toEqual([422, true]);
  expect((await settle(auditor, `${list}/settle`, [tick], fields)).status).toBe(403);
  expect(await world.actions('finding.settled')).toEqual([]);
  expect(ticksIn((await auditor.get(list)).text)).toEqual([]);
  await settle(olga, `${list}/settle`, [tick], { ...fields, reason: 'Both clicked' });
  const seen = (await auditor.get(`${list}?settled=yes`)).text;
  for (const words of ['Leave as disputed', 'Both clicked']) expect(seen).toContain(words);
  expect(seen).not.toContain('Change the conclusion');
  // Not a contradiction of a decision that was never delivered.
  const other = await settle(olga, '/consent/undelivered/settle', [tick], { conclusion: 'endpoint-down' });
  expect([other.status, other.text.includes(problem)]).toEqual([422, true]);
});

it('decisions that were never delivered are settled with a reason, and a second page begins where the first ended', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const at = new Date(Date.now() - 3_600_000).toISOString();
  await world.context.ledger.append(
    Array.from({ length: 53 }, (_, place) => ({
      ...{ source: 'default', kind: 'consent-log' as const, receivedAt: at },
      dedupeKey: world.context.ledger.keyOf('consent-log', `p${place}`),
      meta: Buffer.from(JSON.stringify({ bannerId: 'bnr_1' })),
      body: Buffer.from(
        JSON.stringify({
          id: `p-${place}`,
          visitor_hash: `v${place}`,
          choice: 'rejected',
          created_at: at,
          banner_id: 'bnr_1',
        }),
      ),
    })),
  );
  await world.context.projector.catchUp();
  const olga = await signedInAs(world, 'officer');
  expect(await today(olga)).toContain('Find out why 53 decisions were never delivered');
  const page = await olga.get('/consent/undelivered');
  const ticks = ticksIn(page.text);
  expect(ticks).toHaveLength(50);
  const without = await settle(olga, '/consent/undelivered/settle', ticks, { conclusion: 'other' });
  expect([without.status, without.text.includes('needs a reason')]).toEqual([422, true]);
  const body = { conclusion: 'endpoint-down', reason: 'Moved to another host', all: 'yes' };
  const shown = new URLSearchParams({ ...body, _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '' });
  for (const tick of ticks) shown.append('shown', tick);
  expect((await olga.send('/consent/undelivered/settle', { method: 'POST', body: shown })).status).toBe(303);
  expect(ticksIn((await olga.get('/consent/undelivered')).text)).toHaveLength(3);
  expect(await today(olga)).toContain('Find out why 3 decisions were never delivered');
  const period = { from: '2020-01-01', to: '2999-01-01' };
  const first = await loadFindings(world.context.store.read, {
    ...{ kind: 'undelivered', sources: ['default'], period, after: null, limit: 30, isSettled: true },
  });
  expect([first.rows.length, first.rows[0]?.settlement?.conclusion]).toEqual([30, 'endpoint-down']);
  const second = await loadFindings(world.context.store.read, {
    ...{ kind: 'undelivered', sources: ['default'], period, after: first.next, limit: 30, isSettled: true },
  });
  expect([second.rows.length, second.next]).toEqual([20, null]);
});

it('an auditor sees no list of things to do, an officer does', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const [auditor, olga] = [await signedInAs(world, 'auditor'), await signedInAs(world, 'officer')];
  expect((await today(auditor)).includes('id="tasks"')).toBe(false);
  expect((await today(olga)).includes('id="tasks"')).toBe(true);
});
