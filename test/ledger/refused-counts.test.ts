import { expect, test } from 'vitest';
import { produceReport } from '../../src/documents/produce-report.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { engine } from '../servers/databases.ts';
import { alter, bytes } from '../tampering.ts';

test('verify names counts of refused deliveries below those that a report observed, and rows that keep others from being counted', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context, folder } = world;
  const faults = async () => (await context.verify()).faults.map(({ fault, sentence }) => `${fault}: ${sentence}`);
  const refuse = async (times: number) => {
    for (let n = 0; n < times; n += 1) context.rejected.count('default', 'mismatch');
    await context.rejected.flush();
  };
  const observe = async () => {
    const wanted = { name: 'consent-audit', source: 'default', from: '2026-01-01', to: '2100-01-01' };
    const made = await produceReport(context.documents, { ...wanted, format: 'csv', actor: 'Olga' });
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
  };
  const later = (minutes: number) => world.setNow(new Date(Date.now() + minutes * 60_000).toISOString());
  await refuse(3);
  later(2);
  await observe();
  expect(await faults()).toEqual([]);
  // A higher count is not a fault, nor is one that came after the observation.
  await refuse(2);
  later(5);
  await observe();
  expect(await faults()).toEqual([]);

  await alter(folder, `update rejected_counts set count = 2 where count = 3`);
  expect(await faults()).toEqual([
    expect.stringMatching(
      /^refused-altered: it observed 3 refused deliveries of "default" \(mismatch\) from 20\S+ to \S+ UTC, but the database counts 2$/,
    ),
  ]);
  await alter(
    folder,
    `delete from rejected_counts where count = 2 and minute = (select min(minute) from rejected_counts)`,
  );
  expect(await faults()).toEqual([expect.stringContaining('but the database counts 0')]);
  // A report made after that does not hide it.
  later(8);
  await observe();
  expect(await faults()).toEqual([expect.stringContaining('but the database counts 0')]);
});

test('no row of the database keeps refused deliveries from being counted, and verify names those that are impossible', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context, folder } = world;
  const faults = async () => (await context.verify()).faults.map(({ fault, sentence }) => `${fault}: ${sentence}`);
  const minute = context.clock().toISOString().slice(0, 16);
  const next = new Date(context.clock().getTime() + 60_000).toISOString().slice(0, 16);
  for (const at of [minute, next])
    await alter(folder, `insert into rejected_counts values ('default', '${at}', 'mismatch', 2147483647)`);
  const sealed = bytes('x');
  const times = `'9999-01-01T00:00:00.000Z', '192.0.2.1', 'mismatch', 5, ${sealed}`;
  const overriding = engine === 'postgres' ? 'overriding system value' : '';
  await alter(
    folder,
    `insert into rejected_deliveries (id, source, received_at, address, reason, bytes, sealed) ${overriding} values (9223372036854775807, 'default', ${times})`,
  );
  const body = { rawBody: Buffer.from('{}'), headers: {}, address: '192.0.2.7' };
  context.rejected.note({ source: 'default', reason: 'missing', ...body });
  context.rejected.note({ source: 'default', reason: 'mismatch', ...body });
  await context.rejected.flush().catch(() => undefined);
  const counts = await context.rejected.counts('2000');
  expect(counts.filter(({ reason }) => reason === 'missing')).toMatchObject([{ count: 1 }]);
  expect(await faults()).toEqual([
    expect.stringMatching(/^refused-altered: \d counts of refused deliveries in the database are impossible/),
    expect.stringMatching(/^refused-altered: 1 refused deliveries in the database are impossible/),
  ]);
});
