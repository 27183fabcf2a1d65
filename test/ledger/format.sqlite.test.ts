// SQLite only: the format of entries, notes and journal is the same on both databases, and the verifier reads a
// database file.
import { createHash, createHmac, createPublicKey, hkdfSync, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { createAttackedWorld, INSTANCE_KEY } from './attack-world.ts';

// A verifier written from docs/ledger-format.md alone, without the program's hashing, tree, notes or journal. It reads
// an SQLite file.

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hmac = (key: Uint8Array, ...parts: Uint8Array[]) =>
  createHmac('sha256', key).update(Buffer.concat(parts)).digest();
const text = (value: string) => Buffer.from(value, 'utf8');

/** RFC 6962 §2.1. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0] as Buffer;
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return sha256(Buffer.from([1]), treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

function rootOfFrontier(frontier: Buffer): Buffer {
  const parts = Array.from({ length: frontier.length / 32 }, (_, at) => frontier.subarray(at * 32, at * 32 + 32));
  return parts.reduceRight((joined, left) => sha256(Buffer.from([1]), left, joined));
}

/** Name and public key. The base64 may itself contain a plus. */
function readVerifierKey(verifierKey: string) {
  const [, name = '', encoded = ''] = /^([^+]+)\+[^+]+\+(.+)$/.exec(verifierKey) ?? [];
  return { name, raw: Buffer.from(encoded, 'base64').subarray(1) };
}

/** Size and root of a valid note: signed for the epoch of the last entry it covers. */
function readNote(note: string, epochs: readonly Epoch[]) {
  const [origin, size, root, blank, signature = ''] = note.split('\n');
  const { name, raw } = readVerifierKey(epochs.findLast(({ first }) => first <= Number(size))?.verifierKey ?? '');
  expect([origin, blank]).toEqual([name, '']);
  const bytes = Buffer.from(signature.slice(`— ${name} `.length), 'base64');
  expect(bytes.subarray(0, 4)).toEqual(sha256(text(`${name}\n`), Buffer.from([1]), raw).subarray(0, 4));
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
  expect(verify(null, text(`${origin}\n${size}\n${root}\n`), key, bytes.subarray(4))).toBe(true);
  return { size: Number(size), root: Buffer.from(root ?? '', 'base64') };
}

interface EntryRow {
  readonly seq: number;
  readonly source: string;
  readonly source_seq: number;
  readonly kind: string;
  readonly received_at: string;
  readonly dedupe_key: Buffer;
  /** Null after an erasure, like body and salt. */
  readonly meta: Buffer | null;
  readonly body: Buffer | null;
  readonly salt: Buffer | null;
  readonly commitment: Buffer;
  readonly leaf_hash: Buffer;
  readonly mac: Buffer;
}
interface Erasure {
  readonly seqs: readonly number[];
  readonly documents: readonly { readonly documentId: string; readonly format: string }[];
  readonly files: readonly string[];
}
interface Epoch {
  /** The entry it begins with. */
  readonly first: number;
  readonly verifierKey: string;
}
interface CheckpointRow {
  readonly size: number;
  readonly root: Buffer;
  readonly frontier: Buffer;
  readonly note: string;
  readonly created_at: string;
  readonly mac: Buffer;
}

test('a verifier that knows only docs/ledger-format.md finds the ledger sound', async () => {
  const world = await createAttackedWorld();
  const database = await openConnection(join(world.folder, 'ledger.sqlite'));
  onTestFinished(async () => {
    await database.close();
    await world.remove();
  });
  const append = Buffer.from(
    hkdfSync('sha256', Buffer.from(INSTANCE_KEY, 'base64'), '', 'consent-ledger/append/v1', 32),
  );
  const rows = async <T>(table: string, order: string) =>
    (await database.all(`select * from ${table} order by ${order}`)) as unknown as readonly T[];

  const leaves: Buffer[] = [];
  const placeOf = new Map<string, number>();
  const named: [string, string][] = [];
  const recorded = new Map<string, unknown>();
  const [gone, erased]: [number[], number[]] = [[], []];
  const removed = new Set<string>();
  const restored: Epoch[] = [];
  for (const row of await rows<EntryRow>('entries', 'seq')) {
    const { seq, source, source_seq: sourceSeq, kind, received_at: receivedAt, meta, body, salt } = row;
    expect([seq, sourceSeq]).toEqual([leaves.length + 1, (placeOf.get(source) ?? 0) + 1]);
    placeOf.set(source, sourceSeq);
    if (meta !== null && body !== null && salt !== null)
      expect(sha256(text('consent-ledger/commitment/v1\n'), salt, sha256(meta), sha256(body))).toEqual(row.commitment);
    else {
      expect([meta, body, salt]).toEqual([null, null, null]);
      gone.push(seq);
    }
    const [commitment, dedupeKey] = [row.commitment, row.dedupe_key].map((part) => Buffer.from(part).toString('hex'));
    const leaf = sha256(
      Buffer.from([0]),
      text(JSON.stringify({ commitment, dedupeKey, kind, receivedAt, seq, source, sourceSeq, v: 1 })),
    );
    expect([leaf, hmac(append, leaf)]).toEqual([row.leaf_hash, row.mac]);
    leaves.push(leaf);
    if (kind === 'erasure') {
      const erasure = JSON.parse(String(body)) as Erasure;
      erased.push(...erasure.seqs);
      for (const { documentId, format } of erasure.documents) removed.add(`documents/${documentId}.${format}`);
      for (const hash of erasure.files) removed.add(`evidence/${hash}`);
    }
    if (kind !== 'action' || body === null) continue;
    const action = JSON.parse(String(body)) as Record<string, string>;
    if (source === 'installation' && action.action === 'installation.restored')
      restored.push({ first: seq, verifierKey: String(action.verifierKey) });
    if (action.action === 'document.produced')
      named.push([`documents/${action.documentId}.${action.format}`, String(action.sha256)]);
    if (action.action === 'banner.evidence-added') named.push([`evidence/${action.sha256}`, String(action.sha256)]);
    if (source === 'installation' && action.options !== undefined)
      recorded.set(String(action.sourceSlug), action.options);
  }
  expect([named.length, removed.size, recorded.size]).toEqual([4, 1, 2]);
  expect(gone.length).toBeGreaterThan(0);
  expect(erased.sort((a, b) => a - b)).toEqual(gone);
  for (const path of removed) expect(existsSync(join(world.folder, path)), path).toBe(false);
  for (const [path, hash] of named.filter(([one]) => !removed.has(one)))
    expect(sha256(await readFile(join(world.folder, path))).toString('hex')).toBe(hash);
  for (const { slug, options } of await rows<{ slug: string; options: string }>('sources', 'slug'))
    expect(JSON.parse(options)).toEqual(recorded.get(slug));

  const settings = new Map(
    (await rows<{ name: string; value: string }>('settings', 'name')).map(({ name, value }) => [name, value]),
  );
  const vkey = world.verifierKey;
  expect(vkey.split('+')[0]).toBe(`consent-ledger/${settings.get('instance_id')}/${settings.get('epoch')}`);
  expect(settings.get('identity_pin')).toBe(
    hmac(append, text('consent-ledger/identity/v1\n'), text(vkey)).toString('hex'),
  );

  // The key stays, and each epoch signs under a different name.
  const { name, raw } = readVerifierKey(vkey);
  const firstName = name.replace(/\d+$/, '1');
  const keyHash = sha256(text(`${firstName}\n`), Buffer.from([1]), raw)
    .subarray(0, 4)
    .toString('hex');
  const first = `${firstName}+${keyHash}+${Buffer.concat([Buffer.from([1]), raw]).toString('base64')}`;
  const epochs = [{ first: 1, verifierKey: first }, ...restored];
  expect(epochs.at(-1)?.verifierKey).toBe(vkey);

  const notes: string[] = [];
  for (const file of (await readdir(join(world.folder, 'journal'))).sort()) {
    expect(file).toMatch(/^\d{4}-\d\d-\d\d\.notes$/);
    const parts = (await readFile(join(world.folder, 'journal', file), 'utf8')).split(/\n(?=consent-ledger\/)/);
    notes.push(...parts.map((part) => part.replace(/\n+$/, '\n')));
  }
  for (const note of notes) {
    const { size, root } = readNote(note, epochs);
    expect(treeHash(leaves.slice(0, size))).toEqual(root);
  }
  const checkpoints = await rows<CheckpointRow>('checkpoints', 'size');
  expect(checkpoints.length).toBeGreaterThanOrEqual(2);
  for (const { note, size, root, frontier, created_at: createdAt, mac } of checkpoints) {
    expect(notes).toContain(note);
    expect(readNote(note, epochs)).toEqual({ size, root });
    expect(rootOfFrontier(frontier)).toEqual(root);
    expect(hmac(append, text('consent-ledger/checkpoint/v1\n'), text(`${createdAt}\n${note}`))).toEqual(mac);
  }
});
