// SQLite only: the smallest form of the matrix. matrix.long.test.ts has PostgreSQL, every movement, and each feature alone.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alterFile } from '../tampering.ts';
import { unclaimedOf, whatThereIs } from './claims.ts';
import { compareMoved, fillIn } from './compare.ts';
import { features } from './features.ts';
import { backupAndRestore, type Movement } from './movements.ts';

test('every table, setting and file in DATA_DIR and every action is left by a feature of the matrix', async () => {
  const there = await whatThereIs();
  for (const names of Object.values(there)) expect(names.length).toBeGreaterThan(10);
  expect(unclaimedOf(features, there)).toEqual([]);
  const forgotten = features.filter(({ name }) => !name.startsWith('evidence of banners'));
  expect(unclaimedOf(forgotten, there)).toEqual([
    expect.stringContaining('leaves the table banner_evidence: add it'),
    expect.stringContaining('leaves the action banner.evidence-added: add it'),
    expect.stringContaining('leaves the action banner.evidence-retracted: add it'),
    expect.stringContaining('leaves the action banner.named: add it'),
    expect.stringContaining('leaves the file in DATA_DIR evidence: add it'),
  ]);
});

test('an installation with every feature is the same after `backup` and `restore`', async () => {
  const filled = await fillIn(features);
  expect.soft(filled.unfulfilled).toEqual([]);
  expect.soft(filled.unclaimed).toEqual([]);
  expect((await compareMoved(filled, backupAndRestore)).found).toEqual([]);
});

test('the matrix finds a file, a row and a part of a page that a movement loses, and a feature that leaves nothing', async () => {
  const some = features.filter(({ name }) => name.startsWith('evidence of banners'));
  const idle = {
    name: 'nothing',
    leaves: { tables: ['hand_overs'] as const, files: ['exports'], settings: ['notified'] },
  };
  const filled = await fillIn([...some, idle]);
  expect(filled.unfulfilled).toEqual([
    '“nothing” leaves no row in hand_overs',
    '“nothing” leaves no exports in DATA_DIR',
    '“nothing” leaves no setting notified',
  ]);
  const losing: Movement = {
    name: 'a careless one',
    async move(place) {
      const [name = ''] = await readdir(join(place.folder, 'evidence'));
      await rm(join(place.folder, 'evidence', name));
      await alterFile(`${place.folder}/ledger.sqlite`, "update people set role = 'auditor'");
      await alterFile(`${place.folder}/ledger.sqlite`, "update banner_evidence set note = 'second layer'");
      return { place, problems: [] };
    },
  };
  const { found } = await compareMoved(filled, losing);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^evidence\/[0-9a-f]{64} is missing$/),
      expect.stringMatching(/^table people: .*auditor/),
      expect.stringMatching(/^table banner_evidence: /),
      expect.stringMatching(/^page \/banners: .*second layer/),
      expect.stringMatching(/^verify: /),
      expect.stringMatching(/^rebuild --check: .*banner_evidence/),
    ]),
  );
});
