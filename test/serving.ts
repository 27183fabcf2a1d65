import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../src/config/config.ts';
import { openContext } from '../src/context/context.ts';
import { startServer } from '../src/http/server.ts';
import { createLog, type Log } from '../src/log/log.ts';
import { startWorker } from '../src/worker/worker.ts';
import { serverVariables } from './servers/databases.ts';

/** The built command line (`npm test` builds it first). */
export const cliPath = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
export const SECRET = 'a-signing-secret-of-the-tests';

/**
 * The environment of a test's installation on the engine of this run, with only PATH from the machine. All with the
 * same DATA_DIR share a database. A DATABASE_URL in `more` takes precedence, and an empty one means SQLite.
 */
export function environment(folder: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    WEBHOOK_SECRETS: SECRET,
    LOG_LEVEL: 'warn',
    // Stand-ins for the service listen there.
    PRIVATE_ALLOWED_HOSTS: '127.0.0.1, localhost',
    ...('DATABASE_URL' in more ? {} : serverVariables(more.DATA_DIR ?? folder)),
    ...more,
  };
}

/** A server of the built program in a separate process. */
export interface Serving {
  readonly url: string;
  readonly adminUrl: string;
  readonly child: ChildProcess;
  /** The largest resident set of the process so far, in MiB. */
  readonly peakMemory: () => number;
  /** Its standard error so far. */
  readonly errors: () => string;
  /** Ends it gracefully; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Ends it at once, as a power cut would end the process. */
  kill(): Promise<void>;
}

/** Starts `serve`, with options if given, and waits until it listens. Killed when the test ends, if it still runs. */
export async function startServing(
  folder: string,
  more: Record<string, string> = {},
  prefix: readonly string[] = [],
  options: readonly string[] = [],
): Promise<Serving> {
  const [command = process.execPath, ...args] = [...prefix, process.execPath, cliPath, 'serve', '--json', ...options];
  const child = spawn(command, args, {
    env: environment(folder, more),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(() => Promise.reject(new Error(`serve ended before it listened:\n${errors}`))),
  ]);
  const facts = JSON.parse(line) as { publicUrl: string; adminUrl: string };
  return {
    url: facts.publicUrl,
    adminUrl: facts.adminUrl,
    child,
    peakMemory: () => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    errors: () => errors,
    async stop() {
      child.kill('SIGTERM');
      return ((await exited) as [number | null])[0];
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * The same in this process, with its worker, at a tenth of the CPU time: for tests that are not about the process. It
 * logs nothing unless given a log. Stopped when the test ends, if it still runs.
 */
export async function serveHere(
  folder: string,
  more: Record<string, string> = {},
  log: Log = createLog('fatal'),
): Promise<Pick<Serving, 'url' | 'adminUrl'> & { stop(): Promise<void> }> {
  const context = await openContext(loadConfig(environment(folder, more), folder), log);
  let stopping: Promise<void> | null = null;
  const parts: { stop(): Promise<unknown> }[] = [];
  const stopAll = async () => {
    for (const part of parts.reverse()) await part.stop();
    await context.seal();
    await context.close();
  };
  const stop = () => (stopping ??= stopAll());
  onTestFinished(stop);
  const server = await startServer(context);
  parts.push({ stop: () => server.close() });
  parts.push(await startWorker(context));
  return { url: server.publicUrl, adminUrl: server.adminUrl, stop };
}

/** The answer of the endpoint; status 0: the connection broke before an answer. */
export interface Answer {
  readonly status: number;
  readonly body: { status?: string; seq?: number; error?: { code: string; message: string } };
}

/** Sends a signed delivery. Never rejects. */
export function deliver(
  url: string,
  body: string | Buffer,
  agent?: Agent,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const digest = createHmac('sha256', SECRET).update(body).digest('hex');
  return new Promise((resolve) => {
    const options = {
      method: 'POST',
      timeout: 20_000,
      headers: { 'content-type': 'application/json', 'x-service-signature': digest, ...headers },
    };
    const sent = request(`${url}/webhooks/default`, agent ? { ...options, agent } : options, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('error', () => resolve({ status: 0, body: {} }));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text || '{}') as Answer['body'] }),
      );
    });
    sent.on('error', () => resolve({ status: 0, body: {} }));
    sent.on('timeout', () => sent.destroy());
    sent.end(body);
  });
}
