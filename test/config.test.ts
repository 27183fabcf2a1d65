import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEnvFile } from '../src/commands/init.ts';
import { loadConfig } from '../src/config/config.ts';
import { loadControllerFile, loadRegimesFile, parseControllerProfile } from '../src/config/settings-files.ts';
import { variableNames, variables } from '../src/config/variables.ts';
import { openContext } from '../src/context/context.ts';
import { publicUrlOf } from '../src/core/address.ts';
import { UsageError } from '../src/core/errors.ts';
import { missingProfileParts } from '../src/law/profile.ts';
import { createRegimeTable, findRegimeRows } from '../src/law/regime-table.ts';
import { createLog } from '../src/log/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'consent-ledger-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env, folder);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const KEY = Buffer.alloc(32, 7).toString('base64');

describe('configuration', () => {
  test('strips quotes around a value, which `docker run --env-file` passes on from .env', () => {
    const config = loadConfig({ INSTANCE_KEY: `"${KEY}"`, TIME_ZONE: "'Europe/Berlin'", PORT: '"9001"' }, folder);
    expect([config.instanceKey?.toString('base64'), config.timeZone, config.port]).toEqual([
      KEY,
      'Europe/Berlin',
      9001,
    ]);
  });

  test('gives the documented defaults for an empty environment, without a warning', () => {
    expect(loadConfig({}, folder)).toEqual({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: null,
      publishTiles: false,
      trustProxy: false,
      bodyLimit: 1024 * 1024,
      inFlightLimit: 128 * 1024 * 1024,
      inFlightLimitPerAddress: 64 * 1024 * 1024,
      connectionLimit: 1000,
      adminHost: '127.0.0.1',
      adminPort: 8081,
      adminHosts: [],
      apiRateLimit: 600,
      metricsSources: 'labels',
      httpAllowedHosts: [],
      destinations: { httpAllowedHosts: [], privateAllowedHosts: [] },
      dataDir: join(folder, 'data'),
      database: { engine: 'sqlite', path: join(folder, 'data', 'ledger.sqlite') },
      redisUrl: null,
      instanceKey: null,
      signingKeyFile: null,
      defaultSource: null,
      controllerFile: null,
      regimesFile: null,
      timeZone: 'UTC',
      syncSchedule: '*/15 * * * *',
      syncLookBackHours: 24,
      syncRecountDays: 7,
      verifySchedule: '31 5 * * 0',
      witnesses: null,
      witnessSchedule: '7 * * * *',
      witnessMaxAgeHours: 24,
      checkpointLock: null,
      storage: { endpoint: null, region: 'us-east-1', pathStyle: null, credentials: null },
      backup: {
        folder: null,
        bucket: null,
        lock: null,
        recipients: [],
        schedule: null,
        keep: { daily: 7, weekly: 5, monthly: 12 },
      },
      adminUrl: null,
      signOn: null,
      mail: null,
      checkpointMail: { to: [], schedule: '30 8 1 * *' },
      notify: { chatUrl: null, webhook: null, schedule: '*/10 * * * *', digest: '0 7 * * 1-5' },
      logLevel: 'info',
      tracing: null,
      warnings: [],
    });
  });

  test('turns traces on if a collector or the exporter is named, and off if they are disabled', () => {
    const endpointOf = (env: NodeJS.ProcessEnv) => loadConfig(env, folder).tracing?.endpoint ?? null;
    expect(endpointOf({ OTEL_SERVICE_NAME: 'x' })).toBeNull();
    expect(endpointOf({ OTEL_TRACES_EXPORTER: 'otlp' })).toBe('http://localhost:4318/v1/traces');
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(endpointOf(base)).toBe('http://collector:4318/v1/traces');
    expect(endpointOf({ ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example/x' })).toBe(
      'https://t.example/x',
    );
    expect(endpointOf({ ...base, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
    expect(endpointOf({ ...base, OTEL_SDK_DISABLED: 'true' })).toBeNull();
    expect(loadConfig({ ...base, OTEL_EXPORTER_OTLP_HEADERS: 'a=b%3D, c=d' }, folder).tracing?.headers).toEqual({
      a: 'b=',
      c: 'd',
    });
  });

  test('reads .env, and the environment overrides it', () => {
    write('.env', 'PORT=9001\nADMIN_PORT=9002\n# a comment\nTIME_ZONE="Europe/Berlin"\n');
    const config = loadConfig({ PORT: '9005' }, folder);
    expect([config.port, config.adminPort, config.timeZone]).toEqual([9005, 9002, 'Europe/Berlin']);
  });

  test('names an invalid line of .env by its number, and accepts quoted values of several lines', () => {
    write('.env', '# ours\n\nPORT=9001\nADMIN PORT 9002\nexport TIME_ZONE="Europe/Berlin"\r\n  oops\n');
    const refused = () => loadConfig({}, folder);
    expect(refused).toThrow('.env line 4 is not of the form NAME=value.');
    expect(refused).toThrow('.env line 6 is not of the form NAME=value.');
    write('.env', `PORT=9001\nWEBHOOK_SECRETS="abcdefgh12345678\n"\nTIME_ZONE='Europe/Berlin'\n`);
    expect(loadConfig({}, folder).timeZone).toBe('Europe/Berlin');
  });

  test('treats an empty value as unset, which can hide one in .env', () => {
    write('.env', `PORT=9001\nINSTANCE_KEY=${KEY}\n`);
    const config = loadConfig({ PORT: '', INSTANCE_KEY: '' }, folder);
    expect([config.port, config.instanceKey]).toEqual([8080, null]);
  });

  test('reads each secret from a file', () => {
    write('key', `${KEY}\n`);
    write('api', 'pak_live_0123456789\n');
    write('secrets', 'first-secret-of-16-chars,second-secret-of-16-chars\n');
    const config = loadConfig(
      {
        INSTANCE_KEY_FILE: 'key',
        SERVICE_API_KEY_FILE: join(folder, 'api'),
        WEBHOOK_SECRETS_FILE: 'secrets',
        SERVICE_BASE_URL: 'https://service.example/api/v1/',
      },
      folder,
    );
    expect(config.instanceKey?.toString('base64')).toBe(KEY);
    expect(config.defaultSource).toMatchObject({
      slug: 'default',
      baseUrl: 'https://service.example/api/v1',
      apiKey: 'pak_live_0123456789',
      webhookSecrets: [{ value: 'first-secret-of-16-chars' }, { value: 'second-secret-of-16-chars' }],
    });
    expect(config.warnings).toEqual([]);
  });

  test('lets a secret in the environment override its file in .env, and refuses both in one place', () => {
    write('.env', 'SERVICE_API_KEY_FILE=missing-file\n');
    expect(loadConfig({ SERVICE_API_KEY: 'pak_live_1' }, folder).defaultSource?.apiKey).toBe('pak_live_1');
    expect(problemsOf({ SERVICE_API_KEY: 'pak_live_1', SERVICE_API_KEY_FILE: 'x' })).toEqual([
      'SERVICE_API_KEY and SERVICE_API_KEY_FILE are both set: remove one of them.',
    ]);
  });

  test('names a missing or empty secret file', () => {
    write('empty', '\n');
    expect(problemsOf({ INSTANCE_KEY_FILE: 'nowhere', SERVICE_API_KEY_FILE: 'empty' })).toEqual([
      `INSTANCE_KEY_FILE: cannot read ${join(folder, 'nowhere')}: there is no such file (ENOENT). Correct the path.`,
      `SERVICE_API_KEY_FILE: the file ${join(folder, 'empty')} is empty: write the value into it.`,
    ]);
  });

  test('reports every problem at once without revealing a secret', () => {
    write('.env', 'a line that is not one\nOTHER=loud\n');
    const problems = problemsOf({
      HOST: 'with space',
      PORT: '70000',
      PUBLIC_URL: 'consent.example.org',
      TRUST_PROXY: 'maybe',
      BODY_LIMIT: '1 GiB',
      IN_FLIGHT_LIMIT: '2 GiB',
      IN_FLIGHT_LIMIT_PER_ADDRESS: '1 KiB',
      CONNECTION_LIMIT: '9',
      ADMIN_HOST: '127.0.0.1:80',
      ADMIN_PORT: '-1',
      ADMIN_HOSTS: 'https://ledger.example.org',
      API_RATE_LIMIT: 'many',
      METRICS_SOURCES: 'all',
      HTTP_ALLOWED_HOSTS: 'service.example:80',
      PRIVATE_ALLOWED_HOSTS: 'https://service.internal',
      DATABASE_URL: 'postgres://user:hush-database@db/',
      REDIS_URL: 'http://:hush-redis@cache',
      INSTANCE_KEY: 'hush-instance',
      SERVICE_BASE_URL: 'https://service.example/api',
      SERVICE_SITE_URL: 'https://service.example/path',
      SERVICE_API_KEY: 'hush api key',
      SERVICE_SITE_KEY: 'hush site key',
      WEBHOOK_SECRETS: 'hush-webhook, hush-webhook',
      TIME_ZONE: 'Europe/Nowhere',
      SYNC_SCHEDULE: '61 * * * *',
      SYNC_LOOK_BACK_HOURS: '0',
      SYNC_RECOUNT_DAYS: '-7',
      VERIFY_SCHEDULE: 'weekly',
      WITNESS_SCHEDULE: 'hourly',
      WITNESS_MAX_AGE_HOURS: '0',
      PUBLISH_TILES: 'some',
      CHECKPOINT_LOCK: 'forever',
      BACKUP_BUCKET: 'https://storage.example/bucket',
      BACKUP_LOCK: 'COMPLIANCE',
      BACKUP_RECIPIENTS: 'AGE-SECRET-KEY-1hush',
      BACKUP_SCHEDULE: 'nightly',
      BACKUP_KEEP: '7',
      AWS_ENDPOINT_URL_S3: 'https://storage.example?a=b',
      AWS_REGION: 'Frankfurt am Main',
      AWS_ACCESS_KEY_ID: 'hush key id',
      AWS_SECRET_ACCESS_KEY: 'hush key',
      AWS_SESSION_TOKEN: 'hush token',
      S3_PATH_STYLE: 'sometimes',
      ADMIN_URL: 'ledger.example.org',
      OIDC_ISSUER: 'http://login.example.org',
      OIDC_CLIENT_ID: 'a client',
      OIDC_CLIENT_SECRET: 'hush secret',
      OIDC_EMAIL_TRUST: 'everyone',
      OIDC_EMAIL_CLAIM: 'two words',
      OIDC_NAME: 'a name of more letters than there is room for on a button of the sign-in page',
      SMTP_URL: 'https://user:hush@mail.example',
      MAIL_FROM: 'the ledger',
      CHECKPOINT_MAIL_TO: 'dpo',
      CHECKPOINT_MAIL_SCHEDULE: 'monthly',
      NOTIFY_CHAT_URL: 'hooks.slack.com/hush',
      NOTIFY_WEBHOOK_URL: 'hush',
      NOTIFY_WEBHOOK_SECRET: 'whsec_hush',
      NOTIFY_SCHEDULE: 'always',
      DIGEST_SCHEDULE: 'daily',
      LOG_LEVEL: 'loud',
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_SDK_DISABLED: 'perhaps',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector',
      OTEL_EXPORTER_OTLP_HEADERS: 'hush',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_RESOURCE_ATTRIBUTES: 'hush',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '1.5',
    });
    const named = problems.map((problem) => problem.split(/[ :]/)[0]);
    expect(named.sort()).toEqual(
      [
        '.env',
        ...variableNames.filter(
          (name) =>
            ![
              'DATA_DIR',
              'SIGNING_KEY_FILE',
              'CONTROLLER_FILE',
              'REGIMES_FILE',
              'WITNESSES',
              'BACKUP_FOLDER',
              'OTEL_SERVICE_NAME',
            ].includes(name),
        ),
      ].sort(),
    );
    expect(problems.join('\n')).not.toContain('hush');
  });

  test('requires a folder and a recipient for scheduled backups', () => {
    expect(problemsOf({ BACKUP_SCHEDULE: '10 2 * * *' })).toEqual([
      'BACKUP_SCHEDULE needs BACKUP_FOLDER or BACKUP_BUCKET and BACKUP_RECIPIENTS: set them too.',
    ]);
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    const { backup } = loadConfig(
      {
        BACKUP_SCHEDULE: '10 2 * * *',
        BACKUP_FOLDER: 'backups',
        BACKUP_RECIPIENTS: `${recipient}, ${recipient}`,
        BACKUP_KEEP: '3 weekly',
      },
      folder,
    );
    expect(backup).toEqual({
      folder: join(folder, 'backups'),
      bucket: null,
      lock: null,
      recipients: [recipient, recipient],
      schedule: '10 2 * * *',
      keep: { daily: 0, weekly: 3, monthly: 0 },
    });
  });

  test('requires keys for a bucket, and https unless its store is explicitly allowed', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
    const bucket = { BACKUP_BUCKET: 's3://my-bucket/ledger/', ...keys };
    expect(problemsOf({ BACKUP_BUCKET: 's3://my-bucket' })).toEqual([
      'BACKUP_BUCKET needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set them too.',
    ]);
    expect(problemsOf({ ...bucket, AWS_ENDPOINT_URL_S3: 'http://storage.example' })).toEqual([
      expect.stringContaining('AWS_ENDPOINT_URL_S3 must be https: what is stored would cross the network'),
    ]);
    const allowed = { AWS_ENDPOINT_URL_S3: 'http://storage.example:9000', HTTP_ALLOWED_HOSTS: 'storage.example' };
    const config = loadConfig({ ...bucket, ...allowed, BACKUP_LOCK: 'governance 1 day' }, folder);
    expect(config.backup).toMatchObject({
      bucket: { bucket: 'my-bucket', prefix: 'ledger' },
      lock: { mode: 'GOVERNANCE', days: 1 },
    });
    for (const wrong of ['s3://a', 's3://bucket/a/../b', 's3://bucket//a', 's3://Bucket', 's3://bucket/ä'])
      expect(problemsOf({ BACKUP_BUCKET: wrong, ...keys })).toHaveLength(1);
  });

  test('trusts the addresses of an issuer only if that is one organisation, and other claims only with it', () => {
    const signOn = (more: Record<string, string>) => {
      const issuer = 'https://login.microsoftonline.com/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0';
      return { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'ledger', ...more };
    };
    expect(loadConfig(signOn({}), folder).signOn?.email).toEqual({ claim: 'email', trust: 'verified' });
    const upn = { OIDC_EMAIL_TRUST: 'issuer', OIDC_EMAIL_CLAIM: 'preferred_username' };
    expect(loadConfig(signOn(upn), folder).signOn?.email).toEqual({ claim: 'preferred_username', trust: 'issuer' });
    expect(problemsOf(signOn({ OIDC_EMAIL_CLAIM: 'upn' }))).toEqual([
      expect.stringContaining('set OIDC_EMAIL_TRUST=issuer'),
    ]);
    for (const OIDC_ISSUER of ['https://login.microsoftonline.com/common/v2.0', 'https://accounts.google.com'])
      expect(problemsOf(signOn({ OIDC_ISSUER, OIDC_EMAIL_TRUST: 'issuer' }))).toEqual([
        expect.stringContaining('needs an OIDC_ISSUER of one organisation'),
      ]);
  });

  test('reads a mail server with its login, without TLS only on this machine or if explicitly allowed', () => {
    const mailOf = (SMTP_URL: string, more = {}) =>
      loadConfig({ SMTP_URL, MAIL_FROM: 'Ledger <ledger@example.org>', ...more }, folder).mail;
    expect(mailOf('smtps://ledger%40example.org:p%3Aw@mail.example')).toEqual({
      host: 'mail.example',
      port: 465,
      implicitTls: true,
      login: { user: 'ledger@example.org', password: 'p:w' },
      clearText: false,
      from: { name: 'Ledger', address: 'ledger@example.org' },
    });
    const fromOf = (MAIL_FROM: string) => mailOf('smtp://mail.example', { MAIL_FROM })?.from;
    const address = 'ledger@example.org';
    expect(fromOf(address)).toEqual({ name: null, address });
    for (const name of ['Privacy: Acme', 'Acme [EU]; Ltd, Co.', 'Acme: a; b'])
      expect([fromOf(`${name} <${address}>`), fromOf(`"${name}" <${address}>`)]).toEqual([
        { name, address },
        { name, address },
      ]);
    expect(fromOf(`"The \\"Ledger\\" <EU>" <${address}>`)).toEqual({ name: 'The "Ledger" <EU>', address });
    expect(mailOf('smtp://mail.example')).toMatchObject({
      port: 587,
      implicitTls: false,
      login: null,
      clearText: false,
    });
    expect(mailOf('smtp://mail.example', { HTTP_ALLOWED_HOSTS: 'mail.example' })).toMatchObject({ clearText: true });
    expect(mailOf('smtp://127.0.0.1:2525')).toMatchObject({ clearText: true });
    expect(problemsOf({ SMTP_URL: 'smtp://mail.example' })).toEqual(['SMTP_URL needs MAIL_FROM: set it too.']);
    expect(problemsOf({ CHECKPOINT_MAIL_TO: 'dpo@example.org' })).toEqual([
      'CHECKPOINT_MAIL_TO needs SMTP_URL: set it too.',
    ]);
    expect(problemsOf({ NOTIFY_WEBHOOK_URL: 'https://ops.example' })).toEqual([
      'NOTIFY_WEBHOOK_URL needs NOTIFY_WEBHOOK_SECRET: set it too.',
    ]);
    expect(problemsOf({ NOTIFY_CHAT_URL: 'http://chat.example/hush' })).toEqual([
      expect.stringContaining('NOTIFY_CHAT_URL must be https: notifications would cross the network'),
    ]);
  });

  test('refuses the same port for both listeners, together with other problems', () => {
    expect(problemsOf({ PORT: '8081', LOG_LEVEL: 'x' })).toHaveLength(2);
    expect(problemsOf({ PORT: '8081', ADMIN_HOST: '127.0.0.2' })).toEqual([]);
    expect(problemsOf({ PORT: '0', ADMIN_PORT: '0' })).toEqual([]);
  });

  test.each([
    ['off', false],
    ['no', false],
    ['False', false],
    ['on', true],
    ['yes', true],
    ['TRUE', true],
    ['2', 2],
    ['10.0.0.0/8, ::1, loopback', ['10.0.0.0/8', '::1', 'loopback']],
  ])('accepts TRUST_PROXY=%s', (text, expected) => {
    expect(loadConfig({ TRUST_PROXY: text }, folder).trustProxy).toEqual(expected);
  });
  test.each(['0', '17', 'y', 'enabled', '10.0.0.0/33', '10.0.0.1/8/8', '1.2.3', ','])(
    'refuses TRUST_PROXY=%s',
    (text) => {
      expect(problemsOf({ TRUST_PROXY: text })).toHaveLength(1);
    },
  );

  test.each([
    ['1048576', 1_048_576],
    ['1 MiB', 1_048_576],
    ['512KiB', 524_288],
    ['2 MB', 2_000_000],
    ['64 mib', 67_108_864],
  ])('accepts BODY_LIMIT=%s', (text, expected) => {
    expect(loadConfig({ BODY_LIMIT: text }, folder).bodyLimit).toBe(expected);
  });
  test.each(['0', '1023', '65 MiB', '1.5 MiB', '1 MiBs', '1e6', '-1', '1 constructor'])(
    'refuses BODY_LIMIT=%s',
    (text) => {
      expect(problemsOf({ BODY_LIMIT: text })).toHaveLength(1);
    },
  );

  test.each([
    ['sqlite:db.sqlite', 'db.sqlite'],
    ['sqlite:./sub/db.sqlite', 'sub/db.sqlite'],
  ])('resolves the path in DATABASE_URL=%s from the working directory', (text, path) => {
    expect(loadConfig({ DATABASE_URL: text }, folder).database).toEqual({ engine: 'sqlite', path: join(folder, path) });
  });
  test('accepts an absolute path in DATABASE_URL, with one or three slashes', () => {
    for (const url of ['sqlite:/srv/x.sqlite', 'sqlite:///srv/x.sqlite']) {
      expect(loadConfig({ DATABASE_URL: url }, folder).database).toEqual({ engine: 'sqlite', path: '/srv/x.sqlite' });
    }
  });
  test('keeps server addresses in DATABASE_URL and REDIS_URL unchanged', () => {
    const config = loadConfig(
      { DATABASE_URL: 'postgres://u:p@db/x?sslmode=verify-full', REDIS_URL: 'rediss://r/2' },
      folder,
    );
    expect(config.database).toEqual({ engine: 'postgres', url: 'postgres://u:p@db/x?sslmode=verify-full' });
    expect(config.redisUrl).toBe('rediss://r/2');
  });
  test.each(['postgres://u:p@db', 'postgres:///', 'redis://', 'redis://r/name', 'localhost:6379'])(
    'refuses a server address without host or database, like %s',
    (text) => {
      const name = text.startsWith('postgres') ? 'DATABASE_URL' : 'REDIS_URL';
      expect(() => loadConfig({ [name]: text }, folder)).toThrow(UsageError);
    },
  );
  test.each(['sqlite:', 'sqlite::memory:', 'sqlite://host/x', 'sqlite:dir/', 'file.sqlite', 'mysql://x'])(
    'refuses DATABASE_URL=%s',
    (text) => {
      expect(problemsOf({ DATABASE_URL: text })).toHaveLength(1);
    },
  );

  test('accepts an instance key as hex', () => {
    expect(problemsOf({ INSTANCE_KEY: 'ab'.repeat(32) })[0]).toContain('looks like hex');
  });

  test('accepts whole days for SYNC_RECOUNT_DAYS, and 0 to turn it off', () => {
    expect(loadConfig({ SYNC_RECOUNT_DAYS: '0' }, folder).syncRecountDays).toBe(0);
    expect(loadConfig({ SYNC_RECOUNT_DAYS: '30' }, folder).syncRecountDays).toBe(30);
    for (const days of ['-1', '1.5', 'many', '4000'])
      expect(() => loadConfig({ SYNC_RECOUNT_DAYS: days }, folder)).toThrow(/SYNC_RECOUNT_DAYS/);
  });

  test('accepts whole hours from 1 to 720 for SYNC_LOOK_BACK_HOURS', () => {
    expect(loadConfig({ SYNC_LOOK_BACK_HOURS: '1' }, folder).syncLookBackHours).toBe(1);
    expect(loadConfig({ SYNC_LOOK_BACK_HOURS: '720' }, folder).syncLookBackHours).toBe(720);
    for (const hours of ['0', '721', '1.5', '24h', 'off'])
      expect(() => loadConfig({ SYNC_LOOK_BACK_HOURS: hours }, folder)).toThrow(/SYNC_LOOK_BACK_HOURS.*from 1 to 720/);
  });

  test('turns the pull off with SYNC_SCHEDULE=off', () => {
    expect(loadConfig({ SYNC_SCHEDULE: 'off' }, folder).syncSchedule).toBeNull();
  });

  test('refuses a "#" inside an unquoted value of .env, which would cut the value short', () => {
    write('.env', 'WEBHOOK_SECRETS=abcdefgh#ijklmnop\n');
    expect(problemsOf({})).toEqual(['.env line 1: the value of WEBHOOK_SECRETS contains a "#": put it in quotes.']);
    write('.env', 'WEBHOOK_SECRETS="abcdefgh#ijklmnop" # a comment\nPORT=9000 # another\n');
    expect(loadConfig({}, folder).defaultSource?.webhookSecrets[0]?.value).toBe('abcdefgh#ijklmnop');
    expect(loadConfig({}, folder).port).toBe(9000);
  });

  test('warns of misspelt names, but not of foreign ones', () => {
    write('.env', 'WEBHOOK_SECRET=x\n');
    const env = { SERVICE_API_KEYS: 'x', DATABSE_URL: 'x', port: '1', CONTROLLER_FILE_FILE: 'x', ADMIN_PORT_FILE: 'x' };
    expect(
      loadConfig({ ...env, PATH: '/bin', HOSTNAME: 'h', POST: 'p', LANG: 'C', HOME: '/' }, folder).warnings,
    ).toEqual([
      'ADMIN_PORT_FILE is not supported: only secrets can come from a file. Set ADMIN_PORT.',
      'CONTROLLER_FILE_FILE is not supported: only secrets can come from a file. Set CONTROLLER_FILE.',
      'Unknown variable DATABSE_URL. Did you mean DATABASE_URL?',
      'Unknown variable SERVICE_API_KEYS. Did you mean SERVICE_API_KEY?',
      'Unknown variable WEBHOOK_SECRET. Did you mean WEBHOOK_SECRETS?',
      'Unknown variable port. Did you mean PORT?',
    ]);
  });

  test('warns of settings that are allowed but probably not intended', () => {
    const warn = (env: NodeJS.ProcessEnv) => loadConfig(env, folder).warnings.join('\n');
    const base = { SERVICE_BASE_URL: 'https://service.example/api/v1', WEBHOOK_SECRETS: '0123456789abcdef' };
    expect(warn({ ...base, SERVICE_API_KEY: 'pak_live_x' })).toBe('');
    expect(warn({ ...base, SERVICE_API_KEY: 'pk_old' })).toContain('legacy');
    expect(warn({ ...base, SERVICE_API_KEY: 'other' })).toContain('does not begin with pak_live_');
    expect(warn(base)).toContain('SERVICE_API_KEY is not');
    expect(warn({ SERVICE_API_KEY: 'pak_live_x' })).toContain('SERVICE_BASE_URL is not');
    expect(
      warn({
        ...base,
        SERVICE_API_KEY: 'pak_live_x',
        SERVICE_BASE_URL: 'http://service.example/api/v1',
        HTTP_ALLOWED_HOSTS: 'service.example',
      }),
    ).toContain('https');
    expect(warn({ ...base, SERVICE_API_KEY: 'pak_live_x', SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1' })).toBe('');
    expect(warn({ WEBHOOK_SECRETS: 'short' })).toContain('guessed');
    expect(warn({ TRUST_PROXY: 'on' })).toContain('any caller');
  });

  test('refuses http to another machine unless its host is allowed', () => {
    const urls = { SERVICE_BASE_URL: 'http://service.lan/api/v1', SERVICE_SITE_URL: 'http://site.lan' };
    expect(problemsOf({ ...urls, HTTP_ALLOWED_HOSTS: 'other.lan' })).toEqual([
      expect.stringMatching(/^SERVICE_BASE_URL must be https: .*service\.lan.*HTTP_ALLOWED_HOSTS/),
      expect.stringMatching(/^SERVICE_SITE_URL must be https: .*site\.lan.*HTTP_ALLOWED_HOSTS/),
    ]);
    expect(problemsOf({ ...urls, HTTP_ALLOWED_HOSTS: 'Service.lan, site.lan' })).toEqual([]);
    expect(problemsOf({ SERVICE_BASE_URL: 'http://localhost:9/api/v1', SERVICE_SITE_URL: 'http://[::1]:9' })).toEqual(
      [],
    );
  });

  test('never repeats a password in a URL', () => {
    for (const name of ['PUBLIC_URL', 'SERVICE_BASE_URL', 'SERVICE_SITE_URL']) {
      for (const url of [
        'https://me:hush@service.example/api/v1',
        'https://me:hu/sh@x/',
        'ftp://hush@x',
        'http:\\\\me:hush@x',
      ])
        expect(problemsOf({ [name]: url }).join()).not.toMatch(/hu\/?sh/);
    }
  });

  test('gives the same signing secret the same name, wherever it is configured', () => {
    const ids = (secrets: string) =>
      loadConfig({ WEBHOOK_SECRETS: secrets }, folder).defaultSource?.webhookSecrets.map(({ id }) => id);
    const [a, b] = ids('secret-number-one,secret-number-two') ?? [];
    expect(ids('secret-number-two,secret-number-one')).toEqual([b, a]);
    expect(a).toMatch(/^[0-9a-f]{8}$/);
    expect(a).not.toBe(b);
  });

  test('derives the public address if it is not configured', () => {
    expect(publicUrlOf({ publicUrl: null, host: '0.0.0.0' }, 81)).toBe('http://localhost:81');
    expect(publicUrlOf({ publicUrl: null, host: '::1' }, 81)).toBe('http://[::1]:81');
    const { publicUrl, host } = loadConfig({ PUBLIC_URL: 'https://x.example/consent/' }, folder);
    expect(publicUrlOf({ publicUrl, host }, 81)).toBe('https://x.example/consent');
  });
});

describe('init', () => {
  test('writes an .env with fresh keys that loads without a warning, readable by its owner only', async () => {
    const made = await createEnvFile(folder);
    expect(made).toMatchObject({ outcome: 'written', keptKeys: [] });
    const config = loadConfig({}, folder);
    expect(config.instanceKey).toHaveLength(32);
    expect(config.signingKeyFile).toBe(join(folder, 'data', 'keys', 'signing.pem'));
    expect(config.warnings).toEqual([]);
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data', 'keys', 'signing.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data', 'keys')).mode & 0o777).toBe(0o700);
  });

  test('names every variable, with its default', async () => {
    await createEnvFile(folder);
    const text = readFileSync(join(folder, '.env'), 'utf8');
    for (const name of variableNames) {
      expect(text).toMatch(new RegExp(`^#?${name}=`, 'm'));
      expect(text).toContain(`# Default: ${variables[name].defaultText}.`);
    }
  });

  test('never overwrites an .env', async () => {
    write('.env', 'PORT=9000\n');
    expect(await createEnvFile(folder)).toEqual({ outcome: 'exists', path: join(folder, '.env') });
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('PORT=9000\n');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  test('keeps the keys generated by a first start', async () => {
    const keys = join(folder, 'elsewhere', 'keys');
    mkdirSync(keys, { recursive: true });
    writeFileSync(join(keys, 'instance.key'), KEY);
    const made = await createEnvFile(folder, 'elsewhere');
    expect(made).toMatchObject({ keptKeys: [join(keys, 'instance.key')], keys: [join(keys, 'signing.pem')] });
    const config = loadConfig({}, folder);
    expect([config.instanceKey, config.dataDir]).toEqual([null, join(folder, 'elsewhere')]);
  });

  test('refuses where a database is whose key was in a lost .env, and says how to find the key', async () => {
    const dataDir = join(folder, 'data');
    await createEnvFile(folder);
    const context = await openContext(loadConfig({}, folder), createLog('fatal'));
    const { instance } = context.keys.fingerprints;
    await context.close();
    rmSync(join(folder, '.env'));
    const before = readdirSync(dataDir, { recursive: true });
    const refusal = await createEnvFile(folder).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect((refusal as UsageError).problems.join('\n')).toContain(`fingerprint ${instance}`);
    expect((refusal as UsageError).problems.join('\n')).toContain('doctor');
    expect(existsSync(join(folder, '.env'))).toBe(false);
    expect(readdirSync(dataDir, { recursive: true })).toEqual(before);
  });

  test.each(['marker.json', 'journal', 'log.vkey'])(
    'refuses where %s shows that an installation on PostgreSQL has its files',
    async (name) => {
      mkdirSync(join(folder, 'data', 'keys'), { recursive: true });
      writeFileSync(join(folder, 'data', name), '');
      await expect(createEnvFile(folder)).rejects.toThrow(UsageError);
      expect(readdirSync(join(folder, 'data', 'keys'))).toEqual([]);
    },
  );

  test('writes one file and one set of keys if run twice at once', async () => {
    const outcomes = await Promise.all([createEnvFile(folder), createEnvFile(folder)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['exists', 'written']);
    expect(loadConfig({}, folder).instanceKey).toHaveLength(32);
  });
});

describe('controller profile', () => {
  test('loads from the shipped example without missing parts', async () => {
    const loaded = await loadControllerFile('docs/controller.example.yaml');
    if (loaded.outcome !== 'loaded') throw new Error(loaded.problems.join('\n'));
    expect(missingProfileParts(loaded.value)).toEqual([]);
  });

  test('can be JSON', async () => {
    expect(await parseControllerProfile('{"name":"Shop","country":"DE"}', 'c.json')).toMatchObject({
      outcome: 'loaded',
      value: { name: 'Shop', country: 'DE', role: 'controller' },
    });
  });

  test('is refused if translations leave out an item or name an unknown system', async () => {
    const read = await parseControllerProfile(
      JSON.stringify({
        name: 'Shop',
        dataCategories: ['choices', 'region'],
        otherSystems: [{ id: 'shop', name: 'Shop database' }],
        translations: { de: { dataCategories: ['Entscheidungen'], otherSystems: [{ id: 'crm', name: 'Kunden' }] } },
      }),
      'c.json',
    );
    expect(read).toMatchObject({ outcome: 'invalid' });
    const text = read.outcome === 'invalid' ? read.problems.join('\n') : '';
    expect(text).toContain('translations.de.dataCategories: has 1 item, but dataCategories has 2');
    expect(text).toContain('translations.de.otherSystems: unknown system "crm"');
  });

  test('is refused with the file and place of every problem', async () => {
    const read = await parseControllerProfile('role: boss\nadress: x\npurposes:\n  - purpose: a\n', 'c.yaml');
    if (read.outcome !== 'invalid') throw new Error('it was accepted');
    const text = read.problems.join('\n');
    expect(read.problems).toHaveLength(5);
    expect(text).toContain('Controller profile c.yaml: name: is missing.');
    expect(text).toContain('unknown field "adress"');
    expect(text).toContain('purposes.0.lawfulBasis: is missing');
    expect(text).toContain('role:');
  });

  test('is refused with the place of an unclosed bracket, however many lines follow', async () => {
    const read = await parseControllerProfile(`{"name":${'a: b\n'.repeat(40_000)}"Acme"}`, 'c.yaml');
    expect(read).toEqual({
      outcome: 'invalid',
      problems: ['Controller profile c.yaml is nested too deeply: is a bracket left open?'],
    });
  });

  test('is refused with a sentence for broken YAML, a repeated key, a missing file and an alias bomb', async () => {
    expect((await parseControllerProfile('name: [', 'c')).outcome).toBe('invalid');
    expect((await parseControllerProfile('name: a\nname: b\n', 'c')).outcome).toBe('invalid');
    expect(await loadControllerFile(join(folder, 'none.yaml'))).toEqual({
      outcome: 'invalid',
      problems: [
        `Controller profile: cannot read ${join(folder, 'none.yaml')}: there is no such file (ENOENT). Correct the path.`,
      ],
    });
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'])
      bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`);
    expect((await parseControllerProfile(bomb.join('\n'), 'c')).outcome).toBe('invalid');
  });
});

describe('a regimes file', () => {
  test('adds a row that is then used', async () => {
    const path = join(folder, 'regimes.yaml');
    write(
      'regimes.yaml',
      'confirm: [ca-qc]\nrows:\n  - regime: nz\n    kinds: [access]\n    period: { amount: 10, unit: days }\n    rollOver: none\n    stopClock: none\n    identity: required\n    citation: a test\n',
    );
    const table = createRegimeTable((await loadRegimesFile(path)).rules);
    expect(findRegimeRows(table, 'nz', 'access')).toMatchObject([{ period: { amount: 10, unit: 'days' } }]);
    expect(findRegimeRows(table, 'ca-qc', 'access')).toMatchObject([{ confirmed: true }]);
  });
  test('with a mistake stops the program and says where', async () => {
    const path = join(folder, 'regimes.yaml');
    write('regimes.yaml', 'rows:\n  - regime: nz\n    kinds: all\n    period: { amount: 0, unit: weeks }\n');
    await expect(loadRegimesFile(path)).rejects.toThrow(/regimes\.yaml: rows\.0\.period: use an amount/);
  });
});
