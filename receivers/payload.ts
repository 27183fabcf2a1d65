import type { FieldName } from './field-names.ts';
import { type FamilyFields, envelopeNames, type FieldTable, normaliseName } from './field-table.ts';
import { occurredOf, parseTime, type TimeContext, type Occurred } from './occurred.ts';
import { clean, isBlank, isJsonObject, type JsonObject, parseText, textOf } from './parse.ts';

/** Limits on what is examined in one payload, so that a strange one costs no more than a large one. */
const MAX_FIELDS = 1000;
const MAX_DEPTH = 4;
const MAX_UNREAD = 50;

/** Top-level names that refer to the event itself if there is an envelope next to them. */
const BESIDE = new Set([
  'id',
  'uuid',
  'type',
  'kind',
  'name',
  'action',
  'status',
  'state',
  'version',
  'value',
  'createdat',
  'created',
  'url',
  'slug',
  'total',
]);

interface Found {
  readonly path: string;
  readonly value: unknown;
  /** The object that contains it. */
  readonly parent: JsonObject;
}

/**
 * Finds fields by meaning in payloads with undocumented names: at the top, in an envelope, or in the object that the
 * event is about; inner ones take precedence. Records what was not read or understood ({@link unread}).
 */
export class Payload {
  readonly #table: FieldTable;
  readonly #time: TimeContext;
  /** Normalised path → where it was found. */
  readonly #found = new Map<string, Found>();
  /** The payload's fields with their normalised names: candidates for `unread`. */
  readonly #fields: { readonly name: string; readonly found: Found }[] = [];
  readonly #used = new Set<unknown>();
  readonly #puzzling = new Set<string>();

  /** `objects`: names of the object that the event is about, which is searched as if its fields were outside it. */
  constructor(root: JsonObject, objects: ReadonlySet<string>, table: FieldTable, time: TimeContext) {
    this.#table = table;
    this.#time = time;
    this.#open(root, '', objects, 0);
  }

  #open(object: JsonObject, path: string, objects: ReadonlySet<string>, depth: number): void {
    const entries: { name: string; found: Found }[] = [];
    let enveloped = false;
    for (const key of Object.keys(object).slice(0, MAX_FIELDS)) {
      const name = normaliseName(key);
      let value = object[key];
      if (depth < MAX_DEPTH) {
        if (envelopeNames.has(name)) {
          if (typeof value === 'string' && value.startsWith('{')) value = parseText(value) ?? value;
          if (isJsonObject(value)) {
            enveloped = true;
            this.#open(value, `${path}${key}.`, objects, depth + 1);
            continue;
          }
        } else if (objects.has(name) && isJsonObject(value)) {
          this.#open(value, `${path}${key}.`, objects, depth + 1);
        }
      }
      entries.push({ name, found: { path: path + key, value, parent: object } });
    }
    for (const { name, found } of entries) {
      this.#add(enveloped && BESIDE.has(name) ? `^${name}` : name, found, depth);
      this.#fields.push({ name, found });
    }
  }

  #add(name: string, found: Found, depth: number): void {
    if (this.#found.size >= MAX_FIELDS) return;
    if (!this.#found.has(name)) this.#found.set(name, found);
    if (depth >= MAX_DEPTH || !isJsonObject(found.value)) return;
    const parent = found.value;
    for (const key of Object.keys(parent).slice(0, MAX_FIELDS)) {
      this.#add(
        `${name}.${normaliseName(key)}`,
        { path: `${found.path}.${key}`, value: parent[key], parent },
        depth + 1,
      );
    }
  }

  /** The first value of a field that `understand` accepts; null if there is none. */
  first<T>(field: FieldName, understand: (value: unknown, path: string) => T | null): T | null {
    let puzzling: string | null = null;
    for (const name of this.#table.names(field)) {
      const found = this.#found.get(name);
      if (found === undefined || isBlank(found.value)) continue;
      const understood = understand(found.value, found.path);
      if (understood !== null) return understood;
      puzzling ??= found.path;
    }
    if (puzzling !== null) this.#puzzling.add(puzzling);
    return null;
  }

  /** Every value of a field, in the order of its names; the caller must {@link puzzle} about those it does not understand. */
  *each(field: FieldName): Generator<{ readonly value: unknown; readonly path: string }> {
    for (const name of this.#table.names(field)) {
      const found = this.#found.get(name);
      if (found !== undefined && !isBlank(found.value)) yield found;
    }
  }

  /** A field as trimmed text (numbers as digits); null if absent, blank, not text, or longer than `max`. */
  text(field: FieldName, max?: number): string | null {
    return this.first(field, (value) => textOf(value, max));
  }

  /** A part of the payload, searched with the same table of names. */
  within(part: JsonObject): Payload {
    return new Payload(part, new Set(), this.#table, this.#time);
  }

  /** The value with one plain name, anywhere; undefined if absent. */
  named(name: string): unknown {
    return this.#found.get(normaliseName(name))?.value;
  }

  /** The first of these fields that contains a time. */
  time(...fields: readonly FieldName[]): string | null {
    return this.#parsedTime(fields)?.at ?? null;
  }

  /** When the event happened according to the first of these fields with a time, otherwise when it was received. */
  occurred(...fields: readonly FieldName[]): Occurred {
    return occurredOf(this.#parsedTime(fields), this.#time);
  }

  #parsedTime(fields: readonly FieldName[]) {
    for (const field of fields) {
      const time = this.first(field, (value) => parseTime(value, this.#time.assumedOffset));
      if (time !== null) return time;
    }
    return null;
  }

  /** Marks an object as completely read, so that none of its fields is unread. */
  use(object: unknown): void {
    this.#used.add(object);
  }

  /** Notes a part of the payload that was present but not understood. */
  puzzle(path: string): void {
    this.#puzzling.add(path);
  }

  /**
   * Paths of the payload, as received, that match no field of the family, and those whose value was not understood. At
   * most 50, in order; for the operator, who can name them in the source's fieldNames.
   */
  unread(family: FamilyFields, eventAsGiven: string | null): readonly string[] {
    const known = this.#table.knownOf(family);
    const paths = new Set<string>();
    for (const { name, found } of this.#fields) {
      if (this.#used.has(found.parent) || this.#used.has(found.value) || isBlank(found.value)) continue;
      const puzzling = this.#puzzling.has(found.path);
      // The event's name is read as such, even if another field could have the same name.
      if (found.value === eventAsGiven || (known.has(name) && !puzzling)) continue;
      paths.add(found.path);
    }
    for (const path of this.#puzzling) paths.add(path);
    if (eventAsGiven !== null) {
      for (const { found } of this.#fields) if (found.value === eventAsGiven) paths.delete(found.path);
    }
    return [...paths].slice(0, MAX_UNREAD).map((path) => clean(path).slice(0, 100));
  }
}

/** One family of events: their names, and how a payload becomes a fact. */
export interface Family<F extends { readonly type: string; readonly occurred: Occurred }> extends FamilyFields {
  /** The type of its facts. */
  readonly type: F['type'];
  /** The events it reads, spelled as in docs/service.md §6. */
  readonly events: readonly string[];
  /** Also reads any other event whose name starts with this word. */
  readonly anyOf?: string;
  /** Fields of items in its lists, looked up within each item. */
  readonly fieldsWithin?: readonly FieldName[];
  /** The fact, or a sentence saying why there is none. */
  readonly read: (event: string, payload: Payload) => F | { readonly unreadable: string };
  /** The id of the event itself, not of the thing that it is about; null: the body has none. */
  eventIdOf(fact: F): string | null;
}
