import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { variableNames } from '../../src/config/variables.ts';
import { cliPath } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const root = join(import.meta.dirname, '../..');
const unit = readFileSync(join(root, 'deploy/systemd/consent-ledger.service'), 'utf8');
const PROGRAM = '/usr/bin/node /opt/consent-ledger/node_modules/consent-ledger/dist/src/cli.js';

/** Runs systemd-analyze on a unit, with the program of this checkout; systemd itself is not running. */
async function analyze(args: readonly string[], text: string) {
  const path = join(await temporaryFolder(), 'consent-ledger.service');
  await writeFile(path, text.replace(PROGRAM, `${process.execPath} ${cliPath}`));
  const { error, status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
  if (error !== undefined)
    throw new Error(`systemd-analyze could not be started (${error.message}): install the Debian package systemd.`);
  return { status, said: `${stdout}${stderr}` };
}

test('the unit starts the installed program, with variables that the program knows', () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  expect(PROGRAM).toContain(`node_modules/consent-ledger/${bin['consent-ledger']}`);
  expect(unit).toContain(`ExecStart=${PROGRAM} serve\n`);
  const known = new Set<string>([...variableNames, ...variableNames.map((name) => `${name}_FILE`), 'NODE_ENV']);
  const set = [...unit.matchAll(/^(?:# )?Environment=(.*)$/gm)].flatMap(([, line = '']) =>
    line.split(' ').map((pair) => pair.split('=')[0] ?? ''),
  );
  expect(set).toEqual(['NODE_ENV', 'DATA_DIR', 'INSTANCE_KEY_FILE', 'SIGNING_KEY_FILE']);
  expect(set.filter((name) => !known.has(name))).toEqual([]);
});

test('systemd accepts the unit without warnings, also with keys as credentials', async () => {
  const withCredentials = unit.replaceAll(/^# (?=LoadCredential=|Environment=)/gm, '');
  expect(withCredentials.match(/^LoadCredential=/gm)).toHaveLength(2);
  for (const text of [unit, withCredentials]) expect(await analyze(['verify'], text)).toEqual({ status: 0, said: '' });
  // It reports an unknown directive, but still exits with 0.
  const misspelt = unit.replace('ProtectSystem=', 'ProtectSystems=');
  expect((await analyze(['verify'], misspelt)).said).toContain('Unknown key');
});

test('systemd rates the service’s exposure as low', async () => {
  // 1.4 of 10; the rest is the network, memory that is both writable and executable, and read-only files of the
  // machine.
  const strict = ['security', '--offline=true', '--no-pager', '--threshold=14'];
  const { status, said } = await analyze(strict, unit);
  expect(said).toMatch(/Overall exposure level .*: \d\.\d/);
  expect(status, said).toBe(0);
  expect((await analyze(strict, unit.replace(/^(?:ProtectSystem|CapabilityBoundingSet)=.*$/gm, ''))).status).not.toBe(
    0,
  );
});
