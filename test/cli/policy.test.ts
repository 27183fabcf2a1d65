import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { answeringServer, sendJson } from '../service/answering-server.ts';
import { cliPath, environment, serveHere } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { beginInstallation, type Ran, runIn, runProcess, untilThere } from './command-line.ts';

/** A sandbox on the machine's clock, an installation that calls it, and a file with this many items. */
async function createWorld(options: Partial<SandboxOptions> = {}, items = 65) {
  const sandbox = createSandbox({ seed: 7, clients: 1, consentRows: 5, clock: () => new Date(), ...options });
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const folder = await temporaryFolder();
  const [client] = sandbox.clients;
  const env = environment(folder, {
    SERVICE_BASE_URL: sandbox.baseUrl(),
    SERVICE_API_KEY: client?.apiKey ?? '',
    WEBHOOK_SECRETS: client?.webhookSecret ?? '',
  });
  await beginInstallation(folder, env);
  await writeFile(`${folder}/items.csv`, csvOf(items));
  const run = (args: string, by = runIn): Promise<Ran> => by(folder, ['policy', ...args.split(' ')], { env });
  const json = async (args: string) => JSON.parse((await run(`${args} --json`)).stdout) as Record<string, never>;
  const generated = (): number => sandbox.worlds[0]?.shelf.used() ?? 0;
  return { sandbox, folder, env, run, json, generated };
}

type CliWorld = Awaited<ReturnType<typeof createWorld>>;

function csvOf(items: number, business = 'Shop'): string {
  const lines = Array.from({ length: items }, (_, nth) => `privacy-policy,GB,en,"${business} ${nth + 1}"`);
  return ['policy_type,jurisdiction,language,business_name', ...lines].join('\n');
}

/** Starts a command and leaves it running. */
function start(world: CliWorld, args: string): { child: ChildProcess; ended: Promise<unknown> } {
  return startCommand(world, `policy ${args}`);
}

function startCommand({ folder, env }: CliWorld, args: string): { child: ChildProcess; ended: Promise<unknown> } {
  const child = spawn(process.execPath, [cliPath, ...args.split(' ')], { cwd: folder, env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, ended: once(child, 'exit') };
}

const happened = (sandbox: Sandbox): number => sandbox.faults.counts().reduce((sum, count) => sum + count, 0);
const slowSecondBatch: FaultInput = { name: 'latency', on: 'bulk', after: 1, times: 1, ms: 2500 };

describe('policy', () => {
  it('generates, publishes and lists policies, and says when the webhook arrived', async () => {
    const world = await createWorld();
    const server = await serveHere(world.folder, world.env);
    const [client] = world.sandbox.clients;
    if (client !== undefined) client.webhookUrl = `${server.url}/webhooks/default`;

    const made = await world.run(
      'generate --type imprint --jurisdiction DE --language de --business-name Acme --out text.md',
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/^Generated imprint, DE, de: pol_\w+\n499 left of the quota\n/);
    expect(await readFile(`${world.folder}/text.md`, 'utf8')).toContain('# Imprint');
    const id = /pol_\w+/.exec(made.stdout)?.[0] ?? '';

    const published = await world.run(`publish ${id}`);
    expect(published.code).toBe(0);
    expect(published.stdout).toMatch(
      /^Published pol_\w+: http:\/\/\S+\?token=\S+\nThe service queued 1 webhook; it arrived here within [\d.]+ s \(entry \d+\)\.\n$/,
    );

    const listed = await world.run('list');
    expect(listed.stdout).toContain(id);
    for (const text of [listed.stdout, JSON.stringify(await world.json('list --local'))])
      expect(text).toContain('?token=');
    const shown = await world.run(`show ${id}`);
    expect(shown.stdout).toMatch(/created.*published.*generate by operator.*: done.*publish by operator.*: done/s);
    await server.stop();
  });

  it('explains what is wrong with a request and sends nothing', async () => {
    const world = await createWorld();
    const wrong = await world.run('generate --type hub --jurisdiction GBR --language english');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--jurisdiction is a code such as GB, US-CA or EU.');
    expect(wrong.stderr).toContain('--language has two letters, such as en.');
    await writeFile(
      `${world.folder}/bad.csv`,
      'policy_type;jurisdiction;colour\nimprint;DE;red\n;GB;\nimprint;Germany;',
    );
    const bad = await world.run('bulk --file bad.csv');
    expect(bad.code).toBe(2);
    expect(bad.stderr).toMatch(/line 2: unknown field colour; valid fields are policy_type, /);
    expect(bad.stderr).toContain('line 3: policy_type is missing.');
    expect(bad.stderr).toContain('line 4: jurisdiction is a code such as GB, US-CA or EU.');
    await writeFile(`${world.folder}/twice.csv`, `${csvOf(2)}\nPrivacy-Policy,gb,en,Shop 1`);
    expect((await world.run('bulk --file twice.csv')).stderr).toContain('line 4: duplicate of line 2');
    await writeFile(
      `${world.folder}/items.json`,
      '{"items":[{"policy_type":"imprint","jurisdiction":"DE","domain":null}]}',
    );
    expect((await world.run('bulk --file items.json')).code).toBe(0);
    expect(world.generated()).toBe(1);
  });

  it('publishes several policies one after the other, and names those that failed', async () => {
    const world = await createWorld();
    const ids: string[] = [];
    for (const language of ['de', 'en']) {
      const made = await world.run(
        `generate --type imprint --jurisdiction DE --language ${language} --business-name Acme --out ${language}.md`,
      );
      ids.push(/pol_\w+/.exec(made.stdout)?.[0] ?? '');
    }
    const published = await world.run(`publish ${ids[0]} pol_nothing ${ids[1]} --no-wait`);
    expect(published.code).toBe(1);
    for (const id of ids) expect(published.stdout).toContain(`Published ${id}`);
    expect(published.stdout.match(/^Not published: /gm)).toHaveLength(1);
  });

  it('publishes nothing with an id that would change the address', async () => {
    const world = await createWorld();
    for (const id of ['.', '..', '', ' ']) {
      const refused = await runIn(world.folder, ['policy', 'publish', id], { env: world.env });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('Not a policy id: see `consent-ledger policy calls` for those generated here.');
    }
    expect(await world.json('calls')).toEqual([]);
  });

  it('generates 65 policies from a file without repeating any, even if it is killed halfway', async () => {
    const world = await createWorld({ faults: [slowSecondBatch] });
    const { child, ended } = start(world, 'bulk --file items.csv');
    await untilThere(async () => (happened(world.sandbox) === 1 ? true : null));
    // Stopped first, so the service has made the batch and the response is in transit when the process ends.
    child.kill('SIGSTOP');
    await untilThere(async () => (world.generated() === 40 ? true : null));
    child.kill('SIGKILL');
    await ended;

    expect((await world.run('bulk --file items.csv')).stderr).toMatch(
      /was started .*\(20 created, 20 sent, no response yet, 25 not sent\).*--resume/,
    );
    const resumed = await world.run('bulk --file items.csv --resume --out result.csv');
    expect(resumed.code).toBe(1);
    expect(resumed.stdout).toMatch(/^item +type +jurisdiction +language +business +result +policy\n/);
    expect(resumed.stdout).toMatch(/^ +41 +privacy-policy +GB +en +Shop 41 +created +pol_\w+$/m);
    expect(resumed.stdout).toContain('65 items: 45 created, 20 sent, no response yet');
    expect(resumed.stdout).toMatch(/20 items of the batch of \S+ are waiting .* they count as unknown from \S+\./);
    expect(world.generated()).toBe(65);
    expect((await readFile(`${world.folder}/result.csv`, 'utf8')).match(/"created"/g)).toHaveLength(45);
    expect((await world.run('calls --open')).stdout).toMatch(/bulk .*20 items of bulk-.*sent, no response yet/);
    expect((await world.run('bulk --file items.csv --resume')).code).toBe(1);
    expect(world.generated()).toBe(65);
  });

  it('continues a file after its worker was killed, and sends nothing twice', async () => {
    const world = await createWorld({ faults: [slowSecondBatch] });
    await world.run('bulk --file items.csv --background');
    const worker = () => startCommand(world, 'worker --kinds policy-bulk --lease 3');
    const { child, ended } = worker();
    await untilThere(async () => (happened(world.sandbox) === 1 ? true : null));
    child.kill('SIGSTOP');
    await untilThere(async () => (world.generated() === 40 ? true : null));
    child.kill('SIGKILL');
    await ended;
    const another = worker();
    await untilThere(async () => (world.generated() === 65 ? true : null));
    another.child.kill('SIGTERM');
    expect(await another.ended).toEqual([0, null]);
    expect((await world.run('bulk --file items.csv --resume')).stdout).toContain('65 items: 45 created, 20 sent');
    expect(world.generated()).toBe(65);
  });

  it('finishes the current batch when interrupted, so that no outcome stays unknown', async () => {
    const world = await createWorld({ faults: [slowSecondBatch] });
    const { child, ended } = start(world, 'bulk --file items.csv');
    await untilThere(async () => (happened(world.sandbox) === 1 ? true : null));
    child.kill('SIGINT');
    expect(await ended).toEqual([1, null]);
    expect(world.generated()).toBe(40);
    const resumed = await world.run('bulk --file items.csv --resume');
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.stdout).toContain('65 items: 65 created');
    expect(world.generated()).toBe(65);
  });

  it('shares the key’s limits between processes', async () => {
    const world = await createWorld({ limits: { bulkPerMinute: 1000, bulkPerDay: 1000 } }, 4);
    await writeFile(`${world.folder}/more.csv`, csvOf(4, 'Other'));
    const runs = await Promise.all(
      ['items.csv', 'more.csv'].map((file) => world.run(`bulk --file ${file} --batch-size 1 --no-wait`, runProcess)),
    );
    expect(world.generated()).toBe(5);
    expect(runs.some(({ code, stdout }) => code === 1 && stdout.includes('(5 batches a minute per API key)'))).toBe(
      true,
    );
  });

  it('says that the outcome of a dropped generation is unknown, and how to settle it', async () => {
    const world = await createWorld({ faults: [{ name: 'cut-off', on: 'generate', times: 1 }] });
    const flags = 'generate --type imprint --jurisdiction DE';
    const dropped = await world.run(flags);
    expect(dropped.code).toBe(1);
    expect(dropped.stdout).toMatch(
      /^Outcome unknown: the service may or may not have done it\. The service could not be reached, or the connection broke\./,
    );
    const [, requestId = ''] = /policy settle (req-[\w-]+) --as created/.exec(dropped.stdout) ?? [];
    expect((await world.run(flags)).stdout).toMatch(
      /^Not sent: an identical request was sent at .* outcome is still unknown/,
    );
    const doctor = await runIn(world.folder, ['doctor', '--json'], { env: world.env });
    expect(doctor.stdout).toContain('1 call to the service for');
    expect((await world.run(`settle ${requestId} --as not-created`)).stdout).toMatch(
      /^Settled as not-created \(entry \d+\)\.\n$/,
    );
    expect((await world.run(flags)).code).toBe(0);
  });

  it('says that a policy was generated even if its text cannot be written to the file', async () => {
    const world = await createWorld({}, 3);
    const made = await world.run('generate --type imprint --jurisdiction DE --out nowhere/text.md');
    expect(made.code).toBe(1);
    expect(made.stdout).toMatch(
      /^Generated imprint, DE, en: pol_\w+\n.*nowhere\/text\.md \(ENOENT\)\. The policy was generated nevertheless;/ms,
    );
    const bulk = await world.run('bulk --file items.csv --out nowhere/result.csv');
    expect(bulk.code).toBe(1);
    expect(bulk.stdout).toMatch(/3 items: 3 created .*Cannot write .*nowhere\/result\.csv \(ENOENT\)\.\n$/s);
  });

  it('lists the policies of every source, and names the one that refuses without losing the others', async () => {
    const world = await createWorld({ clients: 3 });
    const [, second, third] = world.sandbox.clients;
    if (second === undefined || third === undefined) expect.unreachable();
    for (const { slug, apiKey } of [second, third]) {
      const args = ['source', 'add', slug, '--base-url', world.sandbox.baseUrl(), '--api-key-env', 'KEY'];
      expect(await runIn(world.folder, args, { env: { ...world.env, KEY: apiKey } })).toMatchObject({ code: 0 });
    }
    second.account = 'expired';
    const listed = await world.run('list');
    expect(listed.code).toBe(1);
    expect(listed.stderr).toContain('sources asked: 0 of 3');
    expect(listed.stdout).toMatch(new RegExp(`^${second.slug}: could not fetch the list.*HTTP 402`, 'm'));
    for (const slug of ['default', third.slug])
      expect(listed.stdout).toMatch(new RegExp(`^${slug}: \\d+ published polic`, 'm'));
    second.account = 'active';
    const again = await world.json('list');
    expect((again['asked'] as unknown as { outcome: string }[]).map(({ outcome }) => outcome).sort()).toEqual([
      'stored',
      'unchanged',
      'unchanged',
    ]);
  });

  it('marks nothing as gone if the list says that it is incomplete', async () => {
    const world = await createWorld();
    let list: object = { count: 2, policies: [{ id: 'p1' }, { id: 'p2' }] };
    const server = await answeringServer((_, response) => sendJson(response, 200, list));
    world.env['SERVICE_BASE_URL'] = server.baseUrl;
    const whole = await world.run('list');
    expect(whole.stdout).toMatch(/^default: 2 published policies, stored as a new list$/m);
    list = { count: 5, policies: [{ id: 'q1' }] };
    const said = 'The service says that this list is incomplete';
    const short = await world.run('list --gone');
    expect(short.stdout).toContain(`default: 1 published policy, stored as a new list. ${said}`);
    expect(short.stdout).not.toMatch(/^default .*gone/m);
    const again = await world.json('list --gone');
    expect(again).toMatchObject({ asked: [{ outcome: 'unchanged', whole: false }] });
    expect((again['policies'] as unknown as { goneAt: null }[]).map(({ goneAt }) => goneAt)).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('refuses a file if some of its items were generated with another file', async () => {
    const world = await createWorld({}, 3);
    expect((await world.run('bulk --file items.csv')).code).toBe(0);
    await writeFile(`${world.folder}/grown.csv`, csvOf(5));
    const grown = await world.run('bulk --file grown.csv');
    expect(grown.code).toBe(2);
    expect(grown.stderr).toMatch(
      /3 of 5 items \(items 1, 2, 3\) were already sent, the first with items\.csv of .*\. Remove them/,
    );
    expect(world.generated()).toBe(3);
  });

  it('passes a file to the server’s jobs with --background', async () => {
    const world = await createWorld({}, 25);
    expect((await world.run('bulk --file items.csv --background')).stdout).toMatch(
      /^Handed over to the server’s jobs \(bulk-/,
    );
    expect(world.generated()).toBe(0);
    const server = await serveHere(world.folder, world.env);
    await untilThere(async () => (world.generated() === 25 ? true : null));
    await server.stop();
    expect((await world.run('bulk --file items.csv --resume')).stdout).toContain('25 items: 25 created');
  });
});
