import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { atMost, TooLarge } from '../../src/archives/limits.ts';
import { readZip } from '../../src/archives/zip.ts';
import { createOutsideThread, type OutsideTask } from '../../src/context/outside-thread.ts';
import { readOutsideFile } from '../../src/documents/outside-file.ts';
import { cliPath } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Part, zipBytes } from './zip-bytes.ts';

const MIB = 1024 ** 2;
const zeros = Buffer.alloc(20 * MIB);
const keep = () => false;

async function fileWith(parts: readonly Part[]): Promise<string> {
  const path = join(await temporaryFolder(), 'file.zip');
  await writeFile(path, zipBytes(parts));
  return path;
}

describe('reading a ZIP', () => {
  test('hashes each file, and returns the text of those that are needed', async () => {
    const path = await fileWith([
      { name: 'a.txt', content: Buffer.from('first') },
      { name: 'b.txt', content: Buffer.from('second'), method: 0 },
    ]);
    expect(await readZip(path, { keep: (name) => name === 'b.txt' })).toMatchObject({
      outcome: 'read',
      members: [
        { name: 'a.txt', bytes: 5, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown, text: null },
        { name: 'b.txt', bytes: 6, text: 'second' },
      ],
    });
  });

  test('ends before it unpacks more than is allowed, in one file or in all together', async () => {
    const limits = { keep, unpackedBytes: 30 * MIB };
    const one = await fileWith([{ name: 'a', content: zeros }]);
    expect((await readZip(one, limits)).outcome).toBe('read');
    const two = await fileWith([
      { name: 'a', content: zeros },
      { name: 'b', content: zeros },
    ]);
    const refused = { outcome: 'refused', reason: `it unpacks to more than ${30 * MIB} bytes` };
    expect(await readZip(two, limits)).toEqual(refused);
  });

  test('does not unpack more of a file than its headers say', async () => {
    const path = await fileWith([
      { name: 'a', content: Buffer.alloc(5), packed: zipBytes([{ name: 'a', content: zeros }]).subarray(31, -69) },
    ]);
    expect(await readZip(path, { keep })).toEqual({
      outcome: 'refused',
      reason: 'a is damaged (size or checksum)',
    });
  });

  test('accepts no run of bytes as the content of two files', async () => {
    const path = await fileWith([
      { name: 'a', content: Buffer.from('x') },
      {
        name: 'b',
        content: Buffer.from('x'),
        central: { offset: -zipBytes([{ name: 'a', content: Buffer.from('x') }]).length },
      },
    ]);
    expect(await readZip(path, { keep })).toMatchObject({ outcome: 'refused' });
  });

  test('leaves other files alone', async () => {
    const path = join(await temporaryFolder(), 'file.txt');
    for (const text of ['', 'P', 'a text']) {
      await writeFile(path, text);
      expect(await readZip(path, { keep })).toEqual({ outcome: 'other' });
    }
    await expect(readZip(`${path}.none`, { keep })).rejects.toThrow(/ENOENT/);
  });
});

test('chunks are passed on up to a limit', async () => {
  const source = async function* () {
    yield Buffer.alloc(3);
    yield Buffer.alloc(3);
  };
  const read = async (most: number) => {
    const passed: number[] = [];
    for await (const chunk of atMost(most, source())) passed.push(chunk.length);
    return passed;
  };
  expect(await read(6)).toEqual([3, 3]);
  await expect(read(5)).rejects.toThrow(TooLarge);
});

describe('a file that is checked by a server', () => {
  const main = new URL('./context/outside-thread-main.js', `file://${cliPath}`);
  const openThread = (task: OutsideTask) => new Worker(main, { workerData: task });

  test('is read in a thread, while the server answers', async () => {
    const path = await fileWith(
      Array.from({ length: 10 }, (_, nth) => ({ name: nth === 0 ? 'manifest.json' : `${nth}`, content: zeros })),
    );
    const expected = await readOutsideFile(path);
    const { readOutsideFile: read } = createOutsideThread(openThread);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const found = await read(path);
    delay.disable();
    expect(found.sha256).toBe(expected.sha256);
    expect(found).toEqual(expected);
    // What happens here meanwhile is one message with the result.
    expect(delay.max / 1e6).toBeLessThan(100);
  });

  test('is read after the one before, and refused when many are waiting', async () => {
    const path = await fileWith([{ name: 'a', content: zeros }]);
    let [open, most] = [0, 0];
    const { readOutsideFile: read } = createOutsideThread((one) => {
      const thread = openThread(one);
      most = Math.max(most, (open += 1));
      thread.once('exit', () => (open -= 1));
      return thread;
    });
    const results = await Promise.allSettled(Array.from({ length: 7 }, () => read(path)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(results.at(-1)).toMatchObject({ reason: { code: 'overloaded' } });
    expect(most).toBe(1);
    await expect(read(`${path}.none`)).rejects.toThrow(/ENOENT/);
    expect((await read(path)).zip.outcome).toBe('read');
  });
});
