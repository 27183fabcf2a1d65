import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Clock } from '../core/clock.ts';
import { type JobLog, type QueueName, queueOf } from './job.ts';
import type { WakeUp } from './jobs.ts';
import { withinTime } from './time-limits.ts';

export interface DistributionOptions {
  /** redis:// or rediss://. */
  readonly url: string;
  /** Name of the installation: several may share one Redis. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: JobLog;
}

/** What the operator may want to know of it. Numbers count from the start of this process. */
export interface DistributionState {
  readonly up: boolean;
  readonly wakeUpsSent: number;
  readonly wakeUpsFailed: number;
}

/** Listens on a queue until closed. */
export interface Listening {
  /** Takes no more wake-ups; resolves when those in hand are done. */
  close(): Promise<void>;
}

const SEND_LIMIT_MS = 1000;
const CLOSE_LIMIT_MS = 2000;
/** Wake-ups sent to a queue for many jobs at once: a woken worker continues until nothing is due. */
const WOKEN = 16;
/** Of BullMQ's own events, which nobody here reads. */
const EVENTS_KEPT = 100;

type ConnectionSettings = Omit<RedisOptions, 'replyMapping'>;

const reconnecting = (times: number) => Math.min(100 * 2 ** Math.min(times, 10), 3000);

/** A producer must fail soon: who enqueues does not wait for Redis. */
const producerOptions: ConnectionSettings = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: SEND_LIMIT_MS,
  connectTimeout: 2000,
  retryStrategy: reconnecting,
};

/** A worker must wait for ever: its blocking commands go on when Redis is back. */
const listenerOptions: ConnectionSettings = {
  maxRetriesPerRequest: null,
  connectTimeout: 2000,
  retryStrategy: reconnecting,
};

/** The connections of this process to Redis, made in the background; a Redis that is away is reported once, and found again by itself. */
function openConnections({ url, clock, log }: DistributionOptions, connectionName: string) {
  const clients = new Set<Redis>();
  let listener: Redis | null = null;
  let away = false;
  let closing = false;
  let lastComplaint = 0;

  const producer = connect(producerOptions);
  producer.on('ready', markBack);
  producer.on('close', () => markAway(new Error('the connection was closed')));
  producer.on('error', markAway);

  function connect(more: ConnectionSettings): Redis {
    const client = new Redis(url, { ...more, connectionName });
    keep(client);
    return client;
  }

  function keep(client: Redis): void {
    // Listened to for as long as it lives: an error event that nobody hears would end the process.
    client.on('error', () => undefined);
    clients.add(client);
  }

  function markAway(error: unknown): void {
    if (away || closing) return;
    away = true;
    const remedy = 'Is the server running, and is REDIS_URL right?';
    log.error(
      { reason: error instanceof Error ? error.message : String(error), redis: hostOf(url), remedy },
      'Redis is unavailable: workers poll for due jobs every second',
    );
  }

  function markBack(): void {
    if (!away || closing) return;
    away = false;
    log.warn({ redis: hostOf(url) }, 'Redis is available again and wakes the workers');
  }

  return {
    producer,
    markAway,
    markBack,
    isAway: () => away,
    /** The workers of this process share one connection; each blocks on one of its own, which BullMQ duplicates from it. */
    listener(): Redis {
      if (listener !== null) return listener;
      const shared = connect(listenerOptions);
      const duplicate = shared.duplicate.bind(shared);
      shared.duplicate = (override) => {
        const copy = duplicate(override);
        keep(copy);
        return copy;
      };
      listener = shared;
      return shared;
    },
    /** Errors of BullMQ's own housekeeping; those of the connection are reported by the producer. */
    complain(error: Error): void {
      const now = clock().getTime();
      if (away || closing || isConnectionError(error) || now - lastComplaint < 60_000) return;
      lastComplaint = now;
      log.warn({ err: error }, 'a wake-up was lost in Redis; polling will find its job');
    },
    async isReady(): Promise<boolean> {
      if (producer.status === 'ready') return true;
      if (away || closing) return false;
      const ready = new Promise<void>((resolve) => producer.once('ready', () => resolve()));
      return withinTime(ready, SEND_LIMIT_MS);
    },
    /** What the connections meet from now on is not reported. */
    fallSilent(): void {
      closing = true;
    },
    disconnect(): void {
      for (const client of clients) if (client.status !== 'end') client.disconnect();
    },
  };
}

/** Connects in the background and hands wake-ups over. */
export function openDistribution(options: DistributionOptions) {
  const { instance, clock } = options;
  const prefix = `consent-ledger-${instance}`;
  const connections = openConnections(options, prefix);
  const { producer } = connections;
  const queues = new Map<QueueName, Queue>();
  const listenings = new Set<Listening>();
  const sending = new Set<Promise<unknown>>();
  let closing = false;
  let sent = 0;
  let failed = 0;

  function queueNamed(name: QueueName): Queue {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue = new Queue(name, {
      connection: producer,
      prefix,
      // Nothing is asked of the server at the start: a queue that was made while it was away would never be ready.
      skipWaitingForReady: true,
      skipVersionCheck: true,
      skipMetasUpdate: true,
      streams: { events: { maxLen: EVENTS_KEPT } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', connections.complain);
    queues.set(name, queue);
    return queue;
  }

  async function send(queue: QueueName, at: Date | null): Promise<boolean> {
    try {
      const delay = Math.max(0, (at?.getTime() ?? 0) - clock().getTime());
      // An id of its own: one that exists already would be ignored silently.
      const adding = queueNamed(queue).add('due', null, { jobId: randomUUID(), delay });
      adding.catch(() => undefined);
      if (!(await withinTime(adding, SEND_LIMIT_MS))) throw new Error('Redis did not answer in time');
      sent++;
      connections.markBack();
      return true;
    } catch (error) {
      failed++;
      connections.markAway(error);
      return false;
    }
  }

  async function announce(wakeUps: readonly WakeUp[]): Promise<boolean> {
    if (!(await connections.isReady())) {
      failed += wakeUps.length;
      return false;
    }
    const now = clock().getTime();
    const later: WakeUp[] = [];
    const due = new Map<QueueName, number>();
    for (const wakeUp of wakeUps) {
      const queue = queueOf(wakeUp.kind);
      if ((wakeUp.at?.getTime() ?? 0) > now) later.push(wakeUp);
      else due.set(queue, Math.min((due.get(queue) ?? 0) + 1, WOKEN));
    }
    const all = await Promise.all([
      ...later.map(({ kind, at }) => send(queueOf(kind), at)),
      ...[...due].flatMap(([queue, count]) => Array.from({ length: count }, () => send(queue, null))),
    ]);
    return all.every(Boolean);
  }

  return {
    /** Sends wake-ups. False: not all could be sent within about a second. Never rejects. */
    announce(wakeUps: readonly WakeUp[]): Promise<boolean> {
      const announcing = announce(wakeUps);
      sending.add(announcing);
      return announcing.finally(() => sending.delete(announcing));
    },
    /** Calls `work` for each wake-up, up to `concurrency` at once; false from it hands the wake-up on to another process. */
    listen(queue: string, concurrency: number, work: () => Promise<boolean>): Listening {
      const worker = new Worker(
        queue,
        async () => {
          if (!(await work())) await send(queue as QueueName, null);
          return null;
        },
        {
          connection: connections.listener(),
          prefix,
          concurrency,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        },
      );
      worker.on('error', connections.complain);
      const listening: Listening = {
        async close() {
          await worker.close();
          listenings.delete(listening);
        },
      };
      listenings.add(listening);
      return listening;
    },
    /** Whether Redis could not be reached when it was last needed. */
    isAway: connections.isAway,
    async state(): Promise<DistributionState> {
      const answers = async () => (await connections.isReady()) && (await producer.ping()).length > 0;
      const up = await answers().catch(() => false);
      if (up) connections.markBack();
      return { up, wakeUpsSent: sent, wakeUpsFailed: failed };
    },
    /** Bounded: what Redis does not answer within a few seconds is cut off. */
    async close(): Promise<void> {
      if (closing) return;
      await withinTime(Promise.allSettled(sending), SEND_LIMIT_MS);
      closing = true;
      connections.fallSilent();
      const all = [...[...listenings].map((one) => one.close()), ...[...queues.values()].map((one) => one.close())];
      await withinTime(Promise.allSettled(all), CLOSE_LIMIT_MS);
      connections.disconnect();
    },
  };
}

/**
 * Wake-ups over BullMQ. A wake-up says "look into the table": it carries no work, no retry and no time that matters, so that a
 * Redis that is away, wiped or restarted delays jobs and loses none.
 */
export type Distribution = ReturnType<typeof openDistribution>;

function isConnectionError(error: Error): boolean {
  return /ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|connection is closed|Command timed out|stream isn't writeable/i.test(
    `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`,
  );
}

/** Without the password. */
function hostOf(url: string): string {
  return new URL(url).host;
}

/** What a Redis says of itself; null where it does not say. */
export type RedisReport =
  | { readonly outcome: 'unreachable'; readonly reason: string }
  | {
      readonly outcome: 'reached';
      readonly version: string | null;
      readonly maxmemoryPolicy: string | null;
      readonly appendOnly: boolean | null;
    };

/** Asks a Redis for what BullMQ needs of it, within a few seconds. Never rejects. */
export async function inspectRedis(url: string): Promise<RedisReport> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3000,
    commandTimeout: 3000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | null = null;
  client.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await client.connect();
    await client.ping();
    const info = await client.info().catch(() => '');
    const fieldOf = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
    const setting = async (name: string) =>
      client.config('GET', name).then(
        (answer) => answer[1] ?? null,
        () => null,
      );
    const appended = fieldOf('aof_enabled') ?? (await setting('appendonly'));
    return {
      outcome: 'reached',
      version: fieldOf('redis_version'),
      maxmemoryPolicy: fieldOf('maxmemory_policy') ?? (await setting('maxmemory-policy')),
      appendOnly: appended === null ? null : appended === '1' || appended === 'yes',
    };
  } catch (error) {
    return { outcome: 'unreachable', reason: ((reason ?? error) as Error).message };
  } finally {
    client.disconnect();
  }
}
