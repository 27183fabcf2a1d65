import { appendFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadOfficerAttention } from '../../src/attention/officer-attention.ts';
import { addDays, dateIn } from '../../src/core/zoned-days.ts';
import { openTask, shareTask } from '../../src/hand-over/task-link.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { PATIENTLY } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { makeMoves, OFFICER, PUBLIC_URL } from './hand-over-world.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

const DUE = dateIn(new Date().toISOString(), 'Europe/Berlin');
const TASK = { what: 'Delete the customer in the shop', due: DUE, owner: 'Anna Shop', ownerEmail: 'anna@shop.example' };

async function createTaskWorld(env: Record<string, string> = {}, worker = false) {
  const world = await createOfficeWorld({ PUBLIC_URL, ...env }, { worker });
  const { access, erasure } = await seedRequests(world);
  const caseId = `default-${access}`;
  await makeMoves(world, caseId, [['add-task', { ...TASK, instructions: 'Customer number 4711' }]]);
  return { world, caseId, other: `default-${erasure}` };
}

/** The path of a new link to a task. */
async function share({ context }: OfficeWorld, caseId: string, days?: number): Promise<string> {
  const shared = await shareTask(context, { caseId, task: '1', days, actor: OFFICER, publicUrl: PUBLIC_URL });
  if (shared.outcome !== 'shared') throw new Error(JSON.stringify(shared));
  return shared.link.slice(PUBLIC_URL.length);
}

async function movesOf({ context }: OfficeWorld, caseId: string) {
  await context.projector.catchUp();
  const rows = await context.store.read
    .selectFrom('case_history')
    .select(['move', 'actor', 'details'])
    .where('case_id', '=', caseId)
    .orderBy('seq')
    .execute();
  return rows.filter(({ move }) => move.endsWith('-task'));
}

describe('a task for the owner of another system', () => {
  it('is shown to its owner without an account, without the rest of the request, and finished there', async () => {
    const { world, caseId } = await createTaskWorld();
    const path = await share(world, caseId);
    const owner = createVisitor(world.url);
    const page = await owner.get(path);
    expect(page.status).toBe(200);
    for (const shown of ['Acme GmbH', caseId, TASK.what, 'Customer number 4711']) expect(page.text).toContain(shown);
    for (const secret of ['Lovelace', 'ada@example.org', 'visitor-7', 'everything you hold', TASK.ownerEmail, 'Olga'])
      expect(page.text).not.toContain(secret);
    expect(page.text).not.toContain('<script');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-robots-tag')).toContain('noindex');

    expect((await owner.post(path, { outcome: 'not-done', note: ' ' })).status).toBe(422);
    const note = '<script>alert(1)</script> The shop is closed';
    expect((await owner.post(path, { outcome: 'not-done', note })).status).toBe(303);
    const reported = await owner.get(path);
    expect(reported.text).not.toContain('value="not-done"');
    const officer = await signedInAs(world, 'officer');
    const shown = (await officer.get(`/cases/${caseId}`)).text;
    expect(shown).toContain('&lt;script>alert(1)&lt;/script>');
    expect(shown).not.toContain('<script>alert');

    expect((await owner.post(path, { outcome: 'done', note: '' })).status).toBe(303);
    expect((await owner.get(path)).text).not.toContain('<form');
    const [, , refused, done] = await movesOf(world, caseId);
    const actor = `task owner (task 1 of ${caseId})`;
    expect([refused, done]).toMatchObject([
      { move: 'finish-task', actor },
      { move: 'finish-task', actor },
    ]);
    expect(JSON.parse(done?.details ?? '')).toEqual({ task: '1', outcome: 'done' });
    expect((await world.context.verify()).faults).toEqual([]);
    expect(await world.context.readModels.check()).toMatchObject({ counts: {}, position: null });
  });

  it('accepts one report: a second press and an older form change nothing', async () => {
    const { world, caseId } = await createTaskWorld();
    const path = await share(world, caseId);
    const owner = createVisitor(world.url);
    await owner.get(path);
    for (const outcome of ['done', 'done', 'not-done']) await owner.post(path, { outcome, note: 'Gone' });
    expect((await movesOf(world, caseId)).filter(({ move }) => move === 'finish-task')).toHaveLength(1);
  });

  it('does not open through a link that is expired, revoked, replaced, invented or of another task or case: each gets the same answer', async () => {
    const { world, caseId, other } = await createTaskWorld();
    await makeMoves(world, caseId, [['add-task', { ...TASK, what: 'Delete the newsletter profile' }]]);
    await makeMoves(world, other, [
      ['add-task', TASK],
      ['share-task', { task: '1' }],
    ]);
    await makeMoves(world, caseId, [['share-task', { task: '2' }]]);
    const owner = createVisitor(world.url);
    const nothing = await owner.get('/t/default-999/1.aaaaaaaaaaaaaaaaaaaaaa');
    expect(nothing.status).toBe(404);
    const opensNothing = async (path: string) => {
      const page = await owner.get(path);
      expect([page.status, page.text]).toEqual([404, nothing.text]);
      expect((await owner.post(path, { outcome: 'done', note: '' })).status).not.toBe(303);
    };
    const first = await share(world, caseId);
    expect((await owner.get(first)).status).toBe(200);
    const secret = first.slice(first.lastIndexOf('.'));
    await opensNothing(`/t/${other}/1${secret}`);
    await opensNothing(`/t/${caseId}/2${secret}`);
    await opensNothing(`${first.slice(0, -1)}${first.endsWith('A') ? 'B' : 'A'}`);
    await opensNothing(`/t/${caseId}/1`);
    const second = await share(world, caseId, 2);
    await opensNothing(first);
    expect((await owner.get(second)).status).toBe(200);
    expect((await fetch(world.url + second, { method: 'HEAD' })).status).toBe(404);
    world.setNow(new Date(Date.now() + 2 * 86_400_000 + 60_000).toISOString());
    await opensNothing(second);
    world.setNow(new Date().toISOString());
    expect((await owner.get(second)).status).toBe(200);
    await makeMoves(world, caseId, [['unshare-task', { task: '1' }]]);
    await opensNothing(second);
    expect((await movesOf(world, caseId)).map(({ move }) => move)).not.toContain('finish-task');
  });

  it('does not open through a link from before a restore', async () => {
    const { world, caseId } = await createTaskWorld();
    const key = (await share(world, caseId)).split('/').at(-1) ?? '';
    expect(await openTask(world.context, caseId, key)).not.toBeNull();
    expect(await openTask({ ...world.context, epoch: world.context.epoch + 1 }, caseId, key)).toBeNull();
  });

  it('is refused without the token of its form, and after sixty requests in a minute', async () => {
    const { world, caseId } = await createTaskWorld();
    const path = await share(world, caseId);
    const owner = createVisitor(world.url);
    await owner.get(path);
    expect((await owner.post(path, { outcome: 'done', note: '' }, { csrf: null })).status).toBe(403);
    const answers = [];
    for (let tried = 0; tried < 62; tried += 1) answers.push((await owner.get(`/t/${caseId}/1.${tried}`)).status);
    expect(answers).toContain(429);
    expect((await movesOf(world, caseId)).map(({ move }) => move)).not.toContain('finish-task');
  });

  it('is added, linked and finished on the page of the case by officers; auditors only look, and see no link', async () => {
    const { world, other } = await createTaskWorld();
    const officer = await signedInAs(world, 'officer');
    const empty = (await officer.get(`/cases/${other}`)).text;
    const [, again = ''] = /\?again=(\d+)#tasks/.exec(empty) ?? [];
    const proposed = (await officer.get(`/cases/${other}?again=${again}`)).text;
    expect(proposed).toContain(`value="${TASK.what}"`);
    expect(proposed).toContain(`value="${TASK.ownerEmail}"`);
    expect(proposed).not.toContain('4711');
    const version = () => world.context.store.read.selectFrom('cases').select('version').where('case_id', '=', other);
    const move = async (form: Record<string, string>) =>
      officer.post(`/cases/${other}/moves`, {
        ...form,
        basedOn: String((await version().executeTakeFirstOrThrow()).version),
      });
    const wrong = await move({ move: 'add-task', ...TASK, ownerEmail: 'anna' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('value="anna"');
    expect((await move({ move: 'add-task', ...TASK })).status).toBe(303);
    expect((await move({ move: 'share-task', task: '1', days: '91' })).status).toBe(422);
    expect((await move({ move: 'share-task', task: '1', days: '5' })).status).toBe(303);
    const page = (await officer.get(`/cases/${other}`)).text;
    const [link = ''] = /https:\/\/privacy\.acme\.example\/t\/[\w.-]+\/1\.[\w-]{22}/.exec(page) ?? [];
    expect((await createVisitor(world.url).get(link.slice(PUBLIC_URL.length))).status).toBe(200);

    const auditor = await signedInAs(world, 'auditor');
    const seen = (await auditor.get(`/cases/${other}`)).text;
    expect(seen).toContain(TASK.what);
    expect(seen).not.toContain('/t/');
    const form = { move: 'finish-task', task: '1', outcome: 'done', basedOn: '2' };
    expect((await auditor.post(`/cases/${other}/moves`, form)).status).toBe(403);
    expect((await auditor.post(`/cases/${other}/tasks/mail`, { task: '1' })).status).toBe(403);
    const elsewhere = await signedInAs(world, 'officer', { sources: ['shop'] });
    expect((await elsewhere.post(`/cases/${other}/moves`, form)).status).toBe(404);
    expect((await elsewhere.post(`/cases/${other}/tasks/mail`, { task: '1' })).status).toBe(404);

    expect((await move({ move: 'finish-task', task: '1', outcome: 'done' })).status).toBe(303);
    expect((await move({ move: 'finish-task', task: '7', outcome: 'done' })).status).toBe(422);
    expect((await officer.get(`/cases/${other}`)).text).toContain('was due');
  });

  it('does not block an answer, but warns before it, and on Today from its due day until it is finished', async () => {
    const { world, caseId } = await createTaskWorld();
    await makeMoves(world, caseId, [
      ['add-task', { what: 'Tell the print shop', due: addDays(DUE, 3) }],
      ['start', {}],
      ['confirm-identity', { how: 'Logged in to the customer account' }],
      ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ]);
    const officer = await signedInAs(world, 'officer');
    expect((await officer.get(`/cases/${caseId}`)).text).toContain('You can still answer');
    const due = async () =>
      (await loadOfficerAttention({ cases: world.context.cases, clock: world.context.clock, followed: [], pulled: [] }))
        .dueTasks;
    expect(await due()).toEqual([{ caseId, task: '1', what: TASK.what, owner: TASK.owner, due: DUE }]);
    expect((await officer.get('/')).text).toContain(`/cases/${caseId}#tasks`);
    await makeMoves(world, caseId, [
      ['mark-ready', {}],
      ['answer', { channel: 'e-mail', disclosure: 'full' }],
    ]);
    expect(await due()).toHaveLength(1);
    await makeMoves(world, caseId, [['finish-task', { task: '1', outcome: 'done' }]]);
    expect(await due()).toEqual([]);
  });

  it('is mailed to its owner with a working link, once per request to mail it', async () => {
    const mail = await startMailServer();
    onTestFinished(() => mail.close());
    const env = { SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' };
    const { world, caseId } = await createTaskWorld(env, true);
    await appendFile(world.context.config.controllerFile ?? '', 'email: privacy@acme.example\n');
    const officer = await signedInAs(world, 'officer');
    await officer.get(`/cases/${caseId}`);
    expect((await officer.post(`/cases/${caseId}/tasks/mail`, { task: '1' })).status).toBe(303);
    await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
    await vi.waitFor(async () => expect((await movesOf(world, caseId)).at(-1)?.move).toBe('send-task'), PATIENTLY);
    const [sent] = mail.mails as [(typeof mail.mails)[number]];
    expect(sent.to).toEqual([TASK.ownerEmail]);
    expect(sent.raw).not.toMatch(/Lovelace|ada@example/);
    expect(sent.raw).toMatch(/^Reply-To: privacy@acme\.example\r$/m);
    const [link = ''] = /https:\/\/privacy\.acme\.example\/t\/\S+/.exec(sent.raw.replaceAll('=\r\n', '')) ?? [];
    expect((await createVisitor(world.url).get(link.slice(PUBLIC_URL.length))).status).toBe(200);
    expect((await officer.post(`/cases/${caseId}/tasks/mail`, { task: '9' })).status).toBe(404);
  });

  it('can be listed, linked and finished by the API', async () => {
    const { world, caseId } = await createTaskWorld();
    const api = await tokenOf(world, 'officer', { scope: 'work' });
    const linked = await api.post(`/api/v1/cases/${caseId}/tasks/1/link`, { days: 3 });
    expect(linked.status).toBe(201);
    const { link } = linked.json as unknown as { link: string };
    expect((await createVisitor(world.url).get(link.slice(PUBLIC_URL.length))).status).toBe(200);
    const body = { move: 'finish-task', basedOn: 2, details: { task: '1', outcome: 'done' } };
    expect((await api.post(`/api/v1/cases/${caseId}/moves`, body)).status).toBe(200);
    const shown = await api.get(`/api/v1/cases/${caseId}`);
    expect(shown.json['tasks']).toMatchObject([{ task: '1', what: TASK.what, state: 'done' }]);
    expect(shown.text).not.toContain(link.slice(-22));
    expect((await api.post(`/api/v1/cases/${caseId}/tasks/1/link`, {})).status).toBe(422);
    expect((await api.post(`/api/v1/cases/${caseId}/tasks/1/mail`, {})).status).toBe(422);
    const reader = await tokenOf(world, 'officer');
    expect((await reader.post(`/api/v1/cases/${caseId}/tasks/1/link`, {})).status).toBe(403);
  });
});
