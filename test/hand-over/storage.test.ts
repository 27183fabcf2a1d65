import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openStore } from '../../src/context/engines.ts';
import { chooseCase } from '../../src/erasure/choose.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { backUp, cli, emptyPlace, keyPair } from '../commands/backup-world.ts';
import { chosenOf, erased, faultsIn, noFaults } from '../erasure/world.ts';
import { createReadyCase, handOver } from '../http/hand-over-world.ts';
import { createVisitor } from '../http/office-world.ts';

async function handOversIn(url: string) {
  const store = await openStore(loadConfig({ DATABASE_URL: url }, '/').database);
  try {
    return await store.read.selectFrom('hand_overs').selectAll().execute();
  } finally {
    await store.close();
  }
}

test('a link is part of a copy of the installation, but not of a backup', async () => {
  const home = await emptyPlace();
  const { world, caseId } = await createReadyCase(home.env);
  const { handOver: made } = await handOver(world, caseId);

  const { DATABASE_URL: copy = '' } = (await emptyPlace()).env;
  const copied = await cli(home, 'store', 'copy', '--to', copy);
  expect([copied.code, copied.stderr]).toEqual([0, expect.any(String)]);
  expect(await handOversIn(copy)).toEqual([made]);

  const { recipient, file } = await keyPair();
  const { path } = await backUp(home, recipient);
  const place = await emptyPlace(home.folder);
  expect((await cli(place, 'restore', path, '--identity', file)).code).toBe(0);
  expect(await handOversIn(place.env['DATABASE_URL'] ?? '')).toEqual([]);
});

test('an erasure of the case removes the link with the pack, and keeps its entries', async () => {
  const { world, caseId } = await createReadyCase();
  const { context } = world;
  const { token } = await handOver(world, caseId);
  const chosen = chosenOf(await chooseCase(context.erasure, caseId));
  const plan = await planErasure(context.erasure, chosen);
  await erased(context, plan, { despite: plan.needs.map(({ name }) => name) });
  expect(await context.store.read.selectFrom('hand_overs').selectAll().execute()).toEqual([]);
  expect((await createVisitor(world.url).get(`/h/${token}`)).status).toBe(404);
  expect(await world.actions('hand-over.created')).toHaveLength(1);
  expect(await faultsIn(context)).toEqual(noFaults);
});
