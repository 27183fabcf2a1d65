import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

it('the packed program installs with strict engines and the tested dependencies, and works', async () => {
  const folder = await temporaryFolder();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, maxBuffer: 1 << 26 });
  const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  const names = files.map(({ path }) => path);
  expect(names).toContain('npm-shrinkwrap.json');
  expect(names).toContain('dist/client/client.js');
  // A source map is useless without its sources.
  expect(names.filter((name) => name.endsWith('.map') || name.startsWith('test/'))).toEqual([]);

  const app = join(folder, 'app');
  await cp(join(root, 'LICENSE'), join(app, 'LICENSE'));
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  await writeFile(join(app, '.npmrc'), 'engine-strict=true\nfund=false\naudit=false\n');
  // Compilation depends on npm and the machine, so the files compiled here are put in its place.
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', join(folder, filename)], { cwd: app });
  const native = 'node_modules/sqlite3/build/Release/node_sqlite3.node';
  await cp(join(root, native), join(app, native));

  const bin = join(app, 'node_modules/.bin/consent-ledger');
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  expect((await run(bin, ['--version'], { cwd: app })).stdout.trim()).toBe(version);
  await run(bin, ['init'], { cwd: app });
  const demo = await run(bin, ['demo', '--once', '--folder', 'demo'], { cwd: app, maxBuffer: 1 << 26 });
  expect(demo.stdout + demo.stderr).toContain('nothing altered');
  const script = `
    import { verifySignature } from 'consent-ledger/receivers';
    import { createClient } from 'consent-ledger/client';
    console.log(typeof verifySignature, typeof createClient);`;
  const used = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: app });
  expect(used.stdout.trim()).toBe('function function');
}, 300_000);

it('the receivers are a separate small package that verifies and receives', async () => {
  const folder = await temporaryFolder();
  await run('npm', ['run', '--silent', 'package:receivers'], { cwd: root, maxBuffer: 1 << 26 });
  const from = join(root, 'dist/consent-ledger-receivers');
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder, from], { cwd: root });
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [{ filename: string }];
  const app = join(folder, 'app');
  await cp(join(root, 'LICENSE'), join(app, 'LICENSE'));
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  await writeFile(join(app, '.npmrc'), 'engine-strict=true\nfund=false\naudit=false\nomit=optional\n');
  await run('npm', ['install', '--prefer-offline', join(folder, filename)], { cwd: app });
  const { stdout: size } = await run('du', ['-sk', 'node_modules'], { cwd: app });
  // The program with all its dependencies takes 216 MB.
  expect(Number(size.split('\t')[0])).toBeLessThan(10_000);

  // The Node.js versions that Fastify itself supports are not the point here.
  await run('npm', ['install', '--prefer-offline', '--engine-strict=false', 'fastify@5'], { cwd: app });
  const script = `
    import Fastify from 'fastify';
    import { createHmac } from 'node:crypto';
    import { verifySignature, webhookEndpoint } from 'consent-ledger-receivers';
    import { verify } from 'consent-ledger-receivers/verify';
    const rawBody = Buffer.from('{"event":"policy.deleted"}');
    const headers = { 'x-service-signature': createHmac('sha256', 's3cret').update(rawBody).digest('hex') };
    const secrets = [{ id: 'main', value: 's3cret' }];
    const app = Fastify();
    await app.register(webhookEndpoint, {
      bodyLimit: 1_048_576,
      findSource: () => ({ secrets }),
      accept: async () => ({ outcome: 'stored', seq: 1 }),
    });
    const { statusCode } = await app.inject({ method: 'POST', url: '/webhooks/default', payload: rawBody, headers });
    console.log(statusCode, verifySignature({ headers, rawBody, secrets }).outcome, (await verify({ headers, rawBody, secrets })).outcome);`;
  const used = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: app });
  expect(used.stdout.trim()).toBe('200 verified verified');
}, 300_000);
