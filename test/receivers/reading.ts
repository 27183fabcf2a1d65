import type { Fact } from '../../receivers/index.ts';
import { type Reading, type ReadingContext, readDelivery } from '../../receivers/read.ts';

/** When every body in these tests was received. */
export const RECEIVED = '2026-07-01T12:00:00.000Z';
export const context: ReadingContext = { receivedAt: RECEIVED, options: { fieldNames: {}, assumedOffset: '+00:00' } };

export const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value), 'utf8');
export const read = (value: unknown, fieldNames: Record<string, string[]> = {}): Reading =>
  readDelivery(bytes(value), { ...context, options: { ...context.options, fieldNames } });

/** The fact of a reading that must have one of this type. */
export function factOf<T extends Fact['type']>(reading: Reading, type: T): Extract<Fact, { type: T }> {
  if (reading.outcome !== 'read' || reading.fact.type !== type) throw new Error(`not read: ${JSON.stringify(reading)}`);
  return reading.fact as Extract<Fact, { type: T }>;
}
