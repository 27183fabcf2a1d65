/**
 * Which suites run on which engine (CONTRIBUTING.md). Every suite runs in the project `sqlite`; those that open a store or an
 * installation run in the project `postgres` as well. A suite that is about one engine has it in its name, `x.sqlite.test.ts` or
 * `x.postgres.test.ts`, and says why in its first line. `x.long.test.ts` runs by itself (`npm run test:long`). test/servers/suites.test.ts finds suites that are missing here.
 */
export type Project = 'sqlite' | 'postgres';

const foldersOnBoth: readonly string[] = [
  'attention',
  'banners',
  'cases',
  'chaos',
  'cli',
  'commands',
  'consent',
  'dashboard',
  'documents',
  'http',
  'jobs',
  'ledger',
  'policies',
  'projections',
  'rejected',
  'reports',
  'serve',
  'snapshots',
  'sources',
  'store',
  'sync',
];
const filesOnBoth: readonly string[] = ['test/keys.test.ts', 'test/service/site-key.test.ts'];

/** Folders whose suites start the program without an engine to choose. */
export const withoutEngine: Readonly<Record<string, string>> = {
  demo: 'The demo brings its own installation on SQLite, whatever the environment says.',
  sandbox: 'The stand-in of the service keeps its state in a file of its own and knows no database.',
};

export const everything: readonly string[] = ['test/**/*.test.ts', 'test/**/*.test.tsx'];
export const onBoth: readonly string[] = [...foldersOnBoth.map((name) => `test/${name}/**/*.test.ts`), ...filesOnBoth];
export const onlySqlite = 'test/**/*.sqlite.test.ts';
export const onlyPostgres = 'test/**/*.postgres.test.ts';
export const onlyLong = 'test/**/*.long.test.ts';

/** The projects of a suite, by its path from the root of the repository. */
export function projectsOf(path: string): readonly Project[] {
  if (path.endsWith('.long.test.ts')) return [];
  if (path.endsWith('.sqlite.test.ts')) return ['sqlite'];
  if (path.endsWith('.postgres.test.ts')) return ['postgres'];
  const [, folder = ''] = path.split('/');
  return foldersOnBoth.includes(folder) || filesOnBoth.includes(path) ? ['sqlite', 'postgres'] : ['sqlite'];
}
