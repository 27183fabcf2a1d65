import { Secret, TOTP } from 'otpauth';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { localPath } from '../../src/http/auth/sign-in-routes.tsx';
import { listApiTokens } from '../../src/people/api-tokens.ts';
import { createSetUpLink } from '../../src/people/links.ts';
import { hashPassword } from '../../src/people/passwords.ts';
import { findPerson, listPeople } from '../../src/people/people.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { computed } from '../temporary.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

const GOOD = 'plough amber tuesday kettle';
const OTHER = 'violin meadow seventeen cork';
const EMAIL = 'olga@acme.example';

/** A world whose first account was made with the set-up link; its visitor is signed in. */
async function setUpWorld(
  env: Record<string, string> = {},
  worker = false,
): Promise<{ world: OfficeWorld; olga: Visitor; token: string }> {
  const world = await createOfficeWorld({ TRUST_PROXY: 'on', ...env }, { worker });
  const { token } = await createSetUpLink(world.context, 'server start');
  const olga = createVisitor(world.adminUrl);
  await olga.get(`/join?token=${token}`);
  const joined = await olga.post('/join', { token, name: 'Olga Owner', email: ' Olga@Acme.example ', password: GOOD });
  expect([joined.status, joined.headers.get('location')]).toEqual([303, '/']);
  await olga.get('/');
  return { world, olga, token };
}

async function signIn(world: OfficeWorld, form: Record<string, string>, address = '10.1.1.1') {
  const visitor = createVisitor(world.adminUrl);
  await visitor.get('/sign-in');
  const page = await visitor.post('/sign-in', form, { headers: { 'x-forwarded-for': address } });
  return { visitor, page };
}

const linkIn = (text: string) => /\/join\?token=([\w-]{43})/.exec(text)?.[1] ?? '';

describe('the first account', () => {
  it('is created once with the set-up link, can sign in again without a shell, and is named in the ledger with its id', async () => {
    const { world, olga, token } = await setUpWorld();
    expect((await olga.get('/')).text).toContain('Olga Owner');
    const another = await createSetUpLink(world.context, 'server start');
    for (const used of [token, another.token])
      expect((await createVisitor(world.adminUrl).get(`/join?token=${used}`)).status).toBe(401);

    await olga.post('/sign-out', {});
    expect((await olga.get('/')).status).toBe(401);
    const { visitor, page } = await signIn(world, {
      email: 'OLGA@acme.example',
      password: GOOD,
      next: '/cases?source=default',
    });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/cases?source=default']);
    expect((await visitor.get('/cases')).status).toBe(200);
    const opened = await world.actions('session.opened');
    expect(opened.map(({ actor }) => actor)).toEqual([expect.stringMatching(/^Olga Owner \(p-[0-9a-f]{8}\)$/)]);
    const kept = await world.context.store.read.selectFrom('people').selectAll().executeTakeFirstOrThrow();
    expect(kept.password).toMatch(/^\$argon2id\$/);
  });

  it('is refused with a weak password, and the link stays valid', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { token } = await createSetUpLink(world.context, 'server start');
    const visitor = createVisitor(world.adminUrl);
    expect((await visitor.get('/sign-in')).text).toContain('There are no accounts yet');
    await visitor.get(`/join?token=${token}`);
    const refused = await visitor.post('/join', { token, name: '<b>Olga', email: EMAIL, password: 'passwordpassword' });
    expect([refused.status, refused.text.includes('easy to guess'), refused.text.includes('<b>')]).toEqual([
      422,
      true,
      false,
    ]);
    expect(refused.text).not.toContain('passwordpassword');
    expect(
      (await visitor.post('/join', { token, name: 'Olga', email: EMAIL, password: GOOD }, { csrf: null })).status,
    ).toBe(403);
    expect((await visitor.post('/join', { token, name: 'Olga', email: EMAIL, password: GOOD })).status).toBe(303);
  });
});

describe('signing in with a password', () => {
  it('gives the same answer, for the same work, for a wrong password, an unknown address, an invited and a disabled account', async () => {
    const { world } = await setUpWorld();
    await signedInAs(world, 'officer', { email: 'invited@acme.example' });
    const disabled = await signedInAs(world, 'officer', { email: 'disabled@acme.example' });
    const { store } = world.context;
    await store.transaction((tx) =>
      tx.query
        .updateTable('people')
        .set((eb) => ({
          disabled_at: '2026-01-01T00:00:00.000Z',
          password: eb.selectFrom('people as o').select('o.password').where('o.email', '=', EMAIL),
        }))
        .where('person_id', '=', disabled.personId)
        .execute(),
    );
    const asked = async (email: string, password: string) => {
      const visitor = createVisitor(world.adminUrl);
      await visitor.get('/sign-in');
      const before = computed();
      const page = await visitor.post('/sign-in', { email, password });
      const took = computed() - before;
      const text = page.text.replaceAll(email, '').replaceAll(/name="_csrf" value="[^"]+"/g, '');
      return { took, seen: [page.status, text, [...page.headers.keys()].sort().join()] };
    };
    await asked('warm-up@acme.example', GOOD);
    // The minimum of several: other work of the process is counted too, and would set the bar too high.
    let hashing = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 4; round += 1) {
      const begun = computed();
      await hashPassword(GOOD);
      hashing = Math.min(hashing, computed() - begun);
    }
    const wrong = await asked(EMAIL, OTHER);
    expect(wrong.seen[0]).toBe(401);
    expect(wrong.took).toBeGreaterThan(hashing / 2);
    for (const email of ['nobody@acme.example', 'invited@acme.example', 'disabled@acme.example', "' or 1=1 --"]) {
      const other = await asked(email, GOOD);
      expect([email, other.seen]).toEqual([email, wrong.seen]);
      // CPU time, which does not depend on what else runs. A refusal without hashing takes a few milliseconds.
      expect(other.took).toBeGreaterThan(hashing / 2);
    }
    expect(await world.actions('session.opened')).toEqual([]);
  });

  it('pauses after five failures for any account, known or unknown, and accepts the right password afterwards', async () => {
    const { world } = await setUpWorld();
    for (const email of [EMAIL, 'nobody@acme.example']) {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 6; attempt += 1)
        statuses.push((await signIn(world, { email, password: OTHER }, `10.2.0.${attempt}`)).page.status);
      expect([email, statuses]).toEqual([email, [401, 401, 401, 401, 401, 429]]);
    }
    const early = await signIn(world, { email: EMAIL, password: GOOD }, '10.3.0.1');
    expect([early.page.status, early.page.text.includes('Too many attempts. Try again in a minute.')]).toEqual([
      429,
      true,
    ]);
    world.setNow(new Date(Date.now() + 31_000).toISOString());
    expect((await signIn(world, { email: EMAIL, password: GOOD }, '10.3.0.1')).page.status).toBe(303);
    expect(
      (await world.context.store.read.selectFrom('sign_in_failures').selectAll().execute()).length,
    ).toBeGreaterThan(0);
  });

  it('counts the addresses of one IPv6 /64 as one, because they have the same owner', async () => {
    const { world } = await setUpWorld();
    const { store } = world.context;
    for (const [place, address] of ['2001:db8:1:2::1', '2001:db8:1:2:aaaa::2', '2001:db8:1:3::1'].entries())
      await signIn(world, { email: `nobody${place}@acme.example`, password: OTHER }, address);
    const counted = await store.read.selectFrom('sign_in_failures').select('failures').orderBy('failures').execute();
    expect(counted.map(({ failures }) => failures)).toEqual([1, 1, 1, 1, 2]);
  });

  it('creates a new session, and invalidates a planted and the earlier one', async () => {
    const { world, olga } = await setUpWorld();
    const cookie = `consent_ledger_session_${world.context.instance}`;
    const planted = 'B'.repeat(43);
    const victim = createVisitor(world.adminUrl);
    victim.cookies.set(cookie, planted);
    await victim.get('/sign-in');
    await victim.post('/sign-in', { email: EMAIL, password: GOOD });
    expect(victim.cookies.get(cookie)).not.toBe(planted);
    expect((await victim.get('/')).status).toBe(200);
    const stranger = createVisitor(world.adminUrl);
    stranger.cookies.set(cookie, planted);
    expect((await stranger.get('/')).status).toBe(401);

    const earlier = olga.cookies.get(cookie) ?? '';
    const link = await world.link();
    expect((await olga.signIn(link)).status).toBe(303);
    stranger.cookies.set(cookie, earlier);
    expect((await stranger.get('/')).status).toBe(401);
  });

  it('is not possible from another site’s form, and continues only to a page of this site', async () => {
    const { world } = await setUpWorld();
    const visitor = createVisitor(world.adminUrl);
    await visitor.get('/sign-in');
    expect((await visitor.post('/sign-in', { email: EMAIL, password: GOOD }, { csrf: null })).status).toBe(403);
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      'javascript:alert(1)',
      '/%0d%0aset-cookie: x=y',
      '/\t/evil.example',
    ]) {
      const { pathname, origin } = new URL(localPath(next), world.adminUrl);
      expect([next, origin, /^\/(?![/\\])/.test(pathname)]).toEqual([next, world.adminUrl, true]);
    }
    const evil = await signIn(world, { email: EMAIL, password: GOOD, next: '//evil.example/x' });
    expect(evil.page.headers.get('location')).toBe('/');
    // A page requested without a session shows the sign-in form, which leads back to the page.
    const deep = await createVisitor(world.adminUrl).get('/cases/default-7?done=%22onload=x');
    expect([deep.status, deep.text.includes('name="next" value="/cases/default-7?done=%22onload=x"')]).toEqual([
      401,
      true,
    ]);
  });
});

describe('your own account', () => {
  it('lists the API tokens that a new password ends, and keeps them if asked', async () => {
    const { world, olga } = await setUpWorld();
    const token = { label: 'nightly export', scope: 'read', days: '30', present: GOOD };
    expect((await olga.post('/account/tokens', token)).status).toBe(200);
    const { text } = await olga.get('/account');
    const panel = /id="change-password"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
    expect(panel).toContain('nightly export (t-');
    const open = async () => (await listApiTokens(world.context)).length;
    await olga.post('/account/password', { present: GOOD, password: OTHER, keep: 'yes' });
    expect(await open()).toBe(1);
    await olga.post('/account/password', { present: OTHER, password: GOOD });
    expect([await open(), (await olga.get('/account?done=password')).text]).toEqual([
      0,
      expect.stringContaining('your API tokens have ended'),
    ]);
  });

  it('opens no more once an admin says that somebody else knows the password', async () => {
    const { world, olga } = await setUpWorld();
    const owner = await signedInAs(world, 'owner');
    const [person] = (await listPeople(world.context)).filter(({ email }) => email === EMAIL);
    expect((await owner.get('/people')).text).toContain('Somebody else knows the password');
    const sent = await owner.post(`/people/${person?.personId}/link`, { known: 'yes' });
    expect([sent.status, (await olga.get('/')).status]).toEqual([200, 401]);
    expect((await signIn(world, { email: EMAIL, password: GOOD })).page.status).toBe(401);
  });

  it('lists sessions and can end others; a new password ends all others', async () => {
    const { world, olga } = await setUpWorld();
    const { visitor: second } = await signIn(world, { email: EMAIL, password: GOOD });
    const { visitor: third } = await signIn(world, { email: EMAIL, password: GOOD });
    const { text } = await olga.get('/account');
    const others = [...text.matchAll(/name="session" value="([0-9a-f]{64})"/g)].map(([, handle]) => handle ?? '');
    expect(others.length).toBe(2);
    expect((await olga.post('/account/sessions', { session: others[0] ?? '' })).status).toBe(303);
    expect([(await second.get('/')).status, (await third.get('/')).status].sort()).toEqual([200, 401]);
    // Another person cannot end them.
    const otto = await signedInAs(world, 'owner');
    expect((await otto.post('/account/sessions', { session: others[1] ?? '' })).status).toBe(422);
    expect([(await second.get('/')).status, (await third.get('/')).status].sort()).toEqual([200, 401]);

    expect((await olga.post('/account/password', { present: OTHER, password: OTHER })).status).toBe(422);
    expect((await olga.post('/account/password', { present: GOOD, password: 'olga olga olga olga' })).status).toBe(422);
    expect((await olga.post('/account/password', { present: GOOD, password: OTHER })).status).toBe(303);
    expect([(await second.get('/')).status, (await third.get('/')).status, (await olga.get('/')).status]).toEqual([
      401, 401, 200,
    ]);
    expect((await signIn(world, { email: EMAIL, password: GOOD })).page.status).toBe(401);
    expect((await signIn(world, { email: EMAIL, password: OTHER })).page.status).toBe(303);
  });

  it('requires a code once an app is set up; each code and recovery code works once', async () => {
    const { world, olga } = await setUpWorld();
    const { text } = await olga.get('/account/second-factor');
    const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(text)?.[1] ?? '';
    expect(text).toContain('src="data:image/svg+xml;base64,');
    const codeAt = (ms: number) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: ms });
    const begin = Math.floor(Date.now() / 30_000) * 30_000 + 1000;
    world.setNow(new Date(begin).toISOString());
    const wrong = String((Number(codeAt(begin)) + 1) % 1_000_000).padStart(6, '0');
    expect((await olga.post('/account/second-factor', { secret, code: wrong, present: GOOD })).status).toBe(422);
    expect((await olga.post('/account/second-factor', { secret, code: codeAt(begin), present: OTHER })).status).toBe(
      422,
    );
    const set = await olga.post('/account/second-factor', { secret, code: codeAt(begin), present: GOOD });
    const recovery = [...set.text.matchAll(/[A-Z2-7]{5}-[A-Z2-7]{5}/g)].map(([code]) => code);
    expect([set.status, new Set(recovery).size]).toEqual([200, 10]);

    const enter = async (code: string) => (await signIn(world, { email: EMAIL, password: GOOD, code })).page.status;
    expect(await enter('')).toBe(401);
    expect(await enter(codeAt(begin))).toBe(401);
    world.setNow(new Date(begin + 30_000).toISOString());
    const next = codeAt(begin + 30_000);
    expect(await enter(`${next.slice(0, 3)} ${next.slice(3)}`)).toBe(303);
    expect(await enter(next)).toBe(401);
    expect(await enter((recovery[0] ?? '').toLowerCase())).toBe(303);
    expect(await enter(recovery[0] ?? '')).toBe(401);
    expect((await olga.get('/account')).text).toContain('9 recovery codes are left');
    // Neither key nor codes are readable in the database.
    const person = await world.context.store.read.selectFrom('people').selectAll().executeTakeFirstOrThrow();
    expect(person.totp?.includes(Buffer.from(Secret.fromBase32(secret).bytes))).toBe(false);

    await olga.post('/account/second-factor/remove', { present: OTHER });
    expect(await enter('')).toBe(401);
    expect((await olga.post('/account/second-factor/remove', { present: GOOD })).status).toBe(303);
    expect(await enter('')).toBe(303);
  });
});

describe('an e-mail address', () => {
  const NEW = 'olga@new.example';

  async function setUpMailWorld() {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const made = await setUpWorld({ SMTP_URL: mail.url, MAIL_FROM: 'ledger@acme.example' }, true);
    const ask = (email: string, present = GOOD) => made.olga.post('/account/address', { email, present });
    const lastLink = () => /\/account\/address\?token=[\w-]{43}/.exec(mail.mails.at(-1)?.text ?? '')?.[0] ?? '';
    return { ...made, mail, ask, lastLink };
  }

  it('is changed by its holder with the password and a link sent to the new one; the old one is told', async () => {
    const { world, olga, mail, ask, lastLink } = await setUpMailWorld();
    const { visitor: other } = await signIn(world, { email: EMAIL, password: GOOD });
    expect((await ask(NEW, OTHER)).status).toBe(422);
    for (const wrong of ['olga', EMAIL, `${NEW}, eve@evil.example`])
      expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 422]);
    expect(mail.mails).toEqual([]);
    expect((await ask(` Olga@New.example`)).headers.get('location')).toBe('/account?done=sent');
    expect(mail.mails.map(({ to }) => to)).toEqual([[NEW]]);

    // Nothing changes before the button behind the link, and only in a session of the account.
    const link = lastLink();
    const stranger = await signedInAs(world, 'owner');
    expect((await stranger.get(link)).status).toBe(404);
    const token = link.split('=')[1] ?? '';
    expect((await stranger.post('/account/address/confirm', { token })).status).toBe(404);
    expect((await createVisitor(world.adminUrl).get(link)).status).toBe(401);
    expect((await olga.get(link)).text).toContain(NEW);
    expect((await signIn(world, { email: NEW, password: GOOD })).page.status).toBe(401);
    expect((await olga.post('/account/address/confirm', { token })).headers.get('location')).toBe(
      '/account?done=address',
    );
    expect((await olga.post('/account/address/confirm', { token })).status).toBe(404);
    expect((await olga.get(link)).text).toContain('has already been used');
    expect([(await olga.get('/')).status, (await other.get('/')).status]).toEqual([200, 401]);
    expect((await signIn(world, { email: EMAIL, password: GOOD })).page.status).toBe(401);
    expect((await signIn(world, { email: NEW, password: GOOD })).page.status).toBe(303);
    await vi.waitFor(() => expect(mail.mails.map(({ to }) => to)).toEqual([[NEW], [EMAIL]]), { timeout: 20_000 });
    const changed = await world.actions('person.changed');
    expect(changed).toEqual([
      { actor: expect.stringMatching(/^Olga Owner \(p-/), object: expect.stringMatching(/^p-/) },
    ]);
    const entries = await world.context.store.read.selectFrom('entries').select('body').execute();
    expect(entries.map(({ body }) => body?.toString('latin1')).join()).not.toContain('new.example');
  });

  it('of another account gets the same answer, and cannot be taken over', async () => {
    const { world, ask, olga, lastLink } = await setUpMailWorld();
    await signedInAs(world, 'officer', { email: 'otto@acme.example' });
    const free = await ask(NEW);
    const taken = await ask('otto@acme.example');
    expect([taken.status, taken.headers.get('location')]).toEqual([free.status, free.headers.get('location')]);
    const token = lastLink().split('=')[1] ?? '';
    expect((await olga.post('/account/address/confirm', { token })).status).toBe(422);
    expect((await signIn(world, { email: EMAIL, password: GOOD })).page.status).toBe(303);
  });

  it('is not changed by a link that is a day old, was replaced, or was followed by a new password', async () => {
    const { world, ask, olga, lastLink } = await setUpMailWorld();
    await ask(NEW);
    const first = lastLink();
    await ask(NEW);
    const second = lastLink();
    expect([(await olga.get(first)).status, (await olga.get(second)).status]).toEqual([404, 200]);
    expect((await olga.post('/account/password', { present: GOOD, password: OTHER })).status).toBe(303);
    expect((await olga.get(second)).status).toBe(404);
    await ask(NEW, OTHER);
    world.setNow(new Date(Date.now() + 25 * 3_600_000).toISOString());
    const { visitor } = await signIn(world, { email: EMAIL, password: OTHER });
    expect((await visitor.get(lastLink())).status).toBe(404);
  });

  it('that the mail server refuses is not changed, and the page says so', async () => {
    const { ask, mail, olga } = await setUpMailWorld();
    mail.refuse = { code: 550, at: 'recipient' };
    const page = await ask(NEW);
    expect([page.status, page.text.includes('was not accepted')]).toEqual([422, true]);
    expect((await olga.get('/account')).text).toContain(EMAIL);
  });

  it('is changed by an owner or admin, but neither their own here nor an owner’s by an admin; without mail, officers ask them', async () => {
    const { world, olga } = await setUpWorld();
    const otto = await signedInAs(world, 'officer', { email: 'otto@acme.example' });
    const admin = await signedInAs(world, 'admin', { email: 'ada@acme.example' });
    const { personId: owner } = await world.context.store.read
      .selectFrom('people')
      .select('person_id as personId')
      .where('email', '=', EMAIL)
      .executeTakeFirstOrThrow();
    const change = (who: Visitor, personId: string, email: string) =>
      who.post(`/people/${personId}/address`, { email });
    expect((await change(admin, owner, NEW)).status).toBe(422);
    expect((await change(olga, owner, NEW)).text).toContain('under Your account');
    expect((await change(admin, otto.personId, EMAIL)).text).toContain('already exists');
    expect((await otto.get('/account')).text).toContain('ask an owner or admin to change it');
    expect((await otto.post('/account/address', { email: NEW, present: GOOD })).status).toBe(422);
    expect((await change(admin, otto.personId, 'otto@new.example')).status).toBe(303);
    expect((await otto.get('/account')).status).toBe(401);
    const people = (await olga.get('/people')).text;
    expect([people.includes('otto@new.example'), people.includes('otto@acme.example')]).toEqual([true, false]);
    // Without a mail server, an owner changes their own address with the password.
    expect((await olga.post('/account/address', { email: NEW, present: OTHER })).status).toBe(422);
    expect((await olga.post('/account/address', { email: NEW, present: GOOD })).status).toBe(303);
    expect((await signIn(world, { email: NEW, password: GOOD })).page.status).toBe(303);
  });

  it('of an invited person is corrected without a new invitation', async () => {
    const { world, olga } = await setUpWorld();
    const invited = await olga.post('/people', { name: 'Otto', email: 'oto@acme.example', role: 'officer' });
    const token = linkIn(invited.text);
    const { id } = await world.context.store.read
      .selectFrom('people')
      .select('person_id as id')
      .where('email', '=', 'oto@acme.example')
      .executeTakeFirstOrThrow();
    expect((await olga.post(`/people/${id}/address`, { email: 'otto@acme.example' })).status).toBe(303);
    const otto = createVisitor(world.adminUrl);
    await otto.get(`/join?token=${token}`);
    expect((await otto.post('/join', { token, password: GOOD })).status).toBe(303);
    expect((await signIn(world, { email: 'otto@acme.example', password: GOOD })).page.status).toBe(303);
  });
});

describe('people', () => {
  it('are invited with a link that is shown once; a reset keeps the second factor unless asked otherwise', async () => {
    const { world, olga } = await setUpWorld();
    const invited = await olga.post('/people', { name: 'Otto Officer', email: 'otto@acme.example', role: 'officer' });
    const token = linkIn(invited.text);
    expect([invited.status, invited.text.includes(`${world.adminUrl}/join?token=`)]).toEqual([200, true]);
    expect(linkIn((await olga.get('/people')).text)).toBe('');
    const otto = createVisitor(world.adminUrl);
    expect((await otto.get(`/join?token=${token}`)).text).toContain('Otto Officer');
    expect((await otto.post('/join', { token, password: GOOD })).status).toBe(303);
    expect((await otto.get('/cases')).status).toBe(200);
    expect((await otto.get('/people')).status).toBe(403);
    expect((await createVisitor(world.adminUrl).get(`/join?token=${token}`)).status).toBe(401);

    const row = await world.context.store.read
      .selectFrom('people')
      .selectAll()
      .where('email', '=', 'otto@acme.example')
      .executeTakeFirstOrThrow();
    const set = (changes: object) =>
      world.context.store.transaction((tx) =>
        tx.query.updateTable('people').set(changes).where('person_id', '=', row.person_id).execute(),
      );
    await set({ totp: Buffer.from('a sealed key') });
    const passkey = {
      credential_id: 'c',
      person_id: row.person_id,
      public_key: Buffer.from('k'),
      counter: 0,
      label: 'x',
    };
    await world.context.store.transaction((tx) =>
      tx.insertMany('passkeys', [{ ...passkey, created_at: '2026-01-01T00:00:00.000Z' }]),
    );
    const kept = linkIn((await olga.post(`/people/${row.person_id}/link`, {})).text);
    const reader = createVisitor(world.adminUrl);
    await reader.get(`/join?token=${kept}`);
    const back = await reader.post('/join', { token: kept, password: OTHER });
    expect(back.headers.get('location')).toBe('/sign-in?done=password');
    expect((await otto.get('/cases')).status).toBe(401);
    // An intruder may have added a passkey.
    expect(await world.context.store.read.selectFrom('passkeys').selectAll().execute()).toEqual([]);
    expect((await reader.get('/cases')).status).toBe(401);
    const without = linkIn((await olga.post(`/people/${row.person_id}/link`, { factor: 'remove' })).text);
    await reader.get(`/join?token=${without}`);
    expect((await reader.post('/join', { token: without, password: GOOD })).headers.get('location')).toBe('/');

    const changed = await olga.post(`/people/${row.person_id}`, {
      name: 'Otto',
      role: 'auditor',
      reach: 'some',
      sources: 'default',
    });
    expect(changed.status).toBe(303);
    expect((await reader.get('/cases/new')).status).toBe(403);
    expect((await olga.post(`/people/${row.person_id}/access`, { access: 'disable' })).status).toBe(303);
    expect((await reader.get('/cases')).status).toBe(401);
    expect((await signIn(world, { email: 'otto@acme.example', password: GOOD })).page.status).toBe(401);
    expect((await olga.post(`/people/${row.person_id}/access`, { access: 'enable' })).status).toBe(303);
    expect((await signIn(world, { email: 'otto@acme.example', password: GOOD })).page.status).toBe(303);
    expect((await olga.post('/people/p-nobody/link', {})).status).toBe(404);
  });

  it('are not given every source when boxes are ticked, and a refused form keeps its role and its boxes', async () => {
    const { world, olga } = await setUpWorld();
    await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
    const form = { name: 'Nora', email: 'nora@bolt.example', role: 'auditor', sources: 'bolt' };
    const ticked = '<input type="checkbox" name="sources" value="bolt" checked';
    const chosen = '<option value="auditor" selected';
    const both = await olga.post('/people', { ...form, reach: 'all' });
    expect([both.status, both.text.includes('You chose “every source” and also ticked 1 source')]).toEqual([422, true]);
    expect([both.text.includes(ticked), both.text.includes(chosen)]).toEqual([true, true]);
    const mistyped = await olga.post('/people', { ...form, email: 'nora', reach: 'some' });
    expect([mistyped.status, mistyped.text.includes(ticked), mistyped.text.includes(chosen)]).toEqual([
      422,
      true,
      true,
    ]);
    expect(mistyped.text).toContain('<option value="some" selected');

    const invited = await olga.post('/people', { ...form, reach: 'some' });
    expect(invited.text).toContain('sees Bolt Ltd');
    const [nora] = (await listPeople(world.context)).filter(({ name }) => name === 'Nora');
    expect(nora?.sources).toEqual(['bolt']);
    const changed = await olga.post(`/people/${nora?.personId}`, {
      name: 'Nora',
      role: 'auditor',
      reach: 'all',
      sources: 'bolt',
    });
    expect(changed.status).toBe(422);
    expect((await findPerson(world.context, nora?.personId ?? ''))?.sources).toEqual(['bolt']);
  });

  it('who leave are shown with the requests that are still theirs, and what they did keeps their name', async () => {
    const { world, olga } = await setUpWorld();
    const { context } = world;
    const anna = await signedInAs(world, 'officer', { name: 'Anna Agent' });
    const opened = await openCase(context.cases, {
      ...{ source: 'default', actor: 'test', receivedAt: new Date().toISOString(), kind: 'access', channel: 'letter' },
      ...{ requesterName: 'R', requesterEmail: null, subject: null, jurisdiction: 'DE', message: null },
    });
    if (opened.outcome !== 'opened') throw new Error(opened.outcome);
    await context.projector.catchUp();
    const here = `/cases/${opened.caseId}`;
    const [form = ''] = /<form[^>]*>(?:(?!<\/form>)[\s\S])*Take it/.exec((await anna.get(here)).text) ?? [];
    const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    const took = await anna.post(`${here}/moves`, Object.fromEntries(fields));
    expect(took.status).toBe(303);
    const left = await olga.post(`/people/${anna.personId}/access`, { access: 'disable' });
    const shown = (await olga.get(left.headers.get('location') ?? '')).text;
    expect(shown).toContain('One open request is still assigned to this account.');
    expect(shown).toContain(`href="/cases?assignee=${anna.personId}"`);
    expect((await olga.get(`/cases?assignee=${anna.personId}`)).text).toContain(opened.caseId);
    expect((await olga.get(here)).text).toContain('Anna Agent');
  });

  it('keep an offboarded source when their account is changed, and can be limited to one', async () => {
    const { world, olga } = await setUpWorld();
    const { sources } = world.context;
    await sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
    const nora = await signedInAs(world, 'auditor', { sources: ['bolt'] });
    await sources.offboard('bolt', { reason: null, openCases: 0 }, 'test');
    const page = (await olga.get('/people')).text;
    expect(page).toContain('Bolt Ltd (offboarded)');
    const form = { name: 'Nora Neumann', role: 'auditor', reach: 'some', sources: 'bolt' };
    expect((await olga.post(`/people/${nora.personId}`, form)).status).toBe(303);
    expect(await findPerson(world.context, nora.personId)).toMatchObject({ name: 'Nora Neumann', sources: ['bolt'] });
  });

  it('who are owners cannot be created, changed, reset or disabled by an admin', async () => {
    const { world } = await setUpWorld();
    const admin = await signedInAs(world, 'admin');
    const owner = await world.context.store.read
      .selectFrom('people')
      .select('person_id')
      .where('email', '=', EMAIL)
      .executeTakeFirstOrThrow();
    const here = `/people/${owner.person_id}`;
    for (const [path, form] of [
      ['/people', { name: 'X', email: 'x@acme.example', role: 'owner' }],
      [here, { name: 'Olga', role: 'officer' }],
      [`${here}/link`, {}],
      [`${here}/access`, { access: 'disable' }],
      [`/people/${admin.personId}`, { name: 'Me', role: 'owner' }],
    ] as const) {
      const page = await admin.post(path, form);
      expect([path, page.status, linkIn(page.text)]).toEqual([path, 422, '']);
    }
    expect((await admin.post('/people', { name: 'X', email: 'x@acme.example', role: 'root' })).status).toBe(400);
  });
});

describe('failed sign-ins', () => {
  it('are one counted entry for each account and hour, without the input or the sender', async () => {
    const { world } = await setUpWorld();
    for (const password of ['wrong one', 'wrong two']) await signIn(world, { email: EMAIL, password }, '203.0.113.9');
    await signIn(world, { email: 'nobody@acme.example', password: GOOD }, '203.0.113.9');
    await world.context.projector.catchUp();
    const rows = await world.context.store.read
      .selectFrom('action_history as a')
      .leftJoin('arrivals as r', 'r.seq', 'a.seq')
      .select(['a.object', 'a.details', 'r.count'])
      .where('a.action', '=', 'session.refused')
      .orderBy('a.seq')
      .execute();
    expect(rows.map(({ object, count }) => [object, count])).toEqual([
      [expect.stringMatching(/^p-/), 1],
      [null, null],
    ]);
    for (const { details } of rows) expect(details).not.toMatch(/acme|wrong|203\.0/);
  });
});

describe('an open session', () => {
  it('shows when it was last used, to the minute', async () => {
    const { world, olga } = await setUpWorld();
    const usedAt = async () =>
      (await world.context.store.read.selectFrom('sessions').select('last_used_at').execute()).map(
        ({ last_used_at }) => last_used_at,
      );
    expect(await usedAt()).toEqual([null]);
    const later = new Date(Date.now() + 20 * 60_000).toISOString();
    world.setNow(later);
    const page = await olga.get('/account');
    expect(page.text).toContain('Last used');
    expect((await usedAt())[0]?.slice(0, 16)).toBe(later.slice(0, 16));
  });
});
