import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import type { InstanceKeys } from '../core/keys.ts';
import type { SecretEncoding, Source } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import {
  acceptedMapping,
  changedSource,
  type FieldMapping,
  newStoredSource,
  offboardedSource,
  retiredSecrets,
  rotatedSecret,
  rowForConfigured,
} from './changes.ts';
import {
  newSourceSchema,
  newWebhookSecretSchema,
  problemsIn,
  sourceChangesSchema,
  type NewSource,
  type SourceChanges,
} from './input.ts';
import { fromRow, isPast, toRow, toSource, type StoredSource, withEncodings } from './row.ts';

/**
 * What came of a change. `exists`: the slug (or the secret) is there already. `unknown`: no such source (or secret).
 * `configured`: the credentials of this source come from the environment; change them there. `unchanged`: nothing to do.
 * `conflict`: someone else changed the source at the same time; look again. `invalid`: why, one sentence each.
 */
export type SourceOutcome =
  | { readonly outcome: 'done'; readonly source: Source; readonly seq: number }
  | { readonly outcome: 'exists' | 'unknown' | 'configured' | 'unchanged' | 'conflict' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** A source that left: its entries stay, its credentials are gone. */
export interface OffboardedSource {
  readonly source: Source;
  /** ISO 8601 UTC. */
  readonly offboardedAt: string;
}

/** How a signing secret is taken in. */
export interface RotationOptions {
  /** How the secret is written, default `text`. */
  readonly encoding?: SecretEncoding | undefined;
  /** ISO 8601 UTC: until then the secrets of before are accepted too, and no longer. Absent: until they are retired one by one. */
  readonly retireOthersAt?: string | undefined;
}

/** The sources of this installation: the configured one and those that were added. */
export interface Sources {
  /** Those that are followed, by slug. */
  list(): readonly Source[];
  /** One that is followed, out of memory: at most {@link REFRESH_MILLISECONDS} behind a change that another process made. */
  find(slug: string): Source | null;
  /** Those that left, by slug. */
  offboarded(): readonly OffboardedSource[];
  /** One that is followed or that left: for what is done with its evidence. */
  findAny(slug: string): Source | null;
  /** Slugs of rows that cannot be read because someone altered them; they are not listed. */
  damaged(): readonly string[];
  /** Signing secrets of a source that are accepted for a while only: id → until when, ISO 8601 UTC. */
  retirements(slug: string): ReadonlyMap<string, string>;
  /** Takes up a source; one that left is taken up again under its slug, and its numbers go on. */
  add(source: NewSource, actor: string): Promise<SourceOutcome>;
  change(slug: string, changes: SourceChanges, actor: string): Promise<SourceOutcome>;
  /** Adds a signing secret beside the old ones, which stay valid until they are retired. */
  rotateSecret(slug: string, secret: string, actor: string, options?: RotationOptions): Promise<SourceOutcome>;
  retireSecret(slug: string, secretId: string, actor: string): Promise<SourceOutcome>;
  /** Destroys the secrets whose time has come; they were accepted no more since then. Returns how many. */
  destroyRetired(actor: string): Promise<number>;
  /** Lets a source go: destroys its credentials. What must be settled before is the caller's to ask (src/sources/offboard.ts). */
  offboard(slug: string, facts: OffboardingFacts, actor: string): Promise<SourceOutcome>;
  /** Reads payloads of a source by a mapping from now on. */
  acceptMapping(slug: string, mapping: FieldMapping, actor: string): Promise<SourceOutcome>;
  /** Reads the sources again if they changed. */
  refresh(): Promise<void>;
  close(): void;
}

export interface OffboardingFacts {
  readonly reason: string | null;
  readonly openCases: number;
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
  /** When the next secret's time comes, milliseconds. */
  let nextRetirement = Number.POSITIVE_INFINITY;

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
    damaged = broken;
    arrange();
    version = now;
  }

  /** Makes the picture of this moment out of what is stored. */
  function arrange(): void {
    const now = clock();
    sources = withConfigured(stored, configured, now);
    const times = [...stored.values()].flatMap(({ credentials }) =>
      credentials.webhookSecrets.flatMap(({ retireAt }) =>
        retireAt === undefined || isPast(retireAt, now) ? [] : [Date.parse(retireAt)],
      ),
    );
    nextRetirement = Math.min(Number.POSITIVE_INFINITY, ...times);
  }

  /** The sources that are followed; a secret is gone from them the moment its time has come. */
  function followed(): ReadonlyMap<string, Source> {
    if (nextRetirement !== Number.POSITIVE_INFINITY && clock().getTime() >= nextRetirement) arrange();
    return sources;
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
    const source = findAny(next.slug);
    if (source === null) throw new Error(`source ${next.slug} is not there after it was written`);
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

  function findAny(slug: string): Source | null {
    const left = stored.get(slug);
    return followed().get(slug) ?? (left === undefined ? null : toSource(left, clock()));
  }

  /** The row to change: of a source that is followed. `credentials`: whether they are to be changed, which only rows have. */
  async function rowToChange(
    slug: string,
    credentials: boolean,
  ): Promise<{ outcome: 'configured' | 'unknown' } | { outcome: 'found'; row: StoredSource }> {
    const isConfigured = configured?.slug === slug;
    if (isConfigured && credentials) return { outcome: 'configured' };
    await refreshAfresh();
    const row = stored.get(slug) ?? (isConfigured ? rowForConfigured(slug, configured.name) : null);
    return row === null || (row.offboardedAt !== null && !isConfigured)
      ? { outcome: 'unknown' }
      : { outcome: 'found', row };
  }

  await load();
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => options.onRefreshError?.(error));
  }, REFRESH_MILLISECONDS);
  timer.unref();

  return {
    list: () => [...followed().values()],
    find: (slug) => followed().get(slug) ?? null,
    findAny,
    damaged: () => damaged,

    offboarded: () =>
      [...stored.values()].flatMap((row) =>
        row.offboardedAt === null || row.slug === configured?.slug
          ? []
          : [{ source: toSource(row, clock()), offboardedAt: row.offboardedAt }],
      ),

    retirements: (slug) =>
      new Map(
        (stored.get(slug)?.credentials.webhookSecrets ?? []).flatMap(({ id, retireAt }) =>
          retireAt === undefined || isPast(retireAt, clock()) ? [] : [[id, retireAt] as const],
        ),
      ),

    async add(input, actor) {
      const parsed = newSourceSchema.safeParse(input);
      if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
      const { slug } = parsed.data;
      await refreshAfresh();
      if (followed().has(slug) || damaged.includes(slug)) return { outcome: 'exists' };
      const before = stored.get(slug);
      const left = before?.offboardedAt ?? null;
      const now = before === undefined ? clock().toISOString() : laterThan(before.updatedAt, clock());
      const { next, changed } = newStoredSource(parsed.data, now);
      return write(
        { action: 'source.added', actor, sourceSlug: slug, changed: [...changed] },
        ['source.added', slug, ...(left === null ? [] : [left])],
        next,
      );
    },

    async change(slug, input, actor) {
      const parsed = sourceChangesSchema.safeParse(input);
      if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
      const fields = Object.keys(parsed.data);
      const found = await rowToChange(
        slug,
        fields.some((field) => field !== 'options'),
      );
      if (found.outcome !== 'found') return found;
      const { after, changed } = changedSource(found.row, parsed.data);
      return changed.length === 0 ? { outcome: 'unchanged' } : writeChange(found.row, after, changed, actor);
    },

    async rotateSecret(slug, secret, actor, rotation = {}) {
      const parsed = newWebhookSecretSchema.safeParse(secret);
      if (!parsed.success)
        return { outcome: 'invalid', problems: problemsIn(parsed.error).map((problem) => `The secret ${problem}.`) };
      const found = await rowToChange(slug, true);
      if (found.outcome !== 'found') return found;
      const rotated = rotatedSecret(found.row, parsed.data, clock(), rotation);
      return rotated.outcome === 'rotated' ? writeChange(found.row, rotated.after, rotated.changed, actor) : rotated;
    },

    async retireSecret(slug, secretId, actor) {
      const found = await rowToChange(slug, true);
      if (found.outcome !== 'found') return found;
      const retired = retiredSecrets(found.row, ({ id }) => id === secretId);
      return retired === null ? { outcome: 'unknown' } : writeChange(found.row, retired.after, retired.changed, actor);
    },

    async destroyRetired(actor) {
      await refreshAfresh();
      let count = 0;
      for (const row of [...stored.values()]) {
        const retired = retiredSecrets(row, ({ retireAt }) => isPast(retireAt, clock()));
        if (retired === null) continue;
        const { outcome } = await writeChange(row, retired.after, retired.changed, actor);
        if (outcome === 'done') count += retired.changed.length;
      }
      return count;
    },

    async offboard(slug, { reason, openCases }, actor) {
      const found = await rowToChange(slug, true);
      if (found.outcome !== 'found') return found;
      const at = laterThan(found.row.updatedAt, clock());
      const { next, destroyed } = offboardedSource(found.row, at);
      const action: SourceAction = {
        action: 'source.offboarded',
        actor,
        sourceSlug: slug,
        reason,
        openCases,
        destroyed: [...destroyed],
      };
      return write(action, ['source.changed', slug, found.row.updatedAt], next);
    },

    async acceptMapping(slug, mapping, actor) {
      const found = await rowToChange(slug, false);
      if (found.outcome !== 'found') return found;
      const { row } = found;
      const after = acceptedMapping(row.options, mapping);
      const checked = sourceChangesSchema.safeParse({ options: after });
      if (!checked.success) return { outcome: 'invalid', problems: problemsIn(checked.error) };
      if (JSON.stringify(after) === JSON.stringify(row.options)) return { outcome: 'unchanged' };
      const { proposalId, fieldNames, eventNames, secretEncodings, samples } = mapping;
      const action: SourceAction = {
        action: 'source.mapping-accepted',
        actor,
        sourceSlug: slug,
        proposalId,
        fieldNames: Object.fromEntries(Object.entries(fieldNames).map(([field, names]) => [field, [...names]])),
        eventNames: { ...eventNames },
        secretEncodings: { ...secretEncodings },
        samples,
      };
      const next = { ...row, options: after, updatedAt: laterThan(row.updatedAt, clock()) };
      return write(action, ['source.changed', slug, row.updatedAt], next);
    },

    refresh: refreshAfresh,
    close: () => clearInterval(timer),
  };
}

function withConfigured(
  stored: ReadonlyMap<string, StoredSource>,
  configured: Source | null,
  now: Date,
): Map<string, Source> {
  const all = [...stored.values()]
    .filter(({ slug, offboardedAt }) => slug !== configured?.slug && offboardedAt === null)
    .map((row) => toSource(row, now));
  if (configured !== null) {
    const options = stored.get(configured.slug)?.options ?? configured.options;
    all.push({ ...configured, webhookSecrets: withEncodings(configured.webhookSecrets, options), options });
  }
  all.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return new Map(all.map((source) => [source.slug, source]));
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
