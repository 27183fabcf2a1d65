// SQLite only: this is about the browser. The routes behind it are tested on both databases.
import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createSetUpLink } from '../../src/people/links.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { createOfficeWorld, type OfficeWorld } from './office-world.ts';
import { addAuthenticator, openBrowser, violations } from './pages/browser.ts';

const PASSWORD = 'plough amber tuesday kettle';

const profile = `
name: Acme GmbH
address: [Lindenstraße 12, 10115 Berlin]
country: DE
region: BE
email: privacy@acme.example
language: de
requestForm: true
requestFormFor: [acme]
`;

/** Delivers an event as the service does; resolves with the status of the response. */
async function deliver(world: OfficeWorld, secret: string, event: string, data: object): Promise<number> {
  const body = JSON.stringify({ event, data });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  const { status } = await fetch(`${world.url}/webhooks/acme`, { method: 'POST', body, headers });
  await world.context.projector.catchUp();
  return status;
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

it('an owner does a month of work in the browser, from the set-up link to signing out', async () => {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 1, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const world = await createOfficeWorld({
    HTTP_ALLOWED_HOSTS: '127.0.0.1',
    SMTP_URL: mail.url,
    MAIL_FROM: 'ledger@acme.example',
  });
  const { context } = world;
  await writeFile(context.config.controllerFile ?? '', profile);
  const browser = await openBrowser();
  const window = await browser.newContext({ acceptDownloads: true });
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENTLY.timeout);
  await addAuthenticator(window, page);
  // WebAuthn does not work with an IP address.
  const url = world.adminUrl.replace('127.0.0.1', 'localhost');
  const go = async (path: string) => {
    await page.goto(url + path);
    expect(await violations(page), path).toEqual([]);
  };
  /** Collects console errors, and content wider than the window, on every visited page. */
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      wrong.push(`${page.url()}: ${message.text()}`);
  });

  // The set-up link, an account, a passkey.
  await go(`/join?token=${(await createSetUpLink(context, 'test')).token}`);
  await page.getByLabel('Name').fill('Olga Owner');
  await page.getByLabel('E-mail').fill('olga@acme.example');
  await page.getByLabel('New password').fill(PASSWORD);
  await press(page, 'Create the account');
  await heading(page, 'Today');
  await go('/account');
  await page.locator('#present-passkey').fill(PASSWORD);
  await press(page, 'Set up a passkey');
  await page.getByText('The passkey has been set up.').waitFor();
  await press(page, 'Sign out');
  await go('/');
  await press(page, 'Sign in with a passkey');
  await heading(page, 'Today');

  // A source: its name, its secret, a delivery, its key.
  await go('/sources/new');
  await page.locator('#name').fill('Acme');
  await press(page, 'Add the source');
  await heading(page, 'Set up Acme');
  await page.getByRole('button', { name: /Generate a secret/ }).click();
  const secret =
    (await page
      .locator('.mono', { hasText: /^[0-9a-f]{64}$/ })
      .first()
      .textContent()) ?? '';
  const recorded = { banner_id: 'bnr_1', policy_version: '3', consent: { analytics: true, marketing: false } };
  const decision = { ...recorded, consent_id: 'c-1', visitor_hash: 'visitor-7', recorded_at: ago(20) };
  expect(await deliver(world, secret, 'consent.recorded', decision)).toBe(200);
  await go('/sources/acme/set-up');
  await page.getByText('Deliveries arrive').waitFor();
  await page.getByLabel('API address').fill(baseUrl);
  await page.locator('#apiKey').fill(sandbox.clients[0]?.apiKey ?? '');
  await page.getByLabel('Public address of the service').fill(siteUrl);
  await page.locator('#present-access').fill(PASSWORD);
  await press(page, 'Test and save');
  await page.getByText('Set-up is complete').waitFor();

  // Works on a request that is nearly due.
  const request = {
    request_id: 'r-1',
    type: 'access',
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    jurisdiction: 'DE',
    language: 'de',
    visitor_hash: 'visitor-7',
    submitted_at: ago(27),
  };
  expect(await deliver(world, secret, 'dsar.submitted', request)).toBe(200);
  await go('/cases');
  await page.locator('table a[href^="/cases/acme-"]').click();
  await press(page, 'Start work');
  // Having no doubt is a decision, recorded with the officer's name.
  await press(page, 'No reasonable doubt about the identity');
  await press(page, 'Ready to be answered');
  await page.getByText('Create the response pack').first().waitFor();
  const caseUrl = new URL(page.url()).pathname;

  // Sends a letter in German by e-mail.
  await go(`${caseUrl}/letter?step=acknowledgement`);
  await page.getByLabel('Language').selectOption({ label: 'Deutsch (de)' });
  await press(page, 'Update the preview');
  await page.getByText('Ihre Anfrage ist bei uns eingegangen').first().waitFor();
  await press(page, 'Send by e-mail and record');
  await vi.waitFor(() => expect(mail.mails.map(({ to }) => to[0])).toContain('ada@example.org'), PATIENTLY);

  // The pack is handed over through a link and a code, and the requester downloads it.
  await go(caseUrl);
  await press(page, 'Create the response pack');
  await vi.waitFor(async () => {
    await page.goto(url + caseUrl);
    expect(await page.getByRole('link', { name: /Response pack for/ }).count()).toBe(1);
  }, PATIENTLY);
  expect(await violations(page), 'with a pack').toEqual([]);
  await press(page, 'Create the link');
  await page
    .getByText(/http\S+\/h\//)
    .first()
    .waitFor();
  const link = (await page.locator('main').innerText()).match(/http\S+\/h\/[\w-]{43}/)?.[0] ?? '';
  const code = (await page.locator('main').innerText()).match(/Code: (\d{4} \d{4})/)?.[1] ?? '';
  const requester = await (await browser.newContext({ acceptDownloads: true })).newPage();
  await requester.goto(link);
  await requester.locator('#code').fill(code);
  await requester.locator('button[value=code]').click();
  const downloading = requester.waitForEvent('download');
  await requester.locator('a[download]').click();
  const pack = await readFile(await (await downloading).path());
  expect(pack.subarray(0, 2).toString()).toBe('PK');

  expect(await violations(requester)).toEqual([]);

  // The form is not accepted within two seconds.
  const secondsLater = (seconds: number) =>
    world.setNow(new Date(context.clock().getTime() + seconds * 1000).toISOString());
  // A requester sends a request by the form, and confirms the address with the code from the mail.
  await requester.goto(`${world.url}/r/acme?language=en`);
  secondsLater(3);
  await requester.getByLabel('Have my data erased').check();
  await requester.locator('button[type=submit]').click();
  await requester.getByText('Enter your name').waitFor();
  expect(await violations(requester)).toEqual([]);
  await requester.locator('#name').fill('Grace Hopper');
  await requester.locator('#email').fill('grace@example.com');
  secondsLater(3);
  await requester.locator('button[type=submit]').click();
  await requester.getByRole('heading', { name: 'We have received your request' }).waitFor();
  expect(await violations(requester)).toEqual([]);
  const confirmation = () => mail.mails.find(({ to }) => to[0] === 'grace@example.com')?.text ?? '';
  await vi.waitFor(() => expect(confirmation()).toMatch(/\d{4} \d{4}/), PATIENTLY);
  await requester.locator('#code').fill(/\d{4} \d{4}/.exec(confirmation())?.[0] ?? '');
  await requester.locator('button[type=submit]').click();
  await requester.getByText('your e-mail address is confirmed').waitFor();

  // Records the answer, with the pack that was sent.
  await go(caseUrl);
  await page.locator('#answer-channel').fill('portal');
  await press(page, 'The answer was sent');
  await page.getByText('Answered', { exact: false }).first().waitFor();

  // Looks up a visitor's consent.
  await go('/consent');
  await page.locator('#identifier').fill('visitor-7');
  await page.locator('#source').selectOption('acme');
  await press(page, 'Look up');
  await page.getByText('analytics').first().waitFor();

  // A scheduled audit arrives in the mailbox.
  await go('/documents/schedules');
  await page.locator('#name').selectOption('consent-audit');
  await page.locator('#source').selectOption('acme');
  await page.locator('#when').selectOption({ label: 'daily at 06:00' });
  await page.getByRole('checkbox', { name: 'Olga Owner' }).check();
  await press(page, 'Schedule');
  await page
    .getByRole('cell', { name: /Consent audit/ })
    .first()
    .waitFor();
  world.setNow(new Date(Date.now() + 25 * 3_600_000).toISOString());
  await vi.waitFor(() => {
    const files = mail.mails.flatMap(({ to, attachments }) =>
      to[0] === 'olga@acme.example' ? Object.keys(attachments) : [],
    );
    expect(files.join()).toMatch(/consent-audit/);
  }, PATIENTLY);
  world.setNow(new Date().toISOString());

  // Rotates the signing secret, and readmits a delivery under the new, still unknown one.
  const next = 'whsec-next-0123456789abcdef0123456789';
  const late = { ...decision, consent_id: 'c-2', recorded_at: ago(1) };
  expect(await deliver(world, next, 'consent.recorded', late)).toBe(401);
  await context.rejected.flush();
  await go('/sources/acme');
  await page.getByText('Rotate the signing secret').click();
  await page.locator('#secret').fill(next);
  await page.locator('#retire').selectOption('24');
  await press(page, 'Save the secret');
  await page
    .getByText(/in 2\d hours|in 1 day|in 24/)
    .first()
    .waitFor();
  await go('/deliveries/refused');
  // A person in a browser is never told to type a command.
  expect(await page.locator('main').innerText()).not.toContain('delivery readmit');
  await page.locator('#readmit-source').selectOption('acme');
  await press(page, 'Verify again');
  await page
    .getByText(/1 delivery|readmitted/i)
    .first()
    .waitFor();
  const { total } = await context.store.read
    .selectFrom('delivery_history')
    .select((eb) => eb.fn.countAll().as('total'))
    .where('verdict', '=', 'verified-late')
    .executeTakeFirstOrThrow();
  expect(Number(total)).toBe(1);

  expect(wrong).toEqual([]);
  // The actions are in the ledger, and nothing was altered.
  expect((await context.verify()).faults).toEqual([]);
  await press(page, 'Sign out');
  await go('/');
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
});
