import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { moveCase } from '../../src/cases/move-case.ts';
import { lookUpConsent } from '../../src/consent/look-up.ts';
import { liftHold, placeHold } from '../../src/erasure/holds.ts';
import { reviewRetention } from '../../src/erasure/retention.ts';
import type { JobContext } from '../../src/jobs/job.ts';
import { profileSchema } from '../../src/law/profile.ts';
import { createJobHandlers } from '../../src/worker/worker.ts';
import { runHere } from '../cli/command-line.ts';
import { createOfficeWorld, type OfficeWorld } from '../http/office-world.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { faultsIn, noFaults } from './world.ts';

const DAY = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();
const chose = (world: OfficeWorld, id: string, visitor: string, consent: object) =>
  world.event('consent.recorded', { consent_id: id, banner_id: 'b', visitor_hash: visitor, consent });

async function pulledRow({ context }: OfficeWorld, id: string, visitor: string) {
  const body = Buffer.from(
    JSON.stringify({ consent_id: id, banner_id: 'b', visitor_hash: visitor, consent: { ads: true } }),
  );
  const receivedAt = new Date().toISOString();
  const entry = {
    source: 'default',
    kind: 'consent-log' as const,
    receivedAt,
    meta: Buffer.from('{"bannerId":"b"}'),
    body,
  };
  const [appended] = await context.ledger.append([{ ...entry, dedupeKey: context.ledger.keyOf('consent-log', id) }]);
  return appended!.seq;
}

it('the nightly erasure removes due data if the profile says so, and keeps valid consent, held data and open cases', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'retention.yaml');
  await writeFile(file, 'name: Acme GmbH\ncountry: DE\nretention: { accessLog: { months: 12 } }\n');
  const world = await createOfficeWorld({ CONTROLLER_FILE: file }, { worker: false });
  const { context } = world;
  const confirmed = await chose(world, 'c-1', 'visitor-1', { ads: true });
  const row = await pulledRow(world, 'c-1', 'visitor-1');
  const refusal = await chose(world, 'c-2', 'visitor-2', { ads: false });
  const standing = await chose(world, 'c-3', 'visitor-3', { ads: true });
  const asked = await world.event('dsar.submitted', { type: 'access', email: 'zoe@example.net', jurisdiction: 'DE' });
  const open = await world.event('dsar.submitted', { type: 'access', email: 'ada@example.net', jurisdiction: 'DE' });
  const caseId = `default-${asked}`;
  const moved = await moveCase(context.cases, {
    caseId,
    basedOn: 0,
    move: 'withdraw',
    details: { how: 'by mail' },
    actor: 'Olga',
  });
  if (moved.outcome !== 'moved') throw new Error(JSON.stringify(moved));
  const asOf = await context.projector.catchUp();
  await lookUpConsent(context, { source: 'default', identifier: 'visitor-1', at: inDays(0), asOf, actor: 'Olga' });
  const hold = { officer: 'Olga', reason: 'claim 7', source: null, caseId, subject: null, from: null, to: null };
  const placed = await placeHold({ ...context.erasure, sources: context.sources }, hold);
  if (placed.outcome !== 'placed') throw new Error(JSON.stringify(placed));

  const night = async (days: number) => {
    world.setNow(inDays(days));
    await createJobHandlers(context)['retention']!(null, {} as JobContext);
    const rows = await context.store.read
      .selectFrom('entries')
      .select('seq')
      .where('body', 'is', null)
      .orderBy('seq')
      .execute();
    return rows.map(({ seq }) => seq);
  };
  expect(await night(80)).toEqual([]);
  // Three months: decisions that the log confirms.
  expect(await night(100)).toEqual([confirmed]);
  // A year, as the profile sets: look-ups.
  expect(await night(380)).toEqual([confirmed, placed.seq - 1]);
  // Three years: a refusal. Standing consent, a held case and an unanswered one stay.
  const due = (await reviewRetention(context.erasure)).map(({ kind, due: { seqs } }) => [kind, seqs.length]);
  expect(due).toContainEqual(['decisions', 0]);
  expect(await night(1200)).toEqual([confirmed, refusal, placed.seq - 1].sort((a, b) => a - b));
  expect(await liftHold(context.erasure, { holdId: placed.holdId, officer: 'Olga', reason: 'settled' })).toEqual({
    outcome: 'lifted',
  });
  const left = await night(1201);
  expect(left).toEqual(expect.arrayContaining([asked, moved.seq]));
  for (const seq of [row, standing, open]) expect(left).not.toContain(seq);
  expect(await night(1202)).toEqual(left);
  const erasures = await context.store.read
    .selectFrom('entries')
    .select('body')
    .where('kind', '=', 'erasure')
    .execute();
  expect(erasures.map(({ body }) => JSON.parse(body!.toString()) as object)).toEqual(
    Array.from(
      { length: 4 },
      () => expect.objectContaining({ officer: 'schedule', reason: 'retention', law: 'eu-gdpr' }) as object,
    ),
  );
  expect(await faultsIn(context)).toEqual(noFaults);
});

it('the profile refuses unlimited retention without a reason', () => {
  const parse = (retention: unknown) => profileSchema.safeParse({ name: 'A', retention }).success;
  expect(parse({ decisions: { forEver: 'ordered by the court on 2026-05-04' } })).toBe(true);
  for (const decisions of [{ forEver: '' }, { forEver: true }, 'for ever', { months: 0 }, {}])
    expect(parse({ decisions })).toBe(false);
});

it('`retention` shows periods with their grounds, erases nothing unless a profile says so, and lists and lifts holds', async () => {
  const folder = await temporaryFolder();
  const run = (...args: string[]) => runHere(folder, args, environment(folder));
  const shown = await run('retention', 'show', '--json');
  expect((JSON.parse(shown.stdout) as { kept: object[] }).kept).toContainEqual(
    expect.objectContaining({ source: 'default', kind: 'cases', period: { months: 36 }, isSet: false }),
  );
  expect((await run('retention', 'run', '--officer', 'Olga')).stdout).toContain('nothing is erased automatically');
  const placed = await run('hold', 'add', '--reason', 'claim 7', '--officer', 'Olga', '--source', 'default', '--json');
  const { holdId } = JSON.parse(placed.stdout) as { holdId: string };
  expect((await run('hold', 'list')).stdout).toContain(`${holdId}  `);
  expect(await run('hold', 'lift', 'hold-00000000', '--reason', 'r', '--officer', 'Olga')).toMatchObject({ code: 2 });
  expect(await run('hold', 'lift', holdId, '--reason', 'settled', '--officer', 'Olga')).toMatchObject({ code: 0 });
  expect((await run('hold', 'list')).stdout).toContain('No holds.');
});
