import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { decisionIdOf, isAnonymousRepeat, readConsentRow, readDelivery } from '../receivers/read.ts';
import { AGREEMENT_DAYS, loadOfficerAttention } from './attention/officer-attention.ts';
import { findWarnings, type Refusal } from './attention/operator-warnings.ts';
import { caseFold } from './cases/fold.ts';
import { listCases } from './cases/list-cases.ts';
import { matchCase } from './cases/match.ts';
import type { Config } from './config.ts';
import { loadControllerFile } from './config/controller-file.ts';
import { loadRegimesFile } from './config/regimes-file.ts';
import { loadVersion } from './config/version.ts';
import { createCaseDeps } from './context/case-deps.ts';
import { assertSharedDirectory } from './context/data-directory.ts';
import { createDistribution } from './context/distribution.ts';
import { createPolicyDeps } from './context/policies.ts';
import { createSnapshotDeps } from './context/snapshots.ts';
import { parseTreeHead } from './core/checkpoint.ts';
import type { Context } from './context/contract.ts';
import type { Clock } from './core/clock.ts';
import { UsageError } from './core/errors.ts';
import type { ControllerProfile } from './core/profile.ts';
import { type Source, sourceOptionsSchema } from './core/source.ts';
import { loadKeys } from './keys.ts';
import { createJobs } from './jobs/jobs.ts';
import { closeWithin } from './jobs/within-time.ts';
import { createLedger } from './ledger/append.ts';
import { createJournal, type Journal } from './ledger/journal.ts';
import { type Sealing, sealLedger } from './ledger/seal.ts';
import { verifyLedger } from './ledger/verify.ts';
import type { Log } from './log.ts';
import { rebuild } from './projections/rebuild.ts';
import { createProjector } from './projections/run.ts';
import { createRejectedRing } from './rejected/ring.ts';
import { createServiceClient } from './service/client.ts';
import { createReadPaces } from './service/read-pace.ts';
import { createSources } from './sources/sources.ts';
import { createHistory } from './store/queries/history.ts';
import { openStore } from './context/open-store.ts';
import { readSetting, UNFINISHED_COPY, writeSetting } from './context/settings.ts';
import { MOVED_TO } from './store/settings.ts';
import type { Store } from './store/store.ts';
import { loadSyncStatus } from './sync/status.ts';

export interface ContextOptions {
  readonly clock?: Clock;
  /** Marks every page of every document SAMPLE (the demo). */
  readonly sample?: boolean;
}

const SEAL_FAILURE = 'seal_failure';

/** Milliseconds that a part may take to close. SQLite writes its log into the database file meanwhile. */
const CLOSE_MS = 10_000;
const STORE_CLOSE_MS = 30_000;

/**
 * Opens the installation that `config` describes, creating it at the first start.
 * Throws UsageError for wrong keys or a newer database, StoreUnavailable when the database cannot be opened.
 */
export async function openContext(config: Config, log: Log, options: ContextOptions = {}): Promise<Context> {
  const { clock = () => new Date(), sample = false } = options;
  const opened: { readonly part: string; readonly close: () => Promise<unknown> }[] = [];
  const close = async () => {
    for (const { part, close: shut } of opened.reverse())
      await closeWithin(part === 'store' ? STORE_CLOSE_MS : CLOSE_MS, part, shut, log);
    opened.length = 0;
  };
  try {
    const store = await openStore(config.database);
    opened.push({ part: 'store', close: async () => store.close() });
    await assertWhole(store);
    const keys = await loadKeys(config, store);
    const { instance, epoch } = await loadIdentity(store);
    if (store.engine === 'postgres') await assertSharedDirectory(store, config.dataDir, instance);
    const journal = createJournal(join(config.dataDir, 'journal'));
    const refusal = refusalOfMoved(await readSetting(store, MOVED_TO)) ?? (await findRefusal(store, journal));
    const ledger = createLedger({ store, keys: keys.instance, refuse: () => refusal?.reason ?? null });
    opened.push({ part: 'ledger', close: async () => ledger.close() });
    const sources = await createSources({
      store,
      ledger,
      keys: keys.instance,
      clock,
      configured: config.defaultSource,
      httpAllowedHosts: config.httpAllowedHosts,
      onRefreshError: (error) => log.warn({ err: error }, 'the sources could not be read again'),
    });
    opened.push({ part: 'sources', close: async () => sources.close() });
    const rejected = createRejectedRing({
      store,
      keys: keys.instance,
      clock,
      onError: (error) => log.warn({ err: error }, 'refused deliveries could not be written yet'),
    });
    opened.push({ part: 'rejected', close: async () => rejected.close() });

    const defaults = sourceOptionsSchema.parse({});
    const projection = {
      store,
      read: { readDelivery, readConsentRow, decisionIdOf, isAnonymousRepeat },
      cases: caseFold,
      optionsOf: (slug: string) => sources.findAny(slug)?.options ?? defaults,
      log,
    };
    const projector = createProjector({ ...projection, onAhead: () => rebuild(projection) });
    opened.push({ part: 'projector', close: async () => projector.close() });

    const seal = async (): Promise<Sealing> => {
      const sealing = await sealLedger({
        store,
        journal,
        appendKey: keys.instance.append,
        signingKey: keys.signing,
        instance,
        epoch,
        clock,
      });
      const failure = sealing.outcome === 'refused' ? `entry ${sealing.seq}: ${sealing.reason}` : '';
      if (failure !== '')
        log.error({ seq: sealing.outcome === 'refused' ? sealing.seq : null }, `not sealed: ${failure}`);
      if (failure !== ((await readSetting(store, SEAL_FAILURE)) ?? ''))
        await writeSetting(store, SEAL_FAILURE, failure);
      return sealing;
    };

    const loadProfile = async (source: Source | null): Promise<ControllerProfile | null> => {
      const path = source?.options.controllerFile ?? config.controllerFile;
      if (path === null) return null;
      const loaded = await loadControllerFile(path);
      if (loaded.outcome === 'invalid') throw new UsageError(loaded.problems);
      return loaded.value;
    };
    const version = loadVersion();
    const regimes = config.regimesFile === null ? undefined : await loadRegimesFile(config.regimesFile);
    // What a source left behind can still be read, answered and put into documents.
    const known = { find: (slug: string) => sources.findAny(slug) };
    const cases = createCaseDeps({ store, ledger, clock, config, sources: known, loadProfile }, regimes);
    const evidenceFolder = join(config.dataDir, 'evidence');
    const paceOf = createReadPaces();
    const listPulled = () => sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);

    const distribution = createDistribution({ url: config.redisUrl, instance, clock, log });
    opened.push({ part: 'distribution', close: async () => distribution?.close() });
    const jobs = createJobs({ store, clock, ...(distribution && { announce: distribution.announce }) });
    return {
      config,
      log,
      clock,
      version,
      store,
      keys,
      instance,
      epoch,
      ledger,
      journal,
      sources,
      rejected,
      projector,
      sync: {
        store,
        ledger,
        clock,
        serviceFor: ({ source, baseUrl, apiKey }) =>
          createServiceClient({
            baseUrl,
            apiKey,
            pace: paceOf(baseUrl, apiKey),
            onRetry: (error, attempt) =>
              log.warn({ source: source.slug, attempt, reason: error.message }, 'the service is asked again'),
          }),
      },
      jobs,
      distribution,
      policies: createPolicyDeps({ store, ledger, clock, projector, log }),
      snapshots: createSnapshotDeps({ store, ledger, jobs, clock, projector }),
      documents: {
        read: store.read,
        ledger,
        clock,
        folder: join(config.dataDir, 'documents'),
        evidenceFolder,
        history: createHistory(store.read),
        timeZone: config.timeZone,
        version,
        epoch,
        publicKey: keys.verifying,
        sources: known,
        catchUp: () => projector.catchUp(),
        seal,
        loadProfile,
        sample,
        regimes: cases.regimes,
      },
      cases,
      evidenceFolder,
      refusal: () => refusal,
      seal,
      verify: (onProgress) =>
        verifyLedger({
          store,
          journal,
          keys: keys.instance,
          publicKey: keys.verifying,
          instance,
          epoch,
          evidenceFolder,
          ...(onProgress ? { onProgress } : {}),
        }),
      rebuild: (onProgress) => rebuild({ ...projection, ...(onProgress ? { onProgress } : {}) }),
      projectorOver: (other) => createProjector({ ...projection, store: other }),
      loadProfile,
      async warnings() {
        const failure = await readSetting(store, SEAL_FAILURE);
        return findWarnings(store.read, {
          now: clock(),
          pulled: listPulled().map(({ slug }) => slug),
          disk: await readDisk(config.dataDir),
          sealFailure: failure || null,
          refusal,
        });
      },
      attention: (source) =>
        loadOfficerAttention({
          openCases: () =>
            listCases(cases, { open: true, now: clock().toISOString(), ...(source === undefined ? {} : { source }) }),
          match: (row) => matchCase(cases, row),
          syncStatus: () =>
            loadSyncStatus(
              store.read,
              clock,
              listPulled().filter(({ slug }) => source === undefined || slug === source),
            ),
          async agreement() {
            const history = createHistory(store.read);
            const to = clock();
            const from = new Date(to.getTime() - AGREEMENT_DAYS * 86_400_000);
            const sum = { undelivered: 0, contradicting: 0 };
            for (const { slug } of listPulled()) {
              if (source !== undefined && slug !== source) continue;
              const asOf = Number.MAX_SAFE_INTEGER;
              const period = { source: slug, from: from.toISOString(), to: to.toISOString(), asOf };
              const { onlyPulled, conflicting } = await history.disagreement(period);
              sum.undelivered += onlyPulled;
              sum.contradicting += conflicting;
            }
            return sum;
          },
          async consentAfterWithdrawal() {
            const receivedFrom = new Date(clock().getTime() - AGREEMENT_DAYS * 86_400_000).toISOString();
            const found = await createHistory(store.read).consentsAfterWithdrawal({
              asOf: Number.MAX_SAFE_INTEGER,
              receivedFrom,
              ...(source === undefined ? {} : { source }),
            });
            return [...new Set(found.map(({ caseId }) => caseId))];
          },
        }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The installation's name and epoch; the name is drawn at the first start. */
async function loadIdentity(store: Store): Promise<{ instance: string; epoch: number }> {
  if ((await readSetting(store, 'instance_id')) === null) {
    const rows = [
      { name: 'instance_id', value: randomBytes(5).toString('hex') },
      { name: 'epoch', value: '1' },
    ];
    await store.transaction((tx) => tx.insertMany('settings', rows, 'keep'));
  }
  const instance = await readSetting(store, 'instance_id');
  const epoch = await readSetting(store, 'epoch');
  if (instance === null || epoch === null) throw new Error('the installation has no name');
  return { instance, epoch: Number(epoch) };
}

/** A database that `store copy` has not finished looks like the installation and lacks a part of it. */
async function assertWhole(store: Store): Promise<void> {
  if ((await readSetting(store, UNFINISHED_COPY)) === null) return;
  throw new UsageError([
    'The database is an unfinished copy: run `consent-ledger store copy` again from the installation that it is copied from.',
  ]);
}

function refusalOfMoved(name: string | null): Refusal | null {
  if (name === null) return null;
  return {
    code: 'installation-moved',
    reason: `the installation has moved to ${name}`,
    remedy: 'Set DATABASE_URL to the new database and start the server again.',
  };
}

/** A journal ahead of the database: an old backup was put back. Going on would give numbers out a second time. */
async function findRefusal(store: Store, journal: Journal): Promise<Refusal | null> {
  const note = await journal.newest();
  const head = note === null ? null : parseTreeHead(note);
  if (head === null) return null;
  const { seq } = await store.read
    .selectFrom('entries')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirstOrThrow();
  const last = Number(seq ?? 0);
  if (head.size <= last) return null;
  return {
    code: 'journal-ahead',
    reason: `the journal holds a checkpoint over ${head.size} entries, but the database ends at ${last}: it is an older state, and appending would give ${last + 1} to ${head.size} out twice`,
    remedy: 'Put the newest backup of the database back, or the journal that belongs to this one.',
  };
}

async function readDisk(folder: string): Promise<{ free: number; total: number } | null> {
  try {
    const found = await statfs(folder);
    return { free: found.bavail * found.bsize, total: found.blocks * found.bsize };
  } catch {
    return null;
  }
}
