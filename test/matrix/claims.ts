import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { actionSchema } from '../../src/core/action.ts';
import { tables } from '../../src/store/schema.ts';
import { elsewhere, type Feature, type Leaves } from './features.ts';

/** The name of a setting without the object that it is about. */
export const kindOfSetting = (name: string): string => name.replace(/(?::| |_of_).*$/, '');

/** What the program can leave in an installation, as its own sources say. */
export async function whatThereIs(): Promise<Record<keyof Leaves, readonly string[]>> {
  const sources = await readSources(join(import.meta.dirname, '../../src'));
  return {
    tables: Object.keys(tables),
    actions: actionSchema.options.flatMap(({ shape: { action } }) => [
      ...('options' in action ? action.options : action.values),
    ]),
    settings: namesIn(sources, settingNames).map(kindOfSetting),
    files: namesIn(sources, fileNames),
  };
}

/** Where the sources name a setting: the second argument of the functions of store/settings.ts, and conditions and rows of the table. */
const settingNames: readonly RegExp[] = [
  /(?:read|write|remove)Setting\((?:\{[^}]*\}|[\w.]+), ('[^']+'|`[^`]+`|[A-Z_]+|\w+Setting\()/g,
  /const (\w*(?:Setting|SETTING)) = /g,
  /name: ('[^']+'|`[^`]+`|[A-Z_]+|\w+Setting\()[^}]*\}\]?, 'replace|\{ name: ('[^']+'|`[^`]+`|[A-Z_]+|\w+Setting\(),? value/g,
];

/** Where they name a file or folder in DATA_DIR. */
const fileNames: readonly RegExp[] = [/join\((?:\w+\.)*dataDir, ('[^']+'|[A-Z_]+)/g];

const constant = /const (\w+) = (?:\([^)]*\) => )?(?:'([^']+)'|`([^`]+)`)/g;

const constantsIn = (text: string): (readonly [string, string])[] =>
  [...text.matchAll(constant)].map(([, name = '', value, template]) => [name, value ?? template ?? '']);

/** The names at these places. A constant is looked up in its own file first; a variable is passed on from a place that names a constant. */
function namesIn(sources: readonly string[], places: readonly RegExp[]): readonly string[] {
  const everywhere = new Map(sources.flatMap(constantsIn));
  const found = new Set<string>();
  for (const text of sources) {
    const own = new Map(constantsIn(text));
    for (const [, first, second] of places.flatMap((place) => [...text.matchAll(place)])) {
      const named = first ?? second ?? '';
      const name = named.replace(/\($/, '');
      const value = /^['`]/.test(named) ? named.slice(1, -1) : (own.get(name) ?? everywhere.get(name));
      if (value !== undefined) found.add(value.replace(/\$\{(\w+)\}.*$/, (_, part: string) => own.get(part) ?? ''));
    }
  }
  return [...found].sort();
}

async function readSources(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return Promise.all(names.filter((name) => /\.tsx?$/.test(name)).map((name) => readFile(join(folder, name), 'utf8')));
}

/** A sentence for everything in `there` that no feature claims and no exception names. */
export function unclaimedOf(
  features: readonly Feature[],
  there: Partial<Record<keyof Leaves, readonly string[]>>,
): readonly string[] {
  const words = { tables: 'table', actions: 'action', settings: 'setting', files: 'file in DATA_DIR' } as const;
  return (Object.entries(there) as [keyof Leaves, readonly string[]][]).flatMap(([part, names]) => {
    const claimed = new Set<string>([
      ...features.flatMap(({ leaves }) => [...(leaves[part] ?? [])]),
      ...Object.keys(elsewhere[part] ?? {}),
    ]);
    return [...new Set(names)]
      .filter((name) => !claimed.has(name))
      .map(
        (name) =>
          `no feature of test/matrix/features.ts leaves the ${words[part]} ${name}: add it to one, or a feature`,
      );
  });
}
