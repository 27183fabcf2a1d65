import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cliPath, environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

// A command waits for everything that it loads. What a package is needed for is imported where it is needed.
test('a command that only reads loads no installed package but the database', async () => {
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
  await promisify(execFile)(
    process.execPath,
    ['--import', pathToFileURL(start).href, cliPath, 'delivery', 'list', '--json'],
    { cwd: home, env: { ...environment(home, { DATA_DIR: home }), DATABASE_URL: '', REDIS_URL: '' } },
  );
  const loaded = await readFile(log, 'utf8');
  const packages = [...loaded.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(([, name]) => name);
  expect(loaded).toContain('/dist/src/cli.js');
  expect([...new Set(packages)]).toEqual(['sqlite3']);
});
