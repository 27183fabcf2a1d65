import { appendFile, readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LetterStep } from '../../reports/letters/texts.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { copyReadyCases, createReadyCase, makeMoves, OFFICER } from './hand-over-world.ts';
import { createVisitor, type OfficeWorld, signedInAs } from './office-world.ts';

copyReadyCases();

async function createMailWorld(worker = true) {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const made = await createReadyCase({ SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' }, { worker });
  const officer = await signedInAs(made.world, 'officer');
  return { ...made, mail, officer };
}

async function makeLetter({ context }: OfficeWorld, caseId: string, step: LetterStep, text: string | null = null) {
  const deps = { ...context.documents, cases: context.cases };
  const letter = { caseId, step, text, format: 'pdf', actor: OFFICER, controller: 'Acme GmbH' } as const;
  const made = await produceLetter(deps, letter);
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  await context.projector.projected(made.seq);
  return made;
}

describe('a mailed letter', () => {
  it('is sent to the requester byte for byte, once, with an entry that omits the address', async () => {
    const { world, caseId, mail, officer } = await createMailWorld();
    await appendFile(world.context.config.controllerFile ?? '', 'email: privacy@acme.example\n');
    const letter = await makeLetter(world, caseId, 'acknowledgement');
    const page = await officer.get(`/cases/${caseId}`);
    expect(page.text).toContain(`/letters/${letter.documentId}/mail`);
    const sent = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(sent.status).toBe(303);
    await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
    const [{ to, subject, text, attachments, raw }] = mail.mails as [(typeof mail.mails)[number]];
    expect(to).toEqual(['ada@example.org']);
    expect(subject).toContain(caseId);
    expect(raw).toMatch(/^Reply-To: privacy@acme\.example\r$/m);
    expect(text).toContain('Unser Schreiben finden Sie im Anhang dieser E-Mail.');
    expect(Object.keys(attachments)).toHaveLength(1);
    const file = await readFile(letter.path);
    expect(raw.replaceAll(/\s/g, '')).toContain(file.toString('base64').slice(0, 400));
    await vi.waitFor(
      async () =>
        expect(await world.actions('document.mailed')).toEqual([
          { actor: expect.stringContaining('(p-') as string, object: letter.documentId },
        ]),
      PATIENTLY,
    );
    const entries = await world.context.store.read
      .selectFrom('action_history')
      .select('details')
      .where('action', '=', 'document.mailed')
      .execute();
    expect(entries[0]?.details).not.toContain('ada@example.org');
    // The confirmation of receipt is recorded with it.
    await vi.waitFor(async () => {
      await world.context.projector.catchUp();
      const row = await world.context.store.read
        .selectFrom('case_history')
        .select('move')
        .where('case_id', '=', caseId)
        .where('move', '=', 'acknowledge')
        .execute();
      expect(row).toHaveLength(1);
    }, PATIENTLY);
    const again = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(again.status).toBe(422);
    expect(again.text).toContain('already');
    expect(mail.mails).toHaveLength(1);
    expect((await officer.get(`/cases/${caseId}`)).text).toMatch(/sent <time/);
  });

  it('is not sent while the answer may not be: the case was reworked, or identity is not confirmed', async () => {
    const { world, caseId, mail, officer } = await createMailWorld();
    const letter = await makeLetter(world, caseId, 'answer');
    await makeMoves(world, caseId, [
      ['rework', { reason: 'A system was forgotten' }],
      ['fail-identity', { reason: 'The customer number was wrong' }],
    ]);
    const refused = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(refused.status).toBe(422);
    expect(await world.actions('document.mailed')).toEqual([]);
    expect(mail.mails).toEqual([]);
  });

  it('is not sent if the case changes between the button and the mail', async () => {
    const { world, caseId, mail, officer } = await createMailWorld(false);
    const letter = await makeLetter(world, caseId, 'answer');
    const asked = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(asked.status).toBe(303);
    expect((await officer.get(`/cases/${caseId}`)).text).toContain('being sent');
    await makeMoves(world, caseId, [['rework', { reason: 'Wrong attachment' }]]);
    const worker = await startWorker(world.context);
    onTestFinished(() => worker.stop());
    await vi.waitFor(async () => {
      const [job] = await world.context.jobs.list({ kind: 'letter-mail' });
      expect(job?.state).toBe('failed');
      expect(job?.error).toContain('The letter was not sent');
    }, PATIENTLY);
    expect(mail.mails).toEqual([]);
  });

  it('must belong to the case, and cannot be sent by an auditor', async () => {
    const { world, caseId, mail, officer } = await createMailWorld();
    const letter = await makeLetter(world, caseId, 'acknowledgement');
    expect((await officer.post(`/cases/${caseId}/letters/${letter.documentId}x/mail`, {})).status).toBe(404);
    const auditor = await signedInAs(world, 'auditor');
    await auditor.get(`/cases/${caseId}`);
    expect((await auditor.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {})).status).toBe(403);
    const stranger = createVisitor(world.adminUrl);
    expect((await stranger.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {})).status).not.toBe(303);
    expect(mail.mails).toEqual([]);
  });

  it.each([
    'ada@example.org, mallory@evil.example',
    '"ada@example.org" <mallory@evil.example>',
    'ada@example.org;mallory@evil.example',
    'Friends: ada@example.org, mallory@evil.example;',
  ])('is sent to nobody if the request’s address is not one plain address: %s', async (requesterEmail) => {
    const { world, caseId, mail, officer } = await createMailWorld();
    await makeMoves(world, caseId, [['rework', { reason: 'The address' }]]);
    // As recorded by earlier versions: no such address can be entered.
    await world.context.store.foldTransaction((tx) =>
      tx.query.updateTable('cases').set({ requester_email: requesterEmail }).where('case_id', '=', caseId).execute(),
    );
    const letter = await makeLetter(world, caseId, 'acknowledgement');
    const sent = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(sent.status).toBe(422);
    expect(sent.text).toContain('not a single valid address');
    expect(mail.mails).toEqual([]);
  });

  it('is sent, with a warning, while the shared profile of a further source may name another client', async () => {
    const { world, caseId: own, mail, officer } = await createMailWorld();
    const { context } = world;
    await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
    const opened = await openCase(context.cases, {
      ...{ source: 'bolt', kind: 'access', channel: 'letter', receivedAt: new Date().toISOString() },
      ...{ requesterEmail: 'ada@example.org', language: 'en', reference: 'bolt', actor: OFFICER },
    });
    if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
    await context.projector.projected(opened.seq);
    await makeLetter(world, opened.caseId, 'acknowledgement');
    const page = async (caseId: string) => (await officer.get(`/cases/${caseId}`)).text.replaceAll(/<[^>]+>/g, '');
    const before = await page(opened.caseId);
    expect(before).toMatch(/Letters and packs of this request name Acme GmbH as the controller/);
    expect(before).toMatch(/Check first: is Acme GmbH the controller\?\s*Send to ada@example\.org/);
    expect(await page(own)).not.toMatch(/shared by several sources|Check first/);
    await appendFile(context.config.controllerFile ?? '', 'requestFormFor: [bolt]\n');
    expect(await page(opened.caseId)).not.toMatch(/shared by several sources|Check first/);
    expect(mail.mails).toEqual([]);
  });

  it('explains what to do if no mail server is configured', async () => {
    const { world, caseId } = await createReadyCase();
    const letter = await makeLetter(world, caseId, 'acknowledgement');
    const officer = await signedInAs(world, 'officer');
    expect((await officer.get(`/cases/${caseId}`)).text).not.toContain('/mail"');
    const refused = await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {});
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('No mail server is set up here');
  });
});
