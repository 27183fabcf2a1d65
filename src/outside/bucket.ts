import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { BucketAddress } from '../core/address.ts';
import type { CopyPlace } from '../ledger/ask-witness.ts';
import { type Ask, BucketError, createAsk, elementText, escapeXml, type ObjectStorage } from './s3.ts';

/**
 * How long a version of an object cannot be removed or replaced: in mode COMPLIANCE by nobody, in GOVERNANCE only with
 * a special permission.
 */
export interface ObjectLock {
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly days: number;
}

/**
 * A version of an object. Object lock protects versions, not names: anyone with write access can overwrite a name with
 * a newer version, or hide it behind a delete marker.
 */
export interface ObjectVersion {
  /** Its key in the bucket, including the prefix of the address. */
  readonly key: string;
  /** `null` (the word) if the bucket keeps no versions. */
  readonly version: string;
  readonly bytes: number;
  readonly modified: Date;
  /** A delete marker: it hides earlier versions and has no content. */
  readonly isMarker: boolean;
}

/** Enough for one part over a line of 1 Mbit/s. */
const PART_MS = 180_000;
/** Enough for a thousand versions with the longest names. */
const LIST_BYTES = 8 << 20;
/** Size in bytes of the parts of uploads and downloads; S3 accepts at least 5 MiB and at most 10,000 parts. */
const PART_BYTES = 16 << 20;
const MAX_PARTS = 9000;

const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('base64');

const untilOf = ({ days }: ObjectLock) => new Date(Date.now() + days * 86_400_000).toISOString();

export type Bucket = ReturnType<typeof openBucket>;

/**
 * One bucket of an S3-compatible store, and a prefix in it. Every method rejects with {@link BucketError}; see
 * {@link Ask} for limits and retries.
 */
export function openBucket(storage: ObjectStorage, { bucket, prefix }: BucketAddress) {
  const ask = createAsk(storage, bucket);
  const inFolder = (name: string) => (prefix === '' ? name : `${prefix}/${name}`);

  return {
    /** The name used in messages. */
    name: `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`,
    /** Adds the prefix. */
    keyOf: inFolder,

    // Some stores include the marker's own name.
    versions: (start = '', { after = null as string | null, limit = 50_000 } = {}) =>
      listVersions(ask, { start: inFolder(start), after: after === null ? null : inFolder(after), limit }),

    /** The content of a version. */
    async get(key: string, version: string | null, maxBytes: number): Promise<Buffer> {
      const query = version === null ? {} : { versionId: version };
      return (await ask({ method: 'GET', key, query, maxBytes })).bytes;
    },

    /** Writes an object of a few MiB at most; resolves once it exists and is locked. */
    async put(key: string, body: Uint8Array | string, lock: ObjectLock | null): Promise<void> {
      await ask({ method: 'PUT', key, headers: lockHeaders(lock, body), body, timeoutMs: PART_MS });
      await makeSure(ask, key, Buffer.byteLength(body), lock);
    },

    /** Uploads a file, large ones in parts; resolves once all of it exists and is locked. */
    putFile: (key: string, path: string, options: PutFileOptions) => uploadFile(ask, key, path, options),

    /** Downloads an object into a new file. */
    getFile: (key: string, path: string, onProgress?: (done: number, total: number) => void) =>
      downloadParts(ask, key, path, onProgress),

    /** Size, version and lock of the newest version of an object. */
    head: (key: string) => headOf(ask, key),

    /** Removes one version for good; false: it is locked, or removing is not permitted. */
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

    /** Whether the bucket supports object lock; null: unknown. */
    async canLock(): Promise<boolean | null> {
      try {
        const { bytes } = await ask({ method: 'GET', query: { 'object-lock': '' } });
        return elementText(bytes.toString('utf8'), 'ObjectLockEnabled') === 'Enabled';
      } catch (error) {
        if (!(error instanceof BucketError)) throw error;
        if (error.code === 'ObjectLockConfigurationNotFoundError') return false;
        if (error.status === 501 || error.code === 'AccessDenied' || error.code === 'NotImplemented') return null;
        throw error;
      }
    },
  };
}

interface Listing {
  /** Common prefix of the keys. */
  readonly start: string;
  /** Only keys after this one. */
  readonly after: string | null;
  readonly limit: number;
}

async function listVersions(ask: Ask, { start, after, limit }: Listing): Promise<readonly ObjectVersion[]> {
  const found: ObjectVersion[] = [];
  let marker: Readonly<Record<string, string>> = after === null ? {} : { 'key-marker': after };
  while (found.length < limit) {
    const query = { versions: '', prefix: start, 'encoding-type': 'url', ...marker };
    const { bytes } = await ask({ method: 'GET', query, maxBytes: LIST_BYTES });
    const page = readVersions(bytes.toString('utf8'));
    // Some stores include the marker itself.
    found.push(...page.versions.filter(({ key }) => after === null || key > after));
    if (page.next === null) return found;
    if (
      page.next['key-marker'] === marker['key-marker'] &&
      page.next['version-id-marker'] === marker['version-id-marker']
    )
      throw new BucketError('the listing of the bucket does not advance', 200, null);
    marker = page.next;
  }
  throw new BucketError(`there are more than ${limit} versions of objects under ${start}`, 200, null);
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

/**
 * Some stores (Ceph 16) accept lock headers on multipart uploads but lock nothing: an object that is not locked is
 * locked afterwards, or refused.
 */
async function makeSure(ask: Ask, key: string, bytes: number, lock: ObjectLock | null): Promise<void> {
  const isRight = (head: ObjectHead) =>
    lock === null || (head.lock !== null && head.lock.until.getTime() > Date.now() + (lock.days - 1) * 86_400_000);
  const head = await headOf(ask, key);
  if (head.bytes !== bytes) throw new BucketError(`${key} is ${head.bytes} bytes long, not ${bytes}`, 200, null);
  if (lock === null || isRight(head)) return;
  const body = `<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>${lock.mode}</Mode><RetainUntilDate>${untilOf(lock)}</RetainUntilDate></Retention>`;
  const query = { retention: '', ...(head.version === null ? {} : { versionId: head.version }) };
  await ask({ method: 'PUT', key, query, headers: { 'content-md5': md5(body) }, body });
  if (!isRight(await headOf(ask, key)))
    throw new BucketError(`the storage keeps ${key}, but did not lock it`, 200, null);
}

/** Size, version and lock of the newest version of an object. */
async function headOf(ask: Ask, key: string): Promise<ObjectHead> {
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

async function uploadFile(ask: Ask, key: string, path: string, options: PutFileOptions): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > PART_BYTES) await uploadParts(ask, key, { file, size }, options);
    else {
      const body = await file.readFile();
      const headers = lockHeaders(options.lock, body);
      await ask({ method: 'PUT', key, headers, body, timeoutMs: PART_MS, signal: options.signal });
      options.onProgress?.(size);
    }
    await makeSure(ask, key, size, options.lock);
  } finally {
    await file.close();
  }
}

/** Uploads a file in parts; if one fails, the store is told to discard them. */
async function uploadParts(
  ask: Ask,
  key: string,
  { file, size }: { readonly file: FileHandle; readonly size: number },
  { lock, signal, onProgress }: PutFileOptions,
): Promise<void> {
  const started = await ask({
    method: 'POST',
    key,
    query: { uploads: '' },
    headers: lockHeaders(lock, null),
    signal,
  });
  const uploadId = elementText(started.bytes.toString('utf8'), 'UploadId');
  if (uploadId === null) throw new BucketError('the storage did not start the multipart upload', started.status, null);
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
    await ask({
      method: 'POST',
      key,
      query: { uploadId },
      body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      timeoutMs: PART_MS,
      signal,
    });
  } catch (error) {
    await ask({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** Every part is of the version that was current at the beginning. */
async function downloadParts(
  ask: Ask,
  key: string,
  path: string,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  const { bytes: size, version } = await headOf(ask, key);
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
      if (bytes.length !== end - at + 1) throw new BucketError('the object has changed in length', 206, null);
      await file.write(bytes);
      onProgress?.(end + 1, size);
    }
  } finally {
    await file.close();
  }
}

/** One page of a listing (ListObjectVersions), and where the next one begins. Names are percent-encoded (encoding-type=url). */
export function readVersions(xml: string): {
  readonly versions: readonly ObjectVersion[];
  readonly next: Readonly<Record<'key-marker' | 'version-id-marker', string>> | null;
} {
  const versions: ObjectVersion[] = [];
  for (const { 0: begin, 1: name = '', index } of xml.matchAll(/<(Version|DeleteMarker)>/g)) {
    const end = xml.indexOf(`</${name}>`, index + begin.length);
    if (end < 0) break;
    const one = xml.slice(index, end);
    const key = decoded(elementText(one, 'Key') ?? '');
    const modified = new Date(elementText(one, 'LastModified') ?? '');
    if (key === null || key === '' || Number.isNaN(modified.getTime())) continue;
    const isMarker = name === 'DeleteMarker';
    const bytes = Number(elementText(one, 'Size') ?? 0);
    versions.push({ key, version: elementText(one, 'VersionId') ?? 'null', bytes, modified, isMarker });
  }
  const nextKey = decoded(elementText(xml, 'NextKeyMarker') ?? '');
  const isTruncated = elementText(xml, 'IsTruncated') === 'true' && nextKey !== null && nextKey !== '';
  const next = { 'key-marker': nextKey ?? '', 'version-id-marker': elementText(xml, 'NextVersionIdMarker') ?? '' };
  return { versions, next: isTruncated ? next : null };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Maximum bytes of a checkpoint. */
const NOTE_BYTES = 256 * 1024;

/** Copies of checkpoints in a bucket. Every version of a name counts: a hidden or overwritten one is still what was signed. */
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
