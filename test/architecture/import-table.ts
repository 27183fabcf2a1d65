/**
 * Which part may import which (docs/architecture.md, Layout). A part may always import its own files. Imported `values`
 * become part of the running program; imported `types` are erased by the compiler.
 */
export interface Part {
  readonly name: string;
  /** The first part whose pattern fits a path owns it. */
  readonly files: RegExp;
  /** Names of parts, or single files, whose values this part may use. */
  readonly values: readonly string[];
  /** Names of parts, or single files, of which this part may use only types. `values` are included. */
  readonly types: readonly string[];
}

/** Layers without input or output. */
export const pure: readonly string[] = ['core', 'crypto', 'law', 'policy-texts'];

/**
 * The layers from the bottom up. A layer may import values and types of every layer below it; `types` lists other layers
 * whose types it may use. The engines are opened in one place (context), so nothing else depends on which database runs.
 */
const layers: readonly (Pick<Part, 'name' | 'files'> & Partial<Part>)[] = [
  { name: 'core', files: /^src\/core\// },
  { name: 'crypto', files: /^src\/crypto\// },
  { name: 'law', files: /^src\/law\// },
  { name: 'policy-texts', files: /^src\/policy-texts\// },
  { name: 'tracing', files: /^src\/tracing\// },
  { name: 'render', files: /^reports\/render\// },
  { name: 'archives', files: /^src\/archives\// },
  { name: 'store', files: /^src\/store\/(?!sqlite\/|postgres\/)/, types: ['engines'] },
  { name: 'jobs', files: /^src\/jobs\// },
  { name: 'ledger', files: /^src\/ledger\// },
  { name: 'rejected', files: /^src\/rejected\// },
  { name: 'receivers', files: /^receivers\/(?!endpoint|public)/, values: pure },
  { name: 'endpoint', files: /^receivers\/(endpoint|public)\.ts$/, values: [...pure, 'receivers'] },
  { name: 'client', files: /^client\//, values: [] },
  { name: 'service', files: /^src\/service\// },
  { name: 'outside', files: /^src\/outside\// },
  { name: 'sources', files: /^src\/sources\// },
  { name: 'people', files: /^src\/people\// },
  { name: 'banners', files: /^src\/banners\// },
  { name: 'cases', files: /^src\/cases\// },
  { name: 'projections', files: /^src\/projections\// },
  { name: 'sync', files: /^src\/sync\// },
  { name: 'policy-snapshots', files: /^src\/policy-snapshots\// },
  { name: 'policies', files: /^src\/policies\// },
  { name: 'reports', files: /^reports\// },
  { name: 'consent', files: /^src\/consent\// },
  { name: 'documents', files: /^src\/documents\// },
  { name: 'hand-over', files: /^src\/hand-over\// },
  { name: 'request-form', files: /^src\/request-form\// },
  { name: 'erasure', files: /^src\/erasure\// },
  { name: 'attention', files: /^src\/attention\// },
  { name: 'config', files: /^src\/config\// },
  { name: 'log', files: /^src\/log\// },
  { name: 'engines', files: /^src\/store\/(sqlite|postgres)\//, values: [...pure, 'store'] },
  { name: 'context', files: /^src\/context\// },
  { name: 'backup', files: /^src\/backup\// },
  { name: 'worker', files: /^src\/worker\// },
  { name: 'http', files: /^src\/http\// },
  // Disagrees with the product on purpose where the service might, so it shares only words and hashes.
  { name: 'sandbox', files: /^src\/sandbox\//, values: ['src/core/vocabulary.ts', 'src/crypto/hash.ts'] },
  { name: 'commands', files: /^src\/commands\// },
  { name: 'cli', files: /^src\/cli\.ts$/ },
];

/** Layers whose values only some of the layers above may use. */
const reserved: Readonly<Record<string, readonly string[]>> = {
  engines: ['context'],
  log: ['context', 'backup', 'http', 'commands'],
};

export const parts: readonly Part[] = layers.map(({ name, files, values, types = [] }, index) => ({
  name,
  files,
  values:
    values ??
    layers
      .slice(0, index)
      .map((layer) => layer.name)
      .filter((below) => reserved[below]?.includes(name) ?? true),
  types,
}));

/** The parts or single files that may use a library. A library that is not listed may not be used. */
export const libraryHomes: Readonly<Record<string, readonly string[]>> = {
  zod: ['*'],
  'json-canonicalize': ['crypto'],
  'date-holidays': ['law'],
  'iso-3166': ['law'],
  'i18n-iso-countries': ['law'],
  'temporal-polyfill': ['core', 'law'],
  // The tables of special-purpose addresses, which the pages' forms and each connection are judged by.
  'ipaddr.js': ['src/core/destination.ts'],
  croner: ['jobs'],
  yaml: ['config'],
  'age-encryption': ['src/backup/archive.ts'],
  'tar-stream': ['src/backup/archive.ts'],
  sqlite3: ['src/store/sqlite/driver.ts'],
  // The two files outside the store write expressions that its builder lacks: divisions of keys, and a union over two tables.
  kysely: ['store', 'engines', 'src/projections/decisions.ts', 'src/attention/unread.ts'],
  pg: ['src/store/postgres/driver.ts'],
  bullmq: ['src/jobs/bullmq.ts'],
  ioredis: ['src/jobs/bullmq.ts'],
  'csv-parse': ['policies', 'sources'],
  diff: ['src/policy-snapshots/stored-texts.ts'],
  '@noble/post-quantum': ['src/ledger/cosignature.ts'],
  pkijs: ['src/ledger/timestamp.ts'],
  asn1js: ['src/ledger/timestamp.ts'],
  'p-retry': ['service', 'outside'],
  aws4fetch: ['src/outside/s3.ts'],
  nodemailer: ['src/outside/mail.ts'],
  'openapi-fetch': ['client'],
  undici: ['src/service/outgoing-http.ts'],
  'openid-client': ['src/http/auth/single-sign-on-routes.tsx'],
  '@modelcontextprotocol/sdk': ['sandbox', 'src/service/mcp.ts', 'src/http/api/mcp.ts', 'src/commands/mcp.ts'],
  fastify: ['endpoint', 'http', 'sandbox'],
  '@fastify/cookie': ['http'],
  '@fastify/csrf-protection': ['http'],
  '@fastify/formbody': ['http'],
  '@fastify/helmet': ['http'],
  '@fastify/multipart': ['http'],
  '@fastify/rate-limit': ['http'],
  '@node-rs/argon2': ['src/people/passwords.ts'],
  '@zxcvbn-ts/core': ['src/people/passwords.ts'],
  '@zxcvbn-ts/language-common': ['src/people/passwords.ts'],
  '@simplewebauthn/server': ['src/people/passkeys.ts'],
  otpauth: ['src/people/second-factor.ts'],
  uqr: ['http'],
  preact: ['http', 'render'],
  'preact-render-to-string': ['http', 'render'],
  yazl: ['render'],
  'csv-stringify': ['render'],
  'd3-scale': ['render'],
  'd3-shape': ['render'],
  'dejavu-fonts-ttf': ['render'],
  'bidi-js': ['render'],
  fontkit: ['render'],
  pdfkit: ['render'],
  '@commander-js/extra-typings': ['commands', 'cli'],
  'cli-table3': ['commands'],
  picocolors: ['commands', 'cli'],
  pino: ['log'],
  'prom-client': ['http'],
  '@opentelemetry/api': ['src/tracing/start.ts'],
  '@opentelemetry/sdk-trace': ['src/tracing/start.ts'],
  '@opentelemetry/resources': ['src/tracing/start.ts'],
  '@opentelemetry/exporter-trace-otlp-http': ['src/tracing/start.ts'],
  '@opentelemetry/exporter-trace-otlp-proto': ['src/tracing/start.ts'],
};

/**
 * Libraries of which only the types may be used anywhere outside the pure layers: the query builder comes in through the
 * Store interface.
 */
export const typesEverywhere: ReadonlySet<string> = new Set(['kysely', 'fastify', 'pino']);

/** Node's own modules that the pure layers may use: of node:net only isIP, and node:module to load what is heavy on first use. */
export const pureBuiltins: ReadonlySet<string> = new Set(['node:crypto', 'node:module', 'node:net']);

/** The explicit lists: the only files named index, and the only ones that may consist of re-exports. */
export const lists: ReadonlySet<string> = new Set([
  'receivers/index.ts',
  'receivers/public.ts',
  'reports/index.ts',
  'src/projections/index.ts',
]);

export const environmentReaders: ReadonlySet<string> = new Set(['src/config/config.ts']);
export const exiters: ReadonlySet<string> = new Set(['src/cli.ts']);
