import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceClient } from '../../src/service/client.ts';
import { createReadPace, createReadPaces, remainingFromHeaders } from '../../src/service/rate-limit.ts';
import { ON_LOOPBACK } from './answering-server.ts';

const query = { bannerId: null, from: null, to: null, cursor: null };

describe('the rest of a rate limit', () => {
  it.each([
    [
      { ratelimit: '"reads";r=0;t=7', 'ratelimit-policy': '"reads";q=10;w=60' },
      { remaining: 0, resetMs: 7000 },
    ],
    [{ ratelimit: 'limit=10, remaining=3, reset=4' }, { remaining: 3, resetMs: 4000 }],
    [{ 'ratelimit-remaining': '2' }, { remaining: 2, resetMs: null }],
    [{ 'x-ratelimit-remaining': '0' }, { remaining: 0, resetMs: null }],
    [{ 'x-rate-limit-remaining': '1' }, { remaining: 1, resetMs: null }],
    [{ ratelimit: 'many', 'x-ratelimit-remaining': 'some' }, null],
    [{}, null],
  ])('is read from %o', (headers, expected) => {
    expect(remainingFromHeaders(new Headers(headers as Record<string, string>))).toEqual(expected);
  });

  it('holds the next read back until the window is over, for two minutes at most', async () => {
    let now = 1_000_000;
    const pace = createReadPace(() => now);
    pace.answered(new Headers({ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '60' }));
    await pace.beforeRead();
    pace.answered(new Headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }));
    const controller = new AbortController();
    const waiting = pace.beforeRead(controller.signal);
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    now += 1001;
    await pace.beforeRead();
    pace.refused(10_000_000);
    now += 120_001;
    await pace.beforeRead();
  });

  it('is shared by all clients of a key: none sends a read while one of them must wait', async () => {
    const asked: number[] = [];
    const server = createServer((_request, response) => {
      asked.push(performance.now());
      const left = asked.length === 1 ? '0' : '9';
      response.writeHead(200, { ratelimit: `"reads";r=${left};t=1` });
      response.end('{"data":[],"next_cursor":null}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
    const paceOf = createReadPaces();
    const client = (apiKey: string) =>
      createServiceClient({ destinations: ON_LOOPBACK, baseUrl, apiKey, pace: paceOf(baseUrl, apiKey) });
    await client('a').fetchConsentLogPage(query);
    await Promise.all([client('a').fetchConsentLogPage(query), client('b').fetchConsentLogPage(query)]);
    const [first = 0, second = 0, third = 0] = asked;
    expect(second - first).toBeLessThan(900);
    expect(third - first).toBeGreaterThan(900);
  });
});
