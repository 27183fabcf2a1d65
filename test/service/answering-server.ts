import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { DestinationRule } from '../../src/core/destination.ts';

/** Where stand-ins for the service are. */
export const ON_LOOPBACK: DestinationRule = {
  httpAllowedHosts: [],
  privateAllowedHosts: ['127.0.0.1', 'localhost'],
};

export interface AnsweringServer {
  readonly baseUrl: string;
  /** The requests so far, oldest first. */
  readonly requests: {
    readonly method: string;
    readonly url: URL;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
}

/** A server on a free loopback port that answers as the test specifies; closed when the test ends. `nth` counts requests from 1. */
export async function answeringServer(
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
): Promise<AnsweringServer> {
  const requests: AnsweringServer['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({
        method: request.method ?? '',
        url: new URL(request.url ?? '/', 'http://service.test'),
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      answer(request, response, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`, requests };
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value), 'utf8');
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': body.length, ...headers })
    .end(body);
}
