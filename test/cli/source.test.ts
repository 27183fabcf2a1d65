import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { alter } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { runHere, runIn, runProcess, startEmptyService } from './command-line.ts';

const KEY = 'pak_live_nobody_may_read_this';
const SECRET = 'nobody-may-read-this-secret';

it('`source` refuses a secret on the command line without repeating it, and writes nothing', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: `${folder}/data` };
  const inFull = ['source', 'add', 'shop', `--api-key=${KEY}`];
  for (const args of [
    inFull,
    ['source', 'add', 'shop', '--api-key', KEY],
    ['source', 'add', 'shop', '--webhook-secret', SECRET],
    ['source', 'change', 'shop', '--site-key', KEY],
    ['source', 'rotate', 'shop', '--webhook-secret', SECRET],
  ]) {
    // The first runs in its own process, whose output includes whatever the flag parser prints directly.
    const { code, stdout, stderr } = await (args === inFull ? runProcess : runIn)(folder, args, { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('takes no value on the command line');
    expect(stderr).not.toMatch(/nobody/);
  }
  expect(JSON.parse((await runHere(folder, ['source', 'list', '--json'], env)).stdout)).toEqual({
    sources: [],
    damaged: [],
  });
});

it('`source` refuses invalid secrets: an empty file, several lines, an unset variable, two ways at once', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, GIVEN: SECRET };
  await writeFile(`${folder}/lines`, `${SECRET}\nanother\n`);
  await writeFile(`${folder}/empty`, '\n');
  const wrong: readonly [readonly string[], RegExp][] = [
    [['--webhook-secret-file', 'lines'], /several lines/],
    [['--webhook-secret-file', 'empty'], /empty is empty/],
    [['--webhook-secret-file', '-'], /standard input is empty/],
    [['--webhook-secret-file', 'nowhere'], /cannot read nowhere: there is no such file \(ENOENT\)/],
    [['--webhook-secret-env', 'NOT_SET'], /NOT_SET is not set/],
    [['--webhook-secret-env', 'GIVEN', '--webhook-secret-file', 'lines'], /only one of/],
    [['--webhook-secret-file', '-', '--api-key-file', '-'], /Only one secret/],
  ];
  for (const [flags, sentence] of wrong) {
    const args = ['source', 'add', 'shop', ...flags];
    const { code, stderr } = await runHere(folder, args, env);
    expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
    expect(stderr).not.toContain(SECRET);
  }
});

it('`source` sets, changes and clears a source’s settings, warns of unknown fields, and says how the default is configured', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, WEBHOOK_SECRETS: SECRET, GIVEN: KEY };
  const run = async (args: readonly string[]) => {
    const ran = await runHere(folder, ['source', ...args, '--json'], env);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    return JSON.parse(ran.stdout) as { outcome: string; source: Record<string, unknown> };
  };
  await writeFile(
    `${folder}/recipe.json`,
    JSON.stringify({ algorithm: 'sha256', normalise: 'trim-lowercase', salt: 'nobody-may-read-this-salt' }),
  );
  const added = await run([
    'add',
    'shop',
    '--name',
    'Shop',
    '--api-key-env',
    'GIVEN',
    '--base-url',
    'https://service.example/api/v1/',
    '--banner',
    'b1',
    'b2',
    '--field-name',
    'subject=data.person.key,visitor',
    '--field-name',
    'subjct=x',
    '--assumed-offset',
    '+02:00',
    '--subject-recipe-file',
    'recipe.json',
    '--necessary-purpose',
    'Basis',
  ]);
  expect(added.source).toMatchObject({
    slug: 'shop',
    name: 'Shop',
    from: 'database',
    baseUrl: 'https://service.example/api/v1',
    apiKeySet: true,
    webhookSecrets: [],
    options: {
      banners: ['b1', 'b2'],
      fieldNames: { subject: ['data.person.key', 'visitor'], subjct: ['x'] },
      assumedOffset: '+02:00',
      necessaryPurposes: ['Basis'],
      subjectRecipe: { algorithm: 'sha256', normalise: 'trim-lowercase', salted: true },
    },
  });
  expect(JSON.stringify(added)).not.toMatch(/nobody/);
  expect(added.source.warnings).toEqual([
    expect.stringContaining('no signing secret'),
    expect.stringContaining('subjct'),
  ]);

  const changed = await run([
    'change',
    'shop',
    '--field-name',
    'subjct=',
    '--clear',
    'banners',
    'api-key',
    'base-url',
    'subject-recipe',
    'necessary-purposes',
  ]);
  expect(changed.source.options).not.toHaveProperty('necessaryPurposes');
  expect(changed.source).toMatchObject({
    apiKeySet: false,
    baseUrl: null,
    name: 'Shop',
    options: { banners: [], fieldNames: { subject: ['data.person.key', 'visitor'] }, subjectRecipe: null },
  });
  expect(await run(['change', 'shop', '--name', 'Shop'])).toEqual({ outcome: 'unchanged' });

  // Options of the configured source live in the database; its credentials do not.
  expect((await run(['change', 'default', '--banner', 'b9'])).source).toMatchObject({
    from: 'environment',
    options: { banners: ['b9'] },
  });
  const refusals: readonly [readonly string[], RegExp][] = [
    [['add', 'shop'], /shop already exists/],
    [['add', 'Not A Slug'], /slug/],
    [['change', 'default', '--api-key-env', 'GIVEN'], /set by environment variables/],
    [['rotate', 'default', '--api-key-env', 'GIVEN', '--unchecked'], /set by environment variables/],
    [['change', 'shop', '--base-url', 'service.example'], /API root/],
    [['change', 'shop', '--assumed-offset', 'CET'], /assumedOffset/],
    [['change', 'shop', '--field-name', 'subject'], /field=name/],
    [['change', 'shop', '--clear', 'everything'], /Allowed choices/],
  ];
  for (const [args, sentence] of refusals) {
    const { code, stderr } = await runHere(folder, ['source', ...args], env);
    expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 2, expect.stringMatching(sentence)]);
    expect(stderr).not.toMatch(/nobody/);
  }
});

it('`source rotate` rotates and retires in one step or not at all', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, OLD: 'nobody-may-read-the-old-one', NEW: 'nobody-may-read-the-new-one' };
  const run = async (...args: string[]) => {
    const ran = await runHere(folder, ['source', ...args, '--json'], env);
    const { source } = JSON.parse(ran.stdout || '{}') as { source?: { webhookSecrets: string[]; warnings: string[] } };
    return { ...ran, secrets: source?.webhookSecrets ?? [], warnings: source?.warnings ?? [] };
  };
  const [oldId = ''] = (await run('add', 'shop', '--webhook-secret-env', 'OLD')).secrets;
  const mistyped = await run('rotate', 'shop', '--webhook-secret-env', 'NEW', '--retire', 'mistyped');
  expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining('Unknown signing secret mistyped')]);
  const rotated = await run('rotate', 'shop', '--webhook-secret-env', 'NEW', '--retire', oldId);
  expect([rotated.code, rotated.secrets.length, rotated.secrets.includes(oldId)]).toEqual([0, 1, false]);
  const again = await run('rotate', 'shop', '--webhook-secret-env', 'NEW');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already accepts this secret')]);
  const last = await run('retire', 'shop', rotated.secrets[0] ?? '');
  expect([last.code, last.secrets]).toEqual([0, []]);
  expect(last.warnings).toContainEqual(expect.stringContaining('every delivery is refused'));
});

it('`source` says that a rotation stopped half-way, and completes it when repeated', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, OLD: 'nobody-may-read-the-old-one', NEW: 'nobody-may-read-the-new-one', KEY };
  const run = (...args: string[]) => runHere(folder, ['source', ...args], env);
  const added = await run('add', 'shop', '--webhook-secret-env', 'OLD', '--json');
  const oldId = (JSON.parse(added.stdout) as { source: { webhookSecrets: string[] } }).source.webhookSecrets[0] ?? '';
  const half = await run('rotate', 'shop', '--api-key-env', 'KEY', '--webhook-secret-env', 'NEW', '--encoding', 'hex');
  expect([half.code, half.stderr]).toEqual([
    2,
    expect.stringMatching(
      /Done before this: the new API key is in use \(entry 2\)\.[\s\S]*The secret is not valid hex/,
    ),
  ]);
  // As if it had been stopped between taking the new secret and retiring the old one.
  await run('rotate', 'shop', '--webhook-secret-env', 'NEW');
  const again = await run('rotate', 'shop', '--webhook-secret-env', 'NEW', '--retire', oldId);
  expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining(oldId)]);
  const ending = await run('rotate', 'shop', '--webhook-secret-env', 'OLD', '--retire-after', '24h');
  expect(ending.stdout).toMatch(/[0-9a-f]{8} \(until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\), recorded as entry/);
  for (const { stdout, stderr } of [half, again, ending]) expect(stdout + stderr).not.toMatch(/nobody/);
});

it('`source` checks many sources in parallel, lists them in order, and summarises their problems', async () => {
  const folder = await temporaryFolder();
  const url = await startEmptyService(KEY);
  const lines = Array.from(
    { length: 20 },
    (_, n) => `client-${String(n).padStart(2, '0')},${url},${n === 7 ? 'pak_live_other' : KEY}`,
  );
  await writeFile(`${folder}/clients.csv`, ['slug,base_url,api_key', ...lines, 'webhooks-only,,', ''].join('\n'), {
    mode: 0o600,
  });
  const env = { DATA_DIR: folder, PRIVATE_ALLOWED_HOSTS: '127.0.0.1' };
  expect((await runHere(folder, ['source', 'import', 'clients.csv'], env)).code).toBe(0);
  const checked = await runHere(folder, ['source', 'check'], env);
  expect(checked.code).toBe(1);
  expect(checked.stdout.trimEnd().split('\n').at(-1)).toBe(
    '19 of 21 keys work, 1 refused or unreachable (client-07), 1 not pulled (webhooks-only)',
  );
  const json = JSON.parse((await runHere(folder, ['source', 'check', '--json'], env)).stdout) as { source: string }[];
  expect(json.map(({ source }) => source)).toEqual(json.map(({ source }) => source).sort());
});

it('`source` says in a sentence whether the API key works', async () => {
  const folder = await temporaryFolder();
  const base = { DATA_DIR: folder, WEBHOOK_SECRETS: SECRET, SERVICE_BASE_URL: await startEmptyService(KEY) };
  const check = (apiKey: string, ...flags: string[]) =>
    runHere(folder, ['source', 'check', 'default', ...flags], { ...base, SERVICE_API_KEY: apiKey });
  const right = await check(KEY);
  expect([right.code, right.stdout]).toEqual([0, expect.stringContaining('The API key of default works')]);
  const wrong = await check('pak_live_wrong', '--json');
  expect(wrong.code).toBe(1);
  expect(JSON.parse(wrong.stdout)).toMatchObject([
    {
      source: 'default',
      outcome: 'refused',
      sentence: expect.stringContaining('does not accept the API key') as string,
    },
  ]);
  const nowhere = await runHere(folder, ['source', 'check'], {
    ...base,
    SERVICE_BASE_URL: 'http://127.0.0.1:9/api/v1',
    SERVICE_API_KEY: KEY,
  });
  expect([nowhere.code, nowhere.stdout]).toEqual([1, expect.stringContaining('could not be reached')]);
  for (const { stdout, stderr } of [right, wrong, nowhere]) expect(stdout + stderr).not.toMatch(/nobody/);
});

it('`source` disables a source whose row was altered in the database, and exits with 3', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, GIVEN: KEY };
  const flags = ['--api-key-env', 'GIVEN', '--base-url', 'https://service.example/api/v1'];
  expect((await runHere(folder, ['source', 'add', 'shop', ...flags], env)).code).toBe(0);
  await alter(folder, `update sources set base_url = 'https://thief.example/api/v1'`);
  const listed = await runHere(folder, ['source', 'list', '--json'], env);
  expect([listed.code, JSON.parse(listed.stdout)]).toEqual([3, { sources: [], damaged: ['shop'] }]);
  expect((await runHere(folder, ['doctor'], env)).stdout).toContain(
    'The row of source shop was altered in the database',
  );
});

it('`source` uses a new API key if the service accepts it or with --unchecked, otherwise keeps the old one', async () => {
  const folder = await temporaryFolder();
  const env = {
    ...{ DATA_DIR: folder, PRIVATE_ALLOWED_HOSTS: '127.0.0.1' },
    ...{ OLD: 'pak_live_nobody_old', NEW: KEY, TYPO: 'pak_live_nobody_typo' },
  };
  const run = (...args: string[]) => runHere(folder, ['source', ...args], env);
  await run('add', 'shop', '--api-key-env', 'OLD', '--base-url', await startEmptyService(KEY));
  const refused = await run('rotate', 'shop', '--api-key-env', 'TYPO');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/does not accept.*The old API key is kept/),
  ]);
  const taken = await run('rotate', 'shop', '--api-key-env', 'NEW', '--json');
  expect([taken.code, JSON.parse(taken.stdout)]).toMatchObject([0, { outcome: 'done', source: { apiKeySet: true } }]);
  expect((await run('check', 'shop')).stdout).toContain('works');
  expect((await run('rotate', 'shop', '--api-key-env', 'TYPO', '--unchecked')).code).toBe(0);
  expect((await run('check', 'shop')).code).toBe(1);
  expect((await run('rotate', 'shop', '--retire-after', '24h')).code).toBe(2);
  for (const { stdout, stderr } of [refused, taken]) expect(stdout + stderr).not.toMatch(/nobody/);
});
