import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { produceReport } from '../../src/documents/produce-report.ts';
import { documentPath } from '../../src/documents/register.ts';
import { READING, removeSetting } from '../../src/store/settings.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { pdfText } from '../reports/files.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

const visitor = (n: number) => createHash('sha256').update(String(n)).digest('hex');

/**
 * An installation after an upgrade: an earlier version read two refusals as consent and missed a time, and an audit was made then. The
 * rows are set to what it would have written.
 */
async function upgraded(): Promise<OfficeWorld & { readonly seqs: readonly number[] }> {
  const world = await createOfficeWorld({}, { worker: false });
  const seqs: number[] = [];
  for (const n of [1, 2, 3])
    seqs.push(
      await world.event('consent.recorded', {
        record_id: `r-${n}`,
        visitor_id: visitor(n),
        decision: n === 3 ? 'accepted' : 'rejected',
        timestamp: `2026-07-0${n}T10:00:00Z`,
      }),
    );
  const { store } = world.context;
  await store.foldTransaction(async (tx) => {
    await tx.query
      .updateTable('decision_history')
      .set({ state: 'given', label: 'given', stands: '["*"]' })
      .where('seq', 'in', seqs.slice(0, 2))
      .execute();
    await tx.query
      .updateTable('decision_history')
      .set({ occurred_basis: 'received' })
      .where('seq', '=', seqs[2] ?? 0)
      .execute();
  });
  await removeSetting(store, READING);
  return { ...world, seqs };
}

const audit = { name: 'consent-audit', source: 'default', from: '2026-07-01', to: '2026-08-01', actor: 'Olga' };

it('after an upgrade, lists every record that is read differently before that is applied, and makes no document meanwhile', async () => {
  const world = await upgraded();
  const owner = await signedInAs(world, 'owner');
  expect((await owner.get('/')).text).toMatch(/reads some earlier records differently[\s\S]*href="\/readings"/);
  const fault = await world.context.documents.readModelsFault();
  expect(fault).toContain('has not been approved yet');
  const worker = await startWorker(world.context);
  await expect.poll(async () => (await owner.get('/readings')).text).toContain('2 consents would become refusals');
  const page = (await owner.get('/readings')).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(page).toContain('default : 2 consents would become refusals, 1 time would be found');
  for (const seq of world.seqs.slice(0, 2)) expect(page).toContain(`${seq} default consent to everything refused`);
  // Nothing has changed yet.
  const states = () => world.context.store.read.selectFrom('decision_history').select('state').orderBy('seq').execute();
  expect((await states()).map(({ state }) => state)).toEqual(['given', 'given', 'given']);
  const officer = await signedInAs(world, 'officer');
  expect((await officer.post('/readings/adopt', {})).status).toBe(403);

  await owner.post('/readings/adopt', {});
  await expect.poll(() => world.context.readings.pending()).toBeNull();
  expect((await states()).map(({ state }) => state)).toEqual(['refused', 'refused', 'given']);
  expect(await world.actions('reading.adopted')).toHaveLength(2);
  expect((await owner.get('/readings')).text).toContain('All earlier records are read with this version');
  expect(await world.context.documents.readModelsFault()).toBeNull();
  await worker.stop();
});

it('audits say which records are read differently since, and which documents were made before', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { store, documents, readings } = world.context;
  const seq = await world.event('consent.recorded', {
    record_id: 'r-1',
    visitor_id: visitor(1),
    decision: 'rejected',
    timestamp: '2026-07-01T10:00:00Z',
  });
  const make = async (format: 'json' | 'pdf') => {
    const made = await produceReport(documents, { ...audit, format });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    const file = await readFile(documentPath(documents.folder, { documentId: made.documentId, format }));
    return file;
  };
  const before = JSON.parse(String(await make('json'))) as Record<string, unknown>;
  expect(before).not.toHaveProperty('readings');
  await store.foldTransaction((tx) =>
    tx.query.updateTable('decision_history').set({ state: 'given' }).where('seq', '=', seq).execute(),
  );
  await removeSetting(store, READING);
  await readings.adopt('Olga');
  const after = JSON.parse(String(await make('json'))) as Record<string, unknown>;
  expect(after['readings']).toMatchObject([
    {
      before: 1,
      changes: [{ change: 'consent-becomes-refusal', count: 1 }],
      entries: String(seq),
      documents: [{ name: 'consent-audit' }],
      documentsBefore: 1,
    },
  ]);
  const text = pdfText(await make('pdf'));
  expect(text).toContain('Records that are read differently since');
  expect(text).toMatch(/1\s+consent\s+became\s+a\s+refusal\.\s*1\s+entry\s+is\s+concerned/);
});

it('what folds everything again, like an erasure, puts the new reading in force and records what changes', async () => {
  const world = await upgraded();
  await world.context.rebuild();
  expect(await world.context.readings.pending()).toBeNull();
  expect(await world.actions('reading.adopted')).toEqual([
    { actor: 'consent-ledger', object: '2' },
    { actor: 'consent-ledger', object: '2' },
  ]);
});
