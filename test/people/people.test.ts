import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiToken, findApiToken, listApiTokens } from '../../src/people/api-tokens.ts';
import { admitAttempt, forgetFailures, pauseAfter, uncountAddress } from '../../src/people/attempts.ts';
import { calendarToken, personOfCalendar } from '../../src/people/calendar-address.ts';
import { hashPassword, PASSWORD_MAX, passwordFits, passwordProblem } from '../../src/people/passwords.ts';
import {
  changePassword,
  changePerson,
  createPasswordLink,
  findPerson,
  invitePerson,
  joinByLink,
  listPeople,
  setDisabled,
} from '../../src/people/people.ts';
import { issuerName, proposeSecondFactor } from '../../src/people/second-factor.ts';
import type { PeopleDeps } from '../../src/people/sessions.ts';
import { signIn } from '../../src/people/sign-in.ts';
import { temporaryLedger, testKeys } from '../temporary.ts';

const START = '2026-06-01T08:00:00.000Z';
const shell = { officer: 'operator', personId: null, role: 'owner' } as const;
const GOOD = 'plough amber tuesday kettle';

async function createDeps(): Promise<PeopleDeps & { setNow(iso: string): void }> {
  const { store, ledger } = await temporaryLedger();
  let now = START;
  return {
    store,
    ledger,
    keys: { instance: testKeys },
    clock: () => new Date(now),
    setNow: (iso) => void (now = iso),
  };
}

const after = (seconds: number) => new Date(Date.parse(START) + seconds * 1000).toISOString();

describe('a password', () => {
  it('is accepted, whatever its characters, if it is long and hard to guess', async () => {
    for (const good of [GOOD, 'ein Käfer läuft übers Dach', '🦊🐝🌵🎷🚲🧊🪁🥝🦉🍋🛶🧭🪴🎈🧦', 'x7#kQ2!vLp9@wZ4$']) {
      expect([good, await passwordProblem(good, [])]).toEqual([good, null]);
    }
  });

  it('is refused if it is short, very long, common, a pattern, or made from the name of the person or the product', async () => {
    const own = ['Olga Officer', 'olga.officer@acme.example'];
    for (const bad of [
      'kettle plough',
      'x'.repeat(PASSWORD_MAX + 1),
      'passwordpassword',
      '1234567890123456',
      'qwertyuiopasdfgh',
    ])
      expect([bad, typeof (await passwordProblem(bad, own))]).toEqual([bad, 'string']);
    for (const bad of ['OlgaOfficer12345', 'consent-ledger-2026', 'consentledger123', 'olga.officer@acme.example'])
      expect([bad, typeof (await passwordProblem(bad, own))]).toEqual([bad, 'string']);
  });

  it('matches however a keyboard composes its letters, and no other password does', async () => {
    const stored = await hashPassword('ein Käfer läuft übers Dach');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwordFits('ein Käfer läuft übers Dach'.normalize('NFD'), stored)).toBe(true);
    expect(await passwordFits('ein Kafer lauft ubers Dach', stored)).toBe(false);
    expect(await passwordFits('', null)).toBe(false);
    expect(await passwordFits('x'.repeat(100_000), stored)).toBe(false);
  });
});

describe('failed sign-ins', () => {
  it('pause an account longer and longer, and lock it after a hundred', () => {
    const pauses = [1, 4, 5, 6, 7, 20, 99, 100, 1000].map((failures) => pauseAfter('account', failures));
    expect(pauses).toEqual([0, 0, 30, 60, 120, 900, 900, null, null]);
    expect([19, 20, 1000].map((failures) => pauseAfter('address', failures))).toEqual([0, 30, 900]);
    fc.assert(
      fc.property(fc.nat(98), (failures) => {
        expect(pauseAfter('account', failures + 1) ?? Infinity).toBeGreaterThanOrEqual(
          pauseAfter('account', failures) ?? 0,
        );
      }),
    );
  });

  it('count before they are known to have failed, so twenty at once do not get around the pause', async () => {
    const deps = await createDeps();
    const tried = await Promise.all(
      Array.from({ length: 20 }, () => admitAttempt(deps, 'olga@acme.example', '10.0.0.1')),
    );
    expect(tried.filter(({ outcome }) => outcome === 'admitted').length).toBe(5);
    expect(tried.at(-1)).toEqual({ outcome: 'blocked', until: after(30) });
    // Other people are not affected, and refused attempts do not count.
    expect((await admitAttempt(deps, 'otto@acme.example', '10.0.0.2')).outcome).toBe('admitted');
    deps.setNow(after(30));
    expect((await admitAttempt(deps, 'olga@acme.example', '10.0.0.1')).outcome).toBe('admitted');
    expect(await admitAttempt(deps, 'olga@acme.example', '10.0.0.1')).toEqual({ outcome: 'blocked', until: after(90) });
  });

  it('for many accounts from one address pause the address, and one success there does not clear it', async () => {
    const deps = await createDeps();
    const outcomes: string[] = [];
    for (let place = 0; place < 22; place += 1)
      outcomes.push((await admitAttempt(deps, `user${place}@acme.example`, '10.0.0.1')).outcome);
    expect(outcomes.filter((outcome) => outcome === 'admitted').length).toBe(20);
    await deps.store.transaction(async (tx) => {
      await forgetFailures(deps, tx, 'user19@acme.example');
      await uncountAddress(deps, tx, '10.0.0.1');
    });
    expect((await admitAttempt(deps, 'user30@acme.example', '10.0.0.1')).outcome).toBe('admitted');
    expect((await admitAttempt(deps, 'user31@acme.example', '10.0.0.1')).outcome).toBe('blocked');
  });

  it('are kept without any address, and forgotten after a day', async () => {
    const deps = await createDeps();
    await admitAttempt(deps, 'olga@acme.example', '10.0.0.1');
    const rows = await deps.store.read.selectFrom('sign_in_failures').selectAll().execute();
    expect(JSON.stringify(rows.map((row) => [row.key_hash.toString('latin1'), row.last_at]))).not.toMatch(/olga|10\.0/);
    deps.setNow(after(86_401));
    await admitAttempt(deps, 'otto@acme.example', '10.0.0.2');
    expect((await deps.store.read.selectFrom('sign_in_failures').selectAll().execute()).length).toBe(2);
  });
});

describe('accounts', () => {
  it('have a name that reads as it is written', async () => {
    const deps = await createDeps();
    for (const name of ['Ada\u202eecila', 'Ada\u0007', 'Ada\u2028Lovelace'])
      expect(
        await invitePerson(deps, { name, email: 'ada@acme.example', role: 'owner', sources: null }, shell),
      ).toMatchObject({
        outcome: 'refused',
        problems: ['The name must be one line of text without control characters or direction marks.'],
      });
  });

  it('keep at least one owner who can sign in', async () => {
    const deps = await createDeps();
    const invite = async (email: string, role: 'owner' | 'admin') => {
      const made = await invitePerson(
        deps,
        { name: email, email: `${email}@acme.example`, role, sources: null },
        shell,
      );
      if (made.outcome !== 'done') throw new Error(JSON.stringify(made));
      return { id: made.person.personId, token: made.link?.token ?? '' };
    };
    const one = await invite('one', 'owner');
    const two = await invite('two', 'owner');
    expect((await joinByLink(deps, one.token, GOOD, 'test')).outcome).toBe('joined');
    const last = { outcome: 'refused', problems: ['This is the last owner: make someone else an owner first.'] };
    const admin = { name: 'one', role: 'admin', sources: null } as const;
    // The other owner has not joined yet, so cannot grant access.
    expect(await changePerson(deps, one.id, admin, shell)).toEqual(last);
    expect(await setDisabled(deps, one.id, true, shell)).toEqual(last);
    expect((await joinByLink(deps, two.token, GOOD, 'test')).outcome).toBe('joined');
    // Two owners remove each other's role at the same moment: one of them keeps it.
    const outcomes = await Promise.all([
      changePerson(deps, one.id, admin, shell),
      changePerson(deps, two.id, admin, shell),
    ]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['done', 'refused']);
    expect((await listPeople(deps)).filter(({ role }) => role === 'owner').length).toBe(1);
  });

  it('are refused with an address in use, without an address, or with more rights than their creator may give', async () => {
    const deps = await createDeps();
    const olga = { name: 'Olga', email: 'Olga@Acme.example', role: 'officer', sources: ['shop'] } as const;
    const input = { ...olga, sources: ['shop'] };
    expect(await invitePerson(deps, input, shell)).toMatchObject({
      outcome: 'done',
      person: { email: 'olga@acme.example' },
    });
    const refused = async (changes: object, by: Parameters<typeof invitePerson>[2] = shell) =>
      expect([
        changes,
        (await invitePerson(deps, { ...input, email: 'new@acme.example', ...changes }, by)).outcome,
      ]).toEqual([changes, 'refused']);
    await refused({ email: 'olga@acme.example ' });
    await refused({ email: 'olga' });
    await refused({ name: ' ' });
    await refused({ sources: [] });
    await refused({ role: 'admin' });
    await refused({ role: 'owner', sources: null }, { ...shell, role: 'admin' });
    await refused({}, { ...shell, role: 'officer' });
    expect((await listPeople(deps)).length).toBe(1);
  });

  it('end sessions and links when they are disabled, and leave no e-mail address in the ledger', async () => {
    const deps = await createDeps();
    const invited = await invitePerson(
      deps,
      { name: 'Olga', email: 'olga@acme.example', role: 'officer', sources: null },
      shell,
    );
    if (invited.outcome !== 'done') throw new Error(invited.outcome);
    const { personId } = invited.person;
    expect((await joinByLink(deps, invited.link?.token ?? '', GOOD, 'test')).outcome).toBe('joined');
    const reset = await createPasswordLink(deps, personId, shell);
    if (reset.outcome !== 'done') throw new Error(reset.outcome);
    expect((await setDisabled(deps, personId, true, shell)).outcome).toBe('done');
    expect((await joinByLink(deps, reset.link?.token ?? '', GOOD, 'test')).outcome).toBe('gone');
    expect(await deps.store.read.selectFrom('sessions').selectAll().execute()).toEqual([]);
    expect((await createPasswordLink(deps, personId, shell)).outcome).toBe('refused');
    const entries = await deps.store.read.selectFrom('entries').select(['body', 'meta']).execute();
    expect(entries.length).toBeGreaterThan(3);
    const text = entries.map(({ body, meta }) => `${body?.toString()}${meta?.toString()}`).join();
    expect(text).toContain(personId);
    expect(text).not.toMatch(/acme\.example|argon2|kettle/);
  });

  it('accept a link once, however many follow it at the same moment, and only the newest link', async () => {
    const deps = await createDeps();
    const invited = await invitePerson(
      deps,
      { name: 'Olga', email: 'olga@acme.example', role: 'officer', sources: null },
      shell,
    );
    if (invited.outcome !== 'done') throw new Error(invited.outcome);
    const again = await createPasswordLink(deps, invited.person.personId, shell);
    if (again.outcome !== 'done') throw new Error(again.outcome);
    expect((await joinByLink(deps, invited.link?.token ?? '', GOOD, 'test')).outcome).toBe('gone');
    const joined = await Promise.all([1, 2, 3].map(() => joinByLink(deps, again.link?.token ?? '', GOOD, 'test')));
    expect(joined.map(({ outcome }) => outcome).sort()).toEqual(['gone', 'gone', 'joined']);
    expect((await deps.store.read.selectFrom('sessions').selectAll().execute()).length).toBe(1);
    const late = await createPasswordLink(deps, invited.person.personId, shell);
    deps.setNow(after(24 * 3600 + 1));
    if (late.outcome !== 'done') throw new Error(late.outcome);
    expect((await joinByLink(deps, late.link?.token ?? '', GOOD, 'test')).outcome).toBe('gone');
  });
});

describe('access that does not need the password', () => {
  /** A person who has joined, with a token and a calendar address. */
  async function createOlga() {
    const deps = await createDeps();
    const input = { name: 'Olga', email: 'olga@acme.example', role: 'officer', sources: null } as const;
    const invited = await invitePerson(deps, input, shell);
    if (invited.outcome !== 'done' || invited.link === null) throw new Error('not invited');
    const { personId } = invited.person;
    await joinByLink(deps, invited.link.token, GOOD, 'test');
    const person = await findPerson(deps, personId);
    if (person === null) throw new Error('not joined');
    const wanted = { label: 'export', scope: 'read', sources: null, days: 30 } as const;
    const made = await createApiToken(deps, person, wanted, shell);
    if (made.outcome !== 'made') throw new Error('no token');
    const calendar = await calendarToken(deps, personId);
    const isOpen = async () => [
      (await findApiToken(deps, made.secret)) !== null,
      (await personOfCalendar(deps, calendar)) !== null,
    ];
    return { deps, personId, isOpen };
  }
  const handle = '0'.repeat(64);

  it('ends with a new password, unless the person keeps it', async () => {
    const { deps, personId, isOpen } = await createOlga();
    const other = 'seven grey lanterns on a hill';
    await changePassword(deps, personId, { present: 'wrong', password: other }, { handle });
    expect(await isOpen()).toEqual([true, true]);
    const kept = await changePassword(
      deps,
      personId,
      { present: GOOD, password: other },
      { handle, keepsTokens: true },
    );
    expect([kept.outcome, await isOpen()]).toEqual(['done', [true, true]]);
    const changed = await changePassword(deps, personId, { present: other, password: GOOD }, { handle });
    expect([changed.outcome, await isOpen()]).toEqual(['done', [false, false]]);
  });

  it('ends at once with the password if an admin says that somebody else knows it', async () => {
    const { deps, personId, isOpen } = await createOlga();
    await createPasswordLink(deps, personId, shell);
    expect(await isOpen()).toEqual([true, true]);
    const made = await createPasswordLink(deps, personId, shell, { isKnown: true });
    if (made.outcome !== 'done') throw new Error('refused');
    expect([await isOpen(), await listApiTokens(deps, personId)]).toEqual([[false, false], []]);
    expect((await findPerson(deps, personId))?.hasPassword).toBe(false);
    const from = { address: '192.0.2.1', browser: 'test' };
    const given = { email: 'olga@acme.example', password: GOOD, code: '' };
    expect((await signIn(deps, given, from)).outcome).toBe('refused');
    expect((await joinByLink(deps, made.link?.token ?? '', GOOD, 'test')).outcome).toBe('joined');
    expect((await signIn(deps, given, from)).outcome).toBe('signed-in');
  });
});

it('an authenticator app lists the installation by its host', () => {
  const addressOf = (adminUrl: string | null) =>
    new URL(proposeSecondFactor('olga@example.org', issuerName(adminUrl))?.address ?? '');
  const issuers = ['https://ledger.acme.example', 'https://LEDGER.beta.example:8443', null].map((adminUrl) =>
    addressOf(adminUrl).searchParams.get('issuer'),
  );
  expect(issuers).toEqual([
    'consent-ledger ledger.acme.example',
    'consent-ledger ledger.beta.example',
    'consent-ledger',
  ]);
  expect(decodeURIComponent(addressOf('https://ledger.acme.example').pathname)).toBe(
    '/consent-ledger ledger.acme.example:olga@example.org',
  );
});
