import { join } from 'node:path';
import { findAccount, findPrograms, makeServerFolder, removeServerFolder, startOwnProcess } from './own-process.ts';
import { launchOnFreePort } from './postgres.ts';

/** A Redis server for the tests, on loopback. */
export interface RedisServer {
  readonly port: number;
  /** The folder with its data. */
  readonly folder: string;
  readonly url: string;
  /** Its pid, which changes with each start. */
  pid(): number;
  /** `kill` ends it like a crash; writes of the last second may be lost. */
  stop(how?: 'gently' | 'kill'): Promise<void>;
  /** Starts it again after {@link stop}, with the same data on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** As `doctor` requires of a Redis for jobs: nothing is evicted, everything is appended to a file. */
const settings = ['--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];

/** Starts an empty Redis server. Throws with the remedy if it is not installed. */
export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const programs = findPrograms(['redis-server'], ['/usr/bin', '/usr/local/bin']);
  if (programs === null) {
    throw new Error('The tests need a Redis server: install it (apt-get install redis-server), or put it on PATH.');
  }
  const account = findAccount();
  const folder = await makeServerFolder('redis', account);
  try {
    const launch = (port: number) =>
      startOwnProcess({
        program: join(programs, 'redis-server'),
        args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings, ...more],
        folder,
        account,
        ready: /Ready to accept connections/,
      });
    const { port, process: first } = await launchOnFreePort(launch);
    let process = first;
    return {
      port,
      folder,
      url: `redis://127.0.0.1:${port}`,
      pid: () => process.pid,
      stop: (how = 'gently') => process.end(how === 'kill' ? 'SIGKILL' : 'SIGTERM'),
      async start() {
        process = await launch(port);
      },
      async close() {
        // On SIGTERM it would first save the data that is about to be removed, and not end until then.
        await process.end('SIGKILL');
        await removeServerFolder(folder);
      },
    };
  } catch (error) {
    await removeServerFolder(folder);
    throw error;
  }
}
