import { cp } from 'node:fs/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyPaths } from '../../src/config/key-files.ts';
import { loadConfig } from '../../src/config.ts';
import { openStore } from '../../src/context/engines.ts';
import { chooseCase } from '../../src/erasure/choose.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { runCli } from '../cli/command-line.ts';
import { chosenOf, erased, faultsIn, noFaults } from '../erasure/world.ts';
import { createReadyCase, handOver } from '../http/hand-over-world.ts';
import { createVisitor } from '../http/office-world.ts';
import { createDatabase, engine } from '../servers/databases.ts';
import { temporaryFolder } from '../temporary.ts';

async function emptyDatabase(): Promise<string> {
  return engine === 'postgres' ? createDatabase() : `sqlite:${await temporaryFolder()}/copy.sqlite`;
}

async function handOversIn(url: string) {
  const store = await openStore(loadConfig({ DATABASE_URL: url }, '/').database);
  try {
    return await store.read.selectFrom('hand_overs').selectAll().execute();
  } finally {
    await store.close();
  }
}

test('a link is part of a copy of the installation, but not of a backup', async () => {
  const home = await temporaryFolder();
  const env = { DATABASE_URL: await emptyDatabase(), DATA_DIR: home };
  const { world, caseId } = await createReadyCase(env);
  const { handOver: made } = await handOver(world, caseId);

  const copy = await emptyDatabase();
  const copied = await runCli(home, ['store', 'copy', '--to', copy], env);
  expect([copied.code, copied.stderr]).toEqual([0, expect.any(String)]);
  expect(await handOversIn(copy)).toEqual([made]);

  const identity = await generateX25519Identity();
  const out = await temporaryFolder();
  const keyFile = join(out, 'key.txt');
  await writeFile(keyFile, `${identity}\n`);
  const recipient = await identityToRecipient(identity);
  const backup = await runCli(home, ['backup', '--out', out, '--recipient', recipient, '--json'], env);
  expect(backup.code).toBe(0);
  const { path } = JSON.parse(backup.stdout) as { path: string };
  const place = await temporaryFolder();
  await cp(keyPaths(home).folder, keyPaths(place).folder, { recursive: true });
  const restored = { DATABASE_URL: await emptyDatabase(), DATA_DIR: place };
  expect((await runCli(place, ['restore', path, '--identity', keyFile], restored)).code).toBe(0);
  expect(await handOversIn(restored.DATABASE_URL)).toEqual([]);
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
