import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Deliveries a second, whatever the server does; null: each connection sends its next one after its response. */
  readonly rate: number | null;
  readonly secret: string;
}

/**
 * The results of a load run. Times from sending to the response, in milliseconds; at a given rate, from the time the
 * delivery was due.
 */
export interface LoadResult {
  readonly answered: number;
  /** Includes the responses of the first second, which count for nothing else. */
  readonly answeredInAll: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

/** Loads a server from a separate process. */
export async function sendLoad(options: LoadOptions): Promise<LoadResult> {
  const child = fork(fileURLToPath(new URL('./load-sender.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--import', 'tsx'],
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error('The load generator failed.');
  });
  // It ends after reporting its results.
  exited.catch(() => undefined);
  const [result] = (await Promise.race([once(child, 'message'), exited])) as [LoadResult];
  return result;
}
