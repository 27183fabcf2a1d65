import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Creates a separate package of the receivers in dist/consent-ledger-receivers from the output of `npm run build`: `npm
 * run package:receivers`, then `npm publish dist/consent-ledger-receivers`. It has the program's version, and only zod
 * as a dependency.
 */
const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/consent-ledger-receivers');
const program = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown> & {
  readonly dependencies: Readonly<Record<string, string>>;
};

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { index: 'receivers/public.ts' },
  outdir: folder,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  metafile: true,
  logLevel: 'warning',
});
const wanted = new Set(
  Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('node:') && !builtinModules.includes(path)),
);
const { fastify, zod } = program.dependencies;
for (const name of wanted)
  if (name !== 'zod' && name !== 'fastify')
    throw new Error(`The receivers load ${name}, but may depend on nothing except zod.`);

copyFileSync(join(root, 'dist/receivers/signature-web-crypto.js'), join(folder, 'verify.js'));
for (const part of ['receivers', 'src'])
  cpSync(join(root, 'dist/types', part), join(folder, 'types', part), { recursive: true });
// Types of settings are derived from schemas.
const typed = (readdirSync(join(folder, 'types'), { recursive: true }) as string[])
  .filter((file) => file.endsWith('.d.ts'))
  .some((file) => /from ["']zod["']/.test(readFileSync(join(folder, 'types', file), 'utf8')));
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const [, section = ''] = /\n### In your own application\n([^]*?)\n### /.exec(readme) ?? [];
if (section === '') throw new Error('README.md has no section "In your own application".');
writeFileSync(
  join(folder, 'README.md'),
  `# consent-ledger-receivers\n${section.replace(/ `npm run package:receivers`[^]*/, '\n').replaceAll('consent-ledger/receivers', 'consent-ledger-receivers')}`,
);
const { version, license, engines } = program;
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify(
    {
      name: 'consent-ledger-receivers',
      version,
      description:
        'The webhook endpoint of consent-ledger as a Fastify plugin, and its signature check for every framework.',
      license,
      type: 'module',
      engines,
      exports: {
        '.': { types: './types/receivers/public.d.ts', default: './index.js' },
        './verify': { types: './types/receivers/signature-web-crypto.d.ts', default: './verify.js' },
      },
      dependencies: wanted.has('zod') || typed ? { zod } : {},
      peerDependencies: { fastify },
      peerDependenciesMeta: { fastify: { optional: true } },
    },
    null,
    2,
  )}\n`,
);
