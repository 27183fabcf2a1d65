import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkFile, listDocuments } from '../../src/documents/check.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { produceReport, type ReportRequest } from '../../src/documents/produce-report.ts';
import type { RegisteredDocument } from '../../src/documents/deps.ts';
import { deliver } from '../serving.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';

const choice = (n: number) => ({
  consent_id: `c-${n}`,
  banner_id: 'main',
  visitor_hash: `v-${n}`,
  timestamp: new Date().toISOString(),
  consent: { analytics: n % 2 === 0 },
});

async function openWithDecisions(): Promise<OfficeWorld> {
  const world = await createOfficeWorld({}, { worker: false });
  for (let n = 1; n <= 4; n += 1) await world.event('consent.recorded', choice(n));
  return world;
}

/** Today's month, whatever it is. */
function asked(changes: Partial<ReportRequest> = {}): ReportRequest {
  const month = new Date().toISOString().slice(0, 7);
  const next = new Date(Date.parse(`${month}-28T00:00:00Z`) + 5 * 86_400_000).toISOString().slice(0, 7);
  return {
    name: 'consent-audit',
    source: 'default',
    from: `${month}-01`,
    to: `${next}-01`,
    format: 'html',
    actor: 'Olga',
    ...changes,
  };
}

async function produced(world: OfficeWorld, request: ReportRequest): Promise<RegisteredDocument> {
  const made = await produceReport(world.context.documents, request);
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  await world.context.projector.catchUp();
  return made;
}

/** What changes counters without an entry: the same bytes again, and a wrong signature. */
async function disturb(world: OfficeWorld): Promise<void> {
  const body = JSON.stringify({ event: 'consent.recorded', data: choice(99) });
  for (let times = 0; times < 3; times += 1) await deliver(world.url, body);
  await deliver(world.url, body, undefined, { 'x-service-signature': '0'.repeat(64) });
  await world.context.rejected.flush();
}

describe('a document made again with its parameters', () => {
  for (const name of ['consent-audit', 'reconciliation', 'dsar-register', 'delivery-log'])
    it(`has the same bytes after repeats, refusals and a rebuild (${name})`, async () => {
      const world = await openWithDecisions();
      await disturb(world);
      const first = await produced(world, asked({ name }));
      await disturb(world);
      await world.context.rebuild();
      const madeAt = String(first.parameters['madeAt']);
      const again = await produced(world, asked({ name, asOf: first.asOf, madeAt }));
      expect([again.documentId, again.sha256, again.seq]).toEqual([first.documentId, first.sha256, first.seq]);
      expect((await checkFile(world.context.store.read, first.path)).documents).toHaveLength(1);
    });

  it('is another document, beside the first one, when something else went into it', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    const bytes = await readFile(first.path);
    await disturb(world);
    const second = await produced(world, asked());
    expect(second.documentId).not.toBe(first.documentId);
    expect(await readFile(first.path)).toEqual(bytes);
    await world.context.rebuild();
    for (const { path } of [first, second])
      expect((await checkFile(world.context.store.read, path)).documents).toHaveLength(1);
    expect(await listDocuments(world.context.store.read)).toHaveLength(2);
  });

  it('tells in its JSON the counters that were recorded for it, and nothing where none were', async () => {
    const world = await openWithDecisions();
    await disturb(world);
    const read = async (request: ReportRequest) => {
      const made = await produced(world, request);
      const text = await readFile(made.path, 'utf8');
      return (JSON.parse(text) as { completeness: { agreement: { counters: object | null } } }).completeness.agreement
        .counters;
    };
    expect(await read(asked({ format: 'json', asOf: 4 }))).toBeNull();
    expect(await read(asked({ format: 'json' }))).toMatchObject({ repeats: { deliveries: 1, repeats: 2 } });
  });

  it('bears the date of the first one when only the position is given', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    world.setNow(new Date(Date.now() + 3_600_000).toISOString());
    expect((await produced(world, asked({ asOf: first.asOf }))).documentId).toBe(first.documentId);
    const other = await produced(world, asked({ asOf: first.asOf, format: 'json' }));
    expect(String(other.parameters['madeAt']) > String(first.parameters['madeAt'])).toBe(true);
  });

  it('takes its place again when its file was altered', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    await writeFile(first.path, 'altered');
    const madeAt = String(first.parameters['madeAt']);
    const again = await produced(world, asked({ asOf: first.asOf, madeAt }));
    expect(again.path).toBe(first.path);
    expect((await checkFile(world.context.store.read, again.path)).documents).toHaveLength(1);
  });
});

describe('the time at which a document is made', () => {
  it('is now, not the time of the newest entry, and a request is judged late by it', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.event('dsar.submitted', {
      request_id: 'r-1',
      type: 'access',
      jurisdiction: 'DE',
      email: 'zoe@example.net',
      submitted_at: new Date().toISOString(),
    });
    const later = new Date(Date.now() + 60 * 86_400_000).toISOString();
    world.setNow(later);
    const made = await produced(world, asked({ name: 'dsar-register', format: 'json' }));
    const { document } = JSON.parse(await readFile(made.path, 'utf8')) as { document: { generatedAt: string } };
    expect(document.generatedAt.slice(0, 10)).toBe(later.slice(0, 10));
    const [row] = await world.context.store.read.selectFrom('cases').select('case_id').execute();
    const pack = await producePack(
      { ...world.context.documents, cases: world.context.cases },
      { caseId: row?.case_id ?? '', actor: 'Olga' },
    );
    expect(pack.outcome === 'produced' && String(pack.parameters['madeAt']).slice(0, 10)).toBe(later.slice(0, 10));
  });

  it('can be given, but neither in the future nor before the entries that the document tells of', async () => {
    const world = await openWithDecisions();
    const problems = [];
    for (const madeAt of ['2001-01-01T00:00:00.000Z', new Date(Date.now() + 3_600_000).toISOString()])
      problems.push(await produceReport(world.context.documents, asked({ madeAt })));
    expect(problems).toMatchObject([
      { outcome: 'invalid', problem: expect.stringContaining('was received at') as string },
      { outcome: 'invalid', problem: expect.stringContaining('lies in the future') as string },
    ]);
  });
});
