// SQLite only: about the keys that a first start makes by itself.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFitInstallation, examine, faultsOf } from './fit-installation.ts';

it('doctor names missing parts of the profile, keys readable by others and overdue schedules', async () => {
  const { folder, env } = await createFitInstallation();
  await writeFile(join(folder, 'controller.yaml'), 'name: Shop\nnoTransfers: true\n');
  await chmod(join(folder, 'data/keys/instance.key'), 0o644);
  await chmod(join(folder, 'data/keys'), 0o755);
  const found = await examine(folder, env);
  expect(faultsOf(found)).toEqual([
    expect.stringMatching(/^files: The instance key .*mode 0644/),
    expect.stringMatching(/^files: The folder of the keys .*mode 0755/),
    expect.stringMatching(/lacks: postal address; contact e-mail; country of establishment; purposes/),
  ]);
  expect(found.lines.find(({ about }) => about === 'files')?.remedy).toMatch(/^chmod 600 /);
  expect(found.lines.find(({ about }) => about === 'jobs')).toMatchObject({
    level: 'note',
    sentence: expect.stringContaining('No worker has ever run') as string,
  });
});
