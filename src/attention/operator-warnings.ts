import type { Query } from '../store/store.ts';
import { entriesAhead } from '../projections/position.ts';
import { findSnapshotWarnings } from './snapshot-warnings.ts';
import type { Warning } from './warning.ts';

/** What {@link findWarnings} looks at besides the database. */
export interface Surroundings {
  readonly now: Date;
  /** Sources that are set up to be pulled (they have an API address and key). */
  readonly pulled: readonly string[];
  /** Bytes free and in all where the data lies; null when unknown. */
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** Why the last sealing failed; null when it did not. */
  readonly sealFailure: string | null;
  /** Why appends are refused; null when they are not. */
  readonly refusal: Refusal | null;
}

/** Why nothing can be appended at the moment. */
export interface Refusal {
  readonly code: 'journal-ahead' | 'installation-moved';
  readonly reason: string;
  readonly remedy: string;
}

const HOUR = 3_600_000;
/** A source that used to deliver and has not for this long is silent. */
const SILENT_HOURS = 48;
/** So many refusals for signature within the last quarter of an hour, and more than were accepted, are a surge. */
const SURGE = 10;
/** A pulled source without a successful sync for this long lags. */
const LAG_HOURS = 3;
const DISK_FREE_BYTES = 1 << 30;
const DISK_FREE_SHARE = 0.05;

/** The warnings of docs/architecture.md, Operations: silence, surge of refusals, sync, disk, seal, quarantine, texts of policies, the API’s description. */
export async function findWarnings(read: Query, around: Surroundings): Promise<Warning[]> {
  return [
    ...refusalWarning(around.refusal),
    ...sealWarning(around.sealFailure),
    ...diskWarning(around.disk),
    ...(await aheadWarning(read)),
    ...(await surges(read, around.now)),
    ...(await silences(read, around.now)),
    ...(await syncWarnings(read, around)),
    ...(await quarantineWarning(read)),
    ...(await findSnapshotWarnings(read, around.now)),
    ...(await unknownCalls(read, around.now)),
  ];
}

function refusalWarning(refusal: Refusal | null): Warning[] {
  if (refusal === null) return [];
  return [
    {
      code: refusal.code,
      source: null,
      sentence: `Nothing can be appended: ${refusal.reason}`,
      remedy: refusal.remedy,
    },
  ];
}

function sealWarning(failure: string | null): Warning[] {
  if (failure === null) return [];
  return [
    {
      code: 'seal-failed',
      source: null,
      sentence: `The ledger could not be sealed: ${failure}`,
      remedy: 'Run `consent-ledger ledger verify`: it names each fault.',
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
      sentence: `Only ${free} are free where the data lies.`,
      remedy:
        'Make room or enlarge the disk: when it is full, deliveries are answered with 503 until there is space again.',
    },
  ];
}

async function aheadWarning(read: Query): Promise<Warning[]> {
  const ahead = await entriesAhead(read);
  if (ahead === 0) return [];
  return [
    {
      code: 'read-models-ahead',
      source: null,
      sentence: `The read models are ${ahead} entries ahead of the ledger: the next ${ahead} deliveries would be kept, but shown nowhere, and requests among them would open no case.`,
      remedy:
        'The database was changed from outside. `consent-ledger ledger rebuild` puts it right, and so does a running server; then run `consent-ledger ledger verify`.',
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
      sentence: `${count} deliveries of ${source} were refused for their signature in the last 15 minutes.`,
      remedy: `Was the signing secret changed? \`consent-ledger delivery diagnose\` says why; after \`source rotate ${source}\`, \`delivery readmit\` takes in what was refused.`,
    });
  }
  return warnings;
}

async function silences(read: Query, now: Date): Promise<Warning[]> {
  const last = await read
    .selectFrom('delivery_counts')
    .select((eb) => ['source', eb.fn.max('day').as('day')])
    .groupBy('source')
    .execute();
  const warnings: Warning[] = [];
  for (const { source } of last) {
    const newest = await read
      .selectFrom('delivery_history')
      .select('received_at')
      .where('source', '=', source)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newest === undefined) continue;
    const hours = (now.getTime() - Date.parse(newest.received_at)) / HOUR;
    if (hours < SILENT_HOURS) continue;
    warnings.push({
      code: 'silent-source',
      source,
      sentence: `${source} has delivered nothing for ${Math.floor(hours)} hours.`,
      remedy: 'Is the webhook still registered with the service, and does its address still lead here?',
    });
  }
  return warnings;
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
  const warnings = await findNeverSynced(read, around, new Set(positions.map(({ source }) => source)));
  for (const position of positions) {
    const { source, banner_id: banner, last_success_at: success, last_error: error, last_error_at: errorAt } = position;
    const name = banner === '' ? source : `${source}, banner ${banner}`;
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
      const sentence = `The first sync of ${name} stopped before its end.`;
      warnings.push({ code: 'sync-lag', source, sentence, remedy });
    }
  }
  return warnings;
}

/** Sources that deliver, are set up to be pulled, and never were. */
async function findNeverSynced(read: Query, around: Surroundings, synced: ReadonlySet<string>): Promise<Warning[]> {
  const warnings: Warning[] = [];
  for (const source of around.pulled) {
    if (synced.has(source)) continue;
    const first = await read
      .selectFrom('delivery_history')
      .select('received_at')
      .where('source', '=', source)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (first === undefined || around.now.getTime() - Date.parse(first.received_at) < LAG_HOURS * HOUR) continue;
    const sentence = `${source} delivers, and its consent log was never synced: does a worker run?`;
    warnings.push({ code: 'sync-lag', source, sentence, remedy: remedyOfSync(source) });
  }
  return warnings;
}

function remedyOfSync(source: string): string {
  return `Run \`consent-ledger sync --source ${source}\` and read what it says.`;
}

async function quarantineWarning(read: Query): Promise<Warning[]> {
  const { count } = await read
    .selectFrom('quarantine')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) === 0) return [];
  return [
    {
      code: 'quarantine',
      source: null,
      sentence: `${count} ${Number(count) === 1 ? 'entry' : 'entries'} could not be read and wait in the quarantine.`,
      remedy:
        '`consent-ledger delivery list --quarantine` names them; field names of a source can be set (docs/assumptions.md).',
    },
  ];
}

/** Calls that cost quota if they were done, and of which nobody knows whether they were. */
async function unknownCalls(read: Query, now: Date): Promise<Warning[]> {
  const rows = await read
    .selectFrom('calls')
    .select((eb) => ['source', eb.fn.countAll<number>().as('count')])
    .where((eb) =>
      eb.or([
        eb('state', '=', 'unknown'),
        eb.and([eb('state', '=', 'sent'), eb('due_at', '<', now.toISOString())]),
        // Answered, but not for each item of the batch.
        eb('request_id', 'in', eb.selectFrom('call_items').select('request_id').where('state', '=', 'unknown')),
      ]),
    )
    .groupBy('source')
    .orderBy('source')
    .execute();
  return rows.map(({ source, count }) => ({
    code: 'unknown-call' as const,
    source,
    sentence: `Nobody knows what came of ${count} ${Number(count) === 1 ? 'call' : 'calls'} to the service for ${source}: generated policies count against the quota.`,
    remedy:
      '`consent-ledger policy calls --open` names them; look them up in the service’s dashboard, then `policy settle`.',
  }));
}
