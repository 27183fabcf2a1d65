import fc from 'fast-check';
import { expect, test } from 'vitest';
import { knownEvents } from '../../src/core/vocabulary.ts';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { readers } from '../../src/projections/projection.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { anyCharacter } from '../any-character.ts';
import { PATIENTLY, runs } from '../temporary.ts';
import { beginAnew, createWorld, dump, officerAction, rules, webhook } from './world.ts';

const text = fc.oneof(
  fc.constantFrom(
    '1',
    '2',
    'ada@example.org',
    'accepted',
    'denied',
    'access',
    '2026-03-01T09:00:00Z',
    '2026-03-01',
    'DE',
  ),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.constantFrom('\0', '\ud800', '\udfff x', '__proto__'),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(text, fc.oneof(fc.boolean(), text), { maxKeys: 4 }) },
);
const names = [
  ...[
    'id',
    'consent_id',
    'visitor_hash',
    'banner_id',
    'status',
    'purposes',
    'categories',
    'policy_id',
    'title',
    'version',
  ],
  ...[
    'request_id',
    'request_type',
    'name',
    'email',
    'message',
    'jurisdiction',
    'timestamp',
    'created_at',
    'domain',
    'score',
  ],
  ...['cookies_found', 'integration_id', 'provider', 'site', 'data', 'unheard_of'],
];
const payload = fc
  .tuple(
    fc.constantFrom(...knownEvents, 'dsar.escalated', 'consent.moved', 'moon.landed'),
    fc.record({ policy_id: text, request_id: text, domain: text, integration_id: text }, { requiredKeys: [] }),
    fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 9 }),
  )
  .map(([event, subject, fields]) => Buffer.from(JSON.stringify({ event, ...subject, ...fields })));
const body = fc.oneof(
  { weight: 12, arbitrary: payload },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.json().map((json) => Buffer.from(json)) },
);
const received = (place: number) => new Date(Date.UTC(2026, 2, 1, 12, place)).toISOString();
const made = fc.oneof(
  fc.tuple(fc.constantFrom('webhook' as const, 'consent-log' as const), body).map(
    ([kind, bytes]) =>
      (place: number): NewEntry => ({
        ...webhook('acme', { event: '' }, received(place)),
        kind,
        dedupeKey: sha256(Buffer.from(`${place}`)),
        body: bytes,
      }),
  ),
  fc.tuple(fc.nat(12), fc.nat(2), fc.constantFrom('start', 'acknowledge', 'note', 'nonsense')).map(
    ([opened, basedOn, move]) =>
      (place: number): NewEntry =>
        officerAction(
          'acme',
          {
            action: 'case.moved',
            actor: `ada ${place}`,
            caseId: `acme-${opened}`,
            basedOn,
            move,
            details: { text: 'seen' },
          },
          received(place),
        ),
  ),
);

test('the real readers and rules project any delivery without failing, and a rebuild gives the same rows', async () => {
  const { store, projector } = await createWorld();
  const real = { read: readers };
  const filled = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.integer({ min: 1, max: 9 }),
      async (makes, batchSize) => {
        const ledger = await beginAnew(store);
        await ledger.append(makes.map((make, place) => make(place)));
        await projector({ ...real, batchSize }).catchUp();
        const live = await dump(store.read);
        for (const [table, rows] of Object.entries(live)) if (rows.length > 0) filled.add(table);
        const reasons = (live['quarantine'] as { reason: string }[]).map(({ reason }) => reason);
        expect(reasons.filter((reason) => /failed:/.test(reason))).toEqual([]);
        const requests = makes
          .map((make, place) => make(place))
          .filter(({ kind, body: bytes }) => kind === 'webhook' && /"dsar\.submitted"/.test(bytes.toString()));
        const opened = (live['case_history'] as { move: string }[]).filter(
          ({ move }) => move === 'opened' || move === 'reported-again',
        );
        expect(opened.length).toBeGreaterThanOrEqual(requests.length);
        expect((await compareWithRebuild({ ...rules(store), ...real })).differences).toEqual([]);
      },
    ),
    { numRuns: runs(20), interruptAfterTimeLimit: PATIENTLY.timeout },
  );
  expect([...filled]).toEqual(
    expect.arrayContaining([
      'decisions',
      'policies',
      'cases',
      'scans',
      'integrations',
      'quarantine',
      'ambiguous_repeats',
    ]),
  );
});
