import { type LedgerState, loadLedgerState } from '../../../attention/ledger-state.ts';
import type { OfficerAttention } from '../../../attention/officer-attention.ts';
import type { Warning } from '../../../attention/operator-warnings.ts';
import { loadSourceGaps, type SourceGap } from '../../../attention/source-gaps.ts';
import { outdatedApprovals } from '../../../cases/approval.ts';
import type { Context } from '../../../context/context.ts';
import { choiceNames } from '../../../core/consent-judgement.ts';
import type { Source } from '../../../core/source.ts';
import { addDays, dateIn, startOfDay } from '../../../core/zoned-days.ts';
import { awaitingApproval } from '../../../documents/awaiting-approval.ts';
import { countDocuments, type DocumentRow, listDocuments } from '../../../documents/check.ts';
import { type ErasureProposal, listWaitingProposals } from '../../../erasure/proposal.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import type { LastVerification } from '../../../ledger/verify/last-verification.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { sourcesOfCases } from '../../../store/queries/cases.ts';
import { countChoices } from '../../../store/queries/decisions-in.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import type { Store } from '../../../store/store.ts';

/** All data on the Today page. */
export interface Today {
  readonly attention: OfficerAttention;
  readonly warnings: readonly Warning[];
  readonly sources: readonly Pick<Source, 'slug' | 'name' | 'baseUrl' | 'apiKey'>[];
  /** The selected source; null: all. */
  readonly source: string | null;
  readonly documents: readonly DocumentRow[];
  /** Ids of those that a second person has yet to approve. */
  readonly awaiting: ReadonlySet<string>;
  readonly documentCount: number;
  readonly jobs: readonly Job[];
  readonly ledger: LedgerState;
  /** A source without a controller profile; null: each has one. */
  readonly profileless: Pick<Source, 'slug' | 'name'> | null;
  /** Sources that may belong to another client than their profile says, or do not work as they are set. */
  readonly incomplete: readonly { readonly name: string; readonly gaps: readonly SourceGap[] }[];
  /** Requests whose answer waits for a second person's approval. */
  readonly toApprove: ReadonlySet<string>;
  /** Proposed erasures that were not started yet and that the viewer may see. */
  readonly proposals: readonly ErasureProposal[];
  /** Decisions on each recent day: given, partly given, refused, withdrawn. Null: too many sources to count for a page. */
  readonly days: readonly { readonly day: string; readonly values: readonly number[] }[] | null;
  /** The last verification of the whole ledger; null if there was none. */
  readonly verification: LastVerification | null;
  /** When the read models were last compared with the ledger and were equal. */
  readonly compared: string | null;
  /** E-mail addresses of those who may administer the installation. */
  readonly admins: readonly string[];
  /** The officers' names for a source's banners. */
  readonly bannerNames: (source: string) => BannerNames | undefined;
}

/** What of the installation the page is gathered from. */
export type TodayNeeds =
  | 'store'
  | 'keys'
  | 'cases'
  | 'loadProfile'
  | 'surroundings'
  | 'attention'
  | 'warnings'
  | 'sources'
  | 'jobs'
  | 'clock'
  | 'config';
type Needs = Pick<Context, TodayNeeds>;

const DOCUMENTS_SHOWN = 25;
/** Finished jobs stay on the page for this long. */
const JOBS_SHOWN_MS = 24 * 3_600_000;

/** Gathers the data, for one source or all permitted ones. */
export async function loadToday(
  context: Needs,
  source: string | null,
  permitted: { readonly slugs: readonly string[] | null; list(): readonly Source[] },
  viewer: { readonly personId: string | null },
): Promise<Today> {
  const { read } = context.store;
  const only = source === null ? permitted.slugs : [source];
  const surroundings = context.surroundings();
  // The slowest statement is one of those for the warnings, so they begin first.
  const [
    warnings,
    { verification, comparison },
    attention,
    documents,
    documentCount,
    jobs,
    ledger,
    names,
    days,
    admins,
    waiting,
  ] = await Promise.all([
    context.warnings(surroundings),
    surroundings,
    context.attention(only ?? undefined),
    listDocuments(read, { sources: only, limit: DOCUMENTS_SHOWN }),
    countDocuments(read, only),
    loadJobs(context, only),
    loadLedgerState(read, permitted.slugs, surroundings),
    createBannerQueries(read).bannerNamesBySource(),
    loadDays(context, source === null ? permitted.list().map(({ slug }) => slug) : [source]),
    listAdminAddresses(context),
    listWaitingProposals(context),
  ]);
  return {
    attention,
    warnings: warnings.filter((warning) => only === null || warning.source === null || only.includes(warning.source)),
    sources: permitted.list(),
    source,
    documents,
    awaiting: await awaitingApproval(context.cases, documents),
    documentCount,
    jobs,
    ledger,
    days,
    profileless: await findProfileless(
      context,
      permitted.list().filter(({ slug }) => only === null || only.includes(slug)),
    ),
    incomplete: await findIncomplete(
      context,
      permitted.list().filter(({ slug }) => only === null || only.includes(slug)),
    ),
    toApprove: await loadToApprove(context, attention),
    proposals: waiting.filter(
      ({ source: of, needsSecond, personId }) =>
        (only === null || (of !== null && only.includes(of))) && (!needsSecond || personId !== viewer.personId),
    ),
    verification,
    compared: comparison?.found === null ? comparison.at : null,
    admins,
    bannerNames: (slug) => names.get(slug),
  };
}

async function findIncomplete(context: Needs, sources: readonly Source[]): Promise<Today['incomplete']> {
  const gaps = await loadSourceGaps(context, sources);
  return sources.flatMap(({ slug, name }) => {
    const found = gaps.get(slug)?.filter(({ kind }) => kind === 'client') ?? [];
    return found.length === 0 ? [] : { name, gaps: found };
  });
}

async function findProfileless({ loadProfile }: Needs, sources: readonly Source[]): Promise<Today['profileless']> {
  // A profile that cannot be read is not missing.
  const has = await Promise.all(sources.map((source) => loadProfile(source).catch(() => 'unreadable')));
  return sources[has.indexOf(null)] ?? null;
}

/** Requests that are ready, of controllers that want two people for an answer, and not approved yet. */
async function loadToApprove(
  { sources, loadProfile, store }: Needs,
  attention: OfficerAttention,
): Promise<ReadonlySet<string>> {
  const { ready } = attention;
  const wanting = new Set<string>();
  for (const slug of new Set(ready.map(({ row }) => row.source))) {
    // A profile that cannot be read is a warning of its own.
    const profile = await loadProfile(sources.findAny(slug)).catch(() => null);
    if (profile?.secondPersonFor?.includes('answer') === true) wanting.add(slug);
  }
  const wanted = ready.filter(({ row }) => wanting.has(row.source));
  const approved = wanted.filter(({ folded }) => folded.approval?.of === 'answer').map(({ row }) => row);
  const outdated = await outdatedApprovals(store.read, approved);
  const counts = new Set(approved.map((row) => row.case_id).filter((caseId) => !outdated.has(caseId)));
  return new Set(wanted.flatMap(({ row }) => (counts.has(row.case_id) ? [] : [row.case_id])));
}

/** Days in the chart, and the most sources for which it is drawn. */
export const DAYS_SHOWN = 30;
export const SOURCES_COUNTED = 20;

async function loadDays({ store, clock, config }: Needs, sources: readonly string[]): Promise<Today['days']> {
  if (sources.length > SOURCES_COUNTED) return null;
  const today = dateIn(clock().toISOString(), config.timeZone);
  const days = Array.from({ length: DAYS_SHOWN }, (_, place) => addDays(today, place + 1 - DAYS_SHOWN));
  const spans = days.map((name) => ({
    name,
    start: startOfDay(name, config.timeZone),
    end: startOfDay(addDays(name, 1), config.timeZone),
  }));
  const counted = new Map((await countChoices(store.read, sources, spans)).map(({ span, values }) => [span, values]));
  return days.map((day) => ({ day, values: counted.get(day) ?? choiceNames.map(() => 0) }));
}

/**
 * Documents and syncs requested by people: those in progress and those that ended recently, newest first in each case.
 */
async function loadJobs({ jobs, clock, store }: Needs, only: readonly string[] | null): Promise<Job[]> {
  const since = new Date(clock().getTime() - JOBS_SHOWN_MS).toISOString();
  const [documents, syncs] = await Promise.all([
    jobs.list({ kind: 'document', limit: 50 }),
    jobs.list({ kind: 'sync', limit: 50 }),
  ]);
  const wanted = [...documents, ...syncs].filter((job) => {
    const unfinished = job.finishedAt === null;
    const byHand = payloadText(job, 'actor') !== 'schedule';
    return unfinished || (byHand && job.finishedAt !== null && job.finishedAt >= since);
  });
  return [...(await jobsOfSources(wanted, only, store))]
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    .slice(0, 8);
}

/** Jobs that concern one of these sources; a sync of all sources belongs to none. A pack names its case instead. */
export async function jobsOfSources(
  jobs: readonly Job[],
  only: readonly string[] | null,
  store: Pick<Store, 'read'>,
): Promise<readonly Job[]> {
  if (only === null) return jobs;
  const caseIds = jobs.flatMap((job) => payloadText(job, 'caseId') ?? []);
  const sourceOfCase = await sourcesOfCases(store.read, caseIds);
  return jobs.filter((job) =>
    only.includes(payloadText(job, 'source') ?? sourceOfCase.get(payloadText(job, 'caseId') ?? '') ?? ''),
  );
}
