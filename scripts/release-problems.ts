/**
 * The obstacles to a release. `status`: output of `git status --porcelain`; `published`: versions in the registry, null
 * if it was not asked.
 */
export function findReleaseProblems(release: {
  readonly version: string;
  readonly status: string;
  readonly changelog: string;
  readonly published: readonly string[] | null;
}): readonly string[] {
  const { version, status, changelog, published } = release;
  const problems: string[] = [];
  if (status.trim() !== '')
    problems.push(
      'The working tree has uncommitted changes: commit them first, so that the release can be reproduced from its commit.',
    );
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version))
    problems.push(`"${version}" in package.json is not a semantic version.`);
  const heading = changelog.split('\n').find((line) => line.startsWith('## '));
  if (heading === undefined || !heading.startsWith(`## [${version}]`))
    problems.push(
      `CHANGELOG.md begins with "${heading ?? ''}": give its newest section the heading "## [${version}]".`,
    );
  if (published?.includes(version) === true)
    problems.push(`${version} is already published: increase the version in package.json.`);
  return problems;
}
