import { renderJson } from '../render/json.ts';
import type { PackPart } from './context.ts';

/** The case and how its deadline was computed. Nothing that officers wrote among themselves. */
export const caseFile: PackPart = ({ input, reference, disclosure }) => ({
  name: 'case.json',
  what: 'the request and how the date for its answer was computed',
  content: renderJson({
    reference,
    case: {
      id: input.case.case_id,
      requestId: input.case.request_id,
      kind: input.case.kind,
      jurisdiction: input.case.jurisdiction,
      receivedAt: input.case.receipt_at,
      receiptBasis: input.case.receipt_basis,
      channel: input.case.channel,
    },
    deadline: { ...input.deadline, timeZone: input.timeZone },
    identity: input.identity,
    match: input.match.status,
    disclosure,
  }),
});
