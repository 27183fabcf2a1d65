/** The text fields of a form, with values that can be stored (JSON may contain half a surrogate pair). */
export function formOf(body: unknown): Readonly<Record<string, string>> {
  const entries = typeof body === 'object' && body !== null ? Object.entries(body as Record<string, unknown>) : [];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, Buffer.from(value).toString()]] : [])),
  );
}
