import type { KeyObject } from 'node:crypto';
import { actionSchema } from '../core/action.ts';
import { originOf, parseTreeHead, readCheckpoint } from '../core/checkpoint.ts';
import { erasedSeqs } from '../core/erasure.ts';
import type { InstanceKeys } from '../core/keys.ts';
import { EMPTY_FRONTIER, type Frontier, growFrontier, rootOf } from '../core/merkle.ts';
import type { Store } from '../store/store.ts';
import { diagnoseEntry, type Fault } from './entry-fault.ts';
import { stateOfEvidenceFile } from './evidence-files.ts';
import type { Journal } from './journal.ts';
import { entryFromRow, readEntryPages } from './read-entries.ts';

/** What a verification found. Sound when `faults` is empty. */
export interface Verification {
  readonly entries: number;
  readonly erased: number;
  readonly bytes: number;
  readonly sources: number;
  readonly checkpoints: number;
  /** Entries after the last checkpoint: protected by their MACs, not yet by a signature. */
  readonly unsealed: number;
  /** Notes of the journal whose writing was cut off. They were never published, and are no fault. */
  readonly unfinishedNotes: number;
  /** Files of evidence that entries commit to. */
  readonly files: number;
  readonly root: string;
  readonly faults: readonly Fault[];
  /** Faults beyond the first thousand, which are not listed. */
  readonly moreFaults: number;
}

export interface VerifyOptions {
  readonly store: Store;
  readonly journal: Journal;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  readonly publicKey: KeyObject;
  readonly instance: string;
  readonly epoch: number;
  /** DATA_DIR/evidence: the files that entries commit to. */
  readonly evidenceFolder: string;
  readonly onProgress?: (done: number, total: number) => void;
}

const FAULTS_LISTED = 1000;

const fileSentences = {
  missing: 'the file of evidence that it commits to is not in DATA_DIR/evidence',
  altered: 'the file of evidence in DATA_DIR/evidence is not the one that it commits to',
} as const;

/**
 * Reads the whole ledger: every entry against its own hashes, its MAC and its neighbours; every checkpoint's signature and root; the
 * journal against the database; every file of evidence against the entry that commits to it. Memory does not grow with the ledger.
 */
export async function verifyLedger(options: VerifyOptions): Promise<Verification> {
  const { store, keys, publicKey } = options;
  const faults: Fault[] = [];
  let moreFaults = 0;
  const report = (fault: Fault) => {
    if (faults.length < FAULTS_LISTED) faults.push(fault);
    else moreFaults += 1;
  };

  let unfinishedNotes = 0;
  const wantedRoots = await collectHeads(options, report);
  const sizes = [...wantedRoots.keys()].sort((a, b) => a - b);
  const { highest, total } = await store.read
    .selectFrom('entries')
    .select((eb) => [eb.fn.max('seq').as('highest'), eb.fn.countAll().as('total')])
    .executeTakeFirstOrThrow()
    .then((row) => ({ highest: Number(row.highest ?? 0), total: Number(row.total) }));

  const sourceSeq = new Map<string, number>();
  let frontier: Frontier = EMPTY_FRONTIER;
  let expected = 1;
  const erased = new Set<number>();
  const recorded = new Set<number>();
  const files = new Map<string, number[]>();
  let bytes = 0;
  let nextSize = 0;
  let whole = true; // no entry is missing so far, so roots mean something
  let done = 0;
  for await (const page of readEntryPages(store.read, Number.MIN_SAFE_INTEGER, highest)) {
    for (const entry of page) {
      if (entry.seq < 1) {
        report({
          seq: entry.seq,
          fault: 'foreign-entry',
          sentence: 'entries are numbered from 1: this program did not write it',
        });
        continue;
      }
      if (entry.seq !== expected) {
        report(missing(expected, entry.seq - 1));
        whole = false;
      }
      const fault = diagnoseEntry(entry, keys);
      if (fault) report(fault);
      const lastOfSource = sourceSeq.get(entry.source) ?? 0;
      if (entry.sourceSeq !== lastOfSource + 1) {
        report({
          seq: entry.seq,
          fault: 'source-gap',
          sentence: `it is number ${entry.sourceSeq} of source ${entry.source}, where ${lastOfSource + 1} was due`,
        });
      }
      sourceSeq.set(entry.source, entry.sourceSeq);
      frontier = growFrontier(frontier, [Buffer.isBuffer(entry.leafHash) ? entry.leafHash : Buffer.alloc(0)]);
      if (entry.body === null) erased.add(entry.seq);
      if (entry.kind === 'action') collectFile(files, entry);
      if (entry.kind === 'erasure') for (const seq of erasedSeqs(entry.body)) recorded.add(seq);
      bytes += (entry.body?.length ?? 0) + (entry.meta?.length ?? 0);
      expected = entry.seq + 1;
      for (let size = sizes[nextSize]; size !== undefined && size <= entry.seq; size = sizes[++nextSize]) {
        if (whole && size === entry.seq) compareRoots(size, rootOf(frontier), wantedRoots.get(size) ?? [], report);
      }
    }
    done += page.length;
    options.onProgress?.(done, total);
  }
  if (done < total) {
    report({
      seq: null,
      fault: 'foreign-entry',
      sentence: `${total - done} entries have numbers that no entry can have`,
    });
  }
  const sealed = sizes.at(-1) ?? 0;
  if (sealed > highest) {
    report({
      seq: highest + 1,
      fault: 'truncated',
      sentence: `the ledger ends at ${highest}, but a checkpoint was signed over ${sealed} entries: ${sealed - highest} are gone from its end`,
    });
  } else if (!whole && sealed > 0) {
    report({
      seq: null,
      fault: 'root-mismatch',
      sentence: 'with entries missing, the roots of the checkpoints cannot be reproduced',
    });
  }
  if ([...erased].some((seq) => !recorded.has(seq))) await collectLaterErasures();
  for (const seq of erased) {
    if (recorded.has(seq)) continue;
    report({
      seq,
      fault: 'erased-without-record',
      sentence: 'its content is gone, and no erasure is recorded that took it',
    });
  }
  for (const [sha256, seqs] of files) {
    const state = await stateOfEvidenceFile(options.evidenceFolder, sha256);
    for (const seq of seqs)
      if (state !== 'sound') report({ seq, fault: `file-${state}`, sentence: fileSentences[state] });
  }
  faults.sort((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity));
  return {
    entries: total,
    erased: erased.size,
    bytes,
    sources: sourceSeq.size,
    checkpoints: sizes.length,
    unsealed: Math.max(0, highest - sealed),
    unfinishedNotes,
    files: files.size,
    root: rootOf(frontier).toString('hex'),
    faults,
    moreFaults,
  };

  function missing(from: number, to: number): Fault {
    const sentence = from === to ? 'the entry is missing' : `the entries ${from} to ${to} are missing`;
    return { seq: from, fault: 'missing', sentence };
  }

  /** Of what was erased while the entries were read, the record came after the end that was read to. */
  async function collectLaterErasures(): Promise<void> {
    const rows = await store.read
      .selectFrom('entries')
      .selectAll()
      .where('seq', '>', highest)
      .where('kind', '=', 'erasure')
      .execute();
    for (const entry of rows.map(entryFromRow)) {
      if (diagnoseEntry(entry, keys) === null) for (const seq of erasedSeqs(entry.body)) recorded.add(seq);
    }
  }

  /** Roots that signed notes of database and journal give for each size. */
  async function collectHeads(
    { journal, instance, epoch }: VerifyOptions,
    reportFault: (fault: Fault) => void,
  ): Promise<Map<number, { root: Buffer; where: string }[]>> {
    const heads = new Map<number, { root: Buffer; where: string }[]>();
    const origin = originOf(instance, epoch);
    const journalled = new Set<string>();
    const add = (note: string, where: string, fault: 'checkpoint-invalid' | 'journal-invalid') => {
      const reading = readCheckpoint(note, publicKey);
      if (reading.outcome !== 'valid') {
        const size = parseTreeHead(note)?.size;
        reportFault({ seq: size ?? null, fault, sentence: `${where}: ${reading.reason}` });
        return;
      }
      const { size, root } = reading.head;
      if (reading.head.origin !== origin) {
        // Only this installation's signing key makes such a note: the name or the epoch in the database was changed, or the journal is another's.
        const sentence = `${where}: it is signed for ${JSON.stringify(reading.head.origin)}, but this ledger is ${JSON.stringify(origin)}`;
        reportFault({ seq: size, fault, sentence });
        return;
      }
      heads.set(size, [...(heads.get(size) ?? []), { root, where }]);
    };
    // The database first: a note is in the journal before it is in the database, so one that is sealed meanwhile is found in both.
    const stored: { size: number; note: string }[] = [];
    let after = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const rows = await store.read
        .selectFrom('checkpoints')
        .select(['size', 'root', 'note'])
        .where('epoch', '=', epoch)
        .where('size', '>', after)
        .orderBy('size')
        .limit(1000)
        .execute();
      for (const { size, root, note } of rows) {
        if (!Number.isSafeInteger(size) || size < 1 || typeof note !== 'string' || !Buffer.isBuffer(root)) {
          reportFault({
            seq: null,
            fault: 'checkpoint-invalid',
            sentence: `there is a checkpoint at ${size}, which no checkpoint can be`,
          });
          continue;
        }
        stored.push({ size, note });
        add(note, `the checkpoint at ${size}`, 'checkpoint-invalid');
        const head = parseTreeHead(note);
        if (head && (head.size !== size || !head.root.equals(root))) {
          reportFault({
            seq: size,
            fault: 'checkpoint-invalid',
            sentence: `the checkpoint at ${size} does not say what its note says`,
          });
        }
      }
      const final = rows.at(-1);
      if (final === undefined || !(final.size > after)) break;
      after = final.size;
    }
    for await (const { file, note, unfinished } of journal.read()) {
      if (unfinished) {
        unfinishedNotes += 1;
        continue;
      }
      journalled.add(note);
      add(note, `the journal (${file})`, 'journal-invalid');
    }
    for (const { size, note } of stored) {
      if (journalled.has(note)) continue;
      reportFault({ seq: size, fault: 'not-in-journal', sentence: `the checkpoint at ${size} is not in the journal` });
    }
    return heads;
  }
}

function compareRoots(
  size: number,
  root: Buffer,
  wanted: readonly { root: Buffer; where: string }[],
  report: (fault: Fault) => void,
): void {
  for (const one of wanted) {
    if (!one.root.equals(root)) {
      report({
        seq: size,
        fault: 'root-mismatch',
        sentence: `the first ${size} entries do not give the root that ${one.where} was signed for`,
      });
    }
  }
}

/** Notes the file that an entry commits to. */
function collectFile(
  files: Map<string, number[]>,
  { seq, body }: { readonly seq: number; readonly body: Buffer | null },
): void {
  if (!Buffer.isBuffer(body) || !body.includes('"banner.evidence-added"')) return;
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return;
  }
  const { data } = actionSchema.safeParse(value);
  if (data?.action !== 'banner.evidence-added') return;
  const seqs = files.get(data.sha256);
  if (seqs === undefined) files.set(data.sha256, [seq]);
  else seqs.push(seq);
}
