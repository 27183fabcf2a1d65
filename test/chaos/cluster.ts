import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newInstanceKeyText, newSigningKeyPem } from '../../src/config/key-files.ts';
import { findFreePort } from '../servers/own-process.ts';
import { type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createMember, type Member } from './member.ts';

/** Several receivers and workers on their own PostgreSQL and Redis. */
export interface Cluster {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly receivers: readonly Member[];
  readonly workers: readonly Member[];
  /** The environment of every process of the installation. */
  readonly env: Record<string, string>;
  /** Its DATA_DIR. */
  readonly folder: string;
  readonly secret: string;
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly receivers: number;
  readonly workers: number;
  /** Flags of each worker. */
  readonly workerFlags?: readonly string[];
  readonly more?: Record<string, string>;
}

/** Starts servers and processes; the caller closes the cluster, which ends everything it started. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const shut of opened.reverse()) await shut();
    opened.length = 0;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-chaos-'));
    opened.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const postgres = await startPostgres();
    opened.push(() => postgres.close());
    const redis = await startRedis();
    opened.push(() => redis.close());
    const secret = randomBytes(24).toString('hex');
    await writeFile(join(folder, 'signing.pem'), newSigningKeyPem(), { mode: 0o600 });
    const env = {
      PATH: process.env.PATH ?? '',
      DATA_DIR: folder,
      DATABASE_URL: postgres.url(),
      REDIS_URL: redis.url,
      INSTANCE_KEY: newInstanceKeyText(),
      SIGNING_KEY_FILE: join(folder, 'signing.pem'),
      WEBHOOK_SECRETS: secret,
      SYNC_SCHEDULE: 'off',
      LOG_LEVEL: 'warn',
      ...options.more,
    };
    const receivers: Member[] = [];
    const workers: Member[] = [];
    for (let n = 1; n <= options.receivers; n += 1) {
      const [port, adminPort] = [await findFreePort(), await findFreePort()];
      const own = { ...env, PORT: String(port), ADMIN_PORT: String(adminPort) };
      const member = createMember(`receiver ${n}`, ['serve', '--no-worker'], own, folder, `http://127.0.0.1:${port}`);
      opened.push(() => member.kill());
      await member.start();
      receivers.push(member);
    }
    for (let n = 1; n <= options.workers; n += 1) {
      const member = createMember(`worker ${n}`, ['worker', ...(options.workerFlags ?? [])], env, folder);
      opened.push(() => member.kill());
      await member.start();
      workers.push(member);
    }
    return { postgres, redis, receivers, workers, env, folder, secret, close };
  } catch (error) {
    await close();
    throw error;
  }
}
