import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/jobs/event-loop.ts';
import { salvagePage } from '../../src/service/page-salvage.ts';
import { runs } from '../temporary.ts';

async function salvage(text: string) {
  const found = await salvagePage(text, createTurns());
  const pick = (spans: readonly { start: number; end: number }[]) =>
    spans.map(({ start, end }) => text.slice(start, end));
  return found === null ? null : { rows: pick(found.rows), broken: pick(found.broken), frame: found.frame };
}

describe('a page of rows that is broken JSON', () => {
  it('keeps the rows next to one that does not parse, and the cursor of the next page', async () => {
    expect(await salvage('{"data":[{"id":1},{"id":NaN} , {"id":3}],"next_cursor":"c"}')).toEqual({
      rows: ['{"id":1}', '{"id":3}'],
      broken: ['{"id":NaN}'],
      frame: '{"data":[],"next_cursor":"c"}',
    });
  });

  it('is read past an open quote or bracket, without mistaking a fragment for a row', async () => {
    expect(
      await salvage(
        '{"data":[{"id":"a"},{"id":"b,"list":[{"x":1},{"x":2}]},{"id":"c"},{"id":"d"}],"next_cursor":null}',
      ),
    ).toEqual({
      rows: ['{"id":"a"}', '{"id":"c"}', '{"id":"d"}'],
      broken: ['{"id":"b,"list":[{"x":1},{"x":2}]}'],
      frame: '{"data":[],"next_cursor":null}',
    });
    expect(await salvage('[{"id":"a"},{"id":{"b":[},{"id":"c"}]')).toEqual({
      rows: ['{"id":"a"}', '{"id":"c"}'],
      broken: ['{"id":{"b":[}'],
      frame: '[]',
    });
  });

  it('keeps the rows before the cut, and the bytes of the rest', async () => {
    expect(await salvage('{"data":[{"id":1},{"id":2},{"id":')).toEqual({
      rows: ['{"id":1}', '{"id":2}'],
      broken: ['{"id":'],
      frame: null,
    });
    expect(await salvage('{"data":[{"id":1},{"id":2}],"next_cur')).toEqual({
      rows: ['{"id":1}', '{"id":2}'],
      broken: [],
      frame: null,
    });
  });

  it('is not salvaged if there is no array of rows', async () => {
    for (const text of ['', '<html>', '{"error":{"code":', '{"data":{"id":1', '"data":[', 'null'])
      expect(await salvage(text)).toBeNull();
  });

  it('gives every intact row when each broken row beside it is closed, for any rows', async () => {
    const good = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value));
    const broken = fc.constantFrom(
      '{"a":NaN}',
      '{"a":}',
      '{a:1}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":[1,]}',
      'undefined',
      '{"a":01}',
    );
    const element = fc.oneof(
      { weight: 3, arbitrary: good.map((text) => ({ text, isGood: true })) },
      { weight: 1, arbitrary: broken.map((text) => ({ text, isGood: false })) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(element, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('', ' ', '\n'),
        async (elements, space) => {
          const page = `{"next_cursor" : "c", "data":[${elements.map(({ text }) => text).join(`${space},${space}`)}]}`;
          const latin1 = Buffer.from(page, 'utf8').toString('latin1');
          const back = (texts: readonly string[] = []) =>
            texts.map((text) => Buffer.from(text, 'latin1').toString('utf8'));
          const found = await salvage(latin1);
          expect(back(found?.rows)).toEqual(elements.filter(({ isGood }) => isGood).map(({ text }) => text));
          expect(back(found?.broken)).toEqual(elements.filter(({ isGood }) => !isGood).map(({ text }) => text));
          expect(found?.frame).toBe('{"next_cursor" : "c", "data":[]}');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps no empty piece between adjacent commas', async () => {
    for (const text of ['{"data":[,{"a":1}]}', '{"data":[{"a":1},,{"b":2}]}'])
      expect((await salvagePage(text, createTurns()))?.broken, text).toEqual([]);
    expect((await salvagePage('{"data":[{"a":1},,{"b":2}]}', createTurns()))?.rows).toHaveLength(2);
  });

  it('uses no byte twice, loses only commas and space, and ends, for any text', async () => {
    const piece = fc.constantFrom(
      '{"data":[',
      '[',
      ']',
      '{',
      '}',
      '{"a":1}',
      ',',
      '"',
      '\\',
      ' ',
      '"next_cursor":"x"',
      'NaN',
      '1',
      ':',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const text = `{"data":[${pieces.join('')}`;
        const found = await salvagePage(text, createTurns());
        const spans = [...(found?.rows ?? []), ...(found?.broken ?? [])].sort((a, b) => a.start - b.start);
        let at = '{"data":['.length;
        for (const { start, end } of spans) {
          expect(text.slice(at, start)).toMatch(/^[\s,]*$/);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        for (const { start, end } of found?.rows ?? [])
          expect(() => JSON.parse(text.slice(start, end)) as unknown).not.toThrow();
      }),
      { numRuns: runs(200) },
    );
  });
});
