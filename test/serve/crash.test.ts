import { randomInt } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { deliver, type Serving, startServing } from '../serving.ts';
import { openStoreIn, PATIENTLY, runs, temporaryFolder } from '../temporary.ts';

const ROUNDS = runs(2);
const SENDERS = 16;

test('a server killed under load again and again has every acknowledged delivery exactly once, under the seq in its answer', async () => {
  const folder = await temporaryFolder();
  const told = new Map<string, number>();
  let number = 0;
  let repeats = 0;

  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startServing(folder);
    const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
    const before = told.size;
    let dead = false;
    const senders = Array.from({ length: SENDERS }, async () => {
      while (!dead) {
        // Now and then repeats an earlier body, like a sender that got no response.
        const again = randomInt(4) === 0 && number > 0;
        const body = bodyOf(again ? randomInt(number) : number++);
        const { status, body: answer } = await deliver(server.url, body, agent);
        if (status !== 200) continue;
        if (answer.status === 'duplicate') repeats += 1;
        expect(told.get(body) ?? answer.seq).toBe(answer.seq);
        told.set(body, answer.seq as number);
      }
    });
    await untilMoreThan(() => told.size, before + 20, server);
    await sleep(randomInt(20, 400));
    await server.kill();
    dead = true;
    await Promise.all(senders);
    agent.destroy();
  }

  expect(told.size).toBeGreaterThan(ROUNDS * 20);
  expect(repeats).toBeGreaterThan(0);
  const verified = await runCli(folder, ['ledger', 'verify', '--json']);
  expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [] });
  expect(verified.code).toBe(0);

  const store = await openStoreIn(folder);
  const rows = await store.read
    .selectFrom('entries')
    .select(['seq', 'body'])
    .where('kind', '=', 'webhook')
    .orderBy('seq')
    .execute();
  await store.close();
  const kept = new Map(rows.map((row) => [String(row.body), row.seq]));
  expect(kept.size).toBe(rows.length); // each body once
  for (const [body, seq] of told) expect(kept.get(body)).toBe(seq);

  const rebuilt = await runCli(folder, ['ledger', 'rebuild', '--json']);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ differences: [] });
});

function bodyOf(number: number): string {
  return JSON.stringify({
    event: 'consent.recorded',
    id: `record-${number}`,
    banner_id: 'banner',
    visitor_hash: `visitor-${number % 50}`,
    choices: { necessary: true, analytics: number % 2 === 0 },
    timestamp: new Date(Date.UTC(2026, 6, 1) + number * 1000).toISOString(),
  });
}

async function untilMoreThan(count: () => number, before: number, server: Serving): Promise<void> {
  for (let waited = 0; count() <= before; waited += 10) {
    if (waited > PATIENTLY.timeout) throw new Error(`nothing was acknowledged:\n${server.errors()}`);
    await sleep(10);
  }
}
