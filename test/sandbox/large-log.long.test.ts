import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pageThrough } from '../../bench/sandbox-pages.ts';

const ROWS = 100_000;

it('the sandbox serves 100,000 rows page by page to the end, with a heap that does not grow with them', async () => {
  const server = fork(fileURLToPath(new URL('../../bench/sandbox-server.ts', import.meta.url)), [String(ROWS)], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve) => server.once('message', (message) => resolve(message as T)));
  try {
    const { baseUrl, apiKey } = await next<{ baseUrl: string; apiKey: string }>();
    const heaps: number[] = [];
    const seen = await pageThrough(baseUrl, apiKey, async (count) => {
      if (count % 20_000 !== 0) return;
      const answer = next<number>();
      server.send('heap');
      heaps.push(await answer);
    });
    expect(seen).toBe(ROWS);
    expect(heaps).toHaveLength(5);
    // In memory, 80,000 rows would take more than 30 MB.
    expect(heaps.at(-1)! - heaps[0]!).toBeLessThan(4_000_000);
  } finally {
    server.kill();
  }
});
