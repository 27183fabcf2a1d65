import { Worker } from 'node:worker_threads';
import type { Discovery, discover } from '../../receivers/discover/discover.ts';
import { type Reading, readDelivery } from '../../receivers/read.ts';
import { CodedError, UsageError } from '../core/errors.ts';
import type { OutsideFile } from '../documents/outside-file.ts';
import type { FormA } from '../policies/generate.ts';

/** What someone sent: a file to be checked, a list of policies to make, or payloads whose fields are examined. */
export type OutsideTask =
  | { readonly read: 'file'; readonly path: string }
  | { readonly read: 'bulk-items'; readonly bytes: Uint8Array; readonly called: string }
  | { readonly read: 'fields'; readonly of: Parameters<typeof discover> }
  | { readonly read: 'delivery'; readonly of: Parameters<typeof readDelivery> };

/** The answer of the thread. */
export type FromThread =
  | { readonly found: OutsideFile | readonly FormA[] | Discovery | Reading }
  | { readonly problems: readonly string[] }
  | { readonly error: string };

/** The part of a worker thread that is used. */
type Thread = Pick<Worker, 'once' | 'terminate'>;

/** Hashing and unpacking as much as is allowed takes less than 20 s on two cores of 2 GHz. */
const LONGEST_MS = 120_000;
/** Files that may wait for their turn. */
const WAITING = 4;
const HEAP_MB = 384;
/** A delivery of this size is read in less time than a thread needs to start. */
const QUICK_BYTES = 64 * 1024;

const openWorker = (task: OutsideTask): Thread =>
  new Worker(new URL('./outside-thread-main.js', import.meta.url), {
    workerData: task,
    name: 'outside file',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });

/** How what was sent is read. Each rejects with CodedError `overloaded` if too much is waiting. */
export interface OutsideReaders {
  readonly readOutsideFile: (path: string) => Promise<OutsideFile>;
  /** Rejects with UsageError as parseBulkItems does. */
  readonly readBulkItems: (bytes: Uint8Array, called: string) => Promise<readonly FormA[]>;
  readonly discoverFields: (...of: Parameters<typeof discover>) => Promise<Discovery>;
  readonly readOneDelivery: (...of: Parameters<typeof readDelivery>) => Promise<Reading>;
}

/**
 * Reads what was sent in a thread of its own, one after another, so that deliveries are answered meanwhile. A thread that
 * takes too long is ended.
 */
export function createOutsideThread(openThread: (task: OutsideTask) => Thread = openWorker): OutsideReaders {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  async function inTurn(task: OutsideTask): Promise<unknown> {
    if (waiting > WAITING) throw new CodedError('overloaded', 'Other files are being read. Try again in a minute.');
    waiting += 1;
    const reading = last.then(() => readIn(openThread(task)));
    last = reading.catch(() => undefined);
    try {
      return await reading;
    } finally {
      waiting -= 1;
    }
  }
  return {
    readOutsideFile: async (path) => (await inTurn({ read: 'file', path })) as OutsideFile,
    readBulkItems: async (bytes, called) => (await inTurn({ read: 'bulk-items', bytes, called })) as readonly FormA[],
    discoverFields: async (...of) => (await inTurn({ read: 'fields', of })) as Discovery,
    readOneDelivery: async (...of) =>
      of[0].length > QUICK_BYTES ? ((await inTurn({ read: 'delivery', of })) as Reading) : readDelivery(...of),
  };
}

async function readIn(thread: Thread): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<unknown>((resolve, reject) => {
      thread.once('message', (said: FromThread) => {
        if ('found' in said) resolve(said.found);
        else reject('problems' in said ? new UsageError(said.problems) : new Error(said.error));
      });
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('the thread that read a file ended early')));
      timer = setTimeout(() => reject(new Error('reading a file took too long')), LONGEST_MS);
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
