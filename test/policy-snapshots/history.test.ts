import { expect, it } from 'vitest';
import { loadPolicyTextIntervals } from '../../reports/policy-texts.ts';
import { requestRoutineSnapshots } from '../../src/policy-snapshots/request.ts';
import { loadPolicyTexts } from '../../src/policy-snapshots/stored-texts.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { createSnapshotWorld, looksOf, MINUTE } from './world.ts';

it('a report over a period lists the texts that may have been in force in it, as of an entry', async () => {
  const world = await createSnapshotWorld();
  const target = `hosted:${world.policy.id}`;
  const look = async () => {
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(60 * MINUTE);
    await world.runDue();
  };
  await look();
  const firstDay = world.now();
  world.pass(48 * 60 * MINUTE);
  await world.publish();
  await look();
  const history = createHistory(world.store.read);
  const asOf = await world.projector.catchUp();
  const textsIn = async (from: Date, to: Date, upTo: number) => {
    const looks = history.textLooks({ source: 'default', asOf: upTo });
    const found = await loadPolicyTextIntervals(looks, from.toISOString(), to.toISOString());
    return found.filter((one) => one.target === target);
  };
  const day = 24 * 60 * MINUTE;
  const all = await textsIn(new Date(firstDay.getTime() - day), world.now(), asOf);
  expect(all).toHaveLength(2);
  expect(all[0]?.nextSeen).toBe(all[1]?.firstSeen);
  expect(all[1]).toMatchObject({ notBefore: all[0]?.lastSeen, settled: true });
  expect(await textsIn(new Date(firstDay.getTime() - 9 * day), new Date(firstDay.getTime() - day), asOf)).toEqual([]);
  expect(await textsIn(new Date(world.now().getTime() + day), new Date(world.now().getTime() + 2 * day), asOf)).toEqual(
    [all[1]],
  );
  const before = await textsIn(new Date(0), world.now(), (all[1]?.bodySeq ?? 0) - 1);
  expect(before).toEqual([{ ...all[0], nextSeen: null }]);
});

it('the read models are those of a rebuild', async () => {
  const world = await createSnapshotWorld();
  for (let round = 0; round < 3; round += 1) {
    await world.publish({ round });
    await world.trigger();
    await world.runDue();
    world.pass(7 * MINUTE);
    await world.runDue();
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(60 * MINUTE);
    await world.runDue();
  }
  expect((await looksOf(world.store)).length).toBeGreaterThan(15);
  for (const batchSize of [1, 3, 500])
    expect((await compareWithRebuild({ ...world.projection, batchSize })).differences).toEqual([]);
  // Both ways to the versions agree: the state table, and the fold of the history.
  const rows = await world.store.read
    .selectFrom('policy_texts')
    .selectAll()
    .where('target', '=', `hosted:${world.policy.id}`)
    .orderBy('version')
    .execute();
  const [texts] = await loadPolicyTexts(world.store.read, { source: 'default', policyId: world.policy.id });
  expect(rows.map((row) => [row.text_sha256, row.first_seen, row.last_seen, row.not_before])).toEqual(
    texts?.versions.map((one) => [one.textSha256, one.firstSeen, one.lastSeen, one.notBefore]),
  );
  expect(rows.length).toBeGreaterThanOrEqual(3);
  const asOf = rows[1]?.first_seq ?? 0;
  const [then] = await loadPolicyTexts(world.store.read, { source: 'default', policyId: world.policy.id, asOf });
  expect(then?.versions).toHaveLength(2);
});
