import { describe, expect, it } from 'vitest';
import { factOf, read } from './reading.ts';
import { scanShapes, unfinished } from './shapes/scans.ts';

const scan = (payload: object) => factOf(read(payload), 'scan');

describe.each([
  ['beside the event', (payload: object) => ({ event: 'cookie_scan.completed', ...payload })],
  [
    'in an envelope',
    (payload: object) => ({ event: 'cookie_scan.completed', timestamp: '2026-06-30T23:00:00Z', data: payload }),
  ],
] as const)('a scan of a known tool, %s', (_way, wrap) => {
  it.each(scanShapes.map((shape) => [shape.tool, shape] as const))('%s', (_tool, { payload, expected }) => {
    expect(scan(wrap(payload))).toMatchObject(expected);
  });
});

describe('a scan without a complete result is not an inventory', () => {
  const cookies = [{ name: 'sid', category: 'necessary' }];
  it.each(unfinished)('status %s', (status) => {
    expect(scan({ event: 'cookie_scan.completed', status, cookies })).toMatchObject({
      failed: true,
      isInventory: false,
    });
  });
  it.each([{ partial: true }, { truncated: true }, { completed: false }, { success: false }])('%j', (flag) => {
    expect(scan({ event: 'cookie_scan.completed', ...flag, cookies })).toMatchObject({
      failed: true,
      isInventory: false,
    });
  });
  it.each(['completed', 'COMPLETE', 'success', 'succeeded', 'finished', 'done', 'abgeschlossen'])(
    'unlike %s',
    (status) => {
      expect(scan({ event: 'cookie_scan.completed', status, cookies })).toMatchObject({
        failed: false,
        isInventory: true,
      });
    },
  );
});

it('lists within lists within lists are read to one depth', () => {
  let nested: object = { name: 'x' };
  for (let depth = 0; depth < 1000; depth += 1) nested = { name: `c${depth}`, cookies: [nested] };
  expect(scan({ event: 'cookie_scan.completed', categories: [nested] }).items?.length).toBe(1);
});
