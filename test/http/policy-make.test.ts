import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { PATIENTLY } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';
import { fetchedText } from './pages/seed.ts';

/** A world whose source `default` is a client of a sandbox, with an officer who may call it. */
async function callingWorld(options: { worker?: boolean } = {}) {
  const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 2, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const client = sandbox.clients[0];
  if (client === undefined) throw new Error('the sandbox is empty');
  const world = await createOfficeWorld(
    { SERVICE_BASE_URL: baseUrl, SERVICE_SITE_URL: siteUrl, SERVICE_API_KEY: client.apiKey },
    options,
  );
  const olga = await signedInAs(world, 'officer', { name: 'Olga' });
  return { world, olga, sandbox, siteUrl };
}

const wanted = { source: 'default', policy_type: 'privacy-policy', jurisdiction: 'gb', business_name: 'Acme <b>' };

describe('the page that generates a policy', () => {
  it('generates and publishes, and shows the remaining quota', async () => {
    const { world, olga } = await callingWorld();
    const page = await olga.get('/policies/generate');
    expect(page.text).toContain('<title>Generate a policy · consent-ledger</title>');
    await olga.post('/policies/generate', wanted);
    await expect
      .poll(async () => (await olga.get('/policies/generate')).text)
      .toMatch(/Generate privacy-policy, GB[\s\S]*badge good">generated/);
    const made = await olga.get('/policies/generate');
    expect(made.text).toMatch(/\d+ left of the quota/);
    expect(made.text).toMatch(/<dt>Quota<\/dt><dd>\d+ left, according to the service/);
    const id = /policies\/publish\?source=default&amp;id=([^"]+)"/.exec(made.text)?.[1] ?? '';
    const [row] = await world.context.store.read.selectFrom('calls').selectAll().execute();
    expect(row).toMatchObject({
      operation: 'generate',
      policy_id: id,
      state: 'done',
      actor: expect.stringContaining('Olga'),
    });

    const policy = await olga.get(`/policies/policy?source=default&id=${id}`);
    expect([policy.status, policy.text.includes(`aria-label="Publish: ${id}"`)]).toEqual([200, true]);
    // No delivery and no list names the policy yet.
    expect(policy.text).toMatch(
      /<dt>Type<\/dt><dd>privacy-policy<.*<dt>Jurisdiction<\/dt><dd>GB<.*generated from here/s,
    );
    const asked = (await olga.get(`/policies/publish?source=default&id=${id}`)).text;
    const shown = /name="shown" value="([^"]*)"/.exec(asked)?.[1] ?? '';
    await olga.post('/policies/publish', { source: 'default', policy: id, shown });
    await expect.poll(async () => (await olga.get('/policies/generate')).text).toContain('badge good">published');
    const after = await olga.get('/policies/generate');
    expect(after.text).not.toContain(`aria-label="Publish: ${id}"`);
    const published = await olga.get(`/policies/policy?source=default&id=${id}`);
    expect(published.text).toMatch(/published from here.*<dt>Published<\/dt><dd><time .*aria-label="Publish again: /s);
    const listed = await olga.post('/policies/list', { source: 'default' });
    expect(listed.headers.get('location')).toBe('/policies/generate?done=listed');
    expect((await olga.get('/policies')).text).toContain(id);
  });

  it('does not say that nothing was done when the answer was lost', async () => {
    const { world, olga, siteUrl } = await callingWorld();
    const fault = { name: 'dropped-connection', on: 'any', carriedOut: true };
    const set = await fetch(`${siteUrl}/_sandbox/faults`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ faults: [fault] }),
    });
    expect(set.status).toBe(200);
    await olga.post('/policies/generate', wanted);
    await expect
      .poll(async () => (await olga.get('/policies/generate')).text, PATIENTLY)
      .toContain('badge warn">outcome unknown');
    expect((await olga.get('/policies/generate')).text).not.toContain('not done');
    const { request_id: request } = await world.context.store.read
      .selectFrom('calls')
      .select('request_id')
      .executeTakeFirstOrThrow();
    await olga.post('/policies/calls', { source: 'default', request, outcome: 'not-happened' });
    const settled = (await olga.get('/policies/generate')).text;
    expect(settled).toContain('outcome settled later');
    expect(settled).not.toContain('>outcome unknown');
  });

  it('keeps what was typed when the service refuses it, with the reason, and offers it again later', async () => {
    const { world, olga, siteUrl } = await callingWorld();
    await fetch(`${siteUrl}/_sandbox/faults`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ faults: [{ name: 'bad-request', on: 'any' }] }),
    });
    const typed = { ...wanted, language: 'de', industry: 'Saas "&" more' };
    await olga.post('/policies/generate', typed);
    const refused = async () => (await world.context.jobs.list({ kind: 'policy-generate' }))[0];
    await expect.poll(async () => (await refused())?.state, PATIENTLY).toBe('failed');
    const { id = '', error = '' } = (await refused()) ?? {};
    expect(error).toContain('nothing was generated');
    const sent = await olga.post('/policies/generate', typed);
    // A quick refusal leads back to the form; a slow one is corrected from the list.
    expect(sent.headers.get('location')).toMatch(/^\/policies\/generate(?:\?job=|#made)/);
    const list = (await olga.get('/policies/generate')).text;
    expect(list).toContain(`<a href="/policies/generate?job=${id}#generate">Correct it and send it again</a>`);
    const { text } = await olga.get(`/policies/generate?job=${id}`);
    expect(text).toContain('Correct it, then send it again:');
    expect(text).toContain('refused the request as invalid');
    for (const value of ['privacy-policy', 'GB', 'de', 'Acme &lt;b>', 'Saas &quot;&amp;&quot; more'])
      expect(text).toContain(`value="${value}"`);
    await world.context.sources.add({ slug: 'bolt' }, 'test');
    const stranger = await signedInAs(world, 'officer', { sources: ['bolt'] });
    expect((await stranger.get(`/policies/generate?job=${id}`)).text).not.toContain('Acme');
    expect((await olga.get('/policies/generate?job=none')).status).toBe(200);
  });

  it('refuses missing fields before anything is sent', async () => {
    const { world, olga } = await callingWorld({ worker: false });
    const empty = await olga.post('/policies/generate', { source: 'default', jurisdiction: 'Great Britain' });
    expect(empty.status).toBe(422);
    expect(empty.text).toContain('Jurisdiction is a code such as GB');
    expect(empty.text).toContain('<li>Type ');
    await world.context.sources.add({ slug: 'bolt' }, 'test');
    const without = await olga.post('/policies/generate', { ...wanted, source: 'bolt' });
    expect([without.status, without.text.includes('no API key')]).toEqual([422, true]);
    for (const policy of ['', ' ', '.', '..'])
      expect((await olga.post('/policies/publish', { source: 'default', policy })).status).toBe(404);
    expect(await world.context.jobs.list({ kind: 'policy-generate' })).toEqual([]);
    expect(await world.context.jobs.list({ kind: 'policy-publish' })).toEqual([]);
  });

  it('does not send the same call twice while the first is in progress', async () => {
    const { world, olga } = await callingWorld({ worker: false });
    for (let click = 0; click < 2; click += 1) await olga.post('/policies/generate', wanted);
    expect(await world.context.jobs.list({ kind: 'policy-generate' })).toHaveLength(1);
    const page = await olga.get('/policies/generate');
    expect(page.text).toContain('Waiting for a worker.');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  });
});

describe('the page before a policy is made public', () => {
  async function generated(form: Record<string, string> = wanted) {
    const made = await callingWorld();
    const { world, olga } = made;
    await olga.post('/policies/generate', form);
    const calls = () => world.context.store.read.selectFrom('calls').selectAll().orderBy('intent_seq').execute();
    await expect.poll(async () => (await calls())[0]?.state, PATIENTLY).toBe('done');
    await world.context.projector.catchUp();
    const id = (await calls())[0]?.policy_id ?? '';
    const address = `/policies/publish?${new URLSearchParams({ source: 'default', id }).toString()}`;
    const hashOf = (text: string) => /name="shown" value="([^"]*)"/.exec(text)?.[1] ?? 'none';
    const intents = async () =>
      (
        await world.context.store.read
          .selectFrom('entries')
          .select('meta')
          .where('kind', '=', 'call')
          .orderBy('seq')
          .execute()
      )
        .map(({ meta }) => JSON.parse(String(meta)) as Record<string, unknown>)
        .filter((meta) => meta['call'] === 'intent' && meta['operation'] === 'publish');
    return { ...made, id, address, calls, hashOf, intents };
  }

  it('shows the generated text and who asked for it; every button leads there, and what was shown is recorded', async () => {
    const { olga, id, address, calls, hashOf, intents } = await generated();
    const link = `href="${address.replaceAll('&', '&amp;')}"`;
    expect((await olga.get('/policies/generate')).text).toContain(link);
    expect((await olga.get(`/policies/policy?source=default&id=${id}`)).text).toContain(link);
    const page = await olga.get(address);
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/Generated from here.*by <bdi>[^<]*Olga/s);
    // Markdown as a reader sees it.
    expect(page.text).toContain('SAMPLE — not a legal text. Made by a sandbox');
    expect(page.text).toContain('SAMPLE: this paragraph would name Acme &lt;b>, its site');
    expect(page.text).toContain('The service publishes its current saved text');
    expect(page.text).toContain('No public text of this policy was fetched yet');
    expect(page.text).not.toContain('name="read"');
    const shown = hashOf(page.text);
    expect(shown).toMatch(/^[0-9a-f]{64}$/);
    const stale = await olga.post('/policies/publish', { source: 'default', policy: id, shown: '0'.repeat(64) });
    expect([stale.status, stale.text.includes('changed after you opened the page')]).toEqual([409, true]);
    expect(await calls()).toHaveLength(1);
    await olga.post('/policies/publish', { source: 'default', policy: id, shown });
    await expect.poll(async () => (await calls())[1]?.state, PATIENTLY).toBe('done');
    const [generation] = await calls();
    expect(await intents()).toEqual([
      expect.objectContaining({
        policyId: id,
        shown: { textSha256: shown, seq: generation?.answer_seq, readInService: false },
      }),
    ]);
  });

  it('links to the public page, with what makes the link work', async () => {
    const { olga, id, address, calls, hashOf } = await generated();
    await olga.post('/policies/publish', {
      source: 'default',
      policy: id,
      shown: hashOf((await olga.get(address)).text),
    });
    await expect.poll(async () => (await calls())[1]?.state, PATIENTLY).toBe('done');
    const link = /<a href="(http[^"]+\/policy\/[^"]+)" rel="noopener noreferrer">([^<]+)<\/a>/;
    for (const place of [`/policies/policy?source=default&id=${id}`, '/policies/generate', address]) {
      const [, href = '', words] = link.exec((await olga.get(place)).text) ?? [];
      expect([place, words?.endsWith(id)]).toEqual([place, true]);
      expect((await fetch(href.replaceAll('&amp;', '&'))).status).toBe(200);
    }
  });

  it('asks whether the text was read in the service where it is not known here', async () => {
    const { olga, calls, intents } = await generated();
    const address = '/policies/publish?source=default&id=pol-nobody-knows';
    const page = await olga.get(address);
    expect(page.text).toContain('The text is not known here');
    expect(page.text).toContain('name="read"');
    const order = { source: 'default', policy: 'pol-nobody-knows', shown: '' };
    const refused = await olga.post('/policies/publish', order);
    expect([refused.status, refused.text.includes('Read the text in the service first')]).toEqual([422, true]);
    expect(await calls()).toHaveLength(1);
    await olga.post('/policies/publish', { ...order, read: 'yes' });
    await expect.poll(intents, PATIENTLY).toHaveLength(1);
    expect((await intents())[0]).toMatchObject({ shown: { textSha256: null, seq: null, readInService: true } });
  });

  it('shows the difference to what is public, and trusts no generated text that the public page contradicts', async () => {
    const { world, olga, id, address, calls, hashOf } = await generated();
    await olga.post('/policies/publish', {
      source: 'default',
      policy: id,
      shown: hashOf((await olga.get(address)).text),
    });
    await expect.poll(async () => (await calls())[1]?.state, PATIENTLY).toBe('done');
    const at = new Date(world.context.clock().getTime() + 3_600_000).toISOString();
    await fetchedText(world, { at, page: '<h1>Privacy</h1><p>Edited in the dashboard.</p>', policyId: id });
    const { text } = await olga.get(address);
    expect(text).toContain('<ins>');
    expect(text).toContain('<del>Edited in the dashboard.</del>');
    expect(text).toContain('The public page had another text after it was generated');
    expect(text).toContain('name="read"');
    const shown = hashOf(text);
    expect((await olga.post('/policies/publish', { source: 'default', policy: id, shown })).status).toBe(422);
  });
});

describe('sources that share an API key', () => {
  it('cannot publish each other’s policies; what nothing is known of can be published', async () => {
    const { world, sandbox } = await callingWorld();
    const source = world.context.sources.find('default');
    const { apiKey = '' } = sandbox.clients[0] ?? {};
    const { baseUrl = null, siteUrl = null } = source ?? {};
    await world.context.sources.add({ slug: 'shop', name: 'Shop Ltd', baseUrl, siteUrl, apiKey }, 'test');
    const form = { policy_type: 'privacy-policy', jurisdiction: 'GB' };
    const owner = await tokenOf(world, 'owner', { scope: 'work' });
    const made = await owner.post('/api/v1/policies/generate', { source: 'default', form });
    const jobOf = async (id: unknown) => (await owner.get(`/api/v1/jobs/${String(id)}`)).json;
    await expect.poll(async () => (await jobOf(made.json['jobId']))['state']).toBe('done');
    const { policyId } = (await jobOf(made.json['jobId']))['result'] as { policyId: string };

    const otto = await signedInAs(world, 'officer', { sources: ['shop'] });
    const program = await tokenOf(world, 'officer', { scope: 'work', sources: ['shop'] });
    const publishByPage = () => otto.post('/policies/publish', { source: 'shop', policy: policyId, read: 'yes' });
    const publish = (caller: typeof owner, id: string, of = 'shop') =>
      caller.post('/api/v1/policies/publish', { source: of, policyId: id });
    expect([(await publishByPage()).status, (await publish(program, policyId)).status]).toEqual([404, 404]);
    const seen = await publish(owner, policyId);
    expect([seen.status, seen.text]).toEqual([404, expect.stringContaining('belongs to the source')]);
    expect((await publish(program, policyId)).text).not.toContain('belongs');

    // Published by its own source, it is in the list of the account; that does not make it the other's.
    expect((await publish(owner, policyId, 'default')).status).toBe(202);
    await expect
      .poll(async () =>
        world.context.store.read
          .selectFrom('calls')
          .select('operation')
          .where('operation', '=', 'publish')
          .where('state', '=', 'done')
          .execute(),
      )
      .toHaveLength(1);
    expect((await otto.post('/policies/list', { source: 'shop' })).status).toBe(303);
    // The service lists the policies of both; those of the other source are not shown.
    expect((await otto.get('/policies')).text).not.toContain(policyId);
    expect([(await publishByPage()).status, (await publish(program, policyId)).status]).toEqual([404, 404]);
    expect((await publish(program, 'pol-nobody-knows')).status).toBe(202);
    // Another account of the service may have a policy with the same id.
    await world.context.sources.add({ slug: 'other', name: 'Other', baseUrl, siteUrl, apiKey: `${apiKey}2` }, 'test');
    expect((await publish(owner, policyId, 'other')).status).toBe(202);
  });
});

describe('the page of bulk generation', () => {
  it('sends a pasted list, shows the result of each policy, and sends nothing twice', async () => {
    const { world, olga } = await callingWorld();
    const list = 'policy_type;jurisdiction;business_name\r\nprivacy-policy;GB;Acme\r\ncookie-policy;DE;Acme\r\n';
    const sent = await olga.post('/policies/bulk', { source: 'default', list });
    const address = sent.headers.get('location') ?? '';
    expect([sent.status, address]).toEqual([
      303,
      expect.stringContaining('/policies/bulk/plan?source=default&id=bulk-'),
    ]);
    await expect
      .poll(async () => (await olga.get(address)).text)
      .toMatch(/2 created[\s\S]*privacy-policy, GB[\s\S]*cookie-policy, DE/);
    const again = await olga.post('/policies/bulk', { source: 'default', list });
    expect(again.headers.get('location')).toBe(`${address}&done=exists`);
    expect((await olga.get(`${address}&done=exists`)).text).toContain('Nothing was sent a second time');
    const more = await olga.post('/policies/bulk', { source: 'default', list: `${list}terms-of-service;FR;Acme\r\n` });
    expect([more.status, more.text.includes('2 of 3 items (items 1, 2) were already sent')]).toEqual([409, true]);
    expect(await world.context.store.read.selectFrom('calls').selectAll().execute()).toHaveLength(1);
    const other = await signedInAs(world, 'auditor');
    expect((await other.get(address)).text).not.toContain('action="/policies/bulk/');
    expect((await other.get(address)).text).toContain('2 policies are not published yet.');
  });

  it('publishes every policy of a list with one button', async () => {
    const { world, olga } = await callingWorld();
    const list = 'policy_type,jurisdiction\nprivacy-policy,GB\ncookie-policy,DE\n';
    const address = (await olga.post('/policies/bulk', { source: 'default', list })).headers.get('location') ?? '';
    const plan = new URLSearchParams(address.split('?')[1]).get('id') ?? '';
    await expect.poll(async () => (await olga.get(address)).text).toContain('Publish all 2 policies');
    await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
    const stranger = await signedInAs(world, 'officer', { sources: ['bolt'] });
    for (const source of ['default', 'bolt'])
      expect((await stranger.post('/policies/bulk/publish', { source, plan })).status).toBe(404);
    const unread = await olga.post('/policies/bulk/publish', { source: 'default', plan });
    expect([unread.status, unread.text.includes('Read the texts in the service first')]).toEqual([422, true]);
    expect(await world.context.jobs.list({ kind: 'policy-publish' })).toHaveLength(0);
    const sent = await olga.post('/policies/bulk/publish', { source: 'default', plan, read: 'yes' });
    expect(sent.headers.get('location')).toBe(`${address}&done=publishing`);
    await expect.poll(async () => (await olga.get(address)).text.match(/>published</g)?.length, PATIENTLY).toBe(2);
    expect((await olga.get(address)).text).not.toContain('/policies/bulk/publish');
    const calls = await world.context.store.read.selectFrom('calls').select('operation').execute();
    expect(calls.filter(({ operation }) => operation === 'publish')).toHaveLength(2);
    // Pressed a second time, it sends nothing.
    await olga.post('/policies/bulk/publish', { source: 'default', plan, read: 'yes' });
    expect(await world.context.jobs.list({ kind: 'policy-publish' })).toHaveLength(2);
  });

  it('sends the list of a file, and names the errors of a bad one', async () => {
    const { world, olga } = await callingWorld();
    const send = (text: string, fields: Record<string, string> = { source: 'default' }) => {
      const multipart = new FormData();
      for (const [name, value] of Object.entries(fields)) multipart.set(name, value);
      multipart.set('file', new Blob([text]), 'May <b>clients.csv');
      return olga.post('/policies/bulk/file', {}, { multipart });
    };
    // More than can be pasted.
    const rows = Array.from({ length: 900 }, (_, n) => `privacy-policy,GB,"Client ${n} ${'of the agency '.repeat(8)}"`);
    const wrong = await send(`policy_type,jurisdiction,business_name\n${rows.join('\n')}\n,GB,\n`);
    expect([wrong.status, wrong.text.includes('The file, line 902: policy_type is missing.')]).toEqual([422, true]);
    const sent = await send(`policy_type,jurisdiction,business_name\n${rows.slice(0, 3).join('\n')}\n`);
    const address = sent.headers.get('location') ?? '';
    expect(sent.status).toBe(303);
    await expect.poll(async () => (await olga.get(address)).text).toContain('3 created');
    const list = (await olga.get('/policies/bulk')).text;
    expect([list.includes('May &lt;b>clients.csv'), list.includes('May <b>')]).toEqual([true, false]);
    expect((await send('', { source: 'default' })).status).toBe(422);
    expect((await send('[{"policy_type":"privacy-policy","jurisdiction":"DE"}]')).status).toBe(303);
    expect((await send('x'.repeat(6 << 20))).status).toBe(413);
    for (const [other, status] of [
      [await signedInAs(world, 'auditor'), 403],
      [await signedInAs(world, 'officer', { sources: ['elsewhere'] }), 404],
    ] as const) {
      const multipart = new FormData();
      multipart.set('source', 'default');
      multipart.set('file', new Blob(['policy_type,jurisdiction\nterms-of-service,FR\n']), 'a.csv');
      expect((await other.post('/policies/bulk/file', {}, { multipart })).status).toBe(status);
    }
    expect(await world.context.store.read.selectFrom('call_plans').selectAll().execute()).toHaveLength(2);
  });

  it('names every problem of a list with its line, and stops a waiting list', async () => {
    const { world, olga } = await callingWorld({ worker: false });
    const wrong = await olga.post('/policies/bulk', {
      source: 'default',
      list: 'policy_type,jurisdiction\nprivacy-policy,\n,GB\n',
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('The list, line 2: jurisdiction is missing.');
    expect(wrong.text).toContain('line 3: policy_type is missing.');
    const sent = await olga.post('/policies/bulk', {
      source: 'default',
      list: 'policy_type,jurisdiction\nprivacy-policy,GB\n',
    });
    const address = sent.headers.get('location') ?? '';
    expect((await olga.get(address)).text).toContain('1 not sent');
    const plan = /name="plan" value="([^"]+)"/.exec((await olga.get(address)).text)?.[1] ?? '';
    await olga.post('/policies/bulk/stop', { source: 'default', plan });
    const stopped = await olga.get(address);
    expect(stopped.text).toContain('Send the rest');
    await olga.post('/policies/bulk/send', { source: 'default', plan });
    const states = (await world.context.jobs.list({ kind: 'policy-bulk' })).map(({ state }) => state);
    expect(states.sort()).toEqual(['cancelled', 'waiting']);
    expect((await olga.post('/policies/bulk/send', { source: 'default', plan: 'bulk-unknown' })).status).toBe(404);
  });
});

describe('the API', () => {
  it('generates, publishes and sends lists as jobs', async () => {
    const { world } = await callingWorld();
    const caller = await tokenOf(world, 'officer', { scope: 'work' });
    const form = { policy_type: 'privacy-policy', jurisdiction: 'GB' };
    const asked = await caller.post('/api/v1/policies/generate', { source: 'default', form });
    expect([asked.status, asked.json]).toEqual([202, expect.objectContaining({ kind: 'policy-generate' })]);
    const jobOf = async (id: unknown) => (await caller.get(`/api/v1/jobs/${String(id)}`)).json;
    await expect.poll(async () => (await jobOf(asked.json['jobId']))['state']).toBe('done');
    const { policyId } = (await jobOf(asked.json['jobId']))['result'] as { policyId: string };
    const published = await caller.post('/api/v1/policies/publish', { source: 'default', policyId });
    expect(published.status).toBe(202);
    expect((await caller.post('/api/v1/policies/publish', { source: 'default', policyId: '..' })).status).toBe(400);

    const items = [{ policy_type: 'cookie-policy', jurisdiction: 'DE' }];
    // One item twice would be generated twice, however it is written.
    const twice = [...items, { policy_type: 'cookie_policy', jurisdiction: 'de' }];
    expect(await caller.post('/api/v1/policies/bulk', { source: 'default', items: twice })).toMatchObject({
      status: 400,
      json: { problems: [expect.stringContaining('item 2 is the same as item 1')] },
    });
    const bulk = await caller.post('/api/v1/policies/bulk', { source: 'default', items });
    const { planId } = bulk.json as { planId: string };
    await expect
      .poll(async () => (await caller.get(`/api/v1/policies/bulk/${planId}?source=default`)).json)
      .toMatchObject({ items: [{ position: 0, policyType: 'cookie-policy', state: 'created' }] });
    expect((await caller.post('/api/v1/policies/bulk', { source: 'default', items })).json).toMatchObject({ planId });
    const sent = await world.context.store.read.selectFrom('calls').select('operation').orderBy('intent_seq').execute();
    expect(sent.map(({ operation }) => operation)).toEqual(['generate', 'publish', 'bulk']);
    const reader = await tokenOf(world, 'officer', { scope: 'read' });
    expect((await reader.post('/api/v1/policies/generate', { source: 'default', form })).status).toBe(403);
  });
});
