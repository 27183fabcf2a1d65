import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../src/context/context.ts';
import { lastSeq } from '../../src/store/queries/fold-position.ts';
import { fakeConsentLog, minuteRows } from '../sync/fake-consent-log.ts';
import { cli, emptyPlace, fill, opened, type Place, type Restored } from './backup-world.ts';

/** Two processes of one installation, each closed when the test ends. */
async function twoProcesses(place: Place): Promise<readonly [Context, Context]> {
  const first = await opened(place);
  onTestFinished(() => first.close());
  const second = await opened(place);
  onTestFinished(() => second.close());
  return [first, second];
}

/** What a promoted replica looks like that had not received the entries after `end`. */
async function loseTail({ store }: Context, end: number): Promise<void> {
  await store.transaction(async ({ query }) => {
    await query.deleteFrom('entries').where('seq', '>', end).execute();
    await query.deleteFrom('checkpoints').where('size', '>', end).execute();
  });
}

test('after a fail-over that lost its tail, no process uses its numbers again, nor signs, until the loss is recorded', async () => {
  const place = await emptyPlace();
  const [ours, theirs] = await twoProcesses(place);
  await fill(ours, 5);
  const end = await lastSeq(ours.store.read);
  await fill(theirs, 39, 5);
  // `ours` last appended at the end to which the database now falls back: only `theirs` saw more.
  await loseTail(ours, end);
  await expect(fill(ours, 1, 100)).rejects.toThrow(`the ledger ends at ${end}, but ended at ${end + 39} before`);
  expect(ours.refusal()?.reason).toContain(`${end + 1} to ${end + 39} are missing`);
  await expect(fill(ours, 1, 101)).rejects.toThrow('The ledger refuses new entries');
  await expect(fill(theirs, 1, 102)).rejects.toThrow(`ended at ${end + 39} before`);
  expect((await theirs.seal()).outcome).toBe('refused');
  expect(await lastSeq(ours.store.read)).toBe(end);
  await Promise.all([ours.close(), theirs.close()]);

  // A restart has not forgotten it, and neither has `doctor`.
  const again = await opened(place);
  expect(again.refusal()).toMatchObject({ code: 'journal-ahead' });
  await expect(fill(again, 1, 103)).rejects.toThrow('are missing');
  await again.close();
  const doctor = await cli(place, 'doctor');
  expect(doctor.stdout).toContain(`${end + 1} to ${end + 39} are missing`);

  const accepted = await cli(place, 'restore', '--database-as-it-is', '--json');
  expect(accepted).toMatchObject({ code: 0 });
  const missing = { from: end + 1, to: end + 39 };
  expect(JSON.parse(accepted.stdout) as Restored).toMatchObject({ epoch: 2, first: end + 1, lost: 39, missing });
  const later = await opened(place);
  onTestFinished(() => later.close());
  expect(later.refusal()).toBeNull();
  await fill(later, 1, 104);
  const begins = await later.store.read
    .selectFrom('entries')
    .select('body')
    .where('seq', '=', end + 1)
    .executeTakeFirstOrThrow();
  expect(JSON.parse(String(begins.body))).toMatchObject({ action: 'installation.restored', missing });
});

test('what a lost tail held of the consent log is pulled again by the next sync, from where the ledger now ends', async () => {
  const rows = minuteRows(12, new Date(Date.now() - 15 * 60_000).toISOString());
  const log = await fakeConsentLog(rows.slice(0, 5));
  const empty = await emptyPlace();
  const place = { ...empty, env: { ...empty.env, SERVICE_BASE_URL: log.baseUrl, SERVICE_API_KEY: 'pak_live_test' } };
  const sync = async () => {
    const ran = await cli(place, 'sync', '--banner', 'bnr_1', '--json');
    expect(ran.code, ran.stderr).toBe(0);
    return JSON.parse(ran.stdout) as unknown;
  };
  expect(await sync()).toMatchObject([{ banners: [{ stored: 5 }] }]);
  const context = await opened(place);
  const end = await lastSeq(context.store.read);
  const positions = await context.store.read.selectFrom('sync_positions').selectAll().execute();
  log.rows = [...rows];
  expect(await sync()).toMatchObject([{ banners: [{ stored: 7 }] }]);
  // The replica also lacked where this sync had arrived.
  await loseTail(context, end);
  await context.store.transaction(async ({ query, insertMany }) => {
    await query.deleteFrom('sync_positions').execute();
    await insertMany('sync_positions', positions);
  });
  await context.close();
  const accepted = await cli(place, 'restore', '--database-as-it-is');
  expect(accepted.code, accepted.stderr).toBe(0);
  expect(accepted.stdout).toContain('The next sync continues where this ledger ends');
  expect(await sync()).toMatchObject([{ banners: [{ stored: 7 }] }]);
});

test('a process that does not append notices a lost tail when it is asked whether it is ready', async () => {
  const place = await emptyPlace();
  const [ours, theirs] = await twoProcesses(place);
  await fill(theirs, 3);
  await ours.noticeLoss();
  expect(ours.refusal()).toBeNull();
  await loseTail(theirs, 2);
  await ours.noticeLoss();
  expect(ours.refusal()?.reason).toContain('3 to 3 are missing');
});
