import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { digestOf } from '../../reports/report.ts';
import { parseFolded } from '../cases/folded.ts';
import { subjectsOfCase } from '../cases/match-subject.ts';
import { isOpen } from '../cases/moves.ts';
import type { CaseReading } from '../cases/view.ts';
import { type Action, actionSchema } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import type { ErasedDocument, ErasureScope } from '../core/erasure.ts';
import { subjectForms } from '../core/subject.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import type { DocumentRow } from '../documents/check.ts';
import { holdsSome, type LookedFor, textMentions } from '../documents/holding.ts';
import { documentPath } from '../documents/register.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { subjectHash } from '../ledger/suppression.ts';
import { type AnyTable, historyNames } from '../projections/tables.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { Store } from '../store/store.ts';
import { needsOfHolds } from './holds.ts';
import { mentionsOf } from './mentions.ts';

/** What erasing needs. */
export interface ErasureDeps extends Pick<CaseReading, 'recipeOf'> {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly instance: string;
  readonly epoch: number;
  readonly documentsFolder: string;
  readonly evidenceFolder: string;
  /** How long scheduled backups are kept; null: this process knows of none. */
  readonly backupKeep: {
    readonly daily: number;
    readonly weekly: number;
    readonly monthly: number;
    /** Days for which a bucket locks each backup; absent: not locked. */
    readonly lockedDays?: number;
  } | null;
  readonly projector: { catchUp(): Promise<number> };
  /** Folds every entry again and repairs the read models. */
  readonly rebuild: () => Promise<unknown>;
  readonly rejected: Pick<RejectedRing, 'list' | 'read' | 'remove'>;
}

/** An entry to erase. */
interface PlannedEntry {
  readonly seq: number;
  readonly source: string;
  readonly kind: EntryKind;
  /** The event or action; null: unknown. */
  readonly what: string | null;
  readonly receivedAt: string;
}

/** The properties of a decision to be erased that documents and holds refer to. */
interface PlannedDecision {
  readonly seq: number;
  readonly source: string;
  readonly subject: string | null;
  readonly via: string;
  readonly at: string;
  readonly commitment: string;
}

/** Something that still needs the entries. To erase them anyway, it must be named (`--despite`). */
interface Need {
  readonly name: string;
  readonly why: string;
  readonly seqs: readonly number[];
}

/** What to erase, before its dependants are known. */
export interface Chosen {
  readonly by: ErasureScope;
  readonly seqs: Iterable<number>;
  /** Cases that are erased as a whole. */
  readonly caseIds?: readonly string[];
  /** Documents to remove, whatever they contain. */
  readonly documentIds?: readonly string[];
  /** A person of one source whose records are all erased: earlier rows must not be stored again when pulled. */
  readonly subject?: { readonly source: string; readonly forms: readonly string[] };
  /** Further search terms for jobs and refused deliveries: an e-mail address, a hash. */
  readonly terms?: readonly string[];
  /** Related data that stay, in words. */
  readonly kept?: readonly Kept[];
}
export interface Kept {
  readonly what: string;
  readonly why: string;
  /** Tells the officer how to erase the entries anyway. */
  readonly hint: string;
  readonly seqs: readonly number[];
}

interface PlannedDocument extends ErasedDocument {
  readonly caseId: string | null;
  readonly isThere: boolean;
  readonly why: string;
}
/** Everything that an erasure includes, what it leaves, and the obstacles. */
export interface ErasurePlan {
  readonly by: ErasureScope;
  /** The last entry that it takes into account; a hold placed later may forbid it. */
  readonly asOf: number;
  readonly entries: readonly PlannedEntry[];
  /** Already erased: they have no content. */
  readonly alreadyErased: readonly number[];
  /** Rows of the read models made from these entries. */
  readonly rows: Readonly<Record<string, number>>;
  readonly documents: readonly PlannedDocument[];
  /** Files of banner evidence, by SHA-256. */
  readonly files: readonly string[];
  readonly jobs: readonly string[];
  readonly rejected: readonly number[];
  readonly suppress: readonly { readonly source: string; readonly subject: string }[];
  readonly kept: readonly Kept[];
  readonly refusals: readonly { readonly seq: number; readonly reason: string }[];
  readonly needs: readonly Need[];
  readonly residues: readonly Residue[];
}
/** Where some of it remains, and until when. */
interface Residue {
  readonly where: string;
  readonly until: string;
  /** For the operator. */
  readonly hint?: string;
}

/**
 * Actions that determine how later entries are read, or where the ledger continues: without them a rebuild would give a
 * different result.
 */
const pinned: ReadonlySet<string> = new Set<Action['action']>([
  'source.added',
  'source.changed',
  'source.reread',
  'reading.adopted',
  'source.mapping-accepted',
  'source.offboarded',
  'sync.form-learned',
  'sync.banner-dismissed',
  'sync.banner-restored',
  'installation.moved',
  'installation.reopened',
  'installation.restored',
]);

/** Why an entry can never be erased; null: it can be. */
export function pinnedReason(kind: EntryKind, action: string | null): string | null {
  if (kind === 'erasure') return 'it records an erasure: without it the erased entries would look destroyed';
  if (kind === 'call')
    return 'it keeps a policy from being generated or published twice, and holds no data of data subjects';
  if (action !== null && pinned.has(action))
    return `${action} decides how entries of the source are read: without it the read models would change`;
  return null;
}

/** Finds everything that an erasure of these entries would affect. Changes nothing. */
export async function planErasure(deps: ErasureDeps, chosen: Chosen): Promise<ErasurePlan> {
  const asOf = await deps.projector.catchUp();
  const { entries, alreadyErased, refusals, bodies } = await loadChosen(deps, chosen);
  const caseIds = new Set(chosen.caseIds ?? []);
  const needs: Need[] = [];
  await lookAtCases(deps, entries, caseIds, { refusals, needs });
  const decisions = await decisionsOf(deps, entries);
  await lookAtOpenCases(deps, { entries, decisions }, caseIds, needs);
  needs.push(...(await needsOfHolds(deps, entries, decisions, caseIds)));

  const wanted = await lookedFor(deps, { entries, decisions }, caseIds, chosen);
  const documents = await documentsHolding(deps, entries, wanted, new Set(chosen.documentIds ?? []));
  // If the parameters of a document contain personal data, so does the entry that registers it.
  const registrations = await registrationsOf(deps, documents, entries);
  const all = [...entries, ...registrations].sort((a, b) => a.seq - b.seq);
  const terms = new Set([...caseIds, ...(chosen.subject?.forms ?? []), ...(chosen.terms ?? [])]);
  const rejected = await rejectedWith(deps, chosen.terms ?? [], chosen.subject?.forms ?? []);
  return {
    by: chosen.by,
    asOf,
    entries: all,
    alreadyErased,
    rows: await rowsOf(deps, all, caseIds),
    documents,
    files: await filesOf(deps, bodies),
    jobs: await jobsWith(deps, terms),
    rejected,
    suppress: suppressionsOf(deps, chosen),
    kept: chosen.kept ?? [],
    refusals,
    needs,
    residues: await residuesOf(deps, documents),
  };
}

async function loadChosen(deps: ErasureDeps, { seqs }: Chosen) {
  const entries: PlannedEntry[] = [];
  const alreadyErased: number[] = [];
  const refusals: { seq: number; reason: string }[] = [];
  /** Bodies of actions that name a file. */
  const bodies = new Map<number, Action>();
  for (const chunk of chunksOf([...new Set(seqs)].sort((a, b) => a - b))) {
    const rows = await deps.store.read
      .selectFrom('entries')
      .leftJoin('delivery_history', 'delivery_history.seq', 'entries.seq')
      .select((eb) => [
        'entries.seq',
        'entries.source',
        'entries.kind',
        'entries.received_at',
        'delivery_history.event',
        eb.case().when('entries.body', 'is', null).then(1).else(0).end().as('gone'),
        eb.case().when('entries.kind', '=', 'action').then(eb.ref('entries.body')).else(null).end().as('action'),
      ])
      .where('entries.seq', 'in', chunk)
      .execute();
    const found = new Map(rows.map((row) => [row.seq, row]));
    for (const seq of chunk) {
      const row = found.get(seq);
      if (row === undefined) {
        refusals.push({ seq, reason: 'unknown entry' });
        continue;
      }
      const action = row.action === null ? null : actionIn(row.action);
      const name = action?.action ?? null;
      const reason = pinnedReason(row.kind, name);
      if (reason !== null) refusals.push({ seq, reason });
      else if (Number(row.gone) === 1) alreadyErased.push(seq);
      else {
        if (action?.action === 'banner.evidence-added') bodies.set(seq, action);
        const what = row.kind === 'action' ? name : row.event;
        entries.push({ seq, source: row.source, kind: row.kind, what, receivedAt: row.received_at });
      }
    }
  }
  return { entries, alreadyErased, refusals, bodies };
}

function actionIn(body: Buffer): Action | null {
  try {
    return actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

interface Against {
  readonly refusals: { seq: number; reason: string }[];
  readonly needs: Need[];
}

/**
 * A case is folded from its entries in order, so it is erased as a whole or not at all. To erase an open case, or one
 * with an open message, it must be named.
 */
async function lookAtCases(
  deps: ErasureDeps,
  entries: readonly PlannedEntry[],
  caseIds: Set<string>,
  { refusals, needs }: Against,
): Promise<void> {
  const seqs = new Set(entries.map(({ seq }) => seq));
  const touched = new Map<string, number>();
  for (const chunk of chunksOf([...seqs])) {
    const rows = await deps.store.read
      .selectFrom('case_history')
      .select(['seq', 'case_id'])
      .where('seq', 'in', chunk)
      .execute();
    for (const row of rows) touched.set(row.case_id, row.seq);
  }
  for (const [caseId, seq] of touched) {
    const rows = await deps.store.read
      .selectFrom('case_history')
      .innerJoin('cases', 'cases.case_id', 'case_history.case_id')
      .select(['case_history.seq', 'cases.state', 'cases.folded'])
      .where('case_history.case_id', '=', caseId)
      .execute();
    const missing = rows.filter((row) => !seqs.has(row.seq));
    if (missing.length > 0) {
      refusals.push({
        seq,
        reason: `it is part of case ${caseId}, which can only be erased as a whole: erase that case`,
      });
      continue;
    }
    caseIds.add(caseId);
    const [first] = rows;
    if (first === undefined) continue;
    const why = isOpen(first.state)
      ? 'the requester is still waiting for an answer'
      : (parseFolded(first.folded).openMessages ?? []).length > 0
        ? 'a message of the requester is open'
        : null;
    if (why !== null) needs.push({ name: caseId, why, seqs: rows.map((row) => row.seq) });
  }
}

async function decisionsOf(
  { store }: ErasureDeps,
  entries: readonly PlannedEntry[],
): Promise<readonly PlannedDecision[]> {
  const decisions: PlannedDecision[] = [];
  for (const chunk of chunksOf(entries.map(({ seq }) => seq)))
    decisions.push(
      ...(await store.read
        .selectFrom('decision_history')
        .select(['seq', 'source', 'subject', 'via', 'at', 'commitment'])
        .where('seq', 'in', chunk)
        .execute()),
    );
  return decisions;
}

/** The records of someone whose request is still open are needed to answer it. */
async function lookAtOpenCases(
  deps: ErasureDeps,
  { entries, decisions }: { readonly entries: readonly PlannedEntry[]; readonly decisions: readonly PlannedDecision[] },
  erased: ReadonlySet<string>,
  needs: Need[],
): Promise<void> {
  const sources = [...new Set(entries.map(({ source }) => source))];
  if (decisions.length === 0 || sources.length === 0) return;
  const rows = await deps.store.read.selectFrom('cases').selectAll().where('source', 'in', sources).execute();
  for (const row of rows.filter(({ state, case_id }) => isOpen(state) && !erased.has(case_id))) {
    const forms = new Set(await subjectsOfCase(deps, row));
    const seqs = decisions
      .filter(({ source, subject }) => source === row.source && subject !== null && forms.has(subject))
      .map(({ seq }) => seq);
    if (seqs.length > 0)
      needs.push({
        name: row.case_id,
        why: 'they are records of a requester who is still waiting for an answer',
        seqs,
      });
  }
}

async function lookedFor(
  deps: ErasureDeps,
  { entries, decisions }: { readonly entries: readonly PlannedEntry[]; readonly decisions: readonly PlannedDecision[] },
  caseIds: ReadonlySet<string>,
  { subject }: Chosen,
): Promise<LookedFor> {
  const cases =
    caseIds.size === 0
      ? []
      : await deps.store.read
          .selectFrom('cases')
          .select('receipt_at')
          .where('case_id', 'in', [...caseIds])
          .execute();
  return {
    seqs: new Set(entries.map(({ seq }) => seq)),
    tokens: new Set([...decisions.map(({ commitment }) => commitment), ...caseIds, ...(subject?.forms ?? [])]),
    caseIds,
    subjectDigests: new Set(
      [...new Set(decisions.flatMap((decision) => decision.subject ?? []))].flatMap(subjectForms).map(digestOf),
    ),
    withdrawnAt: decisions.flatMap(({ via, at }) => (via === 'request' ? [at] : [])),
    requestedAt: cases.map((row) => row.receipt_at),
  };
}

async function documentsHolding(
  deps: ErasureDeps,
  entries: readonly PlannedEntry[],
  wanted: LookedFor,
  named: ReadonlySet<string>,
): Promise<readonly PlannedDocument[]> {
  const rows = new Map<string, DocumentRow>();
  const there = deps.store.read.selectFrom('documents').selectAll().where('erased_at', 'is', null).orderBy('seq');
  for (const chunk of chunksOf([...named]))
    for (const row of await there.where('document_id', 'in', chunk).execute()) rows.set(row.document_id, row);
  const first = entries[0]?.seq;
  const sources = [...new Set(entries.map(({ source }) => source))];
  if (first !== undefined)
    for (const row of await there.where('source', 'in', sources).where('as_of', '>=', first).execute())
      rows.set(row.document_id, row);
  const holding: PlannedDocument[] = [];
  for (const row of rows.values()) {
    const { document_id: documentId, name, format, sha256, seq, case_id: caseId } = row;
    const why = named.has(documentId) ? 'named itself' : await holdsSome(deps.documentsFolder, row, wanted);
    if (why === null) continue;
    const isThere = await stat(documentPath(deps.documentsFolder, { documentId, format })).then(
      () => true,
      () => false,
    );
    holding.push({ documentId, name, format, sha256, seq, caseId, isThere, why });
  }
  return holding;
}

/** Document parameters that concern a person: the text of a letter, its recipient, the subject of a history. */
const personalParameters = ['text', 'recipient', 'subjectSha256', 'fileName'];

async function registrationsOf(
  { store }: ErasureDeps,
  documents: readonly PlannedDocument[],
  entries: readonly PlannedEntry[],
): Promise<readonly PlannedEntry[]> {
  const chosen = new Set(entries.map(({ seq }) => seq));
  const found: PlannedEntry[] = [];
  for (const { documentId } of documents) {
    const row = await store.read
      .selectFrom('documents')
      .select(['seq', 'source', 'created_at', 'parameters'])
      .where('document_id', '=', documentId)
      .executeTakeFirstOrThrow();
    const parameters = JSON.parse(row.parameters) as Readonly<Record<string, unknown>>;
    if (chosen.has(row.seq) || !personalParameters.some((name) => parameters[name] != null)) continue;
    const { seq, source, created_at: receivedAt } = row;
    found.push({ seq, source, kind: 'action', what: 'document.produced', receivedAt });
  }
  return found;
}

async function rowsOf(
  { store }: ErasureDeps,
  entries: readonly PlannedEntry[],
  caseIds: ReadonlySet<string>,
): Promise<Readonly<Record<string, number>>> {
  const any = store.read as unknown as Kysely<AnyTable>;
  const rows: Record<string, number> = {};
  for (const table of historyNames) {
    for (const chunk of chunksOf(entries.map(({ seq }) => seq))) {
      const { n } = await any
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('n'))
        .where('seq', 'in', chunk)
        .executeTakeFirstOrThrow();
      if (Number(n) > 0) rows[table] = (rows[table] ?? 0) + Number(n);
    }
  }
  if (caseIds.size > 0) rows['cases'] = caseIds.size;
  return rows;
}

/** Banner evidence files that no other entry names. */
async function filesOf({ store }: ErasureDeps, added: ReadonlyMap<number, Action>): Promise<readonly string[]> {
  const files = new Set<string>();
  for (const action of added.values()) {
    if (action.action !== 'banner.evidence-added') continue;
    const others = await store.read
      .selectFrom('banner_evidence')
      .select('seq')
      .where('change', '=', 'added')
      .where('sha256', '=', action.sha256)
      .execute();
    if (others.every(({ seq }) => added.has(seq))) files.add(action.sha256);
  }
  return [...files];
}

async function jobsWith({ store }: ErasureDeps, terms: ReadonlySet<string>): Promise<readonly string[]> {
  if (terms.size === 0) return [];
  const isMentioned = mentionsOf([...terms]);
  const found: string[] = [];
  for (let after = ''; ; ) {
    const rows = await store.read
      .selectFrom('jobs')
      .select(['id', 'job_key', 'payload', 'result', 'error', 'progress'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(1000)
      .execute();
    for (const { id, job_key: key, payload, result, error, progress } of rows) {
      const text = [key, payload, result, error, progress].join(' ');
      if (textMentions(text, terms) || isMentioned?.(Buffer.from(text)) === true) found.push(id);
    }
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}

/** Refused deliveries are encrypted: each is opened to search for the identifiers. */
async function rejectedWith(
  { rejected }: ErasureDeps,
  terms: readonly string[],
  forms: readonly string[],
): Promise<readonly number[]> {
  const isMentioned = mentionsOf([...terms, ...forms]);
  if (isMentioned === null) return [];
  const found: number[] = [];
  for (const { id } of await rejected.list({ limit: 100_000 })) {
    const item = await rejected.read(id);
    if (item === null) continue;
    if (isMentioned(item.rawBody) || isMentioned(Buffer.from(JSON.stringify(item.headers)))) found.push(id);
  }
  return found;
}

function suppressionsOf(deps: ErasureDeps, { subject }: Chosen) {
  if (subject === undefined) return [];
  const { source, forms } = subject;
  const hashes = new Set(forms.map((form) => subjectHash(deps.ledger, source, form)));
  return [...hashes].map((hash) => ({ source, subject: hash }));
}

async function residuesOf(deps: ErasureDeps, documents: readonly PlannedDocument[]): Promise<readonly Residue[]> {
  const residues: Residue[] = [];
  const backups = join(deps.dataDir, 'backups');
  const names = await readdir(backups).catch(() => []);
  if (names.length > 0)
    residues.push({
      where: `${names.length} ${names.length === 1 ? 'file' : 'files'} of backups kept by the installation`,
      until: 'until they are replaced by newer ones or deleted',
      hint: '`restore` erases it again before it serves',
    });
  if (deps.backupKeep !== null) {
    const { daily, weekly, monthly, lockedDays = 0 } = deps.backupKeep;
    residues.push({
      where: 'earlier scheduled backups of the installation, encrypted',
      until: `until newer ones replace them: ${daily} daily, ${weekly} weekly and ${monthly} monthly ones are kept${lockedDays === 0 ? '' : `, each for ${lockedDays} days at least, in a bucket that locks them`}`,
      hint: '`restore` erases it again before it serves',
    });
  }
  residues.push({
    where: `${deps.backupKeep === null ? 'backups, dumps' : 'other backups, dumps'} and snapshots of the installation from before`,
    until: 'until the operator of the server deletes them',
    hint: '`restore` erases it again; where a dump or snapshot was restored, `ledger erase --again` does',
  });
  if (deps.store.engine === 'postgres')
    residues.push({
      where: 'the write-ahead log of PostgreSQL, its archive, and standbys',
      until: 'until the server recycles or removes them',
      hint: 'see docs/threats.md',
    });
  residues.push({
    where: 'commitments, hashes and deduplication keys of the entries',
    until:
      'for ever: they keep the proofs valid. Someone with the key of this installation could still test a guess at the content of a delivery',
  });
  if (documents.length > 0)
    residues.push({
      where: 'copies of the documents that left this installation',
      until: 'with the people who received them',
      hint: 'tell them about the erasure',
    });
  return residues;
}
