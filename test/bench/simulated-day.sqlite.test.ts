// SQLite only, because the simulation opens no database.
import { expect, it } from 'vitest';
import { type Scenario, simulate } from '../../bench/simulated-day.ts';

const constants = {
  delivery: 1e-4,
  sync: 2e-3,
  page: 2e-3,
  known: 1e-5,
  row: 1e-4,
  fold: 1e-4,
  seal: 1e-5,
  verify: 3e-5,
  append: 5e-5,
  bytes: 4000,
};
const day: Scenario = {
  sites: 1000,
  interval: 15,
  latency: 0.1,
  atOnce: 64,
  sitesPerKey: 1,
  lookBack: 24,
  recountDays: 7,
  seed: 1,
};

it.each([
  ['that keeps up', constants],
  ['whose pulls never keep up', { ...constants, sync: 2 }],
  ['that cannot store all deliveries', { ...constants, delivery: 10 }],
])('stores every entry once or has it waiting, in an installation %s', (_, slower) => {
  const { arrived, stored, waiting } = simulate(slower, day);
  expect(stored).toBeGreaterThan(0);
  expect(waiting).toBeGreaterThan(0);
  expect(stored + waiting).toBe(arrived);
});

it('gives the same day for the same seed, and another for another', () => {
  expect(simulate(constants, day)).toEqual(simulate(constants, day));
  expect(simulate(constants, { ...day, seed: 2 }).choices).not.toBe(simulate(constants, day).choices);
});

it('reports late pulls when a round takes longer than the interval', () => {
  expect(simulate(constants, day).pullDelay).toBeLessThan(15 * 60);
  expect(simulate({ ...constants, sync: 2 }, day).pullDelayInAll).toBeGreaterThan(15 * 60);
});

it('reads a choice again about nine times when pulling every 15 minutes, instead of 96 times', () => {
  const timesOf = (isAlwaysFar: boolean) => {
    const { rowsReadAgain, choices } = simulate(constants, { ...day, recountDays: 0, isAlwaysFar });
    return rowsReadAgain / choices;
  };
  expect(timesOf(false)).toBeGreaterThan(8);
  expect(timesOf(false)).toBeLessThan(10);
  expect(timesOf(true)).toBeGreaterThan(90);
});
