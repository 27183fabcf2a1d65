import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from './check.ts';
import { inputsOf, type Pumped, pump, pumpedOf } from './inputs.ts';
import { type Reader, readers } from './readers.ts';

/** Seconds for each of the two searches, over all readers together. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 60);
const share = (SECONDS * 1000) / readers.length;
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

/**
 * Milliseconds of CPU time that one run may take, and the time after which it is ended; the latter is longer because
 * other processes may occupy the processors.
 */
const MOST_CPU = 10_000;
const MOST_TIME = 120_000;

/** Ends `work` if it does not end by itself, so an endless pattern is found and named. */
function within<T>(work: () => T): T {
  (globalThis as { fuzzWork?: () => T }).fuzzWork = work;
  const before = process.cpuUsage();
  const result = runInThisContext('globalThis.fuzzWork()', { timeout: MOST_TIME }) as T;
  const { user, system } = process.cpuUsage(before);
  if ((user + system) / 1000 > MOST_CPU) throw new Error(`took ${(user + system) / 1000} ms of CPU time`);
  return result;
}

/** Searches for a counterexample during a reader's share of the time, at least once. */
async function search<T>(property: fc.IAsyncProperty<T>): Promise<void> {
  await fc.assert(property, { numRuns: 1, seed });
  const limits = { numRuns: Number.POSITIVE_INFINITY, interruptAfterTimeLimit: share, seed, endOnFailure: true };
  const found = await fc.check(property, limits);
  if (found.counterexample !== null) throw new Error(fc.defaultReportMessage(found), { cause: found.errorInstance });
}

test.each(readers)('$name: throws only refusals, and ends', { timeout: 600_000 }, async (reader) => {
  const guarded: Reader = { ...reader, run: (bytes) => within(() => reader.run(bytes)) };
  await search(fc.asyncProperty(inputsOf(reader), (bytes) => check(guarded, bytes)));
});

/** CPU time of this process, milliseconds, the best of `rounds`: other processes on the machine do not count. */
async function cpuMillis(reader: Reader, bytes: Buffer, rounds: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    try {
      await within(() => reader.run(bytes));
    } catch (error) {
      if (reader.refuses?.(error) !== true) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** Four times the text may take about four times as long; sixteen times would be quadratic. Small times mean nothing. */
const WORST_RATIO = 9;
const TELLING_MS = 200;

/** Searches for a text whose time grows faster than its length, from a few hundred bytes up to the reader's limit. */
async function assertLinear(reader: Reader, pumped: Pumped): Promise<void> {
  const most = Math.min(reader.most ?? 1 << 20, 4 << 20);
  let before = Number.POSITIVE_INFINITY;
  for (let size = 256; size <= most; size *= 4) {
    let millis = await cpuMillis(reader, pump(pumped, size), 1);
    if (millis > TELLING_MS && millis > WORST_RATIO * before) {
      before = await cpuMillis(reader, pump(pumped, size / 4), 3);
      millis = await cpuMillis(reader, pump(pumped, size), 3);
      if (millis > TELLING_MS && millis > WORST_RATIO * before)
        throw new Error(
          `${size / 4} bytes take ${before} ms, ${size} bytes ${millis} ms: ${JSON.stringify({ ...pumped, before: pumped.before.slice(-60), after: pumped.after.slice(0, 60) })}`,
        );
    }
    before = Math.max(1, millis);
    // A text that is already slow is not made longer.
    if (millis > 1000) return;
  }
}

test.each(readers)('$name: takes time proportional to the length', { timeout: 600_000 }, async (reader) => {
  await search(fc.asyncProperty(pumpedOf(reader), (pumped) => assertLinear(reader, pumped)));
  expect(true).toBe(true);
});
