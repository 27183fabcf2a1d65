import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, median, medianSync, percentile } from './figures.ts';
import { type LoadResult, sendLoad } from './load.ts';

const CONNECTIONS = 64;
const SECRET = 'bench-secret-0123456789';
const ROUNDS = 3;

/** Receive, durable, 64 connections, SQLite, beside the same Fastify app that only verifies; the two in turn, three rounds. */
export async function benchReceive(scale: number): Promise<Figure[]> {
  const folder = await mkdtemp(join(process.env.BENCH_FOLDER ?? tmpdir(), 'consent-ledger-bench-'));
  try {
    const sync = medianSync(folder);
    const verify: LoadResult[] = [];
    const durable: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      verify.push(await measure('verify', `${folder}/${round}-v.sqlite`, Math.round(60_000 * scale)));
      durable.push(await measure('durable', `${folder}/${round}-d.sqlite`, Math.round(40_000 * scale)));
    }
    const rates = (results: LoadResult[]) => results.map((result) => result.answered / result.seconds);
    const ratio = median(rates(durable).map((rate, round) => rate / (rates(verify)[round] as number)));
    const p50 = median(durable.map(({ latencies }) => percentile(latencies, 0.5)));
    const p99 = median(durable.map(({ latencies }) => percentile(latencies, 0.99)));
    return [
      {
        name: `receive, durable, ${CONNECTIONS} connections`,
        value: `${Math.round(median(rates(durable)))}/s`,
        baseline: `verify only ${Math.round(median(rates(verify)))}/s`,
        ratio,
        wanted: '≥ 0.5',
        reached: ratio >= 0.5,
      },
      { name: 'receive p50', value: `${p50.toFixed(2)} ms`, baseline: `median sync ${sync.toFixed(2)} ms`, ratio: p50 / sync, wanted: '', reached: null },
      { name: 'receive p99', value: `${p99.toFixed(2)} ms`, baseline: `median sync ${sync.toFixed(2)} ms`, ratio: p99 / sync, wanted: '< 10', reached: p99 / sync < 10 },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(mode: 'verify' | 'durable', path: string, count: number): Promise<LoadResult> {
  const child = fork(fileURLToPath(new URL('./receive-server.ts', import.meta.url)), [mode, path, SECRET]);
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    await sendLoad(port, prepareRequests(count >> 2), CONNECTIONS); // warm-up
    return await sendLoad(port, prepareRequests(count), CONNECTIONS);
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
      timestamp: '2026-07-01T10:00:00.000Z',
    });
    const digest = createHmac('sha256', SECRET).update(body).digest('hex');
    return Buffer.from(
      `POST /webhooks/default HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: bench\r\n` +
        `x-service-signature: ${digest}\r\nx-service-signature-256: sha256=${digest}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
