import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatShares } from '../../reports/format.ts';
import { reports } from '../../reports/index.ts';
import type { Block, Frame } from '../../reports/render/blocks.ts';
import { renderPdf } from '../../reports/render/pdf.ts';
import { lastPage, pdfText } from './files.ts';
import { collect, fillMonth, openWorld, type World } from './world.ts';

let month: World;
let empty: World;
beforeAll(async () => {
  month = await openWorld();
  await fillMonth(month);
  empty = await openWorld();
});
afterAll(async () => {
  await month.close();
  await empty.close();
});

describe('the pages of a report', () => {
  for (const report of reports)
    for (const [what, from, to] of [
      ['a month', '2026-06-01', '2026-07-01'],
      ['a week', '2026-06-08', '2026-06-15'],
      ['a day', '2026-06-17', '2026-06-18'],
      ['an empty ledger', '2026-06-01', '2026-07-01'],
    ] as const)
      it(`never end with a nearly empty one (${report.name}, ${what})`, async () => {
        const world = what === 'an empty ledger' ? empty : month;
        const pdf = await collect(report.produce(world.input({ format: 'pdf', from, to })));
        const { pages, filled } = lastPage(pdf);
        expect(pages === 1 || filled >= 0.15).toBe(true);
      });

  it('never end with a nearly empty one however much text there is, and keep each heading with its table', async () => {
    const frame: Frame = {
      title: 'A title',
      owner: 'Förster',
      footer: 'f',
      language: 'en',
      producer: 'p',
      createdAt: '2026-07-01T10:00:00.000Z',
      watermark: null,
      kind: 'report',
    };
    for (let lines = 38; lines <= 62; lines += 2) {
      const blocks: Block[] = [
        ...Array.from({ length: lines }, (_, i): Block => ({ block: 'paragraph', text: `Sentence ${i}.` })),
        { block: 'heading', level: 1, text: 'The section' },
        { block: 'paragraph', text: 'What it is about.' },
        {
          block: 'table',
          caption: 'Its table',
          columns: [{ title: 'Word', share: 1 }],
          rows: Array.from({ length: 5 }, (_, i) => [`row ${i}`]),
          empty: '',
        },
      ];
      const pdf = await collect(renderPdf(frame, blocks));
      const { pages, filled } = lastPage(pdf);
      expect([lines, pages === 1 || filled >= 0.15]).toEqual([lines, true]);
      const withHeading = pdfText(pdf)
        .split('\f')
        .find((page) => page.includes('The section'));
      expect([lines, withHeading?.includes('row 0')]).toEqual([lines, true]);
    }
  });
});

describe('shares of a whole', () => {
  it('add up to 100.0 % whatever they are', () => {
    for (const parts of [[1, 1, 1], [2, 3, 7, 11], [1, 0, 999_999], [5]]) {
      const tenths = formatShares(parts).map((share) => Math.round(Number.parseFloat(share) * 10));
      expect(tenths.reduce((sum, n) => sum + n, 0)).toBe(1000);
    }
    expect(formatShares([0, 0])).toEqual(['–', '–']);
  });
});
