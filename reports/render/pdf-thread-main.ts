import { parentPort } from 'node:worker_threads';
import { drawPdf } from './pdf.ts';
import type { FromPdfThread, ToPdfThread } from './pdf-thread.ts';

/** Runs in the thread of pdf-thread.ts: draws each document that it is sent. */
if (parentPort === null) throw new Error('pdf-thread-main is started by pdf-thread');
const port = parentPort;

async function draw({ frame, blocks }: ToPdfThread): Promise<FromPdfThread> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of drawPdf(frame, blocks)) chunks.push(chunk);
    return { chunks };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

port.on('message', (task: ToPdfThread) => void draw(task).then((answer) => port.postMessage(answer)));
