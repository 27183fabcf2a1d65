import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { tooLarge } from '../../src/service/answer-json.ts';
import { readLogPages } from '../../src/sync/log-pages.ts';
import { usualForm } from '../../src/sync/query-form.ts';
import { openFreshStore } from '../temporary.ts';
import { sourceAt } from './syncing.ts';

const MIB = 1024 ** 2;
const clock = () => new Date('2026-07-10T00:00:00.000Z');
const part = { runId: 'r', piece: { from: null, to: null } };

let opened: Awaited<ReturnType<typeof openFreshStore>>;
beforeAll(async () => {
  opened = await openFreshStore();
});
afterAll(() => opened.close());

/** Walks over an endless log whose pages are each one row of 4 MiB, always the same one if `isSame`. */
function walk(banner: string, isSame = false) {
  let pages = 0;
  const service = {
    async fetchConsentLogPage(_query: unknown, _signal?: AbortSignal, maxBytes = 4 * MIB) {
      if (maxBytes < 4 * MIB) throw tooLarge('4 MiB');
      pages += 1;
      const bytes = Buffer.alloc(4 * MIB, ' ');
      const value = { id: isSame ? 0 : pages };
      return { rows: [{ bytes, value, isUtf8: true }], nextCursor: `c${pages}`, serverDate: null, damage: null };
    },
  };
  const ledger = { keyOf: (...parts: (string | Uint8Array)[]) => sha256(Buffer.from(parts.join())) };
  const asking = { form: usualForm, cursorWorked: false, clock };
  const request = { source: sourceAt(null), bannerId: banner, signal: undefined, asking };
  const deps = { service, ledger, clock, store: opened.store } as unknown as Parameters<typeof readLogPages>[0];
  return readLogPages(deps, request, part, null);
}

it('a sync holds few large pages, however many banners wait for their next page', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const before = process.memoryUsage().arrayBuffers;
  let isDone = (): void => undefined;
  const done = new Promise<void>((resolve) => (isDone = resolve));
  let isAtSecond = (): void => undefined;
  const atSecond = new Promise<void>((resolve) => (isAtSecond = resolve));
  let first = 0;
  const walks = Array.from({ length: 12 }, async (_, banner) => {
    for await (const step of walk(String(banner))) {
      if (step.type === 'fault' || step.page.number > 2) return;
      if (step.page.number === 1) first += 1;
      else if (first === 12) {
        isAtSecond();
        await done;
      }
    }
  });
  await Promise.race([atSecond, Promise.all(walks)]);
  collect();
  await nextTurn();
  collect();
  const held = (process.memoryUsage().arrayBuffers - before) / MIB;
  isDone();
  await Promise.all(walks);
  expect(held).toBeLessThan(24);
});

it('a sync lets others proceed if a service repeats the same large page', async () => {
  let last: unknown;
  for await (const step of walk('b', true)) last = step;
  expect(last).toMatchObject({ type: 'fault', fault: { reason: 'repeating-page' } });
  for await (const step of walk('c')) {
    expect(step.type).toBe('page');
    break;
  }
});
