import { CsvError, parse } from 'csv-parse/sync';
import { UsageError } from '../core/errors.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { type FormA, formASchema } from './generate.ts';

/** Fields of an item, which are the columns of a bulk file. */
export const formAFields = Object.keys(formASchema.shape) as (keyof FormA)[];

/** Largest file, bytes. */
export const LARGEST_BULK_FILE = 5 * 1024 * 1024;
/** Most items, and longest line of CSV, characters. */
const MOST = 10_000;
const LONGEST_LINE = 64 * 1024;
/** The most problems that are listed; further ones are only counted. */
const NAMED = 20;

/**
 * The items of a bulk file: CSV (RFC 4180, UTF-8; commas, semicolons or tabs) whose columns are the fields of form A,
 * or JSON, an array of such objects or an object with `items` (docs/service.md §4.1, §4.2). Throws UsageError with
 * every problem and its place; `path` is only for the messages.
 */
export function parseBulkItems(bytes: Buffer, path: string): readonly FormA[] {
  if (bytes.length > LARGEST_BULK_FILE)
    throw new UsageError([`${path} is larger than ${LARGEST_BULK_FILE} bytes: split it.`]);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError([`${path} is not UTF-8: save it as “CSV UTF-8”.`]);
  }
  const found = /^\s*[[{]/.test(text) ? fromJson(path, text) : fromCsv(path, text);
  if (found.length === 0) throw new UsageError([`${path} contains no items.`]);
  if (found.length > MOST) throw tooMany(path);
  return checked(path, found);
}

const tooMany = (path: string) =>
  new UsageError([`${path} has more than ${MOST} items, which is the limit: split it.`]);

/** An item before validation, with its place. */
interface Found {
  readonly where: string;
  readonly value: unknown;
}

function checked(path: string, found: readonly Found[]): FormA[] {
  const problems: string[] = [];
  const items: FormA[] = [];
  const before = new Map<string, string>();
  for (const { where, value } of found) {
    const parsed = formASchema.safeParse(value);
    if (parsed.success) {
      const name = canonicalJson(parsed.data).toString('utf8');
      const same = before.get(name);
      if (same !== undefined) problems.push(`${path}, ${where}: duplicate of ${same}; it would be generated twice.`);
      before.set(name, same ?? where);
      items.push(parsed.data);
    } else
      problems.push(
        ...parsed.error.issues.map((issue) => {
          if (issue.code === 'unrecognized_keys')
            return `${path}, ${where}: unknown field ${issue.keys.slice(0, NAMED).join(', ')}${issue.keys.length > NAMED ? ` and ${issue.keys.length - NAMED} more` : ''}; valid fields are ${formAFields.join(', ')}.`;
          const field = issue.path.join('.');
          return `${path}, ${where}: ${field === '' ? 'it' : field} ${isMissing(value, field) ? 'is missing' : issue.message}.`;
        }),
      );
  }
  if (problems.length > NAMED)
    problems.splice(NAMED, problems.length, `${problems.length - NAMED} more problems are not listed.`);
  if (problems.length > 0) throw new UsageError(problems);
  return items;
}

function isMissing(value: unknown, field: string): boolean {
  return typeof value === 'object' && value !== null && field !== '' && !Object.hasOwn(value, field);
}

function fromJson(path: string, text: string): Found[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UsageError([`${path} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`]);
  }
  const list = Array.isArray(json) ? (json as unknown[]) : (json as { items?: unknown }).items;
  if (!Array.isArray(list)) throw new UsageError([`${path} must contain an array, or an object with \`items\`.`]);
  if (list.length > MOST) throw tooMany(path);
  return list.map((value: unknown, at) => ({ where: `item ${at + 1}`, value: withoutNothing(value) }));
}

function fromCsv(path: string, text: string): Found[] {
  const head = text.slice(0, LONGEST_LINE).split(/[\r\n]/, 1)[0] ?? '';
  const delimiter = [',', ';', '\t'].reduce((best, one) =>
    head.split(one).length > head.split(best).length ? one : best,
  );
  try {
    const rows = parse(text, {
      bom: true,
      delimiter,
      info: true,
      trim: true,
      // One more than the maximum. Rows that would be refused anyway are not read, nor lines longer than any header or
      // item.
      to: MOST + 1,
      max_record_size: LONGEST_LINE,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      columns: (names: string[]) => names.map((name) => name.toLowerCase().replace(/[\s-]+/g, '_')),
    }) as unknown as { record: Record<string, string>; info: { lines: number } }[];
    return rows.map(({ record, info }) => ({ where: `line ${info.lines}`, value: withoutNothing(record) }));
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError([`${path} is not valid CSV: ${error.message}.`]);
    throw error;
  }
}

/** An empty cell or null counts as missing. */
function withoutNothing(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== '' && one !== null));
}
