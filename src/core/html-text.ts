/**
 * HTML as the lines that a reader sees, for hashing and comparing texts: headings with `#`, list items with `-`, the address of a link
 * behind its words (without its query, which may hold a token), everything else plain. One pass, linear in the length whatever is
 * in it; broken HTML gives some text, never an error.
 */
export function htmlLines(html: string): string[] {
  const lines: string[] = [];
  let line = '';
  let prefix = '';
  // Kept beside the line: looking at a long line again for each cell of a table would take the square of its length.
  let isBlank = true;
  const links: string[] = [];
  const endLine = (): void => {
    const text = line.replace(/[ \t\r\n\f\u00a0]+/g, ' ').trim();
    if (text !== '') lines.push(prefix + text);
    line = '';
    prefix = '';
    isBlank = true;
  };
  const add = (text: string): void => {
    line += text;
    isBlank &&= text.trim() === '';
  };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) {
      add(decodeEntities(html.slice(at)));
      break;
    }
    add(decodeEntities(html.slice(at, open)));
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      at = end === -1 ? html.length : end + 3;
      continue;
    }
    const name = tagNameAt(html, open);
    if (name === null) {
      if (html[open + 1] === '!' || html[open + 1] === '?') {
        const end = html.indexOf('>', open);
        at = end === -1 ? html.length : end + 1;
      } else {
        add('<');
        at = open + 1;
      }
      continue;
    }
    const end = tagEnd(html, open);
    if (unseen.has(name)) {
      at = behindClosing(html, name, end);
      continue;
    }
    const closes = html[open + 1] === '/';
    if (name === 'a') {
      if (closes) {
        const target = links.pop() ?? '';
        if (target !== '') add(` <${target}>`);
      } else links.push(linkTarget(html.slice(open, end)));
    } else if (name === 'td' || name === 'th') {
      if (!closes && !isBlank) add(' | ');
    } else if (blocks.has(name)) {
      endLine();
      if (!closes) prefix = prefixOf(name);
    }
    at = end;
  }
  endLine();
  return lines;
}

/** Whether a text is meant as HTML: it has a tag of the usual ones. */
export function looksLikeHtml(text: string): boolean {
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

/** The lower-case name of the tag that begins at `open`; null when none does. */
function tagNameAt(html: string, open: number): string | null {
  const start = html[open + 1] === '/' ? open + 2 : open + 1;
  return /^[a-z][a-z0-9]*/i.exec(html.slice(start, start + 20))?.[0].toLowerCase() ?? null;
}

/** Behind the closing tag of an element whose content nobody sees; the end of the text where it is not closed. */
function behindClosing(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at !== -1; at = html.indexOf('</', at + 2)) {
    if (tagNameAt(html, at) === name) return tagEnd(html, at);
  }
  return html.length;
}

/** Behind the `>` that ends the tag; one in a quoted attribute does not. */
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

/** Where a link leads, if that is outside the page. */
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

/** The character references that texts have; others stay as they are written. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{1,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(named, name as string) ? (named[name as string] as string) : whole;
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
    const allowed = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return allowed ? String.fromCodePoint(code) : '\ufffd';
  });
}
