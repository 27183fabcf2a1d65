import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { withCapturing } from './capture.ts';
import { type CapturedPackage, keptCaptures } from './fixtures.ts';
import { fileOf, folderOf, platforms } from './platforms.ts';

// UPDATE_CAPTURES=yes npm run test:long -- --project long test/receivers/captures: writes them again. Installs the packages with npm.
test('the kept captures are what the packages give to a visitor who clicks', async () => {
  const captured = await withCapturing(platforms, async (capture) => {
    const found: [string, CapturedPackage][] = [];
    for (const platform of platforms) {
      found.push([`${folderOf(platform)}.json`, fileOf(platform, await capture(platform))]);
    }
    return found;
  });
  if (process.env['UPDATE_CAPTURES'] === 'yes') {
    const files = captured.map(([file]) => join(import.meta.dirname, file));
    for (const [at, [, content]] of captured.entries()) await writeFile(files[at] ?? '', JSON.stringify(content));
    await promisify(execFile)('node_modules/.bin/biome', ['format', '--write', ...files]);
  }
  expect(captured.length).toBeGreaterThan(8);
  expect(Object.fromEntries(captured)).toEqual(Object.fromEntries(keptCaptures()));
});
