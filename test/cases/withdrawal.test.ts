import { describe, expect, it } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import { showCase } from '../../src/cases/list-cases.ts';
import { moveCase, type OpenCaseInput, openCase } from '../../src/cases/move-case.ts';
import { extendWithdrawals } from '../../src/cases/withdrawal.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { decisionFact, webhook } from '../projections/world.ts';
import { type CasesWorld, createCasesWorld, profile, request } from './world.ts';

const period = { source: 'acme', asOf: 1_000, from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
const both = { analytics: 'granted', marketing: 'granted', necessary: 'granted' } as const;

async function record(world: CasesWorld, ...facts: Partial<DecisionFact>[]): Promise<void> {
  for (const fact of facts) {
    const entry = webhook('acme', { event: 'consent.recorded', fact: decisionFact(fact) }, '2026-07-02T10:00:00.000Z');
    await world.deps.ledger.append([entry]);
  }
  await world.catchUp();
}

const consent = (recordId: string, bannerId: string | null, at: string, more: Partial<DecisionFact> = {}) => ({
  ...{ recordId, bannerId, subject: 'visitor-7', purposes: both, ...more },
  occurred: { at, basis: 'payload' as const, counts: true },
});

/** A case ready to be answered, of a subject with consent on two banners. */
async function ready(
  kind: OpenCaseInput['kind'],
  subject = 'visitor-7',
): Promise<{ world: CasesWorld; caseId: string }> {
  const world = await createCasesWorld({ profile: profile({ otherSystems: [] }) });
  await record(
    world,
    consent('r1', 'b1', '2026-05-01T10:00:00.000Z'),
    consent('r2', null, '2026-05-02T10:00:00.000Z', { purposes: { analytics: 'granted', marketing: 'denied' } }),
    consent('r3', 'b1', '2026-05-01T10:00:00.000Z', { subject: 'somebody-else' }),
  );
  return { world, caseId: await openReady(world, kind, subject) };
}

async function openReady(world: CasesWorld, kind: OpenCaseInput['kind'], subject = 'visitor-7'): Promise<string> {
  const opened = await openCase(world.deps, {
    ...{ source: 'acme', actor: 'olga', receivedAt: '2026-07-01T10:00:00+02:00', kind, channel: 'letter' },
    ...{ jurisdiction: 'DE', requesterName: 'Ada', requesterEmail: null, subject, message: null },
  });
  if (opened.outcome === 'refused') throw new Error(opened.problems.join());
  await world.catchUp();
  for (const [version, move] of ['start', 'mark-ready'].entries()) {
    await moveCase(world.deps, { caseId: opened.caseId, basedOn: version, move, actor: 'olga' });
    await world.catchUp();
  }
  return opened.caseId;
}

async function answer(world: CasesWorld, caseId: string, details: object = {}, actor = 'olga') {
  const disclosure = details as { disclosure?: string };
  const answered = await moveCase(world.deps, {
    ...{ caseId, basedOn: 2, move: 'answer', actor },
    details: { channel: 'mail', disclosure: disclosure.disclosure ?? 'categories-only', ...details },
  });
  await world.catchUp();
  return answered;
}

const stateOf = (world: CasesWorld) =>
  world.deps.store.read
    .selectFrom('decisions')
    .select(['subject', 'banner_id', 'label', 'stands'])
    .orderBy('subject')
    .orderBy('banner_id')
    .execute();

describe('the answer to a request that ends consent', () => {
  it('withdraws as of the time recorded for that part, if the request has others', async () => {
    const { world } = await ready('access');
    const fact = request({ kind: 'objection', furtherKinds: ['access'], subject: 'visitor-7' });
    await world.deps.ledger.append([webhook('acme', { event: 'dsar.submitted', fact }, '2026-07-01T14:03:00.000Z')]);
    await world.catchUp();
    const { case_id: caseId } = await world.store.read
      .selectFrom('cases')
      .select('case_id')
      .where('kind', '=', 'objection')
      .executeTakeFirstOrThrow();
    const moves: readonly (readonly [string, Record<string, unknown>])[] = [
      ['start', {}],
      ['settle-part', { kind: 'objection', outcome: 'done', at: '2026-07-02T08:00:00.000Z' }],
      ['settle-part', { kind: 'access', outcome: 'done' }],
      ['mark-ready', {}],
      ['answer', { channel: 'mail', disclosure: 'full' }],
    ];
    for (const [basedOn, [move, details]] of moves.entries()) {
      expect(await moveCase(world.deps, { caseId, basedOn, move, details, actor: 'olga' })).toMatchObject({
        outcome: 'moved',
      });
      await world.catchUp();
    }
    const withdrawn = await world.store.read
      .selectFrom('decision_history')
      .select('at')
      .where('via', '=', 'request')
      .execute();
    expect(withdrawn.map(({ at }) => at)).toEqual(['2026-07-02T08:00:00.000Z', '2026-07-02T08:00:00.000Z']);
  });

  it.each(['withdraw-consent', 'opt-out', 'objection'] as const)('withdraws on every banner: %s', async (kind) => {
    const { world, caseId } = await ready(kind);
    expect(await answer(world, caseId)).toMatchObject({ outcome: 'moved', version: 3 });
    expect(await stateOf(world)).toEqual([
      { subject: 'somebody-else', banner_id: 'b1', label: 'given', stands: '["analytics","marketing"]' },
      { subject: 'visitor-7', banner_id: '', label: 'withdrawn', stands: '[]' },
      { subject: 'visitor-7', banner_id: 'b1', label: 'withdrawn', stands: '[]' },
    ]);
    const rows = await world.deps.store.read
      .selectFrom('decision_history')
      .select(['via', 'case_id', 'at', 'withdraws'])
      .where('via', '=', 'request')
      .orderBy('seq')
      .execute();
    expect(rows).toEqual(
      ['["analytics"]', '["analytics","marketing"]'].map((withdraws) => ({
        ...{ via: 'request', case_id: caseId, at: '2026-07-03T09:00:00.000Z', withdraws },
      })),
    );
  });

  it('withdraws only the purposes that the officer chose, from when they ended', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId, { purposes: ['marketing'], effectiveAt: '2026-07-02T12:00:00Z' });
    const [, , main] = await stateOf(world);
    expect(main).toMatchObject({ banner_id: 'b1', label: 'partly-withdrawn', stands: '["analytics"]' });
    const { at } = await world.deps.store.read
      .selectFrom('decision_history')
      .select('at')
      .where('via', '=', 'request')
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(at).toBe('2026-07-02T12:00:00.000Z');
  });

  it('is shown with consent that was recorded after it, whatever the case of the purpose’s name', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId, { purposes: ['marketing'], effectiveAt: '2026-07-02T12:00:00Z' });
    await record(
      world,
      consent('r4', 'b1', '2026-07-02T11:00:00.000Z', { purposes: { marketing: 'granted' } }),
      consent('r5', 'b1', '2026-07-02T13:00:00.000Z', { purposes: { Marketing: 'granted' } }),
    );
    const shown = await showCase(world.deps, caseId, '2026-07-04T09:00:00.000Z');
    expect(shown?.consentAfter).toMatchObject([{ at: '2026-07-02T13:00:00.000Z', purposes: ['Marketing'] }]);
  });

  it('is extended to a banner whose earlier consent becomes known only later, but not to consent given since', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId);
    await record(
      world,
      consent('r6', 'pulled-late', '2026-06-01T10:00:00.000Z'),
      consent('r7', 'given-since', '2026-07-03T10:00:00.000Z'),
    );
    const standing = async () =>
      (await stateOf(world))
        .filter(({ subject }) => subject === 'visitor-7')
        .map(({ banner_id, label }) => [banner_id, label]);
    expect(await standing()).toContainEqual(['pulled-late', 'given']);
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(1);
    await world.catchUp();
    expect(await standing()).toEqual([
      ['', 'withdrawn'],
      ['b1', 'withdrawn'],
      ['given-since', 'given'],
      ['pulled-late', 'withdrawn'],
    ]);
    const [row] = await world.deps.store.read
      .selectFrom('decision_history')
      .select(['at', 'case_id', 'withdraws'])
      .where('via', '=', 'request')
      .where('banner_id', '=', 'pulled-late')
      .execute();
    expect(row).toEqual({ at: '2026-07-03T09:00:00.000Z', case_id: caseId, withdraws: '["analytics","marketing"]' });
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
  });

  /**
   * The current state of the subject on a banner, and the withdrawals there: when, by which case, of which purposes as
   * the entry names them.
   */
  async function on(world: CasesWorld, bannerId: string) {
    const rows = await world.deps.store.read
      .selectFrom('decision_history as d')
      .innerJoin('entries as e', 'e.seq', 'd.seq')
      .select(['d.case_id', 'd.at', 'e.body'])
      .where('d.via', '=', 'request')
      .where('d.banner_id', '=', bannerId)
      .orderBy('d.seq')
      .execute();
    const state = (await stateOf(world)).find((one) => one.banner_id === bannerId && one.subject === 'visitor-7');
    return {
      label: state?.label,
      stands: JSON.parse(state?.stands ?? '[]') as string[],
      withdrawals: rows.map(({ case_id, at, body }) => {
        const { purposes } = JSON.parse(String(body)) as { purposes: string[] };
        return { caseId: case_id, at, purposes };
      }),
    };
  }
  const ANSWERED = '2026-07-03T09:00:00.000Z';
  const late = (more: Partial<DecisionFact> = {}) => consent('late', 'late', '2026-06-01T10:00:00.000Z', more);

  it('is extended to a time before later consent, and names the purposes granted then', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId);
    await record(
      world,
      late({ purposes: { analytics: 'granted' } }),
      consent('since', 'late', '2026-07-03T10:00:00.000Z', { purposes: { marketing: 'granted' } }),
    );
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(1);
    expect(await on(world, 'late')).toEqual({
      label: 'given',
      stands: ['marketing'],
      withdrawals: [{ caseId, at: ANSWERED, purposes: ['analytics'] }],
    });
    const shown = await showCase(world.deps, caseId, '2026-07-04T09:00:00.000Z');
    expect(shown?.consentAfter).toMatchObject([{ bannerId: 'late', purposes: ['marketing'] }]);
  });

  it('is extended only for the purposes that the officer chose', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId, { purposes: ['marketing'] });
    await record(world, late());
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(1);
    expect(await on(world, 'late')).toEqual({
      label: 'partly-withdrawn',
      stands: ['analytics'],
      withdrawals: [{ caseId, at: ANSWERED, purposes: ['marketing'] }],
    });
  });

  it('is extended for each answer of a reopened case', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    const effectiveAt = '2026-07-02T12:00:00.000Z';
    await answer(world, caseId, { purposes: ['marketing'], effectiveAt });
    const moves = [
      ['reopen', { reason: 'all purposes were meant' }],
      ['mark-ready', {}],
      ['answer', { channel: 'mail', disclosure: 'categories-only', effectiveAt }],
    ] as const;
    for (const [place, [move, details]] of moves.entries()) {
      const moved = await moveCase(world.deps, { caseId, basedOn: 3 + place, move, details, actor: 'olga' });
      expect(moved).toMatchObject({ outcome: 'moved' });
      await world.catchUp();
    }
    await record(world, late());
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(2);
    expect(await on(world, 'late')).toMatchObject({ label: 'withdrawn', stands: [] });
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
  });

  it('is extended for each case of the subject', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    const other = await openReady(world, 'opt-out');
    await answer(world, caseId, { purposes: ['marketing'] });
    await answer(world, other, { purposes: ['analytics'] });
    await record(world, late());
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(2);
    expect(await on(world, 'late')).toMatchObject({
      stands: [],
      withdrawals: [
        { caseId, purposes: ['marketing'] },
        { caseId: other, purposes: ['analytics'] },
      ],
    });
  });

  it('is extended to a banner that only the first record of a decision names, and to a disputed decision', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId);
    await record(world, late({ subject: null }), late({ bannerId: null }));
    await record(
      world,
      consent('d', 'disputed', '2026-06-01T10:00:00.000Z'),
      consent('d', 'disputed', '2026-06-01T10:00:00.000Z', { purposes: { analytics: 'granted', marketing: 'denied' } }),
    );
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(2);
    expect(await on(world, 'late')).toMatchObject({ label: 'withdrawn', stands: [] });
    expect(await on(world, 'disputed')).toMatchObject({ label: 'withdrawn', stands: [] });
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
  });

  it('is applied to a person without known records once their records become known', async () => {
    const { world, caseId } = await ready('withdraw-consent', 'unknown-yet');
    expect(await answer(world, caseId, { disclosure: 'no-match' })).toMatchObject({ outcome: 'moved' });
    const refused = await openReady(world, 'objection', 'refused');
    const parts = [{ what: 'objection', outcome: 'refused', ground: 'GDPR Art. 21(1)' }];
    await answer(world, refused, { disclosure: 'no-match', parts });
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
    await record(
      world,
      late({ subject: 'unknown-yet' }),
      consent('since', 'late', '2026-07-03T10:00:00.000Z', { subject: 'unknown-yet', purposes: { ads: 'granted' } }),
      late({ subject: 'refused', recordId: 'other' }),
    );
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(1);
    expect(await stateOf(world)).toContainEqual(
      expect.objectContaining({ subject: 'unknown-yet', banner_id: 'late', stands: '["ads"]' }),
    );
    expect((await on(world, 'late')).withdrawals).toEqual([
      { caseId, at: ANSWERED, purposes: ['analytics', 'marketing'] },
    ]);
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
    const shown = await showCase(world.deps, caseId, '2026-07-04T09:00:00.000Z');
    expect(shown?.consentAfter).toMatchObject([{ bannerId: 'late', purposes: ['ads'] }]);
  });

  it('is not written again from an entry that was erased', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId);
    await world.store.transaction(({ query }) =>
      query.updateTable('entries').set({ body: null, meta: null, salt: null }).where('kind', '=', 'action').execute(),
    );
    await record(world, late());
    expect(await extendWithdrawals(world.extending, 'acme')).toBe(0);
  });

  it('withdraws nothing if it answers another kind, nobody was found, or everything was refused', async () => {
    const count = async (world: CasesWorld) =>
      (await world.deps.store.read.selectFrom('decision_history').select('seq').where('via', '=', 'request').execute())
        .length;
    const access = await ready('access');
    await answer(access.world, access.caseId, { disclosure: 'full' });
    expect(await count(access.world)).toBe(0);
    const unknown = await ready('opt-out', 'nobody');
    await answer(unknown.world, unknown.caseId, { disclosure: 'no-match' });
    expect(await count(unknown.world)).toBe(0);
    const refused = await ready('objection');
    const parts = [{ what: 'objection', outcome: 'refused', ground: 'GDPR Art. 21(1): legal claims' }];
    expect(await answer(refused.world, refused.caseId, { parts })).toMatchObject({ outcome: 'moved' });
    expect(await count(refused.world)).toBe(0);
  });

  it('must not have a time later than itself, or purposes if nothing ends', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    expect(
      await answer(world, caseId, { at: '2026-07-02T12:00:00Z', effectiveAt: '2026-07-02T13:00:00Z' }),
    ).toMatchObject({ outcome: 'refused' });
    const access = await ready('access');
    expect(await answer(access.world, access.caseId, { disclosure: 'full', purposes: ['marketing'] })).toMatchObject({
      outcome: 'refused',
    });
  });

  it('is recorded completely or not at all when two officers answer at once', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    const answers = await Promise.all([
      answer(world, caseId, { purposes: ['marketing'] }, 'olga'),
      answer(world, caseId, {}, 'omar'),
      answer(world, caseId, {}, 'omar'),
    ]);
    const winner = answers[0]?.outcome === 'moved' ? 'olga' : 'omar';
    expect(answers.map(({ outcome }) => outcome)).toEqual(
      winner === 'olga' ? ['moved', 'conflict', 'conflict'] : ['conflict', 'moved', 'moved'],
    );
    const actors = await world.deps.store.read
      .selectFrom('action_history')
      .select('actor')
      .where('action', '=', 'consent.withdrawn-by-request')
      .execute();
    expect(actors).toEqual([{ actor: winner }, { actor: winner }]);
  });

  it('counts neither as undelivered nor as missing from the log', async () => {
    const { world, caseId } = await ready('withdraw-consent');
    await answer(world, caseId);
    const history = createHistory(world.deps.store.read);
    expect(await history.disagreement([period.source], period)).toEqual({ onlyPulled: 0, conflicting: 0 });
    const banners = await history.reconciliationByBanner(period);
    expect(banners.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(3);
    expect((await history.undelivered(period, 10)).stretches).toBe(0);
  });

  it('flags consent recorded afterwards, except purposes already withdrawn or kept', async () => {
    const { world, caseId } = await ready('opt-out');
    await answer(world, caseId, { purposes: ['marketing'] });
    const later = (hour: number) => `2026-07-03T${hour}:00:00.000Z`;
    await record(
      world,
      consent('r7', 'b1', later(10), { purposes: { analytics: 'granted', marketing: 'denied' } }),
      consent('r8', 'b1', later(11)),
      consent('r9', 'b1', '2026-05-20T10:00:00.000Z'),
      consent('r10', 'b1', later(12), { subject: 'somebody-else' }),
    );
    const history = createHistory(world.deps.store.read);
    const found = await history.consentsAfterWithdrawal({ source: 'acme', asOf: 1_000, caseId });
    expect(found).toMatchObject([
      { caseId, subject: 'visitor-7', bannerId: 'b1', at: later(11), purposes: ['marketing'] },
    ]);
    expect(await history.consentsAfterWithdrawal({ asOf: 1_000, from: later(12) })).toEqual([]);
    // Today selects by the time of receipt, whatever time the decision states.
    const { received_at: receivedFrom } = await world.deps.store.read
      .selectFrom('decision_history')
      .select('received_at')
      .where('record_id', '=', 'r8')
      .executeTakeFirstOrThrow();
    expect(await history.consentsAfterWithdrawal({ asOf: 1_000, receivedFrom })).toEqual(found);
    const after = new Date(Date.parse(receivedFrom) + 1).toISOString();
    expect(await history.consentsAfterWithdrawal({ asOf: 1_000, receivedFrom: after })).toEqual([]);
  });

  it('flags consent even if only a further record says whose it is, or what was chosen', async () => {
    const { world, caseId } = await ready('opt-out');
    await answer(world, caseId, { purposes: ['marketing'] });
    const later = (hour: number) => `2026-07-03T${hour}:00:00.000Z`;
    await record(
      world,
      consent('r7', 'b1', later(10), { subject: null }),
      consent('r8', 'b1', later(11), { state: 'unknown', purposes: {} }),
      consent('r9', 'b1', later(12), { subject: null }),
    );
    const history = createHistory(world.deps.store.read);
    expect(await history.consentsAfterWithdrawal({ asOf: 1_000 })).toEqual([]);
    await record(
      world,
      consent('r7', 'b1', later(10)),
      consent('r8', 'b1', later(11)),
      consent('r9', 'b1', later(12), { subject: 'somebody-else' }),
    );
    expect(await history.consentsAfterWithdrawal({ asOf: 1_000 })).toMatchObject([
      { caseId, subject: 'visitor-7', at: later(10), purposes: ['marketing'] },
      { caseId, subject: 'visitor-7', at: later(11), purposes: ['marketing'] },
    ]);
    const latest = await history.latestDecisionsOf('acme', ['visitor-7'], 2);
    expect(latest.map(({ record_id }) => record_id)).toEqual(['r8', 'r7']);
    const shown = await showCase(world.deps, caseId, later(13));
    expect(shown?.consentAfter).toHaveLength(2);
  });
});
