import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { keyPaths, newInstanceKeyText, newSigningKeyPem, writeSecretOnce } from '../../src/config/key-files.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import { createLog } from '../../src/log/log.ts';
import { runCli } from '../cli/command-line.ts';
import { createDatabase, engine } from '../servers/databases.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** The place of an installation: its DATA_DIR with only keys, and an empty database. */
export interface Place {
  readonly folder: string;
  readonly env: Record<string, string>;
}

export async function emptyPlace(keys: string | null = null, on: typeof engine = engine): Promise<Place> {
  const folder = await temporaryFolder();
  if (keys === null) {
    const paths = keyPaths(folder);
    await writeSecretOnce(paths.instance, newInstanceKeyText());
    await writeSecretOnce(paths.signing, newSigningKeyPem());
  } else await cp(keyPaths(keys).folder, keyPaths(folder).folder, { recursive: true });
  const database = on === 'postgres' ? await createDatabase() : `sqlite:${folder}/ledger.sqlite`;
  return { folder, env: { DATABASE_URL: database, DATA_DIR: folder } };
}

/** A key pair as made by `age-keygen`, in a file. */
export async function keyPair(): Promise<{ recipient: string; file: string }> {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const file = join(await temporaryFolder(), 'key.txt');
  await writeFile(file, `# public key: ${recipient}\n${identity}\n`);
  return { recipient, file };
}

export const cli = (place: Place, ...args: string[]) => runCli(place.folder, args, place.env);

export interface Made {
  path: string;
  seq: number;
  sealed: number;
  files: number;
  faults: string[];
  entry: number | null;
}

export async function backUp(place: Place, recipient: string): Promise<Made> {
  const out = await temporaryFolder();
  const { code, stdout, stderr } = await cli(place, 'backup', '--out', out, '--recipient', recipient, '--json');
  expect({ code, stderr: stderr.replace(/^(entries|bytes).*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Made;
}

export interface Restored {
  epoch: number;
  first: number;
  lost: number | null;
  missing: { from: number; to: number } | null;
  verification: { faults: unknown[] };
}

export async function restore(place: Place, file: string, identity: string, ...more: string[]): Promise<Restored> {
  const { code, stdout, stderr } = await cli(place, 'restore', file, '--identity', identity, '--json', ...more);
  expect({ code, stderr: stderr.replace(/^(entries|bytes).*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Restored;
}

export async function opened(place: Place): Promise<Context> {
  return openContext(loadConfig(environment(place.folder, place.env), place.folder), createLog('fatal'));
}

/** Appends entries to an installation without a service. */
export async function fill(context: Context, count: number, from = 0): Promise<void> {
  const at = new Date().toISOString();
  for (let batch = 0; batch < count; batch += 250) {
    await context.ledger.append(
      Array.from({ length: Math.min(250, count - batch) }, (_, place) => {
        const body = Buffer.from(
          JSON.stringify({ event: 'scan', nth: from + batch + place, filling: 'x'.repeat(300) }),
        );
        const meta = Buffer.from('{"verdict":"verified"}');
        return {
          source: 'default',
          kind: 'webhook' as const,
          dedupeKey: context.ledger.keyOf(body),
          receivedAt: at,
          meta,
          body,
        };
      }),
    );
  }
}

/** The visible state of an installation, the same for both databases. */
export async function picture(context: Context) {
  await context.projector.catchUp();
  const { read } = context.store;
  const [cases, decisions, documents, sources, arrivals, jobs, sessions] = await Promise.all([
    read.selectFrom('cases').selectAll().orderBy('case_id').execute(),
    read.selectFrom('decision_history').selectAll().orderBy('seq').execute(),
    read.selectFrom('documents').selectAll().orderBy('seq').execute(),
    read.selectFrom('sources').selectAll().orderBy('slug').execute(),
    read.selectFrom('arrivals').selectAll().orderBy('seq').execute(),
    read.selectFrom('jobs').select(['id', 'state', 'error']).where('state', 'in', ['waiting', 'running']).execute(),
    read.selectFrom('sessions').selectAll().execute(),
  ]);
  return { state: { cases, decisions, documents, sources, arrivals }, jobs, sessions };
}
