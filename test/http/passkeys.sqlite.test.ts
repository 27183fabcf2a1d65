// SQLite only: this is about a browser and its authenticator. Sessions and accounts are tested on both databases
// (accounts.test.ts).
import { describe, expect, it } from 'vitest';
import { createSetUpLink } from '../../src/people/links.ts';
import { PATIENTLY } from '../temporary.ts';
import { createOfficeWorld, createVisitor } from './office-world.ts';
import { addAuthenticator, openBrowser } from './pages/browser.ts';

const PASSWORD = 'plough amber tuesday kettle';

describe('a passkey', () => {
  it('is set up with the password, then signs in without it, once for each answer, until it is removed', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { context } = world;
    // WebAuthn does not work with an IP address.
    const url = world.adminUrl.replace('127.0.0.1', 'localhost');
    const { token } = await createSetUpLink(context, 'test');
    const window = await (await openBrowser()).newContext();
    const page = await window.newPage();
    page.setDefaultTimeout(PATIENTLY.timeout);
    await addAuthenticator(window, page);
    await page.goto(`${url}/join?token=${token}`);
    await page.getByLabel('Name').fill('Olga Owner');
    await page.getByLabel('E-mail').fill('olga@acme.example');
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();

    const setUp = async (password: string) => {
      await page.goto(`${url}/account`);
      await page.locator('#present-passkey').fill(password);
      await page.getByRole('button', { name: 'Set up a passkey' }).click();
    };
    await page.goto(`${url}/account`);
    const options = (await page.locator('[data-options]').getAttribute('data-options')) ?? '';
    // EdDSA, ES256, RS256. Not ML-DSA, which only some versions of Node can verify.
    const { pubKeyCredParams } = JSON.parse(options) as { pubKeyCredParams: { alg: number }[] };
    expect(pubKeyCredParams.map(({ alg }) => alg)).toEqual([-8, -7, -257]);
    await setUp('violin meadow seventeen cork');
    await page.getByText('The current password is wrong.').waitFor();
    expect(await context.store.read.selectFrom('passkeys').selectAll().execute()).toEqual([]);
    await setUp(PASSWORD);
    await page.getByText('The passkey has been set up.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();

    // Keeps the signed request, so it can be sent a second time.
    let sent = '';
    await page.route('**/sign-in/passkey', async (route) => {
      sent = route.request().postData() ?? '';
      await route.continue();
    });
    const plain = await (await page.context().browser()?.newContext({ javaScriptEnabled: false }))?.newPage();
    await plain?.goto(`${url}/sign-in`);
    expect(await plain?.getByRole('button').allTextContents()).toEqual(['Sign in']);
    await page.goto(`${url}/cases`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'All requests' }).waitFor();
    expect((await context.store.read.selectFrom('sessions').select('way').execute()).map(({ way }) => way)).toEqual([
      'passkey',
    ]);

    const response = new URLSearchParams(sent).get('response') ?? '';
    const thief = createVisitor(url);
    await thief.get('/sign-in');
    expect((await thief.post('/sign-in/passkey', { response })).status).toBe(401);
    const altered = JSON.parse(response) as { response: { signature: string } };
    altered.response.signature = altered.response.signature.replace(/^.{4}/, 'AAAA');
    for (const wrong of ['', 'x', '{}', '[1]', '{"id":7}', JSON.stringify(altered)])
      expect([wrong, (await thief.post('/sign-in/passkey', { response: wrong })).status]).toEqual([wrong, 401]);
    expect((await thief.post('/sign-in/passkey', { response }, { csrf: null })).status).toBe(403);

    const enter = async () => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.goto(`${url}/sign-in`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    };
    await enter();
    await page.getByRole('heading', { name: 'Today' }).waitFor();

    const disable = (at: string | null) =>
      context.store.transaction(async ({ query }) => {
        await query.updateTable('people').set({ disabled_at: at }).execute();
      });
    await disable('2026-01-01T00:00:00.000Z');
    expect((await page.goto(`${url}/cases`))?.status()).toBe(401);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Unknown passkey').waitFor();
    await disable(null);
    await page.goto(`${url}/account`);

    const remove = async (password: string) => {
      await page.getByText('Chrome on Linux, since').click();
      await page.locator('#present-remove-0').fill(password);
      await page.getByRole('button', { name: 'Remove this passkey' }).click();
    };
    await remove('violin meadow seventeen cork');
    await page.getByText('The current password is wrong.').waitFor();
    expect((await context.store.read.selectFrom('passkeys').selectAll().execute()).length).toBe(1);
    await remove(PASSWORD);
    await page.getByText('The passkey has been removed.').waitFor();
    await enter();
    await page.getByText('Unknown passkey').waitFor();
  });

  it('is not offered under an IP address, and scripts run on no other page', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const named = createVisitor(world.adminUrl.replace('127.0.0.1', 'localhost'));
    const page = await named.get('/sign-in');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect((await named.get('/signed-out')).headers.get('content-security-policy')).not.toContain('script-src');
    const bare = await createVisitor(world.adminUrl).get('/sign-in');
    expect(bare.headers.get('content-security-policy')).not.toContain('script-src');
    expect(bare.text).not.toContain('passkey');
  });
});
