import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { LetterStep } from '../../reports/letters/texts.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import { documentPath, registerDocument } from '../../src/documents/register.ts';
import { chooseCase } from '../../src/erasure/choose.ts';
import { carryOut } from '../../src/erasure/erase.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { createCited } from '../../src/ledger/cited.ts';
import { runCli } from '../cli/command-line.ts';
import { cli, emptyPlace, keyPair } from '../commands/backup-world.ts';
import { startMailServer } from '../outside/mail-server.ts';
import { engine, serverVariables } from '../servers/databases.ts';
import { alter } from '../tampering.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { copyReadyCases, createReadyCase, OFFICER } from './hand-over-world.ts';
import { type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

copyReadyCases();

async function createMailWorld() {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const made = await createReadyCase({ SMTP_URL: mail.url, MAIL_FROM: 'privacy@acme.example' }, { worker: true });
  const officer = await signedInAs(made.world, 'officer');
  await officer.get(`/cases/${made.caseId}`);
  return { ...made, mail, officer };
}

async function makeLetter({ context }: OfficeWorld, caseId: string, step: LetterStep) {
  const deps = { ...context.documents, cases: context.cases };
  const made = await produceLetter(deps, { caseId, step, text: null, format: 'pdf', actor: OFFICER });
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  await context.projector.projected(made.seq);
  return made;
}

function add(visitor: Visitor, caseId: string, name: string, content: Buffer | string) {
  const multipart = new FormData();
  multipart.set('file', new Blob([Buffer.from(content)]), name);
  return visitor.post(`/cases/${caseId}/attachments`, {}, { multipart });
}

const attachmentsOf = ({ context }: OfficeWorld, caseId: string) =>
  context.store.read
    .selectFrom('documents')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('name', '=', 'attachment')
    .orderBy('seq')
    .execute();

it('cuts a long name of an added file between characters and keeps its ending', async () => {
  const { world, caseId, officer } = await createMailWorld();
  expect((await add(officer, caseId, `${'\u{1f600}'.repeat(130)}.jpeg`, 'x')).status).toBe(303);
  expect((await attachmentsOf(world, caseId)).map(({ file_name }) => file_name)).toEqual([
    `${'\u{1f600}'.repeat(115)}.jpeg`,
  ]);
  expect((await officer.get(`/cases/${caseId}`)).text).toContain('1 byte)');
});

it('mails nothing to an address that somebody wrote into the read models', async () => {
  const { world, caseId, mail, officer } = await createMailWorld();
  const { context } = world;
  const letter = await makeLetter(world, caseId, 'acknowledgement');
  await alter(
    context.config.dataDir,
    `update cases set requester_email = 'mallory@evil.example' where case_id = '${caseId}'`,
  );
  expect((await officer.post(`/cases/${caseId}/letters/${letter.documentId}/mail`, {})).status).toBe(303);
  const job = async () => (await context.jobs.list({ kind: 'letter-mail' }))[0];
  await vi.waitFor(async () => expect((await job())?.finishedAt).not.toBeNull(), PATIENTLY);
  expect(await job()).toMatchObject({ state: 'failed', error: expect.stringContaining('cases (1)') as string });
  expect([mail.mails, await world.actions('document.mailed')]).toEqual([[], []]);
});

it('files an added file as a document of the case, mails it with the letter, and records what was sent', async () => {
  const { world, caseId, mail, officer } = await createMailWorld();
  const added = await add(officer, caseId, '../../Rechnung: 1.txt', 'Betrag: 12 Euro');
  expect([added.status, added.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=attachment#letters`]);
  expect((await add(officer, caseId, 'not sent.csv', 'a,b')).status).toBe(303);
  const [file, other] = await attachmentsOf(world, caseId);
  if (file === undefined || other === undefined) throw new Error('not filed');
  const name = 'Rechnung_ 1.txt';
  expect(file).toMatchObject({ file_name: name, sha256: sha256Hex(Buffer.from('Betrag: 12 Euro')), case_id: caseId });
  const letter = await makeLetter(world, caseId, 'acknowledgement');
  const page = await officer.get(`/cases/${caseId}`);
  for (const words of [name, `name="file-${file.document_id}"`, '.txt']) expect(page.text).toContain(words);

  const path = `/cases/${caseId}/letters/${letter.documentId}/mail`;
  expect((await officer.post(path, { [`file-${file.document_id}`]: 'yes' })).status).toBe(303);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  const { attachments } = mail.mails[0] ?? { attachments: {} };
  expect(Object.keys(attachments)).toHaveLength(2);
  expect(Object.entries(attachments).find(([one]) => one === name)?.[1]).toBe('Betrag: 12 Euro');
  await vi.waitFor(async () => expect(await world.actions('document.mailed')).toHaveLength(1), PATIENTLY);
  const { details } = await world.context.store.read
    .selectFrom('action_history')
    .select('details')
    .where('action', '=', 'document.mailed')
    .executeTakeFirstOrThrow();
  // Names of files may be personal data: they are in the entry of the document, which an erasure takes away.
  expect(JSON.parse(details)).toMatchObject({
    documentId: letter.documentId,
    attachments: [{ documentId: file.document_id, sha256: file.sha256, bytes: 15 }],
  });
  expect(details).not.toContain('Rechnung');
  expect((await officer.get(`/cases/${caseId}`)).text).toMatch(/sent <time[^]*?with[^]*?Rechnung_ 1\.txt/);

  const download = await officer.get(`/documents/${file.document_id}/download`);
  expect(download.headers.get('content-disposition')).toContain('Rechnung_%201.txt');
  expect(download.headers.get('content-type')).toBe('application/octet-stream');
  expect((await officer.get('/documents?name=attachment')).text).toContain(name);
});

it('records with an answer which files were sent with it, whatever the channel', async () => {
  const { world, caseId, officer, pack } = await createMailWorld();
  for (const name of ['sent.pdf', 'kept.pdf']) await add(officer, caseId, name, name);
  const [sent] = await attachmentsOf(world, caseId);
  const page = await officer.get(`/cases/${caseId}`);
  expect(page.text).toContain(`name="attachments.${sent?.sha256}"`);
  const { version } = await world.context.store.read
    .selectFrom('cases')
    .select('version')
    .where('case_id', '=', caseId)
    .executeTakeFirstOrThrow();
  const form = { move: 'answer', basedOn: String(version), channel: 'letter', disclosure: 'full' };
  const answered = await officer.post(`/cases/${caseId}/moves`, {
    ...form,
    ...{ documentSha256: pack.sha256, [`attachments.${sent?.sha256}`]: 'yes' },
  });
  expect(answered.status).toBe(303);
  const { details } = await world.context.store.read
    .selectFrom('case_history')
    .select('details')
    .where('case_id', '=', caseId)
    .where('move', '=', 'answer')
    .executeTakeFirstOrThrow();
  expect(JSON.parse(details)).toMatchObject({ attachments: [sent?.sha256] });
  expect((await officer.get(`/cases/${caseId}`)).text).toContain(`sent.pdf (${sent?.sha256})`);
});

it('attaches files over the API by the id of their document, never one of another case', async () => {
  const { world, caseId, mail, officer } = await createMailWorld();
  await add(officer, caseId, 'found.csv', 'a,b');
  const [file] = await attachmentsOf(world, caseId);
  const letter = await makeLetter(world, caseId, 'acknowledgement');
  const worker = await tokenOf(world, 'officer', { scope: 'work' });
  const path = `/api/v1/cases/${caseId}/letters/${letter.documentId}/mail`;
  const foreign = await worker.post(path, { attachments: [letter.documentId] });
  expect([foreign.status, foreign.text]).toEqual([422, expect.stringContaining('not a file of this request')]);
  expect((await worker.post(path, { attachments: [file?.document_id] })).status).toBe(202);
  await vi.waitFor(() => expect(mail.mails).toHaveLength(1), PATIENTLY);
  expect(Object.keys(mail.mails[0]?.attachments ?? {})).toContain('found.csv');
});

it('refuses no file, more than 10, and more than 20 MiB in all; none of them is the answer', async () => {
  const { world, caseId, officer } = await createMailWorld();
  const none = await officer.post(`/cases/${caseId}/attachments`, {}, { multipart: new FormData() });
  expect([none.status, none.text.includes('Choose a file.')]).toEqual([422, true]);
  const large = await add(officer, caseId, 'large.bin', Buffer.alloc(20 * 1024 * 1024 + 1));
  expect([large.status, large.text.includes('20 MiB')]).toEqual([413, true]);
  expect((await add(officer, caseId, 'half.bin', Buffer.alloc(11 * 1024 * 1024))).status).toBe(303);
  const second = await add(officer, caseId, 'other half.bin', Buffer.alloc(11 * 1024 * 1024));
  expect([second.status, second.text.includes('20 MiB')]).toEqual([422, true]);
  for (let n = 2; n <= 10; n += 1) expect((await add(officer, caseId, `${n}.txt`, `file ${n}`)).status).toBe(303);
  const eleventh = await add(officer, caseId, '11.txt', 'x');
  expect([eleventh.status, eleventh.text.includes('at most 10')]).toEqual([422, true]);
  const [file] = await attachmentsOf(world, caseId);
  const { text } = await officer.get(`/cases/${caseId}`);
  expect(text).not.toMatch(new RegExp(`<option[^>]*value="${file?.sha256}"`));
  expect((await add(await signedInAs(world, 'auditor'), caseId, 'a.txt', 'x')).status).toBe(403);
});

it('is in a backup, and verified like every other document', async () => {
  const { world, caseId, officer } = await createMailWorld();
  await add(officer, caseId, 'found.csv', 'a,b');
  const [file] = await attachmentsOf(world, caseId);
  const { recipient, file: identity } = await keyPair();
  const out = await temporaryFolder();
  const made = await runCli(world.folder, ['backup', '--out', out, '--recipient', recipient, '--json']);
  const { path } = JSON.parse(made.stdout) as { path: string };
  // On PostgreSQL the keys of the tests are variables, not files.
  const empty = await emptyPlace(engine === 'sqlite' ? world.folder : null);
  const target = { ...empty, env: { ...serverVariables(world.folder), ...empty.env } };
  expect((await cli(target, 'restore', path, '--identity', identity)).code).toBe(0);
  const name = `documents/${file?.document_id}.bin`;
  expect(await readFile(join(target.folder, name), 'utf8')).toBe('a,b');
  expect((await cli(target, 'ledger', 'verify')).code).toBe(0);
  await rm(join(target.folder, name));
  const verified = await cli(target, 'ledger', 'verify', '--json');
  expect(verified.code).toBe(3);
  expect((JSON.parse(verified.stdout) as { faults: unknown[] }).faults).toMatchObject([{ seq: file?.seq }]);
});

it('is in a backup and an export whatever its ending, as is a document of a later version with another format', async () => {
  const { world, caseId, officer } = await createMailWorld();
  for (const name of ['all.tar.gz', 'call.mp3', 'signed.P7M']) await add(officer, caseId, name, name);
  const { documents } = world.context;
  const content = (text: string) =>
    (async function* () {
      yield Buffer.from(text);
    })();
  for (const format of ['tar.gz', 'mp3', 'P7M']) {
    const facts = { name: 'later', format, asOf: 1, caseId, parameters: {}, actor: OFFICER, reference: 'later' };
    await registerDocument(documents, 'default', facts, createCited(1), content(format));
  }
  await world.context.projector.catchUp();
  const kept = await readdir(documents.folder);
  expect(kept.filter((name) => /\.(bin|tar\.gz|mp3|P7M)$/.test(name))).toHaveLength(6);
  const { recipient, file: identity } = await keyPair();
  const out = await temporaryFolder();
  const made = await runCli(world.folder, ['backup', '--out', out, '--recipient', recipient, '--json']);
  const { path, faults } = JSON.parse(made.stdout) as { path: string; faults: string[] };
  expect(faults).toEqual([]);
  const empty = await emptyPlace(engine === 'sqlite' ? world.folder : null);
  const target = { ...empty, env: { ...serverVariables(world.folder), ...empty.env } };
  expect((await cli(target, 'restore', path, '--identity', identity)).code).toBe(0);
  expect((await readdir(join(target.folder, 'documents'))).sort()).toEqual([...kept].sort());
  const exported = join(out, 'export');
  expect((await runCli(world.folder, ['export', '--out', exported])).code).toBe(0);
  expect((await readdir(join(exported, 'documents'))).sort()).toEqual([...kept].sort());
  const [gone = ''] = kept.filter((name) => name.endsWith('.P7M'));
  await rm(join(exported, 'documents', gone));
  const checked = spawnSync(process.execPath, [join(exported, 'verify-export.mjs'), exported], { encoding: 'utf8' });
  expect(checked.status).toBe(3);
  expect(checked.stdout).toContain(`✗ documents/${gone}, to which an entry refers, is missing\n`);
});

it('is erased with the case, and its name with it', async () => {
  const { world, caseId, officer, mail } = await createMailWorld();
  const { context } = world;
  await add(officer, caseId, 'Anna Schmidt.txt', 'about Anna');
  const [file] = await attachmentsOf(world, caseId);
  if (file === undefined) throw new Error('not filed');
  const path = documentPath(context.documents.folder, { documentId: file.document_id, format: file.format });
  expect(await readFile(path, 'utf8')).toBe('about Anna');
  const chosen = await chooseCase(context.erasure, caseId);
  if (chosen.outcome !== 'chosen') throw new Error(JSON.stringify(chosen));
  const plan = await planErasure(context.erasure, chosen.chosen);
  const erased = await carryOut(context.erasure, plan, {
    ...{ officer: 'Ada', confirmedBy: null, reason: 'mistake', law: 'eu-gdpr' },
    despite: plan.needs.map(({ name }) => name),
  });
  expect(erased.outcome).toBe('erased');
  await expect(readFile(path)).rejects.toThrow('ENOENT');
  const entry = await context.store.read
    .selectFrom('entries')
    .select('body')
    .where('seq', '=', file.seq)
    .executeTakeFirstOrThrow();
  expect(entry.body).toBeNull();
  await context.projector.catchUp();
  expect((await officer.get('/documents?name=attachment')).text).not.toContain('Anna Schmidt');
  expect(mail.mails).toEqual([]);
});
