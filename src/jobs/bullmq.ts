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
  /** Name of the installation, since several may share one Redis. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: JobLog;
}

/** Information for the operator. Counts start with this process. */
export interface DistributionState {
  readonly up: boolean;
  readonly wakeUpsSent: number;
  readonly wakeUpsFailed: number;
}

/** Listens on a queue until closed. */
export interface Listening {
  /** Stops taking wake-ups; resolves when the current ones are done. */
  close(): Promise<void>;
}

const SEND_LIMIT_MS = 1000;
const CLOSE_LIMIT_MS = 2000;
/** Wake-ups sent to a queue when many jobs are enqueued at once: a woken worker continues until nothing is due. */
const WOKEN = 16;
/** BullMQ's own events, which nothing here reads. */
const EVENTS_KEPT = 100;

type ConnectionSettings = Omit<RedisOptions, 'replyMapping'>;

const reconnecting = (times: number) => Math.min(100 * 2 ** Math.min(times, 10), 3000);

/** A producer must fail quickly, because enqueuing does not wait for Redis. */
const producerOptions: ConnectionSettings = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: SEND_LIMIT_MS,
  connectTimeout: 2000,
  retryStrategy: reconnecting,
};

/** A worker must wait forever: its blocking commands continue when Redis is back. */
const listenerOptions: ConnectionSettings = {
  maxRetriesPerRequest: null,
  connectTimeout: 2000,
  retryStrategy: reconnecting,
};

/**
 * This process's connections to Redis, opened in the background. An outage of Redis is reported once, and reconnecting
 * is automatic.
 */
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
    // Always listened to: an unhandled error event would end the process.
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
    /** The connection shared by this process's workers; BullMQ duplicates a blocking one from it for each. */
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
    /** Reports errors of BullMQ's own housekeeping; connection errors are reported by the producer. */
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
    /** From now on, connection problems are not reported. */
    fallSilent(): void {
      closing = true;
    },
    disconnect(): void {
      for (const client of clients) if (client.status !== 'end') client.disconnect();
    },
  };
}

/** Connects in the background and passes wake-ups on. */
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
      // Does not contact the server at the start: a queue created while it was down would never become ready.
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
      // A new id: an existing one would be ignored silently.
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
    /** Sends wake-ups. False if not all could be sent within about a second. Never rejects. */
    announce(wakeUps: readonly WakeUp[]): Promise<boolean> {
      const announcing = announce(wakeUps);
      sending.add(announcing);
      return announcing.finally(() => sending.delete(announcing));
    },
    /** Calls `work` for each wake-up, up to `concurrency` at once; if it returns false, the wake-up goes to another process. */
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
    /** Whether Redis could not be reached when last needed. */
    isAway: connections.isAway,
    async state(): Promise<DistributionState> {
      const answers = async () => (await connections.isReady()) && (await producer.ping()).length > 0;
      const up = await answers().catch(() => false);
      if (up) connections.markBack();
      return { up, wakeUpsSent: sent, wakeUpsFailed: failed };
    },
    /** Limited to a few seconds: whatever Redis has not answered by then is cut off. */
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
 * Wake-ups over BullMQ. A wake-up says "look into the table" and carries no work, retries or times, so if Redis is
 * down, wiped or restarted, jobs are delayed but not lost.
 */
export type Distribution = ReturnType<typeof openDistribution>;

function isConnectionError(error: Error): boolean {
  return /ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|connection is closed|Command timed out|stream isn't writeable/i.test(
    `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`,
  );
}

/** The host of a URL, without the password. */
function hostOf(url: string): string {
  return new URL(url).host;
}

/** What a Redis reports about itself; null if it does not say. */
export type RedisReport =
  | { readonly outcome: 'unreachable'; readonly reason: string }
  | {
      readonly outcome: 'reached';
      readonly version: string | null;
      readonly maxmemoryPolicy: string | null;
      readonly appendOnly: boolean | null;
    };

/** Asks a Redis whether it fits BullMQ's needs, within a few seconds. Never rejects. */
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
