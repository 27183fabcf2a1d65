import { expect } from 'vitest';
import { moveLatest } from '../../src/cases/move-case.ts';
import { LETTER_MAIL, letterMailJob } from '../../src/documents/mail-letter.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { TASK_MAIL, taskMailJob } from '../../src/hand-over/mail-task.ts';
import { findTask } from '../../src/hand-over/task-link.ts';
import type { MailServer } from '../outside/mail-server.ts';
import { sleep } from './faults.ts';
import { actionsOf, jobsOf, OFFICER, type Office, openRequest } from './office.ts';

/** Makes a mail server slow, and now and then take a mail without saying so, or turn one away for now. */
export function makeUnreliable(server: MailServer, random: () => number): void {
  server.treat = async () => {
    const at = random();
    await sleep(600 * random());
    return at < 0.1 ? 'hang up' : at < 0.2 ? 'turn away' : 'take';
  };
}

/** Writes letters to requesters and has them mailed, each to an address of its own. */
export function mailLetters(office: Office): Promise<void> {
  const { context } = office;
  const mailed: ReturnType<typeof letterMailJob>[] = [];
  return office.repeatedly(400, async (n) => {
    const caseId = await openRequest(office, `letter ${n}`, `letter-${n}@requester.example`);
    const made = await produceLetter(
      { ...context.documents, cases: context.cases },
      { caseId, step: 'acknowledgement', text: null, format: 'txt', actor: OFFICER },
    );
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    await context.projector.projected(made.seq);
    const job = letterMailJob({ caseId, documentId: made.documentId, actor: OFFICER, attachments: [] });
    await context.jobs.enqueue(job);
    mailed.push(job);
    // Somebody asks again for a letter that is known to have been sent: that must not send it again.
    const earlier = mailed[n - 6];
    const [before] = earlier?.key == null ? [] : await context.jobs.list({ kind: LETTER_MAIL, key: earlier.key });
    if (earlier !== undefined && before?.state === 'done') await context.jobs.enqueue(earlier);
  });
}

/** Gives out tasks and has them mailed, each to an address of its own. */
export function mailTasks(office: Office): Promise<void> {
  const { context } = office;
  const catchUp = () => context.projector.catchUp();
  return office.repeatedly(700, async (n) => {
    const caseId = await openRequest(office, `task ${n}`, `asked-${n}@requester.example`);
    const move = async (name: string, details: Record<string, unknown>) => {
      const moved = await moveLatest(context.cases, { caseId, move: name, details, actor: OFFICER }, catchUp);
      if (moved.outcome !== 'moved') throw new Error(`${name}: ${JSON.stringify(moved)}`);
      await context.projector.projected(moved.seq);
    };
    await move('start', {});
    await move('add-task', { what: 'Look it up', due: '2100-01-01', ownerEmail: `task-${n}@owner.example` });
    const found = await findTask(context.cases, caseId, '1');
    if (found === null) throw new Error('there is no task');
    await context.jobs.enqueue(taskMailJob(found, OFFICER));
  });
}

/**
 * No mail went out twice, every mail in the mail server was announced in the ledger, and every mail recorded as sent is
 * there. What is not known is recorded and shown as unknown. Resolves with the figures.
 */
export async function checkMails(office: Office, { mails }: MailServer): Promise<string> {
  const jobs = [...(await jobsOf(office, LETTER_MAIL)), ...(await jobsOf(office, TASK_MAIL))];
  const recorded = await actionsOf(office, 'mail.attempted', 'mail.sent', 'mail.unsent', 'mail.unknown');
  const letters = await actionsOf(office, 'document.mailed');
  const entriesOf = (action: string, id: string) =>
    recorded.filter((one) => one.action === action && one.details['mailId'] === id).length;

  const arrived = mails.map(({ to, raw }) => {
    const [, about = '', id = ''] = /^Message-ID: <(letter|task)\.([\w-]+)@/im.exec(raw) ?? [];
    return { to: to.join(' '), about, id };
  });
  const twice = (values: readonly string[]) => values.filter((one, place) => values.indexOf(one) !== place);
  expect(twice(arrived.map(({ to }) => to))).toEqual([]);
  expect(twice(arrived.map(({ id }) => id))).toEqual([]);
  expect(arrived.filter(({ id }) => entriesOf('mail.attempted', id) === 0)).toEqual([]);
  expect(twice(letters.map(({ object }) => object ?? ''))).toEqual([]);

  const ids = new Set(arrived.map(({ id }) => id));
  let unknown = 0;
  for (const { id, kind, key, state, error } of jobs) {
    const isSent = kind === LETTER_MAIL ? letters.some(({ object }) => object === key) : entriesOf('mail.sent', id) > 0;
    const about = `${kind} ${id}: ${state}, ${error}`;
    // One job sent the letter; another, which asked for it again, did not.
    const sentIt =
      ids.has(id) ||
      (kind === LETTER_MAIL && jobs.some((one) => one.kind === kind && one.key === key && ids.has(one.id)));
    if (isSent) expect([state, sentIt], about).toEqual(['done', true]);
    else {
      expect(state, about).toBe('failed');
      expect(error, about).toMatch(/^It is not known whether the (?:letter|task) was sent/);
      expect(entriesOf('mail.unknown', id), about).toBe(1);
      unknown += 1;
    }
    // At most one attempt can have reached the server: the others certainly sent nothing.
    expect(entriesOf('mail.attempted', id) - entriesOf('mail.unsent', id), about).toBeLessThanOrEqual(1);
  }
  expect(jobs.length).toBeGreaterThan(0);
  expect(letters.length).toBeGreaterThan(0);
  const notTold = arrived.filter(({ id }) => entriesOf('mail.unknown', id) > 0).length;
  return `mails: ${jobs.length} asked for, ${arrived.length} arrived, ${unknown} with an unknown outcome (${notTold} of them arrived), ${recorded.filter(({ action }) => action === 'mail.unsent').length} attempts repeated`;
}
