import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

it('the packed program installs where engines are strict, with what was tested, and works', async () => {
  const folder = await temporaryFolder();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, maxBuffer: 1 << 26 });
  const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  const names = files.map(({ path }) => path);
  expect(names).toContain('npm-shrinkwrap.json');
  expect(names).toContain('dist/client/client.js');
  // A source map without its sources says nothing.
  expect(names.filter((name) => name.endsWith('.map') || name.startsWith('test/'))).toEqual([]);

  const app = join(folder, 'app');
  await cp(join(root, 'LICENSE'), join(app, 'LICENSE'));
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  await writeFile(join(app, '.npmrc'), 'engine-strict=true\nfund=false\naudit=false\n');
  // Compiling is npm's and the machine's affair: what was compiled here is put in its place.
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
