/** Longest id or short text that is taken over, in UTF-16 units; longer ones are not understood (the body keeps them). */
const MAX_TEXT = 300;

/** An object of a JSON text. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a field says nothing: absent, null or empty text. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** A value as text: trimmed, without what UTF-8 or a database's text cannot hold. */
export function textOf(value: unknown, max: number = MAX_TEXT): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const text = clean(value.trim());
  return text === '' || text.length > max ? null : text;
}

/** Lone surrogates have no UTF-8 form, and PostgreSQL's text refuses U+0000: both become U+FFFD. */
export function clean(text: string): string {
  const wellFormed = (text as string & { toWellFormed(): string }).toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

/** The host of an address, or a bare domain, in lower case: an address may carry a token in its query. */
export function hostOf(value: unknown): string | null {
  const text = textOf(value, 4000)?.toLowerCase() ?? null;
  if (text === null) return null;
  const host =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@)?([^/?#:]+)/.exec(text)?.[1] ??
    /^([^\s/?#:@]+\.[^\s/?#:@]+)/.exec(text)?.[1];
  return host === undefined || host.length > 253 ? null : host;
}
