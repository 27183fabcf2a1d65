import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { findReport } from '../../reports/index.ts';
import { type Clock, isoNow } from '../core/clock.ts';
import { unknownSource } from '../core/errors.ts';
import { addDays, dateIn, earlierDate } from '../core/zoned-days.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { type JobHandlers, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import { cronProblem, nextTime, PEOPLES_SCHEDULES } from '../jobs/schedule.ts';
import { appendAction, assertAllowed, unlessRefused } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type MailSettings, sendMail } from '../outside/mail.ts';
import { sendInJob } from '../outside/send-error.ts';
import { findPerson, listPeople, type Person } from '../people/people.ts';
import type { Sources } from '../sources/sources.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import type { RegisteredDocument } from './begin-document.ts';
import { type ReportJob, reportJob } from './document-jobs.ts';
import { readableName } from './file-name.ts';
import { documentPath } from './register.ts';

/** The period of a scheduled report: the last whole one before it is made. */
export const covers = ['day', 'week', 'month', 'quarter', 'year'] as const;
type Covers = (typeof covers)[number];

const definitionSchema = z.object({
  name: z.string(),
  source: z.string(),
  format: z.enum(['pdf', 'csv', 'json', 'html']),
  covers: z.enum(covers),
  /** Ids of the people to whom it is mailed; none: it is only filed. */
  recipients: z.array(z.string()),
  actor: z.string(),
});

/** A recurring report. */
export interface DocumentSchedule extends z.infer<typeof definitionSchema> {
  readonly scheduleId: string;
  readonly cron: string;
  /** ISO 8601 UTC. */
  readonly nextAt: string;
  readonly lastAt: string | null;
}

interface ScheduleDeps {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly config: { readonly timeZone: string };
  readonly sources: Pick<Sources, 'find'>;
}

/** Matches the payload of jobs that make a document for a schedule, and of no other job. For SQL's `like`. */
export const PAYLOAD_OF_SCHEDULE = '%"schedule":"document-%';

/** Maximum number of schedules of a source. */
const SCHEDULES = 25;
/** Minimum milliseconds between two runs of a schedule. */
const LEAST_MS = 3_600_000;

/** Scheduled reports of some sources or of all, by source and id. */
export async function listDocumentSchedules(
  read: Query,
  sources: readonly string[] | null,
): Promise<readonly DocumentSchedule[]> {
  const rows = await read
    .selectFrom('schedules')
    .selectAll()
    .where('kind', '=', PEOPLES_SCHEDULES)
    .orderBy('name')
    .execute();
  return rows
    .map(({ name, cron, payload, next_at, last_at }) => ({
      ...definitionSchema.parse(JSON.parse(payload)),
      scheduleId: name,
      cron,
      nextAt: next_at,
      lastAt: last_at,
    }))
    .filter(({ source }) => sources?.includes(source) ?? true)
    .sort((a, b) => (a.source === b.source ? 0 : a.source < b.source ? -1 : 1));
}

export type ScheduleOutcome =
  | { readonly outcome: 'added'; readonly scheduleId: string; readonly seq: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Schedules a report, in the transaction that records it. */
export async function addDocumentSchedule(
  deps: ScheduleDeps,
  wanted: Pick<DocumentSchedule, 'name' | 'source' | 'cron' | 'actor'> & {
    readonly format: string;
    readonly covers: string;
    readonly recipients: readonly string[];
  },
): Promise<ScheduleOutcome> {
  const { ledger, clock } = deps;
  const problems = await problemsOf(deps, wanted);
  const parsed = definitionSchema.safeParse(wanted);
  const next = problems.length > 0 ? null : nextTime(wanted.cron, deps.config.timeZone, clock());
  if (!parsed.success || next === null || problems.length > 0) return { outcome: 'refused', problems };
  const definition = parsed.data;
  const scheduleId = `document-${randomBytes(5).toString('hex')}`;
  const { name, format, recipients, actor } = definition;
  const added = await unlessRefused(() =>
    appendAction(
      ledger,
      definition.source,
      {
        action: 'document.schedule-added',
        ...{ actor, scheduleId, name, format, covers: definition.covers, cron: wanted.cron, recipients },
      },
      ['document.schedule-added', scheduleId],
      isoNow(clock),
      async (tx, [recorded]) => {
        if (recorded !== undefined)
          await assertAllowed(({ query }) => tooManyIn(query, definition.source), tx, recorded);
        const row = {
          name: scheduleId,
          kind: PEOPLES_SCHEDULES,
          cron: wanted.cron,
          payload: JSON.stringify(definition),
        };
        await tx.insertMany('schedules', [{ ...row, next_at: next.toISOString(), last_at: null }]);
      },
    ),
  );
  return added.outcome === 'refused'
    ? { outcome: 'refused', problems: [added.problem] }
    : { outcome: 'added', scheduleId, seq: added.seq };
}

/**
 * Schedules a report for every active source, each in a transaction of its own. Sources that have the same schedule
 * already are left alone, so that it can be repeated once there are more. Each is mailed to the recipients who may see
 * its source and, if `toLimited`, to everyone whose access is limited to it and others.
 */
export async function scheduleForEverySource(
  deps: Omit<ScheduleDeps, 'sources'> & { readonly sources: Pick<Sources, 'find' | 'list'> },
  wanted: Omit<Parameters<typeof addDocumentSchedule>[1], 'source'> & { readonly toLimited: boolean },
): Promise<
  | { readonly outcome: 'added'; readonly added: number; readonly present: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
> {
  const { toLimited, recipients, ...definition } = wanted;
  const [people, present] = await Promise.all([listPeople(deps), listDocumentSchedules(deps.store.read, null)]);
  const has = (source: string) =>
    present.some(
      (one) =>
        one.source === source &&
        one.name === definition.name &&
        one.format === definition.format &&
        one.covers === definition.covers &&
        one.cron === definition.cron,
    );
  const missing = deps.sources.list().filter(({ slug }) => !has(slug));
  const definitions = missing.map(({ slug: source }) => ({
    ...definition,
    source,
    recipients: people
      .filter((person) => mayGet(person, source))
      .filter(({ personId, sources }) => recipients.includes(personId) || (toLimited && sources !== null))
      .map(({ personId }) => personId),
  }));
  // Nothing is scheduled for some sources if it is refused for others.
  for (const one of definitions) {
    const problems = await problemsOf(deps, one);
    if (problems.length > 0)
      return { outcome: 'refused', problems: problems.map((problem) => `${one.source}: ${problem}`) };
  }
  for (const one of definitions) {
    const added = await addDocumentSchedule(deps, one);
    if (added.outcome === 'refused') return added;
  }
  return { outcome: 'added', added: definitions.length, present: deps.sources.list().length - definitions.length };
}

async function problemsOf(
  { store, sources, config, clock }: ScheduleDeps,
  { name, source, format, covers: period, cron, recipients }: Parameters<typeof addDocumentSchedule>[1],
): Promise<readonly string[]> {
  const problems: string[] = [];
  const report = findReport(name);
  if (report === null) problems.push('Unknown report.');
  else if (!(report.formats as readonly string[]).includes(format))
    problems.push(`${report.title} is not available as ${format.toUpperCase().slice(0, 20)}.`);
  if (sources.find(source) === null) problems.push('Unknown source.');
  if (!(covers as readonly string[]).includes(period)) problems.push('Choose the period that the report covers.');
  const wrong = cron.length > 100 ? 'it is too long' : cronProblem(cron);
  if (wrong !== null) problems.push(`Invalid schedule "${cron.slice(0, 40)}": ${wrong}.`);
  else if (isTooOften(cron, config.timeZone, clock()))
    problems.push('The schedule runs more often than once an hour: choose a longer interval.');
  const people = new Map((await listPeople({ store })).map((person) => [person.personId, person]));
  for (const id of recipients) {
    const person = people.get(id);
    // Without the name, so that guessing an id reveals nothing.
    if (person === undefined || !mayGet(person, source))
      problems.push('A recipient has no account that may see this source.');
  }
  const tooMany = await tooManyIn(store.read, source);
  if (tooMany !== null) problems.push(tooMany);
  return problems;
}

/** Why a source can have no further schedule; null: it can. */
async function tooManyIn(query: Query, source: string): Promise<string | null> {
  const { length } = await listDocumentSchedules(query, [source]);
  return length < SCHEDULES ? null : `This source already has ${SCHEDULES} schedules: remove one first.`;
}

/** The next few runs are checked. */
function isTooOften(cron: string, timeZone: string, now: Date): boolean {
  let before = nextTime(cron, timeZone, now);
  for (let run = 0; run < 5 && before !== null; run += 1) {
    const next = nextTime(cron, timeZone, before);
    if (next !== null && next.getTime() - before.getTime() < LEAST_MS) return true;
    before = next;
  }
  return false;
}

/** Whether documents of a source may be mailed to a person. */
export function mayGet({ joinedAt, disabledAt, sources }: Person, source: string): boolean {
  return joinedAt !== null && disabledAt === null && (sources === null || sources.includes(source));
}

/** Removes a scheduled report of a source; false if there is none. */
export async function removeDocumentSchedule(
  deps: Pick<ScheduleDeps, 'store' | 'ledger' | 'clock'>,
  { scheduleId, source, actor }: { readonly scheduleId: string; readonly source: string; readonly actor: string },
): Promise<boolean> {
  const found = (await listDocumentSchedules(deps.store.read, [source])).find((one) => one.scheduleId === scheduleId);
  if (found === undefined) return false;
  const { name, format, covers: period, cron, recipients } = found;
  await appendAction(
    deps.ledger,
    source,
    { action: 'document.schedule-removed', actor, scheduleId, name, format, covers: period, cron, recipients },
    ['document.schedule-removed', scheduleId],
    isoNow(deps.clock),
    (tx: StoreTransaction) =>
      tx.query
        .deleteFrom('schedules')
        .where('name', '=', scheduleId)
        .execute()
        .then(() => undefined),
  );
  return true;
}

/** The last whole day, week, month, quarter or year before a date (YYYY-MM-DD); `to` is exclusive. */
export function periodBefore(period: Covers, today: string): { readonly from: string; readonly to: string } {
  const month = Number(today.slice(5, 7));
  switch (period) {
    case 'day':
      return { from: addDays(today, -1), to: today };
    case 'week': {
      // Weeks begin on Monday.
      const to = addDays(today, -((new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7));
      return { from: addDays(to, -7), to };
    }
    case 'month': {
      const to = `${today.slice(0, 7)}-01`;
      return { from: earlierDate(to, { months: 1 }), to };
    }
    case 'quarter': {
      const to = `${today.slice(0, 4)}-${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`;
      return { from: earlierDate(to, { months: 3 }), to };
    }
    case 'year': {
      const to = `${today.slice(0, 4)}-01-01`;
      return { from: earlierDate(to, { months: 12 }), to };
    }
  }
}

const mailSchema = z.object({
  documentId: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  format: z.string(),
  source: z.string(),
  fileName: z.string(),
  title: z.string(),
  person: z.string(),
});

/** Jobs that mail a newly registered document, one for each recipient. */
export function mailJobs(
  sources: Pick<Sources, 'findAny'>,
  { name, format, source, from, to, recipients = [] }: ReportJob,
  { documentId, sha256, bytes }: RegisteredDocument,
): readonly NewJob[] {
  const sourceName = (slug: string) => sources.findAny(slug)?.name ?? slug;
  const row = { name, format, source, case_id: null, file_name: '', parameters: JSON.stringify({ from, to }) };
  const title = `${findReport(name)?.title ?? name} of ${sourceName(source)}, ${from} to ${addDays(to, -1)}`;
  const fileName = readableName(row, sourceName);
  return recipients.map((person) => ({
    kind: 'document-mail',
    key: `${documentId} ${person}`,
    payload: { documentId, sha256, bytes, format, source, fileName, title, person },
    maxAttempts: MAIL_ATTEMPTS,
  }));
}

/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;
/** Larger documents are not attached: many mail servers refuse them. */
const ATTACHED_BYTES = 10_000_000;

interface ScheduleJobDeps extends Omit<ScheduleDeps, 'sources'> {
  readonly jobs: Jobs;
  readonly sources: Pick<Sources, 'find'>;
  readonly documents: { readonly folder: string };
  readonly notifying: { readonly channels: { readonly mail: MailSettings | null }; readonly adminUrl: string | null };
}

/** Jobs that make and mail a scheduled report. */
export function createScheduleJobs(deps: ScheduleJobDeps) {
  const { store, jobs, ledger, clock, sources, config, documents, notifying } = deps;
  return {
    async [PEOPLES_SCHEDULES](payload, { job, completeIn }) {
      const { name, source, format, covers: period, recipients, actor } = readPayload(definitionSchema, payload);
      if (sources.find(source) === null) throw new JobRefused(unknownSource(source));
      const { from, to } = periodBefore(period, dateIn(job.createdAt, config.timeZone));
      const wanted = reportJob({
        name,
        source,
        from,
        to,
        format,
        recipients,
        schedule: job.key ?? '',
        actor: `schedule of ${actor}`.slice(0, 200),
      });
      await store.transaction(async (tx) => {
        const { id } = await jobs.enqueueIn(tx, wanted);
        await completeIn(tx, { from, to, job: id });
      });
      jobs.wake([{ kind: wanted.kind, at: null }]);
      return { from, to };
    },

    async 'document-mail'(payload, { job, signal }) {
      const {
        documentId,
        sha256,
        bytes,
        format,
        source,
        fileName,
        title,
        person: personId,
      } = readPayload(mailSchema, payload);
      const { mail } = notifying.channels;
      if (mail === null) throw new JobRefused('SMTP_URL is not set for this worker.');
      // The person's rights may have changed since.
      const person = await findPerson(deps, personId);
      if (person === null || !mayGet(person, source))
        return { sent: false, reason: 'the account no longer has access to it' };
      const content =
        bytes > ATTACHED_BYTES ? null : await readFile(documentPath(documents.folder, { documentId, format }));
      if (content !== null && sha256Hex(content) !== sha256)
        throw new JobRefused('The file of the document differs from the registered one and is not sent.');
      const action = { action: 'document.mailed' as const, actor: 'schedule', documentId, sha256, to: personId };
      // Recorded before the first byte is sent; another attempt gives the same entry.
      await appendAction(ledger, source, action, ['document.mailed', documentId, personId, job.id], isoNow(clock));
      const library = notifying.adminUrl === null ? 'on the Documents page' : `under ${notifying.adminUrl}/documents`;
      const text = `${title}.

${content === null ? `It is too large to attach. It is filed ${library}.` : `It is attached, and also filed ${library}.`}

SHA-256: ${sha256}

-- 
You receive this mail because someone scheduled this report for you.
`;
      const attachments =
        content === null ? [] : [{ filename: fileName, content, contentType: 'application/octet-stream' }];
      await sendInJob(() =>
        sendMail(mail, { to: [person.email], subject: title, text, attachments, id: `${job.id}` }, signal),
      );
      return { sent: true };
    },
  } satisfies JobHandlers;
}
