import { Worker } from 'node:worker_threads';
import { CodedError } from '../core/errors.ts';
import type { OutsideFile, ReadOutsideFile } from '../documents/outside-file.ts';

/** The answer of the thread. */
export type FromThread = { readonly file: OutsideFile } | { readonly error: string };

/** The part of a worker thread that is used. */
type Thread = Pick<Worker, 'once' | 'terminate'>;

/** Hashing and unpacking as much as is allowed takes less than 20 s on two cores of 2 GHz. */
const LONGEST_MS = 120_000;
/** Files that may wait for their turn. */
const WAITING = 4;
const HEAP_MB = 384;

const openWorker = (path: string): Thread =>
  new Worker(new URL('./outside-file-thread-main.js', import.meta.url), {
    workerData: path,
    name: 'outside file',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });

/**
 * Reads files from outside in a thread of their own, one after another, so that deliveries are answered meanwhile. A
 * thread that takes too long is ended. Rejects with CodedError `overloaded` if too many files are waiting.
 */
export function createOutsideFileThread(openThread: (path: string) => Thread = openWorker): ReadOutsideFile {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (path) => {
    if (waiting > WAITING) throw new CodedError('overloaded', 'Other files are being checked. Try again in a minute.');
    waiting += 1;
    const reading = last.then(() => readIn(openThread(path)));
    last = reading.catch(() => undefined);
    try {
      return await reading;
    } finally {
      waiting -= 1;
    }
  };
}

async function readIn(thread: Thread): Promise<OutsideFile> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<OutsideFile>((resolve, reject) => {
      thread.once('message', (said: FromThread) =>
        'file' in said ? resolve(said.file) : reject(new Error(said.error)),
      );
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('the thread that read a file ended early')));
      timer = setTimeout(() => reject(new Error('reading a file took too long')), LONGEST_MS);
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
