import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { lookUpConsent } from '../../src/consent/look-up.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import { checkFile } from '../../src/documents/check.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { reapplyErasures } from '../../src/erasure/again.ts';
import { chooseCase, choosePeriod, chooseSubject } from '../../src/erasure/choose.ts';
import { carryOut, finishErasures } from '../../src/erasure/erase.ts';
import { liftHold, placeHold } from '../../src/erasure/holds.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { listErasures } from '../../src/ledger/erase.ts';
import { forgetHighWater } from '../../src/ledger/high-water.ts';
import { createLog } from '../../src/log/log.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { deliver, environment } from '../serving.ts';
import { fakeConsentLog } from '../sync/fake-consent-log.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';
import { chosenOf, decision, erased, faultsIn, filesWith, noFaults, planOf } from './world.ts';

const PERSON = 'visitor-that-must-vanish';
const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();

function rowOf(id: string, visitor: string, at: string, more: object = {}) {
  const text = JSON.stringify({
    consent_id: id,
    banner_id: 'bnr_1',
    visitor_hash: visitor,
    consent: { ads: true },
    recorded_at: at,
    ...more,
  });
  return { bannerId: 'bnr_1', at: Date.parse(at), text };
}

async function createWorld() {
  const log = await fakeConsentLog([]);
  const world = await createOfficeWorld(
    { SERVICE_BASE_URL: log.baseUrl, SERVICE_API_KEY: 'pak_live_test' },
    { worker: false },
  );
  const { context } = world;
  const service = createServiceClient({
    destinations: ON_LOOPBACK,
    baseUrl: log.baseUrl,
    apiKey: 'pak_live_test',
    backOffMs: 1,
    retries: 3,
    timeoutMs: 5000,
  });
  const pull = async (from = ago(40)) => {
    const source = context.sources.find('default')!;
    const pulled = await pullConsentLogs(
      { ...context.sync, service },
      { source, bannerId: 'bnr_1', actor: 'test', from },
    );
    if (pulled.outcome !== 'finished') throw new Error(JSON.stringify(pulled));
    await context.projector.catchUp();
    return pulled;
  };
  return { world, context, log, pull };
}

async function reportOf({ context }: OfficeWorld, name: string, format: 'csv' | 'pdf', subject?: string) {
  const period = { from: ago(60).slice(0, 10), to: ago(-2).slice(0, 10) };
  const made = await produceReport(context.documents, {
    name,
    source: 'default',
    format,
    actor: 'Olga',
    ...period,
    ...(subject ? { subject } : {}),
  });
  if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  return made;
}

const planFor = async (world: OfficeWorld, identifier: string, withCases: boolean) => {
  const { erasure, sources } = world.context;
  const chosen = chosenOf(await chooseSubject({ ...erasure, sources }, { source: 'default', identifier, withCases }));
  return planErasure(erasure, chosen);
};

describe('erasing by case and by period', () => {
  it('erases a case as a whole with its letters and packs, and keeps the withdrawals that it caused', async () => {
    const { world, context } = await createWorld();
    const request = { type: 'access', language: 'en', name: 'Zoe Vanish', email: 'zoe@example.net' };
    const asked = await world.event('dsar.submitted', request);
    const caseId = `default-${asked}`;
    await moveCase(context.cases, { caseId, basedOn: 0, move: 'note', details: { text: 'Zoe called' }, actor: 'Olga' });
    await context.projector.catchUp();
    const pack = await producePack({ ...context.documents, cases: context.cases }, { caseId, actor: 'Olga' });
    if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
    const plan = await planErasure(context.erasure, chosenOf(await chooseCase(context.erasure, caseId)));
    expect(plan.documents.map(({ documentId, why }) => [documentId, why])).toEqual([
      [pack.documentId, `made for case ${caseId}`],
    ]);
    expect(plan.needs.map(({ name }) => name)).toEqual([caseId]);
    await erased(context, plan, { despite: [caseId] });
    for (const text of ['Zoe', 'zoe@example.net']) expect(await filesWith(context, text)).toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
    expect(await context.store.read.selectFrom('cases').select('case_id').execute()).toEqual([]);
    expect(
      (await checkFile(context, pack.path).catch((error: NodeJS.ErrnoException) => error)) as object,
    ).toMatchObject({
      code: 'ENOENT',
    });
  });

  it('erases nothing if a hold is placed after it was looked at, in twenty tries at once', async () => {
    const { world, context } = await createWorld();
    const seqs: number[] = [];
    for (let nth = 0; nth < 20; nth += 1)
      seqs.push(await world.event('dsar.submitted', { type: 'access', email: `zoe${nth}@example.net` }));
    const plans = await Promise.all(seqs.map((seq) => planErasure(context.erasure, { by: 'entries', seqs: [seq] })));
    const hold = {
      source: 'default',
      caseId: null,
      subject: null,
      from: null,
      to: null,
      reason: 'Claim',
      officer: 'Paul',
    };
    const placed = await placeHold({ ...context.erasure, sources: context.sources }, hold);
    expect(placed.outcome).toBe('placed');
    const done = await Promise.all(
      plans.map((plan) =>
        carryOut(context.erasure, plan, { ...decision, despite: plan.needs.map(({ name }) => name) }),
      ),
    );
    for (const one of done)
      expect(one).toMatchObject({
        outcome: 'refused',
        problems: [expect.stringContaining('A legal hold was placed in the meantime')],
      });
    const left = await context.store.read.selectFrom('entries').select('body').where('seq', 'in', seqs).execute();
    expect(left.filter(({ body }) => body !== null)).toHaveLength(20);
    expect(
      await context.store.read.selectFrom('entries').select('seq').where('kind', '=', 'erasure').execute(),
    ).toEqual([]);
  });

  it('erases everything received in a period, except what a hold names', async () => {
    const { world, context } = await createWorld();
    const early = await world.event(
      'consent.recorded',
      JSON.parse(rowOf('c-1', 'visitor-1', ago(1)).text) as Record<string, unknown>,
    );
    const request = await world.event('dsar.submitted', { type: 'access', email: 'zoe@example.net' });
    world.setNow(ago(-2));
    const later = await world.event(
      'consent.recorded',
      JSON.parse(rowOf('c-2', 'visitor-2', ago(0)).text) as Record<string, unknown>,
    );
    const hold = {
      officer: 'Olga',
      reason: 'claim 12/26',
      source: 'default',
      caseId: null,
      subject: 'VISITOR-1',
      from: null,
      to: null,
    };
    const holds = { ...context.erasure, sources: context.sources };
    // A hold that protects nothing is not placed: without a recipe an address leads to no records.
    expect(await placeHold(holds, { ...hold, subject: 'zoe@example.net' })).toMatchObject({ outcome: 'refused' });
    expect(await placeHold(holds, { ...hold, subject: 'nobody' })).toMatchObject({ outcome: 'refused' });
    const placed = await placeHold(holds, hold);
    if (placed.outcome !== 'placed') throw new Error(JSON.stringify(placed));
    const period = { source: null, from: null, to: ago(-1), kinds: ['webhook'] as const };
    const plan = await planErasure(context.erasure, chosenOf(await choosePeriod(context.erasure, period)));
    expect(plan.entries.map(({ seq }) => seq)).toEqual([early]);
    expect(plan.kept.map(({ seqs }) => seqs)).toEqual([[request]]);
    expect(plan.needs).toMatchObject([{ name: placed.holdId, seqs: [early] }]);
    expect(await carryOut(context.erasure, plan, decision)).toMatchObject({
      problems: [expect.stringContaining('legal hold of Olga: claim 12/26')],
    });
    expect(await liftHold(context.erasure, { holdId: placed.holdId, officer: 'Paul', reason: 'settled' })).toEqual({
      outcome: 'lifted',
    });
    expect(await liftHold(context.erasure, { holdId: placed.holdId, officer: 'Paul', reason: 'settled' })).toEqual({
      outcome: 'unknown',
    });
    await erased(context, await planErasure(context.erasure, chosenOf(await choosePeriod(context.erasure, period))));
    expect(await context.store.read.selectFrom('decision_history').select('seq').execute()).toEqual([{ seq: later }]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });
});

describe('a database restored to before an erasure', () => {
  it('has it repeated once from the records in DATA_DIR', async () => {
    const folder = await temporaryFolder();
    const open = () => openContext(loadConfig(environment(folder, { LOG_LEVEL: 'fatal' }), folder), createLog('fatal'));
    const context = await open();
    const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
    const rawBody = Buffer.from(rowOf('c-1', PERSON, ago(3)).text.replace('{', '{"event":"consent.recorded",'));
    const { seq } = await appendDelivery(context.ledger, { ...entry, rawBody }, ago(2));
    await context.projector.catchUp();
    const before = await context.store.read
      .selectFrom('entries')
      .selectAll()
      .where('seq', '=', seq)
      .executeTakeFirstOrThrow();
    const chosen = await chooseSubject(
      { ...context.erasure, sources: context.sources },
      { source: 'default', identifier: PERSON, withCases: false },
    );
    const done = await erased(context, await planErasure(context.erasure, chosenOf(chosen)));
    await context.close();

    const store = await openStoreIn(folder);
    await store.transaction(async ({ query }) => {
      await query.deleteFrom('entries').where('seq', '=', done.seqs[0]!).execute();
      await query.deleteFrom('entries').where('seq', '=', seq).execute();
    });
    await store.transaction((tx) => tx.insertMany('entries', [before as never]));
    await store.close();
    // `restore --database-as-it-is` accepts an older database.
    await forgetHighWater(join(folder, 'high-water'));
    const restored = await open();
    onTestFinished(() => restored.close());
    await restored.rebuild();
    expect(await filesWith(restored, PERSON)).not.toEqual([]);
    expect(await reapplyErasures(restored.erasure)).toEqual({ erasures: 1, entries: 1, problems: [] });
    expect(await filesWith(restored, PERSON)).toEqual([]);
    expect(await reapplyErasures(restored.erasure)).toEqual({ erasures: 0, entries: 0, problems: [] });
    expect(await faultsIn(restored)).toEqual(noFaults);
    const [again] = await listErasures(restored.store.read, restored.ledger);
    expect(again).toMatchObject({ firstMadeAt: done.erasedAt, suppress: [{ source: 'default' }], officer: 'Olga' });
    // A record written without the key does not cause an erasure.
    await writeFile(join(folder, 'erasures', 'forged.json'), '{"record":{},"mac":""}');
    expect((await reapplyErasures(restored.erasure)).problems).toEqual([
      expect.stringContaining('forged.json is not a record'),
    ]);
  });
});

describe('a document made while one of its entries is erased', () => {
  /** Makes a report; the next of `seqs` is erased each time its entries have been checked. */
  async function madeDuringErasures(context: Context, seqs: number[]) {
    const made: string[] = [];
    const documents = {
      ...context.documents,
      // As with many entries, which are not compared each time.
      readModelsFault: () => Promise.resolve(null),
      assertHeld: async () => {
        const seq = seqs.shift();
        if (seq !== undefined) await erased(context, await planOf(context, String(seq)));
        made.push(`erased ${seq ?? 'nothing'}`);
      },
    };
    const period = { from: ago(60).slice(0, 10), to: ago(-2).slice(0, 10) };
    const request = { name: 'consent-audit', source: 'default', format: 'csv', actor: 'Olga', ...period } as const;
    return { made, produced: await produceReport(documents, request) };
  }

  it('is made again without it', async () => {
    const { world, context } = await createWorld();
    const row = (id: string, who: string) => JSON.parse(rowOf(id, who, ago(1)).text) as Record<string, unknown>;
    const seq = await world.event('consent.recorded', row('c-1', PERSON));
    await world.event('consent.recorded', row('c-2', 'visitor-2'));
    const { made, produced } = await madeDuringErasures(context, [seq]);
    expect(made).toEqual([`erased ${seq}`, 'erased nothing']);
    expect(produced).toMatchObject({ outcome: 'produced' });
    await context.projector.catchUp();
    const registered = await context.store.read.selectFrom('documents').select('document_id').execute();
    expect(registered).toEqual([{ document_id: (produced as { documentId: string }).documentId }]);
    expect(await filesWith(context, PERSON)).toEqual([]);
    expect(await filesWith(context, 'visitor-2')).not.toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('leaves no second name or altered copy of its file behind', async () => {
    const { world, context } = await createWorld();
    const row = JSON.parse(rowOf('c-1', PERSON, ago(1)).text) as Record<string, unknown>;
    const seq = await world.event('consent.recorded', row);
    const period = { from: ago(60).slice(0, 10), to: ago(-2).slice(0, 10) };
    const request = { name: 'consent-audit', source: 'default', format: 'csv', actor: 'Olga', ...period } as const;
    const made = await produceReport(context.documents, request);
    if (made.outcome !== 'produced') expect.unreachable();
    // A process that was killed right after registering leaves the first of these.
    for (const ending of ['0b5e7c1e-0000-4000-8000-000000000000.draft', 'altered-0b5e7c1e'])
      await copyFile(made.path, `${made.path}.${ending}`);
    expect(await filesWith(context, PERSON)).not.toEqual([]);
    await erased(context, await planOf(context, String(seq)));
    expect(await filesWith(context, PERSON)).toEqual([]);
  });

  it('does not contain what a killed erasure left in the read models', async () => {
    const { world, context } = await createWorld();
    const row = (id: string, who: string) => JSON.parse(rowOf(id, who, ago(1)).text) as Record<string, unknown>;
    const seq = await world.event('consent.recorded', row('c-1', PERSON));
    await world.event('consent.recorded', row('c-2', 'visitor-2'));
    const killed = { ...context.store, foldTransaction: () => Promise.reject(new Error('killed')) };
    const deps = { ...context.erasure, store: killed };
    await expect(carryOut(deps, await planOf(context, String(seq)), decision)).rejects.toThrow('killed');
    const { produced } = await madeDuringErasures(context, []);
    if (produced.outcome !== 'produced') expect.unreachable();
    expect(await readFile(produced.path, 'utf8')).toContain('visitor-2');
    expect(await readFile(produced.path, 'utf8')).not.toContain(PERSON);
    await finishErasures(context.erasure);
    expect(await filesWith(context, PERSON)).toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('is refused, without an alarm, while the erasure is being finished', async () => {
    const { world, context } = await createWorld();
    const row = JSON.parse(rowOf('c-1', PERSON, ago(1)).text) as Record<string, unknown>;
    const seq = await world.event('consent.recorded', row);
    const period = { from: ago(60).slice(0, 10), to: ago(-2).slice(0, 10) };
    const request = { name: 'consent-audit', source: 'default', format: 'csv', actor: 'Olga', ...period } as const;
    const deps = { ...context.erasure, rebuild: () => Promise.reject(new Error('killed')) };
    await expect(carryOut(deps, await planOf(context, String(seq)), decision)).rejects.toThrow('killed');
    expect(await produceReport(context.documents, request)).toEqual({
      outcome: 'refused',
      problem: expect.stringMatching(/^An erasure is not finished: .*`consent-ledger ledger erase --finish`/),
    });
    await finishErasures(context.erasure);
    expect(await produceReport(context.documents, request)).toMatchObject({ outcome: 'produced' });
  });

  it('is refused, with what to do, if something of it is erased every time', async () => {
    const { world, context } = await createWorld();
    const seqs: number[] = [];
    for (let n = 1; n <= 6; n += 1) {
      const row = JSON.parse(rowOf(`c-${n}`, PERSON, ago(1)).text) as Record<string, unknown>;
      seqs.push(await world.event('consent.recorded', row));
    }
    const { produced } = await madeDuringErasures(context, seqs);
    expect(produced).toEqual({
      outcome: 'refused',
      problem: expect.stringContaining('erased while the document was being made; create the document again'),
    });
    expect(seqs).toHaveLength(1);
    await context.projector.catchUp();
    expect(await context.store.read.selectFrom('documents').selectAll().execute()).toEqual([]);
    expect(await readdir(join(context.config.dataDir, 'documents'))).toEqual([]);
  });
});

describe('erasing a person', () => {
  it('erases everything that names them, replaces documents by their hash, and prevents the next pull from restoring it', async () => {
    const { world, context, log, pull } = await createWorld();
    const delivered = await world.event(
      'consent.recorded',
      JSON.parse(rowOf('c-1', PERSON, ago(10)).text) as Record<string, unknown>,
    );
    const other = await world.event(
      'consent.recorded',
      JSON.parse(rowOf('c-2', 'visitor-2', ago(9)).text) as Record<string, unknown>,
    );
    log.rows = [rowOf('c-1', PERSON, ago(10)), rowOf('c-2', 'visitor-2', ago(9))];
    expect(await pull()).toMatchObject({ stored: 2 });
    const odd = await world.event('somebody.waved', { about: PERSON });
    const asked = await world.event('dsar.submitted', {
      type: 'erasure',
      visitor_hash: PERSON,
      email: 'zoe@example.net',
      name: 'Zoe Vanish',
    });
    await lookUpConsent(context, {
      source: 'default',
      identifier: PERSON,
      at: ago(0),
      asOf: await context.projector.catchUp(),
      actor: 'Olga',
    });
    const csv = await reportOf(world, 'consent-audit', 'csv');
    const appendix = await reportOf(world, 'consent-audit', 'pdf', PERSON);
    const deliveries = await reportOf(world, 'delivery-log', 'csv');
    await context.jobs.enqueue({
      kind: 'document',
      payload: { type: 'pack', caseId: `default-${asked}`, actor: 'Olga' },
    });
    const copy = join(context.config.dataDir, '..', 'copy.csv');
    await copyFile(csv.path, copy);

    // The request stays as proof of its answer, unless it is to be erased as well.
    const preview = await planFor(world, PERSON, false);
    expect(preview.kept.map(({ seqs }) => seqs)).toEqual([[asked]]);
    expect(preview.entries.map(({ seq }) => seq)).toEqual(expect.arrayContaining([delivered, odd]));
    expect(preview.entries.map(({ seq }) => seq)).not.toContain(other);

    const plan = await planFor(world, PERSON, true);
    expect(plan.documents.map(({ documentId, why }) => [documentId, why])).toEqual([
      [csv.documentId, 'names it'],
      [appendix.documentId, 'has the history of the subject'],
    ]);
    expect(plan.entries.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['consent.looked-up', 'dsar.submitted', 'document.produced', 'somebody.waved']),
    );
    expect([plan.jobs.length, plan.suppress.length]).toEqual([1, 1]);
    await erased(context, plan, { despite: [`default-${asked}`] });

    expect(await filesWith(context, PERSON)).toEqual([]);
    for (const text of ['zoe@example.net', 'Zoe Vanish']) expect(await filesWith(context, text)).toEqual([]);
    expect((await filesWith(context, 'visitor-2')).length).toBeGreaterThan(0);
    expect(await faultsIn(context)).toEqual(noFaults);
    expect(await readFile(csv.path).catch((error: NodeJS.ErrnoException) => error.code)).toBe('ENOENT');
    expect(await checkFile(context, copy)).toMatchObject({
      documents: [{ seq: csv.seq }],
      erased: [{ documentId: csv.documentId }],
    });
    expect(await checkFile(context, deliveries.path)).toMatchObject({
      documents: [{ seq: deliveries.seq }],
      erased: [],
    });

    // The same row, the same decision in other bytes, and an earlier decision that was never pulled.
    log.rows.push(
      rowOf('c-1', PERSON, ago(10), { note: 'changed upstream' }),
      rowOf('c-0', PERSON.toUpperCase(), ago(12)),
      rowOf('c-9', PERSON, ago(12)),
    );
    expect(await pull()).toMatchObject({ stored: 0, suppressed: 4, duplicates: 1 });
    expect(await filesWith(context, 'changed upstream')).toEqual([]);
    expect(await filesWith(context, '"c-9"')).toEqual([]);
    // Later decisions are new.
    world.setNow(ago(-1));
    log.rows.push(rowOf('c-10', PERSON, ago(-0.5)));
    expect(await pull()).toMatchObject({ stored: 1, suppressed: 4 });
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('finds an address in any spelling or escaping, in headers and refused deliveries too, and erases nobody else', async () => {
    const { world, context } = await createWorld();
    const address = 'zoë.vanish@example.net';
    const deliver = async (rawBody: string, headers: Record<string, string> = {}) => {
      const delivery = { source: 'default', secretId: 'test', verdict: 'verified', contentType: null } as const;
      const { seq } = await appendDelivery(
        context.ledger,
        { ...delivery, rawBody: Buffer.from(rawBody), headers },
        ago(2),
      );
      return seq;
    };
    const asked = await world.event('dsar.submitted', { type: 'erasure', email: 'Zoë.Vanish@Example.NET' });
    const theirs = [
      await deliver('{"event":"somebody.waved","about":"ZOË.Vanish@Example.net."}'),
      await deliver(String.raw`{"event":"somebody.waved","about":"zo\u00EB.vanish\u0040example.net"}`),
      await deliver('{"event":"somebody.waved","page":"https:\\/\\/x.test\\/?m=zo%C3%AB.vanish%40example.net"}'),
      await deliver('payload=%7B%22m%22%3A%22zo%5Cu00eb.vanish%40example.net%22%7D'),
      await deliver('{"event":"somebody.waved","n":5}', { 'x-contact': 'mailto:zoë.vanish@example.net' }),
    ];
    const others = [
      await deliver('{"event":"somebody.waved","about":"anzoë.vanish@example.net"}'),
      await deliver('{"event":"somebody.waved","about":"zoë.vanish@example.net.au"}'),
      await world.event('dsar.submitted', { type: 'access', email: 'an.zoë.vanish@example.net' }),
      await world.event('dsar.submitted', { type: 'access', email: 'b@example.net', message: `Not ${address}` }),
    ];
    for (const [rawBody, contact] of [
      [String.raw`{"m":"ZO\u00cb.vanish@example.net"}`, ''],
      ['{"m":1}', address],
      ['{"m":2}', `an${address}`],
    ] as const)
      context.rejected.note({
        source: 'default',
        reason: 'mismatch',
        rawBody: Buffer.from(rawBody),
        headers: { 'x-contact': contact },
        address: '203.0.113.7',
      });
    await context.rejected.flush();

    const plan = await planFor(world, address, false);
    expect(plan.entries.map(({ seq }) => seq)).toEqual(theirs);
    expect(plan.kept.map(({ seqs }) => seqs)).toEqual([[asked], [others[3]]]);
    expect(plan.rejected).toHaveLength(2);
    const keep = { daily: 7, weekly: 5, monthly: 12 };
    const withBackups = await planErasure({ ...context.erasure, backupKeep: keep }, { by: 'entries', seqs: theirs });
    expect(
      [plan, withBackups].map(({ residues }) => residues.some(({ until }) => until.includes('12 monthly'))),
    ).toEqual([false, true]);
    await erased(context, plan);
    expect(await context.erasure.rejected.list({ limit: 10 })).toHaveLength(1);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('says if nothing is known about them', async () => {
    const { world } = await createWorld();
    await expect(planFor(world, 'nobody', true)).rejects.toThrow('no record of this person');
    await expect(planFor(world, 'a@example.net', true)).rejects.toThrow('recipe of this source is not configured');
  });
});

describe('a delivery with several events', () => {
  /** Delivers a body as it is; resolves with its seq. */
  async function batch(world: OfficeWorld, ...events: readonly object[]): Promise<number> {
    const { body } = await deliver(world.url, JSON.stringify({ events }));
    if (body.seq === undefined) throw new Error('refused');
    await world.context.projector.projected(body.seq);
    return body.seq;
  }
  const choice = (visitor: string) => ({
    event: 'consent.recorded',
    visitor_hash: visitor,
    banner_id: 'b',
    consent: { ads: true },
  });

  it('is kept if some of it is about others, with the number to erase it by; all rows go with the entry', async () => {
    const { world, context } = await createWorld();
    const own = await batch(world, choice(PERSON), { ...choice(PERSON), banner_id: 'c' });
    const shared = await batch(world, { ...choice(PERSON), banner_id: 'd' }, choice('visitor-of-somebody-else'));
    const stays = await batch(world, choice('visitor-who-stays'));
    const plan = await planFor(world, PERSON, false);
    expect(plan.entries.map(({ seq }) => seq)).toContain(own);
    expect(plan.entries.map(({ seq }) => seq)).not.toContain(shared);
    expect(plan.kept).toMatchObject([{ what: 'deliveries that hold records of other people, too', seqs: [shared] }]);
    expect(plan.rows).toMatchObject({ decision_history: 2 });
    await erased(context, plan);
    await erased(context, await planOf(context, String(shared)));
    for (const text of [PERSON, 'visitor-of-somebody-else']) expect(await filesWith(context, text)).toEqual([]);
    expect(await context.store.read.selectFrom('decision_history').select('seq').execute()).toEqual([{ seq: stays }]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('with requests of two people is erased only with both cases', async () => {
    const { world, context } = await createWorld();
    const seq = await batch(
      world,
      { event: 'dsar.submitted', email: 'zoe@example.net' },
      { event: 'dsar.submitted', email: 'ann@example.net' },
    );
    const [one, other] = [`default-${seq}`, `default-${seq}.2`];
    const alone = async () => planErasure(context.erasure, chosenOf(await chooseCase(context.erasure, other)));
    // The entry is both openings: nothing goes before the other request is named, too.
    expect((await alone()).needs.map(({ name }) => name).sort()).toEqual([one, other]);
    const note = { move: 'note' as const, details: { text: 'Zoe called' }, basedOn: 0, actor: 'Olga' };
    const noted = await moveCase(context.cases, { caseId: one, ...note });
    await context.projector.catchUp();
    expect((await alone()).refusals).toEqual([
      { seq, reason: `it is part of case ${one}, which can only be erased as a whole: erase that case` },
    ]);
    const moved = 'seq' in noted ? String(noted.seq) : '';
    const both = await planOf(context, String(seq), moved);
    await erased(context, both, { despite: [one, other] });
    for (const text of ['zoe@example.net', 'ann@example.net']) expect(await filesWith(context, text)).toEqual([]);
    expect(await context.store.read.selectFrom('cases').select('case_id').execute()).toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('a compressed one that could not be read is found by the address in it', async () => {
    const { world, context } = await createWorld();
    const body = gzipSync(JSON.stringify({ event: 'moon.risen', seenBy: 'zoe@example.net' }));
    const delivery = {
      source: 'default',
      rawBody: body,
      headers: {},
      secretId: 'x',
      verdict: 'verified' as const,
      contentType: null,
    };
    const { seq } = await appendDelivery(context.ledger, delivery, new Date().toISOString());
    const asked = await world.event('dsar.submitted', { email: 'zoe@example.net', type: 'erasure' });
    const plan = await planFor(world, 'zoe@example.net', true);
    expect(plan.entries.map((entry) => entry.seq)).toEqual([seq, asked]);
  });
});
