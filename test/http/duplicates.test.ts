import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { listOriginals } from '../../src/cases/duplicates.ts';
import { showCase } from '../../src/cases/list-cases.ts';
import { moveCase, openCase } from '../../src/cases/move-case.ts';
import { isoNow } from '../../src/core/clock.ts';
import { addDays, dateIn } from '../../src/core/zoned-days.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { tokenOf } from './api-caller.ts';
import { makeMoves, OFFICER } from './hand-over-world.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

async function open({ context }: OfficeWorld, more: Record<string, unknown> = {}): Promise<string> {
  const input = {
    source: 'default',
    kind: 'access' as const,
    receivedAt: ago(5),
    channel: 'e-mail',
    requesterName: 'Ada Lovelace',
    requesterEmail: 'ada@example.org',
    jurisdiction: 'DE',
    actor: OFFICER,
    ...more,
  };
  const opened = await openCase(context.cases, input);
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
  await context.projector.projected(opened.seq);
  return opened.caseId;
}

async function show({ context }: OfficeWorld, caseId: string) {
  await context.projector.catchUp();
  const shown = await showCase(context.cases, caseId, isoNow(context.clock));
  if (shown === null) throw new Error(`no case ${caseId}`);
  return shown;
}

async function isSound({ context }: OfficeWorld): Promise<void> {
  expect((await context.verify()).faults).toEqual([]);
  expect(await context.readModels.check()).toMatchObject({ counts: {}, position: null });
}

describe('a request recorded twice', () => {
  it('is suggested, closed as a duplicate on the page, and runs from the first receipt until that is undone', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const [late, early] = [
      await open(world),
      await open(world, { receivedAt: ago(20), requesterEmail: ' ADA@example.org' }),
    ];
    const others = [
      await open(world, { kind: 'erasure' }),
      await open(world, { requesterName: 'Grace Hopper', requesterEmail: null }),
    ];
    const before = await show(world, late);
    expect(before.sameAs).toMatchObject([{ caseId: early, because: 'email' }]);
    const officer = await signedInAs(world, 'officer');
    const page = (await officer.get(`/cases/${early}`)).text;
    expect(page).toContain(`Same request: close this one, continue with ${late}`);
    for (const other of others) expect(page).not.toContain(`go on with ${other}`);
    const auditor = await signedInAs(world, 'auditor');
    expect((await auditor.get(`/cases/${early}`)).text).not.toContain('go on with');

    const form = { move: 'close-duplicate', basedOn: '0', duplicateOf: late };
    expect((await officer.post(`/cases/${early}/moves`, form)).status).toBe(303);
    const merged = await show(world, late);
    const firstReceipt = (await show(world, early)).view.row.receipt_at;
    expect(merged.view.row.receipt_at).toBe(firstReceipt);
    expect(merged.view.deadline.limit).toBe((await show(world, early)).view.deadline.limit);
    expect((await show(world, early)).view).toMatchObject({ open: false, daysLeft: null, overdue: false });
    expect((await officer.get(`/cases/${late}`)).text).toContain('Closed as duplicates of this request');
    await isSound(world);

    await makeMoves(world, early, [['reopen', { reason: `Not a duplicate of ${late}` }]]);
    const again = await show(world, late);
    expect(again.view.row.receipt_at).toBe(before.view.row.receipt_at);
    expect(again.view.deadline.limit).toBe(before.view.deadline.limit);
    expect((await show(world, early)).view).toMatchObject({ open: true, folded: { duplicateOf: null } });
    await isSound(world);
  });

  it('may have a settled original: with the same name or address in any case, settled since it arrived', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const clinic = { requesterName: 'Praxis der Ärzte', requesterEmail: null, receivedAt: ago(20) };
    const settle = async (caseId: string, at: string) =>
      makeMoves(world, caseId, [['withdraw', { how: 'By telephone', at }]]);
    const original = await open(world, clinic);
    await settle(original, ago(3));
    const byAddress = await open(world, { ...clinic, requesterName: 'A. Nother', requesterEmail: 'ÉVA@Example.org' });
    await settle(byAddress, ago(2));
    const earlier = await open(world, { ...clinic, receivedAt: ago(40) });
    await settle(earlier, ago(30));
    const stranger = await open(world, { ...clinic, requesterName: 'Praxis der Arzte' });
    await settle(stranger, ago(2));
    const late = await open(world, {
      ...clinic,
      requesterName: ' PRAXIS  DER ÄRZTE',
      requesterEmail: 'éva@example.org',
      receivedAt: ago(10),
    });
    const shown = await show(world, late);
    const found = await listOriginals(world.context.store.read, shown, 10);
    expect(found.map(({ caseId }) => caseId).sort()).toEqual([original, byAddress].sort());
    expect(await listOriginals(world.context.store.read, shown, 1)).toHaveLength(1);
    const officer = await signedInAs(world, 'officer');
    const page = (await officer.get(`/cases/${late}`)).text;
    expect(page).toContain(`(${original})`);
    expect(page).not.toContain(`(${earlier})`);
    expect(
      (await officer.post(`/cases/${late}/moves`, { move: 'close-duplicate', basedOn: '0', duplicateOf: original }))
        .status,
    ).toBe(303);
    await isSound(world);
  });

  it('is recognised however its name is written: capitals, repeated spaces, other forms of a letter', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const name = (requesterName: string) => open(world, { requesterName, requesterEmail: null });
    const alike = [await name('  ADA  FIELDING '), await name('Ada \ufb01elding')];
    await name('Ada Fieldings');
    const shown = await show(world, await name('Ada Fielding'));
    expect(shown.sameAs.map(({ caseId }) => caseId).sort()).toEqual([...alike].sort());
    const found = await listOriginals(world.context.store.read, shown, 10);
    const likely = found.filter(({ isLikely }) => isLikely).map(({ caseId }) => caseId);
    expect(likely.sort()).toEqual([...alike].sort());
    expect(found).toHaveLength(3);
  });

  it('is chosen among the open requests of the source, those of the same requester first; if there are many, an id can be typed', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const receivedAt = '2026-03-01T10:00:00.000Z';
    const duplicate = await open(world);
    const erasure = await open(world, {
      kind: 'erasure',
      receivedAt,
      requesterName: 'ADA LOVELACE',
      requesterEmail: null,
    });
    const stranger = await open(world, { requesterName: 'Grace Hopper', requesterEmail: null, receivedAt: ago(1) });
    const settled = await open(world, { requesterName: 'Alan Turing', requesterEmail: null });
    await makeMoves(world, settled, [['withdraw', { how: 'By telephone', at: ago(3) }]]);
    const officer = await signedInAs(world, 'officer');
    const page = async () => (await officer.get(`/cases/${duplicate}`)).text;
    const inputOf = (text: string) =>
      /id="close-duplicate-duplicateOf".*?<\/(?:select|datalist)>/s.exec(text)?.[0] ?? '';
    const shown = inputOf(await page());
    expect([...shown.matchAll(/<option[^>]* value="([^"]*)"/g)].map(([, id]) => id)).toEqual([erasure, stranger]);
    expect(shown).toContain('Choose a request');
    expect(shown).toContain(`ADA LOVELACE: Erasure, received 1 Mar 2026, 11:00 (${erasure})`);
    for (let n = 0; n < 50; n += 1)
      await open(world, { requesterName: `Person ${n}`, requesterEmail: null, receivedAt: ago(2) });
    const many = inputOf(await page());
    expect(many).toContain('type="text"');
    expect(many.match(/<option/g)).toHaveLength(50);
    expect(many).toContain(erasure);
  }, 60_000);

  it('keeps the earliest of several receipts, whatever is corrected or undone in between', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const at = (days: number) => ago(days);
    const [ten, twenty, thirty] = [at(10), at(20), at(30)];
    const kept = await open(world);
    const [second, third] = [await open(world, { receivedAt: ten }), await open(world, { receivedAt: thirty })];
    await makeMoves(world, second, [['close-duplicate', { duplicateOf: kept }]]);
    await makeMoves(world, third, [['close-duplicate', { duplicateOf: kept }]]);
    const receipt = async () => (await show(world, kept)).view.row.receipt_at;
    expect(await receipt()).toBe(thirty);
    await makeMoves(world, third, [['reopen', { reason: 'Another matter' }]]);
    expect(await receipt()).toBe(ten);
    await makeMoves(world, kept, [['amend', { receivedAt: twenty, reason: 'Found in the post' }]]);
    await makeMoves(world, second, [['reopen', { reason: 'Another matter' }]]);
    expect(await receipt()).toBe(twenty);
    await isSound(world);
  });

  it('cannot be a duplicate of a duplicate or of a request settled before it arrived, and not by a plain move', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const [first, second, third] = [await open(world), await open(world), await open(world, { receivedAt: ago(1) })];
    await makeMoves(world, second, [['close-duplicate', { duplicateOf: first }]]);
    const refused = async (caseId: string, move: string, details: Record<string, unknown>) => {
      const { version: basedOn } = (await show(world, caseId)).view.row;
      const moved = await moveCase(world.context.cases, { caseId, basedOn, move, details, actor: OFFICER });
      return moved.outcome === 'refused' ? moved.problems.join() : moved.outcome;
    };
    expect(await refused(third, 'close-duplicate', { duplicateOf: second })).toContain('itself closed as a duplicate');
    await makeMoves(world, first, [['close-duplicate', { duplicateOf: third }]]);
    expect(await refused(second, 'reopen', { reason: 'Another matter' })).toContain('reopen that one first');
    const settled = await open(world, { requesterName: 'Grace Hopper', receivedAt: ago(9) });
    await makeMoves(world, settled, [['withdraw', { how: 'By telephone', at: ago(3) }]]);
    const later = await open(world, { receivedAt: ago(1) });
    expect(await refused(later, 'close-duplicate', { duplicateOf: settled })).toContain('needs its own answer');
    const details = { duplicate: settled, receivedAt: ago(90), receiptBasis: 'officer' };
    expect(await refused(third, 'merge-duplicate', details)).toContain('recorded automatically');
  });

  it('is closed completely or not at all if the other request changes at the same time', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const [kept, duplicate] = [await open(world), await open(world, { receivedAt: ago(20) })];
    const input = {
      caseId: duplicate,
      basedOn: 0,
      move: 'close-duplicate',
      details: { duplicateOf: kept },
      actor: OFFICER,
    };
    const note = { caseId: kept, basedOn: 0, move: 'note', details: { text: 'Called back' }, actor: OFFICER };
    const outcomes = await Promise.all([moveCase(world.context.cases, note), moveCase(world.context.cases, input)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'moved']);
    const [one, other] = [await show(world, kept), await show(world, duplicate)];
    expect(one.view.folded.duplicates !== undefined).toBe(other.view.folded.duplicateOf !== null);
    await isSound(world);
  });

  it('counts as merged, not as unanswered, in the register, and the API shows it', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const [kept, duplicate] = [await open(world), await open(world, { receivedAt: ago(20) })];
    await makeMoves(world, duplicate, [['close-duplicate', { duplicateOf: kept }]]);
    const today = dateIn(isoNow(world.context.clock), 'Europe/Berlin');
    const made = await produceReport(world.context.documents, {
      name: 'dsar-register',
      source: 'default',
      from: addDays(today, -40),
      to: today,
      format: 'json',
      actor: OFFICER,
    });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    const register = JSON.parse(await readFile(made.path, 'utf8')) as {
      totals: { all: { outcomes: Record<string, number> } };
      requests: { caseId: string; response: string | null; receivedAt: string; computation: string[] }[];
    };
    expect(register.totals.all.outcomes).toMatchObject({ open: 1, duplicate: 1 });
    const rows = new Map(register.requests.map((row) => [row.caseId, row]));
    expect(rows.get(duplicate)?.response).toContain(`Merged into ${kept}`);
    expect(rows.get(kept)?.receivedAt).toBe(rows.get(duplicate)?.receivedAt);
    expect(rows.get(kept)?.computation.join()).toContain(`same request as ${duplicate}`);
    const api = await tokenOf(world, 'officer');
    expect((await api.get(`/api/v1/cases/${kept}`)).json['duplicates']).toMatchObject([{ caseId: duplicate }]);
    expect((await api.get(`/api/v1/cases/${duplicate}`)).json['duplicateOf']).toBe(kept);
  });
});
