import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { CallOperation, CallState, CallWay, PlanItemState } from '../core/call.ts';
import type { Judged } from '../core/consent-judgement.ts';
import type { ConsentState, EntryKind } from '../core/vocabulary.ts';

/**
 * The tables, as both databases have them. Booleans are 0 or 1, times are ISO 8601 UTC text with milliseconds,
 * JSON is text, bytes are blobs. Every history row carries the `seq` of its entry: documents read rows with seq ≤ asOf.
 */

/** An immutable column: written once, never updated. */
type Fixed<T> = ColumnType<T, T, never>;

export interface EntriesTable {
  seq: Fixed<number>;
  source: Fixed<string>;
  source_seq: Fixed<number>;
  kind: Fixed<EntryKind>;
  dedupe_key: Fixed<Buffer>;
  received_at: Fixed<string>;
  /** Null only after an erasure; so are body and salt. */
  meta: ColumnType<Buffer | null, Buffer, null>;
  body: ColumnType<Buffer | null, Buffer, null>;
  salt: ColumnType<Buffer | null, Buffer, null>;
  commitment: Fixed<Buffer>;
  leaf_hash: Fixed<Buffer>;
  mac: Fixed<Buffer>;
}

/** Repeats of an entry: one row from the first repeat on. */
interface ArrivalsTable {
  seq: number;
  /** Repeats beyond the first arrival. */
  count: number;
  /** JSON array of the first hundred repeat times. */
  times: string;
  last_at: string;
}

interface CheckpointsTable {
  size: number;
  epoch: number;
  root: Buffer;
  /** Right edge of the tree at this size (crypto/merkle.ts), so that sealing goes on from here. */
  frontier: Buffer;
  /** The signed note (C2SP tlog-checkpoint). */
  note: string;
  created_at: string;
}

interface SettingsTable {
  /** instance_id, epoch, fingerprint_instance, fingerprint_signing … */
  name: string;
  value: string;
}

/** How far a projector (or another reader of the ledger) has come; moved by compare-and-set in the writing transaction. */
interface PositionsTable {
  name: string;
  seq: number;
}

interface QuarantineTable {
  seq: number;
  source: string;
  event: string | null;
  reason: string;
  received_at: string;
}

/** Columns every history table shares. */
interface HistoryColumns {
  seq: number;
  source: string;
  received_at: string;
}
interface OccurredColumns {
  occurred_at: string;
  occurred_basis: 'payload' | 'row' | 'received' | 'assumed-offset' | 'officer';
  /** 1 when the claimed time counts; else `at` is the received time. */
  occurred_counts: number;
  /** The time periods of reports use: occurred_at where it counts, else received_at. */
  at: string;
}

export interface DeliveryHistoryTable extends HistoryColumns {
  event: string | null;
  verdict: string;
  outcome: 'read' | 'unknown-event' | 'unreadable';
  reason: string | null;
  content_type: string | null;
  bytes: number;
  /** Of the entry, lower-case hex: what documents cite. A bare hash of the body would outlive its erasure. */
  commitment: string;
}
interface DeliveryCountsTable {
  source: string;
  /** UTC date, YYYY-MM-DD. */
  day: string;
  event: string;
  deliveries: number;
}

export interface PolicyHistoryTable extends HistoryColumns, OccurredColumns {
  event: string;
  change: 'created' | 'updated' | 'published' | 'deleted';
  policy_id: string;
  policy_type: string | null;
  title: string | null;
  brand_name: string | null;
  jurisdiction: string | null;
  language: string | null;
  version: string | null;
  hosted_url: string | null;
}
export interface PoliciesTable {
  source: string;
  policy_id: string;
  policy_type: string | null;
  title: string | null;
  brand_name: string | null;
  jurisdiction: string | null;
  language: string | null;
  version: string | null;
  hosted_url: string | null;
  status: 'created' | 'updated' | 'published' | 'deleted';
  first_seq: number;
  last_seq: number;
  last_at: string;
  published_at: string | null;
}

export interface DecisionHistoryTable extends HistoryColumns, OccurredColumns {
  /** `request`: an officer carried out what a data subject asked for (`case_id`). */
  via: 'webhook' | 'pull' | 'request';
  /**
   * `r:<record id>`, else `c:<hash of banner, subject, time and choice>`: a webhook and a pulled row of one decision share it.
   * `q:<seq>` of a withdrawal by request.
   */
  decision_id: string;
  record_id: string | null;
  subject: string | null;
  banner_id: string | null;
  banner_version: string | null;
  /** As the record states it. */
  state: ConsentState;
  /** Canonical JSON object purpose → granted | denied. */
  purposes: string;
  /**
   * What the decision amounts to by what was known at its seq (core/consent-judgement.ts). An earlier decision that becomes known later
   * may change it: `decision_judgements` says so from then on.
   */
  label: Judged;
  /** Canonical JSON array of the purposes that it withdraws, and of those provably granted once it was made. `*`: all that are not named. */
  withdraws: string;
  stands: string;
  /** JSON array of what is held besides what it grants itself (core/consent-timeline.ts, Hold): from earlier decisions, expired, or in doubt. */
  held: string;
  /** The record's own word for what the visitor did, and how consent was asked for. */
  action: string | null;
  method: string | null;
  domain: string | null;
  /** Origin and path. */
  page: string | null;
  /** Canonical JSON object name → value of what came along and is no purpose; null without any. */
  signals: string | null;
  policy_id: string | null;
  policy_version: string | null;
  region: string | null;
  language: string | null;
  expires_at: string | null;
  /** 1 on the first row of its decision_id within the source: totals count these. */
  is_first: number;
  /** 1 when an earlier row of the same decision_id says something else. */
  conflicts: number;
  /** The case that asked for it; null unless via `request`. */
  case_id: string | null;
  /** Of the entry, lower-case hex: what documents cite. A bare hash of the body would outlive its erasure. */
  commitment: string;
}
/** How a decision is judged from the entry `seq` on, because a decision made before it, or another record of it, became known only then. */
interface DecisionJudgementsTable {
  seq: number;
  source: string;
  decision_id: string;
  /** State and choice by all its records together. */
  state: ConsentState;
  purposes: string;
  label: Judged;
  withdraws: string;
  stands: string;
  held: string;
}
interface DecisionsTable {
  source: string;
  banner_id: string;
  subject: string;
  decision_id: string;
  state: ConsentState;
  purposes: string;
  /** Of the latest decision by time, with all that is known now; columns as in the history. */
  label: Judged;
  withdraws: string;
  stands: string;
  held: string;
  policy_id: string | null;
  policy_version: string | null;
  region: string | null;
  expires_at: string | null;
  at: string;
  first_seq: number;
  last_seq: number;
  /** Decisions (distinct decision_id) of this subject on this banner. */
  changes: number;
}

/** A repeated delivery whose body carries neither id nor time: a new choice, or a repeat? Unresolved until the pulled log decides. */
interface AmbiguousRepeatsTable {
  seq: number;
  source: string;
  event: string;
  resolution: 'unresolved' | 'repeat' | 'new-choice';
  /** How many repeats there were when it was resolved; with more by now it is unresolved again. */
  settled_repeats: number;
}

export interface CaseHistoryTable extends HistoryColumns {
  case_id: string;
  /** 0 for the opening, then 1, 2, … */
  version: number;
  move: string;
  from_state: string | null;
  to_state: string;
  actor: string;
  /** Canonical JSON of the move's details. */
  details: string;
}
export interface CasesTable {
  case_id: string;
  source: string;
  request_id: string | null;
  kind: string;
  jurisdiction: string | null;
  requester_name: string | null;
  requester_email: string | null;
  subject: string | null;
  language: string | null;
  message: string | null;
  channel: string;
  /** The legal receipt, ISO 8601 UTC, and by whose word. */
  receipt_at: string;
  receipt_basis: 'payload' | 'received' | 'officer' | 'assumed-offset';
  state: string;
  version: number;
  opened_seq: number;
  last_seq: number;
  /** Canonical JSON: everything else folded from the moves (identity, extension, suspension, refusal …). */
  folded: string;
  closed_at: string | null;
}

export interface ScanHistoryTable extends HistoryColumns, OccurredColumns {
  scan_id: string | null;
  domain: string | null;
  status: string | null;
  cookies_found: number | null;
  trackers_found: number | null;
  uncategorised: number | null;
  score: number | null;
  /** Found before the visitor had chosen, although they need consent; null: not said. */
  before_consent: number | null;
  /** JSON array of what it found (core/fact.ts); null where it gives numbers alone. */
  items: string | null;
  /** Things in its lists that could not be read: they are in the body. */
  unread_items: number;
  /** 1: `items` is an inventory of the site, since the scan lists what it found and did not fail. */
  listed: number;
}
interface ScansTable {
  source: string;
  /** The domain, or '' where the payload names none. */
  domain: string;
  scans: number;
  cookies_found: number | null;
  trackers_found: number | null;
  uncategorised: number | null;
  score: number | null;
  last_seq: number;
  at: string;
  /** Of the latest scan that says how many it found before consent: that number, its entry and its time. */
  before_consent: number | null;
  before_consent_seq: number | null;
  before_consent_at: string | null;
}

export interface IntegrationHistoryTable extends HistoryColumns, OccurredColumns {
  integration_id: string | null;
  name: string | null;
  site: string | null;
  change: 'connected' | 'disconnected' | 'lost';
  /** Why, in the payload's own words. */
  error: string | null;
}
export interface IntegrationsTable {
  source: string;
  /** The service's id, else the name, else ''. */
  integration_key: string;
  integration_id: string | null;
  name: string | null;
  site: string | null;
  status: 'connected' | 'disconnected' | 'lost';
  error: string | null;
  last_seq: number;
  at: string;
}

export interface ActionHistoryTable extends HistoryColumns {
  action: string;
  actor: string;
  /** What it was done to: a case, document or source id. */
  object: string | null;
  /** The action's body, canonical JSON. */
  details: string;
}

/** What officers added, or retracted, as evidence of how a banner was shown. Rows of a retraction have neither file nor period. */
interface BannerEvidenceTable extends HistoryColumns {
  change: 'added' | 'retracted';
  /** The entry that added it. */
  evidence: number;
  actor: string;
  banner_id: string;
  /** Of the file in DATA_DIR/evidence. */
  sha256: string | null;
  bytes: number | null;
  media_type: string | null;
  file_name: string | null;
  /** By the officer's word; `shown_to` exclusive, null: still shown. */
  shown_from: string | null;
  shown_to: string | null;
  /** Of a retraction its reason. */
  note: string | null;
  /** Of the entry, hex. */
  commitment: string;
}

export interface DocumentsTable {
  document_id: string;
  source: string;
  name: string;
  format: string;
  file_name: string;
  sha256: string;
  bytes: number;
  as_of: number;
  case_id: string | null;
  /** Canonical JSON. */
  parameters: string;
  actor: string;
  seq: number;
  created_at: string;
  downloads: number;
}

/** Every look at a text of a policy, or at the service's own description (`openapi`). */
export interface SnapshotHistoryTable extends HistoryColumns {
  what: 'policy' | 'openapi';
  fetch_id: string;
  why: string;
  phase: 'provisional' | 'settled';
  /** `embed:<type>`, `hosted:<policy id>` or `openapi`. */
  target: string;
  policy_type: string | null;
  policy_id: string | null;
  status: number;
  outcome: 'present' | 'absent';
  /** 1: the bytes are those of `body_seq`. */
  unchanged: number;
  url: string;
  bytes: number;
  body_sha256: string;
  /** The entry that holds the bytes. */
  body_seq: number;
  text_sha256: string | null;
  text_form: string | null;
  content_type: string | null;
  date_header: string | null;
  age: number | null;
  etag: string | null;
  /** The service gave the answer out no sooner and no later than this. */
  origin_from: string;
  origin_to: string;
  /** JSON array of sentences; null but for `openapi`. */
  findings: string | null;
}
/** The texts of a target one after the other (texts/text-versions.ts). */
interface PolicyTextsTable {
  source: string;
  target: string;
  version: number;
  policy_type: string | null;
  policy_id: string | null;
  /** Null: there was no text. */
  text_sha256: string | null;
  body_seq: number;
  first_seq: number;
  last_seq: number;
  not_before: string | null;
  first_seen: string;
  last_seen: string;
  settled: number;
  sightings: number;
}

export interface SourcesTable {
  slug: string;
  name: string;
  base_url: string | null;
  site_url: string | null;
  /** Sealed under K_rest: JSON {apiKey, siteKey, webhookSecrets: [{id, value, addedAt}]}. */
  sealed: Buffer;
  /** JSON: banners to pull, field names, time offset, controller file … */
  options: string;
  created_at: string;
  updated_at: string;
  /** When the source left; its credentials are gone then. Null: it is followed. */
  offboarded_at: string | null;
}

export interface SyncPositionsTable {
  source: string;
  banner_id: string;
  /** Cursor to go on with, when a run was interrupted. */
  cursor: string | null;
  /** The window of the run that `cursor` belongs to. */
  run_id: string | null;
  run_from: string | null;
  run_to: string | null;
  /** When that run began, by our clock or the service's Date header, whichever is earlier: what the watermark may move to. */
  run_as_of: string | null;
  /** Everything the service dated before this (by our clock and its Date header) has been pulled at least once. */
  watermark: string | null;
  rows_total: number;
  last_success_at: string | null;
  last_error: string | null;
  last_error_at: string | null;
  updated_at: string;
  /** Earliest time of a row that counts: the service returned nothing before. */
  earliest: string | null;
  /** Pieces of pages that could not be read and are kept with their bytes. */
  unreadable_total: Generated<number>;
  /** Those of them that are new since the present run began: its end moves no watermark, so that they are asked for again. */
  run_unreadable: Generated<number>;
  /** JSON: what the present run still has to read (src/sync/plan.ts); null: no run is open. */
  run_plan: string | null;
  /** Whatever can be reached before this was read: later runs begin here. The watermark stays where the first gap begins. */
  read_to: string | null;
  /** JSON: periods that the service does not give to their end (src/sync/plan.ts). */
  gaps: string | null;
  /** JSON: in which form the service takes requests (src/sync/request-form.ts); null: as usual. */
  form: string | null;
  /** When an officer put the banner aside. */
  dismissed_at: string | null;
  recounted_at: string | null;
  /** JSON: how the last recount of recent days compared with the ledger (src/sync/recount.ts). */
  recount: string | null;
}

/** The encrypted ring of rejected deliveries: outside the ledger, bounded, 72 hours. */
interface RejectedDeliveriesTable {
  id: GeneratedAlways<number>;
  source: string;
  received_at: string;
  address: string;
  reason: string;
  bytes: number;
  /** AES-256-GCM under K_rest: JSON {headers, body (base64)}. */
  sealed: Buffer;
}
interface RejectedCountsTable {
  source: string;
  /** UTC minute, YYYY-MM-DDTHH:MM. */
  minute: string;
  reason: string;
  count: number;
}

export interface JobsTable {
  id: string;
  kind: string;
  /** At most one unfinished job per (kind, job_key); null: no limit. */
  job_key: string | null;
  /** JSON. */
  payload: string;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  priority: number;
  run_at: string;
  attempts: number;
  max_attempts: number;
  lease_owner: string | null;
  /** Counts claims: a paused holder whose lease was taken over cannot act twice. */
  lease_token: number;
  lease_until: string | null;
  cancel_requested: number;
  /** JSON {done, total, message}. */
  progress: string | null;
  /** JSON result of a finished job. */
  result: string | null;
  error: string | null;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
}
/** Jobs that ever ended. */
export interface JobCountsTable {
  kind: string;
  outcome: 'done' | 'failed' | 'cancelled';
  count: number;
}
interface SchedulesTable {
  name: string;
  kind: string;
  cron: string;
  payload: string;
  next_at: string;
  last_at: string | null;
}

/** One-time sign-in links; only the HMAC of the token is kept. */
interface SignInLinksTable {
  token_hash: Buffer;
  officer: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}
export interface SessionsTable {
  id_hash: Buffer;
  officer: string;
  created_at: string;
  expires_at: string;
}

/** Calls to the service that change something, and what became of each (core/call.ts). */
export interface CallsTable {
  request_id: string;
  source: string;
  operation: CallOperation;
  via: CallWay;
  actor: string;
  key_id: string;
  plan_id: string | null;
  /** JSON: positions of the plan's items in a batch. */
  positions: string;
  policy_type: string | null;
  jurisdiction: string | null;
  language: string | null;
  business_name: string | null;
  state: CallState;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  policy_id: string | null;
  version: string | null;
  hosted_url: string | null;
  remaining: number | null;
  webhooks_queued: number | null;
  batch_id: string | null;
  asked_at: string;
  /** Without a result by then, it counts as lost. */
  due_at: string;
  finished_at: string | null;
  settled_by: string | null;
  /** The entry that settled it: a delivery or a list. */
  evidence: number | null;
  intent_seq: number;
  /** The entry with the answer's bytes. */
  answer_seq: number | null;
  last_seq: number;
}
/** A file of policies that is sent in batches. */
export interface CallPlansTable {
  plan_id: string;
  source: string;
  actor: string;
  file: string | null;
  digest: string;
  items: number;
  created_at: string;
  seq: number;
}
export interface CallItemsTable {
  plan_id: string;
  /** From 0, as in the file. */
  position: number;
  source: string;
  /** Canonical JSON of what is sent for it. */
  item: string;
  state: PlanItemState;
  /** The last call that it was part of. */
  request_id: string | null;
  attempts: number;
  policy_id: string | null;
  last_seq: number;
}
/** The catalogue: what the service listed as published. */
export interface ListedPoliciesTable {
  source: string;
  policy_id: string;
  policy_type: string | null;
  title: string | null;
  jurisdiction: string | null;
  language: string | null;
  updated_at: string | null;
  /** Without its token. */
  url: string | null;
  list_id: string;
  first_seq: number;
  last_seq: number;
  first_listed_at: string;
  /** When a list came without it. */
  gone_at: string | null;
}
/** The last list of a source that differed from the one before. */
interface PolicyListsTable {
  source: string;
  list_id: string;
  digest: string;
  policies: number;
  fetched_at: string;
  seq: number;
}
/** What the local rate limits count: written together with the intents, no read model. Kept for a little more than a day. */
export interface CallSlotsTable {
  request_id: string;
  key_id: string;
  /** `pause-…`: the service asked the key to wait with this kind of call. */
  sort: 'generate' | 'bulk' | `pause-${'generate' | 'bulk' | 'publish'}`;
  /** When the slot was taken; of a pause when it ends. */
  at: string;
}

export interface Tables {
  entries: EntriesTable;
  arrivals: ArrivalsTable;
  checkpoints: CheckpointsTable;
  settings: SettingsTable;
  positions: PositionsTable;
  quarantine: QuarantineTable;
  delivery_history: DeliveryHistoryTable;
  delivery_counts: DeliveryCountsTable;
  policy_history: PolicyHistoryTable;
  policies: PoliciesTable;
  decision_history: DecisionHistoryTable;
  decision_judgements: DecisionJudgementsTable;
  decisions: DecisionsTable;
  ambiguous_repeats: AmbiguousRepeatsTable;
  case_history: CaseHistoryTable;
  cases: CasesTable;
  scan_history: ScanHistoryTable;
  scans: ScansTable;
  integration_history: IntegrationHistoryTable;
  integrations: IntegrationsTable;
  action_history: ActionHistoryTable;
  banner_evidence: BannerEvidenceTable;
  documents: DocumentsTable;
  snapshot_history: SnapshotHistoryTable;
  policy_texts: PolicyTextsTable;
  sources: SourcesTable;
  sync_positions: SyncPositionsTable;
  rejected_deliveries: RejectedDeliveriesTable;
  rejected_counts: RejectedCountsTable;
  jobs: JobsTable;
  job_counts: JobCountsTable;
  schedules: SchedulesTable;
  calls: CallsTable;
  call_plans: CallPlansTable;
  call_items: CallItemsTable;
  listed_policies: ListedPoliciesTable;
  policy_lists: PolicyListsTable;
  call_slots: CallSlotsTable;
  sign_in_links: SignInLinksTable;
  sessions: SessionsTable;
}
export type TableName = keyof Tables;
