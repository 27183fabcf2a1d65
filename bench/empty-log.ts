import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A service in its own process with the same log for every key, answering as fast as possible. The logs are empty,
 * unless the path says otherwise: `/known-50/new-2/wait-100/api/v1` gives the same 50 rows each time and two others,
 * after 100 ms.
 */
const server = createServer((request, response) => {
  const number = (name: string) => Number(new RegExp(`/${name}-(\\d+)/`).exec(request.url ?? '')?.[1] ?? 0);
  const ids = Array.from({ length: number('known') }, (_, n) => `known-${n}`);
  for (let n = number('new'); n > 0; n -= 1) ids.push(randomUUID());
  const body = JSON.stringify({ data: ids.map(row), next_cursor: null });
  response.setHeader('content-type', 'application/json');
  if (number('wait') === 0) response.end(body);
  else void delay(number('wait')).then(() => response.end(body));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

const started = Date.now();

function row(id: string, place: number) {
  return {
    id,
    banner_id: 'bnr_main',
    visitor_hash: id.padStart(64, '0'),
    choices: { necessary: true, preferences: false, analytics: true, marketing: false },
    region: 'DE',
    policy_version: '7',
    timestamp: new Date(started - place * 60_000).toISOString(),
  };
}
