import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Action, actionSchema } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { emailSchema } from '../core/email.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { languageSchema } from '../core/language.ts';
import { sourceSlugSchema } from '../core/source.ts';
import { lineOf } from '../core/validation.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { equalBytes } from '../crypto/hash.ts';
import { jurisdictionSchema } from '../law/jurisdictions.ts';
import type { ControllerProfile } from '../law/profile.ts';
import {
  appendAction,
  appendWithConsequences,
  type Condition,
  type KeyedAction,
  unlessRefused,
} from '../ledger/append-action.ts';
import type { Appended } from '../ledger/ledger.ts';
import { documentsOfCase } from '../store/queries/documents-of-case.ts';
import type { StoreTransaction } from '../store/store.ts';
import { ADDED_MEANWHILE, documentsToApprove, isApprovalOutdated, isAsSeen, NOT_COVERED } from './approval.ts';
import { checkMove } from './check-move.ts';
import type { CaseMoved, CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';
import { type Match, matchCase } from './match-subject.ts';
import { replyMailJob } from './messages.ts';
import { addressMeta, type CheckedMove, line, moment, postalAddress, readMove, text } from './moves.ts';
import { type CaseWriting, viewCase } from './view.ts';
import { refusesAll, WITHDRAWALS, withdrawalKey, withdrawalsOf } from './withdrawal.ts';

interface MoveCaseInput {
  readonly caseId: string;
  /** The version that the officer saw. */
  readonly basedOn: number;
  readonly move: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly actor: string;
}

type MovedCase =
  | { readonly outcome: 'moved'; readonly caseId: string; readonly version: number; readonly seq: number }
  /** Someone else has moved the case since: look again. */
  | {
      readonly outcome: 'conflict';
      readonly caseId: string;
      readonly version: number;
      /** For an approval: what was added that the approver has not seen, in a sentence. */
      readonly unseen?: string;
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  | { readonly outcome: 'not-found' };

/**
 * Records a move of a case. If two officers act on one version at once, the ledger's deduplication key (case and
 * version) gives the second `conflict`; the same move sent twice by the same officer is answered `moved` both times.
 * The move is visible once the projection has reached `seq`. An answer that ends consent is recorded together with the
 * resulting withdrawals, a reply together with the job that tells the requester of it.
 */
export async function moveCase(deps: CaseWriting, input: MoveCaseInput): Promise<MovedCase> {
  const { caseId, basedOn, actor } = input;
  const row = await deps.store.read.selectFrom('cases').selectAll().where('case_id', '=', caseId).executeTakeFirst();
  if (row === undefined) return { outcome: 'not-found' };
  const read = readMove(input.move, input.details ?? {});
  if (read.outcome === 'refused') return read;
  const { checked } = read;
  const action = actionSchema.parse({
    action: 'case.moved',
    actor,
    caseId,
    basedOn,
    move: checked.move,
    details: checked.details,
  }) as CaseMoved;
  if (row.version !== basedOn) return answerConflict(deps, row, action, await seqOfVersion(deps, caseId, basedOn + 1));

  const now = isoNow(deps.clock);
  const match = await matchCase(deps, row);
  const problems = await problemsOf(deps, row, checked, { match, now, actor });
  if (problems.length > 0) return { outcome: 'refused', problems };
  const withdrawals =
    checked.move === 'answer' ? await withdrawalsOf(deps, row, match, { details: checked.details, actor, now }) : [];
  if (withdrawals.length > WITHDRAWALS) {
    return { outcome: 'refused', problems: [`one answer can withdraw consent on at most ${WITHDRAWALS} banners`] };
  }
  const consequences = [
    ...withdrawals.map((withdrawal) => ({ action: withdrawal, keyParts: withdrawalKey(withdrawal) })),
    ...(await onOriginal(deps, row, action)),
  ];
  const first = { action, keyParts: ['case', caseId, String(basedOn)] };
  const condition = approvalCondition(row, checked, await deps.profileOf(row.source));
  const mail = checked.move === 'reply' ? replyMailJob({ caseId, version: basedOn + 1, actor }) : null;
  const also = async (tx: StoreTransaction) => {
    if (mail !== null) await deps.jobs.enqueueIn(tx, mail);
  };
  const appended = await unlessRefused(() =>
    appendWithConsequences(deps.ledger, row.source, { first, consequences, condition, also }, now),
  );
  if (appended.outcome === 'refused')
    return checked.move === 'approve'
      ? { outcome: 'conflict', caseId, version: row.version, unseen: appended.problem }
      : { outcome: 'refused', problems: [appended.problem] };
  if (appended.outcome === 'duplicate') return answerConflict(deps, row, action, appended.seq);
  if (mail !== null) deps.jobs.wake([{ kind: mail.kind, at: null }]);
  return { outcome: 'moved', caseId, version: basedOn + 1, seq: appended.seq };
}

/**
 * What is decided about approvals in the transaction that records a move, because letters, files and packs are added
 * without a new version of the case: that the approver has seen all, and that nothing was added since.
 */
function approvalCondition(row: CaseRow, { move, details }: CheckedMove, profile: ControllerProfile | null): Condition {
  const { secondPersonFor = [] } = profile ?? {};
  return async ({ query }, recorded) => {
    if (move === 'approve') return (await isAsSeen(query, row, recorded, details.seen)) ? null : ADDED_MEANWHILE;
    if (move !== 'answer' && move !== 'refuse') return null;
    const isRefusal = move === 'refuse' || refusesAll(details);
    const needed =
      (isRefusal && secondPersonFor.includes('refuse')) || (move === 'answer' && secondPersonFor.includes('answer'));
    if (!needed) return null;
    if (!(await isAsSeen(query, row, recorded, parseFolded(row.folded).approval?.seen))) return NOT_COVERED;
    if (move !== 'answer') return null;
    const { documentSha256, attachments = [] } = details;
    const named = [...(documentSha256 === undefined ? [] : [documentSha256]), ...attachments];
    const documents = await documentsOfCase(query, { source: row.source, caseId: row.case_id, before: recorded.seq });
    const covered = documentsToApprove(documents).map(({ sha256 }) => sha256);
    return named.every((sha256) => covered.includes(sha256))
      ? null
      : 'the answer names a document or file that is not one of the letters, files and response packs of the request, so the approval does not cover it';
  };
}

/** Milliseconds for which a move is tried again while others are making moves: each of those lets one of them through. */
const KEEP_TRYING_MS = 15_000;
/** The longest pause between two attempts, milliseconds; drawn at random, so that they do not meet again. */
const PAUSE_MS = 40;

/**
 * Makes a move that is valid whatever happened before: for a requester, who does not see a version of the case. Throws
 * StoreUnavailable, with which a form is refused and a job tried again, if others were faster for 15 seconds.
 */
export async function moveLatest(
  deps: CaseWriting,
  input: Omit<MoveCaseInput, 'basedOn'>,
  catchUp: () => Promise<unknown>,
): Promise<Exclude<MovedCase, { outcome: 'conflict' }>> {
  const until = performance.now() + KEEP_TRYING_MS;
  do {
    const found = await deps.store.read
      .selectFrom('cases')
      .select('version')
      .where('case_id', '=', input.caseId)
      .executeTakeFirst();
    if (found === undefined) return { outcome: 'not-found' };
    const moved = await moveCase(deps, { ...input, basedOn: found.version });
    if (moved.outcome !== 'conflict') return moved;
    await catchUp();
    await delay(Math.random() * PAUSE_MS);
  } while (performance.now() < until);
  throw new StoreUnavailable(`${input.move} of ${input.caseId} collided with other moves for ${KEEP_TRYING_MS} ms`);
}

async function problemsOf(
  deps: CaseWriting,
  row: CaseRow,
  checked: CheckedMove,
  { match, now, actor }: { readonly match: Match; readonly now: string; readonly actor: string },
): Promise<readonly string[]> {
  const { regimes, timeZone } = deps;
  const profile = await deps.profileOf(row.source);
  const view = viewCase(row, { regimes, timeZone, profile, now });
  const approvalOutdated = await isApprovalOutdated(deps.store.read, row);
  const problems = checkMove(view, checked, { profile, timeZone, now, match, actor, approvalOutdated });
  if (problems.length > 0) return problems;
  const { documentSha256 } = checked.details as { readonly documentSha256?: string };
  if (checked.move !== 'answer' && documentSha256 !== undefined) {
    const documents = await documentsOfCase(deps.store.read, { source: row.source, caseId: row.case_id });
    if (!documents.some(({ name, sha256 }) => name === 'letter' && sha256 === documentSha256))
      return ['documentSha256: the request has no such letter'];
  }
  if (checked.move === 'close-duplicate') {
    const other = await originalOf(deps, row, checked.details.duplicateOf);
    return other === undefined
      ? [`unknown case ${checked.details.duplicateOf} of this source`]
      : problemsOfOriginal(row, other);
  }
  const { duplicateOf } = view.folded;
  if (checked.move !== 'reopen' || duplicateOf === null) return [];
  const other = await originalOf(deps, row, duplicateOf);
  const further = other === undefined ? null : parseFolded(other.folded).duplicateOf;
  return further === null
    ? []
    : [`${duplicateOf} is itself closed as a duplicate of ${further}: reopen that one first`];
}

function originalOf(deps: CaseWriting, row: CaseRow, caseId: string): Promise<CaseRow | undefined> {
  return deps.store.read
    .selectFrom('cases')
    .selectAll()
    .where('case_id', '=', caseId)
    .where('source', '=', row.source)
    .executeTakeFirst();
}

/** Why a case cannot be a duplicate of another. */
function problemsOfOriginal(row: CaseRow, other: CaseRow): readonly string[] {
  const { duplicateOf, answer, refusal, withdrawal } = parseFolded(other.folded);
  if (duplicateOf !== null) return [`${other.case_id} is itself closed as a duplicate of ${duplicateOf}: use that one`];
  const settledAt = answer?.at ?? refusal?.at ?? withdrawal?.at ?? other.closed_at;
  return settledAt !== null && settledAt <= row.receipt_at
    ? [`${other.case_id} was settled before this request arrived: this is a new request and needs its own answer`]
    : [];
}

/** The effect of a duplicate on the remaining case: its receipt counts there while it is closed as a duplicate. */
async function onOriginal(
  deps: CaseWriting,
  row: CaseRow,
  action: Action & CaseMoved,
): Promise<readonly KeyedAction[]> {
  const closes = action.move === 'close-duplicate';
  if (!closes && action.move !== 'reopen') return [];
  const duplicateOf = closes ? action.details['duplicateOf'] : parseFolded(row.folded).duplicateOf;
  const other = typeof duplicateOf === 'string' ? await originalOf(deps, row, duplicateOf) : undefined;
  if (other === undefined) return [];
  const { case_id: duplicate, receipt_at: receivedAt, receipt_basis: receiptBasis } = row;
  const moved = closes
    ? { move: 'merge-duplicate', details: { duplicate, receivedAt, receiptBasis } }
    : { move: 'release-duplicate', details: { duplicate } };
  const { case_id: caseId, version: basedOn } = other;
  return [
    {
      action: { action: 'case.moved', actor: action.actor, caseId, basedOn, ...moved },
      keyParts: ['case', caseId, String(basedOn)],
      mustBeNew: true,
    },
  ];
}

/** The same move by the same officer is not a conflict: returns the result of the first recording. */
async function answerConflict(
  deps: CaseWriting,
  row: CaseRow,
  action: Action & CaseMoved,
  seq: number | null,
): Promise<MovedCase> {
  const { caseId, basedOn } = action;
  if (seq !== null) {
    const entry = await deps.store.read.selectFrom('entries').select('body').where('seq', '=', seq).executeTakeFirst();
    if (entry?.body != null && equalBytes(entry.body, canonicalJson(action))) {
      return { outcome: 'moved', caseId, version: basedOn + 1, seq };
    }
  }
  return { outcome: 'conflict', caseId, version: Math.max(row.version, seq === null ? 0 : basedOn + 1) };
}

async function seqOfVersion(deps: CaseWriting, caseId: string, version: number): Promise<number | null> {
  const row = await deps.store.read
    .selectFrom('case_history')
    .select('seq')
    .where('case_id', '=', caseId)
    .where('version', '=', version)
    .where('move', '!=', 'reported-again')
    .executeTakeFirst();
  return row?.seq ?? null;
}

/**
 * A request that reached the controller by letter, mail, telephone or in person, as recorded by an officer. Titles and
 * descriptions are for forms.
 */
export const openCaseSchema = z.strictObject({
  source: sourceSlugSchema.meta({ title: 'Source' }),
  kind: z.enum(requestKinds).meta({ title: 'Kind of request' }),
  /** When it reached any channel of the controller (EDPB 01/2022 §159). */
  receivedAt: moment.meta({
    title: 'Received',
    description: 'When it arrived through any channel of the controller.',
  }),
  /** How it arrived: letter, mail, telephone … */
  channel: lineOf(200).meta({ title: 'Channel', description: 'For example letter, e-mail, phone.' }),
  requesterName: line.nullable().default(null).meta({ title: 'Name of the requester' }),
  requesterEmail: emailSchema.nullable().default(null).meta({ title: 'E-mail of the requester' }),
  requesterAddress: postalAddress.nullable().default(null).meta(addressMeta),
  /** A code of the list. */
  jurisdiction: jurisdictionSchema.nullable().default(null).meta({
    title: 'Where the requester is',
    description: 'Without it only the controller’s law applies.',
  }),
  /** BCP 47: what an officer chose, or the language of the page on which the request was made; null: not known. */
  language: languageSchema
    .nullable()
    .default(null)
    .meta({ title: 'Language of the requester', description: 'Letters to the requester are written in it.' }),
  /** An id that the requester read from their own browser. */
  subject: line.nullable().default(null).meta({ title: 'Id from the requester’s device' }),
  message: text.nullable().default(null).meta({ title: 'What was requested' }),
  actor: lineOf(200),
  /** A reference, for instance the number of a form, opens only one case, so that a double click does not open two. */
  reference: z.string().min(1).max(200).optional(),
  /** The requester used the request form. */
  receiptBasis: z.literal('form').exactOptional(),
});
/** The fields of the form for a new request. */
export const openCaseForm = openCaseSchema.omit({
  actor: true,
  reference: true,
  receiptBasis: true,
});
export type OpenCaseInput = z.input<typeof openCaseSchema>;

type OpenedCase =
  | { readonly outcome: 'opened' | 'duplicate'; readonly caseId: string; readonly seq: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/**
 * Records a request as a case, and in the same transaction whatever belongs to it. The case is visible once the
 * projection has reached `seq`.
 */
export async function openCase(
  deps: Pick<CaseWriting, 'ledger' | 'clock'>,
  input: OpenCaseInput,
  also?: (tx: StoreTransaction, caseId: string, appended: Appended) => Promise<unknown>,
): Promise<OpenedCase> {
  const parsed = openCaseSchema.safeParse(input);
  if (!parsed.success) {
    return {
      outcome: 'refused',
      problems: parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    };
  }
  const { source, reference, language, requesterAddress, ...request } = parsed.data;
  const now = isoNow(deps.clock);
  if (request.receivedAt > now) return { outcome: 'refused', problems: ['receivedAt: is in the future'] };
  const caseId = `${source}-${idPart(source, reference ?? randomUUID())}`;
  const action: Action = {
    ...{ action: 'case.opened' as const, caseId, ...request },
    ...(language === null ? {} : { language }),
    ...(requesterAddress === null ? {} : { requesterAddress }),
  };
  const appended = await appendAction(
    deps.ledger,
    source,
    action,
    ['case-opened', caseId],
    now,
    async (tx, [recorded]) => {
      if (recorded !== undefined) await also?.(tx, caseId, recorded);
    },
  );
  return { outcome: appended.outcome === 'stored' ? 'opened' : 'duplicate', caseId, seq: appended.seq };
}

/** `o` and ten digits: cannot be confused with the id of a reported request, which ends in a plain seq. */
function idPart(source: string, reference: string): string {
  const digest = createHash('sha256').update(`${source}\n${reference}`).digest();
  return `o${(digest.readBigUInt64BE() % 10_000_000_000n).toString().padStart(10, '0')}`;
}
