import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ATTACHMENT_BYTES, ATTACHMENTS, addAttachment, listAttachments } from '../../src/documents/attachments.ts';
import { addDocumentSchedule, listDocumentSchedules } from '../../src/documents/schedules.ts';
import { choose } from '../../src/erasure/choose.ts';
import { erasureJob, startErasure } from '../../src/erasure/erasure-jobs.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { digestOfPlan, findProposal, keepProposal, withdrawProposal } from '../../src/erasure/proposal.ts';
import { createApiToken, listApiTokens, TOKENS_PER_PERSON } from '../../src/people/api-tokens.ts';
import { findPerson } from '../../src/people/people.ts';
import { loadSavedViews, SAVED_VIEWS, saveView } from '../../src/people/saved-views.ts';
import { REQUESTS_PER_HOUR, submitRequest } from '../../src/request-form/request-form.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

/** How often each is tried at once. */
const TRIES = 20;
const ACTOR = 'Olga Officer (p-00000001)';

const atOnce = <T>(work: (nth: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: TRIES }, (_, nth) => work(nth)));

const outcomesOf = (all: readonly { readonly outcome: string }[]) => all.map(({ outcome }) => outcome).sort();

const addFile = ({ context }: OfficeWorld, caseId: string, fileName: string, bytes: Buffer) =>
  addAttachment(context.documents, { caseId, actor: ACTOR, fileName, bytes });

async function filesOf({ context }: OfficeWorld, caseId: string) {
  await context.projector.catchUp();
  return listAttachments(context.store.read, caseId);
}

it('keeps no more files of a request than allowed, though twenty are added at once', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const caseId = `default-${(await seedRequests(world)).access}`;
  for (let nth = 1; nth < ATTACHMENTS; nth += 1)
    await addFile(world, caseId, `before ${nth}.txt`, Buffer.from(`before ${nth}`));
  const all = await atOnce((nth) => addFile(world, caseId, `file ${nth}.txt`, Buffer.alloc(500_000, nth)));
  expect(outcomesOf(all)).toEqual(['added', ...Array<string>(TRIES - 1).fill('refused')]);
  expect(all.find(({ outcome }) => outcome === 'refused')).toMatchObject({ problem: expect.stringContaining('10') });
  expect(await filesOf(world, caseId)).toHaveLength(ATTACHMENTS);
});

it('keeps no more bytes of files of a request than allowed, though twenty files are added at once', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const caseId = `default-${(await seedRequests(world)).access}`;
  const size = Math.floor(ATTACHMENT_BYTES / 4);
  const all = await atOnce((nth) => addFile(world, caseId, `file ${nth}.bin`, Buffer.alloc(size, nth)));
  expect(all.filter(({ outcome }) => outcome === 'added')).toHaveLength(4);
  const kept = await filesOf(world, caseId);
  expect(kept.reduce((sum, { bytes }) => sum + Number(bytes), 0)).toBeLessThanOrEqual(ATTACHMENT_BYTES);
});

it('adds no more schedules to a source than allowed, though twenty are added at once', async () => {
  const { context } = await createOfficeWorld({}, { worker: false });
  const wanted = { name: 'consent-audit', source: 'default', format: 'pdf', covers: 'month', recipients: [] };
  const add = (hour: number) => addDocumentSchedule(context, { ...wanted, cron: `0 ${hour} 1 * *`, actor: ACTOR });
  for (let hour = 0; hour < 15; hour += 1) await add(hour);
  const all = await atOnce((nth) => add(nth));
  expect(outcomesOf(all)).toEqual([...Array<string>(10).fill('added'), ...Array<string>(10).fill('refused')]);
  expect(await listDocumentSchedules(context.store.read, ['default'])).toHaveLength(25);
});

it('either approves or withdraws an erasure, and says which, though both are tried twenty times at once', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context } = world;
  await seedRequests(world);
  for (let round = 0; round < 5; round += 1) {
    const choice = { by: 'entries' as const, entries: ['1'] };
    const chosen = await choose({ ...context.erasure, sources: context.sources }, choice);
    if (chosen.outcome !== 'chosen') throw new Error(chosen.problems.join());
    const proposal = await keepProposal(context, {
      ...{ choice, digest: digestOfPlan(await planErasure(context.erasure, chosen.chosen)), reason: 'request' },
      ...{ law: 'eu-gdpr', despite: [], officer: ACTOR, personId: null, needsSecond: true, confirmedBy: null },
      source: null,
    });
    const all = await atOnce(async (nth) =>
      nth % 2 === 0
        ? { started: (await startErasure(context, { ...proposal, confirmedBy: 'Otto (p-00000002)' })) !== null }
        : { withdrawn: await withdrawProposal(context, proposal.id) },
    );
    const [started, withdrawn] = [
      all.some((one) => one.started === true),
      all.filter((one) => one.withdrawn === true).length,
    ];
    const [kept, jobs] = [
      await findProposal(context, proposal.id),
      await context.jobs.list({ kind: erasureJob(proposal, ACTOR).kind, key: proposal.id }),
    ];
    expect({ started, withdrawn, kept: kept !== null, jobs: jobs.length }).toEqual(
      started
        ? { started: true, withdrawn: 0, kept: true, jobs: 1 }
        : { started: false, withdrawn: 1, kept: false, jobs: 0 },
    );
  }
});

async function officerOf(world: OfficeWorld) {
  const { personId } = await signedInAs(world, 'officer');
  const person = await findPerson(world.context, personId);
  if (person === null) throw new Error('no officer');
  return person;
}

it('gives an account no more API tokens than allowed, though twenty are made at once', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const person = await officerOf(world);
  const make = () =>
    createApiToken(
      world.context,
      person,
      { label: 'export', scope: 'read', sources: null, days: 30 },
      { officer: ACTOR },
    );
  for (let nth = 1; nth < TOKENS_PER_PERSON; nth += 1) await make();
  expect(outcomesOf(await atOnce(make))).toEqual(['made', ...Array<string>(TRIES - 1).fill('refused')]);
  expect(await listApiTokens(world.context, person.personId)).toHaveLength(TOKENS_PER_PERSON);
});

it('keeps no more saved views of a person than allowed, though twenty are saved at once', async () => {
  const { context } = await createOfficeWorld({}, { worker: false });
  const save = (name: string) => saveView(context.store, 'p-00000001', { name, filter: {} });
  for (let nth = 1; nth < SAVED_VIEWS; nth += 1) await save(`before ${nth}`);
  expect(outcomesOf(await atOnce((nth) => save(`view ${nth}`)))).toEqual([
    ...Array<string>(TRIES - 1).fill('full'),
    'saved',
  ]);
  expect(await loadSavedViews(context.store, 'p-00000001')).toHaveLength(SAVED_VIEWS);
});

it('mails an address three times a day, though twenty requests of it are sent at once, whatever their clocks say', async () => {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const world = await createOfficeWorld({ SMTP_URL: mail.url, MAIL_FROM: 'ledger@example.org' });
  const { context } = world;
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nemail: privacy@acme.example\nrequestForm: true\n';
  await writeFile(context.config.controllerFile ?? '', profile);
  expect(REQUESTS_PER_HOUR).toBeGreaterThanOrEqual(TRIES);
  const from = context.clock().getTime();
  const about = { kind: 'access', name: 'Ada Lovelace', email: 'ada@example.org', place: 'DE' } as const;
  const sent = await atOnce((nth) => {
    // Processes whose clocks differ: what is recorded later was received earlier.
    const clock = () => new Date(from - nth * 1000);
    const deps = { ...context, clock, catchUp: () => context.projector.catchUp() };
    const form = { source: 'default', form: `form ${nth}`, language: 'en', mails: true };
    return submitRequest(deps, { ...about, message: null, subject: null }, form);
  });
  expect(new Set(outcomesOf(sent))).toEqual(new Set([sent[0]?.outcome]));
  await vi.waitFor(async () => {
    const jobs = await context.jobs.list({ kind: 'request-form-mail' });
    expect(jobs.map(({ state }) => state)).toEqual(Array(TRIES).fill('done'));
  }, PATIENTLY);
  expect(mail.mails).toHaveLength(3);
});
