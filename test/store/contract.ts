import { describe, expect, test } from 'vitest';
import { sealEntry } from '../../src/crypto/entry.ts';
import type { Store } from '../../src/store/store.ts';
import { testKeys } from '../temporary.ts';

/** The contract of every store, whatever its database. `open` gives a fresh, empty one that closes itself after the test. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  const entry = (seq: number, text = `body ${seq}`, source = 'default') => {
    const body = Buffer.from(text);
    const fresh = {
      source,
      kind: 'webhook' as const,
      dedupeKey: Buffer.alloc(32, seq),
      receivedAt: '2026-07-01T10:00:00.000Z',
    };
    return sealEntry({ ...fresh, meta: Buffer.from('{}'), body }, seq, seq, Buffer.alloc(32, seq), testKeys.append);
  };

  describe(name, () => {
    test('nothing is in an empty list, and everything is not in it', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1), entry(2)]);
      const seqsWhere = async (operator: 'in' | 'not in') =>
        (await store.read.selectFrom('entries').select('seq').where('seq', operator, []).orderBy('seq').execute()).map(
          ({ seq }) => seq,
        );
      expect(await seqsWhere('in')).toEqual([]);
      expect(await seqsWhere('not in')).toEqual([1, 2]);
      const ofNone = store.read.selectFrom('entries').select('seq').where('source', 'in', []);
      expect(await ofNone.where('seq', '>', 0).execute()).toEqual([]);
    });

    test('a guarded insert happens only at the expected end of the ledger', async () => {
      const store = await open();
      expect(await store.insertEntriesAt(0, [entry(1), entry(2)])).toBe(true);
      expect(await store.insertEntriesAt(1, [entry(3)])).toBe(false);
      expect(await store.insertEntriesAt(3, [entry(4)])).toBe(false);
      expect(await store.insertEntriesAt(2, [entry(3)])).toBe(true);
      const rows = await store.read.selectFrom('entries').select('seq').orderBy('seq').execute();
      expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    });

    test('a guarded insert with a key that exists writes nothing of its batch', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1)]);
      const repeat = { ...entry(3), dedupeKey: entry(1).dedupeKey };
      expect(await store.insertEntriesAt(1, [entry(2), repeat])).toBe(false);
      expect(await store.read.selectFrom('entries').select('seq').execute()).toHaveLength(1);
    });

    test('an insert after an expected head is numbered after the real one, or not done', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1), entry(2)]);
      const head = (seq: number) => ({ seq, sourceSeq: new Map([['default', seq]]), movedTo: null });
      const append = (expected: number, number?: number) =>
        store.insertEntriesAfter(
          ['default'],
          ({ seq }) => ({ entries: [entry(number ?? seq + 1)] }),
          (tx) => tx.insertMany('settings', [{ name: `after ${expected}`, value: '' }]),
          head(expected),
        );
      expect((await append(2))?.entries[0]?.seq).toBe(3);
      // An outdated expectation: the head is read, or nothing is written.
      const done = await append(1);
      expect(done === null || done.entries[0]?.seq === 4).toBe(true);
      const last = done === null ? 3 : 4;
      expect(await append(last, 2)).toBeNull();
      const seqs = await store.read.selectFrom('entries').select('seq').orderBy('seq').execute();
      expect(seqs.map(({ seq }) => seq)).toEqual([1, 2, 3, 4].slice(0, last));
      const names = await store.read.selectFrom('settings').select('name').where('name', 'like', 'after %').execute();
      expect(names).toHaveLength(last - 2);
    });

    test('bytes come back as they went in: empty, NUL, not UTF-8, a mebibyte', async () => {
      const store = await open();
      const bodies = [
        Buffer.alloc(0),
        Buffer.from('a\u0000b'),
        Buffer.from([0xff, 0xfe, 0x80]),
        Buffer.alloc(1 << 20, 0xab),
      ];
      const entries = bodies.map((body, place) =>
        sealEntry(
          { ...entry(place + 1), meta: Buffer.from('{"ü":1}'), body },
          place + 1,
          place + 1,
          Buffer.alloc(32, 5),
          testKeys.append,
        ),
      );
      await store.transaction((tx) => tx.insertEntries(entries));
      const rows = await store.read
        .selectFrom('entries')
        .select(['body', 'meta', 'mac', 'leaf_hash'])
        .orderBy('seq')
        .execute();
      expect(rows.map(({ body }) => body?.toString('hex'))).toEqual(bodies.map((body) => body.toString('hex')));
      expect(rows.map(({ mac }) => mac)).toEqual(entries.map(({ mac }) => mac));
      expect(rows[0]?.meta?.toString()).toBe('{"ü":1}');
    });

    test('existing keys and heads are found in the requested order', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1), entry(2)]);
      await store.transaction(async (tx) => {
        const key = (seq: number, source = 'default') => ({
          source,
          kind: 'webhook' as const,
          dedupeKey: Buffer.alloc(32, seq),
        });
        expect(await tx.findSeqs([key(9), key(2), key(1, 'other'), key(1)])).toEqual([null, 2, null, 1]);
        const heads = await tx.head(['default', 'other']);
        expect(heads.seq).toBe(2);
        expect(Object.fromEntries(heads.sourceSeq)).toEqual({ default: 2, other: 0 });
      });
    });

    test('keys are found without the write lock once they are committed', async () => {
      const store = await open();
      const key = (seq: number) => ({ source: 'default', kind: 'webhook' as const, dedupeKey: Buffer.alloc(32, seq) });
      expect(await store.findSeqs([key(1)])).toEqual([null]);
      await store.insertEntriesAt(0, [entry(1)]);
      await store.transaction((tx) => tx.insertEntries([entry(2)]));
      expect(await store.findSeqs([key(2), key(3), key(1)])).toEqual([2, null, 1]);
    });

    test('a snapshot shows one moment, however much is written meanwhile', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1)]);
      const count = async (read: Store['read']) => (await read.selectFrom('entries').select('seq').execute()).length;
      await store.snapshot(async (read) => {
        await store.insertEntriesAt(1, [entry(2)]);
        expect(await count(read)).toBe(1);
        await store.insertEntriesAt(2, [entry(3)]);
        expect(await count(read)).toBe(1);
      });
      await expect(store.snapshot(() => Promise.reject(new Error('on purpose')))).rejects.toThrow('on purpose');
      expect(await store.snapshot(count)).toBe(3);
    });

    test('a failing transaction leaves nothing behind, and the next one works', async () => {
      const store = await open();
      const failing = store.transaction(async (tx) => {
        await tx.insertMany('settings', [{ name: 'a', value: '1' }]);
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      await store.transaction((tx) => tx.insertMany('settings', [{ name: 'b', value: '2' }]));
      expect(await store.read.selectFrom('settings').selectAll().execute()).toEqual([{ name: 'b', value: '2' }]);
    });

    test('many rows go in at once; a conflict fails, keeps or replaces as requested', async () => {
      const store = await open();
      const rows = Array.from({ length: 1000 }, (_, i) => ({
        name: `n${String(i).padStart(4, '0')}`,
        value: `wért "${i}" \u0001 \\ {,} NULL ' %`,
      }));
      await store.transaction((tx) => tx.insertMany('settings', rows));
      expect(await store.read.selectFrom('settings').selectAll().orderBy('name').execute()).toEqual(rows);
      const other = [{ name: 'n0001', value: 'new' }];
      await expect(store.transaction((tx) => tx.insertMany('settings', other))).rejects.toThrow();
      await store.transaction((tx) => tx.insertMany('settings', other, 'keep'));
      const valueOf = () =>
        store.read.selectFrom('settings').select('value').where('name', '=', 'n0001').executeTakeFirst();
      expect(await valueOf()).toEqual({ value: rows[1]?.value });
      await store.transaction((tx) => tx.insertMany('settings', other, 'replace'));
      expect(await valueOf()).toEqual({ value: 'new' });
    });

    test('a text with U+0000 is found under the key it was written with', async () => {
      const store = await open();
      await store.transaction((tx) => tx.insertMany('settings', [{ name: 'a\u0000b', value: 'before' }]));
      await store.transaction((tx) => tx.insertMany('settings', [{ name: 'a\u0000b', value: '\u0000' }], 'replace'));
      const query = store.read.selectFrom('settings').selectAll();
      const kept = store.engine === 'postgres' ? '\uFFFD' : '\u0000';
      expect(await query.where('name', '=', 'a\u0000b').execute()).toEqual([{ name: `a${kept}b`, value: kept }]);
    });

    test('numbers, nulls and bytes survive insertMany', async () => {
      const store = await open();
      const row = {
        slug: 's',
        name: 'n',
        base_url: null,
        site_url: 'https://x.example',
        sealed: Buffer.from([0, 1, 255]),
        options: '{}',
        created_at: 'c',
        updated_at: 'u',
      };
      await store.transaction((tx) => tx.insertMany('sources', [row]));
      expect(await store.read.selectFrom('sources').selectAll().execute()).toMatchObject([row]);
    });

    test('a long read does not hold up a write, and does not see it', async () => {
      const store = await open();
      await store.insertEntriesAt(0, [entry(1)]);
      const [before] = await Promise.all([
        store.read
          .selectFrom('entries')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow(),
        store.insertEntriesAt(1, [entry(2)]),
      ]);
      expect([1, 2]).toContain(Number(before.n));
    });

    test('updates and deletes say how many rows they changed', async () => {
      const store = await open();
      await store.transaction(async (tx) => {
        await tx.insertMany('positions', [{ name: 'p', seq: 1 }]);
        const moved = await tx.query
          .updateTable('positions')
          .set({ seq: 2 })
          .where('name', '=', 'p')
          .where('seq', '=', 1)
          .executeTakeFirst();
        const lost = await tx.query
          .updateTable('positions')
          .set({ seq: 3 })
          .where('name', '=', 'p')
          .where('seq', '=', 1)
          .executeTakeFirst();
        expect([moved.numUpdatedRows, lost.numUpdatedRows]).toEqual([1n, 0n]);
      });
    });

    test('a closed store refuses instead of hanging', async () => {
      const store = await open();
      await store.close();
      await expect(store.insertEntriesAt(0, [entry(1)])).rejects.toThrow('closed');
      await expect(store.read.selectFrom('entries').select('seq').execute()).rejects.toThrow('closed');
    });
  });
}
