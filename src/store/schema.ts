import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { CallOperation, CallState, CallWay, PlanItemState } from '../core/call.ts';
import type { Judged } from '../core/consent-judgement.ts';
import type { FindingKind } from '../core/finding.ts';
import type { LinkPurpose, Role, TokenScope } from '../core/roles.ts';
import type { ConsentState, EntryKind } from '../core/vocabulary.ts';

/*
 * The tables of both databases: migrations and row types are made from this list. Booleans are 0 or 1, times are ISO
 * 8601 UTC text with milliseconds, JSON is text, bytes are blobs. Every history row has the `seq` of its entry:
 * documents read rows with seq ≤ asOf.
 */

/**
 * A column: the name of its type (migrations.ts has each database's own), the rest of its declaration, and its type in
 * TypeScript.
 */
export interface Column<T> {
  readonly type: 'text' | 'integer' | 'big' | 'real' | 'blob' | 'id';
  readonly rule: string;
  readonly value?: T;
}

const text: Column<string> = { type: 'text', rule: ' not null' };
const integer: Column<number> = { type: 'integer', rule: ' not null' };
/** A seq, or another number that can grow as large. */
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

type Columns = Readonly<Record<string, Column<unknown>>>;

/** A table: its columns in order, then its constraints and indexes as SQL. */
function table<C extends Columns>(columns: C, ...more: readonly string[]) {
  return { columns, more };
}

/**
 * A read-model table of rows that are written once. Read models are folded from the entries and can be rebuilt at any
 * time. On SQLite they are in a separate file (docs/decisions.md).
 */
function historyTable<C extends Columns>(columns: C, ...more: readonly string[]) {
  return { ...table(columns, ...more), folded: 'history' as const };
}

/** A read-model table of rows that later entries update. */
function stateTable<C extends Columns>(columns: C, ...more: readonly string[]) {
  return { ...table(columns, ...more), folded: 'state' as const };
}

/** Columns that every history table has. */
const history = { seq: big, source: text, received_at: text };
/** Which event of the entry's body, from 0; all but 0 only in a body that holds several (receivers/batch.ts). */
const part = { part: defaulting(integer, 0) };
const occurred = {
  occurred_at: text,
  occurred_basis: text as Column<'payload' | 'row' | 'received' | 'assumed-offset' | 'officer'>,
  /** 1 if the claimed time counts; otherwise `at` is the time of receipt. */
  occurred_counts: integer,
  /** The time used for periods of reports: occurred_at if it counts, otherwise received_at. */
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
      /** Null only after an erasure; the same goes for body and salt. */
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
  /** Repeats of an entry; the row is created by the first repeat. */
  arrivals: table({
    seq: primary(big),
    /** Arrivals after the first. */
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
      /** HMAC over note and time (ledger/seal.ts), because the note does not cover the time. */
      mac: blob,
    },
    'primary key (epoch, size)',
  ),
  settings: table({
    /** instance_id, epoch, fingerprint_instance, fingerprint_signing … */
    name: primary(text),
    value: text,
  }),
  /** How far a reader of the read models has got; moved by compare-and-set in the transaction of the work itself. */
  positions: table({ name: primary(text), seq: big }),
  /** How far entries are folded; moved by compare-and-set in the transaction that writes the rows. */
  fold_positions: { ...table({ name: primary(text), seq: big }), folded: 'position' as const },
  quarantine: historyTable(
    { seq: primary(big), source: text, event: optional(text), reason: text, received_at: text },
    'index quarantine_source on quarantine (source, seq)',
  ),
  delivery_history: historyTable(
    {
      ...history,
      event: optional(text),
      verdict: text,
      outcome: text as Column<'read' | 'unknown-event' | 'unreadable'>,
      reason: optional(text),
      content_type: optional(text),
      bytes: integer,
      /** Events in the body: usually 1. */
      events: defaulting(integer, 1),
      /** Of the entry, lower-case hex; documents cite it. A plain hash of the body would outlive its erasure. */
      commitment: text,
    },
    'primary key (seq)',
    'index delivery_history_source on delivery_history (source, seq)',
    // What was not understood is counted on every view of Today.
    "index delivery_history_unread on delivery_history (source, event, seq) where outcome = 'unknown-event'",
  ),
  /** What officers set aside of what could not be understood: of one event, everything up to an entry. */
  set_aside: stateTable(
    {
      source: text,
      /** '' for entries that name no event. */
      event: text,
      up_to: big,
      /** The last entry that set something aside. */
      seq: big,
    },
    'primary key (source, event)',
  ),
  /** What officers concluded about findings (core/finding.ts): the last one of each; who and why is in its entry. */
  settled_findings: stateTable(
    {
      source: text,
      kind: text as Column<FindingKind>,
      /** The decision's id, the integration's key, or the site. */
      finding_key: text,
      conclusion: text,
      /** YYYY-MM-DD, the last day on which it holds. */
      until: optional(text),
      /** The newest entry of the finding that the officer saw; 0: the finding was opened again. */
      up_to: big,
      /** The entry that settled it. */
      seq: big,
    },
    'primary key (source, kind, finding_key)',
  ),
  delivery_counts: stateTable(
    {
      source: text,
      /** UTC date, YYYY-MM-DD. */
      day: text,
      event: text,
      deliveries: integer,
    },
    'primary key (source, day, event)',
  ),
  delivery_quarters: stateTable(
    {
      source: text,
      /** UTC quarter of an hour, YYYY-MM-DDTHH:MM: days begin on one in every time zone. */
      quarter: text,
      deliveries: integer,
    },
    'primary key (source, quarter)',
  ),
  policy_history: historyTable(
    {
      ...history,
      ...part,
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
    'primary key (seq, part)',
    'index policy_history_policy on policy_history (source, policy_id, seq)',
    // Documents read the history of one source in ledger order.
    'index policy_history_source on policy_history (source, seq)',
  ),
  policies: stateTable(
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
  decision_history: historyTable(
    {
      ...history,
      ...part,
      ...occurred,
      /** `request`: an officer carried out a data subject's request (`case_id`). */
      via: text as Column<'webhook' | 'pull' | 'request'>,
      /**
       * `r:<record id>` (`v2:<record id>` … for other choices under the same id), or else `c:<hash of banner, subject, time and choice>`: a delivery and a pulled row of one
       * decision share it. `q:<seq>` for a withdrawal by request.
       */
      decision_id: text,
      record_id: optional(text),
      subject: optional(text),
      banner_id: optional(text),
      banner_version: optional(text),
      /** As the record states it. */
      state: text as Column<ConsentState>,
      /** Canonical JSON object purpose → granted | denied | necessary. */
      purposes: text,
      /** JSON array of {@link Doubt}: why this record is not consent although it seems to grant something; null: it is clear. */
      doubts: optional(text),
      /**
       * The decision's label according to what was known at its seq (core/consent-judgement.ts). If an earlier decision
       * becomes known later and changes it, `decision_judgements` has the new one.
       */
      label: text as Column<Judged>,
      /**
       * Canonical JSON arrays: the purposes that it withdraws, and those certainly granted after it. `*`: all purposes
       * not named.
       */
      withdraws: text,
      stands: text,
      /**
       * JSON array of consents that stand besides its own grants (core/consent-timeline.ts, Hold): from earlier
       * decisions, expired, or in doubt.
       */
      held: text,
      /** The record's own words for what the visitor did, and for how consent was asked. */
      action: optional(text),
      method: optional(text),
      domain: optional(text),
      /** Origin and path. */
      page: optional(text),
      /** Canonical JSON object name → value of accompanying flags that are not purposes; null if there are none. */
      signals: optional(text),
      policy_id: optional(text),
      policy_version: optional(text),
      region: optional(text),
      language: optional(text),
      expires_at: optional(text),
      /** 1 on the first row of its decision_id within the source: totals count these. */
      is_first: integer,
      /** 1 if an earlier row of the same decision_id says something else, or this one contradicts itself. */
      conflicts: integer,
      /** The case that requested it; only with via `request`. */
      case_id: optional(text),
      /** Of the entry, lower-case hex; documents cite it. A plain hash of the body would outlive its erasure. */
      commitment: text,
    },
    'primary key (seq, part)',
    // Matches deliveries with pulled rows using the index alone.
    'index decision_history_decision on decision_history (source, decision_id, seq, via, conflicts)',
    'index decision_history_subject on decision_history (source, subject, seq)',
    'index decision_history_at on decision_history (source, at, seq)',
    // Few records contradict another of the same decision, and every total needs them.
    'index decision_history_conflicts on decision_history (source, decision_id, seq) where conflicts = 1',
    // Withdrawals by request are few and looked up as such.
    "index decision_history_request on decision_history (source, subject, at) where via = 'request'",
    // Decisions that came first from the log are few: most of them were never delivered.
    "index decision_history_pulled on decision_history (source, at, seq) where via = 'pull' and is_first = 1",
    // Choices that were not understood are few, and counted on every view of Today.
    "index decision_history_unknown on decision_history (source, at) where label = 'unknown' and is_first = 1",
    // Finds the banners that a source's decisions name, and whether any log row names one.
    'index decision_history_banner on decision_history (source, banner_id, via)',
  ),
  /** Decisions by when they were made, as judged now. */
  decision_quarters: stateTable(
    {
      source: text,
      /** UTC quarter of an hour of `at`, YYYY-MM-DDTHH:MM. */
      quarter: text,
      given: integer,
      partly_given: integer,
      refused: integer,
      withdrawn: integer,
      /** Disputed, or none of these (core/consent-judgement.ts `choices`). */
      other: integer,
    },
    'primary key (source, quarter)',
  ),
  /** A decision's judgement from entry `seq` on: an earlier decision, or another of its records, became known only then. */
  decision_judgements: historyTable(
    {
      seq: big,
      source: text,
      decision_id: text,
      /** According to all its records. */
      state: text as Column<ConsentState>,
      purposes: text,
      label: text as Column<Judged>,
      withdraws: text,
      stands: text,
      held: text,
    },
    'primary key (source, decision_id, seq)',
  ),
  decisions: stateTable(
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
  /** Deliveries with neither id nor time, whose repeats may be new choices. Unresolved until the pulled log decides. */
  ambiguous_repeats: stateTable({
    seq: primary(big),
    source: text,
    event: text,
    resolution: text as Column<'unresolved' | 'repeat' | 'new-choice'>,
    /** The number of repeats when it was resolved; if there are more now, it is unresolved again. */
    settled_repeats: defaulting(integer, 0),
  }),
  case_history: historyTable(
    {
      ...history,
      ...part,
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
    'primary key (seq, part)',
    'index case_history_case on case_history (case_id, version)',
    'index case_history_source on case_history (source, seq)',
  ),
  cases: stateTable(
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
      /** The legal time of receipt, ISO 8601 UTC, and its basis. */
      receipt_at: text,
      receipt_basis: text as Column<'payload' | 'received' | 'officer' | 'form' | 'assumed-offset'>,
      state: text,
      version: integer,
      opened_seq: big,
      last_seq: big,
      /** Canonical JSON of everything else folded from the moves (identity, extension, suspension, refusal …). */
      folded: text,
      closed_at: optional(text),
    },
    'index cases_source on cases (source, receipt_at)',
    'index cases_request on cases (source, request_id)',
  ),
  action_history: historyTable(
    {
      ...history,
      action: text,
      actor: text,
      /** Its object: a case, document or source id. */
      object: optional(text),
      /** The action's body, canonical JSON. */
      details: text,
    },
    'primary key (seq)',
    'index action_history_object on action_history (object, seq)',
    'index action_history_source on action_history (source, seq)',
  ),
  /**
   * Evidence of how a banner was shown, added or retracted by officers, and names of banners. Only rows that add
   * evidence have a file and a period.
   */
  banner_evidence: historyTable(
    {
      ...history,
      change: text as Column<'added' | 'retracted' | 'named'>,
      /** The entry that added the evidence; for a name, its own entry. */
      evidence: big,
      actor: text,
      banner_id: text,
      /** Of the file in DATA_DIR/evidence. */
      sha256: optional(text),
      bytes: optional(integer),
      media_type: optional(text),
      file_name: optional(text),
      /** According to the officer; `shown_to` is exclusive, null: still shown. */
      shown_from: optional(text),
      shown_to: optional(text),
      /** Of a retraction: the reason. Of a name: the name, or null if it was removed. */
      note: optional(text),
      /** Of the entry, hexadecimal. */
      commitment: text,
    },
    'primary key (seq)',
    'index banner_evidence_source on banner_evidence (source, seq)',
  ),
  documents: stateTable(
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
      /** The erasure that removed its file, and when; null: not erased. */
      erased_seq: optional(big),
      erased_at: optional(text),
    },
    'index documents_sha256 on documents (sha256)',
  ),
  scan_history: historyTable(
    {
      ...history,
      ...part,
      ...occurred,
      scan_id: optional(text),
      domain: optional(text),
      status: optional(text),
      cookies_found: optional(integer),
      trackers_found: optional(integer),
      uncategorised: optional(integer),
      score: optional(real),
      /** Items set before the visitor had chosen although they need consent; null: not reported. */
      before_consent: optional(integer),
      /** JSON array of its findings (core/site-inventory.ts); null if it reports only numbers. */
      items: optional(text),
      /** Listed items that could not be read; they are in the body. */
      unread_items: integer,
      /** 1: `items` is an inventory of the site, because the scan lists its findings and did not fail. */
      listed: integer,
    },
    'primary key (seq, part)',
    'index scan_history_source on scan_history (source, at)',
  ),
  scans: stateTable(
    {
      source: text,
      /** The domain, or '' if the payload names none. */
      domain: text,
      scans: integer,
      cookies_found: optional(integer),
      trackers_found: optional(integer),
      uncategorised: optional(integer),
      score: optional(real),
      last_seq: big,
      at: text,
      /** The latest scan that reports items set before consent: their number, its entry and its time. */
      before_consent: optional(integer),
      before_consent_seq: optional(big),
      before_consent_at: optional(text),
    },
    'primary key (source, domain)',
  ),
  integration_history: historyTable(
    {
      ...history,
      ...part,
      ...occurred,
      integration_id: optional(text),
      name: optional(text),
      site: optional(text),
      change: text as Column<'connected' | 'disconnected' | 'lost'>,
      /** The reason in the payload's words. */
      error: optional(text),
    },
    'primary key (seq, part)',
    'index integration_history_source on integration_history (source, seq)',
  ),
  integrations: stateTable(
    {
      source: text,
      /** The service's id, or the name, or ''. */
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
  /** Calls that change something at the service, and their outcomes (core/call.ts). */
  calls: stateTable(
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
      /** Counts as lost if there is no result by then. */
      due_at: text,
      finished_at: optional(text),
      settled_by: optional(text),
      /** The entry that settled it: a delivery or a list. */
      evidence: optional(big),
      intent_seq: big,
      /** The entry with the bytes of the response. */
      answer_seq: optional(big),
      last_seq: big,
    },
    'index calls_source on calls (source, intent_seq)',
    'index calls_unsettled on calls (state, due_at)',
  ),
  /** A bulk file of policies, sent in batches. */
  call_plans: stateTable({
    plan_id: primary(text),
    source: text,
    actor: text,
    file: optional(text),
    digest: text,
    items: integer,
    created_at: text,
    seq: big,
  }),
  call_items: stateTable(
    {
      plan_id: text,
      /** From 0, as in the file. */
      position: integer,
      source: text,
      /** Canonical JSON of what is sent for this item. */
      item: text,
      state: text as Column<PlanItemState>,
      /** The last call that included it. */
      request_id: optional(text),
      attempts: integer,
      policy_id: optional(text),
      last_seq: big,
    },
    'primary key (plan_id, position)',
  ),
  /** The catalogue: policies that the service listed as published. */
  listed_policies: stateTable(
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
      /** Time of a list without it. */
      gone_at: optional(text),
    },
    'primary key (source, policy_id)',
  ),
  /** The last list of each source that differed from the one before. */
  policy_lists: stateTable({
    source: primary(text),
    list_id: text,
    digest: text,
    policies: integer,
    fetched_at: text,
    seq: big,
  }),
  /** Slots of the local rate limits, written with the intents; not a read model. Kept for a little more than a day. */
  call_slots: table(
    {
      request_id: primary(text),
      key_id: text,
      /** `pause-…`: the service asked the key to wait before another call of this kind. */
      sort: text as Column<'generate' | 'bulk' | `pause-${'generate' | 'bulk' | 'publish'}`>,
      /** When the slot was taken; for a pause, when it ends. */
      at: text,
    },
    'index call_slots_key on call_slots (key_id, sort, at)',
  ),
  /** Every fetch of a policy text, or of the service's own description (`openapi`). */
  snapshot_history: historyTable(
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
      /** 1: same bytes as `body_seq`. */
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
      /** The service produced the response between these times. */
      origin_from: text,
      origin_to: text,
      /** JSON array of sentences; only for `openapi`. */
      findings: optional(text),
    },
    'primary key (seq)',
    'index snapshot_history_target on snapshot_history (source, target, seq)',
  ),
  /** The successive texts of a target (policy-texts/text-versions.ts). */
  policy_texts: stateTable(
    {
      source: text,
      target: text,
      version: integer,
      policy_type: optional(text),
      policy_id: optional(text),
      /** Null: there was no text at the time. */
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
    /** Sealed under K_rest: JSON {apiKey, siteKey, webhookSecrets: [{id, value, addedAt, retireAt}], endings}. */
    sealed: blob,
    /** JSON: banners to pull, field names, time offset, controller file … */
    options: text,
    created_at: text,
    updated_at: text,
    /** When the source was offboarded and its credentials were deleted. Null: it is active. */
    offboarded_at: optional(text),
  }),
  sync_positions: table(
    {
      source: text,
      banner_id: text,
      /** Cursor at which an interrupted run continues. */
      cursor: optional(text),
      /** The run to which `cursor` belongs, and its window. */
      run_id: optional(text),
      run_from: optional(text),
      run_to: optional(text),
      /**
       * When that run began, by our clock or the service's Date header, whichever is earlier; the watermark moves at
       * most to it.
       */
      run_as_of: optional(text),
      /** Everything that the service (by our clock and its Date header) dates before this has been pulled at least once. */
      watermark: optional(text),
      rows_total: big,
      last_success_at: optional(text),
      last_error: optional(text),
      last_error_at: optional(text),
      updated_at: text,
      /** Earliest time of a row that counts; the service returned nothing earlier. */
      earliest: optional(text),
      /** Pieces of pages that are kept as bytes because they could not be read. */
      unreadable_total: defaulting(integer, 0),
      recounted_at: optional(text),
      /** JSON: result of the last recount of recent days (src/sync/recount.ts). */
      recount: optional(text),
      /**
       * Unreadable pieces that are new since the current run began: its end does not move the watermark, so they are
       * requested again.
       */
      run_unreadable: defaulting(integer, 0),
      /** JSON: what the current run still has to read (src/sync/periods-to-read.ts); null: no run is open. */
      run_plan: optional(text),
      /**
       * Everything reachable before this was read: later runs begin here. The watermark stays at the beginning of the
       * first gap.
       */
      read_to: optional(text),
      /** JSON: periods that could not be read to their end (src/sync/periods-to-read.ts). */
      gaps: optional(text),
      /** JSON: the form in which the service accepts requests (src/sync/query-form.ts); null: the usual one. */
      form: optional(text),
      /** When an officer set the banner aside. */
      dismissed_at: optional(text),
    },
    'primary key (source, banner_id)',
  ),
  /** Refused deliveries, encrypted; a bounded ring outside the ledger, kept for 72 hours. */
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
      /** Counts claims, so that a paused holder whose lease was taken over cannot act. */
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
    // The order in which jobs of a kind are taken.
    'index jobs_due on jobs (state, kind, priority desc, run_at, created_at)',
    "unique index jobs_unfinished on jobs (kind, job_key) where state in ('waiting', 'running') and job_key is not null",
    // For conditions with parameters SQLite does not use the partial index on unfinished jobs.
    'index jobs_key on jobs (kind, job_key)',
    'index jobs_created on jobs (created_at)',
  ),
  /** Counts of jobs that have ended. */
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
  /** People with an account, whatever their role. */
  people: table(
    {
      person_id: primary(text),
      /** Lower case; used to sign in. */
      email: text,
      name: text,
      role: text as Column<Role>,
      /** JSON array of the slugs that the person may see; null: all sources. */
      sources: optional(text),
      /** Argon2id in PHC string format; null until the person has set one. */
      password: optional(text),
      /** TOTP key, sealed under K_rest; null: no second factor. */
      totp: optional(blob),
      /** The last time step (RFC 6238) of an accepted code: no code works twice. */
      totp_step: defaulting(big, 0),
      created_at: text,
      /** When the person first signed in with their own credentials; null: only invited. */
      joined_at: optional(text),
      disabled_at: optional(text),
    },
    'unique (email)',
  ),
  /** Passkeys (WebAuthn), used to verify a person's authenticator. */
  passkeys: table(
    {
      credential_id: primary(text),
      person_id: text,
      public_key: blob,
      /** The authenticator's signature counter; 0 if it has none. */
      counter: big,
      /** Description of the browser in which it was created. */
      label: text,
      created_at: text,
    },
    'index passkeys_person on passkeys (person_id)',
  ),
  /** Single-use codes that replace a lost second factor; only the HMAC is kept. */
  recovery_codes: table(
    { code_hash: primary(blob), person_id: text, used_at: optional(text) },
    'index recovery_codes_person on recovery_codes (person_id)',
  ),
  /** One-time links; only the HMAC of the token is kept. */
  sign_in_links: table({
    token_hash: primary(blob),
    purpose: text as Column<LinkPurpose>,
    /** Who signs in with it, as recorded in the ledger. */
    officer: text,
    /** The person whom it invites or whose sign-in it resets; null otherwise. */
    person_id: optional(text),
    created_at: text,
    expires_at: text,
    used_at: optional(text),
  }),
  sessions: table(
    {
      id_hash: primary(blob),
      officer: text,
      /** Null: opened by a one-time sign-in link without an account. */
      person_id: optional(text),
      /** How the session was opened, in words. */
      way: text,
      /** Description of the browser. */
      browser: text,
      created_at: text,
      expires_at: text,
      /** To the minute; null: not used since it was opened. */
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
      /** JSON array of slugs; null: the person's own. */
      sources: optional(text),
      created_at: text,
      expires_at: text,
      /** To the minute. */
      last_used_at: optional(text),
    },
    'unique (token_hash)',
    'index api_tokens_person on api_tokens (person_id)',
  ),
  /** Responses to requests with an Idempotency-Key, returned again if the request is repeated. Kept for a day. */
  idempotency_keys: table({
    /** HMAC of the key and of the token's or session's handle. */
    key_hash: primary(blob),
    /** Hash of method, address and body. */
    request_hash: blob,
    created_at: text,
    /** Null: the request is being processed. */
    status: optional(integer),
    /** Sealed under K_rest. */
    answer: optional(blob),
  }),
  /** Links through which data subjects open and download their packs; only HMACs of the token and the code are kept. */
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
      /** JSON array: the names of the files in it, then the files handed over with it (hand-over/given-files.ts). */
      contents: text,
      /** BCP 47 language tag. */
      language: text,
      created_at: text,
      created_by: text,
      expires_at: text,
      /** Number of wrong codes. */
      failures: integer,
      /** When it was first opened with the right code. */
      opened_at: optional(text),
      downloads: integer,
      messages: integer,
      revoked_at: optional(text),
      /** When its expiry was recorded in the ledger. */
      expired_at: optional(text),
    },
    'unique (token_hash)',
    'index hand_overs_case on hand_overs (case_id)',
  ),
  /** Consecutive failed sign-ins, by a keyed hash of the e-mail address or the caller's address. Deleted after a day. */
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

/** The columns of a table, for prepared statements: one that selects `*` would be refused once the table gains a column. */
export const columnsOf = <Name extends TableName>(name: Name) =>
  Object.keys(tables[name].columns) as (keyof Tables[Name] & string)[];

/** Whether a table belongs to the read models. */
export const isFolded = (table: TableName): boolean => 'folded' in tables[table];

/** The columns of a table's primary key. */
export function keyOf(name: TableName): readonly string[] {
  const { columns, more }: { readonly columns: Columns; readonly more: readonly string[] } = tables[name];
  const listed = more.flatMap((part) => /^primary key \((.+)\)$/.exec(part)?.[1]?.split(', ') ?? []);
  return listed.length > 0
    ? listed
    : Object.keys(columns).filter((column) => columns[column]?.rule.endsWith(' primary key'));
}
