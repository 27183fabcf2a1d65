import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createServiceClient } from '../../src/service/client.ts';
import { readPage } from '../../src/service/consent-logs.ts';
import { runs } from '../temporary.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const page = (text: string | Buffer) => readPage({ bytes: Buffer.from(text as string), serverDate: null });
const texts = async (text: string | Buffer) => (await page(text)).rows.map((row) => row.bytes.toString('utf8'));

describe('a page of the consent log', () => {
  it('is requested with the documented parameters', async () => {
    const server = await answeringServer((_, response) =>
      sendJson(response, 200, { data: [{ id: 1 }], next_cursor: 'n' }),
    );
    const client = createServiceClient({ destinations: ON_LOOPBACK, baseUrl: server.baseUrl, apiKey: 'k' });
    const answer = await client.fetchConsentLogPage({ bannerId: 'bnr', from: '2026-07-01', to: null, cursor: 'c+/=' });
    expect(Object.fromEntries(server.requests[0]?.url.searchParams ?? [])).toEqual({
      banner_id: 'bnr',
      from: '2026-07-01',
      limit: '200',
      cursor: 'c+/=',
    });
    expect(answer.nextCursor).toBe('n');
    expect(answer.serverDate).toBeInstanceOf(Date);
  });

  it('gives each row in its original bytes', async () => {
    const rows = [
      '{"id": 12345678901234567890, "a":1.0}',
      '{ "name":"J\\u00fcrgen ü 😀\\"]}" }',
      '[1, 2]',
      'null',
      '"text"',
      '7',
    ];
    expect(await texts(`\n{ "next_cursor" : null, "data" :\t[ ${rows.join(' ,\n ')} ] }`)).toEqual(rows);
  });

  it('gives any rows of a service back byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json()), fc.constantFrom('', ' ', '\n\t'), fc.json(), async (rows, space, other) => {
        const text = `{"x":${other},${space}"data":${space}[${rows.join(`${space},${space}`)}]${space}}`;
        expect(await texts(text)).toEqual(rows);
        expect((await page(text)).rows.map(({ value }) => JSON.stringify(value)).length).toBe(rows.length);
      }),
    );
  });

  it('reads a page at once like one that is read row by row because it is larger', async () => {
    const special = fc.constantFrom(
      '{"id":9007199254740993}',
      '{"__proto__":1}',
      '{"\\u0061":1}',
      '"\\ud800"',
      '[[[1e3]]]',
    );
    const row = fc.oneof(fc.json(), special);
    const more = fc.constantFrom(
      '',
      ',"data":[]',
      ',"data":[1]',
      ',"next_cursor":"c"',
      ',"next_cursor":12345678901234567890',
      ',',
      ',"a":{',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row), more, async (rows, rest) => {
        const text = `{"data":[${rows.join(',')}]${rest}}`;
        const read = async (bytes: string) => {
          const { rows: found, ...others } = await page(bytes);
          return { ...others, rows: found.map(({ value, isUtf8, bytes: own }) => ({ value, isUtf8, own })) };
        };
        const outcome = (bytes: string) => read(bytes).catch((error: unknown) => String(error));
        expect(await outcome(text)).toEqual(await outcome(`${text}${' '.repeat(300_000)}`));
      }),
      { numRuns: runs(100) },
    );
  });

  it('keeps bytes that are not UTF-8, and marks the row', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"data":[{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"},{"b":"ü"}]}'),
    ]);
    const { rows } = await page(bytes);
    expect(rows[0]?.bytes.toString('hex')).toBe(
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]).toString('hex'),
    );
    expect(rows.map(({ isUtf8 }) => isUtf8)).toEqual([false, true]);
  });

  it('reads large integers with all digits', async () => {
    const [row] = (await page('{"data":[{"id":9007199254740993,"hash":"sha256:3e45"}]}')).rows;
    expect(row?.value).toEqual({ id: '9007199254740993', hash: 'sha256:3e45' });
  });

  it('accepts a cursor that is null, absent, empty or a number', async () => {
    expect((await page('{"data":[]}')).nextCursor).toBeNull();
    expect((await page('{"data":[],"next_cursor":null}')).nextCursor).toBeNull();
    expect((await page('{"data":[],"next_cursor":""}')).nextCursor).toBeNull();
    expect((await page('{"data":[],"next_cursor":12345678901234567890}')).nextCursor).toBe('12345678901234567890');
    expect((await page('{"data":[],"nextCursor":"c"}')).nextCursor).toBe('c');
    await expect(page('{"data":[],"next_cursor":{"a":1}}')).rejects.toThrow('next_cursor');
  });

  it('accepts missing data as no rows, a byte order mark, a bare array and escaped keys', async () => {
    expect(await texts('{}')).toEqual([]);
    expect(await texts('{"data":null,"next_cursor":"x"}')).toEqual([]);
    expect(await texts('{"total":0,"has_more":false}')).toEqual([]);
    expect(await texts('{"page":1,"limit":200,"next_cursor":null}')).toEqual([]);
    expect(await texts('\ufeff{"data":[1]}')).toEqual(['1']);
    expect(await texts(' [ {"id":1} ]')).toEqual(['{"id":1}']);
    expect(await texts('{"d\\u0061ta":[4]}')).toEqual(['4']);
  });

  it('says that the next page is lost if `data` appears twice or the cursor is invalid', async () => {
    expect(await page('{"data":[1],"data":[2,3]}')).toMatchObject({ damage: { cursorLost: true } });
    expect(await page('{"data":[1],"next_cursor":{"a":1}}')).toMatchObject({ damage: { cursorLost: true } });
    await expect(page('{"data":[],"data":[2,3]}')).rejects.toThrow('twice');
  });

  it('does not accept a page with an extra comma or an open end as complete', async () => {
    for (const text of ['[,1]', '[1,]', '[1,,2]', '[1 2]', '[1', '[1]x', '[01]', '{"data":[1]', '{"data":[1]}}'])
      expect((await page(text)).damage, text).not.toBeNull();
    for (const text of ['[]', '[1]', ' [ 1 , 2 ] ', '{"data":[1],"a":[1,2]}'])
      expect((await page(text)).damage, text).toBeNull();
  });

  it('keeps the bytes of a row of more than 256 KiB, and reads the rows next to it', async () => {
    const read = await page(`{"data":[{"id":1},{"id":"${'x'.repeat(300_000)}"},{"id":3}],"next_cursor":"c"}`);
    expect(read.rows.map(({ value }) => value)).toEqual([{ id: 1 }, { id: 3 }]);
    expect(read.damage).toMatchObject({ unreadable: [{ length: 300_009 }], cursorLost: false });
  });

  it('never reads rows under another name, an error or a broken answer as an empty page', async () => {
    await expect(page('{"logs":[{"id":1}]}')).rejects.toThrow('`logs`');
    await expect(page('{"data":{"id":1}}')).rejects.toThrow('not an array');
    for (const text of ['{"code":503}', '{"maintenance":true}', '{"success":false,"next_cursor":null}'])
      await expect(page(text)).rejects.toThrow('no `data`');
    await expect(page('{"error":{"code":"quota","message":"none left"}}')).rejects.toThrow('quota: none left');
    await expect(page('{"row":{"subject":"secret-hash"},')).rejects.toThrow('cut off');
    await expect(page('<html>')).rejects.toThrow('web page');
    await expect(page('')).rejects.toThrow('empty');
    await expect(page('"text"')).rejects.toThrow('neither');
  });

  it('never quotes a row in an error', async () => {
    await expect(page('{"row":{"subject":"secret-hash"},')).rejects.not.toThrow('secret-hash');
  });
});

describe('the list of policies', () => {
  it('is read in both documented forms, over all pages', async () => {
    const server = await answeringServer((request, response, nth) => {
      if (nth === 1)
        sendJson(response, 200, { count: 1, policies: [{ id: 'a', policy_type: 'privacy-policy', extra: 1 }] });
      else if (request.url?.includes('cursor=2') === true)
        sendJson(response, 200, { data: [{ id: 3 }], next_cursor: null });
      else sendJson(response, 200, { data: [{ id: 'b' }], next_cursor: '2' });
    });
    const client = createServiceClient({ destinations: ON_LOOPBACK, baseUrl: server.baseUrl, apiKey: 'k' });
    expect(await client.listPolicies()).toEqual([{ id: 'a', policy_type: 'privacy-policy', extra: 1 }]);
    expect((await client.listPolicies()).map(({ id }) => id)).toEqual(['b', '3']);
  });

  it('refuses another form and a repeated cursor', async () => {
    const server = await answeringServer((_, response, nth) =>
      sendJson(response, 200, nth === 1 ? { items: [] } : { data: [], next_cursor: 'same' }),
    );
    const client = createServiceClient({ destinations: ON_LOOPBACK, baseUrl: server.baseUrl, apiKey: 'k', retries: 0 });
    await expect(client.listPolicies()).rejects.toThrow('neither documented form');
    await expect(client.listPolicies()).rejects.toThrow('returns the cursor of an earlier page');
  });
});
