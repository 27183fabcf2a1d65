import { isIP } from 'node:net';
import { z } from 'zod';
import {
  type BucketAddress,
  bucketAddressOf,
  isPrivateTransport,
  serviceOriginOf,
  serviceRootOf,
  urlWithoutSlash,
  webUrlOf,
  withoutPasswords,
} from '../core/address.ts';
import { MIXED_RECIPIENTS, quantumResistance, recipientProblem } from '../core/age-recipients.ts';
import { emailSchema, isEmail } from '../core/email.ts';
import { isOneLine } from '../core/validation.ts';
import { INSTANCE_KEY_BYTES } from '../crypto/keys.ts';
import { cronProblem } from '../jobs/schedule.ts';
import type { MailSettings } from '../outside/mail.ts';

/** Returned by a reader if the text is invalid. */
interface Refusal {
  readonly problem: string;
}
function refuse(problem: string): Refusal {
  return { problem };
}
type Read<T> = (text: string, context: z.RefinementCtx<string>) => T;

export function read<T>(reader: (text: string) => T | Refusal): Read<Exclude<T, Refusal>> {
  return (text, context) => {
    const value = reader(text);
    if (value !== null && typeof value === 'object' && 'problem' in value) {
      context.addIssue({ code: 'custom', message: value.problem });
      return z.NEVER;
    }
    return value as Exclude<T, Refusal>;
  };
}
export function optional<T>(reader: Read<T>) {
  return z.string().transform(reader).optional();
}

export function host(text: string): string | Refusal {
  if (isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text)) return text;
  return refuse(`must be an IP address or a host name without a port, not ${quote(text)}`);
}

/** Names without a port, in lower case. */
export function hostNames(text: string): string[] | Refusal {
  const names = list(text).map((name) => name.toLowerCase());
  const wrong = names.find((name) => !/^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]+\])$/.test(name));
  return wrong === undefined
    ? names
    : refuse(`must be host names like ledger.example.org, without scheme and port, not ${quote(wrong)}`);
}

/** Names with or without a port, in lower case. */
export function hostsAndPorts(text: string): string[] | Refusal {
  const hosts = list(text).map((host) => host.toLowerCase());
  const wrong = hosts.find((host) => !/^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(host));
  return wrong === undefined
    ? hosts
    : refuse(
        `must be host names or addresses like service.internal or 10.0.0.5:8443, without scheme, not ${quote(wrong)}`,
      );
}

export function port(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value <= 65_535
    ? value
    : refuse(`must be a whole number from 0 to 65535, not ${quote(text)}`);
}

export function publicUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '') {
    return refuse(`must be a URL like https://consent.example.org, without query or fragment, not ${quote(text)}`);
  }
  return urlWithoutSlash(url);
}

/** Off: the connection's own address. On: whatever the header says. Otherwise a number of hops, or the addresses of the proxies. */
export function trustProxy(text: string): boolean | number | string[] | Refusal {
  const flag = yesOrNo(text);
  if (flag !== null) return flag;
  const hops = wholeNumber(text);
  if (hops !== null)
    return hops >= 1 && hops <= 16 ? hops : refuse('a number of proxies must be from 1 to 16; use "off" for none');
  const addresses = list(text);
  const wrong = addresses.find((address) => !isProxyAddress(address));
  if (addresses.length > 0 && wrong === undefined) return addresses;
  return refuse(`must be on, off, a number of proxies, or addresses like 10.0.0.0/8 or loopback, not ${quote(text)}`);
}

function isProxyAddress(text: string): boolean {
  if (text === 'loopback' || text === 'linklocal' || text === 'uniquelocal') return true;
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  const width = wholeNumber(bits);
  return width !== null && width <= (version === 4 ? 32 : 128);
}

const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kib', 1024],
  ['kb', 1000],
  ['mib', 1024 ** 2],
  ['mb', 1000 ** 2],
]);

/** Parses a size in words into bytes; null if it is invalid. */
function sizeOf(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,12})\s*([A-Za-z]*)$/.exec(text) ?? [];
  const factor = units.get(unit.toLowerCase());
  return digits === '' || factor === undefined ? null : Number(digits) * factor;
}

/** Bytes. */
export function bodyLimit(text: string): number | Refusal {
  return sizeBetween(text, [1024, '1 KiB'], [64 * 1024 ** 2, '64 MiB']);
}

/** Bytes. */
export function inFlightLimit(text: string): number | Refusal {
  return sizeBetween(text, [64 * 1024, '64 KiB'], [1024 ** 3, '1024 MiB']);
}

function sizeBetween(text: string, [least, leastText]: [number, string], [most, mostText]: [number, string]) {
  const bytes = sizeOf(text);
  if (bytes === null) return refuse(`must be bytes or a size like "512 KiB" or "1 MiB", not ${quote(text)}`);
  if (bytes < least || bytes > most) return refuse(`must be between ${leastText} and ${mostText}, not ${quote(text)}`);
  return bytes;
}

export function connectionLimit(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value >= 10 && value <= 100_000
    ? value
    : refuse(`must be a whole number from 10 to 100000, not ${quote(text)}`);
}

export function rateLimit(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value >= 1 && value <= 1_000_000
    ? value
    : refuse(`must be a whole number from 1 to 1000000, not ${quote(text)}`);
}

/** The database named by DATABASE_URL; the path may be relative. */
export type DatabaseAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string };

export function databaseUrl(text: string): DatabaseAddress | Refusal {
  return /^postgres(?:ql)?:/i.test(text) ? postgresUrl(text) : sqlitePath(text);
}

/** Never quotes the text, which contains a password. */
function postgresUrl(text: string): DatabaseAddress | Refusal {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^\/[^/]+$/.test(url.pathname) || (url.hostname === '' && !url.searchParams.has('host'))) {
    return refuse(
      'must name a host and a database, for example postgres://user:password@db.example/consent_ledger, with special characters of the password percent-encoded',
    );
  }
  return { engine: 'postgres', url: text };
}

/** The path of `sqlite:<path>`. */
function sqlitePath(text: string): DatabaseAddress | Refusal {
  const [, rest] = /^sqlite:(.*)$/i.exec(text) ?? [];
  if (rest === undefined) {
    return refuse('must begin with sqlite: or postgres://, for example sqlite:./data/ledger.sqlite');
  }
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  if (path === '' || path.startsWith('//') || path.startsWith(':') || path.endsWith('/')) {
    return refuse(
      'must name a file, for example sqlite:./data/ledger.sqlite or sqlite:/var/lib/consent-ledger/ledger.sqlite',
    );
  }
  return { engine: 'sqlite', path };
}

/** Never quotes the text, which may contain a password. */
export function redisUrl(text: string): string | Refusal {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^rediss?:$/.test(url.protocol) ||
    url.hostname === '' ||
    !/^(?:|\/|\/\d{1,2})$/.test(url.pathname)
  ) {
    return refuse(
      'must be an address like redis://redis.example:6379, or rediss://… for TLS, with /<number> for a separate database',
    );
  }
  return text;
}

export function instanceKey(text: string): Buffer | Refusal {
  const key = Buffer.from(text, 'base64');
  const canonical = [key.toString('base64'), key.toString('base64').replace(/=+$/, ''), key.toString('base64url')];
  if (key.length === INSTANCE_KEY_BYTES && canonical.includes(text)) return key;
  const hint = /^[0-9a-f]{64}$/i.test(text) ? '; this one looks like hex' : '';
  return refuse(`must be ${INSTANCE_KEY_BYTES} random bytes as base64 (openssl rand -base64 32)${hint}`);
}

export function serviceBaseUrl(text: string): string | Refusal {
  return (
    serviceRootOf(text) ?? refuse(`must be the API root of the service, a URL that ends in /api/v1, not ${quote(text)}`)
  );
}

export function serviceSiteUrl(text: string): string | Refusal {
  return (
    serviceOriginOf(text) ??
    refuse(`must be an origin like https://service.example, without a path, not ${quote(text)}`)
  );
}

export function token(text: string): string | Refusal {
  return /^[\x21-\x7e]+$/.test(text) ? text : refuse('must be one word of printable ASCII characters');
}

/** The key appears in public addresses; a named API key there would be public (docs/service.md §2.5, §4.7). */
export function siteKey(text: string): string | Refusal {
  return text.startsWith('pak_')
    ? refuse('is a named API key (pak_…), which must not appear in public addresses: use the site key, pk_…')
    : token(text);
}

export function webhookSecrets(text: string): string[] | Refusal {
  const secrets = list(text);
  if (secrets.length === 0) return refuse('must contain at least one secret');
  if (new Set(secrets).size !== secrets.length) return refuse('contains the same secret twice');
  return secrets;
}

export function timeZone(text: string): string | Refusal {
  // Looking up zones loads the tables of all of them, which takes a fifth of a short command.
  if (text === 'UTC') return text;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return refuse(`must be an IANA time zone like UTC or Europe/Berlin, not ${quote(text)}`);
  }
}

/** The expression, or null if switched off. */
export function schedule(text: string): string | null | Refusal {
  if (text.toLowerCase() === 'off') return null;
  const problem = cronProblem(text);
  return problem === null
    ? text
    : refuse(`must be a cron expression like "*/15 * * * *", or off, not ${quote(text)}: ${problem}`);
}

export function lookBackHours(text: string): number | Refusal {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 720
    ? Number(text)
    : refuse(`must be a whole number of hours from 1 to 720, not ${quote(text)}`);
}

export function recountDays(text: string): number | Refusal {
  return /^\d{1,3}$/.test(text) && Number(text) <= 366
    ? Number(text)
    : refuse(`must be a whole number of days from 0 to 366, not ${quote(text)}`);
}

export function witnessHours(text: string): number | Refusal {
  return /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 8784
    ? Number(text)
    : refuse(`must be a whole number of hours from 1 to 8784, not ${quote(text)}`);
}

export function backupRecipients(text: string): string[] | Refusal {
  const recipients = list(text);
  for (const [place, recipient] of recipients.entries()) {
    const problem = recipientProblem(recipient);
    if (problem !== null) return refuse(`must be age public keys; the key at place ${place + 1} ${problem}`);
  }
  return quantumResistance(recipients) === 'mixed' ? refuse(`must not ${MIXED_RECIPIENTS}`) : recipients;
}

/** For how many days, weeks and months the newest backup is kept. */
export interface BackupKeep {
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
}

export function backupKeep(text: string): BackupKeep | Refusal {
  const keep = { daily: 0, weekly: 0, monthly: 0 };
  for (const part of list(text)) {
    const [, number, unit] = /^(\d{1,4}) (daily|weekly|monthly)$/.exec(part) ?? [];
    if (unit === undefined) return refuse(`must be like "7 daily, 5 weekly, 12 monthly", not ${quote(text)}`);
    keep[unit as keyof BackupKeep] = Number(number);
  }
  return keep.daily + keep.weekly + keep.monthly > 0 ? keep : refuse('must keep at least one backup');
}

export function bucketAddress(text: string): BucketAddress | Refusal {
  return (
    bucketAddressOf(text) ??
    refuse(`must be a bucket and a folder in it, like s3://my-bucket/consent-ledger, not ${quote(text)}`)
  );
}

/** Null: off. */
export function objectLock(
  text: string,
): { readonly mode: 'COMPLIANCE' | 'GOVERNANCE'; readonly days: number } | null | Refusal {
  if (text.toLowerCase() === 'off') return null;
  const [, mode, days] = /^(COMPLIANCE|GOVERNANCE) (\d{1,5}) days?$/i.exec(text) ?? [];
  if (mode === undefined || Number(days) < 1 || Number(days) > 36_500)
    return refuse(
      `must be off, or a mode and days like "COMPLIANCE 3650 days" or "GOVERNANCE 30 days", not ${quote(text)}`,
    );
  return { mode: mode.toUpperCase() as 'COMPLIANCE' | 'GOVERNANCE', days: Number(days) };
}

export function storageUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '')
    return refuse(
      `must be a URL like https://storage.example, without a bucket, query or fragment, not ${quote(text)}`,
    );
  return urlWithoutSlash(url);
}

export function region(text: string): string | Refusal {
  return /^[a-z0-9-]{1,40}$/.test(text) ? text : refuse(`must be a region like eu-central-1, not ${quote(text)}`);
}

export function onOrOff(text: string): boolean | Refusal {
  return yesOrNo(text) ?? refuse(`must be on or off, not ${quote(text)}`);
}

/** Never quotes the text, which may contain a password. */
export function signOnName(text: string): string | Refusal {
  return text.length <= 60 ? text : refuse('must have at most 60 characters');
}

export function claimName(text: string): string | Refusal {
  return /^[!-~]{1,200}$/.test(text)
    ? text
    : refuse(`must be the name of a claim like email or upn, not ${quote(text)}`);
}

export function issuerUrl(text: string): string | Refusal {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    return refuse('must be the address of an issuer, like https://login.example.org');
  return isPrivateTransport(text)
    ? text
    : refuse('must be https: anyone who reads the answers in transit could sign in');
}

export function smtpUrl(text: string): Omit<MailSettings, 'from' | 'clearText'> | Refusal {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSmtps = url?.protocol === 'smtps:';
  const wrong = url === null || (!isSmtps && url.protocol !== 'smtp:') || !/^\[?[A-Za-z0-9.:-]+\]?$/.test(url.hostname);
  if (
    wrong ||
    !/^\/?$/.test(url.pathname) ||
    url.search !== '' ||
    url.hash !== '' ||
    (url.username === '') !== (url.password === '')
  )
    return refuse(
      'must be like smtps://user:password@mail.example:465 or smtp://mail.example:587, with user and password percent-encoded',
    );
  try {
    const login = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
    const port = url.port === '' ? (isSmtps ? 465 : 587) : Number(url.port);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return { host, port, implicitTls: isSmtps, login: url.username === '' ? null : login };
  } catch {
    return refuse('has a user or password that is not percent-encoded');
  }
}

export function mailFrom(text: string): MailSettings['from'] | Refusal {
  const [, quoted, plain, inside] =
    /^(?:"((?:[^"\\]|\\.){1,100})"|([^<>\r\n]{1,100}?))\s+<([^<>\s]+)>$/.exec(text) ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? null;
  const address = emailSchema.safeParse(inside ?? text);
  return address.success && isOneLine(name ?? '')
    ? { name, address: address.data }
    : refuse(`must be an address like ledger@example.org or Consent ledger <ledger@example.org>, not ${quote(text)}`);
}

export function mailAddresses(text: string): string[] | Refusal {
  const addresses = list(text).map((one) => one.normalize('NFC'));
  const wrong = addresses.find((one) => !isEmail(one));
  return wrong === undefined ? addresses : refuse(`must be e-mail addresses, not ${quote(wrong)}`);
}

/** Never quotes the text: such an address is itself a secret. */
export function secretUrl(text: string): string | Refusal {
  return webUrlOf(text) === null ? refuse('must be a URL like https://hooks.example/…') : text;
}

export function webhookSecret(text: string): string | Refusal {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64
    ? text
    : refuse('must be whsec_ and 24 to 64 random bytes as base64 (echo "whsec_$(openssl rand -base64 32)")');
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

export function logLevel(text: string): LogLevel | Refusal {
  return (
    logLevels.find((level) => level === text) ?? refuse(`must be one of ${logLevels.join(', ')}, not ${quote(text)}`)
  );
}

export function tracesExporter(text: string): 'otlp' | 'none' | Refusal {
  return text === 'otlp' || text === 'none' ? text : refuse(`must be otlp or none, not ${quote(text)}`);
}

export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T | Refusal {
  return (text) =>
    words.find((word) => word === text) ?? refuse(`must be one of ${words.join(', ')}, not ${quote(text)}`);
}

export function share(text: string): number | Refusal {
  const value = /^\d?(?:\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : refuse(`must be a number from 0 to 1, not ${quote(text)}`);
}

export function collectorUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  return url === null || url.hash !== ''
    ? refuse(`must be a URL like http://localhost:4318, not ${quote(text)}`)
    : urlWithoutSlash(url);
}

/** Never quotes the text: headers may contain keys. */
export function namedValues(text: string): Record<string, string> | Refusal {
  const pairs = list(text).map((pair) => /^([^=\s]+)\s*=\s*(.*)$/.exec(pair)?.slice(1) ?? []);
  try {
    const decoded = pairs.map(([name = '', value = '']) => [decodeURIComponent(name), decodeURIComponent(value)]);
    if (decoded.every(([name]) => name !== '')) return Object.fromEntries(decoded) as Record<string, string>;
  } catch {
    // Invalid percent-encoding: reported below.
  }
  return refuse('must be name=value pairs, comma-separated and percent-encoded');
}

/** Strict: any other word is refused instead of guessed. */
function yesOrNo(text: string): boolean | null {
  const word = text.toLowerCase();
  if (word === 'on' || word === 'true' || word === 'yes') return true;
  if (word === 'off' || word === 'false' || word === 'no') return false;
  return null;
}

function wholeNumber(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A value for display in a message: short, on one line, without a password in a URL. Never used for a secret. */
function quote(value: string): string {
  const text = withoutPasswords(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
