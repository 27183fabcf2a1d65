import { existsSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { keyPaths } from '../../config/key-files.ts';
import { loadRedisReport } from '../../context/engines.ts';
import type { RedisReport } from '../../jobs/bullmq.ts';
import { type DoctorCheck, fault, type Line, note, ok } from './finding.ts';

/** Checks that do not need the database: who can reach the program, which user it runs as, who can read its keys. */
export const surroundings: readonly DoctorCheck<Config>[] = [
  checkWarnings,
  checkPublicUrl,
  checkProxy,
  checkAdminHost,
  checkUser,
  checkFiles,
  checkTimeZone,
  checkSchedule,
  ({ redisUrl }) => checkRedis(redisUrl),
];

// The source checks report these for every source, including `default`.
const saidElsewhere = /^(?:SERVICE_BASE_URL|SERVICE_API_KEY|WEBHOOK_SECRETS) (?!is not read)/;

function checkWarnings({ warnings }: Config): Line[] {
  return [
    ok('configuration', 'The configuration is valid.'),
    ...warnings
      .filter((warning) => !saidElsewhere.test(warning))
      .map((warning) => note('configuration', warning, 'See docs/configuration.md.')),
  ];
}

function checkPublicUrl({ publicUrl }: Config): Line {
  const remedy = 'Put a TLS proxy in front of the public listener and set PUBLIC_URL to its https address.';
  if (publicUrl === null)
    return fault('public address', 'PUBLIC_URL is not set: links would not work from other machines.', remedy);
  if (!publicUrl.startsWith('https:'))
    return fault('public address', `PUBLIC_URL is not https: personal data would be sent unencrypted.`, remedy);
  return ok('public address', `Webhooks and links go to ${publicUrl}.`);
}

function checkProxy({ publicUrl, trustProxy }: Config): Line[] {
  // The program does not speak TLS itself: an https address means that there is a proxy in front of it.
  if (publicUrl?.startsWith('https:') !== true || trustProxy !== false) return [];
  const sentence =
    'TRUST_PROXY is off although a proxy is in front of the public listener: all refused deliveries appear to come from the proxy and share the storage limit of one address.';
  return [note('proxy', sentence, 'Set TRUST_PROXY to the proxy’s address.')];
}

function checkAdminHost({ adminHost: host }: Config): Line {
  const remedy = 'Set ADMIN_HOST to 127.0.0.1 and use a tunnel or a proxy with access control.';
  switch (reachOf(host)) {
    case 'machine':
      return ok('admin address', `The admin listener is reachable from this machine only (${host}).`);
    case 'private':
      return ok('admin address', `The admin listener is on a private network (${host}).`);
    case 'everywhere':
      return isContainer()
        ? ok(
            'admin address',
            `The admin listener listens on all addresses of this container (${host}): publish its port on 127.0.0.1 only.`,
          )
        : note('admin address', `The admin listener listens on all addresses of this machine (${host}).`, remedy);
    case 'public':
      return fault('admin address', `The admin listener is on an address that may be public (${host}).`, remedy);
  }
}

/** Who can reach a listener on this address. */
export function reachOf(host: string): 'machine' | 'private' | 'everywhere' | 'public' {
  if (host === 'localhost' || host === '::1' || /^127\./.test(host)) return 'machine';
  if (host === '0.0.0.0' || host === '::') return 'everywhere';
  if (/^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|f[cd][0-9a-f]{2}:|fe80:)/i.test(host))
    return 'private';
  // What a host name resolves to is unknown; it is usually a private network.
  return isIP(host) === 0 ? 'private' : 'public';
}

/** By the files of Docker and Podman; else by the kind of the root file system, since Podman hides its file in a read-only container and Kubernetes has none. */
function isContainer(): boolean {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true;
  try {
    return / \/ \/ .* - (?:fuse-)?overlay(?:fs)? /m.test(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return false;
  }
}

function checkUser(): Line[] {
  if (process.getuid?.() !== 0) return [];
  return [
    note(
      'user',
      'The program runs as root: a vulnerability in it would expose the whole machine.',
      'Run it as a dedicated user that owns DATA_DIR.',
    ),
  ];
}

async function checkFiles(config: Config): Promise<Line[]> {
  const { dataDir, database, instanceKey, signingKeyFile } = config;
  const keys = keyPaths(dataDir);
  const open: Line[] = [];
  const look = async (path: string, what: string, mode: string) => {
    const found = await stat(path).catch(() => null);
    // Container engines determine the modes of secrets that they mount.
    if (found === null || path.startsWith('/run/secrets/') || (found.mode & 0o077) === 0) return;
    const octal = (found.mode & 0o777).toString(8).padStart(4, '0');
    open.push(
      fault(
        'files',
        `${what} ${path} can be read by other users of this machine (mode ${octal}).`,
        `chmod ${mode} ${path}`,
      ),
    );
  };
  const folder = await stat(dataDir).catch(() => null);
  if (folder !== null && (folder.mode & 0o022) !== 0) {
    const octal = (folder.mode & 0o7777).toString(8).padStart(4, '0');
    const sentence = `Other users of this machine can write in DATA_DIR ${dataDir} (mode ${octal}): they could put another database or journal there.`;
    open.push(fault('files', sentence, `chmod 700 ${dataDir}`));
  }
  if (instanceKey === null) await look(keys.instance, 'The instance key', '600');
  await look(signingKeyFile ?? keys.signing, 'The signing key', '600');
  await look(keys.folder, 'The folder of the keys', '700');
  await look(resolve('.env'), 'The file', '600');
  if (database.engine === 'sqlite') await look(database.path, 'The database', '600');
  if (open.length > 0) return open;
  return [
    ok(
      'files',
      `Keys and database are readable by this user only. Keep a copy of ${instanceKey === null ? 'both keys' : 'INSTANCE_KEY and the signing key'} separate from the database backup.`,
    ),
  ];
}

function checkSchedule({ syncSchedule }: Config): Line[] {
  if (syncSchedule !== null) return [];
  return [
    note(
      'sync',
      'SYNC_SCHEDULE is off: consent logs are pulled manually only.',
      'Set a schedule, or run `consent-ledger sync` from your own scheduler.',
    ),
  ];
}

function checkTimeZone({ timeZone: zone }: Config): Line {
  if (zone !== 'UTC') return ok('time zone', `Deadlines and documents use ${zone}.`);
  return note(
    'time zone',
    'TIME_ZONE is UTC: days in deadlines and documents begin at midnight UTC.',
    'Set it to the controller’s time zone, for example Europe/Berlin.',
  );
}

/** BullMQ does not work below the first version; its maintainers recommend the second. */
const MINIMUM = [5, 0, 0] as const;
const RECOMMENDED = [6, 2, 0] as const;

/** Whether the Redis that wakes workers is configured as BullMQ needs it. Returns nothing without REDIS_URL. */
export async function checkRedis(url: string | null): Promise<Line[]> {
  return url === null ? [] : linesOf(await loadRedisReport(url), new URL(url).host);
}

/** The lines for what a Redis at `host` reported about itself. */
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
