import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A service in its own process with a log for every key, answering as fast as possible. The logs are empty, unless the
 * path says otherwise: `/known-50/new-2/wait-100/api/v1` gives the same 50 rows each time a key asks, and two others,
 * after 100 ms.
 */
const server = createServer((request, response) => {
  const number = (name: string) => Number(new RegExp(`/${name}-(\\d+)/`).exec(request.url ?? '')?.[1] ?? 0);
  const rows = knownRows(request.headers.authorization ?? '', number('known'));
  const others = Array.from({ length: number('new') }, (_, n) => JSON.stringify(row(randomUUID(), n)));
  const body = `{"data":[${[...rows, ...others].join(',')}],"next_cursor":null}`;
  response.setHeader('content-type', 'application/json');
  if (number('wait') === 0) response.end(body);
  else void delay(number('wait')).then(() => response.end(body));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

const started = Date.now();
const known = new Map<string, readonly string[]>();

/** Equal rows of all keys would have equal deduplication keys, so that each look-up would meet those of every source. */
function knownRows(key: string, count: number): readonly string[] {
  const name = `${count} ${key}`;
  const rows = known.get(name) ?? Array.from({ length: count }, (_, n) => JSON.stringify(row(`${key} ${n}`, n)));
  known.set(name, rows);
  return rows;
}

function row(name: string, place: number) {
  const id = createHash('sha256').update(name).digest('hex');
  return {
    id: `clog_${id.slice(0, 12)}`,
    banner_id: 'bnr_main',
    visitor_hash: id,
    choices: { necessary: true, preferences: false, analytics: true, marketing: false },
    region: 'DE',
    policy_version: '7',
    timestamp: new Date(started - place * 60_000).toISOString(),
  };
}
