import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginInstallation } from './cli/command-line.ts';
import { cliPath } from './serving.ts';
import { temporaryFolder } from './temporary.ts';

const root = join(import.meta.dirname, '..');

test('a command loads a few files instead of one for each module and package', async () => {
  const folder = await temporaryFolder();
  const report = `process.on('exit', () => process.stderr.write('loaded ' + Object.keys(require.cache).join(' ')))`;
  const counting = `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'; const require = createRequire('${root}/'); ${report}`)}`;
  execFileSync(process.execPath, [cliPath, 'init'], { cwd: folder, stdio: 'ignore' });
  await beginInstallation(folder, {});
  const output = execFileSync(
    'bash',
    ['-c', `"$0" --import "$1" "$2" delivery list 2>&1`, process.execPath, counting, cliPath],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  const loaded = /loaded (.*)$/s.exec(output)?.[1]?.split(' ') ?? [];
  expect(loaded.some((path) => path.includes('/sqlite3/'))).toBe(true);
  expect(loaded.length).toBeLessThan(12);
  expect(readdirSync(join(root, 'dist/src'))).toEqual(['cli.js', 'cli.js.map', 'context']);
  // Code that runs in its own thread is in its own file.
  expect(readdirSync(join(root, 'dist/src/context'))).toEqual([
    'outside-thread-main.js',
    'outside-thread-main.js.map',
    'projector-thread-main.js',
    'projector-thread-main.js.map',
  ]);
});

test('the build includes the licences of its packages', () => {
  const text = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
  const entries = text.split(/^-{80}$/m);
  for (const name of ['zod', 'kysely', 'fastify', 'pino', 'commander'])
    expect(entries.find((entry) => entry.trim().startsWith(`${name} `))).toMatch(/Permission is hereby granted/i);
  expect(entries.filter((entry) => entry.trim().length < 80).map((entry) => entry.trim())).toEqual([]);
});

test('the API client works in other applications, with types and without the server', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: { './client': { types: string; default: string } };
  };
  const { types, default: code } = exports['./client'];
  const client = (await import(join(root, code))) as Record<string, unknown>;
  expect(client.createClient).toBeTypeOf('function');
  expect(readFileSync(join(root, types), 'utf8')).toContain('createClient');
  expect(readFileSync(join(root, code)).length).toBeLessThan(20_000);
});

test('the receivers work in other applications, with types', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: { './receivers': { types: string; default: string } };
  };
  const { types, default: code } = exports['./receivers'];
  const receivers = (await import(join(root, code))) as Record<string, unknown>;
  expect(receivers.verifySignature).toBeTypeOf('function');
  expect(receivers.webhookEndpoint).toBeTypeOf('function');
  expect(existsSync(join(root, types))).toBe(true);
});
