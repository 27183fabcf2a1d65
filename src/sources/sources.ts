import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import type { InstanceKeys } from '../core/keys.ts';
import type { Source } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { webhookSecretOf } from '../core/webhook-secret.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import {
  newSourceSchema,
  newWebhookSecretSchema,
  problemsIn,
  sourceChangesSchema,
  type NewSource,
  type SourceChanges,
} from './input.ts';
import { fromRow, noCredentials, toRow, toSource, type StoredSource } from './row.ts';

/**
 * What came of a change. `exists`: the slug (or the secret) is there already. `unknown`: no such source (or secret).
 * `configured`: the credentials of this source come from the environment; change them there. `unchanged`: nothing to do.
 * `conflict`: someone else changed the source at the same time; look again. `invalid`: why, one sentence each.
 */
export type SourceOutcome =
  | { readonly outcome: 'done'; readonly source: Source; readonly seq: number }
  | { readonly outcome: 'exists' | 'unknown' | 'configured' | 'unchanged' | 'conflict' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** The sources of this installation: the configured one and those that were added. */
export interface Sources {
  /** All of them, by slug. */
  list(): readonly Source[];
  /** One of them, out of memory: at most {@link REFRESH_MILLISECONDS} behind a change that another process made. */
  find(slug: string): Source | null;
  /** Slugs of rows that cannot be read because someone altered them; they are not listed. */
  damaged(): readonly string[];
  add(source: NewSource, actor: string): Promise<SourceOutcome>;
  change(slug: string, changes: SourceChanges, actor: string): Promise<SourceOutcome>;
  /** Adds a signing secret beside the old ones, which stay valid until they are retired. */
  rotateSecret(slug: string, secret: string, actor: string): Promise<SourceOutcome>;
  retireSecret(slug: string, secretId: string, actor: string): Promise<SourceOutcome>;
  /** Reads the sources again if they changed. */
  refresh(): Promise<void>;
  close(): void;
}

export interface SourcesOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  /** The source of the environment (src/config.ts). Options set for it live in the database. */
  readonly configured: Source | null;
  /** Told when the sources could not be read again; the last known ones stay. */
  readonly onRefreshError?: (error: unknown) => void;
}

/** How often a running process looks for changes made by others. */
export const REFRESH_MILLISECONDS = 1000;

const VERSION_SETTING = 'sources_version';

type SourceAction = Extract<Action, { sourceSlug: string }>;

/** Reads the sources and keeps them in memory, fresh within a second of a change by any process. Close it. */
export async function createSources(options: SourcesOptions): Promise<Sources> {
  const { store, ledger, keys, clock, configured } = options;
  let version = '';
  let stored = new Map<string, StoredSource>();
  let sources = new Map<string, Source>();
  let damaged: readonly string[] = [];
  let refreshing: Promise<void> | null = null;

  async function load(): Promise<void> {
    const setting = await store.read
      .selectFrom('settings')
      .select('value')
      .where('name', '=', VERSION_SETTING)
      .executeTakeFirst();
    const now = setting?.value ?? '0';
    if (now === version) return;
    // The version was read first: a change between the two reads is loaded now and once more at the next look.
    const rows = await store.read.selectFrom('sources').selectAll().orderBy('slug').execute();
    const broken: string[] = [];
    stored = new Map();
    for (const row of rows) {
      const source = fromRow(row, keys.rest);
      if (source === null) broken.push(row.slug);
      else stored.set(source.slug, source);
    }
    sources = withConfigured(stored, configured);
    damaged = broken;
    version = now;
  }

  function refresh(): Promise<void> {
    refreshing ??= load().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  /** Refreshes after whatever refresh is under way, which may have read before our commit. */
  async function refreshAfresh(): Promise<void> {
    await refreshing?.catch(() => undefined);
    await refresh();
  }

  /** One change: action entry, row and version in one transaction. */
  async function write(action: SourceAction, keyParts: readonly string[], next: StoredSource): Promise<SourceOutcome> {
    const { outcome, seq } = await appendAction(
      ledger,
      INSTALLATION,
      action,
      keyParts,
      clock().toISOString(),
      async (tx, appended) => {
        if (appended[0]?.outcome !== 'stored') return;
        await tx.insertMany('sources', [toRow(next, keys.rest)], 'replace');
        await raiseVersion(tx);
      },
    );
    await refreshAfresh();
    if (outcome === 'duplicate') return { outcome: action.action === 'source.added' ? 'exists' : 'conflict' };
    const source = sources.get(next.slug);
    if (source === undefined) throw new Error(`source ${next.slug} is not there after it was written`);
    return { outcome: 'done', source, seq };
  }

  function writeChange(
    before: StoredSource,
    after: Partial<StoredSource>,
    changed: readonly string[],
    actor: string,
  ): Promise<SourceOutcome> {
    const action: SourceAction = { action: 'source.changed', actor, sourceSlug: before.slug, changed: [...changed] };
    const next = { ...before, ...after, updatedAt: laterThan(before.updatedAt, clock()) };
    return write(action, ['source.changed', before.slug, before.updatedAt], next);
  }

  await load();
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => options.onRefreshError?.(error));
  }, REFRESH_MILLISECONDS);
  timer.unref();

  return {
    list: () => [...sources.values()],
    find: (slug) => sources.get(slug) ?? null,
    damaged: () => damaged,

    async add(input, actor) {
      const parsed = newSourceSchema.safeParse(input);
      if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
      const { slug, name, baseUrl, siteUrl, apiKey, siteKey, webhookSecrets, options: sourceOptions } = parsed.data;
      await refreshAfresh();
      if (sources.has(slug) || damaged.includes(slug)) return { outcome: 'exists' };
      const now = clock().toISOString();
      const secrets = [...new Set(webhookSecrets)].map((value) => ({ ...webhookSecretOf(value), addedAt: now }));
      const next: StoredSource = {
        slug,
        name: name ?? slug,
        baseUrl,
        siteUrl,
        credentials: { apiKey, siteKey, webhookSecrets: secrets },
        options: sourceOptions,
        createdAt: now,
        updatedAt: now,
      };
      const given = { name, baseUrl, siteUrl, apiKey, siteKey, webhookSecrets: secrets[0] };
      const changed = Object.entries(given).flatMap(([field, value]) =>
        value === undefined || value === null ? [] : [field],
      );
      return write({ action: 'source.added', actor, sourceSlug: slug, changed }, ['source.added', slug], next);
    },

    async change(slug, input, actor) {
      const parsed = sourceChangesSchema.safeParse(input);
      if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
      const changes = parsed.data;
      await refreshAfresh();
      const isConfigured = configured?.slug === slug;
      const before = stored.get(slug) ?? (isConfigured ? rowForConfigured(slug, configured.name) : null);
      if (before === null) return { outcome: 'unknown' };
      const fields = Object.keys(changes) as (keyof typeof changes)[];
      if (isConfigured && fields.some((field) => field !== 'options')) return { outcome: 'configured' };
      const present: Record<keyof typeof changes, unknown> = { ...before, ...before.credentials };
      const changed = fields.filter((field) => JSON.stringify(changes[field]) !== JSON.stringify(present[field]));
      if (changed.length === 0) return { outcome: 'unchanged' };
      const { apiKey = before.credentials.apiKey, siteKey = before.credentials.siteKey, ...rest } = changes;
      return writeChange(before, { ...rest, credentials: { ...before.credentials, apiKey, siteKey } }, changed, actor);
    },

    async rotateSecret(slug, secret, actor) {
      const parsed = newWebhookSecretSchema.safeParse(secret);
      if (!parsed.success)
        return { outcome: 'invalid', problems: problemsIn(parsed.error).map((problem) => `The secret ${problem}.`) };
      if (configured?.slug === slug) return { outcome: 'configured' };
      await refreshAfresh();
      const before = stored.get(slug);
      if (before === undefined) return { outcome: 'unknown' };
      const { webhookSecrets } = before.credentials;
      const added = { ...webhookSecretOf(parsed.data), addedAt: clock().toISOString() };
      if (webhookSecrets.some(({ value }) => value === added.value)) return { outcome: 'exists' };
      const credentials = { ...before.credentials, webhookSecrets: [added, ...webhookSecrets] };
      return writeChange(before, { credentials }, [`webhookSecrets +${added.id}`], actor);
    },

    async retireSecret(slug, secretId, actor) {
      if (configured?.slug === slug) return { outcome: 'configured' };
      await refreshAfresh();
      const before = stored.get(slug);
      const remaining = before?.credentials.webhookSecrets.filter(({ id }) => id !== secretId);
      if (before === undefined || remaining === undefined) return { outcome: 'unknown' };
      if (remaining.length === before.credentials.webhookSecrets.length) return { outcome: 'unknown' };
      const credentials = { ...before.credentials, webhookSecrets: remaining };
      return writeChange(before, { credentials }, [`webhookSecrets -${secretId}`], actor);
    },

    refresh: refreshAfresh,
    close: () => clearInterval(timer),
  };
}

function withConfigured(stored: ReadonlyMap<string, StoredSource>, configured: Source | null): Map<string, Source> {
  const all = [...stored.values()].filter(({ slug }) => slug !== configured?.slug).map(toSource);
  if (configured !== null)
    all.push({ ...configured, options: stored.get(configured.slug)?.options ?? configured.options });
  all.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return new Map(all.map((source) => [source.slug, source]));
}

/** The row that holds the options of the configured source before there is one. */
function rowForConfigured(slug: string, name: string): StoredSource {
  const never = '1970-01-01T00:00:00.000Z';
  const options = newSourceSchema.parse({ slug }).options;
  return {
    slug,
    name,
    baseUrl: null,
    siteUrl: null,
    credentials: noCredentials,
    options,
    createdAt: never,
    updatedAt: never,
  };
}

/** Now, but always later than the version before: two changes in one millisecond are two versions. */
function laterThan(before: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(before) + 1)).toISOString();
}

async function raiseVersion(tx: StoreTransaction): Promise<void> {
  const row = await tx.query
    .selectFrom('settings')
    .select('value')
    .where('name', '=', VERSION_SETTING)
    .executeTakeFirst();
  await tx.insertMany('settings', [{ name: VERSION_SETTING, value: String(Number(row?.value ?? 0) + 1) }], 'replace');
}
