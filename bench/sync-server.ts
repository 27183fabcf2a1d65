import { startSandbox } from '../src/sandbox/start.ts';

/** A sandbox in a process of its own: so many rows, each page so many milliseconds late. */
const [rows, latency] = process.argv.slice(2).map(Number) as [number, number];
const end = new Date('2026-07-20T12:00:00.000Z');
const { sandbox, baseUrl } = await startSandbox({
  seed: 7,
  clock: () => end,
  clients: 1,
  consentRows: rows,
  endsAt: end,
  faults: latency > 0 ? [{ name: 'latency', on: 'consent-logs', ms: latency }] : [],
});
process.send?.({ baseUrl, apiKey: sandbox.clients[0]?.apiKey });
