/**
 * Sends signed deliveries of consent choices, each with a different body, over keep-alive connections, and reports what
 * it saw. In its own process and on plain sockets, so that the generator's work is small compared with the server's.
 * Fails on any status but 200.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createHistogram, performance } from 'node:perf_hooks';
import type { LoadOptions, LoadResult } from './load.ts';

const { port, connections, seconds, rate, secret } = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;
const latencies = createHistogram();
/** The first second does not count: until its code is compiled, the generator cannot keep up. */
const WARM_UP_MS = 1000;
const started = performance.now();
const countsFrom = started + WARM_UP_MS;
const until = countsFrom + seconds * 1000;
/** Connections without a pending request, if the rate is given. */
const idle: ((sinceMs: number) => void)[] = [];
let scheduled = 0;
let answeredInAll = 0;

function nextRequest(): Buffer {
  const body = JSON.stringify({
    event: 'consent.recorded',
    id: `cr_${randomUUID()}`,
    banner_id: 'bnr_main',
    visitor_hash: randomBytes(32).toString('hex'),
    choices: { necessary: true, preferences: false, analytics: true, marketing: false },
    region: 'DE',
    policy_version: '7',
    timestamp: new Date().toISOString(),
  });
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return Buffer.from(
    `POST /webhooks/default HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: bench\r\n` +
      `x-service-signature: ${digest}\r\nx-service-signature-256: sha256=${digest}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}

/** One connection: sends its next request after its response, or at its turn if the rate is given. */
function send(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let since = 0;
    let pending = '';
    const ask = (sinceMs: number) => {
      since = sinceMs;
      socket.write(nextRequest());
    };
    const goOn = () => {
      if (performance.now() >= until) {
        socket.end();
        resolve();
      } else if (rate === null) ask(performance.now());
      else idle.push(ask);
    };
    socket.on('connect', goOn);
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      const head = pending.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      if (!pending.startsWith('HTTP/1.1 200')) return reject(new Error(`the server answered ${pending.slice(0, 200)}`));
      pending = '';
      answeredInAll += 1;
      if (since >= countsFrom) latencies.record(Math.max(1, Math.round((performance.now() - since) * 1000)));
      goOn();
    });
  });
}

/**
 * Assigns due requests. A request counts from the time it was due, even if no connection was free then, so a stalled
 * server does not receive fewer.
 */
function keepPace(perSecond: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      if (now >= until) {
        clearInterval(timer);
        for (const ask of idle.splice(0)) ask(now);
        return resolve();
      }
      const due = Math.floor(((now - started) / 1000) * perSecond);
      while (scheduled < due) {
        const ask = idle.shift();
        if (ask === undefined) break;
        scheduled += 1;
        ask(started + (scheduled / perSecond) * 1000);
      }
    }, 1);
  });
}

await Promise.all([...Array.from({ length: connections }, send), ...(rate === null ? [] : [keepPace(rate)])]);
const result: LoadResult = {
  answered: latencies.count,
  answeredInAll,
  seconds: (performance.now() - countsFrom) / 1000,
  p50: latencies.percentile(50) / 1000,
  p99: latencies.percentile(99) / 1000,
};
process.send?.(result);
process.disconnect();
