import { plainForm } from '../src/core/plain-words.ts';
import type { FieldName } from './field-names.ts';
import { envelopeNames, type FamilyFields, type FieldTable, normaliseName } from './field-table.ts';
import { type Occurred, occurredOf, type ParsedTime, parseTime, type TimeContext } from './occurred.ts';
import { clean, isBlank, isJsonObject, type JsonObject, nameOfCookie, parseWrapped, textOf } from './parse.ts';
import { formIn } from './unpack.ts';

/** Limits on what is examined in one payload, so that a strange one costs no more than a large one. */
const MAX_FIELDS = 1000;
const MAX_DEPTH = 4;
const MAX_UNREAD = 50;

const MAX_BESIDE_WRAPPER = 4;
const LONGEST_WRAPPER = 100;

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

/** A field of a payload. */
export interface Found {
  readonly path: string;
  readonly value: unknown;
  /** The object that contains it. */
  readonly parent: JsonObject;
  /** It is next to the envelope that holds the event's content, so it may describe the delivery instead. */
  readonly beside: boolean;
}

/** A field at the top level, or of what was opened. */
interface Field {
  /** Normalised. */
  readonly name: string;
  /** As received, without what stands before a dot. */
  readonly key: string;
  readonly found: Found;
}

/** A time in a field. */
export interface FoundTime {
  readonly occurred: Occurred;
  readonly path: string;
}

const NOTHING: readonly Found[] = [];

interface PayloadOptions {
  /** The source's setting. */
  readonly necessaryPurposes?: readonly string[] | undefined;
  /** {@link Family.unwrap}. */
  readonly unwrap?: ((key: string, text: string) => JsonObject | null) | undefined;
  /** {@link Family.nameSays}. */
  readonly nameSays?: Family<never>['nameSays'];
}

/**
 * Finds fields by meaning in payloads with undocumented names: at the top, in an envelope, or in the object that the
 * event is about; inner ones take precedence. Records what was not read or understood ({@link unread}).
 */
export class Payload {
  readonly #table: FieldTable;
  readonly #time: TimeContext;
  readonly #necessary: readonly string[];
  readonly #unwrap: PayloadOptions['unwrap'];
  readonly #nameSays: PayloadOptions['nameSays'];
  /** Normalised path → where it was found. */
  readonly #found = new Map<string, Found>();
  /** The names in {@link #found}, a line each: payloads of one kind have the same. */
  #shape = '';
  #names: Map<FieldName, readonly string[]> | null = null;
  /** The payload's fields with their normalised names: candidates for `unread`. */
  readonly #fields: Field[] = [];
  readonly #opened = new Set<unknown>();
  readonly #openedTexts = new Set<string>();
  #hasBeside = false;
  /** Where an object was opened only because it is the only one, and its name. */
  readonly #guessed: { readonly prefix: string; readonly name: string }[] = [];
  readonly #used = new Set<unknown>();
  readonly #puzzling = new Set<string>();

  /** `objects`: names of the object that the event is about, which is searched as if its fields were outside it. */
  constructor(
    root: JsonObject,
    objects: ReadonlySet<string>,
    table: FieldTable,
    time: TimeContext,
    { necessaryPurposes = [], unwrap, nameSays }: PayloadOptions = {},
  ) {
    this.#table = table;
    this.#time = time;
    this.#necessary = necessaryPurposes;
    this.#unwrap = unwrap;
    this.#nameSays = nameSays;
    this.#open(root, '', objects, 0);
  }

  #open(object: JsonObject, path: string, objects: ReadonlySet<string>, depth: number): void {
    const entries: (Field & { found: Found })[] = [];
    let enveloped = false;
    const keys = Object.keys(object).slice(0, MAX_FIELDS);
    const wrapper = this.#wrapperIn(object, keys);
    for (const key of keys) {
      let name = normaliseName(key);
      let named = key;
      let value = object[key];
      if (depth < MAX_DEPTH) {
        if (envelopeNames.has(name) || (name === 'fields' && isTyped(value))) {
          value = isTyped(value) ? untyped(value) : value;
          if (typeof value === 'string')
            value = parseWrapped(value) ?? (this.#unwrap === undefined ? value : (formIn(value) ?? value));
          if (isJsonObject(value)) {
            enveloped = true;
            this.#open(value, `${path}${key}.`, objects, depth + 1);
            continue;
          }
        } else if (name === 'message' && typeof value === 'string' && value.startsWith('{')) {
          value = parseWrapped(value) ?? value;
          if (isJsonObject(value)) {
            enveloped = true;
            this.#open(value, `${path}${key}.`, objects, depth + 1);
            continue;
          }
        } else {
          const own = typeof value === 'string' ? nameWithin(object, name, value) : null;
          const unwrapped = typeof value === 'string' ? (this.#unwrap?.(own ?? key, value) ?? null) : null;
          value = unwrapped ?? value;
          if (own !== null && unwrapped !== null) [name, named] = [normaliseName(own), own];
          if (isJsonObject(value) && (unwrapped !== null || objects.has(name) || key === wrapper)) {
            this.#opened.add(value);
            if (unwrapped !== null) this.#openedTexts.add(path + key);
            if (unwrapped === null && !objects.has(name)) this.#guessed.push({ prefix: `${path}${key}.`, name: key });
            this.#open(value, `${path}${key}.`, objects, depth + 1);
          }
        }
      }
      entries.push({ name, key: lastOf(named), found: { path: path + key, value, parent: object, beside: false } });
    }
    if (enveloped && this.#nameSays !== undefined)
      enveloped = !entries.some((entry) => this.#nameSays?.(entry.key) === 'content');
    for (const entry of entries) {
      const { name } = entry;
      if (enveloped) {
        this.#hasBeside = true;
        entry.found = { ...entry.found, beside: true };
      }
      this.#add(enveloped && BESIDE.has(name) ? `^${name}` : name, entry.found, depth);
      this.#fields.push(entry);
    }
  }

  /** The only object in a small one: {"event": "…", "result": {"choice": "reject"}}. */
  #wrapperIn(object: JsonObject, keys: readonly string[]): string | null {
    if (this.#nameSays === undefined || keys.length > MAX_BESIDE_WRAPPER) return null;
    const nested = keys.filter((key) => typeof object[key] === 'object' && object[key] !== null);
    const [only] = nested;
    return nested.length === 1 && only !== undefined && only.length <= LONGEST_WRAPPER && this.#nameSays(only) !== null
      ? only
      : null;
  }

  #add(name: string, found: Found, depth: number): void {
    if (this.#found.size >= MAX_FIELDS) return;
    if (!this.#found.has(name)) {
      this.#found.set(name, found);
      this.#shape += `${name}\n`;
    }
    if (depth >= MAX_DEPTH || !isJsonObject(found.value)) return;
    const parent = found.value;
    for (const key of Object.keys(parent).slice(0, MAX_FIELDS)) {
      this.#add(
        `${name}.${normaliseName(key)}`,
        { path: `${found.path}.${key}`, value: parent[key], parent, beside: found.beside },
        depth + 1,
      );
    }
  }

  /** Those of a field's names that this payload has. */
  #namesHere(field: FieldName): readonly string[] {
    this.#names ??= this.#table.namesIn(this.#shape);
    let names = this.#names.get(field);
    if (names === undefined)
      this.#names.set(field, (names = this.#table.names(field).filter((name) => this.#found.has(name))));
    return names;
  }

  /** The first value of a field that `understand` accepts; null if there is none. */
  first<T>(field: FieldName, understand: (value: unknown, path: string) => T | null): T | null {
    let puzzling: string | null = null;
    for (const name of this.#namesHere(field)) {
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
  each(field: FieldName): readonly Found[] {
    const names = this.#namesHere(field);
    if (names.length === 0) return NOTHING;
    const values: Found[] = [];
    for (const name of names) {
      const found = this.#found.get(name);
      if (found !== undefined && !isBlank(found.value)) values.push(found);
    }
    return values;
  }

  /** A field as trimmed text (numbers as digits); null if absent, blank, not text, or longer than `max`. */
  text(field: FieldName, max?: number): string | null {
    return this.first(field, (value) => textOf(value, max));
  }

  /** Whether the source's settings name a purpose as necessary. */
  isNecessary(purpose: string): boolean {
    return this.#necessary.length > 0 && this.#necessary.some((name) => plainForm(name) === plainForm(purpose));
  }

  /** Whether the source's own names for a field led to this path. */
  isNamedBySource(field: FieldName, path: string): boolean {
    return this.#table.ownNames(field).some((name) => this.#found.get(name)?.path === path);
  }

  /** Whether the source's own names for any field lead to this path. */
  isKnownToSource(path: string): boolean {
    return this.#table.allOwnNames().some((name) => this.#found.get(name)?.path === path);
  }

  /** A part of the payload, searched with the same table of names. */
  within(part: JsonObject): Payload {
    return new Payload(part, new Set(), this.#table, this.#time);
  }

  /** The value with one plain name, anywhere; undefined if absent. */
  named(name: string): unknown {
    return this.#found.get(normaliseName(name))?.value;
  }

  /** Whether a field has this name, in normalised form. */
  has(name: string): boolean {
    return this.#found.has(name);
  }

  /** Whether the name of a top-level field begins so, in normalised form. */
  hasBeginning(start: string): boolean {
    return this.#fields.some((field) => field.name.startsWith(start));
  }

  /** The payload's top-level fields, of the envelopes and objects that were opened too, inner ones first. */
  fields(): readonly Field[] {
    return this.#fields;
  }

  /** Whether anything stands next to an envelope. */
  hasBeside(): boolean {
    return this.#hasBeside;
  }

  /** The first of these fields that contains a time. */
  time(...fields: readonly FieldName[]): string | null {
    return this.#parsedTime(fields)?.at ?? null;
  }

  /**
   * When the event happened according to the first of these fields with a time, otherwise when it was received. What stands next to the
   * envelope describes the delivery, so it counts only if the content has no time.
   */
  occurred(...fields: readonly FieldName[]): Occurred {
    return this.occurredAt(this.#parsedTime(fields, false) ?? this.#parsedTime(fields));
  }

  /** Every time in a field, in the order of its names: those of the content, and with `beside` the delivery's own after them. */
  times(field: FieldName, beside = false): FoundTime[] {
    const times: FoundTime[] = [];
    const ofDelivery: FoundTime[] = [];
    for (const found of this.each(field)) {
      if (found.beside && !beside) continue;
      const time = this.#timeAt(found);
      if (time !== null)
        (found.beside ? ofDelivery : times).push({ occurred: this.occurredAt(time), path: found.path });
    }
    return ofDelivery.length === 0 ? times : [...times, ...ofDelivery];
  }

  /** A value as a time; null if it is none. */
  timeOf(value: unknown): Occurred | null {
    const time = parseTime(value, this.#time.assumedOffset);
    return time === null ? null : this.occurredAt(time);
  }

  /** Whether the fields of an object were opened as if they stood outside it. */
  isOpened(object: unknown): boolean {
    return this.#opened.has(object);
  }

  /** Whether the text at a path was opened in the same way. */
  isOpenedText(path: string): boolean {
    return this.#openedTexts.has(path);
  }

  /** The name of the object around a path that was opened only because it is the only one; null: none was. */
  guessedAround(path: string): string | null {
    return this.#guessed.findLast(({ prefix }) => path.startsWith(prefix))?.name ?? null;
  }

  /** A claimed time judged by the receipt; null: the receipt. */
  occurredAt(time: ParsedTime | null): Occurred {
    return occurredOf(time, this.#time);
  }

  #parsedTime(fields: readonly FieldName[], beside = true): ParsedTime | null {
    for (const field of fields) {
      let puzzling: string | null = null;
      for (const found of this.each(field)) {
        if (found.beside && !beside) continue;
        const time = this.#timeAt(found);
        if (time !== null) return time;
        puzzling ??= found.path;
      }
      if (puzzling !== null) this.#puzzling.add(puzzling);
    }
    return null;
  }

  /** A date whose time of day, and zone, are fields of their own. */
  #timeAt({ value, parent }: Found): ParsedTime | null {
    const { assumedOffset } = this.#time;
    if (typeof value === 'string' && DATE_ALONE.test(value.trim())) {
      const [clock, zone] = [siblingOf(parent, CLOCK_NAMES), siblingOf(parent, ZONE_NAMES)];
      if (typeof clock === 'string' && /^\d{1,2}:\d\d/.test(clock.trim())) {
        const whole = `${value.trim()} ${clock.trim()}`;
        const zoned = typeof zone === 'string' ? parseTime(`${whole} ${zone.trim()}`, assumedOffset) : null;
        return zoned ?? parseTime(whole, assumedOffset) ?? parseTime(value, assumedOffset);
      }
    }
    return parseTime(value, assumedOffset);
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

/** Whether each value is an object with its type as the only name, as in Firestore's API: {"stringValue": "…"}. */
function isTyped(value: unknown): value is Readonly<Record<string, JsonObject>> {
  if (!isJsonObject(value)) return false;
  const members = Object.values(value);
  return (
    members.length > 0 &&
    members.every(
      (member) =>
        isJsonObject(member) && Object.keys(member).length === 1 && /^[a-z]+Value$/.test(Object.keys(member)[0] ?? ''),
    )
  );
}

function untyped(value: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const [inner] = Object.values(member);
      const fields = isJsonObject(inner) ? inner['fields'] : undefined;
      return [key, isTyped(fields) ? untyped(fields) : inner];
    }),
  );
}

const DATE_ALONE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/;
const CLOCK_NAMES: ReadonlySet<string> = new Set(['time', 'timeofday', 'consenttime', 'hour', 'clock']);
const ZONE_NAMES: ReadonlySet<string> = new Set(['timezone', 'tz', 'zone', 'utcoffset', 'offset', 'timezoneoffset']);

/** What a value is called: {"name": "tarteaucitron", "value": "!matomo=false"} and {"cookie": "tarteaucitron=!matomo=false"} are a field `tarteaucitron`. */
function nameWithin(object: JsonObject, key: string, value: string): string | null {
  // Several cookies are read one by one.
  if (key !== 'value') return value.includes(';') && /;\s+[^=;\s]{1,80}=/.test(value) ? null : nameOfCookie(value);
  const name = object['name'];
  return typeof name === 'string' && name.length <= LONGEST_WRAPPER ? name : null;
}

function lastOf(key: string): string {
  return key.includes('.') ? key.slice(key.lastIndexOf('.') + 1) : key;
}

function siblingOf(object: JsonObject, names: ReadonlySet<string>): unknown {
  const key = Object.keys(object).find((one) => names.has(normaliseName(one)));
  return key === undefined ? undefined : object[key];
}

/** One family of events: their names, and how a payload becomes a fact. */
export interface Family<F extends { readonly type: string; readonly occurred: Occurred }> extends FamilyFields {
  /** The type of its facts. */
  readonly type: F['type'];
  /** The events it reads, spelled as in docs/service.md §6. */
  readonly events: readonly string[];
  /** Also reads any other event whose name starts with this word. */
  readonly anyOf?: string;
  /** The object in the text of a field, whose fields are then read as if they stood outside it; null if it holds none. */
  readonly unwrap?: (key: string, text: string) => JsonObject | null;
  /** `content`: a field of this name belongs to the event's content even next to an envelope; `wrapper`: an object of this name may be one. */
  readonly nameSays?: (key: string) => 'content' | 'wrapper' | null;
  /** Fields of items in its lists, looked up within each item. */
  readonly fieldsWithin?: readonly FieldName[];
  /** The fact, or a sentence saying why there is none. */
  readonly read: (event: string, payload: Payload) => F | { readonly unreadable: string };
  /** The id of the event itself, not of the thing that it is about; null: the body has none. */
  eventIdOf(fact: F): string | null;
}
