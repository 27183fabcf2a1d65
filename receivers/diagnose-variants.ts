import type { Finding } from './finding.ts';
import type { SigningSecret } from './signature.ts';

/** A form that a body or a secret may have had; `finding` says what would have happened to it. */
export interface Variant<T> {
  readonly value: T;
  readonly finding: Finding | null;
}

const PROXY =
  'Configure the proxy, gateway, firewall or middleware in between to pass the body unchanged, byte for byte.';

/** Forms of which proxies, gateways and middleware make the one that arrived. The body may be any bytes. */
export function bodyVariants(body: Uint8Array): readonly Variant<Uint8Array>[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const variants: Variant<Uint8Array>[] = [];
  const altered = (value: Uint8Array, what: string) => {
    if (Buffer.compare(value, bytes) === 0) return;
    variants.push({
      value,
      finding: { code: 'body-altered', sentence: `The body was altered in transit: ${what}.`, remedy: PROXY },
    });
  };
  // Latin-1 keeps every byte, so replacing in the text replaces in the bytes.
  const text = bytes.toString('latin1');
  const asBytes = (changed: string) => Buffer.from(changed, 'latin1');
  altered(asBytes(text.replace(/(?<![\r\n])[\r\n]+$/, '')), 'line breaks were added at its end');
  altered(asBytes(text.trim()), 'white space was added around it');
  altered(asBytes(`${text}\n`), 'the line break at its end was removed');
  altered(asBytes(`${text}\r\n`), 'the line break at its end was removed');
  altered(asBytes(text.replaceAll('\r\n', '\n')), 'line breaks were converted to Windows style');
  altered(asBytes(text.replace(/\r?\n/g, '\r\n')), 'line breaks were converted from Windows style');
  altered(text.startsWith('\xef\xbb\xbf') ? bytes.subarray(3) : bytes, 'a byte order mark was added');
  altered(Buffer.concat([Buffer.from('\xef\xbb\xbf', 'latin1'), bytes]), 'the byte order mark was removed');
  altered(Buffer.from(bytes.toString('utf8'), 'latin1'), 'Latin-1 was converted to UTF-8');
  altered(Buffer.from(text, 'utf8'), 'UTF-8 was converted to Latin-1');
  for (const json of jsonForms(bytes)) {
    if (Buffer.compare(json, bytes) === 0) continue;
    variants.push({
      value: json,
      finding: {
        code: 'body-reserialised',
        sentence: 'The body is JSON that was parsed and serialised again in transit.',
        remedy: `${PROXY} The signature covers the raw bytes.`,
      },
    });
  }
  return variants;
}

/** The same JSON as JavaScript, Python and PHP write it by default, and indented; none when the body is no JSON. */
function jsonForms(bytes: Buffer): readonly Buffer[] {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
    const compact = JSON.stringify(value);
    const texts = [
      compact,
      JSON.stringify(value, null, 2),
      JSON.stringify(value, null, 4),
      JSON.stringify(value, null, '\t'),
      spaced(compact),
    ];
    const escaped = [...texts, ...texts.map(escapeNonAscii)];
    return [...escaped, ...escaped.map((text) => text.replaceAll('/', '\\/'))].map((text) => Buffer.from(text, 'utf8'));
  } catch {
    // No JSON, or nested deeper than it can be written.
    return [];
  }
}

/** Compact JSON with a space after each comma and colon outside strings, as Python writes it. */
function spaced(compact: string): string {
  let out = '';
  let inString = false;
  for (let i = 0; i < compact.length; i++) {
    const char = compact[i];
    out += char;
    if (inString && char === '\\') out += compact[++i] ?? '';
    else if (char === '"') inString = !inString;
    else if (!inString && (char === ',' || char === ':')) out += ' ';
  }
  return out;
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What a secret may have been meant to be: without what copying adds, or decoded. */
export function secretVariants(secret: SigningSecret): readonly Variant<string | Uint8Array>[] {
  const { id, value } = secret;
  const tidy = value
    .trim()
    .replace(/^(["'`])(.*)\1$/s, '$2')
    .trim();
  const variants: Variant<string | Uint8Array>[] = [];
  const untidy = (changed: string, what: string) => {
    if (changed === '' || changed === value) return;
    const remedy =
      'Set it again without them: only the bare value in a .env file, and no trailing line break in a secret file.';
    variants.push({
      value: changed,
      finding: { code: 'secret-untidy', sentence: `The secret "${id}" is stored with ${what}.`, remedy },
    });
  };
  untidy(value.trim(), 'white space around it');
  untidy(tidy, 'quotation marks around it');
  untidy(value.replace(/\s+/g, ''), 'white space in it');
  // A file with a line break at its end, on the side that signs.
  const lineBreak = {
    code: 'secret-untidy',
    sentence: `The service signs with the secret "${id}" followed by a line break.`,
    remedy: 'Set the secret again in the service.',
  } as const;
  variants.push({ value: `${value}\n`, finding: lineBreak });
  for (const text of new Set([value, tidy, tidy.replace(/^whsec_/, '')])) {
    const decoded = decodings(text);
    for (const { bytes, form } of decoded) {
      variants.push({
        value: bytes,
        finding: {
          code: 'secret-encoded',
          sentence: `The service signs with the bytes of the secret "${id}" decoded as ${form}.`,
          remedy: `Set its encoding: \`source change … --secret-encoding ${id}=${form}\`.`,
        },
      });
    }
  }
  for (const form of ['hex', 'base64'] as const) {
    variants.push({
      value: Buffer.from(tidy, 'utf8').toString(form),
      finding: {
        code: 'secret-encoded',
        sentence: `The service signs with the ${form} of the secret "${id}", as text.`,
        remedy: `Store the secret as ${form}.`,
      },
    });
  }
  return variants;
}

function decodings(text: string): readonly { bytes: Uint8Array; form: 'hex' | 'base64' }[] {
  const found: { bytes: Uint8Array; form: 'hex' | 'base64' }[] = [];
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) found.push({ bytes: Buffer.from(text, 'hex'), form: 'hex' });
  if (/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(text)) found.push({ bytes: Buffer.from(text, 'base64url'), form: 'base64' });
  return found;
}
