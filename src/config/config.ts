import { join, resolve } from 'node:path';
import { type BucketAddress, clearTextProblem, isPrivateTransport } from '../core/address.ts';
import { type DestinationRule, hostAndPortOf } from '../core/destination.ts';
import { editDistance } from '../core/edit-distance.ts';
import { UsageError } from '../core/errors.ts';
import { type Source, sourceOptionsSchema } from '../core/source.ts';
import { webhookSecretOf } from '../crypto/keys.ts';
import type { ObjectLock } from '../outside/bucket.ts';
import type { MailSettings } from '../outside/mail.ts';
import type { ObjectStorage } from '../outside/s3.ts';
import { type EmailReading, isOpenIssuer } from '../people/provided-email.ts';
import type { TracingSettings } from '../tracing/start.ts';
import { readTexts } from './layers.ts';
import type { DatabaseAddress } from './read-values.ts';
import { type Values, valuesSchema, variableNames, variables } from './variables.ts';

/** The settings of an installation (docs/configuration.md). Paths are absolute. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** As configured; null: derived from the address actually bound (src/core/address.ts). */
  readonly publicUrl: string | null;
  /** In the form that Fastify expects. */
  readonly trustProxy: boolean | number | string[];
  /** Bytes. */
  readonly bodyLimit: number;
  /** Bytes of webhook bodies that have not fully arrived. */
  readonly inFlightLimit: number;
  readonly inFlightLimitPerAddress: number;
  /** Maximum connections of the public listener. */
  readonly connectionLimit: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Host names accepted by the admin listener, besides IP addresses, localhost and ADMIN_HOST. */
  readonly adminHosts: readonly string[];
  /** Requests per API token and minute. */
  readonly apiRateLimit: number;
  /** How /metrics, which anyone on the admin network can read, names sources. */
  readonly metricsSources: 'labels' | 'names';
  /** Hosts of the service that may be called over http. */
  readonly httpAllowedHosts: readonly string[];
  /** Where the addresses of sources may lead. */
  readonly destinations: DestinationRule;
  readonly dataDir: string;
  readonly database: DatabaseAddress;
  /** Null: jobs are polled. */
  readonly redisUrl: string | null;
  /** 32 bytes; null: the file in DATA_DIR/keys. */
  readonly instanceKey: Buffer | null;
  readonly signingKeyFile: string | null;
  /** The source `default`; null if nothing about the service is configured. */
  readonly defaultSource: Source | null;
  /** Null: the one in DATA_DIR, if it exists (controllerFileOf). */
  readonly controllerFile: string | null;
  /** File with the installation's own deadline rules. */
  readonly regimesFile: string | null;
  readonly timeZone: string;
  /** Cron expression in timeZone; null: off. */
  readonly syncSchedule: string | null;
  /** How late the service may show rows that the scheduled pull still finds. */
  readonly syncLookBackHours: number;
  /** Days that the nightly recount reads again; 0: off. */
  readonly syncRecountDays: number;
  /** Cron expression in timeZone; null: off. */
  readonly verifySchedule: string | null;
  /** File with the witness policy for checkpoints; null: none. */
  readonly witnesses: string | null;
  /** Cron expression in timeZone; null: off. */
  readonly witnessSchedule: string | null;
  readonly witnessMaxAgeHours: number;
  /** Whether the public listener serves the tree (src/http/tiles.ts). */
  readonly publishTiles: boolean;
  /** How to reach the buckets. */
  readonly storage: ObjectStorage;
  /** Lock of checkpoints in buckets; null: none. */
  readonly checkpointLock: ObjectLock | null;
  readonly backup: {
    /** Null: each backup request states where to write it. */
    readonly folder: string | null;
    /** Null: none. */
    readonly bucket: BucketAddress | null;
    /** Lock of backups in the bucket; null: none. */
    readonly lock: ObjectLock | null;
    readonly recipients: readonly string[];
    /** Cron expression in timeZone; null: off. */
    readonly schedule: string | null;
    readonly keep: Values['BACKUP_KEEP'];
  };
  /** Address of the admin pages as users open them; null: derived from the listener's address. */
  readonly adminUrl: string | null;
  /** Null: people sign in with an account here. */
  readonly signOn: SignOnSettings | null;
  /** Null: no mail is sent. */
  readonly mail: MailSettings | null;
  readonly checkpointMail: {
    readonly to: readonly string[];
    /** Cron expression in timeZone; null: off. */
    readonly schedule: string | null;
  };
  readonly notify: {
    readonly chatUrl: string | null;
    readonly webhook: { readonly url: string; readonly secret: string } | null;
    /** Cron expressions in timeZone; null: off. */
    readonly schedule: string | null;
    readonly digest: string | null;
  };
  readonly logLevel: Values['LOG_LEVEL'];
  /** Null: no traces. */
  readonly tracing: TracingSettings | null;
  /** Settings that are allowed but probably not intended, for the server's log and `doctor`. */
  readonly warnings: readonly string[];
}

/** Slug of the source configured by the environment. */
export const DEFAULT_SOURCE = 'default';

/** {@link loadConfig} with this process's environment and working directory. */
export function loadProcessConfig(): Config {
  return loadConfig(process.env, process.cwd());
}

/** A variable of this process's environment, for flags that name one; null if it is unset or empty. */
export function readEnvironmentVariable(name: string): string | null {
  return process.env[name] || null;
}

/**
 * The file with the installation's own deadline rules, for the calculator, which opens no installation; null: not set.
 * Everything else in the environment and .env is ignored, valid or not.
 */
export function readConfiguredRegimesFile(): string | null {
  const path = readTexts(process.env, process.cwd()).texts.REGIMES_FILE;
  return path === undefined ? null : resolve(process.cwd(), path);
}

/**
 * Reads the configuration: `env` takes precedence over `<cwd>/.env`, and secrets may be in files named by X_FILE.
 * Throws UsageError with all problems at once.
 */
export function loadConfig(env: NodeJS.ProcessEnv, cwd: string): Config {
  const { texts, otherNames, problems } = readTexts(env, cwd);
  const parsed = valuesSchema.safeParse(texts);
  const issues = parsed.error?.issues.map((issue) => `${String(issue.path[0])} ${issue.message}.`) ?? [];
  const found = [
    ...problems,
    ...issues,
    ...findPortConflict(texts),
    ...findClearText(texts),
    ...findIdleSchedule(texts),
    ...findKeylessBucket(texts),
    ...findHalves(texts),
  ];
  if (!parsed.success || found.length > 0) throw new UsageError(found);

  const values = parsed.data;
  const dataDir = resolve(cwd, values.DATA_DIR);
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? null,
    trustProxy: values.TRUST_PROXY,
    bodyLimit: values.BODY_LIMIT,
    inFlightLimit: values.IN_FLIGHT_LIMIT,
    inFlightLimitPerAddress: values.IN_FLIGHT_LIMIT_PER_ADDRESS,
    connectionLimit: values.CONNECTION_LIMIT,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    adminHosts: values.ADMIN_HOSTS,
    apiRateLimit: values.API_RATE_LIMIT,
    metricsSources: values.METRICS_SOURCES,
    httpAllowedHosts: values.HTTP_ALLOWED_HOSTS,
    destinations: destinationsOf(values),
    dataDir,
    database: databaseOf(values.DATABASE_URL, cwd, dataDir),
    redisUrl: values.REDIS_URL ?? null,
    instanceKey: values.INSTANCE_KEY ?? null,
    signingKeyFile: values.SIGNING_KEY_FILE === undefined ? null : resolve(cwd, values.SIGNING_KEY_FILE),
    defaultSource: defaultSourceOf(values),
    controllerFile: values.CONTROLLER_FILE === undefined ? null : resolve(cwd, values.CONTROLLER_FILE),
    regimesFile: values.REGIMES_FILE === undefined ? null : resolve(cwd, values.REGIMES_FILE),
    timeZone: values.TIME_ZONE,
    syncSchedule: values.SYNC_SCHEDULE,
    syncLookBackHours: values.SYNC_LOOK_BACK_HOURS,
    syncRecountDays: values.SYNC_RECOUNT_DAYS,
    verifySchedule: values.VERIFY_SCHEDULE,
    witnesses: values.WITNESSES === undefined ? null : resolve(cwd, values.WITNESSES),
    witnessSchedule: values.WITNESS_SCHEDULE,
    witnessMaxAgeHours: values.WITNESS_MAX_AGE_HOURS,
    publishTiles: values.PUBLISH_TILES,
    storage: storageOf(values),
    checkpointLock: values.CHECKPOINT_LOCK,
    backup: {
      folder: values.BACKUP_FOLDER === undefined ? null : resolve(cwd, values.BACKUP_FOLDER),
      bucket: values.BACKUP_BUCKET ?? null,
      lock: values.BACKUP_LOCK,
      recipients: values.BACKUP_RECIPIENTS,
      schedule: values.BACKUP_SCHEDULE,
      keep: values.BACKUP_KEEP,
    },
    adminUrl: values.ADMIN_URL ?? null,
    signOn: signOnOf(values),
    mail: mailOf(values),
    checkpointMail: { to: values.CHECKPOINT_MAIL_TO, schedule: values.CHECKPOINT_MAIL_SCHEDULE },
    notify: {
      chatUrl: values.NOTIFY_CHAT_URL ?? null,
      webhook:
        values.NOTIFY_WEBHOOK_URL === undefined || values.NOTIFY_WEBHOOK_SECRET === undefined
          ? null
          : { url: values.NOTIFY_WEBHOOK_URL, secret: values.NOTIFY_WEBHOOK_SECRET },
      schedule: values.NOTIFY_SCHEDULE,
      digest: values.DIGEST_SCHEDULE,
    },
    logLevel: values.LOG_LEVEL,
    tracing: tracingOf(values),
    warnings: [...warnOfNearMisses(otherNames), ...warnOfValues(values)],
  };
}

/**
 * The file of a source's controller profile. If none is configured, it is in DATA_DIR, and exists once it has been
 * filled in in the browser.
 */
export function controllerFileOf(
  { controllerFile, dataDir }: Pick<Config, 'controllerFile' | 'dataDir'>,
  source: Source | null,
): { readonly path: string; readonly isNamed: boolean } {
  const own = source?.options.controllerFile ?? null;
  // A profile made in the browser is named relative to DATA_DIR.
  const named = own === null ? controllerFile : resolve(dataDir, own);
  return { path: named ?? join(dataDir, CONTROLLER_NAME), isNamed: named !== null };
}

/** Name of the controller profile in DATA_DIR. */
export const CONTROLLER_NAME = 'controller.yaml';
/** Folder in DATA_DIR for profiles of single sources that were made in the browser. */
export const PROFILES_FOLDER = 'profiles';

function databaseOf(given: DatabaseAddress | undefined, cwd: string, dataDir: string): DatabaseAddress {
  if (given === undefined) return { engine: 'sqlite', path: join(dataDir, 'ledger.sqlite') };
  return given.engine === 'sqlite' ? { engine: 'sqlite', path: resolve(cwd, given.path) } : given;
}

function storageOf(values: Values): ObjectStorage {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = values;
  return {
    endpoint: values.AWS_ENDPOINT_URL_S3 ?? null,
    region: values.AWS_REGION,
    pathStyle: values.S3_PATH_STYLE ?? null,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? null
        : { accessKeyId, secretAccessKey, sessionToken: values.AWS_SESSION_TOKEN ?? null },
  };
}

/** A provider of single sign-on. */
export interface SignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a client without a secret, protected only by PKCE. */
  readonly clientSecret: string | null;
  /** Which of the provider's addresses count, and where they are. */
  readonly email: EmailReading;
  /** The name on the button. */
  readonly name: string;
}

function signOnOf(values: Values): SignOnSettings | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_EMAIL_CLAIM: claim, OIDC_EMAIL_TRUST: trust } = values;
  if (issuer === undefined || clientId === undefined) return null;
  const clientSecret = values.OIDC_CLIENT_SECRET ?? null;
  return { issuer, clientId, clientSecret, email: { claim, trust }, name: values.OIDC_NAME };
}

function mailOf({ SMTP_URL, MAIL_FROM, HTTP_ALLOWED_HOSTS }: Values): MailSettings | null {
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return null;
  const host = SMTP_URL.host.includes(':') ? `[${SMTP_URL.host}]` : SMTP_URL.host;
  const clearText = isPrivateTransport(`http://${host}`) || HTTP_ALLOWED_HOSTS.includes(SMTP_URL.host);
  return { ...SMTP_URL, from: MAIL_FROM, clearText };
}

/** Tracing is on if requested, or if the environment names an endpoint (docs/monitoring.md). */
function tracingOf(values: Values): TracingSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values;
  const asked = values.OTEL_TRACES_EXPORTER ?? (base === undefined && own === undefined ? 'none' : 'otlp');
  if (asked === 'none' || values.OTEL_SDK_DISABLED) return null;
  return {
    endpoint: own ?? `${base ?? 'http://localhost:4318'}/v1/traces`,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    serviceName: values.OTEL_SERVICE_NAME,
    resource: values.OTEL_RESOURCE_ATTRIBUTES ?? {},
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

const pairsSchema = valuesSchema.pick({
  OIDC_ISSUER: true,
  OIDC_CLIENT_ID: true,
  OIDC_EMAIL_TRUST: true,
  OIDC_EMAIL_CLAIM: true,
  SMTP_URL: true,
  MAIL_FROM: true,
  CHECKPOINT_MAIL_TO: true,
  NOTIFY_WEBHOOK_URL: true,
  NOTIFY_WEBHOOK_SECRET: true,
});

/** Variables that are useless without another one. */
function findHalves(texts: Partial<Record<string, string>>): string[] {
  const { data } = pairsSchema.safeParse(texts);
  if (data === undefined) return [];
  const problems: string[] = [];
  const needs = (name: keyof typeof data, other: keyof typeof data) => {
    if (data[name] !== undefined && data[other] === undefined) problems.push(`${name} needs ${other}: set it too.`);
  };
  needs('OIDC_ISSUER', 'OIDC_CLIENT_ID');
  needs('OIDC_CLIENT_ID', 'OIDC_ISSUER');
  const { OIDC_EMAIL_CLAIM: claim, OIDC_EMAIL_TRUST: trust, OIDC_ISSUER: issuer } = data;
  if (claim !== 'email' && trust !== 'issuer')
    problems.push(
      `OIDC_EMAIL_CLAIM is ${claim}, about which email_verified and xms_edov say nothing: set OIDC_EMAIL_TRUST=issuer, or use email.`,
    );
  if (trust === 'issuer' && issuer !== undefined && isOpenIssuer(issuer))
    problems.push(
      'OIDC_EMAIL_TRUST=issuer needs an OIDC_ISSUER of one organisation: with this one, members of any other could sign in with your addresses. Use the issuer of your tenant.',
    );
  needs('SMTP_URL', 'MAIL_FROM');
  needs('NOTIFY_WEBHOOK_URL', 'NOTIFY_WEBHOOK_SECRET');
  if (data.CHECKPOINT_MAIL_TO.length > 0 && data.SMTP_URL === undefined)
    problems.push('CHECKPOINT_MAIL_TO needs SMTP_URL: set it too.');
  return problems;
}

const listenersSchema = valuesSchema.pick({ HOST: true, PORT: true, ADMIN_HOST: true, ADMIN_PORT: true });

/** Parsed separately, so that it is reported together with other problems. */
function findPortConflict(texts: Partial<Record<string, string>>): string[] {
  const { data } = listenersSchema.safeParse(texts);
  if (data === undefined || data.PORT === 0 || data.PORT !== data.ADMIN_PORT || data.HOST !== data.ADMIN_HOST)
    return [];
  return [`PORT and ADMIN_PORT are both ${data.PORT}: the public and the admin listener need different ports.`];
}

const backupSchema = valuesSchema.pick({
  BACKUP_FOLDER: true,
  BACKUP_BUCKET: true,
  BACKUP_RECIPIENTS: true,
  BACKUP_SCHEDULE: true,
});

/** A schedule that lacks what it needs would fail every night. */
function findIdleSchedule(texts: Partial<Record<string, string>>): string[] {
  const { data } = backupSchema.safeParse(texts);
  if (data === undefined || data.BACKUP_SCHEDULE === null) return [];
  const missing = [
    ...(data.BACKUP_FOLDER === undefined && data.BACKUP_BUCKET === undefined ? ['BACKUP_FOLDER or BACKUP_BUCKET'] : []),
    ...(data.BACKUP_RECIPIENTS.length === 0 ? ['BACKUP_RECIPIENTS'] : []),
  ];
  return missing.length === 0
    ? []
    : [`BACKUP_SCHEDULE needs ${missing.join(' and ')}: set ${missing.length === 1 ? 'it' : 'them'} too.`];
}

const bucketSchema = valuesSchema.pick({ BACKUP_BUCKET: true, AWS_ACCESS_KEY_ID: true, AWS_SECRET_ACCESS_KEY: true });

/** Buckets used as witnesses are named in a file; this one is named here. */
function findKeylessBucket(texts: Partial<Record<string, string>>): string[] {
  const { data } = bucketSchema.safeParse(texts);
  if (data?.BACKUP_BUCKET === undefined) return [];
  const missing = (['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const).filter((name) => data[name] === undefined);
  return missing.length === 0
    ? []
    : [`BACKUP_BUCKET needs ${missing.join(' and ')}: set ${missing.length === 1 ? 'it' : 'them'} too.`];
}

const addressesSchema = valuesSchema.pick({
  SERVICE_BASE_URL: true,
  SERVICE_SITE_URL: true,
  AWS_ENDPOINT_URL_S3: true,
  NOTIFY_CHAT_URL: true,
  NOTIFY_WEBHOOK_URL: true,
  HTTP_ALLOWED_HOSTS: true,
});

/** What others could read in transit; undefined: the API key and consent records. */
const whatIsSent = {
  SERVICE_BASE_URL: undefined,
  SERVICE_SITE_URL: undefined,
  AWS_ENDPOINT_URL_S3: 'what is stored',
  NOTIFY_CHAT_URL: 'notifications',
  NOTIFY_WEBHOOK_URL: 'notifications',
} as const;

function findClearText(texts: Partial<Record<string, string>>): string[] {
  const { data } = addressesSchema.safeParse(texts);
  if (data === undefined) return [];
  return (Object.keys(whatIsSent) as (keyof typeof whatIsSent)[]).flatMap((name) => {
    const url = data[name];
    const problem = url === undefined ? null : clearTextProblem(url, data.HTTP_ALLOWED_HOSTS, whatIsSent[name]);
    return problem === null ? [] : [`${name} ${problem}.`];
  });
}

function defaultSourceOf(values: Values): Source | null {
  const { SERVICE_BASE_URL, SERVICE_SITE_URL, SERVICE_API_KEY, SERVICE_SITE_KEY, WEBHOOK_SECRETS } = values;
  const given = [SERVICE_BASE_URL, SERVICE_SITE_URL, SERVICE_API_KEY, SERVICE_SITE_KEY, WEBHOOK_SECRETS];
  if (given.every((value) => value === undefined)) return null;
  return {
    slug: DEFAULT_SOURCE,
    name: 'Default',
    baseUrl: SERVICE_BASE_URL ?? null,
    siteUrl: SERVICE_SITE_URL ?? null,
    apiKey: SERVICE_API_KEY ?? null,
    siteKey: SERVICE_SITE_KEY ?? null,
    webhookSecrets: (WEBHOOK_SECRETS ?? []).map(webhookSecretOf),
    options: sourceOptionsSchema.parse({}),
  };
}

/** What the operator names, and where the operator's own source is: other sources may be clients at the same place. */
function destinationsOf(values: Values): DestinationRule {
  const { SERVICE_BASE_URL, SERVICE_SITE_URL, HTTP_ALLOWED_HOSTS, PRIVATE_ALLOWED_HOSTS } = values;
  const own = [SERVICE_BASE_URL, SERVICE_SITE_URL].flatMap((url) => (url === undefined ? [] : [hostAndPortOf(url)]));
  return { httpAllowedHosts: HTTP_ALLOWED_HOSTS, privateAllowedHosts: [...PRIVATE_ALLOWED_HOSTS, ...own] };
}

function warnOfValues(values: Values): string[] {
  const { SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_SITE_KEY, WEBHOOK_SECRETS, TRUST_PROXY } = values;
  const warnings: string[] = [];
  if (SERVICE_API_KEY !== undefined && SERVICE_BASE_URL === undefined) {
    warnings.push('SERVICE_API_KEY is set but SERVICE_BASE_URL is not: nothing can be pulled from the service.');
  }
  if (SERVICE_BASE_URL !== undefined && SERVICE_API_KEY === undefined) {
    warnings.push('SERVICE_BASE_URL is set but SERVICE_API_KEY is not: nothing can be pulled from the service.');
  }
  if (SERVICE_BASE_URL !== undefined && SERVICE_API_KEY !== undefined && !isPrivateTransport(SERVICE_BASE_URL)) {
    warnings.push('SERVICE_BASE_URL is not https: the API key would be sent unencrypted.');
  }
  if (SERVICE_API_KEY?.startsWith('pk_')) {
    warnings.push(
      'SERVICE_API_KEY is a legacy site key (pk_…): it works until the service removes it; create a named key (pak_live_…).',
    );
  } else if (SERVICE_API_KEY !== undefined && !SERVICE_API_KEY.startsWith('pak_live_')) {
    warnings.push('SERVICE_API_KEY does not begin with pak_live_ and may not be an API key of the service.');
  }
  if (SERVICE_SITE_KEY !== undefined && !SERVICE_SITE_KEY.startsWith('pk_')) {
    warnings.push('SERVICE_SITE_KEY does not begin with pk_ and may not be a site key of the service.');
  }
  if (SERVICE_BASE_URL !== undefined && WEBHOOK_SECRETS === undefined) {
    warnings.push(
      'WEBHOOK_SECRETS is not set: deliveries of the source `default` are refused unless signing secrets were added with `source rotate` or in the browser.',
    );
  }
  if (WEBHOOK_SECRETS?.some((secret) => secret.length < 16)) {
    warnings.push('WEBHOOK_SECRETS contains a secret of fewer than 16 characters, which can be guessed.');
  }
  if (TRUST_PROXY === true) {
    warnings.push('TRUST_PROXY is on: any caller can claim any address. List the proxies or their number instead.');
  }
  return warnings;
}

/** Warnings about names that look like misspellings of ours, which would otherwise be ignored silently. */
function warnOfNearMisses(names: readonly string[]): string[] {
  const warnings: string[] = [];
  for (const name of [...names].sort()) {
    const plainFile = variableNames.find((known) => !variables[known].secret && name === `${known}_FILE`);
    if (plainFile !== undefined) {
      warnings.push(`${name} is not supported: only secrets can come from a file. Set ${plainFile}.`);
      continue;
    }
    const meant = closestName(name);
    if (meant !== null) warnings.push(`Unknown variable ${name}. Did you mean ${meant}?`);
  }
  return warnings;
}

const candidates: readonly string[] = variableNames.flatMap((name) =>
  variables[name].secret ? [name, `${name}_FILE`] : [name],
);

function closestName(name: string): string | null {
  const upper = name.toUpperCase().replaceAll('-', '_');
  let best: { name: string; distance: number } | null = null;
  for (const candidate of candidates) {
    // Short names resemble many others: for them, only differences in case or separators count.
    const allowed = candidate.length >= 8 ? 2 : 0;
    const distance = editDistance(upper, candidate, allowed);
    if (distance <= allowed && (best === null || distance < best.distance)) best = { name: candidate, distance };
  }
  return best?.name ?? null;
}
