import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cliPath } from '../serving.ts';
import type { Cluster } from './cluster.ts';

/** Runs a command on an installation; resolves with what it prints as JSON. */
export async function cli({ env, folder }: Pick<Cluster, 'env' | 'folder'>, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [cliPath, ...args, '--json'], {
    env,
    cwd: folder,
    maxBuffer: 64 << 20,
    timeout: 120_000,
  });
  return JSON.parse(stdout);
}
