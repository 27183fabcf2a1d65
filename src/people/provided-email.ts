/**
 * Whose word counts that an address belongs to the person who signs in. `verified`: the provider must state
 * `email_verified` (OpenID Connect Core 1.0 §5.1). `xms_edov`: Entra ID must state that the domain of the address was
 * verified by its owner (optional claim). `issuer`: every address that this issuer gives is trusted, because one
 * organisation runs it and gives its members their addresses.
 */
export const emailTrusts = ['verified', 'xms_edov', 'issuer'] as const;
export type EmailTrust = (typeof emailTrusts)[number];

/** How accounts are found by what a provider says. */
export interface EmailReading {
  /** The claim with the address. */
  readonly claim: string;
  readonly trust: EmailTrust;
}

/**
 * The address in the claims of a provider, and whether it counts as the person's. An address that the provider states to
 * be unverified never does, whatever is trusted.
 */
export function readProvidedEmail(
  claims: Readonly<Record<string, unknown>>,
  { claim, trust }: EmailReading,
): { readonly email: string | null; readonly emailVerified: boolean } {
  const text = claims[claim];
  const email = typeof text === 'string' && text !== '' ? text.slice(0, 254) : null;
  const stated = readYesNo(claims['email_verified']);
  if (stated === false) return { email, emailVerified: false };
  switch (trust) {
    case 'verified':
      return { email, emailVerified: stated === true };
    case 'xms_edov':
      return { email, emailVerified: readYesNo(claims['xms_edov']) === true };
    case 'issuer':
      return { email, emailVerified: true };
    default:
      return trust satisfies never;
  }
}

/** A boolean, also as the text or number that some providers send; null: neither. */
function readYesNo(value: unknown): boolean | null {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (text === true || text === 'true' || text === 1 || text === '1') return true;
  return text === undefined || text === null ? null : false;
}

/** Whether an issuer gives tokens to members of any organisation, or to anyone, so that its addresses are nobody's word. */
export function isOpenIssuer(issuer: string): boolean {
  const { host, pathname } = new URL(issuer);
  const isOfAnyTenant = /^\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i;
  return (
    host === 'accounts.google.com' ||
    (/(?:^|\.)microsoftonline\.(?:com|us)$/.test(host) && isOfAnyTenant.test(pathname))
  );
}
