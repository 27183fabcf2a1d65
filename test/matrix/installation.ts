import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { onTestFinished } from 'vitest';
import { findPersonByEmail, invitePerson, openingOf } from '../../src/people/people.ts';
import { keepSession, newSession } from '../../src/people/sessions.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { keyOf, type TableName, tables } from '../../src/store/schema.ts';
import type { Ran } from '../cli/command-line.ts';
import { cli, opened, type Place } from '../commands/backup-world.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, type Visitor } from '../http/office-world.ts';
import { type MailServer, startMailServer } from '../outside/mail-server.ts';
import { startObjectStore, storageEnvironment } from '../outside/object-store.ts';

/** The account that looks at the pages, before and after. */
export const LOOKER = 'looker@acme.example';
export const PUBLIC_URL = 'https://privacy.acme.example';

/** What an installation talks to: stand-ins on loopback, which stay the same wherever it moves. */
export interface Surroundings {
  readonly sandbox: Sandbox;
  readonly mail: MailServer;
  readonly env: Readonly<Record<string, string>>;
}

export async function createSurroundings(): Promise<Surroundings> {
  const sandbox = createSandbox({ seed: 7, clock: () => new Date(), clients: 2, consentRows: 20 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  const store = await startObjectStore();
  const [client] = sandbox.clients;
  if (client === undefined) throw new Error('the sandbox has no client');
  const env = {
    CONTROLLER_FILE: '',
    PUBLIC_URL,
    SERVICE_BASE_URL: baseUrl,
    SERVICE_SITE_URL: siteUrl,
    SERVICE_API_KEY: client.apiKey,
    SERVICE_SITE_KEY: client.siteKey,
    SMTP_URL: mail.url,
    MAIL_FROM: 'privacy@acme.example',
    SYNC_SCHEDULE: 'off',
    TIME_ZONE: 'Europe/Berlin',
    TRUST_PROXY: 'loopback',
    LOG_LEVEL: 'fatal',
    ...storageEnvironment(store.url),
  };
  return { sandbox, mail, env };
}

/** An installation that is open: its server and worker run in this process. */
export interface Installation extends Surroundings {
  readonly place: Place;
  readonly world: OfficeWorld;
  /** Signed in as {@link LOOKER}, an owner. */
  readonly owner: Visitor;
  /** Runs a command on it, which must succeed; resolves with what it printed as JSON. */
  run<T = unknown>(...args: string[]): Promise<T>;
  close(): Promise<void>;
}

/** Opens an installation. With `isAt`, its clock begins at that time, so that its pages say what they said when it was opened at that time before. */
export async function openInstallation(
  place: Place,
  surroundings: Surroundings,
  { isAt = null, worker = true }: { readonly isAt?: string | null; readonly worker?: boolean } = {},
): Promise<Installation> {
  const opened: (() => Promise<unknown>)[] = [];
  let closing: Promise<void> | null = null;
  const closeAll = async () => {
    for (const shut of opened.reverse()) await shut();
  };
  const close = () => (closing ??= closeAll());
  onTestFinished(close);
  const env = { ...surroundings.env, ...place.env };
  const world = await createOfficeWorld(env, { worker, atEnd: (work) => opened.push(work) });
  if (isAt !== null) world.setNow(isAt);
  const owner = await signInLooker(world);
  return {
    ...surroundings,
    place: { ...place, env },
    world,
    owner,
    run: (...args) => run({ ...place, env }, ...args),
    close,
  };
}

/** Opens a session of {@link LOOKER}, who is invited if need be. */
export async function signInLooker(world: OfficeWorld): Promise<Visitor> {
  const { context } = world;
  const by = { officer: 'test', personId: null, role: 'owner' } as const;
  let person = await findPersonByEmail(context, LOOKER);
  const now = context.clock().toISOString();
  if (person === null) {
    const made = { name: 'Luca Looker', email: LOOKER, role: 'owner', sources: null } as const;
    const invited = await invitePerson(context, made, by);
    if (invited.outcome !== 'done') throw new Error(JSON.stringify(invited));
    person = invited.person;
  }
  const { personId } = person;
  const { session, row } = newSession(context, openingOf(person, 'test', 'a test'), now);
  await context.store.transaction(async (tx) => {
    await tx.query
      .updateTable('people')
      .set({ joined_at: now })
      .where('person_id', '=', personId)
      .where('joined_at', 'is', null)
      .execute();
    await keepSession(tx, row);
  });
  const visitor = createVisitor(world.adminUrl);
  visitor.cookies.set(`consent_ledger_session_${context.instance}`, session.id);
  await visitor.get('/account');
  return visitor;
}

/** Runs a command that must succeed. */
export async function run<T>(place: Place, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await cli(place, ...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as T;
}

export type Row = Readonly<Record<string, unknown>>;

/** What must be the same wherever an installation is. */
export interface Picture {
  /** Number of entries; rows of later ones are left out. */
  readonly entries: number;
  readonly rows: Readonly<Record<TableName, readonly Row[]>>;
  /** What `ledger verify` finds besides faults. */
  readonly proof: Readonly<Record<'cosignatures' | 'timestamps' | 'erased', number>>;
  /** SHA-256 of the files to which entries refer, by their name in DATA_DIR. */
  readonly files: Readonly<Record<string, string>>;
  /** The content of each page that was asked for, without what differs between two looks. */
  readonly pages: Readonly<Record<string, string>>;
}

/** All rows of all tables, in the order of their keys. */
export async function readTables(place: Place): Promise<Record<TableName, readonly Row[]>> {
  const context = await opened(place);
  await context.projector.catchUp();
  const read = context.store.read as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const found: [string, Row[]][] = [];
  for (const name of Object.keys(tables) as TableName[]) {
    let query = read.selectFrom(name).selectAll();
    for (const key of keyOf(name)) query = query.orderBy(key);
    found.push([name, (await query.execute()).map((row) => comparable(name, row))]);
  }
  await context.close();
  return Object.fromEntries(found) as unknown as Record<TableName, readonly Row[]>;
}

/** A row whose columns are in the same order on both databases, without an id that the database draws. */
const comparable = (table: TableName, row: Row): Row =>
  Object.fromEntries(
    Object.entries(tables[table].columns)
      .filter(([, { type }]) => type !== 'id')
      .map(([name]) => [name, Buffer.isBuffer(row[name]) ? row[name].toString('base64') : row[name]]),
  );

/** SHA-256 of every file in DATA_DIR/documents and DATA_DIR/evidence. */
export async function hashFiles(folder: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const part of ['documents', 'evidence']) {
    for (const name of await readdir(join(folder, part)).catch(() => []))
      hashes[`${part}/${name}`] = createHash('sha256')
        .update(await readFile(join(folder, part, name)))
        .digest('hex');
  }
  return hashes;
}

/** Looks at the pages of an installation that is open. */
export async function look(made: Installation, paths: Iterable<string>): Promise<Picture['pages']> {
  const pages: Record<string, string> = {};
  for (const path of paths) {
    const page = await made.owner.get(path);
    pages[path] = page.status === 200 ? contentOf(page.text) : `status ${page.status}`;
  }
  return pages;
}

/** What may differ between two looks at the same page, and why. */
const volatile: readonly (readonly [RegExp, string])[] = [
  // Tokens against forged forms, drawn for each page.
  [/ name="_csrf" value="[^"]*"/g, ''],
  // The listeners get a free port at each start.
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:0'],
  // Drawn for each page, so that a form sent twice is done once.
  [/ name="reference" value="[0-9a-f-]*"/g, ' name="reference"'],
  // Refused deliveries have no number of their own: the database draws one where they get to.
  [/\/deliveries\/refused\/\d+/g, '/deliveries/refused/…'],
  // Times of the look itself.
  [/(datetime="\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z"/g, '$1"'],
  // A movement records itself and seals.
  [/<p class="trust small">.*?<\/p>/gs, ''],
  [/<dl[^>]*>(?:(?!<\/dl>).)*<dt>Sealed<\/dt>.*?<\/dl>/gs, ''],
  [/checkpoint over \d+ entries/g, 'checkpoint over … entries'],
];

function contentOf(text: string): string {
  const [main = text] = /<main[\s\S]*<\/main>/.exec(text) ?? [];
  return volatile.reduce((rest, [what, instead]) => rest.replaceAll(what, instead), main).replaceAll('><', '>\n<');
}

/** What `ledger verify` counts, which no movement changes. */
export async function proofOf(place: Place): Promise<Picture['proof']> {
  const {
    cosignatures = 0,
    timestamps = 0,
    erased = 0,
  } = parsed<Picture['proof']>(await cli(place, 'ledger', 'verify', '--json'));
  return { cosignatures, timestamps, erased };
}

/** The sentences of what is wrong with an installation: `ledger verify`, `ledger rebuild --check` and `doctor`. Empty if nothing is. */
export async function faultsOf(place: Place): Promise<readonly string[]> {
  const verified = await cli(place, 'ledger', 'verify', '--json');
  const rebuilt = await cli(place, 'ledger', 'rebuild', '--check', '--json');
  const examined = await cli(place, 'doctor', '--json');
  const { faults = [{ sentence: verified.stderr }] } = parsed<{ faults: { sentence: string }[] }>(verified);
  const { differences = [rebuilt.stderr] } = parsed<{ differences: unknown[] }>(rebuilt);
  const { lines = [{ about: 'doctor', level: 'fault', sentence: examined.stderr }] } = parsed<{
    lines: { about: string; level: string; sentence: string }[];
  }>(examined);
  return [
    ...faults.map(({ sentence }) => `verify: ${sentence}`),
    ...differences.map((one) => `rebuild --check: ${JSON.stringify(one)}`),
    ...lines
      .filter(({ level }) => level === 'fault')
      .map(({ about, sentence }) => `doctor: ${about}: ${sentence}`)
      .filter((line) => !ofTheTest.some((known) => known.test(line))),
  ];
}

const parsed = <T>({ stdout }: Ran): Partial<T> => (stdout === '' ? {} : (JSON.parse(stdout) as T));

/** What `doctor` rightly says about every installation of these tests. */
const ofTheTest: readonly RegExp[] = [
  // A feature: deliveries that are not understood.
  /^doctor: quarantine: \d+ entr(?:y|ies) of default could not be understood/,
];
