import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../src/core/json.ts';
import { signingKeyOf } from '../src/crypto/keys.ts';
import {
  type HeaderValues,
  SIGNATURE_256_HEADER,
  SIGNATURE_HEADER,
  type SignatureInput,
  type SigningSecret,
  verifySignature,
} from './signature-node.ts';
import { decompressed } from './unpack.ts';

export interface DiagnoseInput extends SignatureInput {
  /** Former secrets and those of other sources, only to recognise that one of them was used. */
  readonly otherSecrets?: readonly SigningSecret[];
}

/**
 * Explains why a delivery's signature failed, most informative finding first; for the operator only, never for the
 * sender. Compares the digests in the headers, read leniently, with the body and secrets as they are and with known
 * alterations by proxies and copying. At most a few hundred HMACs over the body; never throws.
 */
export function diagnoseSignature(input: DiagnoseInput): readonly Finding[] {
  const verdict = verifySignature(input);
  if (verdict.outcome === 'verified') {
    const doubt = verdict.headersAgree
      ? ''
      : ' The other signature header is invalid, which is tolerated and recorded.';
    return [
      finding(
        'verifies',
        `The signature is valid with the current secret "${verdict.secretId}".${doubt}`,
        'Readmit it: `delivery readmit`.',
      ),
    ];
  }
  const findings: Finding[] = [];
  const secrets = input.secrets.filter((secret) => secret.value !== '');
  if (secrets.length === 0) {
    findings.push(
      finding('no-secret', 'No signing secret is set for this source.', 'Set it: WEBHOOK_SECRETS, or `source rotate`.'),
    );
  }
  const presented = readPresented(input.headers, findings);
  if (presented.length === 0) return findings;
  if (input.rawBody.length === 0) {
    findings.push(
      finding(
        'empty-body',
        'The body arrived empty.',
        'Something in between dropped it (often a redirect from http to https): register the final address with the service.',
      ),
    );
  }
  findings.push(...explain(input, presented));
  return findings;
}

/** Finds what makes a digest in the headers right. Reveals neither secrets nor digests. */
function explain(input: DiagnoseInput, presented: readonly Buffer[]): Finding[] {
  const matches = (secret: string | Uint8Array, body: Uint8Array): boolean => {
    if (secret.length === 0) return false;
    const digest = createHmac('sha256', secret).update(body).digest();
    return presented.some((one) => timingSafeEqual(one, digest));
  };
  const bodies: readonly Variant<Uint8Array>[] = [
    { value: input.rawBody, finding: null },
    ...bodyVariants(input.rawBody),
    ...uncompressed(input),
  ];
  for (const body of bodies) {
    const found = body.finding === null ? [] : [body.finding];
    for (const secret of input.secrets) {
      // It is right unchanged: only the header's form, already reported, was wrong.
      const key = signingKeyOf(secret.value, secret.encoding);
      if (key !== null && matches(key, body.value)) return found;
      for (const variant of secretVariants(secret))
        if (matches(variant.value, body.value)) return [...found, ...listed(variant)];
    }
    for (const other of input.otherSecrets ?? []) {
      const old = finding(
        'old-secret',
        `It was signed with the secret "${other.id}", which this source does not (or no longer) accept.`,
        'Accept it during the rotation (`source rotate`), or switch the service to the new secret.',
      );
      const key = signingKeyOf(other.value, other.encoding);
      if (key !== null && matches(key, body.value)) return [...found, old];
    }
  }
  return [
    finding(
      'no-match',
      'No secret of this source produces this signature for this body, or for any variant of it that proxies are known to produce.',
      'Copy the signing secret from the service again. If it is correct, something in between alters the body: send one delivery directly to this address and compare. A stranger probing the address looks the same.',
    ),
  ];
}

function listed(variant: Variant<unknown>): Finding[] {
  return variant.finding === null ? [] : [variant.finding];
}

const headerName = {
  [SIGNATURE_HEADER]: 'X-Service-Signature',
  [SIGNATURE_256_HEADER]: 'X-Service-Signature-256',
} as const;

/** The most values of one header that are examined. */
const MOST_VALUES = 20;

/** The digests in the headers, read leniently; defects of their form are added to `findings`. */
function readPresented(headers: HeaderValues, findings: Finding[]): readonly Buffer[] {
  const presented: Buffer[] = [];
  let found = false;
  for (const name of [SIGNATURE_HEADER, SIGNATURE_256_HEADER] as const) {
    const value = headers[name];
    const values = value === undefined ? [] : typeof value === 'string' ? value.split(',', MOST_VALUES) : value;
    if (values.length === 0) continue;
    found = true;
    const label = headerName[name];
    if (values.length > 1) {
      findings.push(
        finding(
          'repeated-header',
          `${label} was sent ${values.length} times.`,
          'Find the proxy that adds it again and configure it to pass headers unchanged.',
        ),
      );
    }
    for (const one of values) {
      const digest = readDigest(one, name, label, findings);
      if (digest !== null) presented.push(digest);
    }
  }
  if (!found) noHeader(headers, findings);
  return presented;
}

function readDigest(text: string, name: string, label: string, findings: Finding[]): Buffer | null {
  const [, prefix = '', rest = ''] = /^([A-Za-z0-9-]+=(?=.))?\s*(.*)$/s.exec(text.trim()) ?? [];
  const wanted = name === SIGNATURE_256_HEADER ? 'sha256=' : '';
  if (prefix !== wanted) {
    const sentence =
      wanted === ''
        ? `${label} has a prefix; it should be the bare digest.`
        : `${label} should begin with \`sha256=\` and ${prefix === '' ? 'has no prefix' : 'begins with something else'}.`;
    findings.push(
      finding(
        'wrong-prefix',
        sentence,
        'Check whether the headers were swapped or rewritten in transit, and that the sender is the service.',
      ),
    );
  }
  if (/^[0-9a-f]{64}$/.test(rest)) return Buffer.from(rest, 'hex');
  if (/^[0-9a-f]{64}$/i.test(rest)) {
    findings.push(
      finding(
        'not-lower-case',
        `The digest in ${label} is not in lower case.`,
        'Something in between rewrites it; the service sends lower-case hex.',
      ),
    );
    return Buffer.from(rest, 'hex');
  }
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(rest)) {
    findings.push(
      finding(
        'base64-digest',
        `The digest in ${label} is base64 rather than hex.`,
        'The sender is probably not the service, or a gateway signs again: it must pass the headers unchanged.',
      ),
    );
    return Buffer.from(rest, 'base64url');
  }
  if (/^[0-9a-f]*$/i.test(rest)) {
    findings.push(
      finding(
        'wrong-length',
        `${label} holds ${rest.length} hex digits${algorithmOf(rest.length)}; SHA-256 has 64.`,
        'Look for a truncated header, or a sender that signs with another algorithm.',
      ),
    );
  } else {
    findings.push(
      finding(
        'not-hex',
        `${label} contains no hex digest (${rest.length} characters).`,
        'Check that the sender is the service and that nothing rewrites the header.',
      ),
    );
  }
  return null;
}

function algorithmOf(digits: number): string {
  const algorithm = { 32: 'MD5', 40: 'SHA-1', 96: 'SHA-384', 128: 'SHA-512' }[digits];
  return algorithm === undefined ? '' : ` (as of ${algorithm})`;
}

/** Headers in which other senders or renaming proxies put a signature. */
const elsewhere = /^(?:x-.*signature.*|x-hub-.*|webhook-signature|signature|stripe-signature)$/;

function noHeader(headers: HeaderValues, findings: Finding[]): void {
  findings.push(
    finding(
      'no-header',
      'Both X-Service-Signature and X-Service-Signature-256 are missing.',
      'Configure proxies and firewalls to pass both, and check in the service that the endpoint has a signing secret.',
    ),
  );
  for (const name of Object.keys(headers).filter((one) => elsewhere.test(one) && headers[one] !== undefined)) {
    // A name from outside, made safe for a terminal.
    const label = name.replace(/[^a-z0-9-]/g, '?').slice(0, 60);
    findings.push(
      finding(
        'other-header',
        `A header ${label} looks like a signature.`,
        'It may have been renamed in transit, or the sender may be another service.',
      ),
    );
  }
}

function finding(code: FindingCode, sentence: string, remedy: string): Finding {
  return { code, sentence, remedy };
}

/** One finding about a delivery whose signature failed. Never contains a secret, nor a digest that would have been right. */
export interface Finding {
  /** Stable, for programs. */
  readonly code: FindingCode;
  /** What was found. */
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy: string;
}

type FindingCode =
  | 'verifies'
  | 'no-secret'
  | 'no-header'
  | 'other-header'
  | 'repeated-header'
  | 'wrong-prefix'
  | 'not-lower-case'
  | 'base64-digest'
  | 'wrong-length'
  | 'not-hex'
  | 'empty-body'
  | 'body-altered'
  | 'body-compressed'
  | 'body-reserialised'
  | 'old-secret'
  | 'secret-encoded'
  | 'secret-untidy'
  | 'no-match';

/** A possible original form of a body or secret; `finding` says what would have happened to it. */
interface Variant<T> {
  readonly value: T;
  readonly finding: Finding | null;
}

const PROXY =
  'Configure the proxy, gateway, firewall or middleware in between to pass the body unchanged, byte for byte.';

/** Forms that proxies, gateways and middleware may have turned into the received one. The body may be any bytes. */
function bodyVariants(body: Uint8Array): readonly Variant<Uint8Array>[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const variants: Variant<Uint8Array>[] = [];
  const altered = (value: Uint8Array, what: string) => {
    if (Buffer.compare(value, bytes) === 0) return;
    variants.push({
      value,
      finding: { code: 'body-altered', sentence: `The body was altered in transit: ${what}.`, remedy: PROXY },
    });
  };
  // Latin-1 keeps every byte, so replacing in the text replaces bytes.
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

/** What a compressed body contains. */
function uncompressed({ rawBody, headers }: SignatureInput): readonly Variant<Uint8Array>[] {
  const encoding = [headers['content-encoding'] ?? []].flat()[0] ?? null;
  const opened = decompressed(rawBody, encoding);
  if (!('plain' in opened) || opened.plain === rawBody) return [];
  return [
    {
      value: opened.plain,
      finding: {
        code: 'body-compressed',
        sentence: 'The body was compressed after it was signed: the signature fits what it contains.',
        remedy: `${PROXY} Or let the service sign the bytes that it sends, or send them without compression.`,
      },
    },
  ];
}

/** The same JSON as written by JavaScript, Python and PHP by default, and indented; empty if the body is not JSON. */
function jsonForms(bytes: Buffer): readonly Buffer[] {
  try {
    const value = parseJson(bytes.toString('utf8').replace(/^\ufeff/, ''));
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
    // Not JSON, or nested too deeply to be written.
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

/** What a secret may have been meant to be: without characters added by copying, or decoded. */
function secretVariants(secret: SigningSecret): readonly Variant<string | Uint8Array>[] {
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
  // A file with a trailing line break on the signing side.
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
