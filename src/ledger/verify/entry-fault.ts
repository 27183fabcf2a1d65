import { entryKinds } from '../../core/vocabulary.ts';
import { type Entry, findEntryFault, leafHashOf } from '../../crypto/entry.ts';
import { equalBytes } from '../../crypto/hash.ts';
import { dedupeKeyOf, type InstanceKeys } from '../../crypto/keys.ts';

/** One fault of the ledger: place, kind and description. `seq` is null if it concerns no single entry. */
export interface Fault {
  readonly seq: number | null;
  readonly fault:
    | 'body-edited'
    | 'content-edited'
    | 'meta-edited'
    | 'key-edited'
    | 'kind-edited'
    | 'place-edited'
    | 'identity-edited'
    | 'foreign-entry'
    | 'partial-erasure'
    | 'erased-without-record'
    | 'erased-but-there'
    | 'missing'
    | 'file-missing'
    | 'file-altered'
    | 'source-gap'
    | 'root-mismatch'
    | 'truncated'
    | 'checkpoint-invalid'
    | 'journal-invalid'
    | 'witness-invalid'
    | 'not-in-journal'
    | 'identity-altered'
    | 'position-altered'
    | 'schema-altered'
    | 'source-altered'
    | 'access-altered'
    | 'refused-altered';
  readonly sentence: string;
}

const FAULTS_LISTED = 1000;

/** Keeps the first thousand faults and counts the rest. */
export function createFaultList() {
  const faults: Fault[] = [];
  let moreFaults = 0;
  return {
    report(fault: Fault): void {
      if (faults.length < FAULTS_LISTED) faults.push(fault);
      else moreFaults += 1;
    },
    /** Ordered by seq; faults that concern no single entry come last. */
    listed: () => ({ faults: faults.sort((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity)), moreFaults }),
  };
}

/** Someone restored the content, or the erasure was written by someone who did not erase it. */
export function notErased(seq: number, by: number): Fault {
  return { seq, fault: 'erased-but-there', sentence: `entry ${by} says that it was erased, but its content is there` };
}

/**
 * Whether the values that form the leaf have the types they were written with: SQLite accepts any type in any column.
 */
export function hasLeafTypes(
  entry: Pick<Entry, 'source' | 'kind' | 'receivedAt' | 'dedupeKey' | 'commitment' | 'leafHash' | 'mac'>,
): boolean {
  return (
    [entry.source, entry.kind, entry.receivedAt].every((value) => typeof value === 'string') &&
    [entry.dedupeKey, entry.commitment, entry.leafHash, entry.mac].every((value) => Buffer.isBuffer(value))
  );
}

/** Determines what is wrong with one entry, as exactly as its hashes allow. */
export function diagnoseEntry(entry: Entry, keys: Pick<InstanceKeys, 'append' | 'dedupe'>): Fault | null {
  const { seq } = entry;
  const { meta, body, salt } = entry;
  if (![meta, body, salt].every((value) => value === null || Buffer.isBuffer(value))) {
    return { seq, fault: 'content-edited', sentence: 'its body, meta or salt is not of the type that was appended' };
  }
  if (!hasLeafTypes(entry)) {
    return {
      seq,
      fault: 'identity-edited',
      sentence: 'its time, source, key or hashes are not of the type that was appended',
    };
  }
  const fault = findEntryFault(entry, keys.append);
  switch (fault) {
    case null:
      return null;
    case 'content':
      return contentFault(entry, keys);
    case 'leaf':
      return leafFault(entry, keys);
    case 'mac':
      return {
        seq,
        fault: 'foreign-entry',
        sentence: 'its hashes are consistent, but it was not written with the instance key',
      };
    case 'kind':
      return { seq, fault: 'foreign-entry', sentence: `its kind ${JSON.stringify(entry.kind)} is unknown` };
    case 'partial-erasure':
      return { seq, fault: 'partial-erasure', sentence: 'meta, body or salt is gone without an erasure of all three' };
    default:
      return fault satisfies never;
  }
}

// The key of a webhook entry is an HMAC of its body, so it distinguishes an edited body from an edited meta.
function contentFault(entry: Entry, keys: Pick<InstanceKeys, 'dedupe'>): Fault {
  const { seq } = entry;
  if (entry.kind !== 'webhook' || entry.body === null) {
    return { seq, fault: 'content-edited', sentence: 'its body, meta or salt is not what was appended' };
  }
  return equalBytes(dedupeKeyOf(keys.dedupe, entry.body), entry.dedupeKey)
    ? { seq, fault: 'meta-edited', sentence: 'its meta (or salt) is not what was appended; the body is' }
    : { seq, fault: 'body-edited', sentence: 'its body is not what was appended' };
}

function leafFault(entry: Entry, keys: Pick<InstanceKeys, 'dedupe'>): Fault {
  const { seq } = entry;
  const fits = (changed: Partial<Entry>) => equalBytes(leafHashOf({ ...entry, ...changed }), entry.leafHash);
  if (entry.kind === 'webhook' && entry.body !== null) {
    const dedupeKey = dedupeKeyOf(keys.dedupe, entry.body);
    if (fits({ dedupeKey }))
      return { seq, fault: 'key-edited', sentence: 'its deduplication key is not what was appended' };
  }
  for (const kind of entryKinds) {
    if (fits({ kind }))
      return {
        seq,
        fault: 'kind-edited',
        sentence: `its kind was ${kind} when it was appended, and is ${JSON.stringify(entry.kind)} now`,
      };
  }
  for (let distance = 1; distance <= 1000; distance += 1) {
    for (const was of [seq - distance, seq + distance]) {
      if (fits({ seq: was }) || fits({ seq: was, sourceSeq: entry.sourceSeq + (was - seq) })) {
        return { seq, fault: 'place-edited', sentence: `it was appended as entry ${was} but is now entry ${seq}` };
      }
    }
  }
  return { seq, fault: 'identity-edited', sentence: 'its time, source, key or number is not what was appended' };
}
