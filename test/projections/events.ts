import fc from 'fast-check';
import type { Fact } from '../../receivers/index.ts';
import type { Occurred } from '../../receivers/occurred.ts';
import type { Action } from '../../src/core/action.ts';
import { consentStates, requestKinds } from '../../src/core/vocabulary.ts';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { anyCharacter } from '../any-character.ts';
import { officerAction, pulledRow, type TestBody, webhook } from './world.ts';

/** Few ids, subjects and times, so they collide; texts from all of Unicode and beyond. */
const source = fc.constantFrom('acme', 'acme', 'acme', 'acme', 'bolt');
const id = fc.constantFrom('1', '1', '1', '2', '3');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 });
const odd = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'A', 'ä', 'a ', '') },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom('\0', 'x\0y', '\ud800', 'z\udfff', '\ufffd', "' or 1=1 --") },
);
/** Usually an id that other entries have too. */
const shared = fc.oneof({ weight: 6, arbitrary: id }, { weight: 1, arbitrary: odd });
const at = fc.integer({ min: 0, max: 6 }).map((hour) => `2026-03-01T0${hour}:00:00.000Z`);
const occurred: fc.Arbitrary<Occurred> = fc.record({
  at,
  basis: fc.constantFrom('payload', 'row', 'received', 'assumed-offset'),
  counts: fc.boolean(),
});

const policy: fc.Arbitrary<Fact> = fc.record({
  type: fc.constant('policy' as const),
  event: fc.constant('policy.updated'),
  change: fc.constantFrom('created', 'updated', 'published', 'deleted'),
  policyId: shared,
  policyType: optional(odd),
  title: optional(odd),
  brandName: optional(odd),
  jurisdiction: optional(odd),
  language: optional(odd),
  userId: optional(odd),
  version: optional(odd),
  hostedUrl: optional(odd),
  occurred,
});
const decision: fc.Arbitrary<Fact> = fc.record({
  type: fc.constant('decision' as const),
  via: fc.constantFrom('webhook', 'pull'),
  recordId: optional(shared),
  subject: optional(shared),
  bannerId: optional(id),
  bannerVersion: optional(id),
  action: optional(odd),
  method: optional(odd),
  domain: optional(id),
  page: optional(odd),
  signals: fc.dictionary(id, odd, { maxKeys: 2 }),
  state: fc.constantFrom(...consentStates.slice(0, 4)),
  doubts: fc.constantFrom([], [], [], [{ reason: 'contradiction' as const, fields: ['consent=no', 'action=accept'] }]),
  purposes: fc.dictionary(
    fc.oneof(fc.constantFrom('analytics', 'marketing', '7', '10'), odd),
    fc.constantFrom('granted' as const, 'denied' as const, 'necessary' as const),
    { maxKeys: 3 },
  ),
  policyId: optional(id),
  policyVersion: optional(id),
  region: optional(odd),
  language: optional(odd),
  expiresAt: optional(at),
  occurred,
});
const request: fc.Arbitrary<Fact> = fc.record({
  type: fc.constant('request' as const),
  requestId: optional(shared),
  kind: fc.constantFrom(...requestKinds),
  kindAsGiven: optional(odd),
  requesterName: optional(odd),
  requesterEmail: optional(odd),
  subject: optional(odd),
  jurisdiction: optional(odd),
  language: optional(odd),
  message: optional(odd),
  occurred,
});
const scan: fc.Arbitrary<Fact> = fc.record({
  type: fc.constant('scan' as const),
  scanId: optional(id),
  domain: optional(odd),
  status: optional(odd),
  cookiesFound: optional(fc.nat(500)),
  trackersFound: optional(fc.nat(500)),
  uncategorised: optional(fc.nat(500)),
  score: optional(fc.double({ noNaN: true, noDefaultInfinity: true })),
  beforeConsent: optional(fc.nat(9)),
  failed: fc.boolean(),
  items: optional(
    fc.array(
      fc.record({
        kind: fc.constantFrom('cookie' as const, 'tracker' as const),
        name: odd,
        category: optional(odd),
        domain: optional(odd),
        provider: optional(odd),
        beforeConsent: optional(fc.boolean()),
        thirdParty: optional(fc.boolean()),
      }),
      { maxLength: 3 },
    ),
  ),
  isInventory: fc.boolean(),
  unreadItems: fc.nat(3),
  occurred,
});
const integration: fc.Arbitrary<Fact> = fc.record({
  type: fc.constant('integration' as const),
  change: fc.constantFrom('connected', 'disconnected', 'lost'),
  error: optional(odd),
  integrationId: optional(id),
  name: optional(odd),
  site: optional(odd),
  occurred,
});

const officer = fc.constantFrom('ada', 'grace');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    action: fc.constant('consent.withdrawn-by-request' as const),
    actor: officer,
    caseId: fc.constantFrom('hand-1', 'hand-2', 'acme-1'),
    basedOn: fc.nat(3),
    kind: fc.constantFrom('withdraw-consent', 'opt-out', 'objection'),
    subject: shared,
    bannerId: optional(id),
    all: fc.boolean(),
    purposes: fc.subarray(['analytics', 'marketing', '7']),
    at,
    requestedAt: at,
  }),
  fc.record({
    action: fc.constant('case.opened' as const),
    actor: officer,
    caseId: fc.constantFrom('hand-1', 'hand-2', 'acme-1'),
    receivedAt: at,
    kind: fc.constantFrom(...requestKinds),
    requesterName: optional(odd),
    requesterEmail: optional(odd),
    subject: optional(odd),
    jurisdiction: optional(odd),
    message: optional(odd),
    channel: fc.constant('letter'),
  }),
  fc.record({
    action: fc.constant('case.moved' as const),
    actor: officer,
    caseId: fc.constantFrom('hand-1', 'hand-2', 'acme-1', 'acme-2', 'acme-2.2', 'acme-3', 'acme-4'),
    basedOn: fc.nat(2),
    move: fc.constantFrom('acknowledge', 'answer', 'close'),
    details: fc.constant({}),
  }),
  fc.record({
    action: fc.constant('document.produced' as const),
    actor: officer,
    documentId: fc.uuid(),
    name: fc.constant('consent-audit'),
    format: fc.constantFrom('pdf', 'csv'),
    sha256: fc.constant('00'),
    bytes: fc.nat(),
    asOf: fc.nat(),
    caseId: optional(id),
    parameters: fc.constant({ from: '2026-03-01' }),
  }),
  fc.record({
    action: fc.constant('session.opened' as const),
    actor: officer,
    detail: optional(fc.string()),
  }),
);

const body = fc.oneof(
  { weight: 6, arbitrary: decision.map((fact) => ({ event: 'consent.recorded', fact })) },
  { weight: 5, arbitrary: policy.map((fact) => ({ event: 'policy.updated', fact })) },
  { weight: 3, arbitrary: request.map((fact) => ({ event: 'dsar.submitted', fact })) },
  { weight: 2, arbitrary: scan.map((fact) => ({ event: 'cookie_scan.completed', fact })) },
  { weight: 2, arbitrary: integration.map((fact) => ({ event: 'integration.connected', fact })) },
  { weight: 1, arbitrary: odd.map((event) => ({ event })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('dsar.submitted', 'policy.updated')
      .map((event) => ({ event, fails: 'unreadable' as const })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('dsar.submitted', 'policy.updated')
      .map((event) => ({ event, fails: 'throws' as const })),
  },
);

/** One entry; `place` makes its body different from all others. */
type Make = (place: number) => NewEntry[];

const receivedAt = (place: number) => new Date(Date.UTC(2026, 2, 1, 3, 0, place * 7)).toISOString();

/** Sometimes several events in one body. */
const bodies: fc.Arbitrary<TestBody> = fc.oneof(
  { weight: 5, arbitrary: body },
  {
    weight: 1,
    arbitrary: fc
      .tuple(body, fc.array(body, { minLength: 1, maxLength: 5 }))
      .map(([first, more]) => ({ ...first, more })),
  },
);
const delivery: fc.Arbitrary<Make> = fc.tuple(source, bodies).map(([slug, said]) => (place) => [
  webhook(slug, { ...said, nonce: place }, receivedAt(place)),
]);
const row: fc.Arbitrary<Make> = fc.tuple(source, decision).map(([slug, fact]) => (place) => [
  pulledRow(slug, { event: 'consent.recorded', fact, nonce: place }, receivedAt(place)),
]);
const deed: fc.Arbitrary<Make> = fc.tuple(source, action).map(([slug, done]) => (place) => {
  const entries = [officerAction(slug, done, receivedAt(place))];
  if (done.action === 'document.produced') {
    const { actor, documentId, sha256 } = done;
    const downloaded = { action: 'document.downloaded' as const, actor, documentId, sha256 };
    entries.push(officerAction(slug, downloaded, receivedAt(place)));
  }
  return entries;
});
/** An action that no version ever wrote, and kinds that no projection reads. */
const other: fc.Arbitrary<Make> = fc
  .tuple(source, fc.constantFrom('action' as const, 'call' as const, 'snapshot' as const))
  .map(([slug, kind]) => (place) => [{ ...webhook(slug, { event: 'x', nonce: place }, receivedAt(place)), kind }]);

/** A whole ledger: entries of every family, out of order, contradicting each other, some unreadable. */
export const entrySequences: fc.Arbitrary<NewEntry[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: delivery },
      { weight: 3, arbitrary: row },
      { weight: 3, arbitrary: deed },
      { weight: 1, arbitrary: other },
    ),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
  .map((made) => made.flatMap((make, place) => make(place)));
