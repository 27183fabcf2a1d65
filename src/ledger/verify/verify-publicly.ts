import type { KeyObject } from 'node:crypto';
import { parseTreeHead, readCheckpoint, type TreeHead } from '../../crypto/checkpoint.ts';
import { type Entry, erasedSeqs, findEntryFault } from '../../crypto/entry.ts';
import { sha256 } from '../../crypto/hash.ts';
import { EMPTY_FRONTIER, type Frontier, growFrontier, rootOf } from '../../crypto/merkle.ts';
import type { Query } from '../../store/store.ts';
import { whyAhead } from '../cosignature.ts';
import { type Epoch, epochOf, FIRST_EPOCH, parseOrigin, placeOf, restoredIn } from '../epochs.ts';
import { readEntryPages } from '../read-entries.ts';
import { imprintOf, readTimestamp } from '../timestamp.ts';
import { createTimeline } from './check-times.ts';
import type { Misdated } from './check-types.ts';
import { createFaultList, type Fault, hasLeafTypes, notErased } from './entry-fault.ts';

/** A signed note that left the installation, and where it was found. */
export interface OutsideNote {
  readonly where: string;
  readonly note: string;
}

export interface PublicVerifyOptions {
  readonly read: Query;
  /** The log's name and key (crypto/checkpoint.ts, parseVerifierKey). */
  readonly key: { readonly name: string; readonly publicKey: KeyObject };
  readonly outside: readonly OutsideNote[];
  /** Tokens of timestamping authorities over some of the notes, and the trusted certificates (DER). */
  readonly timestamps?: {
    readonly tokens: readonly { readonly where: string; readonly bytes: Buffer }[];
    readonly roots: readonly Buffer[];
  };
  readonly now: Date;
  readonly onProgress?: (done: number, total: number) => void;
}

/** The result of a verification without secrets. Sound if `faults` is empty. */
export interface PublicVerification {
  readonly entries: number;
  readonly erased: number;
  /** Checkpoints in the database that are signed with the key. */
  readonly checkpoints: number;
  /** Checkpoints from outside whose root the entries give. */
  readonly confirmed: readonly { readonly where: string; readonly size: number }[];
  /** Valid tokens over a checkpoint from outside, with the signed time. */
  readonly stamped: readonly { readonly where: string; readonly size: number; readonly at: string }[];
  /** Entries that are older than a token before them, and tokens that are older than an entry that they cover. */
  readonly misdated: readonly Misdated[];
  /** Where backups were restored: the first entry of each later epoch. */
  readonly restored: readonly { readonly epoch: number; readonly first: number }[];
  /** Entries after the last signed checkpoint: without the instance key it is unknown who wrote them. */
  readonly unsealed: number;
  readonly root: string;
  readonly faults: readonly Fault[];
  readonly moreFaults: number;
}

interface Signed {
  readonly where: string;
  readonly head: TreeHead;
  readonly isOutside: boolean;
}

/**
 * Reads a whole ledger once and checks everything that needs no secret: numbering, commitments, leaf hashes,
 * signatures, and that the entries give the root of each checkpoint, especially of those handed out earlier. A
 * rewritten or shortened ledger does not.
 */
export async function verifyPublicly(options: PublicVerifyOptions): Promise<PublicVerification> {
  const { read, key, onProgress } = options;
  const { report, listed } = createFaultList();
  const signed = await readSigned(options, report);
  const { highest, total } = await extentOf(read);
  const walk = createWalk(report);
  const roots = createRootCheck(signed, parseOrigin(key.name)?.instance ?? '', walk.epochs, report);
  const timeline = createTimeline(options.outside.flatMap(({ note }) => parseTreeHead(note)?.size ?? []));
  let done = 0;
  for await (const page of readEntryPages(read, 0, highest)) {
    for (const entry of page) {
      walk.entry(entry);
      roots.entry(entry);
      timeline.entry(entry.seq, String(entry.receivedAt));
    }
    done += page.length;
    onProgress?.(done, total);
  }
  if (done < total) {
    const sentence = `${total - done} entries have impossible numbers`;
    report({ seq: null, fault: 'foreign-entry', sentence });
  }
  const { confirmed, sealed, root } = roots.end(highest);
  const stamped = await checkTimestamps(options, report);
  const erased = walk.erased();
  return {
    entries: total,
    erased,
    checkpoints: signed.filter(({ isOutside }) => !isOutside).length,
    confirmed,
    stamped,
    misdated: timeline.misdated(stamped.map((one) => ({ ...one, what: `the time stamp ${one.where}` }))),
    unsealed: Math.max(0, highest - sealed),
    restored: walk
      .epochs()
      .slice(1)
      .map(({ epoch, first }) => ({ epoch, first })),
    root,
    ...listed(),
  };
}

/** Checks that the entries, taken in order, give the root of each checkpoint. */
function createRootCheck(
  signed: readonly Signed[],
  instance: string,
  epochs: () => readonly Epoch[],
  report: (fault: Fault) => void,
) {
  const bySize = new Map<number, Signed[]>();
  for (const one of signed) bySize.set(one.head.size, [...(bySize.get(one.head.size) ?? []), one]);
  const confirmed: { where: string; size: number }[] = [];
  let frontier: Frontier = EMPTY_FRONTIER;
  let sealed = 0;
  /** Whether the checkpoint belongs to an epoch of this ledger; otherwise reports why not. */
  const isPlaced = ({ where, head }: Signed): boolean => {
    const place = placeOf(epochs(), instance, head);
    if (place.outcome === 'placed') return true;
    report(faultOfPlace(place, where, head));
    return false;
  };
  return {
    entry({ seq, leafHash }: Entry): void {
      // After a missing entry no root can be computed any more.
      if (frontier.size !== seq - 1) return;
      frontier = growFrontier(frontier, [Buffer.isBuffer(leafHash) ? leafHash : Buffer.alloc(0)]);
      const { size } = frontier;
      const ending = bySize.get(size);
      if (ending === undefined) return;
      const root = rootOf(frontier);
      for (const { where, head, isOutside } of ending.filter(isPlaced)) {
        sealed = size;
        if (!head.root.equals(root))
          report({ seq: size, fault: 'root-mismatch', sentence: mismatch(size, where, isOutside) });
        else if (isOutside) confirmed.push({ where, size });
      }
    },
    /** Reports the checkpoints that the entries up to `highest` did not reach. */
    end(highest: number) {
      for (const { where, head } of signed.filter((one) => one.head.size > highest && isPlaced(one))) {
        const sentence = `the ledger ends at ${highest}, but ${where} was signed over ${head.size} entries: ${head.size - highest} are gone from its end`;
        report({ seq: highest + 1, fault: 'truncated', sentence });
      }
      if (signed.some(({ head }) => head.size > frontier.size && head.size <= highest)) {
        const sentence = 'with entries missing, the roots of the checkpoints cannot be reproduced';
        report({ seq: null, fault: 'root-mismatch', sentence });
      }
      return { confirmed, sealed, root: rootOf(frontier).toString('hex') };
    },
  };
}

/** A token covers the bytes of the note as sealed; cosignatures came later. */
async function checkTimestamps(
  { outside, timestamps, key, now }: PublicVerifyOptions,
  report: (fault: Fault) => void,
): Promise<PublicVerification['stamped']> {
  const stamped: { where: string; size: number; at: string }[] = [];
  const notes = outside.flatMap(({ note }) => [note, withoutCosignatures(note, key.name)]);
  for (const { where, bytes } of timestamps?.tokens ?? []) {
    const imprint = await imprintOf(bytes);
    const note = notes.find((one) => imprint !== null && sha256(Buffer.from(one)).equals(imprint));
    const read = note === undefined ? null : await readTimestamp(bytes, Buffer.from(note), timestamps?.roots ?? []);
    const ahead = read?.outcome === 'valid' ? whyAhead(read.at, now) : null;
    if (note !== undefined && read?.outcome === 'valid' && ahead === null)
      stamped.push({ where, size: parseTreeHead(note)?.size ?? 0, at: read.at });
    else if (ahead !== null)
      report({ seq: null, fault: 'witness-invalid', sentence: `${where} does not count: ${ahead}` });
    else
      report({
        seq: null,
        fault: 'witness-invalid',
        sentence: `${where}: ${read?.outcome === 'invalid' ? read.reason : imprint === null ? 'it is not a response from a time-stamping authority' : 'it covers none of the given checkpoints'}`,
      });
  }
  return stamped;
}

function withoutCosignatures(note: string, name: string): string {
  const end = note.indexOf('\n\n') + 2;
  const own = note
    .slice(end)
    .split('\n')
    .find((line) => line.startsWith(`— ${name} `));
  return own === undefined ? note : `${note.slice(0, end)}${own}\n`;
}

/**
 * The fault of a checkpoint that covers more of an earlier epoch than was restored when the next began, or whose epoch
 * begins with no entry.
 */
function faultOfPlace(
  place: Exclude<ReturnType<typeof placeOf>, { outcome: 'placed' }>,
  where: string,
  head: TreeHead,
): Fault {
  if (place.outcome === 'misplaced')
    return { seq: head.size, fault: 'checkpoint-invalid', sentence: `${where}: ${place.reason}` };
  const { epoch, first } = place.by;
  const sentence = `${where} was signed over ${head.size} entries, but an older backup was restored and epoch ${epoch} began with entry ${first}: ${head.size - first + 1} earlier entries are gone`;
  return { seq: first, fault: 'truncated', sentence };
}

function mismatch(size: number, where: string, isOutside: boolean): string {
  const said = `the first ${size} entries do not give the root that ${where} was signed for`;
  return isOutside ? `${said}: they were rewritten after it was handed out` : said;
}

/** The checkpoints in the database and from outside that are signed with the key. */
async function readSigned(
  { read, key, outside }: PublicVerifyOptions,
  report: (fault: Fault) => void,
): Promise<readonly Signed[]> {
  const signed: Signed[] = [];
  const judge = (note: string, where: string, isOutside: boolean): TreeHead | null => {
    const reading = readCheckpoint(note, key.publicKey);
    const problem =
      reading.outcome !== 'valid'
        ? reading.outcome === 'other-key'
          ? 'it is not signed with this key'
          : reading.reason
        : parseOrigin(reading.head.origin)?.instance === parseOrigin(key.name)?.instance
          ? null
          : `it is signed for ${JSON.stringify(reading.head.origin)}, but the key is of ${JSON.stringify(key.name)}`;
    if (reading.outcome === 'valid' && problem === null) {
      signed.push({ where, head: reading.head, isOutside });
      return reading.head;
    }
    report({
      seq: parseTreeHead(note)?.size ?? null,
      fault: 'checkpoint-invalid',
      sentence: `${where}: ${problem ?? ''}`,
    });
    return null;
  };
  for (const { where, note } of outside) judge(note, where, true);
  for await (const { size, root, note } of checkpointRows(read)) {
    const where = `the checkpoint at ${size}`;
    const head = judge(String(note), where, false);
    if (head !== null && (head.size !== size || !Buffer.isBuffer(root) || !head.root.equals(root)))
      report({ seq: size, fault: 'checkpoint-invalid', sentence: `${where} does not match its note` });
  }
  return signed;
}

async function* checkpointRows(read: Query) {
  const epochs = await read.selectFrom('checkpoints').select('epoch').distinct().orderBy('epoch').execute();
  for (const { epoch } of epochs) {
    for (let after = Number.MIN_SAFE_INTEGER; ; ) {
      const rows = await read
        .selectFrom('checkpoints')
        .select(['epoch', 'size', 'root', 'note'])
        .where('epoch', '=', epoch)
        .where('size', '>', after)
        .orderBy('size')
        .limit(1000)
        .execute();
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || !(last.size > after)) break;
      after = last.size;
    }
  }
}

async function extentOf(read: Query): Promise<{ highest: number; total: number }> {
  const { highest, total } = await read
    .selectFrom('entries')
    .select((eb) => [eb.fn.max('seq').as('highest'), eb.fn.countAll().as('total')])
    .executeTakeFirstOrThrow();
  return { highest: Number(highest ?? 0), total: Number(total) };
}

const sentences = {
  content: ['content-edited', 'its body, meta or salt is not what was appended'],
  leaf: ['identity-edited', 'its number, time, source, kind or key is not what was appended'],
  kind: ['foreign-entry', 'its kind is unknown'],
  'partial-erasure': ['partial-erasure', 'meta, body or salt is gone without an erasure of all three'],
} as const;

/** Checks each entry on its own, and the numbering. */
function createWalk(report: (fault: Fault) => void) {
  let due = 1;
  const lastOf = new Map<string, number>();
  const erased = new Set<number>();
  const recorded = new Map<number, number>();
  const epochs: Epoch[] = [FIRST_EPOCH];
  return {
    /** The epochs that have begun so far. */
    epochs: (): readonly Epoch[] => epochs,
    entry(entry: Entry): void {
      const { seq, source, sourceSeq } = entry;
      const begun = entry.kind === 'action' && Buffer.isBuffer(entry.body) ? restoredIn(entry.body) : null;
      if (begun !== null && begun.epoch > (epochs.at(-1) ?? FIRST_EPOCH).epoch) epochs.push(epochOf(seq, begun));
      if (seq !== due)
        report({ seq: due, fault: 'missing', sentence: `the entries from ${due} to ${seq - 1} are missing` });
      due = seq + 1;
      const dueInSource = (lastOf.get(source) ?? 0) + 1;
      if (sourceSeq !== dueInSource)
        report({
          seq,
          fault: 'source-gap',
          sentence: `it is number ${sourceSeq} of source ${source} instead of ${dueInSource}`,
        });
      lastOf.set(source, sourceSeq);
      const fault = faultOf(entry);
      if (fault !== null) report(fault);
      if (entry.body === null) erased.add(seq);
      if (entry.kind === 'erasure') for (const one of erasedSeqs(entry.body)) recorded.set(one, seq);
    },
    erased(): number {
      for (const seq of erased)
        if (!recorded.has(seq))
          report({
            seq,
            fault: 'erased-without-record',
            sentence: 'its content is gone, but no erasure of it is recorded',
          });
      for (const [seq, by] of recorded) if (!erased.has(seq)) report(notErased(seq, by));
      return erased.size;
    },
  };
}

function faultOf(entry: Entry): Fault | null {
  const { seq } = entry;
  const content = [entry.meta, entry.body, entry.salt];
  if (!hasLeafTypes(entry) || !content.every((value) => value === null || Buffer.isBuffer(value)))
    return { seq, fault: 'identity-edited', sentence: 'its columns are not of the types that were appended' };
  const found = findEntryFault(entry, null);
  if (found === null || found === 'mac') return null;
  const [fault, sentence] = sentences[found];
  return { seq, fault, sentence };
}
