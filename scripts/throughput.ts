import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scaleLinear } from 'd3-scale';

/** Draws docs/throughput.svg from the figures of docs/performance.md, by itself (`node --import tsx scripts/throughput.ts`) or with `npm run pictures`. */
const root = join(import.meta.dirname, '..');

interface Bar {
  readonly name: string;
  readonly note: string;
  readonly colour: string;
  /** One figure for each round, in the order of the table. */
  readonly rounds: readonly number[];
}

export function writeThroughput(): void {
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  writeFileSync(join(root, 'docs/throughput.svg'), drawThroughput(page));
}

/**
 * Draws deliveries per second in each round on both databases, next to an application that only checks signatures.
 * Throws if the page has no such table.
 */
export function drawThroughput(page: string): string {
  const [kept, baseline] = [cellsOf(page, 'deliveries a second'), cellsOf(page, 'baseline')];
  const bars = ['SQLite', 'PostgreSQL'].flatMap((database, n): Bar[] => [
    { name: database, note: 'kept, synced to disk', colour: '#1f5a94', rounds: kept[n] ?? [] },
    { name: 'Baseline', note: 'checks signatures only', colour: '#94a3b8', rounds: baseline[n] ?? [] },
  ]);
  const [left, right, top, row] = [200, 900, 70, 58];
  const bottom = top + bars.length * row;
  const x = scaleLinear()
    .domain([0, Math.max(...bars.flatMap(({ rounds }) => rounds))])
    .nice(5)
    .range([left, right]);
  const words = bars.map(({ name, rounds }) => `${name} ${rounds.map(grouped).join(', ')}`).join('; ');
  const title = 'Deliveries received per second, each round and the median';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 ${bottom + 50}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="14" role="img" aria-label="${title}: ${words}.">`,
    '  <style>.h{fill:#1e293b;font-size:16px;font-weight:600}.t{fill:#1e293b}.s{fill:#475569;font-size:12px}.g{stroke:#cbd5e1}.r{fill:#fff;stroke:#1e293b;stroke-width:1.4}</style>',
    `  <rect width="960" height="${bottom + 50}" fill="#fff"/>`,
    `  <text class="h" x="20" y="34">${title}</text>`,
    ...x
      .ticks(5)
      .map(
        (tick) =>
          `  <path class="g" d="M${at(x(tick))} ${top - 8}V${bottom}"/><text class="s" x="${at(x(tick))}" y="${bottom + 20}" text-anchor="middle">${grouped(tick)}</text>`,
      ),
    ...bars.flatMap(({ name, note, colour, rounds }, n) => {
      const y = top + n * row + (n % 2 === 0 ? 8 : 0);
      const median = [...rounds].sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
      return [
        `  <text class="t" x="20" y="${y + 16}">${name}</text><text class="s" x="20" y="${y + 33}">${note}</text>`,
        `  <rect x="${left}" y="${y}" width="${at(x(median) - left)}" height="36" rx="3" fill="${colour}"/><text x="${left + 10}" y="${y + 23}" fill="${n % 2 === 0 ? '#fff' : '#1e293b'}" font-weight="600">${grouped(median)}</text>`,
        ...rounds.map((rate) => `  <circle class="r" cx="${at(x(rate))}" cy="${y + 18}" r="4"/>`),
      ];
    }),
    '</svg>',
    '',
  ].join('\n');
}

/** The figures in the two columns of the first table row with this name. */
function cellsOf(page: string, name: string): readonly (readonly number[])[] {
  const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`));
  const cells = row?.split('|').slice(2, 4) ?? [];
  const figures = cells.map((cell) => cell.split('·').map((figure) => Number(figure.replaceAll(',', ''))));
  if (figures.length !== 2 || !figures.flat().every((figure) => figure > 0))
    throw new Error(`docs/performance.md has no row "${name}" with rounds for SQLite and PostgreSQL`);
  return figures;
}

const grouped = (n: number) => n.toLocaleString('en');
const at = (n: number) => Math.round(n * 10) / 10;

if (process.argv[1] === import.meta.filename) writeThroughput();
