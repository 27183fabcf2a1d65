import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import type { Action } from '../../src/core/action.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { createLog } from '../../src/log/log.ts';
import { runCli } from '../cli/command-line.ts';
import { tokenOf } from '../http/api-caller.ts';
import { createOfficeWorld, signedInAs } from '../http/office-world.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const TWO_YEARS = `rows:
  - regime: eu-gdpr
    kinds: all
    period: { amount: 24, unit: months }
    rollOver: next-working-day
    identity: on-recorded-doubt
    citation: GDPR Art. 12(3)
`;

/** An installation that can be opened several times at once, as by several processes. */
async function createPlace() {
  const folder = await temporaryFolder();
  const file = join(folder, 'regimes.yaml');
  return {
    write: (text: string) => writeFile(file, text),
    async open(hasFile = true): Promise<Context> {
      const env = environment(folder, { SYNC_SCHEDULE: 'off', ...(hasFile ? { REGIMES_FILE: file } : {}) });
      const context = await openContext(loadConfig(env, folder), createLog('fatal'));
      onTestFinished(() => context.close());
      return context;
    },
  };
}

/** What the ledger says about rules, oldest first. */
async function recorded({
  store,
}: Context): Promise<(Extract<Action, { action: 'regimes.changed' }> & { seq: number })[]> {
  const rows = await store.read.selectFrom('entries').select(['seq', 'body']).orderBy('seq').execute();
  return rows.flatMap(({ seq, body }) => {
    const action = JSON.parse(body?.toString('utf8') ?? '{}') as Action;
    return action.action === 'regimes.changed' ? { ...action, seq } : [];
  });
}

test('rules of the installation are recorded when they are first used, change, or are removed, once for all processes', async () => {
  const { write, open } = await createPlace();
  const first = await open(false);
  await first.recordRegimes();
  expect(await recorded(first)).toEqual([]);

  await write(TWO_YEARS);
  const contexts = await Promise.all([open(), open(), open()]);
  await Promise.all(contexts.map((context) => context.recordRegimes()));
  await contexts[0]?.recordRegimes();
  const [entry, ...more] = await recorded(first);
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), actor: 'consent-ledger' });
  expect(entry?.regimes).toEqual([
    {
      id: 'eu-gdpr',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      differs: expect.arrayContaining(['all: period 24 months', 'all: citation GDPR Art. 12(3)']),
      since: null,
    },
  ]);

  // Also once its entry has been folded.
  await first.projector.catchUp();
  await (await open()).recordRegimes();
  expect(await recorded(first)).toHaveLength(1);

  // Another regime is added: the first one has been the same since its entry.
  await write(`confirm: [ca-qc]\n${TWO_YEARS}`);
  await (await open()).recordRegimes();
  const [, second] = await recorded(first);
  expect(second?.regimes).toMatchObject([
    { id: 'ca-qc', differs: ['unconfirmed rules taken as confirmed'], since: null },
    { id: 'eu-gdpr', since: { seq: entry?.seq } },
  ]);

  await (await open(false)).recordRegimes();
  expect((await recorded(first))[2]).toMatchObject({ sha256: null, regimes: [] });
  // What was in force before is an entry of its own when it comes back.
  await write(TWO_YEARS);
  await (await open()).recordRegimes();
  expect(await recorded(first)).toHaveLength(4);
  expect((await recorded(first))[3]?.regimes).toMatchObject([{ id: 'eu-gdpr', since: null }]);
  expect((await first.verify()).faults).toEqual([]);
});

test('a rule that is the same as the built-in one is not a rule of the installation', async () => {
  const { write, open } = await createPlace();
  await write(`rows:
  - regime: eu-gdpr
    kinds: [withdraw-consent]
    period: at-once
    identity: on-recorded-doubt
    refusable: false
    citation: GDPR Art. 7(3)
    readOn: 2026-11-22
`);
  const context = await open();
  await context.recordRegimes();
  expect((await recorded(context)).map(({ regimes }) => regimes)).toEqual([[]]);
  expect(context.cases.regimes.rows[0]).toMatchObject({ citation: 'GDPR Art. 7(3)' });
});

test('the register, the page of a request, its command and the calculator say that a changed rule is the installation’s own', async () => {
  const file = join(await temporaryFolder(), 'regimes.yaml');
  await writeFile(file, TWO_YEARS);
  const world = await createOfficeWorld({ REGIMES_FILE: file }, { worker: false });
  const { context, folder } = world;
  const [entry] = await recorded(context);
  const seq = await world.event('dsar.submitted', {
    request_id: 'r-1',
    type: 'access',
    jurisdiction: 'DE',
    submitted_at: '2026-07-01T14:02:00Z',
  });
  const own = `own rule of this installation, not of the statute (since ${new Date().toISOString().slice(0, 10)}, entry ${entry?.seq}); it refers to “GDPR Art. 12(3)”`;

  for (const format of ['csv', 'json'] as const) {
    const wanted = { name: 'dsar-register', source: 'default', from: '2026-01-01', to: '2027-01-01', format };
    const made = await produceReport(context.documents, { ...wanted, actor: 'Olga' });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    const text = await readFile(made.path, 'utf8');
    expect(text).toContain('2028-07-03');
    expect(text).toContain(own);
    expect(text.replaceAll(own, '')).not.toContain('Art. 12(3)');
  }
  const officer = await signedInAs(world, 'officer');
  const page = (await officer.get(`/cases/default-${seq}`)).text;
  expect(page).toContain(own);
  expect(page).toContain('own rule of this installation</span>');
  // Wherever the date stands without the rule: the top line, the lists, their file, Today.
  const mark = '>own rule of this installation</span>';
  expect(/<p class="lead">.*?<\/p>/s.exec(page)?.[0]).toContain(mark);
  for (const path of ['/', '/cases'])
    expect([path, (await officer.get(path)).text.includes(mark)]).toEqual([path, true]);
  expect((await officer.get('/cases/file')).text).toContain('(own rule of this installation)');
  expect((await tokenOf(world, 'officer').then((caller) => caller.get('/api/v1/cases'))).json.items).toMatchObject([
    { legalLimit: '2028-07-03', ownRule: true },
  ]);
  const calculator = '/deadline?kind=access&received=2026-07-01&place=DE&country=DE';
  expect((await officer.get(calculator)).text).toContain(own);

  await context.projector.catchUp();
  const env = { REGIMES_FILE: file };
  expect((await runCli(folder, ['dsar', 'show', `default-${seq}`], env)).stdout).toContain(own);
  expect((await runCli(folder, ['dsar', 'list'], env)).stdout).toContain('2028-07-03 (own rule)');
  expect(JSON.parse((await runCli(folder, ['dsar', 'list', '--json'], env)).stdout)).toMatchObject([{ ownRule: true }]);
  const computed = await runCli(
    folder,
    ['dsar', 'deadline', '--kind', 'access', '--received', '2026-07-01', '--place', 'DE', '--controller-country', 'DE'],
    env,
  );
  expect(computed.stdout).toContain('own rule of this installation, not of the statute (not recorded in a ledger)');
});

test('a document made by a command with other rules than the server’s records them first', async () => {
  const { write, open } = await createPlace();
  await write(TWO_YEARS);
  const context = await open();
  const wanted = { name: 'dsar-register', source: 'default', from: '2026-01-01', to: '2027-01-01' };
  const made = await produceReport(context.documents, { ...wanted, format: 'csv', actor: 'Olga' });
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  const [entry] = await recorded(context);
  expect(made.asOf).toBeGreaterThanOrEqual(entry?.seq ?? Infinity);
});
