import { byName, foundBeforeConsent, type ScanItem } from '../src/core/site-inventory.ts';
import { type FieldName, fieldsOfFamilies } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import type { Occurred } from './occurred.ts';
import { hostOf, isJsonObject, type JsonObject, parseText, textOf, withoutAccents } from './parse.ts';
import type { Family, Payload } from './payload.ts';

/** A finished cookie scan. Listed items beyond the reader's limits, or in an unreadable form, are counted and stay in the body. */
export interface ScanFact {
  readonly type: 'scan';
  readonly scanId: string | null;
  readonly domain: string | null;
  readonly status: string | null;
  readonly cookiesFound: number | null;
  readonly trackersFound: number | null;
  readonly uncategorised: number | null;
  /** Items set before the visitor had chosen although they need consent; null: the scan does not say. */
  readonly beforeConsent: number | null;
  readonly score: number | null;
  /** True if it says that the scan failed, was cut short or is not finished: its list is then not an inventory. */
  readonly failed: boolean;
  /** Its findings one by one; null if it gives only numbers. */
  readonly items: readonly ScanItem[] | null;
  /** Whether `items` is everything on the site, so that what is missing is gone: it did not fail and lists more than what came before consent. */
  readonly isInventory: boolean;
  /** Listed items that could not be read. */
  readonly unreadItems: number;
  readonly occurred: Occurred;
}

/** The most cookies and trackers read from one scan; further ones are counted as unread. */
const MAX_ITEMS = 1000;
const MAX_NAME = 300;
const MAX_WORDS = 200;

/** What the place of a list says about all its items. */
type Group = Partial<Omit<ScanItem, 'name'>>;

interface ReadItems {
  readonly items: readonly ScanItem[] | null;
  /** Whether it lists what is on the site, and not only what came before consent. */
  readonly listsAll: boolean;
  readonly unreadItems: number;
  /** The kinds of items of which the scan has a list, even an empty one. */
  readonly kinds: ReadonlySet<ScanItem['kind']>;
  /** Whether it says anything about the category of any item. */
  readonly saysCategory: boolean;
}

const lists: readonly (readonly [FieldName, Group])[] = [
  ['scanCookies', { kind: 'cookie' }],
  ['scanTrackers', { kind: 'tracker' }],
  ['scanGroups', { kind: 'cookie' }],
  ['foundBeforeConsent', { beforeConsent: true }],
];

/**
 * The findings of a scan. Understands a list of names or objects; an object category → list; an object name → details
 * or category; lists by party, or of items set before consent; any of them as JSON in a string. An item in several
 * lists is one finding. `items` is null if the scan lists nothing, nothing readable, or an empty list next to a number
 * other than 0.
 */
function readScanItems(payload: Payload): ReadItems {
  const found = new Collector(payload);
  for (const [field, group] of lists) {
    found.listsAll = field !== 'foundBeforeConsent';
    for (const { value, path } of payload.each(field))
      if ((field !== 'scanGroups' || hasLists(value)) && found.collect(value, path, group)) break;
  }
  const { items, unreadItems, kinds, saysCategory, hasInventory } = found;
  const isEmpty = items.length === 0;
  // An empty inventory would mean that everything is gone.
  const stated = [...payload.each('cookiesFound'), ...payload.each('trackersFound')];
  const listed = found.listed && !(isEmpty && (unreadItems > 0 || stated.some(({ value }) => Number(value) > 0)));
  return {
    items: listed ? items.sort(byName) : null,
    listsAll: listed && hasInventory,
    unreadItems,
    kinds,
    saysCategory,
  };
}

/** Whether something by category holds lists, and not only the names of categories or numbers. */
function hasLists(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value)
    .slice(0, MAX_ITEMS)
    .some((one) => (isJsonObject(one) ? Array.isArray(listIn(one)) : !Array.isArray(value) && Array.isArray(one)));
}

class Collector {
  readonly items: ScanItem[] = [];
  listed = false;
  unreadItems = 0;
  readonly kinds = new Set<ScanItem['kind']>();
  saysCategory = false;
  /** Whether the list being read names what is on the site, rather than what came before consent. */
  listsAll = true;
  hasInventory = false;
  readonly #payload: Payload;
  readonly #byName = new Map<string, number[]>();

  constructor(payload: Payload) {
    this.#payload = payload;
  }

  /** Reads a value as a list; false if it is not one, for instance a number. */
  collect(value: unknown, path: string, group: Group): boolean {
    if (typeof value === 'string') {
      const json = /^\s*[[{]/.test(value) ? parseText(value) : undefined;
      return json !== undefined && typeof json !== 'string' && this.collect(json, path, group);
    }
    if (Array.isArray(value)) this.#list(value, path, group);
    else if (!isJsonObject(value) || !this.#object(value, path, group)) return false;
    this.listed = true;
    this.hasInventory ||= this.listsAll;
    const named = kindNamedIn(path);
    if (named !== null) this.kinds.add(named);
    return true;
  }

  #list(values: readonly unknown[], path: string, group: Group, isWithin = false): void {
    const before = this.unreadItems;
    for (const value of values) {
      const name = isJsonObject(value) ? undefined : nameOf(value);
      // Unreadable items count towards the limit too, so that a long list of them costs little.
      const nested =
        isWithin || !isJsonObject(value) ? null : listIn(value, /^(?:items|list|cookies|trackers|entries)$/);
      if (this.items.length + this.unreadItems >= MAX_ITEMS) this.unreadItems += 1;
      else if (isJsonObject(value)) this.#part(value, Array.isArray(nested) ? nested : null, path, group);
      else if (typeof name === 'string') this.#put({ ...unknown, ...group, kind: group.kind ?? kindAt(path), name });
      else this.unreadItems += 1;
    }
    if (this.unreadItems > before) this.#payload.puzzle(path);
  }

  /** An item, or a category with the list of its items. */
  #part(value: JsonObject, nested: readonly unknown[] | null, path: string, group: Group): void {
    const inner = this.#payload.within(value);
    if (nested === null || (group.kind === 'tracker' && inner.first('itemName', nameOf) !== null)) {
      this.#add(inner, group);
      return;
    }
    const category = inner.first('itemCategory', categoryOf) ?? inner.first('itemName', categoryOf);
    this.#list(nested, path, category === null ? group : { ...group, category }, true);
  }

  #object(value: JsonObject, path: string, group: Group): boolean {
    const all = Object.keys(value);
    const keys = all.slice(0, MAX_ITEMS);
    const inner = this.#payload.within(value);
    if (inner.first('itemName', nameOf) !== null && isItem(inner)) return this.#add(inner, group);
    if (keys.length > 0 && keys.every((key) => typeof value[key] === 'string' && !/^[\s\d.%]*$/.test(value[key]))) {
      for (const key of keys) {
        const name = nameOf(key);
        const category = categoryOf(value[key]);
        if (name === null) this.unreadItems += 1;
        else this.#put({ ...unknown, ...group, kind: group.kind ?? kindAt(path), name, category });
      }
      return this.#read(value, path, all.length - keys.length);
    }
    let any = false;
    for (const key of keys) {
      const part = value[key];
      const nested = isJsonObject(part) ? listIn(part) : part;
      const at = `${path}.${key}`;
      if (Array.isArray(nested)) this.#list(nested, at, { ...group, ...groupOf(key) });
      else if (isJsonObject(part) && isItem(this.#payload.within(part)))
        this.#add(this.#payload.within(part), group, nameOf(key));
      else continue;
      any = true;
    }
    return any && this.#read(value, path, all.length - keys.length);
  }

  #read(value: JsonObject, path: string, left: number): true {
    this.unreadItems += left;
    if (left > 0) this.#payload.puzzle(path);
    this.#payload.use(value);
    return true;
  }

  #add(item: Payload, group: Group, key: string | null = null): boolean {
    const name = key ?? item.first('itemName', nameOf);
    if (name === null || this.items.length >= MAX_ITEMS) {
      this.unreadItems += 1;
      return true;
    }
    const kind = item.first('itemKind', kindOf);
    for (const { value, path } of item.each('itemCategory')) this.saysCategory ||= statesCategory(value, path);
    this.#put({
      name,
      kind: kind ?? group.kind ?? 'tracker',
      category: item.first('itemCategory', categoryOf) ?? group.category ?? null,
      domain: item.first('itemDomain', domainOf) ?? group.domain ?? null,
      provider: item.first('itemProvider', (value) => textOf(value, MAX_WORDS)) ?? null,
      beforeConsent: item.first('itemBeforeConsent', flagOf) ?? group.beforeConsent ?? null,
      thirdParty: item.first('itemParty', partyOf) ?? group.thirdParty ?? null,
    });
    return true;
  }

  /**
   * Completes an item named in an earlier list. Of two words the first counts, but once a tracker or set before
   * consent, it stays so.
   */
  #put(item: ScanItem): void {
    this.saysCategory ||= item.category !== null;
    if (this.listsAll) this.kinds.add(item.kind);
    const places = this.#byName.get(item.name) ?? [];
    const place = places.find((one) => {
      const { domain } = this.items[one] ?? item;
      return domain === item.domain || domain === null || item.domain === null;
    });
    if (place === undefined) {
      if (this.items.length >= MAX_ITEMS) {
        this.unreadItems += 1;
        return;
      }
      this.#byName.set(item.name, [...places, this.items.length]);
      this.items.push(item);
      return;
    }
    const known = this.items[place] ?? item;
    this.items[place] = {
      name: known.name,
      kind: known.kind === 'tracker' || item.kind === 'tracker' ? 'tracker' : 'cookie',
      category: known.category ?? item.category,
      domain: known.domain ?? item.domain,
      provider: known.provider ?? item.provider,
      beforeConsent:
        known.beforeConsent === true || item.beforeConsent === true
          ? true
          : (known.beforeConsent ?? item.beforeConsent),
      thirdParty: known.thirdParty ?? item.thirdParty,
    };
  }
}

const unknown: Omit<ScanItem, 'name' | 'kind'> = {
  category: null,
  domain: null,
  provider: null,
  beforeConsent: null,
  thirdParty: null,
};

/** Whether an object states something besides a name that only a cookie or tracker has. */
function isItem(part: Payload): boolean {
  return (
    part.first('itemCategory', categoryOf) !== null ||
    part.first('itemDomain', domainOf) !== null ||
    part.first('itemBeforeConsent', flagOf) !== null ||
    part.first('itemParty', partyOf) !== null ||
    part.first('itemProvider', (value) => textOf(value, MAX_WORDS)) !== null
  );
}

function listIn(part: JsonObject, names = /^(?:items|list|cookies|trackers|entries|details)$/): unknown {
  const key = Object.keys(part).find((one) => Array.isArray(part[one]) && names.test(normaliseName(one)));
  return key === undefined ? part : part[key];
}

/** What a list's key means: a party, before consent, a kind, nothing, or a category. */
function groupOf(key: string): Group {
  const name = normaliseName(key);
  if (/^(?:first|third)party/.test(name)) return { thirdParty: name.startsWith('third') };
  if (/^(?:before|pre|prior|without)/.test(name)) return { beforeConsent: true };
  if (/^(?:after|post|with)consent/.test(name)) return { beforeConsent: false };
  if (/^(?:items|list|all|found|details|entries)$/.test(name)) return {};
  if (/^cookies?$/.test(name)) return { kind: 'cookie' };
  if (/^trackers?$/.test(name)) return { kind: 'tracker' };
  const category = categoryOf(key);
  return category === null ? {} : { category };
}

function kindAt(path: string): ScanItem['kind'] {
  return /cookie/i.test(path.split('.').at(-1) ?? '') ? 'cookie' : 'tracker';
}

/** The kind of item that the name of a list states; null: a list of findings of any kind, or what came before consent. */
function kindNamedIn(path: string): ScanItem['kind'] | null {
  if (/consent/i.test(path)) return null;
  return /cookie/i.test(path) ? 'cookie' : /tracker|script|pixel/i.test(path) ? 'tracker' : null;
}

/** A name; for an address its host and path, since a query may contain anything. */
function nameOf(value: unknown): string | null {
  const text = textOf(value, 4000);
  if (text === null) return null;
  const name = /^(?:https?:)?\/\//i.test(text)
    ? text.replace(/[?#].*$/s, '').replace(/^((?:https?:)?\/\/)[^/]*@/i, '$1')
    : text;
  return name.length > MAX_NAME ? null : name;
}

/** Words that a scan uses for an item without a category, without separators and accents, in nine languages. */
const noCategory: ReadonlySet<string> = new Set(
  (
    'uncategorised uncategorized unclassified unknown unassigned notcategorised notcategorized notclassified none other others na null ' +
    'nichtkategorisiert nichtklassifiziert unklassifiziert unkategorisiert unbekannt sonstige keine nonclasse nonclasses nonclassifie nonclassifies ' +
    'noncategorise inconnu inconnus autre autres sinclasificar noclasificadas noclasificado noclasificados sincategoria desconocido desconocidas otros otras ' +
    'nonclassificati nonclassificato nonclassificata noncategorizzati sconosciuto sconosciuti altri altro nietgeclassificeerd ongeclassificeerd ' +
    'nietgecategoriseerd onbekend overig overige naoclassificado naoclassificados naocategorizado semcategoria desconhecido outros niesklasyfikowane ' +
    'niesklasyfikowany nieskategoryzowane niezaklasyfikowane nieznane inne oklassificerade oklassificerad okategoriserade okategoriserad okand okanda ovriga'
  ).split(' '),
);

/** Values of a field `type` that are a category; it may also state the kind of storage. */
const CATEGORY_WORD =
  /necess|essential|function|prefer|analytic|statistic|perform|market|advert|target|social|notwend|erforderl|funktion|praferenz|statisti|werb|essentiel|publicit|mesure|necesari|analitic|analitik|estadist|essenzial|noodzakel|voorkeur|necessar|niezbed|funkcjonal|nodvand/;

function wordOf(text: string): string {
  return withoutAccents(text).replace(/[^a-z0-9]+/g, '');
}

/** Whether a field says something about a category, if only that there is none. */
function statesCategory(value: unknown, path: string): boolean {
  return typeof value === 'string' && (!/(?:^|\.)type$/i.test(path) || CATEGORY_WORD.test(withoutAccents(value)));
}

function categoryOf(value: unknown, path = ''): string | null {
  if (typeof value !== 'string' || !statesCategory(value, path)) return null;
  const text = textOf(value, MAX_WORDS);
  // “Unclassified cookies” too.
  return text === null || noCategory.has(wordOf(text).replace(/cookies?$/, '')) ? null : text;
}

function domainOf(value: unknown): string | null {
  return hostOf(value)?.replace(/^\.+/, '') || null;
}

function kindOf(value: unknown, path: string): ScanItem['kind'] | null {
  if (typeof value === 'boolean') return /track/i.test(path) ? (value ? 'tracker' : null) : null;
  if (typeof value !== 'string') return null;
  if (/track|pixel|beacon|script|fingerprint/i.test(value)) return 'tracker';
  return /cookie/i.test(value) ? 'cookie' : null;
}

function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const word = normaliseName(textOf(value, 40) ?? '');
  if (/^(?:true|yes|1|before|beforeconsent|pre|preconsent|prior|priortoconsent)$/.test(word)) return true;
  return /^(?:false|no|0|after|afterconsent|post|postconsent)$/.test(word) ? false : null;
}

/** True for a third party. A flag named like `first_party` means the opposite. */
function partyOf(value: unknown, path: string): boolean | null {
  const word = normaliseName(textOf(value, 40) ?? '');
  if (/^(?:third|3rd)/.test(word)) return true;
  if (/^(?:first|1st)/.test(word)) return false;
  const flag = flagOf(value);
  return flag === null ? null : flag !== /first/i.test(path.split('.').at(-1) ?? '');
}

/** Flags by which a scan says that its result is not complete, if they are true or false. */
const incompleteFlags = ['partial', 'is_partial', 'incomplete', 'is_incomplete', 'truncated', 'failed', 'aborted'];
const completeFlags = ['complete', 'is_complete', 'completed', 'is_completed', 'finished', 'success', 'succeeded'];

/** A finished scan (docs/service.md §6, cookie_scan.completed; its payload is not documented). */
export const scanFamily: Family<ScanFact> = {
  type: 'scan',
  events: ['cookie_scan.completed'],
  objects: ['scan', 'cookie_scan', 'result', 'results', 'summary', 'report', 'totals'],
  fields: ['eventId', 'occurredAt', ...fieldsOfFamilies('scan')],
  fieldsWithin: fieldsOfFamilies('scanItem'),
  alsoReads: ['pages', 'pages_scanned', ...incompleteFlags, ...completeFlags],
  eventIdOf: ({ scanId }) => scanId,
  read: (_event, payload): ScanFact => {
    const { items, listsAll, unreadItems, kinds, saysCategory } = readScanItems(payload);
    const count = (of: (item: ScanItem) => boolean) => items?.filter(of).length ?? null;
    const countKind = (wanted: ScanItem['kind']) => (kinds.has(wanted) ? count(({ kind }) => kind === wanted) : null);
    const status = payload.text('scanStatus');
    const failed = isUnfinished(status, payload);
    const before = beforeConsentIn(payload, items);
    return {
      type: 'scan',
      scanId: payload.text('scanId'),
      domain: payload.first('scanDomain', hostOf),
      status,
      cookiesFound: payload.first('cookiesFound', countOf) ?? countKind('cookie'),
      trackersFound: payload.first('trackersFound', countOf) ?? countKind('tracker'),
      uncategorised:
        payload.first('uncategorised', countOf) ?? (saysCategory ? count(({ category }) => category === null) : null),
      // If a failed scan found none, that says nothing.
      beforeConsent: failed && before === 0 ? null : before,
      score: payload.first('score', numberOf),
      failed,
      items,
      isInventory: listsAll && !failed,
      unreadItems,
      occurred: payload.occurred('scannedAt', 'occurredAt', 'scanCreatedAt'),
    };
  },
};

/**
 * What was set before consent although it needs consent: the largest of the numbers stated and the items listed; null:
 * nothing is stated.
 */
function beforeConsentIn(payload: Payload, items: readonly ScanItem[] | null): number | null {
  const counts: number[] = [];
  const saysWhen = items?.some(({ beforeConsent }) => beforeConsent !== null) === true;
  if (items !== null && saysWhen) counts.push(foundBeforeConsent(items).length);
  for (const { value } of payload.each('trackersBeforeConsent')) {
    // A list was read item by item: some of it may be necessary.
    const count = Array.isArray(value) && value.length > 0 && saysWhen ? null : countOf(value);
    if (count !== null) counts.push(count);
  }
  return counts.length === 0 ? null : Math.max(...counts);
}

/** Parts of words for a scan without a complete result, without separators and accents, in nine languages. */
const UNFINISHED =
  /fail|error|abort|cancel|partial|partly|incomplete|timed?out|interrupt|notcomplet|unfinished|running|queue|pending|progress|processing|started|starting|scheduled|waiting|created|skipp|block|unreach|paus|stopp|truncat|crawling|scanning|fehler|fehlgeschl|abgebroch|teilweise|unvollst|lauft|laufend|wartend|geplant|nichtabgeschl|echec|echou|partiel|encours|enattente|annul|parcial|fallid|fallo|pendiente|encurso|parziale|fallit|incorso|inattesa|gedeeltelijk|mislukt|bezig|wacht|falh|pendente|emandamento|czesciow|blad|niepowodz|wtrakcie|oczekuj|delvis|misslyck|pagar|vantar/;

function isUnfinished(status: string | null, payload: Payload): boolean {
  const word = status === null ? '' : wordOf(status);
  return (
    word === 'new' ||
    UNFINISHED.test(word) ||
    incompleteFlags.some((name) => payload.named(name) === true) ||
    completeFlags.some((name) => payload.named(name) === false)
  );
}

/** A count: a whole number of at least zero, its digits, or the length of a list. */
function countOf(value: unknown): number | null {
  if (Array.isArray(value)) return value.length;
  const number = numberOf(value);
  return number !== null && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** A number or its digits, optionally followed by a percent sign or `/100`. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string') return null;
  const digits = /^\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*(?:(?:%|\/\s*100)\s*)?$/.exec(value)?.[1];
  return digits === undefined ? null : Number(digits);
}
