import { describe, expect, it } from 'vitest';
import { isSharedMailbox, subjectForms, subjectOfEmail } from '../../src/core/subject.ts';

describe('the subject of an e-mail address', () => {
  it('follows the source’s recipe', () => {
    // printf 'ada@example.org' | sha256sum; printf 'saltada@example.org' | sha256sum; openssl dgst -sha256 -hmac key
    const sha = { algorithm: 'sha256', normalise: 'trim-lowercase', salt: '' } as const;
    expect(subjectOfEmail(' Ada@Example.org ', sha)).toBe(EXPECTED.plain);
    expect(subjectOfEmail('ada@example.org', { ...sha, salt: 'salt' })).toBe(EXPECTED.salted);
    expect(subjectOfEmail('ada@example.org', { ...sha, algorithm: 'hmac-sha256', salt: 'key' })).toBe(EXPECTED.keyed);
    expect(subjectOfEmail('Ada@Example.org', { ...sha, normalise: 'none' })).not.toBe(EXPECTED.plain);
  });

  it('is looked up in all forms of a hash, and in no other form', () => {
    const hex = EXPECTED.plain;
    expect(subjectForms(`SHA256:${hex.toUpperCase()}`)).toContain(hex);
    expect(subjectForms(hex)).toEqual(expect.arrayContaining([hex, hex.toUpperCase(), `sha256:${hex}`]));
    expect(subjectForms(' visitor-7 ')).toEqual(['visitor-7']);
    expect(subjectForms('  ')).toEqual([]);
  });

  it('is marked for mailboxes that several people read', () => {
    for (const email of [
      'info@acme.org',
      'INFO@acme.org',
      'family@home.net',
      'customer-service@acme.org',
      'sales+eu@acme.org',
    ]) {
      expect(isSharedMailbox(email), email).toBe(true);
    }
    for (const email of ['ada@example.org', 'informatics@example.org', 'no-at-sign']) {
      expect(isSharedMailbox(email), email).toBe(false);
    }
  });
});

const EXPECTED = {
  plain: 'cfe00dde46ef942601ffafb9e2825e802858b460e586b8305b344c1eb826357d',
  salted: '4c9a1b39e3e622a5bb0967692bedc018b441b3f40d7d80d81571d709653d9bac',
  keyed: 'e7e8f78d42b4160369dc797e67eb041376b3e03a947677eb23d1053a78ea3b1a',
};
