import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import pRetry from 'p-retry';
import type { BucketAddress } from '../core/address.ts';
import { OutsideError } from '../core/errors.ts';
import type { CopyPlace } from '../ledger/witness.ts';
import { exchange, type HttpAnswer, longest } from '../service/http.ts';

/** How the object storage is reached, as the environment says it (docs/configuration.md). */
export interface ObjectStorage {
  /** Null: the one of AWS for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** The bucket stands in the path, not in the host name; null: so it is everywhere but at AWS. */
  readonly pathStyle: boolean | null;
  /** Null: none are configured, and nothing can be asked. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  } | null;
}

/** Until when nobody may remove or replace a version of an object: in mode COMPLIANCE nobody at all, in GOVERNANCE only who was granted to. */
export interface ObjectLock {
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly days: number;
}

/** A version of an object. Object lock protects versions, not names: anyone with write access can overwrite a name with a newer version, or hide it behind a marker. */
export interface ObjectVersion {
  /** In the bucket, with the prefix of the address. */
  readonly key: string;
  /** `null` (the word) where the bucket keeps no versions. */
  readonly version: string;
  readonly bytes: number;
  readonly modified: Date;
  /** It hides the versions before it, and has no content. */
  readonly isMarker: boolean;
}

/** What the storage answered, or that it did not: one sentence without its end, and no secret. */
export class BucketError extends OutsideError {
  override readonly name = 'BucketError';
  /** As S3 names it (NoSuchBucket, AccessDenied, …); null: none was given. */
  readonly code: string | null;
  readonly status: number | null;
  constructor(message: string, status: number | null, code: string | null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

const REQUEST_MS = 20_000;
/** One part, over a line of 1 Mbit/s. */
const PART_MS = 180_000;
/** A thousand versions with the longest names. */
const LIST_BYTES = 8 << 20;
const SMALL_BYTES = 64 * 1024;
/** Parts of an upload and of a download, bytes; S3 takes at least 5 MiB and at most 10,000 parts. */
const PART_BYTES = 16 << 20;
const MAX_PARTS = 9000;

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('base64');

interface Asked {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Empty: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export type Bucket = ReturnType<typeof openBucket>;

/**
 * One bucket of an S3-compatible store, and a prefix in it. Requests are signed (AWS Signature Version 4) with the hash of their content, so that the store
 * refuses what arrives altered. Each has a limit of time and size, and is tried three times where the store is away or busy. All reject with {@link BucketError}.
 */
export function openBucket(storage: ObjectStorage, { bucket, prefix }: BucketAddress) {
  const inFolder = (name: string) => (prefix === '' ? name : `${prefix}/${name}`);

  async function ask(asked: Asked): Promise<HttpAnswer & { readonly bytes: Buffer }> {
    const { signal } = asked;
    return pRetry(() => attempt(asked), {
      retries: 2,
      minTimeout: Math.min(300, longest.pauseMs),
      maxTimeout: Math.min(3000, longest.pauseMs),
      randomize: true,
      ...(signal === undefined ? {} : { signal }),
      shouldRetry: ({ error }) =>
        error instanceof BucketError &&
        (error.status === null || error.status === 429 || error.status >= 500 || error.code === 'SlowDown'),
    });
  }

  async function attempt(asked: Asked): Promise<HttpAnswer & { readonly bytes: Buffer }> {
    const { method, key = '', query = {}, headers = {}, body, signal } = asked;
    if (storage.credentials === null)
      throw new BucketError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set', 0, null);
    // Loaded where something is sent: most commands send nothing.
    const { AwsV4Signer } = await import('aws4fetch');
    const { accessKeyId, secretAccessKey, sessionToken } = storage.credentials;
    const signed = await new AwsV4Signer({
      method,
      url: addressOf(storage, bucket, key, query),
      headers: { ...headers, 'x-amz-content-sha256': sha256(body ?? '') },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === null ? {} : { sessionToken }),
      service: 's3',
      region: storage.region,
    }).sign();
    let answer: HttpAnswer;
    try {
      answer = await exchange({
        url: signed.url.href,
        method,
        headers: { ...Object.fromEntries(signed.headers), 'accept-encoding': 'identity' },
        body,
        timeoutMs: asked.timeoutMs ?? REQUEST_MS,
        // An answer to HEAD announces the length of what it does not send.
        maxBytes: method === 'HEAD' ? Number.MAX_SAFE_INTEGER : (asked.maxBytes ?? SMALL_BYTES),
        maxErrorBytes: SMALL_BYTES,
        signal,
      });
    } catch (cause) {
      signal?.throwIfAborted();
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new BucketError(`${hostOf(storage)} does not answer (${code ?? message})`, null, null, { cause });
    }
    const { status, bytes, fault } = answer;
    if (bytes === null && status < 300) {
      const again = fault?.type === 'broken' ? null : status;
      throw new BucketError(`the answer of ${hostOf(storage)} cannot be taken: ${fault?.detail ?? ''}`, again, null);
    }
    if (status >= 200 && status < 300) return { ...answer, bytes: bytes ?? Buffer.alloc(0) };
    throw refusal(status, (bytes ?? Buffer.alloc(0)).toString('utf8'), bucket);
  }

  const untilOf = ({ days }: ObjectLock) => new Date(Date.now() + days * 86_400_000).toISOString();

  /** Some stores (Ceph 16) take the headers of a lock on an upload in parts, and lock nothing: what is not locked is locked afterwards, or refused. */
  async function makeSure(key: string, bytes: number, lock: ObjectLock | null): Promise<void> {
    const isRight = (head: ObjectHead) =>
      lock === null || (head.lock !== null && head.lock.until.getTime() > Date.now() + (lock.days - 1) * 86_400_000);
    const head = await headOf(key);
    if (head.bytes !== bytes) throw new BucketError(`${key} is ${head.bytes} bytes long, and not ${bytes}`, 200, null);
    if (lock === null || isRight(head)) return;
    const body = `<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>${lock.mode}</Mode><RetainUntilDate>${untilOf(lock)}</RetainUntilDate></Retention>`;
    const query = { retention: '', ...(head.version === null ? {} : { versionId: head.version }) };
    await ask({ method: 'PUT', key, query, headers: { 'content-md5': md5(body) }, body });
    if (!isRight(await headOf(key))) throw new BucketError(`the storage keeps ${key}, but did not lock it`, 200, null);
  }

  async function headOf(key: string): Promise<ObjectHead> {
    const { headers } = await ask({ method: 'HEAD', key });
    const mode = headers.get('x-amz-object-lock-mode');
    const until = headers.get('x-amz-object-lock-retain-until-date');
    return {
      bytes: Number(headers.get('content-length') ?? 0),
      version: headers.get('x-amz-version-id'),
      lock: mode === null || until === null ? null : { mode, until: new Date(until) },
    };
  }

  const lockHeaders = (lock: ObjectLock | null, body: Uint8Array | string | null) => ({
    ...(lock === null
      ? {}
      : {
          'x-amz-object-lock-mode': lock.mode,
          'x-amz-object-lock-retain-until-date': untilOf(lock),
        }),
    // Required with a lock (S3 User Guide, Object Lock considerations).
    ...(body === null ? {} : { 'content-md5': md5(body) }),
  });

  async function putParts(
    key: string,
    file: FileHandle,
    size: number,
    { lock, signal, onProgress }: PutFileOptions,
  ): Promise<void> {
    const started = await ask({
      method: 'POST',
      key,
      query: { uploads: '' },
      headers: lockHeaders(lock, null),
      signal,
    });
    const uploadId = textOf(started.bytes.toString('utf8'), 'UploadId');
    if (uploadId === null) throw new BucketError('the storage began no upload in parts', started.status, null);
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
    const tags: string[] = [];
    try {
      for (let at = 0; at < size; at += partBytes) {
        const body = Buffer.alloc(Math.min(partBytes, size - at));
        const { bytesRead } = await file.read(body, 0, body.length, at);
        if (bytesRead !== body.length) throw new Error('the file became shorter while it was uploaded');
        const { headers } = await ask({
          method: 'PUT',
          key,
          query: { partNumber: String(tags.length + 1), uploadId },
          headers: { 'content-md5': md5(body) },
          body,
          timeoutMs: PART_MS,
          signal,
        });
        tags.push(headers.get('etag') ?? '');
        onProgress?.(at + body.length);
      }
      const parts = tags.map(
        (tag, place) => `<Part><PartNumber>${place + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
      );
      const done = await ask({
        method: 'POST',
        key,
        query: { uploadId },
        body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
        timeoutMs: PART_MS,
        signal,
      });
      // Answered with 200 before the parts are put together.
      const text = done.bytes.toString('utf8');
      if (/<Error>/.test(text)) throw refusal(done.status, text, bucket);
    } catch (error) {
      await ask({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
      throw error;
    }
  }

  return {
    /** As it is named in messages. */
    name: `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`,
    /** With the prefix before it. */
    keyOf: inFolder,

    /** All versions of objects under the prefix whose names begin with `start`, by name, the newest of a name first; with `after`, those of later names. */
    async versions(
      start = '',
      { after = null as string | null, limit = 50_000 } = {},
    ): Promise<readonly ObjectVersion[]> {
      const found: ObjectVersion[] = [];
      let marker: Readonly<Record<string, string>> = after === null ? {} : { 'key-marker': inFolder(after) };
      while (found.length < limit) {
        const query = { versions: '', prefix: inFolder(start), 'encoding-type': 'url', ...marker };
        const { bytes } = await ask({ method: 'GET', query, maxBytes: LIST_BYTES });
        const page = readVersions(bytes.toString('utf8'));
        // Some stores begin with the marker itself.
        found.push(...page.versions.filter(({ key }) => after === null || key > inFolder(after)));
        if (page.next === null) return found;
        if (
          page.next['key-marker'] === marker['key-marker'] &&
          page.next['version-id-marker'] === marker['version-id-marker']
        )
          throw new BucketError('the listing of the bucket does not advance', 200, null);
        marker = page.next;
      }
      throw new BucketError(`there are more than ${limit} versions of objects under ${inFolder(start)}`, 200, null);
    },

    /** The content of a version. */
    async get(key: string, version: string | null, maxBytes: number): Promise<Buffer> {
      const query = version === null ? {} : { versionId: version };
      return (await ask({ method: 'GET', key, query, maxBytes })).bytes;
    },

    /** Writes an object of a few MiB at most; resolves when it is there, and locked. */
    async put(key: string, body: Uint8Array | string, lock: ObjectLock | null): Promise<void> {
      await ask({ method: 'PUT', key, headers: lockHeaders(lock, body), body, timeoutMs: PART_MS });
      await makeSure(key, Buffer.byteLength(body), lock);
    },

    /** Uploads a file, a large one in parts; resolves when all of it is there, and locked. */
    async putFile(key: string, path: string, options: PutFileOptions): Promise<void> {
      const file = await open(path, 'r');
      try {
        const { size } = await file.stat();
        if (size > PART_BYTES) await putParts(key, file, size, options);
        else {
          const body = await file.readFile();
          const headers = lockHeaders(options.lock, body);
          await ask({ method: 'PUT', key, headers, body, timeoutMs: PART_MS, signal: options.signal });
          options.onProgress?.(size);
        }
        await makeSure(key, size, options.lock);
      } finally {
        await file.close();
      }
    },

    /** Downloads an object into a file that does not exist yet. */
    async getFile(key: string, path: string, onProgress?: (done: number, total: number) => void): Promise<void> {
      const { bytes: size, version } = await headOf(key);
      const file = await open(path, 'wx', 0o600);
      try {
        for (let at = 0; at < size; at += PART_BYTES) {
          const end = Math.min(size, at + PART_BYTES) - 1;
          const { bytes } = await ask({
            method: 'GET',
            key,
            query: version === null ? {} : { versionId: version },
            headers: { range: `bytes=${at}-${end}` },
            timeoutMs: PART_MS,
            maxBytes: PART_BYTES,
          });
          if (bytes.length !== end - at + 1) throw new BucketError('the object is not as long as it was', 206, null);
          await file.write(bytes);
          onProgress?.(end + 1, size);
        }
      } finally {
        await file.close();
      }
    },

    /** Size, version and lock of the newest version of an object. */
    head: headOf,

    /** Removes one version for good; false: it is locked, or removing is not granted. */
    async remove({ key, version }: Pick<ObjectVersion, 'key' | 'version'>): Promise<boolean> {
      try {
        await ask({ method: 'DELETE', key, query: { versionId: version } });
        return true;
      } catch (error) {
        if (error instanceof BucketError && (error.code === 'AccessDenied' || error.code === 'ObjectLocked'))
          return false;
        throw error;
      }
    },

    /** Whether the bucket can lock objects; null: it does not say. */
    async canLock(): Promise<boolean | null> {
      try {
        const { bytes } = await ask({ method: 'GET', query: { 'object-lock': '' } });
        return textOf(bytes.toString('utf8'), 'ObjectLockEnabled') === 'Enabled';
      } catch (error) {
        if (!(error instanceof BucketError)) throw error;
        if (error.code === 'ObjectLockConfigurationNotFoundError') return false;
        if (error.status === 501 || error.code === 'AccessDenied' || error.code === 'NotImplemented') return null;
        throw error;
      }
    },
  };
}

interface PutFileOptions {
  readonly lock: ObjectLock | null;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (bytes: number) => void;
}

export interface ObjectHead {
  readonly bytes: number;
  readonly version: string | null;
  readonly lock: { readonly mode: string; readonly until: Date } | null;
}

function baseOf({ endpoint, region }: ObjectStorage): URL {
  return new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
}

/** Host and port of the store, for messages. */
export function hostOf(storage: ObjectStorage): string {
  return baseOf(storage).host;
}

/** Where a request goes: the bucket in the path, or in the host name as AWS wants it. */
export function addressOf(
  storage: ObjectStorage,
  bucket: string,
  key: string,
  query: Readonly<Record<string, string>>,
): string {
  const url = baseOf(storage);
  const inPath = storage.pathStyle ?? !url.hostname.endsWith('.amazonaws.com');
  if (!inPath) url.hostname = `${bucket}.${url.hostname}`;
  const path = [...(inPath ? [bucket] : []), ...(key === '' ? [] : key.split('/'))];
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path.map(encodeURIComponent).join('/')}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // As the signature is computed: a space is %20.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

const remedies: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket',
  InvalidAccessKeyId: 'the storage does not know AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID',
  RequestTimeTooSkewed: 'the clocks of this machine and of the storage differ by more than 15 minutes',
  AuthorizationHeaderMalformed: 'AWS_REGION is not the region of the bucket',
  PermanentRedirect: 'AWS_REGION or AWS_ENDPOINT_URL_S3 is not that of the bucket',
  AccessDenied: 'these credentials may not do this, or the object is locked',
  NoSuchKey: 'there is no such object',
};

function refusal(status: number, text: string, bucket: string): BucketError {
  const code = /^\w{1,64}$/.exec(textOf(text, 'Code') ?? '')?.[0] ?? null;
  const words = remedies[code ?? (status === 404 ? 'NoSuchKey' : status === 403 ? 'AccessDenied' : '')];
  const message = `bucket ${bucket}: HTTP ${status}${code === null ? '' : ` ${code}`}${words === undefined ? '' : `, ${words}`}`;
  return new BucketError(message, status, code);
}

/** The text of the first element of a name; null: there is none. Answers of S3 have no element twice where this is asked of. */
function textOf(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`);
  if (start < 0) return null;
  const from = start + name.length + 2;
  const end = xml.indexOf(`</${name}>`, from);
  return end < 0 ? null : unescapeXml(xml.slice(from, end));
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
};

function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#34|#39);/g, (all, name: string) => entities[name] ?? all);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** One page of a listing (ListObjectVersions), and where the next one begins. Names come percent-encoded (encoding-type=url). */
export function readVersions(xml: string): {
  readonly versions: readonly ObjectVersion[];
  readonly next: Readonly<Record<'key-marker' | 'version-id-marker', string>> | null;
} {
  const versions: ObjectVersion[] = [];
  for (const { 0: begin, 1: name = '', index } of xml.matchAll(/<(Version|DeleteMarker)>/g)) {
    const end = xml.indexOf(`</${name}>`, index + begin.length);
    if (end < 0) break;
    const one = xml.slice(index, end);
    const key = decoded(textOf(one, 'Key') ?? '');
    const modified = new Date(textOf(one, 'LastModified') ?? '');
    if (key === null || key === '' || Number.isNaN(modified.getTime())) continue;
    const isMarker = name === 'DeleteMarker';
    const bytes = Number(textOf(one, 'Size') ?? 0);
    versions.push({ key, version: textOf(one, 'VersionId') ?? 'null', bytes, modified, isMarker });
  }
  const nextKey = decoded(textOf(xml, 'NextKeyMarker') ?? '');
  const isTruncated = textOf(xml, 'IsTruncated') === 'true' && nextKey !== null && nextKey !== '';
  const next = { 'key-marker': nextKey ?? '', 'version-id-marker': textOf(xml, 'NextVersionIdMarker') ?? '' };
  return { versions, next: isTruncated ? next : null };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Bytes of a checkpoint: what is larger is none. */
const NOTE_BYTES = 256 * 1024;

/** Copies of checkpoints in a bucket. Every version of a name counts: one that was hidden, or that another was laid over, is still what was signed. */
export function bucketOfCopies(bucket: Bucket, lock: ObjectLock | null): CopyPlace {
  return {
    async list(start, after) {
      const versions = await bucket.versions(start, { after: after ?? null });
      const folder = bucket.keyOf('');
      return versions
        .filter(({ isMarker, key }) => !isMarker && key.startsWith(folder))
        .map(({ key, version }) => ({
          name: key.slice(folder.length),
          read: () => bucket.get(key, version, NOTE_BYTES),
        }));
    },
    write: (name, note) => bucket.put(bucket.keyOf(name), note, lock),
  };
}
