import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { openCase } from '../../src/cases/move-case.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { NewJob } from '../../src/jobs/jobs.ts';
import { createLog } from '../../src/log/log.ts';
import type { Cluster } from './cluster.ts';
import { sleep, within } from './faults.ts';

/** The officers, in a process that is not killed: they ask for work, through outages too. */
export interface Office {
  readonly context: Context;
  /**
   * Repeats some work until the load ends, with a pause after each time, and resolves once the last time is over. Rejects
   * if it does not end.
   */
  repeatedly(what: string, pause: number, work: (n: number) => Promise<unknown>): Promise<void>;
  /** What failed, by message; for the story of a run. */
  readonly failures: ReadonlyMap<string, number>;
}

/** Opens the installation of a cluster. The caller closes the context. */
export async function openOffice({ env, folder }: Cluster, until: number): Promise<Office> {
  const context = await openContext(loadConfig(env, folder), createLog('silent'));
  const failures = new Map<string, number>();
  return {
    context,
    failures,
    async repeatedly(what, pause, work) {
      for (let n = 1; n === 1 || Date.now() < until; n += 1) {
        await within(120_000, `${what} ${n}`, work(n)).catch((error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          if (message.startsWith(`${what} ${n} did not end`)) throw error;
          failures.set(message, (failures.get(message) ?? 0) + 1);
        });
        await sleep(pause);
      }
    },
  };
}

/** A job that may be interrupted more often than any job of an installation ever is. */
export const withAttempts = (job: NewJob): NewJob => ({ ...job, maxAttempts: 100 });

/** Every job of a kind, oldest first. */
export async function jobsOf({ context }: Office, kind: string): Promise<readonly Job[]> {
  return (await context.jobs.list({ kind, limit: 100_000 })).toReversed();
}

/** Recorded actions of these names, in order, with their content. */
export async function actionsOf({ context }: Office, ...names: readonly string[]) {
  const rows = await context.store.read
    .selectFrom('action_history')
    .select(['seq', 'action', 'object', 'details'])
    .where('action', 'in', names)
    .orderBy('seq')
    .execute();
  return rows.map(({ details, ...row }) => ({ ...row, details: JSON.parse(details) as Record<string, unknown> }));
}

/** SHA-256 of a file in hex; null: it does not exist. */
export async function digestOfFile(path: string): Promise<string | null> {
  const content = await readFile(path).catch(() => null);
  return content === null ? null : createHash('sha256').update(content).digest('hex');
}

/** Names of a folder's files; none if it does not exist. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

/** Opens a request by its reference, so that a repeat finds the same case. Resolves once it is visible. */
export async function openRequest({ context }: Office, reference: string, requesterEmail: string): Promise<string> {
  const opened = await openCase(context.cases, {
    ...{ source: 'default', kind: 'access', channel: 'letter', jurisdiction: 'DE', language: 'de' },
    ...{ receivedAt: context.clock().toISOString(), requesterEmail, reference, actor: OFFICER },
  });
  if (opened.outcome === 'refused') throw new Error(opened.problems.join(' '));
  await context.projector.projected(opened.seq);
  return opened.caseId;
}

export const OFFICER = 'Olga Officer (p-00000001)';
