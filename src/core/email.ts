import { z } from 'zod';

// RFC 5321 atext, and letters outside ASCII (RFC 6531).
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+)*$/u;
const DOMAIN = /^[a-z0-9-]*(?:[.][a-z0-9-]+)+$/i;

/**
 * Whether a text is exactly one e-mail address that can be mailed through the internet (RFC 5321, RFC 6531): a mailbox
 * without quotes, of letters of any script, at a domain with a dot, in letters of any script or in punycode. No name, list,
 * group or address literal.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  return text.length <= 254 && LOCAL.test(local) && asciiDomain(text.slice(at + 1)) !== null;
}

/** A domain in lower case as in DNS (RFC 5890, A-labels); null: none that a mailbox can have. */
function asciiDomain(text: string): string | null {
  // The URL parser would decode percent signs and read numbers as addresses.
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return null;
  const url = `http://${text}`;
  const domain = URL.canParse(url) ? new URL(url).hostname : '';
  const labels = domain.split('.');
  const isDomain =
    DOMAIN.test(domain) &&
    domain.length <= 253 &&
    labels.every((label) => label.length <= 63 && /^[a-z0-9](?:.*[a-z0-9])?$/.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '');
  return isDomain ? domain : null;
}

/** Whether a server needs SMTPUTF8 (RFC 6531) for an address: its mailbox is not ASCII. A domain can be sent in punycode. */
export function needsSmtpUtf8(address: string): boolean {
  return /[^\x00-\x7f]/.test(address.slice(0, address.lastIndexOf('@')));
}

/**
 * The form in which equal addresses are equal: lower case, composed (NFC), the domain in punycode, which is how browsers
 * send it. A text that is no address is only trimmed and put in lower case.
 */
export function comparableEmail(text: string): string {
  const address = text.trim().normalize('NFC').toLowerCase();
  const at = address.lastIndexOf('@');
  const domain = asciiDomain(address.slice(at + 1));
  return at < 0 || domain === null ? address : `${address.slice(0, at)}@${domain}`;
}

const refusal = 'Enter an e-mail address like olga@example.org.';

/** An e-mail address from outside ({@link isEmail}), as it was written, trimmed and composed (NFC). */
export const emailSchema = z
  .string()
  .trim()
  .normalize('NFC')
  .max(254, 'The e-mail address is longer than 254 characters.')
  .refine(isEmail, refusal)
  .meta({ format: 'idn-email' });
