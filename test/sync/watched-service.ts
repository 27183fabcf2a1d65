import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy between the program and a service. It records the requested pages, makes them small, and can delay them. */
export interface WatchedService {
  readonly baseUrl: string;
  /** The requests to the consent log, in order. */
  readonly requests: readonly URLSearchParams[];
  /** Those of them that are waiting. */
  waiting(): readonly URLSearchParams[];
  /** Lets this many requests through from now on, waiting ones first; the others wait. */
  letThrough(count: number): void;
}

const PATH = '/consent/logs';

/** Lets everything through at first; closed when the test ends. `pageRows`: largest page of the service. */
export async function watchedService(
  target: string,
  { pageRows, delay = 0 }: { readonly pageRows: number; readonly delay?: number },
): Promise<WatchedService> {
  const requests: URLSearchParams[] = [];
  const queue: { readonly query: URLSearchParams; readonly go: () => void }[] = [];
  let free = Number.POSITIVE_INFINITY;

  const turn = (query: URLSearchParams, response: ServerResponse): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((go) => {
      const place = { query, go };
      queue.push(place);
      // The caller has disconnected.
      response.once('close', () => {
        const at = queue.indexOf(place);
        if (at !== -1) queue.splice(at, 1);
      });
    });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://watched');
    if (url.pathname.endsWith(PATH)) {
      const query = new URLSearchParams(url.searchParams);
      requests.push(query);
      url.searchParams.set('limit', String(Math.min(pageRows, Number(query.get('limit') ?? 50))));
      await turn(query, response);
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    }
    const { authorization = '' } = request.headers;
    const answered = await fetch(`${new URL(target).origin}${url.pathname}${url.search}`, {
      headers: { authorization },
    });
    const bytes = Buffer.from(await answered.arrayBuffer());
    const headers = ['content-type', 'date', 'retry-after'].flatMap((name): [string, string][] => {
      const value = answered.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    response.writeHead(answered.status, Object.fromEntries(headers)).end(bytes);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${new URL(target).pathname}`,
    requests,
    waiting: () => queue.map(({ query }) => query),
    letThrough(count) {
      free = count;
      while (free > 0 && queue.length > 0) {
        free -= 1;
        queue.shift()?.go();
      }
    },
  };
}
