import { expect, test } from 'vitest';
import { REPLY_MAIL } from '../../src/cases/messages.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { createLetterMailJobs, LETTER_MAIL, letterMailJob } from '../../src/documents/mail-letter.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { createReplyMailJobs } from '../../src/hand-over/mail-reply.ts';
import { createTaskMailJobs, TASK_MAIL, taskMailJob } from '../../src/hand-over/mail-task.ts';
import { findTask } from '../../src/hand-over/task-link.ts';
import type { Job, JobHandlers } from '../../src/jobs/job.ts';
import type { NewJob } from '../../src/jobs/jobs.ts';
import { createRequestFormJobs } from '../../src/request-form/confirm-receipt.ts';
import { REQUEST_MAIL } from '../../src/request-form/request-form.ts';
import { copyReadyCases, createReadyCase, handOver, makeMoves, OFFICER } from '../http/hand-over-world.ts';
import { startMailServer } from '../outside/mail-server.ts';

copyReadyCases();

type World = Awaited<ReturnType<typeof createMailWorld>>;

async function createMailWorld() {
  const mail = await startMailServer();
  const made = await createReadyCase({ SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' }, { worker: false });
  return { ...made, context: made.world.context, mail };
}

/** Each kind of mail: its job, and the entry that is written once it was sent. */
const kinds: Readonly<
  Record<
    string,
    {
      readonly record: string;
      readonly create: (context: World['context']) => JobHandlers;
      readonly job: (world: World) => Promise<NewJob>;
    }
  >
> = {
  letter: {
    record: 'document.mailed',
    create: createLetterMailJobs,
    async job({ context, caseId }) {
      const deps = { ...context.documents, cases: context.cases };
      const made = await produceLetter(deps, {
        ...{ caseId, step: 'acknowledgement', text: null, format: 'pdf', actor: OFFICER },
      });
      if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
      return letterMailJob({ caseId, documentId: made.documentId, actor: OFFICER, attachments: [] });
    },
  },
  task: {
    record: 'mail.sent',
    create: createTaskMailJobs,
    async job({ context, caseId, world }) {
      const task = { what: 'Delete the customer in the shop', due: '2100-01-01', ownerEmail: 'anna@shop.example' };
      await makeMoves(world, caseId, [
        ['rework', { reason: 'A system was forgotten' }],
        ['add-task', task],
      ]);
      const found = await findTask(context.cases, caseId, '1');
      if (found === null) throw new Error('there is no task');
      return taskMailJob(found, OFFICER);
    },
  },
  reply: {
    record: 'mail.sent',
    create: createReplyMailJobs,
    async job({ caseId, world }) {
      await handOver(world, caseId);
      await makeMoves(world, caseId, [
        ['requester-message', { about: 'question', text: 'Which data?', channel: 'phone' }],
        ['reply', { text: 'All of it.' }],
      ]);
      const [job] = await world.context.jobs.list({ kind: REPLY_MAIL });
      if (job === undefined) throw new Error('there is no job');
      return { kind: REPLY_MAIL, key: 'as the move made it', payload: job.payload };
    },
  },
  request: {
    record: 'mail.sent',
    create: createRequestFormJobs,
    async job({ context }) {
      const opened = await openCase(context.cases, {
        ...{ source: 'default', kind: 'access', channel: 'letter', receivedAt: context.clock().toISOString() },
        ...{ requesterEmail: 'ada@example.org', language: 'en', reference: 'form-1', actor: OFFICER },
      });
      if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
      const { caseId } = opened;
      return { kind: REQUEST_MAIL, key: caseId, payload: { caseId } };
    },
  },
};

/** Runs a mail's job like a worker; `dies`: the process ends before this entry is written. */
function runnerOf({ context }: World, kind: string, wanted: NewJob) {
  const job = { id: 'job-1' } as Job;
  return async (dies: string | null = null) => {
    const ledger: typeof context.ledger = {
      ...context.ledger,
      append: (entries, also) =>
        dies !== null && entries.some(({ meta }) => Buffer.from(meta).includes(dies))
          ? Promise.reject(new Error('the process ended'))
          : context.ledger.append(entries, also),
    };
    const handlers = kinds[kind]?.create({ ...context, ledger, cases: { ...context.cases, ledger } }) ?? {};
    const signal = new AbortController().signal;
    return handlers[wanted.kind]?.(wanted.payload ?? null, { job, signal } as never);
  };
}

const mailEntries = async ({ context }: World) => {
  await context.projector.catchUp();
  const rows = await context.store.read
    .selectFrom('action_history')
    .select('action')
    .where('action', 'like', '%mail%')
    .orderBy('seq')
    .execute();
  return rows.map(({ action }) => action);
};

test.each(Object.keys(kinds))(
  'a %s is not mailed again if the process ended before it was recorded, and its outcome is unknown',
  async (kind) => {
    const world = await createMailWorld();
    const wanted = await (kinds[kind]?.job(world) as Promise<NewJob>);
    const run = runnerOf(world, kind, wanted);
    await expect(run(kinds[kind]?.record)).rejects.toThrow('the process ended');
    expect(world.mail.mails).toHaveLength(1);
    expect(await mailEntries(world)).toEqual(['mail.attempted']);
    // Whatever changed meanwhile: it was not "not sent".
    const { caseId } = wanted.payload as { readonly caseId: string };
    await makeMoves(world.world, caseId, [['amend', { requesterEmail: 'eve@example.org', reason: 'New address' }]]);
    for (let again = 0; again < 2; again += 1) await expect(run()).rejects.toThrow(/It is not known whether the/);
    expect(world.mail.mails).toHaveLength(1);
    expect(await mailEntries(world)).toEqual(['mail.attempted', 'mail.unknown']);
  },
);

test.each(Object.keys(kinds))(
  'a %s is not mailed again if it was recorded and the process ended after that',
  async (kind) => {
    const world = await createMailWorld();
    const run = runnerOf(world, kind, await (kinds[kind]?.job(world) as Promise<NewJob>));
    await run();
    await run();
    expect(world.mail.mails).toHaveLength(1);
    expect(await mailEntries(world)).toEqual(['mail.attempted', kinds[kind]?.record]);
  },
);

test.each(Object.keys(kinds))(
  'a %s whose mail server hangs up after it got the mail is not mailed again; one that refuses it is tried again',
  async (kind) => {
    const world = await createMailWorld();
    const { mail } = world;
    const run = runnerOf(world, kind, await (kinds[kind]?.job(world) as Promise<NewJob>));
    mail.refuse = { code: 450, at: 'recipient' };
    await expect(run()).rejects.toThrow('(450 EENVELOPE)');
    mail.refuse = null;
    mail.hangsUp = true;
    await expect(run()).rejects.toThrow('It is not known whether the');
    mail.hangsUp = false;
    await expect(run()).rejects.toThrow('It is not known whether the');
    expect(mail.mails).toHaveLength(1);
    expect(await mailEntries(world)).toEqual(['mail.attempted', 'mail.unsent', 'mail.attempted', 'mail.unknown']);
  },
);

test('a mail server that cannot be reached is tried again without an entry for each attempt', async () => {
  const world = await createMailWorld();
  const run = runnerOf(world, 'letter', await (kinds['letter']?.job(world) as Promise<NewJob>));
  await world.mail.close();
  await expect(run()).rejects.toThrow('the mail server');
  expect(await mailEntries(world)).toEqual([]);
  expect([LETTER_MAIL, TASK_MAIL, REPLY_MAIL, REQUEST_MAIL]).toHaveLength(Object.keys(kinds).length);
});
