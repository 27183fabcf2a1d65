import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestFact } from '../../receivers/dsar.ts';
import type { Fact } from '../../receivers/index.ts';
import type { IntegrationFact } from '../../receivers/integration.ts';
import type { PolicyFact } from '../../receivers/policy.ts';
import { decisionIdOf } from '../../receivers/read.ts';
import type { ScanFact } from '../../receivers/scan.ts';
import { isExpired, standingAt, storedJudgement, timelineOf } from '../../src/core/consent-timeline.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { countAmbiguousRepeats, loadAmbiguousRepeats } from '../../src/projections/ambiguous-repeats.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import { type PlainRecord, replay } from '../consent/plain-replay.ts';
import { PATIENTLY, runs } from '../temporary.ts';
import {
  createWorld,
  decisionFact,
  dump,
  forgetProjections,
  officerAction,
  pulledRow,
  type TestBody,
  type World,
  webhook,
} from './world.ts';

const at = '2026-03-01T10:00:00.000Z';
const payloadTime = (hour: number) => ({
  at: `2026-03-01T0${hour}:00:00.000Z`,
  basis: 'payload' as const,
  counts: true,
});
const received = { at, basis: 'received' as const, counts: true };

let nonce = 0;
const told = (fact: Fact, event = 'x'): NewEntry => webhook('acme', { event, fact, nonce: nonce++ }, at);

async function project(world: World, ...entries: NewEntry[]): Promise<void> {
  await world.ledger.append(entries);
  await world.projector().catchUp();
}

const plainRecord = (row: DecisionRow): PlainRecord => ({
  ...{ seq: row.seq, subject: row.subject, banner: row.banner_id, decision: row.decision_id, at: row.at },
  ...{ state: row.state, purposes: JSON.parse(row.purposes) as Record<string, string> },
  ...{ until: row.expires_at, version: row.policy_version },
});
const firstTime = (records: readonly PlainRecord[], { decision }: PlainRecord) =>
  records.find((one) => one.decision === decision)?.at ?? '';

describe('decisions', () => {
  test('a delivery and a pulled row of one decision are two rows, and the first counts', async () => {
    const world = await createWorld();
    const decision = decisionFact({ recordId: 'r1', policyVersion: null });
    const row = decisionFact({
      via: 'pull',
      recordId: 'r1',
      policyVersion: '3',
      expiresAt: '2027-03-01T00:00:00.000Z',
    });
    await project(world, told(decision));
    await project(world, pulledRow('acme', { event: 'consent.recorded', fact: row }, at));
    const history = await world.store.read
      .selectFrom('decision_history')
      .select(['via', 'decision_id', 'is_first', 'conflicts'])
      .orderBy('seq')
      .execute();
    expect(history).toEqual([
      { via: 'webhook', decision_id: 'r:r1', is_first: 1, conflicts: 0 },
      { via: 'pull', decision_id: 'r:r1', is_first: 0, conflicts: 0 },
    ]);
    expect(await world.store.read.selectFrom('decisions').selectAll().execute()).toMatchObject([
      { changes: 1, policy_version: '3', expires_at: '2027-03-01T00:00:00.000Z', first_seq: 1, last_seq: 2 },
    ]);
  });

  test('a row that contradicts any earlier row of its decision is marked; an incomplete row is not', async () => {
    const world = await createWorld();
    const said = [
      { state: 'given', purposes: { analytics: 'granted' } },
      { state: 'given', purposes: { analytics: 'granted', necessary: 'granted' } },
      { state: 'given', purposes: {}, bannerId: null },
      { state: 'refused', purposes: { analytics: 'denied' } },
      { state: 'refused', purposes: { analytics: 'denied' } },
      { state: 'unknown', purposes: { analytics: 'denied' } },
      { state: 'unknown', purposes: {} },
    ] as const;
    // Each projected separately, so the earlier rows are read from the database.
    for (const one of said) await project(world, told(decisionFact({ recordId: 'r1', ...one })));
    await project(world, ...said.map((one) => told(decisionFact({ recordId: 'r2', ...one }))));
    const conflicts = await world.store.read
      .selectFrom('decision_history')
      .select('conflicts')
      .orderBy('seq')
      .execute();
    const marks = [0, 0, 0, 1, 1, 1, 0];
    expect(conflicts.map((row) => row.conflicts)).toEqual([...marks, ...marks]);
  });

  test('a decision with more and more differing records is disputed from the eighth on, however they are folded', async () => {
    const world = await createWorld();
    const ways = Array.from({ length: 30 }, (_, i) =>
      // Every third repeats the one before it from another region, which makes no difference.
      told(
        decisionFact({ recordId: 'r1', purposes: { [`p${i - (i % 3 === 2 ? 1 : 0)}`]: 'granted' }, region: `R-${i}` }),
      ),
    );
    for (const way of ways) await project(world, way);
    const { decision_history: rows = [], decisions: [picture] = [] } = await dump(world.store.read);
    expect(rows.map((row) => (row as { conflicts: number }).conflicts)).toEqual(
      ways.map((_, i) => (i === 10 || i >= 12 ? 1 : 0)),
    );
    expect(picture).toMatchObject({ label: 'disputed', stands: '[]' });
    const before = await dump(world.store.read);
    await forgetProjections(world.store);
    await world.projector().catchUp();
    expect(await dump(world.store.read)).toEqual(before);
  });

  test('the current state is the decision with the latest time, in whatever order they come', async () => {
    const world = await createWorld();
    await project(
      world,
      told(decisionFact({ recordId: 'r2', state: 'withdrawn', occurred: payloadTime(5) })),
      told(decisionFact({ recordId: 'r1', state: 'given', occurred: payloadTime(2) })),
      told(decisionFact({ recordId: 'r3', state: 'given', occurred: { ...payloadTime(9), counts: false } })),
      told(decisionFact({ recordId: 'r4', bannerId: 'b2', state: 'refused', occurred: payloadTime(1) })),
      told(decisionFact({ recordId: 'r5', subject: null })),
    );
    const rows = await world.store.read
      .selectFrom('decisions')
      .select(['banner_id', 'state', 'decision_id', 'at', 'changes', 'last_seq'])
      .orderBy('banner_id')
      .execute();
    // A decision whose time does not count is placed at its arrival, here the latest.
    expect(rows).toEqual([
      { banner_id: 'b1', state: 'given', decision_id: 'r:r3', at, changes: 3, last_seq: 3 },
      { banner_id: 'b2', state: 'refused', decision_id: 'r:r4', at: payloadTime(1).at, changes: 1, last_seq: 4 },
    ]);
  });

  test('a decision is judged by the decisions made before it, in whatever order they become known, exactly at every asOf', async () => {
    const choice = fc.record({
      subject: fc.constantFrom('s1', 's1', 's2', null),
      bannerId: fc.constantFrom('b1', 'b1', null),
      hour: fc.integer({ min: 0, max: 5 }),
      state: fc.constantFrom('given', 'given', 'refused', 'withdrawn', 'expired', 'requested', 'unknown'),
      purposes: fc.dictionary(
        fc.constantFrom('analytics', 'Analytics', 'marketing', 'necessary'),
        fc.constantFrom('granted', 'denied'),
        { maxKeys: 2 },
      ),
      expires: fc.option(fc.integer({ min: 0, max: 8 })),
      policyVersion: fc.constantFrom('1', '2', null),
      repeats: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(choice, { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (choices, batchSize) => {
          const world = await createWorld();
          const facts = choices.map(({ hour, repeats, expires, ...said }, place) =>
            decisionFact({
              ...said,
              recordId: `r${repeats ? place % 4 : place}`,
              occurred: payloadTime(hour),
              policyId: 'p',
              expiresAt: expires === null ? null : payloadTime(expires).at,
            }),
          );
          await world.ledger.append(facts.map((fact) => told(fact)));
          await world.projector({ batchSize }).catchUp();
          const rows = await world.store.read.selectFrom('decision_history').selectAll().orderBy('seq').execute();
          const judgements = await world.store.read
            .selectFrom('decision_judgements')
            .selectAll()
            .orderBy('seq')
            .execute();
          const history = createHistory(world.store.read);
          for (let asOf = 1; asOf <= rows.length; asOf += 1) {
            const known = rows.filter((row) => row.seq <= asOf);
            // As stored, and as judged anew.
            const owners = new Map<string, string | null>();
            for (const { decision_id, subject } of known) owners.set(decision_id, owners.get(decision_id) ?? subject);
            for (const subject of new Set(owners.values())) {
              for (const decision of timelineOf(known.filter((row) => owners.get(row.decision_id) === subject))) {
                if (subject === null) continue;
                const kept = judgements.findLast((one) => one.decision_id === decision.decisionId && one.seq <= asOf);
                const { label, withdraws, stands, held } = kept ?? decision.rows[0];
                expect({ label, withdraws, stands, held }).toEqual(storedJudgement(decision));
              }
            }
            // The state of each purpose at a moment, and the number of standing consents, against a plain replay.
            const to = payloadTime(asOf % 7).at;
            const records = known.map(plainRecord);
            const told = new Map<string, string>();
            for (const subject of new Set(owners.values())) {
              const ofSubject = known.filter((row) => owners.get(row.decision_id) === subject);
              for (const { bannerId, purposes } of subject === null ? [] : standingAt(timelineOf(ofSubject), to))
                for (const { purpose, state } of purposes)
                  told.set(`${subject} ${bannerId ?? ''} ${purpose.toLowerCase()}`, state);
            }
            const replayed = [...replay(records, to)].flatMap(([who, purposes]) =>
              [...purposes].map(([purpose, { is }]) => [`${who} ${purpose}`, is] as const),
            );
            const counts = ([, state]: readonly [string, string]) =>
              state === 'granted' || rows.every(({ conflicts }) => conflicts === 0);
            expect(Object.fromEntries([...told].filter(counts))).toEqual(Object.fromEntries(replayed.filter(counts)));
            const before = records.filter((one) => firstTime(records, one) < to);
            const expected = [...replay(before, to)].flatMap(([who, purposes]) =>
              [...purposes].flatMap(([purpose, { is }]) => (is === 'granted' ? [`${who} ${purpose}`] : [])),
            );
            const period = { source: 'acme', asOf, from: '', to };
            let stand = 0;
            const standing = await history.standingConsents(period, to, to);
            for (const { stands, consents, expired } of standing.consents)
              stand += (JSON.parse(stands) as string[]).length * (consents - expired);
            for await (const holds of history.heldConsents(period, standing.held))
              stand += [...holds.values()].filter((hold) => hold.doubt === null && !isExpired(hold, to)).length;
            expect(stand).toBe(expected.length);
            const until = { ...period, to: at };
            const { subjects } = await history.recordTotals(until);
            const nobodys = (await history.decisionGroups(until)).filter(({ owned }) => !owned);
            const withoutSubject = nobodys.reduce((sum, { decisions }) => sum + decisions, 0);
            expect([subjects, withoutSubject]).toEqual([
              new Set([...owners.values()].filter((owner) => owner !== null)).size,
              [...owners.values()].filter((owner) => owner === null).length,
            ]);
            const ofOne: number[] = [];
            for await (const { seq } of history.decisionRowsOf(period, ['s1'])) ofOne.push(seq);
            const own = known.filter(
              (row) => row.subject === 's1' || (row.subject === null && owners.get(row.decision_id) === 's1'),
            );
            expect(ofOne).toEqual(own.map(({ seq }) => seq));
          }
        },
      ),
      { numRuns: runs(8), interruptAfterTimeLimit: PATIENTLY.timeout },
    );
  });

  test('a change that an officer carried out on request is a separate decision that cites the case', async () => {
    const world = await createWorld();
    await project(
      world,
      told(
        decisionFact({
          recordId: 'r1',
          purposes: { analytics: 'granted', marketing: 'granted' },
          occurred: payloadTime(2),
        }),
      ),
      officerAction(
        'acme',
        {
          ...{ action: 'consent.withdrawn-by-request', actor: 'ada', caseId: 'case-1', basedOn: 3, kind: 'opt-out' },
          ...{ subject: 's1', bannerId: 'b1', all: false, purposes: ['marketing'] },
          ...{ at: payloadTime(4).at, requestedAt: payloadTime(1).at },
        },
        at,
      ),
    );
    const [, row] = await world.store.read.selectFrom('decision_history').selectAll().orderBy('seq').execute();
    expect(row).toMatchObject({
      via: 'request',
      decision_id: 'q:2',
      case_id: 'case-1',
      at: payloadTime(4).at,
      label: 'partly-withdrawn',
      withdraws: '["marketing"]',
      stands: '["analytics"]',
    });
    expect(await world.store.read.selectFrom('decisions').select(['label', 'stands']).execute()).toEqual([
      { label: 'partly-withdrawn', stands: '["analytics"]' },
    ]);
  });

  test('subjects of different sources never mix', async () => {
    const world = await createWorld();
    const entries = ['acme', 'bolt'].map((source) =>
      webhook(source, { event: 'consent.recorded', fact: decisionFact({ recordId: 'r1' }) }, at),
    );
    await project(world, ...entries);
    const history = await world.store.read
      .selectFrom('decision_history')
      .select(['source', 'is_first'])
      .orderBy('seq')
      .execute();
    expect(history).toEqual([
      { source: 'acme', is_first: 1 },
      { source: 'bolt', is_first: 1 },
    ]);
  });

  test('a pulled row that names no banner belongs to the banner of its pull', async () => {
    const world = await createWorld();
    const fact = decisionFact({ via: 'pull', bannerId: null });
    await project(world, pulledRow('acme', { event: 'consent.recorded', fact }, at));
    const [row] = await world.store.read.selectFrom('decision_history').select(['banner_id', 'decision_id']).execute();
    expect(row).toEqual({ banner_id: 'b1', decision_id: decisionIdOf({ ...fact, bannerId: 'b1' }) });
  });

  test('an anonymous delivery is an ambiguous repeat only after it was repeated', async () => {
    const world = await createWorld();
    const anonymous = told(decisionFact({ occurred: received }), 'consent.recorded');
    await project(world, anonymous, told(decisionFact({ recordId: 'r9', occurred: received })));
    expect(await loadAmbiguousRepeats(world.store.read, { source: 'acme' })).toEqual([]);
    await world.ledger.append([anonymous]);
    await world.ledger.append([anonymous]);
    expect(await loadAmbiguousRepeats(world.store.read, { source: 'acme' })).toEqual([
      { seq: 1, source: 'acme', event: 'consent.recorded', resolution: 'unresolved', repeats: 2, lastAt: at },
    ]);
    expect(await countAmbiguousRepeats(world.store.read, { source: null })).toEqual({ deliveries: 1, repeats: 2 });
    expect(await countAmbiguousRepeats(world.store.read, { source: 'bolt' })).toEqual({ deliveries: 0, repeats: 0 });
  });
});

describe('policies', () => {
  const policy = (change: PolicyFact['change'], hour: number, said: Partial<PolicyFact> = {}): PolicyFact => ({
    type: 'policy',
    event: `policy.${change}`,
    change,
    policyId: 'p1',
    policyType: null,
    title: null,
    brandName: null,
    jurisdiction: null,
    language: null,
    userId: null,
    version: null,
    hostedUrl: null,
    occurred: payloadTime(hour),
    ...said,
  });

  test('changes that come out of order are ordered by their times', async () => {
    const world = await createWorld();
    await project(
      world,
      told(policy('published', 3, { title: 'Privacy', hostedUrl: 'https://site.example/p1' })),
      told(policy('deleted', 7)),
      told(policy('updated', 5, { title: 'Privacy (new)', version: '2' })),
    );
    expect(await world.store.read.selectFrom('policies').selectAll().execute()).toMatchObject([
      {
        status: 'deleted',
        title: 'Privacy',
        version: '2',
        hosted_url: 'https://site.example/p1',
        published_at: payloadTime(3).at,
        last_at: payloadTime(7).at,
        first_seq: 1,
        last_seq: 2,
      },
    ]);
    expect(await world.store.read.selectFrom('policy_history').select('change').orderBy('seq').execute()).toHaveLength(
      3,
    );
  });
});

describe('cases', () => {
  const request = (said: Partial<RequestFact> = {}): RequestFact => ({
    type: 'request',
    requestId: 'q1',
    kind: 'access',
    kindAsGiven: null,
    requesterName: 'Ada',
    requesterEmail: null,
    subject: null,
    jurisdiction: null,
    language: null,
    message: null,
    occurred: payloadTime(1),
    ...said,
  });
  const moved = (caseId: string, basedOn: number, move: string): NewEntry =>
    officerAction('acme', { action: 'case.moved', actor: 'grace', caseId, basedOn, move, details: {} }, at);

  test('a request that is reported again belongs to the same case, and does not make a move stale', async () => {
    const world = await createWorld();
    await project(
      world,
      told(request()),
      told(request({ requestId: null })),
      told(request({ requesterName: 'Ada L.' })),
    );
    await project(world, told(request({ message: 'once more' })), moved('acme-1', 0, 'acknowledge'));
    const cases = await world.store.read
      .selectFrom('cases')
      .select(['case_id', 'version', 'state', 'requester_name', 'last_seq'])
      .orderBy('opened_seq')
      .execute();
    expect(cases).toEqual([
      { case_id: 'acme-1', version: 1, state: 'acknowledged', requester_name: 'Ada', last_seq: 5 },
      { case_id: 'acme-2', version: 0, state: 'opened', requester_name: 'Ada', last_seq: 2 },
    ]);
    const history = await world.store.read
      .selectFrom('case_history')
      .selectAll()
      .where('case_id', '=', 'acme-1')
      .orderBy('seq')
      .execute();
    expect(history.map(({ move, version, actor }) => `${move} ${version} ${actor}`)).toEqual([
      'opened 0 service',
      'reported-again 0 service',
      'reported-again 0 service',
      'acknowledge 1 grace',
    ]);
    expect(JSON.parse(history[1]?.details ?? '')).toMatchObject({ requesterName: 'Ada L.' });
  });

  test.each([
    ['no field is understood', { event: 'dsar.submitted', fails: 'unreadable' }, 'a field is missing'],
    ['the reader has a bug', { event: 'dsar.submitted', fails: 'throws' }, 'reader failed: the reader has a bug'],
    ['the event is a new one', { event: 'dsar.escalated' }, null],
  ] as [string, TestBody, string | null][])('a signed dsar.* opens a case when %s', async (_, body, reason) => {
    const world = await createWorld();
    await project(world, webhook('acme', body, at));
    expect(await world.store.read.selectFrom('cases').selectAll().execute()).toMatchObject([
      { case_id: 'acme-1', kind: 'unknown', request_id: null, receipt_at: at },
    ]);
    const quarantined = await world.store.read.selectFrom('quarantine').select(['seq', 'event', 'reason']).execute();
    expect(quarantined).toEqual(reason === null ? [] : [{ seq: 1, event: 'dsar.submitted', reason }]);
  });

  test('an entry whose kind was edited to an unknown one is shown in quarantine', async () => {
    const world = await createWorld();
    const edited = { ...webhook('acme', { event: 'dsar.submitted' }, at), kind: '\u0177ebhook' as 'webhook' };
    await project(world, edited);
    expect(await world.store.read.selectFrom('quarantine').select(['seq', 'event', 'reason']).execute()).toEqual([
      {
        seq: 1,
        event: 'dsar.submitted',
        reason: 'the kind "\u0177ebhook" of the entry is unknown: run `consent-ledger ledger verify`',
      },
    ]);
  });

  test('a recorded move without effect is shown in quarantine', async () => {
    const world = await createWorld();
    await project(world, told(request()), moved('acme-1', 4, 'close'), moved('case-77', 0, 'close'));
    expect(
      await world.store.read.selectFrom('quarantine').select(['seq', 'event', 'reason']).orderBy('seq').execute(),
    ).toEqual([
      { seq: 2, event: 'case.moved', reason: 'the move is based on version 4 of acme-1, which is at 0' },
      { seq: 3, event: 'case.moved', reason: 'there is no case case-77' },
    ]);
  });
});

describe('scans and integrations', () => {
  test('the latest scan of a domain gives its state, and all scans are counted', async () => {
    const world = await createWorld();
    const scan = (
      hour: number,
      cookiesFound: number,
      domain: string | null = 'a.example',
      beforeConsent: number | null = null,
    ): ScanFact => ({
      type: 'scan',
      scanId: null,
      domain,
      status: 'completed',
      cookiesFound,
      trackersFound: 2,
      uncategorised: null,
      score: 81.5,
      beforeConsent,
      failed: false,
      items: null,
      isInventory: false,
      unreadItems: 0,
      occurred: payloadTime(hour),
    });
    await project(
      world,
      told(scan(4, 40)),
      told(scan(2, 20, 'a.example', 3)),
      told(scan(3, 30, null)),
      told(scan(1, 10, 'a.example', 9)),
    );
    expect(await world.store.read.selectFrom('scans').selectAll().orderBy('domain').execute()).toMatchObject([
      { domain: '', scans: 1, cookies_found: 30 },
      {
        ...{ domain: 'a.example', scans: 3, cookies_found: 40, score: 81.5, at: payloadTime(4).at, last_seq: 1 },
        ...{ before_consent: 3, before_consent_seq: 2, before_consent_at: payloadTime(2).at },
      },
    ]);
  });

  test('an integration is connected or not by its latest change', async () => {
    const world = await createWorld();
    const changed = (
      change: IntegrationFact['change'],
      hour: number,
      said: Partial<IntegrationFact> = {},
    ): IntegrationFact => ({
      type: 'integration',
      change,
      error: null,
      integrationId: 'i1',
      name: null,
      site: null,
      occurred: payloadTime(hour),
      ...said,
    });
    await project(
      world,
      told(changed('lost', 6, { error: 'token expired' })),
      told(changed('connected', 2, { name: 'Shop' })),
      told(changed('connected', 3, { integrationId: null, name: 'Blog' })),
    );
    expect(
      await world.store.read.selectFrom('integrations').selectAll().orderBy('integration_key').execute(),
    ).toMatchObject([
      { integration_key: 'Blog', integration_id: null, status: 'connected' },
      { integration_key: 'i1', name: 'Shop', status: 'lost', error: 'token expired', last_seq: 1 },
    ]);
  });
});

describe('deliveries and actions', () => {
  test('every delivery is listed with its verdict and outcome, and counted by day and event', async () => {
    const world = await createWorld();
    const night = '2026-03-01T23:59:59.999Z';
    const day = '2026-03-02T00:00:00.000Z';
    await project(
      world,
      webhook('acme', { event: 'ping' }, night),
      webhook('acme', { event: 'ping', nonce: 1 }, night),
    );
    await project(
      world,
      webhook('acme', { event: 'ping', nonce: 2 }, night),
      webhook('acme', { event: 'policy.updated', fails: 'unreadable' }, day),
      pulledRow('acme', { event: 'consent.recorded', fact: decisionFact({}) }, day),
    );
    expect(await world.store.read.selectFrom('delivery_counts').selectAll().orderBy('day').execute()).toEqual([
      { source: 'acme', day: '2026-03-01', event: 'ping', deliveries: 3 },
      { source: 'acme', day: '2026-03-02', event: 'policy.updated', deliveries: 1 },
    ]);
    expect(await world.store.read.selectFrom('delivery_quarters').selectAll().orderBy('quarter').execute()).toEqual([
      { source: 'acme', quarter: '2026-03-01T23:45', deliveries: 3 },
      { source: 'acme', quarter: '2026-03-02T00:00', deliveries: 1 },
    ]);
    const rows = await world.store.read.selectFrom('delivery_history').selectAll().orderBy('seq').execute();
    expect(rows.map(({ seq, outcome, verdict, reason }) => [seq, outcome, verdict, reason])).toEqual([
      [1, 'unknown-event', 'verified', 'not known'],
      [2, 'unknown-event', 'verified', 'not known'],
      [3, 'unknown-event', 'verified', 'not known'],
      [4, 'unreadable', 'verified', 'a field is missing'],
    ]);
  });

  test('actions are the audit trail, including one that this version does not know', async () => {
    const world = await createWorld();
    const unknown = { ...officerAction('acme', { action: 'session.opened', actor: 'ada', detail: null }, at) };
    await project(
      world,
      officerAction('acme', { action: 'source.added', actor: 'operator', sourceSlug: 'bolt', changed: ['name'] }, at),
      {
        ...unknown,
        body: Buffer.from('{"action":"moon.landed"}'),
        meta: canonicalJson({ action: 'moon.landed', actor: 'neil' }),
      },
    );
    const rows = await world.store.read
      .selectFrom('action_history')
      .select(['action', 'actor', 'object'])
      .orderBy('seq')
      .execute();
    expect(rows).toEqual([
      { action: 'source.added', actor: 'operator', object: 'bolt' },
      { action: 'moon.landed', actor: 'neil', object: null },
    ]);
    expect(await world.store.read.selectFrom('quarantine').select(['seq', 'event']).execute()).toEqual([
      { seq: 2, event: 'moon.landed' },
    ]);
  });

  test('a document is registered with its hash, and its downloads are counted', async () => {
    const world = await createWorld();
    const produced = {
      action: 'document.produced' as const,
      actor: 'ada',
      documentId: 'd1',
      name: 'consent-audit',
      format: 'pdf',
      sha256: 'ab',
      bytes: 10,
      asOf: 0,
      caseId: null,
      parameters: { to: '2026-03-31', from: '2026-03-01' },
    };
    const download = (actor: string): NewEntry =>
      officerAction('acme', { action: 'document.downloaded', actor, documentId: 'd1', sha256: 'ab' }, at);
    await project(world, officerAction('acme', produced, at), download('ada'));
    await project(world, download('grace'), download('linus'));
    expect(await world.store.read.selectFrom('documents').selectAll().execute()).toMatchObject([
      {
        document_id: 'd1',
        downloads: 3,
        seq: 1,
        created_at: at,
        parameters: '{"from":"2026-03-01","to":"2026-03-31"}',
      },
    ]);
  });
});
