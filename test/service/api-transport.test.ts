import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createTransport, type TransportOptions } from '../../src/service/api-transport.ts';
import { ServiceError, type ServiceErrorKind, serviceErrorKinds } from '../../src/service/service-error.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const apiKey = 'pak_live_0123456789abcdef';
const quick = { apiKey, backOffMs: 1, retries: 3 } satisfies Partial<TransportOptions>;

async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}
const asText = { read: ({ bytes }: { bytes: Buffer }) => bytes.toString('utf8') };

describe('a request to the service', () => {
  it('carries the key as a bearer token, its parameters, and no parameter that is null', async () => {
    const server = await answeringServer((_, response) => sendJson(response, 200, { ok: true }));
    const transport = createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: `${server.baseUrl}/` });
    const text = await transport.request({
      path: '/consent/logs',
      query: { banner_id: 'b 1&2', cursor: null, limit: 7 },
      ...asText,
    });
    expect(text).toBe('{"ok":true}');
    expect(server.requests[0]?.url.pathname).toBe('/api/v1/consent/logs');
    expect(Object.fromEntries(server.requests[0]?.url.searchParams ?? [])).toEqual({ banner_id: 'b 1&2', limit: '7' });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  it('gives the Date of the service, or null if there is no readable one', async () => {
    const server = await answeringServer((_, response, nth) => {
      response.sendDate = false;
      sendJson(response, 200, {}, nth === 1 ? { date: 'Wed, 01 Jul 2026 10:00:00 GMT' } : { date: 'yesterday' });
    });
    const transport = createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl });
    const read = ({ serverDate }: { serverDate: Date | null }) => serverDate;
    expect((await transport.request({ path: '/x', read }))?.toISOString()).toBe('2026-07-01T10:00:00.000Z');
    expect(await transport.request({ path: '/x', read })).toBeNull();
  });

  it('is retried after 500, 429, a dropped connection and an unreadable answer, if it only reads', async () => {
    const server = await answeringServer((request, response, nth) => {
      if (nth === 1) sendJson(response, 500, { error: { code: 'internal', message: 'oops' } });
      else if (nth === 2) sendJson(response, 429, { error: { code: 'slow', message: 'slow down' } });
      else if (nth === 3) request.socket.destroy();
      else if (nth === 4) sendJson(response, 200, '{"cut');
      else sendJson(response, 200, { fine: 1 });
    });
    const told: ServiceErrorKind[] = [];
    const transport = createTransport({
      destinations: ON_LOOPBACK,
      ...quick,
      retries: 5,
      baseUrl: server.baseUrl,
      onRetry: ({ kind }) => told.push(kind),
    });
    const read = ({ bytes }: { bytes: Buffer }) => {
      try {
        return JSON.parse(bytes.toString('utf8')) as unknown;
      } catch {
        throw new ServiceError('unreadable');
      }
    };
    expect(await transport.request({ path: '/x', read })).toEqual({ fine: 1 });
    expect(told).toEqual(['server-error', 'rate-limited', 'network', 'unreadable']);
  });

  it('is never sent twice if it changes something', async () => {
    const server = await answeringServer((_, response) => sendJson(response, 500, {}));
    const transport = createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl });
    const error = await failureOf(
      transport.request({ method: 'POST', path: '/policies/generate', body: { a: 1 }, ...asText }),
    );
    expect(error.kind).toBe('server-error');
    expect(server.requests.map(({ method, body }) => [method, body])).toEqual([['POST', '{"a":1}']]);
  });

  it('is not retried after a permanent refusal', async () => {
    for (const [status, kind] of [
      [400, 'bad-request'],
      [401, 'unauthorized'],
      [402, 'payment-required'],
      [403, 'forbidden'],
      [404, 'not-found'],
      [410, 'gone'],
      [418, 'unexpected-status'],
    ] as const) {
      const server = await answeringServer((_, response) =>
        sendJson(response, status, { error: { code: 'c', message: 'm' } }),
      );
      const error = await failureOf(
        createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl }).request({
          path: '/x',
          ...asText,
        }),
      );
      expect([error.kind, error.status, error.code, error.detail]).toEqual([kind, status, 'c', 'm']);
      expect(server.requests).toHaveLength(1);
    }
  });

  it('waits as long as Retry-After asks', async () => {
    const server = await answeringServer((_, response, nth) =>
      nth === 1 ? sendJson(response, 429, {}, { 'retry-after': '1' }) : sendJson(response, 200, {}),
    );
    const began = performance.now();
    await createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl }).request({
      path: '/x',
      ...asText,
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    expect(server.requests).toHaveLength(2);
  });

  it('gives up at once if the service requests a wait beyond the limit, and says how long', async () => {
    const server = await answeringServer((_, response) => sendJson(response, 429, {}, { 'retry-after': '3600' }));
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl }).request({
        path: '/x',
        ...asText,
      }),
    );
    expect([error.kind, error.retryAfterMs]).toEqual(['rate-limited', 3_600_000]);
    expect(server.requests).toHaveLength(1);
  });

  it('ends after its time-out, even in the middle of an answer', async () => {
    const server = await answeringServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"data":[');
    });
    const transport = createTransport({
      destinations: ON_LOOPBACK,
      ...quick,
      retries: 0,
      baseUrl: server.baseUrl,
      timeoutMs: 50,
    });
    expect((await failureOf(transport.request({ path: '/x', ...asText }))).kind).toBe('timeout');
  });

  it('stops with the reason of the signal, even while waiting to retry', async () => {
    const server = await answeringServer((_, response) => sendJson(response, 429, {}, { 'retry-after': '60' }));
    const controller = new AbortController();
    const transport = createTransport({
      destinations: ON_LOOPBACK,
      ...quick,
      baseUrl: server.baseUrl,
      onRetry: () => controller.abort(new Error('enough')),
    });
    await expect(transport.request({ path: '/x', signal: controller.signal, ...asText })).rejects.toThrow('enough');
    expect(server.requests).toHaveLength(1);
  });

  it('reads no more bytes than the limit: announced, unannounced or compressed', async () => {
    const megabyte = Buffer.alloc(1 << 20, 0x20);
    const zipped = gzipSync(megabyte);
    const server = await answeringServer((_, response, nth) => {
      if (nth === 1) response.writeHead(200, { 'content-length': megabyte.length }).end(megabyte);
      else if (nth === 2) response.writeHead(200).end(megabyte);
      else response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length }).end(zipped);
    });
    const transport = createTransport({
      destinations: ON_LOOPBACK,
      ...quick,
      baseUrl: server.baseUrl,
      maxBytes: 100_000,
    });
    for (let nth = 1; nth <= 3; nth += 1) {
      expect((await failureOf(transport.request({ path: '/x', ...asText }))).kind).toBe('too-large');
    }
    expect(server.requests).toHaveLength(3);
  });

  it('follows no redirect, so the key never goes to another address', async () => {
    const other = await answeringServer((_, response) => sendJson(response, 200, {}));
    const server = await answeringServer((_, response) => response.writeHead(302, { location: other.baseUrl }).end());
    expect(
      (
        await failureOf(
          createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl }).request({
            path: '/x',
            ...asText,
          }),
        )
      ).kind,
    ).toBe('redirected');
    expect(other.requests).toHaveLength(0);
  });

  it('is refused according to its status, whatever happens to the body that explains it', async () => {
    const server = await answeringServer((_, response, nth) => {
      response.writeHead(402, { 'content-length': '100000' });
      if (nth === 1) response.write('{"error":', () => response.destroy());
      else response.end(Buffer.alloc(100_000, 0x20));
    });
    const transport = createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl, maxBytes: 1000 });
    for (let nth = 1; nth <= 2; nth += 1) {
      const error = await failureOf(transport.request({ method: 'POST', path: '/x', ...asText }));
      expect([error.kind, error.status, error.answer]).toEqual(['payment-required', 402, null]);
    }
  });

  it('refuses a base URL that is not http', () => {
    expect(() => createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: 'file:///etc/passwd' })).toThrow(
      'http',
    );
    expect(() => createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: 'api.example.com' })).toThrow();
  });
});

describe('the error of a failed request', () => {
  it('is plain sentences that end with what to do, for every kind', () => {
    for (const kind of serviceErrorKinds) {
      const error = new ServiceError(kind, { status: 499 });
      expect(error.message).toMatch(/^[A-Z].+\. \(HTTP 499\) .+\.$/);
      expect(error.message.endsWith(error.remedy)).toBe(true);
    }
  });

  it('never holds the key, or line breaks or control characters from the service', async () => {
    const server = await answeringServer((_, response) =>
      sendJson(response, 401, {
        error: { code: 'bad\nkey', message: `the key ${apiKey}\u001b[31m is\r\nrevoked ${'x'.repeat(5000)}` },
      }),
    );
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...quick, baseUrl: server.baseUrl }).request({
        path: '/x',
        ...asText,
      }),
    );
    expect(error.message).toContain('the key [API key] [31m is revoked xxx');
    expect(JSON.stringify([error.message, error.stack, error.detail, String(error.cause)])).not.toContain(apiKey);
    expect(error.message).not.toMatch(/[\u0000-\u001f]/);
    expect(error.message.length).toBeLessThan(800);
  });

  it('quotes the network error', async () => {
    const error = await failureOf(
      createTransport({
        destinations: ON_LOOPBACK,
        ...quick,
        retries: 0,
        baseUrl: 'http://127.0.0.1:1/api/v1',
      }).request({
        path: '/x',
        ...asText,
      }),
    );
    expect(error.kind).toBe('network');
    expect(error.message).toMatch(/ECONNREFUSED|bad port/);
  });

  it('accepts an error body that is not an envelope', async () => {
    const server = await answeringServer((_, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
    const error = await failureOf(
      createTransport({ destinations: ON_LOOPBACK, ...quick, retries: 0, baseUrl: server.baseUrl }).request({
        path: '/x',
        ...asText,
      }),
    );
    expect([error.kind, error.code, error.detail]).toEqual(['server-error', null, null]);
  });
});
