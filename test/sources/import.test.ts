import { mkdir, writeFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, onTestFinished, test } from 'vitest';
import { profilesForImport } from '../../src/config/profile-file.ts';
import { loadControllerFile } from '../../src/config/settings-files.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { type ImportRequest, importSources } from '../../src/sources/import/import-sources.ts';
import { importColumns, importLimits, importTemplate } from '../../src/sources/import/read-csv.ts';
import { createSources } from '../../src/sources/sources.ts';
import { runHere } from '../cli/command-line.ts';
import { temporaryFolder, temporaryStore, testKeys } from '../temporary.ts';

async function open() {
  const store = await temporaryStore();
  const ledger = createLedger({ store, keys: testKeys });
  let now = Date.parse('2026-03-01T10:00:00.000Z');
  const clock = () => new Date((now += 10));
  const sources = await createSources({ store, ledger, keys: testKeys, clock, configured: null });
  onTestFinished(async () => {
    sources.close();
    await ledger.close();
  });
  const files: Record<string, string> = {};
  const dataDir = await temporaryFolder();
  // No read model is needed.
  const projector = { catchUp: () => Promise.resolve() };
  const variables: Record<string, string> = {};
  const run = (csv: string, changes: Partial<ImportRequest> = {}) =>
    importSources(
      {
        sources,
        isConfigured: (slug) => slug === 'default',
        readers: {
          folder: '/import',
          file: (path) =>
            path in files
              ? Promise.resolve(files[path] as string)
              : Promise.reject(Object.assign(new Error('no'), { code: 'ENOENT' })),
          variable: (name) => variables[name] ?? null,
          profileProblems: async (path) => (path in files ? [] : [`${path}: no such profile.`]),
        },
        profiles: profilesForImport({
          config: { controllerFile: null, dataDir },
          store,
          ledger,
          projector,
          clock,
          sources,
        }),
      },
      { csv: Buffer.from(csv), actor: 'anna', ...changes },
    );
  const entries = async () => {
    const rows = await store.read.selectFrom('entries').select(['meta', 'body']).orderBy('seq').execute();
    return rows.map(({ body }) => String(body));
  };
  return { store, sources, run, files, variables, entries, dataDir };
}

test('`source import` imports every source of a file, with secrets from cells, files and variables, and records only their ids', async () => {
  const world = await open();
  world.files['/import/keys/b'] = 'pak_live_hush_b\n';
  world.files['/import/hooks'] = 'hush-one\nhush-two\n';
  world.variables['HOOK_C'] = '68757368';
  const report = await world.run(
    [
      '\ufeffSlug;Name;Base URL;api_key;api_key_file;webhook_secrets;webhook_secrets_file;webhook_secrets_env;secret_encoding;banners;field_names',
      'a;"Shop; A";https://service.example/api/v1/;pak_live_hush_a;;hush-a1 hush-a2;;;;b1 b2;subject=x.y,z recordId=rid',
      '',
      'b;;;;keys/b;;hooks;;;;',
      'c;;;;;;;HOOK_C;hex;;',
    ].join('\r\n'),
  );
  expect(report.problems).toEqual([]);
  expect(report.lines.map(({ line, slug, outcome }) => [line, slug, outcome])).toEqual([
    [2, 'a', 'added'],
    [4, 'b', 'added'],
    [5, 'c', 'added'],
  ]);
  expect(world.sources.find('a')).toMatchObject({
    name: 'Shop; A',
    baseUrl: 'https://service.example/api/v1',
    apiKey: 'pak_live_hush_a',
    options: { banners: ['b1', 'b2'], fieldNames: { subject: ['x.y', 'z'], recordId: ['rid'] } },
  });
  expect(world.sources.find('a')?.webhookSecrets.map(({ value }) => value)).toEqual(['hush-a1', 'hush-a2']);
  expect(world.sources.find('b')).toMatchObject({ apiKey: 'pak_live_hush_b' });
  expect(world.sources.find('b')?.webhookSecrets).toHaveLength(2);
  expect(world.sources.find('c')?.webhookSecrets).toMatchObject([{ value: '68757368', encoding: 'hex' }]);
  expect(JSON.stringify(report)).not.toMatch(/hush/);
  const entries = await world.entries();
  expect(entries).toHaveLength(3);
  expect(entries.join()).not.toMatch(/hush/);
  expect(entries[0]).toContain(`webhookSecrets +${world.sources.find('a')?.webhookSecrets[0]?.id}`);
});

test('`source import` writes nothing when a line is invalid, and names every problem with its line and without secrets', async () => {
  const world = await open();
  const csv = [
    'slug,base_url,api_key,api_key_env,webhook_secrets,secret_encoding,assumed_offset,field_names',
    'good,,,,hush-good,,,',
    'Bad Slug,,,,,,,',
    'url,ftp://x,,,,,,',
    'key,,hush hush,,,,,',
    'env,,,hush!not-a-name,,,,',
    'hex,,,,hush-not-hex,hex,,',
    'enc,,,,x,rot13,,',
    'off,,,,,,CET,',
    'fields,,,,,,,subject',
    'good,,,,,,,',
    'default,,,,,,,',
    'long,,,,,,,,,,hush-extra',
  ].join('\n');
  const report = await world.run(csv);
  expect(report.outcome).toBe('refused');
  expect(report.problems.map(({ line, column }) => [line, column])).toEqual([
    [3, 'slug'],
    [4, 'base_url'],
    [5, 'api_key'],
    [6, 'api_key_env'],
    [7, 'webhook_secrets'],
    [8, 'secret_encoding'],
    [9, 'assumed_offset'],
    [10, 'field_names'],
    [11, 'slug'],
    [12, 'slug'],
    [13, null],
  ]);
  expect(JSON.stringify(report)).not.toMatch(/hush/);
  expect(await world.entries()).toEqual([]);
  const skipped = await world.run(csv, { skipInvalid: true });
  expect(skipped.lines.map(({ slug, outcome }) => [slug, outcome])).toEqual([['good', 'added']]);
  expect(skipped.problems).toHaveLength(11);
  expect(world.sources.list().map(({ slug }) => slug)).toEqual(['good']);
});

test('`source import` changes nothing on a second import, refuses a changed line without --update, and keeps values for empty cells', async () => {
  const world = await open();
  const first = 'slug,name,api_key,webhook_secrets,banners\nshop,Shop,pak_live_1,hush-one,b1\nother,,,,\n';
  await world.run(first);
  const before = await world.entries();
  const again = await world.run(first);
  expect(again.lines.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged']);
  expect(await world.entries()).toEqual(before);

  const second = 'slug,name,api_key,webhook_secrets,banners\nshop,Shop 2,,hush-two,b1 b2\n';
  const refused = await world.run(second);
  expect(refused.outcome).toBe('refused');
  expect(refused.problems[0]?.problem).toMatch(
    /different settings \(name, banners, webhookSecrets \+[0-9a-f]{8}\): use --update to change it/,
  );
  expect(await world.entries()).toEqual(before);
  const planned = await world.run(second, { update: true, dryRun: true });
  expect(planned).toMatchObject({ outcome: 'dry-run', lines: [{ outcome: 'planned-change' }] });
  expect(await world.entries()).toEqual(before);
  const done = await world.run(second, { update: true });
  expect(done.lines).toMatchObject([{ slug: 'shop', outcome: 'changed' }]);
  expect(world.sources.find('shop')).toMatchObject({
    name: 'Shop 2',
    apiKey: 'pak_live_1',
    options: { banners: ['b1', 'b2'] },
  });
  // The old secret overlaps until it is retired.
  expect(world.sources.find('shop')?.webhookSecrets.map(({ value }) => value)).toEqual(['hush-two', 'hush-one']);
  expect((await world.run(second, { update: true })).lines).toMatchObject([{ outcome: 'unchanged' }]);
});

test('`source import` does not restore an offboarded source from a file', async () => {
  const world = await open();
  await world.run('slug\nshop\n');
  await world.sources.offboard('shop', { reason: null, openCases: 0 }, 'anna');
  const report = await world.run('slug\nshop\n', { update: true, skipInvalid: true });
  expect(report.problems).toMatchObject([{ line: 2, problem: expect.stringContaining('was offboarded') as string }]);
  expect(world.sources.find('shop')).toBeNull();
});

test('`source import` repeats nothing from a file without a header or from shifted columns: it may be a secret', async () => {
  const world = await open();
  const bare = await world.run('shop,Shop,https://service.example/api/v1,pak_live_hush,hush-secret\n');
  expect(bare).toMatchObject({ outcome: 'refused', problems: [{ line: 1, column: null }] });
  expect(bare.problems[0]?.problem).toContain('not a header');
  const odd = await world.run('slug,pak_live_hush1\nshop,x\n');
  expect(odd.problems[0]?.problem).toContain('Unknown column number 2');
  const shifted = await world.run('slug,name\npak_live_hush,shop\n');
  expect(shifted.problems).toMatchObject([{ line: 2, slug: null, column: 'slug' }]);
  for (const report of [bare, odd, shifted]) expect(JSON.stringify(report)).not.toMatch(/hush/);
});

test('`source import` refuses a thousand lines for one invalid line, and imports all once it is corrected', async () => {
  const world = await open();
  const lines = Array.from(
    { length: 1000 },
    (_, n) => `client-${n};"Client; ""${n}""";hush-${n};https://service.example/api/v1`,
  );
  const file = (bad: string) => `\ufeffslug;name;webhook_secrets;base_url\r\n${[...lines, bad].join('\r\n')}\r\n`;
  const refused = await world.run(file('client-7;Again;hush-x;'));
  expect(refused.problems).toEqual([
    { line: 1002, slug: 'client-7', column: 'slug', problem: 'The slug is already used in line 9.' },
  ]);
  expect(await world.entries()).toEqual([]);
  const taken = await world.run(file('client-1000;Last;hush-y;'));
  expect([taken.outcome, taken.lines.length, taken.problems]).toEqual(['imported', 1001, []]);
  expect(world.sources.find('client-12')?.name).toBe('Client; "12"');
  const entries = await world.entries();
  expect(entries).toHaveLength(1001);
  expect(entries.join()).not.toMatch(/hush/);
});

test('`source import` also warns of a signing secret that an existing source uses', async () => {
  const world = await open();
  await world.run('slug,webhook_secrets\na,hush-same\nb,hush-own\n');
  const { warnings } = await world.run('slug,webhook_secrets\nc,hush-same\nb,hush-own\n', { dryRun: true });
  expect(warnings).toEqual([expect.stringMatching(/belongs to c, a: anyone/)]);
});

test('`source import` warns of a shared signing secret; refuses invalid CSV, large files and unknown columns', async () => {
  const world = await open();
  const shared = await world.run('slug,webhook_secrets\na,hush-same\nb,hush-same\n', { dryRun: true });
  expect(shared.warnings).toEqual([expect.stringContaining('belongs to a, b')]);
  const wrong: readonly [string | Buffer, RegExp][] = [
    ['', /empty/],
    ['slug,name\na,"hush', /Invalid CSV/],
    ['slug,hushcolumn\na,b', /^Unknown column/],
    ['name\nx', /slug is missing/],
    ['slug,slug\na,b', /Duplicate column/],
    [Buffer.from([0x73, 0xff]), /UTF-8/],
    ['x'.repeat(importLimits.bytes + 1), /split it/],
    [`slug\n${'a\n'.repeat(importLimits.lines + 1)}`, /lines: split it/],
  ];
  for (const [csv, sentence] of wrong) {
    const report = await world.run('', { csv: Buffer.from(csv) });
    expect(report.outcome).toBe('refused');
    expect(report.problems.map(({ problem }) => problem).join()).toMatch(sentence);
  }
  expect(await world.entries()).toEqual([]);
});

test('`source import` has every column in the template, which imports as one valid line once its files exist', async () => {
  const world = await open();
  const [header, example] = parse(importTemplate());
  expect(header).toEqual(importColumns.map(({ name }) => name));
  expect(example).toHaveLength(importColumns.length);
  world.files['/import/secrets/acme-shop.key'] = 'pak_live_x';
  world.files['/import/secrets/acme-shop.webhook'] = 'a-secret';
  expect(await world.run(importTemplate())).toMatchObject({ outcome: 'imported', problems: [] });
});

test('`source import` prints a table or JSON, warns when others can read the file, and exits with 2 when a line is invalid', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: `${folder}/data` };
  await mkdir(`${folder}/data`);
  await writeFile(`${folder}/clients.csv`, 'slug,webhook_secrets\nshop,hush-one\nBAD,\n', { mode: 0o644 });
  const refused = await runHere(folder, ['source', 'import', 'clients.csv'], env);
  expect([refused.code, refused.stdout]).toEqual([2, expect.stringMatching(/line 3.*slug:[\s\S]*Nothing was written/)]);
  expect(refused.stdout).toContain('is readable by other users');
  await writeFile(`${folder}/right.csv`, 'slug,webhook_secrets\nshop,hush-one\n', { mode: 0o600 });
  const done = await runHere(folder, ['source', 'import', 'right.csv', '--json'], env);
  expect([done.code, JSON.parse(done.stdout)]).toMatchObject([
    0,
    { outcome: 'imported', lines: [{ line: 2, slug: 'shop', outcome: 'added' }], problems: [], warnings: [] },
  ]);
  for (const { stdout, stderr } of [refused, done]) expect(stdout + stderr).not.toMatch(/hush/);
  const template = await runHere(folder, ['source', 'import', '--template'], env);
  expect(template.stdout).toBe(importTemplate());
});

test('refuses a file with a controller profile that cannot be used, and writes nothing', async () => {
  const world = await open();
  world.files['/import/good.yaml'] = 'name: Good';
  const report = await world.run('slug,controller_file\ngood,good.yaml\nbad,bad.yaml\n');
  expect(report).toMatchObject({
    outcome: 'refused',
    problems: [{ line: 3, slug: 'bad', column: 'controller_file', problem: '/import/bad.yaml: no such profile.' }],
  });
  expect(world.sources.list()).toEqual([]);
});

test('warns of sources with one API key, also beside those that exist, without the key', async () => {
  const world = await open();
  await world.sources.add(
    { slug: 'old', name: 'Old', baseUrl: 'https://service.example/api/v1', apiKey: 'pak_live_one' },
    'anna',
  );
  const csv = 'slug,base_url,api_key\nyoung,https://service.example/api/v1,pak_live_one\nother,,pak_live_two\n';
  const { warnings, problems } = await world.run(csv, { dryRun: true });
  expect(problems).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/^young, old have the same API key: is one client entered twice\?/)]);
});

test('`source import` refuses a line with an address in a private network before anything is written', async () => {
  const { run, sources } = await open();
  const report = await run('slug,base_url,site_url\na,https://service.example/api/v1,\nb,https://10.0.0.5/api/v1,\n');
  expect(report).toMatchObject({
    outcome: 'refused',
    problems: [
      { line: 3, slug: 'b', column: 'base_url', problem: expect.stringMatching(/^Is on this machine.*HOSTS\.$/) },
    ],
  });
  expect(sources.list()).toEqual([]);
});

test('`source import` changes an address only in a line that also has the key', async () => {
  const { run, sources } = await open();
  await run('slug,base_url,api_key\na,https://service.example/api/v1,pak_live_hush\n');
  const moved = 'https://elsewhere.example/api/v1';
  const without = await run(`slug,base_url\na,${moved}\n`, { update: true });
  expect(without).toMatchObject({
    outcome: 'refused',
    problems: [{ line: 2, column: 'api_key', problem: expect.stringContaining('Must be entered again') }],
  });
  expect(sources.find('a')?.baseUrl).toBe('https://service.example/api/v1');
  const same = await run(`slug,base_url,api_key\na,${moved},pak_live_hush\n`, { update: true });
  expect(same).toMatchObject({ outcome: 'imported', lines: [{ outcome: 'changed', changed: ['baseUrl'] }] });
  expect(sources.find('a')?.baseUrl).toBe(moved);
});

test('a file gives each source a controller profile of its own, with only the parts that it says', async () => {
  const world = await open();
  const profileOf = async (slug: string) => {
    const file = world.sources.find(slug)?.options.controllerFile ?? null;
    if (file === null) return null;
    const loaded = await loadControllerFile(`${world.dataDir}/${file}`);
    return loaded.outcome === 'loaded' ? loaded.value : loaded.problems;
  };
  const csv = [
    'slug,name,controller_name,controller_address,controller_country,controller_email,controller_dpo,controller_language,controller_home_law',
    'a,Shop A,Acme Ltd,1 High Street | London,GB,privacy@acme.example,Dana Offer,en,uk-gdpr',
    'b,Shop B,,,,,,,',
  ].join('\n');
  const dry = await world.run(csv, { dryRun: true });
  expect(dry.lines[0]?.changed).toEqual(expect.arrayContaining(['name', 'controller name', 'controller address']));
  expect(world.sources.find('a')).toBe(null);

  expect(await world.run(csv)).toMatchObject({ outcome: 'imported', problems: [] });
  expect(await profileOf('a')).toMatchObject({
    ...{ name: 'Acme Ltd', address: ['1 High Street', 'London'], country: 'GB', email: 'privacy@acme.example' },
    ...{ dataProtectionOfficer: 'Dana Offer', language: 'en', homeRegime: 'uk-gdpr', purposes: [] },
  });
  expect(await profileOf('b')).toBe(null);
  // A second time changes nothing; a changed cell changes this part, with --update alone.
  expect((await world.run(csv)).lines.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged']);
  const moved = csv.replace('1 High Street', '2 Low Street');
  expect((await world.run(moved)).problems[0]?.problem).toContain('controller address');
  const changed = await world.run(moved, { update: true });
  expect(changed.lines[0]).toMatchObject({ outcome: 'changed', changed: ['controller address'] });
  expect(await profileOf('a')).toMatchObject({ address: ['2 Low Street', 'London'], name: 'Acme Ltd' });
});

test('nothing is imported if a controller profile would not be valid', async () => {
  const world = await open();
  const report = await world.run(
    'slug,controller_name,controller_country,controller_file\na,,GB,\nb,B Ltd,Neverland,\nc,C Ltd,,own.yaml\n',
  );
  expect(report.outcome).toBe('refused');
  expect(report.problems.map(({ slug, column }) => [slug, column])).toEqual([
    ['a', 'controller_name'],
    ['b', 'controller_country'],
    ['c', 'controller_file'],
    ['c', 'controller_file'],
  ]);
  expect(world.sources.list()).toEqual([]);
});
