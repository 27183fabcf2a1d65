import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { can } from '../core/roles.ts';
import { type JobHandlers, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type MailSettings, sendMail } from '../outside/mail.ts';
import { SendError, sendInJob } from '../outside/send-error.ts';
import type { StoreTransaction } from '../store/store.ts';
import { drawLink, findLink, keepLink, LinkGone, useLinkUp } from './links.ts';
import {
  type Administrator,
  accountEmail,
  ChangeRefused,
  endAccess,
  findPerson,
  issueTexts,
  isTaken,
  newAddressSetting,
  ownHand,
  type Person,
  type PersonOutcome,
  personAction,
  presentPasswordProblem,
  type Refused,
  recordPersonAction,
  rightsProblems,
} from './people.ts';
import { actorOf, type PeopleDeps } from './sessions.ts';

interface AddressDeps extends PeopleDeps {
  readonly jobs: Jobs;
  readonly config: { readonly mail: MailSettings | null };
}

/** Lifetime of the link that confirms a new address. */
const LINK_MINUTES = 24 * 60;
/** How long to try to send this mail, milliseconds: a person is waiting. */
const SEND_MS = 20_000;

/**
 * Changes the e-mail address of a person who knows their password. With a mail server, they confirm it by a link sent to
 * the new address, and are not told whether another account has it. Without one, only owners and admins can change
 * theirs. `confirmUrl`: the page for a token. `handle`: of the session that asks, the only one that stays open.
 */
export async function changeOwnAddress(
  deps: AddressDeps,
  person: Person,
  input: { readonly email: string; readonly present: string },
  { confirmUrl, handle }: { readonly confirmUrl: (token: string) => string; readonly handle: string },
): Promise<{ readonly outcome: 'changed' | 'sent' } | Refused> {
  const wrong = await presentPasswordProblem(deps, person, input.present);
  if (wrong !== null) return { outcome: 'refused', problems: [wrong] };
  const read = accountEmail.safeParse(input.email);
  if (!read.success) return { outcome: 'refused', problems: issueTexts(read.error) };
  if (read.data === person.email)
    return { outcome: 'refused', problems: ['This is the address of your account already.'] };
  const { mail } = deps.config;
  if (mail === null) {
    if (!can(person.role, 'administer'))
      return {
        outcome: 'refused',
        problems: ['No mail server is set up here to confirm an address: ask an owner or admin to change it.'],
      };
    const changed = await recordPersonAction(deps, addressAction(ownHand(person), person, 'not confirmed'), (tx) =>
      setAddress(deps, tx, person, { email: read.data, handle }),
    );
    return changed.outcome === 'done' ? { outcome: 'changed' } : refusalOf(changed);
  }
  const { personId } = person;
  const officer = actorOf(personId, person.name);
  const drawn = drawLink(deps, { purpose: 'address', officer, personId, minutes: LINK_MINUTES });
  const detail = `new e-mail address, until ${drawn.row.expires_at}`;
  const kept = await recordPersonAction(
    deps,
    personAction('person.link-created', ownHand(person), person, detail),
    async (tx) => {
      await keepLink(tx, drawn);
      await tx.insertMany('settings', [{ name: newAddressSetting(personId), value: read.data }], 'replace');
      return { person, link: null };
    },
  );
  if (kept.outcome !== 'done') return refusalOf(kept);
  try {
    // Sent at once, so that a mistyped domain is noticed, and because the token is not stored.
    await sendMail(mail, confirmation(read.data, confirmUrl(drawn.link.token)), AbortSignal.timeout(SEND_MS));
  } catch (error) {
    if (!(error instanceof SendError) && (error as Error).name !== 'TimeoutError') throw error;
    return {
      outcome: 'refused',
      problems: ['The mail to the new address was not accepted. Check the address, or try again later.'],
    };
  }
  return { outcome: 'sent' };
}

/**
 * The address that a link confirms; null if the link is unknown, used, expired, or another account's. Only the session of
 * the account can confirm it; the recipient of a misaddressed mail cannot.
 */
export async function findNewAddress(
  deps: Pick<PeopleDeps, 'store' | 'keys' | 'clock'>,
  { personId }: Person,
  token: string,
): Promise<string | null> {
  const link = await findLink(deps, token, ['address']);
  if (link === null || link.personId !== personId) return null;
  const row = await deps.store.read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', newAddressSetting(personId))
    .executeTakeFirst();
  return row?.value ?? null;
}

/** Changes the address to the one that the link confirms. The person's other sessions end. */
export async function confirmNewAddress(
  deps: AddressDeps,
  person: Person,
  token: string,
  handle: string,
): Promise<{ readonly outcome: 'changed' | 'gone' } | Refused> {
  const email = await findNewAddress(deps, person, token);
  if (email === null) return { outcome: 'gone' };
  try {
    const action = addressAction(ownHand(person), person, 'confirmed by a link');
    const changed = await recordPersonAction(deps, action, async (tx) => {
      await useLinkUp(deps, tx, token, deps.clock().toISOString());
      return setAddress(deps, tx, person, { email, handle });
    });
    if (changed.outcome !== 'done') return refusalOf(changed);
    deps.jobs.wake([{ kind: ADDRESS_NOTICE, at: null }]);
    return { outcome: 'changed' };
  } catch (error) {
    if (error instanceof LinkGone) return { outcome: 'gone' };
    throw error;
  }
}

/** Changes the address of somebody else's account. Its sessions end, as well as its unused links if it has joined. */
export async function changeAddress(
  deps: AddressDeps,
  personId: string,
  email: string,
  by: Administrator,
): Promise<PersonOutcome> {
  const person = await findPerson(deps, personId);
  if (person === null) return { outcome: 'unknown' };
  if (by.personId === personId)
    return { outcome: 'refused', problems: ['Change the address of your own account under Your account.'] };
  const read = accountEmail.safeParse(email);
  const problems = read.success ? rightsProblems(by, person, person) : issueTexts(read.error);
  if (!read.success || problems.length > 0) return { outcome: 'refused', problems };
  if (read.data === person.email) return { outcome: 'refused', problems: ['The account has this address already.'] };
  const changed = await recordPersonAction(deps, addressAction(by, person, null), (tx) =>
    setAddress(deps, tx, person, { email: read.data, handle: '' }),
  );
  deps.jobs.wake([{ kind: ADDRESS_NOTICE, at: null }]);
  return changed;
}

function addressAction(by: Administrator, person: Person, how: string | null) {
  return personAction('person.changed', by, person, `e-mail address${how === null ? '' : `, ${how}`}`);
}

/** `handle`: the session that stays open; empty: none. */
async function setAddress(
  deps: AddressDeps,
  tx: StoreTransaction,
  person: Person,
  { email, handle }: { readonly email: string; readonly handle: string },
) {
  if (await isTaken(tx, email)) throw new ChangeRefused('An account with this e-mail address already exists.');
  await tx.query.updateTable('people').set({ email }).where('person_id', '=', person.personId).execute();
  // An invited person still needs the invitation, and never used the old address here.
  if (person.joinedAt !== null) {
    await endAccess(tx, person.personId, handle);
    if (deps.config.mail !== null)
      await deps.jobs.enqueueIn(tx, {
        kind: ADDRESS_NOTICE,
        payload: { to: person.email },
        maxAttempts: MAIL_ATTEMPTS,
      });
  }
  return { person: { ...person, email }, link: null };
}

function refusalOf(outcome: PersonOutcome): Refused {
  return outcome.outcome === 'refused' ? outcome : { outcome: 'refused', problems: ['Unknown account.'] };
}

function confirmation(to: string, url: string) {
  const text = `Somebody wants to use this address for their account in a consent ledger.

If it was you, open this page within a day, in a browser in which you are signed in there:

${url}

If it was not you, ignore this mail: nothing changes.
`;
  return { to: [to], subject: 'Consent ledger: confirm your new e-mail address', text, id: `address.${randomUUID()}` };
}

/** The job that tells the old address. */
const ADDRESS_NOTICE = 'address-notice';
/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;
const noticeSchema = z.object({ to: z.string() });
const NOTICE = `The e-mail address of your account in the consent ledger was changed. Sign in with the new one; mail goes there from now on.

If you did not expect this, tell an owner or admin of the consent ledger at once.
`;

/** The job that tells the old address of an account that it was replaced. */
export function createAddressJobs({ config }: Pick<AddressDeps, 'config'>): JobHandlers {
  return {
    async [ADDRESS_NOTICE](payload, { job, signal }) {
      const { mail } = config;
      if (mail === null) throw new JobRefused('SMTP_URL is not set for this worker.');
      const { to } = readPayload(noticeSchema, payload);
      const subject = 'Consent ledger: the e-mail address of your account was changed';
      await sendInJob(() => sendMail(mail, { to: [to], subject, text: NOTICE, id: `address.${job.id}` }, signal));
      return { sent: true };
    },
  };
}
