import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

/** A column of a CSV file: its heading, and how to get its value from a row. */
export interface CsvColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
}

/** What the reader of a CSV file for spreadsheets has to know. */
export const spreadsheetNote =
  'In CSV files, an apostrophe that is not part of the text precedes what a spreadsheet could run as a formula (=, +, -, @ …). Import all columns as text: a spreadsheet also turns ids into numbers and dates.';

/**
 * Rows as CSV (RFC 4180, UTF-8, CRLF), in constant memory. Every text is quoted; null is an empty field. For spreadsheets,
 * text that they would run as a formula is prefixed with an apostrophe, and the file begins with a byte order mark. For
 * programs, every text is as it is.
 */
export async function* renderCsv<Row>(
  columns: readonly CsvColumn<Row>[],
  rows: Iterable<Row> | AsyncIterable<Row>,
  reader: 'spreadsheet' | 'program' = 'spreadsheet',
): AsyncGenerator<Uint8Array> {
  const csv = stringify({
    header: true,
    columns: columns.map(({ title }) => ({ key: title, header: title })),
    bom: reader === 'spreadsheet',
    escape_formulas: reader === 'spreadsheet',
    quoted_string: true,
    record_delimiter: 'windows',
  });
  // `pipeline` destroys both ends if either fails; the iteration below then throws the error.
  pipeline(Readable.from(cellsOf(columns, rows), { objectMode: true }), csv, () => {});
  for await (const chunk of csv) yield chunk as Uint8Array;
}

async function* cellsOf<Row>(
  columns: readonly CsvColumn<Row>[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): AsyncGenerator<(string | number | null)[]> {
  for await (const row of rows) yield columns.map(({ value }) => value(row));
}

const CHUNK = 16_384;

/** An object as indented JSON. Members that are async iterables become arrays, written as they come, in constant memory. */
export async function* renderJson(members: Readonly<Record<string, unknown>>): AsyncGenerator<Uint8Array> {
  let text = '{';
  let first = true;
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    text += `${first ? '' : ','}\n  ${JSON.stringify(name)}: `;
    first = false;
    if (!isAsyncIterable(value)) {
      text += indent(JSON.stringify(value, null, 2), '  ');
      continue;
    }
    let empty = true;
    text += '[';
    for await (const item of value) {
      text += `${empty ? '' : ','}\n    ${JSON.stringify(item)}`;
      empty = false;
      if (text.length >= CHUNK) {
        yield Buffer.from(text, 'utf8');
        text = '';
      }
    }
    text += empty ? ']' : '\n  ]';
  }
  yield Buffer.from(`${text}${first ? '' : '\n'}}\n`, 'utf8');
}

function indent(json: string, by: string): string {
  return json.replaceAll('\n', `\n${by}`);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
