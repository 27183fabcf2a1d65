import { parentPort, workerData } from 'node:worker_threads';
import { UsageError } from '../core/errors.ts';
import { readOutsideFile } from '../documents/outside-file.ts';
import { parseBulkItems } from '../policies/bulk-file.ts';
import type { FromThread, OutsideTask } from './outside-file-thread.ts';

/** Runs in the thread of outside-file-thread.ts: reads one file, answers and ends. */
if (parentPort === null) throw new Error('outside-file-thread-main is started by outside-file-thread');
const port = parentPort;
const task = workerData as OutsideTask;

async function read(): Promise<FromThread> {
  try {
    if (task.read === 'file') return { found: await readOutsideFile(task.path) };
    return { found: parseBulkItems(Buffer.from(task.bytes), task.called) };
  } catch (error) {
    return error instanceof UsageError ? { problems: error.problems } : { error: String(error) };
  }
}

void read().then((answer) => port.postMessage(answer));
