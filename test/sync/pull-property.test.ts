import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createServiceClient } from '../../src/service/client.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { runs } from '../temporary.ts';
import { type FakeRow, type Fault, fakeConsentLog } from './fake-consent-log.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Fault[]>(
      { type: 'status', status: 500 },
      { type: 'status', status: 503 },
      { type: 'status', status: 429, retryAfter: '0' },
      { type: 'status', status: 402 },
      { type: 'truncated' },
      { type: 'dropped' },
      { type: 'empty' },
      { type: 'repeated' },
      { type: 'looping' },
      { type: 'expired', status: 410 },
      { type: 'expired', status: 400 },
    ),
  },
);
/** Including many rows of one tick, and rows dated in the future. */
const rows = fc.array(
  fc.record({
    tick: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 100_000 }), fc.constant(40_000_000)),
    field: fc.json({ maxDepth: 1 }),
    space: fc.constantFrom('', ' ', '\n  '),
    isBroken: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  }),
  { maxLength: 60 },
);

describe('for any rows, order, page size and faults', () => {
  it('repeated runs end with exactly the rows of the service, each once', async () => {
    let served = 0;
    let unfinished = 0;
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.record({
          order: fc.constantFrom('ascending' as const, 'descending' as const),
          pageRows: fc.integer({ min: 1, max: 8 }),
          // Cursors that always expire, so only narrower periods help; then a tick of a second holds at most three
          // rows.
          cursorsExpireAfter: fc.option(
            fc.record({ pages: fc.integer({ min: 2, max: 5 }), status: fc.constantFrom(400, 410, 431, 500) }),
            { nil: null },
          ),
        }),
        fc.array(fault, { minLength: 6, maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
        async (drawn, shape, faults, crashes) => {
          const ticks = new Map<number, number>();
          const all = drawn.map(({ tick: drawnTick, field, space, isBroken }, index): FakeRow => {
            // One second never holds more rows than the available pages.
            const used = ticks.get(drawnTick) ?? 0;
            ticks.set(drawnTick, used + 1);
            const isFull = shape.cursorsExpireAfter !== null && used >= shape.pageRows;
            const tick = isFull ? 200_000 + 2 * index : drawnTick;
            // A period of one second includes both its ends, so rows of the next second count too.
            const spread = shape.cursorsExpireAfter === null ? 1 : 2;
            const at = Date.parse('2026-07-05T00:00:00Z') + tick * spread * 1000;
            return {
              bannerId: 'bnr_1',
              at,
              text: `{${space}"id":"r${index}",${space}"x":${field},"fetched_at":${tick}${isBroken ? ',"y":NaN' : ''}${space}}`,
            };
          });
          const early = all.filter((_, index) => index % 5 !== 0);
          const faultAt = (nth: number): Fault | null => {
            const drawnFault = faults[nth - 1] ?? null;
            if (drawnFault !== null) served += 1;
            return drawnFault;
          };
          const fake = await fakeConsentLog(early, { ...shape, date: () => now, fault: faultAt });
          const syncing = await syncingWith(fake.baseUrl, now);
          const service = createServiceClient({
            destinations: ON_LOOPBACK,
            baseUrl: fake.baseUrl,
            apiKey: 'k',
            backOffMs: 0,
            retries: 1,
          });
          const pull = (stopAt: number) => {
            const controller = new AbortController();
            const onProgress = ({ pages }: { pages: number }) => pages >= stopAt && controller.abort();
            return pullConsentLogs(
              { ...syncing.deps, service },
              {
                source: sourceAt(fake.baseUrl),
                bannerId: 'bnr_1',
                actor: 'test',
                signal: controller.signal,
                onProgress,
              },
            );
          };
          for (const stopAt of crashes) {
            const { outcome } = await pull(stopAt);
            if (outcome !== 'finished') unfinished += 1;
          }
          // Rows that the service shows late, within the look-back.
          fake.rows = all.filter((row) => row.at >= now.getTime() - 86_400_000 || early.includes(row));
          syncing.now = new Date(now.getTime() + 6 * 3_600_000);
          let outcome: string;
          let runs = 0;
          do {
            ({ outcome } = await pull(Number.POSITIVE_INFINITY));
            runs += 1;
            if (outcome !== 'finished') unfinished += 1;
          } while (outcome !== 'finished' && runs < 30);
          expect(outcome).toBe('finished');
          const texts = fake.rows.map(({ text }) => text);
          expect((await syncing.bodies()).sort()).toEqual(texts.filter((text) => !text.includes('NaN')).sort());
          const pieces = await syncing.pieces();
          for (const text of texts.filter((one) => one.includes('NaN')))
            expect(pieces.filter((piece) => piece === text)).toHaveLength(1);
          fake.options = { ...shape, cursorsExpireAfter: null, date: () => now };
          const last = await pull(Number.POSITIVE_INFINITY);
          expect(last).toMatchObject({ outcome: 'finished', stored: 0 });
          await syncing.close();
        },
      ),
      { numRuns: runs(20) },
    );
    // Twenty runs meet about thirty faults; with far fewer the property would prove nothing.
    expect(served).toBeGreaterThan(10);
    expect(unfinished).toBeGreaterThan(0);
  });
});
