import { join } from 'node:path';
import { actionSchema } from '../../core/action.ts';
import { readErasure } from '../../core/erasure.ts';
import { type Entry, erasedSeqs } from '../../crypto/entry.ts';
import { dedupeKeyOf } from '../../crypto/keys.ts';
import { type Frontier, growFrontier, rootOf } from '../../crypto/merkle.ts';
import { findPositionFault, positionFaultText } from '../../store/queries/fold-position.ts';
import { readSetting, UNFINISHED_ERASURE } from '../../store/settings.ts';
import { erasureRecordName, readErasureRecord } from '../erase.ts';
import { stateOfEvidenceFile, stateOfFile } from '../evidence-files.ts';
import { FOREIGN_KEY, isPinned, stateOfKeyFile } from '../identity.ts';
import { entryFromRow } from '../read-entries.ts';
import { beginAccess } from './check-access.ts';
import { beginWitnessed } from './check-cosigned.ts';
import { beginRefused } from './check-refused.ts';
import { beginSources } from './check-sources.ts';
import { beginTimes } from './check-times.ts';
import type { Check, Checking, Run } from './check-types.ts';
import { diagnoseEntry, notErased } from './entry-fault.ts';

/** All checks of `ledger verify`. Faults at the same entry are listed in this order. */
export const checks: readonly Check[] = [
  {
    claim: 'each checkpoint of the database is signed for this ledger, and its row matches its note',
    reads: 'checkpoints',
    begin({ signed, report }) {
      for (const fault of signed.brokenRows) report(fault);
      for (const { faults } of signed.database) faults.forEach(report);
      return {};
    },
  },
  {
    claim: 'each note of the journal is signed for this ledger',
    reads: 'DATA_DIR/journal',
    begin({ signed, report }) {
      for (const { faults } of signed.journal) faults.forEach(report);
      return { counts: () => ({ unfinishedNotes: signed.unfinished }) };
    },
  },
  {
    claim: 'each checkpoint of the database is in the journal',
    reads: 'checkpoints, DATA_DIR/journal',
    begin({ signed, report }) {
      const journalled = new Set(signed.journal.map(({ note }) => note));
      for (const { note, where, size } of signed.database) {
        if (journalled.has(note)) continue;
        report({ seq: size, fault: 'not-in-journal', sentence: `${where} is not in the journal` });
      }
      return {};
    },
  },
  {
    claim: 'what witnesses signed is a checkpoint of this ledger, signed by them, and still there',
    reads: 'DATA_DIR/witnessed, folders and buckets that are witnesses, settings: witnesses',
    begin: beginWitnessed,
  },
  {
    claim: 'name, epoch and verifier key are those that were pinned',
    reads: 'settings: instance_id, epoch, identity_pin; the entries that begin epochs',
    begin({ store, keys, publicKey, signed, report }) {
      return {
        async end() {
          if (!(await isPinned(store, keys, publicKey))) {
            const sentence = 'its name or epoch in the database, or the verifier key, is not the one that was pinned';
            report({ seq: null, fault: 'identity-altered', sentence });
          }
          const { epoch, epochs } = signed;
          if (epochs.at(-1)?.epoch === epoch) return;
          const sentence = `it is in epoch ${epoch}, which no valid entry begins`;
          report({ seq: null, fault: 'identity-altered', sentence });
        },
      };
    },
  },
  {
    claim: 'the file with the verifier key has the key of this ledger',
    reads: 'DATA_DIR/log.vkey',
    begin({ keyFile, report }) {
      return {
        async end() {
          if (keyFile === null || (await stateOfKeyFile(keyFile.path, keyFile.verifierKey)) !== 'foreign') return;
          report({ seq: null, fault: 'identity-altered', sentence: FOREIGN_KEY });
        },
      };
    },
  },
  {
    claim: 'tables, columns, indexes and triggers are those that this program creates',
    reads: 'schema of the database; on SQLite also its indexes',
    begin({ store, since, report }) {
      return {
        async end() {
          if (since.size === 0)
            for (const found of await store.indexFaults('ledger'))
              report({
                seq: null,
                fault: 'schema-altered',
                sentence: `the database file is damaged, or an index was altered: ${found}. Restore a backup and check the disk`,
              });
          for (const difference of await store.schemaDifferences({ quick: false }))
            report({ seq: null, fault: 'schema-altered', sentence: `in the database, ${difference}` });
        },
      };
    },
  },
  {
    claim: 'entries are numbered without gaps',
    reads: 'seq',
    begin({ since, report }) {
      let due = since.size + 1;
      return {
        entry({ seq }) {
          if (seq !== due) {
            const which = seq - 1 === due ? 'the entry is' : `the entries ${due} to ${seq - 1} are`;
            report({ seq: due, fault: 'missing', sentence: `${which} missing` });
          }
          due = seq + 1;
        },
      };
    },
  },
  {
    claim: 'each entry is what was appended: content, commitment, leaf hash and MAC',
    reads: 'all columns of entries',
    begin({ keys, report }) {
      let bytes = 0;
      return {
        entry(entry) {
          const fault = diagnoseEntry(entry, keys);
          if (fault) report(fault);
          bytes += (entry.body?.length ?? 0) + (entry.meta?.length ?? 0);
        },
        counts: () => ({ bytes }),
      };
    },
  },
  {
    claim: 'the entries of each source are numbered without gaps',
    reads: 'source, source_seq',
    begin({ sourceEnds, report }) {
      const last = new Map(sourceEnds);
      return {
        entry({ seq, source, sourceSeq }) {
          const due = (last.get(source) ?? 0) + 1;
          if (sourceSeq !== due) {
            const sentence = `it is number ${sourceSeq} of source ${source} instead of ${due}`;
            report({ seq, fault: 'source-gap', sentence });
          }
          last.set(source, sourceSeq);
        },
        counts: () => ({ sources: last.size }),
      };
    },
  },
  {
    claim: 'the ledger is as long as it was signed for, and gives each root that was signed',
    reads: 'leaf_hash, checkpoints, DATA_DIR/journal',
    begin: beginRoots,
  },
  {
    // After the check of witnesses, whose times it compares.
    claim:
      'no entry is older than a checkpoint, cosignature or time stamp before it, and none of these older than an entry that it covers',
    reads: 'received_at, checkpoints, DATA_DIR/witnessed',
    begin: beginTimes,
  },
  {
    claim: 'content that is gone was erased, and what was erased is gone',
    reads: 'kind, body',
    begin: beginErasures,
  },
  {
    claim: 'each source has the settings that the ledger recorded',
    reads: 'body, sources.options',
    // Skipped for a partial run: the last record of a source may be anywhere.
    begin: (run) => (run.since.size > 0 ? {} : beginSources(run)),
  },
  {
    claim: 'accounts, API tokens, links of hand-overs and scheduled reports are those that the ledger recorded',
    reads: 'body, people, api_tokens, hand_overs, schedules',
    begin: (run) => (run.since.size > 0 ? {} : beginAccess(run)),
  },
  {
    claim: 'counts of refused deliveries are possible, and not below those that reports observed',
    reads: 'body, rejected_counts, rejected_deliveries',
    begin: beginRefused,
  },
  {
    claim: 'each file of evidence is the one that its entry commits to',
    reads: 'body, DATA_DIR/evidence',
    begin: beginFiles,
  },
  {
    claim: 'each document is the one that its entry registers',
    reads: 'body, DATA_DIR/documents',
    begin: beginDocuments,
  },
  {
    claim: 'each erasure has its record, from which it is repeated after an older backup is restored',
    reads: 'body, DATA_DIR/erasures',
    begin: beginErasureRecords,
  },
  {
    claim: 'the position of the read models is an entry of the ledger that they hold',
    reads: 'fold_positions, the histories',
    begin: beginPosition,
  },
];

function beginRoots({ signed, since, highest, report }: Run): Checking {
  const signedFor = new Map<number, { root: Buffer; where: string }[]>();
  for (const { head, where } of [
    ...signed.database,
    ...signed.journal,
    ...(signed.witnessed?.kept ?? []),
    ...(signed.witnessed?.elsewhere ?? []),
  ]) {
    if (head !== null) signedFor.set(head.size, [...(signedFor.get(head.size) ?? []), { root: head.root, where }]);
  }
  let sealed = 0;
  for (const size of signedFor.keys()) sealed = Math.max(sealed, size);
  let frontier: Frontier = since;
  // Collected, because the tree's edge is copied each time it grows.
  let leaves: Buffer[] = [];
  const grow = () => {
    frontier = growFrontier(frontier, leaves);
    leaves = [];
  };
  const compare = (seq: number) => {
    const wanted = signedFor.get(seq);
    if (wanted === undefined) return;
    grow();
    const found = rootOf(frontier);
    for (const { where } of wanted.filter(({ root }) => !root.equals(found))) {
      const sentence = `the first ${seq} entries do not give the root that ${where} was signed for`;
      report({ seq, fault: 'root-mismatch', sentence });
    }
  };
  compare(since.size);
  // After a gap, roots can no longer be computed.
  let whole = true;
  return {
    entry({ seq, leafHash }) {
      leaves.push(Buffer.isBuffer(leafHash) ? leafHash : Buffer.alloc(0));
      whole &&= frontier.size + leaves.length === seq;
      if (whole) compare(seq);
      if (leaves.length >= 500) grow();
    },
    end() {
      grow();
      if (sealed > highest) {
        const sentence = `the ledger ends at ${highest}, but a checkpoint was signed over ${sealed} entries: ${sealed - highest} are gone from its end`;
        report({ seq: highest + 1, fault: 'truncated', sentence });
      } else if (!whole && sealed > 0) {
        const sentence = 'with entries missing, the roots of the checkpoints cannot be reproduced';
        report({ seq: null, fault: 'root-mismatch', sentence });
      }
    },
    counts: () => ({
      checkpoints: signedFor.size,
      unsealed: Math.max(0, highest - sealed),
      root: rootOf(frontier).toString('hex'),
    }),
  };
}

function beginErasures({ store, keys, since, highest, report }: Run): Checking {
  const erased = new Set<number>();
  const recorded = new Set<number>();
  /** By erasures read in this run: the content of the entries they name was gone by then. */
  const recordedBefore = new Map<number, number>();
  const record = ({ body }: Entry) => {
    for (const seq of erasedSeqs(body)) recorded.add(seq);
  };

  /** If an entry was erased while the ledger was being read, its erasure comes after the last entry that is read. */
  async function recordLaterErasures(): Promise<void> {
    for (const entry of await erasuresAfter(store, keys, highest)) record(entry);
  }

  return {
    entry(entry) {
      if (entry.body === null) erased.add(entry.seq);
      if (entry.kind !== 'erasure') return;
      record(entry);
      for (const seq of erasedSeqs(entry.body)) recordedBefore.set(seq, entry.seq);
    },
    async end() {
      if ([...erased].some((seq) => !recorded.has(seq))) await recordLaterErasures();
      const sentence = 'its content is gone, but no erasure of it is recorded';
      for (const seq of erased) {
        if (!recorded.has(seq)) report({ seq, fault: 'erased-without-record', sentence });
      }
      for (const [seq, by] of recordedBefore) {
        // Earlier entries were not read.
        if (seq > since.size && !erased.has(seq)) report(notErased(seq, by));
      }
    },
    counts: () => ({ erased: erased.size }),
  };
}

/** Sound erasures that were appended while the entries were being read. */
async function erasuresAfter(store: Run['store'], keys: Run['keys'], seq: number): Promise<readonly Entry[]> {
  const later = store.read.selectFrom('entries').selectAll().where('seq', '>', seq).where('kind', '=', 'erasure');
  return (await later.execute()).map(entryFromRow).filter((entry) => diagnoseEntry(entry, keys) === null);
}

const fileSentences = {
  missing: 'the evidence file that it commits to is missing from DATA_DIR/evidence',
  altered: 'the evidence file in DATA_DIR/evidence is not the one that it commits to',
} as const;

function beginFiles({ evidenceFolder, report }: Run): Checking {
  const seqsOf = new Map<string, number[]>();
  return {
    entry(entry) {
      const action = actionIn(entry, '"banner.evidence-added"');
      if (action?.action !== 'banner.evidence-added') return;
      const seqs = seqsOf.get(action.sha256) ?? [];
      seqsOf.set(action.sha256, seqs);
      seqs.push(entry.seq);
    },
    async end() {
      for (const [sha256, seqs] of seqsOf) {
        const state = await stateOfEvidenceFile(evidenceFolder, sha256);
        if (state === 'sound') continue;
        for (const seq of seqs) report({ seq, fault: `file-${state}`, sentence: fileSentences[state] });
      }
    },
    counts: () => ({ files: seqsOf.size }),
  };
}

const documentSentences = {
  missing: 'the document that it registers is missing from DATA_DIR/documents; --as-of reproduces the same bytes',
  altered: 'the document in DATA_DIR/documents is not the one that it registers',
} as const;

function beginDocuments({ store, keys, highest, documentsFolder, report }: Run): Checking {
  const seqOf = new Map<string, { readonly seq: number; readonly sha256: string }>();
  /** Erased documents, and the entry that records it. */
  const erasedBy = new Map<string, { readonly seq: number; readonly sha256: string }>();
  const nameOf = ({ documentId, format }: { readonly documentId: string; readonly format: string }) => {
    const name = `${documentId}.${format}`;
    // The name becomes part of a path. If someone else wrote the entry, that is already a fault.
    return /^[\w-]+\.[a-z]+$/.test(name) ? name : null;
  };
  const noteErased = (entry: Entry) => {
    for (const document of readErasure(entry.body)?.documents ?? []) {
      const name = nameOf(document);
      if (name !== null) erasedBy.set(name, { seq: entry.seq, sha256: document.sha256 });
    }
  };
  return {
    entry(entry) {
      if (entry.kind === 'erasure') noteErased(entry);
      const action = actionIn(entry, '"document.produced"');
      if (action?.action !== 'document.produced') return;
      const name = nameOf(action);
      if (name !== null) seqOf.set(name, { seq: entry.seq, sha256: action.sha256 });
    },
    async end() {
      const before = new Set(erasedBy.keys());
      for (const entry of await erasuresAfter(store, keys, highest)) noteErased(entry);
      for (const [name, { seq, sha256 }] of seqOf) {
        if (erasedBy.has(name)) continue;
        const state = await stateOfFile(join(documentsFolder, name), sha256);
        if (state !== 'sound') report({ seq, fault: `file-${state}`, sentence: documentSentences[state] });
      }
      for (const [name, { seq, sha256 }] of erasedBy) {
        // The file of a document erased while the ledger was being read may still exist.
        if (!before.has(name) || (await stateOfFile(join(documentsFolder, name), sha256)) === 'missing') continue;
        const sentence = `it says that the document ${name} was erased, but its file is in DATA_DIR/documents: run \`consent-ledger ledger erase --finish\``;
        report({ seq, fault: 'erased-but-there', sentence });
      }
    },
    counts: () => ({ documents: seqOf.size }),
  };
}

function beginErasureRecords({ store, keys, erasuresFolder, report }: Run): Checking {
  const ids = new Map<number, string>();
  const unchecked: string[] = [];
  return {
    entry(entry) {
      // Writing the record of an altered one would have it repeated after a restore.
      if (entry.kind !== 'erasure' || diagnoseEntry(entry, keys) !== null) return;
      const id = readErasure(entry.body)?.id;
      if (id !== undefined) ids.set(entry.seq, id);
    },
    async end() {
      if (erasuresFolder === null) return;
      // The record of an erasure in progress is written when it ends, or by the next start if the process ends before
      // that.
      const unfinished = Number((await readSetting(store, UNFINISHED_ERASURE)) ?? Infinity);
      const keyOf = (...parts: readonly (string | Uint8Array)[]) => dedupeKeyOf(keys.dedupe, ...parts);
      for (const [seq, id] of ids) {
        const name = erasureRecordName(id, seq);
        const record = await readErasureRecord(keyOf, join(erasuresFolder, name));
        if (record?.seq === seq && record.erasure.id === id) continue;
        if (seq >= unfinished) {
          unchecked.push(
            `the erasure ${seq} has no record in DATA_DIR/erasures yet, because it is marked as unfinished: if none is running, run \`consent-ledger ledger erase --finish\``,
          );
          continue;
        }
        const sentence = `its record DATA_DIR/erasures/${name} is missing or altered, so an older backup would bring back what it erased: run \`consent-ledger ledger erase --finish\``;
        report({ seq, fault: 'file-missing', sentence });
      }
    },
    counts: () => ({ unchecked }),
  };
}

function beginPosition({ store, report }: Run): Checking {
  return {
    async end() {
      const fault = await findPositionFault(store.read);
      if (fault === null) return;
      const sentence = `the read models ${positionFaultText(fault)}: run \`consent-ledger ledger rebuild\``;
      report({ seq: null, fault: 'position-altered', sentence });
    },
  };
}

/** The action of an entry whose body contains `name`; null for any other entry. */
export function actionIn({ kind, body }: Pick<Entry, 'kind' | 'body'>, name: string) {
  if (kind !== 'action' || !Buffer.isBuffer(body) || !body.includes(name)) return null;
  try {
    return actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
