import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
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
}

/** Starts a witness that knows one log by its verifier key. Resolves with its line for a policy, without the name. */
export async function startWitness(name: string, logKey: string, { forge = false, silent = false }: Behaviour = {}) {
  const [origin = '', , encoded = ''] = /^(.+?)\+([0-9a-f]{8})\+(.+)$/.exec(logKey)?.slice(1) ?? [];
  const raw = Buffer.from(encoded, 'base64').subarray(1);
  const logPublic = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
  const logHash = sha256(Buffer.from(`${origin}\n`), Buffer.of(1), raw).subarray(0, 4);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = Buffer.concat([Buffer.of(4), Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')]);
  const keyHash = sha256(Buffer.from(`${name}\n`), key).subarray(0, 4);
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
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(1_800_000_000n);
    const message = `cosignature/v1\ntime 1800000000\n${signed}${forge ? ' ' : ''}`;
    const signature = Buffer.concat([keyHash, time, sign(null, Buffer.from(message), privateKey)]);
    return [200, `— other.example/w AAAAAAAA\n— ${name} ${signature.toString('base64')}\n`];
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
  return `${name}+${keyHash.toString('hex')}+${key.toString('base64')} http://127.0.0.1:${port}/w`;
}
