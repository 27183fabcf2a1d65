import { listCases, listMessages } from '../cases/list-cases.ts';
import type { CaseReading, CaseView } from '../cases/view.ts';
import type { Clock } from '../core/clock.ts';
import { can, type Role } from '../core/roles.ts';
import type { Source } from '../core/source.ts';
import { dateText } from '../core/time-words.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { addDays } from '../core/zoned-days.ts';
import { PAYLOAD_OF_SCHEDULE } from '../documents/schedules.ts';
import { listWaitingProposals, type ProposalReading } from '../erasure/proposal.ts';
import { PEOPLES_SCHEDULES } from '../jobs/schedule.ts';
import type { Query } from '../store/store.ts';
import { loadSyncStatus } from '../sync/status.ts';
import { isGap } from './officer-attention.ts';
import type { Warning } from './operator-warnings.ts';
import { loadUnread } from './unread.ts';

/** Days before a request's legal limit from which there is a notice. */
const DUE_DAYS = 7;

/**
 * The wording for a number of notices. `work`: for those who handle requests; `administer`: for those who run the
 * installation. It contains no names and no quotations.
 */
interface Kind {
  readonly audience: 'work' | 'administer';
  /** `due`: the earliest legal limit, YYYY-MM-DD. */
  readonly words: (count: number, due: string | null) => string;
}

const many = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;
const is = (count: number) => (count === 1 ? 'is' : 'are');
const fixed = (sentence: string): Kind => ({ audience: 'administer', words: () => sentence });

/** All kinds of notices in the order in which they are listed; among requests, the most urgent come first. */
const kinds = {
  'request-overdue': {
    audience: 'work',
    words: (count, due) => {
      // The limit is the last day that is still on time.
      const since = due === null ? null : dateText(addDays(due, 1));
      if (since === null) return `${many(count, 'request')} ${is(count)} overdue.`;
      return count === 1
        ? `1 request has been overdue since ${since}.`
        : `${count} requests are overdue, the first since ${since}.`;
    },
  },
  'request-due': {
    audience: 'work',
    words: (count, due) => {
      if (due !== null && count === 1) return `1 request is due on ${dateText(due)}.`;
      const first = due === null ? '' : `, the first on ${dateText(due)}`;
      return `${many(count, 'request')} ${is(count)} due within ${DUE_DAYS} days${first}.`;
    },
  },
  'request-undated': {
    audience: 'work',
    words: (count) =>
      `${many(count, 'request')} ${count === 1 ? 'has' : 'have'} no legal limit yet: the place is unknown, or its law is not recorded here.`,
  },
  'request-new': {
    audience: 'work',
    words: (count) => `${many(count, 'new request')} ${is(count)} waiting to be taken up.`,
  },
  'requester-message': {
    audience: 'work',
    words: (count) => `${many(count, 'requester')} wrote back and ${count === 1 ? 'waits' : 'wait'} for a reply.`,
  },
  quarantine: {
    audience: 'work',
    words: (count) =>
      `${many(count, 'entry', 'entries')} could not be understood: look whether a request is among them.`,
  },
  'erasure-proposed': {
    audience: 'work',
    words: (count) => `${many(count, 'erasure')} ${is(count)} waiting for a second person’s approval.`,
  },
  'log-gap': {
    audience: 'work',
    words: (count) => `The consent log of ${many(count, 'banner')} may be incomplete.`,
  },
  'identity-altered': fixed('The ledger refuses new entries: its name or epoch was altered in the database.'),
  'journal-ahead': fixed('The ledger refuses new entries: the database is in an older state than its journal.'),
  'schema-altered': fixed('The ledger refuses new entries: the database schema was altered.'),
  'installation-moved': fixed('The ledger refuses new entries: the installation has moved to another database.'),
  'seal-failed': fixed('The ledger could not be sealed.'),
  'verification-faults': fixed('The last verification of the ledger found faults.'),
  'verification-overdue': fixed('Verification of the whole ledger is overdue.'),
  'read-models-differ': fixed(
    'Rows of the read models differ from the ledger; no report or pack can be made until this is fixed.',
  ),
  'reading-pending': fixed(
    'This version of the program reads some earlier records differently; no report or pack can be made until somebody has looked at the list.',
  ),
  'read-models-ahead': fixed('The read models are ahead of the ledger.'),
  'read-models-misplaced': fixed('The position of the read models was set back, moved or removed.'),
  'witness-forked': fixed('A witness has seen a different history of this ledger.'),
  'witness-late': fixed('Checkpoints have waited too long for their witnesses.'),
  'job-failed': {
    audience: 'administer',
    words: (count) => `${many(count, 'scheduled job')} failed at the last attempt.`,
  },
  'refused-surge': fixed('Deliveries are being refused because of their signature.'),
  'silent-source': fixed('Nothing has been delivered for longer than usual.'),
  'sync-failing': {
    audience: 'administer',
    words: (count) => `The last sync failed${count === 1 ? '' : ` of ${count} banners`}.`,
  },
  'sync-lag': fixed('The consent log has not been synced for hours.'),
  'disk-low': fixed('The data disk is almost full.'),
  'unknown-call': fixed('Calls to the service have an unknown outcome.'),
  'policies-disagree': fixed('Policies and deliveries contradict each other.'),
  'api-changed': fixed('The service’s API description lacks something this program needs.'),
  'snapshot-failing': fixed('Texts of policies could not be fetched.'),
} as const satisfies Record<
  | Warning['code']
  | 'request-new'
  | 'request-overdue'
  | 'request-due'
  | 'request-undated'
  | 'requester-message'
  | 'erasure-proposed'
  | 'log-gap'
  | 'job-failed',
  Kind
>;

export type NoticeKind = keyof typeof kinds;
export const noticeKinds = Object.keys(kinds) as readonly NoticeKind[];

/**
 * Groups of notices that a person may turn on or off: requests and their evidence; sources and the service; the
 * installation itself.
 */
export const noticeGroups = ['requests', 'sources', 'installation'] as const;
export type NoticeGroup = (typeof noticeGroups)[number];

const ofSources: readonly NoticeKind[] = [
  'silent-source',
  'refused-surge',
  'sync-failing',
  'sync-lag',
  'policies-disagree',
  'unknown-call',
  'snapshot-failing',
  'api-changed',
];

/** The group of a kind. */
export function groupOf(kind: NoticeKind): NoticeGroup {
  if (kinds[kind].audience === 'work') return 'requests';
  return ofSources.includes(kind) ? 'sources' : 'installation';
}

/** A current condition, about which people are notified once. */
export interface Notice {
  /** Unchanged while the condition persists. Stays in the database, because it may contain a case id. */
  readonly key: string;
  readonly kind: NoticeKind;
  readonly source: string | null;
  /** Legal limit of a request, YYYY-MM-DD. */
  readonly due?: string | null;
  /** How many things it is about; absent: one. */
  readonly count?: number;
}

/** The number of notices of one kind and source, and the earliest limit: all that leaves the machine. */
export interface Told {
  readonly kind: NoticeKind;
  readonly source: string | null;
  readonly count: number;
  /** YYYY-MM-DD; null: none. */
  readonly due: string | null;
}

/** Scheduled jobs whose failure is not shown elsewhere. */
const WATCHED_JOBS = ['backup', 'retention', 'witness', 'verify', 'check-read-models', 'checkpoint-mail'];

interface NoticeDeps extends Pick<ProposalReading, 'keys'> {
  readonly cases: CaseReading;
  readonly clock: Clock;
  /** Sources whose consent log is pulled. */
  readonly pulled: readonly Source[];
  readonly warnings: readonly Warning[];
}

/** All current conditions. */
export async function findNotices({ cases, clock, keys, pulled, warnings }: NoticeDeps): Promise<readonly Notice[]> {
  const { read } = cases.store;
  const [views, banners, failed, messages, proposals, unread] = await Promise.all([
    listCases(cases, { open: true, now: clock().toISOString() }),
    loadSyncStatus(read, clock, pulled),
    failedJobs(read),
    listMessages(read),
    listWaitingProposals({ store: cases.store, keys }),
    loadUnread(read),
  ]);
  const notices: Notice[] = [];
  for (const view of views) {
    const { row, daysLeft, deadline } = view;
    if (isUntouched(view)) notices.push({ key: `request-new ${row.case_id}`, kind: 'request-new', source: row.source });
    const isOpenQuestion = deadline.placeMissing || deadline.unrecorded.length > 0;
    if (daysLeft === null ? !isOpenQuestion : daysLeft > DUE_DAYS) continue;
    const kind = daysLeft === null ? 'request-undated' : daysLeft < 0 ? 'request-overdue' : 'request-due';
    notices.push({ key: `${kind} ${row.case_id}`, kind, source: row.source, due: deadline.limit });
  }
  // A further message is news, although the request was already waiting for a reply.
  for (const { caseId, source, lastAt } of messages)
    notices.push({ key: `requester-message ${caseId} ${lastAt}`, kind: 'requester-message', source });
  for (const { id, source } of proposals.filter(({ needsSecond }) => needsSecond))
    notices.push({ key: `erasure-proposed ${id}`, kind: 'erasure-proposed', source });
  for (const { source, bannerId } of banners.filter(isGap))
    notices.push({ key: `log-gap ${source} ${bannerId ?? ''}`, kind: 'log-gap', source });
  for (const { source, event, entries, after } of unread) {
    // What arrives after an officer set the earlier ones aside is news.
    const key = `quarantine ${source} ${event ?? ''} ${after}`;
    notices.push({ key, kind: 'quarantine', source: source === INSTALLATION ? null : source, count: entries });
  }
  // A source may have several warnings of one code, for instance about banners, and their sentences contain counts that
  // change.
  for (const [place, { code, source, sentence }] of warnings.entries()) {
    if (code === 'quarantine') continue;
    notices.push({ key: `${code} ${source ?? ''} ${keyOf(code, sentence) ?? place}`, kind: code, source });
  }
  for (const kind of failed) notices.push({ key: `job-failed ${kind}`, kind: 'job-failed', source: null });
  return notices;
}

/**
 * Whether a request arrived without an officer, by a delivery or the web form, and work on it has not started. The
 * receipt of a duplicate does not count.
 */
export function isUntouched({ row, folded }: Pick<CaseView, 'row' | 'folded'>): boolean {
  const basis = folded.ownReceipt?.basis ?? row.receipt_basis;
  return basis !== 'officer' && (row.state === 'opened' || row.state === 'acknowledged');
}

/** Distinguishes warnings with the same code and source. */
function keyOf(code: Warning['code'], sentence: string): string {
  return code === 'sync-failing' || code === 'sync-lag'
    ? (/, banner (.+?)(?: failed:| was| did)/.exec(sentence)?.[1] ?? '')
    : '';
}

/** Kinds, and documents of schedules, whose last finished job failed. */
async function failedJobs(read: Query): Promise<readonly string[]> {
  const rows = await read
    .selectFrom('jobs')
    .select(['kind', 'state', 'job_key', 'payload'])
    .where((eb) =>
      eb.or([
        eb('kind', 'in', [...WATCHED_JOBS, PEOPLES_SCHEDULES]),
        eb.and([eb('kind', '=', 'document'), eb('payload', 'like', PAYLOAD_OF_SCHEDULE)]),
      ]),
    )
    .where('state', 'in', ['done', 'failed'])
    .orderBy('finished_at', 'desc')
    .orderBy('created_at', 'desc')
    .limit(200)
    .execute();
  const last = new Map<string, string>();
  for (const { kind, state, job_key: key, payload } of rows) {
    const schedule =
      kind === PEOPLES_SCHEDULES
        ? key
        : kind === 'document'
          ? (JSON.parse(payload) as { schedule: string }).schedule
          : null;
    const what = schedule === null ? kind : `${kind} ${schedule}`;
    if (!last.has(what)) last.set(what, state);
  }
  return [...last].flatMap(([kind, state]) => (state === 'failed' ? [kind] : []));
}

/** Counts notices by kind and source, in the order of the kinds. */
export function countNotices(notices: readonly Omit<Notice, 'key'>[]): readonly Told[] {
  const groups = new Map<string, Told>();
  for (const { kind, source, due = null, count = 1 } of notices) {
    const id = `${kind} ${source ?? ''}`;
    const before = groups.get(id);
    const first = before?.due ?? due;
    groups.set(id, {
      kind,
      source,
      count: (before?.count ?? 0) + count,
      due: due !== null && first !== null && due < first ? due : first,
    });
  }
  return [...groups.values()].sort(
    (a, b) =>
      noticeKinds.indexOf(a.kind) - noticeKinds.indexOf(b.kind) || (a.source ?? '').localeCompare(b.source ?? ''),
  );
}

/** One line: `Acme GmbH: 1 request is due on 27 Nov 2026.` `nameOf`: the display name of a source. */
export function sentenceOf({ kind, source, count, due }: Told, nameOf = (slug: string): string => slug): string {
  const words = kinds[kind].words(count, due);
  return source === null ? words : `${nameOf(source)}: ${words}`;
}

/**
 * Whether an account receives this notice: notices about the installation and its upkeep go to those who may administer
 * it, those about requests to those who work on them, and both only for sources that the person may see.
 */
export function isFor(
  { role, sources }: { readonly role: Role; readonly sources: readonly string[] | null },
  { kind, source }: Pick<Told, 'kind' | 'source'>,
): boolean {
  if (!can(role, kinds[kind].audience)) return false;
  return sources === null || (source !== null && sources.includes(source));
}
