/** A part of a description; nothing of it is believed before it is looked at. */
export type Schema = unknown;

const MAX_REFERENCES = 12;

/** What a part is, with references inside the description followed; null where they lead nowhere or in a circle. */
export function resolve(root: object, part: unknown): Readonly<Record<string, unknown>> | null {
  let at = part;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return null;
    const object = at as Record<string, unknown>;
    const reference = object['$ref'];
    if (typeof reference !== 'string') return object;
    at = pointedAt(root, reference);
  }
  return null;
}

function pointedAt(root: object, reference: string): unknown {
  if (!reference.startsWith('#/')) return null;
  let at: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decodeStep(step);
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return null;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/**
 * The fields of an object, those of all alternatives and parts of it together; null where none are described. An alternative that
 * describes nothing could have any field, so the whole then says nothing.
 */
export function fieldsOf(root: object, schema: Schema): ReadonlyMap<string, Schema> | null {
  const fields = new Map<string, Schema>();
  return collect(root, schema, fields, new Map()) && fields.size > 0 ? fields : null;
}

/** `said`: what was looked at, since parts may refer to each other in circles and any number of times. */
function collect(root: object, schema: Schema, fields: Map<string, Schema>, said: Map<object, boolean>): boolean {
  const object = resolve(root, schema);
  if (object === null) return false;
  const known = said.get(object);
  if (known !== undefined) return known;
  said.set(object, false);
  const speaks = collectFrom(root, object, fields, said);
  said.set(object, speaks);
  return speaks;
}

function collectFrom(
  root: object,
  object: Readonly<Record<string, unknown>>,
  fields: Map<string, Schema>,
  said: Map<object, boolean>,
): boolean {
  let speaks = false;
  const { properties, allOf } = object;
  if (typeof properties === 'object' && properties !== null) {
    for (const [name, property] of Object.entries(properties)) if (!fields.has(name)) fields.set(name, property);
    speaks = Object.keys(properties).length > 0;
  }
  if (Array.isArray(allOf)) {
    const spoke = allOf.map((part) => collect(root, part, fields, said));
    speaks ||= spoke.some(Boolean);
  }
  for (const name of ['anyOf', 'oneOf']) {
    const alternatives = object[name];
    if (!Array.isArray(alternatives) || alternatives.length === 0) continue;
    const all = alternatives.map((part) => collect(root, part, fields, said)).every(Boolean);
    if (!all) return false;
    speaks = true;
  }
  return speaks;
}

/** A numeric keyword of a schema or of its alternatives: the most that any of them allows; null where none says it. */
export function keywordOf(
  root: object,
  schema: Schema,
  keyword: 'maximum' | 'maxItems',
  seen = new Set<object>(),
): number | null {
  const object = resolve(root, schema);
  if (object === null || seen.has(object)) return null;
  seen.add(object);
  const own = object[keyword];
  if (typeof own === 'number') return own;
  const inner = [object['schema'], ...listOf(object['anyOf']), ...listOf(object['oneOf']), ...listOf(object['allOf'])];
  const found = inner
    .map((part) => keywordOf(root, part, keyword, seen))
    .filter((value): value is number => value !== null);
  return found.length === 0 ? null : Math.max(...found);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
