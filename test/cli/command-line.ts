import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, CommanderError } from 'commander';
import { onTestFinished, vi } from 'vitest';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { createProgram } from '../../src/commands/program.ts';
import { UsageError } from '../../src/core/errors.ts';
import { serverVariables } from '../servers/databases.ts';
import { cliPath } from '../serving.ts';

/** How a command of the built program ended. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the built program in `folder` with nothing of the machine's environment but PATH, on the engine of this run: all with the same
 * DATA_DIR share a database. A DATABASE_URL in `env` stands, and an empty one means SQLite. Killed when the test ends, if it still runs.
 */
export async function runIn(
  folder: string,
  args: readonly string[],
  { env = {}, input = '', until }: { env?: Record<string, string>; input?: string; until?: RegExp } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [cliPath, ...args], {
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...withServers(folder, env) },
    cwd: folder,
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  let stdout = '';
  if (until !== undefined) {
    // It goes on until it is stopped, which it is once it has said this much.
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      if (until.test(stdout)) child.kill('SIGTERM');
    });
  }
  const [out, err, [code]] = await Promise.all([
    until === undefined ? text(child.stdout) : once(child.stdout, 'close').then(() => stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout: out, stderr: err };
}

/** A command line in this process, for what needs no installation. */
export async function createCommandLine(
  ...args: readonly string[]
): Promise<{ program: Command; io: CommandIo; written: () => string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = { stdout, stderr, exitCode: 0, untilStopped: () => new Promise(() => undefined) };
  return { program: await createProgram(io, args), io, written: () => String(stdout.read() ?? '') };
}

/**
 * The same in this process, which is much faster: for what does not depend on being a process (streams, signals, the exit code of
 * an unexpected error). One at a time.
 */
export async function runHere(folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const before = process.cwd();
  for (const [name, value] of Object.entries(withServers(folder, env))) vi.stubEnv(name, value);
  process.chdir(folder);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = { stdout, stderr, exitCode: 0, untilStopped: () => new Promise(() => undefined) };
  const ended = (code: number | null, more = ''): Ran => ({
    code,
    stdout: String(stdout.read() ?? ''),
    stderr: String(stderr.read() ?? '') + more,
  });
  try {
    const program = await createProgram(io, args);
    await program.parseAsync(['node', 'consent-ledger', ...args]);
    return ended(io.exitCode);
  } catch (error) {
    // As the edge of the program does (src/cli.ts).
    if (error instanceof CommanderError) return ended(error.exitCode === 0 ? 0 : 2);
    if (error instanceof UsageError) return ended(2, error.problems.join('\n'));
    throw error;
  } finally {
    process.chdir(before);
    vi.unstubAllEnvs();
  }
}

function withServers(folder: string, env: Record<string, string>): Record<string, string> {
  if ('DATABASE_URL' in env) return env;
  return { ...serverVariables(resolve(folder, env.DATA_DIR ?? 'data')), ...env };
}

/** Every command that does something by itself, by its full name. */
export function commandsOf(parent: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const name = [...path, command.name()];
    const runs = command.commands.length === 0 || command.options.some(({ long }) => long === '--json');
    return [...(runs ? [{ name: name.join(' '), command }] : []), ...commandsOf(command, name)];
  });
}

/** Sends a delivery to a source, signed with `secret`; resolves with status and answer. */
export async function deliverTo(url: string, secret: string, body: string): Promise<{ status: number; text: string }> {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-service-signature': digest },
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

/** Waits until `look` finds something, at most `seconds`. */
export async function untilThere<T>(look: () => Promise<T | null>, seconds = 20): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`it is not there after ${seconds} seconds`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
