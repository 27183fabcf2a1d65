import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { letterLanguages } from '../../reports/letters/languages.ts';
import { parseFolded } from '../../src/cases/folded.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { requestFormState } from '../../src/request-form/offered.ts';
import { REQUESTS_PER_HOUR } from '../../src/request-form/request-form.ts';
import { createSources, type Sources } from '../../src/sources/sources.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, type Page, signedInAs } from './office-world.ts';

const PROFILE = 'name: Acme GmbH\ncountry: DE\nregion: BE\nemail: privacy@acme.example\n';
const ada = { kind: 'access', name: 'Ada Lovelace', email: 'ada@example.org', place: 'DE' };

/** An installation whose controller offers the request form. */
async function createFormWorld(
  profile = 'requestForm: true\n',
  env: Record<string, string> = {},
  options: { worker?: boolean } = { worker: false },
) {
  const world = await createOfficeWorld({ ...env }, options);
  await writeFile(world.context.config.controllerFile ?? '', PROFILE + profile);
  return world;
}

/** Bounds the wait for the worker. */

const numberOf = (page: Page) => /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '';

/** Fills in the form as slowly as a person would. */
async function fillIn(world: OfficeWorld, values: Record<string, string>, query = '') {
  const visitor = createVisitor(world.url);
  const page = await visitor.get(`/r/default${query}`);
  const form = numberOf(page);
  later(world, 5);
  const send = (more: Record<string, string> = {}) => visitor.post(`/r/default${query}`, { form, ...values, ...more });
  const sent = await send();
  const location = sent.headers.get('location') ?? '';
  return { visitor, page, form, send, sent, path: location === '' ? '' : `/r/${location}` };
}

/** Advances the clock by this many seconds. */
function later(world: OfficeWorld, seconds: number) {
  world.setNow(new Date(world.context.clock().getTime() + seconds * 1000).toISOString());
}

async function cases(world: OfficeWorld) {
  await world.context.projector.catchUp();
  return world.context.store.read.selectFrom('cases').selectAll().orderBy('last_seq').execute();
}

describe('the request form', () => {
  it('records a request at once, with its receipt, and says when the answer is due', async () => {
    const world = await createFormWorld();
    const { sent, visitor, path } = await fillIn(world, {
      ...ada,
      message: 'Everything since 2024, please.',
      subject: 'visitor-17',
    });
    expect(sent.status).toBe(303);
    const [row, ...others] = await cases(world);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      source: 'default',
      kind: 'access',
      requester_name: 'Ada Lovelace',
      requester_email: 'ada@example.org',
      jurisdiction: 'DE',
      subject: 'visitor-17',
      message: 'Everything since 2024, please.',
      channel: 'request form',
      receipt_basis: 'form',
      language: 'en',
      state: 'opened',
    });
    const received = await visitor.get(path);
    expect(received.status).toBe(200);
    expect(received.text).toContain(row?.case_id);
    expect(received.text).toMatch(/by \d{1,2} \w+ \d{4} at the latest/);
    // Others may see the address of the page, so it contains nothing of the request.
    for (const personal of ['Lovelace', 'ada@example.org', 'visitor-17', 'since 2024'])
      expect(received.text).not.toContain(personal);
    expect(await world.actions('case.opened')).toEqual([
      { actor: 'data subject (request form)', object: row?.case_id },
    ]);
    expect((await world.context.verify()).faults).toEqual([]);
  });

  it.each(['marks&spencer@example.co.uk', 'ada@xn--mnchen-3ya.xn--p1ai', 'jörg@beispiel.ευ', '用户@例子.中国'])(
    'takes the address %s, and leaves it to no browser to judge it',
    async (email) => {
      const world = await createFormWorld();
      // Browsers refuse letters outside ASCII before the @ in fields of the type email.
      expect((await createVisitor(world.url).get('/r/default')).text).toMatch(
        /<input [^>]*name="email"[^>]* type="text"/,
      );
      const { sent } = await fillIn(world, { ...ada, email });
      expect([sent.status, (await cases(world)).map((row) => row.requester_email)]).toEqual([303, [email]]);
    },
  );

  it('opens one case if it is sent twice', async () => {
    const world = await createFormWorld();
    const { send, sent } = await fillIn(world, ada);
    const [again, once] = await Promise.all([send(), send()]);
    expect(again.headers.get('location')).toBe(sent.headers.get('location'));
    expect(once.headers.get('location')).toBe(sent.headers.get('location'));
    expect(await cases(world)).toHaveLength(1);
    const counted = await world.context.store.read.selectFrom('sign_in_failures').select('failures').execute();
    expect(counted).toEqual([{ failures: 1 }]);
  });

  it('opens another case if the text was changed after going back, and accepts a long message with many lines', async () => {
    const world = await createFormWorld();
    const { send, sent } = await fillIn(world, ada);
    const message = 'x\r\n'.repeat(1999).trim();
    const changed = await send({ message, kind: 'erasure' });
    expect(changed.status).toBe(303);
    expect(changed.headers.get('location')).not.toBe(sent.headers.get('location'));
    const rows = await cases(world);
    expect(rows.map(({ kind }) => kind)).toEqual(['access', 'erasure']);
    expect(rows[1]?.message).toBe(message.replaceAll('\r\n', '\n'));
  });

  it('keeps a request whose number is already in use', async () => {
    const world = await createFormWorld();
    const { submitRequest } = await import('../../src/request-form/request-form.ts');
    const deps = { ...world.context, catchUp: () => world.context.projector.catchUp() };
    const request = { ...ada, kind: 'access' as const, message: null, subject: null };
    const about = { source: 'default', form: 'one form', language: 'en', mails: false };
    const first = await submitRequest(deps, request, about);
    if (first.outcome !== 'recorded') throw new Error('not recorded');
    // Ids have ten digits; the second request is first given the id of the first one.
    let taken = 1;
    const { ledger } = world.context;
    const keyOf = (...parts: readonly (string | Uint8Array)[]) =>
      parts[1] === 'case-opened' && taken-- > 0
        ? ledger.keyOf('action', 'case-opened', first.caseId)
        : ledger.keyOf(...parts);
    const colliding = { ...deps, cases: { ...deps.cases, ledger: { ...ledger, keyOf } } };
    const second = await submitRequest(colliding, { ...request, name: 'Somebody else' }, { ...about, form: 'another' });
    expect(second.outcome).toBe('recorded');
    expect(taken).toBeLessThan(0);
    expect((await cases(world)).map(({ requester_name }) => requester_name)).toEqual(['Ada Lovelace', 'Somebody else']);
  });

  it('does not exist for a source whose controller does not offer it, nor for an unknown source', async () => {
    const world = await createFormWorld('');
    const visitor = createVisitor(world.url);
    const closed = await visitor.get('/r/default');
    const absent = await visitor.get('/r/nobody');
    expect([closed.status, absent.status]).toEqual([404, 404]);
    expect(closed.text).toBe(absent.text);
    expect((await visitor.post('/r/default', ada)).status).toBe(404);
    expect(await cases(world)).toEqual([]);
  });

  it('refuses a request that would cross the network in the clear', async () => {
    const world = await createFormWorld(undefined, { PUBLIC_URL: 'http://privacy.acme.example' });
    expect((await createVisitor(world.url).get('/r/default')).status).toBe(404);
  });

  it('says what to correct, and keeps the text', async () => {
    const world = await createFormWorld();
    const { sent } = await fillIn(world, { kind: 'nonsense', name: ' ', email: 'ada@', message: '<b>"hello"</b>' });
    expect(sent.status).toBe(422);
    for (const text of ['Choose what you want.', 'Enter your name', 'Enter an e-mail address'])
      expect(sent.text).toContain(text);
    expect(sent.text).toContain('&lt;b>&quot;hello&quot;&lt;/b>');
    expect(sent.text).toMatch(/id="email"[^>]*aria-invalid="true"/);
    expect(sent.text).not.toContain('Choose a place');
    expect(await cases(world)).toEqual([]);
  });

  it.each([
    ['at once', 0, {}],
    ['after two days', 2 * 86_400, {}],
    ['with the field that nobody sees', 5, { website: 'https://spam.example' }],
    ['with a number of its own making', 5, { form: `${Date.now() - 9000}.AAAAAAAAAAAAAAAA.${'A'.repeat(43)}` }],
    ['without a number', 5, { form: '' }],
  ])('asks again if a form comes back %s, and loses none of the text', async (_how, seconds, more) => {
    const world = await createFormWorld();
    const visitor = createVisitor(world.url);
    const form = numberOf(await visitor.get('/r/default'));
    later(world, seconds);
    const refused = await visitor.post('/r/default', { form, ...ada, ...more });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('value="Ada Lovelace"');
    expect(await cases(world)).toEqual([]);
    later(world, 5);
    expect((await visitor.post('/r/default', { ...ada, form: numberOf(refused) })).status).toBe(303);
    expect(await cases(world)).toHaveLength(1);
  });

  it('is not offered under a shared profile to a further source, which may be another client’s, until the profile names it', async () => {
    const world = await createFormWorld();
    const { config, sources } = world.context;
    await sources.add({ slug: 'bolt', name: 'Bolt AG' }, 'test');
    const visitor = createVisitor(world.url);
    const admin = await signedInAs(world, 'admin');
    const statuses = async () => [(await visitor.get('/r/default')).status, (await visitor.get('/r/bolt')).status];
    expect(await statuses()).toEqual([200, 404]);
    const sent = await visitor.post('/r/bolt', { form: numberOf(await visitor.get('/r/default')), ...ada });
    expect([sent.status, (await cases(world)).length]).toEqual([404, 0]);
    const page = await admin.get('/sources/bolt');
    expect(page.text).toContain('The web form of this source is off');
    expect(page.text).toContain('href="#controller"');
    expect((await admin.get('/settings/profile?source=bolt')).text).toContain('name="requestFormFor"');
    const receivedAt = world.context.clock().toISOString();
    const request = { source: 'bolt', kind: 'access', channel: 'letter', receivedAt, actor: 'test' } as const;
    const opened = await openCase(world.context.cases, request);
    if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
    await world.context.projector.projected(opened.seq);
    const letter = async () =>
      (await admin.get(`/cases/${opened.caseId}/letter?step=acknowledgement&language=en`)).text;
    expect(await letter()).toContain('belongs to another client, send nothing');
    expect(await letter()).toContain('href="/sources/bolt#controller"');

    const shared = await readFile(config.controllerFile ?? '', 'utf8');
    await writeFile(config.controllerFile ?? '', `${shared}requestFormFor: [bolt]\n`);
    expect(await statuses()).toEqual([200, 200]);
    expect(await letter()).not.toContain('belongs to another client');
    expect((await admin.get('/sources/bolt')).text).toContain('Anyone can send a request at');

    // A profile of its own needs no confirmation.
    const own = `${config.controllerFile}.bolt.yaml`;
    await writeFile(own, 'name: Bolt AG\ncountry: AT\nrequestForm: true\n');
    await writeFile(config.controllerFile ?? '', shared);
    expect(await statuses()).toEqual([200, 404]);
    const options = { ...sources.find('bolt')?.options, controllerFile: own };
    expect((await sources.change('bolt', { options }, 'test')).outcome).toBe('done');
    expect(await statuses()).toEqual([200, 200]);
    expect((await visitor.get('/r/bolt')).text).toContain('Bolt AG');
  });

  it('is not offered in another client’s name when the first source gets its own profile or leaves the environment', async () => {
    const { context } = await createFormWorld();
    const { config, sources, ledger, store, keys, clock } = context;
    await sources.add({ slug: 'bolt', name: 'Bolt AG' }, 'test');
    const isOffered = async (all: Sources) => {
      const profile = await context.loadProfile(null);
      return all.list().map((source) => [source.slug, requestFormState(profile, source, all)]);
    };
    expect(await isOffered(sources)).toEqual([
      ['bolt', 'unconfirmed'],
      ['default', 'offered'],
    ]);
    const own = `${config.controllerFile}.default.yaml`;
    await writeFile(own, 'name: Acme Shop\ncountry: DE\n');
    const options = { ...sources.find('default')?.options, controllerFile: own };
    expect((await sources.change('default', { options }, 'test')).outcome).toBe('done');
    expect(Object.fromEntries(await isOffered(sources))).toMatchObject({ bolt: 'unconfirmed' });
    const without = await createSources({ store, ledger, keys: keys.instance, clock, configured: null });
    onTestFinished(() => without.close());
    expect(Object.fromEntries(await isOffered(without))).toMatchObject({ bolt: 'unconfirmed' });
  });

  it('still shows a request that was sent before the form of a further source was switched off', async () => {
    const world = await createFormWorld('requestForm: true\nrequestFormFor: [bolt]\n');
    await world.context.sources.add({ slug: 'bolt' }, 'test');
    const visitor = createVisitor(world.url);
    const form = numberOf(await visitor.get('/r/bolt'));
    later(world, 5);
    const sent = await visitor.post('/r/bolt', { form, ...ada });
    const path = new URL(sent.headers.get('location') ?? '', `${world.url}/r/bolt`).pathname;
    const file = world.context.config.controllerFile ?? '';
    await writeFile(file, (await readFile(file, 'utf8')).replace('requestFormFor: [bolt]', ''));
    expect((await visitor.get('/r/bolt')).status).toBe(404);
    expect((await visitor.get(path)).status).toBe(200);
  });

  it('refuses a form that was made for another source', async () => {
    const world = await createFormWorld('requestForm: true\nrequestFormFor: [bolt]\n');
    await world.context.sources.add({ slug: 'bolt' }, 'test');
    const visitor = createVisitor(world.url);
    const form = numberOf(await visitor.get('/r/default'));
    later(world, 5);
    const elsewhere = await visitor.post('/r/bolt', { form, ...ada });
    expect(elsewhere.status).toBe(422);
    expect((await visitor.post('/r/bolt', { ...ada, form: numberOf(elsewhere) })).status).toBe(422);
    later(world, 5);
    expect((await visitor.post('/r/bolt', { ...ada, form: numberOf(elsewhere) })).status).toBe(303);
    expect((await cases(world)).map(({ source }) => source)).toEqual(['bolt']);
  });

  it('mails the code without any of the text typed in, confirms receipt, and accepts the code', async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const world = await createFormWorld(
      undefined,
      { SMTP_URL: mail.url, MAIL_FROM: 'ledger@example.org', PUBLIC_URL: 'https://privacy.acme.example' },
      { worker: true },
    );
    const { visitor, path } = await fillIn(
      world,
      { ...ada, name: 'Visit https://spam.example now', message: 'Buy pills' },
      '?language=de',
    );
    await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
    const [{ to, text, subject, raw }] = mail.mails as [(typeof mail.mails)[number]];
    expect(to).toEqual(['ada@example.org']);
    expect(raw).toMatch(/^Reply-To: privacy@acme\.example\r$/m);
    expect(subject).toContain('Ihre Anfrage ist bei uns eingegangen');
    for (const typed of ['spam.example', 'pills']) expect(text + subject).not.toContain(typed);
    expect(text).toContain(`https://privacy.acme.example${path.replace('?language=de', '')}`);
    const code = /\b(\d{4} \d{4})\b/.exec(text)?.[1] ?? '';
    const page = await visitor.get(path);
    expect(page.text).toContain('<html lang="de-DE"');
    expect(page.text).toContain('Bestätigen');
    const wrong = await visitor.post(path, { code: '0000 0000' });
    expect(wrong.status).toBe(403);
    expect(wrong.text).toContain('Verbleibende Versuche: 4');
    expect((await visitor.post(path, { code })).status).toBe(303);
    expect((await visitor.get(path)).text).toContain('Ihre E-Mail-Adresse ist bestätigt');
    await vi.waitFor(
      async () => expect((await cases(world)).map(({ state }) => state)).toEqual(['acknowledged']),
      PATIENTLY,
    );
    const [row] = await cases(world);
    expect(parseFolded(row?.folded ?? '').emailConfirmed?.how).toContain('code');
    expect(parseFolded(row?.folded ?? '').identity.status).toBe('not-asked');
    // After a correction of the address, nothing is confirmed.
    expect(mail.mails).toHaveLength(1);
  });

  it('accepts no code after five wrong ones, even if they come at once, and keeps the request', async () => {
    const world = await createFormWorld(undefined, { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.org' });
    const { visitor, path } = await fillIn(world, ada);
    const tried = await Promise.all(
      Array.from({ length: 8 }, (_, at) => visitor.post(path, { code: String(10_000_000 + at) })),
    );
    expect(tried.map(({ status }) => status).sort()).toEqual([303, 303, 303, 303, 403, 403, 403, 403]);
    expect((await visitor.get(path)).text).toContain('No more codes can be entered here.');
    expect(await cases(world)).toHaveLength(1);
  });

  it('does not show a request to a person who guesses its number, nor after a week', async () => {
    const world = await createFormWorld();
    const { visitor, path } = await fillIn(world, ada);
    const number = path.split('/').at(-1) ?? '';
    for (const guess of [number.slice(0, 12) + 'A'.repeat(43), number.slice(0, -1), number.slice(0, 11)])
      expect((await visitor.get(`/r/default/${guess}`)).status).toBe(404);
    later(world, 7 * 86_400);
    expect((await visitor.get(path)).status).toBe(404);
  });

  it('mails one address three times a day at most', async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const world = await createFormWorld(
      undefined,
      { SMTP_URL: mail.url, MAIL_FROM: 'ledger@example.org' },
      { worker: true },
    );
    for (let at = 0; at < 5; at += 1) await fillIn(world, { ...ada, email: at % 2 ? 'ADA@example.org' : ada.email });
    await vi.waitFor(async () => {
      const jobs = await world.context.store.read
        .selectFrom('jobs')
        .select('state')
        .where('kind', '=', 'request-form-mail')
        .execute();
      expect(jobs.map(({ state }) => state)).toEqual(Array(5).fill('done'));
    }, PATIENTLY);
    expect(mail.mails).toHaveLength(3);
    // Without PUBLIC_URL there is no address to give.
    expect(mail.mails[0]?.text).toContain('Enter it on the page on which you sent the request.\n');
    expect(await cases(world)).toHaveLength(5);
  });

  it('mails one address three times a day at most, even from the forms of several sources', async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const world = await createFormWorld(
      undefined,
      { SMTP_URL: mail.url, MAIL_FROM: 'ledger@example.org' },
      { worker: true },
    );
    const { context } = world;
    const added = await context.sources.add({ slug: 'second', name: 'Second', webhookSecrets: [] }, 'test');
    if (added.outcome !== 'done') throw new Error(JSON.stringify(added));
    const { submitRequest } = await import('../../src/request-form/request-form.ts');
    const deps = { ...context, catchUp: () => context.projector.catchUp() };
    const request = { ...ada, kind: 'access' as const, message: null, subject: null };
    for (let at = 0; at < 4; at += 1)
      for (const source of ['default', 'second'])
        await submitRequest(deps, request, { source, form: `form ${at}`, language: 'en', mails: true });
    await vi.waitFor(async () => {
      const jobs = await context.store.read
        .selectFrom('jobs')
        .select('state')
        .where('kind', '=', 'request-form-mail')
        .execute();
      expect(jobs.map(({ state }) => state)).toEqual(Array(8).fill('done'));
    }, PATIENTLY);
    expect(mail.mails).toHaveLength(3);
  });

  it('accepts a bounded number of requests in an hour, even if they come at once', async () => {
    const world = await createFormWorld();
    const { submitRequest } = await import('../../src/request-form/request-form.ts');
    const deps = { ...world.context, catchUp: () => world.context.projector.catchUp() };
    const sent = await Promise.all(
      Array.from({ length: REQUESTS_PER_HOUR + 30 }, (_, at) =>
        submitRequest(
          deps,
          { ...ada, kind: 'access', message: null, subject: null },
          { source: 'default', form: `form ${at}`, language: 'en', mails: false },
        ),
      ),
    );
    expect(sent.filter(({ outcome }) => outcome === 'recorded')).toHaveLength(REQUESTS_PER_HOUR);
    expect(await cases(world)).toHaveLength(REQUESTS_PER_HOUR);
  });

  it('accepts a bounded number of requests in an hour, and says so', async () => {
    const world = await createFormWorld();
    const { submitRequest } = await import('../../src/request-form/request-form.ts');
    const deps = { ...world.context, catchUp: () => world.context.projector.catchUp() };
    for (let at = 0; at < REQUESTS_PER_HOUR; at += 1)
      await submitRequest(
        deps,
        { ...ada, kind: 'access', message: null, subject: null },
        { source: 'default', form: `form ${at}`, language: 'en', mails: false },
      );
    await world.context.projector.catchUp();
    const { sent } = await fillIn(world, ada);
    expect(sent.status).toBe(429);
    expect(sent.headers.get('retry-after')).toBe('3600');
    expect(sent.text).toContain('Too many requests are arriving');
  });

  it('keeps a name and an id on one line, and shows the characters that were not part of one', async () => {
    const world = await createFormWorld();
    await fillIn(world, { ...ada, name: 'Ada\r\n=1+1\u001b[2J\u202e', subject: 'v-1\u0007' });
    const [row] = await cases(world);
    expect(row).toMatchObject({ requester_name: 'Ada[U+000D][U+000A]=1+1[U+001B][2J[U+202E]' });
    expect(JSON.stringify(row)).not.toMatch(/\\u001b|\\u0007|\u202e/);
  });

  it('says how long to wait: an hour for one that sends too much, a minute for one that looks too often', async () => {
    const world = await createFormWorld();
    const { path, visitor } = await fillIn(world, ada);
    const send = () => visitor.post(path, { kind: 'access' });
    let page = await send();
    for (let sent = 0; sent < 60 && page.status !== 429; sent += 1) page = await send();
    expect(page.status).toBe(429);
    expect(page.text).toContain('Please try again in an hour');
    expect(page.text).not.toContain('a minute');
  });

  it('can be framed only by the websites in the profile, without cookies or scripts', async () => {
    const closed = await createFormWorld();
    const page = await createVisitor(closed.url).get('/r/default');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const world = await createFormWorld('requestForm: true\nrequestFormOn: ["https://www.acme.example/privacy"]\n');
    const { page: framed, sent, path, visitor } = await fillIn(world, ada);
    for (const one of [framed, await visitor.get(path)]) {
      const policy = one.headers.get('content-security-policy') ?? '';
      expect(policy).toContain('frame-ancestors https://www.acme.example;');
      expect(policy).not.toContain('script-src');
      expect(one.headers.get('x-frame-options')).toBeNull();
      expect(one.headers.get('cache-control')).toBe('no-store');
      expect(one.text).not.toContain('<script');
    }
    expect([...framed.headers.getSetCookie(), ...sent.headers.getSetCookie()]).toEqual([]);
  });

  it.each([
    ['de-AT', 'de-AT'],
    ['pt-BR', 'pt-BR'],
    ['PT_br', 'pt-BR'],
    ['fr', 'fr-FR'],
    ['xx-DE', 'nl-NL'],
    ['__proto__', 'nl-NL'],
  ])('takes the language of its address as people write it: %s', async (language, locale) => {
    const world = await createFormWorld();
    const page = await fetch(`${world.url}/r/default?language=${language}`, { headers: { 'accept-language': 'nl' } });
    expect(/<html lang="([^"]+)"/.exec(await page.text())?.[1]).toBe(locale);
  });

  it.each(Object.keys(letterLanguages))('asks in %s, for every kind of request', async (language) => {
    const world = await createFormWorld();
    const page = await createVisitor(world.url).get(`/r/default?language=${language}&kind=erasure`);
    expect(page.status).toBe(200);
    const { requestForm: t } = letterLanguages[language] as (typeof letterLanguages)['en'] & object;
    for (const kind of requestKinds) expect(page.text).toContain(`value="${kind}"`);
    expect(page.text).toMatch(/value="erasure" checked/);
    expect(page.text).toContain(t.send);
    expect(page.text).toContain('value="US-CA"');
  });
});
