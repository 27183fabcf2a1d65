import { onTestFinished, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { runHere } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary.ts';

interface World {
  readonly sandbox: Sandbox;
  readonly run: (...args: string[]) => ReturnType<typeof runHere>;
  readonly policyId: string;
  readonly policyType: string;
  /** Moves the clock of the sandbox, so that its edge forgets what it has. */
  readonly pass: (ms: number) => void;
}

async function createWorld(): Promise<World> {
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
  };
  return {
    sandbox,
    run: (...args) => runHere(folder, args, env),
    policyId: policy.id,
    policyType: policy.policyType,
    pass: (ms) => (ahead += ms),
  };
}

function revise({ sandbox, policyId }: World): void {
  const shelf = sandbox.worlds[0]?.shelf;
  shelf?.revise(policyId, new Date());
  shelf?.publish(policyId, new Date());
}

it('fetches, keeps and compares the texts of a policy, and shows no token', { timeout: 60_000 }, async () => {
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
  expect(second.stdout).toContain(`hosted:${policyId}`);
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
  expect(same.stdout).toContain('The two texts are the same.');
  const shown = await runAndKeep('policy', 'list');
  expect(shown.code, shown.stderr).toBe(0);
  const known = await runAndKeep('policy', 'show', policyId);
  expect(known.stdout).toMatch(
    new RegExp(`hosted:${policyId}  between .* and .*  [0-9a-f]{64}  \\(entry ${json.after.seq}`),
  );
  const early = await runAndKeep('policy', 'diff', policyId, '--from', '2020-01-01');
  expect(early.code).toBe(2);
  expect(early.stderr).toContain('the first text was seen at');
  expect((await runAndKeep('policy', 'diff', policyId, '--seq', '1')).code).toBe(2);
  expect((await runAndKeep('policy', 'snapshot', '--source', 'nobody')).code).toBe(2);

  expect(token).not.toBe('none');
  expect(said.join('\n')).not.toContain(token);
  expect(said.join('\n')).not.toContain(world.sandbox.clients[0]?.siteKey);
});

it('says what is missing, and ends with 1, where nothing can be fetched', { timeout: 30_000 }, async () => {
  const { run } = await createWorld();
  const refused = await run('policy', 'snapshot', '--type', 'Not A Slug');
  expect(refused.code).toBe(2);
  const folder = await temporaryFolder();
  const bare = await runHere(folder, ['policy', 'snapshot'], {
    DATA_DIR: folder,
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
  });
  expect(bare.code).toBe(1);
  expect(bare.stdout).toContain('SERVICE_SITE_URL');
});
