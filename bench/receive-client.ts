import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type LoadResult, sendLoad } from './load.ts';

export const CONNECTIONS = 64;
const SECRET = 'bench-secret-0123456789';

/** What the projector had left to do when the load ended, and how long it took. */
export interface CaughtUp {
  readonly behind: number;
  readonly position: number;
  readonly seconds: number;
}

/** Loads a fresh server over 64 connections after a warm-up; the projector then catches up, unless nothing is kept. */
export async function measureReceive(
  mode: 'verify' | 'durable' | 'projected',
  path: string,
  count: number,
): Promise<LoadResult & { caughtUp: CaughtUp | null }> {
  const child = fork(fileURLToPath(new URL('./receive-server.ts', import.meta.url)), [mode, path, SECRET]);
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    await sendLoad(port, prepareRequests(count >> 2), CONNECTIONS); // warm-up
    const result = await sendLoad(port, prepareRequests(count), CONNECTIONS);
    if (mode === 'verify') return { ...result, caughtUp: null };
    child.send('catch-up');
    const [caughtUp] = (await once(child, 'message')) as [CaughtUp];
    return { ...result, caughtUp };
  } finally {
    await end(child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.send('stop');
  else child.kill('SIGKILL');
  await exited;
}

/** Signed deliveries of a consent choice, each another body. */
function prepareRequests(count: number): Buffer[] {
  return Array.from({ length: count }, () => {
    const body = JSON.stringify({
      event: 'consent.recorded',
      id: `cr_${randomUUID()}`,
      banner_id: 'bnr_main',
      visitor_hash: randomUUID().replaceAll('-', '').repeat(2),
      choices: { necessary: true, preferences: false, analytics: true, marketing: false },
      region: 'DE',
      policy_version: '7',
      timestamp: new Date().toISOString(),
    });
    const digest = createHmac('sha256', SECRET).update(body).digest('hex');
    return Buffer.from(
      `POST /webhooks/default HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: bench\r\n` +
        `x-service-signature: ${digest}\r\nx-service-signature-256: sha256=${digest}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
