import { parseJson } from '../core/json.ts';
import type { Source } from '../core/source.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { originWindow, type SnapshotMeta } from '../policy-texts/snapshot.ts';
import type { Description } from '../service/openapi.ts';
import type { Query } from '../store/store.ts';
import type { SnapshotDeps } from './fetching.ts';
import { findSameBytes } from './stored-texts.ts';

type Watched =
  | { readonly outcome: 'stored' | 'unchanged'; readonly gone: readonly string[] }
  | { readonly outcome: 'not-configured' | 'silent'; readonly sentence: string }
  | { readonly outcome: 'refused'; readonly transient: boolean; readonly sentence: string };

/**
 * Fetches the service's description (docs/service.md §4.6). If it differs from the last one, or lacks something else
 * than before, appends an entry of kind `snapshot`. Rejects with the signal's reason, and like Ledger.append.
 */
export async function watchDescription(
  deps: Pick<SnapshotDeps, 'store' | 'ledger' | 'clock' | 'catchUp' | 'fetchDescription'>,
  source: Source,
  fetchId: string,
  signal?: AbortSignal,
): Promise<Watched> {
  const requestedAt = deps.clock().toISOString();
  const fetched = await deps.fetchDescription(source, signal);
  if (fetched === null)
    return { outcome: 'not-configured', sentence: `${source.slug} has no address or key of the service’s API.` };
  if (fetched.outcome !== 'fetched') return fetched;
  await deps.catchUp();
  const { description } = fetched;
  const last = await loadLastDescription(deps.store.read, source.slug);
  const same = await findSameBytes(deps.store.read, source.slug, 'openapi', description.sha256);
  const { gone } = description;
  if (same !== null && last?.sha256 === description.sha256 && JSON.stringify(last.gone) === JSON.stringify(gone))
    return { outcome: 'unchanged', gone };
  const meta = metaOf(description, { requestedAt, receivedAt: deps.clock().toISOString(), fetchId, same: same?.seq });
  await deps.ledger.append([
    {
      source: source.slug,
      kind: 'snapshot',
      dedupeKey: deps.ledger.keyOf('snapshot', fetchId),
      receivedAt: meta.receivedAt,
      meta: canonicalJson(meta),
      body: same === null ? description.bytes : canonicalJson({ unchanged: meta.equals }),
    },
  ]);
  return { outcome: 'stored', gone };
}

function metaOf(
  description: Description,
  fetch: { requestedAt: string; receivedAt: string; fetchId: string; same: number | undefined },
): SnapshotMeta {
  const { url, date, etag, lastModified, contentType, sha256 } = description;
  const { requestedAt, receivedAt, fetchId, same } = fetch;
  const headers = { date, age: null, etag, lastModified, cacheControl: null, contentType };
  return {
    what: 'openapi',
    fetchId,
    why: 'schedule',
    phase: 'settled',
    target: 'openapi',
    policyType: null,
    policyId: null,
    status: 200,
    outcome: 'present',
    url,
    redirects: 0,
    headers,
    requestedAt,
    receivedAt,
    ...originWindow({ requestedAt, receivedAt, headers }, 0),
    bytes: description.bytes.length,
    bodySha256: sha256,
    textSha256: null,
    textForm: null,
    equals: same === undefined ? null : { seq: same, sha256 },
    findings: [...description.gone],
  };
}

/** A stored description of the service. */
export interface StoredDescription {
  readonly seq: number;
  readonly receivedAt: string;
  readonly sha256: string;
  /** What the client relied on but it lacked when it was stored. */
  readonly gone: readonly string[];
}

/** Null: none is stored yet. */
export async function loadLastDescription(read: Query, source: string): Promise<StoredDescription | null> {
  return (await loadDescriptions(read, source, 1))[0] ?? null;
}

/** The stored descriptions, at most the latest `most`, oldest first. */
export async function loadDescriptions(read: Query, source: string, most = 1000): Promise<StoredDescription[]> {
  const rows = await read
    .selectFrom('snapshot_history')
    .select(['seq', 'received_at', 'body_sha256', 'findings'])
    .where('source', '=', source)
    .where('target', '=', 'openapi')
    .orderBy('seq', 'desc')
    .limit(most)
    .execute();
  return rows.reverse().map((row) => ({
    seq: row.seq,
    receivedAt: row.received_at,
    sha256: row.body_sha256,
    gone: row.findings === null ? [] : (JSON.parse(row.findings) as string[]),
  }));
}

/** One source for each address of the service: an agency's many sources share one description. */
export function sourcesToWatch(sources: readonly Source[]): readonly Source[] {
  const byAddress = new Map<string, Source>();
  for (const source of sources) {
    if (source.baseUrl !== null && source.apiKey !== null && !byAddress.has(source.baseUrl))
      byAddress.set(source.baseUrl, source);
  }
  return [...byAddress.values()];
}

/** Operations by method and path, `GET /consent/logs`, in alphabetical order. */
interface OperationChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Their own description changed; references to other parts of the document are not followed. */
  readonly changed: readonly string[];
}

/** Compares the operations of two OpenAPI descriptions; a text that is not OpenAPI JSON has none. */
export function operationChanges(before: string, after: string): OperationChanges {
  const [older, newer] = [operationsOf(before), operationsOf(after)];
  const names = (from: ReadonlyMap<string, string>, isMeant: (name: string) => boolean) =>
    [...from.keys()].filter(isMeant).sort();
  return {
    added: names(newer, (name) => !older.has(name)),
    removed: names(older, (name) => !newer.has(name)),
    changed: names(newer, (name) => older.has(name) && older.get(name) !== newer.get(name)),
  };
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

function operationsOf(text: string): ReadonlyMap<string, string> {
  const operations = new Map<string, string>();
  for (const [path, item] of Object.entries(objectOf(objectOf(parse(text))['paths'])))
    for (const [method, operation] of Object.entries(objectOf(item)))
      if (METHODS.has(method.toLowerCase()))
        operations.set(`${method.toUpperCase()} ${path}`, JSON.stringify(operation));
  return operations;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
