import { describe, expect, it } from 'vitest';
import type { Happening } from '../../src/sandbox/happenings.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { allRows, get, type Json, NOON, withEndpoint, withSandbox } from './sandbox-world.ts';

/** Plays `minutes` of the sandbox's clock at once. */
async function playMinutes(
  minutes: number,
  perMinute: number,
  use: (sandbox: Sandbox, happened: Happening[]) => Promise<void>,
) {
  let now = NOON.getTime();
  await withSandbox({ clock: () => new Date(now) }, async (sandbox) => {
    const stop = new AbortController();
    const happened: Happening[] = [];
    const count = await sandbox.playLive({
      perMinute,
      signal: stop.signal,
      wait: async (ms) => {
        now += ms;
        if (now >= NOON.getTime() + minutes * 60_000) stop.abort();
      },
      onHappening: (_world, happening) => happened.push(happening),
    });
    expect(count).toBe(happened.length);
    await use(sandbox, happened);
  });
}

describe('live traffic', () => {
  it('keeps its rate on average, in a plausible mix, the same for a seed', async () => {
    const told: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      await playMinutes(60, 60, async (sandbox, happened) => {
        expect(happened.length).toBeGreaterThan(3_000);
        expect(happened.length).toBeLessThan(4_200);
        const share = (event: string): number => happened.filter((one) => one.event === event).length / happened.length;
        expect(share('consent.recorded')).toBeGreaterThan(0.9);
        for (const event of ['dsar.submitted', 'cookie_scan.completed', 'policy.updated', 'policy.published'])
          expect(share(event)).toBeGreaterThan(0);
        // Only the port, which is any free one, may differ.
        told.push(JSON.stringify(happened).replaceAll(sandbox.siteUrl(), 'http://sandbox.invalid'));
      });
    }
    expect(told[0] === told[1], 'both runs tell the same').toBe(true);
  });

  it('has visitors who come back and change their mind', async () => {
    await playMinutes(30, 60, async (_sandbox, happened) => {
      const decisions = happened.flatMap((one) => (one.event === 'consent.recorded' ? [one] : []));
      expect(new Set(decisions.map(({ recordId }) => recordId)).size).toBe(decisions.length);
      const visitors = new Set(decisions.map(({ visitorHash }) => visitorHash)).size;
      expect(visitors).toBeLessThan(decisions.length * 0.95);
      expect(visitors).toBeGreaterThan(decisions.length * 0.6);
      expect(new Set(decisions.map(({ choice }) => choice))).toEqual(
        new Set(['accept', 'reject', 'choose', 'withdraw']),
      );
      expect(new Set(decisions.map(({ region }) => region)).size).toBeGreaterThan(5);
    });
  });

  it('is in the consent log and the list of policies', async () => {
    await playMinutes(30, 120, async (sandbox, happened) => {
      const rows: Json[] = [];
      for (const { apiKey } of sandbox.clients) rows.push(...(await allRows(sandbox, apiKey)));
      const ids = happened.flatMap((one) => (one.event === 'consent.recorded' ? [one.recordId] : []));
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([...rows.map(({ id }) => id), ...ids]));
      expect(rows).toHaveLength(800 + ids.length);
      const published = happened.flatMap((one) => (one.event === 'policy.published' ? [one] : [])).at(-1)!;
      const lists = await Promise.all(sandbox.clients.map(({ apiKey }) => get(sandbox, '/policies', apiKey)));
      const listed = lists.flatMap(({ body }) => body.policies).find(({ id }: Json) => id === published.policyId);
      expect(listed.updated_at).toBe(published.at.toISOString());
    });
  });

  it('arrives signed at the subscribed endpoint at no more than its rate, and ends when stopped', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox(
          { clients: 1, clock: () => new Date(), startedAt: new Date('2026-06-20'), endsAt: NOON },
          async (sandbox) => {
            sandbox.clients[0]!.webhookUrl = url;
            const stop = new AbortController();
            const started = Date.now();
            const playing = sandbox.playLive({ perMinute: 3_000, signal: stop.signal });
            await new Promise((resolve) => setTimeout(resolve, 1_500));
            stop.abort();
            const count = await playing;
            const seconds = (Date.now() - started) / 1000;
            await sandbox.outbox.settled();
            expect(received.length).toBe(count);
            expect(count).toBeGreaterThan(10);
            expect(count).toBeLessThan(seconds * 50 * 2);
            expect(received.every(({ headers }) => typeof headers['x-service-signature'] === 'string')).toBe(true);
          },
        ),
    );
  });

  it('waits for a slow endpoint instead of piling up', async () => {
    let now = NOON.getTime();
    await withSandbox({ clients: 1, clock: () => new Date(now), timeoutMs: 60_000 }, async (sandbox) => {
      // A listener that never responds.
      const { createServer } = await import('node:net');
      const silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as { port: number };
      sandbox.clients[0]!.webhookUrl = `http://127.0.0.1:${port}/`;
      const stop = new AbortController();
      let waits = 0;
      const count = await sandbox.playLive({
        perMinute: 6_000,
        signal: stop.signal,
        wait: async (ms) => {
          now += ms;
          waits += 1;
          if (waits > 2_000) stop.abort();
        },
      });
      expect(count).toBeGreaterThanOrEqual(200);
      expect(count).toBeLessThanOrEqual(202);
      silent.close();
    });
  });

  it.each([0, 6_001, Number.NaN])('refuses a rate of %s per minute', async (perMinute) => {
    await withSandbox({}, async (sandbox) => {
      await expect(sandbox.playLive({ perMinute, signal: AbortSignal.abort() })).rejects.toThrow('a minute');
    });
  });
});
