import { loadRedisReport } from '../../context/engines.ts';
import type { RedisReport } from '../../jobs/bullmq.ts';
import { fault, type Line, note, ok } from './line.ts';

/** Below the first BullMQ does not work; the second is what its maintainers recommend. */
const MINIMUM = [5, 0, 0] as const;
const RECOMMENDED = [6, 2, 0] as const;

/** Whether the Redis that wakes the workers is set as BullMQ needs it. Nothing to say without a REDIS_URL. */
export async function checkRedis(url: string | null): Promise<Line[]> {
  return url === null ? [] : linesOf(await loadRedisReport(url), new URL(url).host);
}

/** The lines for what a Redis at `host` said of itself. */
export function linesOf(report: RedisReport, host: string): Line[] {
  if (report.outcome === 'unreachable')
    return [
      fault(
        'Redis',
        `Redis at ${host} does not answer: ${report.reason}.`,
        'Start it or correct REDIS_URL. Until then workers poll for due jobs once a second.',
      ),
    ];
  const { version, maxmemoryPolicy, appendOnly } = report;
  const lines = [...checkVersion(version), ...checkPolicy(maxmemoryPolicy), ...checkAppendOnly(appendOnly)];
  const faultless = lines.length === 0 && version !== null;
  return faultless
    ? [ok('Redis', `Redis ${version} at ${host} answers, evicts nothing and keeps an append-only file.`)]
    : [ok('Redis', `Redis${version === null ? '' : ` ${version}`} at ${host} answers.`), ...lines];
}

function checkVersion(version: string | null): Line[] {
  if (version === null)
    return [
      unknown(
        'its version',
        'INFO',
        `BullMQ requires Redis ${MINIMUM.join('.')} and recommends ${RECOMMENDED.join('.')}.`,
      ),
    ];
  if (isBelow(version, MINIMUM))
    return [fault('Redis', `Redis ${version} is too old: BullMQ requires ${MINIMUM.join('.')}.`, upgrade)];
  if (isBelow(version, RECOMMENDED))
    return [
      note('Redis', `Redis ${version} is older than ${RECOMMENDED.join('.')}, which BullMQ recommends.`, upgrade),
    ];
  return [];
}

const upgrade = 'Upgrade Redis, or unset REDIS_URL: workers then poll for due jobs every second.';

function checkPolicy(policy: string | null): Line[] {
  const remedy = 'Set `maxmemory-policy noeviction` in redis.conf. Do not share this Redis with a cache.';
  if (policy === null) return [unknown('maxmemory-policy', 'INFO and CONFIG GET', 'It must be noeviction.')];
  if (policy === 'noeviction') return [];
  return [
    fault('Redis', `maxmemory-policy is ${policy}: when memory is full, Redis evicts keys that BullMQ needs.`, remedy),
  ];
}

function checkAppendOnly(appendOnly: boolean | null): Line[] {
  if (appendOnly === null) return [unknown('appendonly', 'INFO and CONFIG GET', 'It should be yes.')];
  if (appendOnly) return [];
  return [
    note(
      'Redis',
      'appendonly is off: a restart of Redis loses the wake-ups, and their jobs wait until a worker next polls.',
      'Set `appendonly yes` in redis.conf.',
    ),
  ];
}

function unknown(what: string, commands: string, wanted: string): Line {
  return note(
    'Redis',
    `Cannot check ${what}: the user in REDIS_URL may not run ${commands}.`,
    `${wanted} Check on the server itself, or grant the user +info and +config|get.`,
  );
}

function isBelow(version: string, wanted: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [place, number] of wanted.entries()) {
    const part = parts[place] ?? 0;
    if (part !== number) return part < number;
  }
  return false;
}
