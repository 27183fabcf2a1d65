import { isWellFormed } from './canonical.ts';
import { sha256Hex } from './hash.ts';
import { htmlLines, looksLikeHtml } from './html-text.ts';

/** The text that a reader sees, out of an answer that may hold more than that. */
export interface PolicyText {
  /** How it was found; part of what a hash of it means. `json`: no text was found in the JSON, so all of it counts. */
  readonly form: 'html/1' | 'plain/1' | 'json/1';
  readonly lines: readonly string[];
  /** Of the lines joined by line feeds, UTF-8, lower-case hex. */
  readonly sha256: string;
  /** The id of the policy that the answer names; null where it names none. */
  readonly policyId: string | null;
}

/** Where the text may be in an answer of the embed endpoint, whose shape is not documented (docs/assumptions.md). What is shown goes first. */
const textFields = ['html', 'content_html', 'markdown', 'content', 'text', 'body'] as const;
const idFields = ['id', 'policy_id', 'policyId'] as const;
const MAX_DEPTH = 3;
/** JSON that is nested deeper counts as plain text: written out, its indentation would take more memory than there is. */
const MOST_LEVELS = 100;

/**
 * Reads the visible text out of an answer: of a page its words, of JSON the field that holds the text. Texts that differ only in
 * mark-up, in fields beside the text or in the query of a link are equal. Never throws.
 */
export function readPolicyText(bytes: Uint8Array, contentType: string | null): PolicyText {
  const text = new TextDecoder('utf-8').decode(bytes);
  const json = contentType !== null && /\bhtml\b/i.test(contentType) ? undefined : parseJson(text);
  if (json === undefined) return plainOrHtml(text, null);
  const holder = findText(json);
  const policyId = holder?.policyId ?? null;
  if (holder !== null) return plainOrHtml(holder.text, policyId);
  if (typeof json === 'string') return plainOrHtml(json, null);
  if (isDeeper(json, MOST_LEVELS)) return plainOrHtml(text, null);
  return textOf('json/1', withoutTokens(JSON.stringify(json, null, 1)).split('\n'), policyId);
}

/** A text with the queries of its addresses taken out: the service puts tokens there (docs/service.md §2.2, §4.7). */
export function withoutTokens(text: string): string {
  return (
    text
      // Looks back from each "?": forward, from each of many addresses in one word, would take far longer.
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
  return { form, lines, sha256: sha256Hex(Buffer.from(lines.join('\n'), 'utf8')), policyId };
}

/** The object nearest to the top that has a text, field by field in the order of preference. */
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
    // Not into lists: a list of policies is no text of one.
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

/** Whether JSON is nested deeper than any answer is: laid out in lines it would grow with the square of its depth. */
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

function parseJson(text: string): unknown {
  const start = text.trimStart()[0];
  if ((start !== '{' && start !== '[' && start !== '"') || isDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
