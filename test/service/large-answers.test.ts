import { describe, expect, it } from 'vitest';
import { readDamagedPage, readPage } from '../../src/service/consent-logs.ts';
import { fetchPolicyPages } from '../../src/service/policies.ts';
import { createTransport } from '../../src/service/transport.ts';
import { answeringServer, sendJson } from './answering-server.ts';

const MEBIBYTE = 1024 * 1024;
const page = (rows: string) => ({ bytes: Buffer.from(`{"data":[${rows}],"next_cursor":"c"}`), serverDate: null });
const repeated = (row: string, bytes: number) =>
  Array<string>(Math.floor(bytes / (row.length + 1)))
    .fill(row)
    .join(',');

/** Milliseconds of the thread, which a machine under load does not lengthen as much as the clock. */
function timeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user } = process.cpuUsage(before);
  return user / 1000;
}

describe('a page of an allowed size', () => {
  it('with 30,000 broken rows is read in time in proportion to its size', () => {
    const small = page(repeated('{"id":NaN}', 330_000));
    const large = page(repeated('{"id":NaN}', 500_000));
    expect(readDamagedPage(small)?.damage?.unreadable).toHaveLength(30_000);
    expect(timeOf(() => readDamagedPage(large))).toBeLessThan(2000);
  });

  it.each([
    ['broken numbers', repeated('{"id":NaN}', 2.7 * MEBIBYTE)],
    ['open strings', repeated('{"id":"x}', 2.7 * MEBIBYTE)],
    ['open brackets', repeated('{"id":[1}', 2.7 * MEBIBYTE)],
    ['backslashes', `"${'\\'.repeat(2 * MEBIBYTE)}`],
    ['quotes', '"'.repeat(2 * MEBIBYTE)],
  ])('that is broken throughout takes no minutes: %s', (_, rows) => {
    const time = timeOf(() => {
      try {
        readDamagedPage(page(rows));
      } catch (error) {
        expect(error).toMatchObject({ kind: 'too-large' });
      }
    });
    expect(time).toBeLessThan(6000);
  });

  it.each([
    ['three million rows of one byte', repeated('1', 6 * MEBIBYTE), 'values'],
    ['more rows than any page has', repeated('1', 200_000), 'rows in one page'],
    ['brackets ten thousand levels deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'levels deep'],
    ['brackets millions of levels deep', '['.repeat(8 * MEBIBYTE), 'levels deep'],
  ])('with %s is refused before it takes the memory', (_, rows, words) => {
    expect(() => readPage(page(rows))).toThrow(words);
  });

  it('keeps the rows before a broken one, and those after it, however many there are', () => {
    const many = repeated('{"id":1}', 100_000);
    const read = readDamagedPage(page(`${many},{"id":NaN},${many}`));
    expect(read?.rows).toHaveLength(2 * Math.floor(100_000 / 9));
    expect(read?.damage).toMatchObject({ cursorLost: false });
    expect(read?.nextCursor).toBe('c');
  });
});

describe('a list of policies', () => {
  const fetchFrom = async (answer: (nth: number) => string) => {
    const server = await answeringServer((_, response, nth) => sendJson(response, 200, answer(nth)));
    const transport = createTransport({ baseUrl: server.baseUrl, apiKey: 'k', retries: 0 });
    return fetchPolicyPages(transport).catch((error: unknown) => error);
  };

  it.each([
    ['400,000 rows', () => `{"policies":[${Array(400_000).fill('{"id":1}').join(',')}]}`],
    ['deep JSON', () => `{"policies":${'['.repeat(500_000)}`],
    [
      'pages without end',
      (nth: number) => `{"data":[${Array(500).fill('{"id":1}').join(',')}],"next_cursor":"c${nth}"}`,
    ],
    ['a cursor of 5 MB', () => `{"data":[],"next_cursor":"${'c'.repeat(5_000_000)}"}`],
  ])('with %s is refused with a sentence', async (_, answer) => {
    const error = await fetchFrom(answer);
    expect(error).toMatchObject({ name: 'ServiceError' });
    expect(['too-large', 'unreadable']).toContain((error as { kind: string }).kind);
  });
});
