import { describe, expect, it } from 'vitest';
import { checkMove } from '../../src/cases/check-move.ts';
import type { CaseRow } from '../../src/cases/fold.ts';
import { openCaseFromRequest, rebuildCase } from '../../src/cases/fold.ts';
import { parseFolded } from '../../src/cases/folded.ts';
import type { Match } from '../../src/cases/match-subject.ts';
import { readMove } from '../../src/cases/moves.ts';
import { caseReadiness, disclosureOf } from '../../src/cases/readiness.ts';
import { summariseCase } from '../../src/cases/summarise.ts';
import { takesEffect } from '../../src/cases/withdrawal.ts';
import { moved, openedCase, profile, request, view } from './world.ts';

const match: Match = { status: 'computed', subjects: ['abc'], decisions: 3, says: 'Computed.' };
const american = profile({ country: 'US', region: 'NY', otherSystems: [] });
const german = profile({ otherSystems: [] });
const both = () => openedCase({ kind: 'erasure', furtherKinds: ['access'] });

function problems(row: CaseRow, move: string, details: Record<string, unknown> = {}, of = german): readonly string[] {
  const read = readMove(move, details);
  if (read.outcome === 'refused') return read.problems;
  const now = '2026-07-03T09:00:00.000Z';
  const context = { profile: of, timeZone: 'Europe/Berlin', now, match, actor: 'Ann (p-0000000a)' };
  return checkMove(view(row, { profile: of, now }), read.checked, { ...context, approvalOutdated: false });
}
const settle = (kind: string, outcome = 'done', more: object = {}) =>
  ['settle-part', { kind, outcome, ...more }] as const;
const answer = { channel: 'mail', disclosure: 'full' };

describe('a request for several rights', () => {
  it('is one case with a part for each right, and one for a single right has none', () => {
    expect(view(both())).toMatchObject({
      kind: 'erasure',
      kinds: ['erasure', 'access'],
      parts: [
        { kind: 'erasure', outcome: null },
        { kind: 'access', outcome: null },
      ],
    });
    expect(view(openedCase())).toMatchObject({ kinds: ['access'], parts: [] });
    expect(openedCase().folded).not.toContain('parts');
  });

  it('is the same case when it is rebuilt from its history, as documents do', () => {
    const entry = { seq: 7, source: 'acme', receivedAt: '2026-07-01T14:03:00.000Z' };
    const opened = openCaseFromRequest(request({ kind: 'erasure', furtherKinds: ['access'] }), entry);
    expect(rebuildCase([opened.history])).toEqual(opened.row);
  });

  it('is neither ready nor answered before something is recorded about each part', () => {
    const started = moved(both(), ['start']);
    expect(problems(started, 'mark-ready').join()).toMatch(/erasure.*access/);
    const half = moved(started, settle('erasure', 'refused', { ground: 'Art. 17(3)(b) GDPR' }));
    expect(problems(half, 'mark-ready')).toEqual([
      'Several rights are requested. Record what was done about this one: access.',
    ]);
    const done = moved(half, settle('access'));
    expect(problems(done, 'mark-ready')).toEqual([]);
    expect(problems(moved(done, ['mark-ready']), 'answer', answer)).toEqual([]);
    expect(summariseCase(view(done)).parts).toMatchObject([
      { kind: 'erasure', outcome: 'refused', ground: 'Art. 17(3)(b) GDPR', by: 'officer@acme.example' },
      { kind: 'access', outcome: 'done', legalLimit: '2026-08-03' },
    ]);
  });

  it('has to state why a part was refused, and has only the parts that were requested', () => {
    expect(problems(both(), 'settle-part', { kind: 'access', outcome: 'refused' }).join()).toContain('ground');
    expect(problems(both(), 'settle-part', { kind: 'limit', outcome: 'done' }).join()).toContain(
      'no part of this kind',
    );
    expect(problems(openedCase(), 'settle-part', { kind: 'access', outcome: 'done' }).join()).toContain('it has none');
    expect(view(openedCase()).moves).not.toContain('settle-part');
    expect(view(both()).moves).toContain('settle-part');
  });

  it('is answered with a copy if one is asked for, whatever its main kind, unless that part is refused', () => {
    expect(disclosureOf(view(both()), match)).toBe('full');
    const refused = moved(both(), settle('access', 'refused', { ground: 'Art. 12(5) GDPR' }));
    expect(disclosureOf(view(refused), match)).toBe('categories-only');
  });

  it('keeps an unclear part until an officer has read it', () => {
    const row = moved(openedCase({ kind: 'erasure', furtherKinds: ['unknown'] }), ['start'], settle('erasure'));
    expect(problems(row, 'mark-ready').join()).toContain('A part of the request is unclear');
    const amended = moved(row, ['amend', { furtherKinds: ['access'], reason: 'read' }]);
    expect(view(amended).parts).toMatchObject([
      { kind: 'erasure', outcome: 'done' },
      { kind: 'access', outcome: null },
    ]);
    const single = moved(row, ['amend', { furtherKinds: [], reason: 'read' }]);
    expect(view(single)).toMatchObject({ kind: 'erasure', kinds: ['erasure'], parts: [] });
  });

  it('can be found by an officer who reads a message, and a corrected kind replaces the main one', () => {
    const several = moved(openedCase(), ['amend', { furtherKinds: ['opt-out'], reason: 'see the message' }]);
    expect(several.kind).toBe('opt-out');
    expect(view(several).kinds).toEqual(['opt-out', 'access']);
    const corrected = moved(both(), ['amend', { kind: 'rectification', reason: 'misread' }]);
    expect(view(corrected).kinds).toEqual(['rectification', 'access']);
  });
});

describe('the deadline of a request for several rights', () => {
  const row = openedCase({ kind: 'opt-out', furtherKinds: ['erasure'], jurisdiction: 'US-CA' });
  const of = (one: CaseRow) => view(one, { profile: american });

  it('is the earliest of the parts that are still open', () => {
    const [optOut, erasure] = [
      view(openedCase({ kind: 'opt-out', jurisdiction: 'US-CA' }), { profile: american }).deadline.limit,
      view(openedCase({ kind: 'erasure', jurisdiction: 'US-CA' }), { profile: american }).deadline.limit,
    ];
    expect(of(row).deadline.limit).toBe(optOut);
    expect(of(moved(row, settle('opt-out'))).deadline.limit).toBe(erasure);
    expect(of(row).parts.map(({ deadline }) => deadline.limit)).toEqual([optOut, erasure]);
  });

  it('is the latest of all once something is recorded about each, when only the answer has to be sent', () => {
    const done = moved(row, settle('opt-out'), settle('erasure'));
    expect(of(done).deadline.limit).toBe(of(row).parts[1]?.deadline.limit);
  });

  it('is the shortest of all while a part is unclear', () => {
    const unclear = openedCase({ kind: 'erasure', furtherKinds: ['unknown'], jurisdiction: 'US-CA' });
    expect(of(unclear).deadline.limit).toBe(of(row).deadline.limit);
  });
});

describe('the identity check of a request for several rights', () => {
  const row = openedCase({ kind: 'opt-out', furtherKinds: ['erasure'], jurisdiction: 'US-CA' });

  it('never delays a part that must not depend on it, and protects the others', () => {
    expect(problems(row, 'settle-part', { kind: 'opt-out', outcome: 'done' }, american)).toEqual([]);
    expect(problems(row, 'settle-part', { kind: 'erasure', outcome: 'done' }, american).join()).toContain('identity');
    const refusal = { kind: 'erasure', outcome: 'refused', ground: '11 CCR 7062' };
    expect(problems(row, 'settle-part', refusal, american)).toEqual([]);
    const confirmed = moved(row, ['confirm-identity', { how: 'signed in' }]);
    expect(problems(confirmed, 'settle-part', { kind: 'erasure', outcome: 'done' }, american)).toEqual([]);
  });

  it('is asked for while a part that requires it is open', () => {
    expect(view(row, { profile: american }).identity).toBe('needed');
    const left = moved(row, settle('erasure', 'refused', { ground: '11 CCR 7062' }));
    expect(view(left, { profile: american }).identity).toBe('met');
    const done = moved(left, ['start'], settle('opt-out'));
    expect(problems(done, 'mark-ready', {}, american)).toEqual([]);
    const ground = { ground: '11 CCR 7062' };
    const refused = moved(
      openedCase({ kind: 'erasure', furtherKinds: ['access'], jurisdiction: 'US-CA' }),
      ['start'],
      settle('erasure', 'refused', ground),
      settle('access', 'refused', ground),
    );
    expect(problems(refused, 'mark-ready', {}, american)).toEqual([]);
  });
});

describe('consent in a request for several rights', () => {
  const row = openedCase({ kind: 'withdraw-consent', furtherKinds: ['access'] });
  const details = { channel: 'mail', disclosure: 'full' as const };

  it('ends with the answer unless that part was refused, and a withdrawal cannot be refused', () => {
    expect(takesEffect(row, match, details)).toBe(true);
    expect(
      problems(row, 'settle-part', { kind: 'withdraw-consent', outcome: 'refused', ground: 'x' }).join(),
    ).toContain('cannot be refused');
    expect(problems(row, 'refuse', { reasons: 'x', basis: 'x', remedies: 'x' }).join()).toContain('cannot be refused');
    const objection = openedCase({ kind: 'objection', furtherKinds: ['access'] });
    const refused = moved(objection, settle('objection', 'refused', { ground: 'Art. 21(1) GDPR' }));
    expect(takesEffect(objection, match, details)).toBe(true);
    expect(takesEffect(refused, match, details)).toBe(false);
  });

  it('is not withdrawn by a part that is unclear', () => {
    expect(takesEffect(openedCase({ kind: 'erasure', furtherKinds: ['unknown'] }), match, details)).toBe(false);
  });
});

it('a request of which a part was granted is answered, not refused', () => {
  const row = moved(both(), settle('access'));
  expect(problems(row, 'refuse', { reasons: 'x', basis: 'x', remedies: 'x' }).join()).toContain('were granted');
  expect(problems(both(), 'refuse', { reasons: 'x', basis: 'x', remedies: 'x' })).toEqual([]);
});

it('readiness names every part, and nothing about parts of a request for one right', () => {
  const codes = (one: CaseRow) => caseReadiness(view(one, { profile: german }), german).lacks.map(({ code }) => code);
  expect(codes(both()).filter((code) => code === 'part')).toHaveLength(2);
  expect(codes(openedCase())).not.toContain('part');
  expect(parseFolded(both().folded).parts).toHaveLength(2);
});
