import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/** What a load run saw. */
export interface LoadResult {
  readonly answered: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: Float64Array;
}

/**
 * Sends prepared HTTP requests over keep-alive connections, each the next one as soon as it has its answer. Requests are ready-made bytes,
 * so that the generator's own work is small beside the server's. Fails on any answer but 200.
 */
export async function sendLoad(port: number, requests: readonly Buffer[], connections: number): Promise<LoadResult> {
  let next = 0;
  const latencies = new Float64Array(requests.length);
  let answered = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () => {
      return new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1');
        socket.setNoDelay(true);
        let sentAt = 0;
        let pending = '';
        const send = () => {
          const request = requests[next];
          if (request === undefined) {
            socket.end();
            return resolve();
          }
          next += 1;
          sentAt = performance.now();
          socket.write(request);
        };
        socket.on('connect', send);
        socket.on('error', reject);
        socket.on('data', (chunk: Buffer) => {
          pending += chunk.toString('latin1');
          const head = pending.indexOf('\r\n\r\n');
          if (head < 0) return;
          const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
          if (pending.length < head + 4 + length) return;
          if (!pending.startsWith('HTTP/1.1 200')) {
            socket.destroy();
            return reject(new Error(`the server answered ${pending.slice(0, 200)}`));
          }
          pending = '';
          latencies[answered] = performance.now() - sentAt;
          answered += 1;
          send();
        });
      });
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { answered, seconds, latencies: latencies.subarray(0, answered).sort() };
}
