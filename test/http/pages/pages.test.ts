import { describe, expect, it } from 'vitest';
import { produceLetter } from '../../../src/documents/produce-letter.ts';
import { createOfficeWorld, signedIn, signedInAs } from '../../http/office-world.ts';
import { makeMoves } from '../hand-over-world.ts';
import { seedRequests } from './seed.ts';

describe('text sent by others', () => {
  it('stays text on every page, whatever name a requester gives', async () => {
    const world = await createOfficeWorld();
    const { erasure } = await seedRequests(world);
    const row = await world.context.store.read
      .selectFrom('cases')
      .selectAll()
      .where('case_id', '=', `default-${erasure}`)
      .executeTakeFirstOrThrow();
    expect(row.requester_name).toContain('<script>');
    expect(row.message).toContain('<script>');
    const olga = await signedIn(world, '<b>Olga</b> "onload=x');
    const pages = [
      '/',
      '/cases',
      '/cases/new',
      `/cases/default-${erasure}`,
      '/deadline?received=<script>alert(4)</script>&region=<img src=x>&place="onload=x',
      '/?source=<script>alert(1)</script>&done=<script>alert(2)</script>',
      '/cases/<script>alert(3)</script>',
      '/scans',
      '/figures',
      '/scans?source=<script>&site=<img src=x>&at="onload=x',
      '/cases?state=<script>&kind=<b>&sort="onload=x&after=<img src=x>',
      '/consent/contradictions?source=<b>&from=<script>&to="onload=x&after=<img>',
      '/consent/undelivered',
      '/deliveries?source=<b>&event="onload=x&outcome=<script>&entry=<img src=x>',
      '/deliveries/refused?done=<script>&in=<b>&out=1',
      '/documents?source=<b>&name=<script>&format=<img src=x>&case="onload=x',
      '/documents/check',
      '/policies?source=<b>&type=<script>&after=<img src=x> "onload=x',
      '/policies/policy?source=default&id=<script>&via=<b>&at="onload=x',
      '/evidence?before=<b>&erasedBefore=<script>&done=<b>',
      '/sources?after=<script>',
      '/sources/default?done=<script>',
      '/sources/default/fields',
      '/policies/calls?source=<b>&open=<script>&before=<img src=x>',
    ];
    for (const path of pages) {
      // This site's own script, which the page of a request has.
      const text = (await olga.get(path)).text.replace(/<script src="\/assets\/[\w-]+\.js" defer><\/script>/, '');
      expect(text, path).not.toMatch(/<script|<img|<b>|onerror=|javascript:/i);
      expect(text, path).not.toContain('"onload');
    }
    expect((await olga.get('/deliveries/refused/<script>')).status).toBe(404);
    const found = await olga.post('/cases/search', { text: '<SCRIPT>' });
    expect(found.text).toContain(`/cases/default-${erasure}`);
    expect((await olga.get('/')).text).toContain('&lt;script>');
    expect((await olga.get('/')).text).toContain('&lt;b>Olga&lt;/b>');
  });
});

describe('the page of scans', () => {
  it('shows inventory, changes, scans and integrations, now and at the end of a day', async () => {
    const world = await createOfficeWorld();
    await seedRequests(world);
    const olga = await signedIn(world);
    const { text } = await olga.get('/scans');
    expect(text).toContain('Set before consent but not strictly necessary:');
    expect(text).toContain('_ga (shop.example)');
    expect(text).toContain('now set before consent');
    expect(text).toContain('HTTP 401');
    const day = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    const earlier = (await olga.get(`/scans?at=${day}`)).text;
    expect(earlier).toContain('This is the site’s first inventory');
    expect(earlier).not.toContain('Set before consent');
    expect(earlier).toContain('No integrations had been connected or disconnected by then.');
    expect(await olga.get('/scans?at=tomorrow')).toMatchObject({ status: 422 });
  });

  it('says what to do if no scan has arrived', async () => {
    const world = await createOfficeWorld();
    const { text } = await (await signedIn(world)).get('/scans');
    expect(text).toContain('No scans yet. Run one in the service');
    expect(text).toContain('<a href="/deliveries?source=default">See what it has delivered</a>');
  });
});

describe('the Today page', () => {
  it('begins with what needs attention and lists requests by legal limit, overdue ones in words', async () => {
    const world = await createOfficeWorld();
    await seedRequests(world);
    const { text } = await (await signedIn(world)).get('/');
    expect(text.replaceAll(/<[^>]+>/g, '')).toMatch(/3 requests: 1 overdue, 1 due in \d days?, 2 unmatched, 1 opt-out/);
    const places = ['Erasure · default', 'Access · default', 'Opt-out · default'].map((title) => text.indexOf(title));
    expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
    expect(text).toMatch(/overdue by \d+ days/);
    // California bars an identity check for an opt-out; the controller's GDPR allows one on a recorded doubt.
    expect(text).toContain('not looked at');
    expect(text).not.toContain('no doubts');
    expect(text).toContain('2 decisions');
  });

  it('names sites that set cookies before consent, and lost integrations, until both are fixed', async () => {
    const world = await createOfficeWorld();
    await seedRequests(world);
    const olga = await signedIn(world);
    const before = (await olga.get('/')).text;
    expect(before).toMatch(/cookies set before consent on 1 site<.*·<.* <.*>1 integration disconnected</);
    expect(before).toContain('<a href="/scans?source=default">shop.example</a>: 1 cookie or tracker');
    expect(before).toMatch(/lost .*\(HTTP 401\)/);
    await world.event('cookie_scan.completed', {
      domain: 'shop.example',
      cookies: [{ name: 'a', before_consent: false }],
    });
    await world.event('integration.connected', { provider: '<b>Shop</b>' });
    const { text } = await olga.get('/');
    expect(text).not.toContain('Set before consent');
    expect(text).not.toContain('HTTP 401');
  });

  it('shows one source at a time if there are several', async () => {
    const world = await createOfficeWorld();
    await seedRequests(world);
    const olga = await signedIn(world);
    expect((await olga.get('/')).text).not.toContain('All sources');
    await world.context.sources.add(
      { slug: 'bolt', name: 'Bolt Ltd', webhookSecrets: ['another-signing-secret'] },
      'test',
    );
    const all = await olga.get('/');
    expect(all.text).toContain('All sources');
    expect(all.text).toContain('Access · default');
    const bolt = await olga.get('/?source=bolt');
    expect(bolt.text).toContain('No open requests');
    expect(bolt.text).not.toContain('Access · default');
    expect((await olga.get('/cases?source=bolt')).text).not.toContain('Access · default');
  });

  it('shows the operator’s warnings with their remedy', async () => {
    const world = await createOfficeWorld();
    await world.event('dsar.submitted', { request_id: 'r-1', type: 'access', jurisdiction: 'DE' });
    world.setNow(new Date(Date.now() + 5 * 86_400_000).toISOString());
    const { text } = await (await signedIn(world)).get('/');
    expect(text).toContain('default has delivered nothing for 5 days.');
    expect(text).toContain('Check that the webhook is still registered');
  });

  it('shows the state of the ledger', async () => {
    const world = await createOfficeWorld();
    await seedRequests(world);
    const olga = await signedIn(world);
    expect((await olga.get('/')).text).toContain('none yet');
    const sealing = await world.context.seal();
    if (sealing.outcome !== 'sealed') throw new Error(sealing.outcome);
    const { text } = await olga.get('/');
    expect(text).toContain(`over ${sealing.checkpoint.size} entries`);
    expect(text).toContain(sealing.checkpoint.root.toString('hex').slice(0, 16));
  });
});

describe('the pages that an officer reads', () => {
  it('name systems, banners, languages and days in words on the page of a request', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { access, optOut } = await seedRequests(world);
    const { context } = world;
    const caseId = `default-${access}`;
    await makeMoves(world, caseId, [
      ['start', {}],
      ['mark-system', { system: 'crm', result: 'nothing-found' }],
      ['add-task', { what: 'Delete the customer', due: '2027-03-09' }],
    ]);
    const olga = await signedIn(world);
    const named = await olga.post('/banners/names', { source: 'default', bannerId: 'bnr_1', name: 'Main site' });
    expect(named.status).toBe(303);
    await context.projector.catchUp();
    const { text } = await olga.get(`/cases/${caseId}`);
    expect(text).toContain('<span title="bnr_1">Main site</span>');
    expect(text).toContain('German');
    expect(text).toContain('System: <bdi>CRM</bdi>');
    expect(text).toContain('Due by: <bdi>9 Mar 2027</bdi>');
    expect(text).toContain('its due date is 9 Mar 2027');
    // No day or time in machine format, except in fields and machine-readable attributes.
    const words = text.replaceAll(/<[^>]*>/g, ' ');
    expect(words.match(/\d{4}-\d\d-\d\d(?:T\d\d)?/g)).toBeNull();
    const deps = { ...context.documents, cases: context.cases };
    const letter = await produceLetter(deps, { caseId, step: 'acknowledgement', format: 'pdf', actor: 'Olga' });
    if (letter.outcome !== 'produced') throw new Error(JSON.stringify(letter));
    await context.projector.projected(letter.seq);
    expect((await olga.get(`/cases/${caseId}`)).text).toContain(`for ${caseId}, in German`);
    const underTwoLaws = (await olga.get(`/cases/default-${optOut}`)).text;
    expect(underTwoLaws).toContain('the date stays: California, CCPA as amended by the CPRA)');
    const future = await olga.post(`/cases/${caseId}/moves`, {
      move: 'acknowledge',
      at: '2099-01-01T10:00',
      basedOn: '3',
    });
    expect(future.text).toContain('the time of the step (1 Jan 2099, 10:00) is in the future');
  });

  it('show the facts of an entry under plain names, with times in the zone of the controller', async () => {
    const world = await createOfficeWorld({ TIME_ZONE: 'America/New_York' }, { worker: false });
    const seq = await world.event('consent.recorded', {
      consent_id: 'c-9',
      banner_id: 'bnr_1',
      visitor_hash: 'visitor-9',
      consent: { analytics: true },
      recorded_at: '2026-02-03T03:30:00.000Z',
    });
    const { text } = await (await signedIn(world)).get(`/entries/${seq}`);
    const facts = text.slice(text.indexOf('id="facts"'), text.indexOf('id="body"')).replaceAll(/<[^>]*>/g, ' ');
    expect(facts).toContain('Purpose: analytics');
    expect(facts).toMatch(/Happened\s+2 Feb 2026, 22:30/);
    expect(facts).not.toMatch(/\d{4}-\d\d-\d\dT/);
  });

  it('never send an officer to “the operator”, nor an auditor to an action they may not take', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await seedRequests(world);
    const [officer, auditor] = [await signedInAs(world, 'officer'), await signedInAs(world, 'auditor')];
    for (const path of ['/evidence', '/settings/retention', '/settings/notifications', '/documents/schedules'])
      expect([path, (await officer.get(path)).text.includes('operator')]).toEqual([path, false]);
    const calls = (await auditor.get('/policies/calls')).text;
    expect(calls).toContain('No calls yet');
    expect(calls).not.toContain('href="/policies/generate"');
  });
});

describe('a list with nothing in it', () => {
  it('leads to what makes something appear there, and claims nothing without data', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    const textOf = async (path: string) => (await olga.get(path)).text.replaceAll('<!-- -->', '');
    const address = /Register the <a href="\/sources\/default#webhook">webhook address of <bdi>/;
    expect(await textOf('/deliveries')).toMatch(address);
    expect((await olga.get('/sources/default')).text).toContain('id="webhook"');
    const scans = await textOf('/scans');
    expect(scans).toContain('<a href="/sources/default#webhook">');
    expect(scans).not.toContain('Go to Today');
    expect(await textOf('/consent/undelivered')).toContain('there is no consent log to compare');
    const { store, sources } = world.context;
    const access = { baseUrl: 'https://service.example/api/v1', apiKey: 'pak_live_x' };
    await sources.add({ slug: 'bolt', name: 'Bolt', ...access }, 'test');
    expect(await textOf('/deliveries')).toContain('Register the <a href="/sources">webhook address of a source</a>');
    const undelivered = '/consent/undelivered?source=bolt';
    expect(await textOf(undelivered)).toContain('The consent log has not been pulled yet');
    const now = new Date().toISOString();
    await store.transaction((tx) =>
      tx.insertMany('sync_positions', [
        { source: 'bolt', banner_id: '', rows_total: 0, last_success_at: now, updated_at: now },
      ]),
    );
    expect(await textOf(undelivered)).toContain('No decision is recorded for this period');
    expect(await textOf(undelivered)).not.toContain('was delivered');
  });
});
