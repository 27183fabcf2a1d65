import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
// The very file that is put into packs.
import * as verifier from '../../reports/verifier/verify.mjs';
import { producePack } from '../../src/documents/produce-pack.ts';
import vectors from '../crypto/tree-vectors.json' with { type: 'json' };
import { alter } from '../tampering.ts';
import { isLong, runs, temporaryFolder } from '../temporary.ts';
import { filesOf, packOf, sharePack } from './pack-world.ts';

const shared = sharePack();

interface Found {
  ok: boolean;
  checks: { state: 'ok' | 'bad' | 'note'; what: string; text: string }[];
}
const asGiven = (files: ReadonlyMap<string, Buffer>) =>
  new Map([...files].map(([name, content]) => [name, { content: new Uint8Array(content), broken: false }]));
const check = (files: ReadonlyMap<string, Buffer>, options = {}) =>
  verifier.check(asGiven(files), options) as Promise<Found>;
const faults = ({ checks }: Found) =>
  checks.filter(({ state }) => state === 'bad').map(({ what, text }) => `${what}: ${text}`);

/** Runs a verifier as its reader does. */
function run(script: string, ...args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), stdout }),
    );
  });
}

async function unpacked(files: ReadonlyMap<string, Buffer>): Promise<string> {
  const folder = join(await temporaryFolder(), 'pack');
  for (const [name, content] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

describe('a pack proves itself', () => {
  test('to its enclosed verifier: every file, every record and the request, as ZIP and unpacked', async () => {
    const { path, zip, verifierKey } = shared();
    const files = filesOf(zip);
    const folder = await unpacked(files);
    const script = join(folder, 'verify.mjs');
    const found = await run(script, path, '--key', verifierKey, '--json');
    const { checks } = JSON.parse(found.stdout) as Found;
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(found.code).toBe(0);
    const texts = checks.map(({ what, text }) => `${what}: ${text}`).join('\n');
    for (const words of [
      'Verifier key: matches the key you gave',
      'manifest.json: was sealed as entry',
      'files are byte for byte those of the manifest',
      'Entry 1: record: webhook of default',
      'Entry 3: record',
      'Entry 4: request',
    ])
      expect(texts).toContain(words);
    expect([...files.keys()]).not.toContain('proofs/2.body');
    expect((await run(script, folder)).stdout).toContain('✓ nothing was changed');
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '';
    expect((await run(script, path, '--key', other)).code).toBe(3);
  });

  test('is reported as changed after a change of any byte of any file', async () => {
    const { zip } = shared();
    const files = filesOf(zip);
    expect(faults(await check(files))).toEqual([]);
    for (const [name, content] of files) {
      // Every byte of the decisive files (here every fifth); of longer files, a sample.
      const step = /^(?:proofs\/manifest\.|log\.vkey|tlog-policy)/.test(name)
        ? isLong
          ? 1
          : 5
        : Math.max(1, Math.floor(content.length / runs(6)));
      for (let at = 0; at < content.length; at += step) {
        const changed = Buffer.from(content);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        const found = await check(new Map([...files, [name, changed]]));
        if (found.ok) throw new Error(`a change of byte ${at} of ${name} is not found`);
      }
    }
  });

  test('is reported as changed after a file was removed, renamed, swapped or added', async () => {
    const { zip } = shared();
    const files = filesOf(zip);
    for (const name of files.keys()) {
      const rest = new Map([...files].filter(([one]) => one !== name));
      expect([name, (await check(rest)).ok]).toEqual([name, false]);
    }
    expect(faults(await check(new Map([...files, ['note.txt', Buffer.from('x')]])))).toEqual([
      'note.txt: is not in the manifest: it was added later',
    ]);
    const [one, three] = [files.get('proofs/1.body'), files.get('proofs/3.body')] as [Buffer, Buffer];
    const swapped = new Map([...files, ['proofs/1.body', three], ['proofs/3.body', one]] as [string, Buffer][]);
    expect(faults(await check(swapped))).toEqual(
      [1, 3].map((entry) => `Entry ${entry}: its content is not what was sealed (meta, body or salt was changed)`),
    );
  });

  test('does not accept the proofs of another ledger or a forged key', async () => {
    const [mine, other] = [filesOf(shared().zip), filesOf((await packOf()).zip)];
    for (const name of ['log.vkey', 'proofs/1.tlog-proof', 'proofs/manifest.tlog-proof', 'manifest.json'])
      expect((await check(new Map([...mine, [name, other.get(name) as Buffer]]))).ok).toBe(false);
  });

  test('is reported as changed after text was added to a signed note, wherever it is', async () => {
    const files = filesOf(shared().zip);
    const proof = String(files.get('proofs/1.tlog-proof'));
    const [, signature = ''] = /\n(— \S+ \S+\n)$/.exec(proof) ?? [];
    // The same key with a signature of other bytes.
    const [dash = '', name = '', encoded = ''] = signature.trim().split(' ');
    const bytes = Buffer.from(encoded, 'base64').fill(1, 20);
    const another = `${dash} ${name} ${bytes.toString('base64')}\n`;
    for (const [added, why] of [
      ['This proof was withdrawn by the controller.\n', 'its checkpoint has a line that is not a signature'],
      ['\nThis proof was withdrawn by the controller.\n', 'its checkpoint has a line that is not a signature'],
      ['\n', 'its checkpoint has a line that is not a signature'],
      ['— withdrawn by the controller\n', 'its checkpoint has a line that is not a signature'],
      [another, 'its checkpoint has two signatures of one key'],
      [signature, 'its checkpoint has two signatures of one key'],
      ['— w.example/1 AAAAAAAA\n'.repeat(100), 'its checkpoint has too many signatures'],
    ] as const) {
      const loose = new Map([
        ['log.vkey', files.get('log.vkey') as Buffer],
        ['proofs/1.meta', files.get('proofs/1.meta') as Buffer],
        ['proofs/1.body', files.get('proofs/1.body') as Buffer],
        ['proofs/1.tlog-proof', Buffer.from(proof + added)],
      ]);
      expect([added, faults(await check(loose))]).toEqual([added, [`Entry 1: ${why}`]]);
      expect(faults(await check(new Map([...files, ['proofs/1.tlog-proof', Buffer.from(proof + added)]])))).toContain(
        `Entry 1: ${why}`,
      );
      loose.set('proofs/1.tlog-proof', Buffer.from(proof));
      expect(faults(await check(loose))).toEqual([]);
      // Signatures of keys that the reader does not know are ignored.
      loose.set('proofs/1.tlog-proof', Buffer.from(`${proof}— w.example/1 AAAAAAAA\n`));
      expect(faults(await check(loose))).toEqual([]);
    }
  });

  test('stays valid after a record was erased, and says so', async () => {
    const erasedFirst = await packOf(async ({ context }) => {
      await alter(context.config.dataDir, 'update entries set meta = null, body = null, salt = null where seq = 1');
    });
    const files = filesOf(erasedFirst.zip);
    const found = await check(files);
    expect(faults(found)).toEqual([]);
    expect(found.checks.map(({ text }) => text).join()).toMatch(
      /place and time unchanged .*; its content was erased(?! or)/,
    );
    expect([files.has('proofs/1.tlog-proof'), files.has('proofs/1.body')]).toEqual([true, false]);
  });

  test('discloses no content of entries if the law bars identifiers from the answer', async () => {
    const files = filesOf((await packOf(undefined, 'US-CA')).zip);
    expect([...files.keys()].filter((name) => /^proofs\/\d+\.(?:meta|body)$/.test(name))).toEqual([]);
    const found = await check(files);
    expect(faults(found)).toEqual([]);
    expect(found.checks.map(({ text }) => text).join()).toContain('its content is withheld');
  });

  test('has the same bytes when it is made again', async () => {
    const { world, caseId, zip } = shared();
    const { context } = world;
    const { asOf } = JSON.parse(String(filesOf(zip).get('manifest.json'))) as { asOf: number };
    const again = await producePack({ ...context.documents, cases: context.cases }, { caseId, actor: 'Olga', asOf });
    if (again.outcome !== 'produced') throw new Error(again.outcome);
    expect(await readFile(again.path)).toEqual(zip);
  });

  test('is still valid after being zipped again, whatever folder is around it', async () => {
    const { zip, path } = shared();
    const files = [...filesOf(zip)]
      .reverse()
      .map(([name, content]) => [`answer/${name}`, new Uint8Array(content)] as const);
    const again = `${path}.again.zip`;
    await writeFile(
      again,
      zipSync({ ...Object.fromEntries(files), '__MACOSX/answer/._x': new Uint8Array(3) }, { level: 0 }),
    );
    const script = join(await unpacked(filesOf(zip)), 'verify.mjs');
    expect(await run(script, again)).toMatchObject({ code: 0 });
    const damaged = Buffer.from(zip);
    damaged[200] = (damaged[200] ?? 0) ^ 1;
    await writeFile(again, damaged);
    expect(await run(script, again)).toMatchObject({ code: 3 });
  });
});

describe('the verifier without WebCrypto', () => {
  test('gives the same results', async () => {
    const { zip } = shared();
    const files = filesOf(zip);
    const { subtle } = verifier.engine;
    try {
      verifier.engine.subtle = undefined;
      expect(faults(await check(files))).toEqual([]);
      const letter = Buffer.from(files.get('letter.pdf') ?? '');
      letter[500] = (letter[500] ?? 0) ^ 1;
      expect(faults(await check(new Map([...files, ['letter.pdf', letter]])))).toHaveLength(1);
    } finally {
      verifier.engine.subtle = subtle;
    }
  });

  test('passes the SHA-2 and Ed25519 test vectors of RFC 6234 and RFC 8032', () => {
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
    const abc = Buffer.from('abc');
    expect(hex(verifier.plainSha256(abc))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hex(verifier.plainSha512(abc))).toMatch(/^ddaf35a193617abacc417349ae204131.*a54ca49f$/);
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
    // RFC 8032 section 7.1, tests 1 to 3.
    for (const [key, message, signature] of [
      [
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        '',
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ],
      [
        '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        '72',
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ],
      [
        'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
        'af82',
        '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
      ],
    ] as const) {
      expect(verifier.plainEd25519(bytes(key), bytes(signature), bytes(message))).toBe(true);
      expect(verifier.plainEd25519(bytes(key), bytes(signature), bytes(`${message}00`))).toBe(false);
      // S + L: the same equation, refused by RFC 8032 section 5.1.7.
      const order = 2n ** 252n + 27742317777372353535851937790883648493n;
      const s = BigInt(`0x${Buffer.from(signature.slice(64), 'hex').reverse().toString('hex')}`) + order;
      const malleable =
        signature.slice(0, 64) + Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');
      expect(verifier.plainEd25519(bytes(key), bytes(malleable), bytes(message))).toBe(false);
    }
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const raw = new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'));
    for (let length = 0; length < 40; length += 1) {
      const message = new Uint8Array(Buffer.alloc(length * 7, length));
      expect(verifier.plainEd25519(raw, new Uint8Array(sign(null, message, privateKey)), message)).toBe(true);
    }
  });
});

test.each(vectors.inclusion)(
  'the verifier accepts the published proof of leaf $index in $size, and no other',
  async (vector) => {
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
    const leaf = verifier.plainSha256(
      new Uint8Array(Buffer.concat([Buffer.of(0), bytes(vectors.leaves[vector.index] ?? '')])),
    );
    const root = bytes(vectors.roots[vector.size - 1] ?? '');
    const proof = vector.proof.map(bytes);
    const holds = (index: number, size: number, hashes: Uint8Array[]) =>
      verifier.isIncluded(leaf, index, size, hashes, root) as Promise<boolean>;
    expect(await holds(vector.index, vector.size, proof)).toBe(true);
    expect(await holds(vector.index + 1, vector.size, proof)).toBe(false);
    expect(await holds(vector.index, vector.size * 2, proof)).toBe(false);
    expect(await holds(vector.index, vector.size, [...proof, root])).toBe(false);
    if (proof.length > 0) expect(await holds(vector.index, vector.size, proof.slice(1))).toBe(false);
  },
);

describe('files given together', () => {
  /** What `ledger prove --out evidence.zip` writes for the entry that registers the letter of a pack. */
  async function evidence() {
    const files = filesOf(shared().zip);
    const take = (name: string) => new Uint8Array(files.get(name) ?? Buffer.alloc(0));
    const seq = Number(/\nindex (\d+)\n/.exec(Buffer.from(take('proofs/manifest.tlog-proof')).toString())?.[1]) + 1;
    const proof = Object.fromEntries(
      ['tlog-proof', 'meta', 'body'].map((ending) => [`proofs/${seq}.${ending}`, take(`proofs/manifest.${ending}`)]),
    );
    const folder = await temporaryFolder();
    const write = async (name: string, content: Uint8Array) => {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
      return join(folder, name);
    };
    const script = await write('verify.mjs', take('verify.mjs'));
    const letter = take('letter.pdf');
    return { bundle: { 'log.vkey': take('log.vkey'), ...proof }, letter, proof, write, script };
  }

  test('are green if the document is what the evidence registers, even if it is given twice', async () => {
    const { bundle, letter, write, script } = await evidence();
    const zip = await write('evidence.zip', zipSync({ ...bundle, 'letter.pdf': letter }));
    expect(await run(script, await write('letter.pdf', letter), zip)).toMatchObject({ code: 0 });
    expect(
      (await run(script, await write('letter.pdf', Buffer.from('forged')), await write('e.zip', zipSync(bundle)))).code,
    ).toBe(3);
  });

  test('are refused if two that differ have one name, whichever comes last', async () => {
    const { bundle, letter, proof, write, script } = await evidence();
    const forged = await write('given/letter.pdf', Buffer.from('forged'));
    const genuine = await write('letter.pdf', letter);
    const plain = await write('evidence.zip', zipSync(bundle));
    const holding = await write('holding.zip', zipSync({ ...bundle, 'letter.pdf': letter }));
    const other = await write('other.zip', zipSync({ ...bundle, 'log.vkey': Buffer.from('x+y') }));
    const loose = await write('proofs/1.body', Buffer.from('{}'));
    const within = await write('within.zip', zipSync({ ...bundle, ...proof, 'proofs/1.body': Buffer.from('[]') }));
    for (const given of [
      [forged, holding],
      [holding, forged],
      [forged, genuine, plain],
      [forged, plain, genuine],
      [genuine, plain, other],
      [genuine, other, plain],
      [genuine, loose, within],
    ]) {
      const { code, stdout } = await run(script, ...given);
      expect(stdout).toContain('two different files are named');
      expect(code).toBe(3);
    }
  });

  test('are not judged without the key or policy that was meant to be given', async () => {
    const { bundle, letter, write, script } = await evidence();
    const given = [await write('letter.pdf', letter), await write('evidence.zip', zipSync(bundle))];
    expect((await run(script, ...given)).code).toBe(0);
    for (const option of ['--key', '--policy'])
      for (const value of [[], [''], [' ']]) expect((await run(script, ...given, option, ...value)).code).toBe(2);
  });

  test('are not called altered if one of the paths cannot be read', async () => {
    const { write, bundle, script } = await evidence();
    const path = await write('evidence.zip', zipSync(bundle));
    for (const given of [[`${path}.not`], [path, '--policy', `${path}.not`]])
      expect(await run(script, ...given)).toEqual({ code: 2, stdout: '' });
  });
});
