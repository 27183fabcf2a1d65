import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFolded, type TableName } from '../../src/store/schema.ts';
import { emptyPlace, type Place } from '../commands/backup-world.ts';
import { kindOfSetting, unclaimedOf } from './claims.ts';
import type { Feature } from './features.ts';
import {
  createSurroundings,
  faultsOf,
  hashFiles,
  look,
  openInstallation,
  type Picture,
  proofOf,
  type Row,
  readTables,
  type Surroundings,
} from './installation.ts';
import { copyOf, type MakeDatabase, type Movement } from './movements.ts';

/** A closed installation with features, and what it looked like. */
export interface Filled {
  readonly place: Place;
  readonly surroundings: Surroundings;
  readonly picture: Picture;
  readonly features: readonly Feature[];
  /** Pages by the feature that they show. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
  /** Makes databases on the server where it is; null: it is on SQLite. */
  readonly makeDatabase: MakeDatabase | null;
  /** The time at which it was looked at. */
  readonly isAt: string;
  /** What the features say that they leave and did not. */
  readonly unfulfilled: readonly string[];
  /** What is there and which no feature says that it leaves. */
  readonly unclaimed: readonly string[];
}

/** Makes an installation with these features, through pages, commands and use cases. */
export async function fillIn(wanted: readonly Feature[], makeDatabase: MakeDatabase | null = null): Promise<Filled> {
  const surroundings = await createSurroundings();
  const empty = await emptyPlace(null, 'sqlite');
  const env = { ...empty.env, ...(makeDatabase === null ? {} : { DATABASE_URL: await makeDatabase() }) };
  let place: Place = { folder: empty.folder, env: { ...surroundings.env, ...env } };
  for (const { begin } of wanted) place = (await begin?.(place, makeDatabase)) ?? place;
  await writeFile(join(place.folder, 'controller.yaml'), await completeProfile());
  const made = await openInstallation(place, surroundings);
  for (const { name, setUp } of wanted)
    await setUp?.(made).catch((error: unknown) => {
      throw new Error(`“${name}” cannot be set up`, { cause: error });
    });
  const paths = new Map<string, readonly string[]>();
  for (const feature of wanted) paths.set(feature.name, (await feature.pages?.(made)) ?? []);
  await made.world.context.seal();
  await made.close();

  // Not near the end of a minute, nor so late that what a slow movement has just appended should be sealed.
  const isAt = `${new Date(Date.now() + 3_000_000).toISOString().slice(0, 16)}:05.000Z`;
  const filled = { place: made.place, surroundings, paths, isAt, makeDatabase, features: wanted };
  const picture = await pictureOf(made.place, filled);
  return { ...filled, picture, ...(await claims(filled, picture)) };
}

/** Looks at a closed installation. A look is recorded, and this one ahead of the clock: so the pages are those of a copy. */
async function pictureOf(
  place: Place,
  { surroundings, paths, isAt, makeDatabase }: Pick<Filled, 'surroundings' | 'paths' | 'isAt' | 'makeDatabase'>,
): Promise<Picture> {
  const rows = await readTables(place);
  const copy = await copyOf(place, makeDatabase);
  const proof = await proofOf(copy);
  const looking = await openInstallation(copy, surroundings, { isAt, worker: false });
  const pages = await look(looking, new Set([...paths.values()].flat()));
  await looking.close();
  return { entries: rows.entries.length, rows, proof, files: await hashFiles(place.folder), pages };
}

/** The profile of the documentation, with nothing that `doctor` would miss. */
async function completeProfile(): Promise<string> {
  const example = join(import.meta.dirname, '../../docs/controller.example.yaml');
  return (await readFile(example, 'utf8')).replace(/^controllerOrJointContact: null$/m, '');
}

async function claims(
  { features: wanted, place, paths }: Pick<Filled, 'features' | 'place' | 'paths'>,
  { rows, pages }: Picture,
) {
  const files = new Set(await readdir(place.folder));
  const settings = new Set(rows.settings.map(({ name }) => kindOfSetting(String(name))));
  const actions = new Set(rows.action_history.map(({ action }) => String(action)));
  const unfulfilled = wanted.flatMap(({ name, leaves }) => [
    ...(leaves.tables ?? []).filter((one) => rows[one].length === 0).map((one) => `“${name}” leaves no row in ${one}`),
    ...(leaves.files ?? []).filter((one) => !files.has(one)).map((one) => `“${name}” leaves no ${one} in DATA_DIR`),
    ...(leaves.settings ?? []).filter((one) => !settings.has(one)).map((one) => `“${name}” leaves no setting ${one}`),
    ...(leaves.actions ?? []).filter((one) => !actions.has(one)).map((one) => `“${name}” records no ${one}`),
    ...(paths.get(name) ?? [])
      .filter((path) => pages[path]?.startsWith('status '))
      .map((path) => `“${name}” is not shown by ${path}: ${pages[path]}`),
  ]);
  const there = {
    tables: Object.entries(rows).flatMap(([name, some]) => (some.length > 0 ? [name] : [])),
    actions: [...actions],
    settings: [...settings],
    files: [...files],
  };
  return { unfulfilled, unclaimed: unclaimedOf(wanted, there) };
}

/**
 * Moves a copy of the installation, and returns where it is and what is not as before: nothing is expected.
 * `makeDatabase`: of the server to which it moves, if that is another one.
 */
export async function compareMoved(
  filled: Filled,
  movement: Movement,
  makeDatabase: MakeDatabase | null = filled.makeDatabase,
): Promise<{ readonly place: Place; readonly found: readonly string[] }> {
  const { place, problems } = await movement.move(await copyOf(filled.place, makeDatabase), makeDatabase);
  const picture = await pictureOf(place, { ...filled, makeDatabase });
  const faults = await faultsOf(await copyOf(place, makeDatabase));
  return { place, found: [...problems, ...differences(filled, picture, movement), ...faults] };
}

function differences({ picture: before, paths }: Filled, after: Picture, movement: Movement): string[] {
  const found: string[] = [];
  for (const [name, rows] of Object.entries(before.rows) as [TableName, readonly Row[]][]) {
    const { loses = [], changes = {} } = movement;
    if (loses.includes(name)) continue;
    const changed = changes[name] ?? [];
    const without = (row: Row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !changed.includes(column)));
    const isKept = ({ name: setting }: Row) => name !== 'settings' || !(movement.sets ?? []).includes(String(setting));
    const isBefore = ({ seq }: Row) => typeof seq !== 'number' || !isNumbered(name) || seq <= before.entries;
    const [was, is] = [rows, after.rows[name].filter(isBefore)].map((some) => some.filter(isKept).map(without)) as [
      Row[],
      Row[],
    ];
    // A movement seals what it records.
    const [missing, added] = [notIn(was, is), name === 'checkpoints' ? [] : notIn(is, was)];
    if (missing.length > 0 || added.length > 0)
      found.push(
        `table ${name}: missing ${JSON.stringify(missing.slice(0, 2))}, instead ${JSON.stringify(added.slice(0, 2))}`,
      );
  }
  const [then, now] = [JSON.stringify(before.proof), JSON.stringify(after.proof)];
  if (then !== now) found.push(`ledger verify: ${then} became ${now}`);
  for (const [name, hash] of Object.entries(before.files))
    if (after.files[name] !== hash)
      found.push(`${name} is ${after.files[name] === undefined ? 'missing' : 'another file'}`);
  const isEnded = (feature: string) => (movement.ends ?? []).some((name) => feature.startsWith(name));
  const ended = new Set([...paths].flatMap(([feature, some]) => (isEnded(feature) ? some : [])));
  for (const [path, text] of Object.entries(before.pages)) {
    if (movement.says?.includes(path) || ended.has(path)) continue;
    const now = after.pages[path] ?? '';
    if (now !== text) found.push(`page ${path}: ${firstDifference(text, now)}`);
  }
  return found;
}

/** Whether `seq` in a table is that of an entry which the row came with. */
const isNumbered = (name: TableName) =>
  name === 'entries' || name === 'arrivals' || (isFolded(name) && name !== 'fold_positions');

function notIn(rows: readonly Row[], others: readonly Row[]): Row[] {
  const known = new Set(others.map((row) => JSON.stringify(row)));
  return rows.filter((row) => !known.has(JSON.stringify(row)));
}

function firstDifference(before: string, after: string): string {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const at = a.findIndex((line, n) => line !== b[n]);
  const part = (lines: readonly string[]) => lines.slice(Math.max(0, at), at + 3).join(' ');
  return `${JSON.stringify(part(a))} became ${JSON.stringify(part(b))}`;
}
