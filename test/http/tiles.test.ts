import { createHash, createPublicKey, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openTiles, parseTilePath, tilePathOf } from '../../src/ledger/tiles.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { deliver } from '../serving.ts';
import { temporaryFolder, temporaryLedger } from '../temporary.ts';
import { createOfficeWorld } from './office-world.ts';

// A watcher written from c2sp.org/tlog-tiles, signed-note and RFC 6962 alone. It shares no code with the program.

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** RFC 6962 §2.1, of leaf hashes. */
function mth(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0] as Buffer;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Buffer.of(1), mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

const hashesIn = (bytes: Buffer) =>
  Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(at * 32, at * 32 + 32));

/** The paths of the tiles that a tree of this size has at a level, as the text says. */
function tilesAt(level: number, size: number): string[] {
  const hashes = Math.floor(size / 256 ** level);
  const path = (n: number, width = '') =>
    `${level}/${n < 1000 ? '' : `x${String(Math.floor(n / 1000)).padStart(3, '0')}/`}${String(n % 1000).padStart(3, '0')}${width}`;
  const full = Array.from({ length: Math.floor(hashes / 256) }, (_, n) => path(n));
  return hashes % 256 === 0 ? full : [...full, path(full.length, `.p/${hashes % 256}`)];
}

/** Reads all tiles; resolves with the root at the lowest level, having compared every other level with the one below. */
async function rootFrom(get: (path: string) => Promise<Buffer>, size: number): Promise<Buffer> {
  const levels: Buffer[][] = [];
  for (let level = 0; size >= 256 ** level; level += 1) {
    const tiles = [];
    for (const path of tilesAt(level, size)) tiles.push(...hashesIn(await get(path)));
    levels.push(tiles);
  }
  for (const [level, hashes] of levels.entries())
    for (const [n, hash] of (levels[level + 1] ?? []).entries())
      expect(mth(hashes.slice(n * 256, n * 256 + 256)).equals(hash)).toBe(true);
  return mth(levels[0] ?? []);
}

test('a path is accepted in its one form', () => {
  const good = {
    '0/000': { level: 0, index: 0, width: 256 },
    '1/x001/x234/067': { level: 1, index: 1_234_067, width: 256 },
    '0/x001/000.p/1': { level: 0, index: 1000, width: 1 },
    '63/000.p/255': { level: 63, index: 0, width: 255 },
  };
  for (const [path, tile] of Object.entries(good)) {
    expect(parseTilePath(path)).toEqual(tile);
    expect(tilePathOf(tile)).toBe(path);
  }
  const bad = [
    '',
    '0',
    '0/0',
    '0/0000',
    '00/000',
    '64/000',
    '-1/000',
    '0/x000/005',
    '0/001/000',
    '0/x1/000',
    '0/000.p/0',
  ];
  const worse = [
    '0/000.p/256',
    '0/000.p/01',
    '0/000.p',
    '0/000/',
    'entries/000',
    '0/000.p/999',
    '0/x999/x999/x999/x999/x999/x999/999',
  ];
  for (const path of [...bad, ...worse]) expect([path, parseTilePath(path)]).toEqual([path, null]);
});

test('the tiles of a large tree give its root, whatever checkpoints there are', async () => {
  const { store } = await temporaryLedger();
  const size = 66_000;
  const leaves = Array.from({ length: size }, (_, n) => sha256(Buffer.from(String(n))));
  const none = Buffer.alloc(32);
  const rows = leaves.map((leaf_hash, n) => ({
    seq: n + 1,
    ...{ source: 'default', source_seq: n + 1, kind: 'webhook' as const, received_at: '2026-07-01T10:00:00.000Z' },
    ...{ dedupe_key: leaf_hash, meta: none, body: none, salt: none, commitment: none, leaf_hash, mac: none },
  }));
  for (let done = 0; done < size; done += 1000)
    await store.transaction((tx) => tx.insertMany('entries', rows.slice(done, done + 1000)));
  const tiles = openTiles(store.read);
  let read = 0;
  const get = async (path: string) => {
    const tile = parseTilePath(path);
    const bytes = tile === null ? null : await tiles.read(tile, size);
    if (bytes === null) throw new Error(path);
    read += 1;
    return bytes;
  };
  const root = await rootFrom(get, size);
  expect(root.toString('hex')).toBe(mth(leaves).toString('hex'));
  // 257 full tiles and a partial one, a full one above them and a partial one, and one above that.
  expect(read).toBe(258 + 2 + 1);
  const beyond = { level: 0, index: 257, width: 209 };
  expect(await tiles.read(beyond, size)).toBeNull();
  expect(await tiles.read({ level: 2, index: 0, width: 2 }, size)).toBeNull();

  // Above a missing entry there is no tile, and it is looked for once.
  await store.transaction(({ query }) => query.deleteFrom('entries').where('seq', '=', 1000).execute());
  const asked = vi.spyOn(store.read, 'selectFrom');
  const damaged = openTiles(store.read);
  const above = { level: 1, index: 0, width: 4 };
  expect(await damaged.read(above, size)).toBeNull();
  const first = asked.mock.calls.length;
  expect(first).toBeGreaterThan(0);
  expect(await damaged.read(above, size)).toBeNull();
  expect(asked).toHaveBeenCalledTimes(first);
});

test('whoever has the verifier key sees from outside that the ledger is only ever extended', async () => {
  const witnesses = join(await temporaryFolder(), 'witnesses');
  const world = await createOfficeWorld({ PUBLISH_TILES: 'on', WITNESSES: witnesses }, { worker: false });
  const { context, url } = world;
  const base = `${url}/.well-known/consent-ledger/1`;
  const witness = await startWitness('example.org/first', context.verifierKey);
  expect((await fetch(`${base}/checkpoint`)).status).toBe(404);
  await writeFile(witnesses, `witness first ${witness}\nquorum first\n`);

  const deliverSome = async (from: number, to: number) => {
    for (let n = from; n < to; n += 1)
      await deliver(url, JSON.stringify({ event: 'consent.recorded', data: { id: `c${n}`, n } }));
  };
  /** Waits while the last one is cached. */
  const checkpoint = async (least: number): Promise<{ size: number; root: Buffer; note: string }> => {
    await expect
      .poll(async () => Number((await (await fetch(`${base}/checkpoint`)).text()).split('\n')[1]), { timeout: 10_000 })
      .toBeGreaterThanOrEqual(least);
    const response = await fetch(`${base}/checkpoint`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const note = await response.text();
    const [text = '', signatures = ''] = note.split('\n\n');
    const [origin, size, root] = text.split('\n');
    const [name = '', key = ''] = context.verifierKey.split(/\+[0-9a-f]{8}\+/);
    expect(origin).toBe(name);
    const signed = /^— (\S+) (\S+)$/m.exec(signatures);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'base64').subarray(1).toString('base64url') };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    expect(
      verify(null, Buffer.from(`${text}\n`), publicKey, Buffer.from(signed?.[2] ?? '', 'base64').subarray(4)),
    ).toBe(true);
    return { size: Number(size), root: Buffer.from(root ?? '', 'base64'), note };
  };
  const get = async (path: string) => {
    const response = await fetch(`${base}/tile/${path}`);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('cache-control')).toContain('immutable');
    return Buffer.from(await response.arrayBuffer());
  };

  await deliverSome(0, 40);
  await context.seal();
  const first = await checkpoint(40);
  const leaves = hashesIn(await get(`0/000.p/${first.size}`));
  expect(mth(leaves).equals(first.root)).toBe(true);
  // Nothing that is not sealed yet is shown.
  await deliverSome(40, 300);
  expect((await fetch(`${base}/tile/0/000`)).status).toBe(404);

  await context.witness();
  await deliverSome(300, 303);
  await context.seal();
  const later = await checkpoint(300);
  // The newest that a witness has signed, so that a reader's policy is met.
  expect(later.note).toContain('— example.org/first ');
  expect((await rootFrom(get, later.size)).equals(later.root)).toBe(true);
  const grown = hashesIn(await get('0/000'));
  expect(mth(grown.slice(0, first.size)).equals(first.root)).toBe(true);

  const refused = [
    [`${base}/tile/entries/000`, 404],
    [`${base}/tile/0/x000/000`, 404],
    [`${base}/tile/0/000.p/256`, 404],
    [`${base}/tile/7/000`, 404],
    [`${base.replace(/1$/, '2')}/checkpoint`, 404],
  ] as const;
  for (const [address, status] of refused) {
    const response = await fetch(address);
    // A cache that kept this would hide a tile that exists a moment later.
    expect([address, response.status, response.headers.get('cache-control')]).toEqual([address, status, 'no-store']);
  }
  const elsewhere = (await (await fetch(refused[4][0])).json()) as { error: { message: string } };
  expect(elsewhere.error.message).toBe('The ledger is in epoch 1: use 1 in the address.');
});

test('nothing is published unless the operator asks for it', async () => {
  const { url, context } = await createOfficeWorld({}, { worker: false });
  await deliver(url, JSON.stringify({ event: 'consent.recorded', data: { id: 'c' } }));
  await context.seal();
  for (const path of ['checkpoint', 'tile/0/000.p/1'])
    expect((await fetch(`${url}/.well-known/consent-ledger/1/${path}`)).status).toBe(404);
});
