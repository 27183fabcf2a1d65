import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { LetterStep } from '../../reports/letters/texts.ts';
import { moveCase } from '../../src/cases/move-case.ts';
import { addAttachment } from '../../src/documents/attachments.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { approvalIn, makeMoves, makePack, OFFICER, PUBLIC_URL } from './hand-over-world.ts';
import { createOfficeWorld, createVisitor, signedInAs, type Visitor } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

/** A request ready to be answered, for a controller that requires a second person, and two officers. */
async function createApprovalWorld(worker = true) {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const world = await createOfficeWorld(
    { PUBLIC_URL, SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' },
    { worker },
  );
  const { context } = world;
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [answer, refuse]\n';
  await writeFile(context.config.controllerFile ?? '', profile);
  const caseId = `default-${(await seedRequests(world)).access}`;
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Customer number' }],
    ['mark-ready', {}],
  ]);
  const [olga, otto] = [await signedInAs(world, 'officer'), await signedInAs(world, 'officer')];
  const letter = async (step: LetterStep, text: string | null) => {
    const deps = { ...context.documents, cases: context.cases };
    const made = await produceLetter(deps, { caseId, step, text, format: 'txt', actor: OFFICER });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    await context.projector.projected(made.seq);
    return made;
  };
  const file = async (fileName: string) => {
    const bytes = Buffer.from(fileName);
    const added = await addAttachment(context.documents, { caseId, actor: OFFICER, fileName, bytes });
    if (added.outcome !== 'added') throw new Error(JSON.stringify(added));
    await context.projector.projected(added.seq);
    return added.documentId;
  };
  const approve = async (of: string, more: Record<string, string> = {}) =>
    (
      await otto.post(`/cases/${caseId}/moves`, {
        ...approvalIn((await otto.get(`/cases/${caseId}`)).text, of),
        ...more,
      })
    ).status;
  const move = async (name: string, details: Record<string, string>, by: Visitor = olga) => {
    const { version } = await context.store.read
      .selectFrom('cases')
      .select('version')
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    return by.post(`/cases/${caseId}/moves`, { move: name, basedOn: String(version), ...details });
  };
  const send = (documentId: string, files: readonly string[] = []) =>
    olga.post(
      `/cases/${caseId}/letters/${documentId}/mail`,
      Object.fromEntries(files.map((id) => [`file-${id}`, 'yes'])),
    );
  return { world, caseId, mail, olga, otto, letter, file, approve, move, send };
}

const answer = { channel: 'letter', disclosure: 'full' };
const part = (outcome: string, what = 'Copy of the data') => ({
  'parts.0.what': what,
  'parts.0.outcome': outcome,
  ...(outcome === 'done' ? {} : { 'parts.0.ground': 'Art. 12(5) GDPR' }),
});
const refusal = { reasons: 'Unfounded.', basis: 'Art. 12(5) GDPR', remedies: 'Told.' };

it('an approved answer may not be recorded as one that refuses every part, or something that was not approved', async () => {
  const { approve, move } = await createApprovalWorld(false);
  expect(await approve('answer')).toBe(303);
  const refused = await move('answer', { ...answer, ...part('refused') });
  expect([refused.status, refused.text.includes('a second person has to approve')]).toEqual([422, true]);
  const partly = await move('answer', { ...answer, ...part('partly') });
  expect([partly.status, partly.text.includes('the approval does not cover that')]).toEqual([422, true]);
  expect((await move('answer', { ...answer, ...part('done') })).status).toBe(303);
});

it('an answer says exactly the parts that were approved, also if all of them are refused', async () => {
  const { approve, move, olga, caseId, letter } = await createApprovalWorld(false);
  await letter('answer', 'We refuse it.');
  expect(await approve('answer', part('refused'))).toBe(303);
  expect((await olga.get(`/cases/${caseId}`)).text).toContain('Art. 12(5) GDPR');
  for (const other of [part('done'), part('refused', 'Something else'), {}])
    expect((await move('answer', { ...answer, ...other })).status).toBe(422);
  expect((await move('answer', { ...answer, ...part('refused') })).status).toBe(303);
});

it('an answer names only documents and files that its approval covers', async () => {
  const { approve, move, file, world, letter } = await createApprovalWorld(false);
  const sent = await letter('answer', 'Here it is.');
  await file('seen.pdf');
  const { sha256 } = await world.context.store.read
    .selectFrom('documents')
    .select('sha256')
    .where('name', '=', 'attachment')
    .executeTakeFirstOrThrow();
  expect(await approve('answer')).toBe(303);
  for (const other of [{ documentSha256: 'a'.repeat(64) }, { attachments: 'a'.repeat(64) }]) {
    const page = await move('answer', { ...answer, ...other });
    expect([page.status, page.text.includes('the approval does not cover it')]).toEqual([422, true]);
  }
  expect((await move('answer', { ...answer, documentSha256: sent.sha256, attachments: sha256 })).status).toBe(303);
});

it('no file leaves with a mere acknowledgement before the answer is approved', async () => {
  const { approve, send, file, letter, mail, otto, caseId } = await createApprovalWorld();
  const acknowledgement = await letter('acknowledgement', null);
  const id = await file('data.csv');
  const early = await send(acknowledgement.documentId, [id]);
  expect([early.status, early.text.includes('a second person has to approve')]).toEqual([422, true]);
  expect(await approve('answer')).toBe(303);
  const own = await otto.post(`/cases/${caseId}/letters/${acknowledgement.documentId}/mail`, { [`file-${id}`]: 'yes' });
  expect([own.status, own.text.includes('you approved this yourself')]).toEqual([422, true]);
  expect((await send(acknowledgement.documentId, [id])).status).toBe(303);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
});

it('no file that was added later leaves with an answer that was approved and recorded', async () => {
  const { approve, send, file, letter, move, mail, world } = await createApprovalWorld();
  const sent = await letter('answer', 'Here it is.');
  const seen = await file('seen.csv');
  expect(await approve('answer')).toBe(303);
  const { sha256 } = await world.context.store.read
    .selectFrom('documents')
    .select('sha256')
    .where('document_id', '=', seen)
    .executeTakeFirstOrThrow();
  expect((await move('answer', { ...answer, documentSha256: sent.sha256, attachments: sha256 })).status).toBe(303);
  const later = await file('later.csv');
  const page = await send(sent.documentId, [later]);
  expect([page.status, page.text.includes('does not name the file later.csv')]).toEqual([422, true]);
  expect((await send(sent.documentId, [seen])).status).toBe(303);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  expect(Object.keys(mail.mails[0]?.attachments ?? {})).toContain('seen.csv');
});

it('no other refusal leaves than the one that was approved', async () => {
  const { approve, send, letter, move, mail } = await createApprovalWorld();
  const approved = await letter('refusal', 'We refuse because it is unfounded.');
  expect(await approve('refuse')).toBe(303);
  expect((await move('refuse', refusal)).status).toBe(303);
  const other = await letter('refusal', 'We refuse because we do not like you.');
  const page = await send(other.documentId);
  expect([page.status, page.text.includes('added after the refusal was approved')]).toEqual([422, true]);
  expect((await send(approved.documentId)).status).toBe(303);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
});

it('a link whose case lost its approval gives nothing until it is approved again', async () => {
  const { approve, move, world, caseId, olga, otto } = await createApprovalWorld(false);
  await makePack(world, caseId);
  expect(await approve('answer')).toBe(303);
  const made = await olga.post(`/cases/${caseId}/hand-overs`, { days: '14' });
  const [, token = ''] = /\/h\/([A-Za-z0-9_-]{43})/.exec(made.text) ?? [];
  const visitor = createVisitor(world.url);
  const opens = async () => (await visitor.get(`/h/${token}`)).status;
  expect(await opens()).toBe(200);
  expect((await move('amend', { requesterName: 'Eve', reason: 'typo' }, otto)).status).toBe(303);
  expect(await opens()).not.toBe(200);
});

it('an approval never covers a letter or file that is added at the same moment, in twenty tries', async () => {
  const { approve, world, caseId, otto, file, letter } = await createApprovalWorld(false);
  const { context } = world;
  await letter('answer', 'Here it is.');
  expect(await approve('answer')).toBe(303);
  for (let nth = 0; nth < 20; nth += 1) {
    const form = approvalIn((await otto.get(`/cases/${caseId}`)).text);
    const [approved] = await Promise.all([
      otto.post(`/cases/${caseId}/moves`, form),
      nth % 2 === 0 ? file(`file ${nth}.txt`) : letter('answer', `Version ${nth}.`),
    ]);
    expect([303, 409]).toContain(approved.status);
    await context.projector.catchUp();
    // Either it was not approved, or it came after the approval, which then no longer counts.
    const page = (await otto.get(`/cases/${caseId}`)).text;
    expect(page).toContain('so the approval no longer counts');
  }
});

it('refuses an answer if a file is added after it was checked and before it is recorded', async () => {
  const { approve, world, caseId, file } = await createApprovalWorld(false);
  const { cases } = world.context;
  expect(await approve('answer')).toBe(303);
  const { version: basedOn } = await world.context.store.read
    .selectFrom('cases')
    .select('version')
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow();
  let asked = 0;
  // The profile is read once for the check, then for what the transaction decides.
  const deps = {
    ...cases,
    profileOf: async (source: string) => {
      asked += 1;
      if (asked === 2) await file('between.csv');
      return cases.profileOf(source);
    },
  };
  const moved = await moveCase(deps, { caseId, basedOn, move: 'answer', details: answer, actor: OFFICER });
  expect(asked).toBe(2);
  expect(moved).toEqual({ outcome: 'refused', problems: [expect.stringContaining('was added after it')] });
});

it('approves nothing if a file is added after the approval was checked and before it is recorded', async () => {
  const { world, caseId, file, otto } = await createApprovalWorld(false);
  const { cases, store } = world.context;
  const { seen = '' } = approvalIn((await otto.get(`/cases/${caseId}`)).text, 'answer');
  const { version: basedOn } = await store.read
    .selectFrom('cases')
    .select('version')
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow();
  let asked = 0;
  const deps = {
    ...cases,
    profileOf: async (source: string) => {
      asked += 1;
      if (asked === 2) await file('between.csv');
      return cases.profileOf(source);
    },
  };
  const input = { caseId, basedOn, move: 'approve', details: { of: 'answer', seen }, actor: 'Otto (p-00000002)' };
  expect(await moveCase(deps, input)).toMatchObject({
    outcome: 'conflict',
    unseen: expect.stringContaining('was added after you looked'),
  });
  expect(asked).toBe(2);
});

it('what can be downloaded before a second person approved it says so, on every page that lists it', async () => {
  const { world, caseId, olga, letter, file, approve } = await createApprovalWorld(false);
  const marked = async () =>
    Promise.all(
      [`/cases/${caseId}`, '/documents', '/'].map(
        async (path) => (await olga.get(path)).text.split('>not approved yet<').length - 1,
      ),
    );
  await letter('acknowledgement', null);
  expect(await marked()).toEqual([0, 0, 0]);
  await makePack(world, caseId);
  await letter('answer', 'Here it is.');
  await file('crm.txt');
  expect(await marked()).toEqual([3, 3, 3]);
  expect((await olga.get('/documents')).text).toContain('a second person has to approve it before it leaves');
  expect(await approve('answer')).toBe(303);
  expect(await marked()).toEqual([0, 0, 0]);
  // The approval covers what was there, so nothing counts as approved once something is added.
  await file('more.txt');
  expect(await marked()).toEqual([4, 4, 4]);
  expect(await approve('answer')).toBe(303);
  expect(await marked()).toEqual([0, 0, 0]);
});

it('a refusal letter that a second person has yet to approve is marked, and has no button that would be refused', async () => {
  const { world, caseId, olga, letter, approve, send } = await createApprovalWorld(false);
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [refuse]\n';
  await writeFile(world.context.config.controllerFile ?? '', profile);
  const { documentId } = await letter('refusal', 'No.');
  const page = async () => (await olga.get(`/cases/${caseId}`)).text;
  const button = `action="/cases/${caseId}/letters/${documentId}/mail"`;
  expect([(await page()).includes('>not approved yet<'), (await page()).includes(button)]).toEqual([true, false]);
  expect((await send(documentId)).status).toBe(422);
  expect(await approve('refuse')).toBe(303);
  expect([(await page()).includes('>not approved yet<'), (await page()).includes(button)]).toEqual([false, true]);
});
