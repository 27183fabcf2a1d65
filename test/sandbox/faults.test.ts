import { describe, expect, it } from 'vitest';
import { type FaultInput, type FaultName, faultSchema, faultTargets, scenarios } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { allRows, get, type Json, NOON, withEndpoint, withSandbox } from './sandbox-world.ts';

describe('faults on demand', () => {
  it.each([
    ['server-error', 500, 'server_error'],
    ['too-many-requests', 429, 'rate_limited'],
    ['bad-request', 400, 'invalid_request'],
    ['unauthorized', 401, 'unauthorized'],
    ['payment-required', 402, 'payment_required'],
    ['forbidden', 403, 'forbidden'],
  ] as const)('answers %s as often as requested, then recovers', async (name, status, code) => {
    await withSandbox({ faults: [{ name, times: 2, after: 1 }] }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const answers = [];
      for (let n = 0; n < 4; n += 1) answers.push(await get(sandbox, '/consent/logs', key));
      expect(answers.map((answer) => answer.status)).toEqual([200, status, status, 200]);
      expect(answers[1]!.body.error.code).toBe(code);
      expect(sandbox.faults.counts()).toEqual([2]);
    });
  });

  it('says when to retry, or does not', async () => {
    await withSandbox({ faults: [{ name: 'too-many-requests', retryAfter: 7 }] }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      expect((await get(sandbox, '/policies', key)).headers.get('retry-after')).toBe('7');
      sandbox.faults.set([{ name: 'too-many-requests', retryAfter: null }]);
      expect((await get(sandbox, '/policies', key)).headers.get('retry-after')).toBeNull();
    });
  });

  it('affects only the named endpoint', async () => {
    await withSandbox({ faults: [{ name: 'server-error', on: 'list' }] }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      expect((await get(sandbox, '/policies', key)).status).toBe(500);
      expect((await get(sandbox, '/consent/logs', key)).status).toBe(200);
    });
  });

  it('affects the given share of requests, the same ones for the same seed', async () => {
    const statuses = () =>
      withSandbox({ faults: [{ name: 'server-error', rate: 0.3 }] }, async (sandbox) => {
        const found: number[] = [];
        for (let n = 0; n < 60; n += 1)
          found.push((await get(sandbox, '/policies', sandbox.clients[0]!.apiKey)).status);
        return found;
      });
    const first = await statuses();
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(8);
    expect(first.filter((status) => status === 500).length).toBeLessThan(30);
    expect(await statuses()).toEqual(first);
  });

  it('drops the connection, never answers, or ends in the middle of the body', async () => {
    await withSandbox({ faults: [{ name: 'dropped-connection' }] }, async (sandbox) => {
      const ask = (signal?: AbortSignal): Promise<Response> =>
        fetch(`${sandbox.baseUrl()}/consent/logs`, {
          headers: { authorization: `Bearer ${sandbox.clients[0]!.apiKey}` },
          ...(signal === undefined ? {} : { signal }),
        });
      await expect(ask()).rejects.toThrow();
      sandbox.faults.set([{ name: 'time-out' }]);
      await expect(ask(AbortSignal.timeout(100))).rejects.toThrow(/timeout/i);
      sandbox.faults.set([{ name: 'cut-off' }]);
      await expect(ask().then((answer) => answer.text())).rejects.toThrow();
      sandbox.faults.set([{ name: 'latency', ms: 120 }]);
      const before = Date.now();
      expect((await ask()).status).toBe(200);
      expect(Date.now() - before).toBeGreaterThanOrEqual(110);
    });
  });

  it.each(['truncated-json', 'invalid-json', 'web-page'] as const)('answers 200 with %s', async (name) => {
    await withSandbox({ faults: [{ name }] }, async (sandbox) => {
      const answer = await fetch(`${sandbox.baseUrl()}/consent/logs`, {
        headers: { authorization: `Bearer ${sandbox.clients[0]!.apiKey}` },
      });
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(() => JSON.parse(text) as unknown).toThrow();
    });
  });

  it('gives one page twice, shifts pages back and forth, reorders them, or gives one without rows', async () => {
    await withSandbox({ consentRows: 100, clients: 1 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const ids = (rows: Json[]): string[] => rows.map(({ id }) => id as string);
      const sound = ids(await allRows(sandbox, key, 'limit=20'));
      sandbox.faults.set([{ name: 'repeated-page', after: 1, times: 1 }]);
      expect(ids(await allRows(sandbox, key, 'limit=20'))).toEqual([...sound.slice(0, 40), ...sound.slice(20)]);
      sandbox.faults.set([{ name: 'shifted-page', by: -3, times: 1 }]);
      expect(ids(await allRows(sandbox, key, 'limit=20'))).toEqual([...sound.slice(0, 20), ...sound.slice(17)]);
      sandbox.faults.set([{ name: 'shifted-page', by: 2, times: 1 }]);
      expect(ids(await allRows(sandbox, key, 'limit=20'))).toEqual([...sound.slice(0, 20), ...sound.slice(22)]);
      sandbox.faults.set([{ name: 'reordered-page' }]);
      const reordered = ids(await allRows(sandbox, key, 'limit=20'));
      expect(reordered).not.toEqual(sound);
      expect([...reordered].sort()).toEqual([...sound].sort());
      sandbox.faults.set([{ name: 'empty-page', after: 2, times: 1 }]);
      expect(ids(await allRows(sandbox, key, 'limit=20'))).toEqual(sound);
    });
  });

  it('loops with the same cursor or one that looks new each time', async () => {
    await withSandbox({ consentRows: 100, clients: 1 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const walk = async (): Promise<{ cursors: Set<string>; ids: Set<string> }> => {
        const found = { cursors: new Set<string>(), ids: new Set<string>() };
        let cursor = '';
        for (let n = 0; n < 5; n += 1) {
          const { body } = await get(sandbox, `/consent/logs?limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`, key);
          cursor = body.next_cursor;
          found.cursors.add(cursor);
          found.ids.add(body.data[0].id);
        }
        return found;
      };
      sandbox.faults.set([{ name: 'looping-cursor' }]);
      expect(await walk()).toMatchObject({ cursors: { size: 1 }, ids: { size: 1 } });
      sandbox.faults.set([{ name: 'looping-cursor', disguised: true }]);
      expect(await walk()).toMatchObject({ cursors: { size: 5 }, ids: { size: 1 } });
    });
  });

  it('lets a cursor expire', async () => {
    await withSandbox({ consentRows: 100 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      const { body } = await get(sandbox, '/consent/logs?limit=10', key);
      sandbox.faults.set([{ name: 'expired-cursor', status: 410 }]);
      expect((await get(sandbox, `/consent/logs?limit=10&cursor=${body.next_cursor}`, key)).status).toBe(410);
      expect((await get(sandbox, '/consent/logs?limit=10', key)).status).toBe(200);
    });
  });

  it('lets cursors expire after some pages of a period', async () => {
    await withSandbox({ consentRows: 100 }, async (sandbox) => {
      const key = sandbox.clients[0]!.apiKey;
      sandbox.faults.set([{ name: 'cursor-expires-after', pages: 2, status: 410 }]);
      const first = await get(sandbox, '/consent/logs?limit=10', key);
      const second = await get(sandbox, `/consent/logs?limit=10&cursor=${first.body.next_cursor}`, key);
      expect(second.status).toBe(200);
      expect((await get(sandbox, `/consent/logs?limit=10&cursor=${second.body.next_cursor}`, key)).status).toBe(410);
    });
  });

  it('makes some rows appear late', async () => {
    let now = NOON;
    await withSandbox(
      {
        consentRows: 300,
        clock: () => now,
        clients: 1,
        faults: [{ name: 'late-rows', rate: 0.2, ms: 31 * 86_400_000 }],
      },
      async (sandbox) => {
        const key = sandbox.clients[0]!.apiKey;
        const early = await allRows(sandbox, key);
        expect(early.length).toBeGreaterThan(210);
        expect(early.length).toBeLessThan(270);
        now = new Date(NOON.getTime() + 32 * 86_400_000);
        expect(await allRows(sandbox, key)).toHaveLength(300);
      },
    );
  });

  it('sends deliveries twice, late, with another secret or not at all', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({}, async (sandbox) => {
          const { slug } = sandbox.clients[0]!;
          const sound = (await sandbox.send(slug, 'dsar.submitted', { url }))[0]!;
          sandbox.faults.set([{ name: 'webhook-duplicated' }]);
          await sandbox.outbox.redeliver(sound.id);
          expect(received).toHaveLength(3);
          sandbox.faults.set([{ name: 'webhook-old-secret' }]);
          await sandbox.outbox.redeliver(sound.id);
          sandbox.faults.set([{ name: 'webhook-wrong-secret' }]);
          await sandbox.outbox.redeliver(sound.id);
          const signatures = received.map(({ headers }) => headers['x-service-signature']);
          expect(new Set(signatures.slice(0, 3)).size).toBe(1);
          expect(new Set(signatures).size).toBe(3);
          sandbox.faults.set([{ name: 'webhook-lost' }]);
          expect(await sandbox.outbox.redeliver(sound.id)).toMatchObject({ outcome: 'lost', attempts: [] });
          expect(received).toHaveLength(5);
        }),
    );
  });

  it('lets later deliveries of the client overtake, each sent once', async () => {
    const play = async (faults: readonly FaultInput[]): Promise<string[]> =>
      withEndpoint(
        () => 200,
        (url, received) =>
          withSandbox({ clients: 1, consentRows: 60, faults }, async (sandbox) => {
            sandbox.clients[0]!.webhookUrl = url;
            const [traffic] = await sandbox.playTraffic();
            expect(traffic!.sent).toBe(received.length);
            return received.map(({ headers, body }) => `${String(headers['x-service-delivery'])} ${body.toString()}`);
          }),
      );
    const inOrder = await play([]);
    const reordered = await play([{ name: 'webhook-reordered', rate: 0.2, by: 3, ms: 5_000 }]);
    expect(reordered).not.toEqual(inOrder);
    expect([...reordered].sort()).toEqual([...inOrder].sort());
    const moved = reordered.filter((one, place) => inOrder[place] !== one);
    expect(moved.length).toBeGreaterThan(10);
  });

  it('sends deliveries late', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({ faults: [{ name: 'webhook-delayed', ms: 150, times: 1 }] }, async (sandbox) => {
          const before = Date.now();
          await sandbox.send(sandbox.clients[0]!.slug, 'dsar.submitted', { url });
          expect(Date.now() - before).toBeGreaterThanOrEqual(145);
          expect(received).toHaveLength(1);
        }),
    );
  });

  it.each(['time-out', 'dropped-connection'] as const)(
    'carries out a request and loses only its answer: %s',
    async (name) => {
      await withSandbox(
        { quota: 5, faults: [{ name, on: 'generate', times: 1, carriedOut: true }] },
        async (sandbox) => {
          const generate = (): Promise<Response> =>
            fetch(`${sandbox.baseUrl()}/policies/generate`, {
              method: 'POST',
              headers: { authorization: `Bearer ${sandbox.clients[0]!.apiKey}`, 'content-type': 'application/json' },
              body: JSON.stringify({ policy_type: 'imprint', jurisdiction: 'DE' }),
              signal: AbortSignal.timeout(name === 'time-out' ? 300 : 10_000),
            });
          await expect(generate()).rejects.toThrow();
          const made = (await (await generate()).json()) as { policies_remaining: number };
          expect(made.policies_remaining).toBe(3);
        },
      );
    },
  );

  it('combines: slow, refused, and told when to retry', async () => {
    const faults: FaultInput[] = [
      { name: 'latency', ms: 80 },
      { name: 'too-many-requests', retryAfter: 9, on: 'list' },
      { name: 'truncated-json', on: 'consent-logs' },
      { name: 'reordered-page', on: 'consent-logs' },
    ];
    await withSandbox({ faults }, async (sandbox) => {
      const headers = { authorization: `Bearer ${sandbox.clients[0]!.apiKey}` };
      const before = Date.now();
      const list = await fetch(`${sandbox.baseUrl()}/policies`, { headers });
      expect([list.status, list.headers.get('retry-after')]).toEqual([429, '9']);
      const logs = await (await fetch(`${sandbox.baseUrl()}/consent/logs`, { headers })).text();
      expect(() => JSON.parse(logs) as unknown).toThrow();
      expect(Date.now() - before).toBeGreaterThanOrEqual(155);
      expect(sandbox.faults.counts()).toEqual([2, 1, 1, 1]);
    });
  });

  /** One request of each endpoint. */
  const requests: Record<Exclude<(typeof faultTargets)[number], 'any' | 'webhooks'>, (sandbox: Sandbox) => string[]> = {
    generate: (sandbox) => ['POST', `${sandbox.baseUrl()}/policies/generate`],
    bulk: (sandbox) => ['POST', `${sandbox.baseUrl()}/policies/bulk`],
    list: (sandbox) => ['GET', `${sandbox.baseUrl()}/policies`],
    publish: (sandbox) => ['POST', `${sandbox.baseUrl()}/policies/pol_1/publish`],
    'consent-logs': (sandbox) => ['GET', `${sandbox.baseUrl()}/consent/logs`],
    openapi: (sandbox) => ['GET', `${sandbox.baseUrl()}/openapi`],
    embed: (sandbox) => ['GET', `${sandbox.siteUrl()}/api/embed/policy`],
    mcp: (sandbox) => ['POST', `${sandbox.siteUrl()}/api/mcp`],
  };
  it.each(Object.keys(requests) as (keyof typeof requests)[])(
    'affects only the endpoint %s by its name',
    async (on) => {
      await withSandbox({ faults: [{ name: 'server-error', status: 599, on }] }, async (sandbox) => {
        for (const [name, request] of Object.entries(requests)) {
          const [method, url] = request(sandbox);
          const { status } = await fetch(url!, { method: method! });
          expect(status === 599, `${name} when ${on} fails`).toBe(name === on);
        }
      });
    },
  );

  it('has a test in this file for each kind', async () => {
    const { readFile } = await import('node:fs/promises');
    const text = await readFile(new URL(import.meta.url), 'utf8');
    const names: FaultName[] = faultSchema.options.map(({ shape }) => shape.name.value);
    expect(names.filter((name) => !text.includes(`'${name}'`))).toEqual([]);
    expect(names).toHaveLength(27);
    expect(Object.keys(requests).sort()).toEqual(
      faultTargets.filter((one) => one !== 'any' && one !== 'webhooks').sort(),
    );
  });

  it('sends held-back deliveries if nothing follows', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({ faults: [{ name: 'webhook-reordered', ms: 30, times: 1 }] }, async (sandbox) => {
          const { slug } = sandbox.clients[0]!;
          expect((await sandbox.send(slug, 'dsar.submitted', { url }))[0]).toMatchObject({ outcome: 'accepted' });
          expect(received).toHaveLength(1);
        }),
    );
  });

  it.each(Object.keys(scenarios) as (keyof typeof scenarios)[])('knows the scenario %s', async (name) => {
    await withSandbox({ faults: scenarios[name] }, async (sandbox) => {
      expect(sandbox.faults.list()).toHaveLength(scenarios[name].length);
    });
  });
});
