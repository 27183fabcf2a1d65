/**
 * Who may import whom (docs/architecture.md, Layout). A part may import its own files; what else is said here:
 * `values` become part of the running program, `types` are erased by the compiler.
 */
export interface Part {
  readonly name: string;
  /** The first part whose pattern fits a path owns it. */
  readonly files: RegExp;
  /** Names of parts, or single files, whose values it may use. */
  readonly values: readonly string[];
  /** Names of parts, or single files, of which it may use types only. `values` are included. */
  readonly types: readonly string[];
}

const useCases = [
  'ledger',
  'rejected',
  'projections',
  'sync',
  'snapshots',
  'cases',
  'sources',
  'attention',
  'documents',
  'policies',
];
/** What the rest may know of the parts that keep the outside world away. */
const interfaces = ['src/store/store.ts', 'src/store/schema.ts', 'src/jobs/jobs.ts', 'service'];
/** Every use-case leaves its trace in the ledger through this one function. */
const appendAction = 'src/ledger/append-action.ts';
/** … and a delivery that is readmitted takes the way of every delivery. */
const appendDelivery = 'src/ledger/append-delivery.ts';
const anyType = ['*'];

export const parts: readonly Part[] = [
  { name: 'core', files: /^src\/core\//, values: [], types: [] },
  { name: 'endpoint', files: /^receivers\/(endpoint|public)\.ts$/, values: ['core', 'receivers'], types: anyType },
  { name: 'receivers', files: /^receivers\//, values: ['core'], types: anyType },
  { name: 'render', files: /^reports\/render\//, values: ['core'], types: [] },
  { name: 'reports', files: /^reports\//, values: ['core', 'render'], types: anyType },
  { name: 'ledger', files: /^src\/ledger\//, values: ['core'], types: [...interfaces, ...useCases] },
  {
    name: 'projections',
    files: /^src\/projections\//,
    values: ['core'],
    types: [...interfaces, ...useCases, 'receivers'],
  },
  { name: 'sync', files: /^src\/sync\//, values: ['core', appendAction], types: [...interfaces, ...useCases] },
  { name: 'policies', files: /^src\/policies\//, values: ['core', appendAction], types: [...interfaces, ...useCases] },
  { name: 'snapshots', files: /^src\/snapshots\//, values: ['core'], types: [...interfaces, ...useCases] },
  { name: 'cases', files: /^src\/cases\//, values: ['core', appendAction], types: [...interfaces, ...useCases] },
  {
    name: 'rejected',
    files: /^src\/rejected\//,
    values: ['core', appendDelivery],
    types: [...interfaces, ...useCases],
  },
  {
    name: 'documents',
    files: /^src\/documents\//,
    values: ['core', 'reports', 'cases', appendAction],
    types: [...interfaces, ...useCases],
  },
  { name: 'attention', files: /^src\/attention\//, values: ['core'], types: [...interfaces, ...useCases] },
  { name: 'sources', files: /^src\/sources\//, values: ['core', appendAction], types: [...interfaces, ...useCases] },
  { name: 'store', files: /^src\/store\//, values: ['core'], types: [] },
  { name: 'jobs', files: /^src\/jobs\//, values: ['core'], types: ['src/store/store.ts', 'src/store/schema.ts'] },
  { name: 'service', files: /^src\/service\//, values: ['core'], types: [] },
  {
    name: 'http',
    files: /^src\/http\//,
    values: ['core', ...useCases, 'receivers', 'endpoint', 'reports', 'dashboard'],
    types: anyType,
  },
  {
    name: 'dashboard',
    files: /^src\/dashboard\//,
    values: ['core', ...useCases, 'receivers', 'reports'],
    types: anyType,
  },
  // Disagrees with the product on purpose where the service might: it shares words and hashes, nothing else.
  { name: 'sandbox', files: /^src\/sandbox\//, values: ['src/core/vocabulary.ts', 'src/core/hash.ts'], types: [] },
  { name: 'config', files: /^src\/(config\.ts|config\/.*|keys\.ts)$/, values: ['core'], types: interfaces },
  { name: 'log', files: /^src\/log\.ts$/, values: ['core'], types: [] },
  { name: 'context', files: /^src\/(context\.ts|context\/.*)$/, values: ['*'], types: anyType },
  {
    name: 'commands',
    files: /^src\/commands\//,
    values: ['core', 'context', 'config', 'log', 'http', ...useCases, 'receivers', 'reports', 'render', 'sandbox'],
    types: anyType,
  },
  { name: 'cli', files: /^src\/cli\.ts$/, values: ['core', 'commands', 'config'], types: anyType },
];

/** Where a library is at home: parts or single files. A library that is not listed has no home yet, and may not be used. */
export const libraryHomes: Readonly<Record<string, readonly string[]>> = {
  zod: ['*'],
  'json-canonicalize': ['core'],
  'date-holidays': ['core'],
  'temporal-polyfill': ['core'],
  croner: ['core'],
  yaml: ['config'],
  sqlite3: ['src/store/sqlite/driver.ts'],
  kysely: ['store'],
  pg: ['src/store/postgres/driver.ts'],
  bullmq: ['src/jobs/bullmq.ts'],
  ioredis: ['src/jobs/bullmq.ts'],
  'csv-parse': ['commands', 'sources'],
  diff: ['src/snapshots/diff.ts'],
  'jsonc-parser': ['service'],
  'p-retry': ['service'],
  '@modelcontextprotocol/sdk': ['sandbox', 'src/service/mcp.ts'],
  fastify: ['endpoint', 'http', 'dashboard', 'sandbox'],
  '@fastify/cookie': ['http'],
  '@fastify/csrf-protection': ['http'],
  '@fastify/formbody': ['http'],
  '@fastify/helmet': ['http'],
  '@fastify/rate-limit': ['http'],
  preact: ['dashboard', 'http', 'render'],
  'preact-render-to-string': ['dashboard', 'http', 'render'],
  archiver: ['render'],
  'csv-stringify': ['render'],
  'd3-scale': ['render'],
  'd3-shape': ['render'],
  'dejavu-fonts-ttf': ['render'],
  pdfkit: ['render'],
  commander: ['commands', 'cli'],
  'cli-table3': ['commands'],
  picocolors: ['commands', 'cli'],
  pino: ['log'],
  'prom-client': ['http'],
};

/** Libraries whose types alone may be used anywhere outside core: the query builder comes in through the Store interface. */
export const typesEverywhere: ReadonlySet<string> = new Set(['kysely', 'fastify', 'pino']);

/** Node's own modules that core may use: it neither reads nor writes anything, and loads what is heavy with its first use. */
export const coreBuiltins: ReadonlySet<string> = new Set(['node:crypto', 'node:module']);

/** The explicit lists: the only files named index, and the only ones that may do nothing but hand on. */
export const lists: ReadonlySet<string> = new Set([
  'receivers/index.ts',
  'receivers/public.ts',
  'reports/index.ts',
  'src/projections/index.ts',
]);

export const environmentReaders: ReadonlySet<string> = new Set(['src/config.ts']);
export const exiters: ReadonlySet<string> = new Set(['src/cli.ts']);
