import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';

/** A parsed JSON response, untyped because the tests read it as an outsider would. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export const NOON = new Date('2026-07-20T12:00:00.000Z');

/** Runs a test against a listening sandbox with a fixed clock and closes it afterwards. */
export async function withSandbox<T>(
  options: Partial<SandboxOptions>,
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const sandbox = createSandbox({ seed: 7, clock: () => NOON, clients: 2, backoffMs: [5, 10, 20], ...options });
  await sandbox.listen();
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

export interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** Runs a test with an HTTP endpoint that keeps its requests and responds as configured. */
export async function withEndpoint<T>(
  answer: (received: Received, count: number) => number,
  use: (url: string, received: readonly Received[]) => Promise<T>,
): Promise<T> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        method: request.method ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      received.push(one);
      response.writeHead(answer(one, received.length)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, received);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** GET with a key; returns the parsed response with its status. */
export async function get(
  sandbox: Sandbox,
  path: string,
  key: string | null,
): Promise<{ status: number; body: Json; headers: Headers }> {
  const answer = await fetch(`${sandbox.baseUrl()}${path}`, {
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

export async function post(
  sandbox: Sandbox,
  path: string,
  key: string,
  body?: unknown,
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${sandbox.baseUrl()}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** Every row of a client, page by page. */
export async function allRows(sandbox: Sandbox, key: string, query = 'limit=200'): Promise<Json[]> {
  const rows: Json[] = [];
  let cursor: string | null | undefined;
  do {
    const { status, body } = await get(
      sandbox,
      `/consent/logs?${query}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      key,
    );
    if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(body)}`);
    rows.push(...body.data);
    cursor = body.next_cursor;
  } while (cursor !== null && cursor !== undefined && cursor !== '');
  return rows;
}
