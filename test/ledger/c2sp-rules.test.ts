import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as verifier from '../../reports/verifier/verify.mjs';
import { parseVerifierKey, readCheckpoint, signCheckpoint, verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { formatConsistencyProof, formatTlogProof } from '../../src/crypto/tlog-proof.ts';
import { askWitness, type Post } from '../../src/ledger/ask-witness.ts';
import { cosignedAt } from '../../src/ledger/cosignature.ts';
import { type Cosigner, loadWitnessPolicy, parseWitnessPolicy } from '../../src/ledger/witness-policy.ts';
import { temporaryFolder } from '../temporary.ts';
import { createKey } from './witness-stand-in.ts';

/*
 * The rules of C2SP for what the program reads and writes, one test each, from the texts as of 2026-11-28 (github.com/C2SP/C2SP):
 * signed-note at 0552876 (and c2sp.org/signed-note@v1.0.0), tlog-checkpoint (editor's copy that defines ML-DSA-44), tlog-policy at
 * 13027ee, tlog-cosignature at 01194db, tlog-witness at 055270b, tlog-proof at 0065ea5.
 */

const ORIGIN = 'consent-ledger/c2sp/1';
const log = generateKeyPairSync('ed25519');
const head = { origin: ORIGIN, size: 12, root: Buffer.alloc(32, 7) };
const note = signCheckpoint(head, log.privateKey);
const [text = '', ours = ''] = note.split('\n\n');
const vkey = verifierKeyOf(ORIGIN, log.publicKey);

const rawOf = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
function keyText(name: string, type: number, key: Uint8Array): string {
  const bytes = Buffer.concat([Buffer.of(type), key]);
  return `${name}+${sha256(Buffer.concat([Buffer.from(`${name}\n`), bytes])).toString('hex', 0, 4)}+${bytes.toString('base64')}`;
}
const newKey = () => generateKeyPairSync('ed25519');
const witnessKey = (name: string, key = rawOf(newKey().publicKey)) => keyText(name, 4, key);

/** Whether both readers of the product accept a note: the program and the verifier that is handed out. */
async function isAccepted(given: string): Promise<boolean> {
  const key = await verifier.parseVerifierKey(vkey);
  const byVerifier = await verifier.openCheckpoint(given, key).then(
    () => true,
    () => false,
  );
  const byProgram = readCheckpoint(given, log.publicKey).outcome === 'valid';
  expect([given, byVerifier]).toEqual([given, byProgram]);
  return byProgram;
}

describe('signed-note', () => {
  const other = (name: string, length = 68) => `— ${name} ${Buffer.alloc(length, 9).toString('base64')}`;
  test.each([
    ['a text, a blank line, and signature lines', note, true],
    ['no signature', `${text}\n\n`, false],
    ['no blank line', `${text}\n${ours}`, false],
    ['no final newline', note.slice(0, -1), false],
    ['an empty line among the signatures', `${note}\n`, false],
    ['a line that is not a signature', `${note}This was withdrawn.\n`, false],
    ['text in front of the signature', `${text}\n\nThis was withdrawn.\n${ours}`, false],
    ['a control character', note.replace('12', '12\t'), false],
    ['a carriage return', note.replaceAll('\n', '\r\n'), false],
    ['a character that stands for bytes that are not UTF-8', `${note}${other('w\ufffd')}\n`, false],
    ['half a character', `${note}${other('w\ud800')}\n`, false],
    ['a key name with a space', `${note}${other('w x')}\n`, false],
    ['a key name with a space of another script', `${note}${other('w\u3000x')}\n`, false],
    ['a key name with a plus sign', `${note}${other('w+x')}\n`, false],
    ['an empty key name', `${note}${other('')}\n`, false],
    ['a hyphen in place of the dash', note.replace('— ', '- '), false],
    ['two spaces', note.replace('— ', '—  '), false],
    ['a signature that is not base64', note.replace(/ \S+\n$/, ' %%%%\n'), false],
    ['a signature without bytes after the key id', `${note}— w.example/1 AAAAAA==\n`, false],
    ['base64 that is not canonical', `${note}— w.example/1 AAAAAAB=\n`, false],
    [
      'sixteen signatures of other keys',
      note + Array.from({ length: 16 }, (_, n) => `${other(`w${n}`)}\n`).join(''),
      true,
    ],
    [
      'a hundred and one signatures',
      note + Array.from({ length: 100 }, (_, n) => `${other(`w${n}`)}\n`).join(''),
      false,
    ],
    ['a long signature of another algorithm', `${note}${other('pq.example/1', 5000)}\n`, true],
    ['the name of the key with another id', `${note}${other(ORIGIN)}\n`, true],
    ['the id of the key with another name', `${note}${ours.replace(ORIGIN, 'w.example/1')}`, true],
    ['only signatures of other keys', `${text}\n\n${other('w.example/1')}\n`, false],
    ['a signature of the key that does not fit', note.replace('\n12\n', '\n13\n'), false],
  ])('with %s is accepted as the text says', async (_, given, isSound) => {
    expect(await isAccepted(given)).toBe(isSound);
  });

  test('has key ids from name, type and key', () => {
    expect(vkey).toBe(keyText(ORIGIN, 1, rawOf(log.publicKey)));
    expect(parseVerifierKey(vkey)?.name).toBe(ORIGIN);
    expect(parseVerifierKey(keyText(ORIGIN, 4, rawOf(log.publicKey)))).toBeNull();
    expect(parseVerifierKey(vkey.replace(/\+\w{8}\+/, '+00000000+'))).toBeNull();
  });
});

describe('tlog-checkpoint', () => {
  const signed = (body: string) => {
    const lines = note.split('\n');
    const id = Buffer.from(lines[4]?.split(' ')[2] ?? '', 'base64').subarray(0, 4);
    const signature = sign(null, Buffer.from(body), log.privateKey);
    return `${body}\n— ${ORIGIN} ${Buffer.concat([id, signature]).toString('base64')}\n`;
  };
  const root = head.root.toString('base64');
  test.each([
    ['origin, size and root', `${ORIGIN}\n12\n${root}\n`, true],
    ['the size 0', `${ORIGIN}\n0\n${root}\n`, true],
    ['a leading zero', `${ORIGIN}\n012\n${root}\n`, false],
    ['a sign', `${ORIGIN}\n+12\n${root}\n`, false],
    ['no size', `${ORIGIN}\n\n${root}\n`, false],
    ['a size that cannot be counted', `${ORIGIN}\n9007199254740993\n${root}\n`, false],
    ['a root that is not canonical base64', `${ORIGIN}\n12\n${root.replace(/.=$/, 'd=')}\n`, false],
    ['a short root', `${ORIGIN}\n12\n${Buffer.alloc(31).toString('base64')}\n`, false],
    ['two lines', `${ORIGIN}\n12\n`, false],
    // Optional, and not recommended: this ledger never writes them.
    ['an extension line', `${ORIGIN}\n12\n${root}\nmore\n`, false],
    ['another origin', `example.org/log\n12\n${root}\n`, false],
  ])('with %s is accepted as the text says', async (_, body, isSound) => {
    expect(await isAccepted(signed(body))).toBe(isSound);
  });

  test('may not have two signature lines with the same name and id', async () => {
    expect(await isAccepted(`${note}${ours}`)).toBe(false);
    const witness = `— w.example/1 ${Buffer.alloc(76, 1).toString('base64')}\n`;
    expect(await isAccepted(note + witness)).toBe(true);
    expect(await isAccepted(note + witness + witness)).toBe(false);
  });
});

describe('tlog-policy', () => {
  const [a, b, c] = ['w.example/a', 'w.example/b', 'w.example/c'].map((name) => witnessKey(name));
  const three = `witness A ${a}\nwitness B ${b}\nwitness C ${c}\n`;
  const same = rawOf(newKey().publicKey);
  test.each([
    ['exactly one quorum line', `${three}quorum A\n`, true],
    ['no quorum line', three, false],
    ['two quorum lines', `${three}quorum A\nquorum B\n`, false],
    ['a quorum line with two names', `${three}quorum A B\n`, false],
    ['the quorum none, and no witness', 'quorum none\n', true],
    ['a quorum that is defined later', `quorum A\n${three}`, false],
    ['a quorum that is not defined', `${three}quorum D\n`, false],
    [
      'empty lines, comments, tabs and spaces around items',
      ` \t\n# a\n \t# b\n\t witness\tA   ${a} \n\tquorum \t A\t\n`,
      true,
    ],
    ['a no-break space around an item', `${three}quorum\u00a0A\n`, false],
    ['an ideographic space at the end of a line', `${three}quorum A\u3000\n`, false],
    ['a carriage return', `${three}quorum A\r\n`, false],
    ['another control character in a comment', `# \u0007\n${three}quorum A\n`, false],
    ['the character 0x7f', `# \u007f\n${three}quorum A\n`, false],
    ['letters of any script in names and comments', `# Zeuge\u0085\nwitness Zoë ${a}\nquorum Zoë\n`, true],
    ['names that look alike', `witness K ${a}\nwitness \u212a ${b}\ngroup g all K \u212a\nquorum g\n`, true],
    ['an unknown kind of line', `${three}quorum A\nmonitor x\n`, false],
    [
      'a log, with and without its address',
      `log ${vkey}\nlog ${keyText('b', 1, same)} https://b.example/\nquorum none\n`,
      true,
    ],
    ['a key of a log that is not one', `log ${vkey}x\nquorum none\n`, false],
    ['a log with too many items', `log ${vkey} https://b.example/ more\nquorum none\n`, false],
    ['a log twice', `log ${vkey}\nlog ${vkey}\nquorum none\n`, false],
    [
      'the key of a log under two names',
      `log ${keyText('a', 1, same)}\nlog ${keyText('b', 1, same)}\nquorum none\n`,
      false,
    ],
    ['a witness with its address', `witness A ${a} https://w.example/a\nquorum A\n`, true],
    ['a witness with too many items', `witness A ${a} https://w.example/a more\nquorum A\n`, false],
    ['a witness with a key of ML-DSA-44', `witness A ${keyText('a', 6, Buffer.alloc(1312, 1))}\nquorum A\n`, true],
    [
      'a witness with a short key of ML-DSA-44',
      `witness A ${keyText('a', 6, Buffer.alloc(1311, 1))}\nquorum A\n`,
      false,
    ],
    [
      'a witness with a long key of ML-DSA-44',
      `witness A ${keyText('a', 6, Buffer.alloc(1313, 1))}\nquorum A\n`,
      false,
    ],
    [
      'a witness with the wrong id of a key of ML-DSA-44',
      `witness A ${keyText('a', 6, Buffer.alloc(1312, 1)).replace(/\+[0-9a-f]{8}\+/, '+00000000+')}\nquorum A\n`,
      false,
    ],
    [
      'the key of ML-DSA-44 under two names',
      `witness A ${keyText('a', 6, Buffer.alloc(1312, 1))}\nwitness B ${keyText('b', 6, Buffer.alloc(1312, 1))}\nquorum A\n`,
      false,
    ],
    [
      'a key of each kind with one name',
      `witness A ${witnessKey('a')}\nwitness B ${keyText('a', 6, Buffer.alloc(1312, 1))}\nquorum A\n`,
      true,
    ],
    ['a witness with the key of a log', `witness A ${keyText('a', 1, same)}\nquorum A\n`, false],
    [
      'the key of a witness under two names',
      `witness A ${witnessKey('a', same)}\nwitness B ${witnessKey('b', same)}\nquorum A\n`,
      false,
    ],
    ['two witnesses of one name', `witness A ${a}\nwitness A ${b}\nquorum A\n`, false],
    ['a group with the name of a witness', `${three}group A any B\nquorum A\n`, false],
    ['a witness named none', `witness none ${a}\nquorum none\n`, false],
    ['none as a member', `${three}group g any A none\nquorum g\n`, false],
    ['all, any and a number', `${three}group g all A\ngroup h any B\ngroup i 2 g h C\nquorum i\n`, true],
    ['no member', `${three}group g any\nquorum g\n`, false],
    ['a threshold of 0', `${three}group g 0 A\nquorum g\n`, false],
    ['a threshold above the number of members', `${three}group g 2 A\nquorum g\n`, false],
    ['a threshold that is not decimal', `${three}group g 0x2 A B\nquorum g\n`, false],
    ['a threshold with an exponent', `${three}group g 2e0 A B\nquorum g\n`, false],
    ['a member that is defined later', `witness A ${a}\ngroup g all A B\nwitness B ${b}\nquorum g\n`, false],
    ['itself as a member', `${three}group g any A g\nquorum g\n`, false],
    ['a member twice in one group', `${three}group g 2 A A\nquorum g\n`, false],
    ['a member in two groups', `${three}group g any A B\ngroup h any A C\ngroup i all g h\nquorum i\n`, false],
    ['a group in two groups', `${three}group g any A\ngroup h any g B\ngroup i any g C\nquorum h\n`, false],
    ['a last line without its newline', `${three}quorum A`, true],
  ])('with %s is accepted as the text says', async (_, given, isSound) => {
    const read = parseWitnessPolicy(given);
    expect(typeof read === 'string' ? `refused: ${read}` : 'accepted').toMatch(isSound ? /^accepted/ : /^refused/);
    const byVerifier = await verifier.parsePolicy(given).then(
      () => true,
      () => false,
    );
    expect(byVerifier).toBe(isSound);
  });

  test('counts each witness once', () => {
    const read = parseWitnessPolicy(`${three}group g 2 A B\ngroup h all g C\nquorum h\n`);
    if (typeof read === 'string') throw new Error(read);
    const met = (...names: string[]) => read.isQuorum(new Set(names));
    expect([met('A', 'B', 'C'), met('A', 'B'), met('A', 'C'), met('C'), met()]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test('may have 32 logs, 32 witnesses and 32 groups', () => {
    const names = Array.from({ length: 32 }, (_, n) => n);
    const lines = [
      ...names.map((n) => `log ${keyText(`l${n}`, 1, rawOf(newKey().publicKey))}`),
      ...names.map((n) => `witness w${n} ${witnessKey(`w.example/${n}`)}`),
      ...names.map((n) => `group g${n} any w${n}`),
      `quorum g31`,
    ];
    expect(typeof parseWitnessPolicy(`${lines.join('\n')}\n`)).toBe('object');
  });

  test('has names of octets, whatever their encoding', async () => {
    const path = join(await temporaryFolder(), 'policy');
    const name = (byte: number) => Buffer.from([0x77, byte]);
    const line = (...items: (string | Buffer)[]) =>
      Buffer.concat([...items.map((item) => Buffer.from(item)), Buffer.from('\n')]);
    await writeFile(
      path,
      Buffer.concat([
        line('witness ', name(0xe9), ` ${a}`),
        line('witness ', name(0xe8), ` ${b}`),
        line('group g 2 ', name(0xe9), ' ', name(0xe8)),
        line('quorum g'),
      ]),
    );
    const read = await loadWitnessPolicy(path);
    if (typeof read === 'string') throw new Error(read);
    const [one = '', two = ''] = read.witnesses.map((witness) => witness.name);
    expect(one).not.toBe(two);
    expect([read.isQuorum(new Set([one])), read.isQuorum(new Set([one, two]))]).toEqual([false, true]);
  });
});

type Algorithm = 'ed25519' | 'ml-dsa-44';

/** A witness with its key; `cosign` makes a line of it. */
function createCosigner(name = 'w.example/1', algorithm: Algorithm = 'ed25519') {
  const key = createKey(name, algorithm);
  const policy = `witness w ${key.vkey} https://w.example/w\nquorum w\n`;
  const read = parseWitnessPolicy(policy);
  if (typeof read === 'string') throw new Error(read);
  const witness = read.witnesses[0] as Cosigner;
  const cosign = ({ body = `${text}\n`, ...more }: { body?: string } & Parameters<typeof key.sign>[1] = {}) =>
    key.sign(body, more);
  /** When both readers of the product say that it signed; null: the signature does not count. */
  const at = async (line: string, of = note) => {
    const byProgram = await cosignedAt(witness, of, line);
    const byVerifier = await verifier.cosignersOf(`${of}${line}\n`, await verifier.parsePolicy(policy)).then(
      ({ signed: [one] }) => one?.at ?? null,
      () => null,
    );
    expect([line, byVerifier]).toEqual([line, byProgram]);
    return byProgram;
  };
  return { witness, cosign, at, vkey: key.vkey };
}

describe('tlog-cosignature', () => {
  const { cosign, at, vkey, witness } = createCosigner();
  const ask = async ([status, said]: [number, string], now: Date) => {
    const tree = {
      consistency: () => Promise.resolve([]),
      inclusion: () => Promise.resolve(null),
      root: () => Promise.resolve(null),
    };
    const post: Post = () => Promise.resolve({ status, bytes: Buffer.from(said) });
    const openPlace = () => {
      throw new Error('no bucket is asked');
    };
    return {
      result: await askWitness(witness, { note, tree, publicKey: log.publicKey, post, openPlace, now, seen: 0 }),
    };
  };
  test('signs a header line, a time line and the whole text with its final newline', async () => {
    expect(await at(cosign())).toBe('2023-11-14T22:13:20.000Z');
    for (const message of [
      `cosignature/v1\ntime 01700000000\n${text}\n`,
      `cosignature/v2\ntime 1700000000\n${text}\n`,
      `cosignature/v1\ntime 1700000000\n${text}`,
      `cosignature/v1\ntime 1700000000\n${note}`,
      `time 1700000000\n${text}\n`,
    ])
      expect(await at(cosign({ message: Buffer.from(message) }))).toBeNull();
    expect(await at(cosign({ body: `${text.replace('\n12\n', '\n13\n')}\n` }))).toBeNull();
  });
  test('proves nothing if its time has not come yet', async () => {
    const now = Date.parse('2026-06-01T12:00:00Z');
    const dated = async (iso: string) => {
      const time = BigInt(Date.parse(iso) / 1000);
      const line = cosign({ time });
      const policy = await verifier.parsePolicy(`witness w ${vkey}\nquorum w\n`);
      const { signed, uncounted } = await verifier.cosignersOf(`${note}${line}\n`, policy, now);
      const { result } = await ask([200, `${line}\n`], new Date(now));
      return [signed.length, uncounted.join(), result.outcome];
    };
    const ahead = expect.stringMatching(/^that of w states the time 2031-01-01T00:00:00\.000Z, which has not come yet/);
    expect(await dated('2031-01-01T00:00:00Z')).toEqual([0, ahead, 'failed']);
    // Clocks differ, by a day at most.
    expect(await dated('2026-06-02T11:59:59Z')).toEqual([1, '', 'cosigned']);
    expect((await dated('2026-06-02T12:00:01Z'))[0]).toBe(0);
  });
  test('has the key id of name, type and key', () => {
    const [name = '', id, encoded = ''] = vkey.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/);
    const key = Buffer.from(encoded, 'base64');
    expect([key[0], key.length]).toEqual([4, 33]);
    expect(sha256(Buffer.concat([Buffer.from(`${name}\n`), key])).toString('hex', 0, 4)).toBe(id);
  });
});

/** cosigned_message, written from the text. */
function cosignedMessage(changes: {
  label?: string;
  name?: string;
  time?: bigint;
  origin?: string;
  start?: bigint;
  end?: bigint;
  root?: Buffer;
}) {
  const { label = 'subtree/v1\n\0', name = 'w.example/1', time = 1_700_000_000n, origin = ORIGIN } = changes;
  const { start = 0n, end = 12n, root = head.root } = changes;
  const opaque = (words: string) => Buffer.concat([Buffer.of(words.length), Buffer.from(words)]);
  const [when, from, to] = [time, start, end].map((value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(value);
    return bytes;
  }) as [Buffer, Buffer, Buffer];
  return Buffer.concat([Buffer.from(label), opaque(name), when, opaque(origin), from, to, root]);
}

describe('tlog-cosignature with ML-DSA-44', () => {
  const { cosign, at, vkey } = createCosigner('w.example/1', 'ml-dsa-44');
  test('signs a label, its name, the time, the origin, and the tree from its first leaf', async () => {
    expect(await at(cosign())).toBe('2023-11-14T22:13:20.000Z');
    expect(await at(cosign({ message: cosignedMessage({}) }))).toBe('2023-11-14T22:13:20.000Z');
    for (const changes of [
      { label: 'subtree/v1\n' },
      { label: 'subtree/v2\n\0' },
      { name: 'w.example/2' },
      { time: 1_800_000_001n },
      { origin: 'consent-ledger/c2sp/2' },
      { start: 8n },
      { end: 13n },
      { root: Buffer.alloc(32, 8) },
    ])
      expect([changes, await at(cosign({ message: cosignedMessage(changes) }))]).toEqual([changes, null]);
    // What a key of the other kind signs.
    expect(await at(cosign({ message: Buffer.from(`cosignature/v1\ntime 1700000000\n${text}\n`) }))).toBeNull();
  });
  test('has keys of type 0x06 with 1312 bytes, and ids of name, type and key', () => {
    const [, name = '', id, encoded = ''] = /^(.+?)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
    const key = Buffer.from(encoded, 'base64');
    expect([key[0], key.length]).toEqual([6, 1313]);
    expect(sha256(Buffer.concat([Buffer.from(`${name}\n`), key])).toString('hex', 0, 4)).toBe(id);
  });
  test('does not count without a time: it then says nothing about the newest tree', async () => {
    expect(await at(cosign({ time: 0n }))).toBeNull();
    const { uncounted } = await verifier.cosignersOf(
      `${note}${cosign({ time: 0n })}\n`,
      await verifier.parsePolicy(`witness w ${vkey}\nquorum w\n`),
    );
    expect(uncounted).toEqual(['that of w does not say when it was made']);
  });
  test('may come with that of the witness’s other key, and counts once', async () => {
    const other = createCosigner();
    const both = `${note}${other.cosign()}\n${cosign()}\n`;
    const signedBy = async (policy: string) => {
      const read = await verifier.parsePolicy(policy);
      const { signed } = await verifier.cosignersOf(both, read);
      return [signed.map(({ name }) => name), read.isQuorum(new Set(signed.map(({ name }) => name)))];
    };
    const stranger = witnessKey('w.example/9');
    expect(await signedBy(`witness w ${vkey}\nquorum w\n`)).toEqual([['w'], true]);
    const lines = `witness old ${other.vkey}\nwitness new ${vkey}\nwitness else ${stranger}\n`;
    expect(await signedBy(`${lines}group w any old new\ngroup g 2 w else\nquorum g\n`)).toEqual([
      ['old', 'new'],
      false,
    ]);
    expect(await signedBy(`${lines}group w any old new\ngroup g 1 w else\nquorum g\n`)).toEqual([['old', 'new'], true]);
  });
});

describe.each(['ed25519', 'ml-dsa-44'] as const)('tlog-cosignature with %s', (algorithm) => {
  const { cosign, at } = createCosigner('w.example/1', algorithm);
  const changed = (line: string, change: (bytes: Buffer) => Buffer) =>
    line.replace(/\S+$/, (value) => change(Buffer.from(value, 'base64')).toString('base64'));
  test('counts for its own name and key only', async () => {
    expect(await at(cosign({ as: 'w.example/2' }))).toBeNull();
    expect(await at(createCosigner('w.example/1', algorithm).cosign())).toBeNull();
    expect(await at(changed(cosign(), (bytes) => bytes.fill(1, 0, 4)))).toBeNull();
  });
  test('is about one checkpoint', async () => {
    const other = signCheckpoint({ ...head, size: 13 }, log.privateKey);
    expect(await at(cosign(), other)).toBeNull();
    expect(await at(cosign({ body: other.slice(0, other.indexOf('\n\n') + 1) }), other)).not.toBeNull();
  });
  test('is refused after a change of any part', async () => {
    for (const place of [4, 11, 12, 40, -1])
      expect(
        await at(
          changed(cosign(), (bytes) => {
            const byte = place < 0 ? bytes.length + place : place;
            bytes[byte] = (bytes[byte] ?? 0) ^ 1;
            return bytes;
          }),
        ),
      ).toBeNull();
  });
  test('has a time of at most 63 bits', async () => {
    expect(await at(cosign({ time: (1n << 63n) + 5n }))).toBeNull();
  });
  test('is canonical base64 of exactly id, time and signature', async () => {
    const line = cosign();
    expect(await at(line.replace(/=*$/, '').slice(0, -1))).toBeNull();
    expect(await at(changed(line, (bytes) => bytes.subarray(0, -1)))).toBeNull();
    expect(await at(changed(line, (bytes) => Buffer.concat([bytes, Buffer.of(0)])))).toBeNull();
    expect(await at(changed(line, (bytes) => bytes.subarray(0, 12)))).toBeNull();
  });
});

describe('tlog-witness', () => {
  const { witness, cosign } = createCosigner();
  const hash = Buffer.alloc(32, 3);
  const tree = {
    consistency: (from: number) => Promise.resolve(from === 0 || from === 12 ? [] : [hash]),
    inclusion: () => Promise.resolve(null),
    root: () => Promise.resolve(null),
  };
  /** Asks the witness, which gives these answers in turn. */
  async function ask(...answers: readonly [number, string][]) {
    const asked: { url: string; body: string; contentType: string }[] = [];
    const post: Post = (url, body, contentType) => {
      asked.push({ url, body: String(body), contentType });
      const [status, said] = answers[asked.length - 1] ?? [500, ''];
      return Promise.resolve({ status, bytes: Buffer.from(said) });
    };
    const openPlace = () => {
      throw new Error('no bucket is asked');
    };
    const asking = { note, tree, publicKey: log.publicKey, post, openPlace, now: new Date(), seen: 0 };
    return { result: await askWitness(witness, asking), asked };
  }

  test('is sent to add-checkpoint under the prefix: old size, proof, empty line, checkpoint', async () => {
    const { asked, result } = await ask([409, '7\n'], [200, `${cosign()}\n`]);
    expect(asked.map(({ url }) => url)).toEqual(Array(2).fill('https://w.example/w/add-checkpoint'));
    expect(asked.map(({ body }) => body)).toEqual([`old 0\n\n${note}`, `old 7\n${hash.toString('base64')}\n\n${note}`]);
    expect(result).toMatchObject({ outcome: 'cosigned', at: '2023-11-14T22:13:20.000Z' });
  });
  test('has sizes without leading zeros, and an empty proof from size 0', () => {
    expect(formatConsistencyProof(0, [], note)).toBe(`old 0\n\n${note}`);
    expect(formatConsistencyProof(20_852_014, [hash], note)).toMatch(/^old 20852014\n[^\n]{44}\n\nconsent-ledger/);
  });
  test('answers a conflict with its size and a newline, and nothing else', async () => {
    for (const said of ['7', '07\n', '7\n\n', ' 7\n', 'seven\n', '']) {
      const { result, asked } = await ask([409, said], [200, `${cosign()}\n`]);
      expect([said, result.outcome, asked.length]).toEqual([said, 'failed', 1]);
    }
  });
  test('gives alarm when it knows more entries, or other ones', async () => {
    expect((await ask([409, '13\n'])).result.outcome).toBe('forked');
    expect((await ask([409, '12\n'], [409, '12\n'])).result.outcome).toBe('forked');
    expect((await ask([409, '7\n'], [422, ''])).result.outcome).toBe('forked');
  });
  test('has not signed with any other answer', async () => {
    for (const status of [400, 403, 404, 500]) expect((await ask([status, ''])).result.outcome).toBe('failed');
  });
  test('may send cosignatures of other keys, which are ignored', async () => {
    const stranger = createCosigner('w.example/9').cosign({ as: 'w.example/9' });
    expect((await ask([200, `${stranger}\n${cosign()}\n`])).result.outcome).toBe('cosigned');
    expect((await ask([200, `${stranger}\n`])).result.outcome).toBe('failed');
  });
});

describe('tlog-proof', () => {
  const hashes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const proof = formatTlogProof({ index: 3, hashes, extra: Buffer.from('more'), note });
  test('is written with header, extra, index, hashes, an empty line and the checkpoint', () => {
    const [one, two] = hashes.map((hash) => hash.toString('base64'));
    expect(proof).toBe(`c2sp.org/tlog-proof@v1\nextra bW9yZQ==\nindex 3\n${one}\n${two}\n\n${note}`);
    expect(verifier.parseProof(proof)).toMatchObject({ index: 3, note });
  });
  test.each([
    ['no extra line', proof.replace(/extra .*\n/, ''), true],
    ['no hash', proof.replace(/(index 3\n)(.+\n)+/, '$1'), true],
    ['another header', proof.replace('@v1', '@v2'), false],
    ['a byte order mark', `\ufeff${proof}`, false],
    ['no index', proof.replace('index 3\n', ''), false],
    ['an index with a leading zero', proof.replace('index 3', 'index 03'), false],
    ['a negative index', proof.replace('index 3', 'index -1'), false],
    ['the index in front of the extra line', proof.replace(/(extra .*\n)(index .*\n)/, '$2$1'), false],
    ['two extra lines', proof.replace(/(extra .*\n)/, '$1$1'), false],
    ['extra data that is not canonical base64', proof.replace('bW9yZQ==', 'bW9yZR=='), false],
    ['a short hash', proof.replace(/AQE=\n/, '\n'), false],
    [
      'more than 63 hashes',
      proof.replace(/(index 3\n)/, `$1${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}`),
      false,
    ],
    ['a carriage return', proof.replaceAll('\n', '\r\n'), false],
    ['no empty line', proof.replace('\n\n', '\n'), false],
  ])('with %s is read as the text says', (_, given, isSound) => {
    const read = () => verifier.parseProof(given);
    if (isSound) expect(read().index).toBe(3);
    else expect(read).toThrow();
  });
});
