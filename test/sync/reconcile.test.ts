import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHistory } from '../../src/store/queries/history.ts';
import type { Reconciliation } from '../../src/store/queries/history-reconciliation.ts';
import type { Query } from '../../src/store/store.ts';
import { openFreshStore, runs, temporaryStore } from '../temporary.ts';
import { decisionRow } from './decision-row.ts';

const july = {
  source: 'acme',
  from: '2026-07-01T00:00:00.000Z',
  to: '2026-08-01T00:00:00.000Z',
  asOf: Number.MAX_SAFE_INTEGER,
};
/** Every row of these tests has a time. */
const matchable = { unmatchableDelivered: 0, unmatchablePulled: 0 };
const nothing = { decisions: 0, both: 0, onlyWebhook: 0, onlyPulled: 0, conflicting: 0, ...matchable };
async function reconcile(read: Query, period: typeof july): Promise<Reconciliation> {
  const history = createHistory(read);
  const sum = { ...nothing };
  for (const { bannerId: _, missingFromLog: _none, ...counts } of await history.reconciliationByBanner(period))
    for (const [name, n] of Object.entries(counts)) sum[name as keyof Reconciliation] += n;
  // The short form says the same.
  const { onlyPulled, conflicting } = sum;
  expect(await history.disagreement([period.source], period)).toEqual({ onlyPulled, conflicting });
  return sum;
}

describe('reconciling delivered with pulled decisions', () => {
  it('finds the other record among many at one time, near it or not, and at another time', async () => {
    const store = await temporaryStore();
    const ids = Array.from({ length: 12 }, (_, place) => `d${place}`);
    const row = (seq: number, decision_id: string, more: object = {}) => decisionRow({ seq, decision_id, ...more });
    const pulled = { via: 'pull' as const, is_first: 0 };
    await store.foldTransaction((tx) =>
      tx.insertMany('decision_history', [
        ...ids.map((id, place) => row(place + 1, id)),
        ...ids.slice(0, 9).map((id, place) => row(place + 20, id, pulled)),
        row(40, 'd9', { ...pulled, at: '2026-07-30T00:00:00.000Z' }),
        row(41, 'd10', { is_first: 0 }),
      ]),
    );
    expect(await reconcile(store.read, july)).toEqual({ ...nothing, decisions: 12, both: 10, onlyWebhook: 2 });
    expect(await reconcile(store.read, { ...july, asOf: 39 })).toEqual({
      ...nothing,
      decisions: 12,
      both: 9,
      onlyWebhook: 3,
    });
  });

  it('counts decisions that came both ways, one way only, and in contradiction', async () => {
    const store = await temporaryStore();
    const pulled = { via: 'pull' as const, is_first: 0 };
    await store.foldTransaction((tx) =>
      tx.insertMany('decision_history', [
        decisionRow({ seq: 1, decision_id: 'both' }),
        decisionRow({ seq: 2, decision_id: 'both', ...pulled }),
        decisionRow({ seq: 3, decision_id: 'delivered twice' }),
        decisionRow({ seq: 4, decision_id: 'delivered twice', is_first: 0 }),
        decisionRow({ seq: 5, decision_id: 'only pulled', via: 'pull' }),
        decisionRow({ seq: 6, decision_id: 'contradiction' }),
        decisionRow({ seq: 7, decision_id: 'contradiction', conflicts: 1, ...pulled }),
        decisionRow({ seq: 8, decision_id: 'contradiction', conflicts: 1, ...pulled }),
        decisionRow({ seq: 9, decision_id: 'both', source: 'other' }),
        decisionRow({ seq: 10, decision_id: 'august', at: july.to }),
      ]),
    );
    expect(await reconcile(store.read, july)).toEqual({
      decisions: 4,
      both: 2,
      onlyWebhook: 1,
      onlyPulled: 1,
      conflicting: 1,
      ...matchable,
    });
    expect(await reconcile(store.read, { ...july, asOf: 6 })).toEqual({
      decisions: 4,
      both: 1,
      onlyWebhook: 2,
      onlyPulled: 1,
      conflicting: 0,
      ...matchable,
    });
    expect(await reconcile(store.read, { ...july, source: 'nobody' })).toEqual({
      decisions: 0,
      both: 0,
      onlyWebhook: 0,
      onlyPulled: 0,
      conflicting: 0,
      ...matchable,
    });
  });

  it('counts a decision whose pulled row lies just outside the period as one that came both ways', async () => {
    const store = await temporaryStore();
    await store.foldTransaction((tx) =>
      tx.insertMany('decision_history', [
        decisionRow({ seq: 1, decision_id: 'edge', at: '2026-07-31T23:59:59.999Z' }),
        decisionRow({ seq: 2, decision_id: 'edge', at: july.to, via: 'pull', is_first: 0 }),
      ]),
    );
    expect(await reconcile(store.read, july)).toMatchObject({ decisions: 1, both: 1 });
  });

  it('equals a count by hand over any history', async () => {
    const entry = fc.record({
      id: fc.integer({ min: 0, max: 8 }),
      pulled: fc.boolean(),
      conflicts: fc.boolean(),
      day: fc.integer({ min: 28, max: 33 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 30 }), async (entries) => {
        const { store, close } = await openFreshStore();
        const firsts = new Map<number, (typeof entries)[number]>();
        const rows = entries.map((one, index) => {
          const isFirst = !firsts.has(one.id);
          if (isFirst) firsts.set(one.id, one);
          const at = new Date(Date.UTC(2026, 6, one.day)).toISOString();
          return decisionRow({
            seq: index + 1,
            decision_id: `d${one.id}`,
            via: one.pulled ? 'pull' : 'webhook',
            at,
            is_first: isFirst ? 1 : 0,
            conflicts: !isFirst && one.conflicts ? 1 : 0,
          });
        });
        await store.foldTransaction((tx) => tx.insertMany('decision_history', rows));
        const ids = [...firsts].filter(([, { day }]) => day <= 31).map(([id]) => `d${id}`);
        const has = (id: string, via: string) => rows.some((row) => row.decision_id === id && row.via === via);
        expect(await reconcile(store.read, july)).toEqual({
          decisions: ids.length,
          both: ids.filter((id) => has(id, 'pull') && has(id, 'webhook')).length,
          onlyWebhook: ids.filter((id) => !has(id, 'pull')).length,
          onlyPulled: ids.filter((id) => !has(id, 'webhook')).length,
          conflicting: ids.filter((id) => rows.some((row) => row.decision_id === id && row.conflicts === 1)).length,
          ...matchable,
        });
        await close();
      }),
      { numRuns: runs(8) },
    );
  });

  it('names the periods without a delivery, as a walk by hand does, over any history', async () => {
    const entry = fc.record({
      hour: fc.integer({ min: -3, max: 20 }),
      way: fc.constantFrom('webhook', 'pull', 'both'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 30 }), async (entries) => {
        const { store, close } = await openFreshStore();
        const at = (hour: number) => new Date(Date.parse(july.from) + hour * 3_600_000).toISOString();
        let seq = 0;
        const rows = entries.flatMap(({ hour, way }, n) =>
          (way === 'both' ? (['pull', 'webhook'] as const) : [way]).map((via, place) =>
            decisionRow({ seq: (seq += 1), decision_id: `d${n}`, via, at: at(hour), is_first: place === 0 ? 1 : 0 }),
          ),
        );
        await store.foldTransaction((tx) => tx.insertMany('decision_history', rows));
        const inOrder = rows
          .filter((row) => row.is_first === 1 && row.at >= july.from)
          .sort((a, b) => (a.at === b.at ? a.seq - b.seq : a.at < b.at ? -1 : 1));
        const expected: { n: number; firstAt: string; lastAt: string; before: string | null; after: string | null }[] =
          [];
        let before: string | null = null;
        let open: (typeof expected)[number] | null = null;
        for (const row of inOrder) {
          if (rows.some((one) => one.decision_id === row.decision_id && one.via === 'webhook')) {
            if (open !== null) open.after = row.at;
            open = null;
            before = row.at;
          } else if (open === null) {
            open = { n: 1, firstAt: row.at, lastAt: row.at, before, after: null };
            expected.push(open);
          } else {
            open.n += 1;
            open.lastAt = row.at;
          }
        }
        const history = createHistory(store.read);
        const { longest, ...totals } = await history.undelivered(july, 100);
        const plain = longest.map((one) => ({
          n: one.decisions,
          firstAt: one.firstAt,
          lastAt: one.lastAt,
          before: one.deliveredBefore,
          after: one.deliveredAfter,
        }));
        const key = (one: object) => JSON.stringify(one);
        expect(plain.map(key).sort()).toEqual(expected.map(key).sort());
        expect(plain.map(({ n }) => n)).toEqual([...plain.map(({ n }) => n)].sort((a, b) => b - a));
        expect(totals).toEqual({
          stretches: expected.length,
          longer: expected.filter(({ n }) => n > 1).length,
          inLonger: expected.filter(({ n }) => n > 1).reduce((sum, { n }) => sum + n, 0),
        });
        await close();
      }),
      { numRuns: runs(8) },
    );
  });
});
