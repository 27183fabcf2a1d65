import { parseJson } from '../core/json.ts';
import type { Source } from '../core/source.ts';
import { canonicalJson, isWellFormed } from '../crypto/canonical.ts';
import { readPolicyText } from '../policy-texts/policy-text.ts';
import {
  EDGE_CACHE_MS,
  HUB,
  originWindow,
  type SnapshotMeta,
  type SnapshotTarget,
  showsChange,
} from '../policy-texts/snapshot.ts';
import type { PublicAnswer, PublicFetch } from '../service/public-fetch.ts';
import type { Query } from '../store/store.ts';
import type { AddressList, SnapshotDeps } from './fetching.ts';
import { lookAgainJob, wakeUpOf } from './request.ts';
import { findSameBytes } from './stored-texts.ts';

/** Whose text to fetch now. */
interface SnapshotRequest {
  readonly source: Source;
  /** Null: only what the embed endpoint shows for the type. */
  readonly policyId: string | null;
  /** `hub`: the list of all policies. Null: the type in the service's list. */
  readonly policyType: string | null;
  /** Skip the embed endpoint: its text of this type is already fetched for another policy. */
  readonly hostedOnly?: boolean | undefined;
  readonly why: SnapshotMeta['why'];
  /** When it changed, if the caller knows of a change, ISO 8601 UTC. */
  readonly changedAt: string | null;
  /** One per request; repeating it records nothing twice. */
  readonly fetchId: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The result of one fetch. `taken`: it is an entry; `unchanged` if its bytes are those of an earlier entry, which
 * contains them. `known`: this request has been recorded before. `refused`: nothing was fetched; `transient` says
 * whether a retry may help.
 */
export type Look = { readonly target: SnapshotTarget } & (
  | {
      readonly outcome: 'taken';
      readonly seq: number;
      readonly found: SnapshotMeta['outcome'];
      readonly unchanged: boolean;
      readonly phase: SnapshotMeta['phase'];
      readonly textSha256: string | null;
      readonly bodySha256: string;
      readonly bytes: number;
    }
  | { readonly outcome: 'known'; readonly seq: number }
  | { readonly outcome: 'refused'; readonly transient: boolean; readonly sentence: string }
);

type Taking =
  | { readonly outcome: 'looked'; readonly looks: readonly Look[] }
  | { readonly outcome: 'not-configured'; readonly reason: string };

/**
 * Fetches a policy's text as visitors see it, from the embed endpoint and from its public page, and appends each
 * response as an entry of kind `snapshot`: its bytes if they are new, otherwise a reference to the earlier entry that
 * has them. If a response may predate the last change, the transaction that appends it also requests a fetch that
 * counts. Rejects with the signal's reason, and like Ledger.append.
 */
export async function takeSnapshots(deps: SnapshotDeps, urls: HostedUrls, request: SnapshotRequest): Promise<Taking> {
  const { source, policyId } = request;
  const { siteUrl, siteKey } = source;
  if (siteUrl === null)
    return notConfigured(
      `${source.slug} has no public origin of the service: set SERVICE_SITE_URL, or \`source change --site-url\`.`,
    );
  await deps.catchUp();
  const looks: Look[] = [];
  let type = request.policyType;

  if (policyId !== null) {
    const target: SnapshotTarget = `hosted:${policyId}`;
    const earlier = await findEarlier(deps, request, target);
    if (earlier !== null) looks.push(earlier);
    else {
      const address = await urls.find(source, policyId, request.changedAt, request.signal);
      if (address.outcome !== 'failed') type ??= address.policyType;
      if (address.outcome === 'failed') looks.push({ target, ...address, outcome: 'refused' });
      if (address.outcome === 'found') {
        const fetched = await deps.fetchHosted({ siteUrl, url: address.url, signal: request.signal });
        looks.push(
          (await refusalOfAccess(deps, request, target, { fetched, isListed: address.isListed })) ??
            (await keep(deps, { ...request, policyType: type }, target, { fetched, cacheMs: 0 })),
        );
      }
    }
  }
  if (type !== null && siteKey !== null && request.hostedOnly !== true) {
    const target: SnapshotTarget = `embed:${type}`;
    const earlier = await findEarlier(deps, request, target);
    if (earlier !== null) looks.push(earlier);
    else {
      const fetched = await deps.fetchEmbed({ siteUrl, siteKey, type, signal: request.signal });
      looks.push(await keep(deps, { ...request, policyType: type }, target, { fetched, cacheMs: EDGE_CACHE_MS }));
    }
  }
  if (looks.length > 0) return { outcome: 'looked', looks };
  const noKey = 'the embed endpoint needs a site key: set SERVICE_SITE_KEY';
  if (policyId === null) return notConfigured(`${source.slug}: ${noKey} for ${type}.`);
  return notConfigured(
    `${source.slug}: neither the service’s list nor a delivery names the public page of ${policyId}${siteKey === null ? `, and ${noKey}` : ''}.`,
  );
}

/**
 * A 404 from a public page alone does not show that there is no text: its address contains a token, which may have been
 * revoked. It is believed if the service's list no longer names the policy, or its latest delivery says that it was
 * deleted. Null: the response counts.
 */
async function refusalOfAccess(
  deps: SnapshotDeps,
  { source, policyId }: SnapshotRequest,
  target: SnapshotTarget,
  { fetched, isListed }: { readonly fetched: PublicFetch; readonly isListed: boolean | null },
): Promise<Look | null> {
  if (fetched.outcome === 'refused' || fetched.answer.status !== 404 || isListed === false) return null;
  const latest = await deps.store.read
    .selectFrom('policy_history')
    .select('change')
    .where('source', '=', source.slug)
    .where('policy_id', '=', policyId ?? '')
    .orderBy('seq', 'desc')
    .orderBy('part', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (latest?.change === 'deleted') return null;
  const why =
    isListed === true
      ? 'the service lists the policy as published, so its address or token may have changed'
      : 'the list of policies could not be read, so the token in the address may be revoked';
  const sentence = `${fetched.answer.url} could not be read (HTTP 404): ${why}. This says nothing about the text.`;
  return { target, outcome: 'refused', transient: true, sentence };
}

function notConfigured(reason: string): Taking {
  return { outcome: 'not-configured', reason };
}

const fetchIdOf = (request: SnapshotRequest, target: SnapshotTarget) => `${request.fetchId}/${target}`;

/** A job that runs again after a crash does not fetch twice. */
async function findEarlier(deps: SnapshotDeps, request: SnapshotRequest, target: SnapshotTarget): Promise<Look | null> {
  const row = await deps.store.read
    .selectFrom('snapshot_history')
    .select('seq')
    .where('source', '=', request.source.slug)
    .where('target', '=', target)
    .where('fetch_id', '=', fetchIdOf(request, target))
    .executeTakeFirst();
  return row === undefined ? null : { target, outcome: 'known', seq: row.seq };
}

async function keep(
  deps: SnapshotDeps,
  request: SnapshotRequest,
  target: SnapshotTarget,
  { fetched, cacheMs }: { readonly fetched: PublicFetch; readonly cacheMs: number },
): Promise<Look> {
  if (fetched.outcome === 'refused') {
    const { transient, sentence } = fetched;
    return { target, outcome: 'refused', transient, sentence };
  }
  const { answer } = fetched;
  const { slug } = request.source;
  // Checked again, because a change may have been reported while the response was on its way.
  await deps.catchUp();
  const changedAt = await loadLatestChange(deps, request, target);
  const origin = originWindow(answer, cacheMs);
  const counts = changedAt === null || showsChange(changedAt, answer.requestedAt, origin.originFrom);
  const phase = counts ? 'settled' : 'provisional';
  const same = await findSameBytes(deps.store.read, slug, target, answer.sha256);
  const text = answer.status === 200 ? textOf(answer) : null;
  const meta: SnapshotMeta = {
    what: 'policy',
    fetchId: fetchIdOf(request, target),
    why: request.why,
    phase,
    target,
    policyType: request.policyType,
    policyId: target.startsWith('hosted:') ? request.policyId : (text?.policyId ?? null),
    status: answer.status,
    outcome: text === null ? 'absent' : 'present',
    url: answer.url,
    redirects: answer.redirects,
    headers: answer.headers,
    requestedAt: answer.requestedAt,
    receivedAt: answer.receivedAt,
    ...origin,
    bytes: answer.bytes.length,
    bodySha256: answer.sha256,
    // Equal bytes keep their text hash, even if a later version of this program would read them differently.
    textSha256: text === null ? null : (same?.textSha256 ?? text.sha256),
    textForm: text === null ? null : (same?.textForm ?? text.form),
    equals: same === null ? null : { seq: same.seq, sha256: answer.sha256 },
    findings: null,
  };
  const { policyId, policyType, why, hostedOnly } = request;
  const again = counts
    ? null
    : lookAgainJob({ source: slug, policyId, policyType, why, changedAt, hostedOnly }, answer.requestedAt);
  const [appended] = await deps.ledger.append(
    [
      {
        source: slug,
        kind: 'snapshot',
        dedupeKey: deps.ledger.keyOf('snapshot', meta.fetchId),
        receivedAt: answer.receivedAt,
        meta: canonicalJson(meta),
        body: same === null ? answer.bytes : canonicalJson({ unchanged: meta.equals }),
      },
    ],
    async (tx) => {
      if (again !== null) await deps.jobs.enqueueIn(tx, again);
    },
  );
  if (appended === undefined) throw new Error('the ledger returned no entry');
  if (again !== null) deps.jobs.wake([wakeUpOf(again)]);
  if (appended.outcome === 'duplicate') return { target, outcome: 'known', seq: appended.seq };
  return {
    target,
    outcome: 'taken',
    seq: appended.seq,
    found: meta.outcome,
    unchanged: same !== null,
    phase,
    textSha256: meta.textSha256,
    bodySha256: meta.bodySha256,
    bytes: meta.bytes,
  };
}

function textOf(answer: PublicAnswer): { sha256: string; form: string; policyId: string | null } {
  const { sha256, form, policyId } = readPolicyText(answer.bytes, answer.headers.contentType);
  return { sha256, form, policyId: policyId !== null && isWellFormed(policyId) ? policyId : null };
}

/**
 * When we last learned of a change that this target may show: for a public page, of its policy; for the embed endpoint,
 * of any policy of the type; for the list of all, of any. Policies that were only generated are shown nowhere.
 */
async function loadLatestChange(
  deps: SnapshotDeps,
  request: SnapshotRequest,
  target: SnapshotTarget,
): Promise<string | null> {
  const { source, policyId, policyType, changedAt } = request;
  const [id, type] = target.startsWith('hosted:') ? [policyId, null] : [policyId, policyType];
  const { latest } = await deps.store.read
    .selectFrom('policy_history')
    .select((eb) => eb.fn.max('received_at').as('latest'))
    .where('source', '=', source.slug)
    .where('change', '!=', 'created')
    .$if(target !== `embed:${HUB}`, (query) =>
      query.where((eb) =>
        eb.or([
          ...(id === null ? [] : [eb('policy_id', '=', id)]),
          ...(type === null ? [] : [eb('policy_type', '=', type)]),
        ]),
      ),
    )
    .executeTakeFirstOrThrow();
  if (latest === null || changedAt === null) return latest ?? changedAt;
  return latest > changedAt ? latest : changedAt;
}

/** The public address of a policy with its token, or why it is unavailable. Used once, never stored or shown. */
type HostedUrl =
  | {
      readonly outcome: 'found';
      readonly url: string;
      readonly policyType: string | null;
      /** Whether the service's list names the policy; null if the list is unavailable. */
      readonly isListed: boolean | null;
    }
  | { readonly outcome: 'unknown'; readonly policyType: string | null }
  | { readonly outcome: 'failed'; readonly transient: boolean; readonly sentence: string };

/** Finds public addresses. The service's list is requested once for many policies. */
interface HostedUrls {
  /** `since`: a list from before this time (ISO 8601 UTC) is requested again; null: ten minutes old is good enough. */
  find(source: Source, policyId: string, since: string | null, signal?: AbortSignal): Promise<HostedUrl>;
}

const LIST_GOOD_MS = 10 * 60_000;
const LISTS_KEPT = 20;

/** Uses the list first; if it does not name the policy or is unavailable, the delivery that reported its address. */
export function createHostedUrls(deps: Pick<SnapshotDeps, 'listAddresses' | 'clock' | 'store'>): HostedUrls {
  const lists = new Map<string, { readonly at: number; readonly list: AddressList }>();

  async function listOf(source: Source, since: string | null, signal?: AbortSignal): Promise<AddressList> {
    const now = deps.clock().getTime();
    const kept = lists.get(source.slug);
    const oldest = since === null ? now - LIST_GOOD_MS : Date.parse(since);
    if (kept !== undefined && kept.at > oldest && kept.at > now - LIST_GOOD_MS) return kept.list;
    const list = await deps.listAddresses(source, signal);
    lists.delete(source.slug);
    if (list.outcome === 'listed') lists.set(source.slug, { at: now, list });
    for (const slug of lists.keys()) if (lists.size > LISTS_KEPT) lists.delete(slug);
    return list;
  }

  return {
    async find(source, policyId, since, signal) {
      const list = await listOf(source, since, signal);
      const listed =
        list.outcome === 'listed' ? list.policies.find((policy) => policy.policyId === policyId) : undefined;
      const isListed = list.outcome === 'listed' ? listed !== undefined : null;
      if (listed?.url != null) return { outcome: 'found', url: listed.url, policyType: listed.policyType, isListed };
      const told = await findToldUrl(deps.store.read, source.slug, policyId);
      const policyType = listed?.policyType ?? null;
      if (told !== null) return { outcome: 'found', url: told, policyType, isListed };
      if (list.outcome === 'failed') return list;
      return { outcome: 'unknown', policyType };
    },
  };
}

/** The address in the body of the newest delivery: the read model has it without its token. */
async function findToldUrl(read: Query, source: string, policyId: string): Promise<string | null> {
  const row = await read
    .selectFrom('policy_history')
    .innerJoin('entries', 'entries.seq', 'policy_history.seq')
    .select(['policy_history.hosted_url as url', 'entries.body as body'])
    .where('policy_history.source', '=', source)
    .where('policy_history.policy_id', '=', policyId)
    .where('policy_history.hosted_url', 'is not', null)
    .orderBy('policy_history.seq', 'desc')
    .orderBy('policy_history.part', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row?.url == null || row.body === null) return null;
  try {
    return findAddress(parseJson(row.body.toString('utf8')), row.url, MAX_DEPTH);
  } catch {
    return null;
  }
}

const MAX_DEPTH = 6;

/** The text in a payload that begins with this address. */
function findAddress(value: unknown, address: string, depth: number): string | null {
  if (typeof value === 'string') {
    return value === address || value.startsWith(`${address}?`) || value.startsWith(`${address}#`) ? value : null;
  }
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  for (const member of Object.values(value)) {
    const found = findAddress(member, address, depth - 1);
    if (found !== null) return found;
  }
  return null;
}
