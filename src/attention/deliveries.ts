import { isUtf8 } from 'node:buffer';
import { diagnoseSignature, type Finding } from '../../receivers/diagnose.ts';
import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { CalendarPeriod } from '../core/zoned-days.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { findEntry } from '../ledger/read-entries.ts';
import type { RejectedItem, RejectedRing } from '../rejected/ring.ts';
import { holdsBytes } from '../store/queries/entry-pages.ts';
import type { Query } from '../store/store.ts';

interface Filter {
  readonly source: string | undefined;
  readonly event: string | undefined;
  readonly limit: number;
}

interface DeliveryFilter extends Filter {
  /** Only these sources. */
  readonly sources?: readonly string[] | null;
  readonly outcome?: 'read' | 'unknown-event' | 'unreadable' | undefined;
  /** Only entries before this one. */
  readonly before?: number | null;
  /** Only entries after this one, oldest first. */
  readonly after?: number;
  /** Only entries received from this time on, ISO 8601 UTC. */
  readonly since?: string | undefined;
  /** Only bodies that contain these bytes. Reads bodies, newest first, until enough are found. */
  readonly search?: Buffer | undefined;
}

/** A stored delivery as listed. */
export type StoredDelivery = Awaited<ReturnType<typeof loadDeliveries>>[number];

/** Stored deliveries, newest first; with `after`, oldest first. */
export async function loadDeliveries(read: Query, filter: DeliveryFilter) {
  const { source, event, limit, sources = null, outcome, before = null, after, since, search } = filter;
  let query = read
    .selectFrom('delivery_history')
    .leftJoin('arrivals', 'arrivals.seq', 'delivery_history.seq')
    .select([
      'delivery_history.seq',
      'delivery_history.source',
      'delivery_history.received_at as receivedAt',
      'delivery_history.event',
      'delivery_history.verdict',
      'delivery_history.outcome',
      'delivery_history.content_type as contentType',
      'delivery_history.bytes',
      'delivery_history.commitment',
      'delivery_history.reason as note',
      'arrivals.count as repeats',
    ]);
  if (source !== undefined) query = query.where('delivery_history.source', '=', source);
  if (event !== undefined) query = query.where('delivery_history.event', '=', event);
  if (sources !== null) query = query.where('delivery_history.source', 'in', [...sources]);
  if (outcome !== undefined) query = query.where('delivery_history.outcome', '=', outcome);
  if (before !== null) query = query.where('delivery_history.seq', '<', before);
  if (after !== undefined) query = query.where('delivery_history.seq', '>', after);
  if (since !== undefined) query = query.where('delivery_history.received_at', '>=', since);
  if (search !== undefined)
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('entries')
          .select('entries.seq')
          .whereRef('entries.seq', '=', 'delivery_history.seq')
          .where(holdsBytes(read, search)),
      ),
    );
  const order = after === undefined ? 'desc' : 'asc';
  const rows = await query.orderBy('delivery_history.seq', order).limit(limit).execute();
  return rows.map((row) => ({ ...row, repeats: row.repeats ?? 0 }));
}

/** Entries that could not be read, and deliveries that yielded nothing (not JSON, no event, unknown event), newest first. */
export async function loadQuarantine(read: Query, { source, event, limit }: Filter) {
  const columns = ['seq', 'source', 'event', 'reason', 'received_at as receivedAt'] as const;
  let quarantined = read.selectFrom('quarantine').select(columns);
  let unread = read.selectFrom('delivery_history').select(columns).where('outcome', '=', 'unknown-event');
  if (source !== undefined) {
    quarantined = quarantined.where('source', '=', source);
    unread = unread.where('source', '=', source);
  }
  if (event !== undefined) {
    quarantined = quarantined.where('event', '=', event);
    unread = unread.where('event', '=', event);
  }
  const rows = [
    ...(await quarantined.orderBy('seq', 'desc').limit(limit).execute()),
    ...(await unread.orderBy('seq', 'desc').limit(limit).execute()),
  ];
  return rows.sort((a, b) => b.seq - a.seq).slice(0, limit);
}

/** The number of entries that could not be read. */
export async function countQuarantined(read: Query): Promise<number> {
  const { count } = await read
    .selectFrom('quarantine')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

const HOURS = 72;

/** Number of deliveries refused in the last 72 hours, by source and reason. */
export async function loadRefusedCounts(
  { rejected, clock }: { readonly rejected: Pick<RejectedRing, 'counts'>; readonly clock: Clock },
  source: string | undefined,
): Promise<readonly { readonly source: string; readonly reason: string; readonly count: number }[]> {
  const sums = new Map<string, { source: string; reason: string; count: number }>();
  for (const row of await rejected.counts(new Date(clock().getTime() - HOURS * 3_600_000).toISOString())) {
    if (source !== undefined && row.source !== source) continue;
    const key = JSON.stringify([row.source, row.reason]);
    const sum = sums.get(key) ?? { source: row.source, reason: row.reason, count: 0 };
    sum.count += row.count;
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** An entry in full, and how it was read. */
export type ShownEntry = NonNullable<Awaited<ReturnType<typeof loadDelivery>>>;

/**
 * Loads an entry in full and how it was read; null if it does not exist. A body that is not UTF-8 is returned as
 * base64; both are null after an erasure. The salt and the SHA-256 of the meta allow recomputing the commitment
 * (docs/ledger-format.md, Checking a commitment).
 */
export async function loadDelivery(read: Query, seq: number) {
  const entry = await findEntry(read, seq);
  if (entry === null) return null;
  const history = await read.selectFrom('delivery_history').selectAll().where('seq', '=', seq).executeTakeFirst();
  const arrivals = await read.selectFrom('arrivals').selectAll().where('seq', '=', seq).executeTakeFirst();
  const { body, meta } = entry;
  const isText = body !== null && isUtf8(body);
  return {
    seq,
    source: entry.source,
    sourceSeq: entry.sourceSeq,
    kind: entry.kind,
    receivedAt: entry.receivedAt,
    event: history?.event ?? null,
    outcome: history?.outcome ?? null,
    note: history?.reason ?? null,
    repeats: {
      count: arrivals?.count ?? 0,
      times: arrivals === undefined ? [] : (JSON.parse(arrivals.times) as string[]),
    },
    meta: meta === null ? null : readMeta(meta),
    bytes: body?.length ?? null,
    commitment: entry.commitment.toString('hex'),
    salt: entry.salt?.toString('hex') ?? null,
    metaSha256: meta === null ? null : sha256Hex(meta),
    bodyText: isText ? body.toString('utf8') : null,
    bodyBase64: body === null || isText ? null : body.toString('base64'),
    leafHash: entry.leafHash.toString('hex'),
    erased: body === null,
  };
}

function readMeta(meta: Buffer): unknown {
  try {
    return JSON.parse(meta.toString('utf8'));
  } catch {
    return meta.toString('base64');
  }
}

/** A refused delivery with the reasons, for operators only. Contains no secret and no digest. */
export interface Diagnosed extends RejectedItem {
  readonly findings: readonly (Omit<Finding, 'code'> & { readonly code: string })[];
}

interface DiagnosisDeps {
  readonly rejected: Pick<RejectedRing, 'read'>;
  readonly sources: { list(): readonly Source[]; find(slug: string): Source | null };
}

/** Diagnoses why the signature of each refused delivery failed, using the current secrets. */
export async function diagnoseRefused(
  { rejected, sources }: DiagnosisDeps,
  items: readonly RejectedItem[],
): Promise<readonly Diagnosed[]> {
  const diagnosed: Diagnosed[] = [];
  for (const item of items) {
    const content = await rejected.read(item.id);
    const source = sources.find(item.source);
    if (content === null) {
      diagnosed.push({
        ...item,
        findings: [
          {
            code: 'unreadable',
            sentence: 'It has expired or was altered in the database.',
            remedy: 'Ask the service to send it again.',
          },
        ],
      });
      continue;
    }
    if (source === null) {
      const remedy = `Add it again: \`source add ${item.source}\`.`;
      diagnosed.push({
        ...item,
        findings: [{ code: 'unknown-source', sentence: `Source ${item.source} no longer exists.`, remedy }],
      });
      continue;
    }
    const otherSecrets = sources
      .list()
      .filter(({ slug }) => slug !== source.slug)
      .flatMap(({ slug, webhookSecrets }) =>
        webhookSecrets.map((secret) => ({ ...secret, id: `${secret.id} of ${slug}` })),
      );
    const { headers, rawBody } = content;
    const findings = diagnoseSignature({ headers, rawBody, secrets: source.webhookSecrets, otherSecrets });
    diagnosed.push({ ...item, findings });
  }
  return diagnosed;
}

/** Stored and refused deliveries on each of these days, in order. */
export async function countDeliveriesByDay(
  read: Query,
  { days, sources }: { readonly days: readonly CalendarPeriod[]; readonly sources: readonly string[] | null },
): Promise<readonly { readonly day: string; readonly stored: number; readonly refused: number }[]> {
  const since = minuteOf(days[0]?.start ?? '');
  const stored = await read
    .selectFrom('delivery_quarters')
    .select((eb) => ['quarter as minute', eb.fn.sum<number>('deliveries').as('n')])
    .where('quarter', '>=', since)
    .$if(sources !== null, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .groupBy('quarter')
    .execute();
  const refused = await read
    .selectFrom('rejected_counts')
    .select((eb) => ['minute', eb.fn.sum<number>('count').as('n')])
    .where('minute', '>=', since)
    .$if(sources !== null, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .groupBy('minute')
    .execute();
  return days.map(({ name, start, end }) => {
    const [from, to] = [minuteOf(start), minuteOf(end)];
    const sum = (rows: typeof stored) =>
      rows.reduce((total, { minute, n }) => (minute >= from && minute < to ? total + Number(n) : total), 0);
    return { day: name, stored: sum(stored), refused: sum(refused) };
  });
}

/** The UTC minute of an ISO 8601 time, as used in counts. */
function minuteOf(at: string): string {
  return at.slice(0, 16);
}

/** Names of all events ever delivered to these sources; null: to any. */
export async function listEvents(read: Query, sources: readonly string[] | null): Promise<readonly string[]> {
  // Sorted here: to return them in order, SQLite would sort the counts before it drops the repeats.
  const rows = await read
    .selectFrom('delivery_counts')
    .select('event')
    .distinct()
    .$if(sources !== null, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .execute();
  return rows
    .map(({ event }) => event)
    .filter((event) => event !== '')
    .sort();
}
