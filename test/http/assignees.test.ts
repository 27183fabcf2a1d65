import { expect, it } from 'vitest';
import { listCases } from '../../src/cases/list-cases.ts';
import { moveCase, openCase } from '../../src/cases/move-case.ts';
import { runCli } from '../cli/command-line.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedIn, signedInAs } from './office-world.ts';

async function open({ context }: OfficeWorld, requesterName: string, days = 1): Promise<string> {
  const opened = await openCase(context.cases, {
    ...{ source: 'default', actor: 'test', kind: 'access' as const },
    receivedAt: new Date(Date.now() - days * 86_400_000).toISOString(),
    ...{ channel: 'letter', requesterName, requesterEmail: null, subject: null, jurisdiction: 'DE', message: null },
  });
  if (opened.outcome === 'refused') throw new Error(opened.problems.join());
  await context.projector.catchUp();
  return opened.caseId;
}

async function assign({ context }: OfficeWorld, caseId: string, assignee: string): Promise<void> {
  const [view] = (await listCases(context.cases, { now: new Date().toISOString() })).filter(
    ({ row }) => row.case_id === caseId,
  );
  const moved = await moveCase(context.cases, {
    ...{ caseId, basedOn: view?.row.version ?? -1, move: 'assign', details: { assignee }, actor: 'test' },
  });
  expect(moved.outcome).toBe('moved');
  await context.projector.catchUp();
}

const casesIn = (text: string) =>
  [...text.matchAll(/<a href="\/cases\/(default-[^"]+)">/g)].map(([, caseId]) => caseId).toSorted();
const words = (text: string) => text.replaceAll(/<[^>]+>/g, '');
const take = (text: string) => {
  const [form = ''] = /<form[^>]*>(?:(?!<\/form>)[\s\S])*Take it/.exec(text) ?? [];
  return Object.fromEntries(
    [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
};

/** The first button of a list, with the form that all its buttons share. */
const takeFromList = (text: string) => {
  const [shared = ''] = /<form[^>]* id="take-requests"[\s\S]*?<\/form>/.exec(text) ?? [];
  const [button = ''] = /<button[^>]*form="take-requests"[^>]*>/.exec(text) ?? [];
  const fields = [...`${shared}${button}`.matchAll(/name="(\w+)" value="([^"]*)"/g)];
  return {
    address: /formaction="([^"]*)"/.exec(button)?.[1] ?? '',
    form: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')])),
  };
};

it('lets an officer take a request with one click, and shows who has it', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const ann = await signedInAs(world, 'officer', { name: 'Ann Adler' });
  const bob = await signedInAs(world, 'officer', { name: 'Bob Baker' });
  const caseId = await open(world, 'Ada');
  const before = await ann.get(`/cases/${caseId}`);
  expect(words(before.text)).toContain('Assigned to nobody');
  const form = take(before.text);
  expect(form).toMatchObject({ move: 'assign', assignee: `Ann Adler (${ann.personId})` });
  const taken = await ann.post(`/cases/${caseId}/moves`, form);
  expect(taken.status).toBe(303);
  const after = await ann.get(`/cases/${caseId}`);
  expect(words(after.text)).toContain('Assigned to you');
  expect(take(after.text)).toEqual({});
  const seen = await bob.get(`/cases/${caseId}`);
  expect(seen.text).toMatch(/Assigned to <bdi>Ann Adler<\/bdi>/);
  // The slower one is told, and can then still take it over.
  const late = await bob.post(`/cases/${caseId}/moves`, { ...form, assignee: `Bob Baker (${bob.personId})` });
  expect(late.status).toBe(409);
  expect((await bob.post(`/cases/${caseId}/moves`, take(seen.text))).status).toBe(303);
  expect((await ann.get('/cases')).text).toContain('<bdi>Bob Baker</bdi>');
  const auditor = await signedInAs(world, 'auditor');
  const looked = await auditor.get(`/cases/${caseId}`);
  expect([looked.text.includes('Bob Baker'), looked.text.includes('Take it')]).toEqual([true, false]);
  // A person without an account is named as before.
  const olga = await signedIn(world, 'Olga Officer');
  const other = await open(world, 'Eve');
  expect(take((await olga.get(`/cases/${other}`)).text)).toMatchObject({ assignee: 'Olga Officer' });
});

it('lets an officer take requests in the lists, and stays there with the filter', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const ann = await signedInAs(world, 'officer', { name: 'Ann Adler' });
  const [first, second] = [await open(world, 'Ada', 3), await open(world, 'Bob', 2)];
  const list = await ann.get('/cases?kind=access&assignee=nobody');
  expect(casesIn(list.text)).toEqual([first, second].toSorted());
  expect(list.text.match(/Take it/g)).toHaveLength(2);
  // A form in each row would make a long list larger by a third.
  expect(list.text.match(/id="take-requests"/g)).toHaveLength(1);
  const { address, form } = takeFromList(list.text);
  const taken = await ann.post(address, form);
  const back = taken.headers.get('location') ?? '';
  expect([taken.status, Object.fromEntries(new URL(back, world.adminUrl).searchParams)]).toEqual([
    303,
    expect.objectContaining({ kind: 'access', assignee: 'nobody', done: 'taken' }),
  ]);
  const after = await ann.get(back);
  expect([casesIn(after.text), after.text.includes('The request is assigned to you.')]).toEqual([[second], true]);
  expect(words((await ann.get('/cases')).text)).toContain('for you');
  const today = await ann.get('/');
  const shownToday = takeFromList(today.text);
  const fromToday = await ann.post(shownToday.address, shownToday.form);
  expect([fromToday.status, fromToday.headers.get('location')]).toEqual([303, '/?done=taken']);
  expect((await ann.get('/?done=taken')).text).not.toContain('Take it');
  expect(await world.actions('case.moved')).toHaveLength(2);
  // A list on another site is not accepted as the page to return to.
  const third = await open(world, 'Eve');
  const { basedOn = '' } = takeFromList((await ann.get('/cases')).text).form;
  const strange = { move: 'assign', basedOn, assignee: 'Ann', list: '//evil.example', filter: '' };
  expect((await ann.post(`/cases/${third}/moves`, strange)).headers.get('location')).toBe('/?done=taken');
  const auditor = await signedInAs(world, 'auditor');
  await open(world, 'Zoe');
  expect((await auditor.get('/cases')).text).not.toContain('Take it');
});

it('offers the accounts that may work on the source, and takes any other name as it is', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
  const ann = await signedInAs(world, 'officer', { name: 'Ann Adler', email: 'ann@acme.example' });
  await signedInAs(world, 'officer', { name: 'Bea Bolt', sources: ['bolt'] });
  await signedInAs(world, 'auditor', { name: 'Carl Checker' });
  const caseId = await open(world, 'Ada');
  const page = await ann.get(`/cases/${caseId}`);
  const [list = ''] = /<datalist id="assign-assignee-list">[\s\S]*?<\/datalist>/.exec(page.text) ?? [];
  expect(list).toContain(`value="Ann Adler (${ann.personId})"`);
  expect(list).not.toMatch(/Bea|Carl/);
  const assignee = async () =>
    (await listCases(world.context.cases, { now: new Date().toISOString() }))[0]?.folded.assignee;
  const send = async (text: string) => {
    const version = /name="basedOn" value="(\d+)"/.exec((await ann.get(`/cases/${caseId}`)).text)?.[1] ?? '';
    await ann.post(`/cases/${caseId}/moves`, { move: 'assign', basedOn: version, assignee: text });
    return assignee();
  };
  expect(await send('ann adler')).toBe(`Ann Adler (${ann.personId})`);
  expect(await send('Legal department')).toBe('Legal department');
  expect(await send('ann@acme.example')).toBe(`Ann Adler (${ann.personId})`);
  expect(await send('Bea Bolt')).toBe('Bea Bolt');
  expect(await send('')).toBeNull();
});

it('filters by mine, nobody and a name, open and settled, also in saved views and the API', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const ann = await signedInAs(world, 'officer', { name: 'Ann Adler' });
  const [mine, theirs, free, settled] = [
    await open(world, 'Ada'),
    await open(world, 'Bob'),
    await open(world, 'Eve'),
    await open(world, 'Sam'),
  ];
  await assign(world, mine, `Ann Before-Marriage (${ann.personId})`);
  await assign(world, theirs, 'Legal "department" 50%');
  await assign(world, settled, `Ann Adler (${ann.personId})`);
  await world.context.store.foldTransaction((tx) =>
    tx.query.updateTable('cases').set({ state: 'closed' }).where('case_id', '=', settled).execute(),
  );
  const page = await ann.get('/cases');
  expect(page.text).toContain(`<option value="${ann.personId}">Mine</option>`);
  expect(page.text).toContain('<option value="nobody">Nobody</option>');
  expect(page.text).toMatch(/<option value="Legal &quot;department&quot; 50%"/);
  const listed = async (assignee: string) =>
    casesIn((await ann.get(`/cases?${new URLSearchParams({ assignee }).toString()}`)).text);
  expect(await listed('')).toEqual([mine, theirs, free, settled].toSorted());
  expect(await listed(ann.personId)).toEqual([mine, settled].toSorted());
  expect(await listed('nobody')).toEqual([free]);
  expect(await listed('Legal "department" 50%')).toEqual([theirs]);
  expect(await listed('Legal')).toEqual([]);
  expect(await listed('p-00000000')).toEqual([]);

  const kept = await ann.post('/cases/views', { name: 'My own', assignee: ann.personId });
  expect(kept.status).toBe(303);
  expect((await ann.get('/cases')).text).toContain(`assignee=${ann.personId}`);

  const caller = await tokenOf(world, 'officer', { name: 'Wanda Worker' });
  const wandas = await open(world, 'Zoe');
  await assign(world, wandas, `Wanda Worker (${caller.personId})`);
  const found = async (query: string) =>
    ((await caller.get(`/api/v1/cases?${query}`)).json.items ?? []).map(({ caseId }) => caseId).toSorted();
  expect(await found('assignee=me')).toEqual([wandas]);
  expect(await found(`assignee=${ann.personId}`)).toEqual([mine, settled].toSorted());
  expect(await found(`assignee=${ann.personId}&open=true`)).toEqual([mine]);
  expect(await found('assignee=nobody')).toEqual([free]);
  expect(await found('assignee=Legal%20%22department%22%2050%25')).toEqual([theirs]);

  const typed = async (...args: string[]) => {
    const ran = await runCli(world.folder, ['dsar', 'list', '--json', ...args]);
    return (JSON.parse(ran.stdout) as { caseId: string }[]).map(({ caseId }) => caseId).toSorted();
  };
  for (const who of [ann.personId, 'ann adler', ann.email])
    expect([who, await typed('--assignee', who)]).toEqual([who, [mine, settled].toSorted()]);
  expect(await typed('--assignee', ann.personId, '--open')).toEqual([mine]);
  expect(await typed('--assignee', 'nobody')).toEqual([free]);
  expect(await typed('--assignee', 'Legal "department" 50%')).toEqual([theirs]);
  expect(await typed('--assignee', 'Legal')).toEqual([]);
  const me = await runCli(world.folder, ['dsar', 'list', '--assignee', 'me']);
  expect([me.code, me.stderr]).toEqual([2, expect.stringContaining('The command line has no account')]);
  expect((await runCli(world.folder, ['dsar', 'list'])).stdout).toMatch(new RegExp(`${wandas} .*Wanda Worker`));
});

it('says on Today which tasks are the reader’s own', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const ann = await signedInAs(world, 'officer', { name: 'Ann Adler' });
  const bob = await signedInAs(world, 'officer', { name: 'Bob Baker' });
  const caseId = await open(world, 'Ada', 27);
  await assign(world, caseId, `Ann Adler (${ann.personId})`);
  const tasksOf = (text: string) => /id="tasks"[\s\S]*?<\/section>/.exec(text)?.[0] ?? '';
  const [hers, his] = [tasksOf((await ann.get('/')).text), tasksOf((await bob.get('/')).text)];
  expect([hers.includes(caseId), his.includes(caseId)]).toEqual([true, true]);
  expect([hers.includes('yours'), his.includes('yours')]).toEqual([true, false]);
});
