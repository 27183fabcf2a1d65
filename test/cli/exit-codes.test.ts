import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { serveHere } from '../serving.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { deliverTo, runHere, runIn, runProcess } from './command-line.ts';

it('a command reports every configuration problem at once, with exit code 2 and nothing on standard output', async () => {
  const folder = await temporaryFolder();
  const env = {
    DATA_DIR: folder,
    PORT: 'many',
    TIME_ZONE: 'Mars/Olympus',
    INSTANCE_KEY: 'c2hvcnQ=',
    SERVICE_BASE_URL: 'ftp://service.example',
    SYNC_SCHEDULE: 'often',
  };
  for (const args of [['serve'], ['ledger', 'verify', '--json']]) {
    const { code, stdout, stderr } = await (args[0] === 'serve' ? runProcess : runIn)(folder, args, { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('5 problems');
    for (const name of ['PORT', 'TIME_ZONE', 'INSTANCE_KEY', 'SERVICE_BASE_URL', 'SYNC_SCHEDULE'])
      expect(stderr).toContain(`- ${name} `);
    expect(stderr).not.toContain('c2hvcnQ=');
  }
});

it('a command exits with 2 and a sentence, not a stack trace, on wrong usage', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder };
  const wrong: readonly [readonly string[], RegExp][] = [
    [['frobnicate'], /unknown command/],
    [['ledger', 'verify', '--fast'], /unknown option/],
    [['delivery', 'show', 'first'], /digits only/],
    [['delivery', 'show', '7'], /Unknown entry 7/],
    [['delivery', 'list', '--refused', '--ambiguous'], /only one of/],
    [['delivery', 'readmit', '--id', '5'], /Unknown refused delivery 5/],
    [['source', 'rotate', 'default'], /--webhook-secret-file/],
    [['source', 'retire', 'nowhere', 'abcd'], /Unknown source nowhere/],
    [['sync', '--full', '--from', '2026-01-01'], /cannot be combined/],
    [['sync', 'status', '--source', 'nowhere'], /Unknown source nowhere/],
    [['report', 'consent-audit', '--from', '2026-01-01'], /--to/],
    [['report', 'consent-audit', '--from', '2026-13-01', '--to', '2027-01-01'], /Invalid date|Unknown source/],
    [['document', 'check', 'not-there.pdf'], /Cannot read/],
    [['init', '--folder', 'not-there'], /does not exist/],
  ];
  for (const [args, sentence] of wrong) {
    const { code, stdout, stderr } = await runHere(folder, args, env);
    expect([args.join(' '), code, stdout]).toEqual([args.join(' '), 2, '']);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

it('a command exits with 3 when verification finds a fault, and calls a changed file not genuine', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests' };
  const server = await serveHere(folder, env);
  expect(
    (await deliverTo(`${server.url}/webhooks/default`, env.WEBHOOK_SECRETS, '{"event":"ping","n":1}')).status,
  ).toBe(200);
  await server.stop();
  expect((await runIn(folder, ['ledger', 'verify'], { env })).code).toBe(0);

  const made = await runIn(
    folder,
    [
      'report',
      'delivery-log',
      '--from',
      '2020-01-01',
      '--to',
      '2100-01-01',
      '--format',
      'csv',
      '--out',
      'log.csv',
      '--json',
    ],
    { env },
  );
  expect([made.code, made.stderr]).toEqual([0, '']);
  const genuine = await runHere(folder, ['document', 'check', 'log.csv', '--json'], env);
  expect([genuine.code, JSON.parse(genuine.stdout)]).toMatchObject([
    0,
    { genuine: true, documents: [{ name: 'delivery-log', format: 'csv' }] },
  ]);
  await writeFile(`${folder}/log.csv`, `${await readFile(`${folder}/log.csv`, 'utf8')} `);
  const changed = await runIn(folder, ['document', 'check', 'log.csv'], { env });
  expect(changed.code).toBe(3);
  expect(changed.stdout).toContain('unknown');

  await alter(folder, `update delivery_history set received_at = '2020-01-01T00:00:00.000Z'`);
  const check = await runHere(folder, ['ledger', 'rebuild', '--check', '--json'], env);
  expect([check.code, JSON.parse(check.stdout)]).toMatchObject([3, { counts: { delivery_history: 1 } }]);
  const again = await runHere(folder, ['ledger', 'rebuild', '--check'], env);
  expect([again.code, again.stdout]).toEqual([3, expect.stringMatching(/delivery_history: 1 row\n\s+seq=\d+/)]);
  const period = ['--from', '2020-01-01', '--to', '2100-01-01'];
  const refused = await runHere(folder, ['report', 'delivery-log', ...period, '--format', 'csv'], env);
  expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('delivery_history (1)')]);
  expect((await runHere(folder, ['ledger', 'rebuild'], env)).code).toBe(0);
  const sound = await runHere(folder, ['ledger', 'rebuild', '--check'], env);
  expect([sound.code, sound.stdout]).toEqual([0, expect.stringMatching(/no differences\n$/)]);
  expect((await runHere(folder, ['source', 'add', 'two', '--name', 'Two'], env)).code).toBe(0);
  const behind = await runHere(folder, ['ledger', 'rebuild', '--check'], env);
  expect([behind.code, behind.stdout]).toEqual([0, expect.stringContaining('1 later entry has not been folded yet')]);

  await alter(folder, `update entries set body = ${bytes('{"event":"ping","n":2}')} where kind = 'webhook'`);
  const verify = await runIn(folder, ['ledger', 'verify', '--json'], { env });
  expect([verify.code, JSON.parse(verify.stdout)]).toMatchObject([3, { faults: [{ fault: 'body-edited' }] }]);
  const doctor = await runHere(folder, ['doctor'], env);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/✗\S* ledger: Entry \d+ was altered/);
});

it('a report is reproduced as of the same entry byte for byte, and both are recognised', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests' };
  const server = await serveHere(folder, env);
  const send = (n: number) =>
    deliverTo(
      `${server.url}/webhooks/default`,
      env.WEBHOOK_SECRETS,
      JSON.stringify({
        event: 'consent.recorded',
        consent_id: `c${n}`,
        banner_id: 'b',
        visitor_hash: `v${n}`,
        status: 'accept_all',
      }),
    );
  const make = async (more: readonly string[]) => {
    const ran = await runHere(
      folder,
      ['report', 'consent-audit', '--from', '2020-01-01', '--to', '2100-01-01', ...more, '--json'],
      env,
    );
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    return JSON.parse(ran.stdout) as { sha256: string; asOf: number; seq: number; documentId: string };
  };
  for (const format of ['pdf', 'csv']) {
    for (let n = 0; n < 3; n += 1) expect((await send(n)).status).toBe(200);
    const first = await make(['--format', format]);
    expect((await send(100 + first.seq)).status).toBe(200);
    const again = await make(['--format', format, '--as-of', String(first.asOf)]);
    expect(again).toMatchObject({ sha256: first.sha256, asOf: first.asOf, documentId: first.documentId });
    const later = await make(['--format', format]);
    expect(later.sha256).not.toBe(first.sha256);
  }
  const beyond = await runHere(
    folder,
    ['report', 'consent-audit', '--from', '2020-01-01', '--to', '2100-01-01', '--as-of', '100000'],
    env,
  );
  expect([beyond.code, beyond.stderr]).toEqual([2, expect.stringContaining('is beyond the end of the ledger')]);
  await server.stop();
});

it('init writes keys once and never overwrites them', async () => {
  const folder = await temporaryFolder();
  const first = await runIn(folder, ['init', '--json']);
  expect([first.code, JSON.parse(first.stdout)]).toMatchObject([0, { outcome: 'written' }]);
  const before = [await readFile(`${folder}/.env`, 'utf8'), await readFile(`${folder}/data/keys/signing.pem`, 'utf8')];
  expect(before[0]).toMatch(/^INSTANCE_KEY=".{44}"$/m);
  expect(first.stdout).not.toContain(/^INSTANCE_KEY="(.{44})"$/m.exec(before[0] ?? '')?.[1]);

  const second = await runIn(folder, ['init', '--json']);
  expect([second.code, JSON.parse(second.stdout)]).toMatchObject([1, { outcome: 'exists' }]);
  expect([await readFile(`${folder}/.env`, 'utf8'), await readFile(`${folder}/data/keys/signing.pem`, 'utf8')]).toEqual(
    before,
  );
  // The program can read what init wrote.
  expect((await runIn(folder, ['ledger', 'verify'])).code).toBe(0);
});

it('a command that never finishes exits with 1 and a sentence', async () => {
  const folder = await temporaryFolder();
  // A database that never reports whether it was opened, with nothing else to keep the process alive.
  const sqlite3 = import.meta.resolve('sqlite3');
  const preload = `import sqlite3 from ${JSON.stringify(sqlite3)}; sqlite3.Database = class {};`;
  const NODE_OPTIONS = `--import=data:text/javascript;base64,${Buffer.from(preload).toString('base64')}`;
  const { code, stderr } = await runProcess(folder, ['sync', 'status'], {
    env: { DATA_DIR: folder, DATABASE_URL: '', NODE_OPTIONS },
  });
  expect(code).toBe(1);
  expect(stderr).toContain('internal error');
});
