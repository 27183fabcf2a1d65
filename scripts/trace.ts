import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nodeFileTrace } from '@vercel/nft';

/**
 * Copies what the built program loads at run time into a folder, for the container: `node --import tsx scripts/trace.ts
 * <folder>`. That is a seventh of node_modules. Every package that the program names is loaded from the copy once; if
 * that fails, so does the build.
 */
const root = join(import.meta.dirname, '..');
const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('Usage: trace.ts <folder>');

/** Files that are found at run time by a computed name. */
const byName = [
  ...['', '-Bold'].map((weight) => `node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed${weight}.ttf`),
  'node_modules/dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf',
  ...['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'sv'].map(
    (language) => `node_modules/i18n-iso-countries/langs/${language}.json`,
  ),
];

const built = (readdirSync(join(root, 'dist'), { recursive: true }) as string[])
  .map((file) => join('dist', file))
  .filter((file) => !file.endsWith('.map') && !file.startsWith('dist/types') && !file.startsWith('dist/.'))
  .filter((file) => statSync(join(root, file)).isFile());
const code = built.filter((file) => file.endsWith('.js')).map((file) => join(root, file));
const { fileList } = await nodeFileTrace(code, { base: root, processCwd: root });
const traced = [...fileList].filter((file) => file.startsWith('node_modules/'));
const packages = new Set(
  [...traced, ...byName].flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
const notices = [...packages].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => /^(licen[cs]e|copying|notice|package\.json)/i.test(file))
    .map((file) => join(folder, file))
    .filter((file) => statSync(join(root, file)).isFile()),
);
const files = new Set(['package.json', ...built, ...traced, ...byName, ...notices]);
let bytes = 0;
for (const file of files) {
  const from = join(root, file);
  mkdirSync(dirname(join(target, file)), { recursive: true });
  copyFileSync(from, join(target, file));
  bytes += statSync(from).size;
}

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
/** The packages outside the bundle that the built files import. */
const specifiers = new Set(
  code
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\d*\()\s*["']([^."'][^"']*)["']/g),
    ])
    .flatMap(([, name = '']) => (isInstalled(name) ? [name] : [])),
);
// Tries `import`, like the program, and otherwise `require`, like CommonJS packages in it.
for (const name of [...specifiers].sort())
  execFileSync(process.execPath, ['-e', `const name = '${name}'; import(name).catch(() => require(name))`], {
    cwd: target,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
console.log(
  `${files.size} files, ${(bytes / 1e6).toFixed(1)} MB; loaded from the copy: ${[...specifiers].sort().join(', ')}`,
);

/** Whether a package that the program names is installed next to the bundle instead of in it. */
function isInstalled(specifier: string): boolean {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
  return Object.hasOwn(dependencies, name) && existsSync(join(target ?? '', 'node_modules', name));
}
