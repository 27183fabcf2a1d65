import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { computed } from '../temporary.ts';
import { read } from './reading.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
/** Collects garbage, at most five times, until there is nothing left to gain: the engine itself keeps object shapes, and so their keys, for some collections. */
function heapAfterCollecting(isEnough: (used: number, last: number) => boolean): number {
  let used = Infinity;
  for (let round = 0; round < 5; round += 1) {
    const last = used;
    collect();
    used = process.memoryUsage().heapUsed;
    if (isEnough(used, last)) break;
  }
  return used;
}
const MB = 1_000_000;

/** Expects the best of three runs to take less CPU time than the limit, counting this process only. */
function expectQuick(limitMs: number, work: () => void): void {
  let best = Infinity;
  for (let round = 0; round < 3 && best >= limitMs; round += 1) {
    const before = computed();
    work();
    best = Math.min(best, computed() - before);
  }
  expect(best).toBeLessThan(limitMs);
}

test('the reader keeps nothing of a key of a megabyte', () => {
  const before = heapAfterCollecting((used, last) => last - used < MB);
  for (let n = 0; n < 20; n += 1) {
    const key = `${n}${'Key_'.repeat(MB / 4)}`;
    const reading = read({ event: 'consent.recorded', subject: 's', consent: 'given', [key]: { [key]: n } });
    expect(reading.outcome).toBe('read');
  }
  expect(heapAfterCollecting((used) => used - before < 10 * MB) - before).toBeLessThan(10 * MB);
});

test('the reader looks into an object under a key of a megabyte without a copy of the key for each field of it', () => {
  const inside = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`field ${n}`, n]));
  // An envelope's name with a megabyte appended to it, and an empty name.
  for (const key of [`data${'_'.repeat(MB)}`, 'X'.repeat(MB)]) {
    expectQuick(300, () => read({ event: 'consent.recorded', subject: 's', consent: 'given', [key]: inside }));
  }
});

test.each([
  ['empty objects', '{}'],
  ['objects of one field', '{"a":1}'],
  ['objects in objects', '{"a":{"b":{}}}'],
  ['events that are not known', '{"event":"x"}'],
  ['empty lists', '[]'],
])('the reader quickly reads a list of %s as long as a delivery may be', (_name, item) => {
  const body = `[${Array.from({ length: Math.floor(MB / (item.length + 1)) }, () => item).join(',')}]`;
  expectQuick(500, () => read(body));
});

test('the reader finds a data subject request among a megabyte of other things', () => {
  const body = `[${'{},'.repeat(MB / 3)}{"event":"dsar.submitted","email":"a@example.org"}]`;
  expect(read(body)).toMatchObject({ outcome: 'read', event: 'dsar.submitted' });
});

const several = (count: number, item: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => item(n)).join(',');
test.each([
  ['flat fields', several(50_000, (n) => `"f${n}":"x"`)],
  ['objects', several(30_000, (n) => `"f${n}":{"a":"shown"}`)],
  ['objects of many fields', several(1000, (n) => `"f${n}":{${several(60, (m) => `"f${m}":"on"`)}}`)],
  ['lists of objects', several(5000, (n) => `"f${n}":[${several(40, () => '{}')}]`)],
  ['a list of lists', `"f":${'['.repeat(200_000)}1${']'.repeat(200_000)}`],
  ['wrapped purposes', several(9000, (n) => `"w${n}":{"x":{"y":{"z":{"marketing":"granted"}}}}`)],
  ['purposes of no known name', several(200, (n) => `"w${n}":{${several(100, (m) => `"x${m}":{"z":"granted"}`)}}`)],
])('the reader quickly looks for dissent in %s beside a choice', (_name, fields) => {
  const body = `{"event":"consent.recorded","subject":"s","consent":{"ads":true},${fields}}`;
  expectQuick(700, () => expect(read(body).outcome).not.toBe('failed'));
});
