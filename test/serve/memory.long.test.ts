import { Agent } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { deliver, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

test('64 deliveries of 1 MiB at once are stored within bounded memory', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder, { DATABASE_URL: '' });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  onTestFinished(() => agent.destroy());
  const start = server.peakMemory();
  let growth = 0;
  for (let round = 0; round < 8; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, i) => deliver(server.url, Buffer.alloc((1 << 20) - 64, `${round}-${i}-`), agent)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    growth = server.peakMemory() - start;
  }
  // 64 MiB of bodies, their copies on the way to the disk and the batch; never a multiple of everything sent (512 MiB).
  expect(growth).toBeLessThan(400);
  expect(await server.stop()).toBe(0);
});
