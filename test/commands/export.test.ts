import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { seedRequests } from '../http/pages/seed.ts';
import { SECRET } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

const readText = (...path: string[]) => readFile(join(...path), 'utf8');

/** Runs the verifier as a recipient would: with Node.js and the folder alone. */
function verify(folder: string, ...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [join(folder, 'verify-export.mjs'), folder, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout };
}

test('`export` writes everything in open formats with a verifier that finds each change', async () => {
  const home = await temporaryFolder();
  const world = await createOfficeWorld({ DATA_DIR: home }, { worker: false });
  const { config } = world.context;
  const env = { DATA_DIR: home };
  const { access } = await seedRequests(world);
  const cli = (...args: string[]) => runCli(home, args, env);
  expect((await cli('dsar', 'pack', `default-${access}`, '--json')).code).toBe(0);
  const { ledger } = world.context;
  const [, gone] = await ledger.append(
    [Buffer.from([0xff, 0x00, 0x80]), Buffer.from('to be erased')].map((body) => ({
      source: 'default',
      kind: 'webhook',
      dedupeKey: ledger.keyOf(body),
      receivedAt: new Date().toISOString(),
      meta: Buffer.from('{"verdict":"verified"}'),
      body,
    })),
  );
  const odd = { consent_id: '-c-1', banner_id: '+main', visitor_hash: '=v-1', consent: { analytics: true } };
  await world.event('consent.recorded', { ...odd, timestamp: new Date().toISOString() });
  await world.context.projector.catchUp();
  await writeFile(join(home, 'controller.yaml'), 'name: Acme GmbH\n');
  await writeFile(join(home, 'shop.yaml'), 'name: Shop AG\n');
  expect((await cli('source', 'add', 'shop', '--controller-file', join(home, 'shop.yaml'))).code).toBe(0);
  await mkdir(join(home, 'witnessed'));
  // The second one refers to entries that do not exist yet.
  for (const name of ['1-0000000000000003.txt', '1-0000000000009999.txt'])
    await writeFile(join(home, 'witnessed', name), 'a checkpoint with a signature of a witness');
  const words = ['--yes', '--reason', 'mistake', '--law', 'eu-gdpr', '--officer', 'Olga'];
  expect(await cli('ledger', 'erase', String(gone?.seq), ...words)).toMatchObject({ code: 0 });
  const folder = join(await temporaryFolder(), 'export');
  const { code, stdout } = await cli('export', '--out', folder, '--json');
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as {
    seq: number;
    sealed: number;
    faults: string[];
    tables: Record<string, number>;
  };
  expect(report).toMatchObject({ faults: [], sealed: report.seq });
  expect(verify(folder)).toEqual({
    status: 0,
    stdout: expect.stringContaining(
      `✓ ${report.seq} entries, ${report.seq} of them under signed checkpoints, 1 erased`,
    ) as string,
  });
  expect(verify(folder, '--key', world.context.verifierKey).status).toBe(0);
  expect(verify(folder, '--key', 'consent-ledger/other/1+00000000+AA').status).toBe(3);

  // With support for the formats that the schema uses.
  const isEntry = new Ajv2020({ strict: false, formats: { 'date-time': true } }).compile(
    JSON.parse(await readText(folder, 'entries.schema.json')) as object,
  );
  const lines = (await readText(folder, 'entries', '000001.jsonl')).trimEnd().split('\n');
  expect(lines).toHaveLength(report.seq);
  for (const line of lines) expect(isEntry(JSON.parse(line))).toBe(true);
  expect(lines.some((line) => line.includes('"bodyBase64":"/wCA"'))).toBe(true);
  const cases = parse<{ case_id: string }>(await readText(folder, 'tables', 'cases.csv'), { columns: true });
  expect(cases).toHaveLength(3);
  // Ids are those of the entries, so that they can be joined with them.
  const decisions = parse<Record<string, string>>(await readText(folder, 'tables', 'decision_history.csv'), {
    columns: true,
  });
  const cells = decisions.flatMap((row) => Object.values(row));
  expect(cells).toEqual(expect.arrayContaining(['-c-1', '+main', '=v-1']));
  expect(await readText(folder, 'README.md')).toContain('import all columns as text');
  expect(cases[0]).toHaveProperty('requester_email');
  expect(await readdir(join(folder, 'documents'))).toHaveLength(1);
  expect(await readText(folder, 'controller.yaml')).toBe('name: Acme GmbH\n');
  expect(await readText(folder, 'profiles', 'shop.yaml')).toBe('name: Shop AG\n');
  expect(await readdir(join(folder, 'witnessed'))).toEqual(['1-0000000000000003.txt']);
  const everything = spawnSync('grep', ['-r', SECRET, folder], { encoding: 'utf8' });
  expect(everything.stdout).toBe('');

  // Each change is found and named.
  const [pack = ''] = await readdir(join(folder, 'documents'));
  const edit = (name: string, from: string, to: string) => async (copy: string) =>
    writeFile(join(copy, name), (await readText(copy, name)).replace(from, to));
  const changes: [string, (copy: string) => Promise<unknown>, string][] = [
    [
      'content',
      edit('entries/000001.jsonl', 'ada@example.org', 'eve@example.org'),
      'its content is not what was recorded',
    ],
    ['time', edit('entries/000001.jsonl', '"receivedAt":"20', '"receivedAt":"19'), 'its number, time, source'],
    ['entry', edit('entries/000001.jsonl', `${lines[4]}\n`, ''), 'entry 5 is missing'],
    [
      'end',
      edit('entries/000001.jsonl', `${lines.at(-1)}\n`, ''),
      `a checkpoint was signed over ${report.seq} entries`,
    ],
    ['note', edit('checkpoints.txt', '— ', '— x'), 'checkpoints.txt: '],
    ['document', (copy) => writeFile(join(copy, 'documents', pack), 'x'), 'is not the file that its entry names'],
    ['lost document', (copy) => rm(join(copy, 'documents', pack)), 'to which an entry refers, is missing'],
    ['table', edit('tables/cases.csv', 'ada', 'eve'), 'tables/cases.csv was changed'],
    ['addition', (copy) => writeFile(join(copy, 'more.txt'), 'x'), 'more.txt is not in the manifest'],
  ];
  for (const [name, change, words] of changes) {
    const copy = join(await temporaryFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    await change(copy);
    expect({ name, ...verify(copy) }).toEqual({ name, status: 3, stdout: expect.stringContaining(words) as string });
  }

  // It never overwrites a folder.
  expect(await cli('export', '--out', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not empty') as string,
  });
  const empty = join(await temporaryFolder(), 'empty');
  await mkdir(empty);
  expect((await cli('export', '--out', empty)).code).toBe(0);
  await rm(join(config.dataDir, 'documents', pack));
  await rm(join(home, 'shop.yaml'));
  const lacking = await cli('export', '--out', `${empty}2`);
  expect(lacking).toMatchObject({
    code: 3,
    stdout: expect.stringContaining(`documents/${pack}, to which an entry refers, is missing`) as string,
  });
  expect(lacking.stdout).toContain(`the controller profile ${join(home, 'shop.yaml')} cannot be read`);
});

test('an export does not destroy another one to the same folder that is running', async () => {
  const home = await temporaryFolder();
  const out = join(home, 'copy');
  await mkdir(`${out}.part`, { recursive: true });
  await writeFile(join(`${out}.part`, 'half.jsonl'), 'half');
  const env = { DATA_DIR: join(home, 'data') };
  const refused = await runCli(join(home, 'data'), ['export', '--out', out], env);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${out}.part exists: another export`)]);
  expect(await readdir(`${out}.part`)).toEqual(['half.jsonl']);
  await rm(`${out}.part`, { recursive: true });
  expect((await runCli(join(home, 'data'), ['export', '--out', out], env)).code).toBe(0);
});
