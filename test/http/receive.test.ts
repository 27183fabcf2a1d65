import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context/context.ts';
import type { Metrics } from '../../src/http/metrics.ts';
import { receiveInto } from '../../src/http/receive.ts';

test('the webhook endpoint logs and counts deliveries to a source that does not exist, each name once, and does not let a scanner fill the log', () => {
  const lines: string[] = [];
  const log = pino(new Writable({ write: (line, _encoding, done) => (lines.push(String(line)), done()) }));
  const counted: string[] = [];
  const count = (...what: string[]) => void counted.push(what.join(' '));
  const context = { log, sources: { list: () => [{ slug: 'acme' }] }, rejected: { count } };
  const { onUnknownSource } = receiveInto(
    context as unknown as Context,
    { countDelivery: count, observeAppend: () => undefined } as unknown as Metrics,
  );
  const refuse = (source: string) => onUnknownSource?.({ source, address: '192.0.2.1' });
  refuse('acne');
  refuse('acne');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"source":"acne"');
  expect(lines[0]).toContain('"known":["acme"]');
  expect(lines[0]).not.toContain('192.0.2.1');
  for (let n = 0; n < 1000; n += 1) refuse(`${n}${'x'.repeat(1000)}`);
  expect(lines).toHaveLength(100);
  expect(lines.at(-1)?.length).toBeLessThan(600);
  expect(new Set(counted)).toEqual(new Set(['(unknown) unknown-source']));
  expect(counted).toHaveLength(2 * 1002);
});
