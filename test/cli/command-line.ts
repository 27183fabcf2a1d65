import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import type { Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import { onTestFinished, vi } from 'vitest';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { createProgram, runProgram } from '../../src/commands/program.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { createLog } from '../../src/log/log.ts';
import { serverVariables } from '../servers/databases.ts';
import { cliPath, environment } from '../serving.ts';
import { PATIENTLY } from '../temporary.ts';

/** How a command ended. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: Record<string, string>;
  /** Its standard input. */
  readonly input?: string;
  /** Stops a command that runs until stopped, once its output matches. */
  readonly until?: RegExp;
  /** False: does not begin an installation for it first. */
  readonly begins?: boolean;
}

/** Commands that begin an installation, or are run without one. */
const withoutOne = new Set(['init', 'doctor', 'serve', 'restore', 'demo', 'sandbox', 'completion']);

const needsOne = ([command]: readonly string[]) => command !== undefined && !withoutOne.has(command);

const begun = new Set<string>();

/** Begins an installation in `folder` as a first start of `serve` would, unless there is one. A set-up that cannot be started stays as it is. */
export async function beginInstallation(folder: string, env: Record<string, string>): Promise<void> {
  try {
    const config = loadConfig(env, folder);
    const { database } = config;
    const place = database.engine === 'sqlite' ? database.path : database.url;
    if (begun.has(place) || (database.engine === 'sqlite' && existsSync(database.path))) return;
    const context = await openContext(config, createLog('fatal'));
    await context.close();
    begun.add(place);
  } catch {
    // The command says why.
  }
}

let isRunning = false;

/**
 * Runs a command line in this process, in `folder`, with only PATH from the machine's environment, on the engine of
 * this run; runs with the same DATA_DIR share a database. A DATABASE_URL in `env` takes precedence, and an empty one
 * means SQLite. Only one at a time, since a process has one environment; use `runProcess` for several side by side.
 */
export async function runIn(
  folder: string,
  args: readonly string[],
  { env = {}, input = '', until, begins = true }: RunOptions = {},
): Promise<Ran> {
  if (begins && needsOne(args)) await beginInstallation(folder, environmentOf(folder, env));
  if (isRunning) throw new Error('another command runs in this process: start one of them with runProcess');
  isRunning = true;
  const place = process.cwd();
  const machine = process.env;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let out = '';
  let err = '';
  stderr.on('data', (chunk) => (err += String(chunk)));
  const stopped = new Promise<void>((resolve) => {
    stdout.on('data', (chunk) => {
      out += String(chunk);
      if (until?.test(out)) resolve();
    });
  });
  const io: CommandIo = { stdout, stderr, exitCode: 0, untilStopped: () => stopped };
  const spied = [
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as typeof process.stdin),
    // The log of the command.
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.write(text)),
  ];
  try {
    process.env = environmentOf(folder, env);
    process.chdir(folder);
    await runProgram(io, args);
    stdout.end();
    stderr.end();
    await Promise.all([finished(stdout), finished(stderr)]);
    return { code: io.exitCode, stdout: out, stderr: err };
  } finally {
    for (const spy of spied) spy.mockRestore();
    process.chdir(place);
    process.env = machine;
    isRunning = false;
  }
}

/** The same with the environment as the last argument. */
export const runHere = (folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  runIn(folder, args, { env });

/** The same for the installation that `startServing` serves from `folder`. */
export const runCli = (folder: string, args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
  runIn(folder, args, { env: environment(folder, more) });

/**
 * The same with the built program in its own process, which takes a second of CPU time: for tests about the process
 * (signals, exit, several at once). `prefix` is a command that starts it. Killed when the test ends, if it still runs.
 */
export async function runProcess(
  folder: string,
  args: readonly string[],
  { env = {}, input = '', prefix = [], begins = true }: RunOptions & { readonly prefix?: readonly string[] } = {},
): Promise<Ran> {
  if (begins && needsOne(args)) await beginInstallation(folder, environmentOf(folder, env));
  const [command = process.execPath, ...before] = [...prefix, process.execPath, cliPath];
  const child = spawn(command, [...before, ...args], {
    env: environmentOf(folder, env),
    cwd: folder,
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  // A command that does not read its input may have ended before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** A command line in this process, for commands that need no installation. */
export async function createCommandLine(
  ...args: readonly string[]
): Promise<{ program: Command; io: CommandIo; written: () => string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = { stdout, stderr, exitCode: 0, untilStopped: () => new Promise(() => undefined) };
  return { program: await createProgram(io, args), io, written: () => String(stdout.read() ?? '') };
}

function environmentOf(folder: string, env: Record<string, string>): Record<string, string> {
  const servers = 'DATABASE_URL' in env ? {} : serverVariables(resolve(folder, env.DATA_DIR ?? 'data'));
  return { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...servers, ...env };
}

/** Every command that has an action, by its full name. */
export function commandsOf(
  parent: CommandUnknownOpts,
  path: readonly string[] = [],
): { name: string; command: CommandUnknownOpts }[] {
  return parent.commands.flatMap((command) => {
    const name = [...path, command.name()];
    const runs = command.commands.length === 0 || command.options.some(({ long }) => long === '--json');
    return [...(runs ? [{ name: name.join(' '), command }] : []), ...commandsOf(command, name)];
  });
}

/** Sends a delivery to a source, signed with `secret`; resolves with the status and body of the response. */
export async function deliverTo(
  url: string,
  secret: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-service-signature': digest, ...headers },
  });
  return { status: response.status, text: await response.text() };
}

/** A service with an empty consent log and no policies, which accepts one key; closed when the test ends. */
export async function startEmptyService(key: string): Promise<string> {
  const server = createServer((request, response) => {
    const known = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        known
          ? { data: [], next_cursor: null }
          : { error: { code: 'unauthorized', message: `no such key: ${key.slice(0, 4)}` } },
      ),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
}

/** Waits until `look` finds something. */
export async function untilThere<T>(look: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + PATIENTLY.timeout;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error('what the test waits for does not come');
    await new Promise((resolve) => setTimeout(resolve, PATIENTLY.interval));
  }
}
