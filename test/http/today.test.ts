import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { noteVerification } from '../../src/ledger/verify/last-verification.ts';
import { writeSetting } from '../../src/store/settings.ts';
import { temporaryFolder } from '../temporary.ts';
import { approvalIn, makeMoves } from './hand-over-world.ts';
import { createOfficeWorld, signedIn, signedInAs, type Visitor } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

it('Today dismisses a banner that only deliveries name, and restores it, each recorded with the officer', async () => {
  const world = await createOfficeWorld(
    { SERVICE_BASE_URL: 'http://127.0.0.1:1/api/v1', SERVICE_API_KEY: 'pak_live_test' },
    { worker: false },
  );
  await world.event('consent.recorded', { banner_id: 'bnr_<gone>', subject: 'h', status: 'granted' });
  const visitor = await signedIn(world);
  const banner = { source: 'default', banner: 'bnr_<gone>' };
  expect((await visitor.get('/')).text).toContain('Stop pulling: banner bnr_&lt;gone');
  expect(await visitor.post('/sync/dismiss', banner)).toMatchObject({ status: 303 });
  const [dismissal] = await world.actions('sync.banner-dismissed');
  expect(dismissal?.actor).toContain('Olga Officer');

  const page = await visitor.get('/?done=dismissed');
  expect(page.text).toContain('is no longer pulled');
  expect(page.text).toContain('Resume: banner bnr_&lt;gone');
  await visitor.post('/sync/dismiss', { ...banner, restore: 'yes' });
  expect(await world.actions('sync.banner-restored')).toHaveLength(1);

  expect(await visitor.post('/sync/dismiss', { ...banner, banner: 'bnr_typo' })).toMatchObject({ status: 422 });
  expect((await visitor.post('/sync/dismiss', banner, { csrf: null })).status).toBe(403);
});

it('Today says who outside the installation has seen the last checkpoint, and when; so does /metrics', async () => {
  const folder = await temporaryFolder();
  const [policy, share] = [join(folder, 'policy'), join(folder, 'share')];
  await mkdir(share);
  await writeFile(policy, `directory share ${share}\ndirectory gone ${join(folder, 'gone')}\nquorum share\n`);
  const world = await createOfficeWorld({ WITNESSES: policy }, { worker: false });
  const visitor = await signedIn(world);
  expect((await visitor.get('/')).text).toMatch(/Witnessed.*not yet/s);
  const seq = await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  await world.context.witness();
  const { text } = await visitor.get('/');
  expect(text).toMatch(/Witnessed<\/dt>.*by share, <time/s);
  expect(text).toContain('not yet by gone');
  await world.event('consent.recorded', { banner_id: 'b', subject: 'i', status: 'granted' });
  await world.context.seal();
  expect((await visitor.get('/')).text).toMatch(/by share over \d+ entries, <time/);
  const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
  expect(Number(/witnessed_seq\{witness="share"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThanOrEqual(seq);
});

it('Today asks to take up new requests in one line, until work on them starts, and an admin to add the first source', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const officer = await signedInAs(world, 'officer');
  const tasks = async () => {
    const { text } = await officer.get('/');
    return text.slice(text.indexOf('id="tasks"'), text.indexOf('id="month"')).replaceAll('<!-- -->', '');
  };
  const submit = (name: string) =>
    world.event('dsar.submitted', { request_id: name, type: 'access', name, jurisdiction: 'DE' });
  const seq = await submit('Ada');
  expect(await tasks()).toMatch(
    new RegExp(`Take up the new request default-${seq} \\(Access\\).*href="/cases/default-${seq}"`),
  );
  await submit('Grace');
  expect(await tasks()).toMatch(/Take up 2 new requests.*href="\/cases\?sort=newest"/);
  await makeMoves(world, `default-${seq}`, [['start', {}]]);
  expect(await tasks()).toContain('Take up the new request default-');

  const empty = await createOfficeWorld({ WEBHOOK_SECRETS: '' }, { worker: false });
  expect((await (await signedInAs(empty, 'officer')).get('/')).text).toContain('Nothing is waiting for you.');
  expect((await (await signedInAs(empty, 'owner')).get('/')).text).toMatch(
    /Add the first source.*href="\/sources\/new"/,
  );
});

it('Today asks for a missing controller profile, of an officer by a message to an admin, until there is one', async () => {
  const world = await createOfficeWorld({ CONTROLLER_FILE: '' }, { worker: false });
  const owner = await signedInAs(world, 'owner', { email: 'ada@acme.example' });
  const officer = await signedInAs(world, 'officer');
  const task = async (visitor: Visitor) =>
    /Fill in the controller profile.*?<a class="button quiet slim" href="([^"]+)"/.exec(
      (await visitor.get('/')).text,
    )?.[1];
  expect(await task(owner)).toBe('/settings/profile?source=default');
  expect(await task(officer)).toMatch(/^mailto:ada%40acme\.example\?subject=.*controller%20profile/);
  expect((await owner.get('/settings/profile?source=default')).status).toBe(200);
  await writeFile(join(world.folder, 'controller.yaml'), 'name: Acme GmbH\ncountry: DE\nregion: BE\n');
  expect([await task(owner), await task(officer)]).toEqual([undefined, undefined]);
});

it('Today names at most ten tasks, urgent requests first, with the rest behind one line; sends operator tasks to the admins', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const officer = await signedInAs(world, 'officer');
  expect((await officer.get('/')).text).toContain('Nothing is waiting for you.');
  await signedInAs(world, 'admin', { email: 'ada@acme.example' });
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  for (let n = 0; n < 7; n += 1)
    await world.event('dsar.submitted', {
      request_id: `r-${n}`,
      type: 'access',
      name: `Person ${n}`,
      jurisdiction: 'DE',
      submitted_at: ago(40 + 5 * n),
    });
  for (let n = 0; n < 8; n += 1)
    await world.event('cookie_scan.completed', {
      domain: `shop-${n}.example`,
      cookies: [{ name: '_ga', category: 'analytics', before_consent: true }],
      finished_at: ago(1),
    });
  await writeSetting(world.context.store, 'seal_failure', 'disk full');
  const { text } = await officer.get('/');
  const tasks = text.slice(text.indexOf('id="tasks"'), text.indexOf('id="requests"'));
  const [visible = '', rest = ''] = tasks.split('<summary>');
  const rows = (part: string) => part.match(/<th scope="row"/g)?.length ?? 0;
  expect([rows(visible), rows(rest)]).toEqual([10, 5]);
  expect(rest).toContain('5 more');
  // The one that waits longest is due first.
  expect(/Answer request default-\d+ from <bdi>(Person \d)/.exec(tasks.replaceAll(/<!-- -->/g, ''))?.[1]).toBe(
    'Person 6',
  );
  expect(visible.match(/aria-label="Open: /g)).toHaveLength(6);
  expect(visible).toMatch(
    /href="mailto:ada%40acme.example\?subject=consent-ledger[^"]+body=[^"]+" aria-label="Tell an admin/,
  );
  expect(text).not.toContain('For the operator');
  // The command that fixes it is in the mail, not on the page of a person without a shell.
  expect(tasks.replaceAll(/href="[^"]*"/g, '')).not.toContain('consent-ledger ledger verify');
  expect(tasks).toContain('An admin has to fix this.');
  // An admin does it on a page.
  const admin = await signedInAs(world, 'admin');
  const theirs = (await admin.get('/')).text.replaceAll('<!-- -->', '');
  expect(theirs).toMatch(
    /could not be sealed: disk full.*“Verify now”.*href="\/evidence#verification" aria-label="Look/s,
  );
  expect(theirs).not.toContain('consent-ledger ledger verify');
});

it('Today stays short when every source falls silent at once, and when hundreds of things are to be done', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context } = world;
  const headers = { 'user-agent': 'test' };
  for (let n = 0; n < 5; n += 1) {
    await context.sources.add({ slug: `client-${n}`, name: `Client ${n}` }, 'test');
    await appendDelivery(
      context.ledger,
      {
        ...{ source: `client-${n}`, rawBody: Buffer.from('{"event":"ping"}'), headers, secretId: 'test' },
        ...{ verdict: 'verified', contentType: 'application/json' },
      },
      new Date().toISOString(),
    );
  }
  await context.projector.catchUp();
  world.setNow(new Date(Date.now() + 50 * 86_400_000).toISOString());
  const admin = await signedInAs(world, 'admin');
  const silent = async () => {
    const text = (await admin.get('/')).text.replaceAll('<!-- -->', '');
    return text.slice(text.indexOf('id="tasks"'), text.indexOf('id="month"'));
  };
  const one = await silent();
  expect(one.match(/<strong>client-\d has delivered nothing/g)).toHaveLength(1);
  expect(one).toMatch(/<summary>4 more like it<\/summary><ul><li>client-1 has delivered nothing for 50 days\.<\/li>/);
  for (let n = 0; n < 150; n += 1)
    await world.event('cookie_scan.completed', {
      domain: `shop-${n}.example`,
      cookies: [{ name: '_ga', category: 'analytics', before_consent: true }],
      finished_at: new Date(Date.now() + 49 * 86_400_000).toISOString(),
    });
  const many = await silent();
  const tasks = Number(/<summary>(\d+) more<\/summary>/.exec(many)?.[1]) + 10;
  expect(tasks).toBeGreaterThan(150);
  expect(many.match(/<th scope="row"/g)).toHaveLength(100);
  expect(many).toContain(`${tasks - 100} more will be listed once these are done.`);
});

it('Today asks for a source if the chart would cover too many', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const olga = await signedIn(world);
  for (let n = 0; n < 20; n += 1) await world.context.sources.add({ slug: `client-${n}`, name: `Client ${n}` }, 'test');
  expect((await olga.get('/')).text).toContain('You see more than 20 sources: choose one in the header for its chart.');
  expect((await olga.get('/?source=client-3')).text).toContain('0 given');
});

it('Today names an answer that a second person has to approve, however far its limit is', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { controllerFile } = world.context.config;
  await writeFile(controllerFile ?? '', 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [answer]\n');
  const request = { request_id: 'r-1', type: 'access', jurisdiction: 'DE', email: 'ada@example.org' };
  const caseId = `default-${await world.event('dsar.submitted', request)}`;
  const [olga, otto] = [await signedInAs(world, 'officer'), await signedInAs(world, 'officer')];
  const task = async () =>
    (await otto.get('/')).text.replaceAll('<!-- -->', '').includes(`Approve the answer to request ${caseId}`);
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Logged in to the customer account' }],
  ]);
  expect(await task()).toBe(false);
  await makeMoves(world, caseId, [['mark-ready', {}]]);
  expect(await task()).toBe(true);
  const shown = (await olga.get(`/cases/${caseId}`)).text;
  expect((await olga.post(`/cases/${caseId}/moves`, approvalIn(shown))).status).toBe(303);
  expect(await task()).toBe(false);
});

it('Today charts the decisions of thirty days, and says in one line what can be relied on', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await seedRequests(world);
  const olga = await signedIn(world);
  const before = (await olga.get('/')).text;
  // Of its two decisions one is forty days old.
  expect(before).toContain('0 given');
  expect(before).toContain('1 withdrawn');
  expect(before).toMatch(
    /Not sealed yet.*no witnesses configured.*not verified yet.*not compared with the ledger yet.*nothing synced/,
  );
  await world.context.seal();
  await world.context.readModels.check();
  await noteVerification(world.context.store, world.context.ledger, { at: new Date().toISOString(), faults: 0 });
  expect((await olga.get('/')).text).toMatch(/Sealed <time.*verified <time.*read models compared <time/);
  await noteVerification(world.context.store, world.context.ledger, { at: new Date().toISOString(), faults: 3 });
  expect((await olga.get('/')).text).toMatch(
    /href="\/evidence#verification"><span class="badge bad">verification found 3/,
  );
});
