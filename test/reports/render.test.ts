import { randomBytes } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import PDFDocument from 'pdfkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Block, Frame } from '../../reports/render/blocks.ts';
import { layOutStackedBars, type StackedBars } from '../../reports/render/chart.ts';
import { renderCsv, renderJson } from '../../reports/render/csv-json.ts';
import { createTypesetter } from '../../reports/render/fonts.ts';
import { renderHtml } from '../../reports/render/html.tsx';
import { renderPdf, unprintableIn } from '../../reports/render/pdf.ts';
import { visibleText } from '../../reports/render/text.ts';
import { renderZip } from '../../reports/render/zip.ts';
import { anyCharacter } from '../any-character.ts';
import { computed, PATIENTLY } from '../temporary.ts';
import { pdfFonts, pdfInfo, pdfText, zipFile, zipNames } from './files.ts';
import { anHourLater, collect } from './world.ts';

const frame: Frame = {
  title: 'A title',
  owner: 'Förster & Söhne',
  footer: 'Document 3f2a · as of entry 12',
  language: 'en',
  producer: 'consent-ledger 0.1.0',
  createdAt: '2026-07-01T10:00:00.000Z',
  watermark: null,
  kind: 'report',
};
const table = (rows: number): Block => ({
  block: 'table',
  caption: 'Numbers',
  columns: [
    { title: 'Word', share: 3 },
    { title: 'Figure', share: 1, align: 'right' },
  ],
  rows: Array.from({ length: rows }, (_, i) => [`row ${i}`, String(i)]),
  total: ['All', String(rows)],
  empty: 'nothing',
});
const pdf = (blocks: Block[], changes: Partial<Frame> = {}) => collect(renderPdf({ ...frame, ...changes }, blocks));
const html = async (blocks: Block[], changes: Partial<Frame> = {}) =>
  (await collect(renderHtml({ ...frame, ...changes }, blocks))).toString('utf8');

const columns = [
  { title: 'name', value: (row: { name: string | null; n: number }) => row.name },
  { title: 'n', value: (row: { name: string | null; n: number }) => row.n },
];

test('text that a spreadsheet would run as a formula gets an apostrophe in CSV, numbers stay numbers', async () => {
  const dangerous = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1+1'];
  const csv = await collect(
    renderCsv(
      columns,
      dangerous.map((name) => ({ name, n: -5 })),
    ),
  );
  const rows = parse(csv, { bom: true, from_line: 2 });
  expect(rows.map(([name]) => name)).toEqual(dangerous.map((name) => `'${name}`));
  expect(rows.map(([, n]) => n)).toEqual(dangerous.map(() => '-5'));
});

test('CSV for programs has every text as it is, without a byte order mark', async () => {
  const names = ['=1+1', '-1', "'-1", '@SUM(A1)', '"=1', '', null];
  const csv = await collect(
    renderCsv(
      columns,
      names.map((name) => ({ name, n: -5 })),
      'program',
    ),
  );
  expect(csv.toString('utf8')).toBe(
    `"name","n"\r\n"=1+1",-5\r\n"-1",-5\r\n"'-1",-5\r\n"@SUM(A1)",-5\r\n"""=1",-5\r\n"",-5\r\n,-5\r\n`,
  );
});

test('CSV is read back as written: quotes, line ends, a lone CR, umlauts, empty and missing values', async () => {
  const names = ['a "quoted" one', 'two\nlines', 'lone\rreturn', 'Größe, €', '', null];
  const csv = await collect(
    renderCsv(
      columns,
      names.map((name) => ({ name, n: 1 })),
    ),
  );
  const rows = parse(csv, { bom: true, from_line: 2, record_delimiter: '\r\n' });
  expect(rows.map(([name]) => name)).toEqual(names.map((name) => name ?? ''));
  expect(csv.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
});

test('CSV of a hundred thousand rows is streamed, not collected first', async () => {
  let ahead = 0;
  let furthest = 0;
  let taken = 0;
  async function* rows() {
    for (let n = 0; n < 100_000; n += 1) {
      ahead = n - taken;
      furthest = Math.max(furthest, ahead);
      yield { name: `row ${n}`, n };
    }
  }
  for await (const piece of renderCsv(columns, rows())) taken += piece.toString().split('\r\n').length - 1;
  expect(taken).toBe(100_001);
  expect(furthest).toBeLessThan(10_000);
});

test('an error while rows are read ends the CSV with that error', async () => {
  async function* rows() {
    yield { name: 'one', n: 1 };
    throw new Error('the database went away');
  }
  await expect(collect(renderCsv(columns, rows()))).rejects.toThrow('the database went away');
});

test('JSON with a streamed list is the JSON of the same object', async () => {
  async function* items() {
    for (let i = 0; i < 5000; i += 1) yield { i, text: 'ü"\n' };
  }
  async function* none() {}
  const text = await collect(
    renderJson({ a: { b: [1, null] }, items: items(), none: none(), left: undefined, last: 'x' }),
  );
  const expected = {
    a: { b: [1, null] },
    items: Array.from({ length: 5000 }, (_, i) => ({ i, text: 'ü"\n' })),
    none: [],
    last: 'x',
  };
  expect(JSON.parse(text.toString('utf8'))).toEqual(expected);
});

test('a PDF has the same bytes, whatever was drawn before it in the process', async () => {
  // U+FB01 and the ligature of f and i are one glyph.
  const other: Block[] = [{ block: 'paragraph', text: '\ufb01 中' }];
  const plain: Block[] = [{ block: 'paragraph', text: 'a fish 中文' }];
  vi.resetModules();
  const { renderPdf: freshly } = await import('../../reports/render/pdf.ts');
  await collect(freshly(frame, other));
  const after = await collect(freshly(frame, plain));
  vi.resetModules();
  const { renderPdf: alone } = await import('../../reports/render/pdf.ts');
  expect(after.equals(await collect(alone(frame, plain)))).toBe(true);
  expect(pdfText(after)).toContain('a fish 中文');
});

test('an archive holds its files in order, and the same files give the same bytes', async () => {
  const files = () => ['b.txt', 'a.txt'].map((name) => ({ name, content: pieces(`content of ${name} `.repeat(1000)) }));
  const one = await collect(renderZip(files(), '2026-07-01T10:00:00.000Z'));
  anHourLater();
  const two = await collect(renderZip(files(), '2026-07-01T10:00:00.000Z'));
  expect(one.equals(two)).toBe(true);
  expect(zipNames(one)).toEqual(['b.txt', 'a.txt']);
  expect(zipFile(one, 'a.txt').toString()).toBe('content of a.txt '.repeat(1000));
});

test('an archive has the same bytes in every time zone, even in an hour that one of them skips', async () => {
  const machine = process.env.TZ;
  onTestFinished(() => {
    if (machine === undefined) delete process.env.TZ;
    else process.env.TZ = machine;
  });
  const archives: string[] = [];
  for (const zone of ['UTC', 'America/New_York', 'Asia/Kathmandu']) {
    process.env.TZ = zone;
    const archive = await collect(renderZip([{ name: 'a', content: pieces('a') }], '2026-03-08T02:30:00.000Z'));
    archives.push(archive.toString('hex'));
  }
  expect(new Set(archives).size).toBe(1);
});

test('an archive reads one file at a time, and closes it when the reader of the archive goes away', async () => {
  const said: string[] = [];
  async function* content(name: string): AsyncGenerator<Uint8Array> {
    said.push(`${name} opened`);
    try {
      for (let i = 0; i < 1000; i += 1) yield randomBytes(65_536);
    } finally {
      said.push(`${name} closed`);
    }
  }
  for await (const _ of renderZip(
    ['a', 'b'].map((name) => ({ name, content: content(name) })),
    frame.createdAt,
  ))
    break;
  await vi.waitFor(() => expect(said).toEqual(['a opened', 'a closed']), PATIENTLY);
});

test('an error inside a file of an archive ends the archive with that error, and two files of one name are refused', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    throw new Error('cannot go on');
  }
  await expect(collect(renderZip([{ name: 'x', content: broken() }], frame.createdAt))).rejects.toThrow('cannot go on');
  const twice = ['x', 'x'].map((name) => ({ name, content: pieces('y') }));
  await expect(collect(renderZip(twice, frame.createdAt))).rejects.toThrow('two files of the archive are named x');
});

test('a PDF is tagged, A4, has only embedded fonts, and repeats header, footer and table head on every page', async () => {
  const file = await pdf([{ block: 'title', text: 'Big title' }, table(120)]);
  const info = pdfInfo(file);
  expect(info).toMatch(/Tagged:\s+yes/);
  expect(info).toMatch(/Page size:\s+595\.28 x 841\.89 pts \(A4\)/);
  const fonts = pdfFonts(file).trim().split('\n').slice(2);
  expect(fonts.length).toBeGreaterThan(1);
  for (const font of fonts) expect(font).toMatch(/DejaVu.*\byes yes yes\b/);
  const pages = pdfText(file).trimEnd().split('\f');
  expect(pages.length).toBeGreaterThan(2);
  pages.forEach((page, i) => {
    expect(page).toContain('Förster & Söhne');
    expect(page).toContain('Document 3f2a · as of entry 12');
    expect(page).toContain(`Page ${i + 1} of ${pages.length}`);
    expect(page).toMatch(/Word\s+Figure/);
  });
  for (let i = 0; i < 120; i += 1) expect(pages.join('\n')).toMatch(new RegExp(`row ${i}\\s+${i}\\b`));
  const tags = pdfInfo(file, '-struct');
  for (const tag of ['Document', 'H1', 'Table', 'Caption', 'TR', 'TH', 'TD']) expect(tags).toContain(tag);
  // A screen reader reads the head once, however often it is printed.
  expect(tags.match(/\bTH\b/g)).toHaveLength(2);
});

test('a table longer than half a page begins in place, and a shorter one is kept whole', async () => {
  const pageOf = async (rows: number, lines: number) => {
    const above = Array.from({ length: lines }, (): Block => ({ block: 'paragraph', text: 'Above.' }));
    const tall = {
      ...table(0),
      rows: Array.from({ length: rows }, (_, n) => [`row ${n}\nwith\nthree lines`, '1']),
    } as Block;
    const pages = pdfText(await pdf([...above, tall])).split('\f');
    return pages.findIndex((page) => page.includes('row 0')) + 1;
  };
  expect(await pageOf(12, 12)).toBe(1);
  expect(await pageOf(6, 28)).toBe(2);
});

test('a column of ids is as wide as its widest id, and an id wider than a third of the table is broken at a hyphen', async () => {
  const ids = ['harbour-finch-366', 'harbour-and-finch-in-the-middle-of-nowhere-limited-4711'];
  const of = (id: string): Block => ({
    ...{ block: 'table', caption: 'Cases', rows: [[id, 'x', 'y']], empty: '' },
    columns: [{ title: 'Case', share: 1, whole: true }, ...['One', 'Two'].map((title) => ({ title, share: 5 }))],
  });
  expect(pdfText(await pdf([of(ids[0] ?? '')]))).toContain(ids[0]);
  const cut = pdfText(await pdf([of(ids[1] ?? '')]));
  expect(cut).toMatch(/harbour-and-finch-in-the-[a-z-]*-\s/);
  expect(cut).toContain('4711');
});

test('an id stays on one line, wherever it falls, and a long word may still break at its hyphen', async () => {
  const [id, word] = ['acme-shop-12', 'Cookie-Einstellungen'];
  const blocks = Array.from(
    { length: 60 },
    (_, n): Block => ({ block: 'paragraph', text: `${'i'.repeat(140 + n)} ${id}.` }),
  );
  const words = blocks.map(
    (block): Block => ({ ...block, text: (block as { text: string }).text.replace(id, word) }) as Block,
  );
  const text = pdfText(await pdf([...blocks, ...words]));
  expect(text.split(id)).toHaveLength(61);
  expect(text).toMatch(/Cookie-\n/);
});

test('SAMPLE is printed on every page', async () => {
  const pages = pdfText(await pdf([table(120)], { watermark: 'SAMPLE' }))
    .trimEnd()
    .split('\f');
  expect(pages.length).toBeGreaterThan(2);
  for (const page of pages) expect(page).toContain('SAMPLE');
  const letter = pdfText(await pdf([table(120)], { watermark: 'SAMPLE', kind: 'letter' }))
    .trimEnd()
    .split('\f');
  for (const page of letter) expect(page).toContain('SAMPLE');
  expect(await html([], { watermark: 'SAMPLE' })).toContain('<div class="watermark">SAMPLE</div>');
});

test('a row that is taller than a page is split, not lost', async () => {
  const words = Array.from({ length: 3000 }, (_, i) => `w${i}`);
  const text = pdfText(await pdf([{ ...table(0), rows: [[words.join(' '), '1']] } as Block]));
  expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(text))).toEqual([]);
});

test('a heading is never alone at the foot of a page', async () => {
  for (let lines = 30; lines < 48; lines += 1) {
    const file = await pdf([
      ...Array.from({ length: lines }, (_, i): Block => ({ block: 'lines', lines: [`line ${i}`] })),
      { block: 'heading', level: 1, text: 'The heading' },
      table(8),
    ]);
    const page = pdfText(file)
      .split('\f')
      .find((one) => one.includes('The heading'));
    expect(page).toContain('row 7');
  }
});

test('Chinese, Japanese, Korean and emoji are printed, in every part of a document', async () => {
  const text = 'Tanaka 田中 ひらがな 個人情報 同意 한국어 🍪👍 end';
  const file = await pdf([{ block: 'paragraph', text }, { ...table(0), rows: [[text, '1']] } as Block], {
    owner: text,
  });
  const read = pdfText(file).replace(/\s+/g, ' ');
  for (const word of ['田中', 'ひらがな', '個人情報', '同意', '한국어', '🍪', 'end']) expect(read).toContain(word);
});

test('right-to-left text is laid out in its order, next to numbers, brackets and other scripts', async () => {
  const { runs, broken } = createTypesetter(new PDFDocument());
  const seen = (line: string) => runs(line, 'regular').map(({ text }) => text);
  expect(seen('Name: שלום עולם end')).toEqual(['Name: ', 'עולם', ' ', 'שלום', ' end']);
  // The letters of a run are in reading order, and the font draws them reversed, so its brackets are mirrored.
  expect(seen('שלום 12 (אב)')).toEqual([')אב(', ' ', '12', ' ', 'שלום']);
  expect(seen('שלום 同意')).toEqual(['同意', ' ', 'שלום']);
  expect(runs('aשב', 'mono')).toEqual([
    { text: 'a', font: 'mono' },
    { text: 'שב', font: 'regular' },
  ]);
  // A line has the direction of the text that it is part of.
  expect(seen('עולם end.')).toEqual(['.', 'end', ' ', 'עולם']);
  broken('First שלום עולם end.', ['First שלום', 'עולם end.']);
  expect(seen('עולם end.')).toEqual(['עולם', ' end.']);
  const read = pdfText(await pdf([{ block: 'paragraph', text: 'مرحبا بالعالم' }])).normalize('NFKC');
  expect(read).toContain('مرحبا بالعالم');
});

test('a character that no font has is shown by its code point, even in a letter', async () => {
  const rune = '\u{1F1E9}\u{10A60}\u{E0041}';
  expect(pdfText(await pdf([{ block: 'paragraph', text: `a${rune}b` }], { owner: rune }))).toContain('�[U+E0041]b');
  const letter = pdfText(await pdf([{ block: 'paragraph', text: rune }], { kind: 'letter' }));
  expect(letter).toContain('�[U+E0041]');
  expect(await unprintableIn([{ block: 'paragraph', text: `Ł花${rune}` }])).toEqual(['\u{10A60}', '\u{E0041}']);
  expect(await html([{ block: 'paragraph', text: rune }])).toContain(rune);
  expect(pdfText(await pdf([{ block: 'paragraph', text: 'Łódź, Ελλάδα, Київ, Việt Nam, “€” – ✓' }]))).toContain(
    'Łódź, Ελλάδα, Київ, Việt Nam, “€” – ✓',
  );
});

test('no text prevents a document', async () => {
  const texts = fc.array(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }), {
    minLength: 30,
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(texts, async (rows) => {
      const file = await pdf([{ ...table(0), rows: rows.map((text) => [text, text]) } as Block]);
      expect(file.subarray(0, 5).toString('latin1')).toBe('%PDF-');
    }),
    { numRuns: 3 },
  );
});

test('digits of a right-to-left script are read from left to right', () => {
  const { runs } = createTypesetter(new PDFDocument());
  for (const digits of ['۱۲۳۴', '١٢٣٤'])
    expect(
      runs(`سال ${digits}`, 'regular')
        .map(({ text }) => text)
        .join('')
        .trim(),
    ).toContain(digits);
  const [alone] = runs('سال ۱۲', 'regular');
  expect(alone?.text).toBe('۱');
});

test('a text that a font cannot set as a whole is still set, and marks cover no other line', async () => {
  expect(visibleText(`a${'\u0300'.repeat(500)}b`)).toBe(`à${'\u0300'.repeat(4)}[495 more marks]b`);
  const blocks = ['paragraph', 'verbatim'].flatMap((block) =>
    ['a\u0300', 'م\u064b\u0651', 'ש\u05b8\u05c1', '分\u0301', '\u0301'].map(
      (text) => ({ block, text: `${text}${text.slice(-1).repeat(12)}lgo` }) as Block,
    ),
  );
  expect((await pdf(blocks)).subarray(0, 5).toString('latin1')).toBe('%PDF-');
});

test('Telugu letters written one below another are not separated, and a mark without a letter stays in its column', () => {
  const typesetter = createTypesetter(new PDFDocument());
  expect(typesetter.runs('ప్రకటన', 'regular').map(({ text }) => text)).toEqual(['ప్రకటన']);
  expect(typesetter.printable('\u0301\u0308lone \u0301', 'regular')).toBe('◌\u0301\u0308lone ◌\u0301');
});

test('the work for a long word grows linearly with its length', async () => {
  for (const word of ['x', '分', 'a-', '1-', 'a/']) {
    const measured = async (length: number) => {
      const before = computed();
      await pdf([{ ...table(0), rows: [[word.repeat(length / word.length), 'x']] } as Block]);
      return computed() - before;
    };
    await measured(100);
    // Quadratic growth would take 64 times as long.
    expect(await measured(8000), word).toBeLessThan(30 * (await measured(1000)));
  }
});

test('Persian keeps its non-joiners, and emoji of several parts are shown part by part', () => {
  expect(visibleText('می\u200cخواهم')).toBe('می\u200cخواهم');
  expect(visibleText('pay\u200cpal')).toBe('pay[U+200C]pal');
  expect(visibleText('👩🏽\u200d💻')).toBe('👩🏽💻');
  expect(visibleText('a\u200db')).toBe('a[U+200D]b');
});

test('control characters and direction marks are made visible', async () => {
  const text = pdfText(await pdf([{ block: 'paragraph', text: 'a\u0000b\u001b[31m \u202Egpj.exe' }]));
  expect(text).toContain('a[U+0000]b[U+001B][31m [U+202E]gpj.exe');
  expect(await html([{ block: 'paragraph', text: 'a\u202Eb' }])).toContain('a[U+202E]b');
});

test('HTML escapes its content, runs no script and loads nothing', async () => {
  const bad = '<script>alert(1)</script>"&\'';
  const page = await html(
    [
      { block: 'title', text: bad, subtitle: bad },
      { block: 'heading', level: 1, text: bad },
      { block: 'facts', pairs: [[bad, bad]] },
      { block: 'notice', tone: 'warning', title: bad, text: bad, items: [bad] },
      { block: 'verbatim', text: bad },
      { ...table(0), caption: bad, rows: [[bad, bad]] } as Block,
      {
        block: 'chart',
        chart: { ...chart, title: bad, description: bad, series: [{ name: bad, colour: '#000000', values: [1, 2] }] },
      },
    ],
    { title: bad, owner: bad, footer: bad },
  );
  expect(page).not.toContain('<script');
  expect(page.match(/&lt;script>/g)?.length ?? 0).toBeGreaterThan(12);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/\s(?:src|href)=/);
});

const chart: StackedBars = {
  title: 'Bars',
  description: 'Two bars',
  xTitle: 'Day',
  yTitle: 'Count',
  categories: ['1 Jun', '2 Jun'],
  series: [
    { name: 'lower', colour: '#111111', values: [10, 20] },
    { name: 'upper', colour: '#222222', values: [30, 0] },
  ],
};

test('bars are as high as their values and stacked; nothing is drawn for zero', () => {
  const bars = layOutStackedBars(chart, 400, 200).flatMap((mark) => {
    const box =
      mark.mark === 'path' && mark.stroke === '#ffffff' ? /^M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)/.exec(mark.d) : null;
    return box === null || mark.mark !== 'path'
      ? []
      : [{ colour: mark.fill, bottom: Number(box[2]), top: Number(box[4]) }];
  });
  expect(bars.map(({ colour }) => colour)).toEqual(['#111111', '#111111', '#222222']);
  const [first, second, upper] = bars.map(({ bottom, top }) => bottom - top) as [number, number, number];
  expect(second / first).toBeCloseTo(2, 1);
  expect(upper / first).toBeCloseTo(3, 1);
  expect(bars[2]?.bottom).toBeCloseTo(bars[0]?.top ?? 0, 1);
});

test('a chart names its axes and its series, in the PDF and as SVG', async () => {
  const text = pdfText(await pdf([{ block: 'chart', chart }]));
  const page = await html([{ block: 'chart', chart }]);
  for (const word of ['Bars', 'Day', 'Count', 'lower', 'upper', '1 Jun', '2 Jun']) {
    expect(text).toContain(word);
    expect(page).toContain(word);
  }
  expect(page).toContain('<desc id="chart-1">Two bars</desc>');
  expect(pdfInfo(await pdf([{ block: 'chart', chart }]), '-struct')).toMatch(/Figure/);
});

test('the same blocks give the same PDF, whatever the time', async () => {
  const blocks: Block[] = [{ block: 'title', text: 'T' }, { block: 'chart', chart }, table(90)];
  const one = await pdf(blocks, { watermark: 'SAMPLE' });
  anHourLater();
  expect((await pdf(blocks, { watermark: 'SAMPLE' })).equals(one)).toBe(true);
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < text.length; i += 1000) yield Buffer.from(text.slice(i, i + 1000));
}
