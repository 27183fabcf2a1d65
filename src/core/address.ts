import { isIPv4, isIPv6 } from 'node:net';

/**
 * What an address counts as where addresses are capped: IPv4 as it is, IPv6 by its first 64 bits, for one host commands at
 * least that many addresses. Anything else (a proxy's odd header) counts as `other`.
 */
export function addressGroup(address: string): string {
  // No address is as long; telling so takes the runtime time by the square of the length.
  if (address.length > 100) return 'other';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (isIPv4(address)) return address;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return 'other';
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // A dotted end stands for two groups; only the first four matter here.
  const length = before.length + after.length + (bare.includes('.') ? 1 : 0);
  const groups =
    tail === undefined ? before : [...before, ...Array<string>(Math.max(0, 8 - length)).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
