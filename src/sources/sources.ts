import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import type { InstanceKeys } from '../core/keys.ts';
import { clearTextProblem } from '../core/service-address.ts';
import type { Source } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import {
  acceptedMapping,
  changedSource,
  newStoredSource,
  offboardedSource,
  retiredSecrets,
  rotatedSecret,
  rowForConfigured,
} from './changes.ts';
import type { SourceOutcome, Sources } from './contract.ts';
import { newSourceSchema, newWebhookSecretSchema, problemsIn, sourceChangesSchema } from './input.ts';
import { fromRow, isPast, toRow, toSource, type StoredSource, withEncodings } from './row.ts';

export interface SourcesOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  /** The source of the environment (src/config.ts). Options set for it live in the database. */
  readonly configured: Source | null;
  /** Hosts that may be asked over http (HTTP_ALLOWED_HOSTS). */
  readonly httpAllowedHosts?: readonly string[];
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
  /** When the picture of the sources has to be made anew, milliseconds: at once, or when the next secret's time comes. */
  let arrangeAt = 0;

  function clearTextProblems(given: Partial<Record<'baseUrl' | 'siteUrl', string | null | undefined>>): string[] {
    return (['baseUrl', 'siteUrl'] as const).flatMap((field) => {
      const url = given[field];
      const problem = typeof url === 'string' ? clearTextProblem(url, options.httpAllowedHosts ?? []) : null;
      return problem === null ? [] : [`${field}: ${problem}`];
    });
  }

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
    arrangeAt = 0;
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
    arrangeAt = times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
  }

  /** The sources that are followed; a secret is gone from them the moment its time has come. */
  function followed(): ReadonlyMap<string, Source> {
    if (arrangeAt !== Number.POSITIVE_INFINITY && (arrangeAt === 0 || clock().getTime() >= arrangeAt)) arrange();
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
    let raised = null as { readonly from: string; readonly to: string } | null;
    const { outcome, seq } = await appendAction(
      ledger,
      INSTALLATION,
      action,
      keyParts,
      clock().toISOString(),
      async (tx, appended) => {
        if (appended[0]?.outcome !== 'stored') return;
        await tx.insertMany('sources', [toRow(next, keys.rest)], 'replace');
        raised = await raiseVersion(tx);
      },
    );
    // Nothing but this change lies between what is known and what is there now: an import of thousands reads none of them again.
    if (raised !== null && raised.from === version && refreshing === null) {
      stored.set(next.slug, next);
      version = raised.to;
      arrangeAt = 0;
    } else await refreshAfresh();
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
    const row = slug === configured?.slug ? undefined : stored.get(slug);
    return row === undefined ? (followed().get(slug) ?? null) : toSource(row, clock());
  }

  function isFollowed(slug: string): boolean {
    const row = stored.get(slug);
    return slug === configured?.slug || (row !== undefined && row.offboardedAt === null);
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
      [...stored.values()]
        .flatMap((row) =>
          row.offboardedAt === null || row.slug === configured?.slug
            ? []
            : [{ source: toSource(row, clock()), offboardedAt: row.offboardedAt }],
        )
        .sort((a, b) => (a.source.slug < b.source.slug ? -1 : 1)),

    retirements: (slug) =>
      new Map(
        (stored.get(slug)?.credentials.webhookSecrets ?? []).flatMap(({ id, retireAt }) =>
          retireAt === undefined || isPast(retireAt, clock()) ? [] : [[id, retireAt] as const],
        ),
      ),

    async add(input, actor) {
      const parsed = newSourceSchema.safeParse(input);
      if (!parsed.success) return { outcome: 'invalid', problems: problemsIn(parsed.error) };
      const clearText = clearTextProblems(parsed.data);
      if (clearText.length > 0) return { outcome: 'invalid', problems: clearText };
      const { slug } = parsed.data;
      await refreshAfresh();
      if (isFollowed(slug) || damaged.includes(slug)) return { outcome: 'exists' };
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
      const clearText = clearTextProblems(parsed.data);
      if (clearText.length > 0) return { outcome: 'invalid', problems: clearText };
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

async function raiseVersion(tx: StoreTransaction): Promise<{ readonly from: string; readonly to: string }> {
  const row = await tx.query
    .selectFrom('settings')
    .select('value')
    .where('name', '=', VERSION_SETTING)
    .executeTakeFirst();
  const from = row?.value ?? '0';
  const to = String(Number(from) + 1);
  await tx.insertMany('settings', [{ name: VERSION_SETTING, value: to }], 'replace');
  return { from, to };
}
