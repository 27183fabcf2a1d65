import { expect, test } from 'vitest';
import * as verifier from '../../reports/verifier/verify.mjs';
import { createProver, proofFiles } from '../../src/ledger/prove-entry.ts';
import { createTimeline } from '../../src/ledger/verify/check-times.ts';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld } from '../http/office-world.ts';

const day = (n: number) => `2026-07-${String(n).padStart(2, '0')}T12:00:00.000Z`;

test('an entry that is older than a checkpoint before it is named by verify, doctor and the verifier, without being a fault', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context } = world;
  world.setNow(day(31));
  await world.event('consent.recorded', { consent_id: 'c-1' });
  const sealed = await context.seal();
  if (!('checkpoint' in sealed)) throw new Error(sealed.outcome);
  expect((await context.verify()).misdated).toEqual([]);
  // Within the tolerance.
  world.setNow('2026-07-31T11:58:00.000Z');
  await world.event('consent.recorded', { consent_id: 'c-2' });
  expect((await context.verify()).misdated).toEqual([]);
  world.setNow(day(1));
  const backdated = await world.event('consent.recorded', { consent_id: 'c-3' });

  const found = await context.verify();
  expect(found.faults).toEqual([]);
  expect(found.misdated).toEqual([
    {
      seq: backdated,
      sentence: expect.stringMatching(
        /^it says that it was received on 2026-07-01T12:00:.*, but it was appended after the checkpoint at \d+ was made on 2026-07-31T12:00:.*: its place is proven, its time is not$/,
      ),
    },
  ]);
  const command = await runCli(world.folder, ['ledger', 'verify']);
  expect([command.code, command.stdout]).toEqual([
    0,
    expect.stringContaining(`time not proven: entry ${backdated}: it says that it was received on 2026-07-01`),
  ]);
  expect((await runCli(world.folder, ['doctor'])).stdout).toContain(
    `Entry ${backdated} says that it was received on 2026-07-01`,
  );

  await context.seal();
  const prove = createProver(context);
  const files = new Map([['log.vkey', `${context.verifierKey}\n`]]);
  for (const seq of [1, backdated]) {
    const proof = await prove(seq, 'last');
    if (proof.outcome === 'unproven' || proof.inclusion === null) throw new Error(JSON.stringify(proof));
    files.set(`proofs/${seq}.tlog-proof`, proofFiles(proof.entry, proof.inclusion, false).tlogProof);
  }
  const { ok, checks } = (await verifier.check(
    new Map([...files].map(([name, text]) => [name, { content: new Uint8Array(Buffer.from(text)), broken: false }])),
    { isWhole: false },
  )) as { ok: boolean; checks: { state: string; what: string; text: string }[] };
  expect(ok).toBe(true);
  expect(checks).toContainEqual({
    state: 'note',
    what: `Entry ${backdated}`,
    text: expect.stringMatching(
      /^says that it was received on 2026-07-01T.*, but comes after entry 1, received on 2026-07-31T.*: its place is proven, its time is not$/,
    ) as unknown,
  });
});

test('entries and statements are compared in both directions, each with the nearest that matters', () => {
  const timeline = createTimeline([2, 4, 4]);
  for (const [seq, at] of [
    [1, day(10)],
    [2, day(11)],
    [3, day(5)],
    [4, day(12)],
    [5, day(20)],
    [6, day(3)],
  ] as const)
    timeline.entry(seq, at);
  const misdated = timeline.misdated([
    { what: 'the time stamp of tsa', size: 4, at: day(9) },
    { what: 'the checkpoint at 4', size: 4, at: day(13) },
    { what: 'the checkpoint at 2', size: 2, at: day(11) },
  ]);
  expect(misdated.map(({ seq, sentence }) => `${seq}: ${sentence}`)).toEqual([
    `3: it says that it was received on ${day(5)}, but it was appended after the checkpoint at 2 was made on ${day(11)}: its place is proven, its time is not`,
    `6: it says that it was received on ${day(3)}, but it was appended after the checkpoint at 4 was made on ${day(13)}: its place is proven, its time is not`,
    `4: it says that it was received on ${day(12)}, but the time stamp of tsa covers it and was made on ${day(9)}: one of the two clocks was wrong`,
  ]);
});

test('a million entries and many statements are compared at once', () => {
  const sizes = Array.from({ length: 50_000 }, (_, n) => n * 20);
  const timeline = createTimeline(sizes);
  const begin = performance.now();
  for (let seq = 1; seq <= 1_000_000; seq += 1) timeline.entry(seq, '2026-07-01T00:00:00.000Z');
  expect(timeline.misdated(sizes.map((size) => ({ what: 'x', size, at: '2026-07-01T00:00:00.000Z' })))).toEqual([]);
  expect(performance.now() - begin).toBeLessThan(20_000);
});
