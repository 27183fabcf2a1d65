import { describe, expect, it } from 'vitest';
import { checkMove } from '../../src/cases/check-move.ts';
import { applyMove, type CaseRow } from '../../src/cases/fold.ts';
import type { Match } from '../../src/cases/match-subject.ts';
import { readMove } from '../../src/cases/moves.ts';
import { caseReadiness, disclosureOf } from '../../src/cases/readiness.ts';
import { identityCheckOf } from '../../src/cases/view.ts';
import { requestKinds } from '../../src/core/vocabulary.ts';
import type { ControllerProfile } from '../../src/law/profile.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
import { action, moved, openedCase, profile, view } from './world.ts';

const computed: Match = { status: 'computed', subjects: ['abc'], decisions: 3, says: 'Computed.' };
const none: Match = { status: 'none', subjects: [], decisions: 0, says: 'Nothing fits.' };
const shared: Match = { ...computed, status: 'shared' };

function problems(
  row: CaseRow,
  move: string,
  details: Record<string, unknown> = {},
  more: {
    match?: Match;
    profile?: ControllerProfile | null;
    now?: string;
    actor?: string;
    approvalOutdated?: boolean;
  } = {},
): readonly string[] {
  const read = readMove(move, details);
  if (read.outcome === 'refused') throw new Error(read.problems.join());
  const { now = '2026-07-03T09:00:00.000Z', match = computed } = more;
  const theProfile = more.profile === undefined ? profile() : more.profile;
  return checkMove(view(row, { profile: theProfile, now }), read.checked, {
    profile: theProfile,
    timeZone: 'Europe/Berlin',
    now,
    match,
    actor: more.actor ?? 'Ann (p-0000000a)',
    approvalOutdated: more.approvalOutdated ?? false,
  });
}

/** A controller whose country has no built-in law: the law of the requester's place applies. */
const american = profile({ country: 'US', region: 'NY' });
const inAmerica = { profile: american };
const searched: readonly (readonly [string, Record<string, unknown>])[] = [
  ['mark-system', { system: 'crm', result: 'nothing-found' }],
  ['mark-system', { system: 'shop', result: 'not-applicable' }],
];
const confirm = ['confirm-identity', { how: 'signed in' }] as const;
const answer = (disclosure: string) => ({ channel: 'mail', disclosure });

describe('the identity check', () => {
  it('needs a recorded doubt under the GDPR', () => {
    expect(problems(openedCase(), 'ask-identity', { asked: 'a copy' }).join()).toContain('doubt');
    expect(problems(openedCase(), 'ask-identity', { asked: 'a reply', doubt: 'unknown address' })).toEqual([]);
  });

  it('is forbidden in California for opt-out, limit and consent withdrawal', () => {
    for (const kind of ['opt-out', 'limit', 'withdraw-consent'] as const) {
      const row = openedCase({ kind, jurisdiction: 'US-CA' });
      expect(problems(row, 'ask-identity', { asked: 'a reply', doubt: 'x' }, inAmerica).join()).toContain(
        'must not depend',
      );
      expect(problems(row, 'confirm-identity', { how: 'x' }, inAmerica)).not.toEqual([]);
      expect(problems(row, 'fail-identity', { reason: 'x' }, inAmerica)).not.toEqual([]);
      expect(view(row, inAmerica).moves).not.toContain('ask-identity');
      // … and the case is ready without one.
      expect(problems(moved(row, ['start'], ...searched), 'mark-ready', {}, inAmerica)).toEqual([]);
    }
  });

  it('is required in California before an access or a deletion is answered', () => {
    for (const kind of ['access', 'erasure'] as const) {
      const row = moved(openedCase({ kind, jurisdiction: 'US-CA' }), ['start'], ...searched);
      expect(problems(row, 'mark-ready', {}, inAmerica).join()).toContain('identity check is required');
      expect(problems(moved(row, confirm), 'mark-ready', {}, inAmerica)).toEqual([]);
    }
  });

  it('that failed allows only categories in California, leads to a refusal under the GDPR, and never to a deletion', () => {
    const failed = ['fail-identity', { reason: 'no reply' }] as const;
    const at = (kind: 'access' | 'erasure', jurisdiction: string) =>
      moved(openedCase({ kind, jurisdiction }), failed, ...searched);
    expect(problems(at('access', 'US-CA'), 'mark-ready', {}, inAmerica)).toEqual([]);
    expect(
      problems(moved(at('access', 'US-CA'), ['mark-ready']), 'answer', answer('full'), inAmerica).join(),
    ).toContain('categories-only');
    expect(
      problems(moved(at('access', 'US-CA'), ['mark-ready']), 'answer', answer('categories-only'), inAmerica),
    ).toEqual([]);
    expect(problems(at('erasure', 'US-CA'), 'mark-ready', {}, inAmerica)).not.toEqual([]);
    expect(problems(at('access', 'DE'), 'mark-ready')).not.toEqual([]);
    // Under both laws the GDPR's refusal is the stricter.
    expect(problems(at('access', 'US-CA'), 'mark-ready')).not.toEqual([]);
  });

  it('made for one requester does not count for another who is entered instead', () => {
    const row = moved(openedCase({ jurisdiction: 'US-CA' }), confirm, ...searched, ['mark-ready']);
    expect(problems(row, 'answer', answer('full'), inAmerica)).toEqual([]);
    const swapped = moved(row, ['amend', { requesterEmail: 'eve@example.org', reason: 'typo' }]);
    expect(problems(swapped, 'answer', answer('full'), inAmerica)).not.toEqual([]);
    expect(disclosureOf(view(swapped, inAmerica), computed)).toBe('categories-only');
  });

  it('of a US law does not block a controller in the EU, but its ban binds where the GDPR merely allows a check', () => {
    const access = moved(openedCase({ jurisdiction: 'US-CA' }), ['start'], ...searched);
    expect(view(access).deadline.laws.map((law) => law.id)).toEqual(['eu-gdpr', 'us-ca']);
    expect(problems(access, 'mark-ready')).toEqual([]);
    expect(problems(access, 'ask-identity', { asked: 'a copy' }).join()).toContain('doubt');
    const optOut = openedCase({ kind: 'opt-out', jurisdiction: 'US-CA' });
    const doubt = { asked: 'a reply', doubt: 'sent from a known bot' };
    expect(problems(optOut, 'ask-identity', doubt).join()).toContain('must not depend');
    // A check requested before the bar was known is not waited for.
    expect(view(moved(optOut, ['ask-identity', doubt])).identity).toBe('met');
    expect(problems(openedCase({ kind: 'opt-out', jurisdiction: 'DE' }), 'ask-identity', doubt)).toEqual([]);
  });

  it('is not needed where somebody decided that there is no doubt, which is never taken for a check', () => {
    const row = openedCase({ jurisdiction: 'DE' });
    expect(identityCheckOf(view(row).folded, view(row).deadline)).toBe('not-looked-at');
    const decided = moved(row, ['no-doubt', { why: 'from the address on file' }]);
    const shown = view(decided);
    expect([identityCheckOf(shown.folded, shown.deadline), shown.identity, shown.moves.includes('no-doubt')]).toEqual([
      'no-doubt',
      'met',
      false,
    ]);
    expect(shown.folded.identity).toMatchObject({ how: null, checkedBy: expect.any(String) as string });
    // Somebody else's name or address is looked at again.
    const swapped = view(moved(decided, ['amend', { requesterEmail: 'eve@example.org', reason: 'typo' }]));
    expect(identityCheckOf(swapped.folded, swapped.deadline)).toBe('not-looked-at');
    // Where a law requires a check, or forbids one, there is nothing to decide.
    const california = openedCase({ jurisdiction: 'US-CA' });
    expect(problems(california, 'no-doubt', {}, inAmerica).join()).toContain('requires an identity check');
    expect(view(california, inAmerica).moves).not.toContain('no-doubt');
    const optOut = openedCase({ kind: 'opt-out', jurisdiction: 'US-CA' });
    expect(problems(optOut, 'no-doubt', {}, inAmerica).join()).toContain('must not depend');
    expect(identityCheckOf(view(optOut, inAmerica).folded, view(optOut, inAmerica).deadline)).toBe('not-allowed');
  });

  it('asks when the information came if the period runs from it', () => {
    const row = moved(openedCase({ jurisdiction: 'GB' }), ['ask-identity', { asked: 'a reply', doubt: 'x' }]);
    expect(problems(row, 'confirm-identity', { how: 'replied' }).join()).toContain(
      'when the identity information arrived',
    );
    expect(problems(row, 'confirm-identity', { how: 'replied', informationAt: '2026-07-03T08:00:00Z' })).toEqual([]);
  });

  it('applies to every kind and law: nothing specific is disclosed without it, and nothing is asked where it is forbidden', () => {
    const table = createRegimeTable();
    for (const regime of table.regimes.values()) {
      for (const kind of requestKinds) {
        for (const move of [null, ['fail-identity', { reason: 'no reply' }] as const]) {
          const opened = openedCase({ kind, jurisdiction: regime.jurisdictions[0] ?? null });
          const shown = view(move === null ? opened : moved(opened, move), inAmerica);
          const rule = shown.deadline.identity.rule;
          const unmet = rule !== 'forbidden' && (move !== null || rule === 'required');
          if (unmet) expect(disclosureOf(shown, computed), `${regime.id} ${kind}`).toBe('categories-only');
          if (unmet && kind === 'erasure')
            expect(caseReadiness(shown, profile({ otherSystems: [] }), computed).ready).toBe(false);
          expect(shown.moves.includes('ask-identity')).toBe(rule !== 'forbidden');
        }
      }
    }
  });
});

describe('the disclosure allowed in an answer', () => {
  it('is full for a matched subject who asks for a copy, and never for a shared address', () => {
    expect(disclosureOf(view(openedCase()), computed)).toBe('full');
    expect(disclosureOf(view(openedCase({ kind: 'portability' })), { ...computed, status: 'from-device' })).toBe(
      'full',
    );
    expect(disclosureOf(view(openedCase()), shared)).toBe('no-match');
    expect(disclosureOf(view(openedCase()), none)).toBe('no-match');
  });

  it('does not count as a copy when the request asks for none: an opt-out without identity check discloses nothing', () => {
    expect(disclosureOf(view(openedCase({ kind: 'opt-out', jurisdiction: 'US-CA' }), inAmerica), computed)).toBe(
      'categories-only',
    );
    expect(disclosureOf(view(openedCase({ kind: 'unknown' })), computed)).toBe('categories-only');
  });

  it('is checked again when it is sent', () => {
    const row = moved(openedCase(), ['start'], ...searched, ['mark-ready']);
    expect(problems(row, 'answer', answer('full'))).toEqual([]);
    expect(problems(row, 'answer', answer('full'), { match: none }).join()).toContain('no-match');
    expect(problems(row, 'answer', answer('no-match'), { match: none })).toEqual([]);
  });
});

describe('a withdrawal of consent', () => {
  const refusal = { reasons: 'x', basis: 'y', remedies: 'z' };
  const readyToAnswer = (more: Parameters<typeof openedCase>[0]) =>
    moved(openedCase({ kind: 'withdraw-consent', ...more }), ...searched, ['start'], ['mark-ready']);
  const parts = (...outcomes: readonly string[]) => ({
    ...answer('categories-only'),
    parts: outcomes.map((outcome, place) => ({ what: `part ${place}`, outcome, ground: 'none' })),
  });

  it('cannot be refused, wholly or in part, under a law that leaves no ground for it', () => {
    for (const jurisdiction of ['DE', 'GB', 'BR']) {
      const more = { profile: profile({ country: jurisdiction, region: null }) };
      const row = readyToAnswer({ jurisdiction });
      const why = [expect.stringMatching(/^This kind of request cannot be refused \(.+\): write/)];
      expect(problems(row, 'refuse', refusal, more), jurisdiction).toEqual(why);
      expect(problems(row, 'answer', parts('refused', 'refused'), more), jurisdiction).toEqual(why);
      expect(problems(row, 'answer', parts('refused', 'done'), more), jurisdiction).toEqual([]);
      expect(view(row, more).moves, jurisdiction).not.toContain('refuse');
    }
    expect(
      problems(openedCase({ kind: 'withdraw-consent', jurisdiction: 'US-CT' }), 'refuse', refusal, inAmerica),
    ).toEqual([]);
    const canadian = { profile: profile({ country: 'CA', region: 'ON' }) };
    expect(
      problems(openedCase({ kind: 'withdraw-consent', jurisdiction: 'CA-ON' }), 'refuse', refusal, canadian),
    ).toEqual([]);
    expect(problems(openedCase({ kind: 'objection' }), 'refuse', refusal)).toEqual([]);
    expect(problems(openedCase({ kind: 'unknown' }), 'refuse', refusal)).toEqual([]);
  });

  it('is answered even if the identity could not be confirmed, without any data', () => {
    const row = moved(
      readyToAnswer({}),
      ['rework', { reason: 'x' }],
      ['ask-identity', { asked: 'a reply', doubt: 'x' }],
      ['fail-identity', { reason: 'no reply' }],
      ['mark-ready'],
    );
    expect(caseReadiness(view(row), profile(), computed).lacks).toContainEqual({
      ...{ code: 'identity', blocking: false },
      text: 'The identity could not be confirmed: the request still takes effect; the answer must not contain data.',
    });
    expect(problems(row, 'answer', answer('categories-only'))).toEqual([]);
    expect(problems(row, 'answer', answer('full'))).not.toEqual([]);
  });

  it('that is an objection says why purposes and time do not fit an answer that refuses every part', () => {
    const row = moved(openedCase({ kind: 'objection' }), ...searched, ['start'], ['mark-ready']);
    const effectiveAt = '2026-07-02T09:00:00.000Z';
    expect(problems(row, 'answer', { ...parts('refused'), effectiveAt })).toEqual([
      'leave out purposes and effectiveAt: every part is refused, so no consent ends',
    ]);
  });
});

describe('a case can be marked ready', () => {
  it('only if every other system is marked', () => {
    const row = moved(openedCase(), ['start']);
    expect(problems(row, 'mark-ready').join()).toMatch(/CRM.*Shop/);
    expect(problems(moved(row, ...searched), 'mark-ready')).toEqual([]);
    expect(problems(row, 'mark-system', { system: 'unheard-of', result: 'attached' })).not.toEqual([]);
  });

  it('only if the kind of request is settled and there is a controller profile', () => {
    const row = moved(openedCase({ kind: 'unknown' }), ['start'], ...searched);
    expect(problems(row, 'mark-ready').join()).toContain('is unclear');
    expect(problems(moved(openedCase(), ['start']), 'mark-ready', {}, { profile: null }).join()).toContain('profile');
  });

  it('only once the place is chosen, if the law depends on it', () => {
    const row = moved(openedCase({ jurisdiction: null }), ['start'], confirm, ...searched);
    expect(view(row, inAmerica).deadline.limit).toBeNull();
    expect(problems(row, 'mark-ready', {}, inAmerica).join()).toContain('choose the place now');
    expect(problems(row, 'mark-ready')).toEqual([]);
  });

  it('only once a place is chosen instead of one that is not in the list, and says so once', () => {
    const row = moved(openedCase({ jurisdiction: 'Xyz' }), ['start'], confirm, ...searched);
    const said = problems(row, 'mark-ready');
    expect(said).toHaveLength(1);
    expect(said.join()).toContain('was given as “Xyz”, which is not a known place: choose it.');
    expect(view(row, {}).deadline.says.filter((text) => text.includes('place'))).toHaveLength(1);
  });

  it('despite missing parts of the profile, a missing match or a passed limit, which it names', () => {
    const late = view(openedCase(), { now: '2026-08-04T09:00:00.000Z' });
    expect([late.overdue, late.daysLeft]).toEqual([true, -1]);
    const { lacks } = caseReadiness(late, profile(), none);
    expect(lacks.filter((lack) => lack.code === 'profile-part').length).toBeGreaterThan(5);
    expect(
      lacks.filter((lack) => ['profile-part', 'match', 'deadline'].includes(lack.code)).every((lack) => !lack.blocking),
    ).toBe(true);
    expect(lacks.map((lack) => lack.code)).toEqual(expect.arrayContaining(['match', 'deadline']));
  });

  it('and reminds the officer to confirm receipt if the law requires it', () => {
    const row = openedCase({ jurisdiction: 'US-CA' });
    const codes = (shown: CaseRow) =>
      caseReadiness(view(shown, inAmerica), american, computed).lacks.map((lack) => lack.code);
    expect(codes(row)).toContain('acknowledgement');
    expect(codes(moved(row, ['acknowledge']))).not.toContain('acknowledgement');
    // It can still be confirmed once after the work has begun.
    expect(problems(moved(row, ['start']), 'acknowledge')).toEqual([]);
    expect(problems(moved(row, ['start'], ['acknowledge']), 'acknowledge')).not.toEqual([]);
  });
});

describe('the extension', () => {
  it('must be sent within the first period, only once, and only if the law provides it', () => {
    const row = openedCase();
    expect(problems(row, 'extend', { reasons: 'many records' })).toEqual([]);
    // The month ends on Saturday 1 August 2026, so Monday 3 August is the last day.
    expect(problems(row, 'extend', { reasons: 'many' }, { now: '2026-08-03T20:00:00.000Z' })).toEqual([]);
    expect(problems(row, 'extend', { reasons: 'many' }, { now: '2026-08-04T09:00:00.000Z' }).join()).toContain(
      '3 Aug 2026',
    );
    expect(problems(moved(row, ['extend', { reasons: 'many' }]), 'extend', { reasons: 'more' })).not.toEqual([]);
    expect(
      problems(openedCase({ jurisdiction: 'US-CA', kind: 'opt-out' }), 'extend', { reasons: 'many' }, inAmerica),
    ).not.toEqual([]);
    expect(view(moved(row, ['extend', { reasons: 'many' }])).deadline.limit).toBe('2026-10-01');
  });
});

describe('a processor', () => {
  const processor = profile({ role: 'processor', otherSystems: [] });
  it('must name who approved refusal, extension and release for the controller', () => {
    const row = moved(openedCase(), ['start'], ['mark-ready']);
    for (const [move, details] of [
      ['answer', answer('full')],
      ['refuse', { reasons: 'x', basis: 'Art. 12(5)', remedies: 'told' }],
      ['extend', { reasons: 'x' }],
    ] as const) {
      expect(problems(row, move, details, { profile: processor }).join(), move).toContain('approved');
      expect(problems(row, move, { ...details, approvedBy: 'C. Ontroller' }, { profile: processor }), move).toEqual([]);
    }
  });
});

describe('dates', () => {
  it('must not lie in the future or before the receipt', () => {
    const row = openedCase();
    expect(problems(row, 'acknowledge', { at: '2026-07-02T09:00:00Z' })).toEqual([]);
    expect(problems(row, 'acknowledge', { at: '2026-07-04T09:00:00Z' }).join()).toContain('future');
    expect(problems(row, 'acknowledge', { at: '2026-06-30T09:00:00Z' }).join()).toContain('before the receipt');
    expect(problems(row, 'amend', { receivedAt: '2026-07-02T09:00:00Z', reason: 'x' }).join()).toContain('earlier');
    expect(problems(row, 'amend', { receivedAt: '2026-06-20T09:00:00Z', reason: 'x' })).toEqual([]);
  });
});

describe('a controller that requires a second person', () => {
  const wants = profile({ secondPersonFor: ['refuse', 'answer'] });
  const refusal = { reasons: 'manifestly unfounded', basis: 'GDPR Art. 12(5)', remedies: 'told' };
  const approvedBy = (actor: string, of = 'refuse', row = openedCase()): CaseRow => {
    const outcome = applyMove(
      row,
      { ...action(row, 'approve', { of }), actor },
      { seq: 8, source: row.source, receivedAt: '2026-07-02T09:00:00.000Z' },
    );
    if (outcome.outcome === 'refused') throw new Error(outcome.reason);
    return outcome.row;
  };
  const refusing = (row: CaseRow, actor: string, approvalOutdated = false) =>
    problems(row, 'refuse', refusal, { profile: wants, actor, approvalOutdated }).filter((one) =>
      /second person|yourself|two accounts/.test(one),
    );

  it('does not allow a refusal before another account approved it, or by the approver alone', () => {
    expect(refusing(openedCase(), 'Ann (p-0000000a)')).toEqual([expect.stringContaining('second person')]);
    expect(refusing(approvedBy('Bob (p-0000000b)'), 'Ann (p-0000000a)')).toEqual([]);
    expect(refusing(approvedBy('Ann (p-0000000a)'), 'Ann (p-0000000a)')).toEqual([expect.stringContaining('yourself')]);
    expect(refusing(approvedBy('Ann (p-0000000a)'), 'Ann (p-0000000a) by token t-00000001')).toEqual([
      expect.stringContaining('yourself'),
    ]);
    expect(refusing(approvedBy('Bob (p-0000000b)', 'answer'), 'Ann (p-0000000a)')).toHaveLength(1);
    expect(refusing(approvedBy('Bob (p-0000000b)'), 'operator (command line)')).toEqual([
      expect.stringContaining('two accounts'),
    ]);
  });

  it('does not accept a name that looks like an account', () => {
    expect(refusing(approvedBy('Ann (p-0000000b) (p-0000000a)'), 'Ann (p-0000000a)')).toHaveLength(1);
    expect(refusing(approvedBy('(p-0000000b) operator'), 'Ann (p-0000000a)')).toHaveLength(1);
    expect(
      problems(openedCase(), 'approve', { of: 'refuse' }, { profile: wants, actor: 'operator (command line)' }),
    ).toEqual([expect.stringContaining('account')]);
  });

  it('requires a new approval after the request has changed, but not after a note', () => {
    const approved = approvedBy('Bob (p-0000000b)');
    const after = (move: string, details: Record<string, unknown>) => {
      const outcome = applyMove(approved, action(approved, move, details), {
        seq: 9,
        source: approved.source,
        receivedAt: '2026-07-02T10:00:00.000Z',
      });
      if (outcome.outcome === 'refused') throw new Error(outcome.reason);
      return outcome.row;
    };
    expect(refusing(after('note', { text: 'called' }), 'Ann (p-0000000a)')).toEqual([]);
    expect(refusing(after('assign', { assignee: 'Ann' }), 'Ann (p-0000000a)')).toEqual([]);
    expect(refusing(after('amend', { requesterName: 'Eve', reason: 'typo' }), 'Ann (p-0000000a)')).toHaveLength(1);
  });

  it('requires a new approval after a letter, file or pack was added', () => {
    const approved = approvedBy('Bob (p-0000000b)');
    expect(refusing(approved, 'Ann (p-0000000a)', true)).toEqual([expect.stringContaining('was added after it')]);
  });

  it('treats an answer that refuses every part as a refusal', () => {
    const onlyRefusals = profile({ secondPersonFor: ['refuse'] });
    const answering = (row: CaseRow, ...outcomes: string[]) =>
      problems(
        row,
        'answer',
        { ...answer('full'), parts: outcomes.map((outcome) => ({ what: 'a copy', outcome, ground: 'unfounded' })) },
        { profile: onlyRefusals, actor: 'Ann (p-0000000a)' },
      ).filter((one) => /second person|yourself/.test(one));
    const ready = moved(openedCase(), ...searched, ['start'], ['mark-ready']);
    expect(answering(ready, 'refused', 'refused')).toEqual([expect.stringContaining('second person')]);
    expect(answering(approvedBy('Ann (p-0000000a)', 'refuse', ready), 'refused')).toEqual([
      expect.stringContaining('yourself'),
    ]);
    expect(answering(approvedBy('Bob (p-0000000b)', 'refuse', ready), 'refused')).toEqual([]);
    expect(answering(ready, 'refused', 'done')).toEqual([]);
  });

  it('is offered the approval move, and other controllers are not', () => {
    const now = '2026-07-03T09:00:00.000Z';
    expect(view(openedCase(), { profile: wants, now }).moves).toContain('approve');
    expect(view(openedCase(), { profile: profile(), now }).moves).not.toContain('approve');
  });
});
