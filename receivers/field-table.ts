import { envelopes, eventNames, type FieldName, fieldNames } from './field-names.ts';

/** Names of fields per source, tried before the built-in ones (src/core/source.ts, fieldNames). */
type FieldOverrides = Readonly<Record<string, readonly string[]>>;

/** What a family of events asks a payload for. */
export interface Asked {
  /** Names of the object that such an event is about: `{"policy": {…}}`. */
  readonly objects: readonly string[];
  /** The fields it asks for (field-names.ts). */
  readonly fields: readonly FieldName[];
  /** Names besides those of `fields` that it reads, or knows and leaves in the body. */
  readonly alsoReads?: readonly string[];
}

/** Longer keys, in UTF-16 units, never name a field that is read. */
const MAX_KEY = 200;
const MAX_REMEMBERED = 5000;
const normalised = new Map<string, string>();

/**
 * A key without case, `_`, `-` and the like; a key of none but those stays as it is. Of a key of more than 200 characters only
 * its beginning is returned, which matches no field: a payload may hold a key of a megabyte.
 */
export function normaliseName(key: string): string {
  if (key.length > MAX_KEY) return `\0${key.slice(0, MAX_KEY)}`;
  let name = normalised.get(key);
  if (name === undefined) {
    name = key.toLowerCase().replace(/[^a-z0-9]+/g, '') || key;
    // Keys repeat from payload to payload; a sender that invents them endlessly starts the memory over. It holds 2 MB at most.
    if (normalised.size >= MAX_REMEMBERED) normalised.clear();
    normalised.set(key, name);
  }
  return name;
}

/** A name of the table as it is looked up: segments normalised, leading envelopes left out. */
function normalisePath(path: string): string {
  const beside = path.startsWith('^') ? '^' : '';
  const segments = path.slice(beside.length).split('.').map(normaliseName);
  while (segments.length > 1 && envelopeNames.has(segments[0] ?? '')) segments.shift();
  return beside + segments.join('.');
}

function firstSegment(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}

/** Names of envelopes as they are looked up. */
export const envelopeNames: ReadonlySet<string> = new Set(envelopes.map(normaliseName));
const commonNames = [...eventNames, ...envelopes].map((name) => firstSegment(normalisePath(name)));

/** The names of each field, a source's own before the built-in ones, in the form they are looked up by. */
export class FieldTable {
  readonly #names: ReadonlyMap<FieldName, readonly string[]>;
  readonly #known = new Map<Asked, ReadonlySet<string>>();

  constructor(overrides: FieldOverrides) {
    const names = new Map<FieldName, readonly string[]>();
    for (const field of Object.keys(fieldNames) as FieldName[]) {
      const own = Object.hasOwn(overrides, field) ? (overrides[field] ?? []) : [];
      names.set(field, [...new Set([...own, ...fieldNames[field]].map(normalisePath))]);
    }
    this.#names = names;
  }

  names(field: FieldName): readonly string[] {
    return this.#names.get(field) ?? [];
  }

  /** Top-level names that a family reads something from; made once per family. */
  knownOf(family: Asked): ReadonlySet<string> {
    let known = this.#known.get(family);
    if (known === undefined) {
      const asked = family.fields
        .flatMap((field) => this.names(field))
        .map((name) => firstSegment(name).replace('^', ''));
      const others = [...family.objects, ...(family.alsoReads ?? [])].map(normaliseName);
      known = new Set([...asked, ...others, ...commonNames]);
      this.#known.set(family, known);
    }
    return known;
  }
}

const builtIn = new FieldTable({});
const tables = new WeakMap<FieldOverrides, FieldTable>();

/** The table for a source's overrides; made once per options object. */
export function fieldTableOf(overrides: FieldOverrides): FieldTable {
  let table = tables.get(overrides);
  if (table === undefined) {
    table = Object.keys(overrides).length === 0 ? builtIn : new FieldTable(overrides);
    tables.set(overrides, table);
  }
  return table;
}
