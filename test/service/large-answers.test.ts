import { describe, expect, it } from 'vitest';
import { createTransport } from '../../src/service/api-transport.ts';
import { readPage } from '../../src/service/consent-logs.ts';
import { fetchPolicyPages } from '../../src/service/policies.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const MEBIBYTE = 1024 * 1024;
const page = (rows: string) => ({ bytes: Buffer.from(`{"data":[${rows}],"next_cursor":"c"}`), serverDate: null });
const repeated = (row: string, bytes: number) =>
  Array<string>(Math.floor(bytes / (row.length + 1)))
    .fill(row)
    .join(',');

/**
 * The longest time that other work had to wait, in milliseconds of CPU time, which depends less on the load of the
 * machine than clock time.
 */
async function longestSlice(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const look = async () => {
    for (let before = process.cpuUsage(); !isOver; before = process.cpuUsage()) {
      await new Promise((resolve) => setImmediate(resolve));
      longest = Math.max(longest, process.cpuUsage(before).user / 1000);
    }
  };
  const looking = look();
  await work.catch((error: unknown) => expect(error).toMatchObject({ name: 'ServiceError' }));
  isOver = true;
  await looking;
  return longest;
}

describe('a page of an allowed size', () => {
  it('with 4,500 broken rows gives each of them', async () => {
    const read = await readPage(page(repeated('{"id":NaN}', 49_500)));
    expect(read.damage?.unreadable).toHaveLength(4_500);
  });

  it.each([
    ['broken numbers', repeated('{"id":NaN}', 500_000)],
    ['open strings', repeated('{"id":"x}', 2.7 * MEBIBYTE)],
    ['open brackets', repeated('{"id":[1}', 500_000)],
    ['backslashes', `"${'\\'.repeat(2 * MEBIBYTE)}`],
    ['quotes', '"'.repeat(2 * MEBIBYTE)],
    ['white space before each place where rows may go on', `x${`${' '.repeat(1000)},{"a":1}`.repeat(5000)}`],
    ['whole rows', repeated('{"id":12345678901234567890,"pad":"0123456789"}', 2 * MEBIBYTE)],
  ])('lets other work run while it is read: %s', async (_, rows) => {
    expect(await longestSlice(readPage(page(rows)))).toBeLessThan(500);
  });

  it.each([
    ['three million rows of one byte', repeated('1', 6 * MEBIBYTE), 'values'],
    ['more rows than any page has', repeated('1', 200_000), 'rows in one page'],
    ['more broken rows than any page has', repeated('{"id":NaN}', 120_000), 'rows in one page'],
    ['brackets ten thousand levels deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'levels deep'],
    ['brackets millions of levels deep', '['.repeat(8 * MEBIBYTE), 'levels deep'],
  ])('with %s is refused before it takes up memory', async (_, rows, words) => {
    await expect(readPage(page(rows))).rejects.toThrow(words);
  });

  it('keeps the rows before a broken one, and those after it, however many there are', async () => {
    const many = repeated('{"id":1}', 20_000);
    const read = await readPage(page(`${many},{"id":NaN},${many}`));
    expect(read.rows).toHaveLength(2 * Math.floor(20_000 / 9));
    expect(read.damage).toMatchObject({ cursorLost: false });
    expect(read.nextCursor).toBe('c');
  });
});

describe('a list of policies', () => {
  it.each([
    ['the same cursor again', () => '{"data":[],"next_cursor":"c"}'],
    ['a new cursor on each page', (nth: number) => `{"data":[],"next_cursor":"c${nth}"}`],
  ])('that gives %s is reported as a fault of the service', async (_, answer) => {
    const { message } = (await fetchFrom(answer)) as Error;
    expect(message).toContain('the list of policies does not end');
    expect(message).toContain('contact its support');
    expect(message).not.toContain('API address');
  });

  const fetchFrom = async (answer: (nth: number) => string) => {
    const server = await answeringServer((_, response, nth) => sendJson(response, 200, answer(nth)));
    const transport = createTransport({ destinations: ON_LOOPBACK, baseUrl: server.baseUrl, apiKey: 'k', retries: 0 });
    return fetchPolicyPages(transport).catch((error: unknown) => error);
  };

  it.each([
    ['400,000 rows', () => `{"policies":[${Array(400_000).fill('{"id":1}').join(',')}]}`],
    ['more values than 20,000 policies have', () => `{"policies":[{"id":1,"x":[${'1,'.repeat(250_000)}1]}]}`],
    ['a page of 9 MB', () => `{"policies":[{"id":1,"title":"${'t'.repeat(9_000_000)}"}]}`],
    ['deep JSON', () => `{"policies":${'['.repeat(500_000)}`],
    [
      'pages without end',
      (nth: number) => `{"data":[${Array(500).fill('{"id":1}').join(',')}],"next_cursor":"c${nth}"}`,
    ],
    ['a cursor of 5 MB', () => `{"data":[],"next_cursor":"${'c'.repeat(5_000_000)}"}`],
  ])('with %s is refused with a plain message', async (_, answer) => {
    const error = await fetchFrom(answer);
    expect(error).toMatchObject({ name: 'ServiceError' });
    expect(['too-large', 'unreadable']).toContain((error as { kind: string }).kind);
  });
});
