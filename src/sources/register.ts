import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { recordOfOptions, type Source } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import { rowForConfigured, fromRow, isPast, toRow, toSource, type StoredSource, withEncodings } from './changes.ts';

export interface RegisterOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  /** The source of the environment (src/config.ts). Options set for it live in the database. */
  readonly configured: Source | null;
}

/**
 * What came of a change. `exists`: the slug (or the secret) is there already. `unknown`: no such source (or secret).
 * `configured`: the credentials of this source come from the environment; change them there. `unchanged`: nothing to do.
 * `conflict`: someone else changed the source at the same time; look again. `invalid`: why, one sentence each.
 */
export type SourceOutcome =
  | { readonly outcome: 'done'; readonly source: Source; readonly seq: number }
  | { readonly outcome: 'exists' | 'unknown' | 'configured' | 'unchanged' | 'conflict' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

type SourceAction = Extract<Action, { sourceSlug: string }>;

const VERSION_SETTING = 'sources_version';

/** The rows of the sources in memory, and the one way to change one of them. */
export class SourceRegister {
  readonly clock: Clock;
  readonly #options: RegisterOptions;
  #version = '';
  #rows = new Map<string, StoredSource>();
  #damaged: readonly string[] = [];
  #followed: ReadonlyMap<string, Source> = new Map();
  /** When `#followed` must be rebuilt, milliseconds: at once (0), or when the next secret retires. */
  #staleAt = 0;
  #loading: Promise<void> | null = null;

  constructor(options: RegisterOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** The sources that are followed, by slug. A secret is gone from them the moment its time has come. */
  get followed(): ReadonlyMap<string, Source> {
    const now = this.clock();
    if (now.getTime() >= this.#staleAt) {
      this.#followed = followedSources(this.#rows, this.#options.configured, now);
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

  /** One that is followed or that left. */
  findAny(slug: string): Source | null {
    const row = this.isConfigured(slug) ? undefined : this.#rows.get(slug);
    return row === undefined ? (this.followed.get(slug) ?? null) : toSource(row, this.clock());
  }

  /** Reads the rows again if they changed; shares a reading that is under way. */
  refresh(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Refreshes after whatever refresh is under way, which may have read before a commit of ours. */
  async refreshAfresh(): Promise<void> {
    await this.#loading?.catch(() => undefined);
    await this.refresh();
  }

  /** The row to change: of a source that is followed. `credentials`: whether they are to be changed, which only rows have. */
  async rowToChange(
    slug: string,
    { credentials }: { readonly credentials: boolean },
  ): Promise<{ outcome: 'configured' | 'unknown' } | { outcome: 'found'; row: StoredSource }> {
    const { configured } = this.#options;
    const isConfigured = configured?.slug === slug;
    if (isConfigured && credentials) return { outcome: 'configured' };
    await this.refreshAfresh();
    const row = this.#rows.get(slug) ?? (isConfigured ? rowForConfigured(slug, configured.name) : null);
    if (row === null || (row.offboardedAt !== null && !isConfigured)) return { outcome: 'unknown' };
    return { outcome: 'found', row };
  }

  /** One change: action entry, row and version in one transaction. `keyParts` name the source and the version that the change is based on. */
  async write(action: SourceAction, keyParts: readonly string[], next: StoredSource): Promise<SourceOutcome> {
    const { ledger, keys } = this.#options;
    let raised = null as Raised | null;
    const at = this.clock().toISOString();
    // By what is recorded here entries are read (options-in-force.ts), and the row is compared with it (ledger/verify/checks.ts).
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

  /** Takes a row of our own into memory where nothing but it changed: an import of thousands then reads none of them again. */
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
    // The version was read first: a change between the two reads is loaded now and once more at the next look.
    const rows = await store.read.selectFrom('sources').selectAll().orderBy('slug').execute();
    const read = rows.map((row) => ({ slug: row.slug, source: fromRow(row, keys.rest) }));
    this.#rows = new Map(read.flatMap(({ slug, source }) => (source === null ? [] : [[slug, source]])));
    this.#damaged = read.flatMap(({ slug, source }) => (source === null ? [slug] : []));
    this.#staleAt = 0;
    this.#version = version;
  }
}

function followedSources(
  rows: ReadonlyMap<string, StoredSource>,
  configured: Source | null,
  now: Date,
): ReadonlyMap<string, Source> {
  const all = [...rows.values()]
    .filter(({ slug, offboardedAt }) => slug !== configured?.slug && offboardedAt === null)
    .map((row) => toSource(row, now));
  if (configured !== null) {
    const options = rows.get(configured.slug)?.options ?? configured.options;
    all.push({ ...configured, webhookSecrets: withEncodings(configured.webhookSecrets, options), options });
  }
  all.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return new Map(all.map((source) => [source.slug, source]));
}

/** When the next secret's time comes, milliseconds; infinity when none has one. */
function nextRetirement(rows: Iterable<StoredSource>, now: Date): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { credentials } of rows) {
    for (const { retireAt } of credentials.webhookSecrets) {
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
