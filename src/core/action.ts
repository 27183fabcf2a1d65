import { z } from 'zod';
import { FINDING_REASON, findingKinds } from './finding.ts';
import { readingChanges } from './reading-change.ts';
import { roles } from './roles.ts';
import { recordedOptionsSchema } from './source.ts';

/**
 * Everything done by an officer, the operator or the program itself that must be provable later. An action is an entry
 * of kind `action`; its body is the canonical JSON of one of these. No field contains a secret, and personal data only
 * if the action concerns it (a requester's name on a case).
 */
/** The most characters of an actor's name. */
export const ACTOR_LENGTH = 200;
const actor = z.string().min(1).max(ACTOR_LENGTH);
const caseMove = z.object({
  action: z.literal('case.moved'),
  actor,
  caseId: z.string(),
  /** The version of the case that the officer saw; decides between two officers who act at once. */
  basedOn: z.number().int().nonnegative(),
  move: z.string(),
  /** The details of the move: a reason, a date, who approved. */
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
  /** Postal address in lines, without the name. */
  requesterAddress: z.string().max(600).exactOptional(),
  subject: z.string().nullable(),
  jurisdiction: z.string().nullable(),
  message: z.string().nullable(),
  channel: z.string(),
  /** BCP 47: chosen by the officer, or of the page on which the request was made. Absent: not known. */
  language: z.string().max(35).exactOptional(),
  /** The requester used the request form, so receipt is its arrival. Absent: an officer recorded it. */
  receiptBasis: z.literal('form').exactOptional(),
});
/**
 * The effect of a data subject's request on the consent records: one for each subject and banner, appended with the
 * answer (`case.moved`) to a request to withdraw consent, opt out or object.
 */
const consentWithdrawn = z.object({
  action: z.literal('consent.withdrawn-by-request'),
  actor,
  caseId: z.string(),
  /** The version of the case on which the answer was based. */
  basedOn: z.number().int().nonnegative(),
  /** Kind of the request. */
  kind: z.string(),
  subject: z.string(),
  bannerId: z.string().nullable(),
  /** Every purpose that needs consent; otherwise only the named ones. */
  all: z.boolean(),
  /** The affected purposes: the chosen ones, or, if all, those known to be granted. */
  purposes: z.array(z.string().max(200)).max(500),
  /** ISO 8601 UTC: when it takes effect, and when the request was received. */
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
/** The list of a pack's files, sealed before the pack is finished, so that the pack can contain the proof of it. */
const documentManifest = z.object({
  action: z.literal('document.manifest'),
  actor,
  name: z.string(),
  /** The reference printed in the pack; its document id begins with it. */
  reference: z.string(),
  asOf: z.number().int().nonnegative(),
  caseId: z.string().nullable(),
  /** Of manifest.json. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Files of the pack by name, with their SHA-256. Excludes content of entries, which must not be guessable once it is erased. */
  files: z.record(z.string(), z.string()),
});
const documentDownloaded = z.object({
  action: z.literal('document.downloaded'),
  actor,
  documentId: z.string(),
  sha256: z.string(),
});
/** A recurring report set up by an officer, and its removal. */
const documentScheduled = z.object({
  action: z.enum(['document.schedule-added', 'document.schedule-removed']),
  actor,
  scheduleId: z.string(),
  name: z.string(),
  format: z.string(),
  /** The period covered, ending before the report is made: `month`. */
  covers: z.string(),
  cron: z.string(),
  /** Ids of the people to whom it is mailed. */
  recipients: z.array(z.string()),
});
/** A scheduled document was handed to the mail server for a person with an account. */
const documentMailed = z.object({
  action: z.literal('document.mailed'),
  actor,
  documentId: z.string(),
  sha256: z.string(),
  /** Id of the person. */
  to: z.string(),
  /** Files sent with it, which are documents of the case. Their names may be personal data: they are in their own entries. */
  attachments: z
    .array(z.object({ documentId: z.string(), sha256: z.string(), bytes: z.number().int().nonnegative() }))
    .exactOptional(),
});
/**
 * A mail of a case to somebody outside: an attempt, before the mail server gets it, and what came of it. Without an
 * outcome, or with `mail.unknown`, it may have been sent. Contains no address.
 */
const mailAttempt = z.object({
  action: z.enum(['mail.attempted', 'mail.sent', 'mail.unsent', 'mail.unknown']),
  actor,
  mail: z.enum(['letter', 'task', 'request', 'reply']),
  caseId: z.string(),
  /** The id of the letter, the number of the task, or the version of the case that the reply made; null: the request itself. */
  about: z.string().nullable(),
  /** The same for all attempts of a mail that was asked for once. */
  mailId: z.string(),
  attempt: z.number().int().positive(),
  /** Why it was not sent, or why that is unknown. */
  reason: z.string().exactOptional(),
});
const officerEvent = z.object({
  action: z.enum(['session.opened', 'session.closed', 'token.created']),
  actor,
  detail: z.string().nullable(),
});
/** Refused sign-ins: one entry per account and hour, whose repeats are counted. Contains neither what was typed nor the sender. */
const sessionRefused = z.object({
  action: z.literal('session.refused'),
  actor,
  /** The person whose account it was; null: there is no such account. */
  personId: z.string().nullable(),
  /** Start of the hour, ISO 8601 UTC. */
  hour: z.string(),
});
/** Ends the detail of a change with which all of a person's API tokens, and the address of their calendar, ended. */
export const ALL_ACCESS_ENDED = 'API tokens and calendar address ended';
/** A change of a person's account. Contains no e-mail address, because the entry stays when the person has left. */
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
  /** Slugs of the sources that the person may see; null: all. */
  sources: z.array(z.string()).nullable(),
  /** The change, or the kind of link, in words. */
  detail: z.string().nullable(),
});
/** Someone looked at personal data: one entry per session, object and hour. */
const recordViewed = z.object({
  action: z.literal('record.viewed'),
  actor,
  /** A case id, `requests` (the list), or `evidence <seq>`. */
  object: z.string(),
  /** Start of the hour, ISO 8601 UTC. */
  hour: z.string(),
});
const sourceChanged = z.object({
  action: z.enum(['source.added', 'source.changed']),
  actor,
  sourceSlug: z.string(),
  /** Names of what changed; never values of credentials. */
  changed: z.array(z.string()),
  options: recordedOptionsSchema.exactOptional(),
});
/** Entries of a source up to this one are read again with its current options. */
const sourceReread = z.object({
  action: z.literal('source.reread'),
  actor,
  sourceSlug: z.string(),
  options: recordedOptionsSchema.exactOptional(),
});
/** A new version of the program reads earlier entries differently, and its reading was put in force. One entry for each source with differences, and one for the installation with all of them. */
const readingAdopted = z.object({
  action: z.literal('reading.adopted'),
  actor,
  /** Versions of the reading (receivers/reading-version.ts). */
  before: z.number().int().positive(),
  version: z.number().int().positive(),
  /** How many records changed in which way. */
  changes: z.array(z.object({ change: z.enum(readingChanges), count: z.number().int().positive() })),
  /** The entries concerned, as `12-14,19`. */
  entries: z.string(),
  /** All of them are named. */
  isWhole: z.boolean(),
});
/** A client was offboarded: nothing more is pulled or accepted, and the credentials were destroyed. The evidence stays. */
const sourceOffboarded = z.object({
  action: z.literal('source.offboarded'),
  actor,
  sourceSlug: z.string(),
  reason: z.string().nullable(),
  /** Number of open requests; only greater than zero if it was forced. */
  openCases: z.number().int().nonnegative(),
  /** Names of the destroyed credentials: `apiKey`, `siteKey`, `webhookSecrets <id>`. */
  destroyed: z.array(z.string()),
});
/** An officer accepted a mapping for a source's payloads. Contains names only, never values of a payload. */
const mappingAccepted = z.object({
  action: z.literal('source.mapping-accepted'),
  actor,
  sourceSlug: z.string(),
  proposalId: z.string(),
  fieldNames: z.record(z.string(), z.array(z.string())),
  eventNames: z.record(z.string(), z.string()),
  secretEncodings: z.record(z.string(), z.string()),
  /** The number of deliveries and rows on which the proposal was based. */
  samples: z.number().int().nonnegative(),
  /** Paths among them that change what was already understood; the officer typed each. */
  including: z.array(z.string()).exactOptional(),
  /** All options, including the mapping. */
  options: recordedOptionsSchema.exactOptional(),
});
/** The pulled log decided whether repeats of a delivery with neither id nor time were new choices. */
const repeatSettled = z.object({
  action: z.literal('repeat.settled'),
  actor,
  /** The repeated entry. */
  delivery: z.number().int().positive(),
  event: z.string(),
  /** The number of repeats by then. */
  repeats: z.number().int().positive(),
  resolution: z.enum(['repeat', 'new-choice']),
  /** Entries of the pulled rows found for it. */
  rows: z.array(z.number().int().positive()),
  /** The searched period of the pulled log, ISO 8601 UTC. */
  from: z.string(),
  to: z.string(),
});
/**
 * An officer looked at what could not be understood and found nothing to do: entries of one event of the source, up to
 * this one. Later ones are shown again.
 */
const unreadSetAside = z.object({
  action: z.literal('unread.set-aside'),
  actor,
  /** As given; null: the entries name none. */
  event: z.string().nullable(),
  upTo: z.number().int().positive(),
  /** How many they were. */
  entries: z.number().int().positive(),
});
/**
 * What an officer found out about a finding (finding.ts): it needs nobody until a later entry about it, or until the day
 * named. Nothing counts as consent because of it.
 */
const findingSettled = z.object({
  action: z.literal('finding.settled'),
  actor,
  kind: z.enum(findingKinds),
  /** The id of the decision, the key of the integration, or the site ('' if the scan names none). */
  key: z.string(),
  /** One of {@link conclusions}, or {@link OPEN_AGAIN}. */
  conclusion: z.string().min(1).max(50),
  /** In the officer's words; null: not stated. */
  reason: z.string().min(1).max(FINDING_REASON).nullable(),
  /** YYYY-MM-DD, the last day on which it holds. */
  until: z.iso.date().exactOptional(),
  /** The newest entry of the finding that the officer saw. */
  upTo: z.number().int().positive(),
});
const syncFinished = z.object({
  action: z.enum(['sync.finished', 'sync.failed']),
  actor,
  bannerId: z.string().nullable(),
  runId: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  /**
   * When the run began, by our clock or the service's, whichever was earlier: it covers nothing later. Absent in runs
   * of earlier versions.
   */
  asOf: z.string().optional(),
  pages: z.number().int(),
  rows: z.number().int(),
  stored: z.number().int(),
  duplicates: z.number().int(),
  malformed: z.number().int(),
  /** Pieces of broken pages; absent in runs of earlier versions. */
  unreadable: z.number().int().optional(),
  /** Rows left out because their subject was erased; absent: none. */
  suppressed: z.number().int().optional(),
  /** Earliest and latest row time that counts; null if there are no rows. */
  earliest: z.string().nullable(),
  latest: z.string().nullable(),
  error: z.string().nullable(),
});

/** A service accepts requests for its log in a form other than the usual one (docs/service.md §4.5). */
const syncFormLearned = z.object({
  action: z.literal('sync.form-learned'),
  actor,
  runId: z.string(),
  /** How the ends of periods are written. */
  period: z.enum(['time', 'seconds', 'date', 'local']),
  /** Whether both ends of the period are always sent. */
  range: z.enum(['open', 'closed']).default('open'),
  /** Whether a cursor is sent with the other parameters. */
  cursor: z.enum(['with-query', 'alone']),
});

/** An officer set a banner aside, so that it is no longer pulled, or brought it back. */
const syncBannerDismissed = z.object({
  action: z.enum(['sync.banner-dismissed', 'sync.banner-restored']),
  actor,
  bannerId: z.string(),
});

/** Recent days of the log were read again from the beginning and compared. Names at most a hundred entries of each kind. */
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
  /** Decisions pulled earlier that the service no longer returned. */
  gone: z.number().int(),
  goneSeqs: z.array(z.number().int().positive()),
});

/** Someone looked up a person's consent. The person is identified only by a keyed hash. */
const consentLookedUp = z.object({
  action: z.literal('consent.looked-up'),
  actor,
  /** The kind of identifier that led to the records. */
  by: z.enum(['email', 'record', 'subject']),
  /** HMAC, hex: the same person gives the same value, and only a holder of the instance key can test guesses. */
  about: z.string(),
  /** The requested time; null if a consent record was written. */
  at: z.string().nullable(),
  records: z.number().int().nonnegative(),
});
/**
 * A decision was handed out as a consent record. Does not say whom it concerns: the record contains this entry, and the
 * entry outlives an erasure.
 */
const consentRecordSealed = z.object({
  action: z.literal('consent.record-sealed'),
  actor,
  /** Of the record's text without its proof; a random salt in the text prevents guessing its content. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
/** Kinds of files that show a banner, recognised by their bytes (src/banners/evidence.ts). */
const evidenceMediaType = z.enum([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/html',
  'text/plain',
]);
export type EvidenceMediaType = z.infer<typeof evidenceMediaType>;
/** How a banner was shown in a period, according to an officer. The file is in DATA_DIR/evidence under its SHA-256. */
const bannerEvidenceAdded = z.object({
  action: z.literal('banner.evidence-added'),
  actor,
  bannerId: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
  mediaType: evidenceMediaType,
  fileName: z.string(),
  /** ISO 8601 UTC; `to` exclusive, null: still shown. */
  from: z.string(),
  to: z.string().nullable(),
  note: z.string().nullable(),
});
/** The evidence does not show what it was said to show. The retracted entry and its file stay. */
const bannerEvidenceRetracted = z.object({
  action: z.literal('banner.evidence-retracted'),
  actor,
  /** The entry of the evidence. */
  evidence: z.number().int().positive(),
  bannerId: z.string(),
  reason: z.string(),
});
/** A name for a banner, given by an officer; null: show its id again. */
const bannerNamed = z.object({
  action: z.literal('banner.named'),
  actor,
  bannerId: z.string(),
  name: z.string().nullable(),
});
const count = z.number().int().nonnegative();
/** Refused deliveries by span of time and reason, without zeros: `2026-06-09T11:31`, `2026-06-09T11` or `2026-06-09` (UTC). */
const refusedCounts = z.object({
  per: z.enum(['minute', 'hour', 'day']),
  /** Up to when they were counted, ISO 8601 UTC; excludes the minute of the observation. */
  until: z.string(),
  counts: z.array(z.tuple([z.string(), z.string(), count])),
});
/**
 * Counters kept outside the ledger, as observed at one time for one period. Documents read them from here, so that they
 * depend only on entries and can be reproduced.
 */
const countersObserved = z.object({
  action: z.literal('counters.observed'),
  actor,
  /** The period, ISO 8601 UTC, `to` exclusive. */
  from: z.string(),
  to: z.string(),
  /** The observed deliveries: those with a seq up to this one. */
  upTo: count,
  repeats: z.object({ deliveries: count, repeats: count }),
  /** The repeated deliveries with neither id nor time. */
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

/** A move was undone: this database accepts entries again, the other one does not. */
const installationReopened = z.object({
  action: z.literal('installation.reopened'),
  actor,
  /** Where it had moved to, without user or password. */
  from: z.string(),
});

/**
 * A pack was handed over through a link with a code, or the link was used. Contains neither link nor code; the data subject
 * acts as `data subject (hand-over <id>)`.
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
  /** Of the document. For a download of a file handed over with the pack, both are those of the file. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /**
   * For a new one: when it expires (ISO 8601 UTC), and who approved it for the controller. For a refused code: the
   * number of wrong codes.
   */
  expiresAt: z.string().exactOptional(),
  approvedBy: z.string().exactOptional(),
  failures: count.exactOptional(),
  /** For a new one: the files of the case that are handed over with the pack. */
  attachments: z
    .array(z.object({ documentId: z.string(), sha256: z.string(), bytes: z.number().int().nonnegative() }))
    .exactOptional(),
});

/** Nothing that a hold names is erased until it is lifted: a claim, an authority's inquiry (GDPR Art. 17(3)(e)). */
const holdPlaced = z.object({
  action: z.literal('hold.placed'),
  actor,
  holdId: z.string().regex(/^hold-[0-9a-f]{8}$/),
  /** In the officer's words, without personal data. */
  reason: z.string().min(1).max(500),
  /** Null: all sources. */
  sourceSlug: z.string().nullable(),
  caseId: z.string().nullable(),
  /** HMAC of the subject, hex; null: all subjects. */
  about: z.string().nullable(),
  /** Times of receipt, ISO 8601 UTC, `to` exclusive; null: unlimited. */
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
  /** File name without folder. */
  file: z.string(),
  /** Of the encrypted file. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: count,
  /** The last entry it contains, and the size of its newest checkpoint. */
  upTo: count,
  sealed: count,
});

/** The controller profile was changed in the browser. The content is in the file, not here. */
const profileChanged = z.object({
  action: z.literal('profile.changed'),
  actor,
  /** Slug of the source with this profile; null: the installation's profile. */
  sourceSlug: z.string().nullable(),
  /** Hash of the file, before and after. A missing file counts as empty. */
  before: z.string().regex(/^[0-9a-f]{64}$/),
  after: z.string().regex(/^[0-9a-f]{64}$/),
  /** Names of the changed parts. */
  changed: z.array(z.string()),
});

/**
 * The deadline rules of the installation (REGIMES_FILE) are others than the last recorded ones. The content is in the
 * file, not here.
 */
const regimesChanged = z.object({
  action: z.literal('regimes.changed'),
  actor,
  /** Of the file; null: there is none, so the built-in rules apply. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  /** Every regime whose rules differ from the built-in ones. */
  regimes: z.array(
    z.object({
      id: z.string(),
      /** Of everything that the file says of it. */
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      /** What differs, such as `all: period 24 months`. */
      differs: z.array(z.string()),
      /** The entry that recorded these same rules first, if they have been in force since; null: this entry. */
      since: z.object({ seq: count, at: z.string() }).nullable(),
    }),
  ),
});

/**
 * The controller's own wording of one kind of letter in one language; null: back to the standard text. Contains no
 * personal data.
 */
const letterTextChanged = z.object({
  action: z.literal('letter-text.changed'),
  actor,
  step: z.string(),
  language: z.string(),
  text: z.string().max(6000).nullable(),
});

/** Everything was exported to an unencrypted file; says who took it. */
const everythingExported = z.object({
  action: z.enum(['export.made', 'export.downloaded']),
  actor,
  /** File name without folder. */
  file: z.string(),
  sha256: z.string(),
  bytes: count,
  /** The last entry it contains. */
  upTo: count,
});

/** What witnesses signed of an earlier checkpoint is kept in these files, so that a missing one is noticed. */
const checkpointWitnessed = z.object({
  action: z.literal('checkpoint.witnessed'),
  actor,
  /** Files of DATA_DIR/witnessed, and the SHA-256 of each cosignature line, or of the token. */
  files: z.array(z.object({ name: z.string(), sha256: z.array(z.string()) })),
});

/** A backup was restored: this is the first entry of the epoch that begins with it. Everything after the backup is lost. */
const installationRestored = z.object({
  action: z.literal('installation.restored'),
  actor,
  /** The new epoch, and its verifier key. */
  epoch: z.number().int().min(2),
  verifierKey: z.string(),
  /** When the backup was made, and its SHA-256; null: the database was restored by other means. */
  backup: z.object({ madeAt: z.string(), sha256: z.string() }).nullable(),
  /** The newest restored checkpoint, and the newest one known of what is lost. */
  checkpoint: z.string().nullable(),
  lost: z.string().nullable(),
  /** The entry numbers known to be lost, sealed or not; null or absent: none are known. */
  missing: z.object({ from: count, to: count }).nullish(),
  /** Faults found by the verification and accepted by the operator. */
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
  mailAttempt,
  officerEvent,
  sessionRefused,
  personChanged,
  recordViewed,
  sourceChanged,
  sourceReread,
  readingAdopted,
  sourceOffboarded,
  mappingAccepted,
  repeatSettled,
  unreadSetAside,
  findingSettled,
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
  installationReopened,
  holdPlaced,
  holdLifted,
  checkpointWitnessed,
  installationRestored,
  backupMade,
  everythingExported,
  profileChanged,
  regimesChanged,
  letterTextChanged,
  handOver,
]);
export type Action = z.infer<typeof actionSchema>;
/** Counters kept outside the ledger, as observed at one time for one period. */
export type Counters = z.infer<typeof countersObserved>;
export type ActionName = Action['action'];
