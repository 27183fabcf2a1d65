import { decompressed } from '../../receivers/unpack.ts';

/**
 * Searches for identifiers in bytes from outside in any spelling: in upper or lower case, escaped as in JSON (RFC 8259,
 * 7) or percent-encoded (RFC 3986, 2.1), also as in forms. An identifier must stand alone: `ann@example.org` is not in
 * `joann@example.org` or `ann@example.org.uk`. Compressed bytes are decompressed, if the compression can be recognised or its
 * Content-Encoding is given. Null: no identifier is long enough to search for.
 */
export function mentionsOf(
  identifiers: readonly string[],
): ((bytes: Uint8Array, encoding?: string | null) => boolean) | null {
  const wanted = [...new Set(identifiers.map(folded))].filter((one) => one.length >= 4);
  if (wanted.length === 0) return null;
  const alternatives = wanted.map((one) => one.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|');
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}_+-]|[\p{L}\p{N}_]\.)(?:${alternatives})(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`,
    'u',
  );
  const isIn = (text: string) => pattern.test(folded(text));
  return (bytes, encoding = null) => {
    const unpacked = decompressed(bytes, encoding);
    const plain = 'plain' in unpacked ? unpacked.plain : bytes;
    const text = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString('utf8');
    if (isIn(text) || (text.includes('\\') && isIn(withoutEscapes(text)))) return true;
    if (!text.includes('%')) return false;
    const decoded = withoutPercents(text);
    return isIn(decoded) || isIn(withoutEscapes(decoded)) || isIn(withoutPercents(withoutEscapes(text)));
  };
}

const folded = (text: string): string => text.trim().normalize('NFC').toLowerCase();

const shortEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, hex: string | undefined, one: string | undefined) =>
    hex === undefined ? (shortEscapes[one ?? ''] ?? one ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Percent-encoded bytes are read as UTF-8; invalid UTF-8 becomes U+FFFD. */
function withoutPercents(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}
