import { describe, expect, it } from 'vitest';
import { openCaseSchema } from '../../src/cases/move-case.ts';
import { readMove } from '../../src/cases/moves.ts';
import { mailAddress } from '../../src/commands/notify.ts';
import { loadConfig } from '../../src/config/config.ts';
import { comparableEmail, emailSchema, isEmail } from '../../src/core/email.ts';
import { accountEmail } from '../../src/people/people.ts';
import { requestSchema } from '../../src/request-form/request-form.ts';
import { temporaryFolder } from '../temporary.ts';

const valid = [
  'ada@example.org',
  'Ada.Lovelace+gdpr@Sub.Example.co.uk',
  'marks&spencer@example.co.uk',
  "o'hara@example.ie",
  "!#$%&'*+/=?^_`{|}~-@example.org",
  'ada@xn--mnchen-3ya.xn--p1ai',
  'ada@example.xn--qxa6a',
  'jörg@example.de',
  'ada@münchen.de',
  'νίκος@παράδειγμα.ευ',
  '用户@例子.中国',
  'दाता@डाटामेल.भारत',
  `${'a'.repeat(64)}@example.org`,
  'a@b.museum',
  'x@1and1.de',
];
const invalid = [
  '',
  'ada',
  'ada@',
  '@example.org',
  'ada@example',
  'ada@localhost',
  'ada@192.168.0.1',
  'ada@[192.168.0.1]',
  'ada@example.org, eve@example.org',
  'ada@eve@example.org',
  'Ada <ada@example.org>',
  '"ada lovelace"@example.org',
  'ada lovelace@example.org',
  'ada@exa mple.org',
  '.ada@example.org',
  'ada.@example.org',
  'a..da@example.org',
  'ada@example..org',
  'ada@-example.org',
  'ada@example-.org',
  'ada@exam_ple.org',
  'ada@example.o%72g',
  'ada@example.org\r\nBcc: eve@example.org',
  'ada\u202e@example.org',
  'ada\u200b@example.org',
  `ada@${'a'.repeat(64)}.org`,
  `ada@${'abcdefghi.'.repeat(25)}org`,
];

describe('an e-mail address', () => {
  it.each(valid)('is %s, wherever one is asked for', async (email) => {
    expect(isEmail(email)).toBe(true);
    expect(emailSchema.parse(` ${email} `)).toBe(email);
    expect(accountEmail.safeParse(email).success).toBe(true);
    expect(requestSchema.safeParse({ kind: 'access', name: 'Ada', email }).success).toBe(true);
    const opened = {
      source: 'default',
      kind: 'access',
      channel: 'letter',
      actor: 'Olga',
      receivedAt: '2026-01-01T00:00Z',
    };
    expect(openCaseSchema.safeParse({ ...opened, requesterEmail: email }).success).toBe(true);
    expect(readMove('add-task', { what: 'export', ownerEmail: email, due: '2026-12-01' })).toMatchObject({
      outcome: 'read',
    });
    expect(mailAddress(email)).toBe(email);
    const env = {
      ...{
        SMTP_URL: 'smtp://127.0.0.1',
        MAIL_FROM: `Ledger <${email}>`,
        CHECKPOINT_MAIL_TO: `${email}, b@example.org`,
      },
      WEBHOOK_SECRETS: 'a-secret-of-this-test',
    };
    expect(loadConfig(env, await temporaryFolder()).checkpointMail?.to).toContain(email);
  });

  it.each(invalid)('is not "%s"', (email) => {
    expect(isEmail(email)).toBe(false);
    expect(accountEmail.safeParse(email).success).toBe(false);
    expect(requestSchema.safeParse({ kind: 'access', name: 'Ada', email }).success).toBe(false);
    expect(() => mailAddress(email)).toThrow(/is not an e-mail address/);
  });

  it('is the same in letters, in punycode as browsers send it, and in either case', () => {
    const one = 'Olga@xn--mnchen-3ya.de';
    for (const other of ['olga@münchen.de', 'OLGA@MÜNCHEN.DE', 'olga@mu\u0308nchen.de', ` ${one} `])
      expect(comparableEmail(other)).toBe('olga@xn--mnchen-3ya.de');
    expect(accountEmail.parse('Jörg@München.de')).toBe('jörg@xn--mnchen-3ya.de');
    expect(comparableEmail('not an address')).toBe('not an address');
  });
});
