import { z } from 'zod';
import { type Discovery, type DiscoverySample, isTestEvent } from '../../receivers/discover/discover.ts';
import { maskKey, maskValue } from '../../receivers/discover/kinds.ts';
import { verifySignature } from '../../receivers/signature-node.ts';
import type { Clock } from '../core/clock.ts';
import { type SecretEncoding, type Source, secretEncodings } from '../core/source.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { sha256Hex } from '../crypto/hash.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Query, Store } from '../store/store.ts';
import type { FieldMapping } from './changes.ts';

/** A delivery or a pulled row from the ledger. */
interface LedgerSample {
  readonly seq: number;
  readonly body: Buffer;
  readonly receivedAt: string;
  /** Recorded headers of a delivery. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * How many of a source's newest entries are searched. Limited, because there may be none of the kind among millions.
 */
const SEARCHED = 100_000;

/** A source's newest entries of one kind, newest first, without erased ones; none older than {@link SEARCHED} entries. */
async function loadSamples(
  read: Query,
  source: string,
  kind: 'webhook' | 'consent-log',
  limit: number,
): Promise<readonly LedgerSample[]> {
  const rows = await read
    .selectFrom('entries')
    .select(['seq', 'body', 'meta', 'received_at'])
    .where('source', '=', source)
    .where('kind', '=', kind)
    .where('source_seq', '>', ({ selectFrom }) =>
      selectFrom('entries as last')
        .select(({ fn, eb }) => eb(fn.max('source_seq'), '-', SEARCHED).as('before'))
        .where('source', '=', source),
    )
    .orderBy('source_seq', 'desc')
    .limit(limit)
    .execute();
  return rows.flatMap(({ seq, body, meta, received_at }) =>
    body === null ? [] : [{ seq, body, receivedAt: received_at, headers: headersOf(meta) }],
  );
}

/** The highest seq of a source's deliveries; 0 if there are none. */
export async function lastDelivery(read: Query, source: string): Promise<number> {
  const [newest] = await loadSamples(read, source, 'webhook', 1);
  return newest?.seq ?? 0;
}

/**
 * The number of a source's deliveries after an entry, without test events (`delivery test`), and the entry up to which
 * they were counted: one call examines at most a thousand.
 */
export async function countDeliveriesAfter(
  read: Query,
  source: string,
  seq: number,
): Promise<{ readonly count: number; readonly upTo: number }> {
  const rows = await read
    .selectFrom('entries')
    .select(['seq', 'body'])
    .where('source', '=', source)
    .where('kind', '=', 'webhook')
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(1000)
    .execute();
  return {
    count: rows.filter(({ body }) => body === null || !isTestEvent(body)).length,
    upTo: rows.at(-1)?.seq ?? seq,
  };
}

/** The most deliveries, refused deliveries and rows examined, the newest of each. */
const LOOKED_AT = 200;
const ROWS_ASKED = 50;

/** What examining payloads needs. */
interface GatherDeps {
  readonly store: Pick<Store, 'read'>;
  readonly rejected: Pick<RejectedRing, 'list' | 'read'>;
  readonly clock: Clock;
  /** Null: the service itself is not called. */
  readonly serviceFor:
    | ((access: {
        readonly source: Source;
        readonly baseUrl: string;
        readonly apiKey: string;
      }) => Pick<ServiceClient, 'fetchConsentLogPage'>)
    | null;
  /** Payloads of each kind, default 200. */
  readonly lookedAt?: number;
  /** Larger bodies are skipped, bytes; default: no limit. */
  readonly largest?: number;
}

/** What was collected from a source, without values. */
export interface Gathered {
  readonly samples: readonly DiscoverySample[];
  /** Names of headers with their frequency and the shapes of their values. */
  readonly headers: readonly { readonly name: string; readonly count: number; readonly shapes: readonly string[] }[];
  /** Secrets that only match when read as hex or base64. */
  readonly encodings: Readonly<Record<string, SecretEncoding>>;
  /** Refused deliveries that match no secret in any encoding: anyone may have sent them, so they are not used. */
  readonly refused: number;
  readonly notes: readonly string[];
}

/**
 * Collects what a source sent: deliveries, refused ones that match a secret in another encoding, and rows; rows from
 * the service itself if none were pulled.
 */
export async function gatherSamples(deps: GatherDeps, source: Source): Promise<Gathered> {
  const { store, rejected, lookedAt = LOOKED_AT, largest = Number.POSITIVE_INFINITY } = deps;
  const { slug } = source;
  const samples: DiscoverySample[] = [];
  const notes: string[] = [];
  const headers = new Map<string, { count: number; shapes: Set<string> }>();
  const note = (name: string, value: unknown) => {
    const one = headers.get(name) ?? { count: 0, shapes: new Set<string>() };
    headers.set(name, one);
    one.count += 1;
    if (one.shapes.size < 4) one.shapes.add(maskValue(value));
  };
  for (const delivery of await loadSamples(store.read, slug, 'webhook', lookedAt)) {
    if (delivery.body.length > largest) continue;
    samples.push({ kind: 'delivery', seq: delivery.seq, body: delivery.body, receivedAt: delivery.receivedAt });
    for (const [name, value] of Object.entries(delivery.headers)) note(name, value);
  }
  const encodings: Record<string, SecretEncoding> = {};
  let refused = 0;
  for (const { id } of await rejected.list({ source: slug, limit: lookedAt })) {
    const item = await rejected.read(id);
    const fits = item === null ? null : fittingEncoding(item, source);
    if (item === null || fits === null) {
      refused += 1;
      continue;
    }
    if (fits.isNew) encodings[fits.secretId] = fits.encoding;
    if (item.rawBody.length > largest) continue;
    samples.push({ kind: 'delivery', seq: null, body: item.rawBody, receivedAt: item.receivedAt });
    for (const [name, value] of Object.entries(item.headers)) note(name, value);
  }
  const rows = await loadSamples(store.read, slug, 'consent-log', lookedAt);
  for (const { seq, body, receivedAt } of rows)
    if (body.length <= largest) samples.push({ kind: 'row', seq, body, receivedAt });
  if (rows.length === 0 && deps.serviceFor !== null)
    samples.push(...(await askForRows(deps, deps.serviceFor, source, notes)));
  return {
    samples,
    headers: [...headers]
      .map(([name, { count, shapes }]) => ({ name: maskKey(name), count, shapes: [...shapes] }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    encodings,
    refused,
    notes,
  };
}

function fittingEncoding(
  item: { readonly headers: Parameters<typeof verifySignature>[0]['headers']; readonly rawBody: Uint8Array },
  { webhookSecrets }: Source,
): { readonly secretId: string; readonly encoding: SecretEncoding; readonly isNew: boolean } | null {
  for (const secret of webhookSecrets)
    for (const encoding of secretEncodings) {
      const secrets = [{ ...secret, encoding }];
      if (verifySignature({ headers: item.headers, rawBody: item.rawBody, secrets }).outcome === 'verified')
        return { secretId: secret.id, encoding, isNew: encoding !== (secret.encoding ?? 'text') };
    }
  return null;
}

/** Requests a few rows of the service's log if nothing was pulled yet; they are examined but not stored. */
async function askForRows(
  { clock }: GatherDeps,
  serviceFor: NonNullable<GatherDeps['serviceFor']>,
  source: Source,
  notes: string[],
): Promise<readonly DiscoverySample[]> {
  const { baseUrl, apiKey, options } = source;
  if (baseUrl === null || apiKey === null) {
    notes.push('The consent log was not examined: the source has no base URL and API key.');
    return [];
  }
  try {
    const service = serviceFor({ source, baseUrl, apiKey });
    const query = { bannerId: options.banners[0] ?? null, from: null, to: null, limit: ROWS_ASKED, cursor: null };
    const { rows } = await service.fetchConsentLogPage(query);
    const receivedAt = clock().toISOString();
    return rows.map(({ bytes }) => ({ kind: 'row', seq: null, body: bytes, receivedAt }));
  } catch (error) {
    notes.push(`The consent log could not be examined: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

const proposalSchema = z.object({
  proposalId: z.string(),
  fieldNames: z.record(z.string(), z.array(z.string())),
  eventNames: z.record(z.string(), z.string()),
  secretEncodings: z.record(z.string(), z.enum(secretEncodings)),
  samples: z.number(),
  including: z.array(z.string()).default([]),
});

/** Derives a proposal's id from its content: the same findings have the same id. */
export function proposalOf(source: string, mapping: Omit<FieldMapping, 'proposalId'>): FieldMapping {
  const { fieldNames, eventNames, secretEncodings: encodings } = mapping;
  const id = sha256Hex(canonicalJson({ source, fieldNames, eventNames, secretEncodings: encodings })).slice(0, 12);
  return { ...mapping, proposalId: id };
}

/** The proposal to which an examination leads: `including` are the paths of doubtful ones that a person typed. */
export function proposalFrom(
  source: string,
  { fieldNames, eventNames, samples, events }: Discovery,
  encodings: FieldMapping['secretEncodings'],
  including: readonly string[],
): FieldMapping {
  const doubtful = new Set(doubtfulPaths(events));
  const typed = including.filter((path) => doubtful.has(path));
  return proposalOf(source, { fieldNames, eventNames, secretEncodings: encodings, samples, including: typed });
}

/** Paths of the proposals that a person must decide about. */
export function doubtfulPaths(events: Discovery['events']): readonly string[] {
  return [
    ...new Set(
      events.flatMap(({ proposals }) => proposals.flatMap(({ path, doubt }) => (doubt === null ? [] : [path]))),
    ),
  ];
}

/** Whether a proposal changes anything. */
export function isEmptyProposal({ fieldNames, eventNames, secretEncodings: encodings }: FieldMapping): boolean {
  return [fieldNames, eventNames, encodings].every((one) => Object.keys(one).length === 0);
}

/** Stores the newest proposal for a source until it is accepted or replaced. It contains only names. */
export async function saveProposal(store: Store, source: string, proposal: FieldMapping): Promise<void> {
  const row = { name: settingOf(source), value: canonicalJson(proposal).toString('utf8') };
  await store.transaction((tx) => tx.insertMany('settings', [row], 'replace'));
}

/** The newest proposal for a source; null if there is none. */
export async function loadProposal(read: Query, source: string): Promise<FieldMapping | null> {
  const row = await read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', settingOf(source))
    .executeTakeFirst();
  if (row === undefined) return null;
  try {
    const parsed = proposalSchema.safeParse(JSON.parse(row.value));
    // The stored proposal is checked against its id, so that only what was shown can be accepted.
    return parsed.success && proposalOf(source, parsed.data).proposalId === parsed.data.proposalId ? parsed.data : null;
  } catch {
    return null;
  }
}

function settingOf(source: string): string {
  return `discovery_proposal:${source}`;
}

function headersOf(meta: Buffer | null): Record<string, string> {
  try {
    const { headers } = JSON.parse(String(meta)) as { headers?: Record<string, unknown> };
    return Object.fromEntries(
      Object.entries(headers ?? {}).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
  } catch {
    return {};
  }
}
