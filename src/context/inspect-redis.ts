import type { RedisReport } from '../jobs/bullmq.ts';

/** Asks the Redis of REDIS_URL how it is set, with the libraries loaded only then. Never rejects. */
export async function loadRedisReport(url: string): Promise<RedisReport> {
  const { inspectRedis } = await import('../jobs/bullmq.ts');
  return inspectRedis(url);
}
