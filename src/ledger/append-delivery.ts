import type { Verdict } from '../core/vocabulary.ts';
import type { Appended, Ledger } from './ledger.ts';

/** A delivery with a valid signature. */
export interface Delivery {
  readonly source: string;
  readonly rawBody: Buffer;
  /** Lower-case names as in node:http. Unsigned. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly secretId: string;
  readonly verdict: Verdict;
  readonly contentType: string | null;
}

const HEADER_CHARACTERS = 512;
const HEADERS_KEPT = 16;
// Headers that are recorded with the body: who sent it, and what a sender may say about the delivery itself.
const recorded =
  /^(?:user-agent|date|content-encoding|idempotency-key|webhook-(?!signature).*|x-(?!forwarded|real|.*(?:signature|auth|key|token|cookie)).*)$/;
const isRecorded = new Map<string, boolean>();

/**
 * Appends a verified delivery: exact body, and a meta of verdict, secret id, content type and recorded headers.
 * The deduplication key is the body alone: unsigned headers could be swapped.
 */
export async function appendDelivery(ledger: Ledger, delivery: Delivery, receivedAt: string): Promise<Appended> {
  const { source, rawBody } = delivery;
  const [appended] = await ledger.append([
    { source, kind: 'webhook', dedupeKey: ledger.keyOf(rawBody), receivedAt, meta: metaOf(delivery), body: rawBody },
  ]);
  if (appended === undefined) throw new Error('the ledger returned no entry');
  return appended;
}

/** Canonical JSON of the meta, written directly in the order of its keys; a test compares it with the canonical form. */
export function metaOf(delivery: Delivery): Buffer {
  const { contentType, secretId, verdict } = delivery;
  const type = contentType === null ? 'null' : JSON.stringify(contentType.slice(0, HEADER_CHARACTERS));
  return Buffer.from(
    `{"contentType":${type},"headers":${headersOf(delivery.headers)},"secretId":${JSON.stringify(secretId)},"verdict":"${verdict}"}`,
  );
}

function headersOf(headers: Delivery['headers']): string {
  const names: string[] = [];
  for (const name in headers) {
    let wanted = isRecorded.get(name);
    if (wanted === undefined) {
      wanted = recorded.test(name);
      // Header names come from outside, so the cache is bounded.
      if (isRecorded.size < 1000) isRecorded.set(name, wanted);
    }
    if (wanted && typeof headers[name] === 'string') names.push(name);
  }
  if (names.length === 0) return '{}';
  const pairs = names
    .sort()
    .slice(0, HEADERS_KEPT)
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify((headers[name] as string).slice(0, HEADER_CHARACTERS))}`);
  return `{${pairs.join(',')}}`;
}
