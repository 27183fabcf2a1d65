import type { EventOptions } from '../read.ts';
import { classify } from '../read.ts';
import { isJsonObject, type JsonObject } from '../text.ts';

/** Where the name of the event stands, and what its names mean; what {@link proposeEvents} could not tell is left out. */
interface EventProposal {
  /** Path of the event's name; null: it is found already, or nothing looks like one. */
  readonly path: string | null;
  /** Name as given → documented event. */
  readonly names: Readonly<Record<string, string>>;
}

/** Words in an event's name, and the documented event that they speak for: the first that fits. */
const stems: readonly (readonly [RegExp, string])[] = [
  [/dsar|dsr|subject.?(?:access|request|right)|privacy.?request|data.?request|right.?request/i, 'dsar.submitted'],
  [/scan|audit.?(?:done|finish|complet)|crawl/i, 'cookie_scan.completed'],
  [
    /(?:integration|connect(?:or|ion)|plugin).*(?:disconnect|remov|delet|uninstall|\boff)|disconnect/i,
    'integration.disconnected',
  ],
  [/(?:integration|connector|connection|plugin)|\bconnect/i, 'integration.connected'],
  [/(?:policy|document|notice).*(?:delet|remov|withdraw)/i, 'policy.deleted'],
  [/(?:policy|document|notice).*(?:publish|live|release)/i, 'policy.published'],
  [/(?:policy|document|notice).*(?:updat|chang|edit|regenerat|revis)/i, 'policy.updated'],
  [/(?:policy|document|notice).*(?:creat|generat|new|add)/i, 'policy.created'],
  [/consent|cookie|choice|prefer|opt.?(?:in|out)|banner/i, 'consent.recorded'],
];
const PATH_NAMES = /event|type|kind|what|topic|action|hook|subject|trigger|name|signal|msg|message/i;
const TOKEN = /^[a-z][a-z0-9]*(?:[._:/-][a-z0-9]+)+$|^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/;

/** Ids are tokens, too; what holds a long number or a piece of a hash is no name of an event, and must not be shown. */
const ID = /\d{3}|(?=[0-9a-f]*\d)[0-9a-f]{6,}/i;

/** Looks for the name of the event in payloads that name none that is known. */
export function proposeEvents(payloads: readonly JsonObject[], options: EventOptions): EventProposal {
  const places = new Map<string, { known: number; tokens: number; values: Set<string> }>();
  for (const payload of payloads) {
    for (const { path, value } of texts(payload, '', 0)) {
      const known = classify(value, options.eventNames)?.family != null;
      if (!known && (!TOKEN.test(value) || ID.test(value))) continue;
      const place = places.get(path) ?? { known: 0, tokens: 0, values: new Set<string>() };
      places.set(path, place);
      place[known ? 'known' : 'tokens'] += 1;
      place.values.add(value);
    }
  }
  let best: { path: string; score: number; values: Set<string> } | null = null;
  for (const [path, { known, tokens, values }] of places) {
    const meant = [...values].filter((value) => meaningOf(value, options) !== null).length;
    // An event's name is one of a few; ids and the like are not.
    if (meant === 0 || (values.size > 3 && values.size > payloads.length / 2)) continue;
    const named = PATH_NAMES.test(path.split('.').at(-1) ?? '') ? 2 : 0;
    const score = (known * 4 + tokens * (meant / values.size)) / payloads.length + named - path.split('.').length * 0.1;
    if (best === null || score > best.score) best = { path, score, values };
  }
  if (best === null) return { path: null, names: {} };
  const names: Record<string, string> = {};
  for (const value of best.values) {
    const documented = meaningOf(value, options);
    if (documented !== null && classify(value, options.eventNames)?.family == null) names[value] = documented;
  }
  return { path: best.path, names };
}

function meaningOf(value: string, options: EventOptions): string | null {
  const known = classify(value, options.eventNames);
  if (known?.family != null) return known.event;
  const plain = value.replace(/([a-z])([A-Z])/g, '$1_$2');
  return stems.find(([pattern]) => pattern.test(plain))?.[1] ?? null;
}

function* texts(object: JsonObject, prefix: string, depth: number): Generator<{ path: string; value: string }> {
  for (const [key, value] of Object.entries(object).slice(0, 100)) {
    if (key.includes('.')) continue;
    if (typeof value === 'string' && value.length <= 80) yield { path: prefix + key, value };
    else if (isJsonObject(value) && depth < 3) yield* texts(value, `${prefix}${key}.`, depth + 1);
  }
}
