import { parentPort, workerData } from 'node:worker_threads';
import { discover } from '../../receivers/discover/discover.ts';
import { readDelivery } from '../../receivers/read.ts';
import { UsageError } from '../core/errors.ts';
import { readOutsideFile } from '../documents/outside-file.ts';
import { parseBulkItems } from '../policies/bulk-file.ts';
import type { FromThread, OutsideTask } from './outside-thread.ts';

/** Runs in the thread of outside-thread.ts: reads one thing, answers and ends. */
if (parentPort === null) throw new Error('outside-thread-main is started by outside-thread');
const port = parentPort;
const task = workerData as OutsideTask;

async function read(): Promise<FromThread> {
  try {
    switch (task.read) {
      case 'file':
        return { found: await readOutsideFile(task.path) };
      case 'bulk-items':
        return { found: parseBulkItems(Buffer.from(task.bytes), task.called) };
      case 'fields':
        return { found: discover(...task.of) };
      case 'delivery':
        return { found: readDelivery(...task.of) };
    }
  } catch (error) {
    return error instanceof UsageError ? { problems: error.problems } : { error: String(error) };
  }
}

void read().then((answer) => port.postMessage(answer));
