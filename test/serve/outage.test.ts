import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, runProcess, untilThere } from '../cli/command-line.ts';
import { deliver, environment, startServing } from '../serving.ts';
import { runs, temporaryFolder } from '../temporary.ts';

test('a command that writes while the server is under load fails neither of them', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  onTestFinished(() => agent.destroy());
  let done = false;
  const answers: number[] = [];
  let number = 0;
  const senders = Array.from({ length: 16 }, async () => {
    while (!done) {
      answers.push((await deliver(server.url, JSON.stringify({ event: 'ping', number: number++ }), agent)).status);
      // Without a pause the server would take all CPU time, and prove no more.
      await sleep(10);
    }
  });
  const env = environment(folder);
  const commands = [];
  for (let i = 0; i < runs(1); i += 1) {
    commands.push(await runProcess(folder, ['ledger', 'checkpoint', '--json'], { env }));
    commands.push(await runProcess(folder, ['ledger', 'rebuild', '--json'], { env }));
  }
  done = true;
  await Promise.all(senders);
  expect(commands.map(({ code, stderr }) => (code === 0 ? 'done' : stderr))).toEqual(commands.map(() => 'done'));
  expect(answers.length).toBeGreaterThan(100);
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(await server.stop()).toBe(0);
  expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
});

test('a graceful stop answers every delivery that is in flight', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder);
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  onTestFinished(() => agent.destroy());
  let number = 0;
  let stopping = false;
  const unanswered: number[] = [];
  const senders = Array.from({ length: 32 }, async () => {
    for (;;) {
      const begunBefore = !stopping;
      const { status } = await deliver(server.url, JSON.stringify({ event: 'ping', number: number++ }), agent);
      if (status === 0 || status === 503) {
        // A refusal or failed connection after the stop is fine: nothing was acknowledged and the sender retries.
        if (status === 0 && begunBefore && !stopping) unanswered.push(number);
        return;
      }
    }
  });
  await untilThere(async () => (number >= 200 ? true : null));
  stopping = true;
  const code = await server.stop();
  await Promise.all(senders);
  expect(unanswered).toEqual([]);
  expect(code).toBe(0);
  expect(number).toBeGreaterThan(100);
  const verified = await runCli(folder, ['ledger', 'verify', '--json']);
  expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [], unsealed: 0 });
});
