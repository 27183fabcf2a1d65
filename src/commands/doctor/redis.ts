import { loadRedisReport } from '../../context/inspect-redis.ts';
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
        'Start it, or put REDIS_URL right. Until then workers find due jobs by looking, once a second.',
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
      unknown('its version', 'INFO', `BullMQ needs Redis ${MINIMUM.join('.')} and asks for ${RECOMMENDED.join('.')}.`),
    ];
  if (isBelow(version, MINIMUM))
    return [fault('Redis', `Redis ${version} is too old: BullMQ needs ${MINIMUM.join('.')}.`, upgrade)];
  if (isBelow(version, RECOMMENDED))
    return [
      note('Redis', `Redis ${version} is older than the ${RECOMMENDED.join('.')} that BullMQ asks for.`, upgrade),
    ];
  return [];
}

const upgrade = 'Upgrade Redis, or unset REDIS_URL: workers then look for due jobs every second.';

function checkPolicy(policy: string | null): Line[] {
  const remedy = 'Set `maxmemory-policy noeviction` in redis.conf. Do not share this Redis with a cache.';
  if (policy === null) return [unknown('maxmemory-policy', 'INFO and CONFIG GET', 'It must be noeviction.')];
  if (policy === 'noeviction') return [];
  return [
    fault(
      'Redis',
      `maxmemory-policy is ${policy}: when memory is full, Redis removes keys that BullMQ relies on.`,
      remedy,
    ),
  ];
}

function checkAppendOnly(appendOnly: boolean | null): Line[] {
  if (appendOnly === null) return [unknown('appendonly', 'INFO and CONFIG GET', 'It should be yes.')];
  if (appendOnly) return [];
  return [
    note(
      'Redis',
      'appendonly is off: a restart of Redis forgets the wake-ups, and their jobs wait for the next look of a worker.',
      'Set `appendonly yes` in redis.conf.',
    ),
  ];
}

function unknown(what: string, commands: string, wanted: string): Line {
  return note(
    'Redis',
    `It could not be checked: ${what}. The user of REDIS_URL may not run ${commands}.`,
    `${wanted} Look at the server itself, or let the user run +info and +config|get.`,
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
