import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createServiceClient } from '../../src/service/client.ts';
import { readPage } from '../../src/service/consent-logs.ts';
import { answeringServer, sendJson } from './answering-server.ts';

const page = (text: string | Buffer) => readPage({ bytes: Buffer.from(text as string), serverDate: null });
const texts = (text: string | Buffer) => page(text).rows.map((row) => row.bytes.toString('utf8'));

describe('a page of the consent log', () => {
  it('is asked for with the documented parameters', async () => {
    const server = await answeringServer((_, response) =>
      sendJson(response, 200, { data: [{ id: 1 }], next_cursor: 'n' }),
    );
    const client = createServiceClient({ baseUrl: server.baseUrl, apiKey: 'k' });
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

  it('gives each row in its own bytes', () => {
    const rows = [
      '{"id": 12345678901234567890, "a":1.0}',
      '{ "name":"J\\u00fcrgen ü 😀\\"]}" }',
      '[1, 2]',
      'null',
      '"text"',
      '7',
    ];
    expect(texts(`\n{ "next_cursor" : null, "data" :\t[ ${rows.join(' ,\n ')} ] }`)).toEqual(rows);
  });

  it('gives back whatever rows a service may send, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.constantFrom('', ' ', '\n\t'), fc.json(), (rows, space, other) => {
        const text = `{"x":${other},${space}"data":${space}[${rows.join(`${space},${space}`)}]${space}}`;
        expect(texts(text)).toEqual(rows);
        expect(page(text).rows.map(({ value }) => JSON.stringify(value)).length).toBe(rows.length);
      }),
    );
  });

  it('keeps bytes that are no UTF-8, and says so of the row', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"data":[{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"},{"b":"ü"}]}'),
    ]);
    const { rows } = page(bytes);
    expect(rows[0]?.bytes.toString('hex')).toBe(
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]).toString('hex'),
    );
    expect(rows.map(({ isUtf8 }) => isUtf8)).toEqual([false, true]);
  });

  it('reads large integers as their digits', () => {
    const [row] = page('{"data":[{"id":9007199254740993,"hash":"sha256:3e45"}]}').rows;
    expect(row?.value).toEqual({ id: '9007199254740993', hash: 'sha256:3e45' });
  });

  it('takes a cursor that is null, absent, empty or a number', () => {
    expect(page('{"data":[]}').nextCursor).toBeNull();
    expect(page('{"data":[],"next_cursor":null}').nextCursor).toBeNull();
    expect(page('{"data":[],"next_cursor":""}').nextCursor).toBeNull();
    expect(page('{"data":[],"next_cursor":12345678901234567890}').nextCursor).toBe('12345678901234567890');
    expect(page('{"data":[],"nextCursor":"c"}').nextCursor).toBe('c');
    expect(() => page('{"data":[],"next_cursor":{"a":1}}')).toThrow('next_cursor');
  });

  it('takes missing data as no rows, a byte order mark, a bare array and doubled keys', () => {
    expect(texts('{}')).toEqual([]);
    expect(texts('{"data":null,"next_cursor":"x"}')).toEqual([]);
    expect(texts('\ufeff{"data":[1]}')).toEqual(['1']);
    expect(texts(' [ {"id":1} ]')).toEqual(['{"id":1}']);
    expect(texts('{"data":[1],"data":[2,3]}')).toEqual(['2', '3']);
    expect(texts('{"d\\u0061ta":[4]}')).toEqual(['4']);
  });

  it('never takes rows under another name, an error or a broken answer for an empty page', () => {
    expect(() => page('{"logs":[{"id":1}]}')).toThrow('`logs`');
    expect(() => page('{"data":{"id":1}}')).toThrow('not an array');
    expect(() => page('{"error":{"code":"quota","message":"none left"}}')).toThrow('quota: none left');
    expect(() => page('{"data":[{"subject":"secret-hash"},')).toThrow('cut off');
    expect(() => page('<html>')).toThrow('web page');
    expect(() => page('')).toThrow('empty');
    expect(() => page('"text"')).toThrow('neither');
  });

  it('never tells a row in an error', () => {
    expect(() => page('{"data":[{"subject":"secret-hash"},')).not.toThrow('secret-hash');
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
    const client = createServiceClient({ baseUrl: server.baseUrl, apiKey: 'k' });
    expect(await client.listPolicies()).toEqual([{ id: 'a', policy_type: 'privacy-policy', extra: 1 }]);
    expect((await client.listPolicies()).map(({ id }) => id)).toEqual(['b', '3']);
  });

  it('refuses another form and a cursor that comes twice', async () => {
    const server = await answeringServer((_, response, nth) =>
      sendJson(response, 200, nth === 1 ? { items: [] } : { data: [], next_cursor: 'same' }),
    );
    const client = createServiceClient({ baseUrl: server.baseUrl, apiKey: 'k', retries: 0 });
    await expect(client.listPolicies()).rejects.toThrow('neither documented form');
    await expect(client.listPolicies()).rejects.toThrow('again and again');
  });
});
