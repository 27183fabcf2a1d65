import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readdirSync, statfsSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The account that runs a server when the tests run as root, which PostgreSQL refuses; null: the current one. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The first of these accounts that exists; null if the tests do not run as root. */
export function findAccount(names: readonly string[] = ['postgres', 'nobody']): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of names) {
    try {
      const ask = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: ask('-u'), gid: ask('-g') };
    } catch {
      // No such account.
    }
  }
  throw new Error(`PostgreSQL does not run as root, and there is no account ${names.join(' or ')} to run it as.`);
}

/** The folder that holds all of `programs`: the first of `folders`, otherwise of PATH; null if there is none. */
export function findPrograms(programs: readonly string[], folders: readonly string[] = []): string | null {
  const candidates = [...folders, ...(process.env.PATH ?? '').split(delimiter)].filter((folder) => folder !== '');
  return candidates.find((folder) => programs.every((program) => isProgram(join(folder, program)))) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Names in a folder; empty if there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const ENOUGH_MEMORY = 2 * 1024 ** 3;

/** Where to make a server's folder: `quick` is memory if 2 GiB of it are free, `disk` is for benchmarks. */
export type Place = 'quick' | 'disk';

/**
 * A folder for one server, in memory where allowed and possible, so that a server that syncs each commit, as in
 * production, costs the tests no disk time.
 */
export async function makeServerFolder(name: string, account: Account | null, place: Place = 'quick'): Promise<string> {
  const folder = await mkdtemp(join(place === 'quick' ? quickFolder() : tmpdir(), `consent-ledger-${name}-`));
  if (account !== null) await chown(folder, account.uid, account.gid);
  return folder;
}

/** The parent folder for tests' folders: in memory if 2 GiB of it are free, so no test waits for a disk. */
export function quickFolder(): string {
  return hasSharedMemory() ? '/dev/shm' : tmpdir();
}

function hasSharedMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ENOUGH_MEMORY;
  } catch {
    return false;
  }
}

/** A free port on loopback. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A server process started here, known by its pid. */
export interface OwnProcess {
  readonly pid: number;
  /** Its output so far, at most the last 20,000 characters. */
  output(): string;
  /** Sends `signal`, then SIGKILL to anything left 20 seconds later; resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface StartOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly account: Account | null;
  /** The output that shows that it is ready. */
  readonly ready: RegExp;
}

const START_LIMIT = 60_000;
const END_LIMIT = 20_000;

/**
 * Starts a server and waits until it reports that it is ready. If this process ends without ending the server, for
 * whatever reason, the server is ended and its folder removed.
 */
export async function startOwnProcess({ program, args, folder, account, ready }: StartOptions): Promise<OwnProcess> {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' },
    ...(account ?? {}),
  });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  const exited = once(child, 'exit');
  let output = '';
  const isReady = new Promise<void>((resolve) => {
    const read = (chunk: unknown) => {
      output = (output + String(chunk)).slice(-20_000);
      if (ready.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const guard = child.pid === undefined ? null : startGuard(child.pid, folder);
  void exited.then(() => guard?.kill('SIGKILL'));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${program} was not ready after ${START_LIMIT / 1000} seconds:\n${output}`));
    }, START_LIMIT);
  });
  try {
    const ended = exited.then(() => Promise.reject(new Error(`${program} ended before it was ready:\n${output}`)));
    await Promise.race([isReady, failed, ended, late]);
  } finally {
    clearTimeout(timer);
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const force = setTimeout(() => child.kill('SIGKILL'), END_LIMIT);
      await exited;
      clearTimeout(force);
    },
  };
}

/**
 * A process that waits for this one to end, by a pipe that only this one holds, and then cleans up. Ctrl-C in a
 * terminal does not reach it.
 */
function startGuard(pid: number, folder: string): ChildProcess {
  const script = `
    read -r _
    kill -INT "$1" 2>/dev/null
    tries=0
    while kill -0 "$1" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL "$1" 2>/dev/null
    rm -rf -- "$2"`;
  const guard = spawn('sh', ['-c', script, 'sh', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  return guard;
}

/** Removes a server's folder. */
export function removeServerFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
