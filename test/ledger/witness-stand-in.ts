import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { onTestFinished } from 'vitest';

// A witness written from c2sp.org/tlog-witness, tlog-checkpoint, tlog-cosignature and RFC 9162 alone. It shares no code
// with the product, so it can disagree.

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const node = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right);

/** RFC 9162 §2.1.4.2, step by step. */
function continues(first: number, second: number, path: Buffer[], firstRoot: Buffer, secondRoot: Buffer): boolean {
  if (path.length === 0) return false;
  const proof = (first & (first - 1)) === 0 ? [firstRoot, ...path] : path;
  let fn = first - 1;
  let sn = second - 1;
  while (fn & 1) {
    fn >>= 1;
    sn >>= 1;
  }
  let fr = proof[0] as Buffer;
  let sr = proof[0] as Buffer;
  for (const c of proof.slice(1)) {
    if (sn === 0) return false;
    if (fn & 1 || fn === sn) {
      fr = node(c, fr);
      sr = node(c, sr);
      while (!(fn & 1) && fn !== 0) {
        fn >>= 1;
        sn >>= 1;
      }
    } else sr = node(sr, c);
    fn >>= 1;
    sn >>= 1;
  }
  return fr.equals(firstRoot) && sr.equals(secondRoot) && sn === 0;
}

interface Behaviour {
  /** Signs something other than the given checkpoint. */
  readonly forge?: boolean;
  /** Never answers. */
  readonly silent?: boolean;
  /** With which of its keys it signs; by default only with that of Ed25519. */
  readonly signs?: readonly Algorithm[];
  /** Its clock in seconds; by default it stands still, in 2027. */
  readonly clock?: () => bigint;
}

type Algorithm = 'ed25519' | 'ml-dsa-44';

/** Starts a witness that knows one log by its verifier key. Resolves with its line for a policy, without the name. */
export async function startWitness(name: string, logKey: string, behaviour: Behaviour = {}): Promise<string> {
  const { signs: [first = 'ed25519'] = [] } = behaviour;
  return (await startWitnessWithKeys(name, logKey, behaviour))[first];
}

/** An opaque<1..2^8-1> of RFC 8446 section 3. */
const opaque = (text: string) => Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]);

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** A key of a witness, and lines signed with it. */
export function createKey(name: string, algorithm: Algorithm) {
  const pair = generateKeyPairSync('ed25519');
  const pq = ml_dsa44.keygen();
  const [type, raw] =
    algorithm === 'ed25519'
      ? ([4, Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')] as const)
      : ([6, Buffer.from(pq.publicKey)] as const);
  const key = Buffer.concat([Buffer.of(type), raw]);
  const id = sha256(Buffer.from(`${name}\n`), key).subarray(0, 4);
  return {
    vkey: `${name}+${id.toString('hex')}+${key.toString('base64')}`,
    /** Of the first three lines of a checkpoint. `message` replaces what is signed. */
    sign(signed: string, { time = 1_700_000_000n, message = Buffer.alloc(0), as = name } = {}): string {
      const [origin = '', size = '', root = ''] = signed.split('\n');
      const own =
        algorithm === 'ed25519'
          ? Buffer.from(`cosignature/v1\ntime ${time}\n${signed}`)
          : Buffer.concat([
              Buffer.from('subtree/v1\n\0'),
              opaque(name),
              uint64(time),
              opaque(origin),
              uint64(0n),
              uint64(BigInt(size)),
              Buffer.from(root, 'base64'),
            ]);
      const text = message.length === 0 ? own : message;
      const signature =
        algorithm === 'ed25519' ? sign(null, text, pair.privateKey) : Buffer.from(ml_dsa44.sign(text, pq.secretKey));
      return `— ${as} ${Buffer.concat([id, uint64(time), signature]).toString('base64')}`;
    },
  };
}

/** The same with a key of each kind. */
export async function startWitnessWithKeys(
  name: string,
  logKey: string,
  {
    forge = false,
    silent = false,
    signs = ['ed25519'],
    clock = () => BigInt(Math.floor(Date.now() / 1000)),
  }: Behaviour = {},
): Promise<Readonly<Record<Algorithm, string>>> {
  const [origin = '', , encoded = ''] = /^(.+?)\+([0-9a-f]{8})\+(.+)$/.exec(logKey)?.slice(1) ?? [];
  const raw = Buffer.from(encoded, 'base64').subarray(1);
  const logPublic = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
  const logHash = sha256(Buffer.from(`${origin}\n`), Buffer.of(1), raw).subarray(0, 4);
  const keys = { ed25519: createKey(name, 'ed25519'), 'ml-dsa-44': createKey(name, 'ml-dsa-44') };
  let latest = { size: 0, root: Buffer.alloc(0) };

  function answer(body: string): [number, string] {
    const at = body.indexOf('\n\n');
    const [old = '', ...hashes] = body.slice(0, at).split('\n');
    const checkpoint = body.slice(at + 2);
    const signed = checkpoint.slice(0, checkpoint.indexOf('\n\n') + 1);
    const [line1 = '', line2 = '', line3 = ''] = signed.split('\n');
    if (line1 !== origin) return [404, ''];
    const isSigned = checkpoint
      .slice(signed.length + 1)
      .split('\n')
      .some((line) => {
        const [dash, who, value = ''] = line.split(' ');
        const bytes = Buffer.from(value, 'base64');
        return (
          dash === '—' &&
          who === origin &&
          bytes.subarray(0, 4).equals(logHash) &&
          verify(null, Buffer.from(signed), logPublic, bytes.subarray(4))
        );
      });
    if (!isSigned) return [403, ''];
    const from = Number(/^old (\d+)$/.exec(old)?.[1] ?? Number.NaN);
    const size = Number(line2);
    const root = Buffer.from(line3, 'base64');
    if (Number.isNaN(from) || from > size) return [400, ''];
    if (from !== latest.size) return [409, `${latest.size}\n`];
    const path = hashes.map((hash) => Buffer.from(hash, 'base64'));
    if (from === size && !root.equals(latest.root)) return [409, `${latest.size}\n`];
    if (from === 0 || from === size) {
      if (path.length > 0) return [422, ''];
    } else if (!continues(from, size, path, latest.root, root)) return [422, ''];
    latest = { size, root };
    const lines = signs.map(
      (algorithm) => `${keys[algorithm].sign(forge ? signed.replace('\n', 'x\n') : signed, { time: clock() })}\n`,
    );
    return [200, `— other.example/w AAAAAAAA\n${lines.join('')}`];
  }

  const server = createServer((request, response) => {
    if (silent) return;
    void text(request).then((body) => {
      const [status, said] =
        request.url === '/w/add-checkpoint' && request.method === 'POST' ? answer(body) : [404, ''];
      response.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' }).end(said);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lineOf = (algorithm: Algorithm) => `${keys[algorithm].vkey} http://127.0.0.1:${port}/w`;
  return { ed25519: lineOf('ed25519'), 'ml-dsa-44': lineOf('ml-dsa-44') };
}
