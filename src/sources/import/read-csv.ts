import { CsvError, parse } from 'csv-parse/sync';
import { type ImportColumnName, importColumns } from './columns.ts';

/** Something wrong in the file. `line` counts from 1, the header's; null: the file as a whole. Never repeats a cell that may hold a secret. */
export interface ImportProblem {
  readonly line: number | null;
  readonly slug: string | null;
  readonly column: string | null;
  readonly problem: string;
}

/** The cells of one line that are not empty. */
export interface CsvLine {
  readonly line: number;
  readonly cells: Readonly<Partial<Record<ImportColumnName, string>>>;
}

/** Largest file, and most lines and columns, that are taken. */
export const importLimits = { bytes: 5 * 1024 * 1024, lines: 10_000, columns: 200 } as const;

const names = new Map<string, ImportColumnName>(importColumns.map(({ name }) => [name, name]));

/** Reads a CSV file (RFC 4180) with commas, semicolons or tabs, with or without a byte order mark, in UTF-8. Throws nothing. */
export function readImportCsv(bytes: Uint8Array): {
  readonly lines: readonly CsvLine[];
  readonly problems: readonly ImportProblem[];
} {
  const ofFile = (problem: string, line: number | null = null) => ({
    lines: [],
    problems: [{ line, slug: null, column: null, problem }],
  });
  if (bytes.length > importLimits.bytes)
    return ofFile(`The file is larger than ${importLimits.bytes} bytes: split it.`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return ofFile('The file is not UTF-8: save it as “CSV UTF-8”.');
  }
  const head = text.slice(0, /\r|\n/.exec(text)?.index ?? text.length);
  let records: { record: string[]; info: { lines: number } }[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimiterOf(head),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    // The parser's own words quote what they stumbled over.
    const line = error instanceof CsvError && typeof error['lines'] === 'number' ? error['lines'] : null;
    return ofFile('Invalid CSV: unclosed or unescaped quote.', line);
  }
  const [header, ...rest] = records;
  if (header === undefined) return ofFile('The file is empty: `source import --template` prints an example.');
  const problems: ImportProblem[] = [];
  if (header.record.length > importLimits.columns)
    return ofFile(
      `The first line has ${header.record.length} cells; there are ${names.size} columns.`,
      header.info.lines,
    );
  const columns = header.record.map((cell) => names.get(cell.toLowerCase().replace(/[\s-]+/g, '_')) ?? null);
  // A file without a header has secrets where the names should be: nothing of it is repeated then.
  if (columns.every((name) => name === null))
    return ofFile(
      `The first line is not a header: it has no known column. Valid columns are ${[...names.keys()].join(', ')}.`,
      header.info.lines,
    );
  for (const [place, cell] of header.record.entries())
    if (columns[place] === null)
      problems.push({
        line: header.info.lines,
        slug: null,
        column: null,
        problem: `There is no column ${/^[a-z][a-z _-]{0,39}$/i.test(cell) ? JSON.stringify(cell) : `like number ${place + 1} of this file`}. The columns are ${[...names.keys()].join(', ')}.`,
      });
  const twice = columns.filter((name, place) => name !== null && columns.indexOf(name) !== place);
  for (const column of new Set(twice))
    problems.push({ line: header.info.lines, slug: null, column, problem: 'Duplicate column.' });
  if (!columns.includes('slug'))
    problems.push({ line: header.info.lines, slug: null, column: 'slug', problem: 'The column slug is missing.' });
  if (problems.length > 0) return { lines: [], problems };
  if (rest.length > importLimits.lines) return ofFile(`The file has more than ${importLimits.lines} lines: split it.`);
  const lines = rest.flatMap(({ record, info }): CsvLine[] => {
    const cells: Partial<Record<ImportColumnName, string>> = {};
    for (const [place, cell] of record.entries()) {
      const name = columns[place];
      if (cell === '') continue;
      if (name === undefined || name === null) {
        problems.push({
          line: info.lines,
          slug: null,
          column: null,
          problem: `The line has ${record.length} cells and the header ${columns.length}.`,
        });
        return [];
      }
      cells[name] = cell;
    }
    return [{ line: info.lines, cells }];
  });
  return { lines, problems };
}

function delimiterOf(head: string): string {
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, n: head.split(delimiter).length }));
  return counts.reduce((best, one) => (one.n > best.n ? one : best)).delimiter;
}
