import { isIPv4, isIPv6 } from 'node:net';

/**
 * How an address counts towards limits per address: IPv4 as it is, IPv6 by its first 64 bits, since a host controls at
 * least that many addresses. Anything else (a proxy's odd header) counts as `other`.
 */
export function addressGroup(address: string): string {
  // No address is this long, and checking would take time quadratic in the length.
  if (address.length > 100) return 'other';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (isIPv4(address)) return address;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return 'other';
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // A dotted end counts as two groups; only the first four matter here.
  const length = before.length + after.length + (bare.includes('.') ? 1 : 0);
  const groups =
    tail === undefined ? before : [...before, ...Array<string>(Math.max(0, 8 - length)).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/**
 * The address of the public listener: as configured, otherwise the one for a browser on this machine. `port` is the
 * port actually bound.
 */
export function publicUrlOf(
  config: { readonly publicUrl: string | null; readonly host: string },
  port: number,
): string {
  if (config.publicUrl !== null) return config.publicUrl;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The API root of the service without a trailing slash; null if the text is not a URL ending in /api/v1
 * (docs/service.md §4, §9).
 */
export function serviceRootOf(text: string): string | null {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '' || !/\/api\/v1\/?$/.test(url.pathname)) return null;
  return urlWithoutSlash(url);
}

/** The public origin of the service; null if the text is not exactly an origin. */
export function serviceOriginOf(text: string): string | null {
  const url = webUrlOf(text);
  return url === null || url.pathname !== '/' || url.search !== '' || url.hash !== '' ? null : url.origin;
}

/** An http(s) URL without credentials; null if the text is not one. */
export function webUrlOf(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
    ? url
    : null;
}

/** Origin and path without trailing slashes. */
export function urlWithoutSlash(url: URL): string {
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/** Whether nobody can read what is sent there: TLS, or the loopback of this machine. */
export function isPrivateTransport(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Why an address of the service may not be used: http to another machine that is not on the list of allowed hosts.
 * Null: it may.
 */
export function clearTextProblem(
  url: string,
  allowedHosts: readonly string[],
  what = 'the API key and consent records',
): string | null {
  if (isPrivateTransport(url)) return null;
  const { hostname } = new URL(url);
  if (allowedHosts.includes(hostname)) return null;
  return `must be https: ${what} would cross the network unencrypted. If ${hostname} is on your own network, add it to HTTP_ALLOWED_HOSTS`;
}

/** A bucket in object storage with our folder in it; empty: the whole bucket. */
export interface BucketAddress {
  readonly bucket: string;
  readonly prefix: string;
}

/** `s3://bucket/prefix`; null if the text is not one. Only names that need no escaping are accepted. */
export function bucketAddressOf(text: string): BucketAddress | null {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9_./=-]{0,500}))?$/.exec(text) ?? [];
  const parts = prefix.replace(/\/$/, '').split('/');
  if (bucket === undefined || (prefix !== '' && parts.some((part) => /^\.{0,2}$/.test(part)))) return null;
  return { bucket, prefix: parts.join('/') };
}

/** A text for display, without user and password in its URLs. */
export function withoutPasswords(text: string): string {
  return text.replace(/[^\s'"<>]+/g, (word) => {
    const start = word.search(/[a-z0-9+.-]:[\\/]{2}/i);
    const end = word.lastIndexOf('@');
    return start < 0 || end < start + 4 ? word : `${word.slice(0, start + 4)}…${word.slice(end)}`;
  });
}
