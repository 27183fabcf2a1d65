import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decrypter, generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { quantumResistance, recipientProblem } from '../../src/core/age-recipients.ts';
import { beginInstallation, runHere } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const newKey = async (generate: () => Promise<string>) => identityToRecipient(await generate());

/** The types of the stanzas in the header of an age file. */
async function stanzas(path: string): Promise<readonly string[]> {
  const header = (await readFile(path)).toString('latin1').split('\n--- ')[0] ?? '';
  return [...header.matchAll(/^-> (\S+)/gm)].map(([, type = '']) => type);
}

it('a backup to post-quantum recipients has no part that a quantum computer could open, and each of them opens it', async () => {
  const folder = await temporaryFolder();
  await beginInstallation(folder, {});
  const identity = await generateHybridIdentity();
  const recipient = await identityToRecipient(identity);
  const out = join(folder, 'backups');
  expect((await runHere(folder, ['backup', '--out', out, '--recipient', recipient])).code).toBe(0);
  const file = join(out, (await readdir(out))[0] ?? 'none');
  expect(await stanzas(file)).toEqual(['mlkem768x25519', 'mlkem768x25519']);
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  expect((await decrypter.decrypt(await readFile(file))).length).toBeGreaterThan(0);
});

it('recipients of both kinds in one list are refused, on the command line and in the settings', async () => {
  const folder = await temporaryFolder();
  await beginInstallation(folder, {});
  const [classical, resistant] = [await newKey(generateX25519Identity), await newKey(generateHybridIdentity)];
  const mixed = await runHere(folder, [
    'backup',
    '--out',
    join(folder, 'b.age'),
    '--recipient',
    classical,
    '--recipient',
    resistant,
  ]);
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining('mix post-quantum keys')]);
  expect(quantumResistance([classical, resistant])).toBe('mixed');
  expect(() => loadConfig(environment(folder, { BACKUP_RECIPIENTS: `${classical},${resistant}` }), folder)).toThrow(
    /mix post-quantum keys/,
  );
  expect(loadConfig(environment(folder, { BACKUP_RECIPIENTS: `${resistant}` }), folder).backup.recipients).toEqual([
    resistant,
  ]);
});

it('says of a key for a plugin that this program cannot run it, and does not repeat a private key', async () => {
  const plugin = `age1yubikey1${'q'.repeat(60)}`;
  expect(recipientProblem(plugin)).toContain('the plugin age-plugin-yubikey, which this program cannot run');
  const folder = await temporaryFolder();
  expect(() => loadConfig(environment(folder, { BACKUP_RECIPIENTS: plugin }), folder)).toThrow(/age-plugin-yubikey/);
  const secret = await generateX25519Identity();
  expect(recipientProblem(secret)).toContain('is a private key');
  expect(recipientProblem(secret)).not.toContain(secret);
  expect(recipientProblem('age1short')).toContain('is not an age recipient');
});
