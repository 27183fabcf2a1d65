import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { createLog } from '../../src/log/log.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** Alone in its file: only the first look loads the code for it, which takes longer than the database takes to refuse. */
test('a database that goes away at the first look for warnings ends that look, not the process', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.prependListener('unhandledRejection', note);
  const folder = await temporaryFolder();
  const context = await openContext(loadConfig(environment(folder), folder), createLog('silent'));
  try {
    await context.store.close();
    await expect(context.warnings()).rejects.toThrow('closed');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(unhandled).toEqual([]);
  } finally {
    process.removeListener('unhandledRejection', note);
    await context.close();
  }
});
