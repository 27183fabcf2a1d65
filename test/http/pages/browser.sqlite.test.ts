// SQLite only: this is about the browser. The content of the pages is tested on both databases (pages.test.ts,
// test/http).
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { produceLetter } from '../../../src/documents/produce-letter.ts';
import { shareTask } from '../../../src/hand-over/task-link.ts';
import { createSetUpLink } from '../../../src/people/links.ts';
import { createOfficeWorld, type OfficeWorld } from '../../http/office-world.ts';
import { makeMoves } from '../hand-over-world.ts';
import { openBrowser, openOffice, shareBrowser, violations } from './browser.ts';
import { fetchedText, seedRequests } from './seed.ts';

shareBrowser();

async function seededWorld(): Promise<{ world: OfficeWorld; access: string; hostile: string }> {
  const world = await createOfficeWorld({
    SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1',
    SERVICE_API_KEY: 'pak_live_x',
  });
  const seqs = await seedRequests(world);
  await world.context.seal();
  return { world, access: `default-${seqs.access}`, hostile: `default-${seqs.erasure}` };
}

/** Waits for so many documents, without loading a page until then. */
async function untilMade({ context }: OfficeWorld, documents: number): Promise<void> {
  const made = () => context.store.read.selectFrom('documents').select('sha256').execute();
  await expect.poll(made).toHaveLength(documents);
}

const downloads = (page: Page) => page.locator('a[download]');

/** Tasks of every state on a case, another case that may be the same request, and the path of a task's link. */
async function seedTasks(world: OfficeWorld, caseId: string): Promise<string> {
  const { context } = world;
  const task = { due: '2026-01-01', owner: 'Anna', ownerEmail: 'anna@shop.example', instructions: 'Customer 4711' };
  await makeMoves(world, caseId, [
    ['add-task', { ...task, what: 'Delete the customer in the shop' }],
    ['add-task', { ...task, what: 'Tell the print shop' }],
    ['add-task', { ...task, what: 'x'.repeat(200) }],
    ['finish-task', { task: '2', outcome: 'not-done', note: 'The shop is closed' }],
  ]);
  await world.event('dsar.submitted', { request_id: 'r-9', type: 'access', email: 'ada@example.org' });
  const shared = await shareTask(context, { caseId, task: '1', actor: 'test', publicUrl: world.url });
  if (shared.outcome !== 'shared') throw new Error(JSON.stringify(shared));
  return shared.link;
}

it('the check for accessibility finds a fault', async () => {
  const page = await (await openBrowser()).newPage();
  onTestFinished(() => page.close());
  await page.setContent(
    '<html lang="en"><title>A page</title><main><h1>A picture</h1><img src="data:,"></main></html>',
  );
  expect(await violations(page)).toEqual(['image-alt: <img src="data:,">']);
});

describe('the pages in a browser', () => {
  it('take a request from the list with its own button', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { access, erasure } = await seedRequests(world);
    const { page } = await openOffice(world, { width: 1280, height: 900 });
    await page.goto(`${world.adminUrl}/cases`);
    await page.getByRole('button', { name: `Take default-${erasure}` }).click();
    await page.getByText('The request is assigned to you.').waitFor();
    expect(await page.getByRole('button', { name: `Take default-${erasure}` }).count()).toBe(0);
    expect(await page.getByRole('button', { name: `Take default-${access}` }).count()).toBe(1);
  });

  it('are accessible and fit into 1280 and 390 pixels', async () => {
    const { world, access, hostile } = await seededWorld();
    await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
    const policy = { policy_id: 'pol_1', policy_type: 'privacy-policy', title: 'Privacy', jurisdiction: 'DE' };
    await world.event('policy.published', policy);
    const older = await fetchedText(world, {
      at: '2026-03-01T10:00:00.000Z',
      page: '<h1>Privacy</h1><p>For a year.</p><p>Write to us.</p>',
    });
    const newer = await fetchedText(world, {
      at: '2026-05-01T10:00:00.000Z',
      page: '<h1>Privacy</h1><p>For two years.</p><p>Write to us.</p><p>Or call.</p>',
    });
    const link = await seedTasks(world, access);
    const [wide, narrow] = [
      { width: 1280, height: 900 },
      { width: 390, height: 900 },
    ];
    const { page } = await openOffice(world, narrow);
    const difference = `/policies/difference?source=default&older=${older}&newer=${newer}`;
    // Narrow, all must fit, and those must be accessible whose layout changes most.
    const narrowly = ['today', '/cases', '/cases/new', access, difference];
    // The contrast of these; month.sqlite.test.ts looks at that of more pages, test/http/every-page.long.test.ts at all.
    const coloured = [
      'today',
      '/cases',
      access,
      difference,
      '/evidence',
      '/settings/profile',
      '/sources/bolt/set-up',
      'a task',
      'sign-in',
    ];
    const check = async (what: string) => {
      for (const size of [wide, narrow]) {
        await page.setViewportSize(size);
        const contrast = size === wide && (coloured.includes(what) || what.includes('dark'));
        if (size === wide || narrowly.includes(what))
          expect([what, await violations(page, { contrast })]).toEqual([what, []]);
        const [content, view] = await page.evaluate<[number, number]>(
          '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
        );
        expect([what, content, view]).toEqual([what, size.width, size.width]);
      }
    };
    await page.getByLabel('Report', { exact: true }).selectOption({ label: 'Consent audit' });
    await page.locator('#report-source').selectOption('default');
    await page.getByRole('button', { name: 'Create the report' }).click();
    await page.getByText('The report is being created').waitFor();
    await untilMade(world, 1);
    await page.goto(world.adminUrl);
    expect(await page.getByRole('link', { name: /Consent audit/ }).count()).toBe(1);
    await page.getByRole('button', { name: 'Sync now' }).click();
    await page.getByText('About the reports').click();
    await check('today');
    const computed = '/deadline?kind=access&received=2026-11-25&place=US-CA&country=DE&region=BE';
    // One of each layout: test/http/every-page.long.test.ts walks through all of them.
    for (const path of [
      '/cases',
      '/cases/new',
      computed,
      '/scans',
      '/figures',
      '/deliveries',
      '/entries/1',
      '/policies',
      '/policies/policy?source=default&id=pol_1&at=2026-09-01T10:00',
      `/policies/text?source=default&entry=${newer}`,
      difference,
      '/policies/generate',
      '/evidence',
      '/documents',
      '/sources/default',
      '/sources/default/fields',
      '/sources/bolt/set-up',
      '/people',
      '/settings/profile',
      '/settings/letters?step=refusal&language=de',
      '/account',
    ]) {
      await page.goto(world.adminUrl + path);
      if (/^\/(sources|settings)/.test(path))
        for (const summary of await page.locator('main summary').all()) await summary.click();
      await check(path);
    }
    for (const caseId of [access, hostile]) {
      await page.goto(`${world.adminUrl}/cases/${caseId}`);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await check(caseId);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['/', `/cases/${access}`]) {
      await page.goto(world.adminUrl + path);
      await check(`${path} in dark colours`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(link);
    await check('a task');
    await page.goto(world.adminUrl);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    await check('signed out');
    await page.goto(`${world.adminUrl}/sign-in?token=${await world.link()}`);
    await check('one-time link');
    await page.goto(`${world.adminUrl}/sign-in`);
    await check('sign-in');
    const { token } = await createSetUpLink(world.context, 'test');
    await page.goto(`${world.adminUrl}/join?token=${token}`);
    await check('set-up');
    await page.getByLabel('Name').fill('Olivia Owner');
    await page.getByLabel('E-mail').fill('olivia@acme.example');
    await page.getByLabel('New password').fill('plough amber tuesday kettle');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    for (const path of ['/account', '/account/second-factor', '/people']) {
      await page.goto(world.adminUrl + path);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await check(`${path} of an account`);
    }
  });

  it('fit if a letter can be sent to a long address', async () => {
    const world = await createOfficeWorld(
      { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'privacy@acme.example' },
      { worker: false },
    );
    const email = `${'emile.fischer.'.repeat(4)}1@example.org`;
    const request = { request_id: 'r-1', type: 'access', jurisdiction: 'DE', language: 'en', email };
    const caseId = `default-${await world.event('dsar.submitted', request)}`;
    const deps = { ...world.context.documents, cases: world.context.cases };
    const made = await produceLetter(deps, {
      caseId,
      step: 'acknowledgement',
      text: null,
      format: 'pdf',
      actor: 'test',
    });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    await world.context.projector.projected(made.seq);
    const { page } = await openOffice(world);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${world.adminUrl}/cases/${caseId}`);
      await page.getByRole('button', { name: /^Send .* to the requester/ }).waitFor();
      const content = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(content).toBeLessThanOrEqual(width);
    }
  });

  it('fit if a stranger gives a long name without a space', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const submitted_at = new Date(Date.now() - 40 * 86_400_000).toISOString();
    const request = { request_id: 'r-1', type: 'access', jurisdiction: 'DE', name: 'x'.repeat(200), submitted_at };
    await world.event('dsar.submitted', request);
    const { page } = await openOffice(world);
    for (const path of ['/', '/cases', '/api'])
      for (const width of [1280, 640, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${world.adminUrl}${path}`);
        await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
        const content = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect([path, width, content]).toEqual([path, width, Math.min(content, width)]);
      }
  });

  it('run no script that came with a request', async () => {
    const { world, hostile } = await seededWorld();
    const { page } = await openOffice(world);
    const heard: string[] = [];
    page.on('dialog', (dialog) => {
      heard.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('console', (message) => heard.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith(world.adminUrl)) heard.push(request.url());
    });
    for (const path of ['/', '/cases', `/cases/${hostile}`]) {
      await page.goto(world.adminUrl + path);
      await page.getByText('<script>').first().waitFor();
    }
    expect(heard).toEqual([]);
  });

  it('do everything without scripts: answer a request, make and download a report and a pack', async () => {
    const { world, access } = await seededWorld();
    const { page } = await openOffice(world, { scripts: false });
    await page.getByRole('link', { name: `Access · ${access}` }).click();
    const move = async (label: string, fill: () => Promise<unknown> = async () => undefined) => {
      const button = page.getByRole('button', { name: label, exact: true });
      if (!(await button.isVisible())) {
        await page.getByText('More', { exact: true }).click();
        await page.locator('summary', { hasText: label }).click();
      }
      await fill();
      await page.getByRole('button', { name: label, exact: true }).click();
      await page.getByText('Recorded in the ledger.', { exact: true }).waitFor();
    };
    await move('Start work');
    await move('Mark another system as searched', () =>
      page.locator('#mark-system-result').selectOption('not-applicable'),
    );
    await page.getByRole('button', { name: 'Create the pack' }).click();
    await page.getByText('The pack is being created').waitFor();
    const pack = page.getByRole('link', { name: new RegExp(`for ${access}`) });
    await untilMade(world, 1);
    await page.goto(`${world.adminUrl}/cases/${access}`);
    expect(await pack.count()).toBe(1);
    await move('Ready to be answered');
    await move('The answer was sent', () => page.locator('#answer-channel').fill('e-mail'));
    await page.goto(world.adminUrl);
    await page.getByText('2 requests').first().waitFor();
    await page.getByLabel('Format').selectOption('json');
    await page.getByRole('button', { name: 'Create the report' }).click();
    await page.getByText('The report is being created').waitFor();
    await untilMade(world, 2);
    await page.goto(world.adminUrl);
    expect(await downloads(page).count()).toBe(2);
    for (const link of await downloads(page).all()) {
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      const bytes = await readFile(await download.path());
      const rows = await world.context.store.read
        .selectFrom('documents')
        .selectAll()
        .where('sha256', '=', createHash('sha256').update(bytes).digest('hex'))
        .execute();
      expect(rows.map(({ format }) => download.suggestedFilename().endsWith(`.${format}`))).toEqual([true]);
    }
    expect((await world.actions('document.downloaded')).length).toBe(2);
    const answered = await world.context.store.read
      .selectFrom('case_history')
      .select('details')
      .where('move', '=', 'answer')
      .executeTakeFirstOrThrow();
    // The document made for the case is proposed as the one that was sent.
    expect(JSON.parse(answered.details)).toMatchObject({
      disclosure: 'full',
      documentSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('follow the progress of a job if scripts run, and show its end', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { jobs } = world.context;
    await jobs.enqueue({ kind: 'sync', key: 'default', payload: { source: 'default', actor: 'test' } });
    const { page } = await openOffice(world);
    await page.goto(`${world.adminUrl}/sources/default`);
    await page.getByText('Waiting for a worker.').waitFor();
    const claim = await jobs.claim('test', ['sync'], 60_000);
    if (claim === null) throw new Error('no job');
    await jobs.progress(claim, { done: 1, total: 4, message: 'banner b-1' });
    await page.getByText('1 of 4: banner b-1').waitFor();
    expect(await page.evaluate("document.querySelector('[data-job] progress').value")).toBe(1);
    await jobs.complete(claim, null);
    await page.locator('[data-job]').waitFor({ state: 'detached' });
  });

  it('open by a link on another site without signing in again, while forms of other sites change nothing', async () => {
    const { world, access } = await seededWorld();
    const { page } = await openOffice(world);
    await page.route('http://mail.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<a href="${world.adminUrl}/cases/${access}">a case</a><form method="post" action="${world.adminUrl}/sign-out"><button>out</button></form>`,
      }),
    );
    await page.goto('http://mail.example/');
    await page.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: access }).waitFor();
    await page.goto('http://mail.example/');
    await page.getByRole('button').click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await world.actions('session.closed')).toEqual([]);
    await page.goto(world.adminUrl);
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  });

  it('can be used with the keyboard alone: the first stop leads to the content', async () => {
    const { world } = await seededWorld();
    const { page } = await openOffice(world);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate("document.querySelector('main').contains(document.activeElement)")).toBe(true);
  });

  it('show where the keyboard is, also on the button of a date, in light and dark', async () => {
    const { world } = await seededWorld();
    const { page } = await openOffice(world);
    await page.goto(`${world.adminUrl}/banners`);
    const ring = () =>
      page.evaluate<[string, string]>(
        '((focused) => [focused.name, getComputedStyle(focused).outlineStyle + getComputedStyle(focused).outlineWidth])(document.activeElement)',
      );
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator('input[name=from]').focus();
      // Day, month, year, and the button that opens the calendar; then the next field.
      const stops: string[] = [];
      for (let stop = 0; stop < 6; stop += 1) {
        const [name, outline] = await ring();
        expect([name, outline]).toEqual([name, 'solid3px']);
        stops.push(name);
        await page.keyboard.press('Tab');
      }
      expect(stops.slice(0, 5)).toEqual(['from', 'from', 'from', 'from', 'to']);
    }
  });
});
