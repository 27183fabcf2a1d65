// SQLite only: a file as the database, and keys that a first start makes by itself.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { runIn } from './command-line.ts';

it('a command exits with 1 and a sentence after a failure that is not the operator’s fault', async () => {
  const folder = await temporaryFolder();
  await writeFile(`${folder}/ledger.sqlite`, 'this is no database');
  await chmod(`${folder}/ledger.sqlite`, 0o600);
  const { code, stderr } = await runIn(folder, ['ledger', 'verify'], { env: { DATA_DIR: folder } });
  expect(code).toBe(1);
  expect(stderr).toContain('file is not a database');
  expect(stderr).not.toMatch(/\n\s+at /);
});

it('init follows DATA_DIR and keeps keys created there by a first start', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: 'elsewhere' };
  expect((await runIn(folder, ['ledger', 'verify'], { env })).code).toBe(0);
  const key = await readFile(`${folder}/elsewhere/keys/instance.key`, 'utf8');
  const made = await runIn(folder, ['init'], { env });
  expect(made.code).toBe(0);
  expect(made.stdout).toContain('Kept the key');
  expect(await readFile(`${folder}/elsewhere/keys/instance.key`, 'utf8')).toBe(key);
  expect(await readFile(`${folder}/.env`, 'utf8')).not.toMatch(/^INSTANCE_KEY=/m);
  expect((await runIn(folder, ['ledger', 'verify'])).code).toBe(0);
});
