// SQLite only: another process that writes locks the whole file, even for a start.
import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { startServing } from '../serving.ts';
import { holdWriters } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

test('a start that fails half-way ends instead of listening with nothing behind it', async () => {
  const folder = await temporaryFolder();
  await runCli(folder, ['ledger', 'checkpoint']);
  await holdWriters(folder);
  const ended = await startServing(folder).then(
    () => 'it listens',
    (error: Error) => error.message,
  );
  expect(ended).toContain('serve ended before it listened');
  expect(ended).toContain('locked');
});
