import { expect, it } from 'vitest';
import { findWarnings } from '../../src/attention/operator-warnings.ts';
import { checkDescriptions, checkStoredDescriptions } from '../../src/commands/doctor/network.ts';
import type { Context } from '../../src/context/context.ts';
import { watchDescription } from '../../src/policy-snapshots/openapi-watch.ts';
import { calmSurroundings } from '../attention/surroundings.ts';
import { get, type Json } from '../sandbox/sandbox-world.ts';
import { answeringServer, sendJson } from '../service/answering-server.ts';
import { createSnapshotWorld, MINUTE } from './world.ts';

it('the description is stored when it changes, and the operator is told which parts are missing', async () => {
  const world = await createSnapshotWorld();
  const original = (await get(world.sandbox, '/openapi', world.sandbox.clients[0]!.readKey)).body;
  let served: Json = original;
  let status = 200;
  const { baseUrl, requests } = await answeringServer((_request, response) => sendJson(response, status, served));
  const source = { ...world.source, baseUrl };
  let fetches = 0;
  const watch = async () => {
    world.pass(24 * 60 * MINUTE);
    const watched = await watchDescription(world.deps, source, `fetch ${(fetches += 1)}`);
    await world.projector.catchUp();
    return watched;
  };
  const entries = () =>
    world.store.read
      .selectFrom('snapshot_history')
      .select(['seq', 'body_seq', 'unchanged', 'findings'])
      .where('target', '=', 'openapi')
      .where('source', '=', 'default')
      .orderBy('seq')
      .execute();
  const around = calmSurroundings(world.now());
  const warnings = async () =>
    (await findWarnings(world.store.read, around)).filter(({ code }) => code === 'api-changed');
  const daySeen = async (timeZone: string) => {
    const [warning] = await findWarnings(world.store.read, { ...around, timeZone });
    return Date.parse(/first seen (\d{1,2} \w{3} \d{4}):/.exec(warning?.sentence ?? '')?.[1] ?? '');
  };
  const context = {
    store: world.store,
    snapshots: world.deps,
    sources: { list: () => [source] },
  } as unknown as Context;

  expect(await watch()).toEqual({ outcome: 'stored', gone: [] });
  expect(await watch()).toEqual({ outcome: 'unchanged', gone: [] });
  expect(await entries()).toHaveLength(1);
  expect(await warnings()).toEqual([]);
  expect(requests[0]?.headers.authorization).toBe(`Bearer ${source.apiKey}`);
  expect((await checkDescriptions(context)).map(({ level }) => level)).toEqual(['ok']);

  served = structuredClone(original);
  delete served.paths['/consent/logs'];
  expect(await watch()).toEqual({ outcome: 'stored', gone: ['GET /consent/logs is gone.'] });
  expect(await watch()).toMatchObject({ outcome: 'unchanged' });
  const [warning] = await warnings();
  expect(warning?.source).toBe('default');
  // 25 hours apart, so never the same day.
  expect(await daySeen('Pacific/Kiritimati')).toBeGreaterThan(await daySeen('Pacific/Niue'));
  expect(warning?.sentence).toContain('GET /consent/logs is gone.');
  expect((await checkStoredDescriptions(context))[0]?.sentence).toContain('GET /consent/logs is gone.');
  expect((await checkDescriptions(context))[0]).toMatchObject({ level: 'note', about: 'API description' });

  // Another source with the same address that took over watching does not double the warning.
  await watchDescription(world.deps, { ...source, slug: 'other' }, 'fetch of another');
  await world.projector.catchUp();
  expect((await warnings()).map((one) => one.source)).toEqual(['other']);

  // A response that is not a description proves nothing, not even that all is well.
  served = { error: { code: 'maintenance' } };
  expect((await watch()).outcome).toBe('silent');
  expect(await warnings()).toHaveLength(1);

  // Restored: the bytes are stored already, and the warning ends.
  served = original;
  expect(await watch()).toEqual({ outcome: 'stored', gone: [] });
  const rows = await entries();
  expect(rows.map(({ unchanged }) => unchanged)).toEqual([0, 0, 1]);
  expect(rows[2]?.body_seq).toBe(rows[0]?.seq);
  expect(await warnings()).toEqual([]);

  // A missing, unreadable or refused description raises no alarm, and nothing is stored.
  status = 404;
  expect((await watch()).outcome).toBe('silent');
  status = 401;
  expect(await watch()).toMatchObject({ outcome: 'refused', transient: false });
  expect(await entries()).toHaveLength(3);
  expect((await checkDescriptions(context))[0]?.level).toBe('note');
});

it('the operator is told which texts could not be fetched', async () => {
  const world = await createSnapshotWorld({ siteKey: null });
  const url = `${world.source.siteUrl?.replace('127.0.0.1', 'localhost')}/policy/x/y`;
  await world.publish({ policy_id: 'pol_elsewhere', hosted_url: url });
  await world.trigger();
  await world.runDue();
  const around = calmSurroundings(world.now());
  const found = await findWarnings(world.store.read, around);
  expect(found.map(({ code, source }) => [code, source])).toEqual([['snapshot-failing', 'default']]);
  expect(found[0]?.sentence).toContain('is not under');
});
