// On SQLite, and once on PostgreSQL: these tests are about the environment of the program.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { runHere, untilThere } from '../cli/command-line.ts';
import { readDockerfile, type Stage, valuesOf } from '../packaging/read-dockerfile.ts';
import { findFreePort } from '../servers/own-process.ts';
import { startPostgres } from '../servers/postgres.ts';
import { deliver, SECRET } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const compose = readFileSync(join(root, 'compose.yaml'), 'utf8');

/** The container engine: CONTAINER_ENGINE (a command and its options), otherwise docker or podman, whichever answers. */
const engine =
  process.env.CONTAINER_ENGINE?.split(' ') ??
  [['docker'], ['podman']].find(([name = '']) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0) ??
  null;
/** Replaces the base image of the Dockerfile; with the suffix `-slim`, that of the final stage. */
const base = process.env.CONTAINER_TEST_BASE;

const IMAGE = `consent-ledger-test-${process.pid}`;
// The engine's own networks need rights that a test may not have.
const HOST_NETWORK = ['--network', 'host'];
/** Started as compose.yaml starts it. */
const CONFINED = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly said: string;
}

const saidBy = ({ error, status, stdout, stderr }: SpawnSyncReturns<string>): Said => {
  if (error !== undefined) throw error;
  return { status, stdout, said: `${stdout}${stderr}` };
};

function call(...args: readonly string[]): Said {
  const [program = '', ...options] = engine ?? [];
  return saidBy(spawnSync(program, [...options, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 }));
}

/** Runs a command in the image until it ends. */
const runOnce = (options: readonly string[], ...args: readonly string[]): Said =>
  call('run', '--rm', ...HOST_NETWORK, ...options, IMAGE, ...args);

/** A folder that the image's user can write to, like a volume. */
async function dataFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  await mkdir(folder);
  chmodSync(folder, 0o700);
  chownSync(folder, 1000, 1000);
  return folder;
}

let containers = 0;

/** A serving container whose health check was run as the engine runs it. Removed when the test ends. */
async function startContainer(data: string, env: Record<string, string> = {}, options: readonly string[] = []) {
  const name = `${IMAGE}-${(containers += 1)}`;
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const settings = { PORT: String(port), ADMIN_PORT: String(adminPort), WEBHOOK_SECRETS: SECRET, ...env };
  const given = Object.entries(settings).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  onTestFinished(() => void call('rm', '--force', '--volumes', name));
  const args = ['--detach', '--name', name, ...HOST_NETWORK, ...CONFINED, '-v', `${data}:/data`, ...given, ...options];
  const { status, said } = call('run', ...args, IMAGE);
  expect(status, said).toBe(0);
  const [, run] = readDockerfile(dockerfile) as [Stage, Stage];
  const health = JSON.parse(/CMD (\[.*\])$/.exec(valuesOf(run, 'HEALTHCHECK')[0] ?? '')?.[1] ?? '[]') as string[];
  const healthy = () =>
    untilThere(async () => {
      const asked = call('exec', name, ...health);
      if (asked.status === 0) return true;
      // An error of the container engine itself: it could not run the check.
      if (asked.status === null || asked.status >= 125) throw new Error(asked.said);
      const state = call('inspect', '--format', '{{.State.Running}}', name).stdout.trim();
      if (state !== 'true') throw new Error(`the container has ended:\n${call('logs', name).said}`);
      return null;
    });
  await healthy();
  return { name, url: `http://127.0.0.1:${port}`, healthy };
}

if (engine === null) {
  const reason = 'NOT TRIED: neither docker nor podman answers here, and CONTAINER_ENGINE names no other command';
  console.warn(`The image: ${reason}.`);
  test.skip(`the image (${reason})`, () => undefined);
}

describe.runIf(engine !== null)('the image', () => {
  beforeAll(async () => {
    const file = join(await temporaryFolder((work) => afterAll(async () => void (await work()))), 'Dockerfile');
    await writeFile(
      file,
      base === undefined ? dockerfile : dockerfile.replaceAll(/^FROM (?:node:24|debian:)-?bookworm/gm, `FROM ${base}`),
    );
    const { status, said } = call('build', ...HOST_NETWORK, '--tag', IMAGE, '--file', file, root);
    expect(status, said.slice(-4000)).toBe(0);
  }, 1_800_000);
  afterAll(() => void call('rmi', '--force', IMAGE));

  test('is at most 250 MB', () => {
    const { stdout } = call('image', 'inspect', '--format', '{{.Size}}', IMAGE);
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(Number(stdout) / 1e6).toBeLessThanOrEqual(250);
  });

  test('makes .env and keys in a folder of a machine without Node, by the command in compose.yaml', async () => {
    const [, documented = ''] = /^# +docker (run .*) consent-ledger init$/m.exec(compose) ?? [];
    const folder = await temporaryFolder();
    // Run as the owner of the folder.
    const [uid, gid] = [1234, 1234];
    chownSync(folder, uid, gid);
    const options = documented
      .replaceAll('$(id -u):$(id -g)', `${uid}:${gid}`)
      .replaceAll('$PWD', folder)
      .replaceAll('"', '')
      .split(' ')
      .slice(2);
    const { status, said } = runOnce(options, 'init');
    expect(status, said).toBe(0);
    expect(await readFile(join(folder, '.env'), 'utf8')).toMatch(/^INSTANCE_KEY=".{44}"$/m);
    for (const path of ['.env', 'data/keys/signing.pem']) {
      const { mode, uid: owner } = await stat(join(folder, path));
      expect([path, (mode & 0o777).toString(8), owner]).toEqual([path, '600', uid]);
    }
    expect(said).toContain('`consent-ledger doctor`');
    // A second init overwrites nothing.
    expect(runOnce(options, 'init').status).toBe(1);
  });

  test('serves as user 1000 with only its volume writable, and keeps what it acknowledged when it is killed', async () => {
    const data = await dataFolder();
    const { name, url, healthy } = await startContainer(data);
    expect(call('exec', name, 'id', '-u').stdout.trim()).toBe('1000');
    for (const path of ['/app/x', '/x', '/usr/x']) {
      const { status, said } = call('exec', name, 'sh', '-c', `echo > ${path}`);
      expect([status, said]).toEqual([expect.any(Number), expect.stringMatching(/Read-only file system/)]);
      expect(status).not.toBe(0);
    }
    const bodies = Array.from({ length: 20 }, (_, n) => Buffer.concat([Buffer.from(`{"n":${n}}`), randomBytes(2000)]));
    const answers = await Promise.all(bodies.map((body) => deliver(url, body)));
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(bodies.map(() => [200, 'stored']));
    expect(call('kill', '--signal', 'KILL', name).status).toBe(0);
    await untilThere(async () =>
      call('inspect', '--format', '{{.State.Running}}', name).stdout.trim() === 'false' ? true : null,
    );

    expect(call('start', name).status).toBe(0);
    await healthy();
    // The global agent may still hold connections to the process that was killed.
    const agent = new Agent();
    for (const [n, body] of bodies.entries())
      expect(await deliver(url, body, agent)).toMatchObject({
        status: 200,
        body: { status: 'duplicate', seq: answers[n]?.body.seq },
      });
    const verified = call('exec', name, 'consent-ledger', 'ledger', 'verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [] });
    // A graceful stop, with room to spare.
    expect(call('stop', '--time', '40', name).status).toBe(0);
    expect(call('inspect', '--format', '{{.State.ExitCode}}', name).stdout.trim()).toBe('0');
  });

  test('says in a sentence that it cannot write to a volume owned by root', async () => {
    const folder = join(await temporaryFolder(), 'data');
    await mkdir(folder, { mode: 0o755 });
    const { status, said } = runOnce([...CONFINED, '-v', `${folder}:/data`], 'serve');
    expect(status).not.toBe(0);
    expect(said).toContain('Cannot write to /data');
    expect(said).toContain('Give user 1000 access to it');
    expect(said).not.toMatch(/^\s+at /m);
  });

  test.each([['demo', '--once'], ['init'], ['serve']])(
    'says in a sentence that it cannot write to the image: %s',
    (...args) => {
      const { status, said } = runOnce([...CONFINED, '-w', '/usr', '-e', 'DATA_DIR=/usr/data'], ...args);
      expect(status).not.toBe(0);
      expect(said).toMatch(/the folder above it is missing or read-only|the file system is read-only/);
      expect(said).not.toMatch(/^\s+at /m);
    },
  );

  test('shows the demo in its volume', () => {
    const { status, said } = runOnce(CONFINED, 'demo', '--once');
    expect([status, said]).toEqual([0, expect.stringContaining('demo-output')]);
  });

  test('starts in another working directory, without a network and without a volume', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const elsewhere = call('run', '--rm', '--network', 'none', ...CONFINED, '-w', '/tmp', IMAGE, '--version');
    expect([elsewhere.status, elsewhere.stdout.trim()]).toEqual([0, version]);
  });

  test('is ready for production once its owner has filled in the profile', async () => {
    const env = {
      // As compose.yaml has it.
      ADMIN_HOST: '0.0.0.0',
      PUBLIC_URL: 'https://ledger.example.org',
      CONTROLLER_FILE: '/etc/consent-ledger/controller.yaml',
    };
    const profile = join(await temporaryFolder(), 'controller.yaml');
    await copyFile(join(root, 'docs/controller.example.yaml'), profile);
    chmodSync(profile, 0o644);
    const { name } = await startContainer(await dataFolder(), env, ['-v', `${profile}:${env.CONTROLLER_FILE}:ro`]);
    const { status, said } = call('exec', name, 'consent-ledger', 'doctor');
    expect([status, said]).toEqual([0, expect.stringContaining('ready for production: yes')]);
    expect(said).toContain('listens on all addresses of this container (0.0.0.0)');
  });

  test('serves on PostgreSQL', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const data = await dataFolder();
    const setUp = await temporaryFolder();
    expect((await runHere(setUp, ['init'])).code).toBe(0);
    const signingKey = join(setUp, 'data/keys/signing.pem');
    chownSync(signingKey, 1000, 1000);
    // The settings that init wrote, as docs/deployment.md passes them on.
    const env = { DATABASE_URL: postgres.url(), DATA_DIR: '/data', SIGNING_KEY_FILE: '/run/secrets/signing_key' };
    const options = ['--env-file', join(setUp, '.env'), '-v', `${signingKey}:/run/secrets/signing_key:ro`];
    const { name, url } = await startContainer(data, env, options);
    expect(await deliver(url, '{"event":"ping"}')).toMatchObject({ status: 200, body: { status: 'stored' } });
    const verified = call('exec', name, 'consent-ledger', 'ledger', 'verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [] });
    expect(existsSync(join(data, 'ledger.sqlite'))).toBe(false);
  });
});

describe('compose.yaml', () => {
  test.each([
    ['plain', ['consent-ledger']],
    ['scaled', ['postgres', 'receiver-1', 'receiver-2', 'redis', 'worker-1', 'worker-2']],
  ])('is accepted by docker-compose, with the files from init (%s)', async (profile, expected) => {
    const folder = await temporaryFolder();
    await copyFile(join(root, 'compose.yaml'), join(folder, 'compose.yaml'));
    expect((await runHere(folder, ['init'])).code).toBe(0);
    const env = { PATH: process.env.PATH ?? '', POSTGRES_PASSWORD: 'abc123' };
    const made = spawnSync('docker-compose', ['-f', 'compose.yaml', '--profile', profile, 'config'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    if (made.error !== undefined)
      throw new Error(
        `docker-compose could not be started (${made.error.message}): install the Debian package docker-compose.`,
      );
    const { status, stdout, said } = saidBy(made);
    expect(status, said).toBe(0);
    const { services } = parse(stdout) as {
      services: Record<string, { environment: Record<string, string>; profiles?: readonly string[] }>;
    };
    const active = Object.entries(services).filter(([, { profiles = [] }]) => profiles.includes(profile));
    expect(active.map(([name]) => name).sort()).toEqual(expected);
    for (const [name, { environment }] of active.filter(([name]) => /^(?:consent|receiver|worker)/.test(name))) {
      // From .env, which compose parses by its own rules.
      expect(Buffer.from(environment['INSTANCE_KEY'] ?? '', 'base64'), name).toHaveLength(32);
      expect(environment['SIGNING_KEY_FILE']).toBe('/run/secrets/signing_key');
      expect(environment['DATABASE_URL']).toBe(
        profile === 'plain' ? undefined : 'postgres://consent_ledger:abc123@postgres:5432/consent_ledger',
      );
    }
  });
});
