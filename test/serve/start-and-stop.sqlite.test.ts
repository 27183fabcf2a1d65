// SQLite only: another process that writes locks the whole file, even for a start.
import { readdirSync, readFileSync } from 'node:fs';
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

// Linux only: elsewhere a priority is that of a whole process.
test.runIf(process.platform === 'linux')('the thread that answers deliveries goes before the others', async () => {
  const { child } = await startServing(await temporaryFolder());
  const niceness = (thread: string) =>
    Number(readFileSync(`/proc/${child.pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
  const threads = readdirSync(`/proc/${child.pid}/task`);
  const others = threads.filter((thread) => Number(thread) !== child.pid);
  await expect
    .poll(() => others.map((thread) => niceness(thread) - niceness(String(child.pid))))
    .toEqual(others.map(() => 10));
});
