import { describe, expect, it } from 'vitest';
import { type EmailReading, isOpenIssuer, readProvidedEmail } from '../../src/people/provided-email.ts';

const ADDRESS = 'olga@office.example';
const common = { aud: 'ledger', exp: 1_790_000_000, iat: 1_789_996_400, nonce: 'n' };

/** Claims of ID tokens as the providers document them, with the settings under which they sign in. */
const shapes: readonly [string, Record<string, unknown>, readonly string[]][] = [
  [
    // learn.microsoft.com/entra/identity-platform/id-token-claims-reference: a work account with the scope email.
    'Entra ID, work account',
    {
      ...common,
      iss: 'https://login.microsoftonline.com/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
      tid: '9122040d-6c67-4c5b-b112-36a304b66dad',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      preferred_username: ADDRESS,
      name: 'Olga Officer',
      email: ADDRESS,
      ver: '2.0',
    },
    ['issuer email', 'issuer preferred_username'],
  ],
  [
    // learn.microsoft.com/entra/identity-platform/optional-claims-reference: xms_edov beside email.
    'Entra ID, with xms_edov',
    { ...common, sub: 'AAAA', tid: '9122040d', preferred_username: ADDRESS, email: ADDRESS, xms_edov: true },
    ['issuer email', 'issuer preferred_username', 'xms_edov email'],
  ],
  [
    'Entra ID, with xms_edov as a text',
    { ...common, sub: 'AAAA', email: ADDRESS, xms_edov: '1' },
    ['issuer email', 'xms_edov email'],
  ],
  [
    'Entra ID, domain not verified by its owner',
    { ...common, sub: 'AAAA', email: ADDRESS, xms_edov: false },
    ['issuer email'],
  ],
  [
    // developers.google.com/identity/openid-connect/openid-connect: An ID token's payload.
    'Google Workspace',
    {
      ...common,
      iss: 'https://accounts.google.com',
      azp: 'ledger',
      sub: '110169484474386276334',
      hd: 'office.example',
      email: ADDRESS,
      email_verified: true,
    },
    ['issuer email', 'verified email'],
  ],
  [
    'Google in older documents, with the text "true"',
    { ...common, iss: 'accounts.google.com', sub: '110169484474386276334', email: ADDRESS, email_verified: 'true' },
    ['issuer email', 'verified email'],
  ],
  [
    // developer.okta.com/docs/api/openapi/okta-oauth/guides/overview: ID token payload.
    'Okta',
    {
      ...common,
      ver: 1,
      sub: '00uid4BxXw6I6TV4m0g3',
      auth_time: 1,
      amr: ['pwd', 'mfa'],
      idp: '00ok1u7AsAkrwdZL3z0g3',
      preferred_username: ADDRESS,
      email: ADDRESS,
      email_verified: true,
    },
    ['issuer email', 'issuer preferred_username', 'verified email'],
  ],
  [
    // www.keycloak.org/docs: client scope email; its mapper sends false until the address is marked as verified.
    'Keycloak, address not marked as verified',
    {
      ...common,
      sub: 'f:1',
      typ: 'ID',
      azp: 'ledger',
      sid: 's',
      email_verified: false,
      preferred_username: 'olga',
      email: ADDRESS,
    },
    [],
  ],
  [
    'Keycloak, address marked as verified',
    {
      ...common,
      sub: 'f:1',
      typ: 'ID',
      azp: 'ledger',
      sid: 's',
      email_verified: true,
      preferred_username: 'olga',
      email: ADDRESS,
    },
    ['issuer email', 'verified email'],
  ],
  [
    // docs.goauthentik.io/add-secure-apps/providers/oauth2, Email scope verification: false since 2025.10.
    'authentik',
    { ...common, sub: '5f3c', acr: 'goauthentik.io/providers/oauth2/default', email: ADDRESS, email_verified: false },
    [],
  ],
  [
    'authentik, with a scope mapping of one’s own or before 2025.10',
    { ...common, sub: '5f3c', email: ADDRESS, email_verified: true },
    ['issuer email', 'verified email'],
  ],
  [
    // auth0.com/docs/secure/tokens/id-tokens/id-token-structure.
    'Auth0',
    { ...common, sub: 'auth0|507f1f77bcf86cd799439020', nickname: 'olga', email: ADDRESS, email_verified: true },
    ['issuer email', 'verified email'],
  ],
  ['a provider that knows no address', { ...common, sub: '1', email: '' }, []],
  ['a number as the address', { ...common, sub: '1', email: 7, email_verified: true }, []],
  ['words for a boolean', { ...common, sub: '1', email: ADDRESS, email_verified: 'perhaps' }, []],
];

const readings: readonly EmailReading[] = [
  { trust: 'issuer', claim: 'email' },
  { trust: 'issuer', claim: 'preferred_username' },
  { trust: 'verified', claim: 'email' },
  { trust: 'xms_edov', claim: 'email' },
];

describe('the address in the claims of a provider', () => {
  it.each(shapes)('%s', (_name, claims, expected) => {
    const signsIn = readings
      .filter((reading) => {
        const { email, emailVerified } = readProvidedEmail(claims, reading);
        return emailVerified && email === ADDRESS;
      })
      .map(({ trust, claim }) => `${trust} ${claim}`);
    expect(signsIn.sort()).toEqual([...expected]);
  });
});

it('an issuer for any organisation, or for anyone, is known as such', () => {
  for (const path of ['common', 'organizations', 'consumers', '9188040d-6c67-4c5b-b112-36a304b66dad'])
    expect(isOpenIssuer(`https://login.microsoftonline.com/${path}/v2.0`)).toBe(true);
  expect(isOpenIssuer('https://accounts.google.com')).toBe(true);
  for (const own of [
    'https://login.microsoftonline.com/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://login.office.example/common',
  ])
    expect(isOpenIssuer(own)).toBe(false);
});
