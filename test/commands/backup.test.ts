import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { shareTask, taskLink } from '../../src/hand-over/task-link.ts';
import { lastSeq } from '../../src/store/queries/fold-position.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { tokenOf } from '../http/api-caller.ts';
import { handOver, makeMoves, makeReadyCaseIn, OFFICER, PUBLIC_URL } from '../http/hand-over-world.ts';
import { createOfficeWorld, signedInAs } from '../http/office-world.ts';
import { seedRequests } from '../http/pages/seed.ts';
import { serveAuthority } from '../ledger/time-stamping-authority.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { createDatabase, engine } from '../servers/databases.ts';
import { cliPath, deliver, environment, serveHere, startServing } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { backUp, cli, emptyPlace, fill, keyPair, opened, type Place, picture, restore } from './backup-world.ts';

test('`restore` reads a backup made while the server ran on either database, and continues in a new epoch', async () => {
  const home = await emptyPlace();
  await writeFile(join(home.folder, 'controller.yaml'), 'name: Acme GmbH\nsecondPersonFor: [refuse]\n');
  await mkdir(join(home.folder, 'profiles'));
  await writeFile(join(home.folder, 'profiles/bolt-1.yaml'), 'name: Bolt AG\n');
  const world = await createOfficeWorld(home.env, { worker: false });
  const { access } = await seedRequests(world);
  await world.event('dsar.submitted', { request_id: 'r-9', type: 'access', email: 'again@example.org' });
  await world.event('dsar.submitted', { request_id: 'r-9', type: 'access', email: 'again@example.org' });
  await world.link();
  const job = await world.context.jobs.enqueue({ kind: 'snapshot-all', payload: null });
  expect((await cli(home, 'dsar', 'pack', `default-${access}`, '--json')).code).toBe(0);
  await world.context.seal();
  const { sources } = world.context;
  await sources.add({ slug: 'bolt', options: { controllerFile: 'profiles/bolt-1.yaml' } }, 'test');
  const before = await picture(world.context);
  const oldKey = world.context.verifierKey;
  const { recipient, file } = await keyPair();
  const made = await backUp(home, recipient);
  expect(made).toMatchObject({ faults: [], sealed: made.seq, entry: made.seq + 1 });
  expect(made.files).toBeGreaterThan(2);

  // From PostgreSQL to SQLite and back; on SQLite alone the second round begins a third epoch.
  const first = await emptyPlace(home.folder, 'sqlite');
  expect(await restore(first, made.path, file)).toMatchObject({ epoch: 2, first: made.seq + 1, lost: null });
  const again = await backUp(first, recipient);
  const target = await emptyPlace(home.folder);
  expect(await restore(target, again.path, file)).toMatchObject({ epoch: 3, first: made.seq + 2 });

  const context = await opened(target);
  const after = await picture(context);
  expect(after.state.cases).toEqual(before.state.cases);
  expect(after.state).toEqual(before.state);
  expect(after).toMatchObject({ jobs: [], sessions: [] });
  expect(await context.jobs.find(job.id)).toMatchObject({
    state: 'cancelled',
    error: expect.stringContaining('restored') as string,
  });
  expect(await context.loadProfile(null)).toMatchObject({ name: 'Acme GmbH', secondPersonFor: ['refuse'] });
  expect(await context.loadProfile(context.sources.find('bolt'))).toMatchObject({ name: 'Bolt AG' });
  expect(await context.verify()).toMatchObject({
    faults: [],
    restored: [
      { epoch: 2, first: made.seq + 1, lost: 0 },
      { epoch: 3, first: made.seq + 2, lost: 0 },
    ],
  });
  expect(context.verifierKey.split('+')[0]).toBe(`consent-ledger/${context.instance}/3`);
  expect(await readFile(join(target.folder, 'log.vkey'), 'utf8')).toBe(`${context.verifierKey}\n`);
  await context.close();
  expect(JSON.parse((await cli(target, 'ledger', 'rebuild', '--check', '--json')).stdout)).toMatchObject({
    differences: [],
  });

  // A proof of an entry of the first epoch, for a holder of the first key and an old checkpoint.
  const [document] = before.state.documents;
  expect(document).toBeDefined();
  const oldPack = join(home.folder, 'documents', `${document?.document_id}.zip`);
  expect((await cli(target, 'ledger', 'prove', String(document?.seq))).stdout).toContain(`/3\n`);
  expect((await cli(target, 'document', 'check', oldPack)).code).toBe(0);
  for (const key of [oldKey, join(target.folder, 'log.vkey')]) {
    const verified = await cli(target, 'ledger', 'verify', '--public', '--key', key, '--checkpoint', oldPack, '--json');
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [], restored: [{ epoch: 2 }, { epoch: 3 }] });
  }
  expect((await cli(target, 'ledger', 'consistency', oldPack)).code).toBe(0);

  const serving = await serveHere(target.folder, target.env);
  const next = await deliver(serving.url, '{"event":"policy.updated","policy_id":"p1"}');
  expect(next).toMatchObject({ status: 200, body: { status: 'stored' } });
  const repeat = JSON.stringify({
    event: 'dsar.submitted',
    data: { request_id: 'r-9', type: 'access', email: 'again@example.org' },
  });
  expect((await deliver(serving.url, repeat)).body.status).toBe('duplicate');
  await serving.stop();
  expect((await cli(target, 'ledger', 'verify')).code).toBe(0);
});

test('`restore` and `store copy` find what witnesses signed, with and without WITNESSES', async () => {
  const home = await emptyPlace();
  const policy = join(await temporaryFolder(), 'policy');
  const share = await temporaryFolder();
  const witnessed = { ...home, env: { ...home.env, WITNESSES: policy } };
  const begun = await opened(witnessed);
  await fill(begun, 3);
  const authority = await serveAuthority();
  const lines = [
    `witness other ${await startWitness('witness.example/1', begun.verifierKey)}`,
    `timestamp tsa ${authority.caFile} ${authority.url}`,
    `directory share ${share}`,
    'group all-of all other tsa share',
    'quorum all-of',
  ];
  await begun.close();
  await writeFile(policy, `${lines.join('\n')}\n`);
  expect((await cli(witnessed, 'ledger', 'witness')).code).toBe(0);
  const { recipient, file } = await keyPair();
  const made = await backUp(witnessed, recipient);
  // The copies elsewhere then go further than the backup.
  const later = await opened(witnessed);
  await fill(later, 2, 3);
  expect(await later.witness()).toMatchObject({ quorum: true });
  await later.close();

  for (const env of [{}, { WITNESSES: policy }]) {
    const place = await emptyPlace(home.folder);
    const target = { ...place, env: { ...place.env, ...env } };
    expect(await restore(target, made.path, file)).toMatchObject({ verification: { faults: [] } });
    const verified = await cli(target, 'ledger', 'verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({
      faults: [],
      ...('WITNESSES' in env ? { cosignatures: 1, timestamps: 1 } : {}),
    });
    expect(verified.code).toBe(0);
    // And the restored one again, which is in a later epoch than its witnesses saw.
    const again = await backUp(target, recipient);
    expect(await restore(await emptyPlace(home.folder), again.path, file)).toMatchObject({ epoch: 3 });
  }
  const to = engine === 'postgres' ? await createDatabase() : `sqlite:${await temporaryFolder()}/copy.sqlite`;
  const copied = await cli(witnessed, 'store', 'copy', '--to', to, '--retire', '--json');
  expect(JSON.parse(copied.stdout)).toMatchObject({ retired: true, verification: { faults: [], cosignatures: 2 } });
  expect((await cli({ ...witnessed, env: { ...witnessed.env, DATABASE_URL: to } }, 'ledger', 'verify')).code).toBe(0);
});

test('accounts of a restored backup are disabled until an owner confirms them, however it is restored', async () => {
  const home = await emptyPlace();
  const world = await createOfficeWorld(home.env, { worker: false });
  const olga = await signedInAs(world, 'owner', { email: 'olga@acme.example' });
  const left = await signedInAs(world, 'officer', { email: 'left@acme.example' });
  await signedInAs(world, 'auditor', { email: 'amal@acme.example' });
  const { recipient, file } = await keyPair();
  const made = await backUp(home, recipient);
  expect((await cli(home, 'people', 'disable', 'left@acme.example')).code).toBe(0);

  const target = await emptyPlace(home.folder);
  const nobody = await cli(target, 'restore', made.path, '--identity', file, '--owner', 'left@acme.example');
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining("is not an owner's account") as string });
  const restored = await cli(target, 'restore', made.path, '--identity', file, '--owner', 'Olga@acme.example');
  expect(restored.stdout).toContain('2 accounts disabled until confirmed');
  const states = async () => {
    const { stdout } = await cli(target, 'people', 'list', '--json');
    return (JSON.parse(stdout) as { people: { email: string; disabledAt: string | null }[] }).people
      .filter(({ disabledAt }) => disabledAt === null)
      .map(({ email }) => email)
      .sort();
  };
  expect(await states()).toEqual([olga.email]);
  const opening = await createOfficeWorld(target.env, { worker: false });
  const owner = await signedInAs(opening, 'owner', { name: 'New Owner' });
  const page = await owner.get('/people');
  expect(page.text).toContain('Until you confirm them');
  await owner.post(`/people/${left.personId}/access`, { access: 'enable' });
  await cli(target, 'people', 'disable', 'left@acme.example');
  // One that was confirmed, and disabled on purpose afterwards, is not among those held.
  expect((await cli(target, 'people', 'enable', '--held')).stdout).toContain('amal@acme.example');
  expect(await states()).toEqual(['amal@acme.example', olga.email, owner.email].sort());
  await opening.context.projector.catchUp();
  expect((await owner.get('/people')).text).not.toContain('Until you confirm them');
  expect((await cli(target, 'people', 'enable')).code).toBe(2);

  // The same for a database restored by other means, which lacks the last entry.
  await cli(target, 'consent', 'show', 'visitor-1');
  await opening.context.seal();
  await opening.context.store.transaction(async ({ query }) => {
    const end = await lastSeq(query);
    await query.deleteFrom('entries').where('seq', '>=', end).execute();
    await query.deleteFrom('checkpoints').where('size', '>=', end).execute();
  });
  const accepted = await cli(target, 'restore', '--database-as-it-is', '--json');
  expect(accepted).toMatchObject({ code: 0 });
  const { held } = JSON.parse(accepted.stdout) as { held: string[] };
  expect(held.toSorted()).toEqual(['amal@acme.example', owner.email, olga.email].toSorted());
  expect(await states()).toEqual([]);
});

test('a file that a witness signed and the backup lacks is found missing by `restore`', async () => {
  const home = await emptyPlace();
  const policy = join(await temporaryFolder(), 'policy');
  const witnessed = { ...home, env: { ...home.env, WITNESSES: policy } };
  const authority = await serveAuthority();
  await writeFile(policy, `timestamp tsa ${authority.caFile} ${authority.url}\nquorum tsa\n`);
  const context = await opened(home);
  await fill(context, 3);
  await context.close();
  expect((await cli(witnessed, 'ledger', 'witness')).code).toBe(0);
  await rm(join(home.folder, 'witnessed'), { recursive: true });
  const { recipient, file } = await keyPair();
  const made = await backUp(witnessed, recipient);
  const refused = await cli(await emptyPlace(home.folder), 'restore', made.path, '--identity', file);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('what tsa signed is missing');
});

test('`backup` stores one moment while deliveries arrive', async () => {
  const home = await emptyPlace();
  const serving = await startServing(home.folder, home.env);
  let sent = 0;
  let stopped = false;
  const sending = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!stopped) {
        sent += 1;
        expect((await deliver(serving.url, `{"event":"policy.updated","policy_id":"p${sent}"}`)).status).toBe(200);
      }
    }),
  );
  const { recipient, file } = await keyPair();
  await vi.waitFor(() => expect(sent).toBeGreaterThan(100), PATIENTLY);
  const made = await backUp(home, recipient);
  stopped = true;
  await sending;
  expect(await serving.stop()).toBe(0);
  const source = await opened(home);
  expect(await lastSeq(source.store.read)).toBeGreaterThan(made.seq);
  await source.close();

  const target = await emptyPlace(home.folder);
  const { first, lost } = await restore(target, made.path, file, '--journal', join(home.folder, 'journal'));
  expect(first).toBe(made.seq + 1);
  // The server sealed everything when it stopped.
  expect(lost).toBeGreaterThan(0);
  expect(JSON.parse((await cli(target, 'ledger', 'verify', '--json')).stdout)).toMatchObject({
    faults: [],
    restored: [{ lost }],
  });
  // A checkpoint over lost entries was handed out: its holder gets a warning, not a confirmation.
  const newest = (
    await readFile(join(home.folder, 'journal', `${new Date().toISOString().slice(0, 10)}.notes`), 'utf8')
  ).trimEnd();
  const kept = join(await temporaryFolder(), 'kept.note');
  await writeFile(kept, `${newest.slice(newest.lastIndexOf('consent-ledger/', newest.lastIndexOf('— ') - 100))}\n`);
  const checked = await cli(
    target,
    'ledger',
    'verify',
    '--public',
    '--key',
    join(home.folder, 'log.vkey'),
    '--checkpoint',
    kept,
    '--json',
  );
  expect(checked.code).toBe(3);
  expect(JSON.parse(checked.stdout)).toMatchObject({
    faults: [
      { seq: first, fault: 'truncated', sentence: expect.stringContaining('an older backup was restored') as string },
    ],
  });
});

test('a killed backup leaves no file, and an interrupted restore begins again', async () => {
  const home = await emptyPlace();
  const context = await opened(home);
  await fill(context, 8000);
  await context.close();
  const { recipient, file } = await keyPair();
  const out = await temporaryFolder();
  const kill = async (place: Place, args: string[], when: RegExp) => {
    const child = spawn(process.execPath, [cliPath, ...args], {
      env: environment(place.folder, place.env),
      stdio: 'pipe',
    });
    const exited = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      if (when.test(said)) child.kill('SIGKILL');
    });
    expect(await exited).toEqual([null, 'SIGKILL']);
  };
  await kill(home, ['backup', '--out', out, '--recipient', recipient], /entries written/);
  const left = await readdir(out);
  expect(left).toHaveLength(1);
  expect(left[0]).toMatch(/\.age\.[0-9a-f]{8}\.part$/);

  const made = await backUp(home, recipient);
  expect(made.seq).toBe(8000);
  const target = await emptyPlace(home.folder);
  await kill(target, ['restore', made.path, '--identity', file], /entries verified/);
  const early = await cli(target, 'ledger', 'verify');
  expect(early).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run `consent-ledger restore` again') as string,
  });
  expect(await restore(target, made.path, file)).toMatchObject({ first: 8001 });
  expect((await cli(target, 'ledger', 'verify')).code).toBe(0);
});

test('a database that was restored by other means is accepted once, and the command says how much is lost', async () => {
  const home = await emptyPlace();
  const context = await opened(home);
  await fill(context, 20);
  await context.seal();
  await fill(context, 10, 20);
  await context.seal();
  await context.store.transaction(async ({ query }) => {
    await query.deleteFrom('entries').where('seq', '>', 22).execute();
    await query.deleteFrom('checkpoints').where('size', '>', 22).execute();
  });
  await context.close();
  expect((await cli(home, 'ledger', 'verify')).code).toBe(3);
  const accepted = await cli(home, 'restore', '--database-as-it-is', '--json');
  expect(accepted.code).toBe(0);
  expect(JSON.parse(accepted.stdout)).toMatchObject({ epoch: 2, first: 23, lost: 8 });
  expect(JSON.parse((await cli(home, 'ledger', 'verify', '--json')).stdout)).toMatchObject({
    faults: [],
    entries: 23,
    restored: [{ epoch: 2, first: 23, lost: 8 }],
  });
  const again = await cli(home, 'restore', '--database-as-it-is');
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to accept') as string });
  const serving = await serveHere(home.folder, home.env);
  expect((await deliver(serving.url, '{"event":"scan","nth":"new"}')).body.status).toBe('stored');
  await serving.stop();
  expect((await cli(home, 'ledger', 'verify')).code).toBe(0);
});

test('`restore` repeats erasures made after the backup before anyone can open the restored installation', async () => {
  const home = await emptyPlace();
  const context = await opened(home);
  await fill(context, 5);
  await context.close();
  const { recipient, file } = await keyPair();
  const before = await backUp(home, recipient);
  const args = ['--yes', '--reason', 'request', '--law', 'eu-gdpr', '--officer', 'Olga', '--json'];
  expect(await cli(home, 'ledger', 'erase', '3', ...args)).toMatchObject({ code: 0 });
  const after = await backUp(home, recipient);
  for (const [path, flags, again] of [
    [before.path, ['--erasures', join(home.folder, 'erasures')], 1],
    [after.path, [], 0],
  ] as const) {
    const target = await emptyPlace(home.folder);
    expect(await restore(target, path, file, ...flags)).toMatchObject({
      erasedAgain: { erasures: again, problems: [] },
    });
    const verified = await cli(target, 'ledger', 'verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [], erased: 1 });
    if (engine === 'sqlite')
      expect(await readFile(join(target.folder, 'ledger.sqlite'), 'latin1')).not.toContain('"nth":2,');
  }
});

test('the page of a restored request says which links the restore ended, and a task is mailed with a new one', async () => {
  const home = await emptyPlace();
  const lost = await createOfficeWorld({ ...home.env, PUBLIC_URL }, { worker: false });
  const { caseId } = await makeReadyCaseIn(lost);
  await makeMoves(lost, caseId, [
    ['add-task', { what: 'Delete the customer in the shop', due: '2030-01-01', ownerEmail: 'sam@example.org' }],
    ['add-task', { what: 'Look in the archive', due: '2030-01-01' }],
  ]);
  const asOfficer = { actor: OFFICER, publicUrl: PUBLIC_URL };
  const before = await shareTask(lost.context, { caseId, task: '1', ...asOfficer });
  if (before.outcome !== 'shared') throw new Error(JSON.stringify(before));
  const { handOver: made } = await handOver(lost, caseId);
  const { recipient, file } = await keyPair();
  const backup = await backUp(home, recipient);
  const target = await emptyPlace(home.folder);
  await restore(target, backup.path, file);

  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const sent = { PUBLIC_URL, SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' };
  const world = await createOfficeWorld({ ...target.env, ...sent }, { worker: false });
  const { context } = world;
  const officer = await signedInAs(world, 'officer');
  const page = async () =>
    (await officer.get(`/cases/${caseId}`)).text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
  const ENDED = 'The link no longer works: a backup was restored';
  const first = await page();
  expect(first.split(ENDED)).toHaveLength(2);
  expect(first).not.toContain(`${PUBLIC_URL}/t/`);
  expect(first).toContain(`${made.hand_over_id}, created`);
  expect(first).toContain('which ends every link given out before.');
  const api = async () =>
    (await (await tokenOf(world, 'officer')).get(`/api/v1/cases/${caseId}`)).json['tasks'] as { linkUntil: unknown }[];
  expect((await api()).map(({ linkUntil }) => linkUntil)).toEqual([null, null]);
  const opened = (link: string) => fetch(world.url + link.slice(PUBLIC_URL.length)).then(({ status }) => status);
  expect(await opened(before.link)).toBe(404);
  // Nor does the link that the secret of the new epoch would give.
  expect(await opened(taskLink(context, PUBLIC_URL, { caseId, number: '1', links: 1 }))).toBe(404);

  const worker = await startWorker(context);
  onTestFinished(() => worker.stop());
  expect((await officer.post(`/cases/${caseId}/tasks/mail`, { task: '1' })).status).toBe(303);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  const [link = ''] = /https:\S+\/t\/\S+/.exec(mail.mails[0]?.text ?? '') ?? [];
  expect(await opened(link)).toBe(200);
  await vi.waitFor(async () => expect(await page()).not.toContain(ENDED), PATIENTLY);
  expect(await page()).toContain(link);
});
