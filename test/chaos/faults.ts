import { Redis } from 'ioredis';
import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';

export type FaultName =
  | 'kill a receiver'
  | 'kill a worker'
  | 'pause a receiver'
  | 'pause a worker'
  | 'restart PostgreSQL'
  | 'crash PostgreSQL'
  | 'flush Redis'
  | 'restart Redis';

/** Causes one kind of server fault; resolves when it is over. */
export type Fault = (cluster: Cluster, random: () => number) => Promise<void>;

/** Milliseconds; longer than a lease of the suite's workers, so another worker takes over the job in the meantime. */
export const PAUSE_OF_A_WORKER = 6_000;

/** Every fault of the suite, by name. */
export const faults: Readonly<Record<FaultName, Fault>> = {
  'kill a receiver': ({ receivers }, random) => killAndStart(pick(receivers, random), 200 + 1500 * random()),
  'kill a worker': ({ workers }, random) => killAndStart(pick(workers, random), 200 + 1500 * random()),
  'pause a receiver': ({ receivers }, random) => pauseFor(pick(receivers, random), 500 + 2500 * random()),
  'pause a worker': ({ workers }, random) => pauseFor(pick(workers, random), PAUSE_OF_A_WORKER),
  'restart PostgreSQL': ({ postgres }, random) => restart(postgres, () => postgres.stop('fast'), 1000 * random()),
  'crash PostgreSQL': ({ postgres }, random) => restart(postgres, () => postgres.stop('immediate'), 1000 * random()),
  async 'flush Redis'({ redis }) {
    const client = new Redis(redis.url, { maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    await client.flushall().catch(() => undefined);
    client.disconnect();
  },
  'restart Redis': ({ redis }, random) =>
    restart(redis, () => redis.stop(random() < 0.5 ? 'kill' : 'gently'), 2000 * random()),
};

async function killAndStart(member: Member, pause: number): Promise<void> {
  await member.kill();
  await sleep(pause);
  await member.start();
}

async function pauseFor(member: Member, ms: number): Promise<void> {
  member.pause();
  await sleep(ms);
  member.resume();
}

async function restart(server: { start(): Promise<void> }, stop: () => Promise<void>, pause: number): Promise<void> {
  await stop();
  await sleep(pause);
  await server.start();
}

/** A random item of a list. */
export function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Rejects, naming the work, if it does not end within milliseconds: something that never ends must not end a run in silence. */
export async function within<T>(limit: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${limit / 1000} s`)), limit);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
