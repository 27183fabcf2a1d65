import { createHash } from 'node:crypto';
import pRetry from 'p-retry';
import { OutsideError } from '../core/errors.ts';
import { exchange, type HttpAnswer, longest } from '../service/outgoing-http.ts';

/** How to reach the object storage (docs/configuration.md). */
export interface ObjectStorage {
  /** Null: the AWS endpoint of the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Put the bucket in the path instead of the host name; null: in the path everywhere except AWS. */
  readonly pathStyle: boolean | null;
  /** Null: none are configured, so every request fails. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | null;
  } | null;
}

/** The storage refused or did not answer. The message is a sentence without a full stop and contains no secret. */
export class BucketError extends OutsideError {
  override readonly name = 'BucketError';
  /** The error code of S3 (NoSuchBucket, AccessDenied, …); null if the response has none. */
  readonly code: string | null;
  readonly status: number | null;
  constructor(message: string, status: number | null, code: string | null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

const REQUEST_MS = 20_000;
const SMALL_BYTES = 64 * 1024;

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** A request to the bucket, or to one object in it. */
interface S3Request {
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

type S3Answer = HttpAnswer & { readonly bytes: Buffer };

/**
 * Sends a request, signed (AWS Signature Version 4) with the hash of its content, so that the store refuses content
 * that was altered in transit. It is limited in time and size, and tried three times if the store is down or busy.
 * Rejects with {@link BucketError}.
 */
export type Ask = (request: S3Request) => Promise<S3Answer>;

/** Creates the function that sends requests to a bucket. */
export function createAsk(storage: ObjectStorage, bucket: string): Ask {
  return ({ signal, ...asked }) =>
    pRetry(() => attempt(storage, bucket, { signal, ...asked }), {
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

async function attempt(storage: ObjectStorage, bucket: string, asked: S3Request): Promise<S3Answer> {
  const { method, key = '', query = {}, headers = {}, body, signal } = asked;
  if (storage.credentials === null)
    throw new BucketError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set', 0, null);
  // Imported here because most commands send nothing.
  const { AwsV4Signer } = await import('aws4fetch');
  const { accessKeyId, secretAccessKey, sessionToken } = storage.credentials;
  const signed = await new AwsV4Signer({
    method,
    url: objectUrl(storage, bucket, key, query),
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
      // From the operator’s settings.
      destinations: 'anywhere',
      method,
      headers: { ...Object.fromEntries(signed.headers), 'accept-encoding': 'identity' },
      body,
      timeoutMs: asked.timeoutMs ?? REQUEST_MS,
      // A response to HEAD announces the length of a body that it does not send.
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
    throw new BucketError(
      `the response from ${hostOf(storage)} cannot be accepted: ${fault?.detail ?? ''}`,
      again,
      null,
    );
  }
  const content = bytes ?? Buffer.alloc(0);
  const isDone = status >= 200 && status < 300;
  // Completing a multipart upload is answered with 200 before the parts are joined; the body then says whether that
  // failed.
  if (!isDone || (method === 'POST' && content.includes('<Error>')))
    throw refusal(status, content.toString('utf8'), bucket);
  return { ...answer, bytes: content };
}

function baseOf({ endpoint, region }: ObjectStorage): URL {
  return new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
}

/** Host and port of the store, for messages. */
function hostOf(storage: ObjectStorage): string {
  return baseOf(storage).host;
}

/** The URL of a request, with the bucket in the path or, for AWS, in the host name. */
export function objectUrl(
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
  // The signature is computed with %20 for spaces.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

const remedies: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  InvalidAccessKeyId: 'the storage does not know AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID',
  RequestTimeTooSkewed: 'the clocks of this machine and of the storage differ by more than 15 minutes',
  AuthorizationHeaderMalformed: 'AWS_REGION is not the region of the bucket',
  PermanentRedirect: 'AWS_REGION or AWS_ENDPOINT_URL_S3 is not that of the bucket',
  AccessDenied: 'these credentials may not do this, or the object is locked',
  NoSuchKey: 'the object does not exist',
};

/** The error for a refusal by the store. */
function refusal(status: number, text: string, bucket: string): BucketError {
  const code = /^\w{1,64}$/.exec(elementText(text, 'Code') ?? '')?.[0] ?? null;
  const words = remedies[code ?? (status === 404 ? 'NoSuchKey' : status === 403 ? 'AccessDenied' : '')];
  const message = `bucket ${bucket}: HTTP ${status}${code === null ? '' : ` ${code}`}${words === undefined ? '' : `, ${words}`}`;
  return new BucketError(message, status, code);
}

/**
 * The text of the first element with this name; null if there is none. None of the elements read here occurs twice in
 * an S3 response.
 */
export function elementText(xml: string, name: string): string | null {
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

/** Escapes text for an XML body. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
