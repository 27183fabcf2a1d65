#!/usr/bin/env node
/*
 * Checks a pack, or proofs of single entries, that consent-ledger produced. One file, no network, no other code:
 *
 *   node verify.mjs pack.zip [--key KEY] [--policy FILE]        (the same is in verify.html, for a browser)
 *
 * Written from the documentation alone (docs/architecture.md, Ledger format, and docs/proofs.md), from C2SP signed-note, tlog-checkpoint, tlog-proof, tlog-policy and tlog-cosignature, and from RFC 6962,
 * RFC 8032, RFC 9162, FIPS 202 and FIPS 204. It shares no code with the program that it checks.
 */

// ---------------------------------------------------------------- bytes

const encoder = new TextEncoder();

/** Throws for bytes that are not UTF-8. */
const textOf = (bytes) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const counted = (count) => `${count} ${count === 1 ? 'entry' : 'entries'}`;
const equal = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Only the one form that encoders write (RFC 4648 section 3.5); null for anything else. */
function fromBase64(text) {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return null;
  const binary = atob(text);
  return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
}

// ---------------------------------------------------------------- SHA-2 (FIPS 180-4), for where WebCrypto is missing

function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** The first 64 bits of the fraction of a root of n. */
function rootBits(n, degree) {
  const scaled = BigInt(n) << BigInt(64 * degree);
  let [low, high] = [0n, 1n << 80n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= scaled) low = middle;
    else high = middle;
  }
  return low & ((1n << 64n) - 1n);
}

const K512 = primes(80).map((prime) => rootBits(prime, 3));
const H512 = primes(8).map((prime) => rootBits(prime, 2));
const K256 = Uint32Array.from(K512.slice(0, 64), (bits) => Number(bits >> 32n));
const H256 = Uint32Array.from(H512, (bits) => Number(bits >> 32n));

function padded(bytes, block) {
  const length = Math.ceil((bytes.length + 1 + block / 8) / block) * block;
  const all = new Uint8Array(length);
  all.set(bytes);
  all[bytes.length] = 0x80;
  new DataView(all.buffer).setBigUint64(length - 8, BigInt(bytes.length) * 8n);
  return all;
}

export function plainSha256(bytes) {
  const view = new DataView(padded(bytes, 64).buffer);
  const state = H256.slice();
  const w = new Uint32Array(64);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let t = 0; t < 16; t += 1) w[t] = view.getUint32(block + 4 * t);
    for (let t = 16; t < 64; t += 1) {
      const s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >>> 3);
      const s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >>> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t += 1) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K256[t] + w[t]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    for (const [place, value] of [a, b, c, d, e, f, g, h].entries()) state[place] += value;
  }
  const out = new DataView(new ArrayBuffer(32));
  for (const [place, value] of state.entries()) out.setUint32(4 * place, value);
  return new Uint8Array(out.buffer);
}

export function plainSha512(bytes) {
  // The length has 16 bytes, of which ours needs the last 8.
  const view = new DataView(padded(bytes, 128).buffer);
  const mask = (1n << 64n) - 1n;
  const turn = (x, n) => ((x >> n) | (x << (64n - n))) & mask;
  const state = [...H512];
  for (let block = 0; block < view.byteLength; block += 128) {
    const w = Array.from({ length: 16 }, (_, t) => view.getBigUint64(block + 8 * t));
    for (let t = 16; t < 80; t += 1) {
      const s0 = turn(w[t - 15], 1n) ^ turn(w[t - 15], 8n) ^ (w[t - 15] >> 7n);
      const s1 = turn(w[t - 2], 19n) ^ turn(w[t - 2], 61n) ^ (w[t - 2] >> 6n);
      w.push((w[t - 16] + s0 + w[t - 7] + s1) & mask);
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 80; t += 1) {
      const one = h + (turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)) + ((e & f) ^ (~e & mask & g)) + K512[t] + w[t];
      const two = (turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) & mask, c, b, a, (one + two) & mask];
    }
    for (const [place, value] of [a, b, c, d, e, f, g, h].entries()) state[place] = (state[place] + value) & mask;
  }
  const out = new DataView(new ArrayBuffer(64));
  for (const [place, value] of state.entries()) out.setBigUint64(8 * place, value);
  return new Uint8Array(out.buffer);
}

// ---------------------------------------------------------------- Ed25519 (RFC 8032 section 5.1.7), for where WebCrypto lacks it

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (x) => ((x % P) + P) % P;

function power(base, exponent) {
  let [result, square] = [1n, mod(base)];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

const D = mod(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n);

/** Points are x, y, z, t with x/z, y/z the point and t = xy/z. */
function addPoints([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const [a, b] = [mod((y1 - x1) * (y2 - x2)), mod((y1 + x1) * (y2 + x2))];
  const [c, d] = [mod(2n * t1 * t2 * D), mod(2n * z1 * z2)];
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function timesPoint(factor, point) {
  let [sum, double] = [[0n, 1n, 1n, 0n], point];
  for (let rest = factor; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = addPoints(sum, double);
    double = addPoints(double, double);
  }
  return sum;
}

const littleEndian = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** Null for bytes that are no point. */
function pointOf(bytes) {
  const encoded = littleEndian(bytes);
  const [sign, y] = [encoded >> 255n, encoded & ((1n << 255n) - 1n)];
  if (y >= P) return null;
  const square = mod((y * y - 1n) * power(D * y * y + 1n, P - 2n));
  let x = power(square, (P + 3n) / 8n);
  if (mod(x * x) !== square) x = mod(x * ROOT_OF_MINUS_ONE);
  if (mod(x * x) !== square || (x === 0n && sign === 1n)) return null;
  if ((x & 1n) !== sign) x = P - x;
  return [x, y, 1n, mod(x * y)];
}

const BASE = pointOf(concat(Uint8Array.of(0x58), new Uint8Array(31).fill(0x66)));

export function plainEd25519(key, signature, message) {
  const [r, s] = [signature.slice(0, 32), littleEndian(signature.slice(32))];
  const [keyPoint, rPoint] = [pointOf(key), pointOf(r)];
  if (signature.length !== 64 || keyPoint === null || rPoint === null || s >= ORDER) return false;
  const k = littleEndian(plainSha512(concat(r, key, message))) % ORDER;
  const [x1, y1, z1] = timesPoint(s, BASE);
  const [x2, y2, z2] = addPoints(rPoint, timesPoint(k, keyPoint));
  return mod(x1 * z2 - x2 * z1) === 0n && mod(y1 * z2 - y2 * z1) === 0n;
}

// ---------------------------------------------------------------- SHAKE (FIPS 202)

/** Steps ρ and π: where each lane goes, and by how many bits it is turned. */
const LANES = [];
for (let [t, x, y] = [0, 1, 0]; t < 24; t += 1) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  LANES.push({ to: x + 5 * y, by: BigInt((((t + 1) * (t + 2)) / 2) % 64) });
}

/** The constants of step ι, from the shift register of section 3.2.5. */
const ROUNDS = [];
for (let [round, register] = [0, 1]; round < 24; round += 1) {
  let constant = 0n;
  for (let j = 0; j < 7; j += 1) {
    if (register & 1) constant |= 1n << BigInt(2 ** j - 1);
    register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
  }
  ROUNDS.push(constant);
}

/** Keccak-f[1600] on 25 lanes, of which that at (x, y) is number x + 5y. */
function permute(lanes) {
  const turn = (x, n) => (x << n) | (x >> (64n - n));
  for (const constant of ROUNDS) {
    const columns = [0, 1, 2, 3, 4].map((x) => lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    for (let at = 0; at < 25; at += 1)
      lanes[at] ^= columns[(at + 4) % 5] ^ BigInt.asUintN(64, turn(columns[(at + 1) % 5], 1n));
    let moved = lanes[1];
    for (const { to, by } of LANES) {
      const next = lanes[to];
      lanes[to] = BigInt.asUintN(64, turn(moved, by));
      moved = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5);
      for (let x = 0; x < 5; x += 1) lanes[row + x] ^= ~old[(x + 1) % 5] & old[(x + 2) % 5];
    }
    lanes[0] ^= constant;
  }
}

/** The bytes of SHAKE128 (rate 168) or SHAKE256 (rate 136), without end. */
function* shake(rate, bytes) {
  const input = new Uint8Array((Math.floor(bytes.length / rate) + 1) * rate);
  input.set(bytes);
  input[bytes.length] = 0x1f;
  input[input.length - 1] |= 0x80;
  const view = new DataView(input.buffer);
  const lanes = new BigUint64Array(25);
  for (let at = 0; at < input.length; at += rate) {
    for (let lane = 0; lane < rate / 8; lane += 1) lanes[lane] ^= view.getBigUint64(at + 8 * lane, true);
    permute(lanes);
  }
  for (;;) {
    const out = new DataView(new ArrayBuffer(rate));
    for (let lane = 0; lane < rate / 8; lane += 1) out.setBigUint64(8 * lane, lanes[lane], true);
    yield* new Uint8Array(out.buffer);
    permute(lanes);
  }
}

export const plainShake = (rate, bytes, length) => {
  const stream = shake(rate, bytes);
  return Uint8Array.from({ length }, () => stream.next().value);
};
const shake256 = (length, ...parts) => plainShake(136, concat(...parts), length);

// ---------------------------------------------------------------- ML-DSA-44, verification only (FIPS 204; algorithms by their numbers there)

const Q = 8380417;
/** Sizes of the matrix, ones in the challenge, bound of the response, and half of the range that hints correct (table 1). */
const [ROWS, COLUMNS, TAU, GAMMA1, GAMMA2, OMEGA] = [4, 4, 39, 2 ** 17, (Q - 1) / 88, 80];
// Products of two numbers below Q are exact in a double.
const modQ = (x) => ((x % Q) + Q) % Q;

/** Powers of 1753 in the order of reversed bits (appendix B). */
const ZETAS = Array.from({ length: 256 }, (_, n) => {
  let [power, exponent] = [1, 0];
  for (let bit = 0; bit < 8; bit += 1) if (n & (1 << bit)) exponent += 128 >> bit;
  for (; exponent > 0; exponent -= 1) power = (power * 1753) % Q;
  return power;
});

/** Algorithm 41. */
export function ntt(polynomial) {
  const w = polynomial.map(modQ);
  for (let [length, m] = [128, 0]; length >= 1; length /= 2)
    for (let start = 0; start < 256; start += 2 * length) {
      m += 1;
      for (let j = start; j < start + length; j += 1) {
        const t = (ZETAS[m] * w[j + length]) % Q;
        [w[j], w[j + length]] = [modQ(w[j] + t), modQ(w[j] - t)];
      }
    }
  return w;
}

/** Algorithm 42. */
export function inverseNtt(transformed) {
  const w = [...transformed];
  for (let [length, m] = [1, 256]; length < 256; length *= 2)
    for (let start = 0; start < 256; start += 2 * length) {
      m -= 1;
      for (let j = start; j < start + length; j += 1)
        [w[j], w[j + length]] = [modQ(w[j] + w[j + length]), modQ(ZETAS[m] * modQ(w[j + length] - w[j]))];
    }
  return w.map((x) => modQ(x * 8347681));
}

/** Numbers of `width` bits, the lowest bits first (algorithm 18). */
function numbersIn(bytes, width) {
  const numbers = [];
  let [rest, bits] = [0, 0];
  for (const byte of bytes) {
    rest += byte * 2 ** bits;
    for (bits += 8; bits >= width; bits -= width) {
      numbers.push(rest % 2 ** width);
      rest = Math.floor(rest / 2 ** width);
    }
  }
  return numbers;
}

/** The same in the other direction, for numbers of six bits (algorithm 28). */
function bytesOfSixBits(numbers) {
  const bytes = [];
  for (let at = 0; at < numbers.length; at += 4) {
    const [a, b, c, d] = numbers.slice(at, at + 4);
    const all = a + b * 2 ** 6 + c * 2 ** 12 + d * 2 ** 18;
    bytes.push(all & 255, (all >> 8) & 255, all >> 16);
  }
  return Uint8Array.from(bytes);
}

/** One polynomial of the matrix (algorithms 30 and 32). */
export function matrixEntry(seed, row, column) {
  const stream = shake(168, concat(seed, Uint8Array.of(column, row)));
  const next = () => stream.next().value;
  const numbers = [];
  while (numbers.length < 256) {
    const number = next() + next() * 2 ** 8 + (next() & 127) * 2 ** 16;
    if (number < Q) numbers.push(number);
  }
  return numbers;
}

/** The challenge (algorithm 29). */
function sampleInBall(seed) {
  const stream = shake(136, seed);
  const next = () => stream.next().value;
  const signs = Array.from({ length: 8 }, next);
  const c = new Array(256).fill(0);
  for (let i = 256 - TAU; i < 256; i += 1) {
    let j = next();
    while (j > i) j = next();
    const bit = i + TAU - 256;
    c[i] = c[j];
    c[j] = (signs[bit >> 3] >> (bit & 7)) & 1 ? -1 : 1;
  }
  return c;
}

/** The hints, each row as a set of places; null unless they are encoded in the one valid way (algorithm 21). */
function hintsIn(bytes) {
  const rows = [];
  let at = 0;
  for (let row = 0; row < ROWS; row += 1) {
    const end = bytes[OMEGA + row];
    if (end < at || end > OMEGA) return null;
    const places = bytes.subarray(at, end);
    if (places.some((place, nth) => nth > 0 && places[nth - 1] >= place)) return null;
    rows.push(new Set(places));
    at = end;
  }
  return bytes.subarray(at, OMEGA).some((byte) => byte !== 0) ? null : rows;
}

/** The high part of a number, corrected by its hint (algorithms 36 and 40). */
function useHint(isHinted, number) {
  const m = (Q - 1) / (2 * GAMMA2);
  const rest = number % (2 * GAMMA2);
  const low = rest > GAMMA2 ? rest - 2 * GAMMA2 : rest;
  // The last part belongs to the first one.
  const high = ((number - low) / (2 * GAMMA2)) % m;
  return isHinted ? (high + (low > 0 ? 1 : m - 1)) % m : high;
}

/** Algorithms 3 and 8, with an empty context. */
export function plainMlDsa44(key, signature, message) {
  if (key.length !== 32 + ROWS * 320 || signature.length !== 32 + COLUMNS * 576 + OMEGA + ROWS) return false;
  const [seed, challenge] = [key.subarray(0, 32), signature.subarray(0, 32)];
  const polynomials = (count, bytes, width) =>
    Array.from({ length: count }, (_, nth) =>
      numbersIn(bytes.subarray(nth * 32 * width, (nth + 1) * 32 * width), width),
    );
  const z = polynomials(COLUMNS, signature.subarray(32), 18).map((one) => one.map((x) => GAMMA1 - x));
  const hints = hintsIn(signature.subarray(32 + COLUMNS * 576));
  // β is τ times the largest coefficient of the secret key, 2.
  if (hints === null || z.some((one) => one.some((x) => Math.abs(x) >= GAMMA1 - TAU * 2))) return false;
  const mu = shake256(64, shake256(64, key), Uint8Array.of(0, 0), message);
  const c = ntt(sampleInBall(challenge));
  const zs = z.map(ntt);
  const high = polynomials(ROWS, key.subarray(32), 10).map((t1, row) => {
    const t = ntt(t1.map((x) => x * 2 ** 13));
    const sum = t.map((x, n) => modQ(-c[n] * x));
    zs.forEach((one, column) => matrixEntry(seed, row, column).forEach((a, n) => (sum[n] = (sum[n] + a * one[n]) % Q)));
    return bytesOfSixBits(inverseNtt(sum).map((x, n) => useHint(hints[row].has(n), x)));
  });
  return equal(challenge, shake256(32, mu, ...high));
}

/** Replaced by tests, to check the fallbacks. */
export const engine = { subtle: globalThis.crypto?.subtle };

async function sha256(bytes) {
  return engine.subtle ? new Uint8Array(await engine.subtle.digest('SHA-256', bytes)) : plainSha256(bytes);
}

async function isSigned(key, signature, message) {
  if (engine.subtle) {
    try {
      const imported = await engine.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
      return await engine.subtle.verify({ name: 'Ed25519' }, imported, signature, message);
    } catch {
      // This browser's WebCrypto does not know Ed25519.
    }
  }
  return plainEd25519(key, signature, message);
}

// ---------------------------------------------------------------- ZIP (APPNOTE 6.3)

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crcOf(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** What all files of an archive may unpack to, in bytes. */
const LARGEST = 1024 * 1024 * 1024;

/** Null if it is damaged, or longer than `most`. */
async function inflate(bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const chunks = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return concat(...chunks);
      length += value.length;
      if (length > most) return await reader.cancel(), null;
      chunks.push(value);
    }
  } catch {
    return null;
  }
}

/** Programs differ in what they show of such an archive, so its content cannot be judged. */
function ambiguous(why) {
  throw new Error(`programs could show different files of it: ${why}. Unpack it and check the folder with verify.mjs`);
}

/**
 * Name to {content, broken}. Accepts one layout only, in which all programs see the same files: header, content and, if its flag is set, descriptor of each file, one after
 * another from the first byte; then the directory in the same order; then its end record, which ends the archive. Throws with a sentence for any other.
 */
export async function unzip(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { records, begin } = readDirectory(bytes, view);
  if (records.reduce((sum, { unpacked }) => sum + unpacked, 0) > LARGEST)
    throw new Error('it unpacks to more than 1 GiB: unpack it and check the folder with verify.mjs');
  const files = new Map();
  let at = 0;
  for (const record of records) {
    const start = readLocalHeader(bytes, view, record, at, begin);
    const raw = bytes.subarray(start, start + record.packed);
    at = start + record.packed;
    if (record.hasDescriptor) {
      const { crc, packed, unpacked } = record;
      const isSame = [0x08074b50, crc, packed, unpacked].every(
        (value, place) => at + 16 <= begin && view.getUint32(at + 4 * place, true) === value,
      );
      if (!isSame) ambiguous(`${record.name} is described in two different ways`);
      at += 16;
    }
    const content = record.method === 0 ? raw : await inflate(raw, record.unpacked);
    const isSound = content !== null && content.length === record.unpacked && crcOf(content) === record.crc;
    // A program that reads from the front takes what follows for the next file. Not every DecompressionStream refuses it.
    if (isSound && record.method === 8 && (await inflate(raw.subarray(0, -1), record.unpacked)) !== null)
      ambiguous(`something follows the content of ${record.name}`);
    if (!record.isFolder) files.set(record.name, { content: content ?? new Uint8Array(), broken: !isSound });
  }
  if (at !== begin) ambiguous('there is something between its files and its directory');
  return files;
}

/** The records of the directory, and where it begins. */
function readDirectory(bytes, view) {
  const end = bytes.length - 22;
  let last = end + 18;
  while (last >= 0 && view.getUint32(last, true) !== 0x06054b50) last -= 1;
  if (end < 0 || last < 0) throw new Error('it is not a complete ZIP archive');
  if (last !== end || view.getUint16(end + 20, true) !== 0) ambiguous('something follows its end');
  const [disk, directoryDisk, here, count] = [4, 6, 8, 10].map((offset) => view.getUint16(end + offset, true));
  const [length, begin] = [12, 16].map((offset) => view.getUint32(end + offset, true));
  const isLarge = (...values) => {
    if (values.includes(0xffffffff))
      throw new Error('it is in the ZIP64 format: unpack it and check the folder with verify.mjs');
  };
  isLarge(
    count === 0xffff || (end >= 20 && view.getUint32(end - 20, true) === 0x07064b50) ? 0xffffffff : 0,
    length,
    begin,
  );
  if (disk !== 0 || directoryDisk !== 0 || here !== count) ambiguous('it is one of several parts');
  if (begin + length !== end)
    ambiguous('its directory is not in front of its end, or something is before its first file');
  const records = [];
  const nameFault = nameCheck();
  let at = begin;
  for (let nth = 0; nth < count; nth += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw new Error('its directory is damaged');
    const [flags, method] = [8, 10].map((offset) => view.getUint16(at + offset, true));
    const [crc, packed, unpacked] = [16, 20, 24].map((offset) => view.getUint32(at + offset, true));
    const [nameLength, extra, comment, part] = [28, 30, 32, 34].map((offset) => view.getUint16(at + offset, true));
    const [attributes, offset] = [38, 42].map((place) => view.getUint32(at + place, true));
    const next = at + 46 + nameLength + extra;
    if (next > end) throw new Error('its directory is damaged');
    const rawName = bytes.subarray(at + 46, at + 46 + nameLength);
    const name = readText(rawName);
    if (comment !== 0 || part !== 0) ambiguous('its directory has comments, or is in several parts');
    if (!equal(encoder.encode(name), rawName) || (rawName.some((byte) => byte > 127) && (flags & 0x800) === 0))
      ambiguous(`the name ${JSON.stringify(name)} is not marked as UTF-8`);
    const isFolder = name.endsWith('/');
    // Bits 1 and 2 only say how well it was compressed.
    if ((flags & ~0x80e) !== 0 || (method !== 0 && method !== 8))
      throw new Error(`${name} uses a compression method that this verifier does not support`);
    isLarge(packed, unpacked, offset);
    checkExtra(bytes.subarray(next - extra, next), name);
    const kind = (attributes >>> 16) & 0o170000;
    if ((kind !== 0 && kind !== (isFolder ? 0o040000 : 0o100000)) || (attributes & (isFolder ? 0x408 : 0x418)) !== 0)
      ambiguous(`${name} is not a plain file`);
    const hasDescriptor = (flags & 8) !== 0;
    if (method === 0 && packed !== unpacked) ambiguous(`${name} has two different sizes`);
    if (method === 0 && hasDescriptor && packed > 0) ambiguous(`${name} does not say where it ends`);
    if (isFolder && unpacked !== 0) ambiguous(`the folder ${name} has content`);
    const fault = nameFault(name, isFolder);
    if (fault !== null) ambiguous(fault);
    const repeated = bytes.subarray(at + 6, at + 16);
    records.push({ name, rawName, repeated, hasDescriptor, method, crc, packed, unpacked, offset, isFolder });
    at = next;
  }
  if (at !== end) ambiguous('its directory has more records than it counts');
  return { records, begin };
}

/** Where the content begins. */
function readLocalHeader(bytes, view, record, at, limit) {
  const { name, rawName, repeated, hasDescriptor, crc, packed, unpacked } = record;
  if (record.offset !== at) ambiguous(`there is something before ${name}, or it is not in its place`);
  const start = at + 30 + rawName.length;
  if (start > limit || view.getUint32(at, true) !== 0x04034b50) throw new Error(`the entry of ${name} is damaged`);
  if (view.getUint16(at + 26, true) !== rawName.length || !equal(bytes.subarray(at + 30, start), rawName))
    ambiguous(`${name} has another name inside the archive`);
  const sizes = [14, 18, 22].map((offset) => view.getUint32(at + offset, true));
  const isSame = sizes.every((size, place) => size === [crc, packed, unpacked][place]);
  const isLater = hasDescriptor && sizes.every((size) => size === 0);
  if (!equal(bytes.subarray(at + 4, at + 14), repeated) || !(isSame || isLater))
    ambiguous(`${name} is described in two different ways`);
  const extra = view.getUint16(at + 28, true);
  if (start + extra + packed > limit) throw new Error(`the entry of ${name} is damaged`);
  checkExtra(bytes.subarray(start, start + extra), name);
  return start + extra;
}

/** Times and owners. Other additional fields could give another name or size, or a link. */
const HARMLESS = [0x000a, 0x5455, 0x5855, 0x7855, 0x7875, 0xcafe];

function checkExtra(extra, name) {
  for (let at = 0; at < extra.length; ) {
    const rest = extra.length - at;
    const length = rest < 4 ? rest : extra[at + 2] + 256 * extra[at + 3];
    if (rest < 4 + length || !HARMLESS.includes(extra[at] + 256 * extra[at + 1]))
      ambiguous(`${name} has an additional field that could change what is shown`);
    at += 4 + length;
  }
}

/** No name may stand for two files on any system: they differ in case, accents, trailing dots and spaces, and change or cut other characters. */
function nameCheck() {
  const [named, files, folders] = [new Set(), new Set(), new Set()];
  const fold = (part) =>
    part
      .normalize('NFC')
      .toUpperCase()
      .toLowerCase()
      .normalize('NFC')
      .replace(/[. ]+$/, '');
  return (name, isFolder) => {
    const parts = (isFolder ? name.slice(0, -1) : name).split('/');
    if (name.length > 500 || parts.length > 16) return 'it has very long names';
    if (parts.some((part) => /^\.*$/.test(part) || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\:*?"<>|]/u.test(part)))
      return `the name ${JSON.stringify(name)} is not the same on every system`;
    const folded = parts.map(fold);
    const whole = folded.join('/');
    const around = folded.slice(1).map((_, place) => folded.slice(0, place + 1).join('/'));
    const isTwice = named.has(whole) || (!isFolder && folders.has(whole)) || around.some((one) => files.has(one));
    named.add(whole);
    (isFolder ? folders : files).add(whole);
    for (const one of around) folders.add(one);
    return isTwice ? `it holds two files named ${name}` : null;
  };
}

// ---------------------------------------------------------------- C2SP signed-note, tlog-checkpoint, tlog-proof

/** `<name>+<key hash>+<base64 of 0x01 ‖ public key>`; throws with a sentence. */
export async function parseVerifierKey(text) {
  const [, name, hash, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  if (bytes === null || bytes.length !== 33 || bytes[0] !== 1)
    throw new Error('it is not a verifier key (C2SP signed-note, Ed25519)');
  const computed = await sha256(concat(encoder.encode(`${name}\n`), bytes));
  if (hexOf(computed.slice(0, 4)) !== hash) throw new Error('its key hash does not match its key');
  return { name, hash: computed.slice(0, 4), publicKey: bytes.slice(1), text };
}

/** Names have no spaces of any kind and no plus sign. */
const SIGNATURE = /^\u2014 ([^\s\u0085+]+) (\S+)$/;
/** C2SP signed-note lets verifiers limit this, to no fewer than 16. */
const MOST_SIGNATURES = 100;

/** The signed text of a note, and all its signatures; throws with a sentence if it contains anything else. */
function parseNote(note) {
  const split = note.lastIndexOf('\n\n');
  // Control characters, lone surrogates, and what stands for bytes that are not UTF-8.
  const isClean = !/[\0-\t\v-\x1f\ufffd\p{Cs}]/u.test(note);
  if (split < 0 || !note.endsWith('\n') || !isClean) throw new Error('it contains no signed checkpoint');
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > MOST_SIGNATURES) throw new Error('its checkpoint has too many signatures');
  const signatures = lines.map((line) => {
    const [, name, encoded] = SIGNATURE.exec(line) ?? [];
    const bytes = encoded === undefined ? null : fromBase64(encoded);
    if (bytes === null || bytes.length < 5) throw new Error('its checkpoint has a line that is not a signature');
    return { name, id: bytes.slice(0, 4), signature: bytes.slice(4) };
  });
  // C2SP tlog-checkpoint: one line per key. Readers would differ in which one they check.
  if (new Set(signatures.map(({ name, id }) => `${name} ${hexOf(id)}`)).size < signatures.length)
    throw new Error('its checkpoint has two signatures of one key');
  return { text: note.slice(0, split + 1), signatures };
}

const withoutEpoch = (name) => name.replace(/\/\d+$/, '');

/**
 * The tree head that a note was signed for; throws with a sentence. The whole note is read, so that no reader sees more in it than was checked. Signatures of other keys are
 * ignored if they are well-formed.
 */
export async function openCheckpoint(note, key) {
  const { text, signatures } = parseNote(note);
  const [origin, size, root, ...more] = text.split('\n');
  const rootBytes = fromBase64(root ?? '');
  if (
    !/^(?:0|[1-9]\d{0,15})$/.test(size ?? '') ||
    !Number.isSafeInteger(Number(size)) ||
    rootBytes?.length !== 32 ||
    more.length !== 1 ||
    more[0] !== ''
  )
    throw new Error('its checkpoint is not a C2SP tlog-checkpoint');
  // After a backup was restored, a ledger goes on under the same name and key in its next epoch.
  if (origin !== key.name && (!/\/\d+$/.test(origin) || withoutEpoch(origin) !== withoutEpoch(key.name)))
    throw new Error(`its checkpoint is of the ledger ${origin}, not of ${key.name}`);
  const keyHash =
    origin === key.name
      ? key.hash
      : (await sha256(concat(encoder.encode(`${origin}\n`), Uint8Array.of(1), key.publicKey))).slice(0, 4);
  const ours = signatures.find(({ name, id }) => name === origin && equal(id, keyHash));
  if (ours === undefined) throw new Error('its checkpoint is not signed with the verifier key');
  if (!(await isSigned(key.publicKey, ours.signature, encoder.encode(text))))
    throw new Error('the signature of its checkpoint is invalid');
  return { origin, size: Number(size), root: rootBytes, note };
}

/**
 * Who has to sign, and the rule (C2SP tlog-policy); throws with a sentence. A witness with a key of a type other than Ed25519 and ML-DSA-44 counts as one that has not signed: this
 * verifier cannot check it.
 */
export async function parsePolicy(text) {
  const [witnesses, logs, met, members] = [new Map(), [], new Map([['none', () => true]]), new Set()];
  const logKeys = [];
  let quorum = null;
  for (const line of text.split('\n')) {
    const [keyword, name, ...rest] = line.split(/[ \t]+/).filter((item) => item !== '');
    const fail = () => {
      throw new Error(`its line ${JSON.stringify(line)} is not understood`);
    };
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(line)) fail();
    if (keyword === undefined || keyword.startsWith('#')) continue;
    if (name === undefined || (['witness', 'group'].includes(keyword) && met.has(name))) fail();
    if (keyword === 'log') {
      const key = await keyOfLog(name);
      if (key === null || rest.length > 1 || logKeys.some((one) => equal(one, key))) fail();
      logKeys.push(key);
      logs.push(name);
    } else if (keyword === 'witness') {
      const witness = await parseWitnessKey(rest[0] ?? '');
      if (rest.length > 2 || [...witnesses.values()].some(({ key }) => equal(key, witness.key))) fail();
      witnesses.set(name, witness);
      met.set(name, (signed) => signed.has(name));
    } else if (keyword === 'group') {
      const [threshold, ...names] = rest;
      const isDecimal = /^[1-9]\d{0,4}$/.test(threshold);
      const wanted = threshold === 'all' ? names.length : threshold === 'any' ? 1 : isDecimal ? Number(threshold) : 0;
      if (wanted < 1 || wanted > names.length) fail();
      for (const one of names) {
        if (one === 'none' || !met.has(one) || members.has(one)) fail();
        members.add(one);
      }
      const rules = names.map((one) => met.get(one));
      met.set(name, (signed) => rules.filter((isMet) => isMet(signed)).length >= wanted);
    } else if (keyword === 'quorum' && quorum === null && met.has(name) && rest.length === 0) quorum = met.get(name);
    else fail();
  }
  if (quorum === null) throw new Error('it has no line that begins with quorum');
  return { logs, witnesses, isQuorum: quorum };
}

/** The key in a verifier key of a log, of whatever type, by which two are the same; null if it is not one. */
async function keyOfLog(text) {
  const [, name, hash, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  if (bytes === null || bytes.length < 2) return null;
  const computed = await sha256(concat(encoder.encode(`${name}\n`), bytes));
  // The id of a key of type 0x02 is computed in another way.
  return hexOf(computed.slice(0, 4)) === hash || bytes[0] === 2 ? bytes.slice(1) : null;
}

/** What the first byte of a witness's key stands for: name, bytes of key and signature, and how a signature is checked. */
const COSIGNATURES = {
  4: { what: 'Ed25519', keyBytes: 32, bytes: 64, isValid: isSigned, messageOf: textToCosign },
  6: { what: 'ML-DSA-44', keyBytes: 1312, bytes: 2420, isValid: plainMlDsa44, messageOf: subtreeToCosign },
};

/** `<name>+<key hash>+<base64 of type ‖ public key>` (C2SP tlog-cosignature); throws with a sentence. `type` is undefined if it is not known. */
async function parseWitnessKey(text) {
  const [, name, hash, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  const type = bytes === null ? undefined : COSIGNATURES[bytes[0]];
  // Only witnesses have keys of other types than the log's.
  if (
    bytes === null ||
    bytes.length < 33 ||
    bytes[0] === 1 ||
    (type !== undefined && bytes.length !== 1 + type.keyBytes)
  )
    throw new Error(`${JSON.stringify(text.slice(0, 200))} is not the key of a witness`);
  const computed = (await sha256(concat(encoder.encode(`${name}\n`), bytes))).slice(0, 4);
  if (type !== undefined && hexOf(computed) !== hash) throw new Error(`the key hash of ${name} does not match its key`);
  return { name, id: fromHex(hash), key: bytes.slice(1), type, typeByte: bytes[0] };
}

/** C2SP tlog-cosignature, Ed25519 signed message. */
function textToCosign(name, time, text) {
  return encoder.encode(`cosignature/v1\ntime ${time}\n${text}`);
}

/** C2SP tlog-cosignature, ML-DSA-44 signed message: cosigned_message, about the tree from its first leaf. */
function subtreeToCosign(name, time, text) {
  const [origin, size, root] = text.split('\n');
  const number = (value) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, value);
    return new Uint8Array(view.buffer);
  };
  const named = (words) => {
    const bytes = encoder.encode(words);
    if (bytes.length > 255) throw new Error(`the name ${JSON.stringify(words)} is too long for a cosignature`);
    return concat(Uint8Array.of(bytes.length), bytes);
  };
  const label = encoder.encode('subtree/v1\n\0');
  return concat(label, named(name), number(time), named(origin), number(0n), number(BigInt(size)), fromBase64(root));
}

/**
 * Names and times of the witnesses of a policy that signed a checkpoint, and those whose signatures do not count, with the reason; throws if a signature in the name of one is
 * invalid.
 */
export async function cosignersOf(note, policy, now = Date.now()) {
  const { text, signatures } = parseNote(note);
  const found = { signed: [], uncounted: [] };
  for (const [name, witness] of policy.witnesses) {
    const { type } = witness;
    const own = signatures.find((one) => one.name === witness.name && equal(one.id, witness.id));
    if (own === undefined) continue;
    if (type === undefined) {
      const hex = hexOf(Uint8Array.of(witness.typeByte));
      found.uncounted.push(`that of ${name} is of type 0x${hex}, which this verifier cannot check`);
      continue;
    }
    const { length } = own.signature;
    const time = length === 8 + type.bytes ? new DataView(own.signature.slice(0, 8).buffer).getBigUint64(0) : null;
    if (
      time === null ||
      time >= 1n << 40n ||
      !(await type.isValid(witness.key, own.signature.slice(8), type.messageOf(witness.name, time, text)))
    )
      throw new Error(`the cosignature of ${name} on its checkpoint is invalid`);
    // It says that it agrees with what was seen, but not when, nor that it was the newest.
    const at = new Date(Number(time) * 1000).toISOString();
    if (time === 0n) found.uncounted.push(`that of ${name} does not say when it was made`);
    else if (isAhead(at, now)) found.uncounted.push(`that of ${name} states the time ${at}, ${AHEAD}`);
    else found.signed.push({ name, at });
  }
  return found;
}

/** Nothing can have been seen in the future; a day for clocks that differ. */
const isAhead = (at, now = Date.now()) => Date.parse(at) - now > 86_400_000;
const AHEAD = 'which has not come yet by the clock of this computer';

/** The time in a token over a hash, as it says itself (RFC 3161 section 2.4.2: TSTInfo has messageImprint, serialNumber, genTime in this order); null if it is not over it. */
function stampedAt(token, digest) {
  const imprint = concat(Uint8Array.of(4, 32), digest);
  for (let at = 0; at + imprint.length < token.length; at += 1) {
    if (token[at] !== 4 || !equal(token.subarray(at, at + imprint.length), imprint)) continue;
    const serial = at + imprint.length;
    const time = serial + 2 + token[serial + 1];
    if (token[serial] !== 2 || token[time] !== 0x18) continue;
    const text = readText(token.subarray(time + 2, time + 2 + token[time + 1]));
    const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(text) ?? [];
    if (s !== undefined) return `${y}-${mo}-${d}T${h}:${mi}:${s}Z`;
  }
  return null;
}

/** Throws with a sentence. */
export function parseProof(text) {
  const blank = text.indexOf('\n\n');
  const [header, ...lines] = text.slice(0, Math.max(0, blank)).split('\n');
  if (header !== 'c2sp.org/tlog-proof@v1') throw new Error('it is not a tlog-proof file');
  let extra = null;
  if (lines[0]?.startsWith('extra ')) {
    extra = fromBase64(lines.shift().slice('extra '.length));
    if (extra === null) throw new Error('its extra data is damaged');
  }
  const [, index] = /^index (0|[1-9]\d{0,15})$/.exec(lines.shift() ?? '') ?? [];
  if (index === undefined) throw new Error('it has no index');
  const hashes = lines.map(fromBase64);
  if (hashes.length > 63 || hashes.some((hash) => hash?.length !== 32))
    throw new Error('a hash of its proof is damaged');
  return { extra, index: Number(index), hashes, note: text.slice(blank + 2) };
}

const nodeHash = (left, right) => sha256(concat(Uint8Array.of(1), left, right));

/** RFC 9162 section 2.1.3.2. Numbers may be larger than 2^31, so no bitwise operators. */
export async function isIncluded(leafHash, index, size, hashes, root) {
  if (index >= size) return false;
  let [place, last, hash] = [index, size - 1, leafHash];
  for (const sibling of hashes) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = await nodeHash(sibling, hash);
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else {
      hash = await nodeHash(hash, sibling);
    }
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && equal(hash, root);
}

// ---------------------------------------------------------------- entries of consent-ledger

const LEAF =
  /^\{"commitment":"[0-9a-f]{64}","dedupeKey":"[0-9a-f]{64}","kind":"(?:webhook|consent-log|call|snapshot|action|erasure)","receivedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","seq":[1-9]\d*,"source":"[^"\\]*","sourceSeq":[1-9]\d*,"v":1\}$/;

/**
 * Proves one entry: the checkpoint is signed, the leaf is under its root, and meta and body are what the leaf commits to. `meta` and `body` are null where they are not
 * disclosed, or were erased. Throws with a sentence.
 */
export async function proveEntry({ proof: text, meta, body }, key) {
  const proof = parseProof(text);
  const head = await openCheckpoint(proof.note, key);
  const [leafText = '', salt, ...more] = textOf(proof.extra ?? new Uint8Array()).split('\n');
  if (
    !LEAF.test(leafText) ||
    more.length > 1 ||
    (more.length === 1 && (more[0] !== '' || !/^[0-9a-f]{64}$/.test(salt))) ||
    (more.length === 0 && salt !== '')
  )
    throw new Error('its extra data is not leaf data and a salt');
  const leaf = JSON.parse(leafText);
  if (leaf.seq !== proof.index + 1) throw new Error(`its index ${proof.index} is not the index of entry ${leaf.seq}`);
  const leafHash = await sha256(concat(Uint8Array.of(0), encoder.encode(leafText)));
  if (!(await isIncluded(leafHash, proof.index, head.size, proof.hashes, head.root)))
    throw new Error(
      'its number, time, source, kind or commitment differs from what was sealed (the proof does not lead to the signed root)',
    );
  if (salt === '') {
    if (meta !== null || body !== null) throw new Error('it has content, but no salt to check it with');
    return { leaf, leafHash: hexOf(leafHash), head, hasContent: false };
  }
  if (meta === null || body === null) throw new Error(`its ${meta === null ? 'meta' : 'body'} is missing`);
  const tag = encoder.encode('consent-ledger/commitment/v1\n');
  const commitment = await sha256(concat(tag, fromHex(salt), await sha256(meta), await sha256(body)));
  if (hexOf(commitment) !== leaf.commitment)
    throw new Error('its content is not what was sealed (meta, body or salt was changed)');
  return { leaf, leafHash: hexOf(leafHash), head, hasContent: true };
}

// ---------------------------------------------------------------- a pack, or loose files

/** What file managers add to a folder or an archive. The files of macOS begin with `._`. The program has the same list. */
const LEFTOVER = /(?:^|\/)(?:\._[^/]*|\.DS_Store|\.localized|\.directory|(?:eh)?[Tt]humbs\.db|[Dd]esktop\.ini)$/;

/** Without what file managers add, and without a folder around everything. */
function tidy(files) {
  const kept = [...files].filter(([name]) => !LEFTOVER.test(name));
  let around = '';
  for (const folder of kept[0]?.[0].split('/').slice(0, -1) ?? []) {
    const next = `${around}${folder}/`;
    if (folder === 'proofs' || !kept.every(([name]) => name.startsWith(next))) break;
    around = next;
  }
  return new Map(kept.map(([name, file]) => [name.slice(around.length), file]));
}

/**
 * Checks everything that can be checked about some files. `files`: name to {content, broken}. `expectedKey`: a verifier key from elsewhere, or ''. `isWhole`: whether they are
 * a whole archive or folder, in which nothing may be missing. `policyText`: the reader's own tlog-policy, by which checkpoints are judged instead of the enclosed one, or ''.
 * Returns {ok, key, checks: [{state: 'ok' | 'bad' | 'note', what, text}]}.
 */
export async function check(given, { expectedKey = '', policyText = '', isWhole = true } = {}) {
  const files = tidy(given);
  const { receipts, told } = takeReceipts(files);
  const checks = [];
  const say = (state, what, text) => checks.push({ state, what, text });
  const result = (key) => ({
    ok: checks.some(({ state }) => state === 'ok') && checks.every(({ state }) => state !== 'bad'),
    key,
    checks,
  });
  const contentOf = (name) => files.get(name)?.content ?? null;
  const used = new Set();
  const take = (name) => {
    used.add(name);
    return contentOf(name);
  };
  for (const { name } of told) used.add(name);
  for (const name of given.keys())
    if (LEFTOVER.test(name)) say('note', name, 'was added by a file manager, and was not checked');
  for (const [name, { broken }] of files)
    if (broken) say('bad', name, 'was damaged after it was packed (size or checksum)');

  const keyFile = take('log.vkey');
  const keyText = keyFile === null ? expectedKey.trim() : readText(keyFile).replace(/\n$/, '');
  let key;
  try {
    key = await parseVerifierKey(keyText);
  } catch (error) {
    say(
      'bad',
      'log.vkey',
      keyText === '' ? 'is missing: without the verifier key no signature can be checked' : error.message,
    );
    return result(null);
  }
  // After a backup was restored, the ledger goes on under the next number with the same key, and C2SP tlog-policy allows one name per key.
  const isThisLog = async (text) => {
    const other = await parseVerifierKey(text).catch(() => null);
    return (
      other !== null && equal(other.publicKey, key.publicKey) && withoutEpoch(other.name) === withoutEpoch(key.name)
    );
  };
  if (expectedKey.trim() === '')
    say(
      'note',
      'Verifier key',
      `${key.text}. It came with the files. Compare it with the one that the controller publishes, or has told you in another way.`,
    );
  else if (expectedKey.trim() === key.text) say('ok', 'Verifier key', 'matches the key you gave');
  else if (await isThisLog(expectedKey.trim()))
    say(
      'ok',
      'Verifier key',
      `has the public key that you gave, of the same ledger; the name of this one, ${key.name}, is of another epoch: a backup was restored between them`,
    );
  else {
    say('bad', 'log.vkey', `does not match the key you gave: ${key.text}`);
    return result(key);
  }
  const enclosed = take('tlog-policy');
  const isOwn = policyText !== '';
  let policy = { logs: [], witnesses: new Map(), isQuorum: () => true };
  try {
    const read = enclosed === null ? null : await parsePolicy(readText(enclosed));
    // No remarks: a reader could take them for something that was checked.
    const isBare = enclosed === null || /^(?:(?:log|witness|group|quorum) [^\n]+\n)+$/.test(readText(enclosed));
    if (!isBare || (read !== null && read.logs.join() !== key.text))
      throw new Error('names a different key or different rules');
    policy = isOwn ? await parsePolicy(policyText) : (read ?? policy);
    const isNamed = (await Promise.all(policy.logs.map(isThisLog))).includes(true);
    if (isOwn && policy.logs.length > 0 && !isNamed) throw new Error('your policy names other logs than this one');
  } catch (error) {
    say('bad', 'tlog-policy', error.message);
    if (isOwn) return result(key);
  }
  /** The checkpoints of the proofs by their notes, each with who else signed it and the proofs under it. */
  const signedBy = new Map();
  const noteWitnesses = async (id, head) => {
    const known = signedBy.get(head.note) ?? { head, signed: cosignersOf(head.note, policy), ids: [] };
    signedBy.set(head.note, known);
    await known.signed;
    known.ids.push(id);
  };

  const heads = new Map();
  const noteHead = (what, head) => {
    const known = heads.get(head.size);
    if (known !== undefined && !equal(known, head.root))
      say(
        'bad',
        what,
        `there are two signed checkpoints over ${head.size} entries with different roots: the ledger was forked`,
      );
    heads.set(head.size, head.root);
  };
  const proven = new Map();
  /** The checkpoints of the proofs as sealed, which time stamps cover, and how many entries each is over. */
  const sealed = new Map();
  const prove = async (id) => {
    const [proof, meta, body] = ['tlog-proof', 'meta', 'body'].map((ending) => take(`proofs/${id}.${ending}`));
    if (proof === null) throw new Error('its proof is missing');
    const found = await proveEntry({ proof: textOf(proof), meta, body }, key);
    noteHead(`proofs/${id}.tlog-proof`, found.head);
    await noteWitnesses(id, found.head);
    const { note, size } = found.head;
    sealed.set(note.slice(0, note.indexOf('\n', note.indexOf('\n\n') + 2) + 1), size);
    proven.set(id, { ...found, body });
    return found;
  };

  const manifestBytes = take('manifest.json');
  if (manifestBytes !== null) await checkManifest();
  else await checkLoose();
  checkTimes();
  await checkWitnesses();
  await checkStamps();
  return result(key);

  /** Who signed what. The manifest of a pack is sealed with it, so no witness can have signed over it: that is said, and refused only if they signed over none of its entries either. */
  async function checkWitnesses() {
    const found = [];
    for (const { head, signed, ids } of signedBy.values()) {
      const { signed: who, uncounted } = await signed.catch(() => ({ signed: [], uncounted: [] }));
      const entries = ids.filter((id) => id !== 'manifest').sort((a, b) => a - b);
      found.push({ head, who, uncounted, entries, isMet: policy.isQuorum(new Set(who.map(({ name }) => name))) });
    }
    found.sort((a, b) => a.head.size - b.head.size);
    const isMetByEntries = found.some(({ entries, isMet }) => isMet && entries.length > 0);
    for (const { head, who, uncounted, entries, isMet } of found) {
      const of = `the checkpoint over ${counted(head.size)}`;
      const shown =
        entries.length > 20 ? `${entries.slice(0, 20).join(', ')}, … (${entries.length})` : entries.join(', ');
      const under = entries.length === 0 ? '' : `. Under it: ${entries.length === 1 ? 'entry' : 'entries'} ${shown}`;
      const names = who.map(({ name, at }) => `${name} (${at})`).join(', ');
      for (const why of uncounted) say('note', 'Witnesses', `a cosignature of ${of} does not count: ${why}`);
      const isNew = entries.length === 0 && (isOwn ? isMetByEntries : isMet);
      if (isNew && (!isMet || who.length === 0) && policy.witnesses.size > 0)
        say(
          'note',
          'manifest.json',
          `is under ${of}, which was made with the pack, before any witness could sign it: what witnesses signed covers the entries, not the other files`,
        );
      else if (!isMet)
        say(
          'bad',
          `proofs/${entries[0] ?? 'manifest'}.tlog-proof`,
          `${of} was not signed by as many witnesses as ${isOwn ? 'your policy' : 'the enclosed policy'} requires${under}`,
        );
      else if (who.length === 0) {
        if (policy.witnesses.size > 0) say('note', 'Witnesses', `no witness has signed ${of}${under}`);
      } else if (isOwn) say('ok', 'Witnesses', `${of} was also signed by ${names}, as your policy requires${under}`);
      else
        say(
          'note',
          'Witnesses',
          `${of} was also signed by ${names}. The keys of the witnesses came with the files: compare them with those that they publish, or give your own policy${under}`,
        );
    }
  }

  /** A token covers a checkpoint of these proofs. Who signed it, and so its time, is for a program that knows the authority's certificates. */
  async function checkStamps() {
    for (const name of files.keys()) {
      const [, stem] = /^(witnessed\/\d+-\d{16})\.[A-Za-z0-9_-]+\.tsr$/.exec(name) ?? [];
      if (stem === undefined) continue;
      const note = contentOf(`${stem}.note`);
      const size = note === null ? undefined : sealed.get(readText(note));
      const at = size === undefined ? null : stampedAt(contentOf(name), await sha256(note));
      if (at === null) say('bad', name, 'is not over a checkpoint of these proofs');
      else if (isAhead(at)) say('note', 'Time stamp', `${name} does not count: it states the time ${at}, ${AHEAD}`);
      else
        say(
          'note',
          'Time stamp',
          `${name} says that the checkpoint over ${counted(size)} existed on ${at}. Only the authority's signature proves that, and it is not checked here: openssl ts -verify -data ${stem}.note -in ${name} -CAfile CERTIFICATES, and openssl ts -reply -in ${name} -text shows it`,
        );
    }
  }

  /** The order of the entries is proven, their times are what a clock said. */
  function checkTimes() {
    let newest = null;
    for (const { leaf } of [...proven.values()].sort((a, b) => a.leaf.seq - b.leaf.seq)) {
      const { seq, receivedAt } = leaf;
      if (newest !== null && Date.parse(receivedAt) + CLOCK_MS < Date.parse(newest.receivedAt))
        say(
          'note',
          `Entry ${seq}`,
          `says that it was received on ${receivedAt}, but comes after entry ${newest.seq}, received on ${newest.receivedAt}: its place is proven, its time is not`,
        );
      else if (newest === null || receivedAt > newest.receivedAt) newest = leaf;
    }
  }

  async function checkManifest() {
    let manifest;
    try {
      manifest = JSON.parse(textOf(manifestBytes));
      if (!Array.isArray(manifest.files) || !Array.isArray(manifest.proofs)) throw new Error();
    } catch {
      say('bad', 'manifest.json', 'cannot be read');
      return;
    }
    try {
      await prove('manifest');
      const { leaf, head, body } = proven.get('manifest');
      const recorded = JSON.parse(textOf(body));
      if (leaf.kind !== 'action' || recorded.action !== 'document.manifest')
        throw new Error('its entry does not seal a manifest');
      if (recorded.sha256 !== hexOf(await sha256(manifestBytes))) throw new Error('it was changed after it was sealed');
      say(
        'ok',
        'manifest.json',
        `was sealed as entry ${leaf.seq} on ${leaf.receivedAt}, under the checkpoint over ${counted(head.size)}`,
      );
    } catch (error) {
      say('bad', 'manifest.json', error.message || 'its entry cannot be read');
    }
    if (manifest.checkpoint !== null) {
      try {
        noteHead('manifest.json', await openCheckpoint(manifest.checkpoint.note, key));
        if (manifest.checkpoint.verifierKey !== key.text) throw new Error('it names a different verifier key');
      } catch (error) {
        say('bad', 'manifest.json', error.message);
      }
    }
    const sound = [];
    for (const { name, bytes, sha256: expected } of manifest.files) {
      const content = take(name);
      if (content === null) {
        if (isWhole) say('bad', name, 'is missing');
      } else if (content.length !== bytes || hexOf(await sha256(content)) !== expected)
        say('bad', name, 'was changed: its content does not match the manifest');
      else sound.push(name);
    }
    if (sound.length > 0)
      say(
        'ok',
        'Files',
        `${sound.length} of ${manifest.files.length} files are byte for byte those of the manifest${isWhole ? '' : `: ${sound.join(', ')}`}`,
      );
    for (const { entry, what, content } of manifest.proofs) {
      if (!isWhole && !files.has(`proofs/${entry}.tlog-proof`)) continue;
      await checkEntry(entry, what, content);
    }
    await checkRecords();
    for (const name of files.keys())
      if (!used.has(name)) say('bad', name, 'is not in the manifest: it was added later');
  }

  /** `content`: enclosed, erased or withheld; undefined where nothing says which. */
  async function checkEntry(id, what, content) {
    const name = `Entry ${id}`;
    try {
      const { leaf, head, hasContent } = await prove(String(id));
      if (String(leaf.seq) !== String(id)) throw new Error(`it is the proof of entry ${leaf.seq}`);
      if (content !== undefined && hasContent !== (content === 'enclosed'))
        throw new Error(hasContent ? 'its content is enclosed, but should not be' : 'its content was removed');
      const since = `since the checkpoint over ${counted(head.size)}`;
      const state = hasContent
        ? `unchanged ${since}`
        : `place and time unchanged ${since}; its content ${{ withheld: 'is withheld', erased: 'was erased' }[content] ?? 'was erased or is not enclosed'}`;
      const about = what === undefined ? '' : `${what}: `;
      say('ok', name, `${about}${leaf.kind} of ${leaf.source}, received ${leaf.receivedAt}: ${state}`);
    } catch (error) {
      say('bad', name, error.message);
    }
  }

  /** The records that people read are the bytes that are proven. */
  async function checkRecords() {
    const records = contentOf('records.jsonl');
    if (records === null) return;
    for (const line of readText(records).split('\n')) {
      if (line === '') continue;
      try {
        const record = JSON.parse(line);
        const entry = proven.get(String(record.entry));
        if (entry === undefined) continue;
        const body = record.erased
          ? null
          : record.body === undefined
            ? fromBase64(record.body_base64)
            : encoder.encode(record.body);
        const isSame =
          record.commitment === entry.leaf.commitment &&
          record.received === entry.leaf.receivedAt &&
          (body === null ? entry.body === null : entry.body !== null && equal(body, entry.body));
        if (!isSame) say('bad', 'records.jsonl', `its record of entry ${record.entry} differs from the proven entry`);
      } catch {
        say('bad', 'records.jsonl', 'has an unreadable line');
      }
    }
  }

  async function checkReceipts() {
    for (const one of receipts) {
      const { leaf, leafHash, head } =
        (await provenIn(one.name, { entry: one.entry, tlog_proof: one.tlog_proof })) ?? {};
      if (leaf === undefined) say('bad', one.name, `it cites entry ${one.entry}, which is not proven`);
      else if (
        leaf.commitment !== one.commitment ||
        leaf.receivedAt !== one.received ||
        (one.leaf_hash !== undefined && leafHash !== one.leaf_hash) ||
        (one.isReceipt &&
          (leaf.source !== one.source ||
            leaf.kind !== one.kind ||
            head.origin !== `consent-ledger/${one.instance}/${one.epoch}`))
      )
        say('bad', one.name, `what it says about entry ${one.entry} differs from what was sealed`);
    }
  }

  /** What is proven of an entry that a file cites: by the proof in this file, even if another one is beside it. */
  async function provenIn(name, { entry, tlog_proof: proof, meta = null, body = null }) {
    const known = proven.get(String(entry));
    const own = { 'tlog-proof': proof ?? null, meta, body };
    const isTaken = ([ending, text]) =>
      text === null || equal(encoder.encode(text), contentOf(`proofs/${entry}.${ending}`) ?? new Uint8Array());
    if (known === undefined || Object.entries(own).every(isTaken)) return known;
    try {
      const [metaBytes, bodyBytes] = [meta, body].map((text) => (text === null ? null : encoder.encode(text)));
      const found = await proveEntry({ proof, meta: metaBytes, body: bodyBytes }, key);
      if (found.leaf.seq !== entry) throw new Error(`it is the proof of entry ${found.leaf.seq}`);
      noteHead(name, found.head);
      await noteWitnesses(String(entry), found.head);
      return found;
    } catch (error) {
      say('bad', name, `its own proof of entry ${entry} is not sound: ${error.message}`);
      return undefined;
    }
  }

  /** Checks every letter of a receipt or consent record: it must not contain anything that no check covers. */
  async function checkTold({ name, isReceipt, told, text }) {
    // With a member twice, or one hidden by an escape, a reader would see another text than the parser.
    if (![0, 2].some((indent) => text.trimEnd() === JSON.stringify(told, null, indent)))
      return say('bad', name, 'was reformatted or changed after it was handed out');
    if (isReceipt) {
      const extra = Object.keys(told).filter((field) => !RECEIPT_FIELDS.includes(field));
      if (extra.length > 0) say('bad', name, `has fields that no receipt has: ${extra.join(', ')}`);
      if (told.verifier_key !== key.text) say('bad', name, 'names a different verifier key');
      if (told.salt !== null || told.meta_sha256 !== null)
        say('note', name, 'salt and meta_sha256 are checked only together with the bytes that were sent');
      return undefined;
    }
    const { seal } = told.evidence;
    try {
      if (seal === null || typeof seal !== 'object')
        throw new Error('has no seal (evidence.seal), so nothing proves that its text is unchanged');
      const { salt, entry, ...rest } = seal;
      if (Object.keys(rest).sort().join() !== 'body,meta,tlog_proof,verifier_key')
        throw new Error('has a seal with missing or unknown fields');
      if (seal.verifier_key !== key.text) throw new Error('names a different verifier key');
      const { leaf } = (await provenIn(name, seal)) ?? {};
      const body = typeof seal.body === 'string' ? encoder.encode(seal.body) : null;
      if (leaf === undefined || body === null)
        throw new Error(`names entry ${entry} as its seal, but that entry is not proven`);
      const sealed = JSON.parse(textOf(body));
      if (leaf.kind !== 'action' || sealed.action !== 'consent.record-sealed')
        throw new Error(`names entry ${entry} as its seal, but that entry does not seal a consent record`);
      if (leaf.source !== told.evidence.ledger?.source) throw new Error('names a different source than its seal');
      const before = { ...told, evidence: { ...told.evidence, seal: { salt } } };
      if (hexOf(await sha256(encoder.encode(`${JSON.stringify(before, null, 2)}\n`))) !== sealed.sha256)
        throw new Error('was changed after it was sealed');
      say('ok', name, `is exactly the record that was sealed as entry ${entry} on ${leaf.receivedAt}`);
      say(
        'note',
        name,
        'only the program checked that the record follows from the entries it cites, when it sealed it; anyone with the bodies of those entries can check it again',
      );
    } catch (error) {
      say('bad', name, error.message || 'cannot be read');
    }
    return undefined;
  }

  /** The receipt for these bytes: they are what its entry commits to. */
  async function receiptFor(content) {
    const tag = encoder.encode('consent-ledger/commitment/v1\n');
    for (const one of receipts) {
      const { leaf } = proven.get(String(one.entry)) ?? {};
      if (![one.salt, one.meta_sha256].every((hex) => /^[0-9a-f]{64}$/.test(hex ?? ''))) continue;
      const commitment = await sha256(concat(tag, fromHex(one.salt), fromHex(one.meta_sha256), await sha256(content)));
      if (leaf !== undefined && hexOf(commitment) === leaf.commitment) return one;
    }
    return undefined;
  }

  async function checkLoose() {
    const ids = [...files.keys()].flatMap((name) => /^proofs\/(\d+)\.tlog-proof$/.exec(name)?.[1] ?? []);
    if (ids.length === 0) say('bad', 'Files', 'there is neither a manifest.json nor a proofs/<entry>.tlog-proof');
    for (const id of ids) await checkEntry(id);
    await checkReceipts();
    for (const one of told) await checkTold(one);
    for (const [name, { content }] of files) {
      if (used.has(name)) continue;
      if (/^verify\.(?:html|mjs)$/.test(name)) {
        say('note', name, 'is taken for the verifier that came with the proofs: it was not compared with anything');
        continue;
      }
      // Checked with the proofs; a note without a token is none of them.
      const [, stem] = /^(witnessed\/\d+-\d{16})\.(?:note|[A-Za-z0-9_-]+\.tsr)$/.exec(name) ?? [];
      if (stem !== undefined && [...files.keys()].some((one) => one.startsWith(`${stem}.`) && one.endsWith('.tsr')))
        continue;
      const digest = hexOf(await sha256(content));
      const registered = [...proven.values()].flatMap((entry) => registrationIn(entry, digest) ?? []);
      const delivered = registered.length === 0 ? await receiptFor(content) : undefined;
      if (delivered !== undefined) say('ok', name, `is byte for byte what was received as entry ${delivered.entry}`);
      else if (registered.length === 0) say('bad', name, 'matches none of the proven entries');
      for (const { state, text } of registered) say(state, name, text);
    }
  }
}

/**
 * As what, and by whom, an entry registers a file, or null. Only the program itself writes actions; a delivery may contain any hash. A file that somebody uploaded is only as
 * good as this person.
 */
function registrationIn({ leaf, body }, digest) {
  if (leaf.kind !== 'action' || body === null) return null;
  let told;
  try {
    told = JSON.parse(textOf(body));
  } catch {
    return null;
  }
  const where = `as entry ${leaf.seq} on ${leaf.receivedAt}`;
  const made = (what) => ({
    state: 'ok',
    text: `is byte for byte ${what} that consent-ledger made for ${told.actor} and registered ${where}`,
  });
  const uploaded = (what) => ({
    state: 'note',
    text: `is byte for byte the file that ${told.actor} uploaded ${what}, registered ${where}. It was not made by consent-ledger, and nothing proves what it shows`,
  });
  const isFile = told.sha256 === digest;
  switch (told.action) {
    case 'document.produced':
      if (!isFile) return null;
      return told.name === 'attachment'
        ? uploaded(`for the request ${told.caseId}`)
        : made(`the document ${told.documentId} (${told.name}, ${told.format})`);
    case 'document.manifest': {
      const [name] = Object.entries(told.files).find(([, one]) => one === digest) ?? [isFile ? 'manifest.json' : null];
      return name === null ? null : made(`${name} of the pack ${told.reference}`);
    }
    case 'banner.evidence-added':
      return isFile ? uploaded(`as evidence of the banner ${told.bannerId}`) : null;
    case 'backup.made':
    case 'export.made':
      return isFile ? made(`the file ${told.file}`) : null;
    default:
      return null;
  }
}

/** Clocks are corrected by small steps. */
const CLOCK_MS = 300_000;

const RECEIPT_FIELDS =
  'receipt instance epoch entry source kind received leaf_hash commitment meta_sha256 salt verifier_key tlog_proof'.split(
    ' ',
  );

/**
 * A receipt, or a consent record, is one file of JSON that holds the verifier key and proofs: they are put beside it as if they had been given as files. What each says of an
 * entry is returned, to be compared with what is proven, and each with its text.
 */
function takeReceipts(files) {
  const found = { receipts: [], told: [] };
  if (files.has('manifest.json')) return found;
  const put = (name, text) => {
    if (typeof text === 'string' && !files.has(name)) files.set(name, { content: encoder.encode(text), broken: false });
  };
  for (const [name, { content }] of [...files]) {
    if (!name.endsWith('.json')) continue;
    let [text, told] = ['', null];
    try {
      text = textOf(content);
      told = JSON.parse(text);
    } catch {
      continue;
    }
    const isReceipt = told?.receipt === 'consent-ledger/receipt/v1';
    const cited = isReceipt ? [told] : told?.['@type'] === 'dpv:ConsentRecord' ? told.evidence?.entries : null;
    if (!Array.isArray(cited)) continue;
    found.told.push({ name, isReceipt, told, text });
    const seal = isReceipt ? null : told.evidence.seal;
    const key = isReceipt ? told.verifier_key : (seal?.verifier_key ?? told.evidence.ledger?.checkpoint?.verifier_key);
    if (typeof key === 'string') put('log.vkey', `${key}\n`);
    if (Number.isSafeInteger(seal?.entry) && !files.has(`proofs/${seal.entry}.tlog-proof`)) {
      put(`proofs/${seal.entry}.tlog-proof`, seal.tlog_proof);
      put(`proofs/${seal.entry}.meta`, seal.meta);
      put(`proofs/${seal.entry}.body`, seal.body);
    }
    for (const one of cited) {
      found.receipts.push({ name, isReceipt, ...one });
      if (Number.isSafeInteger(one?.entry)) put(`proofs/${one.entry}.tlog-proof`, one.tlog_proof);
    }
  }
  return found;
}

/** The files of an evidence bundle, given beside a document; null for any other file, such as a pack, which is a document itself. */
async function bundleIn(bytes) {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return null;
  const files = await unzip(bytes).catch(() => new Map());
  return !files.has('manifest.json') && [...files.keys()].some((name) => /^proofs\/.*\.tlog-proof$/.test(name))
    ? files
    : null;
}

/** Adds a file to those to be checked: of two with one name, only one would be. Throws with a sentence. */
function addFile(files, name, file) {
  const known = files.get(name);
  if (known !== undefined && (known.broken || file.broken || !equal(known.content, file.content)))
    throw new Error(`two different files are named ${name}: check them one at a time`);
  files.set(name, file);
}

/** Bytes that are not UTF-8 become text that no check accepts. */
function readText(bytes) {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export const LIMITS =
  'Green means: these bytes have not changed since the checkpoint was signed. It does not say who sent a record, that no record was left out, or that a time before the checkpoint became known to somebody else is right.';

// ---------------------------------------------------------------- on the command line

async function main(args) {
  const { readFile, readdir, stat } = await import('node:fs/promises');
  const { basename, join } = await import('node:path');
  const usage =
    'Usage: node verify.mjs PACK.zip | FOLDER | FILE… [--key KEY] [--policy FILE] [--json]\n--policy: your own C2SP tlog-policy, with the witnesses whose signatures you require.\nExit codes: 0 sound, 2 usage, 3 something was changed.\n';
  const paths = [];
  let [expectedKey, policyPath, isJson] = ['', null, false];
  for (let at = 0; at < args.length; at += 1) {
    // An empty value, as of a variable that is not set, must not pass for no expectation at all.
    if (['--key', '--policy'].includes(args[at]) && !args[at + 1]?.trim())
      return void (process.stderr.write(usage), (process.exitCode = 2));
    if (args[at] === '--key') expectedKey = args[(at += 1)];
    else if (args[at] === '--policy') policyPath = args[(at += 1)];
    else if (args[at] === '--json') isJson = true;
    else if (args[at].startsWith('-')) return void (process.stderr.write(usage), (process.exitCode = 2));
    else paths.push(args[at]);
  }
  if (paths.length === 0) return void (process.stderr.write(usage), (process.exitCode = 2));
  const files = new Map();
  const add = async (path, name) => {
    if ((await stat(path)).isDirectory()) {
      for (const entry of (await readdir(path)).sort())
        await add(join(path, entry), name === '' ? entry : `${name}/${entry}`);
      return;
    }
    const content = new Uint8Array(await readFile(path));
    const bundle = await bundleIn(content);
    for (const [inside, file] of bundle ?? [[name, { content, broken: false }]]) addFile(files, inside, file);
  };
  let [isWhole, problem, policyText] = [false, null, ''];
  try {
    if (policyPath !== null) policyText = readText(await readFile(policyPath)) || '\n';
    const [only] = paths;
    const isFolder = (await stat(only)).isDirectory();
    if (paths.length === 1 && !isFolder && (await readFile(only)).subarray(0, 2).toString('latin1') === 'PK') {
      isWhole = true;
      for (const [name, file] of await unzip(new Uint8Array(await readFile(only)))) files.set(name, file);
    } else {
      isWhole = paths.length === 1 && isFolder;
      for (const path of paths) {
        const isInside = (await stat(path)).isDirectory();
        await add(
          path,
          isInside
            ? ''
            : (/(?:^|[/\\])((?:proofs|witnessed)[/\\][^/\\]+)$/.exec(path)?.[1].replace('\\', '/') ?? basename(path)),
        );
      }
    }
  } catch (error) {
    problem =
      error.code === undefined ? error.message : `${error.path ?? paths.join(', ')} cannot be read (${error.code})`;
  }
  const found =
    problem === null
      ? await check(files, { expectedKey, policyText, isWhole })
      : { ok: false, key: null, checks: [{ state: 'bad', what: paths.join(', '), text: problem }] };
  process.exitCode = found.ok ? 0 : 3;
  if (isJson)
    return void process.stdout.write(
      `${JSON.stringify({ ok: found.ok, key: found.key?.text ?? null, checks: found.checks }, null, 2)}\n`,
    );
  const clean = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
  const marks = { ok: '✓', bad: '✗', note: '·' };
  for (const { state, what, text } of found.checks)
    process.stdout.write(`${marks[state]} ${clean(what)}: ${clean(text)}\n`);
  process.stdout.write(`${found.ok ? '✓ nothing was changed' : '✗ NOT as it was sealed'}\n${LIMITS}\n`);
}

// ---------------------------------------------------------------- in a browser (verify.html)

function page() {
  const byId = (id) => document.getElementById(id);
  const [drop, picker, keyField, verdict, list] = ['drop', 'files', 'key', 'verdict', 'checks'].map(byId);
  const policyField = byId('policy');
  /** The texts of the page in its language. What they do not cover is shown in English. */
  const words = JSON.parse(byId('words').textContent);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const nameIn = (what) => {
    const [, entry] = /^Entry (.+)$/.exec(what) ?? [];
    return entry === undefined ? (words.names[what] ?? what) : fill(words.names['Entry {n}'], { n: entry });
  };
  /** Null: no text of the language covers it. */
  const detailIn = (text) => {
    const [, what, kind, source, at, rest] =
      /^(?:(request|record): )?(\S+) of (.+?), received (\S+): (.+)$/.exec(text) ?? [];
    if (rest !== undefined) {
      const state = detailIn(rest);
      const values = { what: what === undefined ? '' : words[what], kind, source, at, state };
      return state === null ? null : fill(words.entry, values);
    }
    for (const [pattern, translated] of words.details) {
      const whole = new RegExp(`^${pattern}$`);
      if (whole.test(text)) return text.replace(whole, translated);
    }
    return null;
  };

  let runs = 0;
  async function run(chosen) {
    if (chosen.length === 0) return;
    const nth = (runs += 1);
    verdict.className = 'working';
    const one = chosen.length === 1 ? chosen[0].name : fill(words.several, { n: chosen.length });
    verdict.textContent = fill(words.working, { what: one });
    list.replaceChildren();
    let found;
    try {
      found = await checkFiles(chosen);
    } catch (error) {
      found = { ok: false, checks: [{ state: 'bad', what: chosen[0].name, text: error.message }] };
    }
    // Something else was chosen or written meanwhile.
    if (nth !== runs) return;
    const faults = found.checks.filter(({ state }) => state === 'bad').length;
    verdict.className = found.ok ? 'ok' : 'bad';
    verdict.textContent = found.ok ? words.good : fill(faults === 1 ? words.badOne : words.bad, { n: faults });
    const order = { bad: 0, note: 1, ok: 2 };
    list.replaceChildren(
      ...[...found.checks]
        .sort((a, b) => order[a.state] - order[b.state])
        .map(({ state, what, text }) => {
          const item = document.createElement('li');
          item.className = state;
          const detail = detailIn(text);
          for (const [tag, content] of [
            ['span', words.states[state]],
            ['b', nameIn(what)],
            ['p', detail ?? text],
          ])
            item.append(Object.assign(document.createElement(tag), { textContent: content }));
          if (detail === null) item.lastChild.lang = 'en';
          return item;
        }),
    );
  }

  async function checkFiles(chosen) {
    // Without the spaces around it; a field is empty unless something was written into it.
    const policyText = policyField.value.trim();
    const options = { expectedKey: keyField.value.trim(), policyText: policyText === '' ? '' : `${policyText}\n` };
    const [first] = chosen;
    const bytes = new Uint8Array(await first.arrayBuffer());
    if (chosen.length === 1 && bytes[0] === 0x50 && bytes[1] === 0x4b) return check(await unzip(bytes), options);
    const files = new Map();
    for (const file of chosen) {
      const name =
        file.webkitRelativePath ||
        (/^(?:manifest|\d+)\.(?:tlog-proof|meta|body)$/.test(file.name)
          ? `proofs/${file.name}`
          : /^\d+-\d{16}\.(?:note|[A-Za-z0-9_-]+\.tsr)$/.test(file.name)
            ? `witnessed/${file.name}`
            : file.name);
      const content = new Uint8Array(await file.arrayBuffer());
      const bundle = await bundleIn(content);
      for (const [inside, one] of bundle ?? [[name, { content, broken: false }]]) addFile(files, inside, one);
    }
    return check(files, { ...options, isWhole: false });
  }

  let latest = [];
  const start = (chosen) => run((latest = [...chosen]));
  picker.addEventListener('change', () => start(picker.files));
  for (const field of [keyField, policyField]) field.addEventListener('change', () => run(latest));
  for (const event of ['dragover', 'dragleave', 'drop'])
    window.addEventListener(event, (happening) => {
      happening.preventDefault();
      drop.classList.toggle('over', event === 'dragover');
      if (event === 'drop') start(happening.dataTransfer.files);
    });
}

if (typeof document !== 'undefined') page();
else if (
  process.argv[1] !== undefined &&
  import.meta.url.endsWith(encodeURI(process.argv[1].replaceAll('\\', '/').split('/').pop()))
)
  await main(process.argv.slice(2));
