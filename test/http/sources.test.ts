import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { webhookSecretOf } from '../../src/crypto/keys.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { longest } from '../../src/service/outgoing-http.ts';
import { answeringServer } from '../service/answering-server.ts';
import { SECRET } from '../serving.ts';
import { createOfficeWorld, type OfficeWorld, PASSWORD, setPassword, signedIn, signedInAs } from './office-world.ts';

/** Sends a signed delivery to a source; resolves with the status of the response. */
async function deliverTo(world: OfficeWorld, slug: string, secret: string, body: object): Promise<number> {
  const bytes = JSON.stringify(body);
  const signature = createHmac('sha256', secret).update(bytes).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  const { status } = await fetch(`${world.url}/webhooks/${slug}`, { method: 'POST', body: bytes, headers });
  await world.context.projector.catchUp();
  return status;
}

async function startService() {
  const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 2, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const client = sandbox.clients[0];
  if (client === undefined) throw new Error('the sandbox is empty');
  return { sandbox, baseUrl, siteUrl, apiKey: client.apiKey };
}

/** The port on loopback of a server that ends with the test. */
async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('the set-up of a source', () => {
  it('leads from a name to a secret that is shown once, a first delivery and a tested API key', async () => {
    const world = await createOfficeWorld({ HTTP_ALLOWED_HOSTS: '127.0.0.1' });
    const { baseUrl, siteUrl, apiKey } = await startService();
    const owner = await signedInAs(world, 'owner');
    await setPassword(world, owner.personId);
    const list = await owner.get('/sources');
    expect(list.text).toContain('href="/sources/new"');

    const added = await owner.post('/sources', { name: 'Müller & Söhne', slug: '' });
    expect([added.status, added.headers.get('location')]).toEqual([303, '/sources/muller-sohne/set-up']);
    const started = await owner.get('/sources/muller-sohne/set-up');
    expect(started.text).toContain('<title>Set up Müller &amp; Söhne · consent-ledger</title>');
    expect(started.text).toContain(`<p class="mono">${world.url}/webhooks/muller-sohne</p>`);
    expect(started.text).toContain('Nothing has arrived from the service yet');

    const made = await owner.post('/sources/muller-sohne/secrets', { way: 'make', back: 'set-up' });
    const secret = /<p class="mono">([0-9a-f]{64})<\/p>/.exec(made.text)?.[1] ?? '';
    expect([made.status, secret.length]).toEqual([200, 64]);
    expect((await owner.get('/sources/muller-sohne/set-up')).text).not.toContain(secret);
    expect((await owner.get('/sources/muller-sohne')).text).not.toContain(secret);

    const body = { event: 'consent.recorded', data: { banner_id: 'b-1', visitor_id: 'v-1' } };
    expect(await deliverTo(world, 'muller-sohne', 'another-secret-than-that', body)).toBe(401);
    await world.context.rejected.flush();
    expect((await owner.get('/sources/muller-sohne/set-up')).text).toContain('A delivery arrived and was refused');
    // The operator's own test shows that the address works, not that the service sends.
    expect(await deliverTo(world, 'muller-sohne', secret, { event: TEST_EVENT })).toBe(200);
    expect((await owner.get('/sources/muller-sohne/set-up')).text).not.toContain('Deliveries arrive');
    expect(await deliverTo(world, 'muller-sohne', secret, body)).toBe(200);
    expect((await owner.get('/sources/muller-sohne/set-up')).text).toContain('Deliveries arrive');

    const access = { baseUrl, siteUrl, back: 'set-up', present: PASSWORD };
    const wrong = await owner.post('/sources/muller-sohne/access', { ...access, apiKey: 'pak_live_wrong' });
    expect([wrong.status, wrong.text.includes('Nothing was saved')]).toEqual([422, true]);
    expect(wrong.text).not.toContain('pak_live_wrong');
    expect(world.context.sources.find('muller-sohne')?.apiKey).toBeNull();
    const right = await owner.post('/sources/muller-sohne/access', { ...access, apiKey });
    expect([right.status, right.text]).toEqual([303, '']);
    const done = await owner.get('/sources/muller-sohne/set-up?done=access');
    expect(done.text).toContain('Set-up is complete');
    expect(done.text).not.toContain(apiKey);

    await owner.post('/sources/muller-sohne/sync', {});
    await expect
      .poll(async () => (await owner.get('/sources/muller-sohne')).text)
      .toMatch(/The last \d+, newest first[\s\S]*complete/);
    const tried = await owner.post('/sources/muller-sohne/check', {});
    expect(tried.text).toContain('The API key of muller-sohne works');
    expect((await world.actions('source.changed')).map(({ actor }) => actor.split(' (')[0])).toContain('Pat owner');
  });

  it('names the error in a name, and a short name that is in use', async () => {
    const world = await createOfficeWorld();
    const admin = await signedInAs(world, 'admin');
    expect((await admin.post('/sources', { name: ' ' })).text).toContain('Enter a name.');
    const taken = await admin.post('/sources', { name: 'x', slug: 'default' });
    expect([taken.status, taken.text.includes('is already used')]).toEqual([409, true]);
    const wrong = await admin.post('/sources', { name: 'x', slug: 'No Good' });
    expect([wrong.status, wrong.text.includes('It needs 1 to 63 lower-case letters')]).toEqual([422, true]);
    const hebrew = await admin.post('/sources', { name: 'מכולת' });
    expect([hebrew.status, hebrew.text.includes('Enter a short name')]).toEqual([422, true]);
    const reserved = await admin.post('/sources', { name: 'x', slug: 'installation' });
    expect([reserved.status, reserved.text.includes('is reserved')]).toEqual([422, true]);
    const page = await admin.post('/sources', { name: 'x', slug: 'import' });
    expect(page.text).toContain('<li>Short name is reserved: choose another</li>');
    expect(world.context.sources.list().map(({ slug }) => slug)).toEqual(['default']);
  });

  it('derives the short name from a name with umlauts and ß', async () => {
    const world = await createOfficeWorld();
    const admin = await signedInAs(world, 'admin');
    await admin.post('/sources', { name: 'Große Bäckerei & Söhne' });
    expect(world.context.sources.list().map(({ slug }) => slug)).toContain('grosse-backerei-sohne');
  });

  it('never sends a key in the clear to test it', async () => {
    const world = await createOfficeWorld();
    await world.context.sources.add({ slug: 'acme' }, 'test');
    const owner = await signedInAs(world, 'owner');
    const sent = await owner.post('/sources/acme/access', {
      baseUrl: 'http://service.example/api/v1',
      apiKey: 'pak_live_x',
    });
    expect([sent.status, world.context.sources.find('acme')?.baseUrl]).toEqual([422, null]);
    expect(sent.text).toMatch(/API address must be https: .* the server’s operator can allow it\.</);
    expect(sent.text).not.toContain('baseUrl:');
    // The name of the setting is only in the message to the admins.
    expect(sent.text.replaceAll(/ href="mailto:[^"]*"/g, '')).not.toContain('HTTP_ALLOWED_HOSTS');
    expect(sent.text).toMatch(/href="mailto:[^"]*HTTP_ALLOWED_HOSTS/);
  });

  it('asks for the password before an address changes, and before anything is sent there', async () => {
    const world = await createOfficeWorld();
    const { baseUrl, apiKey } = await startService();
    await world.context.sources.add({ slug: 'acme' }, 'test');
    const owner = await signedInAs(world, 'owner');
    await setPassword(world, owner.personId);
    for (const present of ['', 'wrong']) {
      const sent = await owner.post('/sources/acme/access', { baseUrl, apiKey, present });
      expect([sent.status, sent.text.includes('The current password is wrong')]).toEqual([422, true]);
    }
    expect(world.context.sources.find('acme')).toMatchObject({ baseUrl: null, apiKey: null });
    expect((await owner.post('/sources/acme/access', { baseUrl, apiKey, present: PASSWORD })).status).toBe(303);
    // A key alone goes nowhere new.
    expect((await owner.post('/sources/acme/access', { baseUrl, apiKey })).status).toBe(303);
  });

  it('never tests a stored key at a new address, nor stores it for one', async () => {
    const world = await createOfficeWorld();
    const { baseUrl, apiKey } = await startService();
    const thief = await answeringServer((_, response) => response.end('{"data":[]}'));
    await world.context.sources.add({ slug: 'acme', baseUrl, apiKey }, 'test');
    const owner = await signedInAs(world, 'owner');
    await setPassword(world, owner.personId);
    for (const unchecked of ['', 'yes']) {
      const form = { baseUrl: thief.baseUrl, unchecked, present: PASSWORD };
      const sent = await owner.post('/sources/acme/access', form);
      expect([sent.status, sent.text.includes('API key must be entered again')]).toEqual([422, true]);
      expect(sent.text).not.toContain(apiKey);
    }
    expect([thief.requests.length, world.context.sources.find('acme')?.baseUrl]).toEqual([0, baseUrl]);
  });

  it('refuses an address in a private network with a sentence, and sends nothing there', async () => {
    const world = await createOfficeWorld({ PRIVATE_ALLOWED_HOSTS: '' });
    const { baseUrl, requests } = await answeringServer((_, response) => response.end('{}'));
    await world.context.sources.add({ slug: 'acme' }, 'test');
    const owner = await signedInAs(world, 'owner');
    const form = { baseUrl, apiKey: 'pak_live_x', siteUrl: 'https://169.254.169.254', unchecked: 'yes' };
    const sent = await owner.post('/sources/acme/access', form);
    expect(sent.status).toBe(422);
    expect(sent.text).toContain('API address is on this machine or in a private network');
    expect(sent.text).toContain('Public address of the service is on this machine or in a private network');
    // The name of the setting is only in the message to the admins.
    expect(sent.text.replaceAll(/ href="mailto:[^"]*"/g, '')).not.toContain('PRIVATE_ALLOWED_HOSTS');
    expect(sent.text).toMatch(/href="mailto:[^"]*PRIVATE_ALLOWED_HOSTS/);
    expect([requests.length, world.context.sources.find('acme')?.siteUrl]).toEqual([0, null]);
  });

  it('tests a key with the same sentence whether a port is closed, silent or not a web server’s', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const notHttp = createServer((socket) => socket.end('220 mail.example ESMTP\r\n'));
    const silent = createServer(() => undefined);
    const sentences = new Set<string>();
    longest.exchangeMs = 300;
    onTestFinished(() => void (longest.exchangeMs = Number.POSITIVE_INFINITY));
    for (const [slug, server] of Object.entries({ closed: null, 'not-http': notHttp, silent })) {
      const port = server === null ? 1 : await portOf(server);
      await world.context.sources.add(
        { slug, baseUrl: `http://127.0.0.1:${port}/api/v1`, apiKey: 'pak_live_x' },
        'test',
      );
      const { text } = await owner.post(`/sources/${slug}/check`, {});
      sentences.add(/[^<>]*could not be reached[^<>]*/.exec(text)?.[0].replaceAll(slug, 'it') ?? text);
    }
    expect(sentences.size).toBe(1);
    expect([...sentences][0]).toContain('The server’s log has the details.');
  });

  it('names fields by their labels, keeps what was typed, and says what to do in the words of the page', async () => {
    const world = await createOfficeWorld();
    await world.context.sources.add({ slug: 'acme' }, 'test');
    const owner = await signedInAs(world, 'owner');
    const typed = { baseUrl: 'https://service.example/wrong', siteUrl: 'https://service.example/path' };
    for (const back of ['set-up', 'source']) {
      const { status, text } = await owner.post('/sources/acme/access', { ...typed, back });
      expect(status).toBe(422);
      expect(text).toContain('API address must be the API root of the service');
      expect(text).toContain('Public address of the service must be an origin');
      for (const value of Object.values(typed)) expect(text).toContain(`value="${value}"`);
    }
    await setPassword(world, owner.personId);
    const own = { back: 'set-up', present: PASSWORD };
    const away = { baseUrl: 'https://127.0.0.1:1/api/v1', apiKey: 'pak_live_x', ...own };
    const unreached = await owner.post('/sources/acme/access', away);
    expect(unreached.text).toContain('Check the source’s API address, its port');
    expect(unreached.text).toMatch(/href="mailto:[^"]*">Tell an admin/);
    expect(unreached.text.replaceAll(/ href="mailto:[^"]*"/g, '')).not.toMatch(/SERVICE_[A-Z]/);
    const { baseUrl, apiKey } = await startService();
    const wrongKey = await owner.post('/sources/acme/access', { baseUrl, apiKey: `${apiKey}x`, ...own });
    expect(wrongKey.text).toContain('set it as the source’s API key');
    expect(wrongKey.text).not.toMatch(/SERVICE_[A-Z]|Tell an admin/);
    // What ends with a command can be sent to the server's operator.
    await world.context.sources.change('acme', { baseUrl, apiKey }, 'test');
    const set = await fetch(new URL('/_sandbox/faults', baseUrl), {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ faults: [{ name: 'bad-request', on: 'consent-logs' }] }),
    });
    expect(set.status).toBe(200);
    const checked = await owner.post('/sources/acme/check', {});
    expect(checked.text).toContain('consent-ledger source change');
    expect(checked.text).toMatch(/href="mailto:[^"]*">Tell an admin/);
    const name = await owner.post('/sources/acme/name', { name: 'x'.repeat(201) });
    expect(name.text).toContain(`value="${'x'.repeat(201)}"`);
  });
});

describe('the page of a source', () => {
  it('rotates a secret: the old one stays valid, with a countdown, and can be ended at once', async () => {
    const world = await createOfficeWorld();
    const old = 'the-first-secret-of-acme';
    await world.context.sources.add({ slug: 'acme', name: 'Acme', webhookSecrets: [old] }, 'test');
    const owner = await signedInAs(world, 'owner');
    const only = world.context.sources.find('acme')?.webhookSecrets[0]?.id ?? '';
    const refused = await owner.post('/sources/acme/secrets/retire', { secret: only });
    expect([refused.status, refused.text.includes('only signing secret')]).toEqual([422, true]);

    const rotated = await owner.post('/sources/acme/secrets', {
      secret: 'the-second-secret-of-acme',
      encoding: 'text',
      retire: '24',
    });
    expect(rotated.headers.get('location')).toBe('/sources/acme?done=secret');
    expect((await owner.get('/sources/acme')).text).toContain('in 24.0 h');
    expect((await owner.get('/sources')).text).toContain('2 valid, 1 expiring');
    expect(await deliverTo(world, 'acme', old, { event: 'a' })).toBe(200);
    await owner.post('/sources/acme/secrets/retire', { secret: only });
    expect(await deliverTo(world, 'acme', old, { event: 'b' })).toBe(401);
    expect(await deliverTo(world, 'acme', 'the-second-secret-of-acme', { event: 'c' })).toBe(200);
  });

  it('rotates the secret of the source from the environment as well, and says what to remove there', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const { id } = webhookSecretOf(SECRET);
    expect((await owner.get('/sources/default')).text).toContain('signing secrets included, is changed here');
    const known = await owner.post('/sources/default/secrets', { secret: SECRET, encoding: 'text', retire: '24' });
    expect([known.status, known.text.includes('already accepted')]).toEqual([409, true]);
    const made = await owner.post('/sources/default/secrets', { way: 'make', retire: '24' });
    const secret = /<p class="mono">([0-9a-f]{64})<\/p>/.exec(made.text)?.[1] ?? '';
    expect([made.status, secret.length]).toEqual([200, 64]);
    const page = await owner.get('/sources/default');
    expect(page.text).toContain('in 24.0 h');
    expect(page.text).not.toContain(secret);
    expect((await owner.get('/sources')).text).toContain('2 valid, 1 expiring');
    expect(await deliverTo(world, 'default', SECRET, { event: 'a' })).toBe(200);
    expect(await deliverTo(world, 'default', secret, { event: 'b' })).toBe(200);

    world.setNow(new Date(Date.now() + 25 * 3_600_000).toISOString());
    expect(await deliverTo(world, 'default', SECRET, { event: 'c' })).toBe(401);
    expect(await deliverTo(world, 'default', secret, { event: 'd' })).toBe(200);
    const back = await signedInAs(world, 'owner');
    const sentence = `WEBHOOK_SECRETS still contains the signing secret ${id} of default, which ended on`;
    const told = (await back.get('/sources/default')).text;
    expect(told).toContain(sentence);
    expect(told).toContain('Remove it from WEBHOOK_SECRETS');
    const officer = await signedInAs(world, 'officer');
    expect((await officer.get('/sources/default')).text).not.toContain('WEBHOOK_SECRETS');
    expect(await world.actions('source.changed')).toMatchObject([
      { actor: expect.stringMatching(/^Pat owner/) as string, object: 'default' },
    ]);
  });

  it('ends a secret from the environment at once, but not the only one', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const { id } = webhookSecretOf(SECRET);
    const only = await owner.post('/sources/default/secrets/retire', { secret: id });
    expect([only.status, only.text.includes('only signing secret')]).toEqual([422, true]);
    await owner.post('/sources/default/secrets', {
      secret: 'the-second-secret-of-default',
      encoding: 'text',
      retire: '',
    });
    const ended = await owner.post('/sources/default/secrets/retire', { secret: id });
    expect(ended.headers.get('location')).toBe('/sources/default?done=retired');
    expect(await deliverTo(world, 'default', SECRET, { event: 'a' })).toBe(401);
    expect(await deliverTo(world, 'default', 'the-second-secret-of-default', { event: 'a' })).toBe(200);
  });

  it('says what cannot be changed here about a source from the environment, and lets officers ask an admin', async () => {
    const world = await createOfficeWorld();
    const owner = await signedInAs(world, 'owner');
    const { text } = await owner.get('/sources/default');
    expect(text).toMatch(/set by environment variables[\s\S]*SERVICE_…/);
    const access = await owner.post('/sources/default/access', { baseUrl: '', siteUrl: '', unchecked: 'yes' });
    expect([access.status, access.text.includes('set by environment variables')]).toEqual([409, true]);
    expect((await owner.get('/sources/default/set-up')).headers.get('location')).toBe('/sources/default');
    const officer = await signedInAs(world, 'officer');
    const seen = (await officer.get('/sources/default')).text;
    expect(seen.replace(/<[^>]*>/g, '')).not.toMatch(/[A-Z]+_[A-Z]+|environment/);
    expect(seen).toContain('Only an admin can change the address and keys of this source');
    expect(seen).toMatch(/href="mailto:[^"?]+%40acme\.example\?subject=Source%20Default[^"]+SERVICE_API_KEY/);
    expect(seen).not.toContain('/sources/default/secrets"');
    const sent = await officer.post('/sources/default/secrets', { way: 'make' });
    expect(sent.status).toBe(403);
  });

  it('stops a waiting sync', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    await olga.post('/sources/default/sync', {});
    expect((await olga.get('/sources/default')).text).toMatch(/Sync <span class="badge calm">waiting/);
    const stopped = await olga.post('/sources/default/sync/stop', {});
    expect(stopped.headers.get('location')).toBe('/sources/default?done=stopped#log');
    expect((await olga.get('/sources/default')).text).not.toContain('badge calm">waiting');
    const idle = await olga.post('/sources/default/sync/stop', {});
    expect(idle.headers.get('location')).toBe('/sources/default?done=idle#log');
  });

  it('shows fields that are not understood, without values, and accepts them as shown with a click', async () => {
    const world = await createOfficeWorld();
    for (let visitor = 0; visitor < 12; visitor += 1)
      await world.event('consent.recorded', {
        who_is_it: `secretvalue${visitor}aaaaaaaaaaaaaaaaaaaaaaaa`,
        banner_id: 'b-1',
        record_id: `r-${visitor}`,
        timestamp: `2026-11-0${(visitor % 9) + 1}T10:00:00Z`,
        purposes: { analytics: visitor % 2 === 0 },
      });
    const olga = await signedIn(world);
    const page = await olga.get('/sources/default/fields');
    expect(page.text).toContain('who_is_it');
    expect(page.text).not.toContain('secretvalue');
    const proposal = /name="proposal" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect(proposal).not.toBe('');
    const other = await olga.post('/sources/default/fields', { proposal: 'deadbeef' });
    expect([other.status, other.text.includes('review it again')]).toEqual([409, true]);
    const accepted = await olga.post('/sources/default/fields', { proposal });
    expect(accepted.headers.get('location')).toBe('/sources/default/fields?done=accepted');
    expect(world.context.sources.find('default')?.options.fieldNames).not.toEqual({});
    expect((await world.actions('source.mapping-accepted')).length).toBe(1);
    expect((await olga.get('/sources/default/fields')).text).not.toContain('Accept the proposal');
  });

  it('shows what a doubtful field would change side by side, and includes it only when its name is typed', async () => {
    const world = await createOfficeWorld();
    for (let visitor = 0; visitor < 8; visitor += 1)
      await world.event('consent.recorded', {
        record_id: `r-${visitor}00`,
        visitor_id: visitor < 6 ? `visitor-${visitor}-0123456789` : null,
        hasher: String(visitor).repeat(64),
        decision: visitor % 2 === 0 ? 'reject' : 'accept',
        timestamp: '2026-11-01T10:00:00Z',
      });
    const olga = await signedIn(world);
    const page = await olga.get('/sources/default/fields');
    expect(page.text).toMatch(
      /Not part of the proposal[\s\S]*data\.hasher<\/code>: 6 records would belong to other visitors/,
    );
    expect(page.text).toContain('Would be read');
    // Nothing else is proposed.
    const proposal = '';
    const wrong = await olga.post('/sources/default/fields', { proposal, include: 'hash' });
    expect([wrong.status, wrong.text.includes('exactly as it is shown')]).toEqual([422, true]);
    expect(world.context.sources.find('default')?.options.fieldNames).toEqual({});
    const accepted = await olga.post('/sources/default/fields', { proposal, include: 'data.hasher' });
    expect(accepted.headers.get('location')).toBe('/sources/default/fields?done=accepted');
    expect(world.context.sources.find('default')?.options.fieldNames).toEqual({ subject: ['data.hasher'] });
    expect(await world.actions('source.mapping-accepted')).toHaveLength(1);
  });

  it('asks whether a purpose that is never refused needs consent, and says that ids stay the same for a visitor', async () => {
    const world = await createOfficeWorld();
    for (let choice = 0; choice < 12; choice += 1)
      await world.event('consent.recorded', {
        consent_id: `visitor-${choice % 11}`,
        visitor_id: `hash-of-visitor-${choice % 11}`,
        timestamp: `2026-11-01T10:00:${String(choice).padStart(2, '0')}Z`,
        purposes: { basis: true, analytics: choice < 6, ads: choice === 11 },
      });
    const olga = await signedIn(world);
    const page = await olga.get('/sources/default/fields');
    expect(page.text).toMatch(/Purposes that are never refused[\s\S]*purpose:basis[\s\S]*granted in all 12/);
    expect(page.text).not.toContain('purpose:analytics');
    expect((await olga.post('/sources/default/necessary', { 'purpose:analytics': 'yes' })).status).toBe(422);
    const saved = await olga.post('/sources/default/necessary', { 'purpose:basis': 'yes' });
    expect(saved.headers.get('location')).toBe('/sources/default/fields?done=necessary');
    expect(world.context.sources.find('default')?.options.necessaryPurposes).toEqual(['basis']);
    const source = (await olga.get('/sources/default')).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(source).toContain('Need no consent basis');
    expect(source).toContain('stay the same for a visitor: 1 choice came under an id that was used before');
  });
});

describe('the figures of sources', () => {
  it('count each decision once and each request, by source and period, also of an offboarded source', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { sources } = world.context;
    const bolt = 'a-signing-secret-of-bolt';
    await sources.add({ slug: 'bolt', name: 'Bolt Ltd', webhookSecrets: [bolt] }, 'test');
    const choice = (id: string, at: string) => ({
      event: 'consent.recorded',
      data: { consent_id: id, banner_id: 'b', visitor_hash: 'v', timestamp: at, consent: { analytics: true } },
    });
    // The last second of September and the first of October in Berlin; a second record of one decision.
    for (const [id, at] of [
      ['c-1', '2026-09-30T21:59:59Z'],
      ['c-2', '2026-09-30T22:00:00Z'],
      ['c-3', '2026-12-31T22:59:59Z'],
    ] as const)
      await deliverTo(world, 'bolt', bolt, choice(id, at));
    await deliverTo(world, 'bolt', bolt, { ...choice('c-2', '2026-09-30T22:00:00Z'), note: 'again' });
    await deliverTo(world, 'bolt', bolt, {
      event: 'dsar.submitted',
      data: { request_id: 'r-1', type: 'access', submitted_at: '2026-10-05T10:00:00Z', jurisdiction: 'DE' },
    });
    await deliverTo(world, 'default', SECRET, choice('c-9', '2026-11-01T10:00:00Z'));
    await sources.offboard('bolt', { reason: null, openCases: 1 }, 'test');
    world.setNow('2027-01-02T10:00:00Z');
    const owner = await signedInAs(world, 'owner');
    const rows = async (days: string) =>
      (await owner.get(`/figures/file?${days}`)).text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.replaceAll('"', ''));
    expect(await rows('from=2026-10-01&to=2026-12-31')).toEqual([
      'bolt,Bolt Ltd,2026-10-01,2026-12-31,2,1',
      'default,Default,2026-10-01,2026-12-31,1,0',
    ]);
    expect((await rows('from=2026-09-30&to=2026-09-30'))[0]).toBe('bolt,Bolt Ltd,2026-09-30,2026-09-30,1,0');
    const { text } = await owner.get('/figures?from=2026-10-01&to=2026-12-31');
    expect(text).toContain('In all: 3 decisions, 1 request.');
    // Without days: the quarter that has just begun.
    expect((await owner.get('/figures')).text).toContain('value="2027-01-01"');
    const wrong = await owner.get('/figures?from=yesterday&to=2026-12-31');
    expect([wrong.status, wrong.text.includes('Invalid date')]).toEqual([422, true]);
    const reversed = await owner.get('/figures/file?from=2026-12-31&to=2026-10-01');
    expect([reversed.status, reversed.text.includes('The last day is before the first day.')]).toEqual([422, true]);
    // No file or sum for days that were not understood.
    for (const { text: page } of [wrong, reversed, await owner.get('/figures/file?from=yesterday')]) {
      expect(page).not.toContain('In all:');
      expect(page).not.toContain('Bolt Ltd,');
    }
  });
});
