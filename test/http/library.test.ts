import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readableName } from '../../src/documents/file-name.ts';
import { documentPath } from '../../src/documents/register.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file: one real document, and rows of many others. */
let world: OfficeWorld;
let officer: Visitor;
let made: { document_id: string; format: string; sha256: string; file_name: string };
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { atEnd: (work) => ending.push(work) });
  const { context } = world;
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  officer = await signedInAs(world, 'officer');
  await officer.get('/');
  const form = { name: 'delivery-log', source: 'default', from: '2026-09-01', to: '2026-09-30', format: 'json' };
  await officer.post('/reports', form);
  const rows = context.store.read.selectFrom('documents').selectAll();
  made = await vi.waitFor(() => rows.executeTakeFirstOrThrow(), PATIENTLY);
});

const fileOf = () =>
  readFile(documentPath(world.context.documents.folder, { documentId: made.document_id, format: made.format }));

async function check(visitor: Visitor, bytes: Uint8Array | null, name = 'a file.json') {
  const multipart = new FormData();
  if (bytes !== null) multipart.set('file', new Blob([new Uint8Array(bytes)]), name);
  return visitor.post('/documents/check', {}, { multipart });
}

describe('a file uploaded to be checked', () => {
  it('is genuine if it is byte for byte what was made here, and is not kept', async () => {
    await officer.get('/documents/check');
    const genuine = await check(officer, await fileOf());
    expect(genuine.status).toBe(200);
    for (const words of ['Genuine: ', 'a file.json', 'Delivery log, Default', made.sha256])
      expect(genuine.text).toContain(words);
    await expect
      .poll(async () => (await readdir(tmpdir())).filter((name) => name.startsWith('consent-ledger-check-')))
      .toEqual([]);
  });

  it('is unknown with one byte changed', async () => {
    const bytes = await fileOf();
    bytes[bytes.length - 2] = 0x20;
    const changed = await check(officer, bytes, '<img src=x>.json');
    expect(changed.text).toContain('Unknown: no document with these bytes was made here');
    expect(changed.text).toContain('&lt;img src=x>.json');
  });

  it('is described only as genuine to someone who may not see its source', async () => {
    const other = await signedInAs(world, 'auditor', { sources: ['bolt'] });
    const { text } = await check(other, await fileOf());
    expect(text).toContain('Genuine: ');
    expect(text).toContain('a source that you may not see');
    expect(text).not.toContain('delivery-log of');
  });

  it('is required', async () => {
    const none = await check(officer, null);
    expect([none.status, none.text.includes('Choose a file.')]).toEqual([422, true]);
  });

  it('is the one sent, never another file on this machine that the body names', async () => {
    const path = import.meta.filename;
    const named = JSON.stringify({ name: 'x', path });
    const cookie = [...officer.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await officer.get('/documents/check')).text)?.[1] ?? '';
    // A part of this type without a file name is parsed as JSON.
    const part = `--b\r\nContent-Disposition: form-data; name="_csrf"\r\n\r\n${csrf}\r\n--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/json\r\n\r\n${named}\r\n--b--\r\n`;
    const bodies = [
      { type: 'application/json', body: JSON.stringify({ _csrf: csrf, file: JSON.parse(named) as unknown }) },
      { type: 'application/json', body: JSON.stringify({ _csrf: csrf, file: [JSON.parse(named) as unknown] }) },
      { type: 'multipart/form-data; boundary=b', body: part },
    ];
    for (const { type, body } of bodies) {
      const headers = { cookie, 'content-type': type };
      const answer = await fetch(`${world.adminUrl}/documents/check`, { method: 'POST', headers, body });
      expect([type, answer.status]).toEqual([type, 422]);
      expect(await answer.text()).not.toContain('SHA-256');
    }
  });

  it('leaves no temporary folder behind when the upload is aborted', async () => {
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await officer.get('/documents/check')).text)?.[1] ?? '';
    const cookie = [...officer.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { port } = new URL(world.adminUrl);
    const head = `--b\r\nContent-Disposition: form-data; name="_csrf"\r\n\r\n${csrf}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n`;
    // A folder for this test alone, watched for files that the server creates.
    const parent = await temporaryFolder();
    vi.stubEnv('TMPDIR', parent);
    onTestFinished(() => void vi.unstubAllEnvs());
    const made = new Set<string>();
    let onMade = () => {};
    const watcher = watch(parent, (_, name) => {
      if (name === null || made.has(name)) return;
      made.add(name);
      onMade();
    });
    onTestFinished(() => watcher.close());
    /** Sends part of a file, and breaks off this many milliseconds after its folder exists, or at once. */
    const abortUpload = async (afterFolder: number | null) => {
      const headers = { cookie, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 5_000_000 };
      const sending = httpRequest({ port, path: '/documents/check', method: 'POST', headers });
      const closed = new Promise<void>((resolve) => void sending.on('error', () => undefined).on('close', resolve));
      const folderMade = new Promise<void>((resolve) => (onMade = resolve));
      await new Promise((resolve) => sending.write(head + 'x'.repeat(70_000), resolve));
      if (afterFolder !== null) {
        await folderMade;
        await new Promise((resolve) => setTimeout(resolve, afterFolder));
      }
      sending.destroy();
      await closed;
    };
    // While the file is written, just after the folder was made, and perhaps before.
    for (const afterFolder of [50, 10, 0, 0, 0, null, null, null]) await abortUpload(afterFolder);
    expect(made.size).toBeGreaterThanOrEqual(5);
    await expect.poll(() => readdir(parent)).toEqual([]);
  });
});

describe('the library', () => {
  it('has every document, newest first, page by page, by source and kind', async () => {
    const { context } = world;
    const rows = Array.from({ length: 60 }, (_, n) => ({
      document_id: `row-${n}`,
      source: n < 10 ? 'bolt' : 'default',
      name: n % 2 === 0 ? 'consent-audit' : 'dsar-pack',
      format: n % 2 === 0 ? 'pdf' : 'zip',
      file_name: `row-${n}`,
      sha256: '0'.repeat(64),
      bytes: 1,
      as_of: 1,
      case_id: n % 2 === 0 ? null : `default-${n}`,
      parameters: '{"from":"2026-10-01","to":"2026-11-01"}',
      actor: 'test',
      seq: 1000 + n,
      created_at: new Date().toISOString(),
      downloads: 0,
      erased_seq: null,
      erased_at: null,
    }));
    await context.store.foldTransaction((tx) => tx.insertMany('documents', rows));
    const first = await officer.get('/documents');
    expect(idsIn(first.text)).toEqual(
      rows
        .slice(10)
        .map((row) => row.document_id)
        .reverse(),
    );
    const next = /<a href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await officer.get(next);
    expect(idsIn(second.text)).toEqual([
      ...rows
        .slice(0, 10)
        .map((row) => row.document_id)
        .reverse(),
      made.document_id,
    ]);
    expect(idsIn((await officer.get('/documents?source=bolt&name=dsar-pack')).text)).toHaveLength(5);
    expect(idsIn((await officer.get('/documents?case=default-13')).text)).toEqual(['row-13']);
    expect((await officer.get('/documents?format=csv')).text).toContain('No document matches.');
    const limited = await signedInAs(world, 'officer', { sources: ['bolt'] });
    expect(idsIn((await limited.get('/documents')).text)).toHaveLength(10);
  });

  it('gives a file a readable name: what, whose, which month', async () => {
    const row = await world.context.store.read
      .selectFrom('documents')
      .selectAll()
      .where('document_id', '=', 'row-0')
      .executeTakeFirstOrThrow();
    const named = (parameters: object, more = {}) =>
      readableName({ ...row, ...more, parameters: JSON.stringify(parameters) }, () => 'Bolt Ltd');
    expect(named({ from: '2026-10-01', to: '2026-11-01' })).toBe('consent-audit Bolt Ltd 2026-10.pdf');
    expect(named({ from: '2026-10-22', to: '2026-11-22' })).toBe('consent-audit Bolt Ltd 2026-10-22 to 2026-11-21.pdf');
    expect(named({ from: '2026-10-22', to: '2026-10-23' })).toBe('consent-audit Bolt Ltd 2026-10-22.pdf');
    expect(
      readableName({ ...row, parameters: '{}' }, () => '../../etc/x\r\nBcc: a@b.example "\u202Efdp.exe <b>|*?\\:'),
    ).toBe('consent-audit .._.._etc_x_Bcc_ a@b.example _fdp.exe _b_.pdf');
    expect(named({}, { name: 'dsar-pack', format: 'zip', case_id: 'bolt-7' })).toBe('dsar-pack bolt-7.zip');
  });
});

function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/href="\/documents\/([^"]+)\/download"/g)].map(([, id = '']) => id);
}
