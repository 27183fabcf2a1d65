import { dateText, momentText } from '../core/time-words.ts';
import { INSTALLATION, TEST_EVENT } from '../core/vocabulary.ts';
import { dateIn } from '../core/zoned-days.ts';
import type { WitnessState } from '../ledger/cosigned-checkpoints.ts';
import { chunksOf } from '../ledger/erase.ts';
import type { LastVerification } from '../ledger/verify/last-verification.ts';
import { findDisagreements } from '../policies/list.ts';
import { findPositionFault, type PositionFault, positionFaultText } from '../store/queries/fold-position.ts';
import type { Query } from '../store/store.ts';
import { bannerOf } from '../sync/position.ts';
import { type DeliveryTimes, loadDeliveryTimes, loadLastDeliveriesUntil } from './delivery-ends.ts';
import { loadSealTimes } from './figures.ts';
import { countUnread } from './unread.ts';

/** Something that needs the operator's attention: what, and what to do about it. */
export interface Warning {
  readonly code:
    | 'silent-source'
    | 'refused-surge'
    | 'sync-failing'
    | 'sync-lag'
    | 'disk-low'
    | 'seal-failed'
    | 'verification-faults'
    | 'verification-overdue'
    | 'quarantine'
    | 'identity-altered'
    | 'journal-ahead'
    | 'schema-altered'
    | 'read-models-ahead'
    | 'read-models-misplaced'
    | 'read-models-differ'
    | 'reading-pending'
    | 'unknown-call'
    | 'policies-disagree'
    | 'api-changed'
    | 'snapshot-failing'
    | 'installation-moved'
    | 'witness-forked'
    | 'witness-late';
  readonly source: string | null;
  readonly sentence: string;
  readonly remedy: string;
}

/** What {@link findWarnings} considers besides the database. */
export interface Surroundings {
  readonly now: Date;
  /** The zone of days and times in messages. */
  readonly timeZone: string;
  /** Sources that are set up to be pulled (they have an API address and key). */
  readonly pulled: readonly string[];
  /** Free and total bytes on the data's disk; null if unknown. */
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** Why the last sealing failed; null if it did not. */
  readonly sealFailure: string | null;
  /** The last verification of the whole ledger; null: there was none. */
  readonly verification: LastVerification | null;
  /** Milliseconds between scheduled verifications. */
  readonly verifyEveryMs: number;
  /**
   * The last comparison of the read models with the ledger: the tables that differed, with the number of rows (null: none
   * did); null if none has been made.
   */
  readonly comparison: { readonly at: string; readonly found: string | null } | null;
  /** The read models hold what an earlier version of the program read, and this one reads some of it differently. */
  readonly isReadingPending: boolean;
  /** Why appends are refused; null if they are not. */
  readonly refusal: AppendRefusal | null;
  /** How far checkpoints have been witnessed, and how long one may wait for it; null: no witnesses are configured. */
  readonly witnessing: { readonly state: WitnessState; readonly epoch: number; readonly maxAgeHours: number } | null;
}

/** Why nothing can be appended at the moment. */
export interface AppendRefusal {
  readonly code: 'identity-altered' | 'journal-ahead' | 'installation-moved' | 'schema-altered';
  readonly reason: string;
  readonly remedy: string;
}

const HOUR = 3_600_000;
/**
 * A source that has delivered before is silent after this long without a delivery, unless its deliveries are usually
 * further apart.
 */
const SILENT_HOURS = 48;
/** This many refusals for their signature within a quarter of an hour, and more than were accepted, are a surge. */
const SURGE = 10;
/** Hours without a successful sync after which a pulled source counts as lagging. */
const LAG_HOURS = 3;
/** A worker seals every five minutes. */
export const UNSEALED_MS = HOUR;
const DISK_FREE_BYTES = 1 << 30;
const DISK_FREE_SHARE = 0.05;

/**
 * The warnings listed in docs/notifications.md: silence, surge of refusals, sync, disk, seal, quarantine, policy texts, lists and
 * deliveries that disagree, the API's description.
 */
export async function findWarnings(read: Query, given: Surroundings | Promise<Surroundings>): Promise<Warning[]> {
  const around = await given;
  const found = await Promise.all([
    Promise.resolve(refusalWarning(around.refusal)),
    sealWarning(read, around),
    Promise.resolve(verificationWarning(around.verification)),
    overdueVerification(read, around),
    witnessWarnings(read, around),
    Promise.resolve(diskWarning(around.disk)),
    positionWarning(read),
    Promise.resolve(around.isReadingPending ? readingWarning() : differenceWarning(around.comparison?.found ?? null)),
    surges(read, around.now),
    silences(read, around.now),
    syncWarnings(read, around),
    quarantineWarnings(read),
    descriptionWarnings(read, around.timeZone),
    failedFetches(read, around.now),
    unknownCalls(read, around.now),
    disagreements(read, around.timeZone),
  ]);
  return found.flat();
}

function refusalWarning(refusal: AppendRefusal | null): Warning[] {
  if (refusal === null) return [];
  return [
    {
      code: refusal.code,
      source: null,
      sentence: `The ledger refuses new entries: ${refusal.reason}`,
      remedy: refusal.remedy,
    },
  ];
}

/** Sealing failed, or has not happened for long: until then, entries can be cut off the end without a trace. */
async function sealWarning(read: Query, { sealFailure, now, timeZone }: Surroundings): Promise<Warning[]> {
  const warning = { code: 'seal-failed', source: null } as const;
  if (sealFailure !== null)
    return [
      {
        ...warning,
        sentence: `The ledger could not be sealed: ${sealFailure}`,
        remedy: 'Run `consent-ledger ledger verify` to list each fault.',
      },
    ];
  const { unsealed } = await loadSealTimes(read);
  if (unsealed === null || now.getTime() - Date.parse(unsealed) <= UNSEALED_MS) return [];
  return [
    {
      ...warning,
      sentence: `Entries received since ${momentText(unsealed, timeZone)} are not sealed yet.`,
      remedy:
        'Check that a worker is running, and whether a job of the kind `seal` never ends; `consent-ledger ledger checkpoint` seals at once.',
    },
  ];
}

function verificationWarning(last: LastVerification | null): Warning[] {
  if (last === null || last.faults === 0) return [];
  return [
    {
      code: 'verification-faults',
      source: null,
      sentence: `The last verification of the ledger found ${last.faults} fault${last.faults === 1 ? '' : 's'}.`,
      remedy:
        'Keep DATA_DIR and the database as they are, and run `consent-ledger ledger verify` to list each fault; docs/red-verification.md says what officers do. The warning disappears once a verification finds none.',
    },
  ];
}

/** The whole ledger has not been verified for twice the interval (or, if it never was, the first entry is that old). */
async function overdueVerification(
  read: Query,
  { verification, verifyEveryMs, now }: Surroundings,
): Promise<Warning[]> {
  const first =
    verification === null
      ? await read.selectFrom('entries').select('received_at').orderBy('seq').limit(1).executeTakeFirst()
      : undefined;
  const since = verification?.at ?? first?.received_at;
  if (since === undefined || now.getTime() - Date.parse(since) <= 2 * verifyEveryMs) return [];
  const days = Math.floor((now.getTime() - Date.parse(since)) / (24 * HOUR));
  return [
    {
      code: 'verification-overdue',
      source: null,
      sentence:
        verification === null
          ? `The ledger is ${days} days old and has never been verified as a whole.`
          : `The whole ledger was last verified ${days} days ago.`,
      remedy:
        'Run `consent-ledger ledger verify`, or press “Verify now” on the Evidence page; check that a worker is running and that VERIFY_SCHEDULE is not off.',
    },
  ];
}

/** A witness that has seen a different history, and checkpoints that wait too long for their witnesses. */
async function witnessWarnings(read: Query, { witnessing, now }: Surroundings): Promise<Warning[]> {
  if (witnessing === null) return [];
  const { state, epoch, maxAgeHours } = witnessing;
  const standings = Object.values(state.witnesses).filter((standing) => standing.epoch === epoch);
  const warnings = standings
    .filter(({ forked }) => forked)
    .map(
      ({ name, error }): Warning => ({
        code: 'witness-forked',
        source: null,
        sentence: `The witness ${name} has seen a different history of this ledger: ${error ?? ''}`,
        remedy:
          'Keep DATA_DIR and the database as they are and run `consent-ledger ledger verify`: either an older state was restored, or the ledger was rewritten.',
      }),
    );
  const size = state.quorum.epoch === epoch ? state.quorum.size : 0;
  const waiting = await read
    .selectFrom('checkpoints')
    .select(['size', 'created_at'])
    .where('epoch', '=', epoch)
    .where('size', '>', size)
    .orderBy('size')
    .limit(1)
    .executeTakeFirst();
  const hours = waiting === undefined ? 0 : (now.getTime() - Date.parse(waiting.created_at)) / HOUR;
  if (hours <= maxAgeHours) return warnings;
  const failing = standings.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  return [
    ...warnings,
    {
      code: 'witness-late',
      source: null,
      sentence: `Checkpoints over more than ${size} entries have waited ${Math.floor(hours)} hours for the witnesses.${failing.length === 0 ? '' : ` Last attempts: ${failing.join('; ')}.`}`,
      remedy:
        'Run `consent-ledger ledger witness` and read its output; check that a worker is running and that WITNESS_SCHEDULE is not off.',
    },
  ];
}

function diskWarning(disk: Surroundings['disk']): Warning[] {
  if (disk === null || (disk.free >= DISK_FREE_BYTES && disk.free / disk.total >= DISK_FREE_SHARE)) return [];
  const free = `${(disk.free / (1 << 30)).toFixed(1)} GiB`;
  return [
    {
      code: 'disk-low',
      source: null,
      sentence: `Only ${free} are free on the data disk.`,
      remedy: 'Free some space or enlarge the disk: when it is full, deliveries are answered with 503.',
    },
  ];
}

async function positionWarning(read: Query): Promise<Warning[]> {
  const fault = await findPositionFault(read);
  if (fault === null) return [];
  const { code, sentence } = saidOf(fault);
  return [
    {
      code,
      source: null,
      sentence,
      remedy:
        'Something other than consent-ledger changed the database. Run `consent-ledger ledger rebuild` (a running server does the same), then `consent-ledger ledger verify`.',
    },
  ];
}

function saidOf(fault: PositionFault): Pick<Warning, 'code' | 'sentence'> {
  if (fault.what !== 'ahead')
    return { code: 'read-models-misplaced', sentence: `The read models ${positionFaultText(fault)}.` };
  const { by } = fault;
  return {
    code: 'read-models-ahead',
    sentence: `The read models are ${by} entries ahead of the ledger: the next ${by} deliveries would be stored but not shown, and requests among them would not open a case.`,
  };
}

function readingWarning(): Warning[] {
  return [
    {
      code: 'reading-pending',
      source: null,
      sentence:
        'This version of the program reads some earlier records differently. Until its reading is put in force, they are shown as before, and no report or pack can be made.',
      remedy:
        'Look at the list on the page /readings, or with `consent-ledger ledger readings`. Put it in force there, or with `--adopt`.',
    },
  ];
}

function differenceWarning(tables: string | null): Warning[] {
  if (tables === null) return [];
  return [
    {
      code: 'read-models-differ',
      source: null,
      sentence: `Rows of the read models differ from the ledger: ${tables}. No report or pack can be made until this is fixed.`,
      remedy:
        'Something other than consent-ledger changed the database. Run `consent-ledger ledger rebuild --check` to list the rows, `consent-ledger ledger verify` to check the entries, then `consent-ledger ledger rebuild`.',
    },
  ];
}

async function surges(read: Query, now: Date): Promise<Warning[]> {
  const since = new Date(now.getTime() - HOUR / 4).toISOString();
  const refused = await read
    .selectFrom('rejected_counts')
    .select((eb) => ['source', eb.fn.sum<number>('count').as('refused')])
    .where('minute', '>=', since.slice(0, 16))
    .where('reason', 'in', ['missing', 'mismatch'])
    .groupBy('source')
    .execute();
  const warnings: Warning[] = [];
  for (const { source, refused: count } of refused) {
    if (Number(count) < SURGE) continue;
    const { accepted } = await read
      .selectFrom('delivery_history')
      .select((eb) => eb.fn.countAll<number>().as('accepted'))
      .where('source', '=', source)
      .where('received_at', '>=', since)
      .executeTakeFirstOrThrow();
    if (Number(accepted) >= Number(count)) continue;
    warnings.push({
      code: 'refused-surge',
      source,
      sentence: `${count} deliveries of ${source} were refused because of their signature in the last 15 minutes.`,
      remedy: `Check whether the signing secret was changed: \`consent-ledger delivery diagnose\` gives the reason. After \`source rotate ${source}\`, run \`delivery readmit\` to accept the refused deliveries.`,
    });
  }
  return warnings;
}

/** Sources silent for two days and for twice as long as usual. */
async function silences(read: Query, now: Date): Promise<Warning[]> {
  const hoursSince = (last: string) => (now.getTime() - Date.parse(last)) / HOUR;
  const quiet = await loadLastDeliveriesUntil(read, new Date(now.getTime() - SILENT_HOURS * HOUR).toISOString());
  const usual = await usualGapsHours(read, quiet);
  return [...quiet]
    .filter(([source, last]) => hoursSince(last) >= 2 * (usual.get(source) ?? 0))
    .map(
      ([source, last]): Warning => ({
        code: 'silent-source',
        source,
        sentence: `${source} has delivered nothing for ${quietText(hoursSince(last))}.`,
        remedy: 'Check that the webhook is still registered with the service and that its address still points here.',
      }),
    )
    .sort((a, b) => ((a.source ?? '') < (b.source ?? '') ? -1 : 1));
}

/** `50 hours`, and from four days on `5 days`. */
function quietText(hours: number): string {
  return hours < 96 ? `${Math.floor(hours)} hours` : `${Math.floor(hours / 24)} days`;
}

/** Days before the last delivery that show how often a source sends. */
const RHYTHM_DAYS = 28;

/** Average hours between days with deliveries in the weeks before each source's last one; none: it sent on one day only. */
async function usualGapsHours(read: Query, quiet: DeliveryTimes): Promise<ReadonlyMap<string, number>> {
  const gaps = new Map<string, number>();
  // Grouped by last day, because sources usually fall silent together, when the service or the route to this endpoint
  // fails.
  const byLastDay = new Map<string, string[]>();
  for (const [source, last] of quiet) {
    const day = last.slice(0, 10);
    byLastDay.set(day, [...(byLastDay.get(day) ?? []), source]);
  }
  for (const [lastDay, sources] of byLastDay) {
    const from = new Date(Date.parse(lastDay) - RHYTHM_DAYS * 24 * HOUR).toISOString().slice(0, 10);
    for (const some of chunksOf(sources)) {
      const rows = await read
        .selectFrom('delivery_counts')
        .select((eb) => [
          'source',
          eb.fn.count<number>('day').distinct().as('days'),
          eb.fn.min<string>('day').as('first'),
        ])
        .where('source', 'in', some)
        .where('event', '<>', TEST_EVENT)
        .where('day', '>=', from)
        .groupBy('source')
        .execute();
      for (const { source, days, first } of rows)
        if (Number(days) > 1) gaps.set(source, (Date.parse(lastDay) - Date.parse(first)) / HOUR / (Number(days) - 1));
    }
  }
  return gaps;
}

async function syncWarnings(read: Query, around: Surroundings): Promise<Warning[]> {
  if (around.pulled.length === 0) return [];
  const positions = await read
    .selectFrom('sync_positions')
    .select(['source', 'banner_id', 'run_id', 'last_success_at', 'last_error', 'last_error_at', 'updated_at'])
    .where('source', 'in', around.pulled)
    .where('dismissed_at', 'is', null)
    .orderBy('source')
    .orderBy('banner_id')
    .execute();
  const synced = new Set(positions.map(({ source }) => source));
  const never = around.pulled.filter((source) => !synced.has(source));
  const warnings = await neverSynced(read, around.now, never);
  for (const position of positions) {
    const { source, banner_id, last_success_at: success, last_error: error, last_error_at: errorAt } = position;
    const banner = bannerOf(banner_id);
    const name = banner === null ? source : `${source}, banner ${banner}`;
    const remedy = remedyOfSync(source);
    const isLate = (at: string) => around.now.getTime() - Date.parse(at) > LAG_HOURS * HOUR;
    if (error !== null && errorAt !== null && (success === null || errorAt >= success)) {
      warnings.push({
        code: 'sync-failing',
        source,
        sentence: `The last sync of ${name} failed: ${error}`,
        remedy,
      });
    } else if (success !== null && isLate(success)) {
      const hours = Math.floor((around.now.getTime() - Date.parse(success)) / HOUR);
      warnings.push({
        code: 'sync-lag',
        source,
        sentence: `${name} was last synced ${hours} hours ago.`,
        remedy,
      });
    } else if (success === null && position.run_id !== null && isLate(position.updated_at)) {
      const sentence = `The first sync of ${name} did not finish.`;
      warnings.push({ code: 'sync-lag', source, sentence, remedy });
    }
  }
  return warnings;
}

/** Those of the sources set up to be pulled, but never pulled, that deliver. */
async function neverSynced(read: Query, now: Date, never: readonly string[]): Promise<Warning[]> {
  const firsts = await loadDeliveryTimes(read, 'first', never);
  const warnings: Warning[] = [];
  for (const source of never) {
    const first = firsts.get(source);
    if (first === undefined || now.getTime() - Date.parse(first) < LAG_HOURS * HOUR) continue;
    const sentence = `${source} sends deliveries, but its consent log has never been synced: check that a worker is running.`;
    warnings.push({ code: 'sync-lag', source, sentence, remedy: remedyOfSync(source) });
  }
  return warnings;
}

function remedyOfSync(source: string): string {
  return `Run \`consent-ledger sync --source ${source}\` and read its output.`;
}

/**
 * Entries in quarantine and deliveries that were not understood, unless an officer has set them aside. One per source, so
 * that people learn nothing about sources that they may not see.
 */
async function quarantineWarnings(read: Query): Promise<Warning[]> {
  return [...(await countUnread(read))].map(([source, count]) => ({
    code: 'quarantine' as const,
    source: source === INSTALLATION ? null : source,
    sentence: `${count} ${count === 1 ? 'entry' : 'entries'} of ${source} could not be understood. A request may be among them.`,
    remedy:
      'See “Not understood” under Deliveries, or `consent-ledger delivery list --quarantine`; field names can be set per source (docs/assumptions.md).',
  }));
}

/** One per source: if lists and deliveries contradict each other, something was not delivered or not done. */
async function disagreements(read: Query, timeZone: string): Promise<Warning[]> {
  const bySource = new Map<string, string[]>();
  for (const { source, sentence } of await findDisagreements(read, { timeZone }))
    bySource.set(source, [...(bySource.get(source) ?? []), sentence]);
  return [...bySource].map(([source, sentences]) => ({
    code: 'policies-disagree' as const,
    source,
    sentence: `${sentences[0]}${sentences.length > 1 ? ` About ${sentences.length - 1} more.` : ''}`,
    remedy: `Check the policy in the service’s dashboard, then run \`consent-ledger policy list --source ${source}\`.`,
  }));
}

/** Calls with an unknown outcome, which cost quota if they succeeded. */
async function unknownCalls(read: Query, now: Date): Promise<Warning[]> {
  const rows = await read
    .selectFrom('calls')
    .select((eb) => ['source', eb.fn.countAll<number>().as('count')])
    .where((eb) =>
      eb.or([
        eb('state', '=', 'unknown'),
        eb.and([eb('state', '=', 'sent'), eb('due_at', '<', now.toISOString())]),
        // Answered, but not for every item of the batch.
        eb('request_id', 'in', eb.selectFrom('call_items').select('request_id').where('state', '=', 'unknown')),
      ]),
    )
    .groupBy('source')
    .orderBy('source')
    .execute();
  return rows.map(({ source, count }) => ({
    code: 'unknown-call' as const,
    source,
    sentence: `${count} ${Number(count) === 1 ? 'call' : 'calls'} to the service for ${source} ${Number(count) === 1 ? 'has' : 'have'} an unknown outcome: generated policies count against the quota.`,
    remedy:
      'Run `consent-ledger policy calls --open`, check the calls in the service’s dashboard, then `policy settle`.',
  }));
}

/**
 * What is missing from the service's own description. One per address of the service, whichever source's key was used,
 * since another source may watch it by now.
 */
async function descriptionWarnings(read: Query, timeZone: string): Promise<Warning[]> {
  const newest = read
    .selectFrom('snapshot_history')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('target', '=', 'openapi')
    .groupBy('url');
  const rows = await read
    .selectFrom('snapshot_history')
    .select(['source', 'findings', 'received_at', 'url'])
    .where('seq', 'in', newest)
    .orderBy('source')
    .execute();
  return rows.flatMap(({ source, findings, received_at: at, url }): Warning[] => {
    const gone = findings === null ? [] : (JSON.parse(findings) as string[]);
    if (gone.length === 0) return [];
    const more = gone.length > 3 ? ` (and ${gone.length - 3} more)` : '';
    return [
      {
        code: 'api-changed',
        source,
        sentence: `The service’s API description (${url}) lacks something this program needs, first seen ${dateText(dateIn(at, timeZone))}: ${gone.slice(0, 3).join(' ')}${more}`,
        remedy:
          'Look for a newer version of this program. `consent-ledger doctor --public` compares again; the next sync shows whether it still works.',
      },
    ];
  });
}

/** Texts of policies that could not be fetched. */
async function failedFetches(read: Query, now: Date): Promise<Warning[]> {
  const failed = await read
    .selectFrom('jobs')
    .select(['error', 'payload'])
    .where('kind', '=', 'snapshot')
    .where('state', '=', 'failed')
    .where('finished_at', '>=', new Date(now.getTime() - 24 * HOUR).toISOString())
    .orderBy('finished_at', 'desc')
    .limit(1000)
    .execute();
  const bySource = new Map<string, { count: number; error: string }>();
  for (const { error, payload } of failed) {
    const source = sourceOf(payload);
    const before = bySource.get(source);
    bySource.set(source, { count: (before?.count ?? 0) + 1, error: before?.error ?? error ?? 'unknown' });
  }
  return [...bySource].map(([source, { count, error }]) => ({
    code: 'snapshot-failing',
    source,
    sentence: `${count} ${count === 1 ? 'text of a policy' : 'texts of policies'} of ${source} could not be fetched in the last 24 hours. The last one: ${error}`,
    remedy: `Run \`consent-ledger policy snapshot --source ${source}\` and read its output.`,
  }));
}

function sourceOf(payload: string): string {
  const { source } = JSON.parse(payload) as { source?: unknown };
  return typeof source === 'string' ? source : 'unknown';
}
