import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkRedis, linesOf } from '../../src/commands/doctor/surroundings.ts';
import { findFreePort } from '../servers/own-process.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.close());

const levelsOf = async (url: string) => (await checkRedis(url)).map(({ level, sentence }) => `${level}: ${sentence}`);
async function asAdmin(...commands: readonly (readonly [string, ...string[]])[]): Promise<void> {
  const client = new Redis(redis.url);
  for (const [name, ...args] of commands) await client.call(name, ...args);
  client.disconnect();
}

test('doctor prints nothing without REDIS_URL, and one line for a well-configured server', async () => {
  expect(await checkRedis(null)).toEqual([]);
  expect(await checkRedis(redis.url)).toMatchObject([{ about: 'Redis', level: 'ok', remedy: null }]);
});

test('doctor names each setting that BullMQ needs and the server lacks, with its remedy', async () => {
  await asAdmin(['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'], ['CONFIG', 'SET', 'appendonly', 'no']);
  const lines = await checkRedis(redis.url);
  expect(lines).toMatchObject([
    { level: 'ok' },
    {
      level: 'fault',
      sentence: expect.stringContaining('allkeys-lru') as string,
      remedy: expect.stringContaining('noeviction') as string,
    },
    { level: 'note', sentence: expect.stringContaining('appendonly is off') as string },
  ]);
  await asAdmin(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'], ['CONFIG', 'SET', 'appendonly', 'yes']);
});

test('doctor reports a fault if Redis does not answer, without printing its password', async () => {
  const [line] = await checkRedis(`redis://:hush@127.0.0.1:${await findFreePort()}`);
  expect(line).toMatchObject({ level: 'fault', remedy: expect.stringContaining('REDIS_URL') as string });
  expect(JSON.stringify(line)).not.toContain('hush');
});

test('doctor says what it could not check if the Redis user lacks permissions', async () => {
  await asAdmin(['ACL', 'SETUSER', 'narrow', 'on', '>pass', '~*', '+@all', '-config', '-info']);
  const levels = await levelsOf(redis.url.replace('redis://', 'redis://narrow:pass@'));
  expect(levels.filter((line) => /^note: Cannot check/.test(line))).toHaveLength(3);
  expect(levels.some((line) => line.startsWith('fault'))).toBe(false);
});

test('doctor reports a fault below the minimum version and a note below the recommended one', () => {
  const levelOf = (version: string) =>
    linesOf({ outcome: 'reached', version, maxmemoryPolicy: 'noeviction', appendOnly: true }, 'h:1').at(-1)?.level;
  expect(['4.0.14', '5.0.0', '6.0.16', '6.2.0', '7.0.15', '10.0.0'].map(levelOf)).toEqual([
    'fault',
    'note',
    'note',
    'ok',
    'ok',
    'ok',
  ]);
});
