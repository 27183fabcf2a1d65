import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';
import { fetchedText } from './pages/seed.ts';

/** One world for the file: a policy with three texts, one of another client, and calls with an unknown outcome. */
let world: OfficeWorld;
let officer: Visitor;
let texts: number[];
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  await world.event('policy.published', {
    policy_id: 'pol_1',
    policy_type: 'privacy-policy',
    title: 'Privacy <script>alert(1)</script>',
    jurisdiction: 'DE',
    language: 'de',
    version: '3',
  });
  texts = [
    await fetched('2026-03-01T10:00:00.000Z', '<h1>Privacy</h1><p>We keep data for one year.</p><p>Write to us.</p>'),
    await fetched('2026-05-01T10:00:00.000Z', '<h1>Privacy</h1><p>We keep data for two years.</p><p>Write to us.</p>'),
    await fetched(
      '2026-07-01T10:00:00.000Z',
      '<h1>Privacy</h1><p>We keep data for two years.</p><p onclick="x()">&lt;script>alert(2)&lt;/script></p>',
    ),
  ];
  officer = await signedInAs(world, 'officer');
});

const fetched = (at: string, page: string, policyId?: string, source?: string) =>
  fetchedText(world, { at, page, policyId, source });

/** A generation without an answer. */
async function unknownCall(requestId: string, source = 'default', policyId: string | null = null): Promise<void> {
  const at = '2026-07-02T10:00:00.000Z';
  await world.context.store.foldTransaction((tx) =>
    tx.insertMany('calls', [
      {
        ...{
          request_id: requestId,
          source,
          operation: 'generate' as const,
          via: 'rest' as const,
          actor: 'Ada',
          key_id: 'k',
        },
        ...{ plan_id: null, positions: '[]', policy_type: 'privacy-policy', jurisdiction: 'GB', language: 'en' },
        ...{
          business_name: null,
          state: policyId === null ? ('unknown' as const) : ('done' as const),
          http_status: null,
          error_kind: null,
          error: null,
        },
        ...{
          policy_id: policyId,
          version: null,
          hosted_url: null,
          remaining: null,
          webhooks_queued: null,
          batch_id: null,
        },
        ...{ asked_at: at, due_at: at, finished_at: null, settled_by: null, evidence: null },
        ...{ intent_seq: source === 'default' ? 1 : 2, answer_seq: null, last_seq: 1 },
      },
    ]),
  );
}

const policyAt = (at: string) => officer.get(`/policies/policy?source=default&id=pol_1&via=hosted&at=${at}`);

describe('the catalogue', () => {
  it('names each policy with what deliveries and fetches of its page said about it', async () => {
    const { text } = await officer.get('/policies');
    for (const words of ['Privacy &lt;script>alert(1)', 'privacy-policy · pol_1', 'published', '3 texts'])
      expect(text).toContain(words);
    expect((await officer.get('/policies?type=cookie-policy')).text).toContain('No policy matches.');
  });

  it('comes page by page, by source and type, without sources that the reader may not see', async () => {
    await world.context.store.foldTransaction((tx) =>
      tx.insertMany(
        'listed_policies',
        Array.from({ length: 60 }, (_, n) => ({
          ...{ source: n < 5 ? 'default' : 'bolt', policy_id: `listed ${String(n).padStart(2, '0')}` },
          ...{ policy_type: 'terms', title: null, jurisdiction: 'GB', language: 'en', updated_at: null, url: null },
          ...{ list_id: 'l', first_seq: 1, last_seq: 1, first_listed_at: '2026-07-01T10:00:00.000Z' },
          gone_at: n === 0 ? '2026-07-02T10:00:00.000Z' : null,
        })),
      ),
    );
    const listed = (text: string) => [...text.matchAll(/id=(listed\+\d\d|pol_1)"/g)].map(([, id]) => id);
    const first = await officer.get('/policies');
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await officer.get(next);
    expect([listed(first.text).length, listed(second.text).length]).toEqual([50, 11]);
    expect(new Set([...listed(first.text), ...listed(second.text)]).size).toBe(61);
    expect(second.text).not.toContain('rel="next"');
    expect(listed((await officer.get('/policies?source=default&type=terms')).text).length).toBe(5);
    expect((await officer.get('/policies?source=default')).text).toContain('no longer listed');
    const limited = await signedInAs(world, 'auditor', { sources: ['default'] });
    expect(listed((await limited.get('/policies')).text).length).toBe(6);
    expect((await limited.get('/policies/policy?source=bolt&id=listed+10')).status).toBe(404);
    // Nor what kinds of policies they have.
    await world.context.store.foldTransaction((tx) =>
      tx.query
        .updateTable('listed_policies')
        .set({ policy_type: 'merger-notice' })
        .where('policy_id', '=', 'listed 10')
        .execute()
        .then(() => undefined),
    );
    expect((await limited.get('/policies')).text).not.toContain('merger-notice');
    expect((await officer.get('/policies')).text).toContain('merger-notice');

    // With one API key for both, the list of one names the policies of the other.
    const { sources } = world.context;
    const access = { baseUrl: 'http://127.0.0.1:9/api/v1', apiKey: 'pak_live_of_the_agency' };
    for (const one of ['kit', 'kin']) await sources.add({ slug: one, name: one, ...access }, 'test');
    await world.context.store.foldTransaction((tx) =>
      tx.query
        .updateTable('listed_policies')
        .set({ source: 'kit' })
        .where('source', '=', 'bolt')
        .execute()
        .then(() => undefined),
    );
    expect(listed((await officer.get('/policies?source=kit')).text)).toEqual([]);
    await unknownCall('req-of-kit', 'kit', 'listed 20');
    expect(listed((await officer.get('/policies?source=kit')).text)).toEqual(['listed+20']);
    expect((await limited.get('/policies/policy?id=listed+10')).status).toBe(404);
  });
});

describe('a policy', () => {
  it('shows its texts, newest first, and its deliveries', async () => {
    const { text } = await officer.get('/policies/policy?source=default&id=pol_1');
    const places = [3, 2, 1].map((n) => text.indexOf(`>Text ${n}</a>`));
    expect(places[0]).toBeGreaterThan(0);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(text).toContain(`older=${texts[1]}&amp;newer=${texts[2]}`);
    expect(text).toContain('What deliveries reported');
  });

  it('shows the text in force at a time, or the two fetches between which it changed, or that nothing was fetched yet', async () => {
    const before = await policyAt('2026-02-01T10:00');
    expect(before.text).toContain('is unknown:');
    const between = await policyAt('2026-04-01T10:00');
    expect(between.text).toContain('The text changed around');
    expect(between.text).toContain(`older=${texts[0]}&amp;newer=${texts[1]}`);
    // 10:00 UTC is noon in Berlin.
    const exact = await policyAt('2026-05-01T12:00');
    expect(exact.text).toContain('We keep data for two years.');
    expect(exact.text).toContain('It was seen before and after.');
    const now = await policyAt('2026-09-01T10:00');
    expect(now.text).toContain('it has not been fetched since');
    expect(now.text).toContain('&lt;script>alert(2)&lt;/script>');
    expect(now.text).not.toMatch(/<script|onclick/);
    expect(await policyAt('yesterday')).toMatchObject({ status: 422 });
    const future = await policyAt('2999-01-01T10:00');
    expect([future.status, future.text.includes('The time is in the future.')]).toEqual([422, true]);
  });

  it('shows every text on a page of its own, and two of them side by side', async () => {
    const one = await officer.get(`/policies/text?source=default&entry=${texts[0]}`);
    expect(one.text).toContain('We keep data for one year.');
    const { text } = await officer.get(`/policies/difference?source=default&older=${texts[0]}&newer=${texts[1]}`);
    expect(text).toContain('<del>We keep data for one year.</del></td><td><ins>We keep data for two years.</ins>');
    expect(text).toContain('<td>Write to us.</td><td>Write to us.</td>');
    const same = await officer.get(`/policies/difference?source=default&older=${texts[0]}&newer=${texts[0]}`);
    expect(same.text).toContain('The two texts are the same');
    const other = await fetched('2026-07-01T10:00:00.000Z', '<p>Of Bolt</p>', 'pol_9', 'bolt');
    for (const path of [
      `text?source=default&entry=${other}`,
      `difference?source=default&older=${other}&newer=${other}`,
    ])
      expect((await officer.get(`/policies/${path}`)).status).toBe(404);
  });
});

describe('a call whose outcome is unknown', () => {
  it('is settled once, by a person who may work on its source', async () => {
    await unknownCall('call-1');
    await unknownCall('call-2', 'bolt');
    expect((await officer.get('/')).text).toMatch(
      /unknown outcome.*record the outcome.*href="\/policies\/calls\?open=yes"/s,
    );
    const { text } = await officer.get('/policies/calls?open=yes');
    expect(text.match(/>outcome unknown</g)?.length).toBe(2);
    const foreign = { source: 'default', request: 'call-2', outcome: 'happened' };
    expect((await officer.post('/policies/calls', foreign)).text).toContain('Unknown call.');
    const form = { source: 'default', request: 'call-1', outcome: 'happened', policy: 'pol_1' };
    expect((await officer.post('/policies/calls', { ...form, outcome: '' })).status).toBe(422);
    const told = {
      source: 'bolt',
      policy_id: 'pol_bolt',
      status: 'published' as const,
      first_seq: 1,
      last_seq: 1,
      last_at: 'x',
    };
    const unsaid = { policy_type: null, title: null, brand_name: null, jurisdiction: null, language: null };
    await world.context.store.foldTransaction((tx) =>
      tx.insertMany('policies', [{ ...told, ...unsaid, version: null, hosted_url: null, published_at: null }]),
    );
    expect((await officer.post('/policies/calls', { ...form, policy: 'pol_bolt' })).status).toBe(404);
    expect((await officer.post('/policies/calls', form)).status).toBe(303);
    const again = await officer.post('/policies/calls', form);
    expect([again.status, again.text.includes('already known')]).toEqual([409, true]);
    const row = await world.context.store.read
      .selectFrom('calls')
      .select(['state', 'policy_id', 'settled_by'])
      .where('request_id', '=', 'call-1')
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ state: 'happened', policy_id: 'pol_1' });
    const limited = await signedInAs(world, 'auditor', { sources: ['default'] });
    const calls = await limited.get('/policies/calls');
    expect(calls.text).toContain('done, settled later');
    expect(calls.text).not.toContain('outcome unknown');
    expect(calls.text).not.toContain('name="outcome"');
  });
});
