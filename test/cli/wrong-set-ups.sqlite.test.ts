// SQLite only: files, ports and keys of one machine. Faults of PostgreSQL and Redis are in
// wrong-set-ups.postgres.test.ts.
import { once } from 'node:events';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { newInstanceKeyText, newSigningKeyPem } from '../../src/config/key-files.ts';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Ran, runIn, runProcess } from './command-line.ts';

/** Part of every secret below, to check that no message shows one. */
const HUSH = 'hush-hush-hush-hush';
const service = { SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1', SERVICE_API_KEY: `pak_live_${HUSH}` };

interface WrongSetUp {
  readonly env: Record<string, string>;
  /** Initial content of the folder: text by file name; null makes a folder. */
  readonly files?: Record<string, string | null>;
  /** Damages an installation that has started once. */
  readonly damage?: (folder: string) => Promise<void>;
  /** Default `serve`. */
  readonly args?: readonly string[];
  /** Default 2. */
  readonly code?: number;
  /** Parts of the message: the fault, with the value unless it is a secret, and the remedy. */
  readonly says: readonly string[];
}

const set = (variable: string, value: string, ...says: string[]): [string, WrongSetUp] => [
  `${variable}=${value}`,
  { env: { [variable]: value }, says: [variable, ...says] },
];
const quoted = (text: string) => `not "${text}"`;

const wrongSetUps: readonly [string, WrongSetUp][] = [
  set('PORT', 'many', quoted('many'), 'a whole number from 0 to 65535'),
  set('HOST', 'http://0.0.0.0', quoted('http://0.0.0.0'), 'an IP address or a host name without a port'),
  set('PUBLIC_URL', 'ledger.example.org', quoted('ledger.example.org'), 'like https://consent.example.org'),
  set('SERVICE_BASE_URL', 'https://service.example', quoted('https://service.example'), 'ends in /api/v1'),
  set('SERVICE_BASE_URL', 'http://service.example/api/v1', 'must be https', 'service.example', 'HTTP_ALLOWED_HOSTS'),
  set('TIME_ZONE', 'Europe/Berln', quoted('Europe/Berln'), 'like UTC or Europe/Berlin'),
  set('SYNC_SCHEDULE', '61 * * * *', quoted('61 * * * *'), 'like "*/15 * * * *", or off'),
  set('BODY_LIMIT', '1GB', quoted('1GB'), 'like "512 KiB" or "1 MiB"'),
  set('TRUST_PROXY', 'maybe', quoted('maybe'), 'like 10.0.0.0/8'),
  set('DATA_DIR', '/proc/consent-ledger', 'must not be below /proc', 'a folder on a disk'),
  set('LOG_LEVEL', 'loud', quoted('loud'), 'one of fatal, error, warn'),
  set('INSTANCE_KEY', HUSH, '32 random bytes as base64', 'openssl rand -base64 32'),
  set('SERVICE_API_KEY', `${HUSH} x`, 'one word of printable ASCII characters'),
  set('DATABASE_URL', `mysql://u:${HUSH}@db.example/ledger`, 'must begin with sqlite: or postgres://'),
  set('DATABASE_URL', `postgres://u:${HUSH}/%@db.example/ledger`, 'must name a host and a database', 'percent-encoded'),
  set('REDIS_URL', `http://:${HUSH}@redis.example`, 'like redis://redis.example:6379'),
  set('SMTP_URL', `u:${HUSH}@mail.example`, 'smtp://mail.example:587'),
  set('OIDC_ISSUER', 'http://login.example', 'must be https'),
  set('BACKUP_BUCKET', 'my-bucket', quoted('my-bucket'), 'like s3://my-bucket/consent-ledger'),
  set('BACKUP_RECIPIENTS', `AGE-SECRET-KEY-1${HUSH}`, 'is a private key: use the public key, which begins with age1'),
  set('WITNESSES', 'nowhere', '/nowhere cannot be used: there is no such file (ENOENT)', 'or unset WITNESSES'),
  set('REGIMES_FILE', 'nowhere.yaml', '/nowhere.yaml: there is no such file (ENOENT). Correct the path'),
  ['one port twice', { env: { PORT: '8123', ADMIN_PORT: '8123' }, says: ['PORT and ADMIN_PORT are both 8123'] }],
  [
    'a secret twice',
    {
      env: { WEBHOOK_SECRETS: HUSH, WEBHOOK_SECRETS_FILE: 'secrets' },
      says: ['WEBHOOK_SECRETS and WEBHOOK_SECRETS_FILE are both set: remove one of them'],
    },
  ],
  [
    'a secret file that is not there',
    {
      env: { SERVICE_API_KEY_FILE: 'key' },
      says: ['SERVICE_API_KEY_FILE: cannot read', '/key: there is no such file (ENOENT). Correct the path'],
    },
  ],
  [
    'a secret file that is a folder',
    {
      env: { INSTANCE_KEY_FILE: 'key' },
      files: { key: null },
      says: ['INSTANCE_KEY_FILE', '/key: it is a folder (EISDIR). Correct the path'],
    },
  ],
  [
    'an empty secret file',
    {
      env: { INSTANCE_KEY_FILE: 'key' },
      files: { key: '\n' },
      says: ['INSTANCE_KEY_FILE: the file', 'key is empty: write the value into it'],
    },
  ],
  [
    'a .env that is no list of settings',
    { env: {}, files: { '.env': 'TIME_ZONE UTC\n' }, says: ['.env line 1 is not of the form NAME=value'] },
  ],
  [
    'a .env that cuts a secret short',
    {
      env: {},
      files: { '.env': `WEBHOOK_SECRETS=${HUSH}#2\n` },
      says: ['.env line 1: the value of WEBHOOK_SECRETS contains a "#": put it in quotes'],
    },
  ],
  [
    'backups that nobody could decrypt',
    {
      env: { BACKUP_SCHEDULE: '10 2 * * *', BACKUP_FOLDER: 'backups' },
      says: ['BACKUP_SCHEDULE needs BACKUP_RECIPIENTS: set it too'],
    },
  ],
  [
    'a mail server without a sender',
    { env: { SMTP_URL: `smtps://u:${HUSH}@mail.example` }, says: ['SMTP_URL needs MAIL_FROM: set it too'] },
  ],
  [
    'DATA_DIR that is a file',
    {
      env: {},
      files: { data: 'x' },
      code: 1,
      says: ['There is a file where the folder', '/data should be', 'DATA_DIR'],
    },
  ],
  [
    'a database that is none',
    {
      env: {},
      files: { 'data/ledger.sqlite': 'nonsense' },
      code: 1,
      says: ['/data/ledger.sqlite cannot be opened', 'file is not a database', 'Restore it from a backup', 'DATA_DIR'],
    },
  ],
  [
    'a signing key that is not there',
    { env: { SIGNING_KEY_FILE: 'k.pem' }, says: ['/k.pem is missing: restore it', 'SIGNING_KEY_FILE'] },
  ],
  [
    'a signing key that is none',
    {
      env: { SIGNING_KEY_FILE: 'k.pem' },
      files: { 'k.pem': HUSH },
      says: ['/k.pem does not contain an unencrypted private key in PEM format', 'correct SIGNING_KEY_FILE'],
    },
  ],
  [
    'the instance key of another installation',
    {
      env: { INSTANCE_KEY: newInstanceKeyText() },
      damage: async () => undefined,
      says: ['The INSTANCE_KEY does not belong to this database', 'Use the right key or the right DATABASE_URL'],
    },
  ],
  [
    'the signing key of another installation',
    {
      env: { SIGNING_KEY_FILE: 'other.pem' },
      damage: (folder) => writeFile(`${folder}/other.pem`, newSigningKeyPem()),
      says: ['The signing key does not belong to this database', 'Use the right key or the right DATABASE_URL'],
    },
  ],
  [
    'a database without its keys',
    {
      env: {},
      damage: (folder) => rm(`${folder}/data/keys`, { recursive: true }),
      says: ['/data/keys/instance.key is missing', '/data/keys/signing.pem is missing', 'from your backup'],
    },
  ],
  [
    'a database of a newer version',
    {
      env: {},
      damage: async (folder) => {
        const connection = await openConnection(`${folder}/data/ledger.sqlite`);
        await connection.script('pragma user_version = 99');
        await connection.close();
      },
      says: ['has schema version 99, but this program supports only up to', 'install the newer version'],
    },
  ],
  ['no access to the service', { env: {}, args: ['sync'], says: ['set SERVICE_BASE_URL and SERVICE_API_KEY'] }],
  [
    'a source that does not exist',
    {
      env: service,
      args: ['sync', '--source', 'shop'],
      says: ['Unknown source shop: see `consent-ledger source list`'],
    },
  ],
  [
    'work on an installation that moved',
    {
      env: { WEBHOOK_SECRETS: HUSH },
      damage: async (folder) => {
        const copied = await runIn(folder, ['store', 'copy', '--to', 'sqlite:moved/ledger.sqlite', '--retire']);
        expect(copied.code).toBe(0);
      },
      args: ['banner', 'name', 'main', 'Main site'],
      code: 1,
      says: [
        'The ledger refuses new entries: the installation has moved to',
        'moved/ledger.sqlite. Set DATABASE_URL to',
      ],
    },
  ],
];

function expectSentence({ code, stdout, stderr }: Ran, expected: Pick<WrongSetUp, 'code' | 'says'>): void {
  expect([code, stdout]).toEqual([expected.code ?? 2, '']);
  for (const words of expected.says) expect(stderr).toContain(words);
  expect(stderr).not.toContain(HUSH);
  expect(stderr).not.toMatch(/\n\s+at /);
}

test('at least 25 wrong set-ups are tested', () => {
  expect(wrongSetUps.length).toBeGreaterThanOrEqual(25);
});

test.each(wrongSetUps)('a command ends with a sentence that says what to do: %s', async (_name, wrong) => {
  const folder = await temporaryFolder();
  const env = { LOG_LEVEL: 'warn', PORT: '0', ADMIN_PORT: '0' };
  for (const [name, text] of Object.entries(wrong.files ?? {})) {
    await mkdir(`${folder}/${text === null ? name : name.includes('/') ? 'data' : ''}`, { recursive: true });
    if (text !== null) await writeFile(`${folder}/${name}`, text, { mode: 0o600 });
  }
  if (wrong.damage !== undefined) {
    expect((await runIn(folder, ['ledger', 'checkpoint'])).code).toBe(0);
    await wrong.damage(folder);
  }
  expectSentence(
    await runIn(folder, wrong.args ?? ['serve', '--json'], { env: { ...env, ...wrong.env }, until: /publicUrl/ }),
    wrong,
  );
});

test.each([
  ['PORT', 'HOST'],
  ['ADMIN_PORT', 'ADMIN_HOST'],
])('a command says which variable to change when %s is taken or %s is not of this machine', async (port, host) => {
  const folder = await temporaryFolder();
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const taken = String((other.address() as AddressInfo).port);
  const env = { PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: HUSH };
  const serve = (all: Record<string, string>) => runIn(folder, ['serve', '--json'], { env: all, until: /publicUrl/ });
  expectSentence(await serve({ ...env, [port]: taken }), {
    code: 1,
    says: [`Cannot listen on 127.0.0.1:${taken}`, 'uses this port. Stop it', port],
  });
  expectSentence(await serve({ ...env, [host]: '192.0.2.1' }), {
    code: 1,
    says: ['Cannot listen on 192.0.2.1', 'this machine does not have that address', host],
  });
});

test('a command names the user and the folder it may not write to if DATA_DIR belongs to someone else', async () => {
  const folder = await temporaryFolder();
  await mkdir(`${folder}/data`);
  await chmod(`${folder}/data`, 0o500);
  onTestFinished(() => chmod(`${folder}/data`, 0o700));
  // Root can write everywhere, unless stripped of its privileges.
  const prefix = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all'] : [];
  expectSentence(await runProcess(folder, ['serve'], { prefix }), {
    code: 1,
    says: ['/data: permission denied (EACCES)', `Give user ${process.getuid?.()} access to it`],
  });
});

test.each([
  ['is full', 'size=100k', 'Free some space, or check the disk'],
  ['is read-only', 'ro', 'the file system is read-only (EROFS)'],
])('a command reports that the disk of DATA_DIR %s', async (_name, options, words) => {
  const folder = await temporaryFolder();
  await mkdir(`${folder}/data`);
  // A separate disk, in a mount namespace that ends with the process.
  const mount = `mount -t tmpfs -o ${options},mode=700 none "$0" && exec "$@"`;
  const prefix = ['unshare', process.getuid?.() === 0 ? '-m' : '-rm', 'sh', '-c', mount, `${folder}/data`];
  expectSentence(await runProcess(folder, ['serve'], { prefix }), { code: 1, says: [words] });
});

test('`serve` starts with an unreadable controller profile, and says what cannot be made', async () => {
  const folder = await temporaryFolder();
  await writeFile(`${folder}/controller.yaml`, 'name: [\n');
  const server = await startServing(folder, { CONTROLLER_FILE: 'controller.yaml' });
  expect(await server.stop()).toBe(0);
  expect(server.errors()).toContain(
    'CONTROLLER_FILE cannot be used: no letters or reports can be made until it is corrected',
  );
  expect(server.errors()).toContain('/controller.yaml: ');
});
