import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { signCheckpoint } from '../../src/crypto/checkpoint.ts';
import { commitmentOf, leafHashOf, sealEntry } from '../../src/crypto/entry.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { pinIdentity } from '../../src/ledger/identity.ts';
import { createJournal, type Journal } from '../../src/ledger/journal.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { entryFromRow } from '../../src/ledger/read-entries.ts';
import { sealLedger } from '../../src/ledger/seal.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { engine } from '../servers/databases.ts';
import { alter, bytes } from '../tampering.ts';
import { openStoreIn, runsAll, temporaryFolder, testKeys } from '../temporary.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const at = '2026-07-01T10:00:00.000Z';
const clock = () => new Date('2026-07-01T12:00:00Z');

let folder: string;
let store: Store;
let ledger: Ledger;
let journal: Journal;

const entryOf = (text: string, source = 'default') => {
  const body = Buffer.from(text);
  return {
    source,
    kind: 'webhook' as const,
    dedupeKey: ledger.keyOf(body),
    receivedAt: at,
    meta: Buffer.from('{"verdict":"verified"}'),
    body,
  };
};
const seal = (into = journal) =>
  sealLedger({
    store,
    journal: into,
    appendKey: testKeys.append,
    signingKey: privateKey,
    instance: 'test',
    epoch: 1,
    clock,
  });
const verify = (from = journal, since = 0) =>
  verifyLedger({
    witnessed: null,
    since,
    store,
    journal: from,
    keys: testKeys,
    publicKey,
    instance: 'test',
    epoch: 1,
    evidenceFolder: folder,
    documentsFolder: folder,
  });
const found = async () => (await verify()).faults.map(({ seq, fault }) => [seq, fault]);

const tamper = (...statements: string[]) => alter(folder, ...statements);

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStoreIn(folder);
  ledger = createLedger({ store, keys: testKeys });
  journal = createJournal(`${folder}/journal`);
  onTestFinished(async () => {
    await ledger.close();
    await store.close();
  });
  for (let i = 1; i <= 12; i += 1) await ledger.append([entryOf(`{"n":${i}}`, i % 3 === 0 ? 'other' : 'default')]);
  await seal();
  await ledger.append([entryOf('unsealed')]);
});

test('an untouched ledger has no fault, and the result says what is not sealed yet', async () => {
  const verification = await verify();
  expect(verification.faults).toEqual([]);
  expect(verification).toMatchObject({ entries: 13, unsealed: 1, checkpoints: 1, sources: 2 });
});

describe('verify names the seq and the fault of', () => {
  test('an edited body', async () => {
    await tamper(`update entries set body = ${bytes('{"n":99}')} where seq = 5`);
    expect(await found()).toEqual([[5, 'body-edited']]);
  });
  // What is read decides, whichever database it comes from.
  if (!runsAll) return;
  test('an edited body whose key was adapted', async () => {
    const body = Buffer.from('{"n":99}');
    await tamper(`update entries set body = ${bytes(body)}, dedupe_key = ${bytes(ledger.keyOf(body))} where seq = 5`);
    expect((await found())[0]).toEqual([5, 'meta-edited']);
  });
  test('an edited meta', async () => {
    await tamper(`update entries set meta = ${bytes('{}')} where seq = 5`);
    expect(await found()).toEqual([[5, 'meta-edited']]);
  });
  test('an edited time', async () => {
    await tamper(`update entries set received_at = '2026-06-01T10:00:00.000Z' where seq = 5`);
    expect(await found()).toEqual([[5, 'identity-edited']]);
  });
  // The second has the bytes of "webhook" in Latin-1, truncated to one byte per character.
  test.each(['action', '\u0177ebhook', 'webhook ', 'WEBHOOK', ''])('an edited kind (%j)', async (kind) => {
    await tamper(`update entries set kind = '${kind}' where seq in (5, 13)`);
    expect(await found()).toEqual([
      [5, 'kind-edited'],
      [13, 'kind-edited'],
    ]);
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 13 });
  });
  test('an entry of a kind that this program does not write, although a holder of the key wrote it', async () => {
    const odd = { ...entryOf('odd'), kind: 'webhooks' as 'webhook' };
    await store.transaction((tx) => tx.insertEntries([sealEntry(odd, 14, 10, Buffer.alloc(32, 1), testKeys.append)]));
    expect(await found()).toEqual([[14, 'foreign-entry']]);
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 14 });
  });
  test('an edited key', async () => {
    await tamper(`update entries set dedupe_key = ${bytes(randomBytes(32))} where seq = 5`);
    expect(await found()).toEqual([[5, 'key-edited']]);
  });
  test('a deleted entry', async () => {
    await tamper('delete from entries where seq = 5');
    expect((await found())[0]).toEqual([5, 'missing']);
  });
  test('deleted entries at the end', async () => {
    await tamper('delete from entries where seq >= 11');
    expect(await found()).toContainEqual([11, 'truncated']);
  });
  test('a deleted entry whose followers were renumbered', async () => {
    await tamper(
      'delete from entries where seq = 5',
      'update entries set seq = seq - 1 where seq > 5',
      `update entries set source_seq = source_seq - 1 where seq >= 5 and source = 'default'`,
    );
    const faults = await found();
    expect(faults[0]).toEqual([5, 'place-edited']);
    expect(faults).toContainEqual([12, 'root-mismatch']);
  });
  test('two swapped entries', async () => {
    await tamper(
      'update entries set seq = -4 where seq = 4',
      'update entries set seq = 4 where seq = 5',
      'update entries set seq = 5 where seq = -4',
    );
    expect((await found()).filter(([, fault]) => fault === 'place-edited')).toEqual([
      [4, 'place-edited'],
      [5, 'place-edited'],
    ]);
  });
  test('an entry inserted in the middle', async () => {
    await tamper(
      'update entries set seq = -seq where seq > 5',
      'update entries set seq = 1 - seq where seq < 0',
      `insert into entries select 6, 'default', 99, kind, ${bytes(randomBytes(32))}, received_at, meta, body, salt, commitment, leaf_hash, mac from entries where seq = 5`,
    );
    expect((await found())[0]?.[0]).toBe(6);
    expect((await found()).length).toBeGreaterThan(7);
  });
  test('an entry written straight into the database with correct hashes but without the key', async () => {
    const fake = sealEntry(entryOf('fake'), 14, 10, Buffer.alloc(32, 1), Buffer.alloc(32, 9));
    await store.transaction((tx) => tx.insertEntries([fake]));
    expect(await found()).toEqual([[14, 'foreign-entry']]);
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 14 });
  });
  test('a whole history rewritten with correct hashes and the key, against its checkpoint', async () => {
    const row = await store.read.selectFrom('entries').selectAll().where('seq', '=', 5).executeTakeFirstOrThrow();
    const entry = entryFromRow(row);
    const body = Buffer.from('{"n":99}');
    const salt = entry.salt as Buffer;
    const changed = {
      ...entry,
      body,
      dedupeKey: ledger.keyOf(body),
      commitment: commitmentOf(salt, entry.meta as Buffer, body),
    };
    const sealed = sealEntry({ ...changed, meta: entry.meta as Buffer }, 5, entry.sourceSeq, salt, testKeys.append);
    expect(sealed.leafHash).toEqual(leafHashOf(changed));
    await tamper(
      `update entries set body = ${bytes(body)}, dedupe_key = ${bytes(sealed.dedupeKey)}, commitment = ${bytes(sealed.commitment)},
        leaf_hash = ${bytes(sealed.leafHash)}, mac = ${bytes(sealed.mac)} where seq = 5`,
    );
    expect(await found()).toEqual([
      [12, 'root-mismatch'],
      [12, 'root-mismatch'],
    ]);
  });
  test('a forged checkpoint, and one that the journal does not know', async () => {
    await tamper(`update checkpoints set note = replace(note, substr(note, length(note) - 19, 6), 'AAAAAA')`);
    const faults = await found();
    expect(faults).toContainEqual([12, 'checkpoint-invalid']);
    expect(faults).toContainEqual([12, 'not-in-journal']);
  });
  test('content that is missing without a recorded erasure, in whole or in part', async () => {
    await tamper(
      'update entries set body = null, meta = null, salt = null where seq = 5',
      'update entries set salt = null where seq = 7',
    );
    expect(await found()).toEqual([
      [5, 'erased-without-record'],
      [7, 'partial-erasure'],
    ]);
  });
  test.each(['consent-ledger/test/2', 'consent-ledger/another/1'])(
    'a validly signed note of another origin in the journal (%s)',
    async (origin) => {
      await journal.write(signCheckpoint({ origin, size: 40, root: randomBytes(32) }, privateKey), at);
      expect(await found()).toEqual([[40, 'journal-invalid']]);
    },
  );
  test('an epoch raised in the database, which would exclude every checkpoint', async () => {
    const { faults } = await verifyLedger({
      witnessed: null,
      store,
      journal,
      keys: testKeys,
      publicKey,
      instance: 'test',
      epoch: 2,
      evidenceFolder: folder,
      documentsFolder: folder,
    });
    expect(faults.map(({ seq, fault }) => [seq, fault])).toEqual([[null, 'identity-altered']]);
  });
  test.each([
    ['time', `created_at = '2026-07-01T11:00:00.000Z'`],
    ['right edge', `frontier = ${bytes(Buffer.alloc(64))}`],
    ['MAC', `mac = ${bytes(Buffer.alloc(32))}`],
  ])('an edited %s of a checkpoint', async (_what, change) => {
    await tamper(`update checkpoints set ${change}`);
    expect(await found()).toEqual([[12, 'checkpoint-invalid']]);
  });
  test.each([
    ['past the end of the ledger', 40],
    ['past entries that were not projected', 13],
  ])('a position of the read models %s', async (_what, seq) => {
    await tamper(`insert into fold_positions (name, seq) values ('projector', ${seq})`);
    expect(await found()).toEqual([[null, 'position-altered']]);
  });
  test.each([
    ['altered', 'file-altered'],
    [null, 'file-missing'],
  ])('a document that it registers, with the file %s', async (content, fault) => {
    const body = canonicalJson({
      ...{
        action: 'document.produced',
        actor: 'a',
        documentId: 'd-1',
        name: 'audit',
        format: 'csv',
        bytes: 1,
        asOf: 1,
      },
      ...{ sha256: sha256Hex(Buffer.from('whole')), caseId: null, parameters: {} },
    });
    await ledger.append([{ ...entryOf('x'), kind: 'action', body, dedupeKey: ledger.keyOf('action', 'd-1') }]);
    await writeFile(`${folder}/d-1.csv`, 'whole');
    expect(await verify()).toMatchObject({ faults: [], documents: 1 });
    if (content === null) await rm(`${folder}/d-1.csv`);
    else await writeFile(`${folder}/d-1.csv`, content);
    expect(await found()).toEqual([[14, fault]]);
  });
  test('an identity that was pinned and then changed, or whose pin is missing', async () => {
    const set = (name: string, value: string) =>
      store.transaction((tx) => tx.insertMany('settings', [{ name, value }], 'replace'));
    const pin = () => pinIdentity(store, journal, testKeys, { instance: 'test', epoch: 1, publicKey });
    await set('instance_id', 'test');
    await set('epoch', '1');
    expect(await found()).toEqual([[null, 'identity-altered']]);
    // A ledger of a version that did not pin an identity yet: its journal is signed for this identity.
    expect(await pin()).toBe(true);
    expect(await found()).toEqual([]);
    for (const [name, value] of [
      ['epoch', '2'],
      ['instance_id', 'other'],
      ['identity_pin', '00'],
    ] as const) {
      const before = await store.read
        .selectFrom('settings')
        .select('value')
        .where('name', '=', name)
        .executeTakeFirstOrThrow();
      await set(name, value);
      expect(await found()).toEqual([[null, 'identity-altered']]);
      await set(name, before.value);
    }
    await tamper(
      `delete from settings where name = 'identity_pin'`,
      `update settings set value = '2' where name = 'epoch'`,
    );
    expect(await pinIdentity(store, journal, testKeys, { instance: 'test', epoch: 2, publicKey })).toBe(false);
  });
  test('an edited journal', async () => {
    const [name] = await readdir(`${folder}/journal`);
    const file = `${folder}/journal/${name}`;
    await writeFile(file, (await readFile(file, 'utf8')).replace('\n12\n', '\n11\n'));
    expect((await found()).map(([, fault]) => fault)).toContain('journal-invalid');
  });
});

test('an erasure that is recorded as an entry is not a fault', async () => {
  const body = Buffer.from('{"seqs":[5]}');
  await ledger.append(
    [
      {
        source: 'default',
        kind: 'erasure',
        dedupeKey: ledger.keyOf('erasure', '5'),
        receivedAt: at,
        meta: Buffer.from('{}'),
        body,
      },
    ],
    (tx) =>
      tx.query
        .updateTable('entries')
        .set({ body: null, meta: null, salt: null })
        .where('seq', '=', 5)
        .execute()
        .then(() => undefined),
  );
  expect(await verify()).toMatchObject({ faults: [], erased: 1 });
});

test('sealing continues from the last checkpoint and gives the root of the whole', async () => {
  const second = await seal();
  expect(second).toMatchObject({ outcome: 'sealed', checkpoint: { size: 13 } });
  expect(await seal()).toMatchObject({ outcome: 'unchanged', checkpoint: { size: 13 } });
  const verification = await verify();
  expect(verification).toMatchObject({ faults: [], checkpoints: 2, unsealed: 0 });
  if (second.outcome !== 'sealed') throw new Error(second.outcome);
  expect(verification.root).toBe(second.checkpoint.root.toString('hex'));
});

test('a checkpoint that reached the journal but not the database is not a fault, and the next seal continues', async () => {
  const cut = sealing(async () => {
    throw new Error('the process ends here');
  });
  await expect(cut).rejects.toThrow('ends here');
  expect(await verify()).toMatchObject({ faults: [], checkpoints: 2, unsealed: 0 });
  await ledger.append([entryOf('later')]);
  expect(await seal()).toMatchObject({ outcome: 'sealed', checkpoint: { size: 14 } });
  expect(await verify()).toMatchObject({ faults: [], checkpoints: 3, unsealed: 0 });

  async function sealing(afterwards: () => Promise<void>) {
    return seal({ ...journal, write: (note, time) => journal.write(note, time).then(afterwards) });
  }
});

test('a note that was cut off while being written is shown, and is not a fault', async () => {
  const [name] = await readdir(`${folder}/journal`);
  await appendFile(`${folder}/journal/${name}`, 'consent-ledger/test/1\n13\nqL4x');
  expect(await verify()).toMatchObject({ faults: [], unfinishedNotes: 1 });
  await seal();
  expect(await verify()).toMatchObject({ faults: [], unfinishedNotes: 1, checkpoints: 2 });
});

test('processes that seal at once, over the same or different numbers of entries, leave a sound ledger', async () => {
  const sealings = [];
  for (let i = 0; i < 12; i += 1) {
    sealings.push(seal(), seal());
    await ledger.append([entryOf(`more ${i}`)]);
  }
  await Promise.all(sealings);
  await seal();
  expect(await verify()).toMatchObject({ faults: [], unsealed: 0, entries: 25 });
});

test('a seal while verify runs is not a fault', async () => {
  const slow: Journal = {
    ...journal,
    async *read() {
      yield* journal.read();
      await seal();
    },
  };
  expect((await verify(slow)).faults).toEqual([]);
});

test('an erasure while verify runs is not a fault', async () => {
  const body = Buffer.from('{"seqs":[700]}');
  await Promise.all(Array.from({ length: 700 }, (_, i) => ledger.append([entryOf(`more ${i}`)])));
  const erase = () =>
    ledger.append(
      [
        {
          source: 'default',
          kind: 'erasure',
          dedupeKey: ledger.keyOf('erasure', '700'),
          receivedAt: at,
          meta: Buffer.from('{}'),
          body,
        },
      ],
      (tx) =>
        tx.query
          .updateTable('entries')
          .set({ body: null, meta: null, salt: null })
          .where('seq', '=', 700)
          .execute()
          .then(() => undefined),
    );
  // After the first page of entries was read, and before the page with the erased entry.
  let erased = false;
  const read = store.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (Number(result.rows[0]?.fitting) === 500 && !erased) {
        erased = true;
        await erase();
      }
      return result;
    },
  });
  const verification = await verifyLedger({
    witnessed: null,
    store: { ...store, read },
    journal,
    keys: testKeys,
    publicKey,
    instance: 'test',
    epoch: 1,
    evidenceFolder: folder,
    documentsFolder: folder,
  });
  expect(verification).toMatchObject({ faults: [], erased: 1 });
});

describe('an attacker with write access to the database', () => {
  const claim = (size: string, frontier: string) =>
    tamper(
      `insert into checkpoints select ${size}, epoch, root, ${frontier}, note, created_at, mac from checkpoints where size = 12`,
    );

  test('cannot stop the sealer with a checkpoint over more entries than exist', async () => {
    await claim('1024', bytes(Buffer.alloc(32)));
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 1024 });
    expect(await found()).toContainEqual([1024, 'checkpoint-invalid']);
  });
  test('cannot make the sealer or verify fail with a checkpoint of an impossible size', async () => {
    // PostgreSQL accepts only integers there.
    const notWhole = engine === 'sqlite' ? ["'many'", '1.5'] : [];
    for (const size of ['9007199254740993', '-4', ...notWhole]) {
      await claim(size, bytes('\u0000'));
      if (size !== '-4' && size !== '1.5') expect((await seal()).outcome).toBe('refused');
      expect((await found()).map(([, fault]) => fault)).toContain('checkpoint-invalid');
      await tamper('delete from checkpoints where size <> 12');
    }
  });
  test('cannot get a root signed that does not match the entries', async () => {
    await tamper(`update checkpoints set frontier = ${bytes(Buffer.alloc(64))}`);
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 12 });
  });
  test('cannot hide that sealed entries are missing from the end', async () => {
    await tamper('delete from entries where seq > 10');
    expect(await seal()).toMatchObject({ outcome: 'refused', seq: 11 });
  });
  test('cannot make verify or the sealer fail with values of another type or length', async () => {
    const ofBytes = ['body', 'meta', 'salt', 'commitment', 'leaf_hash', 'mac', 'dedupe_key'];
    const ofText = ['received_at', 'source'];
    // SQLite keeps any type it is given; PostgreSQL only the type of the column.
    const values = (column: string) =>
      engine === 'sqlite'
        ? ['5', "'text'", '1.5', "x''"]
        : ofText.includes(column)
          ? ["'text'", "''"]
          : [bytes('text'), bytes('')];
    for (const column of [...ofBytes, ...ofText]) {
      for (const value of values(column)) {
        for (const seq of [7, 13]) {
          await tamper(
            `create table kept as select * from entries where seq = ${seq}`,
            `update entries set ${column} = ${value} where seq = ${seq}`,
          );
          expect([column, value, (await found())[0]?.[0]]).toEqual([column, value, seq]);
          if (seq === 13 && !['body', 'meta', 'salt'].includes(column))
            expect(await seal()).toMatchObject({ outcome: 'refused', seq });
          await tamper(
            `delete from entries where seq = ${seq}`,
            'insert into entries select * from kept',
            'drop table kept',
          );
        }
      }
    }
    expect(await found()).toEqual([]);
  });
  test('cannot add triggers, views or columns to the database unnoticed', async () => {
    const silent =
      engine === 'sqlite'
        ? "create trigger silent before insert on entries when new.source = 'other' begin select raise(ignore); end"
        : "create rule silent as on insert to entries where new.source = 'other' do instead nothing";
    const undo = engine === 'sqlite' ? 'drop trigger silent' : 'drop rule silent on entries';
    const schemaFaults = async () =>
      (await verify()).faults.flatMap(({ fault, sentence }) => (fault === 'schema-altered' ? [sentence] : []));
    await tamper('create table of_someone_else (n integer)', silent);
    const difference = `${engine === 'sqlite' ? 'trigger' : 'rule'} silent of table entries was added`;
    expect(await schemaFaults()).toEqual([`in the database, ${difference}`]);
    expect(await store.schemaDifferences({ quick: true })).toEqual([difference]);
    await tamper(undo);
    expect(await schemaFaults()).toEqual([]);
    expect(await store.schemaDifferences({ quick: true })).toEqual([]);
    await tamper('create unique index one_a_day on quarantine (received_at)');
    expect(await schemaFaults()).toEqual(['in the database, index one_a_day of table quarantine was added']);
    await tamper(
      'drop index one_a_day',
      'alter table documents rename to hidden',
      'create view documents as select * from hidden where sha256 is not null',
      'drop index jobs_due',
    );
    const faults = (await schemaFaults()).join();
    expect(faults).toContain('table documents');
    expect(faults).toContain('index jobs_due of table jobs is missing');
  });
  test('cannot hide entries below the first number', async () => {
    await tamper(
      `insert into entries select -3, source, 99, kind, ${bytes(randomBytes(32))}, received_at, meta, body, salt, commitment, leaf_hash, mac from entries where seq = 5`,
    );
    expect((await found())[0]).toEqual([-3, 'foreign-entry']);
  });
});

test('--since reads the entries after a checkpoint, trusts it for the rest, and finds faults after it', async () => {
  const sealed = await seal();
  const first = 'checkpoint' in sealed ? sealed.checkpoint.size : 0;
  for (let i = 13; i <= 20; i += 1) await ledger.append([entryOf(`{"n":${i}}`, i % 3 === 0 ? 'other' : 'default')]);
  const whole = await verify();
  expect(await verify(journal, first + 3)).toMatchObject({
    since: first,
    entries: 8,
    faults: [],
    root: whole.root,
    unsealed: 8,
  });
  expect(await verify(journal, 11)).toMatchObject({ since: 0, entries: first + 8, faults: [] });
  await seal();
  expect(await verify(journal, first + 8)).toMatchObject({
    since: first + 8,
    entries: 0,
    faults: [],
    root: whole.root,
  });
  await tamper(`update entries set body = ${bytes('{}')} where seq in (3, ${first + 4})`);
  expect((await verify(journal, first)).faults.map(({ seq }) => seq)).toEqual([first + 4]);
  await tamper(`delete from entries where seq > ${first + 3}`);
  expect((await verify(journal, first)).faults).toMatchObject([{ seq: first + 4, fault: 'truncated' }]);
  // An altered checkpoint is not trusted: everything is read.
  await tamper(`update checkpoints set root = ${bytes(Buffer.alloc(32))} where size = ${first}`);
  expect((await verify(journal, first)).faults.map(({ seq }) => seq)).toContain(3);
});
