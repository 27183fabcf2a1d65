import type { ColumnTypes } from './0001-spine.ts';

/**
 * Calls to the service: what became of each, the plans of bulk files and their items, and the list of published policies. `call_slots` is no read model:
 * its rows are written in the transaction of the intents that they count, so that no two processes take the same slot.
 */
export function calls({ big }: ColumnTypes): readonly string[] {
  return [
    `create table calls (request_id text not null primary key, source text not null, operation text not null, via text not null, actor text not null,
      key_id text not null, plan_id text, positions text not null, policy_type text, jurisdiction text, language text, business_name text,
      state text not null, http_status integer, error_kind text, error text, policy_id text, version text, hosted_url text, remaining ${big},
      webhooks_queued ${big}, batch_id text, asked_at text not null, due_at text not null, finished_at text, settled_by text, evidence ${big},
      intent_seq ${big} not null, answer_seq ${big}, last_seq ${big} not null)`,
    'create index calls_source on calls (source, intent_seq)',
    `create index calls_unsettled on calls (state, due_at)`,
    `create table call_plans (plan_id text not null primary key, source text not null, actor text not null, file text, digest text not null,
      items integer not null, created_at text not null, seq ${big} not null)`,
    `create table call_items (plan_id text not null, position integer not null, source text not null, item text not null, state text not null,
      request_id text, attempts integer not null, policy_id text, last_seq ${big} not null, primary key (plan_id, position))`,
    `create table listed_policies (source text not null, policy_id text not null, policy_type text, title text, jurisdiction text, language text,
      updated_at text, url text, list_id text not null, first_seq ${big} not null, last_seq ${big} not null, first_listed_at text not null,
      gone_at text, primary key (source, policy_id))`,
    `create table policy_lists (source text not null primary key, list_id text not null, digest text not null, policies integer not null,
      fetched_at text not null, seq ${big} not null)`,
    `create table call_slots (request_id text not null primary key, key_id text not null, sort text not null, at text not null)`,
    'create index call_slots_key on call_slots (key_id, sort, at)',
  ];
}
