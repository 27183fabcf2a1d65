import { describe, expect, it, onTestFinished } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld } from './office-world.ts';

const work = (world: OfficeWorld) => tokenOf(world, 'officer', { scope: 'work', name: 'Wanda Worker' });

async function open({ context }: OfficeWorld, source = 'default'): Promise<string> {
  const opened = await openCase(context.cases, {
    ...{ source, kind: 'access', channel: 'e-mail', requesterName: 'Ada', requesterEmail: 'ada@example.org' },
    ...{ jurisdiction: 'DE', receivedAt: new Date().toISOString(), actor: 'Olga' },
  });
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
  await context.projector.projected(opened.seq);
  return opened.caseId;
}

describe('legal holds', () => {
  it('are placed, listed and lifted by a program, within the sources of its token', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.context.sources.add({ slug: 'shop', name: 'Shop' }, 'test');
    const [caller, reader, shop] = [
      await work(world),
      await tokenOf(world, 'officer'),
      await tokenOf(world, 'officer', { scope: 'work', tokenSources: ['shop'] }),
    ];
    const caseId = await open(world);
    const placed = await caller.post('/api/v1/holds', { caseId, source: 'default', reason: 'claim 7' });
    expect([placed.status, placed.json]).toMatchObject([201, { caseId, reason: 'claim 7', ofSubject: false }]);
    const { holdId } = placed.json as { holdId: string };
    expect((await reader.get('/api/v1/holds')).json.items).toMatchObject(
      [{ holdId, officer: /Wanda Worker/ }].map((one) => ({
        ...one,
        officer: expect.stringMatching(/Wanda Worker .* by token/),
      })),
    );
    expect((await shop.get('/api/v1/holds')).json.items).toEqual([]);
    for (const [who, status] of [
      [reader, 403],
      [shop, 404],
    ] as const)
      expect((await who.post(`/api/v1/holds/${holdId}/lift`, { reason: 'settled' })).status).toBe(status);
    // A hold over all sources is only for accounts that see every source.
    expect((await shop.post('/api/v1/holds', { reason: 'all of it' })).status).toBe(404);
    expect((await shop.post('/api/v1/holds', { source: 'default', reason: 'theirs' })).status).toBe(404);
    expect((await caller.post('/api/v1/holds', { caseId: 'none', reason: 'x' })).json).toMatchObject({
      code: 'refused',
    });
    // A request that belongs to another source looks like one that does not exist.
    const [hidden, missing] = await Promise.all(
      [caseId, 'none'].map((id) => shop.post('/api/v1/holds', { source: 'shop', caseId: id, reason: 'x' })),
    );
    expect(hidden?.json).toMatchObject({ code: 'refused' });
    expect(hidden?.json).toEqual(JSON.parse(JSON.stringify(missing?.json).replaceAll('none', caseId)));
    expect((await caller.post('/api/v1/holds', { source: 'default', reason: ' ' })).status).toBe(400);
    expect((await caller.post(`/api/v1/holds/${holdId}/lift`, { reason: 'settled' })).status).toBe(200);
    expect((await caller.post(`/api/v1/holds/${holdId}/lift`, { reason: 'settled' })).status).toBe(404);
    expect((await reader.get('/api/v1/holds')).json.items).toEqual([]);
  });
});

describe('findings of comparing deliveries with the log', () => {
  it('are listed in pages, by source and period, without hidden sources', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    for (let n = 0; n < 3; n += 1)
      for (const analytics of [true, false])
        await world.event('consent.recorded', {
          ...{ consent_id: `c-${n}`, banner_id: 'bnr_1', visitor_hash: `v-${n}`, consent: { analytics } },
          recorded_at: new Date(Date.now() - (n + 1) * 3_600_000).toISOString(),
        });
    const caller = await tokenOf(world, 'auditor');
    const first = await caller.get('/api/v1/consent/contradictions?limit=2');
    expect(first.json.items).toHaveLength(2);
    const cursor = encodeURIComponent(String(first.json['nextCursor']));
    const rest = await caller.get(`/api/v1/consent/contradictions?limit=2&cursor=${cursor}`);
    expect([rest.json.items?.length, rest.json['nextCursor']]).toEqual([1, null]);
    expect([...(first.json.items ?? []), ...(rest.json.items ?? [])].map(({ recordId }) => recordId)).toEqual([
      'c-2',
      'c-1',
      'c-0',
    ]);
    expect(first.json.items?.[0]).toMatchObject({
      source: 'default',
      records: [{ wayIn: 'webhook', purposes: { analytics: 'granted' } }, { purposes: { analytics: 'denied' } }],
    });
    expect((await caller.get('/api/v1/consent/undelivered')).json.items).toEqual([]);
    expect((await caller.get('/api/v1/consent/contradictions?to=2020-01-01&from=2019-01-01')).json.items).toEqual([]);
    expect((await caller.get('/api/v1/consent/contradictions?from=yesterday')).status).toBe(400);
    const elsewhere = await tokenOf(world, 'officer', { sources: ['elsewhere'] });
    expect((await elsewhere.get('/api/v1/consent/contradictions')).json.items).toEqual([]);
    expect((await world.actions('record.viewed')).length).toBeGreaterThan(0);
  });
});

it('decisions are listed by choice and period, in pages, without hidden sources', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  for (let n = 0; n < 4; n += 1)
    await world.event('consent.recorded', {
      ...{ consent_id: `c-${n}`, banner_id: 'bnr_1', visitor_hash: `v-${n}`, consent: { analytics: n > 0 } },
      recorded_at: new Date(Date.now() - (n + 1) * 3_600_000).toISOString(),
    });
  const caller = await tokenOf(world, 'auditor');
  const path = '/api/v1/consent/decisions?choice=given&limit=2';
  const first = await caller.get(path);
  const rest = await caller.get(`${path}&cursor=${encodeURIComponent(String(first.json['nextCursor']))}`);
  expect([...(first.json.items ?? []), ...(rest.json.items ?? [])]).toMatchObject(
    ['c-3', 'c-2', 'c-1'].map((recordId) => ({ recordId, judged: 'given', source: 'default', bannerId: 'bnr_1' })),
  );
  expect(rest.json['nextCursor']).toBeNull();
  expect((await caller.get('/api/v1/consent/decisions?choice=refused')).json.items).toMatchObject([
    { recordId: 'c-0' },
  ]);
  expect((await caller.get('/api/v1/consent/decisions')).json.items).toHaveLength(4);
  expect((await caller.get('/api/v1/consent/decisions?to=2020-01-01&from=2019-01-01')).json.items).toEqual([]);
  expect((await caller.get('/api/v1/consent/decisions?choice=maybe')).status).toBe(400);
  const elsewhere = await tokenOf(world, 'officer', { sources: ['elsewhere'] });
  expect((await elsewhere.get('/api/v1/consent/decisions')).json.items).toEqual([]);
  expect((await world.actions('record.viewed')).map(({ object }) => object)).toContain('decisions');
});

describe('letters', () => {
  it('are made with the standard text or a custom one, and mailed once', async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const world = await createOfficeWorld({ SMTP_URL: mail.url, MAIL_FROM: 'ledger@acme.example' });
    const caller = await work(world);
    const caseId = await open(world);
    const path = `/api/v1/cases/${caseId}/letters`;
    const own = await caller.post(path, {
      step: 'acknowledgement',
      language: 'de',
      text: 'Vielen Dank, wir melden uns.',
      format: 'txt',
    });
    expect(own.status, own.text).toBe(201);
    const text = await caller.get(`/api/v1/documents/${String(own.json['documentId'])}/download`);
    expect(text.text).toContain('wir melden uns');
    const usual = await caller.post(path, { step: 'acknowledgement', format: 'pdf' });
    expect(usual.status, usual.text).toBe(201);
    expect((await caller.post(path, { step: 'nonsense' })).status).toBe(400);
    expect((await caller.post('/api/v1/cases/none/letters', { step: 'acknowledgement' })).status).toBe(404);
    const sent = await caller.post(`${path}/${String(usual.json['documentId'])}/mail`, {});
    expect(sent.status, sent.text).toBe(202);
    const state = async () => (await caller.get(`/api/v1/jobs/${String(sent.json['jobId'])}`)).json['state'];
    await expect.poll(state).toBe('done');
    expect(mail.mails).toHaveLength(1);
    expect((await caller.post(`${path}/${String(usual.json['documentId'])}/mail`, {})).status).toBe(422);
    expect((await caller.post(`${path}/none/mail`, {})).status).toBe(404);
  });
});

it('a letter is made and recorded in one call, or neither', async () => {
  const world = await createOfficeWorld();
  const caller = await work(world);
  const caseId = await open(world);
  const path = `/api/v1/cases/${caseId}/letters`;
  const { version } = (await caller.get(`/api/v1/cases/${caseId}`)).json;
  const letter = { step: 'extension', language: 'en', text: 'Many requests came at once.', format: 'txt' };
  const record = { way: 'letter', basedOn: version, details: {} };
  const future = await caller.post(path, { ...letter, record: { ...record, details: { at: '2199-01-01T00:00:00Z' } } });
  expect([future.status, future.text]).toEqual([422, expect.stringContaining('is in the future')]);
  const mailed = await caller.post(path, { ...letter, record: { ...record, way: 'e-mail' } });
  expect([mailed.status, mailed.text]).toEqual([422, expect.stringContaining('No mail server')]);
  expect((await caller.post(path, { ...letter, step: 'notice', record })).status).toBe(422);
  expect(await world.actions('document.produced')).toEqual([]);
  const made = await caller.post(path, { ...letter, record });
  expect([made.status, made.json['recorded']]).toEqual([
    201,
    { outcome: 'recorded', seq: expect.any(Number) as number },
  ]);
  const shown = await caller.get(`/api/v1/cases/${caseId}`);
  expect(shown.text).toContain('"move":"extend"');
  expect(shown.text).toContain(String(made.json['sha256']));
  expect((await caller.post(path, { ...letter, record })).status).toBe(409);
});

describe('calls to the service', () => {
  it('are listed, and one with an unknown outcome is settled', async () => {
    const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 1, consentRows: 5 });
    const { baseUrl, siteUrl } = await sandbox.listen();
    onTestFinished(() => sandbox.close());
    const world = await createOfficeWorld({
      ...{ HTTP_ALLOWED_HOSTS: '127.0.0.1', SERVICE_BASE_URL: baseUrl, SERVICE_SITE_URL: siteUrl },
      SERVICE_API_KEY: sandbox.clients[0]?.apiKey ?? '',
    });
    const caller = await work(world);
    expect((await caller.post('/api/v1/policies/list', { source: 'default' })).json).toMatchObject({
      outcome: 'stored',
    });
    const form = { policy_type: 'privacy-policy', jurisdiction: 'GB' };
    const job = await caller.post('/api/v1/policies/generate', { source: 'default', form });
    const jobId = String(job.json['jobId']);
    const events = await caller.get(`/api/v1/jobs/${jobId}/events`);
    expect([events.status, events.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(events.text).toMatch(/event: end\ndata: \{"state":"done"\}\n\n$/);
    const calls = await caller.get('/api/v1/policies/calls');
    expect(calls.json.items).toMatchObject([{ operation: 'generate', state: 'done', policyType: 'privacy-policy' }]);
    const requestId = String(calls.json.items?.[0]?.['requestId']);
    const settle = (id: string, source = 'default') =>
      caller.post(`/api/v1/policies/calls/${id}/settle`, { source, happened: true });
    expect([(await settle(requestId)).status, (await settle('none')).status]).toEqual([409, 404]);
    await world.context.store.foldTransaction((tx) =>
      tx.query.updateTable('calls').set({ state: 'unknown' }).where('request_id', '=', requestId).execute(),
    );
    expect((await caller.get('/api/v1/policies/calls?open=true')).json.items).toHaveLength(1);
    expect((await settle(requestId)).json).toMatchObject({ requestId, state: 'happened' });
  });
});

describe('deliveries', () => {
  it('are streamed as they arrive and resumed after the last one, within the visible sources', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const caller = await tokenOf(world, 'auditor');
    const elsewhere = await tokenOf(world, 'officer', { sources: ['elsewhere'] });
    const first = await world.event('consent.recorded', { consent_id: 'c-1' });
    const second = await world.event('consent.recorded', { consent_id: 'c-2' });
    const follow = async (who: typeof caller, query: string, headers: Record<string, string>, until: string) => {
      const stop = new AbortController();
      const answer = await fetch(`${world.adminUrl}/api/v1/deliveries/events${query}`, {
        headers: { authorization: `Bearer ${who.secret}`, ...headers },
        signal: stop.signal,
      });
      let text = '';
      setTimeout(() => stop.abort(), 4000).unref();
      try {
        for await (const chunk of answer.body ?? []) {
          text += Buffer.from(chunk).toString();
          if (until !== '' && text.includes(until)) break;
        }
      } catch {
        // The test aborted the stream.
      }
      return text;
    };
    const after = await follow(caller, `?after=${first}`, {}, `id: ${second}\n`);
    expect(after).toMatch(new RegExp(`^id: ${second}\nevent: delivery\ndata: \\{"seq":${second},`));
    const last = await follow(caller, '', { 'last-event-id': String(first) }, `id: ${second}\n`);
    expect(last).toBe(after);
    const live = follow(caller, '', {}, 'event: delivery');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const third = await world.event('consent.recorded', { consent_id: 'c-3' });
    expect(await live).toContain(`id: ${third}\n`);
    expect(await follow(elsewhere, '?after=0', {}, '')).toBe('');
    expect((await elsewhere.get('/api/v1/deliveries/events?source=default')).status).toBe(404);
  });
});

describe('a job', () => {
  it('can be followed and stopped by those who see its source', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const caller = await work(world);
    const payload = { source: 'default', actor: 'test' };
    const { id } = await world.context.jobs.enqueue({ kind: 'sync', key: 'test', payload });
    const elsewhere = await tokenOf(world, 'officer', { scope: 'work', sources: ['elsewhere'] });
    for (const path of [`/api/v1/jobs/${id}/events`, '/api/v1/jobs/none/events'])
      expect([path, (await elsewhere.get(path)).status]).toEqual([path, 404]);
    expect((await elsewhere.post(`/api/v1/jobs/${id}/stop`, {})).status).toBe(404);
    expect((await fetch(`${world.adminUrl}/api/v1/jobs/${id}/events`)).status).toBe(401);
    const following = caller.get(`/api/v1/jobs/${id}/events`);
    expect((await caller.post(`/api/v1/jobs/${id}/stop`, {})).json).toMatchObject({ state: 'cancelled' });
    expect((await following).text).toContain('event: end\ndata: {"state":"cancelled"}');
    const other = await world.context.jobs.enqueue({ kind: 'verify', key: 'v', payload: {} });
    expect((await caller.post(`/api/v1/jobs/${other.id}/stop`, {})).status).toBe(422);
  });

  it('cannot be followed so often by one person that others are shut out', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { id } = await world.context.jobs.enqueue({ kind: 'verify', key: 'v', payload: {} });
    const [greedy, other] = [await work(world), await work(world)];
    const stop = new AbortController();
    const open = ({ secret }: typeof greedy) =>
      fetch(`${world.adminUrl}/api/v1/jobs/${id}/events`, {
        headers: { authorization: `Bearer ${secret}` },
        signal: stop.signal,
      });
    const statuses = (await Promise.all(Array.from({ length: 22 }, () => open(greedy)))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect((await open(other)).status).toBe(200);
    stop.abort();
    // Their places are free again.
    const again = async () => {
      const next = new AbortController();
      const { status } = await fetch(`${world.adminUrl}/api/v1/jobs/${id}/events`, {
        headers: { authorization: `Bearer ${greedy.secret}` },
        signal: next.signal,
      });
      next.abort();
      return status;
    };
    await expect.poll(again).toBe(200);
  });

  it('that verifies the ledger can be followed by everyone, without the faults of sources they may not see', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const [caller, limited] = [
      await work(world),
      await tokenOf(world, 'officer', { scope: 'work', sources: ['elsewhere'] }),
    ];
    const { jobId } = (await limited.post('/api/v1/verifications', {})).json as { jobId: string };
    expect((await limited.get(`/api/v1/jobs/${jobId}`)).json).toMatchObject({ kind: 'verify', state: 'waiting' });
    const result = {
      ...{ at: '', entries: 9, sources: 1, checkpoints: 1, unsealed: 0, root: '', unchecked: [], faultCount: 1 },
      faults: [{ seq: 3, sentence: 'a case of default was altered' }],
    };
    await world.context.store.transaction(({ query }) =>
      query
        .updateTable('jobs')
        .set({ state: 'done', result: JSON.stringify(result), finished_at: world.context.clock().toISOString() })
        .where('id', '=', jobId)
        .execute(),
    );
    const read = async (who: typeof caller) => (await who.get(`/api/v1/jobs/${jobId}`)).json;
    expect(await read(caller)).toMatchObject({ state: 'done', result });
    expect(await read(limited)).toMatchObject({ state: 'done', result: { ...result, faults: [] } });
    expect((await limited.get(`/api/v1/jobs/${jobId}/events`)).text).toContain('event: end');
  });

  it('names a banner', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const caller = await work(world);
    const body = { source: 'default', bannerId: 'bnr_1', name: 'Main site' };
    expect((await caller.post('/api/v1/banners/names', body)).json).toMatchObject({ outcome: 'named' });
    expect((await caller.post('/api/v1/banners/names', body)).json).toEqual({ outcome: 'unchanged', seq: null });
    const [named] = await world.actions('banner.named');
    expect(named?.actor).toMatch(/^Wanda Worker .* by token/);
    expect((await caller.post('/api/v1/banners/names', { ...body, source: 'none' })).status).toBe(422);
  });
});

describe('signing secrets', () => {
  it('are rotated by a token that may administer, and by no other', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.context.sources.add({ slug: 'shop', name: 'Shop', webhookSecrets: ['first secret'] }, 'test');
    const admin = await tokenOf(world, 'admin', { scope: 'administer', name: 'Ada Admin' });
    const path = '/api/v1/sources/shop/secrets';
    for (const caller of [
      await tokenOf(world, 'admin', { scope: 'work' }),
      await tokenOf(world, 'owner'),
      await work(world),
    ]) {
      const refused = await caller.post(path, {});
      expect([refused.status, refused.json['detail']]).toEqual([403, expect.stringContaining('scope administer')]);
    }
    const elsewhere = await tokenOf(world, 'owner', { scope: 'administer', tokenSources: ['default'] });
    expect((await elsewhere.post(path, {})).status).toBe(404);
    const secrets = () => world.context.sources.find('shop')?.webhookSecrets.map(({ value }) => value);
    expect(secrets()).toEqual(['first secret']);

    const given = await admin.post(path, { secret: 'c2Vjb25k', encoding: 'base64', othersEndInHours: 24 });
    expect([given.status, given.json]).toMatchObject([201, { secret: null }]);
    const made = await admin.post(path, {});
    expect(made.json['secret']).toMatch(/^[0-9a-f]{64}$/);
    expect(secrets()).toEqual([made.json['secret'], 'c2Vjb25k', 'first secret']);
    const state = (await admin.get('/api/v1/sources/shop')).json['secrets'] as { id: string; endsAt: string | null }[];
    expect(state.map(({ endsAt }) => endsAt === null)).toEqual([true, true, false]);
    expect((await admin.post(path, { secret: 'c2Vjb25k', encoding: 'base64' })).status).toBe(409);
    expect((await admin.post(path, { secret: 'no hex', encoding: 'hex' })).json).toMatchObject({ code: 'refused' });
    expect((await admin.post(path, { othersEndInHours: 0 })).status).toBe(400);

    for (const { id } of state.slice(1)) expect((await admin.post(`${path}/${id}/retire`, {})).status).toBe(200);
    expect(secrets()).toEqual([made.json['secret']]);
    expect((await admin.post(`${path}/${String(state[1]?.id)}/retire`, {})).status).toBe(404);
    const last = await admin.post(`${path}/${String(made.json['secretId'])}/retire`, {});
    expect([last.status, last.json['detail']]).toEqual([422, expect.stringContaining('the only signing secret')]);
    expect((await world.actions('source.changed')).map(({ actor }) => actor)).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(/^Ada Admin \(.*\) by token t-/)),
    );
  });
});
