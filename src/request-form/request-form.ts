import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { CaseRow } from '../cases/fold.ts';
import { parseFolded } from '../cases/folded.ts';
import { moveLatest, openCase } from '../cases/move-case.ts';
import { isOpen, line, text } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import { isoNow } from '../core/clock.ts';
import { emailSchema } from '../core/email.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { equalBytes, hmacSha256, sha256Hex } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { jurisdictionSchema } from '../law/jurisdictions.ts';
import type { Appended } from '../ledger/ledger.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';

/*
 * The page on which anyone can send a request. A request is recorded on arrival: the period runs from then on, whether
 * or not the address is confirmed later (EDPB Guidelines 01/2022 §§ 52, 159). The code that confirms it is computed
 * from the case, so it is not stored.
 */

export interface RequestFormDeps {
  readonly store: Store;
  readonly clock: CaseWriting['clock'];
  readonly keys: { readonly instance: Pick<InstanceKeys, 'link'> };
  readonly cases: CaseWriting;
  readonly jobs: Pick<Jobs, 'enqueueIn' | 'wake'>;
  readonly catchUp: () => Promise<unknown>;
}

/** The job that mails the confirmation of receipt and the code. */
export const REQUEST_MAIL = 'request-form-mail';
export const requestMailSchema = z.object({ caseId: z.string() });
/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;

/** Channel of a request sent through the form. */
const CHANNEL = 'request form';
/** The actor, without a name, because entries outlive an erasure of the case. */
const REQUESTER = 'data subject (request form)';

/** A form sent back sooner than this was not filled in by a person; milliseconds. */
const SOONEST_MS = 2000;
/** Hours for which a form is valid. */
const FORM_HOURS = 24;
/** Requests per hour that one source accepts through its form, from everyone together. */
export const REQUESTS_PER_HOUR = 120;
/** Days for which the code is accepted and a request's page can be opened. */
const CODE_DAYS = 7;
/** Wrong codes after which no code is accepted. */
const CODE_ATTEMPTS = 5;
const CODE_DIGITS = 8;
/** Keeps the count of wrong codes from being deleted with those of sign-ins. */
const NEVER = '9999-12-31T23:59:59.999Z';

const empty = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? null : value);

/** A requester's input. */
export const requestSchema = z.object({
  kind: z.enum(requestKinds),
  name: line,
  email: emailSchema,
  place: z.preprocess(empty, jurisdictionSchema.nullable().default(null)),
  // Browsers count a line break as one character but send two.
  message: z.preprocess(
    (value) => empty(typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value),
    text.nullable().default(null),
  ),
  /** An id shown in the requester's own browser. */
  subject: z.preprocess(empty, line.nullable().default(null)),
});
export type RequestField = keyof z.infer<typeof requestSchema>;

/**
 * A number for one form, which shows when and for which source it was made. Together with the input it identifies the
 * request, so that a form sent twice opens one case.
 */
export function issueForm({ keys, clock }: Pick<RequestFormDeps, 'keys' | 'clock'>, source: string): string {
  const given = `${clock().getTime()}.${randomBytes(12).toString('base64url')}`;
  return `${given}.${formMac(keys, source, given)}`;
}

/** Whether a form was made here for this source, long enough ago for a person to fill it in, and not too long ago. */
export function isFormGood(
  { keys, clock }: Pick<RequestFormDeps, 'keys' | 'clock'>,
  source: string,
  form: string,
): boolean {
  const [, given = '', at = '', mac = ''] = /^((\d{13})\.[\w-]{16})\.([\w-]{43})$/.exec(form) ?? [];
  if (given === '' || !equalBytes(Buffer.from(mac), Buffer.from(formMac(keys, source, given)))) return false;
  const age = clock().getTime() - Number(at);
  return age >= SOONEST_MS && age <= FORM_HOURS * 3_600_000;
}

function formMac(keys: RequestFormDeps['keys'], source: string, given: string): string {
  return hmacSha256(keys.instance.link, Buffer.from(`request form ${source} ${given}`)).toString('base64url');
}

type Submitted =
  | { readonly outcome: 'recorded'; readonly caseId: string; readonly seq: number }
  | { readonly outcome: 'too-many' };

/** Attempts to find an unused id. */
const TRIES = 5;

/**
 * Records a request, together with the job that mails the confirmation if `mails` is set. The form must have been
 * checked ({@link isFormGood}). The same form with the same input is one request; with different input, after going
 * back in the browser, it is another.
 */
export async function submitRequest(
  deps: RequestFormDeps,
  request: z.infer<typeof requestSchema>,
  about: { readonly source: string; readonly form: string; readonly language: string; readonly mails: boolean },
): Promise<Submitted> {
  const { source, form, language, mails } = about;
  const now = isoNow(deps.clock);
  const wanted = {
    source,
    kind: request.kind,
    receivedAt: now,
    channel: CHANNEL,
    requesterName: request.name,
    requesterEmail: request.email,
    jurisdiction: request.place,
    subject: request.subject,
    message: request.message,
    actor: REQUESTER,
    language,
    receiptBasis: 'form' as const,
  };
  // Costs less than a transaction that is rolled back; what counts is the same question in the one that records.
  if (await isFull(deps, deps.store.read, { source, now })) return { outcome: 'too-many' };
  const words = canonicalJson({ ...request });
  const countAndMail = async (tx: StoreTransaction, caseId: string, appended: Appended) => {
    if (appended.outcome === 'duplicate') return;
    await countRequest(deps, tx, { source, now });
    if (mails)
      await deps.jobs.enqueueIn(tx, {
        ...{ kind: REQUEST_MAIL, key: caseId, payload: { caseId } },
        maxAttempts: MAIL_ATTEMPTS,
      });
  };
  for (let tried = 0; tried < TRIES; tried += 1) {
    const reference = sha256Hex(Buffer.concat([Buffer.from(`${form} ${tried} `), words]));
    const opened = await openWithinLimit(() => openCase(deps.cases, { ...wanted, reference }, countAndMail));
    if (opened === null) return { outcome: 'too-many' };
    if (opened.outcome === 'refused') throw new Error(opened.problems.join('; '));
    // Ids have ten digits, so one may belong to another request.
    if (opened.outcome === 'duplicate' && !(await saysTheSame(deps.store, opened.seq, wanted))) continue;
    if (mails) deps.jobs.wake([{ kind: REQUEST_MAIL, at: null }]);
    return { outcome: 'recorded', caseId: opened.caseId, seq: opened.seq };
  }
  throw new Error(`no free id for a request of ${source} after ${TRIES} attempts`);
}

/** Whether an entry recorded the same request. */
async function saysTheSame(
  store: Store,
  seq: number,
  { receivedAt: _now, source: _source, ...wanted }: { readonly receivedAt: string; readonly source: string },
): Promise<boolean> {
  const entry = await store.read.selectFrom('entries').select('body').where('seq', '=', seq).executeTakeFirst();
  if (entry?.body == null) return false;
  const said = JSON.parse(entry.body.toString('utf8')) as Record<string, unknown>;
  return Object.entries(wanted).every(([name, value]) => said[name] === value);
}

/** Rolls back a request beyond {@link REQUESTS_PER_HOUR}. */
class TooMany extends Error {}

async function openWithinLimit<T>(open: () => Promise<T>): Promise<T | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof TooMany) return null;
    throw error;
  }
}

/** Counts a source's request in the transaction that records it, so that none beyond the limit is recorded. */
async function countRequest(
  { keys }: Pick<RequestFormDeps, 'keys'>,
  { query, insertMany }: StoreTransaction,
  { source, now }: { readonly source: string; readonly now: string },
): Promise<void> {
  const key = hourKey(keys, source);
  const hour = await hourOf(query, key, now);
  if ((hour?.failures ?? 0) >= REQUESTS_PER_HOUR) throw new TooMany();
  // The hour begins with its first request.
  const counted = { failures: (hour?.failures ?? 0) + 1, last_at: hour?.last_at ?? now };
  await insertMany('sign_in_failures', [{ key_hash: key, ...counted, blocked_until: '' }], 'replace');
}

async function isFull(
  { keys }: Pick<RequestFormDeps, 'keys'>,
  read: Query,
  { source, now }: { readonly source: string; readonly now: string },
): Promise<boolean> {
  return ((await hourOf(read, hourKey(keys, source), now))?.failures ?? 0) >= REQUESTS_PER_HOUR;
}

function hourKey(keys: RequestFormDeps['keys'], source: string): Buffer {
  return hmacSha256(keys.instance.link, Buffer.from(`request form hour ${source}`));
}

/** The count of a source's last hour with a request. */
function hourOf(read: Query, key: Buffer, now: string) {
  return read
    .selectFrom('sign_in_failures')
    .select(['failures', 'last_at'])
    .where('key_hash', '=', key)
    .where('last_at', '>', new Date(Date.parse(now) - 3_600_000).toISOString())
    .executeTakeFirst();
}

/** The last part of the address of a request's page, which cannot be guessed. */
export function receiptToken({ keys }: Pick<RequestFormDeps, 'keys'>, source: string, caseId: string): string {
  const number = caseId.slice(source.length + 1);
  const mac = hmacSha256(keys.instance.link, Buffer.from(`request form receipt ${caseId}`)).toString('base64url');
  return `${number}.${mac}`;
}

/** The request whose page an address opens; null: it opens none, or no longer does. */
export async function findRequest(
  deps: Pick<RequestFormDeps, 'store' | 'keys' | 'clock'>,
  source: string,
  token: string,
): Promise<CaseRow | null> {
  const number = /^(o\d{10})\.[\w-]{43}$/.exec(token)?.[1];
  if (number === undefined) return null;
  const caseId = `${source}-${number}`;
  if (!equalBytes(Buffer.from(token), Buffer.from(receiptToken(deps, source, caseId)))) return null;
  const row = await deps.store.read
    .selectFrom('cases')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('source', '=', source)
    .where('receipt_basis', '=', 'form')
    .executeTakeFirst();
  return row === undefined || codeExpires(row) <= isoNow(deps.clock) ? null : row;
}

/** When the code of a request expires. ISO 8601 UTC. */
export function codeExpires(row: Pick<CaseRow, 'receipt_at'>): string {
  return new Date(Date.parse(row.receipt_at) + CODE_DAYS * 86_400_000).toISOString();
}

/** The code that confirms the address of a request; changes if the address is corrected. */
export function codeOfRequest(
  { keys }: Pick<RequestFormDeps, 'keys'>,
  { case_id: caseId, requester_email: email }: Pick<CaseRow, 'case_id' | 'requester_email'>,
): string {
  const digest = hmacSha256(keys.instance.link, Buffer.from(JSON.stringify(['request form code', caseId, email])));
  return String(digest.readBigUInt64BE() % BigInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
}

/** The state of the confirmation of a request's address. */
export type Confirmation = 'open' | 'confirmed' | 'locked' | 'closed';

/** Whether the address of a request can still be confirmed. */
export async function confirmationOf(
  deps: Pick<RequestFormDeps, 'store' | 'keys'>,
  row: CaseRow,
): Promise<Confirmation> {
  if (parseFolded(row.folded).emailConfirmed !== undefined) return 'confirmed';
  if (!isOpen(row.state) || row.requester_email === null) return 'closed';
  const counted = await deps.store.read
    .selectFrom('sign_in_failures')
    .select('failures')
    .where('key_hash', '=', attemptsKey(deps, row.case_id))
    .executeTakeFirst();
  return (counted?.failures ?? 0) >= CODE_ATTEMPTS ? 'locked' : 'open';
}

type Confirmed =
  | { readonly outcome: 'confirmed'; readonly seq: number }
  | { readonly outcome: 'wrong'; readonly attemptsLeft: number }
  | { readonly outcome: 'gone' };

/**
 * Tries a request's code. It is counted as wrong before it is checked, so that concurrent attempts count like
 * consecutive ones. The right one becomes a move of the case.
 */
export async function confirmAddress(deps: RequestFormDeps, row: CaseRow, code: string): Promise<Confirmed> {
  const key = attemptsKey(deps, row.case_id);
  const failures = await deps.store.transaction(async ({ query, insertMany }) => {
    const before = await query
      .selectFrom('sign_in_failures')
      .select('failures')
      .where('key_hash', '=', key)
      .executeTakeFirst();
    const counted = (before?.failures ?? 0) + 1;
    if (counted > CODE_ATTEMPTS) return null;
    const failed = { key_hash: key, failures: counted, last_at: isoNow(deps.clock), blocked_until: NEVER };
    await insertMany('sign_in_failures', [failed], 'replace');
    return counted;
  });
  if (failures === null) return { outcome: 'gone' };
  const right = Buffer.from(codeOfRequest(deps, row));
  if (!equalBytes(Buffer.from(code.replaceAll(/[\s-]/g, '').slice(0, 100)), right))
    return failures >= CODE_ATTEMPTS
      ? { outcome: 'gone' }
      : { outcome: 'wrong', attemptsLeft: CODE_ATTEMPTS - failures };
  const details = { how: 'The requester entered the code that was mailed to this address.' };
  const move = { caseId: row.case_id, move: 'confirm-email', details, actor: REQUESTER };
  const moved = await moveLatest(deps.cases, move, deps.catchUp);
  if (moved.outcome !== 'moved') return { outcome: 'gone' };
  await deps.store.transaction(({ query }) =>
    query.deleteFrom('sign_in_failures').where('key_hash', '=', key).execute(),
  );
  return { outcome: 'confirmed', seq: moved.seq };
}

function attemptsKey({ keys }: Pick<RequestFormDeps, 'keys'>, caseId: string): Buffer {
  return hmacSha256(keys.instance.link, Buffer.from(`request form attempts ${caseId}`));
}
