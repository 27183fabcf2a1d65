import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createOfficeWorld, createVisitor, signedIn } from './office-world.ts';

describe('a one-time link', () => {
  it('signs in once, when the button is pressed and not when the page is loaded', async () => {
    const world = await createOfficeWorld();
    const token = await world.link({ officer: 'Olga' });
    const visitor = createVisitor(world.adminUrl);
    for (let look = 0; look < 3; look += 1)
      expect((await visitor.get(`/sign-in?token=${token}`)).text).toContain('Sign in as Olga');
    expect((await visitor.get('/')).status).toBe(401);
    const page = await visitor.post('/sign-in', { token });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/']);
    expect((await visitor.get('/')).text).toContain('Olga');

    const other = createVisitor(world.adminUrl);
    expect((await other.get(`/sign-in?token=${token}`)).status).toBe(401);
    const unused = await world.link();
    await other.get(`/sign-in?token=${unused}`);
    expect((await other.post('/sign-in', { token })).status).toBe(401);
    expect((await other.get('/')).status).toBe(401);
    expect(await world.actions('session.opened')).toEqual([{ actor: 'Olga', object: null }]);
    expect((await world.actions('token.created')).length).toBe(2);
  });

  it('opens one session, however often the button is pressed at once', async () => {
    const world = await createOfficeWorld();
    const token = await world.link();
    const visitors = Array.from({ length: 8 }, () => createVisitor(world.adminUrl));
    for (const visitor of visitors) await visitor.get(`/sign-in?token=${token}`);
    const pages = await Promise.all(visitors.map((visitor) => visitor.post('/sign-in', { token })));
    expect(pages.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 7 }, () => 401)]);
    expect((await world.actions('session.opened')).length).toBe(1);
    expect((await world.context.store.read.selectFrom('sessions').selectAll().execute()).length).toBe(1);
  });

  it('is refused if the address contains two tokens', async () => {
    const world = await createOfficeWorld();
    const token = await world.link();
    const visitor = createVisitor(world.adminUrl);
    expect((await visitor.get(`/sign-in?token=${token}&token=${token}`)).status).toBe(401);
    expect((await visitor.get('/cases?source=a&source=b')).status).toBe(401);
  });

  it('is refused if it is unknown, altered or expired', async () => {
    const world = await createOfficeWorld();
    const token = await world.link({ minutes: 15 });
    const altered = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
    const visitor = createVisitor(world.adminUrl);
    await visitor.get(`/sign-in?token=${token}`);
    for (const wrong of ['', 'short', altered, `${token}x`, `${token}%00`, "' or 1=1 --"]) {
      expect((await visitor.get(`/sign-in?token=${encodeURIComponent(wrong)}`)).status).toBe(401);
      expect((await visitor.post('/sign-in', { token: wrong })).status).toBe(401);
    }
    world.setNow(new Date(Date.now() + 15 * 60_000 + 1000).toISOString());
    expect((await visitor.post('/sign-in', { token })).status).toBe(401);
    expect(await world.actions('session.opened')).toEqual([]);
  });

  it('leaves neither its token nor the session in the database', async () => {
    const world = await createOfficeWorld();
    const token = await world.link();
    const visitor = createVisitor(world.adminUrl);
    await visitor.signIn(token);
    const session = [...visitor.cookies].find(([name]) => name.includes('session'))?.[1] ?? '';
    expect(session.length).toBe(43);
    const links = await world.context.store.read.selectFrom('sign_in_links').selectAll().execute();
    const sessions = await world.context.store.read.selectFrom('sessions').selectAll().execute();
    const entries = await world.context.store.read.selectFrom('entries').select(['body', 'meta']).execute();
    expect([links.length, sessions.length]).toEqual([1, 1]);
    const kept = [links[0]?.token_hash, sessions[0]?.id_hash, ...entries.flatMap(({ body, meta }) => [body, meta])].map(
      (bytes) => Buffer.from(bytes ?? []),
    );
    for (const secret of [token, session]) {
      for (const bytes of kept) {
        expect(bytes.includes(secret)).toBe(false);
        expect(bytes.includes(Buffer.from(secret, 'base64url'))).toBe(false);
      }
    }
  });
});

describe('a session', () => {
  it('is required for every page and every form', async () => {
    const world = await createOfficeWorld();
    const visitor = createVisitor(world.adminUrl);
    for (const path of ['/', '/cases/new', '/cases/default-1', '/documents/0123456789abcdef/download']) {
      const page = await visitor.get(path);
      expect([path, page.status]).toEqual([path, 401]);
      expect(page.text).toContain('Please sign in');
    }
    for (const path of [
      '/reports',
      '/sync',
      '/cases',
      '/cases/default-1/moves',
      '/cases/default-1/pack',
      '/sign-out',
    ]) {
      expect([path, (await visitor.post(path, {}, { csrf: null })).status]).toEqual([path, 401]);
    }
    visitor.cookies.set(`consent_ledger_session_${world.context.instance}`, 'A'.repeat(43));
    expect((await visitor.get('/')).status).toBe(401);
  });

  it('ends after an hour without use, and a day after signing in; a page that refreshes itself does not count as use', async () => {
    const world = await createOfficeWorld();
    const start = Date.now();
    const at = (minutes: number) => world.setNow(new Date(start + minutes * 60_000).toISOString());
    const [idle, watching, busy] = [await signedIn(world), await signedIn(world), await signedIn(world)];
    for (let minutes = 50; minutes <= 1400; minutes += 50) {
      at(minutes);
      expect([minutes, (await busy.get('/account')).status]).toEqual([minutes, 200]);
      if (minutes === 50) expect((await watching.get('/deliveries?live=yes')).status).toBe(200);
    }
    at(50);
    expect((await idle.get('/')).status).toBe(200);
    at(54);
    expect((await idle.get('/')).status).toBe(200);
    at(62);
    expect((await watching.get('/')).status).toBe(401);
    at(54 + 58);
    expect((await idle.get('/')).status).toBe(200);
    at(54 + 58 + 61);
    expect((await idle.get('/')).status).toBe(401);
    at(24 * 60 - 30);
    expect((await busy.get('/')).status).toBe(200);
    at(24 * 60 + 1);
    expect((await busy.get('/')).status).toBe(401);
  });

  it('that has ended sends no form: signing in leads back to the page of the form, with a message', async () => {
    const world = await createOfficeWorld();
    const caseId = `default-${await world.event('dsar.submitted', { request_id: 'r-1', email: 'ada@example.org' })}`;
    const officer = await signedIn(world);
    world.setNow(new Date(Date.now() + 2 * 3_600_000).toISOString());
    for (const [path, back] of [
      [`/cases/${caseId}/moves`, `/cases/${caseId}`],
      [`/cases/${caseId}/letter`, `/cases/${caseId}/letter`],
      ['/settings/erasures/preview', '/settings/erasures'],
      ['/cases', '/cases/new'],
      ['/cases/search', '/cases'],
      ['/deliveries/refused/readmit', '/deliveries/refused'],
      ['/deliveries/refused/secret', '/deliveries/refused'],
      // Below an address that downloads a file, or that has no page, nobody would find the form again.
      ['/evidence/checkpoints', '/evidence'],
      ['/settings/retention/holds', '/settings/retention'],
      ['/settings/retention/holds/lift', '/settings/retention'],
    ] as const) {
      const { status, text } = await officer.post(path, { move: 'note', basedOn: '0', text: 'Hidden words' });
      expect([path, status]).toEqual([path, 401]);
      expect(text).toContain('nothing was saved');
      expect(text).toContain(`name="next" value="${back}"`);
      expect(text).not.toContain('Hidden words');
    }
    expect(await world.actions('case.moved')).toEqual([]);
    const again = await signedIn(world);
    expect((await again.get(`/cases/${caseId}/letter`)).headers.get('location')).toBe(`/cases/${caseId}#letters`);
  });

  it('goes on while a letter is being written, on a page that sends nothing for hours', async () => {
    const world = await createOfficeWorld();
    const caseId = `default-${await world.event('dsar.submitted', { request_id: 'r-1', email: 'ada@example.org' })}`;
    const officer = await signedIn(world);
    const begun = Date.now();
    for (const path of [
      `/cases/${caseId}`,
      `/cases/${caseId}/letter?step=answer&language=en`,
      '/settings/letters',
      '/settings/profile',
    ]) {
      const page = await officer.get(path);
      const address = /<script src="(\/assets\/typing-\w+\.js)" defer/.exec(page.text)?.[1];
      expect([path, page.status, address]).toEqual([path, 200, expect.anything()]);
      expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';connect-src 'self'/);
    }
    // The script as a browser would run it, with a key pressed every four minutes for three hours.
    const script = await officer.get(
      /(\/assets\/typing-\w+\.js)/.exec((await officer.get(`/cases/${caseId}`)).text)?.[1] ?? '',
    );
    let now = begun;
    let press: () => void = () => undefined;
    const sent: [string, RequestInit][] = [];
    const page = { addEventListener: (_: string, listener: () => void) => (press = listener) };
    const send = async (path: string, init: RequestInit) => void sent.push([path, init]);
    runInNewContext(script.text, { document: page, fetch: send, Date: { now: () => now } });
    for (let minutes = 4; minutes <= 180; minutes += 4) {
      now = begun + minutes * 60_000;
      world.setNow(new Date(now).toISOString());
      press();
      for (const [path, init] of sent.splice(0)) expect((await officer.send(path, init)).status).toBe(200);
    }
    expect((await officer.get(`/cases/${caseId}`)).status).toBe(200);
  });

  it('ends when the officer signs out', async () => {
    const world = await createOfficeWorld();
    const one = await signedIn(world, 'Olga');
    const two = await signedIn(world, 'Otto');
    const page = await one.post('/sign-out', {});
    expect([page.status, page.headers.get('location')]).toEqual([303, '/signed-out']);
    expect((await one.get('/signed-out')).status).toBe(200);
    expect((await one.get('/')).status).toBe(401);
    expect((await two.get('/')).status).toBe(200);
    expect(await world.actions('session.closed')).toEqual([{ actor: 'Olga', object: null }]);
  });

  it('is kept in a cookie that scripts and other sites cannot read', async () => {
    const world = await createOfficeWorld({ TRUST_PROXY: 'on' });
    for (const [proto, secure] of [
      ['http', false],
      ['https', true],
    ] as const) {
      const token = await world.link();
      const visitor = createVisitor(world.adminUrl);
      await visitor.get(`/sign-in?token=${token}`);
      const page = await visitor.post('/sign-in', { token }, { headers: { 'x-forwarded-proto': proto } });
      const line = page.headers.getSetCookie().find((cookie) => cookie.includes('_session_')) ?? '';
      expect(line).toContain('HttpOnly');
      expect(line).toContain('SameSite=Lax');
      expect(line).toContain('Path=/');
      expect(line.includes('Secure')).toBe(secure);
    }
  });
});

describe('a form', () => {
  it('is refused without its token, with one of another session, and with one from before signing in', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world, 'Olga');
    const otto = await signedIn(world, 'Otto');
    const tokenOf = (text: string) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const foreign = tokenOf((await otto.get('/')).text);
    const early = createVisitor(world.adminUrl);
    const before = tokenOf((await early.get(`/sign-in?token=${await world.link()}`)).text);
    expect([foreign, before].every((token) => token.length > 20)).toBe(true);
    for (const csrf of [null, '', 'x', foreign, before]) {
      const page = await olga.post('/cases', { source: 'default' }, { csrf });
      expect([csrf, page.status]).toEqual([csrf, 403]);
      expect(page.text).toContain('This form has expired');
    }
    expect((await early.post('/sign-in', { token: await world.link() }, { csrf: null })).status).toBe(403);
    expect(await world.actions('case.opened')).toEqual([]);
  });

  it('is refused if it is larger than any form', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    expect((await olga.post('/cases', { message: 'x'.repeat(70_000) })).status).toBe(413);
  });
});

describe('the admin listener', () => {
  it('sends pages that load nothing from elsewhere, run no script, sit in no frame and stay in no cache', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const page = await olga.get('/');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('script-src');
    expect(policy).not.toContain('unsafe-inline');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.text).not.toMatch(/<script|\sstyle=|\son\w+=/i);
    const style = /href="(\/assets\/[^"]+)"/.exec(page.text)?.[1] ?? '';
    const sheet = await createVisitor(world.adminUrl).get(style);
    expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  });

  it('answers /metrics and /healthz without a session, which the public listener does not offer', async () => {
    const world = await createOfficeWorld();
    const visitor = createVisitor(world.adminUrl);
    expect((await visitor.get('/metrics')).text).toContain('consent_ledger_ledger_seq');
    expect((await visitor.get('/healthz')).status).toBe(200);
    expect((await visitor.get('/readyz')).status).toBe(200);
    expect((await visitor.get('/nowhere')).status).toBe(404);
    for (const path of ['/', '/sign-in', '/metrics', '/cases/new'])
      expect((await fetch(world.url + path)).status).toBe(404);
  });

  it('slows down a client that tries one link after another', async () => {
    const world = await createOfficeWorld();
    const visitor = createVisitor(world.adminUrl);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 40; attempt += 1) statuses.push((await visitor.get('/sign-in?token=guess')).status);
    expect(statuses.at(0)).toBe(401);
    expect(statuses.at(-1)).toBe(429);
  });
});
