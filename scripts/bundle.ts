import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import { bundledFonts } from '../reports/render/fonts.ts';

/**
 * The build: writes the program and the receivers, with what they read at run time, to dist/. Loading a thousand files
 * is most of the time of a short command, so modules and packages are bundled into a few; commands are separate, so
 * that only the requested one is loaded.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/**
 * Packages that are bundled: those that most commands, or the server at its start, load. The others stay as installed:
 * compiled ones, those that read files next to them, and CommonJS packages that are imported dynamically, whose named
 * exports a bundle would lose.
 */
const inside = new Set([
  '@commander-js/extra-typings',
  '@fastify/formbody',
  '@fastify/helmet',
  '@fastify/rate-limit',
  'cli-table3',
  'commander',
  'croner',
  'csv-parse',
  'csv-stringify',
  'd3-scale',
  'd3-shape',
  'diff',
  'fastify',
  'ipaddr.js',
  'json-canonicalize',
  'kysely',
  'otpauth',
  'p-retry',
  'picocolors',
  'pino',
  'preact',
  'preact-render-to-string',
  'prom-client',
  'temporal-polyfill',
  'uqr',
  'zod',
]);
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
const outside = Object.keys(dependencies).filter((name) => !inside.has(name));

/** Each source keeps its own URL, by which it finds the files next to it, as if it were compiled to a separate file. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      const loader = path.endsWith('x') ? 'tsx' : 'ts';
      const own = `../${relative(root, path).replace(/\.tsx?$/, '.js')}`;
      const contents = readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL('${own}', import.meta.url).href`,
      );
      return { contents, loader };
    });
  },
};

/**
 * Removes comments and spaces from packages, a third of what is loaded; and includes zod with English messages only
 * instead of fifty languages.
 */
const smallPackages: Plugin = {
  name: 'small packages',
  setup({ onLoad }) {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), {
        minifyWhitespace: true,
        minifySyntax: true,
        legalComments: 'none',
      });
      return { contents: code };
    });
  },
};

for (const old of ['src', 'client', 'receivers', 'reports', 'chunks', '.tsbuildinfo'])
  rmSync(join(dist, old), { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  // All in one folder, so that relative paths upwards are the same for sources and chunks.
  entryPoints: [
    'src/cli.ts',
    'src/context/projector-thread-main.ts',
    'src/context/outside-thread-main.ts',
    'reports/render/pdf-thread-main.ts',
    'receivers/public.ts',
    'client/client.ts',
  ],
  outdir: 'dist',
  outbase: '.',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  mainFields: ['module', 'main'],
  external: outside.flatMap((name) => [name, `${name}/*`]),
  plugins: [ownAddresses, smallPackages],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // CommonJS packages `require` Node's own modules.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
});

// Also for workers and browsers: contains nothing of Node.
await build({
  absWorkingDir: root,
  entryPoints: ['receivers/signature-web-crypto.ts'],
  outdir: 'dist/receivers',
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
});

for (const [path, { imports }] of Object.entries(metafile.inputs)) {
  const nameless = imports.find((one) => one.kind === 'dynamic-import' && metafile.inputs[one.path]?.format === 'cjs');
  if (nameless !== undefined)
    throw new Error(
      `${path} imports ${nameless.path} dynamically, and a bundle would lose its named exports: remove the package from \`inside\`.`,
    );
}

const fonts = join(dist, 'reports/render/fonts');
const verifier = join(dist, 'reports/verifier');
for (const folder of [fonts, verifier]) mkdirSync(folder, { recursive: true });
for (const name of ['verify.mjs', 'verify.html', 'verify-export.mjs'])
  copyFileSync(join(root, 'reports/verifier', name), join(verifier, name));
const { resolve } = createRequire(import.meta.url);
for (const [name, file] of Object.entries(bundledFonts)) {
  const from = resolve(file);
  copyFileSync(from, join(fonts, `${name}.woff`));
  copyFileSync(join(dirname(dirname(from)), 'LICENSE'), join(fonts, `${name}.LICENSE`));
}
writeFileSync(join(dist, 'LICENSES.txt'), licences(metafile));

/** The licences of the bundled packages. */
function licences({ inputs }: Metafile): string {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Record<
        string,
        unknown
      >;
      const files = readdirSync(join(root, folder));
      const texts = files
        .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
        .map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
      // Some packages state it at the end of their README, others only in package.json.
      const readme = files.find((file) => /^readme/i.test(file));
      if (texts.length === 0 && readme !== undefined)
        texts.push(/^#+ licen[cs]e$[^]*/im.exec(readFileSync(join(root, folder, readme), 'utf8'))?.[0].trim() ?? '');
      return [`${String(name)} ${String(version)} (${String(license)})`, ...texts].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}
