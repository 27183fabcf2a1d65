import { expect, onTestFinished, test } from 'vitest';
import { findPersonByEmail, invitePerson, setDisabled } from '../../src/people/people.ts';
import { findFreePort } from '../servers/own-process.ts';
import { type ProvidedAccount, startSignOnProvider } from '../servers/sign-on-provider.ts';
import { createOfficeWorld, createVisitor, type Page, type Visitor } from './office-world.ts';

const CLI = { officer: 'test', role: 'owner' } as unknown as Parameters<typeof invitePerson>[2];
const ADDRESS = 'olga@office.example';

async function begin(accounts: Record<string, ProvidedAccount>, env: Record<string, string> = {}) {
  const port = await findFreePort();
  const provider = await startSignOnProvider({
    redirectUri: `http://127.0.0.1:${port}/sign-in/sso/callback`,
    accounts,
  });
  onTestFinished(provider.close);
  const world = await createOfficeWorld(
    {
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: String(port),
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'ledger',
      OIDC_CLIENT_SECRET: 'a-secret-of-the-client-0123456789',
      OIDC_NAME: 'the office <login>',
      ...env,
    },
    { worker: false },
  );
  const invited = await invitePerson(
    world.context,
    { name: 'Olga Officer', email: ADDRESS, role: 'officer', sources: null },
    CLI,
  );
  if (invited.outcome !== 'done') throw new Error(JSON.stringify(invited));
  const { personId } = invited.person;
  /** Signs in at the provider under a name; resolves with the page that this led back to. */
  const signOn = async (name: string, visitor: Visitor = createVisitor(world.adminUrl), next = ''): Promise<Page> => {
    const begun = await visitor.get(`/sign-in/sso${next}`);
    expect(begun.status).toBe(303);
    const back = new URL(await provider.signIn(begun.headers.get('location') ?? '', name));
    return visitor.get(`${back.pathname}${back.search}`);
  };
  return { world, provider, personId, signOn };
}

test('an account is opened by the verified address that the provider names, and nothing else is', async () => {
  const accounts: Record<string, ProvidedAccount> = {
    olga: { sub: 'olga', email: 'Olga@Office.example', email_verified: true },
    unverified: { sub: 'unverified', email: ADDRESS, email_verified: false },
    nameless: { sub: 'nameless' },
    stranger: { sub: 'stranger', email: 'stranger@office.example', email_verified: true },
    heir: { sub: 'heir', email: ADDRESS, email_verified: true },
  };
  const { world, personId, signOn } = await begin(accounts);
  const visitor = createVisitor(world.adminUrl);
  expect((await visitor.get('/sign-in?next=/cases')).text).toContain(
    'href="/sign-in/sso?next=%2Fcases">Sign in with the office &lt;login><',
  );

  const signed = await signOn('olga', visitor, '?next=/cases');
  expect([signed.status, signed.headers.get('location')]).toEqual([303, '/cases']);
  expect((await visitor.get('/account')).text).toContain('Olga Officer');
  expect(await findPersonByEmail(world.context, ADDRESS)).toMatchObject({ joinedAt: expect.any(String) as string });
  expect(await world.actions('session.opened')).toEqual([
    expect.objectContaining({ actor: expect.stringContaining('Olga Officer') as string }),
  ]);

  for (const [name, problem] of [
    ['unverified', 'did not give a verified e-mail address'],
    ['nameless', 'did not give a verified e-mail address'],
    ['stranger', 'There is no account for you here'],
    ['heir', 'This account is linked to another person'],
  ] as const) {
    const other = createVisitor(world.adminUrl);
    const refused = await signOn(name, other);
    expect([name, refused.status, refused.text]).toEqual([name, 401, expect.stringContaining(problem) as string]);
    expect((await other.get('/account')).status).toBe(401);
  }
  expect((await world.actions('session.refused')).length).toBeGreaterThan(0);

  // A disabled account cannot sign in; once enabled, it belongs to the first to sign in.
  await setDisabled(world.context, personId, true, CLI);
  expect((await visitor.get('/account')).status).toBe(401);
  expect((await signOn('olga')).text).toContain('There is no account for you here');
  await setDisabled(world.context, personId, false, CLI);
  expect((await signOn('heir')).status).toBe(303);
});

test('a provider that states nothing about addresses is trusted only by a setting, and never against its word', async () => {
  const accounts: Record<string, ProvidedAccount> = {
    olga: { sub: 'olga', email: ADDRESS },
    unverified: { sub: 'olga', email: ADDRESS, email_verified: false },
  };
  const standard = await begin(accounts);
  expect((await standard.signOn('olga')).text).toContain('did not give a verified e-mail address');
  const trusting = await begin(accounts, { OIDC_EMAIL_TRUST: 'issuer' });
  expect((await trusting.signOn('unverified')).text).toContain('did not give a verified e-mail address');
  expect((await trusting.signOn('olga')).status).toBe(303);
});

test('the page says why the provider signed nobody in', async () => {
  const accounts = { olga: { sub: 'olga', email: ADDRESS, email_verified: true } };
  const mistyped = await begin(accounts, { OIDC_CLIENT_SECRET: 'a-mistyped-secret-of-the-client-01' });
  const refused = await mistyped.signOn('olga');
  expect([refused.status, refused.text]).toEqual([
    401,
    expect.stringMatching(/did not sign you in: client authentication failed \(invalid_client\)\./) as string,
  ]);

  const { world, provider } = await begin(accounts);
  const visitor = createVisitor(world.adminUrl);
  const begun = new URL((await visitor.get('/sign-in/sso')).headers.get('location') ?? '');
  const told = new URLSearchParams({
    ...{ error: 'access_denied', state: begun.searchParams.get('state') ?? '', iss: provider.issuer },
    error_description: 'AADSTS50105: The user is not assigned to a role. <b>',
  });
  const back = await visitor.get(`/sign-in/sso/callback?${told.toString()}`);
  expect(back.text).toContain('AADSTS50105: The user is not assigned to a role. &lt;b> (access_denied).');
  // Only with the state of this browser: a link could otherwise put words on the page.
  const other = createVisitor(world.adminUrl);
  await other.get('/sign-in/sso');
  expect((await other.get(`/sign-in/sso/callback?${told.toString()}`)).text).not.toContain('AADSTS');
});

test('the redirect address is that of ADMIN_URL, whatever the request says', async () => {
  const { world } = await begin({}, { ADMIN_URL: 'https://ledger.office.example' });
  const begun = await fetch(`${world.adminUrl}/sign-in/sso`, { redirect: 'manual' });
  expect(new URL(begun.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
    'https://ledger.office.example/sign-in/sso/callback',
  );
});

test('responses that were not requested here, are used again, were changed or come too late sign nobody in', async () => {
  const { world, provider } = await begin({ olga: { sub: 'olga', email: ADDRESS, email_verified: true } });
  const start = async () => {
    const visitor = createVisitor(world.adminUrl);
    const begun = await visitor.get('/sign-in/sso');
    const back = new URL(await provider.signIn(begun.headers.get('location') ?? '', 'olga'));
    return { visitor, path: `${back.pathname}${back.search}` };
  };
  const refused = async (visitor: Visitor, path: string) => {
    const page = await visitor.get(path);
    expect([path, page.status]).toEqual([path, 401]);
    expect((await visitor.get('/account')).status).toBe(401);
  };
  // In another browser, which did not begin a sign-in, or began a different one.
  const one = await start();
  await refused(createVisitor(world.adminUrl), one.path);
  const other = await start();
  await refused(other.visitor, one.path);
  // Used again: the cookie is gone, and the code is used up.
  const twice = await start();
  const kept = new Map(twice.visitor.cookies);
  expect((await twice.visitor.get(twice.path)).status).toBe(303);
  const again = createVisitor(world.adminUrl);
  await refused(again, twice.path);
  for (const [name, value] of kept) again.cookies.set(name, value);
  await refused(again, twice.path);
  // Changed in transit.
  for (const change of [
    (path: string) => path.replace(/code=[^&]+/, 'code=nonsense'),
    (path: string) => path.replace(/state=[^&]+/, 'state=nonsense'),
    (path: string) => path.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'),
    () => '/sign-in/sso/callback?error=access_denied',
    () => '/sign-in/sso/callback',
  ]) {
    const { visitor, path } = await start();
    await refused(visitor, change(path));
  }
  const changed = await start();
  for (const [name, value] of changed.visitor.cookies)
    changed.visitor.cookies.set(name, name.includes('sso') ? `x${value}` : value);
  await refused(changed.visitor, changed.path);
  const late = await start();
  world.setNow(new Date(Date.now() + 11 * 60_000).toISOString());
  await refused(late.visitor, late.path);
});

test('single sign-on never redirects to another site', async () => {
  const { signOn } = await begin({ olga: { sub: 'olga', email: ADDRESS, email_verified: true } });
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', '/cases%0d%0aset-cookie:x=1']) {
    const led = await signOn('olga', undefined, `?next=${next}`);
    expect([next, led.headers.get('location')]).toEqual([next, expect.stringMatching(/^\/(?:cases\S*)?$/)]);
    expect(led.headers.getSetCookie().join()).not.toContain('x=1');
  }
});

test('an account that has only signed on this way is told how to get the password that a token or passkey asks for', async () => {
  const { signOn, world } = await begin({ olga: { sub: 'olga', email: ADDRESS, email_verified: true } });
  const visitor = createVisitor(world.adminUrl);
  await signOn('olga', visitor);
  await visitor.get('/account');
  for (let time = 0; time < 7; time += 1) {
    const refused = await visitor.post('/account/tokens', { label: 'sheet', scope: 'read', days: '30', present: 'x' });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('has no password') as string]);
  }
});

test('a provider that does not answer is named, before and after its sign-in page', async () => {
  const { world, provider } = await begin({});
  const visitor = createVisitor(world.adminUrl);
  const begun = await visitor.get('/sign-in/sso');
  const { searchParams } = new URL(begun.headers.get('location') ?? '');
  await provider.close();
  const back = await visitor.get(`/sign-in/sso/callback?code=x&state=${searchParams.get('state') ?? ''}`);
  expect([back.status, back.text]).toEqual([401, expect.stringContaining('did not sign you in') as string]);

  const other = await createOfficeWorld(
    { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'ledger', OIDC_NAME: 'Office login' },
    { worker: false },
  );
  const page = await createVisitor(other.adminUrl).get('/sign-in/sso');
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('Office login does not answer.') as string]);
});
