import { CsvError, parse } from 'csv-parse/sync';

/** A column of the file that `source import` reads. */
interface ImportColumn {
  readonly name: string;
  readonly what: string;
  readonly example: string;
}

/** All columns in the order of the template. Only `slug` is required; several values in one cell are separated by spaces. */
export const importColumns = [
  {
    name: 'slug',
    what: 'short name, part of the webhook address: lower-case letters, digits, hyphens (required)',
    example: 'acme-shop',
  },
  { name: 'name', what: 'display name', example: 'Acme Shop' },
  {
    name: 'base_url',
    what: 'API root of the service, ending in /api/v1',
    example: 'https://service.example/api/v1',
  },
  { name: 'site_url', what: 'public origin of the service', example: 'https://service.example' },
  { name: 'api_key', what: 'API key (pak_live_…); prefer api_key_file or api_key_env', example: '' },
  { name: 'api_key_file', what: 'API key: read from this file', example: 'secrets/acme-shop.key' },
  { name: 'api_key_env', what: 'API key: read from this environment variable', example: '' },
  { name: 'site_key', what: 'site key (pk_…)', example: '' },
  { name: 'site_key_file', what: 'site key: read from this file', example: '' },
  { name: 'site_key_env', what: 'site key: read from this environment variable', example: '' },
  { name: 'webhook_secrets', what: 'signing secrets, all of them accepted', example: '' },
  {
    name: 'webhook_secrets_file',
    what: 'signing secrets: read from this file, one per line',
    example: 'secrets/acme-shop.webhook',
  },
  { name: 'webhook_secrets_env', what: 'signing secrets: read from this environment variable', example: '' },
  { name: 'secret_encoding', what: 'encoding of the signing secrets: text (default), hex or base64', example: '' },
  { name: 'banners', what: 'ids of the banners whose consent log is pulled', example: 'bnr_1 bnr_2' },
  {
    name: 'field_names',
    what: 'names of payload fields at this source: field=name,name …',
    example: 'subject=visitor.key bannerId=widget',
  },
  { name: 'assumed_offset', what: 'UTC offset of times without one, ±hh:mm', example: '+00:00' },
  { name: 'controller_file', what: 'controller profile of this source', example: '' },
  {
    name: 'controller_name',
    what: 'organisation behind this source: gives it a controller profile of its own',
    example: 'Acme Shop Ltd',
  },
  { name: 'controller_address', what: 'its postal address, lines separated by |', example: '1 High Street | London' },
  { name: 'controller_country', what: 'country of its establishment, two letters', example: 'GB' },
  { name: 'controller_region', what: 'region, if holidays differ by region, such as BE for Berlin', example: '' },
  { name: 'controller_email', what: 'its e-mail address for requests', example: 'privacy@shop.example' },
  { name: 'controller_dpo', what: 'its data protection officer', example: '' },
  { name: 'controller_language', what: 'language of its profile and letters, such as de', example: 'en' },
  {
    name: 'controller_home_law',
    what: 'id of a second law under which it answers everyone, such as uk-gdpr',
    example: '',
  },
  {
    name: 'subject_recipe_file',
    what: 'JSON: how this source hashes e-mail addresses (algorithm, normalise, salt)',
    example: '',
  },
] as const satisfies readonly ImportColumn[];
export type ImportColumnName = (typeof importColumns)[number]['name'];

/** Describes a setting of a source; also used for the flags of `source add` and `source change`. */
export function settingText(name: ImportColumnName): string {
  return importColumns.find((column) => column.name === name)?.what ?? name;
}

/** A file to start from: the header, and one example line. Contains no secret. */
export function importTemplate(isWanted: (name: ImportColumnName) => boolean = () => true): string {
  const columns = importColumns.filter(({ name }) => isWanted(name));
  return `${columns.map(({ name }) => name).join(',')}\n${columns.map(({ example }) => quoted(example)).join(',')}\n`;
}

function quoted(cell: string): string {
  return /[",\s]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * A problem in the file. `line` counts from 1, the header's; null: the whole file. Never repeats a cell that may
 * contain a secret.
 */
export interface ImportProblem {
  readonly line: number | null;
  readonly slug: string | null;
  readonly column: string | null;
  readonly problem: string;
}

/** The non-empty cells of one line. */
export interface CsvLine {
  readonly line: number;
  readonly cells: Readonly<Partial<Record<ImportColumnName, string>>>;
}

/** Maximum file size, lines, columns, and line length in characters. */
export const importLimits = { bytes: 5 * 1024 * 1024, lines: 10_000, columns: 200, line: 64 * 1024 } as const;

const names = new Map<string, ImportColumnName>(importColumns.map(({ name }) => [name, name]));

/** Reads a CSV file (RFC 4180) with commas, semicolons or tabs, with or without a byte order mark, in UTF-8. Throws nothing. */
export function readImportCsv(
  bytes: Uint8Array,
  maxLines: number = importLimits.lines,
): {
  readonly lines: readonly CsvLine[];
  readonly problems: readonly ImportProblem[];
} {
  try {
    const [header, ...rest] = parseRecords(decode(bytes), maxLines);
    if (header === undefined)
      throw new UnreadableFile('The file is empty: its first line names the columns, as in the example file.');
    const { columns, problems } = readHeader(header);
    if (problems.length > 0) return { lines: [], problems };
    if (rest.length > maxLines) throw new UnreadableFile(`The file has more than ${maxLines} lines: split it.`);
    return readLines(rest, columns);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return { lines: [], problems: [problemAt(error.line, error.message)] };
  }
}

/** The file cannot be used at all. */
class UnreadableFile extends Error {
  readonly line: number | null;
  constructor(problem: string, line: number | null = null) {
    super(problem);
    this.line = line;
  }
}

const problemAt = (line: number | null, problem: string, column: string | null = null): ImportProblem => ({
  line,
  slug: null,
  column,
  problem,
});

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > importLimits.bytes)
    throw new UnreadableFile(`The file is larger than ${importLimits.bytes} bytes: split it.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile('The file is not UTF-8: save it as “CSV UTF-8”.');
  }
}

function parseRecords(text: string, maxLines: number): readonly CsvRecord[] {
  const head = text.slice(0, importLimits.line).split(/[\r\n]/, 1)[0] ?? '';
  try {
    return parse(text, {
      bom: true,
      delimiter: delimiterOf(head),
      info: true,
      relax_column_count: true,
      // The header, and one line more than the maximum.
      to: maxLines + 2,
      max_record_size: importLimits.line,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    }) as unknown as readonly CsvRecord[];
  } catch (error) {
    // The parser's messages quote the text in question.
    const line = error instanceof CsvError && typeof error['lines'] === 'number' ? error['lines'] : null;
    const isLong = error instanceof CsvError && error.code === 'CSV_MAX_RECORD_SIZE';
    throw new UnreadableFile(
      isLong
        ? `A line is longer than ${importLimits.line} characters, or a quote in it is not closed.`
        : 'Invalid CSV: unclosed or unescaped quote.',
      line,
    );
  }
}

type Columns = readonly (ImportColumnName | null)[];

function readHeader({ record, info: { lines: line } }: CsvRecord): {
  readonly columns: Columns;
  readonly problems: readonly ImportProblem[];
} {
  const all = [...names.keys()].join(', ');
  if (record.length > importLimits.columns)
    throw new UnreadableFile(`The first line has ${record.length} cells; there are ${names.size} columns.`, line);
  const columns = record.map((cell) => names.get(cell.toLowerCase().replace(/[\s-]+/g, '_')) ?? null);
  // A file without a header has secrets in the first line, so none of it is repeated.
  if (columns.every((name) => name === null))
    throw new UnreadableFile(`The first line is not a header: it has no known column. Valid columns are ${all}.`, line);
  const problems: ImportProblem[] = [];
  for (const [place, cell] of record.entries()) {
    if (columns[place] !== null) continue;
    const shown = /^[a-z][a-z _-]{0,39}$/i.test(cell) ? JSON.stringify(cell) : `number ${place + 1}`;
    problems.push(problemAt(line, `Unknown column ${shown}: use ${all}.`));
  }
  const twice = columns.filter((name, place) => name !== null && columns.indexOf(name) !== place);
  for (const column of new Set(twice)) problems.push(problemAt(line, 'Duplicate column.', column));
  if (!columns.includes('slug')) problems.push(problemAt(line, 'The column slug is missing.', 'slug'));
  return { columns, problems };
}

function readLines(
  records: readonly CsvRecord[],
  columns: Columns,
): { readonly lines: readonly CsvLine[]; readonly problems: readonly ImportProblem[] } {
  const problems: ImportProblem[] = [];
  const lines = records.flatMap(({ record, info: { lines: line } }): CsvLine[] => {
    const cells: Partial<Record<ImportColumnName, string>> = {};
    for (const [place, cell] of record.entries()) {
      if (cell === '') continue;
      const name = columns[place] ?? null;
      if (name === null) {
        problems.push(problemAt(line, `The line has ${record.length} cells and the header ${columns.length}.`));
        return [];
      }
      cells[name] = cell;
    }
    return [{ line, cells }];
  });
  return { lines, problems };
}

function delimiterOf(head: string): string {
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, n: head.split(delimiter).length }));
  return counts.reduce((best, one) => (one.n > best.n ? one : best)).delimiter;
}
