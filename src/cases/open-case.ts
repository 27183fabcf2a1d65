import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { jurisdictionSchema } from '../law/jurisdictions.ts';
import { sourceSlugSchema } from '../core/source.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { CaseWriting } from './view.ts';

const optional = z.string().trim().min(1).max(4000).nullable().default(null);

/** A request that reached the controller by letter, mail, telephone or in person, as an officer records it. */
const openCaseSchema = z.strictObject({
  source: sourceSlugSchema,
  actor: z.string().trim().min(1).max(200),
  /** When it reached any channel of the controller (EDPB 01/2022 §159). */
  receivedAt: z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString()),
  kind: z.enum(requestKinds),
  /** How it came: letter, mail, telephone … */
  channel: z.string().trim().min(1).max(200),
  requesterName: optional,
  requesterEmail: optional,
  /** An id that the requester read from the own browser. */
  subject: optional,
  /** Where the requester is: a code of the list. */
  jurisdiction: jurisdictionSchema.nullable().default(null),
  message: optional,
  /** The same reference opens the same case once: a form's own number, so that a double click opens one case. */
  reference: z.string().min(1).max(200).optional(),
});
export type OpenCaseInput = z.input<typeof openCaseSchema>;

type OpenedCase =
  | { readonly outcome: 'opened' | 'duplicate'; readonly caseId: string; readonly seq: number }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Records a request as a case. The case is there once the projection has come to `seq`. */
export async function openCase(deps: Pick<CaseWriting, 'ledger' | 'clock'>, input: OpenCaseInput): Promise<OpenedCase> {
  const parsed = openCaseSchema.safeParse(input);
  if (!parsed.success) {
    return {
      outcome: 'refused',
      problems: parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    };
  }
  const { source, reference, ...request } = parsed.data;
  const now = isoNow(deps.clock);
  if (request.receivedAt > now) return { outcome: 'refused', problems: ['receivedAt: is in the future'] };
  const caseId = `${source}-${idPart(source, reference ?? randomUUID())}`;
  const action: Action = { action: 'case.opened', caseId, ...request };
  const appended = await appendAction(deps.ledger, source, action, ['case-opened', caseId], now);
  return { outcome: appended.outcome === 'stored' ? 'opened' : 'duplicate', caseId, seq: appended.seq };
}

/** `o` and ten digits: never mistaken for the id of a reported request, which ends in a plain seq. */
function idPart(source: string, reference: string): string {
  const digest = createHash('sha256').update(`${source}\n${reference}`).digest();
  return `o${(digest.readBigUInt64BE() % 10_000_000_000n).toString().padStart(10, '0')}`;
}
