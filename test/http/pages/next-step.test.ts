import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { produceLetter } from '../../../src/documents/produce-letter.ts';
import { tokenOf } from '../api-caller.ts';
import { approvalIn, makeMoves, makePack, OFFICER, PUBLIC_URL } from '../hand-over-world.ts';
import { createOfficeWorld, signedIn, signedInAs, type Visitor } from '../office-world.ts';
import { seedRequests } from './seed.ts';

it('the case page names the one next step of a request, from receipt to closing, with its form and everything else behind “More”', async () => {
  const world = await createOfficeWorld({ PUBLIC_URL }, { worker: false });
  const { access, erasure } = await seedRequests(world);
  const officer = await signedIn(world);
  const look = async (seq: number) => {
    const { text } = await officer.get(`/cases/default-${seq}`);
    const [, panel = ''] = /id="moves">(.*?)<h2/s.exec(text) ?? [];
    const [first = ''] = panel.split('<summary>More</summary>');
    return {
      says: /<p>(.*?)<\/p>/.exec(first)?.[1] ?? '',
      move: /name="move" value="([^"]+)"/.exec(first)?.[1] ?? null,
      steps: [...text.matchAll(/<li class="(?:done|current)"[^>]*>([^<]+)/g)].map(([, name]) => name),
    };
  };
  const caseId = `default-${access}`;
  // The first step that is not done is the current one.
  const untouched = { move: 'start', steps: ['Received', 'Taken up'] };
  expect(await look(access)).toMatchObject(untouched);
  await makeMoves(world, caseId, [['acknowledge', { channel: 'e-mail' }]]);
  expect(await look(access)).toMatchObject(untouched);
  await makeMoves(world, caseId, [['start', {}]]);
  // Having no doubt is a decision of its own; until then the step is open.
  expect(await look(access)).toMatchObject({
    move: 'no-doubt',
    says: expect.stringContaining('Is there reasonable doubt about the requester’s identity?'),
    steps: ['Received', 'Taken up', 'Identity'],
  });
  await makeMoves(world, caseId, [['no-doubt', { why: 'They wrote from the address on file.' }]]);
  expect(await look(access)).toMatchObject({
    move: 'mark-system',
    says: expect.stringContaining('is not marked'),
    steps: ['Received', 'Taken up', 'Identity', 'Searched'],
  });
  await makeMoves(world, caseId, [['ask-identity', { doubt: 'Another address', asked: 'The customer number' }]]);
  expect(await look(access)).toMatchObject({ move: 'confirm-identity', steps: ['Received', 'Taken up', 'Identity'] });
  await makeMoves(world, caseId, [
    ['confirm-identity', { how: 'Customer number', informationAt: world.context.clock().toISOString() }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
  ]);
  expect((await look(access)).move).toBe('mark-ready');
  await makeMoves(world, caseId, [['mark-ready', {}]]);
  expect(await look(access)).toMatchObject({ move: null, says: expect.stringContaining('Create the response pack') });
  await makePack(world, caseId);
  expect((await look(access)).move).toBe('answer');
  await makeMoves(world, caseId, [['answer', { channel: 'letter', disclosure: 'full' }]]);
  expect((await look(access)).move).toBe('close');
  await makeMoves(world, caseId, [['close', {}]]);
  expect(await look(access)).toMatchObject({ move: null, says: 'The request is closed.' });
  // A request that is not answered with a copy is answered by a letter.
  await makeMoves(world, `default-${erasure}`, [
    ['start', {}],
    ['confirm-identity', { how: 'Customer number' }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ['mark-ready', {}],
  ]);
  expect((await look(erasure)).says).toContain('Write the letter');
});

it('the case page offers each person only what the rule of two people lets them do', async () => {
  const world = await createOfficeWorld(
    { PUBLIC_URL, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@acme.example' },
    { worker: false },
  );
  const { controllerFile } = world.context.config;
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [answer, refuse]\n';
  await writeFile(controllerFile ?? '', profile);
  const caseId = `default-${(await seedRequests(world)).access}`;
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Customer number' }],
    ['mark-ready', {}],
  ]);
  const deps = { ...world.context.documents, cases: world.context.cases };
  const letter = await produceLetter(deps, {
    caseId,
    step: 'answer',
    text: 'Here it is.',
    format: 'pdf',
    actor: OFFICER,
  });
  if (letter.outcome !== 'produced') throw new Error(JSON.stringify(letter));
  await world.context.projector.projected(letter.seq);
  await makePack(world, caseId);
  const [olga, otto] = [await signedInAs(world, 'officer'), await signedInAs(world, 'officer')];
  const auditor = await signedInAs(world, 'auditor');
  const withoutAccount = await signedIn(world);
  const offeredTo = async (visitor: Visitor) => {
    const { text } = await visitor.get(`/cases/${caseId}`);
    const has = (part: string) => text.includes(part);
    return {
      moves: ['approve', 'answer', 'refuse'].filter((move) => has(`name="move" value="${move}"`)),
      handsOver: has('Create the link'),
      mails: has('Send to <bdi'),
      text,
    };
  };
  const nothing = { moves: [], handsOver: false, mails: false };
  expect(await offeredTo(auditor)).toMatchObject(nothing);
  expect(await offeredTo(withoutAccount)).toMatchObject(nothing);
  const waiting = await offeredTo(olga);
  expect(waiting).toMatchObject({ ...nothing, moves: ['approve'] });
  expect(waiting.text).toContain('Someone else has to approve this first');

  const approved = await olga.post(`/cases/${caseId}/moves`, approvalIn(waiting.text));
  expect(approved.status).toBe(303);
  const approver = await offeredTo(olga);
  expect(approver).toMatchObject({ ...nothing, moves: ['approve'] });
  expect(approver.text).toContain('Someone else with an account has to send it');
  expect(approver.text).not.toContain('Send the answer');
  expect(await offeredTo(otto)).toMatchObject({ moves: ['approve', 'answer'], handsOver: true, mails: true });
});

it('a letter, file or pack added after the approval has to be approved again before anything is delivered', async () => {
  const world = await createOfficeWorld(
    { PUBLIC_URL, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@acme.example' },
    { worker: false },
  );
  const { context } = world;
  const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nsecondPersonFor: [answer]\n';
  await writeFile(context.config.controllerFile ?? '', profile);
  const caseId = `default-${(await seedRequests(world)).access}`;
  const deps = { ...context.documents, cases: context.cases };
  const makeLetter = async (text: string) => {
    const letter = await produceLetter(deps, { caseId, step: 'answer', text, format: 'pdf', actor: OFFICER });
    if (letter.outcome !== 'produced') throw new Error(JSON.stringify(letter));
    await context.projector.projected(letter.seq);
    return letter.documentId;
  };
  await makeMoves(world, caseId, [
    ['start', {}],
    ['confirm-identity', { how: 'Customer number' }],
    ['mark-ready', {}],
  ]);
  const first = await makeLetter('Here it is.');
  await makePack(world, caseId);
  const [olga, otto] = [await signedInAs(world, 'officer'), await signedInAs(world, 'officer')];
  const approvalForm = async () => {
    const { text } = await otto.get(`/cases/${caseId}`);
    return approvalIn(text);
  };
  const program = await tokenOf(world, 'officer', { scope: 'work' });
  const approveByProgram = async (more: Record<string, unknown>) => {
    const { basedOn } = await approvalForm();
    const body = { move: 'approve', basedOn: Number(basedOn), details: { of: 'answer', ...more } };
    return program.post(`/api/v1/cases/${caseId}/moves`, body);
  };
  const looked = async () => (await program.get(`/api/v1/cases/${caseId}`)).json['seen'];
  const approve = async () => (await otto.post(`/cases/${caseId}/moves`, await approvalForm())).status;
  const reminds = async () => {
    const { text } = await olga.get(`/cases/${caseId}`);
    return text.includes('so the approval no longer counts') && !text.includes('name="move" value="answer"');
  };
  const isTask = async () =>
    (await olga.get('/')).text.replaceAll('<!-- -->', '').includes(`Approve the answer to request ${caseId}`);
  expect(await approve()).toBe(303);
  expect([await reminds(), await isTask()]).toEqual([false, false]);
  const changes: [string, () => Promise<unknown>][] = [
    ['letter', () => makeLetter('Here it is, corrected.')],
    ['pack', () => makePack(world, caseId)],
    [
      'file',
      async () => {
        const multipart = new FormData();
        multipart.set('file', new Blob(['a,b']), 'found.csv');
        await olga.post(`/cases/${caseId}/attachments`, {}, { multipart });
      },
    ],
  ];
  for (const [name, change] of changes) {
    await change();
    expect([name, await reminds(), await isTask()]).toEqual([name, true, true]);
    const { version } = await context.store.read
      .selectFrom('cases')
      .select('version')
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    const refused = [
      await olga.post(`/cases/${caseId}/hand-overs`, { days: '14' }),
      await olga.post(`/cases/${caseId}/letters/${first}/mail`, {}),
      await olga.post(`/cases/${caseId}/moves`, {
        ...{ move: 'answer', basedOn: String(version), channel: 'letter', disclosure: 'full' },
      }),
    ];
    for (const page of refused)
      expect([name, page.status, page.text.includes('was added after it')]).toEqual([name, 422, true]);
    expect(await approve()).toBe(303);
    expect([name, await reminds(), await isTask()]).toEqual([name, false, false]);
  }
  // An approval covers what its page showed.
  const before = await approvalForm();
  await makeLetter('Here it is, corrected again.');
  const unseen = await otto.post(`/cases/${caseId}/moves`, before);
  expect([unseen.status, unseen.text.includes('was added after you looked')]).toEqual([409, true]);
  expect(await reminds()).toBe(true);
  // The same goes for a program, which says what it looked at.
  const seen = await looked();
  await makeLetter('Here it is, corrected for the last time.');
  for (const unlooked of [{}, { seen: 999_999_999 }, { seen: '0'.repeat(63) }])
    expect((await approveByProgram(unlooked)).status).toBe(422);
  expect((await approveByProgram({ seen: 'f'.repeat(64) })).status).toBe(409);
  const byProgram = await approveByProgram({ seen });
  expect([byProgram.status, byProgram.text.includes('was added after you looked')]).toEqual([409, true]);
  expect((await approveByProgram({ seen: await looked() })).status).toBe(200);
  expect(await reminds()).toBe(false);
  await makeLetter('Here it is, after all.');
  // A letter already made with the same bytes is no new one.
  expect(await approve()).toBe(303);
  expect((await olga.post(`/cases/${caseId}/hand-overs`, { days: '14' })).text).not.toContain('was added after it');
});

it('shows no intermediate step for a request that ended without an answer', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { access, optOut, erasure } = await seedRequests(world);
  const again = await world.event('dsar.submitted', { request_id: 'r-1b', type: 'access', email: 'ada@example.org' });
  const officer = await signedIn(world);
  const stepsAfter = async (seq: number, move: string, details: Record<string, unknown>) => {
    await makeMoves(world, `default-${seq}`, [[move, details]]);
    const { text } = await officer.get(`/cases/default-${seq}`);
    return [...text.matchAll(/<li class="(?:done|current)"[^>]*>([^<]+)/g)].map(([, name]) => name);
  };
  expect(await stepsAfter(erasure, 'withdraw', { how: 'By mail' })).toEqual(['Received', 'Withdrawn', 'Closed']);
  const refusal = { reasons: 'Unfounded', basis: 'GDPR Art. 12(5)', remedies: 'Complaint to the authority' };
  expect(await stepsAfter(optOut, 'refuse', refusal)).toEqual(['Received', 'Refused', 'Closed']);
  const merged = await stepsAfter(again, 'close-duplicate', { duplicateOf: `default-${access}` });
  expect(merged).toEqual(['Received', 'Merged', 'Closed']);
});
