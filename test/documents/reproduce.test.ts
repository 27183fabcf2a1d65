import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { sealEntry } from '../../src/crypto/entry.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import type { RegisteredDocument } from '../../src/documents/begin-document.ts';
import { checkFile, listDocuments } from '../../src/documents/check.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { produceReport, type ReportRequest } from '../../src/documents/produce-report.ts';
import { entryFromRow } from '../../src/ledger/read-entries.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { deliver } from '../serving.ts';
import { alter, bytes } from '../tampering.ts';

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

/** The current month. */
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

/** Changes counters without an entry: a repeat, and a wrong signature. */
async function disturb(world: OfficeWorld): Promise<void> {
  const body = JSON.stringify({ event: 'consent.recorded', data: choice(99) });
  for (let times = 0; times < 3; times += 1) await deliver(world.url, body);
  await deliver(world.url, body, undefined, { 'x-service-signature': '0'.repeat(64) });
  await world.context.rejected.flush();
}

describe('a document made again with its parameters', () => {
  for (const name of ['consent-audit', 'reconciliation', 'dsar-register', 'delivery-log', 'scan-audit'])
    it(`has the same bytes after repeats, refusals and a rebuild (${name})`, async () => {
      const world = await openWithDecisions();
      await disturb(world);
      const first = await produced(world, asked({ name }));
      await disturb(world);
      await world.context.rebuild();
      const madeAt = String(first.parameters['madeAt']);
      const again = await produced(world, asked({ name, asOf: first.asOf, madeAt }));
      expect([again.documentId, again.sha256, again.seq]).toEqual([first.documentId, first.sha256, first.seq]);
      expect((await checkFile(world.context, first.path)).documents).toHaveLength(1);
    });

  it('is a second document next to the first one if its input differs', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    const bytes = await readFile(first.path);
    await disturb(world);
    const second = await produced(world, asked());
    expect(second.documentId).not.toBe(first.documentId);
    expect(await readFile(first.path)).toEqual(bytes);
    await world.context.rebuild();
    for (const { path } of [first, second]) expect((await checkFile(world.context, path)).documents).toHaveLength(1);
    expect(await listDocuments(world.context.store.read)).toHaveLength(2);
  });

  it('includes in its JSON the counters recorded for it, or none if none were', async () => {
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

  it('has the date of the first one if only the position is given', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    world.setNow(new Date(Date.now() + 3_600_000).toISOString());
    expect((await produced(world, asked({ asOf: first.asOf }))).documentId).toBe(first.documentId);
    const other = await produced(world, asked({ asOf: first.asOf, format: 'json' }));
    expect(String(other.parameters['madeAt']) > String(first.parameters['madeAt'])).toBe(true);
  });

  it('replaces its altered file', async () => {
    const world = await openWithDecisions();
    const first = await produced(world, asked());
    await writeFile(first.path, 'altered');
    const madeAt = String(first.parameters['madeAt']);
    const again = await produced(world, asked({ asOf: first.asOf, madeAt }));
    expect(again.path).toBe(first.path);
    expect((await checkFile(world.context, again.path)).documents).toHaveLength(1);
  });
});

describe('a consent audit', () => {
  it('names consents under a superseded version from the publication of the next', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    const policy = (change: string, version: string, ago: number) =>
      world.event(`policy.${change}`, { policy_id: 'pol-1', version, timestamp: day(ago) });
    const consent = (n: number, version: string, ago: number) =>
      world.event('consent.recorded', {
        ...{ consent_id: `c-${n}`, visitor_hash: `v-${n}`, timestamp: day(ago) },
        ...{ policy_id: 'pol-1', policy_version: version, consent: { analytics: true } },
      });
    await policy('created', '1', 20);
    await policy('published', '1', 19);
    await consent(1, '1', 18);
    await policy('updated', '2', 15);
    await consent(2, '1', 14);
    await policy('published', '2', 10);
    await consent(3, '2', 9);
    await policy('updated', '3', 5);
    const standing = async (to: string) => {
      const request = asked({ from: day(30).slice(0, 10), to: to.slice(0, 10), format: 'json' });
      const audit = JSON.parse(await readFile((await produced(world, request)).path, 'utf8')) as {
        standing: readonly { policyVersion: string; consents: number; superseded: boolean }[];
      };
      return audit.standing.map(({ policyVersion, consents, superseded }) => [policyVersion, consents, superseded]);
    };
    expect(await standing(day(12))).toEqual([['1', 2, false]]);
    expect(await standing(day(-1))).toEqual([
      ['1', 2, true],
      ['2', 1, false],
    ]);
    const { path } = await produced(world, asked({ from: day(30).slice(0, 10), to: day(-1).slice(0, 10) }));
    expect((await readFile(path, 'utf8')).match(/1 \(superseded\)/g)).toHaveLength(1);
  });
});

describe('the time at which a document is made', () => {
  it('is now, not the time of the newest entry, and decides whether a request is late', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.event('dsar.submitted', {
      request_id: 'r-1',
      type: 'access',
      jurisdiction: 'DE',
      language: 'en',
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

  it('can be given, but neither in the future nor before the entries in the document', async () => {
    const world = await openWithDecisions();
    const problems = [];
    for (const madeAt of ['2001-01-01T00:00:00.000Z', new Date(Date.now() + 3_600_000).toISOString()])
      problems.push(await produceReport(world.context.documents, asked({ madeAt })));
    expect(problems).toMatchObject([
      { outcome: 'invalid', problem: expect.stringContaining('was received at') as string },
      { outcome: 'invalid', problem: expect.stringContaining('is in the future') as string },
    ]);
  });
});

describe('a document is refused, naming the entry or table,', () => {
  const edited = (table: string, change: string) => `update ${table} set ${change} where seq = 2`;
  it.each([
    ['the body of an entry', edited('entries', `body = ${bytes('{}')}`), /Entry 2 .*body is not what was appended/],
    ['the time of an entry', edited('entries', "received_at = '2020-01-01T00:00:00.000Z'"), /Entry 2 .*its time/],
    ['an entry', 'delete from entries where seq = 2', /Entry \d .*do not give the root/],
    ['a row of the history', edited('decision_history', "region = 'FR'"), /decision_history \(1\)/],
    ['a row of the history', 'delete from decision_history where seq = 2', /decision_history \(1\)/],
  ])('if %s was altered: %s', async (_what, statement, problem) => {
    const world = await openWithDecisions();
    await produced(world, asked({ format: 'csv' }));
    await alter(world.context.config.dataDir, statement);
    // Without a change of the read models the entry decides, as in a ledger too long to be folded for each document.
    const { documents } = world.context;
    const deps = statement.includes('history') ? documents : { ...documents, readModelsFault: async () => null };
    const made = await produceReport(deps, asked({ format: 'csv' }));
    expect(made).toMatchObject({ outcome: 'refused', problem: expect.stringMatching(problem) as string });
    expect(await world.context.warnings()).toMatchObject(
      statement.includes('history')
        ? expect.arrayContaining([expect.objectContaining({ code: 'read-models-differ' })])
        : [],
    );
  });

  it('if the request of a pack was altered', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.event('dsar.submitted', {
      request_id: 'r-1',
      type: 'access',
      jurisdiction: 'DE',
      language: 'en',
      email: 'zoe@example.net',
    });
    await world.context.projector.catchUp();
    const row = await world.context.store.read
      .selectFrom('cases')
      .select(['case_id', 'opened_seq'])
      .executeTakeFirstOrThrow();
    await alter(world.context.config.dataDir, `update entries set meta = ${bytes('{}')} where seq = ${row.opened_seq}`);
    const { documents, cases } = world.context;
    const pack = await producePack(
      { ...documents, cases, readModelsFault: async () => null },
      { caseId: row.case_id, actor: 'Olga' },
    );
    expect(pack).toMatchObject({
      outcome: 'refused',
      problem: expect.stringContaining(`Entry ${row.opened_seq} `) as string,
    });
  });
});

describe('whether a file is genuine', () => {
  const check = async ({ context }: OfficeWorld, path: string) => {
    const { documents, problems } = await checkFile(context, path);
    return { genuine: documents.map(({ seq, sealedUnder }) => ({ seq, sealedUnder })), problems };
  };
  /** A report, and a forged file. */
  async function openWithForgery() {
    const world = await openWithDecisions();
    const report = await produced(world, asked({ format: 'csv' }));
    const { dataDir } = world.context.config;
    const forged = `${dataDir}/forged.csv`;
    await writeFile(forged, 'all is well\n');
    const tamper = (...statements: string[]) => alter(dataDir, ...statements);
    return { world, report, forged, sha256: sha256Hex(Buffer.from('all is well\n')), tamper };
  }

  it('is decided by its entry, and by the checkpoint that covers it once it is sealed', async () => {
    const { world, report, forged, tamper } = await openWithForgery();
    expect(await check(world, report.path)).toEqual({
      genuine: [{ seq: report.seq, sealedUnder: null }],
      problems: [],
    });
    await world.context.seal();
    await world.event('consent.recorded', choice(5));
    await world.context.seal();
    const sealed = { seq: report.seq, sealedUnder: report.seq };
    expect(await check(world, report.path)).toEqual({ genuine: [sealed], problems: [] });
    expect(await check(world, forged)).toEqual({ genuine: [], problems: [] });
    await tamper('delete from documents');
    expect(await check(world, report.path)).toEqual({
      genuine: [sealed],
      problems: [expect.stringMatching(/list of documents.*ledger rebuild/)],
    });
  });

  it('is not decided by a row of the table of documents', async () => {
    const { world, report, forged, sha256, tamper } = await openWithForgery();
    await tamper(`update documents set sha256 = '${sha256}'`);
    const problems = [`Entry ${report.seq} should register this file, but it registers no document with these bytes.`];
    expect(await check(world, forged)).toEqual({ genuine: [], problems });
    await tamper('update documents set seq = 99');
    expect((await check(world, forged)).problems).toEqual([expect.stringContaining('the entry is missing')]);
  });

  it('is not decided by an entry that was edited, written without the key, or put under another root', async () => {
    const { world, report, forged, sha256, tamper } = await openWithForgery();
    await world.context.seal();
    const read = () =>
      world.context.store.read
        .selectFrom('entries')
        .selectAll()
        .where('seq', '=', report.seq)
        .executeTakeFirstOrThrow();
    const entry = entryFromRow(await read());
    const body = Buffer.from(String(entry.body).replace(report.sha256, sha256));
    await tamper(
      `update documents set sha256 = '${sha256}'`,
      `update entries set body = ${bytes(body)} where seq = ${report.seq}`,
    );
    expect(await check(world, forged)).toEqual({
      genuine: [],
      problems: [expect.stringContaining('not what was appended')],
    });
    for (const [key, problem] of [
      [Buffer.alloc(32), 'not written with the instance key'],
      [world.context.keys.instance.append, 'do not give the root that the checkpoint'],
    ] as const) {
      const made = sealEntry(
        { ...entry, meta: entry.meta as Buffer, body },
        entry.seq,
        entry.sourceSeq,
        entry.salt as Buffer,
        key,
      );
      await tamper(
        `update entries set commitment = ${bytes(made.commitment)}, leaf_hash = ${bytes(made.leafHash)}, mac = ${bytes(made.mac)} where seq = ${report.seq}`,
      );
      expect(await check(world, forged)).toEqual({ genuine: [], problems: [expect.stringContaining(problem)] });
    }
    await tamper(`update checkpoints set note = replace(note, '— ', '- ')`);
    expect((await check(world, forged)).problems).toEqual([expect.stringContaining('is not the one that was signed')]);
  });
});
