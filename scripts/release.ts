import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findReleaseProblems } from './release-problems.ts';

/**
 * `npm run release`: packs the program and its receivers into release/, with a list of their contents (CycloneDX). With
 * `-- --publish` they are published with provenance, which npm accepts only from a build service that it can ask
 * (https://docs.npmjs.com/generating-provenance-statements).
 */
const root = join(import.meta.dirname, '..');
const folder = join(root, 'release');
const isPublished = process.argv.includes('--publish');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const text = (command: string, args: readonly string[]) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const problems = findReleaseProblems({
  version,
  status: text('git', ['status', '--porcelain']),
  changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
  published: isPublished ? publishedVersions() : null,
});
if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
text('npm', ['run', '--silent', 'package:receivers']);
for (const from of ['.', './dist/consent-ledger-receivers']) text('npm', ['pack', '--pack-destination', folder, from]);
const contents = join(folder, `consent-ledger-${version}.cdx.json`);
writeFileSync(contents, text('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']));
console.log(`release/ has both packages of ${version} and ${contents.slice(root.length + 1)}.`);

if (isPublished) {
  const tag = version.includes('-') ? 'next' : 'latest';
  for (const name of ['consent-ledger', 'consent-ledger-receivers'])
    text('npm', [
      'publish',
      join(folder, `${name}-${version}.tgz`),
      '--provenance',
      '--access',
      'public',
      '--tag',
      tag,
    ]);
  console.log(`Published as "${tag}". Tag the commit: git tag v${version}`);
} else console.log('Nothing was published. To publish, run: npm run release -- --publish');

/** Empty if the package has never been published. */
function publishedVersions(): readonly string[] {
  try {
    return [JSON.parse(text('npm', ['view', 'consent-ledger', 'versions', '--json'])) as string[]].flat();
  } catch {
    return [];
  }
}
