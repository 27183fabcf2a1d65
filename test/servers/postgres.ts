import { execFile } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Account,
  findAccount,
  findFreePort,
  findPrograms,
  makeServerFolder,
  namesIn,
  type OwnProcess,
  type Place,
  removeServerFolder,
  startOwnProcess,
} from './own-process.ts';

const run = promisify(execFile);

/** The oldest version that the tests accept. */
const OLDEST = 15;

/** A PostgreSQL server for the tests, on loopback. */
export interface PostgresServer {
  readonly port: number;
  /** The folder with its data. */
  readonly folder: string;
  readonly password: string;
  /** The folder with psql and the other programs. */
  readonly programs: string;
  /** What its current process wrote, at most the last 20,000 characters. */
  output(): string;
  /** The pid of the postmaster, which changes with each start. */
  pid(): number;
  /** The address of one of its databases for its superuser, default `postgres`. */
  url(database?: string): string;
  /**
   * `fast` ends connections and writes everything to disk; `immediate` stops it like a crash, to be recovered at the
   * next start.
   */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Starts it again after {@link stop}, with the same data on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/**
 * As in production where it matters (every commit is synced), and unusual where a program must not care: a default
 * collation that does not order bytewise, a time zone other than UTC.
 */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Files in the data folder, removed with it; the default leaves some in /dev/shm after a crash.
  dynamic_shared_memory_type: 'mmap',
  max_connections: '300',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'Asia/Kathmandu',
};

type Settings = Readonly<Record<string, string>>;

/** Starts a fresh PostgreSQL server. Throws with the remedy if none of version 15 or later is installed. */
export async function startPostgres(more: Settings = {}, place: Place = 'quick'): Promise<PostgresServer> {
  const programs = await findPostgres();
  const account = findAccount();
  const password = randomBytes(12).toString('hex');
  return startIn(await makeServerFolder('postgres', account, place), { programs, account, password }, more, (parts) =>
    initialize(parts),
  );
}

/** The settings of a server that {@link startStandby} can copy. */
export const replicated: Settings = { wal_level: 'replica', max_wal_senders: '4' };

/**
 * Starts a standby of a server with {@link replicated} settings, which it follows by streaming until it is promoted with
 * `select pg_promote()`.
 */
export async function startStandby(primary: PostgresServer, name: string): Promise<PostgresServer> {
  const { programs, password } = primary;
  const account = findAccount();
  const folder = await makeServerFolder('postgres', account, 'quick');
  const address = `${primary.url()}?application_name=${name}`;
  return startIn(folder, { programs, account, password }, replicated, ({ data }) =>
    runAs(account, folder, join(programs, 'pg_basebackup'), [
      '-D',
      data,
      '-d',
      address,
      '-R',
      '-c',
      'fast',
      '--no-sync',
    ]),
  );
}

/** The programs of the servers, and who runs and owns them. */
interface Host {
  readonly programs: string;
  readonly account: Account | null;
  readonly password: string;
}

interface Parts extends Host {
  readonly folder: string;
  readonly data: string;
}

/** Starts a server on the data that `prepare` puts in place. Removes the folder if that fails. */
async function startIn(
  folder: string,
  host: Host,
  more: Settings,
  prepare: (parts: Parts) => Promise<void>,
): Promise<PostgresServer> {
  const { programs, account, password } = host;
  const data = join(folder, 'data');
  try {
    await prepare({ ...host, folder, data });
    const launch = (port: number): Promise<OwnProcess> =>
      startOwnProcess({
        program: join(programs, 'postgres'),
        args: ['-D', data, ...Object.entries({ ...settings, ...more, port }).flatMap(([k, v]) => ['-c', `${k}=${v}`])],
        folder,
        account,
        ready: /database system is ready to accept (read-only )?connections/,
      });
    const { port, process: first } = await launchOnFreePort(launch);
    let process = first;
    return {
      port,
      folder,
      password,
      programs,
      output: () => process.output(),
      pid: () => process.pid,
      url: (database = 'postgres') => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
      stop: (how = 'fast') => process.end(how === 'fast' ? 'SIGINT' : 'SIGQUIT'),
      async start() {
        process = await launch(port);
      },
      async close() {
        await process.end('SIGINT');
        await removeServerFolder(folder);
      },
    };
  } catch (error) {
    await removeServerFolder(folder);
    throw error;
  }
}

/** The folder with the programs of the newest PostgreSQL on this machine. */
async function findPostgres(): Promise<string> {
  const debian = '/usr/lib/postgresql';
  const installed = [...namesIn(debian)].sort((a, b) => Number(b) - Number(a)).map((name) => join(debian, name, 'bin'));
  const programs = findPrograms(['postgres', 'initdb', 'psql'], installed);
  const remedy = `install PostgreSQL ${OLDEST} or later (apt-get install postgresql), or put its programs on PATH`;
  if (programs === null) throw new Error(`The tests need a PostgreSQL server: ${remedy}.`);
  const { stdout } = await run(join(programs, 'postgres'), ['--version']);
  const version = Number(/\) (\d+)/.exec(stdout)?.[1] ?? 0);
  if (version < OLDEST) throw new Error(`The PostgreSQL in ${programs} is too old (${stdout.trim()}): ${remedy}.`);
  return programs;
}

async function initialize({ programs, account, folder, data, password }: Parts): Promise<void> {
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, scramVerifier(password), { mode: 0o600 });
  if (account !== null) await chown(passwordFile, account.uid, account.gid);
  const args = ['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync'];
  const order = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  await runAs(account, folder, join(programs, 'initdb'), [...args, ...order]);
}

async function runAs(account: Account | null, folder: string, program: string, args: readonly string[]): Promise<void> {
  await run(program, args, {
    cwd: folder,
    timeout: 240_000,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' },
    ...(account ?? {}),
  });
}

/**
 * What PostgreSQL stores for a password (RFC 5803), with one round of hashing instead of 4096: tests open thousands of
 * connections, and each would take both sides milliseconds.
 */
function scramVerifier(password: string): string {
  const [salt, rounds] = [randomBytes(16), 1];
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}

/** Another program may take the port before the server does; then it tries another port. */
export async function launchOnFreePort(
  launch: (port: number) => Promise<OwnProcess>,
): Promise<{ port: number; process: OwnProcess }> {
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    try {
      return { port, process: await launch(port) };
    } catch (error) {
      if (attempt === 3 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
