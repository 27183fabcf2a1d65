import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { checkFile } from '../../src/documents/check.ts';
import { draftLetter, type LetterRequest, produceLetter } from '../../src/documents/produce-letter.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { documentFileName } from '../../src/projections/documents.ts';
import { erase } from '../erasure/world.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { pdfText, zipFile } from '../reports/files.ts';

const DAY = 86_400_000;

interface Request {
  readonly world: OfficeWorld;
  readonly caseId: string;
  readonly deps: Parameters<typeof produceLetter>[0];
}

async function openRequest(data: Record<string, unknown>): Promise<Request> {
  const world = await createOfficeWorld({}, { worker: false });
  const submitted = {
    jurisdiction: 'DE',
    language: 'en',
    email: 'zoe@example.net',
    name: 'Zoë Müller',
    submitted_at: new Date().toISOString(),
  };
  const seq = await world.event('dsar.submitted', { request_id: 'r-1', ...submitted, ...data });
  return { world, caseId: `default-${seq}`, deps: { ...world.context.documents, cases: world.context.cases } };
}

async function move({ world, caseId }: Request, name: string, details: Record<string, unknown>): Promise<void> {
  const row = await world.context.store.read
    .selectFrom('cases')
    .select('version')
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow();
  const moved = await moveCase(world.context.cases, {
    caseId,
    basedOn: row.version,
    move: name,
    details,
    actor: 'Olga',
  });
  if (moved.outcome !== 'moved') throw new Error(JSON.stringify(moved));
  await world.context.projector.catchUp();
}

async function made({ world, deps, caseId }: Request, wish: Partial<LetterRequest> & Pick<LetterRequest, 'step'>) {
  const letter = await produceLetter(deps, { caseId, format: 'txt', actor: 'Olga', ...wish });
  if (letter.outcome !== 'produced') throw new Error(JSON.stringify(letter));
  await world.context.projector.catchUp();
  return { ...letter, bytes: await readFile(letter.path) };
}

const words = (bytes: Buffer) => bytes.toString('utf8').replaceAll(/\s+/g, ' ');

describe('a letter of a case', () => {
  it('is registered with its text, is genuine, and has the same bytes when made again after a rebuild', async () => {
    const request = await openRequest({ type: 'deletion', language: 'de' });
    const { world } = request;
    for (const format of ['pdf', 'html', 'txt'] as const) {
      const first = await made(request, { step: 'refusal', text: 'Aus Gründen.\r\n\r\n- eins\n- zwei', format });
      expect(first.parameters).toMatchObject({
        step: 'refusal',
        language: 'de-DE',
        text: 'Aus Gründen.\n\n- eins\n- zwei',
      });
      await world.event('consent.recorded', { consent_id: format, banner_id: 'main', visitor_hash: 'v', consent: {} });
      await world.context.rebuild();
      const again = await made(request, {
        step: 'refusal',
        text: 'Aus Gründen.\n\n- eins\n- zwei',
        format,
        asOf: first.asOf,
      });
      expect([again.documentId, again.sha256, again.seq]).toEqual([first.documentId, first.sha256, first.seq]);
      const { documents } = await checkFile(world.context, first.path);
      const [found] = documents;
      if (found === undefined) throw new Error('the letter is not known');
      expect(found.recorded).toMatchObject({ name: 'letter', caseId: request.caseId });
      expect(documentFileName(found.recorded)).toMatch(
        new RegExp(`^${request.caseId}-refusal-letter-[0-9a-f]{16}\\.${format}$`),
      );
    }
  });

  it('is in the language of the request, and never in another that nobody chose', async () => {
    const request = await openRequest({ type: 'access', language: 'tr' });
    const missing = await produceLetter(request.deps, {
      ...{ caseId: request.caseId, step: 'acknowledgement', format: 'txt', actor: 'Olga' },
    });
    expect(missing).toMatchObject({ outcome: 'invalid', problem: expect.stringContaining('not available in Turkish') });
    const german = await made(request, { step: 'acknowledgement', language: 'de' });
    expect(german.missingLanguage).toBeNull();
    expect(words(german.bytes)).toContain('Guten Tag');
  });

  it('is refused with the reason and not registered if it would say nothing, has blanks or is too long', async () => {
    const request = await openRequest({ type: 'opt-out' });
    const refused = async (wish: Partial<LetterRequest>) => {
      const outcome = await produceLetter(request.deps, {
        caseId: request.caseId,
        format: 'txt',
        actor: 'Olga',
        step: 'answer',
        ...wish,
      });
      return outcome.outcome === 'invalid' ? outcome.problem : outcome.outcome;
    };
    expect(await refused({})).toContain('needs your own text');
    expect(await refused({ text: 'We erased [what].' })).toContain('Fill in the blanks');
    expect(await refused({ text: 'x'.repeat(8001) })).toContain('at most 8000');
    expect(await refused({ step: 'appeal', text: 'We uphold it.' })).toContain('provides for an appeal');
    expect(await world(request)).toEqual([]);
  });

  it('becomes a PDF whatever its text, naming characters that the PDF lacks', async () => {
    const request = await openRequest({ type: 'access', name: 'สมชาย \u{10A60}' });
    const letter = await made(request, { step: 'answer', text: 'नमस्ते \ue000', format: 'pdf' });
    expect(letter.unprintable).toEqual(['\u{10A60}', '\ue000']);
    expect(pdfText(letter.bytes)).toContain('\ufffd[U+10A60]');
    expect(pdfText(letter.bytes)).toContain('\ufffd[U+E000]');
    expect((await made(request, { step: 'acknowledgement', format: 'html' })).unprintable).toEqual([]);
    const draft = await draftLetter(request.deps, { caseId: request.caseId, step: 'answer', text: 'a' });
    expect(draft.outcome === 'drafted' && draft.unprintable).toEqual(['\u{10A60}']);
  });

  const world = ({ world: { context } }: Request) =>
    context.store.read.selectFrom('documents').select('name').execute();

  it('contains what the case has recorded for its step, unless the officer writes something else', async () => {
    const request = await openRequest({ type: 'access' });
    await move(request, 'ask-clarification', { question: 'Which of your accounts do you mean?' });
    expect(words((await made(request, { step: 'clarification' })).bytes)).toContain(
      'Which of your accounts do you mean?',
    );
    const own = await made(request, { step: 'clarification', text: 'Which period?' });
    expect(words(own.bytes)).not.toContain('Which of your accounts');
    const draft = await draftLetter(request.deps, { caseId: request.caseId, step: 'clarification' });
    expect(draft.outcome === 'drafted' && draft.starts[0]).toBe('Which of your accounts do you mean?');
  });
});

describe('what an answer says of the consent records', () => {
  const answered = async (request: Request) =>
    words((await made(request, { step: 'answer', text: 'We erased your account.' })).bytes);

  it('is that they were searched, and that proof of this person’s consent is kept, only if so and until it is erased', async () => {
    const found = await openRequest({ type: 'deletion', visitor_hash: 'v-1' });
    const consent = { consent_id: 'c-1', banner_id: 'main', visitor_hash: 'v-1', consent: { analytics: true } };
    await found.world.event('consent.recorded', consent);
    expect(await answered(found)).toMatch(/We keep the proof.*For this answer we searched our consent records\./);
    const { context } = found.world;
    const seqs = (await context.store.read.selectFrom('decision_history').select('seq').execute()).map(
      ({ seq }) => seq,
    );
    const erasing = await erase(context, seqs.map(String), { despite: [found.caseId], confirmedBy: 'Paul' });
    expect(erasing).toMatchObject({ outcome: 'erased', entries: 1 });
    expect(await answered(found)).not.toContain('We keep the proof');
    const strange = await answered(await openRequest({ type: 'deletion', visitor_hash: 'v-2' }));
    expect(strange).toContain(
      'For this answer we searched our consent records. We cannot link you to a consent record',
    );
    expect(strange).not.toContain('We keep the proof');
    const nothing = await answered(await openRequest({ type: 'deletion' }));
    expect(nothing).toContain('Your request contains nothing by which we could search our consent records.');
    expect(nothing).not.toMatch(/we searched|We keep the proof/);
  });
});

describe('the dates and laws of a letter', () => {
  it('include the new date of an extension, before and after it is recorded', async () => {
    const request = await openRequest({ type: 'access' });
    const before = await made(request, { step: 'extension', text: 'Your request is complex.' });
    await move(request, 'extend', { reasons: 'Your request is complex.' });
    const after = await made(request, { step: 'extension' });
    const date = (bytes: Buffer) => /answer is now due by (\d+ \w+ \d{4})/.exec(words(bytes))?.[1];
    const { receipt_at } = await request.world.context.cases.store.read
      .selectFrom('cases')
      .select('receipt_at')
      .executeTakeFirstOrThrow();
    expect(date(after.bytes)).toBe(date(before.bytes));
    expect(Date.parse(date(after.bytes) ?? '')).toBeGreaterThan(Date.parse(receipt_at) + 85 * DAY);
  });

  it('include every applicable law, the deciding one first, each with its remedies', async () => {
    const request = await openRequest({ type: 'deletion', jurisdiction: 'US-VA' });
    const text = words((await made(request, { step: 'refusal', text: 'Because.' })).bytes);
    expect(text).toMatch(/Applicable law: General Data Protection Regulation.*Virginia Consumer Data Protection Act/);
    expect(text).toMatch(/Art\. 77 GDPR.*within 60 days.*Attorney General of Virginia/);
  });

  it('set no date and call nothing late if the law requires an answer at once', async () => {
    const request = await openRequest({
      type: 'withdraw-consent',
      submitted_at: new Date(Date.now() - 20 * DAY).toISOString(),
    });
    const receipt = words((await made(request, { step: 'acknowledgement' })).bytes);
    expect(receipt).not.toMatch(/answer is due|by \d+ \w+ 20\d\d/);
    const answer = words((await made(request, { step: 'answer', text: 'We have recorded it.' })).bytes);
    expect(answer).not.toContain('late');
    const outcome = await produceLetter(request.deps, {
      caseId: request.caseId,
      step: 'extension',
      text: 'Busy.',
      format: 'txt',
      actor: 'Olga',
    });
    expect(outcome).toMatchObject({ outcome: 'invalid' });
  });

  it('judge lateness by the day on which the answer was sent, not that of a copy', async () => {
    const request = await openRequest({ type: 'deletion' });
    await move(request, 'start', {});
    await move(request, 'mark-system', { system: 'crm', result: 'nothing-found' });
    await move(request, 'mark-ready', {});
    await move(request, 'answer', {
      channel: 'e-mail',
      disclosure: 'categories-only',
      parts: [{ what: 'profile', outcome: 'done' }],
    });
    request.world.setNow(new Date(Date.now() + 60 * DAY).toISOString());
    expect(words((await made(request, { step: 'answer' })).bytes)).not.toContain('This answer is late');
  });

  it('include no question about identity if the law forbids a check', async () => {
    const german = await openRequest({ type: 'opt-out' });
    // The controller is in Germany: the GDPR allows what California forbids.
    const californian = await openRequest({ type: 'opt-out', jurisdiction: 'US-CA' });
    const world = await createOfficeWorld({ CONTROLLER_FILE: '' }, { worker: false });
    const seq = await world.event('dsar.submitted', {
      request_id: 'r-2',
      type: 'opt-out',
      jurisdiction: 'US-CA',
      language: 'en',
      email: 'a@example.com',
    });
    const ask = (deps: Request['deps'], caseId: string) =>
      produceLetter(deps, { caseId, step: 'identity', text: 'Who are you?', format: 'txt', actor: 'Olga' });
    const forbidden = { outcome: 'invalid', problem: expect.stringContaining('identity check') as string };
    expect(await ask({ ...world.context.documents, cases: world.context.cases }, `default-${seq}`)).toMatchObject(
      forbidden,
    );
    expect(await ask(californian.deps, californian.caseId)).toMatchObject(forbidden);
    expect(await ask(german.deps, german.caseId)).toMatchObject({ outcome: 'produced' });
  });
});

describe('the pack', () => {
  it('contains the last letter of the answer, and is the same when made again', async () => {
    const request = await openRequest({ type: 'deletion', language: 'de' });
    await made(request, { step: 'answer', text: 'Wir haben Ihr Konto gelöscht.' });
    await made(request, { step: 'notice', text: 'Konto 7', recipient: 'Versand AG' });
    const pack = async (asOf?: number) => {
      const outcome = await producePack(request.deps, { caseId: request.caseId, actor: 'Olga', asOf });
      if (outcome.outcome !== 'produced') throw new Error(outcome.outcome);
      return outcome;
    };
    const first = await pack();
    const letter = zipFile(await readFile(first.path), 'brief.pdf');
    const text = pdfText(letter);
    expect(text).toContain('Wir haben Ihr Konto gelöscht.');
    expect(text).not.toMatch(/ENTWURF|Versand AG/);
    await made(request, { step: 'refusal', text: 'Doch nicht.' });
    expect((await pack(first.asOf)).sha256).toBe(first.sha256);
  });
});
