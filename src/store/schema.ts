import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { CallOperation, CallState, CallWay, PlanItemState } from '../core/call.ts';
import type { Judged } from '../core/consent-judgement.ts';
import type { LinkPurpose, Role, TokenScope } from '../core/roles.ts';
import type { ConsentState, EntryKind } from '../core/vocabulary.ts';

/*
 * The tables, as both databases have them: the migrations and the types of rows are made from this list. Booleans are 0 or 1, times are
 * ISO 8601 UTC text with milliseconds, JSON is text, bytes are blobs. Every history row carries the `seq` of its entry: documents read
 * rows with seq ≤ asOf.
 */

/** A column: the name of its type (migrations.ts has each database's own), the rest of its declaration, and the type of its values. */
export interface Column<T> {
  readonly type: 'text' | 'integer' | 'big' | 'real' | 'blob' | 'id';
  readonly rule: string;
  readonly value?: T;
}

const text: Column<string> = { type: 'text', rule: ' not null' };
const integer: Column<number> = { type: 'integer', rule: ' not null' };
/** Holds a seq, or a number that grows as far. */
const big: Column<number> = { type: 'big', rule: ' not null' };
const real: Column<number> = { type: 'real', rule: ' not null' };
const blob: Column<Buffer> = { type: 'blob', rule: ' not null' };
/** A key that the database assigns. */
const id: Column<GeneratedAlways<number>> = { type: 'id', rule: '' };
/** Null only after an erasure. */
const erasable: Column<ColumnType<Buffer | null, Buffer, null>> = { type: 'blob', rule: '' };
const optional = <T>({ type }: Column<T>): Column<T | null> => ({ type, rule: '' });
const primary = <T>({ type, rule }: Column<T>): Column<T> => ({ type, rule: `${rule} primary key` });
/** Written once, never updated. */
const fixed = <T>({ type, rule }: Column<T>): Column<ColumnType<T, T, never>> => ({ type, rule });
const defaulting = <T>({ type, rule }: Column<T>, value: number): Column<Generated<T>> => ({
  type,
  rule: `${rule} default ${value}`,
});

/** A table: its columns in order, then its constraints and indexes as SQL. */
function table<Columns extends Readonly<Record<string, Column<unknown>>>>(
  columns: Columns,
  ...more: readonly string[]
) {
  return { columns, more };
}

/** A table of the read models: folded from the entries, and at any time again. On SQLite these are in a file of their own (docs/decisions.md). */
function folded<Columns extends Readonly<Record<string, Column<unknown>>>>(
  columns: Columns,
  ...more: readonly string[]
) {
  return { ...table(columns, ...more), folded: true as const };
}

/** Columns that every history table has. */
const history = { seq: big, source: text, received_at: text };
const occurred = {
  occurred_at: text,
  occurred_basis: text as Column<'payload' | 'row' | 'received' | 'assumed-offset' | 'officer'>,
  /** 1 when the claimed time counts; else `at` is the received time. */
  occurred_counts: integer,
  /** The time periods of reports use: occurred_at where it counts, else received_at. */
  at: text,
};

export const tables = {
  entries: table(
    {
      seq: primary(fixed(big)),
      source: fixed(text),
      source_seq: fixed(big),
      kind: fixed(text as Column<EntryKind>),
      dedupe_key: fixed(blob),
      received_at: fixed(text),
      /** Null only after an erasure; so are body and salt. */
      meta: erasable,
      body: erasable,
      salt: erasable,
      commitment: fixed(blob),
      leaf_hash: fixed(blob),
      mac: fixed(blob),
    },
    'unique (source, kind, dedupe_key)',
    'unique (source, source_seq)',
  ),
  /** Repeats of an entry: one row from the first repeat on. */
  arrivals: table({
    seq: primary(big),
    /** Repeats beyond the first arrival. */
    count: integer,
    /** JSON array of the first hundred repeat times. */
    times: text,
    last_at: text,
  }),
  checkpoints: table(
    {
      size: big,
      epoch: integer,
      root: blob,
      /** Right edge of the tree at this size (crypto/merkle.ts), so that sealing continues from here. */
      frontier: blob,
      /** The signed note (C2SP tlog-checkpoint). */
      note: text,
      created_at: text,
      /** HMAC over note and time (ledger/seal.ts): the note itself says nothing of the time. */
      mac: blob,
    },
    'primary key (epoch, size)',
  ),
  settings: table({
    /** instance_id, epoch, fingerprint_instance, fingerprint_signing … */
    name: primary(text),
    value: text,
  }),
  /** How far a reader of the read models has come; moved by compare-and-set in the transaction of what it does with them. */
  positions: table({ name: primary(text), seq: big }),
  /** How far the entries are folded; moved by compare-and-set in the transaction that writes the rows. */
  fold_positions: folded({ name: primary(text), seq: big }),
  quarantine: folded(
    { seq: primary(big), source: text, event: optional(text), reason: text, received_at: text },
    'index quarantine_source on quarantine (source, seq)',
  ),
  delivery_history: folded(
    {
      ...history,
      event: optional(text),
      verdict: text,
      outcome: text as Column<'read' | 'unknown-event' | 'unreadable'>,
      reason: optional(text),
      content_type: optional(text),
      bytes: integer,
      /** Of the entry, lower-case hex: what documents cite. A bare hash of the body would outlive its erasure. */
      commitment: text,
    },
    'primary key (seq)',
    'index delivery_history_source on delivery_history (source, seq)',
  ),
  delivery_counts: folded(
    {
      source: text,
      /** UTC date, YYYY-MM-DD. */
      day: text,
      event: text,
      deliveries: integer,
    },
    'primary key (source, day, event)',
  ),
  delivery_quarters: folded(
    {
      source: text,
      /** UTC quarter of an hour, YYYY-MM-DDTHH:MM: in every time zone a day begins with one. */
      quarter: text,
      deliveries: integer,
    },
    'primary key (source, quarter)',
  ),
  policy_history: folded(
    {
      ...history,
      ...occurred,
      event: text,
      change: text as Column<'created' | 'updated' | 'published' | 'deleted'>,
      policy_id: text,
      policy_type: optional(text),
      title: optional(text),
      brand_name: optional(text),
      jurisdiction: optional(text),
      language: optional(text),
      version: optional(text),
      hosted_url: optional(text),
    },
    'primary key (seq)',
    'index policy_history_policy on policy_history (source, policy_id, seq)',
    // Documents read the history of one source in ledger order.
    'index policy_history_source on policy_history (source, seq)',
  ),
  policies: folded(
    {
      source: text,
      policy_id: text,
      policy_type: optional(text),
      title: optional(text),
      brand_name: optional(text),
      jurisdiction: optional(text),
      language: optional(text),
      version: optional(text),
      hosted_url: optional(text),
      status: text as Column<'created' | 'updated' | 'published' | 'deleted'>,
      first_seq: big,
      last_seq: big,
      last_at: text,
      published_at: optional(text),
    },
    'primary key (source, policy_id)',
  ),
  decision_history: folded(
    {
      ...history,
      ...occurred,
      /** `request`: an officer carried out what a data subject asked for (`case_id`). */
      via: text as Column<'webhook' | 'pull' | 'request'>,
      /**
       * `r:<record id>`, else `c:<hash of banner, subject, time and choice>`: a webhook and a pulled row of one decision share it.
       * `q:<seq>` of a withdrawal by request.
       */
      decision_id: text,
      record_id: optional(text),
      subject: optional(text),
      banner_id: optional(text),
      banner_version: optional(text),
      /** As the record states it. */
      state: text as Column<ConsentState>,
      /** Canonical JSON object purpose → granted | denied. */
      purposes: text,
      /**
       * What the decision amounts to by what was known at its seq (core/consent-judgement.ts). An earlier decision that becomes known later
       * may change it: `decision_judgements` says so from then on.
       */
      label: text as Column<Judged>,
      /** Canonical JSON array of the purposes that it withdraws, and of those provably granted once it was made. `*`: all that are not named. */
      withdraws: text,
      stands: text,
      /** JSON array of what is held besides what it grants itself (core/consent-timeline.ts, Hold): from earlier decisions, expired, or in doubt. */
      held: text,
      /** The record's own word for what the visitor did, and how consent was asked for. */
      action: optional(text),
      method: optional(text),
      domain: optional(text),
      /** Origin and path. */
      page: optional(text),
      /** Canonical JSON object name → value of flags that came with them and are not purposes; null without any. */
      signals: optional(text),
      policy_id: optional(text),
      policy_version: optional(text),
      region: optional(text),
      language: optional(text),
      expires_at: optional(text),
      /** 1 on the first row of its decision_id within the source: totals count these. */
      is_first: integer,
      /** 1 when an earlier row of the same decision_id says something else. */
      conflicts: integer,
      /** The case that asked for it; null unless via `request`. */
      case_id: optional(text),
      /** Of the entry, lower-case hex: what documents cite. A bare hash of the body would outlive its erasure. */
      commitment: text,
    },
    'primary key (seq)',
    // Matches deliveries with pulled rows without leaving the index.
    'index decision_history_decision on decision_history (source, decision_id, seq, via, conflicts)',
    'index decision_history_subject on decision_history (source, subject, seq)',
    'index decision_history_at on decision_history (source, at, seq)',
    // Records that contradict another of the same decision are few, and every total asks for them.
    'index decision_history_conflicts on decision_history (source, decision_id, seq) where conflicts = 1',
    // Withdrawals by request are few, and looked up by how they came in.
    "index decision_history_request on decision_history (source, subject, at) where via = 'request'",
    // Decisions that the log told first are few: mostly they were never delivered.
    "index decision_history_pulled on decision_history (source, at, seq) where via = 'pull' and is_first = 1",
    // Banners that a source's decisions name, and whether any row of the log names one.
    'index decision_history_banner on decision_history (source, banner_id, via)',
  ),
  /** How a decision is judged from the entry `seq` on, because a decision made before it, or another record of it, became known only then. */
  decision_judgements: folded(
    {
      seq: big,
      source: text,
      decision_id: text,
      /** State and choice by all its records together. */
      state: text as Column<ConsentState>,
      purposes: text,
      label: text as Column<Judged>,
      withdraws: text,
      stands: text,
      held: text,
    },
    'primary key (source, decision_id, seq)',
  ),
  decisions: folded(
    {
      source: text,
      banner_id: text,
      subject: text,
      decision_id: text,
      state: text as Column<ConsentState>,
      purposes: text,
      /** Of the latest decision by time, with all that is known now; columns as in the history. */
      label: text as Column<Judged>,
      withdraws: text,
      stands: text,
      held: text,
      policy_id: optional(text),
      policy_version: optional(text),
      region: optional(text),
      expires_at: optional(text),
      at: text,
      first_seq: big,
      last_seq: big,
      /** Decisions (distinct decision_id) of this subject on this banner. */
      changes: integer,
    },
    'primary key (source, subject, banner_id)',
  ),
  /** A repeated delivery whose body carries neither id nor time: a new choice, or a repeat? Unresolved until the pulled log decides. */
  ambiguous_repeats: folded({
    seq: primary(big),
    source: text,
    event: text,
    resolution: text as Column<'unresolved' | 'repeat' | 'new-choice'>,
    /** How many repeats there were when it was resolved; with more by now it is unresolved again. */
    settled_repeats: defaulting(integer, 0),
  }),
  case_history: folded(
    {
      ...history,
      case_id: text,
      /** 0 for the opening, then 1, 2, … */
      version: integer,
      move: text,
      from_state: optional(text),
      to_state: text,
      actor: text,
      /** Canonical JSON of the move's details. */
      details: text,
    },
    'primary key (seq)',
    'index case_history_case on case_history (case_id, version)',
    'index case_history_source on case_history (source, seq)',
  ),
  cases: folded(
    {
      case_id: primary(text),
      source: text,
      request_id: optional(text),
      kind: text,
      jurisdiction: optional(text),
      requester_name: optional(text),
      requester_email: optional(text),
      subject: optional(text),
      language: optional(text),
      message: optional(text),
      channel: text,
      /** The legal receipt, ISO 8601 UTC, and by whose word. */
      receipt_at: text,
      receipt_basis: text as Column<'payload' | 'received' | 'officer' | 'form' | 'assumed-offset'>,
      state: text,
      version: integer,
      opened_seq: big,
      last_seq: big,
      /** Canonical JSON: everything else folded from the moves (identity, extension, suspension, refusal …). */
      folded: text,
      closed_at: optional(text),
    },
    'index cases_source on cases (source, receipt_at)',
    'index cases_request on cases (source, request_id)',
  ),
  action_history: folded(
    {
      ...history,
      action: text,
      actor: text,
      /** What it was done to: a case, document or source id. */
      object: optional(text),
      /** The action's body, canonical JSON. */
      details: text,
    },
    'primary key (seq)',
    'index action_history_object on action_history (object, seq)',
    'index action_history_source on action_history (source, seq)',
  ),
  /** What officers added, or retracted, as evidence of how a banner was shown, and its names. Only rows that add have a file and a period. */
  banner_evidence: folded(
    {
      ...history,
      change: text as Column<'added' | 'retracted' | 'named'>,
      /** The entry that added it; of a name its own. */
      evidence: big,
      actor: text,
      banner_id: text,
      /** Of the file in DATA_DIR/evidence. */
      sha256: optional(text),
      bytes: optional(integer),
      media_type: optional(text),
      file_name: optional(text),
      /** By the officer's word; `shown_to` exclusive, null: still shown. */
      shown_from: optional(text),
      shown_to: optional(text),
      /** Of a retraction its reason; of a name the name, null: none any more. */
      note: optional(text),
      /** Of the entry, hex. */
      commitment: text,
    },
    'primary key (seq)',
    'index banner_evidence_source on banner_evidence (source, seq)',
  ),
  documents: folded(
    {
      document_id: primary(text),
      source: text,
      name: text,
      format: text,
      file_name: text,
      sha256: text,
      bytes: big,
      as_of: big,
      case_id: optional(text),
      /** Canonical JSON. */
      parameters: text,
      actor: text,
      seq: big,
      created_at: text,
      downloads: integer,
      /** The erasure that removed its file, and when; null: it was not erased. */
      erased_seq: optional(big),
      erased_at: optional(text),
    },
    'index documents_sha256 on documents (sha256)',
  ),
  scan_history: folded(
    {
      ...history,
      ...occurred,
      scan_id: optional(text),
      domain: optional(text),
      status: optional(text),
      cookies_found: optional(integer),
      trackers_found: optional(integer),
      uncategorised: optional(integer),
      score: optional(real),
      /** Found before the visitor had chosen, although they need consent; null: not said. */
      before_consent: optional(integer),
      /** JSON array of what it found (core/fact.ts); null where it gives numbers alone. */
      items: optional(text),
      /** Things in its lists that could not be read: they are in the body. */
      unread_items: integer,
      /** 1: `items` is an inventory of the site, since the scan lists what it found and did not fail. */
      listed: integer,
    },
    'primary key (seq)',
    'index scan_history_source on scan_history (source, at)',
  ),
  scans: folded(
    {
      source: text,
      /** The domain, or '' where the payload names none. */
      domain: text,
      scans: integer,
      cookies_found: optional(integer),
      trackers_found: optional(integer),
      uncategorised: optional(integer),
      score: optional(real),
      last_seq: big,
      at: text,
      /** Of the latest scan that says how many it found before consent: that number, its entry and its time. */
      before_consent: optional(integer),
      before_consent_seq: optional(big),
      before_consent_at: optional(text),
    },
    'primary key (source, domain)',
  ),
  integration_history: folded(
    {
      ...history,
      ...occurred,
      integration_id: optional(text),
      name: optional(text),
      site: optional(text),
      change: text as Column<'connected' | 'disconnected' | 'lost'>,
      /** Why, in the payload's own words. */
      error: optional(text),
    },
    'primary key (seq)',
    'index integration_history_source on integration_history (source, seq)',
  ),
  integrations: folded(
    {
      source: text,
      /** The service's id, else the name, else ''. */
      integration_key: text,
      integration_id: optional(text),
      name: optional(text),
      site: optional(text),
      status: text as Column<'connected' | 'disconnected' | 'lost'>,
      error: optional(text),
      last_seq: big,
      at: text,
    },
    'primary key (source, integration_key)',
  ),
  /** Calls to the service that change something, and what became of each (core/call.ts). */
  calls: folded(
    {
      request_id: primary(text),
      source: text,
      operation: text as Column<CallOperation>,
      via: text as Column<CallWay>,
      actor: text,
      key_id: text,
      plan_id: optional(text),
      /** JSON: positions of the plan's items in a batch. */
      positions: text,
      policy_type: optional(text),
      jurisdiction: optional(text),
      language: optional(text),
      business_name: optional(text),
      state: text as Column<CallState>,
      http_status: optional(integer),
      error_kind: optional(text),
      error: optional(text),
      policy_id: optional(text),
      version: optional(text),
      hosted_url: optional(text),
      remaining: optional(big),
      webhooks_queued: optional(big),
      batch_id: optional(text),
      asked_at: text,
      /** Without a result by then, it counts as lost. */
      due_at: text,
      finished_at: optional(text),
      settled_by: optional(text),
      /** The entry that settled it: a delivery or a list. */
      evidence: optional(big),
      intent_seq: big,
      /** The entry with the answer's bytes. */
      answer_seq: optional(big),
      last_seq: big,
    },
    'index calls_source on calls (source, intent_seq)',
    'index calls_unsettled on calls (state, due_at)',
  ),
  /** A file of policies that is sent in batches. */
  call_plans: folded({
    plan_id: primary(text),
    source: text,
    actor: text,
    file: optional(text),
    digest: text,
    items: integer,
    created_at: text,
    seq: big,
  }),
  call_items: folded(
    {
      plan_id: text,
      /** From 0, as in the file. */
      position: integer,
      source: text,
      /** Canonical JSON of what is sent for it. */
      item: text,
      state: text as Column<PlanItemState>,
      /** The last call that it was part of. */
      request_id: optional(text),
      attempts: integer,
      policy_id: optional(text),
      last_seq: big,
    },
    'primary key (plan_id, position)',
  ),
  /** The catalogue: what the service listed as published. */
  listed_policies: folded(
    {
      source: text,
      policy_id: text,
      policy_type: optional(text),
      title: optional(text),
      jurisdiction: optional(text),
      language: optional(text),
      updated_at: optional(text),
      /** Without its token. */
      url: optional(text),
      list_id: text,
      first_seq: big,
      last_seq: big,
      first_listed_at: text,
      /** When a list came without it. */
      gone_at: optional(text),
    },
    'primary key (source, policy_id)',
  ),
  /** The last list of a source that differed from the one before. */
  policy_lists: folded({
    source: primary(text),
    list_id: text,
    digest: text,
    policies: integer,
    fetched_at: text,
    seq: big,
  }),
  /** What the local rate limits count: written together with the intents, no read model. Kept for a little more than a day. */
  call_slots: table(
    {
      request_id: primary(text),
      key_id: text,
      /** `pause-…`: the service asked the key to wait with this kind of call. */
      sort: text as Column<'generate' | 'bulk' | `pause-${'generate' | 'bulk' | 'publish'}`>,
      /** When the slot was taken; of a pause when it ends. */
      at: text,
    },
    'index call_slots_key on call_slots (key_id, sort, at)',
  ),
  /** Every look at a text of a policy, or at the service's own description (`openapi`). */
  snapshot_history: folded(
    {
      ...history,
      what: text as Column<'policy' | 'openapi'>,
      fetch_id: text,
      why: text,
      phase: text as Column<'provisional' | 'settled'>,
      /** `embed:<type>`, `hosted:<policy id>` or `openapi`. */
      target: text,
      policy_type: optional(text),
      policy_id: optional(text),
      status: integer,
      outcome: text as Column<'present' | 'absent'>,
      /** 1: the bytes are those of `body_seq`. */
      unchanged: integer,
      url: text,
      bytes: integer,
      body_sha256: text,
      /** The entry that holds the bytes. */
      body_seq: big,
      text_sha256: optional(text),
      text_form: optional(text),
      content_type: optional(text),
      date_header: optional(text),
      age: optional(integer),
      etag: optional(text),
      /** The service gave the answer out no sooner and no later than this. */
      origin_from: text,
      origin_to: text,
      /** JSON array of sentences; null but for `openapi`. */
      findings: optional(text),
    },
    'primary key (seq)',
    'index snapshot_history_target on snapshot_history (source, target, seq)',
  ),
  /** The texts of a target one after the other (texts/text-versions.ts). */
  policy_texts: folded(
    {
      source: text,
      target: text,
      version: integer,
      policy_type: optional(text),
      policy_id: optional(text),
      /** Null: there was no text. */
      text_sha256: optional(text),
      body_seq: big,
      first_seq: big,
      last_seq: big,
      not_before: optional(text),
      first_seen: text,
      last_seen: text,
      settled: integer,
      sightings: integer,
    },
    'primary key (source, target, version)',
  ),
  sources: table({
    slug: primary(text),
    name: text,
    base_url: optional(text),
    site_url: optional(text),
    /** Sealed under K_rest: JSON {apiKey, siteKey, webhookSecrets: [{id, value, addedAt}]}. */
    sealed: blob,
    /** JSON: banners to pull, field names, time offset, controller file … */
    options: text,
    created_at: text,
    updated_at: text,
    /** When the source left; its credentials are gone then. Null: it is followed. */
    offboarded_at: optional(text),
  }),
  sync_positions: table(
    {
      source: text,
      banner_id: text,
      /** Cursor to go on with, when a run was interrupted. */
      cursor: optional(text),
      /** The window of the run that `cursor` belongs to. */
      run_id: optional(text),
      run_from: optional(text),
      run_to: optional(text),
      /** When that run began, by our clock or the service's Date header, whichever is earlier: what the watermark may move to. */
      run_as_of: optional(text),
      /** Everything the service dated before this (by our clock and its Date header) has been pulled at least once. */
      watermark: optional(text),
      rows_total: big,
      last_success_at: optional(text),
      last_error: optional(text),
      last_error_at: optional(text),
      updated_at: text,
      /** Earliest time of a row that counts: the service returned nothing before. */
      earliest: optional(text),
      /** Pieces of pages that could not be read and are kept with their bytes. */
      unreadable_total: defaulting(integer, 0),
      recounted_at: optional(text),
      /** JSON: how the last recount of recent days compared with the ledger (src/sync/recount.ts). */
      recount: optional(text),
      /** Those of them that are new since the present run began: its end moves no watermark, so that they are asked for again. */
      run_unreadable: defaulting(integer, 0),
      /** JSON: what the present run still has to read (src/sync/plan.ts); null: no run is open. */
      run_plan: optional(text),
      /** Whatever can be reached before this was read: later runs begin here. The watermark stays where the first gap begins. */
      read_to: optional(text),
      /** JSON: periods that the service does not give to their end (src/sync/plan.ts). */
      gaps: optional(text),
      /** JSON: in which form the service takes requests (src/sync/query-form.ts); null: as usual. */
      form: optional(text),
      /** When an officer put the banner aside. */
      dismissed_at: optional(text),
    },
    'primary key (source, banner_id)',
  ),
  /** The encrypted ring of rejected deliveries: outside the ledger, bounded, 72 hours. */
  rejected_deliveries: table(
    {
      id: id,
      source: text,
      received_at: text,
      address: text,
      reason: text,
      bytes: integer,
      /** AES-256-GCM under K_rest: JSON {headers, body (base64)}. */
      sealed: blob,
    },
    'index rejected_deliveries_address on rejected_deliveries (address)',
  ),
  rejected_counts: table(
    {
      source: text,
      /** UTC minute, YYYY-MM-DDTHH:MM. */
      minute: text,
      reason: text,
      count: integer,
    },
    'primary key (source, minute, reason)',
  ),
  jobs: table(
    {
      id: primary(text),
      kind: text,
      /** At most one unfinished job per (kind, job_key); null: no limit. */
      job_key: optional(text),
      /** JSON. */
      payload: text,
      state: text as Column<'waiting' | 'running' | 'done' | 'failed' | 'cancelled'>,
      priority: integer,
      run_at: text,
      attempts: integer,
      max_attempts: integer,
      lease_owner: optional(text),
      /** Counts claims: a paused holder whose lease was taken over cannot act twice. */
      lease_token: integer,
      lease_until: optional(text),
      cancel_requested: integer,
      /** JSON {done, total, message}. */
      progress: optional(text),
      /** JSON result of a finished job. */
      result: optional(text),
      error: optional(text),
      created_at: text,
      updated_at: text,
      finished_at: optional(text),
    },
    // In the order in which the jobs of a kind are taken.
    'index jobs_due on jobs (state, kind, priority desc, run_at, created_at)',
    "unique index jobs_unfinished on jobs (kind, job_key) where state in ('waiting', 'running') and job_key is not null",
    // SQLite does not use the partial index on unfinished jobs for a condition with parameters.
    'index jobs_key on jobs (kind, job_key)',
    'index jobs_created on jobs (created_at)',
  ),
  /** Jobs that ever ended. */
  job_counts: table(
    { kind: text, outcome: text as Column<'done' | 'failed' | 'cancelled'>, count: big },
    'primary key (kind, outcome)',
  ),
  schedules: table({
    name: primary(text),
    kind: text,
    cron: text,
    payload: text,
    next_at: text,
    last_at: optional(text),
  }),
  /** Persons with an account: officers in the wide sense, whatever their role. */
  people: table(
    {
      person_id: primary(text),
      /** Lower case: what a person signs in with. */
      email: text,
      name: text,
      role: text as Column<Role>,
      /** JSON array of the slugs that the person may see; null: every source. */
      sources: optional(text),
      /** Argon2id in PHC string format; null until the person has set one. */
      password: optional(text),
      /** Sealed under K_rest: the TOTP key; null: no second factor. */
      totp: optional(blob),
      /** The last time step (RFC 6238) for which a code was accepted: no code works twice. */
      totp_step: defaulting(big, 0),
      created_at: text,
      /** When the person first signed in with something of their own; null: invited. */
      joined_at: optional(text),
      disabled_at: optional(text),
    },
    'unique (email)',
  ),
  /** Passkeys (WebAuthn): what checks a person's authenticator. */
  passkeys: table(
    {
      credential_id: primary(text),
      person_id: text,
      public_key: blob,
      /** The authenticator's own count of its signatures; 0 where it keeps none. */
      counter: big,
      /** The browser in which it was set up, in words. */
      label: text,
      created_at: text,
    },
    'index passkeys_person on passkeys (person_id)',
  ),
  /** Codes that replace a lost second factor, each valid once; only the HMAC is kept. */
  recovery_codes: table(
    { code_hash: primary(blob), person_id: text, used_at: optional(text) },
    'index recovery_codes_person on recovery_codes (person_id)',
  ),
  /** One-time links; only the HMAC of the token is kept. */
  sign_in_links: table({
    token_hash: primary(blob),
    purpose: text as Column<LinkPurpose>,
    /** Who is signed in by it, as the ledger records it. */
    officer: text,
    /** Whose invitation or reset it is; null otherwise. */
    person_id: optional(text),
    created_at: text,
    expires_at: text,
    used_at: optional(text),
  }),
  sessions: table(
    {
      id_hash: primary(blob),
      officer: text,
      /** Null: opened by a one-time sign-in link, without an account. */
      person_id: optional(text),
      /** How it was opened, in words. */
      way: text,
      /** The browser, in words. */
      browser: text,
      created_at: text,
      expires_at: text,
      /** To some minutes; null: not since it was opened. */
      last_used_at: optional(text),
    },
    'index sessions_person on sessions (person_id)',
  ),
  /** Tokens of other programs; only the HMAC is kept. */
  api_tokens: table(
    {
      token_id: primary(text),
      token_hash: blob,
      person_id: text,
      label: text,
      scope: text as Column<TokenScope>,
      /** JSON array of slugs; null: those of the person. */
      sources: optional(text),
      created_at: text,
      expires_at: text,
      /** To the minute. */
      last_used_at: optional(text),
    },
    'unique (token_hash)',
    'index api_tokens_person on api_tokens (person_id)',
  ),
  /** Answers to requests that named an Idempotency-Key, to be given again when it is sent again. Kept for a day. */
  idempotency_keys: table({
    /** HMAC of the token's or session's handle and the key. */
    key_hash: primary(blob),
    /** Of method, address and body. */
    request_hash: blob,
    created_at: text,
    /** Null: the request is under way. */
    status: optional(integer),
    /** Sealed under K_rest. */
    answer: optional(blob),
  }),
  /** Links by which data subjects open and download their packs; of the token and the code only HMACs are kept. */
  hand_overs: table(
    {
      hand_over_id: primary(text),
      token_hash: blob,
      code_hash: blob,
      source: text,
      case_id: text,
      document_id: text,
      /** Of the document, lower-case hex. */
      sha256: text,
      /** JSON array of the names of the files in it. */
      contents: text,
      /** BCP 47. */
      language: text,
      created_at: text,
      created_by: text,
      expires_at: text,
      /** Wrong codes. */
      failures: integer,
      /** When it was first opened with the code. */
      opened_at: optional(text),
      downloads: integer,
      messages: integer,
      revoked_at: optional(text),
      /** When the ledger was told that it had expired. */
      expired_at: optional(text),
    },
    'unique (token_hash)',
    'index hand_overs_case on hand_overs (case_id)',
  ),
  /** Sign-ins that failed one after the other, by a keyed hash of the e-mail address or the caller's address. Forgotten after a day. */
  sign_in_failures: table({ key_hash: primary(blob), failures: integer, last_at: text, blocked_until: text }),
};

export type Tables = {
  [Name in TableName]: {
    [Of in keyof (typeof tables)[Name]['columns']]: (typeof tables)[Name]['columns'][Of] extends Column<infer T>
      ? T
      : never;
  };
};
export type TableName = keyof typeof tables;

/** The columns of a table, for a statement that is kept: one that asks for all would be refused once the table has got another. */
export const columnsOf = <Name extends TableName>(name: Name) =>
  Object.keys(tables[name].columns) as (keyof Tables[Name] & string)[];

/** Whether a table belongs to the read models. */
export const isFolded = (table: TableName): boolean => 'folded' in tables[table];
