import { describe, expect, it } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import { rebuildCase } from '../../src/cases/fold.ts';
import { listCases, pageCases, showCase } from '../../src/cases/list-cases.ts';
import { loadPackCase } from '../../src/cases/load-pack-case.ts';
import { matchCase } from '../../src/cases/match-subject.ts';
import { moveCase, type OpenCaseInput, openCase } from '../../src/cases/move-case.ts';
import { subjectOfEmail } from '../../src/core/subject.ts';
import { decisionFact, webhook } from '../projections/world.ts';
import { type CasesWorld, createCasesWorld, profile, request } from './world.ts';

const letter: OpenCaseInput = {
  source: 'acme',
  actor: 'olga',
  receivedAt: '2026-07-01T10:00:00+02:00',
  kind: 'access',
  channel: 'letter',
  requesterName: 'Ada Lovelace',
  requesterEmail: 'ada@example.org',
  jurisdiction: 'DE',
};

async function opened(world: CasesWorld, more: Partial<OpenCaseInput> = {}): Promise<string> {
  const answer = await openCase(world.deps, { ...letter, ...more });
  if (answer.outcome === 'refused') throw new Error(answer.problems.join());
  await world.catchUp();
  return answer.caseId;
}

async function move(world: CasesWorld, caseId: string, basedOn: number, name: string, details = {}, actor = 'olga') {
  const answer = await moveCase(world.deps, { caseId, basedOn, move: name, details, actor });
  await world.catchUp();
  return answer;
}

function decision(subject: string, at: string): DecisionFact {
  return decisionFact({ recordId: `${subject}-${at}`, subject, occurred: { at, basis: 'payload', counts: true } });
}

async function record(world: CasesWorld, source: string, ...decisions: DecisionFact[]): Promise<void> {
  await world.deps.ledger.append(
    decisions.map((fact) => webhook(source, { event: 'consent.recorded', fact }, '2026-06-01T10:00:00.000Z')),
  );
  await world.catchUp();
}

describe('opening a case', () => {
  it('records an action, and the case appears once it is projected', async () => {
    const world = await createCasesWorld();
    const caseId = await opened(world);
    expect(caseId).toMatch(/^acme-o\d{10}$/);
    const shown = await showCase(world.deps, caseId, '2026-07-03T09:00:00.000Z');
    expect(shown?.view.row).toMatchObject({
      state: 'opened',
      receipt_at: '2026-07-01T08:00:00.000Z',
      receipt_basis: 'officer',
    });
    expect(shown?.view.deadline.limit).toBe('2026-08-03');
    expect(shown?.view.daysLeft).toBe(31);
    expect(shown?.history.map((row) => row.move)).toEqual(['opened']);
  });

  it('opens one case for one reference, however often it is sent', async () => {
    const world = await createCasesWorld();
    const [first, second] = await Promise.all([
      openCase(world.deps, { ...letter, reference: 'form-1' }),
      openCase(world.deps, { ...letter, reference: 'form-1' }),
    ]);
    expect([first.outcome, second.outcome].sort()).toEqual(['duplicate', 'opened']);
    await world.catchUp();
    expect(await listCases(world.deps, { now: '2026-07-03T09:00:00.000Z' })).toHaveLength(1);
    await opened(world, { reference: 'form-1', source: 'bolt' });
    expect(await listCases(world.deps, { now: '2026-07-03T09:00:00.000Z' })).toHaveLength(2);
  });

  it('refuses invalid input, naming each problem', async () => {
    const world = await createCasesWorld();
    const future = await openCase(world.deps, { ...letter, receivedAt: '2026-09-01T10:00:00Z' });
    expect(future).toMatchObject({ outcome: 'refused' });
    const wrong = await openCase(world.deps, { ...letter, kind: 'wish' as never, receivedAt: 'yesterday' });
    expect(wrong.outcome === 'refused' && wrong.problems.length).toBe(2);
    const naive = await openCase(world.deps, { ...letter, receivedAt: '2026-07-01T10:00:00' });
    expect(naive.outcome).toBe('refused');
  });
});

describe('moving a case', () => {
  it('takes it from opening to closing, and the history alone reproduces it', async () => {
    const world = await createCasesWorld({ profile: profile({ otherSystems: [] }) });
    await record(world, 'acme', decision('visitor-7', '2026-05-01T10:00:00.000Z'));
    const caseId = await opened(world, { subject: 'visitor-7' });
    const steps: [string, Record<string, unknown>][] = [
      ['acknowledge', {}],
      ['start', {}],
      ['mark-ready', {}],
      ['answer', { channel: 'mail', disclosure: 'full' }],
      ['close', {}],
    ];
    for (const [version, [name, details]] of steps.entries()) {
      expect(await move(world, caseId, version, name, details)).toMatchObject({
        outcome: 'moved',
        version: version + 1,
      });
    }
    const shown = await showCase(world.deps, caseId, '2026-07-05T09:00:00.000Z');
    expect(shown?.view.row).toMatchObject({ state: 'closed', version: 5, closed_at: '2026-07-03T09:00:00.000Z' });
    expect([shown?.view.daysLeft, shown?.view.overdue]).toEqual([null, false]);
    expect(rebuildCase(shown?.history ?? [])).toEqual(shown?.view.row);
  });

  it('lets one of two simultaneous officers win and reports the conflict to the other', async () => {
    const world = await createCasesWorld();
    const caseId = await opened(world);
    const both = await Promise.all(
      ['olga', 'omar'].map((actor) =>
        moveCase(world.deps, { caseId, basedOn: 0, move: 'note', details: { text: `by ${actor}` }, actor }),
      ),
    );
    expect(both.map((one) => one.outcome).sort()).toEqual(['conflict', 'moved']);
    await world.catchUp();
    const shown = await showCase(world.deps, caseId, '2026-07-03T09:00:00.000Z');
    expect([shown?.view.row.version, shown?.history.length]).toEqual([1, 2]);
    expect(await move(world, caseId, 0, 'note', { text: 'late' })).toEqual({ outcome: 'conflict', caseId, version: 1 });
  });

  it('answers the same move of the same officer the same way twice, before and after it is projected', async () => {
    const world = await createCasesWorld();
    const caseId = await opened(world);
    const input = { caseId, basedOn: 0, move: 'start', actor: 'olga' };
    const first = await moveCase(world.deps, input);
    expect(first).toMatchObject({ outcome: 'moved', version: 1 });
    expect(await moveCase(world.deps, input)).toEqual(first);
    await world.catchUp();
    expect(await moveCase(world.deps, input)).toEqual(first);
    expect(await moveCase(world.deps, { ...input, actor: 'omar' })).toMatchObject({ outcome: 'conflict' });
  });

  it('records nothing if it is refused', async () => {
    const world = await createCasesWorld();
    const caseId = await opened(world);
    const before = await world.store.read.selectFrom('entries').select('seq').execute();
    expect(await move(world, caseId, 0, 'mark-ready')).toMatchObject({ outcome: 'refused' });
    expect(await move(world, caseId, 0, 'dance')).toMatchObject({ outcome: 'refused' });
    expect(await move(world, caseId, 0, 'note', {})).toMatchObject({ outcome: 'refused' });
    expect(await move(world, 'acme-999', 0, 'start')).toEqual({ outcome: 'not-found' });
    expect(await world.store.read.selectFrom('entries').select('seq').execute()).toEqual(before);
  });

  it('closes a case as a duplicate only within the same source', async () => {
    const world = await createCasesWorld();
    const [one, two, foreign] = [await opened(world), await opened(world), await opened(world, { source: 'bolt' })];
    expect(await move(world, one, 0, 'close-duplicate', { duplicateOf: foreign })).toMatchObject({
      outcome: 'refused',
    });
    expect(await move(world, one, 0, 'close-duplicate', { duplicateOf: one })).toMatchObject({ outcome: 'refused' });
    expect(await move(world, one, 0, 'close-duplicate', { duplicateOf: two })).toMatchObject({ outcome: 'moved' });
  });
});

describe('the list of cases', () => {
  it('has open ones by legal limit, then settled ones', async () => {
    const world = await createCasesWorld();
    const california = await opened(world, { jurisdiction: 'US-CA', receivedAt: '2026-06-25T10:00:00Z' }); // 27 July, by the GDPR
    const german = await opened(world); // 3 August
    const optOut = await opened(world, { jurisdiction: 'US-CA', kind: 'opt-out' }); // 22 July, by California
    const withdrawn = await opened(world, { source: 'bolt' });
    await move(world, withdrawn, 0, 'withdraw', { how: 'by mail' });
    const now = '2026-07-03T09:00:00.000Z';
    const ids = async (filter: object) =>
      (await listCases(world.deps, { now, ...filter })).map((one) => one.row.case_id);
    expect(await ids({})).toEqual([optOut, california, german, withdrawn]);
    expect(await ids({ open: true })).toEqual([optOut, california, german]);
    expect(await ids({ source: 'bolt' })).toEqual([withdrawn]);
    expect(await ids({ state: 'withdrawn' })).toEqual([withdrawn]);
    expect(await ids({ source: 'acme', state: 'withdrawn' })).toEqual([]);
  });

  it('has a request for several rights under each of them', async () => {
    const world = await createCasesWorld();
    const fact = request({ kind: 'erasure', furtherKinds: ['access'] });
    await world.deps.ledger.append([webhook('acme', { event: 'dsar.submitted', fact }, '2026-07-01T14:03:00.000Z')]);
    const single = await opened(world, { requesterName: '"kind":"erasure"' });
    const now = '2026-07-03T09:00:00.000Z';
    const page = { sources: null, now, before: null, limit: 10 };
    for (const list of [
      (kind: string) => listCases(world.deps, { now, kind }),
      (kind: string) => pageCases(world.deps, { ...page, kind }),
    ]) {
      const ids = async (kind: string) => (await list(kind)).map((one) => one.row.case_id).sort();
      expect(await ids('access')).toEqual(['acme-1', single]);
      expect(await ids('erasure')).toEqual(['acme-1']);
      expect(await ids('portability')).toEqual([]);
    }
  });

  it('includes cases opened by webhooks', async () => {
    const world = await createCasesWorld();
    await world.deps.ledger.append([
      webhook('acme', { event: 'dsar.submitted', fact: request() }, '2026-07-01T14:03:00.000Z'),
      webhook('acme', { event: 'dsar.submitted', fails: 'unreadable' }, '2026-07-01T15:03:00.000Z'),
    ]);
    await world.catchUp();
    const cases = await listCases(world.deps, { now: '2026-07-03T09:00:00.000Z' });
    expect(cases.map((one) => [one.row.case_id, one.kind])).toEqual([
      ['acme-1', 'access'],
      ['acme-2', 'unknown'],
    ]);
    expect(cases[1]?.deadline.flags).toContain('receipt-is-arrival');
    expect(cases[1]?.deadline.says.join()).toContain('choose it');
  });
});

describe('finding the subject', () => {
  const recipe = { algorithm: 'sha256', normalise: 'trim-lowercase', salt: 'pepper' } as const;
  const at = '2026-05-01T10:00:00.000Z';
  const match = async (world: CasesWorld, caseId: string, asOf?: number) => {
    const row = await world.store.read
      .selectFrom('cases')
      .selectAll()
      .where('case_id', '=', caseId)
      .executeTakeFirstOrThrow();
    return matchCase(world.deps, row, asOf);
  };

  it('uses the id from the requester’s device, in all forms of a hash', async () => {
    const world = await createCasesWorld({ recipe });
    const hex = subjectOfEmail('device', recipe);
    await record(world, 'acme', decision(`sha256:${hex}`, at), decision(`sha256:${hex}`, '2026-05-02T10:00:00.000Z'));
    await record(world, 'bolt', decision(hex, at));
    const caseId = await opened(world, { subject: hex });
    expect(await match(world, caseId)).toMatchObject({
      status: 'from-device',
      subjects: [`sha256:${hex}`],
      decisions: 2,
    });
    expect(await match(world, caseId, 1)).toMatchObject({ decisions: 1 });
  });

  it('computes it from the e-mail address with the source’s recipe, and says if there is none', async () => {
    const world = await createCasesWorld({ recipe });
    await record(world, 'acme', decision(subjectOfEmail('ada@example.org', recipe), at));
    expect(await match(world, await opened(world, { requesterEmail: ' Ada@Example.org' }))).toMatchObject({
      status: 'computed',
      decisions: 1,
    });
    expect(await match(world, await opened(world, { requesterEmail: 'eve@example.org' }))).toMatchObject({
      status: 'none',
      decisions: 0,
    });
    expect(await match(world, await opened(world, { requesterEmail: null }))).toMatchObject({ status: 'none' });
    const without = await createCasesWorld();
    await record(without, 'acme', decision(subjectOfEmail('ada@example.org', recipe), at));
    const unknown = await match(without, await opened(without));
    expect([unknown.status, unknown.says.includes('not configured')]).toEqual(['none', true]);
  });

  it('marks a shared mailbox, so that nothing is released for it', async () => {
    const world = await createCasesWorld({ recipe });
    await record(world, 'acme', decision(subjectOfEmail('info@example.org', recipe), at));
    const caseId = await opened(world, { requesterEmail: 'info@example.org' });
    const shown = await showCase(world.deps, caseId, '2026-07-03T09:00:00.000Z');
    expect([shown?.match.status, shown?.disclosure]).toEqual(['shared', 'no-match']);
  });

  it('prefers an officer’s link to everything else', async () => {
    const world = await createCasesWorld({ recipe });
    await record(world, 'acme', decision('visitor-7', at), decision('visitor-8', at));
    const caseId = await opened(world, { subject: 'visitor-7' });
    await move(world, caseId, 0, 'link-subject', { subject: 'visitor-8', way: 'shared' });
    expect(await match(world, caseId)).toMatchObject({ status: 'shared', subjects: ['visitor-8'] });
    await move(world, caseId, 1, 'link-subject', { subject: 'visitor-8', way: 'from-device' });
    expect(await match(world, caseId)).toMatchObject({ status: 'from-device' });
  });
});

describe('a case for its pack', () => {
  it('is loaded as of that entry, whatever came later', async () => {
    const world = await createCasesWorld();
    await record(world, 'acme', decision('visitor-7', '2026-05-01T10:00:00.000Z'));
    const caseId = await opened(world, { subject: 'visitor-7' });
    const marked = await move(world, caseId, 0, 'mark-system', { system: 'crm', result: 'attached' });
    const asOf = marked.outcome === 'moved' ? marked.seq : 0;
    const now = '2026-07-03T09:00:00.000Z';
    const before = await loadPackCase(world.deps, caseId, asOf, now);
    await record(world, 'acme', decision('visitor-7', '2026-05-02T10:00:00.000Z'));
    await move(world, caseId, 1, 'fail-identity', { reason: 'no reply' });
    expect(await loadPackCase(world.deps, caseId, asOf, now)).toEqual(before);
    expect(before).toMatchObject({
      disclosure: 'full',
      match: { decisions: 1 },
      identity: { status: 'met', how: null },
      systems: [
        { name: 'CRM', result: 'attached' },
        { name: 'Shop', result: null },
      ],
    });
    const after = await loadPackCase(world.deps, caseId, asOf + 2, now);
    expect(after).toMatchObject({
      disclosure: 'categories-only',
      match: { decisions: 2 },
      identity: { status: 'failed' },
    });
    expect(await loadPackCase(world.deps, caseId, 1, now)).toBeNull();
  });
});
