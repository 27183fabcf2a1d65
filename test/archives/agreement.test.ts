import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
// The very file that is put into packs.
import * as verifier from '../../reports/verifier/verify.mjs';
import { checkFile } from '../../src/documents/check.ts';
import { runCli } from '../cli/command-line.ts';
import { signedInAs } from '../http/office-world.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesOf, sharePack } from '../verifier/pack-world.ts';
import { type Archive, archivesOf } from './archives.ts';
import { zipBytes } from './zip-bytes.ts';

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
      expect([status, /(Genuine|Not proven|Unknown|Not only the pack): /.test(text)]).toEqual([200, true]);
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

describe('a pack with additional files', () => {
  const additional = [
    { name: 'answer/notes.txt', content: Buffer.from('our notes') },
    { name: 'answer/letter (corrected).pdf', content: Buffer.from('%PDF-1.4') },
    { name: 'outside.txt', content: Buffer.from('x') },
    { name: 'answer/.DS_Store', content: Buffer.from('x') },
  ];
  async function writePack(changed: Record<string, Buffer> = {}) {
    const parts = [...filesOf(shared().zip)].map(([name, content]) => ({
      ...{ name: `answer/${name}`, content: changed[name] ?? content },
    }));
    const path = join(await temporaryFolder(), 'pack.zip');
    await writeFile(path, zipBytes([...parts, ...additional]));
    return path;
  }
  const besides = 'besides, it holds outside.txt, answer/notes.txt, answer/letter (corrected).pdf';

  test('has a verdict of its own: nothing is missing or changed, and what was added is named', async () => {
    const { world, caseId } = shared();
    const path = await writePack();
    const { documents, packs, extended, problems } = await checkFile(world.context, path);
    expect([documents, packs]).toEqual([[], []]);
    expect(extended).toMatchObject([
      { recorded: { caseId }, additions: ['outside.txt', 'answer/notes.txt', 'answer/letter (corrected).pdf'] },
    ]);
    expect(problems.join()).toMatch(/file manager adds.*DS_Store/);

    const { code, stdout } = await runCli(world.folder, ['document', 'check', path]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^! not only the pack: all files of a pack are there and unchanged; /);
    expect(stdout).toContain(besides);
    expect(stdout).not.toMatch(/not proven|ledger verify/);
    const json = await runCli(world.folder, ['document', 'check', path, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ genuine: false, packs: [], extended: [{ caseId }] });

    const auditor = await signedInAs(world, 'auditor');
    await auditor.get('/documents/check');
    const multipart = new FormData();
    multipart.set('file', new Blob([new Uint8Array(await readFile(path))]), 'pack.zip');
    const { text } = await auditor.post('/documents/check', {}, { multipart });
    expect(text).toContain('Not only the pack: all files of a pack are there and unchanged; besides, it holds');
    expect(text).toContain('letter (corrected).pdf');
    expect(text).not.toMatch(/Genuine: |Not proven/);
  });

  test('is not proven if one of its files was changed as well', async () => {
    const path = await writePack({ 'letter.pdf': Buffer.from('%PDF-1.4 forged') });
    const { extended, problems } = await checkFile(shared().world.context, path);
    expect(extended).toEqual([]);
    expect(problems.join()).toContain('but not its files: letter.pdf was changed');
  });
});

test('the program and the verifier in the pack know the same additions of file managers', async () => {
  const [program, enclosed] = await Promise.all(
    ['src/documents/check-pack.ts', 'reports/verifier/verify.mjs'].map(async (file) => {
      const text = await readFile(join(import.meta.dirname, '../..', file), 'utf8');
      return /^const LEFTOVER =\s+(\/.+\/);$/m.exec(text)?.[1];
    }),
  );
  expect(program).toBeDefined();
  expect(enclosed).toBe(program);
});
