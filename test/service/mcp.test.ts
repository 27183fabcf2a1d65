import { describe, expect, it, onTestFinished } from 'vitest';
import { generateViaMcp, toolError, toToolArguments } from '../../src/service/mcp.ts';
import { readGenerated } from '../../src/service/policies.ts';
import { changedNothing, ServiceError } from '../../src/service/service-error.ts';
import { withSandbox } from '../sandbox/sandbox-world.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const form = { policy_type: 'privacy-policy', jurisdiction: 'DE', language: 'de', business_name: 'Acme GmbH' };
const body = Buffer.from(JSON.stringify(form));

async function failureOf(running: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await running.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`no ServiceError: ${String(error)}`);
  return error;
}

describe('a generation through the MCP endpoint', () => {
  it('gives the same policy as REST, and counts against the same quota', async () => {
    await withSandbox({}, async (sandbox) => {
      const [client] = sandbox.clients;
      const siteUrl = sandbox.siteUrl();
      const answer = await generateViaMcp({
        destinations: ON_LOOPBACK,
        siteUrl,
        apiKey: client?.apiKey ?? '',
        body,
        timeoutMs: 10_000,
      });
      const policy = readGenerated(answer.bytes);
      expect(policy).toMatchObject({
        policyType: 'privacy-policy',
        jurisdiction: 'DE',
        language: 'de',
        remaining: 499,
      });
      expect(policy.markdown).toContain('Acme GmbH');
      expect(sandbox.worlds[0]?.shelf.find(policy.id, new Date('2026-07-20T12:00:00Z'))?.brandName).toBe('Acme GmbH');
    });
  });

  it('says in plain words what was refused, and that nothing was generated', async () => {
    await withSandbox({ quota: 1 }, async (sandbox) => {
      const siteUrl = sandbox.siteUrl();
      const client = sandbox.clients[0];
      const ask = (apiKey: string | undefined, given: object = form) =>
        generateViaMcp({
          destinations: ON_LOOPBACK,
          siteUrl,
          apiKey: apiKey ?? '',
          body: Buffer.from(JSON.stringify(given)),
          timeoutMs: 10_000,
        });
      const revoked = await failureOf(ask(client?.revokedKey));
      expect(revoked).toMatchObject({ kind: 'unauthorized', status: 401, unsent: true });
      expect(revoked.message).not.toContain(client?.revokedKey);
      expect((await failureOf(ask(client?.readKey))).kind).toBe('forbidden');
      const invalid = await failureOf(ask(client?.apiKey, { ...form, jurisdiction: 'nowhere at all' }));
      expect(invalid.kind).toBe('bad-request');
      expect(changedNothing(invalid)).toBe(true);
      await ask(client?.apiKey);
      const over = await failureOf(ask(client?.apiKey));
      expect(over.kind).toBe('payment-required');
      expect(over.answer?.toString('utf8')).toContain('error');
    });
  });

  it('has an unknown outcome if the connection breaks or the time-out passes after the tool was called', async () => {
    await withSandbox({ generateMs: 60_000 }, async (sandbox) => {
      const given = { siteUrl: sandbox.siteUrl(), apiKey: sandbox.clients[0]?.apiKey ?? '', body };
      const late = await failureOf(generateViaMcp({ destinations: ON_LOOPBACK, ...given, timeoutMs: 700 }));
      expect(late.kind).toBe('timeout');
      expect(changedNothing(late)).toBe(false);
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('stopped by the test')), 500);
      await expect(
        generateViaMcp({ destinations: ON_LOOPBACK, ...given, timeoutMs: 10_000, signal: stop.signal }),
      ).rejects.toThrow('stopped');
    });
    await withSandbox({}, async (sandbox) => {
      sandbox.faults.set([{ name: 'dropped-connection', on: 'mcp', after: 3 }]);
      const given = { siteUrl: sandbox.siteUrl(), apiKey: sandbox.clients[0]?.apiKey ?? '', body };
      const broken = await failureOf(generateViaMcp({ destinations: ON_LOOPBACK, ...given, timeoutMs: 5000 }));
      expect(broken).toMatchObject({ kind: 'network', fault: 'broken', unsent: false });
      expect(changedNothing(broken)).toBe(false);
    });
  });

  it('says that it never began, whatever went wrong before the call', async () => {
    const gone = await answeringServer((_request, response) => response.destroy());
    const { origin } = new URL(gone.baseUrl);
    for (const [what, siteUrl] of [
      ['broken', origin],
      ['closed', 'http://127.0.0.1:1'],
    ] as const) {
      const failure = await failureOf(
        generateViaMcp({ destinations: ON_LOOPBACK, siteUrl, apiKey: 'pak_live_x', body, timeoutMs: 3000 }),
      );
      expect(failure, what).toMatchObject({ kind: 'network', unsent: true });
      expect(changedNothing(failure), what).toBe(true);
    }
  });

  it('never sends its key to another address, and calls the tool once', async () => {
    const other = await answeringServer((_request, response) => sendJson(response, 200, {}));
    const server = await answeringServer((_request, response) =>
      response.writeHead(307, { location: `${other.baseUrl}/mcp` }).end(),
    );
    const failure = await failureOf(
      generateViaMcp({
        destinations: ON_LOOPBACK,
        siteUrl: new URL(server.baseUrl).origin,
        apiKey: 'pak_live_x',
        body,
        timeoutMs: 3000,
      }),
    );
    expect(failure).toMatchObject({ kind: 'redirected', unsent: true });
    expect(other.requests).toEqual([]);

    const failing = await mcpServer({}, (response) => sendJson(response, 500, { error: {} }));
    const error = await failureOf(
      generateViaMcp({
        destinations: ON_LOOPBACK,
        siteUrl: failing.siteUrl,
        apiKey: 'pak_live_x',
        body,
        timeoutMs: 3000,
      }),
    );
    expect(error).toMatchObject({ kind: 'server-error', status: 500, unsent: false });
    expect(changedNothing(error)).toBe(false);
    expect(failing.calls()).toHaveLength(1);
  });

  it('uses the field names of the tool, and refuses to leave a field out', async () => {
    const made = { id: 'pol_1', policy_type: 'privacy-policy' };
    const properties = {
      policyType: { type: 'string', enum: ['privacy_policy'] },
      jurisdictions: { type: 'array', items: { type: 'string' } },
      lang: { type: 'string' },
      company: { type: 'string' },
    };
    const server = await mcpServer(properties, (response, id) =>
      sendJson(response, 200, {
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: JSON.stringify(made) }] },
      }),
    );
    const given = { siteUrl: server.siteUrl, apiKey: 'pak_live_x', timeoutMs: 3000 };
    const answer = await generateViaMcp({ destinations: ON_LOOPBACK, ...given, body });
    expect(JSON.parse(answer.bytes.toString('utf8'))).toEqual(made);
    expect(server.calls()).toEqual([
      { policyType: 'privacy_policy', jurisdictions: ['DE'], lang: 'de', company: 'Acme GmbH' },
    ]);
    const more = Buffer.from(JSON.stringify({ ...form, industry: 'saas' }));
    const failure = await failureOf(generateViaMcp({ destinations: ON_LOOPBACK, ...given, body: more }));
    expect(failure).toMatchObject({ kind: 'bad-request', unsent: true });
    expect(failure.message).toContain('does not accept industry');
    expect(server.calls()).toHaveLength(1);
  });

  it('reports how long to wait after a 429, before or from the tool', async () => {
    const server = await mcpServer({}, (response) =>
      sendJson(response, 429, { error: { code: 'rate_limited', message: 'Slow down.' } }, { 'retry-after': '17' }),
    );
    const failure = await failureOf(
      generateViaMcp({
        destinations: ON_LOOPBACK,
        siteUrl: server.siteUrl,
        apiKey: 'pak_live_x',
        body: Buffer.from('{}'),
        timeoutMs: 3000,
      }),
    );
    expect(failure).toMatchObject({ kind: 'rate-limited', status: 429, retryAfterMs: 17_000, unsent: false });
  });

  it('is refused if the tool does not exist', async () => {
    const server = await mcpServer({}, (response) => sendJson(response, 500, {}), 'another_tool');
    const failure = await failureOf(
      generateViaMcp({
        destinations: ON_LOOPBACK,
        siteUrl: server.siteUrl,
        apiKey: 'pak_live_x',
        body,
        timeoutMs: 3000,
      }),
    );
    expect(failure).toMatchObject({ kind: 'unreadable', unsent: true });
  });
});

it('a tool that lists no fields gets form A unchanged; one that needs more fields is refused', () => {
  expect(toToolArguments(form, {})).toEqual({ outcome: 'mapped', arguments: form });
  expect(toToolArguments(form, { properties: form, required: ['tone'] })).toMatchObject({ outcome: 'impossible' });
  expect(toToolArguments({ a: 'b' }, { properties: { c: {} } })).toEqual({ outcome: 'mapped', arguments: { a: 'b' } });
});

/** A minimal MCP endpoint that the official client can talk to. */
async function mcpServer(
  properties: object,
  onCall: (response: Parameters<typeof sendJson>[0], id: number) => void,
  name = 'generate_policy',
): Promise<{ siteUrl: string; calls: () => unknown[] }> {
  const calls: unknown[] = [];
  const server = await answeringServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(server.requests.at(-1)?.body ?? '{}') as {
      id?: number;
      method: string;
      params?: { arguments?: unknown };
    };
    const { id = 0, method } = message;
    const answer = (result: object) => sendJson(response, 200, { jsonrpc: '2.0', id, result });
    if (method === 'initialize')
      answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
    else if (method === 'tools/list') {
      const inputSchema = { type: 'object', properties, additionalProperties: false };
      answer({ tools: [{ name, inputSchema }] });
    } else if (method === 'tools/call') {
      calls.push(message.params?.arguments);
      onCall(response, id);
    } else response.writeHead(202).end();
  });
  return { siteUrl: new URL(server.baseUrl).origin, calls: () => calls };
}

it.each([
  ['invalid_request', true],
  ['validation_error', true],
  ['missing_field', true],
  ['policy_not_found', true],
  ['rate_limited', true],
  ['invalid_output', false],
  ['model_not_found', false],
  ['internal', false],
])('a tool that fails with the code %s certainly generated nothing: %s', (code, nothing) => {
  const error = toolError(JSON.stringify({ error: { code, message: 'm' } }), 'pak_live_x');
  expect(changedNothing(error)).toBe(nothing);
});

it('a list of tools that never ends is left after some pages, without a runtime warning', async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const server = await answeringServer((request, response) => {
    const { id, method } = JSON.parse(server.requests.at(-1)?.body || '{}') as { id?: number; method?: string };
    const answer = (result: object) => sendJson(response, 200, { jsonrpc: '2.0', id, result });
    if (method === 'initialize')
      answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
    else if (method === 'tools/list') answer({ tools: [], nextCursor: 'more' });
    else response.writeHead(request.method === 'POST' ? 202 : 405).end();
  });
  const siteUrl = new URL(server.baseUrl).origin;
  const error = await failureOf(
    generateViaMcp({ destinations: ON_LOOPBACK, siteUrl, apiKey: 'pak_live_x', body, timeoutMs: 20_000 }),
  );
  expect(error).toMatchObject({ kind: 'unreadable', unsent: true });
  expect(warnings).toEqual([]);
});
