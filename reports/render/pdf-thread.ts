import { Worker } from 'node:worker_threads';
import type { Block, Frame } from './blocks.ts';

/** A document to draw, with all its rows. */
export interface ToPdfThread {
  readonly frame: Frame;
  readonly blocks: readonly Block[];
}

/** Its answer. */
export type FromPdfThread = { readonly chunks: readonly Uint8Array[] } | { readonly error: string };

/** Without another document for this long, the thread ends, which frees its fonts. */
const IDLE_MS = 30_000;

let thread: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();
/** Takes the answer about the document that is being drawn. */
let answer: (said: FromPdfThread) => void = () => undefined;

/**
 * Draws documents in a thread of their own, one after another: deliveries are answered meanwhile, however many pages
 * there are. Rejects as drawing does, with the message of its error.
 */
export function drawInThread(task: ToPdfThread): Promise<readonly Uint8Array[]> {
  const drawn = last.then(() => draw(task));
  last = drawn.catch(() => undefined);
  return drawn;
}

async function draw(task: ToPdfThread): Promise<readonly Uint8Array[]> {
  clearTimeout(idle);
  const own = (thread ??= open());
  // Only while it draws does it keep the process alive.
  own.ref();
  const said = await new Promise<FromPdfThread>((resolve) => {
    answer = resolve;
    own.postMessage(task);
  });
  own.unref();
  idle = setTimeout(() => end(own), IDLE_MS).unref();
  if ('error' in said) throw new Error(said.error);
  return said.chunks;
}

function open(): Worker {
  const own = new Worker(new URL('./pdf-thread-main.js', import.meta.url), { name: 'pdf' });
  const failed = (error: string) => {
    if (thread !== own) return;
    thread = null;
    answer({ error });
  };
  own.on('message', (said: FromPdfThread) => answer(said));
  own.on('error', ({ message }) => failed(message));
  own.on('exit', () => failed('the thread that draws documents ended early'));
  return own;
}

function end(own: Worker): void {
  if (thread === own) thread = null;
  void own.terminate();
}
