/** The column types that differ between the databases. */
interface ColumnTypes {
  readonly blob: string;
  /** A key that the database draws itself. */
  readonly id: string;
  /** Holds a seq. */
  readonly big: string;
}

/** All migrations in order, as statements for one of the databases. A release never changes an earlier one. */
export function migrationsFor(types: ColumnTypes): readonly (readonly string[])[] {
  return [[ledger, deliveries, decisions, cases, scans, calls, snapshots, operation].flatMap((group) => group(types))];
}

/** One thing that a schema consists of, as a database describes it. */
export interface SchemaPart {
  readonly table: string;
  /** `table`, or what belongs to it: `index jobs_due`, `trigger t`, `column seq`. */
  readonly part: string;
  readonly definition: string;
}

/** What differs between the schema that the migrations make and the one that is there, in phrases; empty when nothing does. */
export function schemaDifferences(expected: readonly SchemaPart[], found: readonly SchemaPart[]): string[] {
  const nameOf = ({ table, part }: SchemaPart) => (part === 'table' ? `table ${table}` : `${part} of table ${table}`);
  const definitions = new Map(found.map((one) => [nameOf(one), one.definition]));
  const known = new Set(expected.map(nameOf));
  const differences: string[] = [];
  for (const one of expected) {
    const definition = definitions.get(nameOf(one));
    if (definition === one.definition) continue;
    // Of a table that is missing, its columns and indexes need no mention.
    if (definition === undefined && one.part !== 'table' && !definitions.has(`table ${one.table}`)) continue;
    differences.push(`${nameOf(one)} ${definition === undefined ? 'is missing' : 'was changed'}`);
  }
  for (const one of found) if (!known.has(nameOf(one))) differences.push(`${nameOf(one)} was added`);
  return differences;
}

/** Columns that every history table has. */
function historyColumns({ big }: ColumnTypes): string {
  return `seq ${big} not null, source text not null, received_at text not null`;
}

/** When something happened, by whose word, and the time that reports use. */
const occurred =
  'occurred_at text not null, occurred_basis text not null, occurred_counts integer not null, at text not null';

/** The ledger, its checkpoints, and how far its readers have come. */
function ledger({ big, blob }: ColumnTypes): readonly string[] {
  return [
    `create table entries (
      seq ${big} not null primary key, source text not null, source_seq ${big} not null, kind text not null,
      dedupe_key ${blob} not null, received_at text not null, meta ${blob}, body ${blob}, salt ${blob},
      commitment ${blob} not null, leaf_hash ${blob} not null, mac ${blob} not null,
      unique (source, kind, dedupe_key), unique (source, source_seq))`,
    `create table arrivals (seq ${big} not null primary key, count integer not null, times text not null, last_at text not null)`,
    `create table checkpoints (size ${big} not null, epoch integer not null, root ${blob} not null, frontier ${blob} not null, note text not null,
      created_at text not null, primary key (epoch, size))`,
    `create table settings (name text not null primary key, value text not null)`,
    `create table positions (name text not null primary key, seq ${big} not null)`,
    `create table quarantine (seq ${big} not null primary key, source text not null, event text, reason text not null, received_at text not null)`,
    'create index quarantine_source on quarantine (source, seq)',
  ];
}

/** What was delivered, and what it says of policies. */
function deliveries(types: ColumnTypes): readonly string[] {
  const { big } = types;
  const history = historyColumns(types);
  return [
    `create table delivery_history (${history}, event text, verdict text not null, outcome text not null, reason text,
      content_type text, bytes integer not null, commitment text not null, primary key (seq))`,
    `create index delivery_history_source on delivery_history (source, seq)`,
    `create table delivery_counts (source text not null, day text not null, event text not null, deliveries integer not null,
      primary key (source, day, event))`,
    `create table policy_history (${history}, ${occurred}, event text not null, change text not null, policy_id text not null,
      policy_type text, title text, brand_name text, jurisdiction text, language text, version text, hosted_url text, primary key (seq))`,
    `create index policy_history_policy on policy_history (source, policy_id, seq)`,
    // Documents read the history of one source in ledger order.
    'create index policy_history_source on policy_history (source, seq)',
    `create table policies (source text not null, policy_id text not null, policy_type text, title text, brand_name text,
      jurisdiction text, language text, version text, hosted_url text, status text not null, first_seq ${big} not null,
      last_seq ${big} not null, last_at text not null, published_at text, primary key (source, policy_id))`,
  ];
}

/** Decisions of visitors. */
function decisions(types: ColumnTypes): readonly string[] {
  const { big } = types;
  const history = historyColumns(types);
  return [
    `create table decision_history (${history}, ${occurred}, via text not null, decision_id text not null, record_id text, subject text,
      banner_id text, banner_version text, state text not null, purposes text not null, label text not null, withdraws text not null,
      stands text not null, held text not null, action text, method text, domain text, page text, signals text, policy_id text, policy_version text, region text,
      language text, expires_at text, is_first integer not null, conflicts integer not null, case_id text, commitment text not null,
      primary key (seq))`,
    // Matches deliveries with pulled rows, without leaving the index.
    `create index decision_history_decision on decision_history (source, decision_id, seq, via, conflicts)`,
    `create index decision_history_subject on decision_history (source, subject, seq)`,
    `create index decision_history_at on decision_history (source, at, seq)`,
    // Records that contradict another of the same decision are few, and asked for in every total.
    `create index decision_history_conflicts on decision_history (source, decision_id, seq) where conflicts = 1`,
    // Withdrawals by request are few, and looked for by their way in.
    `create index decision_history_request on decision_history (source, subject, at) where via = 'request'`,
    // Banners that a source's decisions name, and whether any row of the log names one.
    'create index decision_history_banner on decision_history (source, banner_id, via)',
    `create table decision_judgements (seq ${big} not null, source text not null, decision_id text not null, state text not null,
      purposes text not null, label text not null, withdraws text not null, stands text not null, held text not null, primary key (source, decision_id, seq))`,
    `create table decisions (source text not null, banner_id text not null, subject text not null, decision_id text not null,
      state text not null, purposes text not null, label text not null, withdraws text not null, stands text not null, held text not null, policy_id text, policy_version text, region text, expires_at text,
      at text not null, first_seq ${big} not null, last_seq ${big} not null, changes integer not null,
      primary key (source, subject, banner_id))`,
    `create table ambiguous_repeats (seq ${big} not null primary key, source text not null, event text not null, resolution text not null,
      settled_repeats integer not null default 0)`,
  ];
}

/** Data subject requests, what officers did, and what was produced. */
function cases(types: ColumnTypes): readonly string[] {
  const { big } = types;
  const history = historyColumns(types);
  return [
    `create table case_history (${history}, case_id text not null, version integer not null, move text not null, from_state text,
      to_state text not null, actor text not null, details text not null, primary key (seq))`,
    `create index case_history_case on case_history (case_id, version)`,
    'create index case_history_source on case_history (source, seq)',
    `create table cases (case_id text not null primary key, source text not null, request_id text, kind text not null, jurisdiction text,
      requester_name text, requester_email text, subject text, language text, message text, channel text not null,
      receipt_at text not null, receipt_basis text not null, state text not null, version integer not null,
      opened_seq ${big} not null, last_seq ${big} not null, folded text not null, closed_at text)`,
    `create index cases_source on cases (source, receipt_at)`,
    `create index cases_request on cases (source, request_id)`,
    `create table action_history (${history}, action text not null, actor text not null, object text, details text not null, primary key (seq))`,
    `create index action_history_object on action_history (object, seq)`,
    'create index action_history_source on action_history (source, seq)',
    `create table banner_evidence (${history}, change text not null, evidence ${big} not null, actor text not null, banner_id text not null,
      sha256 text, bytes integer, media_type text, file_name text, shown_from text, shown_to text, note text, commitment text not null,
      primary key (seq))`,
    `create index banner_evidence_source on banner_evidence (source, seq)`,
    `create table documents (document_id text not null primary key, source text not null, name text not null, format text not null,
      file_name text not null, sha256 text not null, bytes ${big} not null, as_of ${big} not null, case_id text, parameters text not null,
      actor text not null, seq ${big} not null, created_at text not null, downloads integer not null)`,
    `create index documents_sha256 on documents (sha256)`,
  ];
}

/** Scans and integrations. */
function scans(types: ColumnTypes): readonly string[] {
  const { big } = types;
  const history = historyColumns(types);
  return [
    `create table scan_history (${history}, ${occurred}, scan_id text, domain text, status text, cookies_found integer,
      trackers_found integer, uncategorised integer, score ${big === 'bigint' ? 'double precision' : 'real'}, before_consent integer,
      items text, unread_items integer not null, listed integer not null, primary key (seq))`,
    `create index scan_history_source on scan_history (source, at)`,
    `create table scans (source text not null, domain text not null, scans integer not null, cookies_found integer, trackers_found integer,
      uncategorised integer, score ${big === 'bigint' ? 'double precision' : 'real'}, last_seq ${big} not null, at text not null,
      before_consent integer, before_consent_seq ${big}, before_consent_at text, primary key (source, domain))`,
    `create table integration_history (${history}, ${occurred}, integration_id text, name text, site text, change text not null, error text,
      primary key (seq))`,
    `create index integration_history_source on integration_history (source, seq)`,
    `create table integrations (source text not null, integration_key text not null, integration_id text, name text, site text,
      status text not null, error text, last_seq ${big} not null, at text not null, primary key (source, integration_key))`,
  ];
}

/**
 * Calls to the service: what became of each, the plans of bulk files and their items, and the list of published policies. `call_slots` is no read model:
 * its rows are written in the transaction of the intents that they count, so that no two processes take the same slot.
 */
function calls({ big }: ColumnTypes): readonly string[] {
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

/** Texts of policies as they were fetched, and the service's own description. */
function snapshots({ big }: ColumnTypes): readonly string[] {
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

/** What an installation works with besides: sources, jobs, sessions. It follows from no entry. */
function operation({ big, blob, id }: ColumnTypes): readonly string[] {
  return [
    `create table sources (slug text not null primary key, name text not null, base_url text, site_url text, sealed ${blob} not null,
      options text not null, created_at text not null, updated_at text not null, offboarded_at text)`,
    `create table sync_positions (source text not null, banner_id text not null, cursor text, run_id text, run_from text, run_to text, run_as_of text,
      watermark text, rows_total ${big} not null, last_success_at text, last_error text, last_error_at text, updated_at text not null,
      earliest text, unreadable_total integer not null default 0, recounted_at text, recount text, run_unreadable integer not null default 0,
      run_plan text, read_to text, gaps text, form text, dismissed_at text, primary key (source, banner_id))`,
    `create table rejected_deliveries (id ${id}, source text not null, received_at text not null, address text not null,
      reason text not null, bytes integer not null, sealed ${blob} not null)`,
    `create index rejected_deliveries_address on rejected_deliveries (address)`,
    `create table rejected_counts (source text not null, minute text not null, reason text not null, count integer not null,
      primary key (source, minute, reason))`,
    `create table jobs (id text not null primary key, kind text not null, job_key text, payload text not null, state text not null,
      priority integer not null, run_at text not null, attempts integer not null, max_attempts integer not null, lease_owner text,
      lease_token integer not null, lease_until text, cancel_requested integer not null, progress text, result text, error text,
      created_at text not null, updated_at text not null, finished_at text)`,
    `create index jobs_due on jobs (state, run_at, priority)`,
    `create unique index jobs_unfinished on jobs (kind, job_key) where state in ('waiting', 'running') and job_key is not null`,
    // SQLite does not take the partial index on unfinished jobs for a condition with parameters.
    'create index jobs_key on jobs (kind, job_key)',
    'create index jobs_created on jobs (created_at)',
    `create table job_counts (kind text not null, outcome text not null, count ${big} not null, primary key (kind, outcome))`,
    `create table schedules (name text not null primary key, kind text not null, cron text not null, payload text not null,
      next_at text not null, last_at text)`,
    `create table sign_in_links (token_hash ${blob} not null primary key, officer text not null, created_at text not null,
      expires_at text not null, used_at text)`,
    `create table sessions (id_hash ${blob} not null primary key, officer text not null, created_at text not null, expires_at text not null)`,
  ];
}
