import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cliPath, environment, SECRET } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { beginInstallation } from './command-line.ts';

// A command waits for everything it loads, so a package is imported lazily where it is used.
async function recording() {
  const home = await temporaryFolder();
  const log = join(home, 'loaded.txt');
  const hooks = join(home, 'hooks.mjs');
  const start = join(home, 'start.mjs');
  await writeFile(
    hooks,
    `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) { appendFileSync(${JSON.stringify(log)}, url + '\\n'); return next(url, context); }`,
  );
  await writeFile(
    start,
    `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(hooks).href)});`,
  );
  const command = (...args: string[]) => ['--import', pathToFileURL(start).href, cliPath, ...args];
  const env = (more: Record<string, string> = {}) => ({
    ...environment(home, { DATA_DIR: home, ...more }),
    DATABASE_URL: '',
    REDIS_URL: '',
  });
  async function packages(): Promise<readonly string[]> {
    const loaded = await readFile(log, 'utf8');
    expect(loaded).toContain('/dist/src/cli.js');
    const names = [...loaded.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(([, name = '']) => name);
    return [...new Set(names)].sort();
  }
  /** Bytes of the program's own files, with the packages bundled into them. */
  async function ownBytes(): Promise<number> {
    const urls = new Set((await readFile(log, 'utf8')).split('\n').filter((url) => url.includes('/dist/')));
    const sizes = await Promise.all([...urls].map(async (url) => (await stat(new URL(url))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }
  return { home, command, env, packages, ownBytes };
}

test('a read-only command loads no installed package except the database driver, and none of the reports', async () => {
  const { home, command, env, packages, ownBytes } = await recording();
  await beginInstallation(home, env());
  await promisify(execFile)(process.execPath, command('delivery', 'list', '--json'), { cwd: home, env: env() });
  expect(await packages()).toEqual(['sqlite3']);
  // With the reports and letters it would be 3 MB.
  expect(await ownBytes()).toBeLessThan(2_450_000);
});

test('serve loads backup encryption, password hashing and passkeys on first use, not at its start', async () => {
  const { home, command, env, packages } = await recording();
  const settings = env({ PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: SECRET });
  const child = spawn(process.execPath, command('serve', '--json'), { cwd: home, env: settings });
  const exited = once(child, 'exit');
  try {
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('http://')) break;
    expect(await packages()).toEqual(['@fastify/cookie', '@fastify/csrf-protection', '@fastify/multipart', 'sqlite3']);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
});
