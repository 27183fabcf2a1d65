import { describe, expect, it } from 'vitest';
import { foldedColumn, parseFolded } from '../../src/cases/folded.ts';
import { listCases, listMessages } from '../../src/cases/list-cases.ts';
import { moveCase, openCase } from '../../src/cases/move-case.ts';
import { isMoveName, moves, openStates } from '../../src/cases/moves.ts';
import { createCasesWorld, moved, openedCase, RECEIVED, view } from './world.ts';

const wrote = ['requester-message', { about: 'question', text: 'Which data?', channel: 'hand-over h-1' }] as const;
const openIn = (row: Parameters<typeof view>[0]) => view(row).folded.openMessages;

describe('a requester’s message', () => {
  it('stays open until a reply or “needs no reply”, whatever else is recorded', () => {
    const open = moved(openedCase(), wrote);
    expect(openIn(open)).toMatchObject([{ at: '2026-07-02T09:00:00.000Z', about: 'question' }]);
    const worked = moved(
      open,
      ['note', { text: 'read it' }],
      ['acknowledge'],
      ['assign', { assignee: 'Olga' }],
      ['start'],
      ['confirm-identity', { how: 'logged in' }],
      ['ask-clarification', { question: 'Which account?' }],
      ['receive-clarification', { answer: 'The shop' }],
      ['mark-system', { system: 'crm', result: 'nothing-found' }],
      ['add-task', { what: 'Look', due: '2026-07-20' }],
      ['mark-ready'],
      ['answer', { channel: 'e-mail', disclosure: 'full' }],
      ['close'],
    );
    expect([worked.state, openIn(worked)?.length]).toEqual(['closed', 1]);
    expect(openIn(moved(worked, ['reply', { text: 'All of it.' }]))).toEqual([]);
    expect(openIn(moved(worked, ['no-reply', { reason: 'answered by phone' }]))).toEqual([]);
    expect(openIn(moved(worked, ['no-reply']))).toEqual([]);
  });

  it('is answered together with those before it; a later one is open again', () => {
    const two = moved(openedCase(), wrote, wrote);
    expect(openIn(two)).toHaveLength(2);
    const answered = moved(two, ['reply', { text: 'Both.' }]);
    expect(openIn(answered)).toEqual([]);
    expect(openIn(moved(answered, wrote))).toHaveLength(1);
  });

  it('can be answered in every state of the case, and neither way of it changes the state or an approval', () => {
    for (const state of [...openStates, 'answered', 'refused', 'withdrawn', 'closed'] as const)
      for (const move of ['requester-message', 'reply', 'no-reply'] as const)
        expect([isMoveName(move) && moves[move].from.includes(state), moves[move].to]).toEqual([true, 'same']);
    const seen = 'a'.repeat(64);
    const approved = moved(openedCase(), ['approve', { of: 'answer', seen }], wrote, ['reply', { text: 'Soon.' }]);
    expect(view(approved).folded.approval?.of).toBe('answer');
  });

  it('is asked to be answered only if there is one', () => {
    expect(view(openedCase()).moves).not.toContain('reply');
    expect(view(openedCase()).moves).not.toContain('no-reply');
    const answered = moved(openedCase(), wrote, ['reply', { text: 'Here.' }]);
    // A reply can be completed by another one.
    expect(view(answered).moves).toContain('reply');
    expect(view(answered).moves).not.toContain('no-reply');
  });

  it('is open, if an earlier version folded it as waiting', () => {
    const { openMessages: _none, ...folded } = parseFolded(openedCase().folded);
    const message = { at: RECEIVED, about: 'objection', channel: 'hand-over h-1' };
    expect(parseFolded(JSON.stringify({ ...folded, message }))).toMatchObject({ openMessages: [message] });
    expect(foldedColumn(parseFolded(JSON.stringify(folded)))).not.toContain('openMessages');
  });
});

describe('answering', () => {
  async function openWithMessage() {
    const world = await createCasesWorld();
    const actor = 'Olga Officer';
    const opened = await openCase(world.deps, {
      source: 'default',
      kind: 'access',
      receivedAt: RECEIVED,
      channel: 'letter',
      actor,
    });
    if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
    await world.catchUp();
    const { caseId } = opened;
    const move = async (basedOn: number, name: string, details: Record<string, unknown> = {}) => {
      const outcome = await moveCase(world.deps, { caseId, basedOn, move: name, details, actor });
      await world.catchUp();
      return outcome;
    };
    return { world, caseId, move };
  }

  it('is based on what the officer saw: a message that arrived meanwhile is not answered unseen', async () => {
    const { world, caseId, move } = await openWithMessage();
    await move(0, ...wrote);
    await move(1, ...wrote);
    expect(await move(1, 'reply', { text: 'To the first.' })).toMatchObject({ outcome: 'conflict', version: 2 });
    expect(await move(1, 'no-reply')).toMatchObject({ outcome: 'conflict', version: 2 });
    expect(await listMessages(world.store.read)).toMatchObject([{ caseId, count: 2 }]);
    expect(await move(2, 'reply', { text: 'To both.' })).toMatchObject({ outcome: 'moved' });
    expect(await listMessages(world.store.read)).toEqual([]);
  });

  it('needs a message', async () => {
    const { move } = await openWithMessage();
    expect(await move(0, 'reply', { text: 'Hello' })).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringContaining('has not written')],
    });
    expect(await move(0, 'no-reply')).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringContaining('no message')],
    });
  });

  it('is a filter of the list, of open and settled cases', async () => {
    const { world, caseId, move } = await openWithMessage();
    const found = async (openMessages: boolean) =>
      (await listCases(world.deps, { openMessages, now: RECEIVED })).map(({ row }) => row.case_id);
    // Words of a person are no field.
    await move(0, 'ask-clarification', { question: '"openMessages":[{' });
    expect(await found(true)).toEqual([]);
    expect(await found(false)).toEqual([caseId]);
    await move(1, ...wrote);
    expect(await found(true)).toEqual([caseId]);
    expect(await found(false)).toEqual([]);
    await move(2, 'withdraw', { how: 'by phone' });
    expect(await found(true)).toEqual([caseId]);
    await move(3, 'no-reply');
    expect(await found(true)).toEqual([]);
  });
});
