import { readFile, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { recordLetter } from '../../src/documents/record-letter.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { makeMoves, OFFICER } from './hand-over-world.ts';
import { createOfficeWorld, type OfficeWorld, type Page, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

async function createLetterWorld(
  env: Record<string, string> = {},
  moves: Parameters<typeof makeMoves>[2] = [],
  worker = true,
) {
  const world = await createOfficeWorld(env, { worker });
  const caseId = `default-${(await seedRequests(world)).access}`;
  await makeMoves(world, caseId, moves);
  const olga = await signedInAs(world, 'officer');
  const open = async (step: string) => hiddenOf(await olga.get(`/cases/${caseId}/letter?step=${step}&language=en`));
  const send = (form: Record<string, string>) => olga.post(`/cases/${caseId}/letter`, { format: 'txt', ...form });
  return { world, caseId, olga, open, send, made: () => world.actions('document.produced') };
}

/** The hidden fields of the form of a letter. */
function hiddenOf({ text }: Page): Record<string, string> {
  const [, form = ''] = /(<form[^>]*\/letter"[^]*?<\/form>)/.exec(text) ?? [];
  const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return {
    ...(Object.fromEntries(hidden.map(([, name, value]) => [name, value])) as Record<string, string>),
    step: /<select id="step" [^]*?<option value="(\w[\w-]*)" selected/.exec(form)?.[1] ?? '',
    language: 'en',
  };
}

async function movesOf({ context }: OfficeWorld, caseId: string, move: string) {
  await context.projector.catchUp();
  const rows = await context.store.read
    .selectFrom('case_history')
    .select('details')
    .where('case_id', '=', caseId)
    .where('move', '=', move)
    .execute();
  return rows.map(({ details }) => JSON.parse(details) as Record<string, unknown>);
}

async function lettersOf({ context }: OfficeWorld, caseId: string) {
  await context.projector.catchUp();
  const rows = await context.store.read
    .selectFrom('documents')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('name', '=', 'letter')
    .execute();
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      text: await readFile(`${context.documents.folder}/${row.document_id}.${row.format}`, 'utf8'),
    })),
  );
}

it('one form makes the letter and records the move, from the same reasons, however often it is sent', async () => {
  const { world, caseId, olga, open, send, made } = await createLetterWorld();
  const page = await olga.get(`/cases/${caseId}/letter?step=extension&language=en`);
  expect(page.text).toContain('Make the letter and record that it was sent by letter');
  expect(page.text).toContain('Only make the letter');
  const form = { ...(await open('extension')), text: 'Many requests came at once.', do: 'letter' };
  const answers = await Promise.all([send(form), send(form)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect((await send(form)).status).toBe(303);
  expect(await made()).toHaveLength(1);
  const [letter] = await lettersOf(world, caseId);
  expect(letter?.text).toContain('Many requests came at once.');
  expect(await movesOf(world, caseId, 'extend')).toEqual([
    { reasons: 'Many requests came at once.', channel: 'letter', documentSha256: letter?.sha256 },
  ]);
  const shown = (await olga.get(`/cases/${caseId}`)).text;
  expect(shown).toContain('recorded as sent');
  expect(shown).not.toContain('Record it');
  // The form cannot be used for another letter.
  expect((await send({ ...form, text: 'Something else.' })).status).toBe(409);
  expect(await made()).toHaveLength(1);
});

it('a refusal says and records the same reasons and ground', async () => {
  const { world, caseId, open, send } = await createLetterWorld();
  const form = { ...(await open('refusal')), text: 'It is\r\nexcessive.', do: 'letter', remedies: 'You may complain.' };
  const blank = await send(form);
  expect([blank.status, blank.text.includes('Legal basis')]).toEqual([422, true]);
  expect((await send({ ...form, basis: 'GDPR Art. 12(5)(b)' })).status).toBe(303);
  const [letter] = await lettersOf(world, caseId);
  expect(letter?.text).toMatch(/It is\s+excessive\.\s+Legal basis of the refusal: GDPR Art\. 12\(5\)\(b\)/);
  expect(await movesOf(world, caseId, 'refuse')).toMatchObject([
    { reasons: 'It is\nexcessive.', basis: 'GDPR Art. 12(5)(b)', documentSha256: letter?.sha256 },
  ]);
});

it('makes nothing if the move would be refused, or someone else changed the request', async () => {
  const { world, caseId, open, send, made } = await createLetterWorld();
  const form = { ...(await open('extension')), text: 'Many requests came at once.', do: 'letter' };
  const future = await send({ ...form, at: '2199-01-01' });
  expect([future.status, future.text.includes('is in the future')]).toEqual([422, true]);
  expect(future.text).toContain('Many requests came at once.');
  await makeMoves(world, caseId, [['note', { text: 'Look' }]]);
  expect((await send(form)).status).toBe(409);
  expect(await made()).toEqual([]);
  await makeMoves(world, caseId, [['extend', { reasons: 'Recorded elsewhere' }]]);
  // Only the letter can be made now.
  const page = (await createPage(world, caseId)).text;
  expect(page).not.toContain('record that it was sent by letter');
  expect(page).toContain('Create the letter');
});

async function createPage(world: OfficeWorld, caseId: string) {
  return (await signedInAs(world, 'officer')).get(`/cases/${caseId}/letter?step=extension&language=en`);
}

it('a letter sent by e-mail is recorded once it has gone out', async () => {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const { world, caseId, olga, open, send, made } = await createLetterWorld({
    SMTP_URL: mail.url,
    MAIL_FROM: 'privacy@acme.example',
  });
  expect((await olga.get(`/cases/${caseId}/letter?step=acknowledgement&language=en`)).text).toContain(
    'Send by e-mail and record',
  );
  const form = { ...(await open('acknowledgement')), do: 'e-mail' };
  expect((await send(form)).status).toBe(303);
  const again = await send(form);
  expect(again.status).toBe(303);
  await vi.waitFor(async () => expect(await movesOf(world, caseId, 'acknowledge')).toHaveLength(1), PATIENTLY);
  expect(mail.mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
  expect(await made()).toHaveLength(1);
  const [letter] = await lettersOf(world, caseId);
  expect(await movesOf(world, caseId, 'acknowledge')).toMatchObject([
    { channel: 'e-mail', documentSha256: letter?.sha256 },
  ]);
  const asked = { ...(await open('identity')), text: 'Your customer number.', doubt: 'Another address.', do: 'e-mail' };
  expect((await send(asked)).status).toBe(303);
  await vi.waitFor(
    async () =>
      expect(await movesOf(world, caseId, 'ask-identity')).toMatchObject([
        { asked: 'Your customer number.', doubt: 'Another address.', channel: 'e-mail' },
      ]),
    PATIENTLY,
  );
  const letters = await lettersOf(world, caseId);
  expect(letters.at(-1)?.text).toMatch(/Another address\.\s+Your customer number\./);
});

it('a letter that was only made can be recorded later, with what it says', async () => {
  const { world, caseId, olga, open, send } = await createLetterWorld();
  const form = { ...(await open('clarification')), text: 'Which shop do you mean?' };
  expect((await send({ ...form, do: 'make' })).status).toBe(303);
  const shown = (await olga.get(`/cases/${caseId}`)).text;
  expect(shown).toContain('Not recorded as sent');
  const [, link = ''] = /href="([^"]*record=[^"#]*)[^"]*"/.exec(shown) ?? [];
  const recording = (await olga.get(link.replaceAll('&amp;', '&'))).text;
  expect(recording).toContain('>Which shop do you mean?</textarea>');
  const [letter] = await lettersOf(world, caseId);
  expect(recording).toMatch(new RegExp(`<option value="${letter?.sha256}" selected`));
  await makeMoves(world, caseId, [
    ['ask-clarification', { question: 'Which shop do you mean?', documentSha256: letter?.sha256 ?? '' }],
  ]);
  expect((await olga.get(`/cases/${caseId}`)).text).not.toContain('Not recorded as sent');
  await expect(
    makeMoves(world, caseId, [
      ['receive-clarification', { answer: 'A' }],
      ['ask-clarification', { question: 'B', documentSha256: '0'.repeat(64) }],
    ]),
  ).rejects.toThrow('no such letter');
});

it('completes what was interrupted between the letter and its record', async () => {
  const { world, caseId, open, send, made } = await createLetterWorld();
  const form: Record<string, string> = { ...(await open('extension')), text: 'Many requests came at once.' };
  const { context } = world;
  const stopped = new Error('the process ended');
  const cases = { ...context.cases, ledger: { ...context.cases.ledger, append: () => Promise.reject(stopped) } };
  await expect(
    recordLetter(
      { ...context, cases },
      {
        ...{
          caseId,
          step: 'extension',
          language: 'en',
          format: 'txt',
          text: form['text'] ?? '',
          details: {},
          way: 'letter',
        },
        ...{ actor: OFFICER, basedOn: Number(form['basedOn']), reference: form['reference'] ?? '' },
      },
    ),
  ).rejects.toThrow(stopped);
  expect([await made(), await movesOf(world, caseId, 'extend')]).toMatchObject([[{}], []]);
  expect((await send({ ...form, do: 'letter' })).status).toBe(303);
  expect(await made()).toHaveLength(1);
  expect(await movesOf(world, caseId, 'extend')).toHaveLength(1);
});

it('a refusal that a second person has to approve is made, and the page says what comes next', async () => {
  const { world, caseId, olga, open, send } = await createLetterWorld();
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [refuse]\n';
  await writeFile(world.context.config.controllerFile ?? '', profile);
  const form = { ...(await open('refusal')), text: 'It is excessive.', basis: 'Art. 12', remedies: 'Complain.' };
  const page = await olga.get(`/cases/${caseId}/letter?step=refusal&language=en`);
  expect(page.text).toContain('A second person has to approve');
  const sent = await send({ ...form, do: 'letter' });
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=letter-approval#letters`]);
  expect(await movesOf(world, caseId, 'refuse')).toEqual([]);
  expect(await lettersOf(world, caseId)).toHaveLength(1);
  expect((await olga.get(sent.headers.get('location') ?? '')).text).toContain('A second person has to approve');
});

it('a receipt that the law wants confirmed leads to the form that sends and records it', async () => {
  const world = await createOfficeWorld();
  const seq = await world.event('dsar.submitted', {
    ...{ request_id: 'r-ca', type: 'delete', name: 'Ida B. Wells', jurisdiction: 'US-CA', language: 'en' },
    submitted_at: new Date(Date.now() - 86_400_000).toISOString(),
  });
  const olga = await signedInAs(world, 'officer');
  const path = `/cases/default-${seq}/letter?step=acknowledgement`;
  const shown = (await olga.get(`/cases/default-${seq}`)).text;
  expect(shown).toContain('The law requires you to confirm receipt by');
  expect(shown).toContain(`<a class="button" href="${path}"`);
  const form = { ...hiddenOf(await olga.get(path)), do: 'letter', format: 'txt' };
  expect((await olga.post(`/cases/default-${seq}/letter`, form)).status).toBe(303);
  expect((await olga.get(`/cases/default-${seq}`)).text).not.toContain('requires you to confirm receipt');
});

it('a letter whose mail failed is recorded with its step when it is sent again from the page', async () => {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const env = { SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' };
  const { world, caseId, olga, open, send } = await createLetterWorld(env, [], false);
  const form = { ...(await open('clarification')), text: 'Which shop do you mean?', do: 'e-mail' };
  expect((await send(form)).status).toBe(303);
  // The step is no longer possible when the job runs.
  await makeMoves(world, caseId, [['ask-identity', { doubt: 'Another address', asked: 'The customer number' }]]);
  const worker = await startWorker(world.context);
  onTestFinished(() => worker.stop());
  const state = async () => (await world.context.jobs.list({ kind: 'letter-mail' }))[0]?.state;
  await vi.waitFor(async () => expect(await state()).toBe('failed'), PATIENTLY);
  expect(mail.mails).toEqual([]);
  const informationAt = world.context.clock().toISOString();
  await makeMoves(world, caseId, [['confirm-identity', { how: 'Customer number', informationAt }]]);
  expect((await olga.get(`/cases/${caseId}`)).text).toContain('Not recorded as sent');
  const [letter] = await lettersOf(world, caseId);
  expect((await olga.post(`/cases/${caseId}/letters/${letter?.document_id}/mail`, {})).status).toBe(303);
  await vi.waitFor(
    async () =>
      expect(await movesOf(world, caseId, 'ask-clarification')).toMatchObject([
        { question: 'Which shop do you mean?', channel: 'e-mail', documentSha256: letter?.sha256 },
      ]),
    PATIENTLY,
  );
  expect(mail.mails).toHaveLength(1);
});
