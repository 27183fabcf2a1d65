import { expect, it } from 'vitest';
import { variableNames } from '../../src/config/variables.ts';
import { rules } from '../../src/http/rules.ts';
import { createReadyCase, makeMoves } from './hand-over-world.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

/** Pages for programs, or about their own addresses. */
const forPrograms = ['GET /mcp', 'GET /openapi.json', 'GET /api', 'GET /metrics', 'GET /healthz', 'GET /readyz'];

const names = variableNames.filter((name) => name.includes('_') || name === 'WITNESSES');

it('no page names an environment variable to an officer, and tasks for admins are sent to one', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await world.context.sources.rotateSecret('default', 'another-secret-of-the-source', 'test', {
    retireOthersAt: new Date().toISOString(),
  });
  await fetch(`${world.url}/webhooks/default`, { method: 'POST', body: '{}' });
  await signedInAs(world, 'admin', { name: 'Ada' });
  const officer = await signedInAs(world, 'officer');
  const pages = Object.keys(rules).flatMap((route) =>
    route.startsWith('GET /') && !/[:*]/.test(route) && !forPrograms.includes(route) ? [route.slice(4)] : [],
  );
  const telling: string[] = [];
  const asking: string[] = [];
  for (const page of [...pages, '/sources/default', '/sources/default/fields']) {
    const { status, text } = await officer.get(page);
    if (status !== 200) continue;
    const words = text.replace(/<[^>]*>/g, ' ');
    for (const name of names) if (words.includes(name)) telling.push(`${page}: ${name}`);
    if (text.includes('href="mailto:')) asking.push(page);
  }
  expect(telling).toEqual([]);
  expect(asking).toEqual(
    expect.arrayContaining([
      '/deliveries/refused',
      '/documents/schedules',
      '/evidence',
      '/settings/notifications',
      '/sources/default',
    ]),
  );
});

it('a page tells an officer which links cannot be given out and who can change that, without naming a variable', async () => {
  for (const env of [{ PUBLIC_URL: '' }, { PUBLIC_URL: 'http://privacy.acme.example' }]) {
    const { world, caseId } = await createReadyCase({
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'a@acme.example',
      ...env,
    });
    const officer = await signedInAs(world, 'officer');
    const task = { what: 'Delete the customer', due: '2099-01-01', owner: 'Anna', ownerEmail: 'anna@shop.example' };
    await makeMoves(world, caseId, [
      ['add-task', task],
      ['share-task', { task: '1' }],
    ]);
    const { text: page } = await officer.get(`/cases/${caseId}`);
    const { text: mailed } = await officer.post(`/cases/${caseId}/tasks/mail`, { task: '1' });
    const { text: handed } = await officer.post(`/cases/${caseId}/hand-overs`, { days: '30' });
    const { text: letter } = await officer.get(`/cases/${caseId}/letter?step=answer&language=fr`);
    for (const text of [page, mailed, handed, letter]) {
      const words = text.replace(/<[^>]*>/g, ' ');
      expect([...names, 'translations.'].filter((word) => words.includes(word))).toEqual([]);
      expect(words).toMatch(/\b[Aa]n admin (?:has|can)\b/);
    }
  }
});

it('a failed report names its commands to an admin, and asks an officer to tell one', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { jobs, store, clock } = world.context;
  const payload = { type: 'report', name: 'delivery-log', source: 'default', actor: 'Olga' };
  const { id } = await jobs.enqueue({ kind: 'document', key: 'report', payload });
  const error =
    'Rows differ: cases (1). Nothing was produced. Run `consent-ledger ledger rebuild --check` to list them.';
  await store.transaction(({ query }) =>
    query
      .updateTable('jobs')
      .set({ state: 'failed', error, finished_at: clock().toISOString() })
      .where('id', '=', id)
      .execute(),
  );
  const page = async (role: 'officer' | 'admin') => (await (await signedInAs(world, role)).get('/')).text;
  expect(await page('officer')).toContain('Rows differ: cases (1). Nothing was produced. Tell an admin.');
  expect(await page('admin')).toContain('Run <code>consent-ledger ledger rebuild --check</code> to list them.');
});
