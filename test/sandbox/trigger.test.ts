import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readDelivery } from '../../receivers/read.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { allRows, get, type Json, NOON, post, type Received, withEndpoint, withSandbox } from './sandbox-world.ts';

/** A sandbox whose first client delivers to an endpoint that keeps every request. */
function withReceiver(use: (sandbox: Sandbox, received: readonly Received[]) => Promise<void>): Promise<void> {
  return withEndpoint(
    () => 200,
    (url, received) =>
      withSandbox({ clients: 1 }, async (sandbox) => {
        sandbox.clients[0]!.webhookUrl = url;
        await use(sandbox, received);
      }),
  );
}

const slugOf = (sandbox: Sandbox): string => sandbox.clients[0]!.slug;
const list = async (sandbox: Sandbox): Promise<Json[]> =>
  (await get(sandbox, '/policies', sandbox.clients[0]!.apiKey)).body.policies;
const payload = ({ body }: Received): Json => JSON.parse(body.toString());
const contextAt = (at: Date) => ({
  receivedAt: at.toISOString(),
  options: { fieldNames: {}, assumedOffset: '+00:00' },
});

describe('a policy event that is triggered', () => {
  it('policy.updated changes time and version in the list of the service', async () => {
    await withReceiver(async (sandbox, received) => {
      const [before] = await list(sandbox);
      await sandbox.send(slugOf(sandbox), 'policy.updated', { happening: { policyId: before.id } });
      const after = (await list(sandbox)).find(({ id }) => id === before.id);
      expect(after.updated_at).toBe(NOON.toISOString());
      expect(before.updated_at).not.toBe(after.updated_at);
      expect(payload(received[0]!)).toMatchObject({ policy_id: before.id, version: 3, timestamp: after.updated_at });
      expect(await (await fetch(after.url)).text()).toContain('version 3');
    });
  });

  it('policy.deleted takes the policy out of list, hosted page and embed endpoint, and keeps it out', async () => {
    await withReceiver(async (sandbox, received) => {
      const [gone, ...others] = await list(sandbox);
      await sandbox.send(slugOf(sandbox), 'policy.deleted');
      expect(payload(received[0]!).policy_id).toBe(gone.id);
      expect((await list(sandbox)).map(({ id }) => id)).toEqual(others.map(({ id }) => id));
      expect((await fetch(gone.url)).status).toBe(404);
      const { siteKey, apiKey } = sandbox.clients[0]!;
      const embed = `${sandbox.siteUrl()}/api/embed/policy?siteKey=${siteKey}&type=${gone.policy_type}`;
      expect((await fetch(embed)).status).toBe(404);
      expect((await post(sandbox, `/policies/${gone.id}/publish`, apiKey)).status).toBe(404);
      expect(Object.values(sandbox.state().clients)[0]!.deleted).toEqual([gone.id]);
    });
  });

  it('policy.created saves a policy against the quota, and policy.published lists it at a working address', async () => {
    await withReceiver(async (sandbox, received) => {
      const before = (await list(sandbox)).length;
      await sandbox.send(slugOf(sandbox), 'policy.created');
      expect(await list(sandbox)).toHaveLength(before);
      expect(sandbox.worlds[0]!.shelf.used()).toBe(1);
      await sandbox.send(slugOf(sandbox), 'policy.published');
      const listed = (await list(sandbox)).at(-1);
      expect(received.map((one) => payload(one).policy_id)).toEqual([listed.id, listed.id]);
      expect((await fetch(listed.url)).status).toBe(200);
    });
  });

  it('is refused if the service has no such policy', async () => {
    await withReceiver(async (sandbox) => {
      await expect(
        sandbox.send(slugOf(sandbox), 'policy.deleted', { happening: { policyId: 'pol_nobody' } }),
      ).rejects.toThrow('has no policy pol_nobody');
    });
  });
});

describe('a note on a trigger', () => {
  it('repeat sends the same body again', async () => {
    await withReceiver(async (sandbox, received) => {
      const records = await sandbox.send(slugOf(sandbox), 'consent.recorded', { note: 'repeat' });
      expect(records.map(({ note }) => note)).toEqual(['sound', 'repeat']);
      expect(received).toHaveLength(2);
      expect(received[1]!.body.equals(received[0]!.body)).toBe(true);
      expect(await allRows(sandbox, sandbox.clients[0]!.apiKey)).toHaveLength(401);
    });
  });

  it('late dates the event a day back, in the delivery and the row', async () => {
    await withReceiver(async (sandbox, received) => {
      await sandbox.send(slugOf(sandbox), 'consent.recorded', { note: 'late' });
      const dayBefore = new Date(NOON.getTime() - 86_400_000).toISOString();
      expect(payload(received[0]!).timestamp).toBe(dayBefore);
      const rows = await allRows(sandbox, sandbox.clients[0]!.apiKey);
      expect(rows.at(-1)).toMatchObject({ id: payload(received[0]!).record_id, created_at: dayBefore });
    });
  });

  it('unknown-event names an undocumented event and not-json sends no JSON; neither changes the service', async () => {
    await withReceiver(async (sandbox, received) => {
      const before = await list(sandbox);
      for (const note of ['unknown-event', 'not-json'] as const)
        await sandbox.send(slugOf(sandbox), 'policy.deleted', { note });
      expect(await list(sandbox)).toEqual(before);
      const readings = received.map(({ body }) => readDelivery(body, contextAt(NOON)));
      expect(readings).toMatchObject([
        { outcome: 'unknown-event', event: 'loyalty.points_awarded' },
        { outcome: 'unknown-event', event: null },
      ]);
      expect(() => payload(received[1]!)).toThrow();
      for (const { headers, body } of received)
        expect(headers['x-service-signature']).toBe(
          createHmac('sha256', sandbox.clients[0]!.webhookSecret).update(body).digest('hex'),
        );
    });
  });

  it.each(['forged', 'unsigned'] as const)('%s leaves the service unchanged: another party sent it', async (note) => {
    await withReceiver(async (sandbox) => {
      const before = await list(sandbox);
      for (const event of ['policy.deleted', 'consent.recorded']) await sandbox.send(slugOf(sandbox), event, { note });
      expect(await list(sandbox)).toEqual(before);
      expect(await allRows(sandbox, sandbox.clients[0]!.apiKey)).toHaveLength(400);
    });
  });
});
