import type { ColumnTypes } from './0001-spine.ts';

/** Texts of policies as they were fetched, and the service's own description. */
export function snapshots({ big }: ColumnTypes): readonly string[] {
  return [
    `create table snapshot_history (seq ${big} not null, source text not null, received_at text not null, what text not null,
      fetch_id text not null, why text not null, phase text not null, target text not null, policy_type text, policy_id text,
      status integer not null, outcome text not null, unchanged integer not null, url text not null, bytes integer not null,
      body_sha256 text not null, body_seq ${big} not null, text_sha256 text, text_form text, content_type text, date_header text,
      age integer, etag text, origin_from text not null, origin_to text not null, findings text, primary key (seq))`,
    `create index snapshot_history_target on snapshot_history (source, target, seq)`,
    `create table policy_texts (source text not null, target text not null, version integer not null, policy_type text, policy_id text,
      text_sha256 text, body_seq ${big} not null, first_seq ${big} not null, last_seq ${big} not null, not_before text,
      first_seen text not null, last_seen text not null, settled integer not null, sightings integer not null,
      primary key (source, target, version))`,
  ];
}
