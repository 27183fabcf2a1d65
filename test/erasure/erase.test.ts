import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import type { Erasure } from '../../src/core/erasure.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { lastErasure } from '../../src/erasure/certificate.ts';
import { carryOut, finishErasures } from '../../src/erasure/erase.ts';
import { rewriteErasureRecords } from '../../src/erasure/records.ts';
import { summaryOf } from '../../src/erasure/summary.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { appendErasure, listErasures } from '../../src/ledger/erase.ts';
import { createLog } from '../../src/log/log.ts';
import { createPageReader } from '../../src/projections/load-entries.ts';
import { loadFoldPosition } from '../../src/projections/position.ts';
import { createOptionsInForce } from '../../src/sources/options-in-force.ts';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { environment } from '../serving.ts';
import { alter, bytes } from '../tampering.ts';
import { databaseIn, temporaryFolder } from '../temporary.ts';
import { decision, erase, erased, faultsIn, filesWith, noFaults, planOf } from './world.ts';

const ago = '2026-03-01T10:00:00.000Z';

const chose = (world: OfficeWorld, id: string, visitor: string, consent: object) =>
  world.event('consent.recorded', {
    ...{ consent_id: id, banner_id: 'bnr_1', visitor_hash: visitor, consent },
    recorded_at: '2026-03-01T10:00:00Z',
  });

describe('erasing entries', () => {
  it('erases their content and everything made from them, and the ledger still verifies', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { context } = world;
    const first = await chose(world, 'c-one-and-only', 'visitor-that-must-vanish', { ads: true });
    const kept = await chose(world, 'c-2', 'visitor-2', { ads: true });
    await context.seal();
    expect(await filesWith(context, 'visitor-that-must-vanish')).not.toEqual([]);
    const plan = await planOf(context, String(first));
    expect(plan.rows).toMatchObject({ decision_history: 1, delivery_history: 1 });
    const done = await erased(context, plan);
    expect(done).toMatchObject({ entries: 1, seqs: [kept + 1] });
    expect(await faultsIn(context)).toEqual(noFaults);
    expect(await context.verify()).toMatchObject({ erased: 1 });
    const { read } = context.store;
    expect(await read.selectFrom('decisions').select('subject').execute()).toEqual([{ subject: 'visitor-2' }]);
    const record = await read
      .selectFrom('entries')
      .selectAll()
      .where('seq', '=', done.seqs[0]!)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(record.body!.toString())).toMatchObject({
      seqs: [first],
      reason: 'request',
      law: 'eu-gdpr',
      officer: 'Olga',
    });
    expect(await filesWith(context, 'visitor-that-must-vanish')).toEqual([]);
    expect(await filesWith(context, 'c-one-and-only')).toEqual([]);
    expect((await filesWith(context, 'visitor-2')).length).toBeGreaterThan(0);
    // The same delivery again is a repeat and does not restore the content.
    expect(await chose(world, 'c-one-and-only', 'visitor-that-must-vanish', { ads: true })).toBe(first);
    await context.projector.catchUp();
    expect(await filesWith(context, 'visitor-that-must-vanish')).toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('refuses entries on which others depend, erasures, half a case, and needed entries unless overridden', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { context } = world;
    const decided = await chose(world, 'c-1', 'visitor-1', { ads: true });
    const asked = await world.event('dsar.submitted', {
      type: 'access',
      email: 'zoe@example.net',
      visitor_hash: 'visitor-1',
    });
    const caseId = `default-${asked}`;
    const later = await chose(world, 'c-2', 'visitor-2', { ads: true });
    const options = sourceOptionsSchema.parse({ fieldNames: { subject: ['who'] } });
    await context.sources.change('default', { options }, 'Olga');
    const changed = later + 1;
    const reasonsOf = async (...ranges: string[]) => {
      const done = await erase(context, ranges);
      return done.outcome === 'refused' ? done.problems.join(' ') : 'erased';
    };
    expect(await reasonsOf(String(changed))).toContain(`Entry ${changed} cannot be erased: source.changed decides how`);
    expect(await reasonsOf('900')).toContain('unknown entry');
    expect(await reasonsOf(String(decided))).toContain(`needed for ${caseId}: they are records of a requester`);
    expect(await reasonsOf(String(asked))).toContain(
      `needed for ${caseId}: the requester is still waiting for an answer`,
    );
    const moved = await moveCase(context.cases, { caseId, basedOn: 0, move: 'acknowledge', actor: 'Olga' });
    if (moved.outcome !== 'moved') throw new Error(JSON.stringify(moved));
    expect(await reasonsOf(String(asked))).toContain(`part of case ${caseId}, which can only be erased as a whole`);
    expect(await context.verify()).toMatchObject({ erased: 0, entries: moved.seq });
    expect(await erase(context, [String(later)], { confirmedBy: ' olga ' })).toMatchObject({
      problems: ['The second officer must be a different person from the first.'],
    });
    const done = await erase(context, [String(decided)], { despite: [caseId], confirmedBy: 'Paul' });
    if (done.outcome !== 'erased') throw new Error(JSON.stringify(done));
    expect(await reasonsOf(String(done.seqs[0]))).toContain('it records an erasure');
    expect(await reasonsOf(String(decided))).toBe('There is nothing to erase.');
    expect(await faultsIn(context)).toEqual(noFaults);
  });

  it('is finished by the next call if the process ends after the transaction', async () => {
    const { context, ...world } = await createOfficeWorld({}, { worker: false });
    const seq = await chose({ context, ...world }, 'c-1', 'visitor-that-must-vanish', { ads: true });
    // An export waiting for its download.
    await mkdir(join(context.config.dataDir, 'exports'));
    await writeFile(join(context.config.dataDir, 'exports', 'export.zip'), 'visitor-that-must-vanish');
    const ended = { ...context.erasure, rebuild: () => Promise.reject(new Error('the process ends here')) };
    await expect(carryOut(ended, await planOf(context, String(seq)), decision)).rejects.toThrow('ends here');
    // History rows were removed with the content, in its transaction; the current state follows.
    const { read } = context.store;
    expect(await read.selectFrom('decision_history').select('seq').execute()).toEqual([]);
    expect(await read.selectFrom('decisions').select('subject').execute()).toHaveLength(1);
    expect(await finishErasures(context.erasure)).toBe(true);
    expect(await finishErasures(context.erasure)).toBe(false);
    expect(await faultsIn(context)).toEqual(noFaults);
    expect(await filesWith(context, 'visitor-that-must-vanish')).toEqual([]);
  });

  it('removes no file and writes no record for an erasure that somebody else wrote into the database', async () => {
    const { context, ...world } = await createOfficeWorld({}, { worker: false });
    const seq = await chose({ context, ...world }, 'c-1', 'visitor-1', { ads: true });
    await context.projector.catchUp();
    const { dataDir } = context.config;
    const evidence = join(dataDir, 'evidence');
    await mkdir(evidence, { recursive: true });
    const [name, another] = ['a'.repeat(64), 'b'.repeat(64)];
    await writeFile(join(evidence, name), 'evidence');
    const forge = async (at: number, documentId: string) => {
      const body = JSON.stringify({
        ...{ v: 1, id: '0123456789abcdef', officer: 'Olga', confirmedBy: null, reason: 'mistake', law: 'eu-gdpr' },
        ...{ by: 'entries', seqs: [seq], files: [name], suppress: [], firstMadeAt: null },
        documents: [{ documentId, name: 'letter', format: 'txt', sha256: another, seq: 1 }],
      });
      const random = bytes(Buffer.alloc(32, at));
      await alter(
        dataDir,
        `insert into entries values (${at}, 'installation', ${at}, 'erasure', ${random}, '2026-03-02T00:00:00.000Z', ${bytes('{}')}, ${bytes(body)}, ${random}, ${random}, ${random}, ${random})`,
        `delete from settings where name = 'erasure_unfinished'`,
        `insert into settings values ('erasure_unfinished', '${seq}')`,
      );
    };
    await writeFile(join(dataDir, 'keep.txt'), 'not a document');
    await forge(1000, 'report-1');
    const finishing = () => finishErasures(context.erasure);
    await expect(finishing()).rejects.toThrow('The erasure in entry 1000 cannot be relied on');
    await expect(rewriteErasureRecords(context.erasure)).rejects.toThrow('entry 1000');
    expect(await listErasures(context.store.read, context.ledger)).toEqual([]);
    expect((await context.verify()).faults.map(({ sentence }) => sentence)).not.toContainEqual(
      expect.stringContaining('--finish'),
    );
    // A path out of the folder of documents.
    await forge(1001, '../keep');
    await expect(finishing()).rejects.toThrow('cannot be relied on');
    expect(await readdir(evidence)).toEqual([name]);
    expect(await readdir(dataDir)).toContain('keep.txt');
    expect(await readdir(dataDir)).not.toContain('erasures');
  });

  it('is named by a verification as long as it is marked as unfinished and has no record', async () => {
    const { context, ...world } = await createOfficeWorld({}, { worker: false });
    const seq = await chose({ context, ...world }, 'c-1', 'visitor-1', { ads: true });
    const { seqs } = await erased(context, await planOf(context, String(seq)));
    await rm(join(context.config.dataDir, 'erasures'), { recursive: true });
    expect((await context.verify()).faults).toMatchObject([{ fault: 'file-missing', seq: seqs[0] }]);
    await alter(context.config.dataDir, `insert into settings values ('erasure_unfinished', '1')`);
    expect((await context.verify()).unchecked).toEqual([
      expect.stringContaining(`the erasure ${seqs[0]} has no record`),
    ]);
  });

  it('is finished by running the interrupted command again, and reported until then', async () => {
    const folder = await temporaryFolder();
    const env = environment(folder, { LOG_LEVEL: 'fatal' });
    const context = await openContext(loadConfig(env, folder), createLog('fatal'));
    const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
    const { seq } = await appendDelivery(context.ledger, { ...entry, rawBody: Buffer.from('{"event":"a"}') }, ago);
    const ended = { ...context.erasure, rebuild: () => Promise.reject(new Error('the process ends here')) };
    await expect(carryOut(ended, await planOf(context, String(seq)), decision)).rejects.toThrow('ends here');
    await context.close();
    const shown = await runCli(folder, ['ledger', 'erase', String(seq)]);
    expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining('--finish')]);
    const flags = ['--yes', '--reason', 'mistake', '--law', 'eu-gdpr', '--officer', 'Olga'];
    const again = await runCli(folder, ['ledger', 'erase', '--to', '2026-03-02', ...flags]);
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringMatching(/An interrupted erasure has been finished[\s\S]*Nothing was received/),
    ]);
    expect((await runCli(folder, ['ledger', 'erase', '--finish'])).stdout).toContain('no unfinished erasure');
    // The certificate that the interrupted run would have made.
    const file = join(folder, 'certificate.json');
    const finish = ['ledger', 'erase', '--finish', '--certificate', file];
    expect(await runCli(folder, finish)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Certificate: ${file}`) as string,
    });
    const text = await readFile(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      erasure: {
        seqs: [seq + 1],
        officer: decision.officer,
        reason: decision.reason,
        erased: [{ what: 'other deliveries of the service', count: 1 }],
        residues: expect.arrayContaining([
          expect.objectContaining({ until: expect.any(String) as string }),
        ]) as unknown[],
      },
    });
    expect((await runCli(folder, ['document', 'check', file])).stdout).toContain('✓ genuine');
    expect(await runCli(folder, ['ledger', 'verify'])).toMatchObject({ code: 0 });
    await alter(folder, `update entries set meta = ${bytes('{}')} where seq = ${seq + 1}`);
    expect(await runCli(folder, finish)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`The erasure in entry ${seq + 1} cannot be relied on`),
    });
  });

  it('gives no certificate with --finish while only a part has been erased', async () => {
    const { context, ...world } = await createOfficeWorld({}, { worker: false });
    const seq = await chose({ context, ...world }, 'c-1', 'visitor-1', { ads: true });
    expect(await lastErasure(context, (law) => law)).toEqual({
      problem: 'No certificate: the ledger records no erasure.',
    });
    const plan = await planOf(context, String(seq));
    const before = summaryOf(plan);
    await erased(context, plan);
    expect(await lastErasure(context, (law) => law)).toMatchObject({ source: 'default', facts: { kept: before.kept } });
    const rest = await chose({ context, ...world }, 'c-2', 'visitor-2', { ads: true });
    const id = '0123456789abcdef';
    const nothing = { documents: [], files: [], suppress: [], firstMadeAt: null };
    const part = { v: 1 as const, id, ...decision, by: 'period', seqs: [rest], ...nothing } satisfies Erasure;
    await appendErasure(context.ledger, { ...part, summary: { ...before, entries: 10_001 } }, ago);
    expect(await lastErasure(context, (law) => law)).toEqual({
      problem: expect.stringContaining('1 of 10001 entries were erased') as string,
    });
  });

  it('is not undone by a page that a projector or rebuild had read before', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const { context } = world;
    const first = await chose(world, 'c-1', 'visitor-1', { ads: true });
    const second = await chose(world, 'c-2', 'visitor-2', { ads: true });
    const { read } = context.store;
    const pages = createPageReader(read, undefined, createOptionsInForce(read), {
      entries: 1,
      bytes: 1000,
      togetherMs: 0,
    });
    const before = (await loadFoldPosition(read, 'projector'))!;
    expect((await pages.load({ ...before, seq: first - 1 }))?.to).toBe(first);
    await erased(context, await planOf(context, String(second)));
    const after = (await loadFoldPosition(read, 'projector'))!;
    expect(after.generation).toBeGreaterThan(before.generation);
    expect((await pages.load({ ...after, seq: first }))?.entries).toEqual([]);
    await pages.close();
  });

  it('is previewed by the command, which asks for the reason and the officer', async () => {
    const folder = await temporaryFolder();
    const env = environment(folder, { LOG_LEVEL: 'fatal' });
    const context = await openContext(loadConfig(env, folder), createLog('fatal'));
    const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
    const rawBody = Buffer.from(
      '{"event":"consent.recorded","data":{"visitor_hash":"visitor-1","consent":{"ads":true}}}',
    );
    const { seq } = await appendDelivery(context.ledger, { ...entry, rawBody }, '2026-03-01T10:00:00.000Z');
    await context.seal();
    await context.close();
    const shown = await runCli(folder, ['ledger', 'erase', String(seq)]);
    expect(shown.stdout).toContain('1 × webhook consent.recorded: 1');
    expect(shown.stdout).toContain('Nothing was changed');
    const asked = await runCli(folder, ['ledger', 'erase', String(seq), '--yes']);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/--reason[\s\S]*--law[\s\S]*--officer/)]);
    const words = ['--yes', '--reason', 'mistake', '--officer', 'Olga'];
    const wrong = await runCli(folder, ['ledger', 'erase', String(seq), ...words, '--law', 'eu']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Unknown law eu')]);
    const file = join(folder, 'certificate.json');
    const flags = [...words, '--law', 'eu-gdpr', '--certificate', file, '--json'];
    const done = await runCli(folder, ['ledger', 'erase', String(seq), ...flags]);
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, expect.objectContaining({ entries: 1, seqs: [seq + 1] })]);
    const certificate: unknown = JSON.parse(await readFile(file, 'utf8'));
    expect(certificate).toMatchObject({
      erasure: {
        law: 'eu-gdpr',
        officer: 'Olga',
        erased: [{ what: 'consent decisions, as the service reported them', count: 1 }],
        suppressed: false,
        kept: [{ why: expect.stringContaining('Art. 17(3)(b) and (e) GDPR') as string }],
      },
    });
    expect(await readFile(file, 'utf8')).not.toContain('visitor-1');
    expect((await runCli(folder, ['document', 'check', file])).stdout).toContain('✓ genuine');
    const key = (await runCli(folder, ['ledger', 'key'])).stdout.trim();
    const checked = await runCli(folder, ['ledger', 'verify', '--public', '--key', key, ...databaseFlag(folder)]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('1 entry erased')]);
    expect(await runCli(folder, ['ledger', 'rebuild', '--check'])).toMatchObject({ code: 0 });
    expect(await runCli(folder, ['ledger', 'verify'])).toMatchObject({ code: 0 });
  });

  it('needs a second officer if the controller profile requires one, and changes nothing until there is one', async () => {
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, 'controller.yaml'),
      'name: Shop\naddress: [Street 1]\nerasureNeedsSecondOfficer: true\n',
    );
    const env = environment(folder, { LOG_LEVEL: 'fatal', CONTROLLER_FILE: join(folder, 'controller.yaml') });
    const context = await openContext(loadConfig(env, folder), createLog('fatal'));
    const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
    const { seq } = await appendDelivery(context.ledger, { ...entry, rawBody: Buffer.from('{"event":"a"}') }, ago);
    await context.close();
    const run = (...more: string[]) =>
      runCli(
        folder,
        [
          'ledger',
          'erase',
          String(seq),
          '--yes',
          '--reason',
          'mistake',
          '--law',
          'eu-gdpr',
          '--officer',
          'Olga',
          ...more,
        ],
        { CONTROLLER_FILE: join(folder, 'controller.yaml') },
      );
    for (const [more, words] of [
      [[], 'requires two officers: add --confirmed-by'],
      [['--confirmed-by', ' '], '--confirmed-by requires the name of the second officer'],
      [['--confirmed-by', ' olga '], 'must be a different person from the first'],
    ] as const) {
      const refused = await run(...more);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(words)]);
    }
    expect((await runCli(folder, ['ledger', 'verify', '--json'])).stdout).toMatch(/"erased": ?0/);
    expect(await run('--confirmed-by', 'Paul')).toMatchObject({ code: 0 });
    expect((await runCli(folder, ['ledger', 'verify', '--json'])).stdout).toMatch(/"erased": ?1/);
  });

  it('has missing or altered records in DATA_DIR rewritten by --finish, as verify advises', async () => {
    const folder = await temporaryFolder();
    const env = environment(folder, { LOG_LEVEL: 'fatal' });
    const context = await openContext(loadConfig(env, folder), createLog('fatal'));
    const entry = { source: 'default', headers: {}, secretId: 's', verdict: 'verified', contentType: null } as const;
    const { seq } = await appendDelivery(context.ledger, { ...entry, rawBody: Buffer.from('{"event":"a"}') }, ago);
    const done = await erased(context, await planOf(context, String(seq)));
    const [record = ''] = await readdir(join(context.config.dataDir, 'erasures'));
    const path = join(context.config.dataDir, 'erasures', record);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"request"', '"mistake"'));
    expect((await context.verify()).faults).toEqual([
      expect.objectContaining({
        seq: done.seqs[0],
        fault: 'file-missing',
        sentence: expect.stringContaining('--finish') as string,
      }),
    ]);
    await rm(path);
    expect((await context.verify()).faults).toHaveLength(1);
    await context.close();
    const finished = await runCli(folder, ['ledger', 'erase', '--finish']);
    expect(finished).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 record of erasures rewritten') as string,
    });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(JSON.parse(text));
    expect(await runCli(folder, ['ledger', 'verify'])).toMatchObject({ code: 0 });
  });
});

function databaseFlag(folder: string): string[] {
  const database = databaseIn(folder);
  return ['--database', database.engine === 'postgres' ? database.url : `sqlite:${database.path}`];
}
