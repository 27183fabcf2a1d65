import { createHash } from 'node:crypto';
import { appendFile, readFile, rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { documentPath } from '../../src/documents/register.ts';
import { attachment } from '../../src/http/pages/parts/attachment.ts';
import { alter } from '../tampering.ts';
import { createOfficeWorld, type OfficeWorld, signedIn, signedInAs, type Visitor } from './office-world.ts';

const september = { name: 'consent-audit', source: 'default', from: '2026-09-01', to: '2026-09-30', format: 'csv' };

async function madeReport(world: OfficeWorld, visitor: Visitor, form: Record<string, string> = september) {
  await visitor.get('/');
  const page = await visitor.post('/reports', form);
  expect([page.status, page.headers.get('location')]).toEqual([303, '/?done=report']);
  await expect
    .poll(() => world.context.store.read.selectFrom('documents').select('document_id').executeTakeFirst())
    .toBeDefined();
  return world.context.store.read.selectFrom('documents').selectAll().orderBy('seq', 'desc').executeTakeFirstOrThrow();
}

describe('a report requested by an officer', () => {
  it('is made, listed and downloaded byte for byte, and each download is an entry', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world, 'Olga');
    await world.event('consent.recorded', {
      consent_id: 'c-1',
      banner_id: 'b',
      visitor_hash: 'v',
      consent: { analytics: true },
    });
    const made = await madeReport(world, olga);
    expect(made).toMatchObject({ name: 'consent-audit', format: 'csv', actor: 'Olga', downloads: 0 });
    // The form's last day is included; the report's end is not.
    expect(JSON.parse(made.parameters)).toMatchObject({ from: '2026-09-01', to: '2026-10-01' });
    const today = await olga.get('/?done=report');
    expect(today.text).toContain('1 September 2026 to 30 September 2026');
    expect(today.text).toContain(made.sha256.slice(0, 12));

    const file = await olga.get(`/documents/${made.document_id}/download`);
    expect(file.status).toBe(200);
    expect(createHash('sha256').update(file.bytes).digest('hex')).toBe(made.sha256);
    expect(file.headers.get('content-disposition')).toContain(
      'attachment; filename="consent-audit_Default_2026-09.csv"',
    );
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    expect(file.headers.get('content-type')).toContain('text/csv');
    expect(file.headers.get('cache-control')).toBe('no-store');
    await olga.get(`/documents/${made.document_id}/download`);
    expect(await world.actions('document.downloaded')).toEqual(
      [1, 2].map(() => ({ actor: 'Olga', object: made.document_id })),
    );
    expect((await olga.get('/')).text).toMatch(/data-label="Downloads"[^>]*>2</);
  });

  it('is not sent if its file is altered or missing, and no download is recorded', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const made = await madeReport(world, olga);
    const path = documentPath(world.context.documents.folder, { documentId: made.document_id, format: made.format });
    await appendFile(path, ' ');
    const altered = await olga.get(`/documents/${made.document_id}/download`);
    expect([altered.status, altered.headers.get('content-disposition')]).toEqual([409, null]);
    expect(altered.text).toContain('differs from the registered one');
    const sha256 = sha256Hex(await readFile(path));
    await alter(world.context.config.dataDir, `update documents set sha256 = '${sha256}'`);
    const forged = await olga.get(`/documents/${made.document_id}/download`);
    expect([forged.status, forged.headers.get('content-disposition')]).toEqual([409, null]);
    expect(forged.text).toContain('registers no document with these bytes');
    await alter(world.context.config.dataDir, `update documents set sha256 = '${made.sha256}'`);
    await rm(path);
    const gone = await olga.get(`/documents/${made.document_id}/download`);
    expect(gone.status).toBe(404);
    expect(gone.text).not.toContain(world.context.documents.folder);
    expect(await world.actions('document.downloaded')).toEqual([]);
  });

  it('does not count a download for HEAD, unknown ids and paths outside the folder', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const made = await madeReport(world, olga);
    const cookie = [...olga.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const head = await fetch(`${world.adminUrl}/documents/${made.document_id}/download`, {
      method: 'HEAD',
      headers: { cookie },
    });
    expect(head.status).toBe(404);
    for (const id of ['0000000000000000', '..%2F..%2Fledger', '%2e%2e', `${made.document_id}.csv`]) {
      expect((await olga.get(`/documents/${id}/download`)).status).toBe(404);
    }
    expect(await world.actions('document.downloaded')).toEqual([]);
  });

  it('is refused with the reason if the form is invalid, keeping the input', async () => {
    const world = await createOfficeWorld();
    const olga = await signedIn(world);
    const wrong = [
      [{ name: 'nothing' }, 'Unknown report'],
      [{ source: 'elsewhere' }, 'Unknown source'],
      [{ format: 'docx' }, 'not available as DOCX'],
      [{ from: '2026-02-30' }, 'February 2026 has 28 days.'],
      [{ from: '2026-10-02' }, 'before the first day'],
      [{ to: '' }, ': use YYYY-MM-DD.'],
    ] as const;
    for (const [change, words] of wrong) {
      await olga.get('/');
      const page = await olga.post('/reports', { ...september, ...change });
      expect([page.status, page.text.includes(words)]).toEqual([422, true]);
    }
    const page = await olga.post('/reports', { ...september, to: '2026-08-01' });
    expect(page.text).toContain('value="2026-09-01"');
    expect(await world.context.jobs.list({ kind: 'document' })).toEqual([]);
  });

  it('is requested once however often the button is pressed', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    const pages = await Promise.all([1, 2, 3].map(() => olga.post('/reports', september)));
    expect(pages.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await world.context.jobs.list({ kind: 'document' })).length).toBe(1);
    expect((await olga.get('/')).text).toContain('waiting');
  });
});

describe('a sync requested by an officer', () => {
  it('is one job per source, and shows what went wrong', async () => {
    const world = await createOfficeWorld(
      { SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1', SERVICE_API_KEY: 'pak_live_x' },
      { worker: false },
    );
    const olga = await signedIn(world, 'Olga');
    await olga.post('/sync', { source: 'default' });
    await olga.post('/sync', { source: 'default' });
    expect((await olga.post('/sync', { source: 'elsewhere' })).status).toBe(422);
    const jobs = await world.context.jobs.list({ kind: 'sync' });
    expect(jobs.map(({ key, payload }) => [key, payload])).toEqual([['default', { source: 'default', actor: 'Olga' }]]);
  });
});

describe('the name of a downloaded file', () => {
  it('has no quotes, line breaks or foreign letters in the header', () => {
    expect(attachment('audit-1.pdf')).toBe(`attachment; filename="audit-1.pdf"; filename*=UTF-8''audit-1.pdf`);
    const header = attachment('a"\r\nSet-Cookie: x=1;\u202E ü(1)\uD800.pdf');
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(header).not.toMatch(/[\r\n]|filename="[^"]*"[^;]/);
  });
});

it('a document can be downloaded as soon as its job is done', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const visitor = await signedInAs(world, 'officer', { sources: ['default'] });
  const wanted = { name: 'delivery-log', source: 'default', from: '2026-09-01', to: '2026-09-30', actor: 'test' };
  const statuses: number[] = [];
  for (let time = 0; time < 10; time += 1) {
    const produced = await produceReport(world.context.documents, { ...wanted, format: 'json' });
    if (produced.outcome !== 'produced') throw new Error(produced.outcome);
    statuses.push((await visitor.get(`/documents/${produced.documentId}/download`)).status);
  }
  expect(statuses).toEqual(Array<number>(10).fill(200));
});
