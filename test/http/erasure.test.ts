import { writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { findNotices } from '../../src/attention/find-notices.ts';
import { openCase } from '../../src/cases/move-case.ts';
import { choose } from '../../src/erasure/choose.ts';
import { carryOut } from '../../src/erasure/erase.ts';
import { erasureJob } from '../../src/erasure/erasure-jobs.ts';
import { placeHold } from '../../src/erasure/holds.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { digestOfPlan, findProposal, keepProposal } from '../../src/erasure/proposal.ts';
import { listErasures } from '../../src/ledger/erase.ts';
import { chosenOf, faultsIn, filesWith, noFaults } from '../erasure/world.ts';
import { createOfficeWorld, type OfficeWorld, type Page, signedIn, signedInAs, type Visitor } from './office-world.ts';

const ZOE = 'visitor-zoe-must-vanish';
const OTHER = 'visitor-who-stays';

async function consent(world: OfficeWorld, visitor: string, id: string): Promise<number> {
  return world.event('consent.recorded', {
    ...{ consent_id: id, banner_id: 'bnr_1', visitor_hash: visitor, consent: { analytics: true } },
    recorded_at: new Date().toISOString(),
  });
}

async function createWorld(profile = ''): Promise<OfficeWorld> {
  const world = await createOfficeWorld();
  if (profile !== '') {
    await writeFile(world.context.config.controllerFile ?? '', `name: Acme GmbH\ncountry: DE\nregion: BE\n${profile}`);
  }
  await consent(world, ZOE, 'c-zoe-1');
  await consent(world, ZOE, 'c-zoe-2');
  await consent(world, OTHER, 'c-other');
  return world;
}

const zoe = { by: 'subject', source: 'default', identifier: ZOE } as const;
const person: Record<string, string> = { ...zoe };
const reasons = { reason: 'request', law: 'eu-gdpr', sure: 'yes' };
const digestIn = ({ text }: Page) => /name="digest" value="(\w+)"/.exec(text)?.[1] ?? '';

/** Previews an erasure and confirms it. */
async function confirm(visitor: Visitor, form: Record<string, string> = person, more: Record<string, string> = {}) {
  const preview = await visitor.post('/settings/erasures/preview', form);
  expect(preview.status, preview.text).toBe(200);
  return visitor.post('/settings/erasures', { ...form, ...reasons, digest: digestIn(preview), ...more });
}

async function planOfZoe({ erasure, sources }: OfficeWorld['context']) {
  return planErasure(erasure, chosenOf(await choose({ ...erasure, sources }, { ...zoe, withCases: false })));
}

/** A confirmed erasure whose job was not enqueued. */
async function propose({ context }: OfficeWorld, { needsSecond = false } = {}) {
  return keepProposal(context, {
    ...{ choice: { ...zoe, withCases: false }, digest: digestOfPlan(await planOfZoe(context)), reason: 'request' },
    ...{ law: 'eu-gdpr', despite: [], officer: 'Olga', personId: null },
    ...{ needsSecond, confirmedBy: null, source: 'default' },
  });
}

async function untilDone(world: OfficeWorld, visitor: Visitor, at: Page): Promise<Page> {
  const address = at.headers.get('location') ?? '';
  expect(address).toMatch(/^\/settings\/erasures\/[0-9a-f]{16}$/);
  for (;;) {
    const [job] = await world.context.jobs.list({ kind: 'erase' });
    if (job !== undefined && job.finishedAt !== null) return visitor.get(address);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('an officer who erases a person', () => {
  it('previews the person’s data, confirms, and gets the entry and the certificate', async () => {
    const world = await createWorld();
    const { context } = world;
    const officer = await signedInAs(world, 'officer');
    const preview = await officer.post('/settings/erasures/preview', person);
    expect(preview.text).toContain('Nothing is erased yet.');
    expect(preview.text).toContain('2 entries.');
    // An admin is asked to delete what the pages cannot delete; the person is not named.
    const mail = decodeURIComponent(/href="(mailto:[^"]+)"/.exec(preview.text)?.[1] ?? '');
    expect(mail).toMatch(
      /subject=Erasure.*snapshots of the installation.*until the operator of the server deletes them/s,
    );
    expect(mail).not.toContain(ZOE);
    expect(preview.text).not.toContain('ledger erase --again');
    // An admin is told what to do instead.
    const admin = await signedInAs(world, 'admin');
    const own = (await admin.post('/settings/erasures/preview', person)).text;
    expect(own).not.toMatch(/mailto:|Tell an admin/);
    expect(own).toMatch(/Note[\s\S]*<code>ledger erase --again<\/code>/);
    expect(own).toContain('Deleting it is up to you and the other admins');
    expect((await filesWith(context, ZOE)).length).toBeGreaterThan(0);

    const done = await untilDone(world, officer, await confirm(officer));
    expect(done.text).toContain('2 entries');
    const [seq = ''] = /\/entries\/(\d+)/.exec(done.text)?.slice(1) ?? [];
    expect((await officer.get(`/entries/${seq}`)).status).toBe(200);
    const certificate = /href="(\/documents\/[^"]+\/download)"/.exec(done.text)?.[1] ?? '';
    const pdf = await officer.get(certificate);
    expect((await officer.get('/documents')).text).toContain('Erasure certificate');
    expect([pdf.status, pdf.bytes.subarray(0, 5).toString()]).toEqual([200, '%PDF-']);
    expect(await filesWith(context, ZOE)).toEqual([]);
    expect((await filesWith(context, OTHER)).length).toBeGreaterThan(0);
    expect(await faultsIn(context)).toEqual(noFaults);
    expect((await officer.get('/settings/erasures')).text).toContain('2 entries erased');
    expect((await officer.post('/settings/erasures/preview', person)).text).toMatch(/already erased|no record of this/);
  });

  it('is offered first the laws of the request and of the controller, then all others by name', async () => {
    const world = await createWorld();
    const officer = await signedInAs(world, 'officer');
    const opened = await openCase(world.context.cases, {
      ...{ source: 'default', kind: 'erasure', channel: 'letter', jurisdiction: 'US-CA', actor: 'Olga' },
      receivedAt: new Date().toISOString(),
    });
    if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
    await world.context.projector.projected(opened.seq);
    const offered = async (form: Record<string, string>) => {
      const { text } = await officer.post('/settings/erasures/preview', form);
      const [, select = ''] = /<select[^>]*name="law"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
      return [...select.matchAll(/<option value="([^"]+)"[^>]*>([^<]+)/g)].map(([, id = '', name = '']) => ({
        id,
        name,
      }));
    };
    const ofCase = await offered({ by: 'case', caseId: opened.caseId });
    const { regimes } = world.context.cases.regimes;
    expect(ofCase.slice(0, 2).map(({ id }) => id)).toEqual(['eu-gdpr', 'us-ca']);
    expect(ofCase).toHaveLength(regimes.size);
    const others = ofCase.slice(2).map(({ id }) => regimes.get(id)?.law ?? '');
    expect(others).toEqual(others.toSorted((a, b) => a.localeCompare(b, 'en')));
    expect((await offered(person))[0]?.id).toBe('eu-gdpr');
  });

  it('is offered all laws by name, and asks for a second person, while the controller profile cannot be read', async () => {
    const world = await createWorld();
    const officer = await signedInAs(world, 'officer');
    await writeFile(world.context.config.controllerFile ?? '', 'name: [');
    const { status, text } = await officer.post('/settings/erasures/preview', person);
    expect([status, text.match(/<select[^>]*name="law"/g)?.length]).toEqual([200, 1]);
  });

  it('must give a reason and a law, tick a box, and confirm again if the plan has changed', async () => {
    const world = await createWorld();
    const officer = await signedInAs(world, 'officer');
    const preview = await officer.post('/settings/erasures/preview', person);
    const bare = await officer.post('/settings/erasures', { ...person, digest: digestIn(preview) });
    expect(bare.status).toBe(422);
    for (const problem of ['Choose a reason.', 'Choose the law that applies.', 'Tick the box to confirm'])
      expect(bare.text).toContain(problem);
    await consent(world, ZOE, 'c-zoe-3');
    const late = await officer.post('/settings/erasures', { ...person, ...reasons, digest: digestIn(preview) });
    expect([late.status, late.text.includes('The data to be erased has changed')]).toEqual([422, true]);
    expect(late.text).toContain('3 entries.');
    expect(await world.context.jobs.list({ kind: 'erase' })).toEqual([]);
    for (const [form, problem] of [
      [{ by: 'subject', source: 'default', identifier: '' }, 'Enter the person'],
      [{ by: 'subject', source: 'default', identifier: 'unknown-visitor' }, 'The ledger has no record of this person'],
      [{ by: 'case', caseId: 'dsar_none' }, 'dsar_none'],
      [{ by: 'entries', entries: 'x' }, 'x'],
      [{ by: 'period', source: '*', to: '31/12/2020', 'kind-webhook': 'yes' }, 'Enter days as YYYY-MM-DD.'],
      [{ by: 'period', source: '*', to: '2020-12-31' }, 'Choose the kinds of data received.'],
      [{ by: 'period', source: '', to: '2020-12-31', 'kind-webhook': 'yes' }, 'Choose a source, or every source.'],
      [{ by: 'everything' }, 'Choose what to erase.'],
    ] as const) {
      const refused = await officer.post('/settings/erasures/preview', form);
      expect([refused.status, refused.text.includes(problem)], JSON.stringify(form)).toEqual([422, true]);
    }
  });

  it('must override a hold with a separate tick', async () => {
    const world = await createWorld();
    const { context } = world;
    const officer = await signedInAs(world, 'officer');
    const hold = { source: 'default', caseId: null, subject: ZOE, from: null, to: null };
    const placed = await placeHold(
      { ...context.erasure, sources: context.sources },
      { ...hold, officer: 'Olga', reason: 'claim 7 of Zoe' },
    );
    if (placed.outcome !== 'placed') throw new Error(placed.problems.join(' '));
    const held = await confirm(officer);
    expect([held.status, held.text.includes(placed.holdId)]).toEqual([422, true]);
    expect(await context.jobs.list({ kind: 'erase' })).toEqual([]);
    await confirm(officer, person, { 'despite-0': placed.holdId }).then((page) => untilDone(world, officer, page));
    expect(await filesWith(context, ZOE)).toEqual([]);
  });

  it('can open the form from a request, already filled in', async () => {
    const world = await createOfficeWorld();
    await world.event('dsar.submitted', {
      request_id: 'r-1',
      type: 'access',
      email: 'zoe@example.net',
      submitted_at: new Date().toISOString(),
    });
    const officer = await signedInAs(world, 'officer');
    const [row] = await world.context.store.read.selectFrom('cases').select('case_id').execute();
    const link =
      /href="(\/settings\/erasures\?[^"]+)"/.exec((await officer.get(`/cases/${row?.case_id}`)).text)?.[1] ?? '';
    expect((await officer.get(link.replaceAll('&amp;', '&'))).text).toContain(`value="${row?.case_id}"`);
    const form = { by: 'case', source: '', caseId: row?.case_id ?? '' };
    const done = await untilDone(world, officer, await confirm(officer, form, { 'despite-0': row?.case_id ?? '' }));
    expect(done.text).toContain('Recorded as');
    expect(await filesWith(world.context, 'zoe@example.net')).toEqual([]);
  });

  it('must not be an auditor or an officer of another source', async () => {
    const world = await createWorld();
    const auditor = await signedInAs(world, 'auditor');
    expect((await auditor.get('/settings/erasures')).status).toBe(403);
    expect((await auditor.post('/settings/erasures/preview', person)).status).toBe(403);
    const elsewhere = await signedInAs(world, 'officer', { sources: ['elsewhere'] });
    for (const form of [
      person,
      { by: 'entries', entries: '1', source: 'elsewhere' },
      { by: 'entries', entries: '1', source: '' },
      { by: 'period', source: '*', to: '2099-12-31', 'kind-webhook': 'yes' },
    ]) {
      const refused = await elsewhere.post('/settings/erasures/preview', form);
      expect([403, 404, 422], JSON.stringify(form)).toContain(refused.status);
      expect(refused.text).not.toContain('Nothing is erased yet.');
    }
  });
});

describe('an erasure that stopped halfway', () => {
  it('can be started by the person who confirmed it if its job was never enqueued', async () => {
    const world = await createWorld();
    const proposal = await propose(world);
    const officer = await signedInAs(world, 'officer');
    const address = `/settings/erasures/${proposal.id}`;
    expect((await officer.get(address)).text).toContain('Erasure, not started');
    const done = await untilDone(world, officer, await officer.post(address, { decision: 'approve' }));
    expect(done.text).toContain('2 entries');
    expect(await filesWith(world.context, ZOE)).toEqual([]);
  });

  it('reports what was erased, with its certificate, and erases nothing twice if its job runs again after a crash', async () => {
    const world = await createWorld();
    const { context } = world;
    const proposal = await propose(world);
    const first = await carryOut(context.erasure, await planOfZoe(context), proposal);
    await context.jobs.enqueue(erasureJob(proposal, 'Olga'));
    const officer = await signedInAs(world, 'officer');
    const at = { headers: new Headers({ location: `/settings/erasures/${proposal.id}` }) } as Page;
    const done = await untilDone(world, officer, at);
    expect(done.text).toContain('2 entries');
    const certificate = /href="(\/documents\/[^"]+\/download)"/.exec(done.text)?.[1] ?? '';
    expect((await officer.get(certificate)).bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect(first.outcome === 'erased' && first.seqs.every((seq) => done.text.includes(`/entries/${seq}`))).toBe(true);
    expect(await listErasures(context.store.read, context.ledger)).toHaveLength(1);
    expect(await findProposal(context, proposal.id)).toBeNull();
  });
});

describe('an erasure job that ended before it said that it was done', () => {
  it('says so when it runs again, with the same certificate, instead of that it was withdrawn', async () => {
    const world = await createWorld();
    const { context } = world;
    const proposal = await propose(world);
    const resultOf = async () => {
      const { id } = await context.jobs.enqueue(erasureJob(proposal, 'Olga'));
      await expect
        .poll(async () => (await context.jobs.find(id))?.state, { timeout: 20_000 })
        .not.toMatch(/waiting|running/);
      const job = await context.jobs.find(id);
      expect([job?.state, job?.error]).toEqual(['done', null]);
      return job?.result;
    };
    const first = await resultOf();
    // The proposal is gone by now: it is removed before the job is noted as done.
    expect(await findProposal(context, proposal.id)).toBeNull();
    expect(await resultOf()).toEqual(first);
    expect(await listErasures(context.store.read, context.ledger)).toHaveLength(1);
    expect(await world.actions('document.produced')).toHaveLength(1);
  });
});

describe('a controller that requires two people', () => {
  it('shows a proposal under Today and in the notices until it is decided, but not to its proposer or without access to the source', async () => {
    const world = await createWorld('erasureNeedsSecondOfficer: true\n');
    const { context } = world;
    const olga = await signedInAs(world, 'officer', { name: 'Olga' });
    const otto = await signedInAs(world, 'officer', { name: 'Otto', sources: ['default'] });
    const others = [
      olga,
      await signedInAs(world, 'auditor'),
      await signedInAs(world, 'officer', { sources: ['elsewhere'] }),
    ];
    const address = (await confirm(olga)).headers.get('location') ?? '';
    const notices = async () => {
      const found = await findNotices({ ...context, pulled: [], warnings: [] });
      return found.filter(({ kind }) => kind === 'erasure-proposed').map(({ source }) => source);
    };
    const last = new Date(Date.now() + 14 * 86_400_000).toLocaleDateString('en-CA', { timeZone: 'Europe/Berlin' });
    const today = (await otto.get('/')).text;
    expect(today).toMatch(/Approve or withdraw the erasure that .*Olga.*One person/);
    expect(today).toContain(`href="${address}"`);
    expect(today).toContain(`<time datetime="${last}"`);
    expect((await otto.get(address)).text).toContain('Approve by');
    for (const other of others) expect((await other.get('/')).text).not.toContain('Approve or withdraw the erasure');
    expect(await notices()).toEqual(['default']);
    await otto.post(address, { decision: 'withdraw' });
    expect((await otto.get('/')).text).not.toContain('Approve or withdraw the erasure');
    expect(await notices()).toEqual([]);
    // An erasure that needs no second person does not claim to wait for one.
    await propose(world);
    expect(await notices()).toEqual([]);
  });

  it('erases only after another account approves', async () => {
    const world = await createWorld('erasureNeedsSecondOfficer: true\n');
    const { context } = world;
    const [olga, otto] = [
      await signedInAs(world, 'officer', { name: 'Olga' }),
      await signedInAs(world, 'officer', { name: 'Otto' }),
    ];
    const byLink = await confirm(await signedIn(world));
    expect([byLink.status, byLink.text.includes('second person’s approval')]).toEqual([422, true]);

    const proposed = await confirm(olga);
    const address = proposed.headers.get('location') ?? '';
    expect(await context.jobs.list({ kind: 'erase' })).toEqual([]);
    const own = await olga.post(address, { decision: 'approve' });
    expect([own.status, own.text.includes('another person must approve')]).toEqual([422, true]);
    const auditor = await signedInAs(world, 'auditor');
    expect((await auditor.post(address, { decision: 'approve' })).status).toBe(403);
    const elsewhere = await signedInAs(world, 'officer', { sources: ['elsewhere'] });
    expect((await elsewhere.get(address)).status).toBe(404);
    expect((await elsewhere.post(address, { decision: 'approve' })).status).toBe(404);
    // The proposal does not name the person in clear text, although the ledger still has the deliveries.
    const { value } = await context.store.read
      .selectFrom('settings')
      .select('value')
      .where('name', 'like', 'erasure-proposal %')
      .executeTakeFirstOrThrow();
    expect(value).not.toContain(ZOE);

    expect((await otto.get('/settings/erasures')).text).toContain(address);
    expect((await otto.get(address)).text).toContain('Approve and erase for good');
    const done = await untilDone(world, otto, await otto.post(address, { decision: 'approve' }));
    expect(done.text).toContain('2 entries');
    expect(await filesWith(context, ZOE)).toEqual([]);
    expect(await faultsIn(context)).toEqual(noFaults);
    const [erasure] = await context.store.read
      .selectFrom('settings')
      .select('name')
      .where('name', 'like', 'erasure-proposal %')
      .execute();
    expect(erasure).toBeUndefined();
  });

  it('erases nothing without an approval if somebody adds the job to the database', async () => {
    const world = await createWorld();
    const { context } = world;
    const proposal = await propose(world, { needsSecond: true });
    await context.jobs.enqueue(erasureJob(proposal, 'Olga'));
    await vi.waitFor(
      async () => expect((await context.jobs.list({ kind: 'erase' }))[0]?.finishedAt).not.toBeNull(),
      20_000,
    );
    const [job] = await context.jobs.list({ kind: 'erase' });
    expect(job).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('No second person has approved') as string,
    });
    expect(await listErasures(context.store.read, context.ledger)).toEqual([]);
    expect(await findProposal(context, proposal.id)).not.toBeNull();
  });

  it('erases nothing if the plan has changed or the proposal was withdrawn', async () => {
    const world = await createWorld('erasureNeedsSecondOfficer: true\n');
    const [olga, otto] = [await signedInAs(world, 'officer'), await signedInAs(world, 'officer')];
    const address = (await confirm(olga)).headers.get('location') ?? '';
    await consent(world, ZOE, 'c-zoe-3');
    const late = await otto.post(address, { decision: 'approve' });
    expect([late.status, late.text.includes('The data to be erased has changed')]).toEqual([422, true]);
    expect((await otto.post(address, { decision: 'withdraw' })).status).toBe(303);
    expect((await otto.get(address)).status).toBe(404);
    expect(await world.context.jobs.list({ kind: 'erase' })).toEqual([]);
    expect((await filesWith(world.context, ZOE)).length).toBeGreaterThan(0);
  });
});
