/**
 * Like JSON.parse, with the right keys on every engine. Since V8 12.8 (Node 24 and 26), JSON.parse may return a
 * different key from the one in the text, if the key is written with an escape and the process has seen a certain key
 * with a backslash: after `{"\\":1}`, it reads `{"\"":1}` as `{"\\":1}` (https://github.com/nodejs/node/issues/63785).
 * So the sender of one body could change how the next one is read. Use this function wherever keys come from outside.
 * `readNumber` is called with the text of every number. Throws SyntaxError.
 */
export function parseJson(text: string, readNumber?: (token: string) => unknown): unknown {
  const value: unknown = JSON.parse(text);
  if (readNumber === undefined && !mayEscapeKeys(text)) return value;
  return parseByToken(text, readNumber ?? Number);
}

/** Whether a key may be written with an escape; then only {@link parseJson} reads it right. */
export function mayEscapeKeys(text: string): boolean {
  return escapeInKey.test(text);
}

/** Matches the last escape of every key that has one, and little else: a value seldom contains a quote before a colon. */
const escapeInKey = /\\.[^"\\]*"[ \t\r\n]*:/;

const literals: Readonly<Record<string, unknown>> = { null: null, true: true, false: false };

/** Parses a valid JSON text, however deeply it is nested. */
function parseByToken(text: string, readNumber: (token: string) => unknown): unknown {
  let values: unknown[] = [];
  const outer: unknown[][] = [];
  for (let at = 0; at < text.length; ) {
    const sign = text.charAt(at);
    const end = sign === '"' ? endOfString(text, at) : at + 1;
    if (sign === '{' || sign === '[') {
      outer.push(values);
      values = [];
    } else if (sign === '}' || sign === ']') {
      const value = sign === ']' ? values : objectOf(values);
      values = outer.pop() ?? [];
      values.push(value);
    } else if (sign === '"') {
      values.push(JSON.parse(text.slice(at, end)));
    } else if (!betweenValues.test(sign)) {
      scalar.lastIndex = at;
      const [token = sign] = scalar.exec(text) ?? [];
      values.push(token in literals ? literals[token] : readNumber(token));
      at += token.length;
      continue;
    }
    at = end;
  }
  return values[0];
}

const betweenValues = /[:, \t\r\n]/;
const scalar = /[^,\]} \t\r\n]+/y;

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Deeper texts are not indented: their indentation would be many times as long as they are. */
const DEEPEST = 100;

/**
 * JSON with line breaks, each token as it was written: parsing would round long numbers. Other text unchanged. Ends after
 * `most` characters.
 */
export function indentJson(text: string, most = Infinity): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let [indented, depth, before] = ['', 0, ''];
  for (const [token] of text.matchAll(tokens)) {
    const [opens, closes] = ['{['.includes(before), '}]'.includes(token)];
    if (closes) depth -= 1;
    if (before !== '' && (opens ? !closes : closes || before === ',')) indented += `\n${'  '.repeat(depth)}`;
    indented += token === ':' ? ': ' : token;
    if ('{['.includes(token)) depth += 1;
    if (depth > DEEPEST) return text;
    if (indented.length > most) return indented;
    before = token;
  }
  return indented;
}

/** An object from keys and values in turn. `__proto__` is a key like any other, as in JSON.parse. */
function objectOf(members: readonly unknown[]): object {
  const entries: [string, unknown][] = [];
  for (let i = 0; i < members.length; i += 2) entries.push([members[i] as string, members[i + 1]]);
  return Object.fromEntries(entries);
}

/** The position after the string that begins at `start`; the end of the text if it does not end. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === 0x5c) before -= 1;
  return (at - before) % 2 === 0;
}
