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

export type ReceiveMode = 'verify' | 'durable' | 'projected';

/** Servers side by side on one database (a path, or a postgres: address), loaded together over 64 connections; the rate of all. */
export async function measureTogether(database: string, processes: number, count: number): Promise<number> {
  const children: ChildProcess[] = [];
  try {
    const ports: number[] = [];
    for (let n = 0; n < processes; n += 1) {
      const child = startServer('durable', database);
      children.push(child);
      ports.push(((await once(child, 'message')) as [{ port: number }])[0].port);
    }
    const each = Math.round(count / processes);
    const load = (share: number) =>
      Promise.all(
        ports.map((port) =>
          sendLoad(port, prepareRequests(Math.round(each * share)), Math.round(CONNECTIONS / processes)),
        ),
      );
    await load(0.25); // warm-up
    const started = performance.now();
    const results = await load(1);
    const seconds = (performance.now() - started) / 1000;
    return results.reduce((sum, { answered }) => sum + answered, 0) / seconds;
  } finally {
    await Promise.all(children.map(end));
  }
}

function startServer(mode: ReceiveMode, database: string): ChildProcess {
  return fork(fileURLToPath(new URL('./receive-server.ts', import.meta.url)), [mode, database, SECRET]);
}

/** Loads a fresh server over 64 connections after a warm-up; the projector then catches up, unless nothing is kept. */
export async function measureReceive(
  mode: ReceiveMode,
  database: string,
  count: number,
): Promise<LoadResult & { caughtUp: CaughtUp | null }> {
  const child = startServer(mode, database);
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
