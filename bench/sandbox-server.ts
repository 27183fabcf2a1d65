import { startSandbox } from '../src/sandbox/start.ts';

/** A sandbox in a process of its own, with so many rows as its argument says; tells its collected heap when asked. */
const end = new Date('2026-07-20T12:00:00.000Z');
const { sandbox, baseUrl } = await startSandbox({
  seed: 7,
  clock: () => end,
  clients: 1,
  consentRows: Number(process.argv[2]),
  endsAt: end,
});
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().heapUsed);
});
process.send?.({ baseUrl, apiKey: sandbox.clients[0]?.apiKey });
