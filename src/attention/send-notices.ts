import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { counted } from '../../reports/format.ts';
import type { Clock } from '../core/clock.ts';
import { dateIn } from '../core/zoned-days.ts';
import { PAYLOAD_OF_SCHEDULE } from '../documents/schedules.ts';
import { type JobContext, type JobHandlers, JobRefused, type Json, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import type { Sealing } from '../ledger/seal.ts';
import { type Mail, type MailSettings, sendMail } from '../outside/mail.ts';
import { SendError, sendInJob } from '../outside/send-error.ts';
import { postToChat, sendWebhook } from '../outside/webhook.ts';
import { findPerson, listPeople, type Person } from '../people/people.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import { countNotices, isFor, type Notice, noticeKinds, sentenceOf, type Told } from './find-notices.ts';
import { loadPreferences, type Preferences, usualPreferences, wants } from './preferences.ts';

/** Where notifications are sent; null: not configured. */
interface Channels {
  readonly mail: MailSettings | null;
  readonly chatUrl: string | null;
  readonly webhook: { readonly url: string; readonly secret: string } | null;
}

export interface NotifyDeps {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
  readonly channels: Channels;
  readonly checkpointMailTo: readonly string[];
  /** Address of the admin pages; null: unknown. */
  readonly adminUrl: string | null;
  readonly instance: string;
  /** The display name of a source. */
  readonly sourceName: (slug: string) => string;
  readonly epoch: number;
  readonly verifierKey: string;
  readonly seal: () => Promise<Sealing>;
  /** Finds all current conditions. */
  readonly find: () => Promise<readonly Notice[]>;
}

const NOTIFIED = 'notified';
const CHECKPOINT_MAIL = 'checkpoint_mail';

/** A condition that disappears for this long and returns is announced again. */
const FORGET_HOURS = 24;
/** Enough attempts to outlast a mail server outage of half a day. */
const ATTEMPTS = 80;

const notifiedSchema = z.record(
  z.string(),
  z.object({
    /** When it was announced. ISO 8601 UTC. */
    since: z.string(),
    /** When it was last found, to the hour. */
    seen: z.string(),
  }),
);
type Notified = z.infer<typeof notifiedSchema>;

function readNotified(text: string | null): Notified {
  try {
    return text === null ? {} : notifiedSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Current conditions, and when each was announced; null: not yet. */
export async function listNotices(
  deps: Pick<NotifyDeps, 'store' | 'find'>,
): Promise<readonly (Notice & { since: string | null })[]> {
  const known = readNotified(await readSetting(deps.store, NOTIFIED));
  return (await deps.find()).map((notice) => ({ ...notice, since: known[notice.key]?.since ?? null }));
}

const toldSchema = z.object({
  kind: z.enum(noticeKinds),
  source: z.string().nullable(),
  count: z.number(),
  due: z.string().nullable().default(null),
});
const payloadSchema = z.object({
  channel: z.enum(['mail', 'chat', 'webhook']),
  /** The account; its address is looked up when the mail is sent. */
  person: z.string().nullable(),
  /** Message id, the same for all attempts. */
  id: z.string(),
  at: z.string(),
  digest: z.boolean(),
  told: z.array(toldSchema),
  /** Scheduled documents and backups made since the last digest. */
  done: z.array(z.object({ kind: z.string(), count: z.number() })),
});
type Payload = z.infer<typeof payloadSchema>;

/**
 * The jobs of notifications. New notices are found and passed to separate jobs in one transaction, so each is sent
 * once, whatever fails in between.
 */
export function createNotifyJobs(deps: NotifyDeps): JobHandlers {
  return {
    async notify(_payload, context) {
      const { store, jobs, clock } = deps;
      const notices = await deps.find();
      const now = clock().toISOString();
      let fresh: readonly Notice[] = [];
      let told = 0;
      await store.transaction(async (tx) => {
        const known = readNotified(await readSetting({ read: tx.query }, NOTIFIED));
        fresh = notices.filter(({ key }) => known[key] === undefined);
        const next = rememberedAt(now, known, notices);
        if (JSON.stringify(next) !== JSON.stringify(known))
          await tx.insertMany('settings', [{ name: NOTIFIED, value: JSON.stringify(next) }], 'replace');
        const people = fresh.length === 0 ? [] : await listPeople({ store });
        const wanted = await loadPreferences(tx.query);
        const sending = messagesFor(deps.channels, { people, wanted }, countNotices(fresh), {
          at: now,
          digest: false,
          done: [],
        });
        for (const job of sending) await jobs.enqueueIn(tx, job);
        told = sending.length;
        await context.completeIn(tx, { found: notices.length, new: fresh.length, messages: told });
      });
      if (told > 0) jobs.wake([{ kind: 'notify-send', at: null }]);
      return { found: notices.length, new: fresh.length, messages: told };
    },

    async digest(_payload, context) {
      const { store, jobs, clock } = deps;
      const notices = await deps.find();
      const now = clock().toISOString();
      let told = 0;
      await store.transaction(async (tx) => {
        const done = await finishedSince(tx, new Date(clock().getTime() - 24 * 3_600_000).toISOString());
        const people = deps.channels.mail === null ? [] : await listPeople({ store });
        const channels = { ...deps.channels, chatUrl: null, webhook: null };
        const wanted = await loadPreferences(tx.query);
        const sending = messagesFor(channels, { people, wanted }, countNotices(notices), {
          at: now,
          digest: true,
          done,
        });
        for (const job of sending) await jobs.enqueueIn(tx, job);
        told = sending.length;
        await context.completeIn(tx, { messages: told });
      });
      if (told > 0) jobs.wake([{ kind: 'notify-send', at: null }]);
      return { messages: told };
    },

    async 'notify-send'(payload, context) {
      return sendInJob(() => send(deps, readPayload(payloadSchema, payload), context));
    },

    // Enqueues a separate job: scheduled jobs are retried for half a minute, but on that one day of the month a mail
    // server may be down for longer.
    async 'mail-checkpoint'() {
      const { outcome } = await deps.jobs.enqueue({ kind: 'checkpoint-mail', key: 'schedule', maxAttempts: ATTEMPTS });
      return { outcome };
    },

    async 'checkpoint-mail'(_payload, { signal, job }) {
      return sendInJob(() => mailCheckpoint(deps, { id: job.id, signal }));
    },
  };
}

/** Times to the hour, so that the setting is written at most once an hour if nothing changes. */
function rememberedAt(now: string, known: Notified, notices: readonly Notice[]): Notified {
  const hour = `${now.slice(0, 13)}:00:00.000Z`;
  const next: Notified = {};
  for (const [key, one] of Object.entries(known))
    if (Date.parse(now) - Date.parse(one.seen) < FORGET_HOURS * 3_600_000) next[key] = one;
  for (const { key } of notices) next[key] = { since: next[key]?.since ?? now, seen: hour };
  return next;
}

/** One mail for each person who may see and wants some of it, one chat message, and one webhook for each kind and source. */
function messagesFor(
  { mail, chatUrl, webhook }: Channels,
  { people, wanted }: { readonly people: readonly Person[]; readonly wanted: ReadonlyMap<string, Preferences> },
  told: readonly Told[],
  about: Pick<Payload, 'at' | 'digest' | 'done'>,
): readonly NewJob[] {
  const messages: Omit<Payload, 'id'>[] = [];
  for (const person of mail === null ? [] : people) {
    const preferences = wanted.get(person.personId) ?? usualPreferences;
    if (!(about.digest ? preferences.digest : preferences.atOnce)) continue;
    const own = told.filter((one) => isFor(person, one) && wants(preferences, one.kind));
    const done = person.sources === null && person.role !== 'auditor' ? about.done : [];
    if (person.joinedAt !== null && person.disabledAt === null && own.length + done.length > 0)
      messages.push({ ...about, channel: 'mail', person: person.personId, told: own, done });
  }
  if (told.length > 0 && chatUrl !== null) messages.push({ ...about, channel: 'chat', person: null, told: [...told] });
  if (webhook !== null)
    for (const one of told) messages.push({ ...about, channel: 'webhook', person: null, told: [one] });
  return messages.map((message) => ({
    kind: 'notify-send',
    payload: { ...message, id: `msg_${randomUUID()}` },
    maxAttempts: ATTEMPTS,
  }));
}

/** How many mails and notifications could not be sent yet or at all, and an error of one of them. */
export async function countUnsent(read: Query): Promise<{ readonly count: number; readonly error: string | null }> {
  const { count, error } = await read
    .selectFrom('jobs')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.max('error').as('error')])
    .where('kind', 'in', [
      'notify-send',
      'checkpoint-mail',
      'letter-mail',
      'task-mail',
      'reply-mail',
      'request-form-mail',
    ])
    .where('state', 'in', ['waiting', 'failed'])
    .where('error', 'is not', null)
    .executeTakeFirstOrThrow();
  return { count: Number(count), error };
}

/** What the schedule has finished since then, by kind. */
async function finishedSince({ query }: StoreTransaction, since: string): Promise<Payload['done']> {
  const rows = await query
    .selectFrom('jobs')
    .select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
    .where('kind', 'in', ['document', 'backup', 'retention'])
    .where((eb) => eb.or([eb('kind', '!=', 'document'), eb('payload', 'like', PAYLOAD_OF_SCHEDULE)]))
    .where('state', '=', 'done')
    .where('finished_at', '>=', since)
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return rows.map(({ kind, count }) => ({ kind, count: Number(count) }));
}

const doneWords: Readonly<Record<string, readonly [one: string, more: string]>> = {
  document: ['document made', 'documents made'],
  backup: ['backup made', 'backups made'],
  retention: ['retention run', 'retention runs'],
};

async function send(deps: NotifyDeps, payload: Payload, { signal }: JobContext): Promise<Json> {
  const { channels } = deps;
  switch (payload.channel) {
    case 'mail': {
      const person = payload.person === null ? null : await findPerson(deps, payload.person);
      if (channels.mail === null) throw new JobRefused('SMTP_URL is not set for this worker.');
      if (person === null || person.disabledAt !== null)
        return { sent: false, reason: 'the account no longer exists or is disabled' };
      // The person's rights may have changed since.
      const told = payload.told.filter((one) => isFor(person, one));
      if (told.length + payload.done.length === 0)
        return { sent: false, reason: 'the account no longer receives these notices' };
      await sendMail(channels.mail, notificationMail({ ...payload, told }, person.email, deps), signal);
      return { sent: true };
    }
    case 'chat':
      if (channels.chatUrl === null) throw new JobRefused('NOTIFY_CHAT_URL is not set for this worker.');
      await postToChat(channels.chatUrl, textOf(payload, deps), signal);
      return { sent: true };
    case 'webhook': {
      if (channels.webhook === null) throw new JobRefused('NOTIFY_WEBHOOK_URL is not set for this worker.');
      const body = JSON.stringify(webhookBody(payload, deps));
      await sendWebhook(channels.webhook, { id: payload.id, at: deps.clock(), body }, signal);
      return { sent: true };
    }
  }
}

/** The body of a webhook: type, time, source and number. */
function webhookBody(
  { told, at }: Pick<Payload, 'told' | 'at'>,
  { instance, adminUrl, sourceName }: Pick<NotifyDeps, 'instance' | 'adminUrl' | 'sourceName'>,
) {
  const [one] = told;
  const data = { instance, source: one?.source ?? null, count: one?.count ?? 0, link: adminUrl };
  return {
    type: `notice.${one?.kind ?? 'test'}`,
    timestamp: at,
    data: { ...data, text: one === undefined ? 'test' : sentenceOf(one, sourceName) },
  };
}

type Wording = Pick<NotifyDeps, 'adminUrl' | 'sourceName'>;

function textOf(
  { told, done, digest }: Pick<Payload, 'told' | 'done' | 'digest'>,
  { adminUrl, sourceName }: Wording,
): string {
  return [
    ...(digest ? ['What needs attention today:'] : []),
    ...told.map((one) => `- ${sentenceOf(one, sourceName)}`),
    ...(digest && told.length === 0 ? ['- nothing'] : []),
    ...(done.length > 0 ? ['', 'Done by schedule in the last 24 hours:'] : []),
    ...done.map(({ kind, count }) => `- ${count} ${doneWords[kind]?.[count === 1 ? 0 : 1] ?? kind}`),
    '',
    adminUrl === null ? 'See the Today page.' : `See ${adminUrl}/`,
  ].join('\n');
}

function notificationMail(payload: Payload, to: string, wording: Wording): Mail {
  const { told, digest } = payload;
  const [first] = told;
  const subject = digest
    ? `Consent ledger: ${told.length === 0 ? 'nothing needs attention' : `${told.length} ${told.length === 1 ? 'thing needs' : 'things need'} attention`}`
    : `Consent ledger: ${first === undefined ? 'news' : sentenceOf(first, wording.sourceName).replace(/\.$/, '')}${told.length > 1 ? ` (and ${counted(told.length - 1, 'other notice', 'other notices')})` : ''}`;
  const foot = `You receive this mail because you have a consent-ledger account. Choose what you receive under Settings: Notifications.
These mails never name a person; the details are on the pages.`;
  return { to: [to], subject, text: `${textOf(payload, wording)}\n\n-- \n${foot}\n`, id: payload.id };
}

const checkpointMailSchema = z.object({ size: z.number(), epoch: z.number(), at: z.string() });

/** The last checkpoint that was mailed; null: none. */
export async function readCheckpointMail(
  store: Pick<Store, 'read'>,
): Promise<z.infer<typeof checkpointMailSchema> | null> {
  const text = await readSetting(store, CHECKPOINT_MAIL);
  return text === null ? null : checkpointMailSchema.parse(JSON.parse(text));
}

/**
 * Seals, and mails the newest checkpoint with the key that checks it: a recipient who keeps the mail can tell later
 * whether the history was rewritten or cut off.
 */
export async function mailCheckpoint(
  deps: NotifyDeps,
  { id, signal }: { readonly id: string; readonly signal?: AbortSignal },
): Promise<
  { readonly outcome: 'mailed'; readonly size: number; readonly recipients: number } | { readonly outcome: string }
> {
  const { channels, checkpointMailTo: to, instance, epoch, verifierKey } = deps;
  if (channels.mail === null || to.length === 0)
    throw new JobRefused('SMTP_URL, MAIL_FROM and CHECKPOINT_MAIL_TO are not set for this worker.');
  const sealing = await deps.seal();
  if (!('checkpoint' in sealing)) return { outcome: sealing.outcome };
  const { note, size } = sealing.checkpoint;
  const stem = `consent-ledger-${instance}-${epoch}-${String(size).padStart(16, '0')}`;
  const at = deps.clock().toISOString();
  const text = `This is the signed checkpoint of a consent ledger over ${counted(size, 'entry', 'entries')}, made on ${dateIn(at, deps.timeZone)} (${deps.timeZone}). Keep this mail.

The checkpoint fixes every entry up to that point. If entries are later rewritten or cut off, the operator cannot make the ledger fit this checkpoint again, not even with all keys. It holds no personal data.

To check the ledger against it, with a copy of the database and no secret:

  consent-ledger ledger verify --public --key ${stem}.vkey --checkpoint ${stem}.txt

The verifier key must be the one that you were given at the beginning:

  ${verifierKey}

If it differs, ask why before you rely on it: a restored backup leads to a new key or a new epoch.
`;
  const attachments = [
    { filename: `${stem}.txt`, content: note, contentType: 'text/plain; charset=utf-8' },
    { filename: `${stem}.vkey`, content: `${verifierKey}\n`, contentType: 'text/plain; charset=utf-8' },
  ];
  const subject = `Checkpoint of the consent ledger ${instance} over ${counted(size, 'entry', 'entries')}`;
  await sendMail(channels.mail, { to, subject, text, attachments, id: `checkpoint-${id}` }, signal);
  await writeSetting(deps.store, CHECKPOINT_MAIL, JSON.stringify({ size, epoch, at }));
  return { outcome: 'mailed', size, recipients: to.length };
}

/** Sends a test through each configured channel; returns what went wrong as a sentence, or null. */
export async function testChannels(
  deps: NotifyDeps,
  to: readonly string[],
): Promise<readonly { readonly channel: 'mail' | 'chat' | 'webhook'; readonly problem: string | null }[]> {
  const { mail, chatUrl, webhook } = deps.channels;
  const text = `This is a test of the notifications of the consent ledger ${deps.instance}.`;
  const id = `msg_${randomUUID()}`;
  const tried: { channel: 'mail' | 'chat' | 'webhook'; problem: string | null }[] = [];
  const attempt = async (channel: 'mail' | 'chat' | 'webhook', work: () => Promise<void>) => {
    try {
      await work();
      tried.push({ channel, problem: null });
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      tried.push({ channel, problem: error.message });
    }
  };
  if (mail !== null && to.length > 0)
    await attempt('mail', () => sendMail(mail, { to, subject: 'Consent ledger: test', text: `${text}\n`, id }));
  if (chatUrl !== null) await attempt('chat', () => postToChat(chatUrl, text));
  if (webhook !== null) {
    const at = deps.clock();
    const body = JSON.stringify(webhookBody({ told: [], at: at.toISOString() }, deps));
    await attempt('webhook', () => sendWebhook(webhook, { id, at, body }));
  }
  return tried;
}
