import { parentPort, workerData } from 'node:worker_threads';
import { readOutsideFile } from '../documents/outside-file.ts';
import type { FromThread } from './outside-file-thread.ts';

/** Runs in the thread of outside-file-thread.ts: reads one file, answers and ends. */
if (parentPort === null) throw new Error('outside-file-thread-main is started by outside-file-thread');
const port = parentPort;
readOutsideFile(String(workerData)).then(
  (file) => port.postMessage({ file } satisfies FromThread),
  (error: unknown) => port.postMessage({ error: String(error) } satisfies FromThread),
);
