import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDatabaseToRead } from '../src/context/engines.ts';
import { loadFoldPosition } from '../src/projections/position.ts';

export const SECRET = 'bench-secret-0123456789';
const SIGNING_KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });

/** A server in its own process. */
export interface Served {
  readonly port: number;
  /** Microseconds of CPU time used so far by its main thread, and by all its threads. */
  processor(): { readonly main: number; readonly all: number };
  /** The largest resident set so far, MiB. */
  peakMemory(): number;
  stop(): Promise<void>;
}

/** The built program, started as in the README with everything on, with its own folder and database. */
export function startServe(folder: string, databaseUrl = ''): Promise<Served> {
  const cli = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
  const signingKey = join(folder, 'bench-signing.pem');
  // With PostgreSQL, the program does not generate keys; processes on one database share them.
  if (databaseUrl !== '') writeFileSync(signingKey, SIGNING_KEY, { mode: 0o600 });
  return start(folder, [...profiling, cli, 'serve', '--json'], {
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    ADMIN_PORT: '0',
    WEBHOOK_SECRETS: SECRET,
    ...(databaseUrl === ''
      ? {}
      : { INSTANCE_KEY: Buffer.alloc(32, 1).toString('base64'), SIGNING_KEY_FILE: signingKey }),
  });
}

/** Options of Node for the served program, such as `--cpu-prof --cpu-prof-dir=/tmp/profiles`. */
const profiling = (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter((option) => option !== '');

/** An application with the same receivers that verifies each delivery and keeps none. */
export function startVerifyOnly(folder: string): Promise<Served> {
  const server = fileURLToPath(new URL('./verify-server.ts', import.meta.url));
  return start(folder, ['--import', import.meta.resolve('tsx'), server, SECRET], {});
}

async function start(cwd: string, args: readonly string[], more: Record<string, string>): Promise<Served> {
  const env = { PATH: process.env.PATH ?? '', ...more };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`it ended before it listened:\n${errors}`)));
  failed.catch(() => undefined);
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed])) as [string];
  const { publicUrl } = JSON.parse(line) as { publicUrl: string };
  return {
    port: Number(new URL(publicUrl).port),
    processor: () => processorOf(child.pid ?? 0),
    peakMemory: () => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** User and system time in Linux's unit, hundredths of a second. */
function processorOf(pid: number): { main: number; all: number } {
  const of = (path: string) => {
    const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  };
  const threads = readdirSync(`/proc/${pid}/task`);
  return {
    main: of(`/proc/${pid}/task/${pid}/stat`),
    all: threads.reduce((sum, id) => sum + of(`/proc/${pid}/task/${id}/stat`), 0),
  };
}

/** Where a ledger and its read models end, read from outside the server. */
export interface Progress {
  /** Entries that the read models do not contain yet. */
  readonly behind: number;
  /** Seconds since the oldest of them was received. */
  readonly seconds: number;
}

/** Reads a server's progress from its database, on a separate connection. */
export async function watchProgress(database: Parameters<typeof openDatabaseToRead>[0]) {
  const { read, close } = await openDatabaseToRead(database);
  async function look(): Promise<Progress> {
    const position = (await loadFoldPosition(read, 'projector'))?.seq ?? 0;
    const rows = await read
      .selectFrom('entries')
      .select(['seq', 'received_at'])
      .where((eb) =>
        eb.or([
          eb('seq', '=', position + 1),
          eb(
            'seq',
            '=',
            eb.selectFrom('entries').select((one) => one.fn.max('seq').as('seq')),
          ),
        ]),
      )
      .orderBy('seq')
      .execute();
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined || last.seq <= position) return { behind: 0, seconds: 0 };
    return { behind: last.seq - position, seconds: Math.max(0, (Date.now() - Date.parse(first.received_at)) / 1000) };
  }
  return {
    look,
    /** The longest time that the read models were behind during `work`, in seconds. */
    async during<T>(work: Promise<T>): Promise<{ result: T; longest: number }> {
      let [going, longest] = [true, 0];
      const ended = work.finally(() => (going = false));
      ended.catch(() => undefined);
      while (going) {
        longest = Math.max(longest, (await look()).seconds);
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500))]);
      }
      return { result: await ended, longest };
    },
    /** Seconds until the read models contain everything. */
    async caughtUp(): Promise<number> {
      const started = performance.now();
      while ((await look()).behind > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      return (performance.now() - started) / 1000;
    },
    close,
  };
}
