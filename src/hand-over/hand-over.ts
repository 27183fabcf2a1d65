import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { chooseLanguage } from '../../reports/letters/languages.ts';
import { isRequestKind } from '../cases/fold.ts';
import { parseFolded } from '../cases/folded.ts';
import { findCase, showCase } from '../cases/list-cases.ts';
import { line } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import type { Action } from '../core/action.ts';
import { isPrivateTransport } from '../core/address.ts';
import { isoNow } from '../core/clock.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import { hmacSha256, sha256Hex } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { chooseFiles } from '../documents/attachments.ts';
import type { DocumentDeps } from '../documents/begin-document.ts';
import { faultOfCaseFiles, findDocument } from '../documents/check.ts';
import { problemsOfLeaving, stillApproved } from '../documents/leaving.ts';
import { draftInPack, hasLaterAnswer } from '../documents/produce-pack.ts';
import { appendAction, assertAllowed, unlessRefused } from '../ledger/append-action.ts';
import type { Appended } from '../ledger/ledger.ts';
import type { Tables } from '../store/schema.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import { type GivenFile, givenFiles } from './given-files.ts';

/*
 * A pack is handed over through a link and a code, which the officer sends through different channels. The table contains
 * HMACs of both under the installation's keys, so neither the database nor a backup gives access. Every request checks
 * again whether the link is valid.
 */

export interface HandOverDeps {
  readonly store: Store;
  readonly ledger: CaseWriting['ledger'];
  readonly clock: CaseWriting['clock'];
  readonly keys: { readonly instance: Pick<InstanceKeys, 'link' | 'session'> };
  readonly cases: CaseWriting;
  readonly documents: DocumentDeps;
}

export type HandOverRow = Selectable<Tables['hand_overs']>;
/** What the HMAC of a code covers besides the code. */
type CodedRow = Pick<
  HandOverRow,
  'hand_over_id' | 'source' | 'case_id' | 'document_id' | 'sha256' | 'expires_at' | 'contents'
>;

/** Default and maximum number of days for which a link is valid. */
export const HAND_OVER_DAYS = 14;
export const HAND_OVER_DAYS_MAX = 90;
/** Wrong codes after which a link stops working. */
export const CODE_ATTEMPTS = 5;
const TOKEN_BYTES = 32;
const CODE_DIGITS = 8;

/** The state of a hand-over. */
export type HandOverState = 'open' | 'locked' | 'expired' | 'revoked' | 'withheld';

interface CreateInput {
  readonly caseId: string;
  readonly actor: string;
  /** Address of the public listener as seen from outside. */
  readonly publicUrl: string;
  readonly days?: number;
  /** The pack; absent: the newest one of the case. */
  readonly documentId?: string | undefined;
  /** Ids of documents: files of the case that the requester gets with the pack. */
  readonly attachments?: readonly string[];
  /** Who approved it for the controller, if this installation is a processor. */
  readonly approvedBy?: string | undefined;
  /** A reference creates only one link, so that a form sent twice does not create two. */
  readonly reference?: string | undefined;
}

/** Who approved something for the controller, as in moves of a case. */
const approver = line.optional();

type Created =
  | {
      readonly outcome: 'created';
      readonly handOver: HandOverRow;
      /** Ends in a token of 32 random bytes; the code has 8 digits. Both are shown once; only their HMACs are stored. */
      readonly link: string;
      readonly code: string;
      readonly seq: number;
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  /** A link with this reference already exists; its code cannot be shown again. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'unknown-case' };

/**
 * Creates a link and a code for a pack. The case must be ready, and everything that prevents an officer from recording
 * the answer also prevents handing it over: blockers, disclosure, approval. For an answered case, only the document
 * named in the answer can be handed over.
 */
export async function createHandOver(deps: HandOverDeps, input: CreateInput): Promise<Created> {
  const { caseId, actor, publicUrl, days = HAND_OVER_DAYS } = input;
  const approval = approver.safeParse(input.approvedBy);
  if (!approval.success) return refused('Who approved it: use 1 to 300 characters.');
  const { data: approvedBy } = approval;
  const now = isoNow(deps.clock);
  const shown = await showCase(deps.cases, caseId, now);
  if (shown === null) return { outcome: 'unknown-case' };
  const id = `h-${idPart(caseId, input.reference ?? randomUUID())}`;
  const { read } = deps.store;
  const before = await read
    .selectFrom('hand_overs')
    .select('case_id')
    .where('hand_over_id', '=', id)
    .executeTakeFirst();
  if (before !== undefined) return { outcome: 'repeated' };
  if (!Number.isInteger(days) || days < 1 || days > HAND_OVER_DAYS_MAX)
    return refused(`Invalid number of days ${days}: use 1 to ${HAND_OVER_DAYS_MAX}.`);
  if (!isPrivateTransport(publicUrl))
    return refused(
      `The pack cannot be handed over through a link: this server’s public address ${publicUrl} is not https, so it would be sent unencrypted. An admin has to change it to an https address.`,
    );
  const pack = await findPack(deps.store.read, caseId, input.documentId);
  if (pack === null)
    return refused(
      input.documentId === undefined
        ? 'The case has no response pack: create it first.'
        : `The case has no response pack ${input.documentId}, or it was erased.`,
    );
  const context = { channel: 'hand-over', actor, approvedBy, now, timeZone: deps.cases.timeZone };
  const problems = problemsOfLeaving(shown, pack, context);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const files = await chooseFiles(read, shown, input.attachments ?? []);
  if (typeof files === 'string') return refused(files);
  const fault = await faultOfCaseFiles(deps.documents.proofs, caseId, [pack, ...files]);
  if (fault !== null) return refused(fault);
  const draft = await draftInPack({ ...deps.documents, cases: deps.cases }, { ...pack, caseId });
  if (draft !== null)
    return refused(`The letter in the pack is a draft. ${draft} Write the letter, then create the pack again.`);
  const { row } = shown.view;
  const isSettled = row.state === 'answered' || row.state === 'closed';
  if (!isSettled && (await hasLaterAnswer(deps.store.read, { caseId, asOf: Number(pack.as_of) })))
    return refused(
      'An answer letter was made after the response pack: create the response pack again to include that letter.',
    );
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
  const given = files.map((one) => ({ documentId: one.document_id, sha256: one.sha256 }));
  const coded: CodedRow = {
    hand_over_id: id,
    source: row.source,
    case_id: caseId,
    document_id: pack.document_id,
    sha256: pack.sha256,
    expires_at: new Date(Date.parse(now) + days * 86_400_000).toISOString(),
    contents: JSON.stringify([...(await contentsOf(deps.store.read, pack)), ...given]),
  };
  const handOver: HandOverRow = {
    ...coded,
    token_hash: tokenHash(deps, token),
    code_hash: codeHash(deps, coded, code),
    language: chooseLanguage([row.language, shown.profile?.language], row.jurisdiction).locale,
    created_at: now,
    created_by: actor,
    failures: 0,
    opened_at: null,
    downloads: 0,
    messages: 0,
    revoked_at: null,
    expired_at: null,
  };
  const more = {
    expiresAt: handOver.expires_at,
    ...(approvedBy === undefined ? {} : { approvedBy }),
    ...(files.length === 0
      ? {}
      : { attachments: files.map((one, nth) => ({ ...(given[nth] as GivenFile), bytes: Number(one.bytes) })) }),
  };
  const recording = await unlessRefused(() =>
    recordHandOver(deps, handOver, { action: 'hand-over.created', actor, key: [], more }, async (tx, recorded) => {
      await assertAllowed(stillApproved(shown, 'answer'), tx, recorded);
      if (recorded.outcome === 'stored') await tx.insertMany('hand_overs', [handOver]);
    }),
  );
  if (recording.outcome === 'refused') return refused(recording.problem);
  if (recording.outcome === 'duplicate') return { outcome: 'repeated' };
  return { outcome: 'created', handOver, link: `${publicUrl}/h/${token}`, code, seq: recording.seq };
}

/** Eight hexadecimal digits. */
function idPart(caseId: string, reference: string): string {
  return sha256Hex(Buffer.from(JSON.stringify([caseId, reference]))).slice(0, 8);
}

function refused(problem: string): { readonly outcome: 'refused'; readonly problems: readonly string[] } {
  return { outcome: 'refused', problems: [problem] };
}

type Pack = Selectable<Tables['documents']>;

async function findPack(read: Query, caseId: string, documentId: string | undefined): Promise<Pack | null> {
  let query = read
    .selectFrom('documents')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('name', '=', 'dsar-pack')
    .where('erased_at', 'is', null);
  if (documentId !== undefined) query = query.where('document_id', '=', documentId);
  return (await query.orderBy('seq', 'desc').limit(1).executeTakeFirst()) ?? null;
}

/** The file names in a pack, from its sealed manifest. */
async function contentsOf(read: Query, pack: Pack): Promise<readonly string[]> {
  const manifest = await read
    .selectFrom('action_history')
    .select('details')
    .where('object', '=', pack.document_id.slice(0, pack.document_id.indexOf('-')))
    .where('action', '=', 'document.manifest')
    .where('seq', '<', pack.seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { files = {} } = JSON.parse(manifest?.details ?? '{}') as { files?: Readonly<Record<string, string>> };
  return Object.keys(files);
}

/** Ends a link at once. False: there is no link with this id that could be revoked. */
export async function revokeHandOver(deps: HandOverDeps, handOverId: string, actor: string): Promise<boolean> {
  const row = await deps.store.read
    .selectFrom('hand_overs')
    .selectAll()
    .where('hand_over_id', '=', handOverId)
    .executeTakeFirst();
  if (row === undefined || row.revoked_at !== null) return false;
  const now = isoNow(deps.clock);
  const { outcome } = await recordHandOver(
    deps,
    row,
    { action: 'hand-over.revoked', actor, key: [], more: {} },
    ({ query }) =>
      query.updateTable('hand_overs').set({ revoked_at: now }).where('hand_over_id', '=', handOverId).execute(),
  );
  return outcome === 'stored';
}

/** A hand-over with its current state. */
export interface ListedHandOver {
  readonly row: HandOverRow;
  readonly state: HandOverState;
}

/** The hand-overs of a case, or of some sources (null: all), newest first. */
export async function listHandOvers(
  deps: Pick<HandOverDeps, 'store' | 'clock' | 'cases'>,
  of: { readonly caseId: string } | { readonly sources: readonly string[] | null },
): Promise<readonly ListedHandOver[]> {
  let query = deps.store.read.selectFrom('hand_overs').selectAll();
  if ('caseId' in of) query = query.where('case_id', '=', of.caseId);
  else if (of.sources !== null) query = query.where('source', 'in', [...of.sources]);
  const rows = await query.orderBy('created_at', 'desc').orderBy('hand_over_id').limit(500).execute();
  const now = isoNow(deps.clock);
  return Promise.all(rows.map(async (row) => ({ row, state: await stateOf(deps, row, now) })));
}

/** A hand-over without its secrets, for lists of other programs. */
export function summariseHandOver({ row, state }: ListedHandOver) {
  return {
    handOverId: row.hand_over_id,
    caseId: row.case_id,
    documentId: row.document_id,
    sha256: row.sha256,
    attachments: givenFiles(row).map(({ documentId }) => documentId),
    state,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    openedAt: row.opened_at,
    wrongCodes: row.failures,
    downloads: row.downloads,
    messages: row.messages,
  };
}

/**
 * States of a case that allow the data subject to have the pack. After reopening or rework, it is withheld until it is
 * handed over again; so it is if a second person has to approve, and the approval was lost.
 */
const handedOverStates: readonly string[] = ['ready', 'answered', 'closed'];

/** The state of a hand-over, from its own row, its document and its case. */
export async function stateOf(
  { store: { read }, cases }: Pick<HandOverDeps, 'store' | 'cases'>,
  row: HandOverRow,
  now: string,
): Promise<HandOverState> {
  if (row.revoked_at !== null) return 'revoked';
  if (row.expires_at <= now) return 'expired';
  if (row.failures >= CODE_ATTEMPTS) return 'locked';
  const found = await read
    .selectFrom('documents')
    .innerJoin('cases', 'cases.case_id', 'documents.case_id')
    .select(['cases.state', 'cases.source', 'cases.folded'])
    .where('documents.document_id', '=', row.document_id)
    .where('documents.sha256', '=', row.sha256)
    .where('documents.erased_at', 'is', null)
    .executeTakeFirst();
  if (found === undefined || !handedOverStates.includes(found.state)) return 'withheld';
  return found.state === 'ready' && (await hasLostApproval(cases, found)) ? 'withheld' : 'open';
}

/** What a requester is told of the pack of a hand-over. */
export interface HandedPack {
  /** What was requested, part by part. */
  readonly kinds: readonly RequestKind[];
  /** When the request was received: ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly bytes: number;
}

/** Loads what a requester is told of a pack. Rejects if the read models do not hold its case or document. */
export async function loadHandedPack(
  read: Query,
  row: Pick<HandOverRow, 'case_id' | 'document_id'>,
): Promise<HandedPack> {
  const [found, document] = await Promise.all([findCase(read, row.case_id), findDocument(read, row.document_id)]);
  if (found === null || document === null) throw new Error(`the pack ${row.document_id} or its case is missing`);
  const { kind, folded, receipt_at: receivedAt } = found;
  return {
    kinds: parseFolded(folded).parts?.map((part) => part.kind) ?? [isRequestKind(kind) ? kind : 'unknown'],
    receivedAt,
    bytes: Number(document.bytes),
  };
}

/** Whether a change of the case ended the approval under which its pack was handed over. */
async function hasLostApproval(
  cases: Pick<CaseWriting, 'profileOf'>,
  { source, folded }: { readonly source: string; readonly folded: string },
): Promise<boolean> {
  const profile = await cases.profileOf(source);
  return profile?.secondPersonFor?.includes('answer') === true && parseFolded(folded).approval?.of !== 'answer';
}

/** Appends an entry for each link that has expired since the last time; returns their number. */
export async function noteExpired(deps: HandOverDeps): Promise<number> {
  const now = isoNow(deps.clock);
  const rows = await deps.store.read
    .selectFrom('hand_overs')
    .selectAll()
    .where('expires_at', '<=', now)
    .where('expired_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  for (const row of rows)
    await recordHandOver(deps, row, { action: 'hand-over.expired', actor: 'program', key: [], more: {} }, ({ query }) =>
      query.updateTable('hand_overs').set({ expired_at: now }).where('hand_over_id', '=', row.hand_over_id).execute(),
    );
  return rows.length;
}

type HandOverAction = Extract<Action, { handOverId: string }>;

/**
 * Records what was done with a link, together with the change of its row. `key` distinguishes events that may happen
 * more than once.
 */
export function recordHandOver(
  deps: Pick<HandOverDeps, 'ledger' | 'clock'>,
  row: HandOverRow,
  {
    action,
    actor,
    key,
    more,
  }: {
    readonly action: HandOverAction['action'];
    readonly actor: string;
    readonly key: readonly string[];
    readonly more: Partial<HandOverAction>;
  },
  also: (tx: StoreTransaction, recorded: Appended) => Promise<unknown>,
) {
  const { hand_over_id: handOverId, case_id: caseId, document_id: documentId, sha256 } = row;
  return appendAction(
    deps.ledger,
    row.source,
    { action, actor, handOverId, caseId, documentId, sha256, ...more },
    [action, handOverId, ...key],
    isoNow(deps.clock),
    async (tx, [recorded]) => {
      if (recorded !== undefined) await also(tx, recorded);
    },
  );
}

export function tokenHash({ keys }: Pick<HandOverDeps, 'keys'>, token: string): Buffer {
  return hmacSha256(keys.instance.link, Buffer.from(`hand-over ${token}`));
}

/** HMAC of a code, bound to link, pack, other files and time: a row altered in the database does not give access. */
export function codeHash({ keys }: Pick<HandOverDeps, 'keys'>, row: CodedRow, code: string): Buffer {
  const { hand_over_id: id, source, case_id: caseId, document_id: documentId, sha256, expires_at: until } = row;
  const given = givenFiles(row);
  const covered = JSON.stringify([
    ...['hand-over code', id, source, caseId, documentId, sha256, until, code],
    // Links created by earlier versions have none.
    ...(given.length === 0 ? [] : [given.map((one) => [one.documentId, one.sha256])]),
  ]);
  return hmacSha256(keys.instance.link, Buffer.from(covered));
}
