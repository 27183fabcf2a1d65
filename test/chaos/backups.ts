import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'vitest';
import { checkArchive } from '../../src/backup/archive.ts';
import { cliPath } from '../serving.ts';
import { cli } from './cli.ts';
import type { Cluster } from './cluster.ts';
import { sleep } from './faults.ts';
import { filesIn, jobsOf, type Office, withAttempts } from './office.ts';

/** Where the backups go, and the key that opens them. */
export interface BackupPlace {
  /** Of the jobs, which keep only the newest backup of a day. */
  readonly folder: string;
  /** Of the command, which keeps all. */
  readonly byCommand: string;
  readonly identity: string;
  readonly recipient: string;
  close(): Promise<void>;
}

export async function createBackupPlace(): Promise<BackupPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-chaos-backups-'));
  const identity = await generateX25519Identity();
  return {
    folder: join(folder, 'scheduled'),
    byCommand: join(folder, 'by-command'),
    identity,
    recipient: await identityToRecipient(identity),
    close: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Has backups made, one after the other. */
export function makeBackups(office: Office): Promise<void> {
  const job = withAttempts({ kind: 'backup', key: 'chaos' });
  return office.repeatedly(3000, () => office.context.jobs.enqueue(job));
}

/** Makes backups with the command, and kills every second one in the middle. */
export function makeBackupsByCommand(
  office: Office,
  { env, folder }: Cluster,
  { byCommand }: BackupPlace,
  random: () => number,
): Promise<void> {
  return office.repeatedly(4000, async (n) => {
    const child = spawn(process.execPath, [cliPath, 'backup', '--out', byCommand], {
      env,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    if (n % 2 === 0) {
      while (child.exitCode === null && !said.includes('entries written')) await sleep(20);
      await sleep(300 * random());
      child.kill('SIGKILL');
    }
    await exited;
  });
}

/**
 * Every backup is complete, and the newest one can be restored into an empty place, where `ledger verify` finds no
 * fault. Resolves with the figures.
 */
export async function checkBackups(office: Office, cluster: Cluster, place: BackupPlace): Promise<string> {
  const { context } = office;
  const jobs = await jobsOf(office, 'backup');
  expect(jobs.filter(({ state }) => state !== 'done')).toEqual([]);
  expect(jobs.flatMap(({ result }) => (result as { faults: readonly string[] }).faults)).toEqual([]);

  const finished: string[] = [];
  let left = 0;
  for (const folder of [place.folder, place.byCommand]) {
    for (const name of await filesIn(folder)) {
      // Of killed backups; the next rotation after a day removes them (docs/backup.md).
      if (name.endsWith('.age.part')) left += 1;
      else finished.push(join(folder, name));
    }
  }
  const unlock = { identities: [place.identity] };
  for (const file of finished) await checkArchive(file, { unlock, appendKey: context.keys.instance.append });
  const newest = (await filesIn(place.folder))
    .filter((name) => name.endsWith('.age'))
    .toSorted()
    .at(-1);
  expect(newest, 'there is no backup').toBeDefined();

  const empty = await mkdtemp(join(tmpdir(), 'consent-ledger-chaos-restored-'));
  try {
    const { REDIS_URL: _, ...rest } = cluster.env;
    await mkdir(join(empty, 'data'), { mode: 0o700 });
    await writeFile(join(empty, 'key.txt'), place.identity, { mode: 0o600 });
    const env = { ...rest, DATA_DIR: join(empty, 'data'), DATABASE_URL: `sqlite:${join(empty, 'data/ledger.sqlite')}` };
    const file = join(place.folder, newest ?? '');
    const restored = { env, folder: empty };
    await cli(restored, 'restore', file, '--identity', join(empty, 'key.txt'));
    expect(await cli(restored, 'ledger', 'verify')).toMatchObject({ faults: [] });
    expect(await cli(restored, 'ledger', 'rebuild')).toMatchObject({ differences: [] });
  } finally {
    await rm(empty, { recursive: true, force: true, maxRetries: 5 });
  }
  return `backups: ${jobs.length} jobs, ${finished.length} files, all complete, and ${left} parts of killed ones; the newest was restored`;
}
