import { z } from 'zod';
import { roles } from './roles.ts';
import { recordedOptionsSchema } from './source.ts';

/**
 * Everything an officer, the operator or the program itself does that must be provable later.
 * An action is an entry of kind `action`; its body is the canonical JSON of one of these.
 * No field holds a secret; personal data only where the action is about it (a requester's name on a case).
 */
const actor = z.string().min(1).max(200);
const caseMove = z.object({
  action: z.literal('case.moved'),
  actor,
  caseId: z.string(),
  /** The version of the case that the officer saw: two officers at once are settled by it. */
  basedOn: z.number().int().nonnegative(),
  move: z.string(),
  /** What the move needs: a reason, a date, who approved. */
  details: z.record(z.string(), z.json()).default({}),
});
const caseOpened = z.object({
  action: z.literal('case.opened'),
  actor,
  caseId: z.string(),
  /** ISO 8601 UTC: when the request reached any channel of the controller (EDPB 01/2022 §159). */
  receivedAt: z.string(),
  kind: z.string(),
  requesterName: z.string().nullable(),
  requesterEmail: z.string().nullable(),
  subject: z.string().nullable(),
  jurisdiction: z.string().nullable(),
  message: z.string().nullable(),
  channel: z.string(),
  /** BCP 47, of the page on which the request was made. */
  language: z.string().max(35).exactOptional(),
  /** The requester wrote it into the request form: receipt is when it arrived. Absent: an officer recorded it. */
  receiptBasis: z.literal('form').exactOptional(),
});
/**
 * What a data subject asked for takes effect in the consent records: one for each subject and banner, appended together with the answer
 * (`case.moved`) of a request to withdraw consent, to opt out or to object.
 */
const consentWithdrawn = z.object({
  action: z.literal('consent.withdrawn-by-request'),
  actor,
  caseId: z.string(),
  /** The version of the case that the answer was based on. */
  basedOn: z.number().int().nonnegative(),
  /** Kind of the request. */
  kind: z.string(),
  subject: z.string(),
  bannerId: z.string().nullable(),
  /** Every purpose that needs consent; else only those named. */
  all: z.boolean(),
  /** Purposes affected: those chosen, or, of all, those known to be granted. */
  purposes: z.array(z.string().max(200)).max(500),
  /** ISO 8601 UTC: from when on it has effect, and when the request was received. */
  at: z.string(),
  requestedAt: z.string(),
});
const documentProduced = z.object({
  action: z.literal('document.produced'),
  actor,
  documentId: z.string(),
  name: z.string(),
  format: z.string(),
  sha256: z.string(),
  bytes: z.number().int().nonnegative(),
  asOf: z.number().int().nonnegative(),
  caseId: z.string().nullable(),
  parameters: z.record(z.string(), z.json()),
});
/** The list of a pack's files, sealed before the pack is finished, so that the pack can enclose the proof of it. */
const documentManifest = z.object({
  action: z.literal('document.manifest'),
  actor,
  name: z.string(),
  /** What the pack prints; its document id begins with it. */
  reference: z.string(),
  asOf: z.number().int().nonnegative(),
  caseId: z.string().nullable(),
  /** Of manifest.json. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Files of the pack by name, with their SHA-256; not the content of entries, which must not be guessable once it is erased. */
  files: z.record(z.string(), z.string()),
});
const documentDownloaded = z.object({
  action: z.literal('document.downloaded'),
  actor,
  documentId: z.string(),
  sha256: z.string(),
});
/** A report that comes round, by an officer's word, and its end. */
const documentScheduled = z.object({
  action: z.enum(['document.schedule-added', 'document.schedule-removed']),
  actor,
  scheduleId: z.string(),
  name: z.string(),
  format: z.string(),
  /** The period before it is made: `month`. */
  covers: z.string(),
  cron: z.string(),
  /** Ids of the people to whom it is mailed. */
  recipients: z.array(z.string()),
});
/** A scheduled document left for the mailbox of a person with an account. */
const documentMailed = z.object({
  action: z.literal('document.mailed'),
  actor,
  documentId: z.string(),
  sha256: z.string(),
  /** Id of the person. */
  to: z.string(),
});
const officerEvent = z.object({
  action: z.enum(['session.opened', 'session.closed', 'token.created']),
  actor,
  detail: z.string().nullable(),
});
/** Sign-ins that were refused: one entry for each account and hour, its repeats are counted. Neither what was typed nor from where. */
const sessionRefused = z.object({
  action: z.literal('session.refused'),
  actor,
  /** Whose account it was; null: there is none of this name. */
  personId: z.string().nullable(),
  /** Begins the hour, ISO 8601 UTC. */
  hour: z.string(),
});
/** What was done to a person's account. No e-mail address: the entry stays when the person has left. */
const personChanged = z.object({
  action: z.enum([
    'person.added',
    'person.changed',
    'person.disabled',
    'person.enabled',
    'person.link-created',
    'person.password-set',
    'person.second-factor-set',
    'person.second-factor-removed',
    'person.session-revoked',
    'person.token-created',
    'person.token-revoked',
  ]),
  actor,
  personId: z.string(),
  name: z.string(),
  role: z.enum(roles),
  /** Slugs of the sources that the person may see; null: every one. */
  sources: z.array(z.string()).nullable(),
  /** What changed, or which link, in words. */
  detail: z.string().nullable(),
});
/** Someone looked at personal data: once for each session, object and hour. */
const recordViewed = z.object({
  action: z.literal('record.viewed'),
  actor,
  /** A case id, `requests` (the list), or `evidence <seq>`. */
  object: z.string(),
  /** Begins the hour, ISO 8601 UTC. */
  hour: z.string(),
});
const sourceChanged = z.object({
  action: z.enum(['source.added', 'source.changed']),
  actor,
  sourceSlug: z.string(),
  /** Names of what changed; of credentials never the values. */
  changed: z.array(z.string()),
  options: recordedOptionsSchema.exactOptional(),
});
/** Entries of a source up to this one are read again by its present options. */
const sourceReread = z.object({
  action: z.literal('source.reread'),
  actor,
  sourceSlug: z.string(),
  options: recordedOptionsSchema.exactOptional(),
});
/** A client leaves: nothing more is pulled or accepted, and the credentials are destroyed. The evidence stays. */
const sourceOffboarded = z.object({
  action: z.literal('source.offboarded'),
  actor,
  sourceSlug: z.string(),
  reason: z.string().nullable(),
  /** Requests that still waited for an answer; more than none only when it was forced. */
  openCases: z.number().int().nonnegative(),
  /** Names of the credentials that were destroyed: `apiKey`, `siteKey`, `webhookSecrets <id>`. */
  destroyed: z.array(z.string()),
});
/** An officer accepted how payloads of a source are to be read. Names only, never values of a payload. */
const mappingAccepted = z.object({
  action: z.literal('source.mapping-accepted'),
  actor,
  sourceSlug: z.string(),
  proposalId: z.string(),
  fieldNames: z.record(z.string(), z.array(z.string())),
  eventNames: z.record(z.string(), z.string()),
  secretEncodings: z.record(z.string(), z.string()),
  /** How many deliveries and rows the proposal was made from. */
  samples: z.number().int().nonnegative(),
  /** All of them, with the mapping. */
  options: recordedOptionsSchema.exactOptional(),
});
/** The pulled log decided whether the repeats of a delivery with neither id nor time were new choices. */
const repeatSettled = z.object({
  action: z.literal('repeat.settled'),
  actor,
  /** The entry that was repeated. */
  delivery: z.number().int().positive(),
  event: z.string(),
  /** How many repeats there were by then. */
  repeats: z.number().int().positive(),
  resolution: z.enum(['repeat', 'new-choice']),
  /** Entries of the pulled rows that were found for it. */
  rows: z.array(z.number().int().positive()),
  /** The stretch of the pulled log that was looked through, ISO 8601 UTC. */
  from: z.string(),
  to: z.string(),
});
const syncFinished = z.object({
  action: z.enum(['sync.finished', 'sync.failed']),
  actor,
  bannerId: z.string().nullable(),
  runId: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  /** When the run began, by our clock or the service's, whichever was earlier: it covers nothing later. Absent in runs of earlier versions. */
  asOf: z.string().optional(),
  pages: z.number().int(),
  rows: z.number().int(),
  stored: z.number().int(),
  duplicates: z.number().int(),
  malformed: z.number().int(),
  /** Pieces of broken pages; absent in runs of earlier versions. */
  unreadable: z.number().int().optional(),
  /** Rows that were left out because their subject was erased; absent: none. */
  suppressed: z.number().int().optional(),
  /** Earliest and latest row time that counts; null without rows. */
  earliest: z.string().nullable(),
  latest: z.string().nullable(),
  error: z.string().nullable(),
});

/** A service takes requests for its log in another form than the usual one (docs/service.md §4.5). */
const syncFormLearned = z.object({
  action: z.literal('sync.form-learned'),
  actor,
  runId: z.string(),
  /** How periods are written. */
  period: z.enum(['time', 'seconds', 'date', 'local']),
  /** Whether both ends of the period are always given. */
  range: z.enum(['open', 'closed']).default('open'),
  /** Whether a cursor is sent beside the other parameters. */
  cursor: z.enum(['with-query', 'alone']),
});

/** An officer put a banner aside: it is not pulled any more, or it is again. */
const syncBannerDismissed = z.object({
  action: z.enum(['sync.banner-dismissed', 'sync.banner-restored']),
  actor,
  bannerId: z.string(),
});

/** The log of the last days was read again from the beginning and compared. At most a hundred entries are named of each kind. */
const syncRecounted = z.object({
  action: z.literal('sync.recounted'),
  actor,
  bannerId: z.string().nullable(),
  runId: z.string(),
  from: z.string(),
  to: z.string(),
  rows: z.number().int(),
  /** Rows that no run had brought before. */
  found: z.number().int(),
  foundSeqs: z.array(z.number().int().positive()),
  /** Decisions pulled earlier that the service gave no more. */
  gone: z.number().int(),
  goneSeqs: z.array(z.number().int().positive()),
});

/** Somebody looked up how a person's consent stood. Who it was about stands here as a keyed hash only. */
const consentLookedUp = z.object({
  action: z.literal('consent.looked-up'),
  actor,
  /** What the identifier was that led to the records. */
  by: z.enum(['email', 'record', 'subject']),
  /** HMAC, hex: the same person gives the same value, which only a holder of the instance key can test. */
  about: z.string(),
  /** The moment asked about; null where a record was written down. */
  at: z.string().nullable(),
  records: z.number().int().nonnegative(),
});
/** A decision was handed out as a consent record. No word of whom it is about: the record encloses this entry, and the entry outlives an erasure. */
const consentRecordSealed = z.object({
  action: z.literal('consent.record-sealed'),
  actor,
  /** Of the record's text before it encloses its proof; a random salt in the text keeps anybody from guessing what it said. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
/** Kinds of files that show a banner, told by their bytes (src/banners/evidence.ts). */
const evidenceMediaType = z.enum([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/html',
  'text/plain',
]);
export type EvidenceMediaType = z.infer<typeof evidenceMediaType>;
/** How a banner was shown in a period, by an officer's word. The file lies in DATA_DIR/evidence under its SHA-256. */
const bannerEvidenceAdded = z.object({
  action: z.literal('banner.evidence-added'),
  actor,
  bannerId: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
  mediaType: evidenceMediaType,
  fileName: z.string(),
  /** ISO 8601 UTC; `to` exclusive, null: still shown like this. */
  from: z.string(),
  to: z.string().nullable(),
  note: z.string().nullable(),
});
/** It does not show what it was said to show. The entry that is retracted, and its file, stay. */
const bannerEvidenceRetracted = z.object({
  action: z.literal('banner.evidence-retracted'),
  actor,
  /** The entry of the evidence. */
  evidence: z.number().int().positive(),
  bannerId: z.string(),
  reason: z.string(),
});
/** What people call a banner, by an officer's word; null: by its id again. */
const bannerNamed = z.object({
  action: z.literal('banner.named'),
  actor,
  bannerId: z.string(),
  name: z.string().nullable(),
});
const count = z.number().int().nonnegative();
/** Refused deliveries, by a span of time and the reason, sparse: `2026-06-09T11:31`, `2026-06-09T11` or `2026-06-09` (UTC). */
const refusedCounts = z.object({
  per: z.enum(['minute', 'hour', 'day']),
  /** Up to when they were counted, ISO 8601 UTC: the minute in which it was looked is left out. */
  until: z.string(),
  counts: z.array(z.tuple([z.string(), z.string(), count])),
});
/**
 * What is counted beside the ledger, as it was at one moment for one period: a document reads it from here, so that it is made from
 * entries alone and can be made again.
 */
const countersObserved = z.object({
  action: z.literal('counters.observed'),
  actor,
  /** The period, ISO 8601 UTC, `to` exclusive. */
  from: z.string(),
  to: z.string(),
  /** The deliveries that were looked at: those with a seq up to this. */
  upTo: count,
  repeats: z.object({ deliveries: count, repeats: count }),
  /** Of the repeated deliveries, those with neither id nor time. */
  ambiguous: z.object({ deliveries: count, repeats: count, unresolved: count, newChoices: count }),
  refused: refusedCounts,
});

/** The last entry in a database whose installation moved to another one (docs/scaling.md, Moving from SQLite). */
const installationMoved = z.object({
  action: z.literal('installation.moved'),
  actor,
  /** Without user or password. */
  to: z.string(),
});

/**
 * A pack is handed over by a link with a code, and what is done with the link. Neither of the two is in it; the data subject acts as
 * `data subject (hand-over <id>)`.
 */
const handOver = z.object({
  action: z.enum([
    'hand-over.created',
    'hand-over.opened',
    'hand-over.code-refused',
    'hand-over.downloaded',
    'hand-over.revoked',
    'hand-over.expired',
  ]),
  actor,
  handOverId: z.string(),
  caseId: z.string(),
  documentId: z.string(),
  /** Of the document. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of a new one, when it expires (ISO 8601 UTC), and who approved it for the controller; of a refused code, how many have been wrong. */
  expiresAt: z.string().exactOptional(),
  approvedBy: z.string().exactOptional(),
  failures: count.exactOptional(),
});

/** Nothing that a hold names is erased until it is lifted: a claim, an inquiry of an authority (GDPR Art. 17(3)(e)). */
const holdPlaced = z.object({
  action: z.literal('hold.placed'),
  actor,
  holdId: z.string().regex(/^hold-[0-9a-f]{8}$/),
  /** In the officer's words, without personal data. */
  reason: z.string().min(1).max(500),
  /** Null: every source. */
  sourceSlug: z.string().nullable(),
  caseId: z.string().nullable(),
  /** HMAC of the subject, hex; null: every subject. */
  about: z.string().nullable(),
  /** Times of receipt, ISO 8601 UTC, `to` exclusive; null: without end. */
  from: z.string().nullable(),
  to: z.string().nullable(),
});
const holdLifted = z.object({
  action: z.literal('hold.lifted'),
  actor,
  holdId: z.string(),
  reason: z.string().min(1).max(500),
});

/** A backup was written and read back. */
const backupMade = z.object({
  action: z.literal('backup.made'),
  actor,
  /** Name without folder. */
  file: z.string(),
  /** Of the encrypted file. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: count,
  /** The last entry in it, and how many are under the newest checkpoint in it. */
  upTo: count,
  sealed: count,
});

/** The controller profile in a file was changed in the browser. Not what it says: the file does. */
const profileChanged = z.object({
  action: z.literal('profile.changed'),
  actor,
  /** Slug of the source whose own profile it is; null: the installation's. */
  sourceSlug: z.string().nullable(),
  /** Of the file, before and after. One that was not there counts as empty. */
  before: z.string().regex(/^[0-9a-f]{64}$/),
  after: z.string().regex(/^[0-9a-f]{64}$/),
  /** Names of the parts. */
  changed: z.array(z.string()),
});

/** The controller's own wording of one kind of letter in one language; null: the standard text again. No personal data. */
const letterTextChanged = z.object({
  action: z.literal('letter-text.changed'),
  actor,
  step: z.string(),
  language: z.string(),
  text: z.string().max(6000).nullable(),
});

/** Everything was written into a file that is not encrypted, and who took it. */
const everythingExported = z.object({
  action: z.enum(['export.made', 'export.downloaded']),
  actor,
  /** Name without folder. */
  file: z.string(),
  sha256: z.string(),
  bytes: count,
  /** The last entry in it. */
  upTo: count,
});

/** A backup was put back: this is the first entry of the epoch that begins with it. What came after the backup is lost. */
const installationRestored = z.object({
  action: z.literal('installation.restored'),
  actor,
  /** The epoch that begins, and its verifier key. */
  epoch: z.number().int().min(2),
  verifierKey: z.string(),
  /** When the backup was made, and its SHA-256; null: the database was put back by other means. */
  backup: z.object({ madeAt: z.string(), sha256: z.string() }).nullable(),
  /** The newest checkpoint that was put back, and the newest that is known of what is lost. */
  checkpoint: z.string().nullable(),
  lost: z.string().nullable(),
  /** Faults that the verification found and the operator accepted. */
  faults: count,
});

/** Schema of the body of an `action` entry. */
export const actionSchema = z.discriminatedUnion('action', [
  caseMove,
  caseOpened,
  consentWithdrawn,
  documentProduced,
  documentManifest,
  documentDownloaded,
  documentScheduled,
  documentMailed,
  officerEvent,
  sessionRefused,
  personChanged,
  recordViewed,
  sourceChanged,
  sourceReread,
  sourceOffboarded,
  mappingAccepted,
  repeatSettled,
  syncFinished,
  syncRecounted,
  consentLookedUp,
  consentRecordSealed,
  bannerEvidenceAdded,
  bannerEvidenceRetracted,
  bannerNamed,
  countersObserved,
  syncFormLearned,
  syncBannerDismissed,
  installationMoved,
  holdPlaced,
  holdLifted,
  installationRestored,
  backupMade,
  everythingExported,
  profileChanged,
  letterTextChanged,
  handOver,
]);
export type Action = z.infer<typeof actionSchema>;
/** What was counted beside the ledger at one moment, for one period. */
export type Counters = z.infer<typeof countersObserved>;
export type ActionName = Action['action'];
