import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/*
 * A stand-in for S3, written from Amazon's documentation alone: Signature Version 4 ("Signature Calculations for the
 * Authorization Header"), versions, object lock, multipart uploads, paged listings. It shares no code with the client.
 * `test/outside/bucket.test.ts` checks its signatures against the documentation's examples, and bucket.long.test.ts
 * runs the same checks against Ceph.
 */

const hex = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();

/** RFC 3986, as Amazon's documentation defines "URI-encode". */
function uriEncode(text: string, slash: boolean): string {
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    encoded +=
      /[A-Za-z0-9_.~-]/.test(char) || (char === '/' && !slash)
        ? char
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

export interface Signed {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The signature that a request must have. */
export function signatureOf(
  { method, target, headers }: Signed,
  {
    secret,
    region,
    date,
    time,
    signedHeaders,
  }: { secret: string; region: string; date: string; time: string; signedHeaders: string },
): string {
  const [path = '', query = ''] = target.split('?');
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='));
  const canonicalQuery = pairs
    .map(([name = '', value = '']) => [
      uriEncode(decodeURIComponent(name), true),
      uriEncode(decodeURIComponent(value), true),
    ])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const canonical = [
    method,
    uriEncode(decodeURIComponent(path), false),
    canonicalQuery,
    ...signedHeaders.split(';').map((name) => `${name}:${(headers[name] ?? '').trim()}`),
    '',
    signedHeaders,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, hex(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), 's3'), 'aws4_request');
  return hmac(key, toSign).toString('hex');
}

interface Version {
  readonly key: string;
  readonly id: string;
  readonly body: Buffer | null;
  readonly at: Date;
  lock: { readonly mode: string; readonly until: string } | null;
}

export interface StandIn {
  readonly url: string;
  /** Oldest first; a marker has no body. */
  readonly versions: Version[];
  /** The requests that were answered, as `METHOD target`. */
  readonly asked: string[];
  /** How the next requests fail; null: they are served. */
  fault: 'away' | 'busy' | 'silent' | null;
  /** Adds a version as another writer would. */
  add(key: string, body: Buffer | null): void;
}

export const KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
export const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

/** Settings for the product to reach it. */
export const storageEnvironment = (url: string) => ({
  AWS_ENDPOINT_URL_S3: url,
  AWS_REGION: 'eu-test-1',
  AWS_ACCESS_KEY_ID: KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET,
});

/**
 * Starts a store with a bucket `ledger`, with or without object lock. `page`: versions per page of a listing. `token`:
 * a session token that must be sent. `forgetful`: multipart uploads are not locked, as in Ceph 16.
 */
export async function startObjectStore({
  lock = true,
  page = 3,
  region = 'eu-test-1',
  token = '',
  forgetful = false,
} = {}): Promise<StandIn> {
  let count = 0;
  const uploads = new Map<
    string,
    { readonly key: string; readonly lock: Version['lock']; readonly parts: Map<number, Buffer> }
  >();
  const at = () => new Date(Date.UTC(2026, 0, 1) + (count += 1) * 1000);
  const standIn: Omit<StandIn, 'url'> = {
    versions: [],
    asked: [],
    fault: null,
    add: (key, body) => void standIn.versions.push({ key, id: `v${(count += 1)}`, body, at: at(), lock: null }),
  };

  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      standIn.asked.push(`${request.method} ${request.url}`);
      if (standIn.fault === 'silent') return;
      if (standIn.fault === 'away') return void request.socket.destroy();
      const answer = standIn.fault === 'busy' ? refuse(503, 'SlowDown') : serve(request, Buffer.concat(chunks));
      response.writeHead(answer.status, { 'content-type': 'application/xml', ...answer.headers });
      response.end(request.method === 'HEAD' ? undefined : answer.body);
    })().catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  interface Answer {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: Buffer | string;
  }
  const refuse = (status: number, code: string): Answer => ({
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
  });

  function check(request: IncomingMessage, body: Buffer): Answer | null {
    const headers = request.headers as Record<string, string>;
    const [, id, date, of, signedHeaders = '', signature = ''] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
        headers['authorization'] ?? '',
      ) ?? [];
    const time = headers['x-amz-date'] ?? '';
    if (id === undefined || date === undefined || !time.startsWith(date)) return refuse(403, 'AccessDenied');
    if (of !== region) return refuse(400, 'AuthorizationHeaderMalformed');
    if (id !== KEY_ID) return refuse(403, 'InvalidAccessKeyId');
    const said = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (!(Math.abs(said - Date.now()) < 900_000)) return refuse(403, 'RequestTimeTooSkewed');
    // Every x-amz- header has to be signed, and the host.
    const signed = new Set(signedHeaders.split(';'));
    if (!signed.has('host') || Object.keys(headers).some((name) => name.startsWith('x-amz-') && !signed.has(name)))
      return refuse(403, 'AccessDenied');
    const wanted = signatureOf(
      { method: request.method ?? '', target: request.url ?? '', headers },
      { secret: SECRET, region, date, time, signedHeaders },
    );
    if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(signature))) return refuse(403, 'SignatureDoesNotMatch');
    if (headers['x-amz-content-sha256'] !== hex(body)) return refuse(400, 'XAmzContentSHA256Mismatch');
    if ((headers['x-amz-security-token'] ?? '') !== token) return refuse(403, 'ExpiredToken');
    const md5 = headers['content-md5'];
    if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64')) return refuse(400, 'BadDigest');
    return null;
  }

  function lockOf(headers: Record<string, string>): Version['lock'] | 'invalid' {
    const mode = headers['x-amz-object-lock-mode'];
    const until = headers['x-amz-object-lock-retain-until-date'];
    if (mode === undefined && until === undefined) return null;
    if (!lock || mode === undefined || until === undefined || !(Date.parse(until) > Date.now())) return 'invalid';
    return { mode, until };
  }

  function serve(request: IncomingMessage, body: Buffer): Answer {
    const refused = check(request, body);
    if (refused !== null) return refused;
    const url = new URL(request.url ?? '', 'http://store');
    const [, bucket, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    const query = url.searchParams;
    const headers = request.headers as Record<string, string>;
    if (bucket !== 'ledger') return refuse(404, 'NoSuchBucket');
    if (key === '') {
      if (query.has('object-lock'))
        return lock
          ? {
              status: 200,
              body: '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
            }
          : refuse(404, 'ObjectLockConfigurationNotFoundError');
      return query.has('versions') ? listVersions(query) : refuse(501, 'NotImplemented');
    }
    const uploadId = query.get('uploadId');
    switch (request.method) {
      case 'POST': {
        if (query.has('uploads')) {
          const locked = lockOf(headers);
          if (locked === 'invalid') return refuse(400, 'InvalidRequest');
          const id = `upload-${(count += 1)}`;
          uploads.set(id, { key, lock: forgetful ? null : locked, parts: new Map() });
          return {
            status: 200,
            body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          };
        }
        const upload = uploads.get(uploadId ?? '');
        if (upload === undefined) return refuse(404, 'NoSuchUpload');
        const listed = [
          ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;([0-9a-f]+)&quot;<\/ETag>/g),
        ];
        const parts = listed.map(([, number, tag]) => {
          const part = upload.parts.get(Number(number));
          return part !== undefined && createHash('md5').update(part).digest('hex') === tag ? part : null;
        });
        if (parts.length !== upload.parts.size || parts.includes(null)) return refuse(400, 'InvalidPart');
        if (parts.slice(0, -1).some((part) => (part?.length ?? 0) < 5 << 20)) return refuse(400, 'EntityTooSmall');
        const id = `v${(count += 1)}`;
        standIn.versions.push({ key, id, body: Buffer.concat(parts as Buffer[]), at: at(), lock: upload.lock });
        uploads.delete(uploadId ?? '');
        return { status: 200, body: '<CompleteMultipartUploadResult/>', headers: { 'x-amz-version-id': id } };
      }
      case 'PUT': {
        if (query.has('retention')) {
          const version = standIn.versions.find((one) => one.key === key && one.id === query.get('versionId'));
          const [, mode, until] = /<Mode>(\w+)<\/Mode><RetainUntilDate>([^<]+)</.exec(body.toString()) ?? [];
          if (version === undefined || mode === undefined || until === undefined) return refuse(400, 'MalformedXML');
          version.lock = { mode, until };
          return { status: 200 };
        }
        const upload = uploads.get(uploadId ?? '');
        if (upload !== undefined) {
          upload.parts.set(Number(query.get('partNumber')), body);
          return { status: 200, headers: { etag: `"${createHash('md5').update(body).digest('hex')}"` } };
        }
        const locked = lockOf(headers);
        if (locked === 'invalid' || (locked !== null && headers['content-md5'] === undefined))
          return refuse(400, 'InvalidRequest');
        const id = `v${(count += 1)}`;
        standIn.versions.push({ key, id, body, at: at(), lock: locked });
        return { status: 200, headers: { 'x-amz-version-id': id } };
      }
      case 'DELETE': {
        if (uploadId !== null) return uploads.delete(uploadId) ? { status: 204 } : refuse(404, 'NoSuchUpload');
        const place = standIn.versions.findIndex((one) => one.key === key && one.id === query.get('versionId'));
        const version = standIn.versions[place];
        if (version === undefined) {
          standIn.add(key, null);
          return { status: 204 };
        }
        if (version.lock !== null && Date.parse(version.lock.until) > Date.now()) return refuse(403, 'AccessDenied');
        standIn.versions.splice(place, 1);
        return { status: 204 };
      }
      default: {
        const id = query.get('versionId');
        const version = standIn.versions.findLast((one) => one.key === key && (id === null || one.id === id));
        if (version?.body == null) return refuse(404, 'NoSuchKey');
        const about: Record<string, string> = { 'x-amz-version-id': version.id };
        if (version.lock !== null) {
          about['x-amz-object-lock-mode'] = version.lock.mode;
          about['x-amz-object-lock-retain-until-date'] = version.lock.until;
        }
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers['range'] ?? '') ?? [];
        const part = from === undefined ? version.body : version.body.subarray(Number(from), Number(to) + 1);
        return {
          status: from === undefined ? 200 : 206,
          body: part,
          headers: { ...about, 'content-length': String(part.length) },
        };
      }
    }
  }

  function listVersions(query: URLSearchParams): Answer {
    const prefix = query.get('prefix') ?? '';
    const all = standIn.versions
      .map((version, age) => ({ ...version, age }))
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (a.key === b.key ? b.age - a.age : a.key < b.key ? -1 : 1));
    const [keyMarker, idMarker] = [query.get('key-marker'), query.get('version-id-marker')];
    const start =
      keyMarker === null
        ? 0
        : idMarker !== null && idMarker !== ''
          ? all.findIndex(({ key, id }) => key === keyMarker && id === idMarker) + 1
          : all.filter(({ key }) => key <= keyMarker).length;
    const some = all.slice(start, start + page);
    const last = some.at(-1);
    const isTruncated = start + page < all.length;
    const lines = some.map(({ key, id, body, at: modified }) => {
      const name = body === null ? 'DeleteMarker' : 'Version';
      return `<${name}><Key>${encodeURIComponent(key)}</Key><VersionId>${id}</VersionId><LastModified>${modified.toISOString()}</LastModified>${body === null ? '' : `<Size>${body.length}</Size>`}</${name}>`;
    });
    const next = isTruncated
      ? `<NextKeyMarker>${encodeURIComponent(last?.key ?? '')}</NextKeyMarker><NextVersionIdMarker>${last?.id ?? ''}</NextVersionIdMarker>`
      : '';
    return {
      status: 200,
      body: `<?xml version="1.0"?><ListVersionsResult><Name>ledger</Name><IsTruncated>${isTruncated}</IsTruncated>${next}${lines.join('')}</ListVersionsResult>`,
    };
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return Object.assign(standIn, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
