import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConsentRow } from '../../receivers/read.ts';
import { parsePurposes } from '../../src/core/consent-judgement.ts';
import { indentJson, parseJson } from '../../src/core/json.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { jsonText } from '../json-text.ts';
import { runs } from '../temporary.ts';

/** Two keys that V8 confuses: the decoded one, and the first characters of its raw text, as many as it has. */
function keysTakenForEachOther(raw: string): { readonly real: string; readonly taken: string } {
  const real = JSON.parse(`"${raw}"`) as string;
  return { real, taken: raw.slice(0, real.length) };
}

const escapedKeys = [
  '\\"',
  '\\n',
  '\\/',
  '\\u0041',
  'a\\/b',
  'Marketing \\"Plus\\"',
  '\\u00dcbermittlung',
  '\\u006eame',
];

describe('parsing JSON', () => {
  it.each(escapedKeys)('reads the key "%s" as it is written, whatever was read before', (raw) => {
    const { real, taken } = keysTakenForEachOther(raw);
    for (const first of ['', '"first":1,']) {
      const other = `{${first}${JSON.stringify(taken)}:1}`;
      const own = `{${first}"${raw}":1}`;
      for (let i = 0; i < 3; i++) JSON.parse(other);
      expect(Object.keys(parseJson(own) as object).at(-1)).toBe(real);
      const both = parseJson(`{"one":${other},"two":${own}}`) as { readonly two: object };
      expect(Object.keys(both.two).at(-1)).toBe(real);
    }
  });

  it('reads every text as it is written, wherever escapes are', () => {
    fc.assert(
      fc.property(jsonText(), ({ text, value }) => {
        expect(parseJson(text)).toEqual(value);
      }),
      { numRuns: runs(200) },
    );
  });

  it('calls readNumber with the text of every number', () => {
    const tokens: string[] = [];
    const read = (token: string) => `#${tokens.push(token)}`;
    expect(parseJson('{"a":[1, -0.5E+3 ,"2"],"b" :{"c":12345678901234567890}\n}', read)).toEqual({
      a: ['#1', '#2', '2'],
      b: { c: '#3' },
    });
    expect(tokens).toEqual(['1', '-0.5E+3', '12345678901234567890']);
    expect(parseJson(' 7 ', read)).toBe('#4');
  });

  it('keeps __proto__ as a key, and the last of equal keys', () => {
    const value = parseJson('{"\\u005f_proto__":{"a":1},"b":1,"\\u0062":2}') as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['__proto__', { a: 1 }],
      ['b', 2],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('reads any depth', () => {
    const depth = 50_000;
    let value = parseJson(`${'{"\\n":['.repeat(depth)}1${']}'.repeat(depth)}`);
    for (let i = 0; i < depth; i++) value = (value as Record<string, unknown[]>)['\n']?.[0];
    expect(value).toBe(1);
  });

  it.each(['', '{"\\"":1', '{"\\":1}', '{"\\"":01}', '["\\"":1]', '{"\\"":1}}', '{"\\x":1}'])('refuses %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(() => parseJson(text, Number)).toThrow(SyntaxError);
  });
});

describe('indentJson', () => {
  it('indents as JSON.stringify does, and keeps every token as it was written', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(indentJson(text)).toBe(JSON.stringify(parseJson(text), null, 2));
      }),
    );
    expect(indentJson('{"id":12345678901234567890,"2":1.50,"1":[],"\\u00fc":{ } , "a":"{,:\\""}')).toBe(
      '{\n  "id": 12345678901234567890,\n  "2": 1.50,\n  "1": [],\n  "\\u00fc": {},\n  "a": "{,:\\""\n}',
    );
  });

  it('leaves other text unchanged', () => {
    expect(indentJson('{"a":')).toBe('{"a":');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(indentJson(deep)).toBe(deep);
  });
});

describe('one body', () => {
  it('does not change the names under which another body’s purposes are read', () => {
    const { real, taken } = keysTakenForEachOther('Ger\\u00e4te');
    const bodyWith = (key: string) => Buffer.from(`{"id":"r1","visitor_id":"v1","purposes":{"ads":true,${key}:false}}`);
    const read = (body: Buffer) =>
      readConsentRow(body, { receivedAt: '2026-07-01T12:00:00.000Z', options: sourceOptionsSchema.parse({}) });
    read(bodyWith(JSON.stringify(taken)));
    expect(read(bodyWith('"Ger\\u00e4te"'))).toMatchObject({
      fact: { purposes: { ads: 'granted', [real]: 'denied' } },
    });
  });

  it('does not change how purposes are read back from a read model', () => {
    const name = 'News "Plus"';
    const { taken } = keysTakenForEachOther('News \\"Plus\\"');
    const column = (key: string) => JSON.stringify({ ads: 'granted', [key]: 'denied' });
    parsePurposes(column(taken));
    expect(parsePurposes(column(name))).toEqual({ ads: 'granted', [name]: 'denied' });
  });
});
