import type { Selectable } from 'kysely';
import type { RequestFact } from '../../receivers/dsar.ts';
import type { Action } from '../core/action.ts';
import { type RequestKind, requestKinds } from '../core/vocabulary.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { mapJurisdiction } from '../law/jurisdictions.ts';
import type { Tables } from '../store/schema.ts';
import { foldMove } from './fold-move.ts';
import {
  amendedKinds,
  type CaseFolded,
  emptyFolded,
  foldedColumn,
  governingReceipt,
  parseFolded,
  partsOf,
  unknownPlace,
} from './folded.ts';
import { type CheckedMove, moves, readMove, stateAfter } from './moves.ts';

export type CaseRow = Selectable<Tables['cases']>;
export type CaseHistoryRow = Selectable<Tables['case_history']>;
type CaseOpened = Extract<Action, { action: 'case.opened' }>;
export type CaseMoved = Extract<Action, { action: 'case.moved' }>;

/** The position of an entry in the ledger. */
interface CaseEntry {
  readonly seq: number;
  readonly source: string;
  readonly receivedAt: string;
  /** Which event of its body, from 0. */
  readonly part?: number;
}
interface FoldedCase {
  readonly row: CaseRow;
  readonly history: CaseHistoryRow;
}

/**
 * Opens a case from a request reported by the service. Its id consists of the source and the entry's seq, for further
 * requests in the same body with their place (`acme-12.2`), so a rebuild gives the same one. Receipt is the payload's time if it counts; otherwise the arrival of the webhook, marked as such.
 */
export function openCaseFromRequest(fact: RequestFact, entry: CaseEntry): FoldedCase {
  const { occurred } = fact;
  const { part = 0 } = entry;
  const own = occurred.counts && occurred.basis !== 'received';
  const basis = !own ? 'received' : occurred.basis === 'assumed-offset' ? 'assumed-offset' : 'payload';
  return openedRow(entry, {
    case_id: `${entry.source}-${entry.seq}${part === 0 ? '' : `.${part + 1}`}`,
    request_id: fact.requestId,
    kind: fact.kind,
    ...(fact.furtherKinds === undefined ? {} : { furtherKinds: fact.furtherKinds }),
    ...placeColumns(fact.jurisdiction),
    requester_name: fact.requesterName,
    requester_email: fact.requesterEmail,
    subject: fact.subject,
    language: fact.language,
    message: fact.message,
    channel: 'webhook',
    receipt_at: own ? occurred.at : entry.receivedAt,
    receipt_basis: basis,
    kindAsGiven: fact.kindAsGiven,
    actor: 'service',
  });
}

/** Opens a case recorded by an officer (a letter, a call) or sent by the request form; its id is in the action. */
export function openCaseFromAction(action: CaseOpened, entry: CaseEntry): FoldedCase {
  return openedRow(entry, {
    case_id: action.caseId,
    request_id: null,
    kind: isRequestKind(action.kind) ? action.kind : 'unknown',
    ...placeColumns(action.jurisdiction),
    requester_name: action.requesterName,
    requester_email: action.requesterEmail,
    ...(action.requesterAddress === undefined ? {} : { address: action.requesterAddress }),
    subject: action.subject,
    language: action.language ?? null,
    message: action.message,
    channel: action.channel,
    receipt_at: action.receivedAt,
    receipt_basis: action.receiptBasis ?? 'officer',
    kindAsGiven: action.kind,
    actor: action.actor,
  });
}

/** Whether a text is a kind of request known to this version. */
export function isRequestKind(text: string): text is RequestKind {
  return (requestKinds as readonly string[]).includes(text);
}

type MoveOutcome =
  | ({ readonly outcome: 'moved' } & FoldedCase)
  | { readonly outcome: 'refused'; readonly reason: string };

/**
 * Adds a recorded move to a case. Pure. A refusal says in words why the move has no effect: it was based on another
 * version, the state does not allow it, or its details cannot be read. Legal restrictions are checked before recording
 * (check-move.ts), because rules may change later and the past must fold the same.
 */
export function applyMove(row: CaseRow, action: CaseMoved, entry: CaseEntry): MoveOutcome {
  const refused = (reason: string): MoveOutcome => ({ outcome: 'refused', reason });
  if (action.caseId !== row.case_id) return refused(`the move is for ${action.caseId}, not for ${row.case_id}`);
  if (entry.source !== row.source) return refused(`${row.case_id} belongs to another source`);
  if (action.basedOn !== row.version) {
    return refused(`the move is based on version ${action.basedOn} of ${row.case_id}, which is at ${row.version}`);
  }
  const read = readMove(action.move, action.details);
  if (read.outcome === 'refused') return refused(read.problems.join('; '));
  const { checked } = read;
  const rule = moves[checked.move];
  if (!(rule.from as readonly string[]).includes(row.state)) {
    return refused(`${checked.move} is not possible while ${row.case_id} is ${row.state}`);
  }
  const state = stateAfter(rule, row.state);
  const before = parseFolded(row.folded);
  const folded = foldMove(before, checked, {
    actor: action.actor,
    recordedAt: entry.receivedAt,
    receipt: { at: row.receipt_at, basis: row.receipt_basis },
    kind: row.kind,
  });
  const next: CaseRow = {
    ...row,
    ...amended(row, checked),
    ...received(row, before, folded, checked),
    state,
    version: row.version + 1,
    last_seq: entry.seq,
    folded: foldedColumn(folded),
    closed_at: state === 'closed' ? (row.closed_at ?? entry.receivedAt) : null,
  };
  return {
    outcome: 'moved',
    row: next,
    history: {
      seq: entry.seq,
      source: entry.source,
      received_at: entry.receivedAt,
      part: entry.part ?? 0,
      case_id: row.case_id,
      version: next.version,
      move: checked.move,
      from_state: row.state,
      to_state: state,
      actor: action.actor,
      details: canonicalJson(checked.details).toString('utf8'),
    },
  };
}

/** The place as a code of the list, or the words if no place is certain; never a guess. */
function placeColumns(words: string | null): Pick<Opening, 'jurisdiction' | 'placeAsGiven'> {
  return { jurisdiction: codeOf(words), placeAsGiven: unknownPlace(words) };
}

function codeOf(words: string | null): string | null {
  return words === null ? null : mapJurisdiction(words);
}

/** A duplicate moves the receipt to the earliest one; releasing it moves the receipt back. */
function received(
  row: CaseRow,
  before: CaseFolded,
  folded: CaseFolded,
  { move }: CheckedMove,
): Partial<Pick<CaseRow, 'receipt_at' | 'receipt_basis'>> {
  if (move !== 'merge-duplicate' && move !== 'release-duplicate') return {};
  const own = before.ownReceipt ?? { at: row.receipt_at, basis: row.receipt_basis };
  const { at, basis } = governingReceipt(folded, own);
  return { receipt_at: at, receipt_basis: basis as CaseRow['receipt_basis'] };
}

function amended(row: CaseRow, { move, details }: CheckedMove): Partial<CaseRow> {
  if (move === 'link-subject') return { subject: details.subject };
  if (move !== 'amend') return {};
  const earlier = details.receivedAt !== undefined && details.receivedAt < row.receipt_at;
  return {
    ...(details.kind === undefined && details.furtherKinds === undefined
      ? {}
      : { kind: amendedKinds(row.kind, parseFolded(row.folded), details)[0] }),
    ...(details.jurisdiction === undefined ? {} : { jurisdiction: codeOf(details.jurisdiction) }),
    ...(details.requesterName === undefined ? {} : { requester_name: details.requesterName }),
    ...(details.requesterEmail === undefined ? {} : { requester_email: details.requesterEmail }),
    ...(details.language === undefined ? {} : { language: details.language }),
    ...(earlier ? { receipt_at: details.receivedAt, receipt_basis: 'officer' } : {}),
  } as Partial<CaseRow>;
}

type Opening = Pick<
  CaseRow,
  | 'case_id'
  | 'request_id'
  | 'kind'
  | 'jurisdiction'
  | 'requester_name'
  | 'requester_email'
  | 'subject'
  | 'language'
  | 'message'
  | 'channel'
  | 'receipt_at'
  | 'receipt_basis'
> & {
  readonly kindAsGiven: string | null;
  readonly furtherKinds?: readonly RequestKind[];
  readonly placeAsGiven?: string | null;
  /** The requester's postal address. */
  readonly address?: string;
  readonly actor: string;
};

function openedRow(entry: CaseEntry, opening: Opening): FoldedCase {
  const { kindAsGiven, furtherKinds = [], placeAsGiven = null, address, actor, ...columns } = opening;
  const parts = partsOf([columns.kind as RequestKind, ...furtherKinds]);
  return {
    row: {
      ...columns,
      source: entry.source,
      state: 'opened',
      version: 0,
      opened_seq: entry.seq,
      last_seq: entry.seq,
      folded: foldedColumn({
        ...emptyFolded(kindAsGiven, placeAsGiven),
        ...(parts === undefined ? {} : { parts }),
        ...(address === undefined ? {} : { address }),
      }),
      closed_at: null,
    },
    history: {
      seq: entry.seq,
      source: entry.source,
      received_at: entry.receivedAt,
      part: entry.part ?? 0,
      case_id: columns.case_id,
      version: 0,
      move: 'opened',
      from_state: null,
      to_state: 'opened',
      actor,
      // Complete, because documents rebuild the case from its history (rebuildCase).
      details: canonicalJson({
        ...columns,
        ...(furtherKinds.length === 0 ? {} : { furtherKinds: [...furtherKinds] }),
        kindAsGiven,
        placeAsGiven,
        ...(address === undefined ? {} : { address }),
      }).toString('utf8'),
    },
  };
}

/**
 * The case as of the last of these history rows (all of one case, by seq, starting with its opening); null without an
 * opening. For documents, which read history up to their asOf and never the current state.
 */
export function rebuildCase(rows: readonly CaseHistoryRow[]): CaseRow | null {
  let row = null as CaseRow | null;
  for (const past of rows) {
    const entry = { seq: past.seq, source: past.source, receivedAt: past.received_at, part: past.part };
    const details: unknown = JSON.parse(past.details);
    if (past.move === 'opened') {
      row = openedRow(entry, { ...(details as Opening), actor: past.actor }).row;
    } else if (row !== null && past.move === 'reported-again') {
      row = { ...row, last_seq: past.seq };
    } else if (row !== null) {
      const moved = applyMove(row, movedAction(past, details), entry);
      if (moved.outcome === 'refused') throw new Error(`history of ${past.case_id} at ${past.seq}: ${moved.reason}`);
      row = moved.row;
    }
  }
  return row;
}

function movedAction(past: CaseHistoryRow, details: unknown): CaseMoved {
  const { actor, case_id: caseId, version, move } = past;
  return { action: 'case.moved', actor, caseId, basedOn: version - 1, move, details: details as CaseMoved['details'] };
}
