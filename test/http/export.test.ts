import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { removeOldExports } from '../../src/backup/export-file.ts';
import { temporaryFolder } from '../temporary.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

it('the export page gives admins everything as a ZIP that its enclosed program verifies, and records who took it', async () => {
  const world = await createOfficeWorld();
  for (let n = 0; n < 3; n += 1) await world.event('consent.recorded', { consent_id: `c-${n}` });
  const admin = await signedInAs(world, 'admin', { name: 'Adam Admin' });
  expect((await admin.get('/documents/export/download')).status).toBe(404);
  await admin.post('/documents/export', {});
  await expect
    .poll(async () => (await admin.get('/documents/export')).text)
    .toContain('href="/documents/export/download"');
  const zip = await admin.get('/documents/export/download');
  expect(zip.headers.get('content-disposition')).toMatch(/filename="consent-ledger-export-[0-9a-f]+-\d{8}T\d{4}\.zip"/);
  expect((await admin.get('/documents/export')).text).toContain(createHash('sha256').update(zip.bytes).digest('hex'));

  const folder = await temporaryFolder();
  const files = Object.entries(unzipSync(zip.bytes));
  const [root = ''] = (files[0]?.[0] ?? '').split('/');
  for (const [name, bytes] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['verify-export.mjs', '.'], {
    cwd: join(folder, root),
  });
  expect(stdout).toMatch(/entries|sound|✓/);
  expect((await world.actions('export.downloaded')).map(({ actor }) => actor.split(' (')[0])).toEqual(['Adam Admin']);

  const officer = await signedInAs(world, 'officer');
  expect((await officer.get('/documents/export/download')).status).toBe(403);
  expect((await officer.get('/documents')).text).not.toContain('/documents/export');
});

it('the export page keeps an export for a day', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'exports'));
  for (const name of ['old.zip', 'new.zip']) await writeFile(join(folder, 'exports', name), 'x');
  const now = new Date();
  const before = new Date(now.getTime() - 25 * 3_600_000);
  await utimes(join(folder, 'exports', 'old.zip'), before, before);
  expect(await removeOldExports(folder, now)).toBe(1);
  expect(await readdir(join(folder, 'exports'))).toEqual(['new.zip']);
  expect(await removeOldExports(join(folder, 'nowhere'), now)).toBe(0);
});
