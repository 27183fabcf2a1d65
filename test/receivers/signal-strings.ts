const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** An unsigned number as so many bits. */
export const bitsOf = (value: number, count: number): string => value.toString(2).padStart(count, '0');

/** Bits as base64url text. */
export function encodeBits(bits: string): string {
  const padded = bits.padEnd(Math.ceil(bits.length / 6) * 6, '0');
  return padded.replace(/[01]{6}/g, (six) => ALPHABET[Number.parseInt(six, 2)] ?? '');
}

/** So many bits with these positions, counted from 1, set. */
export const flagsOf = (set: readonly number[], count: number): string =>
  Array.from({ length: count }, (_, index) => (set.includes(index + 1) ? '1' : '0')).join('');

/** A vendor section as a bit field. */
export const vendorField = (ids: readonly number[], most = Math.max(0, ...ids)): string =>
  `${bitsOf(most, 16)}0${flagsOf(ids, most)}`;

/** Entries of ranges; `[5, 5]` is written as a single id. */
export const rangesOf = (ranges: readonly (readonly [number, number])[]): string =>
  bitsOf(ranges.length, 12) +
  ranges
    .map(([start, end]) => (start === end ? `0${bitsOf(start, 16)}` : `1${bitsOf(start, 16)}${bitsOf(end, 16)}`))
    .join('');

export interface TcParts {
  readonly version?: number;
  readonly policyVersion?: number;
  readonly created?: string;
  readonly language?: string;
  readonly consent?: readonly number[];
  readonly interest?: readonly number[];
  readonly specialFeatures?: readonly number[];
  readonly purposeOneNotDisclosed?: boolean;
  readonly vendors?: string;
  readonly interestVendors?: string;
  readonly restrictions?: string;
}

const lettersOf = (text: string) => [...text].map((letter) => bitsOf(letter.charCodeAt(0) - 65, 6)).join('');

/** The core of a TC string, by the format's specification and independent of any library. */
export function tcCore(parts: TcParts = {}): string {
  const time = bitsOf(Date.parse(parts.created ?? '2026-01-05T00:00:00Z') / 100, 36);
  return encodeBits(
    [
      bitsOf(parts.version ?? 2, 6),
      time,
      time,
      bitsOf(300, 12),
      bitsOf(4, 12),
      bitsOf(1, 6),
      lettersOf(parts.language ?? 'DE'),
      bitsOf(120, 12),
      bitsOf(parts.policyVersion ?? 4, 6),
      '10',
      flagsOf(parts.specialFeatures ?? [], 12),
      flagsOf(parts.consent ?? [], 24),
      flagsOf(parts.interest ?? [], 24),
      parts.purposeOneNotDisclosed === true ? '1' : '0',
      lettersOf('FR'),
      parts.vendors ?? vendorField([]),
      parts.interestVendors ?? vendorField([]),
      parts.restrictions ?? bitsOf(0, 12),
    ].join(''),
  );
}

/** The segment with disclosed vendors. */
export const tcDisclosed = (vendors: string): string => encodeBits(`${bitsOf(1, 3)}${vendors}`);

/** A TC string of TCF 2.3 with its mandatory segment. */
export const tcString = (parts: TcParts = {}): string =>
  `${tcCore({ policyVersion: 5, ...parts })}.${tcDisclosed(vendorField([1, 2, 755]))}`;

/** A number as a sum of Fibonacci numbers. */
function fibonacciOf(value: number): string {
  const sums = [1, 2];
  while ((sums.at(-1) ?? 0) < value) sums.push((sums.at(-1) ?? 0) + (sums.at(-2) ?? 0));
  let rest = value;
  const digits = sums.map(() => '0');
  for (let at = sums.length - 1; at >= 0; at--) {
    const sum = sums[at] ?? 0;
    if (sum > rest) continue;
    digits[at] = '1';
    rest -= sum;
  }
  return `${digits.join('').replace(/0+$/, '')}1`;
}

/** The header of a GPP string: a group is a pair. */
export function gppHeader(items: readonly (number | readonly [number, number])[], type = 3, version = 1): string {
  let last = 0;
  const encoded = items.map((item) => {
    const [start, end] = typeof item === 'number' ? [item, item] : item;
    const bits =
      typeof item === 'number'
        ? `0${fibonacciOf(start - last)}`
        : `1${fibonacciOf(start - last)}${fibonacciOf(end - start)}`;
    last = end;
    return bits;
  });
  return encodeBits(`${bitsOf(type, 6)}${bitsOf(version, 6)}${bitsOf(items.length, 12)}${encoded.join('')}`);
}
