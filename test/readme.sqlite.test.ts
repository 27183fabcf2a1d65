// SQLite only: README's steps make an installation on SQLite.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, onTestFinished, test } from 'vitest';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { commandsOf, createCommandLine, type Ran, untilThere } from './cli/command-line.ts';
import { temporaryFolder } from './temporary.ts';

const root = join(import.meta.dirname, '..');
const readme = await readFile(join(root, 'README.md'), 'utf8');
const commandsPage = await readFile(join(root, 'docs/commands.md'), 'utf8');

/** The code blocks below a heading of a page. Throws if there are none. */
function blocksBelow(page: string, heading: string): string[] {
  const section = page.split(/^(?=##+ )/m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/```\w*\n(.*?)```/gs)].map(([, block = '']) => block);
  if (blocks.length === 0) throw new Error(`There is no code block below "${heading}".`);
  return blocks;
}

/** Masks the values that differ between runs: numbers and ids. */
const masked = (output: string): string =>
  output
    .trim()
    .replaceAll(/pol_\w+/g, 'pol_…')
    .replaceAll(/\d+/g, '#');

/** A folder with the built program, as `npm ci && npm run build` leaves a checkout; npm in it only records its arguments. */
async function createCheckout(): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = await temporaryFolder();
  await symlink(join(root, 'dist'), join(folder, 'dist'));
  await mkdir(join(folder, 'programs'));
  await writeFile(join(folder, 'programs/npm'), '#!/bin/sh\necho "$*" >> npm.log\n');
  await chmod(join(folder, 'programs/npm'), 0o755);
  return { folder, env: { PATH: `${folder}/programs:${process.env.PATH}`, PORT: '0', ADMIN_PORT: '0' } };
}

test('the steps of "Use it", and the policies of docs/commands.md, exactly as written, make an installation that receives and drives', async () => {
  const sandbox = createSandbox({ seed: 1, clients: 1, consentRows: 5, clock: () => new Date() });
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const [client] = sandbox.clients;
  if (client === undefined) throw new Error('the sandbox has no client');
  const { folder, env } = await createCheckout();
  const [[packed, install, alias] = [], steps = []] = blocksBelow(readme, '## Use it').map((block) =>
    block.trim().split('\n'),
  );
  expect(steps.map((line) => line.split(/ +#/)[0])).toEqual([
    'consent-ledger init',
    'consent-ledger doctor',
    'consent-ledger serve',
  ]);
  const start = (line: string) => {
    // A script uses aliases only if told to, and only from the next line on.
    const script = `shopt -s expand_aliases\n${alias}\n${line}`;
    return spawn('bash', ['-c', script], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const run = async (line: string): Promise<Ran> => {
    const child = start(line);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  };
  const [init = '', doctor = '', serve = ''] = steps;

  for (const line of [packed ?? '', install ?? '']) expect((await run(line)).code).toBe(0);
  const { scripts, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: object;
    version: string;
  };
  const asked = (await readFile(join(folder, 'npm.log'), 'utf8')).trim().split('\n');
  expect(asked).toEqual([`install --global ./consent-ledger-${version}.tgz`, 'ci', expect.stringMatching(/^run /)]);
  expect(Object.keys(scripts)).toContain(asked[2]?.slice('run '.length));

  expect(await run(init)).toMatchObject({ code: 0, stderr: '' });
  // "fill in the service's address, API key and signing secret"
  const filled = {
    SERVICE_BASE_URL: sandbox.baseUrl(),
    SERVICE_API_KEY: client.apiKey,
    WEBHOOK_SECRETS: client.webhookSecret,
  };
  let settings = await readFile(join(folder, '.env'), 'utf8');
  for (const [name, value] of Object.entries(filled)) {
    expect(settings).toMatch(new RegExp(`^#${name}=$`, 'm'));
    settings = settings.replace(new RegExp(`^#${name}=$`, 'm'), `${name}=${value}`);
  }
  await writeFile(join(folder, '.env'), settings);

  const examined = await run(doctor);
  expect([examined.code, examined.stderr]).toEqual([1, '']);
  expect(examined.stdout).toContain('✓ configuration');
  // "every problem comes with its remedy"
  const problems = examined.stdout
    .split('\n')
    .flatMap((line, nth, all) => (line.startsWith('✗') ? [all[nth + 1]] : []));
  expect(problems.length).toBeGreaterThan(0);
  for (const remedy of problems) expect(remedy).toMatch(/^ {4}\S/);

  const server = start(serve);
  const stopped = once(server, 'close') as Promise<[number | null]>;
  const stop = (signal: NodeJS.Signals) => process.kill(-(server.pid ?? 0), signal);
  onTestFinished(() => void (server.exitCode === null && server.signalCode === null && stop('SIGKILL')));
  let said = '';
  server.stderr.on('data', (chunk) => (said += String(chunk)));
  server.stdout.resume();
  const find = (pattern: RegExp) => untilThere(async () => pattern.exec(said)?.[1] ?? null);
  // "prints the set-up link", at which the first owner chooses a name, an e-mail address and a password
  const page = await fetch(await find(/(http:\S+\/join\?token=\S+)/));
  expect(page.status).toBe(200);
  const form = await page.text();
  for (const field of ['name', 'email', 'password']) expect(form).toMatch(new RegExp(`name="${field}"`));
  const body = JSON.stringify({ event: 'ping' });
  const delivered = await fetch(await find(/(http:\S+\/webhooks\/default)/), {
    method: 'POST',
    body,
    headers: { 'x-service-signature': createHmac('sha256', client.webhookSecret).update(body).digest('hex') },
  });
  expect(delivered.status).toBe(200);

  const csv = 'policy_type,jurisdiction,language,business_name\nprivacy-policy,GB,en,Shop\ncookie-policy,DE,de,Laden\n';
  await writeFile(join(folder, 'policies.csv'), csv);
  const commands = blocksBelow(commandsPage, '## Policies')[0]!.split(/^\$ /m).slice(1);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const [line = '', ...expected] = command.split('\n');
    const { code, stdout, stderr } = await run(line);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    if (expected.join('') !== '') expect(masked(stdout)).toBe(masked(expected.join('\n')));
  }
  expect(await readFile(join(folder, 'privacy.md'), 'utf8')).toContain('Acme Ltd');
  expect((await readFile(join(folder, 'result.csv'), 'utf8')).trim().split('\n')).toHaveLength(3);

  stop('SIGTERM');
  await stopped;
});

test('the example of "In your own application" receives a signed delivery', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/consent-ledger'));
  await symlink(join(root, 'node_modules/fastify'), join(folder, 'node_modules/fastify'));
  const body = '{"event":"ping"}';
  const signature = createHmac('sha256', 'a-signing-secret').update(body).digest('hex');
  await writeFile(
    join(folder, 'app.mjs'),
    `${blocksBelow(readme, '### In your own application')[0]}
    const secret = 'a-signing-secret';
    const kept = [];
    async function keep(rawBody) { kept.push(String(rawBody)); return 7; }
    const answer = await app.inject({ method: 'POST', url: '/webhooks/default', payload: ${JSON.stringify(body)}, headers: { 'x-service-signature': '${signature}' } });
    console.log(JSON.stringify([answer.statusCode, answer.json(), kept]));`,
  );
  const child = spawn(process.execPath, ['app.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  expect(JSON.parse(await text(child.stdout))).toEqual([200, { status: 'stored', seq: 7 }, [body]]);
});

test('docs/commands.md lists every command, with flags that it has', async () => {
  const { program } = await createCommandLine();
  const commands = commandsPage
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? ''));
  expect(commands.length).toBeGreaterThan(60);
  let last: CommandUnknownOpts = program;
  const unknown: string[] = [];
  const listed = new Set<CommandUnknownOpts>();
  for (const code of commands) {
    const words = code.split(' ');
    let command: CommandUnknownOpts = program;
    // `show` behind `banner evidence list` is `banner evidence show`; `--since` behind `dsar list` is a flag of it.
    const firstOf = (parent: CommandUnknownOpts | null) => parent?.commands.find((one) => one.name() === words[0]);
    if (words[0]?.startsWith('--')) command = last;
    else if (firstOf(program) === undefined && firstOf(last.parent) !== undefined) command = last.parent ?? program;
    for (const word of words) {
      const next = command.commands.find((one) => one.name() === word);
      if (next === undefined) break;
      command = next;
    }
    if (command === program) unknown.push(code);
    for (const [, flag] of code.matchAll(/(?:^|[ [])(--[a-z-]+)/g))
      if (!command.options.some(({ long }) => long === flag)) unknown.push(`${code}: ${flag}`);
    listed.add(command);
    last = command;
  }
  expect(unknown).toEqual([]);
  const missing = commandsOf(program).filter(({ command }) => !isWithin(listed, command));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('the commands of "An agency with 60 clients" exist, with their flags', async () => {
  const { program } = await createCommandLine();
  const lines = blocksBelow(readme, '## An agency with 60 clients')[0]!.trim().split('\n');
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const words = line.replace(/ +#.*/, '').split(' ').slice(1);
    let command: CommandUnknownOpts = program;
    for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
    expect(command, line).not.toBe(program);
    for (const flag of words.filter((word) => word.startsWith('--')))
      expect(
        command.options.map(({ long }) => long),
        line,
      ).toContain(flag);
  }
});

/** Whether a command, or one that it belongs to (`sandbox` of `sandbox keys`), is among these. */
function isWithin(these: ReadonlySet<CommandUnknownOpts>, command: CommandUnknownOpts): boolean {
  return these.has(command) || (command.parent !== null && isWithin(these, command.parent));
}
