import { describe, expect, it } from 'vitest';
import { factOf, read } from './reading.ts';
import { requestShapes } from './shapes/requests.ts';

const SENT = '2026-06-30T23:00:00.000Z';

/** The ways in which a tool's payload may be delivered. */
const ways: readonly (readonly [string, (payload: object) => object])[] = [
  ['beside the event', (payload) => ({ event: 'dsar.submitted', ...payload })],
  ['in an envelope', (payload) => ({ event: 'dsar.submitted', timestamp: SENT, data: payload })],
];

describe.each(ways)('a request of a known tool, %s', (way, wrap) => {
  it.each(requestShapes.map((shape) => [shape.tool, shape] as const))('%s', (_tool, shape) => {
    const fact = factOf(read(wrap(shape.payload)), 'request');
    expect([fact.kind, ...(fact.furtherKinds ?? [])]).toEqual(shape.kinds);
    expect(fact.requesterEmail).toBe(shape.email);
    if (shape.name !== undefined) expect(fact.requesterName).toBe(shape.name);
    if (shape.requestId !== undefined) expect(fact.requestId).toBe(shape.requestId);
    if (shape.place !== undefined) expect(fact.jurisdiction).toBe(shape.place);
    if (shape.at !== null) expect(fact.occurred.at).toBe(shape.at);
    else if (way === 'in an envelope') expect(fact.occurred.at).toBe(SENT);
    else expect(fact.occurred.basis).toBe('received');
  });
});
