import { describe, expect, it } from 'vitest';
import { dialectNames } from '../../src/sandbox/dialects.ts';
import { allRows, get, type Json, NOON, withSandbox } from './sandbox-world.ts';

describe('GET /consent/logs', () => {
  it('refuses a missing, unknown, malformed or revoked key with 401 in the error envelope', async () => {
    await withSandbox({}, async (sandbox) => {
      const [client] = sandbox.clients;
      for (const key of [null, 'pak_live_unknown', '', client!.revokedKey]) {
        const answer = await get(sandbox, '/consent/logs', key);
        expect(answer.status).toBe(401);
        expect(answer.body).toEqual({ error: { code: 'unauthorized', message: expect.any(String) } });
      }
    });
  });

  it('accepts the named key, the read-only key and the legacy site key', async () => {
    await withSandbox({}, async (sandbox) => {
      const [client] = sandbox.clients;
      for (const key of [client!.apiKey, client!.readKey, client!.siteKey]) {
        expect((await get(sandbox, '/consent/logs', key)).status).toBe(200);
      }
    });
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=ten',
    'limit=-1',
    'from=yesterday',
    'to=2026-13-01',
    'cursor=abc',
    'from=2026-07-02&to=2026-07-01T00:00:00Z',
  ])('answers %s with 400', async (query) => {
    await withSandbox({}, async (sandbox) => {
      const answer = await get(sandbox, `/consent/logs?${query}`, sandbox.clients[0]!.apiKey);
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe('invalid_request');
    });
  });

  it('answers a request for another client’s banner with 404', async () => {
    await withSandbox({}, async (sandbox) => {
      const foreign = sandbox.clients[1]!.banners[0]!.id;
      expect((await get(sandbox, `/consent/logs?banner_id=${foreign}`, sandbox.clients[0]!.apiKey)).status).toBe(404);
    });
  });

  it.each(dialectNames)(
    'pages through every row exactly once in the dialect %s, whatever the page size',
    async (dialect) => {
      await withSandbox({ dialect, consentRows: 333 }, async (sandbox) => {
        const key = sandbox.clients[0]!.apiKey;
        const large = await allRows(sandbox, key, 'limit=200');
        const small = await allRows(sandbox, key, 'limit=37');
        expect(large).toHaveLength(333);
        expect(small).toEqual(large);
        expect(new Set(large.map((row) => JSON.stringify(row))).size).toBe(333);
      });
    },
  );

  it('splits the rows between the banners', async () => {
    await withSandbox({ consentRows: 300 }, async (sandbox) => {
      const client = sandbox.clients[0]!;
      const parts = await Promise.all(
        client.banners.map(({ id }) => allRows(sandbox, client.apiKey, `limit=50&banner_id=${id}`)),
      );
      expect(parts.every((rows) => rows.length > 30)).toBe(true);
      expect(parts.flat()).toHaveLength(300);
      parts.forEach((rows, index) =>
        expect(rows.every((row) => row.banner_id === client.banners[index]!.id)).toBe(true),
      );
    });
  });

  it('filters by from (inclusive) and to (exclusive, or the whole day if it is a date)', async () => {
    await withSandbox({ consentRows: 600 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const rows = await allRows(sandbox, key);
      const cut = rows[300].created_at as string;
      const [before, after] = await Promise.all([
        allRows(sandbox, key, `limit=200&to=${cut}`),
        allRows(sandbox, key, `limit=200&from=${cut}`),
      ]);
      expect([...before, ...after]).toEqual(rows);
      expect(after[0]).toEqual(rows[300]);
      const day = await allRows(sandbox, key, 'limit=200&from=2026-07-10&to=2026-07-10');
      expect(day.length).toBeGreaterThan(5);
      expect(day).toEqual(rows.filter((row) => row.created_at.startsWith('2026-07-10')));
    });
  });

  it('refuses a cursor with another query', async () => {
    await withSandbox({}, async (sandbox) => {
      const [one, two] = sandbox.clients;
      const { body } = await get(sandbox, '/consent/logs?limit=10', one!.apiKey);
      const cursor = encodeURIComponent(body.next_cursor);
      expect((await get(sandbox, `/consent/logs?limit=99&cursor=${cursor}`, one!.apiKey)).status).toBe(200);
      expect((await get(sandbox, `/consent/logs?limit=10&from=2026-07-01&cursor=${cursor}`, one!.apiKey)).status).toBe(
        400,
      );
      expect((await get(sandbox, `/consent/logs?limit=10&cursor=${cursor}`, two!.apiKey)).status).toBe(400);
    });
  });

  it('is the same for the same seed and different for another seed', async () => {
    const read = (seed: number) =>
      withSandbox({ seed, consentRows: 40 }, (sandbox) => allRows(sandbox, sandbox.clients[0]!.apiKey));
    const [first, again, other] = [await read(1), await read(1), await read(2)];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('shows no row from the future and sends its own date', async () => {
    let now = new Date(NOON.getTime() - 15 * 86_400_000);
    await withSandbox(
      { clock: () => now, startedAt: new Date(NOON.getTime() - 30 * 86_400_000), endsAt: NOON, consentRows: 500 },
      async (sandbox) => {
        const key = sandbox.clients[0]!.apiKey;
        const early = await allRows(sandbox, key);
        expect(early.length).toBeGreaterThan(200);
        expect(early.length).toBeLessThan(300);
        expect((await get(sandbox, '/consent/logs', key)).headers.get('date')).toBe(now.toUTCString());
        now = NOON;
        expect(await allRows(sandbox, key)).toHaveLength(500);
      },
    );
  });

  it.each(['plain', 'nested'] as const)(
    'keeps the newest of the decisions made while it runs, and pages past those it dropped (%s)',
    async (dialect) => {
      await withSandbox({ clients: 1, consentRows: 30, dialect, keepRecorded: 100 }, async (sandbox) => {
        const [{ client, log, decisions } = expect.fail('no client')] = sandbox.worlds;
        const record = (number: number): void =>
          log.record({ ...decisions.at(0), recordId: `live_${number}`, at: NOON });
        for (let n = 0; n < 100; n += 1) record(n);
        const { body } = await get(sandbox, '/consent/logs?limit=40', client.apiKey);
        for (let n = 100; n < 1_000; n += 1) record(n);
        expect(log.recorded().length).toBeLessThanOrEqual(100);
        expect(log.count(NOON.getTime())).toBe(30 + log.recorded().length);
        const idOf = (row: Json): string => row.id ?? row.consent.recordId;
        const ids = (await allRows(sandbox, client.apiKey, 'limit=7')).map(idOf);
        expect(ids).toHaveLength(30 + log.recorded().length);
        expect(new Set(ids).size).toBe(ids.length);
        const live = ids.filter((id) => id.startsWith('live_'));
        const newest = Array.from({ length: live.length }, (_, n) => `live_${1_000 - live.length + n}`);
        expect(dialect === 'nested' ? live.reverse() : live).toEqual(newest);
        // A cursor from before continues after the dropped rows.
        const next = await get(sandbox, `/consent/logs?limit=40&cursor=${body.next_cursor}`, client.apiKey);
        const seen = new Set((body.data as Json[]).map(idOf));
        expect((next.body.data as Json[]).map(idOf).filter((id) => seen.has(id))).toEqual([]);
      });
    },
  );

  it('reaches the end of a hundred million rows at once', async () => {
    await withSandbox({ consentRows: 100_000_000, clients: 1 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const before = process.memoryUsage().heapUsed;
      const tail = await allRows(sandbox, key, `limit=200&from=${new Date(NOON.getTime() - 1000).toISOString()}`);
      expect(tail.length).toBeGreaterThan(5);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
    });
  });

  it('shows visitors who come back, change their mind and withdraw, only as hashes', async () => {
    await withSandbox({ consentRows: 600 }, async (sandbox) => {
      const rows = await allRows(sandbox, sandbox.clients[0]!.apiKey);
      const bySubject = new Map<string, Json[]>();
      for (const row of rows) bySubject.set(row.visitor_hash, [...(bySubject.get(row.visitor_hash) ?? []), row]);
      const returning = [...bySubject.values()].filter((list) => list.length > 1);
      expect(returning.length).toBeGreaterThan(40);
      const actions = new Set(rows.map((row) => row.action));
      expect(actions).toEqual(new Set(['accept_all', 'reject_all', 'custom', 'withdraw']));
      // No visitor withdraws a consent that was never given (contradicting rows aside).
      const firstWithdrawals = [...bySubject.values()].filter(([first]) => first.action === 'withdraw');
      expect(firstWithdrawals).toEqual([]);
      expect(rows.every((row) => /^[0-9a-f]{64}$/.test(row.visitor_hash))).toBe(true);
      expect(JSON.stringify(rows)).not.toContain('@');
      expect(new Set(rows.map((row) => row.region)).size).toBeGreaterThan(6);
    });
  });
});
