import { describe, expect, it } from 'vitest';
import { findPerson, openingOf } from '../../src/people/people.ts';
import { keepSession, newSession } from '../../src/people/sessions.ts';
import {
  createOfficeWorld,
  createVisitor,
  type OfficeWorld,
  type Page,
  signedInAs,
  type Visitor,
} from './office-world.ts';

const HOURS = 3_600_000;
const text = 'Dear Ms Lovelace,\nwe have found <three> records.';

/** A case, and an officer who has its page open. */
async function createWorld() {
  const world = await createOfficeWorld();
  const caseId = `default-${await world.event('dsar.submitted', { request_id: 'r-1', email: 'ada@example.org' })}`;
  const officer = await signedInAs(world, 'officer', { name: 'Olga' });
  const begun = Date.now();
  await officer.get(`/cases/${caseId}`);
  return {
    world,
    caseId,
    officer,
    hoursLater: (hours: number) => world.setNow(new Date(begun + hours * HOURS).toISOString()),
    sendNote: (options = {}) => officer.post(`/cases/${caseId}/moves`, { move: 'note', basedOn: '0', text }, options),
  };
}

/** Signs an account in again, in the same browser. */
async function signInAgain({ context }: OfficeWorld, visitor: Visitor, personId: string): Promise<void> {
  const person = await findPerson(context, personId);
  if (person === null) throw new Error('no such person');
  const { session, row } = newSession(context, openingOf(person, 'test', 'a test'), context.clock().toISOString());
  await context.store.transaction((tx) => keepSession(tx, row));
  visitor.cookies.set(`consent_ledger_session_${context.instance}`, session.id);
}

const nextOf = (page: Page) => /name="next" value="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
const moved = (world: OfficeWorld) => world.actions('case.moved');

/** Sends the form of a page with its hidden fields. */
async function sendForm(visitor: Visitor, page: Page, action: string): Promise<Page> {
  const [, form = ''] = new RegExp(`action="${action}">(.*?)</form>`, 's').exec(page.text) ?? [];
  const plain = (value: string) => value.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const fields = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return visitor.post(action, Object.fromEntries(fields.map(([, name = '', value = '']) => [name, plain(value)])));
}

describe('a text sent after the session ended', () => {
  it.each([
    ['overnight', 14],
    ['over a weekend', 64],
  ])('is shown to its author after signing in again, and sent with a button (%s)', async (_, hours) => {
    const { world, caseId, officer, hoursLater, sendNote } = await createWorld();
    hoursLater(hours);
    const late = await sendNote();
    expect(late.status).toBe(401);
    expect(late.text).toContain('What you typed is kept for an hour');
    expect(late.text).not.toContain('Lovelace');
    expect(await moved(world)).toEqual([]);
    await signInAgain(world, officer, officer.personId);
    const kept = await officer.get(nextOf(late));
    expect(kept.status).toBe(200);
    expect(kept.text).toContain('we have found &lt;three> records.');
    expect(kept.text).toContain(`href="/cases/${caseId}"`);
    expect((await sendForm(officer, kept, `/cases/${caseId}/moves`)).status).toBe(303);
    expect((await moved(world)).map(({ actor }) => actor)).toEqual([`Olga (${officer.personId})`]);
    expect((await officer.get(`/cases/${caseId}`)).text).toContain('we have found &lt;three> records.');
    // It is no longer kept.
    const after = await officer.get(nextOf(late));
    expect(after.text).toContain('Nothing to send');
    expect(after.text).not.toContain('Lovelace');
  });

  it('is not shown to anyone else, or to anyone after an hour', async () => {
    const { world, officer, hoursLater, sendNote } = await createWorld();
    hoursLater(14);
    const next = nextOf(await sendNote());
    const other = await signedInAs(world, 'owner', { name: 'Otto' });
    const refused = await other.get(next);
    expect([refused.status, refused.text.includes('Lovelace')]).toEqual([200, false]);
    expect((await createVisitor(world.adminUrl).get(next)).status).toBe(401);
    hoursLater(15.1);
    await signInAgain(world, officer, officer.personId);
    const late = await officer.get(next);
    expect([late.status, late.text.includes('Lovelace')]).toEqual([200, false]);
  });

  it('is not kept for someone who signed out, without a session, or from a page of somebody else', async () => {
    const { world, caseId, officer, hoursLater, sendNote } = await createWorld();
    const olgas = /name="_csrf" value="([^"]+)"/.exec((await officer.get(`/cases/${caseId}`)).text)?.[1] ?? '';
    const other = await signedInAs(world, 'officer', { name: 'Otto' });
    const signedOut = await signedInAs(world, 'officer', { name: 'Ines' });
    const cookies = new Map(signedOut.cookies);
    expect((await signedOut.post('/sign-out', {})).status).toBe(303);
    for (const [name, value] of cookies) signedOut.cookies.set(name, value);
    hoursLater(14);
    const note = { move: 'note', basedOn: '0', text };
    for (const page of [
      await other.post(`/cases/${caseId}/moves`, note, { csrf: olgas }),
      await sendNote({ csrf: null }),
      await signedOut.post(`/cases/${caseId}/moves`, note),
      await createVisitor(world.adminUrl).post(`/cases/${caseId}/moves`, note, { csrf: olgas }),
    ])
      expect([page.status, nextOf(page)]).toEqual([401, `/cases/${caseId}`]);
  });

  it('is not kept if it is a password or a secret', async () => {
    const { officer, hoursLater } = await createWorld();
    hoursLater(14);
    for (const [path, back] of [
      ['/account/password', '/account'],
      ['/sources/default/secrets', '/sources/default'],
      ['/deliveries/refused/secret', '/deliveries/refused'],
    ] as const)
      expect(nextOf(await officer.post(path, { password: 'a b', secret: 'c d' }))).toBe(back);
  });
});

describe('a page that was open when the session ended', () => {
  it('works again once its owner has signed in elsewhere in the browser, and for nobody else', async () => {
    const { world, caseId, officer, hoursLater, sendNote } = await createWorld();
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await officer.get(`/cases/${caseId}`)).text)?.[1] ?? '';
    hoursLater(14);
    const other = await signedInAs(world, 'officer', { name: 'Otto' });
    await signInAgain(world, officer, other.personId);
    expect((await sendNote({ csrf })).status).toBe(403);
    await signInAgain(world, officer, officer.personId);
    expect((await sendNote({ csrf })).status).toBe(303);
  });
});
