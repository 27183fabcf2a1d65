import { mapJurisdiction } from '../src/core/jurisdictions.ts';
import { z } from 'zod';
import { computeDeadline, type Deadline } from '../src/core/deadline.ts';
import type { Asked } from '../src/core/deadline-model.ts';
import { createRegimeTable, resolveRegime, type RegimeTable } from '../src/core/regime-table.ts';
import { requestKinds, type RequestKind } from '../src/core/vocabulary.ts';
import type { CaseMoveRow } from '../src/store/queries/history-cases.ts';
import { periodOf, type ReportInput } from './report.ts';

/** A request as 11 CCR 7101 wants it recorded, with its deadline. No name, no address: the case id leads to them. */
export interface RegisterRow {
  readonly caseId: string;
  readonly receivedAt: string;
  readonly receiptBasis: string;
  readonly kind: string;
  readonly jurisdiction: string | null;
  readonly channel: string;
  readonly regime: string;
  readonly aimFor: string;
  readonly legalLimit: string;
  readonly computation: readonly string[];
  readonly citation: string;
  readonly extended: boolean;
  readonly state: string;
  /** When and how it was answered or refused; null while it is open. */
  readonly responseAt: string | null;
  readonly response: string | null;
  readonly basisOfDenial: string | null;
  readonly lastEntry: number;
}

const text = z.string().nullish();
const openingSchema = z.looseObject({
  kind: text,
  jurisdiction: text,
  channel: text,
  receipt_at: z.string(),
  receipt_basis: z.enum(['payload', 'received', 'officer', 'assumed-offset']),
});
const movedSchema = z.looseObject({
  at: text,
  kind: text,
  jurisdiction: text,
  receivedAt: text,
  until: text,
  disclosure: text,
  channel: text,
  basis: text,
  reasons: text,
  how: text,
  informationAt: text,
  askedAt: text,
  paidAt: text,
});

/** The requests received in the period, from the history of their moves up to asOf. */
export async function* registerRows(input: ReportInput): AsyncGenerator<RegisterRow> {
  const regimes = input.regimes ?? createRegimeTable();
  const { from, to } = periodOf(input);
  for await (const { case_id: caseId } of input.history.caseOpenings(input)) {
    const row = registerRow(caseId, await input.history.caseMoves(input, caseId), input, regimes);
    // The receipt may have been corrected since the opening, so it is compared here.
    if (row !== null && row.receivedAt >= from && row.receivedAt < to) yield row;
  }
}

function registerRow(
  caseId: string,
  moves: readonly CaseMoveRow[],
  input: ReportInput,
  regimes: RegimeTable,
): RegisterRow | null {
  const [first] = moves;
  if (first === undefined) return null;
  const opening = openingSchema.parse(JSON.parse(first.details));
  let { kind, jurisdiction, receipt_at: receivedAt, receipt_basis: basis } = opening;
  let extension: { noticeAt: string; until: string | null } | null = null;
  const clarifications: { askedAt: string; receivedAt: string | null }[] = [];
  const awaited: { identity: Asked | null; fee: Asked | null } = { identity: null, fee: null };
  let settled: { at: string; response: string; basis: string | null } | null = null;
  for (const move of moves.slice(1)) {
    const details = movedSchema.parse(JSON.parse(move.details));
    const at = details.at ?? move.received_at;
    switch (move.move) {
      case 'amend':
        if (details.kind !== undefined) kind = details.kind;
        if (details.jurisdiction !== undefined)
          jurisdiction = details.jurisdiction === null ? null : mapJurisdiction(details.jurisdiction);
        if (details.receivedAt != null && details.receivedAt < receivedAt)
          [receivedAt, basis] = [details.receivedAt, 'officer'];
        break;
      case 'extend':
        extension = { noticeAt: at, until: details.until ?? null };
        break;
      // The UK counts from what came last: the request, the information on identity, the fee (UK GDPR Art. 12A).
      case 'ask-identity':
        awaited.identity = { askedAt: awaited.identity?.askedAt ?? at, receivedAt: null };
        break;
      case 'confirm-identity':
        if (awaited.identity !== null)
          awaited.identity = { ...awaited.identity, receivedAt: details.informationAt ?? at };
        break;
      case 'fail-identity':
        if (awaited.identity !== null) awaited.identity = { ...awaited.identity, receivedAt: at };
        break;
      case 'record-fee':
        if (details.askedAt != null) awaited.fee = { askedAt: details.askedAt, receivedAt: details.paidAt ?? null };
        break;
      case 'ask-clarification':
        clarifications.push({ askedAt: at, receivedAt: null });
        break;
      case 'receive-clarification':
        for (const one of clarifications) one.receivedAt ??= at;
        break;
      case 'answer':
        settled = {
          at,
          response: `answered (${details.disclosure ?? 'as recorded'}) by ${details.channel ?? 'an unnamed channel'}`,
          basis: null,
        };
        break;
      case 'refuse':
        settled = { at, response: `refused: ${details.reasons ?? ''}`, basis: details.basis ?? null };
        break;
      case 'withdraw':
        settled = { at, response: 'withdrawn by the requester', basis: null };
        break;
      case 'close-duplicate':
        settled = { at, response: 'closed as a duplicate', basis: null };
        break;
      case 'reopen':
        settled = null;
        break;
    }
  }
  const known: RequestKind = requestKinds.find((one) => one === kind) ?? 'unknown';
  const resolution = resolveRegime(regimes, { jurisdiction: jurisdiction ?? null, kind: known }, input.profile);
  const deadline: Deadline = computeDeadline({
    row: resolution.row,
    receiptAt: receivedAt,
    receiptBasis: basis,
    timeZone: input.timeZone,
    holidays: resolution.holidays,
    extension,
    clarifications,
    ...awaited,
    suspendByGuidance: regimes.suspendByGuidance,
    asOf: settled?.at ?? input.generatedAt,
  });
  const last = moves[moves.length - 1] ?? first;
  return {
    caseId,
    receivedAt,
    receiptBasis: basis,
    kind: known,
    jurisdiction: jurisdiction ?? null,
    channel: opening.channel ?? 'not recorded',
    regime: deadline.regime,
    aimFor: deadline.aimFor,
    legalLimit: deadline.legalLimit,
    computation: deadline.explanation,
    citation: deadline.citation,
    extended: extension !== null,
    state: last.to_state,
    responseAt: settled?.at ?? null,
    response: settled?.response ?? null,
    basisOfDenial: settled?.basis ?? null,
    lastEntry: last.seq,
  };
}
