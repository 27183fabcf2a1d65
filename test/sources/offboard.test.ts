import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { offboardSource } from '../../src/context/offboard.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { createLog } from '../../src/log/log.ts';
import { deliverTo, runHere, untilThere } from '../cli/command-line.ts';
import { environment, serveHere } from '../serving.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';

const SECRET = 'nobody-may-read-this-secret';

test('an offboarded source answers 404 and loses its secrets, keeps its evidence and reports, and continues if it returns', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', GIVEN: SECRET };
  const run = async (...args: string[]) => {
    const ran = await runHere(folder, [...args, '--json'], env);
    expect(ran.stdout + ran.stderr).not.toContain(SECRET);
    return { ...ran, json: JSON.parse(ran.stdout || 'null') as never };
  };
  await run('source', 'add', 'shop', '--webhook-secret-env', 'GIVEN', '--field-name', 'subject=who');
  const server = await serveHere(folder, env);
  const send = (body: object) => deliverTo(`${server.url}/webhooks/shop`, SECRET, JSON.stringify(body));
  const decision = { event: 'consent.recorded', consent_id: 'c1', who: 'v1', status: 'accept_all', banner_id: 'b' };
  expect((await send(decision)).status).toBe(200);
  expect((await send({ event: 'dsar.submitted', request_id: 'r1', request_type: 'access', name: 'Ada' })).status).toBe(
    200,
  );
  await deliverTo(`${server.url}/webhooks/shop`, 'a-wrong-secret', '{}');

  const refused = await run('source', 'offboard', 'shop');
  expect([refused.code, refused.json]).toMatchObject([1, { outcome: 'open-cases', cases: [expect.any(String)] }]);
  expect((await runHere(folder, ['source', 'offboard', 'shop', '--force'], env)).code).toBe(2);
  const left = await run('source', 'offboard', 'shop', '--force', '--reason', 'answered by the client itself');
  expect([left.code, left.json]).toMatchObject([
    0,
    { outcome: 'done', remains: { entries: 2, cases: 1, documents: 0, openCases: [expect.any(String)] } },
  ]);
  await untilThere(async () => ((await send({ event: 'x' })).status === 404 ? true : null));
  expect((await run('source', 'list')).json).toMatchObject({ sources: [] });
  expect((await run('source', 'list', '--all')).json).toMatchObject({ offboarded: [{ slug: 'shop' }] });
  expect((await run('source', 'offboard', 'shop')).json).toMatchObject({ outcome: 'left' });
  expect((await run('dsar', 'list')).json).toHaveLength(1);

  const report = await run(
    ...['report', 'consent-audit', '--source', 'shop', '--from', '2020-01-01', '--to', '2100-01-01'],
    ...['--format', 'csv', '--out', 'audit.csv'],
  );
  expect(report.code).toBe(0);
  expect((await run('ledger', 'rebuild')).json).toMatchObject({ differences: [] });
  await server.stop();
  const store = await openStoreIn(folder);
  const row = await store.read.selectFrom('sources').select('sealed').executeTakeFirstOrThrow();
  await store.close();
  expect(row.sealed.length).toBeLessThan(150);

  await run('source', 'add', 'shop', '--webhook-secret-env', 'GIVEN');
  const again = await serveHere(folder, env);
  const answer = await deliverTo(
    `${again.url}/webhooks/shop`,
    SECRET,
    JSON.stringify({ ...decision, consent_id: 'c2' }),
  );
  expect(answer.status).toBe(200);
  await again.stop();
  await run('ledger', 'rebuild');
  const after = await openStoreIn(folder);
  // Its own field names were kept, and its numbers have no gap.
  expect(await after.read.selectFrom('decision_history').select('subject').orderBy('seq').execute()).toEqual([
    { subject: 'v1' },
    { subject: 'v1' },
  ]);
  const entries = after.read.selectFrom('entries').select('source_seq').where('source', '=', 'shop').orderBy('seq');
  const numbers = (await entries.execute()).map((entry) => entry.source_seq);
  expect(numbers).toEqual(numbers.map((_, place) => place + 1));
  await after.close();
});

test('an offboarding that ended before the database was rewritten is finished by the next run', async () => {
  const folder = await temporaryFolder();
  await runHere(folder, ['source', 'add', 'shop', '--webhook-secret-env', 'GIVEN'], {
    DATA_DIR: folder,
    GIVEN: SECRET,
  });
  const context = await openContext(loadConfig(environment(folder), folder), createLog('silent'));
  try {
    const compact = vi
      .spyOn(context.store, 'compact')
      .mockRejectedValueOnce(new StoreUnavailable('a transaction is open'));
    const request = { slug: 'shop', actor: 'Olga' };
    await expect(offboardSource(context, request)).rejects.toThrow('a transaction is open');
    expect(await offboardSource(context, request)).toMatchObject({ outcome: 'left', remains: { entries: 0 } });
    expect(compact).toHaveBeenCalledTimes(2);
  } finally {
    await context.close();
  }
});
