import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createTransport } from '../../src/service/api-transport.ts';
import { generateViaMcp } from '../../src/service/mcp.ts';
import { fetchPublic } from '../../src/service/public-fetch.ts';
import type { ServiceError } from '../../src/service/service-error.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const page = Buffer.from(JSON.stringify({ data: Array.from({ length: 500 }, (_, id) => ({ id })) }));
const encodings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  'deflate ': deflateRawSync,
  br: brotliCompressSync,
};
const kinds = Object.keys(encodings);
const options = { apiKey: 'pak_live_x', backOffMs: 1, retries: 1, timeoutMs: 2000 };
const parse = (answer: { bytes: Buffer }) => JSON.parse(answer.bytes.toString('utf8')) as unknown;
const read = ({ bytes }: { bytes: Buffer }) => bytes.toString('utf8');

function flipped(bytes: Buffer): Buffer {
  const broken = Buffer.from(bytes);
  const place = Math.floor(broken.length / 2);
  broken[place] = (broken[place] ?? 0) ^ 0xff;
  return broken;
}

async function failureOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );
}

async function answering(body: Buffer, headers: Record<string, string>, status = 200) {
  const { baseUrl } = await answeringServer((_, response) => response.writeHead(status, headers).end(body));
  return { baseUrl, siteUrl: new URL(baseUrl).origin };
}

describe('a compressed answer', () => {
  it.each(kinds)('is read (%s)', async (name) => {
    const { baseUrl } = await answering(encodings[name]?.(page) ?? page, { 'content-encoding': name.trim() });
    expect(
      await createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl }).request({ path: '/x', read }),
    ).toBe(page.toString('utf8'));
  });

  it.each(kinds)('that is broken soon fails as unreadable (%s)', async (name) => {
    const headers = { 'content-encoding': name.trim() };
    const { baseUrl, siteUrl } = await answering(flipped(encodings[name]?.(page) ?? page), headers);
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl }).request({ path: '/x', read: parse }),
    );
    // If a flipped byte still unpacks, the reader has to notice it.
    expect(error).toSatisfy((one) => one instanceof SyntaxError || (one as ServiceError).kind === 'unreadable');
    const fetched = await fetchPublic(
      { destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/x`, accept: '*/*' },
      { timeoutMs: 2000 },
    );
    expect(fetched.outcome === 'refused' ? fetched.kind : 'network').toBe('network');
  });

  it.each(kinds)('that ends too early is not read as the whole text (%s)', async (name) => {
    const whole = encodings[name]?.(page) ?? page;
    let sent = whole;
    const headers = { 'content-encoding': name.trim() };
    const { baseUrl } = await answeringServer((_, response) => response.writeHead(200, headers).end(sent));
    const siteUrl = new URL(baseUrl).origin;
    const fetched = () =>
      fetchPublic({ destinations: ON_LOOPBACK, siteUrl, url: `${siteUrl}/x`, accept: '*/*' }, { timeoutMs: 2000 });
    expect((await fetched()).outcome).toBe('answered');
    for (const length of [1, 2, 12, whole.length >> 1, whole.length - 10, whole.length - 1]) {
      sent = whole.subarray(0, length);
      expect(await fetched(), `${length} bytes`).toMatchObject({
        outcome: 'refused',
        kind: 'network',
        transient: true,
      });
    }
  });

  it.each(['gzip', 'br'])('that unpacks beyond the limit is refused for its size (%s)', async (name) => {
    const bomb = encodings[name]?.(Buffer.alloc(40 * 1024 * 1024)) ?? page;
    const { baseUrl } = await answering(bomb, { 'content-encoding': name });
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl }).request({ path: '/x', read }),
    );
    expect(error).toMatchObject({ kind: 'too-large' });
  });

  it.each(['zstd', 'gzip, gzip, gzip, gzip'])('with the encoding %s is refused', async (name) => {
    const { baseUrl } = await answering(page, { 'content-encoding': name });
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl }).request({ path: '/x', read }),
    );
    expect(error).toMatchObject({ kind: 'unreadable' });
  });
});

describe('an answer that never ends', () => {
  it('ends with the time-out of the request, even if a byte comes now and then', async () => {
    const { baseUrl } = await answeringServer((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const transport = createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl, retries: 0, timeoutMs: 500 });
    const began = Date.now();
    expect(await failureOf(transport.request({ path: '/x', read }))).toMatchObject({ kind: 'timeout' });
    expect(Date.now() - began).toBeLessThan(60_000);
  });

  it('to a refused request does not hide the refusal, and is not read to 15 MB', async () => {
    const { baseUrl } = await answering(Buffer.alloc(15 * 1024 * 1024, 'x'), {}, 403);
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...options, baseUrl }).request({ path: '/x', read }),
    );
    expect(error).toMatchObject({ kind: 'forbidden', answer: null });
  });
});

describe('an MCP endpoint', () => {
  const mcp = (siteUrl: string, timeoutMs: number) =>
    generateViaMcp({
      destinations: ON_LOOPBACK,
      siteUrl,
      apiKey: 'pak_live_x',
      body: Buffer.from('{"policy_type":"a"}'),
      timeoutMs,
    });

  async function endpoint(
    onCall: (response: Parameters<typeof sendJson>[0], id: number) => void,
    outputSchema: object,
  ) {
    const server = await answeringServer((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id = 0, method } = JSON.parse(server.requests.at(-1)?.body ?? '{}') as { id?: number; method: string };
      const answer = (result: object) => sendJson(response, 200, { jsonrpc: '2.0', id, result });
      const serverInfo = { name: 'x', version: '1' };
      if (method === 'initialize') answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
      else if (method === 'tools/list')
        answer({ tools: [{ name: 'generate_policy', inputSchema: { type: 'object' }, outputSchema }] });
      else if (method === 'tools/call') onCall(response, id);
      else response.writeHead(202).end();
    });
    return new URL(server.baseUrl).origin;
  }

  it('is read even if its result schema has a pattern that never finishes', async () => {
    const text = `${'a'.repeat(40)}!`;
    const siteUrl = await endpoint(
      (response, id) =>
        sendJson(response, 200, { jsonrpc: '2.0', id, result: { content: [], structuredContent: { id: text } } }),
      { type: 'object', properties: { id: { type: 'string', pattern: '^(a+)+$' } } },
    );
    expect((await mcp(siteUrl, 3000)).bytes.toString('utf8')).toBe(JSON.stringify({ id: text }));
  });

  it('whose event stream never ends is given up after the time-out, with an unknown outcome', async () => {
    const siteUrl = await endpoint(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const drip = setInterval(() => response.write(': still here\n\n'), 50);
        response.on('close', () => clearInterval(drip));
      },
      { type: 'object' },
    );
    const began = Date.now();
    expect(await failureOf(mcp(siteUrl, 1000))).toMatchObject({ kind: 'timeout', unsent: false });
    expect(Date.now() - began).toBeLessThan(60_000);
  });
});
