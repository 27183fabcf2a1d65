import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
// The very file that is put into packs.
import * as verifier from '../../reports/verifier/verify.mjs';
import { checkFile } from '../../src/documents/check.ts';
import { signedInAs } from '../http/office-world.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesOf, sharePack } from '../verifier/pack-world.ts';
import { type Archive, archivesOf } from './archives.ts';

const shared = sharePack();
let archives: readonly Archive[];
beforeAll(() => {
  archives = archivesOf(filesOf(shared().zip), shared().zip);
});

/** The verdicts of one checker on all archives. */
async function verdictsOf(check: (bytes: Buffer) => Promise<boolean>): Promise<Record<string, boolean>> {
  const verdicts: Record<string, boolean> = {};
  for (const { what, bytes } of archives) verdicts[what] = await check(bytes);
  return verdicts;
}
const expected = () => Object.fromEntries(archives.map(({ what, isGenuine }) => [what, isGenuine]));

describe('an archive', () => {
  test('of the table is genuine or not, with different bytes for each', () => {
    expect(archives.filter(({ isGenuine }) => isGenuine).length).toBeGreaterThan(8);
    expect(archives.filter(({ isGenuine }) => !isGenuine).length).toBeGreaterThan(50);
    expect(new Set(archives.map(({ bytes }) => bytes.toString('latin1'))).size).toBe(archives.length);
    expect(Object.keys(expected())).toHaveLength(archives.length);
  });

  test('is judged by `document check` by what every program would show of it', async () => {
    const { world } = shared();
    const path = join(await temporaryFolder(), 'file');
    const verdicts = await verdictsOf(async (bytes) => {
      await writeFile(path, bytes);
      const { documents, packs } = await checkFile(world.context, path);
      return documents.length + packs.length > 0;
    });
    expect(verdicts).toEqual(expected());
  });

  test('is judged in the same way by the page “Check a file”', async () => {
    const auditor = await signedInAs(shared().world, 'auditor');
    await auditor.get('/documents/check');
    const verdicts = await verdictsOf(async (bytes) => {
      const multipart = new FormData();
      multipart.set('file', new Blob([new Uint8Array(bytes)]), 'pack.zip');
      const { status, text } = await auditor.post('/documents/check', {}, { multipart });
      expect([status, /(Genuine|Not proven|Unknown): /.test(text)]).toEqual([200, true]);
      return text.includes('Genuine: ');
    });
    expect(verdicts).toEqual(expected());
  });

  test('is judged in the same way by the verifier in the pack', async () => {
    const verdicts = await verdictsOf(async (bytes) => {
      try {
        const { ok } = (await verifier.check(await verifier.unzip(new Uint8Array(bytes)))) as { ok: boolean };
        return ok;
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringMatching(/^[a-z].{10}/) as unknown });
        return false;
      }
    });
    expect(verdicts).toEqual(expected());
  });

  test('that is genuine is unpacked to the checked files by a program of others', async () => {
    const files = filesOf(shared().zip);
    for (const { what, bytes, isGenuine } of archives) {
      if (!isGenuine) continue;
      const path = join(await temporaryFolder(), 'pack.zip');
      await writeFile(path, bytes);
      const { stdout } = await promisify(execFile)('unzip', ['-p', path, '*letter.pdf'], {
        encoding: 'buffer',
        maxBuffer: 1 << 26,
      });
      const [leftover = Buffer.alloc(0)] = what.includes('file manager') ? [Buffer.from('x')] : [];
      expect([what, stdout.equals(Buffer.concat([files.get('letter.pdf') ?? Buffer.of(), leftover]))]).toEqual([
        what,
        true,
      ]);
    }
  });
});
