import type { Clock } from '../../src/core/clock.ts';
import { type Source, sourceOptionsSchema } from '../../src/core/source.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createServiceClient } from '../../src/service/client.ts';
import type { Store } from '../../src/store/store.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import type { PullDeps, PullRequest } from '../../src/sync/pull-result.ts';
import type { SyncDeps } from '../../src/sync/sync-source.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { temporaryLedger } from '../temporary.ts';

/** A source at the fake service. */
export function sourceAt(baseUrl: string | null, options: object = {}): Source {
  return {
    slug: 'acme',
    name: 'Acme',
    baseUrl,
    siteUrl: null,
    apiKey: 'pak_live_test',
    siteKey: null,
    webhookSecrets: [],
    options: sourceOptionsSchema.parse(options),
  };
}

export interface Syncing {
  readonly store: Store;
  readonly ledger: Ledger;
  /** The clock's current time; the test may change it. */
  now: Date;
  /** Its read models change only when the test runs the projector. */
  readonly deps: PullDeps & Pick<SyncDeps, 'catchUp' | 'recipeOf' | 'isKeyShared'>;
  pull(request?: Partial<PullRequest>): ReturnType<typeof pullConsentLogs>;
  /** Bodies of the pulled rows in the ledger, in order of seq, without pieces of broken pages. */
  bodies(): Promise<string[]>;
  /** Bodies of the pieces of broken pages. */
  pieces(): Promise<string[]>;
  actions(): Promise<Record<string, unknown>[]>;
  /** Closes ledger and store before the test ends: a test with many of them would need too many connections. */
  close(): Promise<void>;
}

/** A ledger of the test with a fake service and three quick retries. */
export async function syncingWith(baseUrl: string, now = new Date()): Promise<Syncing> {
  const { store, ledger, close } = await temporaryLedger();
  const clock: Clock = () => syncing.now;
  const service = createServiceClient({
    destinations: ON_LOOPBACK,
    baseUrl,
    apiKey: 'pak_live_test',
    backOffMs: 1,
    retries: 3,
    timeoutMs: 5000,
  });
  const bodiesOf = async (kind: 'consent-log' | 'action', arePieces = false) => {
    const rows = await store.read
      .selectFrom('entries')
      .select(['body', 'meta'])
      .where('kind', '=', kind)
      .orderBy('seq')
      .execute();
    return rows
      .filter(({ meta }) => (meta?.includes('"unreadable":') === true) === arePieces)
      .map(({ body }) => body?.toString('utf8') ?? '');
  };
  const syncing: Syncing = {
    store,
    ledger,
    now,
    deps: {
      store,
      ledger,
      clock,
      service,
      lookBackMs: 24 * 3_600_000,
      catchUp: () => Promise.resolve(),
      recipeOf: () => null,
      isKeyShared: () => false,
    },
    pull: (request = {}) =>
      pullConsentLogs(syncing.deps, { source: sourceAt(baseUrl), bannerId: 'bnr_1', actor: 'test', ...request }),
    bodies: () => bodiesOf('consent-log'),
    pieces: () => bodiesOf('consent-log', true),
    actions: async () => (await bodiesOf('action')).map((body) => JSON.parse(body) as Record<string, unknown>),
    close,
  };
  return syncing;
}
