import { resolve } from 'node:path';
import { z } from 'zod';
import { emailTrusts } from '../people/provided-email.ts';
import { samplerNames } from '../tracing/start.ts';
import {
  backupKeep,
  backupRecipients,
  bodyLimit,
  bucketAddress,
  claimName,
  collectorUrl,
  connectionLimit,
  databaseUrl,
  host,
  hostNames,
  hostsAndPorts,
  inFlightLimit,
  instanceKey,
  issuerUrl,
  logLevel,
  lookBackHours,
  mailAddresses,
  mailFrom,
  namedValues,
  objectLock,
  oneOf,
  onOrOff,
  optional,
  port,
  publicUrl,
  rateLimit,
  read,
  recountDays,
  redisUrl,
  region,
  schedule,
  secretUrl,
  serviceBaseUrl,
  serviceSiteUrl,
  share,
  signOnName,
  siteKey,
  smtpUrl,
  storageUrl,
  timeZone,
  token,
  tracesExporter,
  trustProxy,
  webhookSecret,
  webhookSecrets,
  witnessHours,
} from './read-values.ts';

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
