import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { documentedEvents } from '../../src/core/vocabulary.ts';
import { dialectNames } from '../../src/sandbox/dialects.ts';
import type { OutgoingDelivery } from '../../src/sandbox/webhooks.ts';
import { allRows, type Json, NOON, withEndpoint, withSandbox } from './sandbox-world.ts';

const hmac = (secret: string, body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex');

async function collect(options: Parameters<typeof withSandbox>[0] = {}): Promise<OutgoingDelivery[]> {
  return withSandbox({ consentRows: 300, ...options }, async (sandbox) => {
    const deliveries: OutgoingDelivery[] = [];
    await sandbox.playTraffic({
      deliver: async (delivery) => {
        deliveries.push(delivery);
        return { outcome: 'accepted' };
      },
    });
    return deliveries;
  });
}

describe('the sender of webhooks', () => {
  it('signs the raw body in both headers', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const client = sandbox.clients[0]!;
          client.webhookUrl = url;
          const [record] = await sandbox.send(client.slug, 'cookie_scan.completed');
          expect(record).toMatchObject({ outcome: 'accepted', attempts: [{ status: 200 }] });
          const [one] = received;
          const digest = hmac(client.webhookSecret, one!.body);
          expect(one!.method).toBe('POST');
          expect(one!.headers['x-service-signature']).toBe(digest);
          expect(one!.headers['x-service-signature-256']).toBe(`sha256=${digest}`);
        }),
    );
  });

  it('retries after a refusal, with the same bytes, and logs each attempt', async () => {
    await withEndpoint(
      (_one, count) => (count < 3 ? 503 : 200),
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const [record] = await sandbox.send(sandbox.clients[0]!.slug, 'dsar.submitted', { url });
          expect(record?.attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
          expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
          expect(sandbox.outbox.log()).toEqual([record]);
        }),
    );
  });

  it('gives up after a bounded number of attempts', async () => {
    await withEndpoint(
      () => 500,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const [record] = await sandbox.send(sandbox.clients[0]!.slug, 'policy.updated', { url });
          expect(record?.outcome).toBe('refused');
          expect(received).toHaveLength(4);
        }),
    );
  });

  it('delivers again on demand', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const [record] = await sandbox.send(sandbox.clients[0]!.slug, 'policy.deleted', { url });
          expect(await sandbox.outbox.redeliver(record!.id)).toMatchObject({ id: record!.id, outcome: 'accepted' });
          expect(await sandbox.outbox.redeliver('dlv_unknown')).toBeNull();
          expect(received[1]!.body).toEqual(received[0]!.body);
        }),
    );
  });

  it('closes while an endpoint is silent', async () => {
    await withEndpoint(
      () => 503,
      (url) =>
        withSandbox({ backoffMs: [60_000] }, async (sandbox) => {
          const pending = sandbox.send(sandbox.clients[0]!.slug, 'policy.deleted', { url });
          await new Promise((resolve) => setTimeout(resolve, 50));
          await sandbox.close();
          // Abandoned while it waits for its next attempt, or while it is being sent on a slow machine; never only
          // after a minute.
          expect(['refused', 'unreachable']).toContain((await pending)[0]?.outcome);
        }),
    );
  });

  it('puts a decision made on demand into the consent log as well', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({ consentRows: 20 }, async (sandbox) => {
          const client = sandbox.clients[0]!;
          await sandbox.send(client.slug, 'consent.recorded', { url, happening: { region: 'US-CA' } });
          const rows = await allRows(sandbox, client.apiKey);
          expect(rows).toHaveLength(21);
          const payload = JSON.parse(received[0]!.body.toString());
          expect(payload.region).toBe('US-CA');
          expect(rows.at(-1)).toMatchObject({
            id: payload.record_id,
            visitor_hash: payload.visitor_hash,
            region: 'US-CA',
          });
        }),
    );
  });
});

describe('a month of traffic', () => {
  it('is the same for the same seed and clock', async () => {
    const digest = (list: OutgoingDelivery[]): string => {
      const hash = createHash('sha256');
      for (const { id, body, headers } of list) hash.update(id).update(body).update(JSON.stringify(headers));
      return hash.digest('hex');
    };
    const options = { clients: 1 };
    expect(digest(await collect(options))).toBe(digest(await collect(options)));
    expect(digest(await collect(options))).not.toBe(digest(await collect({ ...options, seed: 8 })));
  });

  it.each(dialectNames)(
    'has every event, repeats, late ones, forged ones, an unknown event and a body that is not JSON in the dialect %s',
    async (dialect) => {
      const deliveries = await collect({ dialect });
      const events = new Set(deliveries.map(({ event }) => event));
      for (const event of [...documentedEvents, 'policy.created', 'loyalty.points_awarded'])
        expect(events).toContain(event);
      const notes = new Set(deliveries.map(({ note }) => note));
      expect(notes).toEqual(
        new Set(['sound', 'repeat', 'late', 'old-secret', 'forged', 'unsigned', 'unknown-event', 'not-json']),
      );
      const text = deliveries.find(({ note }) => note === 'not-json')!.body.toString();
      expect(() => JSON.parse(text)).toThrow();
      const repeat = deliveries.find(({ note }) => note === 'repeat')!;
      expect(deliveries.filter(({ body }) => body.equals(repeat.body))).toHaveLength(2);
    },
  );

  it('signs sound deliveries with the current secret, but not forged or old ones', async () => {
    await withSandbox({ consentRows: 200, clients: 1 }, async (sandbox) => {
      const client = sandbox.clients[0]!;
      let checked = 0;
      await sandbox.playTraffic({
        deliver: async ({ note, headers, body }) => {
          const given = headers['x-service-signature'];
          if (note === 'unsigned') expect(given).toBeUndefined();
          else if (note === 'old-secret') expect(given).toBe(hmac(client.previousWebhookSecret, body));
          else if (note === 'forged') expect(given).not.toBe(hmac(client.webhookSecret, body));
          else expect(given).toBe(hmac(client.webhookSecret, body));
          checked += 1;
          return { outcome: 'accepted' };
        },
      });
      expect(checked).toBeGreaterThan(200);
    });
  });

  it('agrees with the consent log except for the faults that it names', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({ clients: 1, consentRows: 500 }, async (sandbox) => {
          const client = sandbox.clients[0]!;
          client.webhookUrl = url;
          const [traffic] = await sandbox.playTraffic();
          const { lost, conflicts, oldSecret } = traffic!.faults;
          expect(traffic).toMatchObject({ unreachable: 0, refused: 0, stopped: null });
          expect(traffic!.sent).toBe(received.length);
          expect(lost.length).toBeGreaterThan(3);
          expect(conflicts.length).toBeGreaterThan(2);
          expect(oldSecret.length).toBeGreaterThan(0);
          const sent = new Map<string, Json>();
          for (const { body } of received) {
            if (!body.toString().startsWith('{')) continue;
            const payload = JSON.parse(body.toString());
            if (payload.event === 'consent.recorded' && !payload.record_id.startsWith('cr_forged'))
              sent.set(payload.record_id, payload);
          }
          const rows = await allRows(sandbox, client.apiKey);
          expect(rows.filter(({ id }) => !sent.has(id)).map(({ id }) => id)).toEqual(lost);
          const differing = rows.filter((row) => {
            const { event: _event, record_id, timestamp, ...rest } = sent.get(row.id) ?? {};
            const { id, created_at, ...ownRest } = row;
            return (
              record_id !== undefined &&
              JSON.stringify([id, created_at, ownRest]) !== JSON.stringify([record_id, timestamp, rest])
            );
          });
          expect(differing.map(({ id }) => id)).toEqual(conflicts);
          expect(sent.size + lost.length).toBe(rows.length);
        }),
    );
  });

  it('has requests: one due soon with a visitor hash of the log, a Californian opt-out, one that matches no one', async () => {
    await withSandbox({ clients: 2 }, async (sandbox) => {
      const [first, second] = await sandbox.playTraffic({ deliver: async () => ({ outcome: 'accepted' as const }) });
      const hashes = new Set((await allRows(sandbox, sandbox.clients[0]!.apiKey)).map((row) => row.visitor_hash));
      const dueSoon = first!.requests.find(({ at }) => NOON.getTime() - at.getTime() > 26 * 86_400_000);
      expect(dueSoon).toMatchObject({ kind: 'access', jurisdiction: 'DE' });
      expect(hashes).toContain(dueSoon!.visitorHash);
      expect(first!.requests).toContainEqual(expect.objectContaining({ kind: 'opt-out', jurisdiction: 'US-CA' }));
      expect(first!.requests).toContainEqual(expect.objectContaining({ kind: 'access', visitorHash: null }));
      expect(new Set([...first!.requests, ...second!.requests].map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(5);
    });
  });

  it('hashes the address of a customer as the client specifies', async () => {
    await withSandbox({ clients: 1 }, async (sandbox) => {
      const client = sandbox.clients[0]!;
      const [traffic] = await sandbox.playTraffic({ deliver: async () => ({ outcome: 'accepted' as const }) });
      const request = traffic!.requests.find(({ kind }) => kind === 'erasure')!;
      const hash = createHash('sha256')
        .update(client.subjectRecipe.salt + request.email.trim().toLowerCase())
        .digest('hex');
      const rows = await allRows(sandbox, client.apiKey);
      expect(rows.filter((row) => row.visitor_hash === hash).length).toBeGreaterThan(0);
    });
  });

  it('stops if no endpoint answers', async () => {
    await withSandbox({ clients: 1, backoffMs: [1] }, async (sandbox) => {
      sandbox.clients[0]!.webhookUrl = 'http://127.0.0.1:9/webhooks';
      const [traffic] = await sandbox.playTraffic();
      expect(traffic).toMatchObject({ sent: 3, unreachable: 3 });
      expect(traffic!.stopped).toContain('no answer');
    });
  });
});
