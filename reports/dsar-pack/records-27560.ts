import { timelineOf } from '../../src/core/consent-timeline.ts';
import { consentRecordOf } from '../consent-record.ts';
import { renderJson } from '../render/json.ts';
import type { PackContext, PackPart } from './context.ts';

/** Each decision of the person as a consent record in the form of ISO/IEC TS 27560, for programs that know it. */
export const records27560: PackPart = async (context) =>
  context.disclosure === 'full'
    ? {
        name: 'records-27560.json',
        what: 'the decisions as consent records (ISO/IEC TS 27560)',
        content: renderJson({ case: context.input.case.case_id, records: recordsOf(context) }),
      }
    : null;

async function* recordsOf(context: PackContext): AsyncGenerator<Record<string, unknown>> {
  const { input, cite } = context;
  const rows = [];
  for await (const row of context.decisions()) rows.push(row);
  for (const decision of timelineOf(rows)) {
    const policyId = decision.rows.find(({ policy_id }) => policy_id !== null)?.policy_id ?? null;
    const deliveries = decision.rows.filter(({ via }) => via === 'webhook').map(({ seq }) => Number(seq));
    yield consentRecordOf({
      source: input.source,
      asOf: input.asOf,
      decision,
      signatures: await input.history.signatures(input, deliveries),
      citation: cite({ policy_id: policyId, at: decision.at }),
      banner: context.banner.cite(decision),
      profile: input.profile,
      checkpoint: input.checkpoint,
    });
  }
}
