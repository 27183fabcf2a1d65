import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { createLog } from '../../src/log/log.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

async function openHere() {
  const folder = await temporaryFolder();
  return openContext(loadConfig(environment(folder, { SYNC_SCHEDULE: 'off' }), folder), createLog('silent'));
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('a worker that does not start leaves nothing running', async () => {
  const context = await openHere();
  try {
    vi.spyOn(context.readings, 'pending').mockRejectedValue(new Error('damaged'));
    const before = timers();
    await expect(startWorker(context)).rejects.toThrow('damaged');
    expect(timers()).toBeLessThanOrEqual(before);
  } finally {
    await context.close();
  }
});

test('a worker waits for a database that is away when it starts', async () => {
  const context = await openHere();
  const pending = vi.spyOn(context.readings, 'pending').mockRejectedValueOnce(new StoreUnavailable('away'));
  const worker = await startWorker(context);
  expect(pending).toHaveBeenCalledTimes(2);
  await worker.stop();
  await context.close();
});
