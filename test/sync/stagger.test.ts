import { expect, test } from 'vitest';
import { staggerByKey } from '../../src/sync/sync-jobs.ts';

const at = (apiKey: string) => ({ baseUrl: 'https://service.example/api/v1', apiKey });

test('sources that share a key start one after another, and those with their own key at once', () => {
  expect(staggerByKey([at('a'), at('b'), at('a'), at('c'), at('a')])).toEqual([0, 0, 5000, 0, 10_000]);
  expect(staggerByKey([])).toEqual([]);
});

test('however many share a key, all have started after five minutes', () => {
  const delays = staggerByKey(Array.from({ length: 900 }, () => at('a')));
  expect(Math.max(...delays)).toBeLessThan(300_000);
  expect(new Set(delays).size).toBeGreaterThan(800);
});
