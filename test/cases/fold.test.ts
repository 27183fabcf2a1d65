import { describe, expect, it } from 'vitest';
import {
  applyMove,
  type CaseHistoryRow,
  openCaseFromAction,
  openCaseFromRequest,
  rebuildCase,
} from '../../src/cases/fold.ts';
import { parseFolded } from '../../src/cases/folded.ts';
import { caseStates, isMoveName, moves, movesFrom } from '../../src/cases/moves.ts';
import { action, moved, openedCase, RECEIVED, request } from './world.ts';

const entry = { seq: 7, source: 'acme', receivedAt: '2026-07-01T14:03:00.000Z' };

describe('a reported request', () => {
  it('opens a case whose id is the source and the seq of the entry', () => {
    const { row, history } = openCaseFromRequest(request(), entry);
    expect([row.case_id, row.state, row.version, row.opened_seq]).toEqual(['acme-7', 'opened', 0, 7]);
    expect([history.case_id, history.version, history.move, history.from_state]).toEqual(['acme-7', 0, 'opened', null]);
  });

  it('has the receipt time of its payload, or its arrival, marked as such', () => {
    const receipt = (occurred: Partial<ReturnType<typeof request>['occurred']>) => {
      const { row } = openCaseFromRequest(
        request({ occurred: { at: RECEIVED, basis: 'payload', counts: true, ...occurred } }),
        entry,
      );
      return [row.receipt_at, row.receipt_basis];
    };
    expect(receipt({})).toEqual([RECEIVED, 'payload']);
    expect(receipt({ basis: 'assumed-offset' })).toEqual([RECEIVED, 'assumed-offset']);
    expect(receipt({ counts: false, at: '1970-01-01T00:00:00.000Z' })).toEqual([entry.receivedAt, 'received']);
    expect(receipt({ basis: 'received', at: entry.receivedAt })).toEqual([entry.receivedAt, 'received']);
  });

  it('opens a case even if none of its fields is understood', () => {
    const nothing = openCaseFromRequest(
      request({
        requestId: null,
        kind: 'unknown',
        kindAsGiven: null,
        requesterName: null,
        requesterEmail: null,
        jurisdiction: null,
        language: null,
      }),
      entry,
    );
    expect([nothing.row.kind, nothing.row.requester_email]).toEqual(['unknown', null]);
  });
});

describe('the place of a requester', () => {
  it('becomes a code of the list, whatever words the service used', () => {
    expect(openedCase({ jurisdiction: 'California' }).jurisdiction).toBe('US-CA');
    expect(openedCase({ jurisdiction: 'us-ca' }).jurisdiction).toBe('US-CA');
    expect(parseFolded(openedCase({ jurisdiction: 'Deutschland' }).folded).placeAsGiven).toBeNull();
  });

  it('stays open with its words if they match no place, until an officer chooses', () => {
    const row = openedCase({ jurisdiction: 'Xyz' });
    expect([row.jurisdiction, parseFolded(row.folded).placeAsGiven]).toEqual([null, 'Xyz']);
    const chosen = moved(row, ['amend', { jurisdiction: 'US-VA', reason: 'asked' }]);
    expect([chosen.jurisdiction, parseFolded(chosen.folded).placeAsGiven]).toEqual(['US-VA', null]);
  });

  it('does not ask the officer for anything if no place was named', () => {
    expect(parseFolded(openedCase({ jurisdiction: null }).folded).placeAsGiven).toBeNull();
  });

  it('is mapped from a correction that an earlier version recorded as free text', () => {
    const row = moved(openedCase(), ['amend', { jurisdiction: 'California', reason: 'letter' }]);
    expect(row.jurisdiction).toBe('US-CA');
  });
});

describe('a recorded request', () => {
  it('opens a case with the action’s id and the officer’s receipt', () => {
    const { row } = openCaseFromAction(
      {
        action: 'case.opened',
        actor: 'olga',
        caseId: 'acme-o0000000001',
        receivedAt: RECEIVED,
        kind: 'erasure',
        requesterName: 'Ada',
        requesterEmail: null,
        subject: null,
        jurisdiction: 'GB',
        message: null,
        channel: 'letter',
      },
      entry,
    );
    expect([row.case_id, row.receipt_at, row.receipt_basis, row.kind, row.channel]).toEqual([
      'acme-o0000000001',
      RECEIVED,
      'officer',
      'erasure',
      'letter',
    ]);
  });
});

describe('a move', () => {
  it('increments the version, changes the state and records its details in the history', () => {
    const row = openedCase();
    const outcome = applyMove(row, action(row, 'acknowledge', { channel: 'mail' }), { ...entry, seq: 9 });
    if (outcome.outcome === 'refused') throw new Error(outcome.reason);
    expect([outcome.row.state, outcome.row.version, outcome.row.last_seq]).toEqual(['acknowledged', 1, 9]);
    expect(outcome.history).toMatchObject({
      version: 1,
      from_state: 'opened',
      to_state: 'acknowledged',
      details: '{"channel":"mail"}',
    });
    expect(parseFolded(outcome.row.folded).acknowledgedAt).toBe(entry.receivedAt);
  });

  it.each([
    [
      'another version',
      (row: ReturnType<typeof openedCase>) => ({ ...action(row, 'acknowledge'), basedOn: 3 }),
      'version 3',
    ],
    [
      'another case',
      (row: ReturnType<typeof openedCase>) => ({ ...action(row, 'acknowledge'), caseId: 'acme-8' }),
      'acme-8',
    ],
    ['a state that does not allow it', (row: ReturnType<typeof openedCase>) => action(row, 'mark-ready'), 'opened'],
    ['a name that is none', (row: ReturnType<typeof openedCase>) => action(row, 'toString'), 'unknown move'],
    ['details that lack something', (row: ReturnType<typeof openedCase>) => action(row, 'note'), 'note.text'],
    ['details that nobody asked for', (row: ReturnType<typeof openedCase>) => action(row, 'start', { x: 1 }), 'start'],
  ])('is refused with a reason if it is for %s', (_, made, words) => {
    const row = openedCase();
    const outcome = applyMove(row, made(row), { ...entry, seq: 9 });
    expect(outcome.outcome).toBe('refused');
    expect(outcome.outcome === 'refused' && outcome.reason).toContain(words);
  });

  it('is refused if it belongs to another source', () => {
    const row = openedCase();
    expect(applyMove(row, action(row, 'start'), { ...entry, seq: 9, source: 'bolt' }).outcome).toBe('refused');
  });

  it('can correct the request, but the receipt only to an earlier time', () => {
    const earlier = moved(openedCase(), [
      'amend',
      { receivedAt: '2026-06-28T10:00:00+02:00', kind: 'erasure', reason: 'the letter came first' },
    ]);
    expect([earlier.receipt_at, earlier.receipt_basis, earlier.kind]).toEqual([
      '2026-06-28T08:00:00.000Z',
      'officer',
      'erasure',
    ]);
    const later = moved(openedCase(), ['amend', { receivedAt: '2026-07-09T10:00:00Z', reason: 'wishful' }]);
    expect([later.receipt_at, later.receipt_basis]).toEqual([RECEIVED, 'payload']);
  });

  it('withdraws the confirmation of identity if it changes the requester', () => {
    const confirmed = moved(openedCase(), ['confirm-identity', { how: 'signed in' }]);
    const changed = moved(confirmed, ['amend', { requesterEmail: 'eve@example.org', reason: 'typing error' }]);
    expect(parseFolded(confirmed.folded).identity.status).toBe('confirmed');
    expect(parseFolded(changed.folded).identity.status).toBe('recheck');
    const other = moved(confirmed, ['amend', { jurisdiction: 'FR', reason: 'moved house' }]);
    expect(parseFolded(other.folded).identity.status).toBe('confirmed');
  });

  it('that settles the case ends an open clarification', () => {
    const refused = moved(
      openedCase(),
      ['ask-clarification', { question: 'Which site?' }],
      ['refuse', { reasons: 'excessive', basis: 'Art. 12(5)(b)', remedies: 'told' }, '2026-07-10T09:00:00.000Z'],
    );
    expect(parseFolded(refused.folded).clarifications[0]?.answeredAt).toBe('2026-07-10T09:00:00.000Z');
  });

  it('is part of a sequence from opening to closing', () => {
    const closed = moved(
      openedCase(),
      ['acknowledge'],
      ['ask-identity', { asked: 'a reply from the address', doubt: 'a new address' }],
      ['confirm-identity', { how: 'replied', informationAt: '2026-07-02T08:00:00Z' }],
      ['ask-clarification', { question: 'Which site?' }],
      ['receive-clarification', { answer: 'the shop' }],
      ['mark-system', { system: 'crm', result: 'attached' }],
      ['extend', { reasons: 'many records' }],
      ['mark-ready'],
      ['answer', { channel: 'mail', disclosure: 'full' }],
      ['close', {}, '2026-07-20T09:00:00.000Z'],
    );
    expect([closed.state, closed.version, closed.closed_at]).toEqual(['closed', 10, '2026-07-20T09:00:00.000Z']);
    const again = moved(closed, ['reopen', { reason: 'they wrote again' }]);
    expect([again.state, again.closed_at, parseFolded(again.folded).answer]).toEqual(['in-progress', null, null]);
  });
});

describe('the history of a case', () => {
  it('is enough to rebuild it as of any entry', () => {
    const opened = openCaseFromRequest(request({ subject: 'visitor-7', message: 'Hello' }), entry);
    const rows: CaseHistoryRow[] = [opened.history];
    const states = [opened.row];
    let current = opened.row;
    const moves: [string, Record<string, unknown>][] = [
      ['acknowledge', { at: '2026-07-02T10:00:00+02:00' }],
      ['amend', { jurisdiction: 'FR', receivedAt: '2026-06-30T10:00:00Z', reason: 'letter' }],
      ['link-subject', { subject: 'visitor-8', way: 'from-device' }],
      ['withdraw', { how: 'by mail' }],
      ['close', {}],
    ];
    for (const [move, details] of moves) {
      const outcome = applyMove(current, action(current, move, details), { ...entry, seq: current.last_seq + 3 });
      if (outcome.outcome === 'refused') throw new Error(outcome.reason);
      current = outcome.row;
      rows.push(outcome.history);
      states.push(current);
    }
    rows.forEach((_, at) => expect(rebuildCase(rows.slice(0, at + 1))).toEqual(states[at]));
    expect(rebuildCase([])).toBeNull();
  });

  it('keeps a request that was reported again without moving the case', () => {
    const { row, history } = openCaseFromRequest(request(), entry);
    const again = { ...history, seq: 12, move: 'reported-again', from_state: 'opened', details: '{}' };
    expect(rebuildCase([history, again])).toEqual({ ...row, last_seq: 12 });
  });
});

describe('the table of moves', () => {
  it('leads only to existing states', () => {
    for (const rule of Object.values(moves)) {
      const to = rule.to === 'same' ? [] : typeof rule.to === 'string' ? [rule.to] : Object.values(rule.to);
      for (const state of [...rule.from, ...to]) expect(caseStates).toContain(state);
    }
    expect(isMoveName('constructor')).toBe(false);
  });

  it('reaches every state from the opening, and closing from every state', () => {
    const next = (state: string) =>
      movesFrom(state).map((move) => {
        const { to } = moves[move];
        return to === 'same' ? state : typeof to === 'string' ? to : ((to as Record<string, string>)[state] ?? state);
      });
    const reach = (start: string) => {
      const seen = new Set([start]);
      for (const state of seen) for (const to of next(state)) seen.add(to);
      return seen;
    };
    expect([...reach('opened')].sort()).toEqual([...caseStates].sort());
    for (const state of caseStates) expect(reach(state).has('closed'), state).toBe(true);
  });
});

describe('an answer', () => {
  const ready = () => moved(openedCase(), ['start'], ['mark-ready']);
  const part = (changes: object) => ({ what: 'Erasure of the profile', outcome: 'done', ...changes });

  it('records what was done about each part of the request', () => {
    const parts = [
      part({ note: 'deleted in the shop' }),
      part({ what: 'Erasure of invoices', outcome: 'refused', ground: 'Art. 17(3)(b) GDPR' }),
    ];
    const row = moved(ready(), ['answer', { channel: 'mail', disclosure: 'categories-only', parts }]);
    expect(parseFolded(row.folded).answer?.parts).toEqual(parts);
  });

  it('without parts, as recorded by earlier versions, can still be read', () => {
    const row = moved(ready(), ['answer', { channel: 'mail', disclosure: 'full' }]);
    expect(parseFolded(row.folded).answer?.parts).toEqual([]);
  });

  it('needs a ground for anything refused or done in part', () => {
    const answer = moves.answer.details;
    const read = (parts: object[]) => answer.safeParse({ channel: 'mail', disclosure: 'full', parts }).success;
    expect(read([part({ outcome: 'refused' })])).toBe(false);
    expect(read([part({ outcome: 'partly' })])).toBe(false);
    expect(read([part({ outcome: 'partly', ground: 'Art. 17(3)(e) GDPR' })])).toBe(true);
    expect(read([])).toBe(false);
  });
});
