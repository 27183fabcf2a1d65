import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

test('the verifier key is printed, lies in DATA_DIR, and is shown by the public listener', async () => {
  const folder = await temporaryFolder();
  const serving = await startServing(folder);
  const response = await fetch(`${serving.url}/.well-known/consent-ledger/log.vkey`);
  const shown = await response.text();
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(shown).toMatch(/^consent-ledger\/[0-9a-f]{10}\/1\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}\n$/);
  await serving.stop();
  expect((await runCli(folder, ['ledger', 'key'])).stdout).toBe(shown);
  expect(await readFile(join(folder, 'log.vkey'), 'utf8')).toBe(shown);
  // What somebody else put there is put right.
  await writeFile(join(folder, 'log.vkey'), 'consent-ledger/other/1+00000000+AQ==\n');
  const key = JSON.parse((await runCli(folder, ['ledger', 'key', '--json'])).stdout) as { verifierKey: string };
  expect(`${key.verifierKey}\n`).toBe(shown);
  expect(await readFile(join(folder, 'log.vkey'), 'utf8')).toBe(shown);
});
