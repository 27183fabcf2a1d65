import { startSandbox } from '../src/sandbox/start.ts';

/** A sandbox in its own process, with the number of rows in its argument; reports its collected heap on request. */
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
