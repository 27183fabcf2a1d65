import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { carryOut } from '../../src/erasure/erase.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { runCli } from '../cli/command-line.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file, without a worker: it is sealed only where a test says so. */
let world: OfficeWorld;
let auditor: Visitor;
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  auditor = await signedInAs(world, 'auditor');
});

const run = promisify(execFile);
const event = (id: string) => world.event('consent.recorded', { consent_id: id, visitor_hash: `visitor-${id}` });

/** Unpacks a ZIP and checks it with the program inside; resolves with what it says, and with its exit code. */
async function verifyZip(zip: Buffer) {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(unzipSync(zip))) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const args = [join(folder, 'verify.mjs'), folder, '--key', world.context.verifierKey];
  return run(process.execPath, args).then(({ stdout }) => stdout);
}

it('says on the page of an entry when it will be sealed, and offers no proof until then', async () => {
  const seq = await event('unsealed');
  const page = await auditor.get(`/entries/${seq}`);
  expect(page.text).toContain('Not sealed yet');
  expect(page.text).toContain('every five minutes');
  expect(page.text).not.toContain(`/entries/${seq}/proof`);
  expect(page.text).not.toContain('Make a checkpoint now');
  expect((await (await signedInAs(world, 'officer')).get(`/entries/${seq}`)).text).toContain('Make a checkpoint now');
  for (const path of ['proof', 'tlog-proof']) {
    const early = await auditor.get(`/entries/${seq}/${path}`);
    expect([early.status, early.text.includes('not sealed yet')]).toEqual([409, true]);
  }
  const reader = await tokenOf(world, 'auditor');
  const early = await reader.get(`/api/v1/entries/${seq}/proof`);
  expect([early.status, early.json['code']]).toEqual([409, 'conflict']);
  await world.context.seal();
  expect((await auditor.get(`/entries/${seq}`)).text).toContain(`href="/entries/${seq}/proof"`);
});

it('gives an auditor the files that `ledger prove` writes, byte for byte, and records it', async () => {
  const seq = await event('proven');
  await auditor.get(`/entries/${seq}`);
  const reader = await tokenOf(world, 'auditor');
  await reader.get(`/api/v1/entries/${seq}`);
  // The command seals everything, so that what follows is under the same checkpoint.
  const out = join(await temporaryFolder(), 'out');
  const written = await runCli(world.folder, ['ledger', 'prove', String(seq), '--out', out, '--json']);
  expect(written.stderr).toBe('');
  const { files, ...told } = JSON.parse(written.stdout) as {
    files: string[];
    verifierKey: string;
    entries: Record<string, unknown>[];
  };
  const zip = await auditor.get(`/entries/${seq}/proof`);
  expect(zip.headers.get('content-type')).toBe('application/zip');
  expect(zip.headers.get('content-disposition')).toContain(`proof_${seq}.zip`);
  const members = Object.entries(unzipSync(zip.bytes));
  expect(members.map(([name]) => join(out, name))).toEqual(files);
  for (const [name, content] of members)
    expect([name, Buffer.from(content).equals(await readFile(join(out, name)))]).toEqual([name, true]);
  expect(await verifyZip(zip.bytes)).toMatch(new RegExp(`✓ Entry ${seq}: webhook of default, .*: unchanged since`));

  const bare = await auditor.get(`/entries/${seq}/tlog-proof`);
  expect(bare.headers.get('content-disposition')).toContain(`"${seq}.tlog-proof"`);
  const printed = await runCli(world.folder, ['ledger', 'prove', String(seq), '--no-content']);
  expect(bare.text).toBe(printed.stdout);

  const [entry] = told.entries;
  const answer = await reader.get(`/api/v1/entries/${seq}/proof`);
  expect(answer.json).toEqual({ verifierKey: told.verifierKey, ...entry });
  const withheld = await reader.get(`/api/v1/entries/${seq}/proof?content=false`);
  expect(withheld.json).toMatchObject({ tlogProof: printed.stdout, metaBase64: null, bodyBase64: null });
  const looks = await world.actions('record.viewed');
  expect(looks.filter(({ object }) => object === `entry ${seq}`)).toHaveLength(2);
});

it('still proves the place of an erased entry', async () => {
  const seq = await event('erased');
  const { erasure } = world.context;
  const plan = await planErasure(erasure, { by: 'entries', seqs: [seq] });
  const erased = await carryOut(erasure, plan, {
    ...{ officer: 'Ada', confirmedBy: null, reason: 'mistake', law: 'eu-gdpr', despite: [] },
  });
  expect(erased.outcome).toBe('erased');
  await world.context.seal();
  const zip = await auditor.get(`/entries/${seq}/proof`);
  expect(Object.keys(unzipSync(zip.bytes)).filter((name) => name.startsWith('proofs/'))).toEqual([
    `proofs/${seq}.tlog-proof`,
  ]);
  expect(await verifyZip(zip.bytes)).toMatch(new RegExp(`✓ Entry ${seq}: .*place and time unchanged`));
  expect((await auditor.get(`/entries/${seq}`)).text).toContain(`href="/entries/${seq}/proof"`);
});

it('never encloses the bytes of a call, which may contain credentials', async () => {
  const { ledger } = world.context;
  const body = Buffer.from('{"apiKey":"secret-of-the-call"}');
  const [appended] = await ledger.append([
    {
      source: 'default',
      kind: 'call',
      dedupeKey: ledger.keyOf(body),
      receivedAt: new Date().toISOString(),
      meta: Buffer.from('{}'),
      body,
    },
  ]);
  await world.context.seal();
  const seq = appended?.seq ?? 0;
  const zip = await auditor.get(`/entries/${seq}/proof`);
  expect(Object.keys(unzipSync(zip.bytes))).not.toContain(`proofs/${seq}.body`);
  expect(await verifyZip(zip.bytes)).toContain('place and time unchanged');
  const answer = await (await tokenOf(world, 'auditor')).get(`/api/v1/entries/${seq}/proof`);
  expect(answer.json).toMatchObject({ bodyBase64: null, metaBase64: null });
});

it('leads from Evidence to an entry by its number, and says if it is not a number', async () => {
  const { text } = await auditor.get('/evidence');
  expect(text).toContain('Proof of an entry');
  expect((await auditor.get('/evidence?entry=1')).headers.get('location')).toBe('/entries/1#proof');
  const none = await auditor.get('/evidence?entry=twelve');
  expect([none.status, none.text.includes('Enter the number of an entry.')]).toEqual([422, true]);
  for (const path of ['/entries/999999/proof', '/entries/999999/tlog-proof', '/entries/x/proof'])
    expect([path, (await auditor.get(path)).status]).toEqual([path, 404]);
});

it('refuses the proof of an altered entry', async () => {
  const seq = await event('altered');
  await world.context.seal();
  await alter(world.folder, `update entries set body = ${bytes('x')} where seq = ${seq}`);
  const page = await auditor.get(`/entries/${seq}/proof`);
  expect([page.status, page.text.includes('its body is not what was appended')]).toEqual([409, true]);
});
