import { startSandbox } from '../src/sandbox/start.ts';

/** A sandbox in its own process with this many rows, and this many milliseconds of delay per page. */
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
