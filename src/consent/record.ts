import { type ConsentRecord, consentRecordOf } from '../../reports/consent-record.ts';
import { loadPolicyTextIntervals, createTextCitation } from '../../reports/policy-texts.ts';
import type { CheckpointToPrint } from '../../reports/report.ts';
import { timelineOf } from '../core/consent-timeline.ts';
import type { ControllerProfile } from '../law/profile.ts';
import { createHistory } from '../store/queries/history.ts';
import { createBannerCitation } from '../store/queries/history-banners.ts';
import { END_OF_TIME, findSubject, type LookUpDeps, recordLookUp } from './look-up.ts';

interface RecordRequest {
  readonly source: string;
  /** The id of a decision or of its record, or the number of one of its entries. */
  readonly id: string;
  readonly actor: string;
  readonly asOf: number;
  readonly profile: ControllerProfile | null;
  readonly checkpoint: CheckpointToPrint | null;
}

type RecordOutcome =
  | { readonly outcome: 'found'; readonly record: ConsentRecord; readonly recorded: number }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** One decision as a consent record in the form of ISO/IEC TS 27560. Recorded as a look-up, since it is one. */
export async function loadConsentRecord(deps: LookUpDeps, request: RecordRequest): Promise<RecordOutcome> {
  const { source, id, asOf, actor } = request;
  const decisionId = await findDecision(deps, request);
  if (decisionId === null) return { outcome: 'not-found' };
  const found = await findSubject(deps, { source, identifier: decisionId, asOf });
  if ('outcome' in found) return found;
  const timeline = timelineOf(found.rows);
  const decision = timeline.find((one) => one.decisionId === decisionId);
  if (decision === undefined) return { outcome: 'not-found' };
  const recorded = await recordLookUp(deps, { source, identifier: id, actor, at: null }, found);
  const history = createHistory(deps.store.read);
  const scope = { source, asOf };
  const policyId = decision.rows.find(({ policy_id }) => policy_id !== null)?.policy_id ?? null;
  const texts =
    policyId === null
      ? []
      : await loadPolicyTextIntervals(history.textLooks(scope, new Set([policyId])), decision.at, END_OF_TIME);
  const deliveries = decision.rows.filter(({ via }) => via === 'webhook').map(({ seq }) => seq);
  const record = consentRecordOf({
    ...scope,
    decision,
    signatures: await history.signatures(scope, deliveries),
    citation: createTextCitation(texts)({ policy_id: policyId, at: decision.at }),
    banner: createBannerCitation(await history.bannerEvidence(scope))(decision),
    profile: request.profile,
    checkpoint: request.checkpoint,
  });
  return { outcome: 'found', record, recorded };
}

async function findDecision(deps: LookUpDeps, { source, id, asOf }: RecordRequest): Promise<string | null> {
  const given = id.trim();
  const rows = deps.store.read
    .selectFrom('decision_history')
    .select('decision_id')
    .where('source', '=', source)
    .where('seq', '<=', asOf)
    .orderBy('seq')
    .limit(1);
  const byId = await rows.where('decision_id', 'in', [given, `r:${given}`]).executeTakeFirst();
  if (byId !== undefined) return byId.decision_id;
  if (!/^\d{1,15}$/.test(given)) return null;
  const bySeq = await rows.where('seq', '=', Number(given)).executeTakeFirst();
  return bySeq?.decision_id ?? null;
}
