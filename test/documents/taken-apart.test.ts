import { writeFile } from 'node:fs/promises';
import { unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { checkFile } from '../../src/documents/check.ts';
import { alter, bytes } from '../tampering.ts';
import { filesOf, packOf } from '../verifier/pack-world.ts';

const zipOf = (files: ReadonlyMap<string, Buffer>) =>
  zipSync(Object.fromEntries([...files].map(([name, content]) => [`answer/${name}`, new Uint8Array(content)])));

test('a re-zipped pack and a single file of it are recognised, and changed ones rejected', async () => {
  const { world, zip, path } = await packOf();
  const files = filesOf(zip);
  const checked = async (content: Uint8Array) => {
    await writeFile(`${path}.file`, content);
    const { documents, packs, extended, problems } = await checkFile(world.context, `${path}.file`);
    const additions = extended.flatMap((pack) => pack.additions);
    return { documents: documents.length, packs: packs.map(({ file, seq }) => [file, seq]), additions, problems };
  };
  expect(await checked(zip)).toMatchObject({ documents: 1, packs: [] });
  const sealed = 6;
  const found = { documents: 0, additions: [], problems: [] };
  expect(await checked(zipOf(files))).toEqual({ ...found, packs: [[null, sealed]] });
  for (const name of ['letter.pdf', 'decisions.csv', 'manifest.json'])
    expect(await checked(files.get(name) ?? Buffer.of())).toEqual({ ...found, packs: [[name, sealed]] });

  const letter = Buffer.concat([files.get('letter.pdf') ?? Buffer.of(), Buffer.from(' ')]);
  expect(await checked(letter)).toEqual({ ...found, packs: [] });
  const body = Buffer.from('{"event":"consent.recorded"}');
  for (const [changed, sentence] of [
    [new Map([...files, ['letter.pdf', letter]]), 'letter.pdf was changed'],
    [new Map([...files, ['proofs/1.body', body]]), 'proofs/1.body or .meta is not what entry 1 holds'],
    [
      new Map([...files, ['letter.pdf', letter], ['more.txt', body]]),
      'letter.pdf was changed; answer/more.txt is not a file of the pack',
    ],
    [new Map([...files].filter(([name]) => name !== 'case.json')), 'case.json is missing'],
  ] as [Map<string, Buffer>, string][])
    expect(await checked(zipOf(changed))).toEqual({
      ...found,
      packs: [],
      problems: [expect.stringContaining(sentence)],
    });

  const extended = { ...found, packs: [], additions: ['answer/more.txt'] };
  expect(await checked(zipOf(new Map([...files, ['more.txt', body]])))).toEqual(extended);

  // Readers of these do not agree on the letter: one shows the genuine one, another the forged one.
  const forgery = (name: string) => zipSync({ [name]: body, ...unzipSync(zipOf(files)) });
  const renamed = (zipped: Uint8Array, from: string, to: string) =>
    Buffer.from(Buffer.from(zipped).toString('latin1').replaceAll(from, to), 'latin1');
  expect(await checked(renamed(forgery('answer/lettes.pdf'), 'lettes.pdf', 'letter.pdf'))).toEqual({
    ...found,
    packs: [],
    problems: [expect.stringContaining('two files named answer/letter.pdf')],
  });
  expect(await checked(forgery('letter.pdf'))).toEqual({ ...found, packs: [], additions: ['letter.pdf'] });

  // The sealed list itself was edited by a person who can write to the database.
  await alter(world.context.config.dataDir, `update entries set body = ${bytes('{}')} where seq = ${sealed}`);
  expect((await checked(zipOf(files))).packs).toEqual([]);
});
