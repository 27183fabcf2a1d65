import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { createLog } from '../../src/log/log.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import type { Store } from '../../src/store/store.ts';
import type { SyncPosition } from '../../src/sync/position.ts';
import type { BannerStatus } from '../../src/sync/status.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { beginInstallation, type Ran, runIn, untilThere } from '../cli/command-line.ts';
import { cliPath, environment } from '../serving.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';
import { watchedService } from './watched-service.ts';

/** A worker of the built program in a separate process. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Ends it like a power cut. */
  kill(): Promise<void>;
  /** Stops it as an operator would; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export type StatusRow = BannerStatus & {
  readonly job: { readonly progress: { readonly message: string } | null } | null;
};

/** An installation of the built program that follows one client of a sandbox, with the actions of an operator. */
export async function workerWorld(options: Partial<SandboxOptions> = {}, pages = { pageRows: 10, delay: 0 }) {
  const { sandbox, baseUrl } = await startSandbox({
    seed: 11,
    clock: () => new Date(),
    startedAt: new Date(Date.now() - 5 * 86_400_000),
    clients: 1,
    consentRows: 75,
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const world = sandbox.worlds[0];
  if (world === undefined) throw new Error('the sandbox has no client');
  const { client, log } = world;
  const watched = await watchedService(baseUrl, pages);
  const folder = await temporaryFolder();
  const env = environment(folder, {
    SERVICE_BASE_URL: watched.baseUrl,
    SERVICE_API_KEY: client.apiKey,
    // Set so that schedules exist, but none is due while a test runs: tests trigger them.
    SYNC_SCHEDULE: '7 5 1 1 *',
  });
  await beginInstallation(folder, env);
  const command = (...args: string[]): Promise<Ran> => runIn(folder, args, { env });
  let store: Store | null = null;
  const opened = async (): Promise<Store> => {
    if (store !== null) return store;
    const own = (store = await openStoreIn(folder));
    onTestFinished(() => own.close());
    return own;
  };
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await command(...args, '--json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  };

  return {
    sandbox,
    client,
    watched,
    env,
    command,
    json,
    store: opened,
    status: () => json<readonly StatusRow[]>('sync', 'status'),

    /**
     * Others take its jobs over after `lease` seconds of silence: longer than a busy machine delays it, unless the test
     * waits for exactly that.
     */
    async startWorker(lease = 60): Promise<WorkerProcess> {
      const child = spawn(process.execPath, [cliPath, 'worker', '--lease', String(lease), '--json'], {
        env,
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let errors = '';
      child.stderr.on('data', (chunk) => (errors += String(chunk)));
      const exited = once(child, 'exit') as Promise<[number | null]>;
      await Promise.race([
        once(createInterface({ input: child.stdout }), 'line'),
        exited.then(() => Promise.reject(new Error(`the worker ended before it worked:\n${errors}`))),
      ]);
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        const [code] = await exited;
        return code;
      };
      return { child, kill: () => end('SIGKILL').then(() => undefined), stop: () => end('SIGTERM') };
    },

    /** A worker in this process, which takes a tenth of the CPU time. */
    async workHere(): Promise<{ stop(): Promise<void> }> {
      const context = await openContext(loadConfig(env, folder), createLog('fatal'));
      const worker = await startWorker(context);
      let stopping: Promise<void> | null = null;
      const stop = () => (stopping ??= worker.stop().then(() => context.close()));
      onTestFinished(stop);
      return { stop };
    },

    /** Makes a schedule due now. */
    async comeRound(name: 'sync' | 'recount'): Promise<void> {
      const own = await opened();
      await own.transaction(async ({ query }) => {
        await query
          .updateTable('schedules')
          .set({ next_at: '2020-01-01T00:00:00.000Z' })
          .where('name', '=', name)
          .execute();
      });
    },

    async positions(): Promise<readonly SyncPosition[]> {
      const { read } = await opened();
      return read.selectFrom('sync_positions').selectAll().orderBy('source').orderBy('banner_id').execute();
    },

    /** Bodies of the pulled rows in the ledger, in order of seq. */
    async bodies(): Promise<string[]> {
      const { read } = await opened();
      const rows = await read
        .selectFrom('entries')
        .select('body')
        .where('kind', '=', 'consent-log')
        .orderBy('seq')
        .execute();
      return rows.map(({ body }) => body?.toString('utf8') ?? '');
    },

    async actions(name: string): Promise<Record<string, unknown>[]> {
      const { read } = await opened();
      const rows = await read
        .selectFrom('entries')
        .select('body')
        .where('kind', '=', 'action')
        .orderBy('seq')
        .execute();
      return rows
        .map(({ body }) => JSON.parse(body?.toString('utf8') ?? '{}') as Record<string, unknown>)
        .filter(({ action }) => action === name);
    },

    /** The current rows of the service, in its dialect. */
    rows(): string[] {
      const page = { bannerId: null, from: null, to: null, limit: 100_000, position: null } as const;
      const { rows } = log.page({ ...page, now: Date.now(), order: 'oldest-first' });
      return rows.map((row) => JSON.stringify(sandbox.dialect.row(row)));
    },
  };
}

/** Waits until a look is true. */
export async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  await untilThere(async () => ((await look()) ? true : null));
}
