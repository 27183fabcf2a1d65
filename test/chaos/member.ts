import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One process of the cluster, which can be started, ended, killed and paused repeatedly. */
export interface Member {
  readonly name: string;
  /** The address where it listens for webhooks; empty for a worker. */
  readonly url: string;
  /**
   * Starts it; resolves when it reports that it works. While the database is down the start may fail and is retried, as
   * a supervisor would do.
   */
  start(): Promise<void>;
  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  isRunning(): boolean;
  /** Of the current process. */
  pid(): number;
  /** What it wrote to standard error when it ended by an uncaught error, each time. */
  crashes(): readonly string[];
  /** Everything it wrote to standard error, over all restarts. */
  errors(): string;
}

/** Not through test/serving.ts, which only suites can load: benchmarks start clusters too. */
const cliPath = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const START_LIMIT = 60_000;

export function createMember(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
  folder: string,
  url = '',
): Member {
  let child: ChildProcess | null = null;
  let exited: Promise<unknown> = Promise.resolve();
  let errors = '';
  const crashes: string[] = [];

  async function startOnce(): Promise<boolean> {
    const started = spawn(process.execPath, [cliPath, ...args, '--json'], {
      // Enough of a stack to see who did not wait for a failure.
      env: { ...env, NODE_OPTIONS: '--stack-trace-limit=60' },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    let own = '';
    started.stderr.on('data', (chunk) => {
      own = (own + String(chunk)).slice(-50_000);
      errors = (errors + String(chunk)).slice(-50_000);
    });
    started.once('close', () => {
      if (/^Node\.js v\d+/m.test(own)) crashes.push(own.slice(-6000));
    });
    exited = once(started, 'exit');
    const said = once(createInterface({ input: started.stdout }), 'line').then(() => true);
    return Promise.race([said, exited.then(() => false)]);
  }

  return {
    name,
    url,
    async start() {
      const until = Date.now() + START_LIMIT;
      while (!(await startOnce())) {
        if (Date.now() > until) throw new Error(`${name} did not start:\n${errors}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    },
    async kill() {
      child?.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child?.kill('SIGTERM');
      await exited;
      return child?.exitCode ?? null;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    isRunning: () => child !== null && child.exitCode === null && child.signalCode === null,
    pid: () => child?.pid ?? 0,
    crashes: () => crashes,
    errors: () => errors,
  };
}
