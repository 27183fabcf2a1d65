import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFolded, type TableName } from '../../src/store/schema.ts';
import { emptyPlace, type Place } from '../commands/backup-world.ts';
import type { engine } from '../servers/databases.ts';
import type { Feature } from './features.ts';
import {
  createSurroundings,
  faultsOf,
  hashFiles,
  look,
  openInstallation,
  type Picture,
  readTables,
  type Row,
  type Surroundings,
} from './installation.ts';
import { copyOf, type Movement } from './movements.ts';

/** A closed installation with features, and what it looked like. */
export interface Filled {
  readonly place: Place;
  readonly surroundings: Surroundings;
  readonly picture: Picture;
  readonly paths: readonly string[];
  /** The time at which it was looked at. */
  readonly isAt: string;
  /** What the features say that they leave and did not. */
  readonly unfulfilled: readonly string[];
  /** What is there and which no feature says that it leaves. */
  readonly unclaimed: readonly string[];
}

/** Makes an installation with these features, through pages, commands and use cases. */
export async function fillIn(wanted: readonly Feature[], on: typeof engine): Promise<Filled> {
  const surroundings = await createSurroundings();
  const place = await emptyPlace(null, on);
  await writeFile(join(place.folder, 'controller.yaml'), await completeProfile());
  const made = await openInstallation(place, surroundings);
  for (const feature of wanted)
    await (async () => { const t = performance.now(); await feature.setUp(made); console.log(feature.name, Math.round(performance.now() - t)); })().catch((error: unknown) => {
      console.log('FAILED', feature.name, error);
    });
  const paths = [...new Set((await Promise.all(wanted.map((one) => one.pages?.(made) ?? []))).flat())];
  await made.world.context.seal();
  await made.close();

  // Not near the end of a minute.
  const isAt = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 16)}:05.000Z`;
  const picture = await pictureOf(made.place, surroundings, { paths, isAt });
  return { place: made.place, surroundings, picture, paths, isAt, ...(await claims(wanted, made.place, picture)) };
}

/** Looks at a closed installation. A look is recorded, and this one ahead of the clock: so the pages are those of a copy. */
async function pictureOf(
  place: Place,
  surroundings: Surroundings,
  { paths, isAt }: Pick<Filled, 'paths' | 'isAt'>,
): Promise<Picture> {
  const rows = await readTables(place);
  const looking = await openInstallation(await copyOf(place), surroundings, { isAt, worker: false });
  const pages = await look(looking, paths);
  await looking.close();
  return { entries: rows.entries.length, rows, files: await hashFiles(place.folder), pages };
}

/** The profile of the documentation, with nothing that `doctor` would miss. */
async function completeProfile(): Promise<string> {
  const example = join(import.meta.dirname, '../../docs/controller.example.yaml');
  return (await readFile(example, 'utf8')).replace(/^controllerOrJointContact: null$/m, '');
}

/** The name of a setting without the object that it is about. */
const kindOfSetting = (name: string) => name.replace(/(?::| |_of_p-).*$/, '');

async function claims(wanted: readonly Feature[], { folder }: Place, { rows }: Picture) {
  const files = new Set(await readdir(folder));
  const settings = new Set(rows.settings.map(({ name }) => kindOfSetting(String(name))));
  const actions = new Set(rows.action_history.map(({ action }) => String(action)));
  const unfulfilled = wanted.flatMap(({ name, leaves }) => [
    ...(leaves.tables ?? []).filter((one) => rows[one].length === 0).map((one) => `“${name}” leaves no row in ${one}`),
    ...(leaves.files ?? []).filter((one) => !files.has(one)).map((one) => `“${name}” leaves no ${one} in DATA_DIR`),
    ...(leaves.settings ?? []).filter((one) => !settings.has(one)).map((one) => `“${name}” leaves no setting ${one}`),
    ...(leaves.actions ?? []).filter((one) => !actions.has(one)).map((one) => `“${name}” records no ${one}`),
  ]);
  return { unfulfilled, unclaimed: [] };
}

/** Moves the installation, and returns what is not as before: none is expected. */
export async function compareMoved(filled: Filled, movement: Movement): Promise<readonly string[]> {
  const place = await movement.move(await copyOf(filled.place));
  const picture = await pictureOf(place, filled.surroundings, filled);
  return [...differences(filled.picture, picture, movement), ...(await faultsOf(place))];
}

function differences(before: Picture, after: Picture, movement: Movement): string[] {
  const found: string[] = [];
  for (const [name, rows] of Object.entries(before.rows) as [TableName, readonly Row[]][]) {
    const { loses = [], changes = {} } = movement;
    if (loses.includes(name)) continue;
    const changed = changes[name] ?? [];
    const without = (row: Row) => Object.fromEntries(Object.entries(row).filter(([column]) => !changed.includes(column)));
    const isKept = ({ name: setting }: Row) => name !== 'settings' || !(movement.sets ?? []).includes(String(setting));
    const isBefore = ({ seq }: Row) => typeof seq !== 'number' || !isNumbered(name) || seq <= before.entries;
    const [was, is] = [rows, after.rows[name].filter(isBefore)].map((some) => some.filter(isKept).map(without)) as [Row[], Row[]];
    const [missing, added] = [notIn(was, is), notIn(is, was)];
    if (missing.length > 0 || added.length > 0)
      found.push(`table ${name}: missing ${JSON.stringify(missing.slice(0, 2))}, instead ${JSON.stringify(added.slice(0, 2))}`);
  }
  for (const [name, hash] of Object.entries(before.files))
    if (after.files[name] !== hash) found.push(`${name} is ${after.files[name] === undefined ? 'missing' : 'another file'}`);
  for (const [path, text] of Object.entries(before.pages)) {
    if (movement.says?.includes(path)) continue;
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
