import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressGroup } from '../../src/core/address.ts';
import { chooseItems, ITEM_OVERHEAD, ringLimits } from '../../src/rejected/write-buffer.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000).toISOString();
const limits = { ...ringLimits, items: 10, bytes: 10 * 10_000, itemsPerAddress: 6, bytesPerAddress: 8 * 10_000 };
const stored = (address: string, count: number, minutes = 5, firstId = 1) =>
  Array.from({ length: count }, (_, place) => ({
    id: firstId + place,
    address,
    bytes: 100,
    receivedAt: minutesAgo(minutes),
  }));
const fresh = (address: string, count: number) =>
  Array.from({ length: count }, () => ({ address, bytes: 100, receivedAt: minutesAgo(0) }));

describe('the rejected ring keeps', () => {
  test('everything while there is room', () => {
    const { enter, leave } = chooseItems(stored('a', 3), fresh('b', 4), NOW, limits);
    expect([enter.length, leave.length]).toEqual([4, 0]);
  });

  test('nothing more from an address at its cap, whose flood causes no writes', () => {
    expect(chooseItems(stored('a', 6), fresh('a', 50), NOW, limits)).toEqual({ enter: [], leave: [] });
  });

  test('an item from an address that holds less, in place of the oldest from the address that holds most', () => {
    const kept = [...stored('a', 6, 30, 1), ...stored('b', 4, 5, 100)];
    const { enter, leave } = chooseItems(kept, fresh('c', 1), NOW, limits);
    expect([enter.length, leave]).toEqual([1, [1]]);
  });

  test('its items for an hour when all addresses hold the same, and replaces them after it', () => {
    const many = (minutes: number) =>
      Array.from({ length: 10 }, (_, id) => ({ id, address: `a${id}`, bytes: 100, receivedAt: minutesAgo(minutes) }));
    expect(chooseItems(many(59), fresh('new', 3), NOW, limits)).toEqual({ enter: [], leave: [] });
    const { enter, leave } = chooseItems(many(61), fresh('new', 3), NOW, limits);
    expect([enter.length, leave.length]).toEqual([3, 3]);
  });

  test('no item older than 72 hours', () => {
    expect(chooseItems(stored('a', 2, 72 * 60 + 1), [], NOW, limits).leave).toEqual([1, 2]);
    expect(chooseItems(stored('a', 2, 72 * 60 - 1), [], NOW, limits).leave).toEqual([]);
  });

  test('all items when a new one is too large to fit even if some were removed', () => {
    const kept = Array.from({ length: 9 }, (_, id) => ({
      id,
      address: `a${id}`,
      bytes: 10_000,
      receivedAt: minutesAgo(5),
    }));
    expect(chooseItems(kept, [{ address: 'b', bytes: 70_000, receivedAt: minutesAgo(0) }], NOW, limits)).toEqual({
      enter: [],
      leave: [],
    });
  });

  test('its bounds whatever comes, and removes no item twice', () => {
    const item = fc.record({
      address: fc.constantFrom('a', 'b', 'c', 'd'),
      bytes: fc.integer({ min: 0, max: 40_000 }),
      age: fc.integer({ min: 0, max: 5000 }),
    });
    const round = fc.array(item, { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 5 }), (rounds) => {
        let kept: { id: number; address: string; bytes: number; receivedAt: string }[] = [];
        let id = 0;
        for (const newcomers of rounds) {
          const { enter, leave } = chooseItems(
            kept,
            newcomers.map(({ age, ...rest }) => ({ ...rest, receivedAt: minutesAgo(age) })),
            NOW,
            limits,
          );
          expect(new Set(leave).size).toBe(leave.length);
          expect(leave.every((gone) => kept.some((one) => one.id === gone))).toBe(true);
          kept = [...kept.filter((one) => !leave.includes(one.id)), ...enter.map((one) => ({ ...one, id: ++id }))];
          const size = (of: typeof kept) => of.reduce((sum, one) => sum + one.bytes + ITEM_OVERHEAD, 0);
          expect(kept.length).toBeLessThanOrEqual(limits.items);
          expect(size(kept)).toBeLessThanOrEqual(limits.bytes);
          for (const address of 'abcd') {
            const own = kept.filter((one) => one.address === address);
            expect(own.length).toBeLessThanOrEqual(limits.itemsPerAddress);
            expect(size(own)).toBeLessThanOrEqual(limits.bytesPerAddress);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1:2::192.0.2.7', '1:2:0:0::/64'],
  ['unknown', 'other'],
  ['', 'other'],
])('the ring counts the address %s as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
