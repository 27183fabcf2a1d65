import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { loadConfig } from '../src/config/config.ts';
import { openContext } from '../src/context/context.ts';
import { readEntryPages } from '../src/ledger/read-entries.ts';
import { createLog } from '../src/log/log.ts';
import { type Figure, median, withFolder } from './figures.ts';

const ENTRIES = 200_000;
const ROUNDS = 5;

/** `ledger verify` on a ledger of deliveries, alternating with a plain SHA-256 loop over the same bytes. */
export function benchVerify(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const env = { DATA_DIR: join(folder, 'data'), SYNC_SCHEDULE: 'off', LOG_LEVEL: 'fatal' };
    const context = await openContext(loadConfig(env, folder), createLog('fatal'));
    try {
      const count = Math.max(2000, Math.round(ENTRIES * scale));
      await fill(context.ledger, count);
      await context.seal();
      const contents: Buffer[] = [];
      for await (const page of readEntryPages(context.store.read, 0, Number.MAX_SAFE_INTEGER))
        for (const { meta, body } of page) contents.push(meta ?? Buffer.alloc(0), body ?? Buffer.alloc(0));
      const bare = () => {
        for (const bytes of contents) createHash('sha256').update(bytes).digest();
        return Promise.resolve();
      };
      const verify = async () => {
        const { faults, entries } = await context.verify();
        if (faults.length > 0 || entries < count) throw new Error(JSON.stringify(faults));
      };
      await verify();
      await bare();
      const rounds: { bare: Took; verify: Took }[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push({ bare: await timed(bare), verify: await timed(verify) });
      const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
      const micros = (pick: (round: (typeof rounds)[number]) => Took) =>
        `${((of((round) => pick(round).ms) * 1000) / count).toFixed(1)} µs (${((of((round) => pick(round).cpu) * 1000) / count).toFixed(1)} µs of CPU)`;
      const ratio = of((round) => round.bare.ms / round.verify.ms);
      return [
        {
          name: `ledger verify, ${count} deliveries, an entry`,
          value: micros(({ verify: took }) => took),
          baseline: `SHA-256 of meta and body ${micros(({ bare: took }) => took)}`,
          ratio,
          wanted: '≥ 0.25',
          reached: ratio >= 0.25,
        },
      ];
    } finally {
      await context.close();
    }
  });
}

interface Took {
  readonly ms: number;
  /** CPU time of all threads. */
  readonly cpu: number;
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - started, cpu: (user + system) / 1000 };
}

type Ledger = Awaited<ReturnType<typeof openContext>>['ledger'];

/** Deliveries of typical size, many at once. */
export async function fill(ledger: Ledger, count: number): Promise<void> {
  const meta = Buffer.from(
    '{"contentType":"application/json","headers":{"user-agent":"service/1.0","x-service-event":"consent.recorded"},"secretId":"aaaaaaaa","verdict":"verified"}',
  );
  for (let done = 0; done < count; done += 2000) {
    await Promise.all(
      Array.from({ length: Math.min(2000, count - done) }, (_, place) => {
        const n = done + place;
        const body = Buffer.from(
          `{"event":"consent.recorded","data":{"consent_id":"c-${n}","banner_id":"bnr_1","visitor_hash":"${createHash('sha256').update(String(n)).digest('hex')}","consent":{"necessary":true,"analytics":true,"marketing":false,"preferences":true},"policy_id":"pol_1","policy_version":"3","region":"DE","recorded_at":"2026-06-01T12:00:00.000Z"}}`,
        );
        return ledger.append([
          {
            source: 'default',
            kind: 'webhook',
            dedupeKey: ledger.keyOf(body),
            receivedAt: '2026-06-01T12:00:00.000Z',
            meta,
            body,
          },
        ]);
      }),
    );
  }
}
