import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { runHere } from './command-line.ts';

/** The output of `doctor --json`. */
export interface Examination {
  readonly ready: boolean;
  readonly reasons: number;
  readonly lines: readonly {
    readonly about: string;
    readonly level: string;
    readonly sentence: string;
    readonly remedy: string | null;
  }[];
}

/** An installation that is fit for production, except for the checks over the network. */
export async function createFitInstallation(): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = await temporaryFolder();
  const example = join(import.meta.dirname, '../../docs/controller.example.yaml');
  await writeFile(
    join(folder, 'controller.yaml'),
    (await readFile(example, 'utf8')).replace(/^controllerOrJointContact: null$/m, ''),
  );
  const env = {
    DATA_DIR: join(folder, 'data'),
    PUBLIC_URL: 'https://ledger.example.org',
    TRUST_PROXY: 'loopback',
    TIME_ZONE: 'Europe/Berlin',
    CONTROLLER_FILE: join(folder, 'controller.yaml'),
    SERVICE_BASE_URL: 'https://service.example.org/api/v1',
    SERVICE_API_KEY: 'pak_live_0123456789',
    WEBHOOK_SECRETS: 'a-signing-secret-of-the-tests',
  };
  expect((await runHere(folder, ['ledger', 'checkpoint'], env)).code).toBe(0);
  return { folder, env };
}

/** Runs `doctor`. */
export async function examine(
  folder: string,
  env: Record<string, string>,
  ...flags: string[]
): Promise<Examination & { code: number | null }> {
  const { code, stdout, stderr } = await runHere(folder, ['doctor', '--json', ...flags], env);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Examination) };
}

export const faultsOf = ({ lines }: Examination) =>
  lines.filter(({ level }) => level === 'fault').map(({ about, sentence }) => `${about}: ${sentence}`);
