import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { type Action, ALL_ACCESS_ENDED } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { comparableEmail, emailSchema } from '../core/email.ts';
import { can, isLimitable, type LinkPurpose, type Role, roles, rolesUnder } from '../core/roles.ts';
import { isOneLine, ONE_LINE } from '../core/validation.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Tables } from '../store/schema.ts';
import type { StoreTransaction } from '../store/store.ts';
import { admitAttempt, forgetFailures, uncountAddress } from './attempts.ts';
import { drawLink, findLink, keepLink, LinkGone, linkKey, type NewLink, useLinkUp } from './links.ts';
import { hashPassword, passwordFits, passwordProblem } from './passwords.ts';
import { viewsSetting } from './saved-views.ts';
import { actorOf, keepSession, type NewSession, newSession, type PeopleDeps, slugsOf } from './sessions.ts';

/** A person with an account. */
export interface Person {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Slugs of the sources that the person may see; null: all. */
  readonly sources: readonly string[] | null;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** ISO 8601 UTC; null: invited, or enabled. */
  readonly joinedAt: string | null;
  readonly disabledAt: string | null;
  readonly createdAt: string;
}

/** Who changes accounts: a session or the command line. An owner if there is no session. */
export interface Administrator {
  readonly officer: string;
  readonly personId: string | null;
  readonly role: Role;
}

const name = z
  .string()
  .trim()
  .min(1, 'Enter a name.')
  .max(100, 'The name is longer than 100 characters.')
  .refine(isOneLine, `The name ${ONE_LINE}.`);
/** The address of an account, in the form in which it is looked up. */
export const accountEmail = emailSchema.transform(comparableEmail);
const reach = z.array(z.string()).nullable();
const newPersonSchema = z.object({ name, email: accountEmail, role: z.enum(roles, 'Choose a role.'), sources: reach });
const changesSchema = z.object({ name, role: z.enum(roles, 'Choose a role.'), sources: reach });
export type NewPerson = z.infer<typeof newPersonSchema>;
export type PersonChanges = z.infer<typeof changesSchema>;

export type Refused = { readonly outcome: 'refused'; readonly problems: readonly string[] };
/** The changed account, or why it was not changed. */
export type PersonOutcome =
  | { readonly outcome: 'done'; readonly person: Person; readonly link: NewLink | null }
  | { readonly outcome: 'unknown' }
  | Refused;

type PersonAction = Extract<Action, { personId: string }>;

/** Rolls back a transaction whose change is ruled out by data in the database. */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused';
}

/** Lifetime of invitation and reset links. */
const INVITATION_HOURS = 7 * 24;
const RESET_HOURS = 24;

function personOf(row: Selectable<Tables['people']>): Person {
  return {
    personId: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role,
    sources: slugsOf(row.sources),
    hasPassword: row.password !== null,
    hasSecondFactor: row.totp !== null,
    joinedAt: row.joined_at,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}

/** Everyone with an account, by name. */
export async function listPeople({ store }: Pick<PeopleDeps, 'store'>): Promise<readonly Person[]> {
  const rows = await store.read.selectFrom('people').selectAll().execute();
  return rows.map(personOf).sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.personId < b.personId ? -1 : 1));
}

/** People who can sign in and may work on one of these sources (null: on any), by name. */
export async function listWorkers(
  deps: Pick<PeopleDeps, 'store'>,
  sources: readonly string[] | null,
): Promise<readonly Person[]> {
  return (await listPeople(deps)).filter(
    (person) =>
      can(person.role, 'work') &&
      person.joinedAt !== null &&
      person.disabledAt === null &&
      (sources === null || person.sources === null || person.sources.some((slug) => sources.includes(slug))),
  );
}

/** E-mail addresses of the admins. */
export async function listAdminAddresses(deps: Pick<PeopleDeps, 'store'>): Promise<readonly string[]> {
  return (await listPeople(deps))
    .filter(({ role, joinedAt, disabledAt }) => can(role, 'administer') && joinedAt !== null && disabledAt === null)
    .map(({ email }) => email);
}

/** Null if nobody has this id. */
export async function findPerson({ store }: Pick<PeopleDeps, 'store'>, personId: string): Promise<Person | null> {
  const row = await store.read.selectFrom('people').selectAll().where('person_id', '=', personId).executeTakeFirst();
  return row === undefined ? null : personOf(row);
}

/** Null if nobody has this e-mail address. */
export async function findPersonByEmail({ store }: Pick<PeopleDeps, 'store'>, address: string): Promise<Person | null> {
  const row = await store.read
    .selectFrom('people')
    .selectAll()
    .where('email', '=', comparableEmail(address))
    .executeTakeFirst();
  return row === undefined ? null : personOf(row);
}

/** Whether there is any account. Before that, the set-up link creates the first one. */
export async function hasPeople({ store }: Pick<PeopleDeps, 'store'>): Promise<boolean> {
  return (await store.read.selectFrom('people').select('person_id').limit(1).executeTakeFirst()) !== undefined;
}

/** Adds a person, and creates the link where they choose a password. */
export async function invitePerson(deps: PeopleDeps, input: NewPerson, by: Administrator): Promise<PersonOutcome> {
  const read = newPersonSchema.safeParse(input);
  if (!read.success) return { outcome: 'refused', problems: issueTexts(read.error) };
  const problems = rightsProblems(by, null, read.data);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const person = newRow(deps, read.data);
  const drawn = linkOf(deps, person, 'invitation');
  const { row } = drawn;
  return recordPersonAction(
    deps,
    personAction('person.added', by, personOf(person), `invited until ${row.expires_at}`),
    async (tx) => {
      if (await isTaken(tx, person.email))
        throw new ChangeRefused('An account with this e-mail address already exists.');
      await tx.insertMany('people', [person]);
      await keepLink(tx, drawn);
      return { person: personOf(person), link: drawn.link };
    },
  );
}

/** Changes a person's name, role or sources. An open session has them from its next request on. */
export async function changePerson(
  deps: PeopleDeps,
  personId: string,
  input: PersonChanges,
  by: Administrator,
): Promise<PersonOutcome> {
  const read = changesSchema.safeParse(input);
  if (!read.success) return { outcome: 'refused', problems: issueTexts(read.error) };
  const before = await findPerson(deps, personId);
  if (before === null) return { outcome: 'unknown' };
  const problems = rightsProblems(by, before, read.data);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const person = { ...before, ...read.data };
  return recordPersonAction(deps, personAction('person.changed', by, person, null), async (tx) => {
    const { role, sources } = read.data;
    const kept = { name: read.data.name, role, sources: sources === null ? null : JSON.stringify(sources) };
    await keepingAnOwner(tx, async () => {
      await tx.query.updateTable('people').set(kept).where('person_id', '=', personId).execute();
    });
    return { person, link: null };
  });
}

/** Disables or enables an account. Disabling ends its sessions and links at once and removes its saved views. */
export async function setDisabled(
  deps: PeopleDeps,
  personId: string,
  isDisabled: boolean,
  by: Administrator,
): Promise<PersonOutcome> {
  const before = await findPerson(deps, personId);
  if (before === null) return { outcome: 'unknown' };
  const problems = rightsProblems(by, before, before);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const disabledAt = isDisabled ? isoNow(deps.clock) : null;
  const person = { ...before, disabledAt };
  const action = personAction(isDisabled ? 'person.disabled' : 'person.enabled', by, person, null);
  return recordPersonAction(deps, action, async (tx) => {
    await keepingAnOwner(tx, async () => {
      await tx.query.updateTable('people').set({ disabled_at: disabledAt }).where('person_id', '=', personId).execute();
    });
    if (isDisabled) {
      await endAccess(tx, personId);
      await tx.query.deleteFrom('settings').where('name', '=', viewsSetting(personId)).execute();
    }
    return { person, link: null };
  });
}

/** Why a restore disabled an account, in its entry. */
const HELD = 'a backup was restored: enabled again once an owner confirms it';

/**
 * Disables every account in a database that was restored, except one: which of them were disabled since the backup is
 * not known, and none of those may come back by itself. Resolves with those disabled. Repeating it is safe.
 */
export async function holdAccounts(
  deps: PeopleDeps,
  by: Administrator,
  except: string | null,
): Promise<readonly Person[]> {
  const enabled = (await listPeople(deps)).filter(({ email, disabledAt }) => disabledAt === null && email !== except);
  const disabledAt = isoNow(deps.clock);
  for (const person of enabled)
    await recordForPerson(deps, personAction('person.disabled', by, person, HELD), async (tx) => {
      const { personId } = person;
      await tx.query.updateTable('people').set({ disabled_at: disabledAt }).where('person_id', '=', personId).execute();
    });
  return enabled;
}

/** Accounts that a restore disabled and nobody has confirmed yet. The read models must be caught up. */
export async function listHeld(deps: Pick<PeopleDeps, 'store'>): Promise<readonly Person[]> {
  const rows = await deps.store.read
    .selectFrom('action_history')
    .select(['object', 'details'])
    .where('action', 'in', ['person.disabled', 'person.enabled'])
    .orderBy('seq')
    .execute();
  const last = new Map(rows.map(({ object, details }) => [object, JSON.parse(details) as PersonAction]));
  return (await listPeople(deps)).filter(
    ({ personId, disabledAt }) => disabledAt !== null && last.get(personId)?.detail === HELD,
  );
}

/**
 * Creates a link where a person chooses a (new) password; an invitation if they have not joined yet. Until it is used,
 * the old password stays valid, unless `isKnown` to somebody else: then it, and everything else that opens the account,
 * ends at once. `withoutSecondFactor` removes a lost second factor.
 */
export async function createPasswordLink(
  deps: PeopleDeps,
  personId: string,
  by: Administrator,
  {
    withoutSecondFactor = false,
    isKnown = false,
  }: { readonly withoutSecondFactor?: boolean; readonly isKnown?: boolean } = {},
): Promise<PersonOutcome> {
  const person = await findPerson(deps, personId);
  if (person === null) return { outcome: 'unknown' };
  if (person.disabledAt !== null)
    return { outcome: 'refused', problems: ['The account is disabled: enable it first.'] };
  const problems = rightsProblems(by, person, person);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const purpose = person.joinedAt === null ? 'invitation' : 'reset';
  const drawn = linkOf(deps, { person_id: personId, name: person.name }, purpose);
  const removes = withoutSecondFactor && person.hasSecondFactor;
  const ends = isKnown ? `; password, sessions, passkeys, ${ALL_ACCESS_ENDED}` : '';
  const detail = `${purpose}, until ${drawn.row.expires_at}${removes ? '; second factor removed' : ''}${ends}`;
  return recordPersonAction(deps, personAction('person.link-created', by, person, detail), async (tx) => {
    if (isKnown) await endEveryAccess(tx, personId);
    await keepLink(tx, drawn);
    if (removes) await removeSecondFactorRows(tx, personId);
    return { person: { ...person, hasSecondFactor: person.hasSecondFactor && !removes }, link: drawn.link };
  });
}

/** Whose invitation or reset a link is, or that it sets up the first account; null if it is not valid for any of these. */
export async function findPasswordLink(
  deps: PeopleDeps,
  token: string,
): Promise<
  | { readonly purpose: 'set-up'; readonly person: null }
  | { readonly purpose: 'invitation' | 'reset'; readonly person: Person }
  | null
> {
  const link = await findLink(deps, token, ['set-up', 'invitation', 'reset']);
  if (link === null) return null;
  if (link.purpose === 'set-up') return (await hasPeople(deps)) ? null : { purpose: 'set-up', person: null };
  const person = link.personId === null ? null : await findPerson(deps, link.personId);
  if (person === null || person.disabledAt !== null) return null;
  return { purpose: link.purpose === 'invitation' ? 'invitation' : 'reset', person };
}

export type JoinOutcome =
  /** `session` is null if a second factor is required first, on the sign-in page. */
  { readonly outcome: 'joined'; readonly session: NewSession | null } | { readonly outcome: 'gone' } | Refused;

/** Creates the first account, an owner, with a set-up link, and signs in. */
export async function setUpOwner(
  deps: PeopleDeps,
  token: string,
  input: { readonly name: string; readonly email: string; readonly password: string },
  browser: string,
): Promise<JoinOutcome> {
  if ((await findPasswordLink(deps, token))?.purpose !== 'set-up') return { outcome: 'gone' };
  const read = newPersonSchema.safeParse({ ...input, role: 'owner', sources: null });
  if (!read.success) return { outcome: 'refused', problems: issueTexts(read.error) };
  const problem = await passwordProblem(input.password, [read.data.name, read.data.email]);
  if (problem !== null) return { outcome: 'refused', problems: [problem] };
  const now = isoNow(deps.clock);
  const row = { ...newRow(deps, read.data), password: await hashPassword(input.password), joined_at: now };
  const person = personOf(row);
  const opened = newSession(deps, openingOf(person, 'set-up link', browser), now);
  const by = ownHand(person);
  return join(deps, token, personAction('person.added', by, person, 'set up the first account'), async (tx) => {
    if ((await tx.query.selectFrom('people').select('person_id').limit(1).execute()).length > 0) throw new LinkGone();
    await tx.insertMany('people', [row]);
    await keepSession(tx, opened.row);
    return opened.session;
  });
}

/**
 * Sets a person's password with an invitation or reset link. All earlier sessions end; without a second factor, a new
 * one is opened.
 */
export async function joinByLink(
  deps: PeopleDeps,
  token: string,
  password: string,
  browser: string,
): Promise<JoinOutcome> {
  const link = await findPasswordLink(deps, token);
  if (link === null || link.person === null) return { outcome: 'gone' };
  const { person } = link;
  const problem = await passwordProblem(password, [person.name, person.email]);
  if (problem !== null) return { outcome: 'refused', problems: [problem] };
  const now = isoNow(deps.clock);
  const hashed = await hashPassword(password);
  const opened = newSession(deps, openingOf(person, `${link.purpose} link`, browser), now);
  const by = ownHand(person);
  return join(deps, token, personAction('person.password-set', by, person, `${link.purpose} link`), async (tx) => {
    await endEveryAccess(tx, person.personId);
    const row = await tx.query
      .updateTable('people')
      .set((eb) => ({ password: hashed, joined_at: eb.fn.coalesce('joined_at', eb.val(now)) }))
      .where('person_id', '=', person.personId)
      .where('disabled_at', 'is', null)
      .returning('totp')
      .executeTakeFirst();
    if (row === undefined) throw new LinkGone();
    await forgetFailures(deps, tx, person.email);
    if (row.totp !== null) return null;
    await keepSession(tx, opened.row);
    return opened.session;
  });
}

/**
 * Lets a person who knows the current password choose another. Their other sessions end, and so do their API tokens and
 * the address of their calendar, unless `keepsTokens`. `handle`: of the session that asks, which stays open.
 */
export async function changePassword(
  deps: PeopleDeps,
  personId: string,
  input: { readonly present: string; readonly password: string },
  { handle, keepsTokens = false }: { readonly handle: string; readonly keepsTokens?: boolean },
): Promise<{ readonly outcome: 'done' } | Refused> {
  const person = await findPerson(deps, personId);
  const wrong = person === null ? 'Unknown account.' : await presentPasswordProblem(deps, person, input.present);
  if (person === null || wrong !== null) return { outcome: 'refused', problems: [wrong ?? ''] };
  const problem = await passwordProblem(input.password, [person.name, person.email]);
  if (problem !== null) return { outcome: 'refused', problems: [problem] };
  const hashed = await hashPassword(input.password);
  const by = ownHand(person);
  const detail = keepsTokens ? 'changed' : `changed; ${ALL_ACCESS_ENDED}`;
  const action = personAction('person.password-set', by, person, detail);
  const changed = await recordPersonAction(deps, action, async (tx) => {
    await tx.query.updateTable('people').set({ password: hashed }).where('person_id', '=', personId).execute();
    await endAccess(tx, personId, handle);
    if (!keepsTokens) await endTokens(tx, personId);
    return { person, link: null };
  });
  return changed.outcome === 'refused' ? changed : { outcome: 'done' };
}

/**
 * Why the signed-in person's password is not accepted; null if it is right. Asked before actions that a hijacked
 * session must not perform, and counted like a sign-in, so that such a session cannot be used to guess it.
 */
export async function presentPasswordProblem(
  deps: PeopleDeps,
  person: Person,
  present: string,
): Promise<string | null> {
  const row = await deps.store.read
    .selectFrom('people')
    .select('password')
    .where('person_id', '=', person.personId)
    .executeTakeFirst();
  if (row?.password === null)
    return 'This account has no password, because it signs in by single sign-on. Ask an owner or admin for a reset link to set one.';
  const place = `session of ${person.personId}`;
  const admission = await admitAttempt(deps, person.email, place);
  if (admission.outcome === 'blocked') return 'Too many wrong passwords. Wait a few minutes and try again.';
  if (!(await passwordFits(present, row?.password ?? null))) return 'The current password is wrong.';
  await deps.store.transaction(async (tx) => {
    await forgetFailures(deps, tx, person.email);
    await uncountAddress(deps, tx, place);
  });
  return null;
}

/** Ends one of a person's own sessions. False if there is no such session. */
export async function revokeSession(deps: PeopleDeps, person: Person, handle: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(handle)) return false;
  const by = ownHand(person);
  const ended = await recordPersonAction(
    deps,
    personAction('person.session-revoked', by, person, null),
    async ({ query }) => {
      const { numDeletedRows } = await query
        .deleteFrom('sessions')
        .where('id_hash', '=', Buffer.from(handle, 'hex'))
        .where('person_id', '=', person.personId)
        .executeTakeFirst();
      if (Number(numDeletedRows) !== 1) throw new ChangeRefused('This session has ended already.');
      return { person, link: null };
    },
  );
  return ended.outcome === 'done';
}

/** Removes a second factor and its recovery codes. */
export async function removeSecondFactorRows({ query }: StoreTransaction, personId: string): Promise<void> {
  await query.updateTable('people').set({ totp: null, totp_step: 0 }).where('person_id', '=', personId).execute();
  await query.deleteFrom('recovery_codes').where('person_id', '=', personId).execute();
}

/** An action about an account, with the resulting state of the account. */
export function personAction(
  action: PersonAction['action'],
  by: Pick<Administrator, 'officer'>,
  person: Pick<Person, 'personId' | 'name' | 'role' | 'sources'>,
  detail: string | null,
): PersonAction {
  const { personId, name: called, role, sources } = person;
  return {
    action,
    actor: by.officer,
    personId,
    name: called,
    role,
    sources: sources === null ? null : [...sources],
    detail,
  };
}

/** The description of a person's new session. */
export function openingOf({ personId, name: called }: Pick<Person, 'personId' | 'name'>, way: string, browser: string) {
  return { officer: actorOf(personId, called), personId, way, browser };
}

/** A person changing their own account. */
export function ownHand({ personId, name: called, role }: Pick<Person, 'personId' | 'name' | 'role'>): Administrator {
  return { officer: actorOf(personId, called), personId, role };
}

/** Appends what a person did to their own account, and does it, in one transaction. */
export async function recordForPerson(
  deps: PeopleDeps,
  action: PersonAction,
  work: (tx: StoreTransaction) => Promise<void>,
): Promise<void> {
  const keyParts = [action.action, action.personId, randomBytes(16).toString('hex')];
  await appendAction(deps.ledger, INSTALLATION, action, keyParts, isoNow(deps.clock), work);
}

/** Appends what was done to an account, and does it, in one transaction. A Refusal becomes the outcome. */
export async function recordPersonAction(
  deps: PeopleDeps,
  action: PersonAction,
  work: (tx: StoreTransaction) => Promise<{ readonly person: Person; readonly link: NewLink | null }>,
): Promise<PersonOutcome> {
  let done: { readonly person: Person; readonly link: NewLink | null } | null = null;
  try {
    await recordForPerson(deps, action, async (tx) => {
      done = await work(tx);
    });
  } catch (error) {
    if (error instanceof ChangeRefused) return { outcome: 'refused', problems: [error.message] };
    throw error;
  }
  if (done === null) throw new Error('the change was not made');
  return { outcome: 'done', ...(done as { readonly person: Person; readonly link: NewLink | null }) };
}

/** The same for actions that use up a link. */
async function join(
  deps: PeopleDeps,
  token: string,
  action: PersonAction,
  work: (tx: StoreTransaction) => Promise<NewSession | null>,
): Promise<JoinOutcome> {
  const now = isoNow(deps.clock);
  let session: NewSession | null = null;
  try {
    await appendAction(deps.ledger, INSTALLATION, action, ['joined', linkKey(deps, token)], now, async (tx) => {
      await useLinkUp(deps, tx, token, now);
      session = await work(tx);
    });
  } catch (error) {
    if (error instanceof LinkGone) return { outcome: 'gone' };
    throw error;
  }
  return { outcome: 'joined', session };
}

/** The setting from which the address of a person's calendar is derived (calendar-address.ts). */
export const calendarSetting = (personId: string) => `calendar_of_${personId}`;

/** The setting that holds the e-mail address which a person has yet to confirm (change-address.ts). */
export const newAddressSetting = (personId: string) => `new_address_of_${personId}`;

/** The setting that ties an account to the subject of a single sign-on provider. */
export const signOnSetting = (personId: string) => `single_sign_on_of_${personId}`;

/**
 * Ends a person's sessions except one, and their unused links. To end all access, also their API tokens and the address
 * of the calendar.
 */
export async function endAccess(tx: StoreTransaction, personId: string, except?: string): Promise<void> {
  const { query } = tx;
  await query
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .$if(except !== undefined, (some) => some.where('id_hash', '!=', Buffer.from(except ?? '', 'hex')))
    .execute();
  await query.deleteFrom('sign_in_links').where('person_id', '=', personId).where('used_at', 'is', null).execute();
  await query.deleteFrom('settings').where('name', '=', newAddressSetting(personId)).execute();
  if (except !== undefined) return;
  await query.deleteFrom('settings').where('name', '=', signOnSetting(personId)).execute();
  await endTokens(tx, personId);
}

/** Ends everything that opens an account. Someone who took it over may have added a passkey. */
async function endEveryAccess(tx: StoreTransaction, personId: string): Promise<void> {
  await endAccess(tx, personId);
  await tx.query.deleteFrom('passkeys').where('person_id', '=', personId).execute();
  await tx.query.updateTable('people').set({ password: null }).where('person_id', '=', personId).execute();
}

/** Ends a person's API tokens, and gives the calendar a new address. */
async function endTokens({ query, insertMany }: StoreTransaction, personId: string): Promise<void> {
  await query.deleteFrom('api_tokens').where('person_id', '=', personId).execute();
  const generation = randomBytes(16).toString('hex');
  await insertMany('settings', [{ name: calendarSetting(personId), value: generation }], 'replace');
}

/**
 * Does something that may remove an owner. Throws Refusal, which undoes it, if that was the last owner who has joined
 * and is not disabled.
 */
async function keepingAnOwner(tx: StoreTransaction, work: () => Promise<void>): Promise<void> {
  const hadOwner = await hasOwner(tx);
  await work();
  if (hadOwner && !(await hasOwner(tx)))
    throw new ChangeRefused('This is the last owner: make someone else an owner first.');
}

async function hasOwner({ query }: StoreTransaction): Promise<boolean> {
  const owner = await query
    .selectFrom('people')
    .select('person_id')
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .where('joined_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return owner !== undefined;
}

/** Why `by` may not make this change to `before` (null: a new account). */
export function rightsProblems(
  by: Administrator,
  before: Person | null,
  after: Pick<Person, 'role' | 'sources'>,
): readonly string[] {
  const under = rolesUnder(by.role);
  if (!under.includes(after.role) || (before !== null && !under.includes(before.role)))
    return ['Only an owner may give, change or remove the role of owner.'];
  if (after.sources !== null && !isLimitable(after.role))
    return ['Owners and admins see every source: only officers and auditors can be limited to some.'];
  return after.sources?.length === 0 ? ['Choose at least one source, or every source.'] : [];
}

function newRow({ clock }: Pick<PeopleDeps, 'clock'>, { name: called, email: address, role, sources }: NewPerson) {
  return {
    person_id: `p-${randomBytes(4).toString('hex')}`,
    email: address,
    name: called,
    role,
    sources: sources === null ? null : JSON.stringify(sources),
    password: null as string | null,
    totp: null,
    totp_step: 0,
    created_at: isoNow(clock),
    joined_at: null as string | null,
    disabled_at: null,
  };
}

function linkOf(
  deps: PeopleDeps,
  row: { readonly person_id: string; readonly name: string },
  purpose: Extract<LinkPurpose, 'invitation' | 'reset'>,
) {
  const minutes = (purpose === 'invitation' ? INVITATION_HOURS : RESET_HOURS) * 60;
  return drawLink(deps, { purpose, officer: actorOf(row.person_id, row.name), personId: row.person_id, minutes });
}

/** Whether an account has this e-mail address. */
export async function isTaken({ query }: StoreTransaction, address: string): Promise<boolean> {
  const taken = await query.selectFrom('people').select('person_id').where('email', '=', address).executeTakeFirst();
  return taken !== undefined;
}

export function issueTexts(error: z.ZodError): readonly string[] {
  return error.issues.map(({ message }) => message);
}
