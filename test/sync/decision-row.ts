import type { Insertable } from 'kysely';
import type { Tables } from '../../src/store/schema.ts';

/** A row of the decision history as the projector writes it, with defaults for all other fields. */
export function decisionRow(
  row: Partial<Insertable<Tables['decision_history']>> & { seq: number },
): Insertable<Tables['decision_history']> {
  const at = row.at ?? '2026-07-01T00:00:00.000Z';
  return {
    source: 'acme',
    received_at: at,
    occurred_at: at,
    occurred_basis: 'payload',
    occurred_counts: 1,
    at,
    via: 'webhook',
    decision_id: `r:${row.seq}`,
    record_id: null,
    subject: null,
    banner_id: 'bnr_1',
    state: 'given',
    purposes: '{}',
    label: row.state ?? 'given',
    withdraws: '[]',
    stands: '[]',
    held: '[]',
    banner_version: null,
    action: null,
    method: null,
    domain: null,
    page: null,
    signals: null,
    case_id: null,
    policy_id: null,
    policy_version: null,
    region: null,
    language: null,
    expires_at: null,
    is_first: 1,
    conflicts: 0,
    commitment: '',
    ...row,
  };
}
