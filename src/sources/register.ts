import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import { recordOfOptions, type Source, type WebhookSecret } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import { fromRow, isPast, rowForConfigured, type StoredSource, toRow, toSource, withEnvironment } from './changes.ts';

export interface RegisterOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  /** The source of the environment (src/config/config.ts). Options set for it are in the database. */
  readonly configured: Source | null;
}

/**
 * The outcome of a change. `exists`: the slug (or secret) already exists. `unknown`: no such source (or secret).
 * `configured`: this source's credentials come from the environment; change them there. `unchanged`: nothing to do.
 * `conflict`: someone else changed the source at the same time; look again. `invalid`: the reasons, one sentence each.
 */
export type SourceOutcome =
  | { readonly outcome: 'done'; readonly source: Source; readonly seq: number }
  | { readonly outcome: 'exists' | 'unknown' | 'configured' | 'unchanged' | 'conflict' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

type SourceAction = Extract<Action, { sourceSlug: string }>;

const VERSION_SETTING = 'sources_version';

/** The rows of the sources in memory, and the only way to change one. */
export class SourceRegister {
  readonly clock: Clock;
  readonly #options: RegisterOptions;
  #version = '';
  #rows = new Map<string, StoredSource>();
  #damaged: readonly string[] = [];
  #followed: ReadonlyMap<string, Source> = new Map();
  /** When `#followed` must be rebuilt, milliseconds: at once (0), or when the next secret expires. */
  #staleAt = 0;
  #loading: Promise<void> | null = null;

  constructor(options: RegisterOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** The active sources by slug. A secret is left out as soon as it has expired. */
  get followed(): ReadonlyMap<string, Source> {
    const now = this.clock();
    if (now.getTime() >= this.#staleAt) {
      this.#followed = this.#followedAt(now);
      this.#staleAt = nextRetirement(this.#rows.values(), now);
    }
    return this.#followed;
  }

  get rows(): readonly StoredSource[] {
    return [...this.#rows.values()];
  }

  row(slug: string): StoredSource | undefined {
    return this.#rows.get(slug);
  }

  /** Slugs of rows that cannot be read because someone altered them. */
  get damaged(): readonly string[] {
    return this.#damaged;
  }

  isConfigured(slug: string): boolean {
    return slug === this.#options.configured?.slug;
  }

  isFollowed(slug: string): boolean {
    const row = this.#rows.get(slug);
    return this.isConfigured(slug) || (row !== undefined && row.offboardedAt === null);
  }

  /** An active or offboarded source. */
  findAny(slug: string): Source | null {
    const row = this.isConfigured(slug) ? undefined : this.#rows.get(slug);
    return row === undefined ? (this.followed.get(slug) ?? null) : toSource(row, this.clock());
  }

  /** Reads the rows again if they changed; shares a read in progress. */
  refresh(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Refreshes after any refresh in progress, which may have read before a commit of ours. */
  async refreshAfresh(): Promise<void> {
    await this.#loading?.catch(() => undefined);
    await this.refresh();
  }

  /** The row to change, of an active source. `credentials`: whether they are to be changed, which only rows have. */
  async rowToChange(
    slug: string,
    part: 'options' | 'secrets' | 'all',
  ): Promise<Exclude<SourceOutcome, { outcome: 'done' }> | { outcome: 'found'; row: StoredSource }> {
    const { configured } = this.#options;
    const isConfigured = configured?.slug === slug;
    if (isConfigured && part === 'all') return { outcome: 'configured' };
    await this.refreshAfresh();
    if (this.#damaged.includes(slug)) return damagedOutcome(slug);
    const row = this.#rows.get(slug) ?? (isConfigured ? rowForConfigured(slug, configured.name) : null);
    if (row === null || (row.offboardedAt !== null && !isConfigured)) return { outcome: 'unknown' };
    return { outcome: 'found', row };
  }

  /** Signing secrets that the environment sets for a source. */
  environmentSecrets(slug: string): readonly WebhookSecret[] {
    return this.isConfigured(slug) ? (this.#options.configured?.webhookSecrets ?? []) : [];
  }

  /**
   * One change: action entry, row and version in one transaction. `keyParts` name the source and the version on which
   * the change is based.
   */
  async write(action: SourceAction, keyParts: readonly string[], next: StoredSource): Promise<SourceOutcome> {
    const { ledger, keys } = this.#options;
    let raised = null as Raised | null;
    const at = this.clock().toISOString();
    // Entries are read with the options recorded here (options-in-force.ts), and the row is compared with them
    // (ledger/verify/checks.ts).
    const options = recordOfOptions(next.options, ledger.keyOf);
    const recorded = action.action === 'source.offboarded' ? action : { ...action, options };
    const { outcome, seq } = await appendAction(ledger, INSTALLATION, recorded, keyParts, at, async (tx, [own]) => {
      if (own?.outcome !== 'stored') return;
      await tx.insertMany('sources', [toRow(next, keys.rest)], 'replace');
      raised = await raiseVersion(tx);
    });
    await this.#takeIn(next, raised);
    if (outcome === 'duplicate') return { outcome: action.action === 'source.added' ? 'exists' : 'conflict' };
    const source = this.findAny(next.slug);
    if (source === null) throw new Error(`source ${next.slug} is missing after it was written`);
    return { outcome: 'done', source, seq };
  }

  #followedAt(now: Date): ReadonlyMap<string, Source> {
    const { configured } = this.#options;
    const all = this.rows
      .filter(({ slug, offboardedAt }) => slug !== configured?.slug && offboardedAt === null)
      .map((row) => toSource(row, now));
    if (configured !== null) {
      const { slug } = configured;
      const row = this.#rows.get(slug) ?? { ...rowForConfigured(slug, configured.name), options: configured.options };
      const { webhookSecrets, options } = toSource(withEnvironment(row, configured.webhookSecrets, now), now);
      // The row says which secrets have ended, so if it was altered, none are accepted.
      const isDamaged = this.#damaged.includes(slug);
      all.push({ ...configured, webhookSecrets: isDamaged ? [] : webhookSecrets, options });
    }
    all.sort((a, b) => (a.slug < b.slug ? -1 : 1));
    return new Map(all.map((source) => [source.slug, source]));
  }

  /** Takes our own row into memory if nothing else changed, so that an import of thousands does not read all rows each time. */
  async #takeIn(next: StoredSource, raised: Raised | null): Promise<void> {
    if (raised === null || raised.from !== this.#version || this.#loading !== null) return this.refreshAfresh();
    this.#rows.set(next.slug, next);
    this.#version = raised.to;
    this.#staleAt = 0;
  }

  async #load(): Promise<void> {
    const { store, keys } = this.#options;
    const version = await readVersion(store.read);
    if (version === this.#version) return;
    // The version was read first: a change between the two reads is loaded now, and again at the next check.
    const rows = await store.read.selectFrom('sources').selectAll().orderBy('slug').execute();
    const read = rows.map((row) => ({ slug: row.slug, source: fromRow(row, keys.rest) }));
    this.#rows = new Map(read.flatMap(({ slug, source }) => (source === null ? [] : [[slug, source]])));
    this.#damaged = read.flatMap(({ slug, source }) => (source === null ? [slug] : []));
    this.#staleAt = 0;
    this.#version = version;
  }
}

/** An altered row is not overwritten, since its content would be lost. */
export function damagedOutcome(slug: string) {
  const problems = [`The row of source ${slug} was altered in the database: restore it from a backup.`];
  return { outcome: 'invalid', problems } as const;
}

/** When the next secret expires, milliseconds; infinity if none does. */
function nextRetirement(rows: Iterable<StoredSource>, now: Date): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { credentials } of rows) {
    const ends = credentials.webhookSecrets.map(({ retireAt }) => retireAt);
    for (const retireAt of [...ends, ...Object.values(credentials.endings ?? {})]) {
      if (retireAt !== undefined && !isPast(retireAt, now)) next = Math.min(next, Date.parse(retireAt));
    }
  }
  return next;
}

/** Versions of the register before and after a change. */
interface Raised {
  readonly from: string;
  readonly to: string;
}

async function readVersion(query: Query): Promise<string> {
  const row = await query.selectFrom('settings').select('value').where('name', '=', VERSION_SETTING).executeTakeFirst();
  return row?.value ?? '0';
}

async function raiseVersion(tx: StoreTransaction): Promise<Raised> {
  const from = await readVersion(tx.query);
  const to = String(Number(from) + 1);
  await tx.insertMany('settings', [{ name: VERSION_SETTING, value: to }], 'replace');
  return { from, to };
}
