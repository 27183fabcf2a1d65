import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findReleaseProblems } from '../../scripts/release-problems.ts';

const good = {
  version: '1.0.0-rc.1',
  status: '',
  changelog: '# Changelog\n\n## [1.0.0-rc.1]\n\n## [0.9.0]\n',
  published: ['0.9.0'],
};

it('a clean commit whose changelog lists its version can be released', () => {
  expect(findReleaseProblems(good)).toEqual([]);
});

it.each([
  ['uncommitted changes', { status: ' M src/cli.ts\n' }, 'commit them first'],
  ['a version that the changelog does not begin with', { version: '0.9.0', published: [] }, 'heading "## [0.9.0]"'],
  ['changes without a version', { changelog: '# Changelog\n\n## [Unreleased]\n' }, 'begins with "## [Unreleased]"'],
  ['something that is not a version', { version: 'next', changelog: '## [next]' }, 'not a semantic version'],
  ['a version that is already published', { published: ['1.0.0-rc.1'] }, 'increase the version'],
])('%s is reported with the remedy', (_name, change, words) => {
  expect(findReleaseProblems({ ...good, ...change })).toEqual([expect.stringContaining(words)]);
});

it('the changelog begins with the version of the program, and the chart has the same', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(findReleaseProblems({ version, status: '', changelog: read('CHANGELOG.md'), published: null })).toEqual([]);
  expect(read('deploy/helm/consent-ledger/Chart.yaml')).toContain(`appVersion: ${version}\n`);
});

it('every file that docs/deployment.md copies out of the package is in it', () => {
  const root = join(import.meta.dirname, '../..');
  const page = readFileSync(join(root, 'docs/deployment.md'), 'utf8');
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const copied = [...page.matchAll(/^cp \S*node_modules\/consent-ledger\/(\S+)/gm)].map(([, path = '']) => path);
  expect(copied.length).toBeGreaterThan(0);
  expect(page).not.toMatch(/^cp (?!\/)/m);
  for (const path of copied) {
    expect(existsSync(join(root, path)), path).toBe(true);
    expect(files).toContain(path.split('/')[0]);
  }
});
