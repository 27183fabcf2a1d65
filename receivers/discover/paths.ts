import { isJsonObject, type JsonObject } from '../text.ts';
import { kindsOf, type ValueKind } from './kinds.ts';
import { maskKey, maskValue } from './mask.ts';

/** What stands at one path in several payloads. Holds no value. */
export interface PathShape {
  /** Names of fields with dots between them, as received; names that are values themselves are masked. */
  readonly path: string;
  /** In how many of the payloads it stands. */
  readonly present: number;
  /** How many different values it had there. */
  readonly distinct: number;
  /** Masked values, each shape once, at most four. */
  readonly shapes: readonly string[];
}

/** The same with what the heuristics look at; for use within the analysis only. */
export interface PathFacts extends PathShape {
  /** In how many payloads its value could be of a kind. */
  readonly kinds: ReadonlyMap<ValueKind, number>;
  /** A mapping can lead there. */
  readonly mappable: boolean;
}

const MAX_DEPTH = 5;
const MAX_PATHS = 300;

/** Walks payloads and gathers, path by path, what stands there. */
export function gatherPaths(payloads: readonly JsonObject[]): readonly PathFacts[] {
  const found = new Map<string, Gathered>();
  for (const payload of payloads) walk(payload, '', '', true, 0, found);
  return [...found.values()].map(({ path, present, values, shapes, kinds, mappable }) => ({
    path,
    present,
    distinct: values.size,
    shapes: [...shapes].slice(0, 4),
    kinds,
    mappable,
  }));
}

interface Gathered {
  readonly path: string;
  present: number;
  readonly values: Set<string>;
  readonly shapes: Set<string>;
  readonly kinds: Map<ValueKind, number>;
  readonly mappable: boolean;
}

function walk(
  object: JsonObject,
  prefix: string,
  shownPrefix: string,
  mappable: boolean,
  depth: number,
  found: Map<string, Gathered>,
): void {
  for (const [key, value] of Object.entries(object).slice(0, 200)) {
    const path = prefix + key;
    const shown = shownPrefix + maskKey(key);
    const isPlain = mappable && !key.includes('.') && maskKey(key) === key;
    if (found.size >= MAX_PATHS && !found.has(path)) return;
    let one = found.get(path);
    if (one === undefined) {
      one = { path: shown, present: 0, values: new Set(), shapes: new Set(), kinds: new Map(), mappable: isPlain };
      found.set(path, one);
    }
    if (value === null || value === '') continue;
    one.present += 1;
    if (one.values.size < 1000) one.values.add(written(value));
    if (one.shapes.size < 20) one.shapes.add(maskValue(value));
    for (const kind of kindsOf(value)) one.kinds.set(kind, (one.kinds.get(kind) ?? 0) + 1);
    if (isJsonObject(value) && depth < MAX_DEPTH) walk(value, `${path}.`, `${shown}.`, isPlain, depth + 1, found);
  }
}

/** Tells values apart. What is nested too deeply to be written counts as one value. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '…';
    throw error;
  }
}
