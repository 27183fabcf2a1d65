import { request as httpRequest } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, type Json, NOON, post, withEndpoint, withSandbox } from './sandbox-world.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** Runs a test with the official client, connected to the endpoint. */
async function withClient<T>(sandbox: Sandbox, key: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${sandbox.siteUrl()}/api/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  );
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const generate = (client: Client, given: Record<string, unknown>): Promise<Json> =>
  client.callTool({ name: 'generate_policy', arguments: given });

/** A raw POST with headers that fetch would not send. */
function postRaw(sandbox: Sandbox, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${sandbox.siteUrl()}/api/mcp`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${sandbox.clients[0]!.apiKey}`,
          ...headers,
        },
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(initialize));
  });
}

describe('the MCP endpoint', () => {
  it('shows the official client its one tool, with the fields of a generation', async () => {
    await withSandbox({}, async (sandbox) => {
      await withClient(sandbox, sandbox.clients[0]!.apiKey, async (client) => {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(['generate_policy']);
        expect(tools[0]!.inputSchema).toMatchObject({ required: ['policy_type', 'jurisdiction'] });
      });
    });
  });

  it('generates, counts against the same quota as REST and fires the same webhook', async () => {
    await withEndpoint(
      () => 200,
      (url, received) =>
        withSandbox({ quota: 2 }, async (sandbox) => {
          const account = sandbox.clients[0]!;
          account.webhookUrl = url;
          await withClient(sandbox, account.apiKey, async (client) => {
            const called = await generate(client, { policy_type: 'imprint', jurisdiction: 'DE' });
            const made = JSON.parse(called.content[0].text);
            expect(called.isError ?? false).toBe(false);
            expect(made).toMatchObject({ policy_type: 'imprint', jurisdiction: 'DE', policies_remaining: 1 });
            expect(made.content).toContain('SAMPLE');
            const byRest = await post(sandbox, '/policies/generate', account.apiKey, {
              policy_type: 'imprint',
              jurisdiction: 'DE',
            });
            expect(byRest.body.policies_remaining).toBe(0);
            const refused = await generate(client, { policy_type: 'imprint', jurisdiction: 'DE' });
            expect(refused.isError).toBe(true);
            expect(JSON.parse(refused.content[0].text).error.code).toBe('quota_exhausted');
            await sandbox.outbox.settled();
            const [byTool, byRequest] = received.map(({ body }) => JSON.parse(body.toString()));
            expect(byTool).toMatchObject({ event: 'policy.created', policy_id: made.id });
            expect(Object.keys(byRequest)).toEqual(Object.keys(byTool));
            expect((await post(sandbox, `/policies/${made.id}/publish`, account.apiKey)).status).toBe(200);
          });
        }),
    );
  });

  it('names invalid arguments to the caller', async () => {
    await withSandbox({}, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      await withClient(sandbox, apiKey, async (client) => {
        const refused = await generate(client, { policy_type: 'Not A Slug', jurisdiction: 'DE' });
        expect(refused.isError).toBe(true);
      });
      expect((await get(sandbox, '/policies', apiKey)).status).toBe(200);
    });
  });

  it('shares the 20 generations a minute with REST', async () => {
    let now = NOON;
    await withSandbox({ clock: () => now }, async (sandbox) => {
      const { apiKey } = sandbox.clients[0]!;
      const item = { policy_type: 'imprint', jurisdiction: 'DE' };
      for (let n = 0; n < 19; n += 1) await post(sandbox, '/policies/generate', apiKey, item);
      await withClient(sandbox, apiKey, async (client) => {
        expect((await generate(client, item)).isError ?? false).toBe(false);
        await expect(generate(client, item)).rejects.toThrow(/Too many requests/);
        now = new Date(NOON.getTime() + 61_000);
        expect((await generate(client, item)).isError ?? false).toBe(false);
      });
    });
  });

  it.each([
    ['no key', undefined, 401],
    ['an unknown key', 'Bearer pak_live_nobody', 401],
  ] as const)('answers %s with 401 in the envelope', async (_what, authorization, status) => {
    await withSandbox({}, async (sandbox) => {
      const answer = await fetch(`${sandbox.siteUrl()}/api/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
        body: JSON.stringify(initialize),
      });
      expect(answer.status).toBe(status);
      expect((await answer.json()).error.code).toBe('unauthorized');
    });
  });

  it('refuses a read-only key', async () => {
    await withSandbox({}, async (sandbox) => {
      await expect(withClient(sandbox, sandbox.clients[0]!.readKey, async () => undefined)).rejects.toThrow(/scope/);
    });
  });

  it('refuses requests that name another host or come from the page of another site', async () => {
    await withSandbox({}, async (sandbox) => {
      const { port } = new URL(sandbox.siteUrl());
      expect(await postRaw(sandbox, {})).toBe(200);
      expect(await postRaw(sandbox, { host: `localhost:${port}` })).toBe(200);
      expect(await postRaw(sandbox, { host: `rebound.example:${port}` })).toBe(403);
      expect(await postRaw(sandbox, { origin: 'https://evil.example' })).toBe(403);
      expect(await postRaw(sandbox, { origin: sandbox.siteUrl() })).toBe(200);
    });
  });

  it('keeps no sessions', async () => {
    await withSandbox({}, async (sandbox) => {
      const answer = await fetch(`${sandbox.siteUrl()}/api/mcp`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
    });
  });
});
