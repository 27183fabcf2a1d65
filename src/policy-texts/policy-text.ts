import { parseJson } from '../core/json.ts';
import { isWellFormed } from '../crypto/canonical.ts';
import { sha256Hex } from '../crypto/hash.ts';

/**
 * HTML as the lines that a reader sees, for hashing and comparing texts: headings with `#`, list items with `-`, the
 * address of a link after its words (without its query, which may contain a token), everything else plain. One pass,
 * linear in the length whatever the content; broken HTML gives some text, never an error.
 */
export function htmlLines(html: string): string[] {
  const lines: string[] = [];
  let line = '';
  let prefix = '';
  // Tracked separately: examining a long line again for each cell of a table would take quadratic time.
  let isBlank = true;
  const links: string[] = [];
  const endLine = (nextPrefix = ''): void => {
    const text = line.replace(/[ \t\r\n\f\u00a0]+/g, ' ').trim();
    if (text !== '') lines.push(prefix + text);
    line = '';
    prefix = nextPrefix;
    isBlank = true;
  };
  const add = (text: string): void => {
    line += text;
    isBlank &&= text.trim() === '';
  };
  const addTag = ({ name, closes, tag }: Tag): void => {
    if (blocks.has(name)) endLine(closes ? '' : prefixOf(name));
    else if ((name === 'td' || name === 'th') && !closes && !isBlank) add(' | ');
    else if (name === 'a' && !closes) links.push(linkTarget(tag));
    else if (name === 'a') {
      const target = links.pop() ?? '';
      if (target !== '') add(` <${target}>`);
    }
  };
  for (const piece of visiblePieces(html)) {
    if (typeof piece === 'string') add(piece);
    else addTag(piece);
  }
  endLine();
  return lines;
}

interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly closes: boolean;
  /** With brackets and attributes. */
  readonly tag: string;
}

/** Texts and tags in order, without comments, declarations and elements that no reader sees. */
function* visiblePieces(html: string): Generator<string | Tag> {
  let at = 0;
  for (let open = html.indexOf('<'); open !== -1; open = html.indexOf('<', at)) {
    if (open > at) yield decodeEntities(html.slice(at, open));
    const name = tagNameAt(html, open);
    if (name !== null) {
      const end = tagEnd(html, open);
      if (!unseen.has(name)) yield { name, closes: html[open + 1] === '/', tag: html.slice(open, end) };
      at = unseen.has(name) ? afterClosing(html, name, end) : end;
    } else if (html.startsWith('<!--', open)) at = afterNext(html, '-->', open + 4);
    else if (html[open + 1] === '!' || html[open + 1] === '?') at = afterNext(html, '>', open);
    else {
      yield '<';
      at = open + 1;
    }
  }
  yield decodeEntities(html.slice(at));
}

/** The position after the next `sign`; the end of the text if there is none. */
function afterNext(html: string, sign: string, from: number): number {
  const at = html.indexOf(sign, from);
  return at === -1 ? html.length : at + sign.length;
}

/** Whether a text looks like HTML: it contains a usual tag. */
function looksLikeHtml(text: string): boolean {
  return /<(?:!doctype|html|body|article|section|div|p|h[1-6]|ul|ol|li|br|span|table|a)\b[^<]*>/i.test(text);
}

const unseen = new Set(['script', 'style', 'head', 'template', 'noscript', 'svg', 'title']);
const blocks = new Set(
  'address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);

function prefixOf(name: string): string {
  if (name === 'li') return '- ';
  return /^h[1-6]$/.test(name) ? `${'#'.repeat(Number(name[1]))} ` : '';
}

/** The lower-case name of the tag that begins at `open`; null if there is none. */
function tagNameAt(html: string, open: number): string | null {
  const start = html[open + 1] === '/' ? open + 2 : open + 1;
  return /^[a-z][a-z0-9]*/i.exec(html.slice(start, start + 20))?.[0].toLowerCase() ?? null;
}

/** The position after the closing tag of an invisible element; the end of the text if it is not closed. */
function afterClosing(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at !== -1; at = html.indexOf('</', at + 2)) {
    if (tagNameAt(html, at) === name) return tagEnd(html, at);
  }
  return html.length;
}

/** The position after the `>` that ends the tag, ignoring any in quoted attributes. */
function tagEnd(html: string, open: number): number {
  let quote = '';
  for (let at = open + 1; at < html.length; at += 1) {
    const sign = html[at] as string;
    if (quote !== '') {
      if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '>') return at + 1;
  }
  return html.length;
}

/** The target of a link, if it is outside the page. */
function linkTarget(tag: string): string {
  const found = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i.exec(tag);
  const target = decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
  return /^(?:https?:|mailto:|\/)/i.test(target) ? target.replace(/[?#].*$/s, '') : '';
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  shy: '',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  copy: '©',
  reg: '®',
  trade: '™',
  sect: '§',
  middot: '·',
  bull: '•',
  euro: '€',
  pound: '£',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
};

/** The character references that occur in texts; others stay as written. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{1,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(named, name as string) ? (named[name as string] as string) : whole;
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
    const allowed = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return allowed ? String.fromCodePoint(code) : '\ufffd';
  });
}

/** The text that a reader sees, extracted from a response. */
interface PolicyText {
  /**
   * How it was extracted, which determines the meaning of its hash. `json`: no text was found in the JSON, so all of it
   * is used.
   */
  readonly form: 'html/1' | 'plain/1' | 'json/1';
  readonly lines: readonly string[];
  /** Hash of the lines joined by line feeds, UTF-8, lower-case hex. */
  readonly sha256: string;
  /** The id of the policy named in the response; null if there is none. */
  readonly policyId: string | null;
}

/**
 * Where the text may be in a response of the embed endpoint, whose shape is not documented (docs/assumptions.md).
 * Displayed forms come first.
 */
const textFields = ['html', 'content_html', 'markdown', 'content', 'text', 'body'] as const;
const idFields = ['id', 'policy_id', 'policyId'] as const;
const MAX_DEPTH = 3;
/**
 * JSON nested more deeply than this is treated as plain text: if it were pretty-printed, its indentation would exhaust
 * memory.
 */
const MOST_LEVELS = 100;

/**
 * Reads the visible text from a response: the words of a page, or the field of JSON that contains the text. Texts that
 * differ only in markup, other fields or the queries of links are equal. Never throws.
 */
export function readPolicyText(bytes: Uint8Array, contentType: string | null): PolicyText {
  const text = new TextDecoder('utf-8').decode(bytes);
  const json = contentType !== null && /\bhtml\b/i.test(contentType) ? undefined : readJson(text);
  if (json === undefined) return plainOrHtml(text, null);
  const holder = findText(json);
  const policyId = holder?.policyId ?? null;
  if (holder !== null) return plainOrHtml(holder.text, policyId);
  if (typeof json === 'string') return plainOrHtml(json, null);
  if (isDeeper(json, MOST_LEVELS)) return plainOrHtml(text, null);
  return textOf('json/1', withoutTokens(JSON.stringify(json, null, 1)).split('\n'), policyId);
}

/** A text without the queries in its addresses: the service puts tokens there (docs/service.md §2.2, §4.7). */
export function withoutTokens(text: string): string {
  return (
    text
      // Searches backwards from each "?", because searching forwards from each of many addresses in one word would take
      // far longer.
      .replace(/\?(?<=https?:\/\/[^\s"'<>?#\\]{1,2000}\?)[^\s"'<>#\\]*/gi, '?…')
      .replace(/([?&;](?:token|siteKey|key|signature)=)[^\s"'<>&#\\…]+/gi, '$1…')
  );
}

function plainOrHtml(text: string, policyId: string | null): PolicyText {
  if (looksLikeHtml(text)) return textOf('html/1', htmlLines(text).map(withoutTokens), policyId);
  const lines = withoutTokens(text).split(/\r\n|\r|\n/);
  return textOf(
    'plain/1',
    lines.map((line) => line.trimEnd()).filter((line) => line !== ''),
    policyId,
  );
}

function textOf(form: PolicyText['form'], lines: readonly string[], policyId: string | null): PolicyText {
  // JSON can contain a lone surrogate, which no entry, page or document can store.
  const whole = lines.map((line) => (line as string & { toWellFormed(): string }).toWellFormed());
  return { form, lines: whole, sha256: sha256Hex(Buffer.from(whole.join('\n'), 'utf8')), policyId };
}

/** The object nearest to the top that has a text, checking fields in order of preference. */
function findText(json: unknown): { text: string; policyId: string | null } | null {
  let level: unknown[] = [json];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const objects = level.filter(isObject);
    for (const object of objects) {
      for (const field of textFields) {
        const value = Object.hasOwn(object, field) ? object[field] : undefined;
        if (typeof value === 'string' && value.trim() !== '') return { text: value, policyId: idOf(object) };
      }
    }
    // Not into lists: a list of policies is not the text of one.
    level = objects.flatMap((object) => Object.values(object).filter(isObject));
  }
  return null;
}

function idOf(object: Record<string, unknown>): string | null {
  for (const field of idFields) {
    const value = Object.hasOwn(object, field) ? object[field] : undefined;
    if (typeof value === 'string' && value !== '' && value.length <= 200 && isWellFormed(value)) return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether JSON is nested more deeply than any real response. Pretty-printed, it would grow with the square of its
 * depth.
 */
function isDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length && depth <= 100; at += 1) {
    const sign = text[at];
    if (sign === '\\') at += 1;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === '[' || sign === '{')) depth += 1;
    else if (!isQuoted && (sign === ']' || sign === '}')) depth -= 1;
  }
  return depth > 100;
}

function readJson(text: string): unknown {
  const start = text.trimStart()[0];
  if ((start !== '{' && start !== '[' && start !== '"') || isDeep(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
