import { isWellFormed } from '../crypto/canonical.ts';

/**
 * Fields of a row that tell about the answer and not about the decision, at any depth: they change each time the row is read, so they
 * are no part of what makes a row the same row (docs/assumptions.md, Consent log rows). A row stays in the ledger with all its bytes.
 *
 * Add a name only with care: rows that were pulled before and have such a field count as new once.
 */
export const volatileFields: ReadonlySet<string> = new Set(
  [
    'fetched_at',
    'retrieved_at',
    'exported_at',
    'served_at',
    'generated_at',
    'synced_at',
    'request_id',
    'response_id',
    'export_id',
    'trace_id',
  ].flatMap((name) => [name, name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]),
);

/**
 * What makes a row the same row: RFC 8785 canonical JSON of a value that came out of JSON.parse, without the volatile fields. Null where it has
 * no canonical form (a lone surrogate), or is nested too deeply to tell.
 *
 * By hand because a pull spends most of its time here: a quarter of what the library takes after a copy without the volatile fields; a
 * property-based test holds the two together.
 */
export function canonicalContent(value: unknown, leftOut: ReadonlySet<string> = volatileFields): string | null {
  try {
    return write(value, leftOut);
  } catch (error) {
    if (error === noCanonicalForm || error instanceof RangeError) return null;
    throw error;
  }
}

const noCanonicalForm = new TypeError('a string holds a lone surrogate');

function write(value: unknown, leftOut: ReadonlySet<string>): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? write(item, leftOut) : `,${write(item, leftOut)}`;
    return `[${text}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields).sort()) {
    if (leftOut.has(key)) continue;
    text += `${text === '' ? '' : ','}${quoted(key)}:${write(fields[key], leftOut)}`;
  }
  return `{${text}}`;
}

/** Text that stands for itself between quotes. */
const plain = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  if (!isWellFormed(text)) throw noCanonicalForm;
  return JSON.stringify(text);
}
