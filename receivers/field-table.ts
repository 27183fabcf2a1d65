import { foldedText } from '../src/core/plain-words.ts';
import { envelopes, eventNames, type FieldName, fieldNames } from './field-names.ts';

/** Names of fields per source, tried before the built-in ones (src/core/source.ts, fieldNames). */
type FieldOverrides = Readonly<Record<string, readonly string[]>>;

/** What a family of events looks for in a payload. */
export interface FamilyFields {
  /** Names of the object that such an event is about: `{"policy": {…}}`. */
  readonly objects: readonly string[];
  /** The fields it looks for (field-names.ts). */
  readonly fields: readonly FieldName[];
  /** Further names that it reads, or knows and leaves in the body. */
  readonly alsoReads?: readonly string[];
}

/** Longer keys, in UTF-16 units, never name a field. */
const MAX_KEY = 200;
const MAX_REMEMBERED = 5000;
/** Shapes remembered, and the longest, in UTF-16 units. */
const MAX_SHAPES = 100;
const MAX_SHAPE = 4000;
const beyondAscii = /[^\0-\x7f]/;
const normalised = new Map<string, string>();

/**
 * A key without case, accents, `_`, `-` and similar; a key of only such characters is unchanged. For a key of more than 200
 * characters, returns only its beginning, which matches no field: a payload may contain a key of a megabyte.
 */
export function normaliseName(key: string): string {
  if (key.length > MAX_KEY) return `\0${key.slice(0, MAX_KEY)}`;
  let name = normalised.get(key);
  if (name === undefined) {
    name = (beyondAscii.test(key) ? foldedText(key) : key.toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, '') || key;
    // Keys repeat from payload to payload; if a sender invents endless new ones, the cache is cleared. It holds 2 MB at
    // most.
    if (normalised.size >= MAX_REMEMBERED) normalised.clear();
    normalised.set(key, name);
  }
  return name;
}

/** A name of the table in look-up form: segments normalised, leading envelopes removed. */
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

/** Names of envelopes in look-up form. */
export const envelopeNames: ReadonlySet<string> = new Set(envelopes.map(normaliseName));
const commonNames = [...eventNames, ...envelopes].map((name) => firstSegment(normalisePath(name)));

/** The names of each field in look-up form, a source's own before the built-in ones. */
export class FieldTable {
  readonly #names: ReadonlyMap<FieldName, readonly string[]>;
  readonly #own = new Map<FieldName, readonly string[]>();
  readonly #known = new Map<FamilyFields, ReadonlySet<string>>();
  readonly #shapes = new Map<string, Map<FieldName, readonly string[]>>();

  constructor(overrides: FieldOverrides) {
    const names = new Map<FieldName, readonly string[]>();
    for (const field of Object.keys(fieldNames) as FieldName[]) {
      const own = Object.hasOwn(overrides, field) ? (overrides[field] ?? []) : [];
      if (own.length > 0) this.#own.set(field, own.map(normalisePath));
      names.set(field, [...new Set([...own, ...fieldNames[field]].map(normalisePath))]);
    }
    this.#names = names;
  }

  /**
   * Where to remember which names of a field payloads of a shape have: the payloads of a source have few shapes, and looking up every name in each
   * would take longer than everything else.
   */
  namesIn(shape: string): Map<FieldName, readonly string[]> {
    let names = this.#shapes.get(shape);
    if (names === undefined) {
      names = new Map();
      if (this.#shapes.size >= MAX_SHAPES) this.#shapes.clear();
      // A copy: the text may be joined from parts of longer ones, which it would keep.
      if (shape.length <= MAX_SHAPE) this.#shapes.set(Buffer.from(shape, 'utf8').toString('utf8'), names);
    }
    return names;
  }

  names(field: FieldName): readonly string[] {
    return this.#names.get(field) ?? [];
  }

  /** The source's own names of a field. */
  ownNames(field: FieldName): readonly string[] {
    return this.#own.get(field) ?? [];
  }

  /** The source's own names of all fields. */
  allOwnNames(): readonly string[] {
    return [...this.#own.values()].flat();
  }

  /** Top-level names from which a family reads something; computed once per family. */
  knownOf(family: FamilyFields): ReadonlySet<string> {
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

/** The table for a source's overrides; built once per options object. */
export function fieldTableOf(overrides: FieldOverrides): FieldTable {
  let table = tables.get(overrides);
  if (table === undefined) {
    table = Object.keys(overrides).length === 0 ? builtIn : new FieldTable(overrides);
    tables.set(overrides, table);
  }
  return table;
}
