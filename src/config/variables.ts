import { isIP } from 'node:net';
import { resolve } from 'node:path';
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
import { emailTrusts } from '../people/provided-email.ts';
import { samplerNames } from '../tracing/start.ts';

/** Documents one variable: `init` writes this into a new .env, and docs/configuration.md explains it in full. */
interface Variable {
  readonly summary: string;
  /** In words for people; the schema contains the actual default. */
  readonly defaultText: string;
  /** May also be given as `<name>_FILE`, and its value is never printed. */
  readonly secret: boolean;
}

/** Every environment variable that the program reads, in the order of the documentation. */
export const variables = {
  HOST: plain('127.0.0.1', 'Address of the public listener: webhooks, /healthz, /readyz.'),
  PORT: plain('8080', 'Port of the public listener; 0 for any free port.'),
  PUBLIC_URL: plain(
    'derived from HOST and PORT',
    'Address of the public listener as seen from outside, used in links.',
  ),
  TRUST_PROXY: plain(
    'off',
    'Which proxies to trust for X-Forwarded-For: off, on, a number of proxies, or their addresses, comma-separated.',
  ),
  BODY_LIMIT: plain('1 MiB', 'Largest webhook body: bytes, or a number with KiB or MiB.'),
  IN_FLIGHT_LIMIT: plain(
    '128 MiB',
    'Memory for webhook bodies still being received; beyond it the oldest are dropped with 503.',
  ),
  IN_FLIGHT_LIMIT_PER_ADDRESS: plain('64 MiB', 'The same for one IPv4 address or one IPv6 /64 (see TRUST_PROXY).'),
  CONNECTION_LIMIT: plain(
    '1000',
    'Maximum number of connections of the public listener; beyond it those that have waited longest for a request are closed.',
  ),
  ADMIN_HOST: plain(
    '127.0.0.1',
    'Address of the admin listener: officer’s pages, /metrics. Do not expose it to the internet.',
  ),
  ADMIN_PORT: plain('8081', 'Port of the admin listener; 0 for any free port.'),
  ADMIN_HOSTS: plain(
    'none',
    'Host names of the admin listener, comma-separated, in addition to ADMIN_HOST, localhost and IP addresses.',
  ),
  METRICS_SOURCES: plain(
    'labels',
    'How /metrics names sources: labels (source-<8 hex digits>, see `source list --json`), or names.',
  ),
  API_RATE_LIMIT: plain('600', 'Requests per minute and API token.'),
  DATA_DIR: plain('./data', 'Folder for the database, keys, journal and documents.'),
  DATABASE_URL: secret(
    'a SQLite file in DATA_DIR',
    'sqlite:<path> for a file elsewhere, or postgres://user:password@host/database.',
  ),
  REDIS_URL: secret('unset', 'redis://host:6379 or rediss://…: wakes the workers of many processes. Unset: they poll.'),
  INSTANCE_KEY: secret(
    'DATA_DIR/keys/instance.key',
    '32 random bytes as base64. Lose it and the ledger can no longer be extended.',
  ),
  SIGNING_KEY_FILE: plain('DATA_DIR/keys/signing.pem', 'Ed25519 private key (PKCS#8 PEM) that signs checkpoints.'),
  SERVICE_BASE_URL: plain('unset', 'API root of the service, ending in /api/v1.'),
  SERVICE_SITE_URL: plain('unset', 'Public origin of the service.'),
  SERVICE_API_KEY: secret('unset', 'Named API key, pak_live_…'),
  SERVICE_SITE_KEY: secret('unset', 'Site key, pk_…, for the embed endpoint.'),
  HTTP_ALLOWED_HOSTS: plain(
    'none',
    'Hosts of the service, of object storage and of webhooks that may be called over http, comma-separated; without TLS, others can read keys and data.',
  ),
  PRIVATE_ALLOWED_HOSTS: plain(
    'none',
    'Hosts on this machine or a private network that sources may be at, comma-separated, with or without a port. Those of SERVICE_BASE_URL, SERVICE_SITE_URL and HTTP_ALLOWED_HOSTS are always allowed.',
  ),
  WEBHOOK_SECRETS: secret('unset', 'Webhook signing secrets, comma-separated; any of them is accepted.'),
  CONTROLLER_FILE: plain(
    'DATA_DIR/controller.yaml, if it exists',
    'Controller profile (YAML or JSON): the organisation that documents are issued for. Unset: the one filled in on the officer’s pages.',
  ),
  REGIMES_FILE: plain(
    'unset',
    'Your own deadline rules (YAML or JSON): docs/deadlines.md, Changing the rows. Changes are recorded, and shown as your own.',
  ),
  TIME_ZONE: plain(
    'UTC',
    'IANA time zone of deadlines, documents, pages and printed times, for example Europe/Berlin.',
  ),
  SYNC_SCHEDULE: plain('*/15 * * * *', 'When to pull consent logs, as a cron expression in TIME_ZONE; off to disable.'),
  SYNC_LOOK_BACK_HOURS: plain(
    '24',
    'How many hours late the service may show rows that the scheduled pull still finds, within six hours.',
  ),
  SYNC_RECOUNT_DAYS: plain(
    '7',
    'Number of days that a recount reads again each night at 03:40 and compares with the ledger; 0 to disable.',
  ),
  VERIFY_SCHEDULE: plain(
    '31 5 * * 0',
    'When a worker verifies the whole ledger, as a cron expression in TIME_ZONE; off to disable.',
  ),
  WITNESSES: plain(
    'unset',
    'File with the witnesses that sign each checkpoint (C2SP tlog-policy, docs/proofs.md): other logs, time-stamping authorities, folders and buckets elsewhere.',
  ),
  WITNESS_SCHEDULE: plain(
    '7 * * * *',
    'When the newest checkpoint is sent to WITNESSES, as a cron expression in TIME_ZONE; off to disable.',
  ),
  WITNESS_MAX_AGE_HOURS: plain(
    '24',
    'Hours that a checkpoint may wait for WITNESSES before doctor and the warnings say so.',
  ),
  PUBLISH_TILES: plain(
    'off',
    'on: the public listener shows anyone the hashes of the ledger and its newest checkpoint (C2SP tlog-tiles), and thereby how many entries there are and when.',
  ),
  CHECKPOINT_LOCK: plain(
    'off',
    'How long a checkpoint in a bucket cannot be removed or replaced, for example COMPLIANCE 3650 days. Needs a bucket with object lock.',
  ),
  BACKUP_FOLDER: plain('unset', 'Folder for backups, best on another machine’s disk.'),
  BACKUP_BUCKET: plain(
    'unset',
    'Bucket for backups, s3://bucket/folder; in addition to BACKUP_FOLDER or instead of it.',
  ),
  BACKUP_LOCK: plain(
    'off',
    'How long a backup in the bucket cannot be removed, for example COMPLIANCE 30 days; until then, nothing can be erased from it.',
  ),
  BACKUP_RECIPIENTS: plain(
    'unset',
    'Public keys (age1…) to encrypt backups for, comma-separated. Keep the private keys away from this machine.',
  ),
  BACKUP_SCHEDULE: plain(
    'off',
    'When a worker makes a backup, as a cron expression in TIME_ZONE, for example 10 2 * * *.',
  ),
  BACKUP_KEEP: plain(
    '7 daily, 5 weekly, 12 monthly',
    'For how many days, weeks and months to keep the newest scheduled backup of each.',
  ),
  AWS_ENDPOINT_URL_S3: plain(
    'AWS, by AWS_REGION',
    'Address of the object storage, if it is not AWS: https://storage.example.',
  ),
  AWS_REGION: plain('us-east-1', 'Region of the buckets.'),
  AWS_ACCESS_KEY_ID: secret('unset', 'Key for the object storage.'),
  AWS_SECRET_ACCESS_KEY: secret('unset', 'Its secret.'),
  AWS_SESSION_TOKEN: secret('unset', 'Session token, where the key is a temporary one.'),
  S3_PATH_STYLE: plain(
    'on, except at AWS',
    'Whether the bucket is in the path of an address (on) or in the host name (off).',
  ),
  ADMIN_URL: plain(
    'derived from ADMIN_HOST and ADMIN_PORT',
    'Address at which officers open the admin pages: used for links, single sign-on and passkeys, whatever a proxy says about a request.',
  ),
  OIDC_ISSUER: plain(
    'unset',
    'Issuer of single sign-on (OpenID Connect), for example https://login.example.org/realms/office.',
  ),
  OIDC_CLIENT_ID: plain('unset', 'Client id registered there, with the address <ADMIN_URL>/sign-in/sso/callback.'),
  OIDC_CLIENT_SECRET: secret('unset', 'Its secret; unset for a client without one (PKCE alone).'),
  OIDC_EMAIL_TRUST: plain(
    'verified',
    'Which addresses count: verified (email_verified), xms_edov (Entra ID’s claim about the domain), or issuer (all; only for an issuer of one organisation).',
  ),
  OIDC_EMAIL_CLAIM: plain(
    'email',
    'Claim with the address by which accounts are found, for example preferred_username; another than email needs OIDC_EMAIL_TRUST=issuer.',
  ),
  OIDC_NAME: plain('single sign-on', 'Name on the sign-in page, after “Sign in with”.'),
  SMTP_URL: secret('unset', 'Mail server: smtps://user:password@mail.example:465, or smtp://… with STARTTLS.'),
  MAIL_FROM: plain('unset', 'Sender of mails, for example Consent ledger <ledger@example.org>.'),
  CHECKPOINT_MAIL_TO: plain(
    'unset',
    'Addresses to mail the newest checkpoint to, comma-separated, for example the data protection officer’s.',
  ),
  CHECKPOINT_MAIL_SCHEDULE: plain(
    '30 8 1 * *',
    'When it is mailed, as a cron expression in TIME_ZONE; off to disable.',
  ),
  NOTIFY_CHAT_URL: secret('unset', 'Incoming webhook of Slack, Microsoft Teams, Mattermost or the like.'),
  NOTIFY_WEBHOOK_URL: secret('unset', 'Your own endpoint for signed notifications.'),
  NOTIFY_WEBHOOK_SECRET: secret('unset', 'Signs them (Standard Webhooks): whsec_ and 24 to 64 random bytes as base64.'),
  NOTIFY_SCHEDULE: plain(
    '*/10 * * * *',
    'When to look for new notices to send, as a cron expression in TIME_ZONE; off to disable.',
  ),
  DIGEST_SCHEDULE: plain(
    '0 7 * * 1-5',
    'When to mail each account a digest of what needs attention, as a cron expression in TIME_ZONE; off to disable.',
  ),
  LOG_LEVEL: plain('info', 'fatal, error, warn, info, debug, trace or silent.'),
  OTEL_TRACES_EXPORTER: plain(
    'otlp with an address below, else none',
    'OpenTelemetry traces: otlp or none (docs/monitoring.md).',
  ),
  OTEL_SDK_DISABLED: plain('false', 'true: no traces, whatever else is set.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: plain(
    'http://localhost:4318',
    'Collector to send traces to over OTLP/HTTP; /v1/traces is appended.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: plain('unset', 'The same for traces alone, with its path.'),
  OTEL_EXPORTER_OTLP_HEADERS: secret('unset', 'Headers sent with them, name=value, comma-separated, percent-encoded.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: plain('http/protobuf', 'http/protobuf or http/json.'),
  OTEL_SERVICE_NAME: plain('consent-ledger', 'service.name of the traces.'),
  OTEL_RESOURCE_ATTRIBUTES: plain(
    'none',
    'Further attributes of this process, name=value, comma-separated, percent-encoded.',
  ),
  OTEL_TRACES_SAMPLER: plain(
    'parentbased_always_on',
    'always_on, always_off or traceidratio, also with the prefix parentbased_.',
  ),
  OTEL_TRACES_SAMPLER_ARG: plain('1', 'Share of traces that traceidratio samples, 0 to 1.'),
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;
export const variableNames = Object.keys(variables) as readonly VariableName[];

/** Parses the texts. Each issue is one sentence, without the variable's name and without any secret. */
export const valuesSchema = z.object({
  HOST: z.string().default('127.0.0.1').transform(read(host)),
  PORT: z.string().default('8080').transform(read(port)),
  PUBLIC_URL: optional(read(publicUrl)),
  TRUST_PROXY: z.string().default('off').transform(read(trustProxy)),
  BODY_LIMIT: z.string().default('1 MiB').transform(read(bodyLimit)),
  IN_FLIGHT_LIMIT: z.string().default('128 MiB').transform(read(inFlightLimit)),
  IN_FLIGHT_LIMIT_PER_ADDRESS: z.string().default('64 MiB').transform(read(inFlightLimit)),
  CONNECTION_LIMIT: z.string().default('1000').transform(read(connectionLimit)),
  ADMIN_HOST: z.string().default('127.0.0.1').transform(read(host)),
  ADMIN_PORT: z.string().default('8081').transform(read(port)),
  ADMIN_HOSTS: z.string().default('').transform(read(hostNames)),
  METRICS_SOURCES: z.enum(['labels', 'names']).default('labels'),
  API_RATE_LIMIT: z.string().default('600').transform(read(rateLimit)),
  DATA_DIR: z
    .string()
    .default('./data')
    // Node.js would loop for ever creating a folder there, because the kernel reports that the existing parent folder
    // is missing.
    .refine((path) => !/^\/proc(?:\/|$)/.test(resolve(path)), 'must not be below /proc: use a folder on a disk'),
  DATABASE_URL: optional(read(databaseUrl)),
  REDIS_URL: optional(read(redisUrl)),
  INSTANCE_KEY: optional(read(instanceKey)),
  SIGNING_KEY_FILE: optional(read((path) => path)),
  SERVICE_BASE_URL: optional(read(serviceBaseUrl)),
  SERVICE_SITE_URL: optional(read(serviceSiteUrl)),
  SERVICE_API_KEY: optional(read(token)),
  SERVICE_SITE_KEY: optional(read(siteKey)),
  HTTP_ALLOWED_HOSTS: z.string().default('').transform(read(hostNames)),
  PRIVATE_ALLOWED_HOSTS: z.string().default('').transform(read(hostsAndPorts)),
  WEBHOOK_SECRETS: optional(read(webhookSecrets)),
  CONTROLLER_FILE: optional(read((path) => path)),
  REGIMES_FILE: optional(read((path) => path)),
  TIME_ZONE: z.string().default('UTC').transform(read(timeZone)),
  SYNC_SCHEDULE: z.string().default('*/15 * * * *').transform(read(schedule)),
  SYNC_LOOK_BACK_HOURS: z.string().default('24').transform(read(lookBackHours)),
  SYNC_RECOUNT_DAYS: z.string().default('7').transform(read(recountDays)),
  VERIFY_SCHEDULE: z.string().default('31 5 * * 0').transform(read(schedule)),
  WITNESSES: optional(read((path) => path)),
  WITNESS_SCHEDULE: z.string().default('7 * * * *').transform(read(schedule)),
  WITNESS_MAX_AGE_HOURS: z.string().default('24').transform(read(witnessHours)),
  PUBLISH_TILES: z.string().default('off').transform(read(onOrOff)),
  CHECKPOINT_LOCK: z.string().default('off').transform(read(objectLock)),
  BACKUP_FOLDER: optional(read((path) => path)),
  BACKUP_BUCKET: optional(read(bucketAddress)),
  BACKUP_LOCK: z.string().default('off').transform(read(objectLock)),
  BACKUP_RECIPIENTS: z.string().default('').transform(read(backupRecipients)),
  BACKUP_SCHEDULE: z.string().default('off').transform(read(schedule)),
  BACKUP_KEEP: z.string().default('7 daily, 5 weekly, 12 monthly').transform(read(backupKeep)),
  AWS_ENDPOINT_URL_S3: optional(read(storageUrl)),
  AWS_REGION: z.string().default('us-east-1').transform(read(region)),
  AWS_ACCESS_KEY_ID: optional(read(token)),
  AWS_SECRET_ACCESS_KEY: optional(read(token)),
  AWS_SESSION_TOKEN: optional(read(token)),
  S3_PATH_STYLE: optional(read(onOrOff)),
  ADMIN_URL: optional(read(publicUrl)),
  OIDC_ISSUER: optional(read(issuerUrl)),
  OIDC_CLIENT_ID: optional(read(token)),
  OIDC_CLIENT_SECRET: optional(read(token)),
  OIDC_EMAIL_TRUST: z
    .string()
    .default('verified')
    .transform(read(oneOf(emailTrusts))),
  OIDC_EMAIL_CLAIM: z.string().default('email').transform(read(claimName)),
  OIDC_NAME: z.string().default('single sign-on').transform(read(signOnName)),
  SMTP_URL: optional(read(smtpUrl)),
  MAIL_FROM: optional(read(mailFrom)),
  CHECKPOINT_MAIL_TO: z.string().default('').transform(read(mailAddresses)),
  CHECKPOINT_MAIL_SCHEDULE: z.string().default('30 8 1 * *').transform(read(schedule)),
  NOTIFY_CHAT_URL: optional(read(secretUrl)),
  NOTIFY_WEBHOOK_URL: optional(read(secretUrl)),
  NOTIFY_WEBHOOK_SECRET: optional(read(webhookSecret)),
  NOTIFY_SCHEDULE: z.string().default('*/10 * * * *').transform(read(schedule)),
  DIGEST_SCHEDULE: z.string().default('0 7 * * 1-5').transform(read(schedule)),
  LOG_LEVEL: z.string().default('info').transform(read(logLevel)),
  OTEL_TRACES_EXPORTER: optional(read(tracesExporter)),
  OTEL_SDK_DISABLED: z.string().default('false').transform(read(onOrOff)),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(read(collectorUrl)),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(read(collectorUrl)),
  OTEL_EXPORTER_OTLP_HEADERS: optional(read(namedValues)),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .string()
    .default('http/protobuf')
    .transform(read(oneOf(['http/protobuf', 'http/json']))),
  OTEL_SERVICE_NAME: z.string().default('consent-ledger'),
  OTEL_RESOURCE_ATTRIBUTES: optional(read(namedValues)),
  OTEL_TRACES_SAMPLER: z
    .string()
    .default('parentbased_always_on')
    .transform(read(oneOf(samplerNames))),
  OTEL_TRACES_SAMPLER_ARG: z.string().default('1').transform(read(share)),
} satisfies Record<VariableName, z.ZodType>);
export type Values = z.infer<typeof valuesSchema>;

function plain(defaultText: string, summary: string): Variable {
  return { summary, defaultText, secret: false };
}
function secret(defaultText: string, summary: string): Variable {
  return { summary, defaultText, secret: true };
}

/** Returned by a reader if the text is invalid. */
interface Refusal {
  readonly problem: string;
}
function refuse(problem: string): Refusal {
  return { problem };
}
type Read<T> = (text: string, context: z.RefinementCtx<string>) => T;

function read<T>(reader: (text: string) => T | Refusal): Read<Exclude<T, Refusal>> {
  return (text, context) => {
    const value = reader(text);
    if (value !== null && typeof value === 'object' && 'problem' in value) {
      context.addIssue({ code: 'custom', message: value.problem });
      return z.NEVER;
    }
    return value as Exclude<T, Refusal>;
  };
}
function optional<T>(reader: Read<T>) {
  return z.string().transform(reader).optional();
}

function host(text: string): string | Refusal {
  if (isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text)) return text;
  return refuse(`must be an IP address or a host name without a port, not ${quote(text)}`);
}

/** Names without a port, in lower case. */
function hostNames(text: string): string[] | Refusal {
  const names = list(text).map((name) => name.toLowerCase());
  const wrong = names.find((name) => !/^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]+\])$/.test(name));
  return wrong === undefined
    ? names
    : refuse(`must be host names like ledger.example.org, without scheme and port, not ${quote(wrong)}`);
}

/** Names with or without a port, in lower case. */
function hostsAndPorts(text: string): string[] | Refusal {
  const hosts = list(text).map((host) => host.toLowerCase());
  const wrong = hosts.find((host) => !/^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(host));
  return wrong === undefined
    ? hosts
    : refuse(
        `must be host names or addresses like service.internal or 10.0.0.5:8443, without scheme, not ${quote(wrong)}`,
      );
}

function port(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value <= 65_535
    ? value
    : refuse(`must be a whole number from 0 to 65535, not ${quote(text)}`);
}

function publicUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '') {
    return refuse(`must be a URL like https://consent.example.org, without query or fragment, not ${quote(text)}`);
  }
  return urlWithoutSlash(url);
}

/** Off: the connection's own address. On: whatever the header says. Otherwise a number of hops, or the addresses of the proxies. */
function trustProxy(text: string): boolean | number | string[] | Refusal {
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
function bodyLimit(text: string): number | Refusal {
  return sizeBetween(text, [1024, '1 KiB'], [64 * 1024 ** 2, '64 MiB']);
}

/** Bytes. */
function inFlightLimit(text: string): number | Refusal {
  return sizeBetween(text, [64 * 1024, '64 KiB'], [1024 ** 3, '1024 MiB']);
}

function sizeBetween(text: string, [least, leastText]: [number, string], [most, mostText]: [number, string]) {
  const bytes = sizeOf(text);
  if (bytes === null) return refuse(`must be bytes or a size like "512 KiB" or "1 MiB", not ${quote(text)}`);
  if (bytes < least || bytes > most) return refuse(`must be between ${leastText} and ${mostText}, not ${quote(text)}`);
  return bytes;
}

function connectionLimit(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value >= 10 && value <= 100_000
    ? value
    : refuse(`must be a whole number from 10 to 100000, not ${quote(text)}`);
}

function rateLimit(text: string): number | Refusal {
  const value = wholeNumber(text);
  return value !== null && value >= 1 && value <= 1_000_000
    ? value
    : refuse(`must be a whole number from 1 to 1000000, not ${quote(text)}`);
}

/** The database named by DATABASE_URL; the path may be relative. */
export type DatabaseAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string };

function databaseUrl(text: string): DatabaseAddress | Refusal {
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
function redisUrl(text: string): string | Refusal {
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

function instanceKey(text: string): Buffer | Refusal {
  const key = Buffer.from(text, 'base64');
  const canonical = [key.toString('base64'), key.toString('base64').replace(/=+$/, ''), key.toString('base64url')];
  if (key.length === INSTANCE_KEY_BYTES && canonical.includes(text)) return key;
  const hint = /^[0-9a-f]{64}$/i.test(text) ? '; this one looks like hex' : '';
  return refuse(`must be ${INSTANCE_KEY_BYTES} random bytes as base64 (openssl rand -base64 32)${hint}`);
}

function serviceBaseUrl(text: string): string | Refusal {
  return (
    serviceRootOf(text) ?? refuse(`must be the API root of the service, a URL that ends in /api/v1, not ${quote(text)}`)
  );
}

function serviceSiteUrl(text: string): string | Refusal {
  return (
    serviceOriginOf(text) ??
    refuse(`must be an origin like https://service.example, without a path, not ${quote(text)}`)
  );
}

function token(text: string): string | Refusal {
  return /^[\x21-\x7e]+$/.test(text) ? text : refuse('must be one word of printable ASCII characters');
}

/** The key appears in public addresses; a named API key there would be public (docs/service.md §2.5, §4.7). */
function siteKey(text: string): string | Refusal {
  return text.startsWith('pak_')
    ? refuse('is a named API key (pak_…), which must not appear in public addresses: use the site key, pk_…')
    : token(text);
}

function webhookSecrets(text: string): string[] | Refusal {
  const secrets = list(text);
  if (secrets.length === 0) return refuse('must contain at least one secret');
  if (new Set(secrets).size !== secrets.length) return refuse('contains the same secret twice');
  return secrets;
}

function timeZone(text: string): string | Refusal {
  // Looking up zones loads the tables of all of them, which takes a fifth of a short command.
  if (text === 'UTC') return text;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return refuse(`must be an IANA time zone like UTC or Europe/Berlin, not ${quote(text)}`);
  }
}

/** The expression, or null if switched off. */
function schedule(text: string): string | null | Refusal {
  if (text.toLowerCase() === 'off') return null;
  const problem = cronProblem(text);
  return problem === null
    ? text
    : refuse(`must be a cron expression like "*/15 * * * *", or off, not ${quote(text)}: ${problem}`);
}

function lookBackHours(text: string): number | Refusal {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 720
    ? Number(text)
    : refuse(`must be a whole number of hours from 1 to 720, not ${quote(text)}`);
}

function recountDays(text: string): number | Refusal {
  return /^\d{1,3}$/.test(text) && Number(text) <= 366
    ? Number(text)
    : refuse(`must be a whole number of days from 0 to 366, not ${quote(text)}`);
}

function witnessHours(text: string): number | Refusal {
  return /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 8784
    ? Number(text)
    : refuse(`must be a whole number of hours from 1 to 8784, not ${quote(text)}`);
}

function backupRecipients(text: string): string[] | Refusal {
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

function backupKeep(text: string): BackupKeep | Refusal {
  const keep = { daily: 0, weekly: 0, monthly: 0 };
  for (const part of list(text)) {
    const [, number, unit] = /^(\d{1,4}) (daily|weekly|monthly)$/.exec(part) ?? [];
    if (unit === undefined) return refuse(`must be like "7 daily, 5 weekly, 12 monthly", not ${quote(text)}`);
    keep[unit as keyof BackupKeep] = Number(number);
  }
  return keep.daily + keep.weekly + keep.monthly > 0 ? keep : refuse('must keep at least one backup');
}

function bucketAddress(text: string): BucketAddress | Refusal {
  return (
    bucketAddressOf(text) ??
    refuse(`must be a bucket and a folder in it, like s3://my-bucket/consent-ledger, not ${quote(text)}`)
  );
}

/** Null: off. */
function objectLock(
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

function storageUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '')
    return refuse(
      `must be a URL like https://storage.example, without a bucket, query or fragment, not ${quote(text)}`,
    );
  return urlWithoutSlash(url);
}

function region(text: string): string | Refusal {
  return /^[a-z0-9-]{1,40}$/.test(text) ? text : refuse(`must be a region like eu-central-1, not ${quote(text)}`);
}

function onOrOff(text: string): boolean | Refusal {
  return yesOrNo(text) ?? refuse(`must be on or off, not ${quote(text)}`);
}

/** Never quotes the text, which may contain a password. */
function signOnName(text: string): string | Refusal {
  return text.length <= 60 ? text : refuse('must have at most 60 characters');
}

function claimName(text: string): string | Refusal {
  return /^[!-~]{1,200}$/.test(text)
    ? text
    : refuse(`must be the name of a claim like email or upn, not ${quote(text)}`);
}

function issuerUrl(text: string): string | Refusal {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    return refuse('must be the address of an issuer, like https://login.example.org');
  return isPrivateTransport(text)
    ? text
    : refuse('must be https: anyone who reads the answers in transit could sign in');
}

function smtpUrl(text: string): Omit<MailSettings, 'from' | 'clearText'> | Refusal {
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

function mailFrom(text: string): MailSettings['from'] | Refusal {
  const [, quoted, plain, inside] =
    /^(?:"((?:[^"\\]|\\.){1,100})"|([^<>\r\n]{1,100}?))\s+<([^<>\s]+)>$/.exec(text) ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? null;
  const address = emailSchema.safeParse(inside ?? text);
  return address.success && isOneLine(name ?? '')
    ? { name, address: address.data }
    : refuse(`must be an address like ledger@example.org or Consent ledger <ledger@example.org>, not ${quote(text)}`);
}

function mailAddresses(text: string): string[] | Refusal {
  const addresses = list(text).map((one) => one.normalize('NFC'));
  const wrong = addresses.find((one) => !isEmail(one));
  return wrong === undefined ? addresses : refuse(`must be e-mail addresses, not ${quote(wrong)}`);
}

/** Never quotes the text: such an address is itself a secret. */
function secretUrl(text: string): string | Refusal {
  return webUrlOf(text) === null ? refuse('must be a URL like https://hooks.example/…') : text;
}

function webhookSecret(text: string): string | Refusal {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64
    ? text
    : refuse('must be whsec_ and 24 to 64 random bytes as base64 (echo "whsec_$(openssl rand -base64 32)")');
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

function logLevel(text: string): LogLevel | Refusal {
  return (
    logLevels.find((level) => level === text) ?? refuse(`must be one of ${logLevels.join(', ')}, not ${quote(text)}`)
  );
}

function tracesExporter(text: string): 'otlp' | 'none' | Refusal {
  return text === 'otlp' || text === 'none' ? text : refuse(`must be otlp or none, not ${quote(text)}`);
}

function oneOf<const T extends string>(words: readonly T[]): (text: string) => T | Refusal {
  return (text) =>
    words.find((word) => word === text) ?? refuse(`must be one of ${words.join(', ')}, not ${quote(text)}`);
}

function share(text: string): number | Refusal {
  const value = /^\d?(?:\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : refuse(`must be a number from 0 to 1, not ${quote(text)}`);
}

function collectorUrl(text: string): string | Refusal {
  const url = webUrlOf(text);
  return url === null || url.hash !== ''
    ? refuse(`must be a URL like http://localhost:4318, not ${quote(text)}`)
    : urlWithoutSlash(url);
}

/** Never quotes the text: headers may contain keys. */
function namedValues(text: string): Record<string, string> | Refusal {
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
