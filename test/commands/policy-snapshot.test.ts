import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { createLog } from '../../src/log/log.ts';
import { watchDescription } from '../../src/policy-snapshots/openapi-watch.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { runHere } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

interface World {
  readonly sandbox: Sandbox;
  readonly siteUrl: string;
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly run: (...args: string[]) => ReturnType<typeof runHere>;
  readonly policyId: string;
  readonly policyType: string;
  /** Advances the clock of the sandbox, so its edge cache expires. */
  readonly pass: (ms: number) => void;
}

async function createWorld(changes: Record<string, string> = {}): Promise<World> {
  let ahead = 0;
  const clock = () => new Date(Date.now() + ahead);
  const sandbox = createSandbox({ seed: 7, clock, clients: 1, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const folder = await temporaryFolder();
  const client = sandbox.clients[0];
  const policy = sandbox.worlds[0]?.shelf.list(clock())[0];
  if (client === undefined || policy === undefined) throw new Error('the sandbox is empty');
  const env = {
    DATA_DIR: folder,
    SERVICE_BASE_URL: baseUrl,
    SERVICE_SITE_URL: siteUrl,
    SERVICE_API_KEY: client.apiKey,
    SERVICE_SITE_KEY: client.siteKey,
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
    ...changes,
  };
  return {
    sandbox,
    siteUrl,
    folder,
    env,
    run: (...args) => runHere(folder, args, env),
    policyId: policy.id,
    policyType: policy.policyType,
    pass: (ms) => (ahead += ms),
  };
}

function revise({ sandbox, policyId }: World): void {
  const shelf = sandbox.worlds[0]?.shelf;
  const policy = shelf?.find(policyId, new Date());
  if (!shelf || !policy) throw new Error('the sandbox is empty');
  shelf.apply(shelf.happening({ ...policy, version: policy.version + 1 }, 'policy.updated', new Date()));
  shelf.publish(policyId, new Date());
}

it('`policy snapshot` fetches, stores and compares a policy’s texts, and shows a token only in the link to open', async () => {
  const world = await createWorld();
  const { run, policyId, policyType } = world;
  const shelf = world.sandbox.worlds[0]?.shelf;
  const token = /token=(\w+)/.exec(shelf?.path({ id: policyId, policyType }) ?? '')?.[1] ?? 'none';
  const said: string[] = [];
  const runAndKeep = async (...args: string[]) => {
    const ran = await run(...args);
    said.push(ran.stdout, ran.stderr);
    return ran;
  };

  expect((await runAndKeep('policy', 'diff', policyId)).code).toBe(2);
  const first = await runAndKeep('policy', 'snapshot', '--json');
  expect(first.code, first.stderr).toBe(0);
  const rows = JSON.parse(first.stdout) as { target: string; outcome: string; seq: number; textSha256: string }[];
  expect(rows.map(({ target }) => target)).toEqual(
    expect.arrayContaining([`hosted:${policyId}`, `embed:${policyType}`, 'embed:hub']),
  );
  expect(rows.every(({ outcome, textSha256 }) => outcome === 'taken' && /^[0-9a-f]{64}$/.test(textSha256))).toBe(true);
  const one = await runAndKeep('policy', 'diff', policyId);
  expect(one.code).toBe(2);
  expect(one.stderr).toContain('Only one text');

  revise(world);
  world.pass(10 * 60_000);
  const second = await runAndKeep('policy', 'snapshot', '--policy', policyId);
  expect(second.code, second.stderr).toBe(0);
  expect(second.stdout).toContain(`public page of ${policyId}`);
  expect(second.stdout).toMatch(/stored .* between \d{4}-/);
  const unchanged = await runAndKeep('policy', 'snapshot', '--type', policyType, '--json');
  expect(JSON.parse(unchanged.stdout)).toEqual([
    expect.objectContaining({ target: `embed:${policyType}`, found: 'present' }),
  ]);

  const diff = await runAndKeep('policy', 'diff', policyId);
  expect(diff.code, diff.stderr).toBe(0);
  expect(diff.stdout).toMatch(/^-.*version 2$/m);
  expect(diff.stdout).toMatch(/^\+.*version 3$/m);
  expect(diff.stdout).toContain(' ## 3. What changed');
  expect(diff.stdout).not.toContain('<');
  const raw = await runAndKeep('policy', 'diff', policyId, '--raw', '--via', 'hosted');
  expect(raw.stdout).toMatch(/^\+<p>SAMPLE: text that first appeared in version 3.<\/p>$/m);
  const json = JSON.parse((await runAndKeep('policy', 'diff', policyId, '--json')).stdout) as {
    before: { seq: number };
    after: { seq: number };
    diff: string;
  };
  const seqs = ['--seq', String(json.before.seq), '--seq', String(json.after.seq)];
  const bySeq = JSON.parse((await runAndKeep('policy', 'diff', policyId, '--json', ...seqs)).stdout) as {
    diff: string;
  };
  expect(bySeq.diff.split('\n').slice(2)).toEqual(json.diff.split('\n').slice(2));
  const same = await runAndKeep(
    'policy',
    'diff',
    policyId,
    '--seq',
    String(json.after.seq),
    '--seq',
    String(json.after.seq),
  );
  expect(same.stdout).toContain('The two texts are identical.');
  const shown = await run('policy', 'list');
  expect(shown.code, shown.stderr).toBe(0);
  const known = await run('policy', 'show', policyId);
  // The two commands that print the address of a policy print one that works.
  for (const { stdout } of [shown, known]) expect(stdout).toContain(`?token=${token}`);
  expect(known.stdout).toMatch(
    new RegExp(`public page of ${policyId}\n.*\n    between .* and .*  [0-9a-f]{64}  \\(entry ${json.after.seq}`),
  );
  expect(known.stdout).toContain(`embed endpoint, ${policyType}: same text as the public page`);
  revise(world);
  world.pass(10 * 60_000);
  await runAndKeep('policy', 'snapshot', '--type', policyType);
  const apart = await run('policy', 'show', policyId);
  const [, older = '', newer = ''] = /compare with policy diff --seq (\d+) --seq (\d+)/.exec(apart.stdout) ?? [];
  const difference = await runAndKeep('policy', 'diff', policyId, '--seq', older, '--seq', newer);
  expect(difference.stdout).toMatch(/^\+.*version 4$/m);
  const early = await runAndKeep('policy', 'diff', policyId, '--from', '2020-01-01');
  expect(early.code).toBe(2);
  expect(early.stderr).toContain('before the first stored text');
  expect((await runAndKeep('policy', 'diff', policyId, '--seq', '1')).code).toBe(2);
  expect((await runAndKeep('policy', 'snapshot', '--source', 'nobody')).code).toBe(2);

  expect(token).not.toBe('none');
  expect(said.join('\n')).not.toContain(token);
  expect(said.join('\n')).not.toContain(world.sandbox.clients[0]?.siteKey);
});

it('`policy snapshot` says what is missing and exits with 1 when nothing can be fetched', async () => {
  const { run } = await createWorld();
  const refused = await run('policy', 'snapshot', '--type', 'Not A Slug');
  expect(refused.code).toBe(2);
  const unknown = await run('policy', 'snapshot', '--policy', 'pol_nobody_knows');
  expect(unknown.code).toBe(1);
  expect(unknown.stdout).toMatch(
    /^default: neither the service’s list nor a delivery names the public page of pol_nob/m,
  );
  const folder = await temporaryFolder();
  const bare = await runHere(folder, ['policy', 'snapshot'], {
    DATA_DIR: folder,
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
  });
  expect(bare.code).toBe(1);
  expect(bare.stdout).toContain('SERVICE_SITE_URL');
});

it('`policy snapshot` names the policy and the setting if its address is on another origin', async () => {
  const { run, policyId, siteUrl } = await createWorld({ SERVICE_SITE_URL: 'http://localhost:9' });
  const elsewhere = await run('policy', 'snapshot', '--policy', policyId);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stdout).toContain(
    `default, public page of ${policyId}: The address given (${siteUrl}) is not under`,
  );
  expect(elsewhere.stdout).toContain('set SERVICE_SITE_URL');
});

it('`policy snapshot` shows the text in force at a time, or the candidates if it is uncertain', async () => {
  const world = await createWorld();
  const { run, policyId, policyType } = world;
  interface Read {
    target: string;
    possible: { textSha256: string; firstSeen: string; lastSeen: string; firstSeq: number }[];
    text: string | null;
  }
  const read = async (...args: string[]) => {
    const ran = await run('policy', 'text', policyId, ...args, '--json');
    return { code: ran.code, ...(JSON.parse(ran.stdout) as Read) };
  };
  expect((await run('policy', 'text', policyId)).code).toBe(2);
  await run('policy', 'snapshot', '--policy', policyId);
  // The Date header of a response has whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await run('policy', 'snapshot', '--policy', policyId);
  const old = await read();
  expect(old).toMatchObject({ code: 0, target: `hosted:${policyId}` });
  expect(old.text).toContain('version 2');
  expect(sha256Hex(Buffer.from(old.text ?? ''))).toBe(old.possible[0]?.textSha256);

  revise(world);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await run('policy', 'snapshot', '--policy', policyId);
  expect((await read()).text).toContain('version 3');
  const { firstSeen, lastSeen } = old.possible[0] ?? { firstSeen: '', lastSeen: '' };
  const then = await read('--at', firstSeen);
  expect(then.text).toBe(old.text);
  expect(then.possible).toHaveLength(1);

  const between = await read('--at', new Date(Date.parse(lastSeen) + 10).toISOString());
  expect(between).toMatchObject({ code: 1, text: null });
  expect(between.possible).toHaveLength(2);
  const day = await run('policy', 'text', policyId, '--at', lastSeen.slice(0, 10));
  expect(day.stdout).toContain('any of these may have been in force');
  for (const { firstSeq } of between.possible) expect(day.stdout).toMatch(new RegExp(`^ *${firstSeq}  `, 'm'));

  const early = await run('policy', 'text', policyId, '--at', '2020-01-01');
  expect(early.code).toBe(1);
  expect(early.stdout).toContain('is unknown');
  for (const wrong of ['yesterday', '2026-02-31'])
    expect((await run('policy', 'text', policyId, '--at', wrong)).code).toBe(2);

  const shown = await run('policy', 'text', policyType, '--via', 'embed');
  expect(shown.code, shown.stderr).toBe(0);
  expect(shown.stdout).toContain(`embed endpoint, ${policyType}: in force now`);
  const raw = await run('policy', 'text', policyId, '--raw');
  expect(raw.stdout).toContain('<article');
});

it('`policy snapshot` prints the stored API description and its changes', async () => {
  const { run, env, folder } = await createWorld();
  expect(await run('policy', 'openapi')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No API description'),
  });
  const served = [
    { openapi: '3.1.0', paths: { '/policies': { get: {} }, '/old': { get: {} } } },
    { openapi: '3.1.0', paths: { '/policies': { get: { deprecated: true } }, '/new': { post: {} } } },
  ];
  const context = await openContext(loadConfig(environment(folder, env), folder), createLog('fatal'));
  const [source] = context.sources.list();
  for (const [nth, description] of served.entries()) {
    const bytes = Buffer.from(JSON.stringify(description));
    const fetchDescription = async () => ({ outcome: 'fetched' as const, description: descriptionOf(bytes) });
    if (source !== undefined)
      await watchDescription({ ...context.snapshots, fetchDescription }, source, `fetch ${nth}`);
  }
  await context.close();

  const printed = await run('policy', 'openapi');
  expect(JSON.parse(printed.stdout)).toEqual(served[1]);
  const { stdout } = await run('policy', 'openapi', '--diff');
  expect(stdout).toContain('removed  GET /old\nadded    POST /new\nchanged  GET /policies\n');
  expect(stdout).toMatch(/^\+ +"deprecated": true/m);
  const list = JSON.parse((await run('policy', 'openapi', '--list', '--json')).stdout) as { seq: number }[];
  expect(list).toHaveLength(2);
  const [first] = list;
  const older = await run('policy', 'openapi', '--seq', String(first?.seq));
  expect(JSON.parse(older.stdout)).toEqual(served[0]);
  const same = await run('policy', 'openapi', '--diff', '--seq', String(first?.seq), '--seq', String(first?.seq));
  expect(same.stdout).toBe('The two versions are identical.\n');
  expect(await run('policy', 'openapi', '--seq', '99999')).toMatchObject({ code: 2 });
});

function descriptionOf(bytes: Buffer) {
  const url = 'https://service.example.org/api/v1/openapi';
  const headers = { date: null, etag: null, lastModified: null, contentType: 'application/json' };
  return { url, bytes, sha256: sha256Hex(bytes), gone: [], ...headers };
}
