import { once } from 'node:events';
import { chmod, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { judgeAdminPages } from '../../src/commands/doctor/network.ts';
import { reachOf } from '../../src/commands/doctor/surroundings.ts';
import { engine } from '../servers/databases.ts';
import { serveHere } from '../serving.ts';
import { alter, contentOf, loseDatabase } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { runHere, runIn } from './command-line.ts';
import { createFitInstallation, examine, faultsOf } from './fit-installation.ts';
import { selfSigned } from './self-signed.ts';

async function listen(answer: RequestListener, tls = false): Promise<string> {
  const server = tls ? createTlsServer(selfSigned, answer) : createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('doctor passes with exit code 0 if the installation is ready for production', async () => {
  const { folder, env } = await createFitInstallation();
  const found = await examine(folder, env);
  expect(faultsOf(found)).toEqual([]);
  expect(found).toMatchObject({ code: 0, ready: true, reasons: 0 });
  const about = new Set(found.lines.map((line) => line.about));
  for (const topic of [
    'configuration',
    'public address',
    'admin address',
    'files',
    'time zone',
    'database',
    'disk',
    'ledger',
    'read models',
    'jobs',
    'sources',
    'controller profile',
  ]) {
    expect(about).toContain(topic);
  }
  for (const line of found.lines)
    expect([line.sentence, line.level === 'ok' ? null : '']).toEqual([line.sentence, line.remedy === null ? null : '']);
  const { code, stdout } = await runIn(folder, ['doctor'], { env });
  expect([code, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'ready for production: yes']);
  expect(stdout).toContain('✓ database: ');
  expect(stdout).not.toContain('✗');
});

it.each<[string, Record<string, string>, string]>([
  ['no public address', { PUBLIC_URL: '' }, 'public address: PUBLIC_URL is not set'],
  [
    'a public address in clear text',
    { PUBLIC_URL: 'http://ledger.example.org' },
    'public address: PUBLIC_URL is not https',
  ],
  [
    'an admin listener that is public',
    { ADMIN_HOST: '203.0.113.9' },
    'admin address: The admin listener is on an address that may be public',
  ],
  ['a short signing secret', { WEBHOOK_SECRETS: 'short' }, 'has fewer than 16 characters'],
  ['no signing secret', { WEBHOOK_SECRETS: '' }, 'default has no signing secret'],
  [
    'a base URL in clear text',
    { SERVICE_BASE_URL: 'http://service.example.org/api/v1', HTTP_ALLOWED_HOSTS: 'service.example.org' },
    'is not https',
  ],
  ['no API key', { SERVICE_API_KEY: '' }, 'has an API address but no API key'],
  [
    'a provider of single sign-on that does not answer',
    { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'ledger' },
    'http://127.0.0.1:9 does not answer as an OpenID Connect provider',
  ],
  ['no controller profile', { CONTROLLER_FILE: '' }, 'No controller profile is set for default'],
  ['a controller profile that is not there', { CONTROLLER_FILE: '/nowhere.yaml' }, 'cannot read /nowhere.yaml'],
  [
    'another instance key',
    { INSTANCE_KEY: Buffer.alloc(32, 3).toString('base64') },
    'The INSTANCE_KEY does not belong to this database',
  ],
])('doctor fails for %s', async (_name, change, sentence) => {
  const { folder, env } = await createFitInstallation();
  const found = await examine(folder, { ...env, ...change });
  expect(found).toMatchObject({ code: 1, ready: false, reasons: 1 });
  expect(faultsOf(found)[0]).toContain(sentence);
});

it('doctor checks the controller profile in DATA_DIR if CONTROLLER_FILE is not set', async () => {
  const { folder, env } = await createFitInstallation();
  const own = { ...env, CONTROLLER_FILE: '' };
  await copyFile(join(folder, 'controller.yaml'), join(folder, 'data/controller.yaml'));
  expect(faultsOf(await examine(folder, own))).toEqual([]);
  await writeFile(join(folder, 'data/controller.yaml'), 'name: [');
  expect(faultsOf(await examine(folder, own))[0]).toContain('data/controller.yaml');
  expect(faultsOf(await examine(folder, env))).toEqual([]);
});

it('doctor lists the sources that have no request form until a shared profile names them', async () => {
  const { folder, env } = await createFitInstallation();
  const profile = join(folder, 'controller.yaml');
  const complete = await readFile(profile, 'utf8');
  expect((await runHere(folder, ['source', 'add', 'shop-at'], env)).code).toBe(0);
  const about = async () =>
    (await examine(folder, env)).lines.filter(({ sentence }) => sentence.includes('request form'));
  expect(await about()).toEqual([]);
  await writeFile(profile, `${complete}\nrequestForm: true\n`);
  expect(await about()).toEqual([
    {
      about: 'controller profile',
      level: 'note',
      sentence: `The request form of shop-at is off: ${profile} is shared with other sources, and may be another client’s.`,
      remedy: expect.stringContaining('requestFormFor: [shop-at]'),
    },
  ]);
  await writeFile(profile, `${complete}\nrequestForm: true\nrequestFormFor: [shop-at]\n`);
  expect(await about()).toEqual([]);
});

it('doctor finds an altered entry, unsealed entries and a missing journal', async () => {
  const { folder, env } = await createFitInstallation();
  expect((await runHere(folder, ['source', 'add', 'one'], env)).code).toBe(0);
  expect((await runHere(folder, ['ledger', 'checkpoint'], env)).code).toBe(0);
  expect((await runHere(folder, ['source', 'add', 'two'], env)).code).toBe(0);
  const [notes = ''] = await readdir(join(folder, 'data/journal'));
  await writeFile(join(folder, 'data/journal', notes), '');
  await alter(join(folder, 'data'), `update entries set received_at = '2026-01-01T00:00:00.000Z' where seq = 2`);
  const found = faultsOf(await examine(folder, env));
  expect(found).toContainEqual(expect.stringMatching(/^ledger: Entry 2 was altered/));
  expect(found).toContainEqual(
    expect.stringMatching(/^journal: The journal ends at a checkpoint over 0 entries, the database at one over 1/),
  );
  expect(found).toContainEqual(expect.stringMatching(/^seal-failed: Entries received since .* are not sealed yet/));
});

it('doctor reports every problem of an invalid configuration', async () => {
  const folder = await temporaryFolder();
  const found = await examine(folder, { DATA_DIR: folder, PORT: 'x', TIME_ZONE: 'Nowhere/Else', BODY_LIMIT: 'huge' });
  expect(found).toMatchObject({ code: 1, ready: false, reasons: 3 });
  expect(found.lines.every(({ about }) => about === 'configuration')).toBe(true);
});

it('doctor fails if other users can write in DATA_DIR', async () => {
  const { folder, env } = await createFitInstallation();
  await chmod(join(folder, 'data'), 0o777);
  expect(faultsOf(await examine(folder, env))).toEqual([expect.stringMatching(/^files: Other users .* \(mode 0777\)/)]);
});

it('doctor fails while the read models are ahead of the ledger, until a rebuild', async () => {
  const { folder, env } = await createFitInstallation();
  expect((await runHere(folder, ['source', 'add', 'one'], env)).code).toBe(0);
  expect((await runHere(folder, ['ledger', 'rebuild'], env)).code).toBe(0);
  await alter(join(folder, 'data'), `update fold_positions set seq = seq + 1000 where name = 'projector'`);
  const found = faultsOf(await examine(folder, env));
  expect(found).toContainEqual(expect.stringMatching(/^read-models-ahead: The read models are 1000 entries ahead/));
  expect((await runHere(folder, ['ledger', 'rebuild'], env)).code).toBe(0);
  expect(faultsOf(await examine(folder, env)).filter((one) => /read.models/.test(one))).toEqual([]);
});

it('doctor does not create an installation if none exists', async () => {
  const folder = await temporaryFolder();
  await loseDatabase(join(folder, 'data'));
  const found = await examine(folder, {
    DATA_DIR: join(folder, 'data'),
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
  });
  expect(found.code).toBe(1);
  const nothing = engine === 'sqlite' ? 'No database at' : 'The database in DATABASE_URL contains no installation';
  expect(faultsOf(found)).toContainEqual(expect.stringContaining(nothing));
  expect(await readdir(folder)).toEqual([]);
  if (engine === 'postgres') expect((await contentOf(join(folder, 'data'))).join()).not.toContain('CREATE TABLE');
});

it('doctor says which header of the officer’s pages arrives wrong, with --public', async () => {
  const { folder, env } = await createFitInstallation();
  const server = await serveHere(join(folder, 'data'), { ...env, SYNC_SCHEDULE: 'off', PORT: '0', ADMIN_PORT: '0' });
  const linesFor = async (adminUrl: string) =>
    (await examine(folder, { ...env, ADMIN_URL: adminUrl }, '--public')).lines
      .filter(({ about }) => about === 'admin pages')
      .map(({ level, sentence }) => `${level}: ${sentence}`);
  expect(await linesFor(server.adminUrl)).toEqual([`ok: ${server.adminUrl}/sign-in answers as ${server.adminUrl}.`]);
  const other = await listen((request, response) => {
    response.statusCode = request.url === '/sign-in' ? 421 : 404;
    response.end();
  });
  expect(await linesFor(other)).toEqual([
    expect.stringMatching(/^fault: .* HTTP 421: the header Host or X-Forwarded-Host/),
  ]);
  const seenAs = (cookie: string) => {
    const headers = new Headers({ 'set-cookie': `form=x; Path=/; HttpOnly${cookie}` });
    return judgeAdminPages('https://ledger.example', { status: 200, problem: null, headers });
  };
  expect(seenAs('; Secure').level).toBe('ok');
  expect(seenAs('')).toMatchObject({
    level: 'fault',
    sentence: expect.stringContaining('X-Forwarded-Proto') as string,
  });
  await server.stop();
  expect(await linesFor(server.adminUrl)).toEqual([expect.stringMatching(/^note: .* cannot be reached from here/)]);
});

it('doctor checks the public address, each webhook, the API key and the clock with --public', async () => {
  const { folder, env } = await createFitInstallation();
  const service = await listen((request, response) => {
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
    response.statusCode = request.headers.authorization === `Bearer ${env.SERVICE_API_KEY}` ? 200 : 401;
    response.end('{"data":[],"next_cursor":null}');
  });
  const server = await serveHere(join(folder, 'data'), {
    ...env,
    SYNC_SCHEDULE: 'off',
    PUBLIC_URL: '',
    PORT: '0',
    ADMIN_PORT: '0',
  });
  const reachable = await examine(
    folder,
    { ...env, PUBLIC_URL: server.url, SERVICE_BASE_URL: `${service}/api/v1` },
    '--public',
  );
  const said = reachable.lines.filter(({ about }) => about === 'reachable');
  expect(said.map(({ level, sentence }) => [level, sentence])).toEqual([
    ['ok', `${server.url}/healthz answers.`],
    ['ok', `${server.url}/webhooks/default answers.`],
  ]);
  expect(reachable.lines).toContainEqual(expect.objectContaining({ about: 'API key', level: 'ok' }));
  expect(faultsOf(reachable)).toContainEqual(
    expect.stringMatching(/^clock: This machine’s clock is 3\d{3} seconds ahead/),
  );
  await server.stop();

  const gone = await examine(
    folder,
    { ...env, PUBLIC_URL: server.url, SERVICE_BASE_URL: `${service}/api/v1`, SERVICE_API_KEY: 'pak_live_other' },
    '--public',
  );
  expect(faultsOf(gone)).toContainEqual(expect.stringContaining('/healthz cannot be reached from here (ECONNREFUSED)'));
  expect(faultsOf(gone)).toContainEqual(expect.stringContaining('does not accept the API key'));
});

it('doctor finds an untrusted certificate, a redirect and a public admin listener with --public', async () => {
  const { folder, env } = await createFitInstallation();
  const without = { ...env, SERVICE_BASE_URL: '', SERVICE_API_KEY: '' };
  const askAt = async (url: string) => faultsOf(await examine(folder, { ...without, PUBLIC_URL: url }, '--public'));
  const untrusted = await listen((_request, response) => response.end('ok'), true);
  expect(await askAt(untrusted)).toEqual([
    expect.stringMatching(/^reachable: The certificate of .* is not valid \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
  ]);
  const redirecting = await listen((_request, response) =>
    response.writeHead(308, { location: 'https://elsewhere.example' }).end(),
  );
  expect(await askAt(redirecting)).toContainEqual(expect.stringContaining('redirects (HTTP 308)'));
  const open = await listen((_request, response) => response.end('ok'));
  expect(await askAt(open)).toContainEqual(expect.stringContaining('/metrics answers: the admin listener is public'));
});

it.each([
  ['127.0.0.1', 'machine'],
  ['localhost', 'machine'],
  ['::1', 'machine'],
  ['0.0.0.0', 'everywhere'],
  ['::', 'everywhere'],
  ['10.1.2.3', 'private'],
  ['172.20.0.4', 'private'],
  ['172.40.0.4', 'public'],
  ['fd00::1', 'private'],
  ['2001:db8::1', 'public'],
  ['admin.internal', 'private'],
])('doctor says who can reach an admin listener on %s: %s', (host, reach) => {
  expect(reachOf(host)).toBe(reach);
});
