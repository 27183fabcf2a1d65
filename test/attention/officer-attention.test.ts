import { describe, expect, it } from 'vitest';
import { describeAttention, isGap, loadOfficerAttention } from '../../src/attention/officer-attention.ts';
import { listCases } from '../../src/cases/list-cases.ts';
import type { Match } from '../../src/cases/match-subject.ts';
import { moveCase, openCase } from '../../src/cases/move-case.ts';
import { nextGeneration } from '../../src/projections/position.ts';
import { createCasesWorld, openedCase, profile, request, view } from '../cases/world.ts';

const found: Match = { status: 'from-device', subjects: ['v'], decisions: 2, says: '' };
const agreed = { undelivered: 0, contradicting: 0 };
const none: Match = { status: 'none', subjects: [], decisions: 0, says: '' };
/** A German access request is due on 3 August, a Californian opt-out on 23 July, of 1 July 2026. */
const german = (now: string) => view(openedCase(request()), { now });
const optOut = (now: string) => view(openedCase(request({ kind: 'opt-out', jurisdiction: 'US-CA' })), { now });
const unclear = (now: string) => view(openedCase(request({ kind: 'unknown', kindAsGiven: 'frobnicate' })), { now });

describe('the sentence about what needs attention', () => {
  it('says if nothing does', () => {
    expect(describeAttention([], { gaps: 0, agreement: agreed })).toBe('No open requests');
    expect(describeAttention([], { gaps: 1, agreement: agreed })).toBe('No open requests · 1 gap');
  });

  it('says how many decisions arrived through the consent log only, and how many records contradict each other', () => {
    expect(describeAttention([], { gaps: 0, agreement: { undelivered: 18, contradicting: 8 } })).toBe(
      'No open requests · 18 decisions never delivered · 8 contradictory decisions',
    );
    expect(describeAttention([], { gaps: 2, agreement: { undelivered: 1, contradicting: 0 } })).toBe(
      'No open requests · 2 gaps · 1 decision never delivered',
    );
  });

  it('says in how many cases consent was recorded after it had been withdrawn by request', () => {
    expect(describeAttention([], { gaps: 0, agreement: agreed, consentAfter: 1 })).toBe(
      'No open requests · consent after withdrawal in 1 case',
    );
  });

  it('says on how many sites something was set before consent, and how many integrations are disconnected', () => {
    const site = { source: 'default', site: 'shop.example', found: 2, seq: 4, at: '2026-07-01T00:00:00.000Z' };
    expect(
      describeAttention([], { gaps: 0, agreement: agreed, scans: { beforeConsent: [site], integrations: [] } }),
    ).toBe('No open requests · cookies set before consent on 1 site');
  });

  it('counts requests that are due soon, overdue, unmatched, opt-outs or unclear', () => {
    const now = '2026-07-30T09:00:00.000Z';
    const requests = [german(now), optOut(now), unclear(now)].map((one, place) => ({
      view: one,
      match: place === 0 ? found : none,
    }));
    expect(describeAttention(requests, { gaps: 2, agreement: agreed })).toBe(
      '3 requests: 1 overdue, 2 due in 4 days, 2 unmatched, 1 opt-out, 1 unclear · 2 gaps',
    );
    expect(describeAttention(requests.slice(0, 1), { gaps: 0, agreement: agreed })).toBe('1 request: 1 due in 4 days');
  });

  it('counts the requests whose place an officer has to choose', () => {
    const lost = view(openedCase(request({ jurisdiction: 'Xyz' })), { now: '2026-07-03T09:00:00.000Z' });
    expect(describeAttention([{ view: lost, match: found }], { gaps: 0, agreement: agreed })).toBe(
      '1 request: 1 without a place',
    );
  });

  it('counts the requests under a law that is not recorded, with a date of another law or without one', () => {
    const now = '2026-07-03T09:00:00.000Z';
    const mongolian = openedCase(request({ jurisdiction: 'MN' }));
    expect(describeAttention([{ view: view(mongolian, { now }), match: found }], { gaps: 0, agreement: agreed })).toBe(
      '1 request: 1 under a law that is not recorded',
    );
    const american = profile({ country: 'US', region: 'NY' });
    expect(
      describeAttention([{ view: view(mongolian, { now, profile: american }), match: found }], {
        gaps: 0,
        agreement: agreed,
      }),
    ).toBe('1 request: 1 without a date, 1 under a law that is not recorded');
  });

  it('counts a request without a known due date', () => {
    const now = '2026-07-03T09:00:00.000Z';
    const american = profile({ country: 'US', region: 'NY' });
    const lost = view(openedCase(request({ jurisdiction: null })), { now, profile: american });
    expect(describeAttention([{ view: lost, match: found }], { gaps: 0, agreement: agreed })).toBe(
      '1 request: 1 without a date, 1 without a place',
    );
  });

  it('says today on the due day, and omits distant dates', () => {
    expect(
      describeAttention([{ view: german('2026-08-03T09:00:00.000Z'), match: found }], { gaps: 0, agreement: agreed }),
    ).toBe('1 request: 1 due today');
    expect(
      describeAttention([{ view: german('2026-08-02T09:00:00.000Z'), match: found }], { gaps: 0, agreement: agreed }),
    ).toBe('1 request: 1 due in 1 day');
    expect(
      describeAttention([{ view: german('2026-07-03T09:00:00.000Z'), match: found }], { gaps: 0, agreement: agreed }),
    ).toBe('1 request');
    const two = [german('2026-07-30T09:00:00.000Z'), german('2026-08-01T09:00:00.000Z')].map((one) => ({
      view: one,
      match: found,
    }));
    expect(describeAttention(two, { gaps: 0, agreement: agreed })).toBe('2 requests: 2 due within 4 days');
  });
});

describe('gathering what needs attention', () => {
  it('keeps the order of the requests, each with its match', async () => {
    const world = await createCasesWorld();
    for (let day = 10; day < 20; day += 1)
      await openCase(world.deps, {
        source: 'acme',
        actor: 'olga',
        kind: 'access',
        channel: 'letter',
        jurisdiction: 'DE',
        receivedAt: `2026-06-${day}T10:00:00Z`,
        requesterName: `Nr ${day}`,
      });
    await world.catchUp();
    const { clock } = world.deps;
    const { requests, sentence } = await loadOfficerAttention({ cases: world.deps, clock, followed: [], pulled: [] });
    expect(requests.map(({ view: { row } }) => row.requester_name)).toEqual(
      Array.from({ length: 10 }, (_, nth) => `Nr ${nth + 10}`),
    );
    expect(requests.every(({ match }) => match?.status === 'none')).toBe(true);
    expect(sentence).toMatch(/^10 requests: .*10 unmatched/);
    const other = await loadOfficerAttention({ cases: world.deps, clock, followed: [], pulled: [] }, ['other']);
    expect(other.sentence).toBe('No open requests');
  });

  it('counts the unmatched only among the first due if there are many requests', async () => {
    const world = await createCasesWorld();
    for (let n = 0; n < 52; n += 1) {
      const opening = { actor: 'olga', kind: 'access', channel: 'letter', jurisdiction: 'DE' } as const;
      const receivedAt = `2026-06-10T10:00:${String(n).padStart(2, '0')}Z`;
      await openCase(world.deps, { ...opening, source: 'acme', receivedAt, requesterName: `Nr ${n}` });
    }
    await world.catchUp();
    const { clock } = world.deps;
    const { requests, sentence } = await loadOfficerAttention({ cases: world.deps, clock, followed: [], pulled: [] });
    expect(requests.filter(({ match }) => match !== undefined)).toHaveLength(40);
    expect(sentence).toMatch(/^52 requests: .*40 unmatched among the first 40/);
  });

  it('updates the days left on the next day, and shows changes at once', async () => {
    const world = await createCasesWorld();
    const opening = { actor: 'olga', kind: 'access', channel: 'letter', jurisdiction: 'DE' } as const;
    await openCase(world.deps, {
      ...opening,
      source: 'acme',
      receivedAt: '2026-06-10T10:00:00Z',
      requesterName: 'Ada',
    });
    await world.catchUp();
    const list = async (now: string) => (await listCases(world.deps, { open: true, now }))[0];
    const first = await list('2026-06-20T21:59:59Z');
    expect((await list('2026-06-20T21:00:00Z'))?.daysLeft).toBe(first?.daysLeft);
    expect((await list('2026-06-21T10:00:00Z'))?.daysLeft).toBe((first?.daysLeft ?? 0) - 1);
    // An erasure or a rebuild changes rows without a move, and begins a new generation.
    await world.store.foldTransaction(async (tx) => {
      await tx.query.updateTable('cases').set({ requester_name: null }).execute();
      await nextGeneration(tx, 'projector');
    });
    expect((await list('2026-06-21T10:00:00Z'))?.row.requester_name).toBeNull();
  });

  it('is the same list until a case is opened, moved or settled, and then has each change', async () => {
    const world = await createCasesWorld();
    const opening = { actor: 'olga', kind: 'access', channel: 'letter', jurisdiction: 'DE', source: 'acme' } as const;
    const open = async (day: number, requesterName: string) => {
      const opened = await openCase(world.deps, {
        ...opening,
        receivedAt: `2026-06-${day}T10:00:00Z`,
        requesterName,
      });
      await world.catchUp();
      return opened.outcome === 'opened' ? opened.caseId : '';
    };
    const move = async (caseId: string, name: string, details: Record<string, unknown>) => {
      const { version } = await world.store.read
        .selectFrom('cases')
        .select('version')
        .where('case_id', '=', caseId)
        .executeTakeFirstOrThrow();
      const moved = await moveCase(world.deps, { caseId, basedOn: version, move: name, details, actor: 'olga' });
      expect(moved.outcome).toBe('moved');
      await world.catchUp();
    };
    const now = '2026-06-25T10:00:00Z';
    const list = (filter: object = {}) => listCases(world.deps, { open: true, now, ...filter });
    const names = async (filter?: object) => (await list(filter)).map(({ row }) => row.requester_name);
    const late = await open(20, 'Late');
    expect(await names()).toEqual(['Late']);
    expect(await names({ state: 'opened' })).toEqual(['Late']);
    const before = await list();
    expect(await list()).toBe(before);
    const early = await open(10, 'Early');
    expect(await names()).toEqual(['Early', 'Late']);
    await move(late, 'amend', { requesterName: 'Later', reason: 'Wrong name' });
    expect(await names()).toEqual(['Early', 'Later']);
    await move(early, 'start', {});
    expect(await names({ state: 'opened' })).toEqual(['Later']);
    expect(await names({ state: 'in-progress' })).toEqual(['Early']);
    await move(early, 'withdraw', { at: '2026-06-24T10:00:00Z', how: 'By telephone' });
    expect(await names()).toEqual(['Later']);
    expect(await names({ source: 'other' })).toEqual([]);
  });

  it.each([
    ['up-to-date', null, false],
    ['dismissed', null, false],
    ['never-pulled', null, true],
    ['failing', null, true],
    ['interrupted', null, true],
    ['running', null, false],
    ['running', 'the first run has not finished', true],
  ] as const)('treats a banner that is %s (%s) as a gap: %s', (state, gap, expected) => {
    expect(isGap({ state, gap })).toBe(expected);
  });
});
