import { statfs } from 'node:fs/promises';
import '../core/validation.ts';
import type { Surroundings } from '../attention/operator-warnings.ts';
import type { NotifyDeps } from '../attention/send-notices.ts';
import type { CaseWriting } from '../cases/view.ts';
import type { Config } from '../config/config.ts';
import { loadRegimesFile } from '../config/settings-files.ts';
import { loadVersion } from '../config/version.ts';
import { publicUrlOf } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { DocumentDeps } from '../documents/begin-document.ts';
import { takeRowsFound, takeRowsLeft } from '../erasure/erase.ts';
import type { ErasureDeps } from '../erasure/plan.ts';
import type { RetentionDeps } from '../erasure/retention.ts';
import { createJobs } from '../jobs/jobs.ts';
import { intervalOf } from '../jobs/schedule.ts';
import type { Log } from '../log/log.ts';
import { createPolicyDeps } from '../policies/callable-source.ts';
import { createSnapshotDeps } from '../policy-snapshots/fetching.ts';
import { createRejectedRing } from '../rejected/ring.ts';
import { createServiceClient } from '../service/client.ts';
import { createReadPaces } from '../service/rate-limit.ts';
import { createSources } from '../sources/sources.ts';
import { readSetting } from '../store/settings.ts';
import type { SyncDeps } from '../sync/sync-source.ts';
import { startTracing } from '../tracing/start.ts';
import { loadProfileOf } from './controller-profiles.ts';
import { createDistribution } from './engines.ts';
import { type Base, createClosers, type Identity, openIdentity } from './open-identity.ts';
import { type Ledgers, openLedger, SEAL_FAILURE } from './open-ledger.ts';
import { openReadModels, type ReadModels } from './open-read-models.ts';
import { createOutsideThread, type OutsideReaders } from './outside-thread.ts';
import { createOwnRegimes } from './own-regimes.ts';

interface ContextOptions {
  readonly clock?: Clock;
  /** Marks every page of every document SAMPLE (the demo). */
  readonly sample?: boolean;
  /** Set by the command that restores a backup. */
  readonly restoring?: boolean;
  /** False: throw UsageError if there is no installation yet, and create nothing. */
  readonly creates?: boolean;
  /** Fold entries, and read files from outside, in separate threads; for processes that receive or work until they are stopped. */
  readonly foldsInThread?: boolean;
}

/** Everything that commands, listeners and jobs need. Its parts are opened in this room and nowhere else. */
export type Context = Awaited<ReturnType<typeof openContext>>;

/** If no schedule verifies the ledger, someone has to run the verification, as often as the default schedule would. */
const VERIFY_EVERY_MS = 7 * 86_400_000;

/**
 * Opens the installation that `config` describes, creating it at the first start unless told otherwise. Throws UsageError for wrong keys or a
 * newer database, StoreUnavailable if the database cannot be opened.
 */
export async function openContext(config: Config, log: Log, options: ContextOptions = {}) {
  const {
    clock = () => new Date(),
    sample = false,
    restoring = false,
    creates = true,
    foldsInThread = false,
  } = options;
  const opened = createClosers(log);
  try {
    if (config.tracing !== null)
      opened.add('traces', await startTracing(config.tracing, { version: loadVersion(), log }));
    const base: Base = { config, log, clock, opened, foldsInThread };
    const identity = await openIdentity(base, { restoring, creates });
    const ledger = await openLedger(base, identity);
    const intake = await openIntake(base, identity, ledger);
    await takeRowsLeft({ ...identity, ...ledger });
    const models = openReadModels(base, identity, ledger);
    await models.readings.begin();
    const work = openJobs(base, identity);
    const useCases = await createUseCases({ ...base, ...identity, ...ledger, ...intake, ...models, ...work, sample });
    const overview = createOverview({ ...base, ...identity, ...ledger, ...intake, ...models, ...useCases });
    return {
      config,
      log,
      clock,
      ...identity,
      ...ledger,
      ...intake,
      ...models,
      ...work,
      ...useCases,
      ...overview,
      /** What was signed before is recorded first, and is compared with the records so far. */
      async witness(asked: Parameters<typeof ledger.witness>[0] = {}) {
        await models.projector.catchUp();
        return ledger.witness(asked);
      },
      notifying: createNotifyDeps({ ...base, ...identity, ...ledger, ...intake, ...work, ...useCases }, overview),
      /** Read what someone sent. */
      ...(foldsInThread ? createOutsideThread() : outsideHere),
      /** Finishes current work and closes everything, in the reverse order of opening. */
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Intake = Awaited<ReturnType<typeof openIntake>>;
type Work = ReturnType<typeof openJobs>;
type UseCases = Awaited<ReturnType<typeof createUseCases>>;

/** Opens the sources and the ring of refused deliveries. */
async function openIntake({ config, log, clock, opened }: Base, { store, keys }: Identity, { ledger }: Ledgers) {
  const sources = await createSources({
    store,
    ledger,
    keys: keys.instance,
    clock,
    configured: config.defaultSource,
    destinations: config.destinations,
    onRefreshError: (error) => log.warn({ err: error }, 'could not reload the sources'),
  });
  opened.add('sources', async () => sources.close());
  const rejected = createRejectedRing({
    store,
    keys: keys.instance,
    clock,
    onError: (error) => log.warn({ err: error }, 'could not write refused deliveries yet'),
  });
  opened.add('rejected', async () => rejected.close());
  return { sources, rejected };
}

function openJobs({ config, log, clock, opened }: Base, { store, instance }: Identity) {
  const distribution = createDistribution({ url: config.redisUrl, instance, clock, log });
  opened.add('distribution', async () => distribution?.close());
  return {
    jobs: createJobs({ store, clock, ...(distribution && { announce: distribution.announce }) }),
    /** How workers in other processes learn of jobs; null without REDIS_URL. */
    distribution,
  };
}

/** The use cases of each folder, with their dependencies. */
async function createUseCases(parts: Base & Identity & Ledgers & Intake & ReadModels & Work & { sample: boolean }) {
  const { config, store, ledger, clock, log, keys, projector } = parts;
  const own = config.regimesFile === null ? null : await loadRegimesFile(config.regimesFile);
  const { regimes, record } = await createOwnRegimes({ store, ledger, keys: keys.instance, clock, log, own });
  // Entries of an offboarded source can still be read, answered and put into documents.
  const find = (slug: string) => parts.sources.findAny(slug);
  const loadProfile = (source: Source | null) => loadProfileOf(config, source);
  const { timeZone } = config;
  const cases: CaseWriting = {
    store,
    ledger,
    clock,
    jobs: parts.jobs,
    regimes,
    timeZone,
    profileOf: (source) => loadProfile(find(source)),
    recipeOf: (source) => find(source)?.options.subjectRecipe ?? null,
  };
  const documents: DocumentDeps = {
    read: store.read,
    ledger,
    clock,
    folder: parts.documentsFolder,
    evidenceFolder: parts.evidenceFolder,
    timeZone,
    version: parts.version,
    epoch: parts.epoch,
    publicKey: keys.verifying,
    proofs: parts,
    readModelsFault: () => parts.readModels.fault(),
    sources: { find, first: () => parts.sources.first() },
    async catchUp() {
      await record();
      const position = await projector.catchUp();
      await takeRowsFound({ store, ledger });
      return position;
    },
    seal: parts.seal,
    loadProfile,
    sample: parts.sample,
    regimes,
  };
  const sync = createSyncDeps(parts, cases);
  const erasure: RetentionDeps = {
    store,
    ledger,
    clock,
    dataDir: config.dataDir,
    instance: parts.instance,
    epoch: parts.epoch,
    documentsFolder: parts.documentsFolder,
    evidenceFolder: parts.evidenceFolder,
    backupKeep: backupKeepOf(config.backup),
    projector,
    rebuild: () => parts.rebuild(),
    rejected: parts.rejected,
    recipeOf: cases.recipeOf,
    timeZone,
    regimes,
    listSources: () => parts.sources.list(),
    loadProfile,
  };
  return {
    cases,
    erasure,
    documents,
    sync,
    /** Records the deadline rules of the installation if they changed. Called at the start, and before each document. */
    recordRegimes: record,
    policies: createPolicyDeps({ ...parts, destinations: parts.config.destinations }),
    snapshots: createSnapshotDeps({ ...parts, destinations: parts.config.destinations }),
    loadProfile,
  };
}

function createSyncDeps(
  { config, store, ledger, clock, log, projector, sources }: Base & Identity & Ledgers & Intake & ReadModels,
  { recipeOf }: CaseWriting,
): SyncDeps {
  const paceOf = createReadPaces();
  return {
    store,
    ledger,
    clock,
    lookBackMs: config.syncLookBackHours * 3_600_000,
    catchUp: () => projector.catchUp(),
    recipeOf,
    isKeyShared: ({ slug }) => sources.sharingKey().has(slug),
    serviceFor: ({ source, baseUrl, apiKey }) =>
      createServiceClient({
        baseUrl,
        destinations: config.destinations,
        apiKey,
        pace: paceOf(baseUrl, apiKey),
        onRetry: (error, attempt) =>
          log.warn({ source: source.slug, attempt, reason: error.message }, 'retrying a request to the service'),
      }),
  };
}

/** What needs the attention of operator and officer. */
function createOverview(parts: Base & Identity & Ledgers & Intake & ReadModels & UseCases) {
  const { config, store, clock, cases } = parts;
  const listPulled = () => parts.sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);
  async function surroundings(): Promise<Surroundings> {
    const [disk, sealFailure, verification, comparison, waiting, witnessing] = await Promise.all([
      readDisk(config.dataDir),
      readSetting(store, SEAL_FAILURE),
      parts.lastVerification(),
      parts.readModels.last(),
      parts.readings.pending(),
      config.witnesses === null ? null : parts.witnessState(),
    ]);
    return {
      now: clock(),
      timeZone: config.timeZone,
      pulled: listPulled().map(({ slug }) => slug),
      disk,
      sealFailure: sealFailure || null,
      verification,
      verifyEveryMs:
        config.verifySchedule === null ? VERIFY_EVERY_MS : intervalOf(config.verifySchedule, config.timeZone, clock()),
      comparison,
      isReadingPending: waiting !== null,
      refusal: parts.refusal(),
      witnessing:
        witnessing === null ? null : { state: witnessing, epoch: parts.epoch, maxAgeHours: config.witnessMaxAgeHours },
    };
  }
  return {
    listPulled,
    surroundings,
    // These load a third of the program, which most commands do not need.
    async warnings(around?: Surroundings | Promise<Surroundings>) {
      const { findWarnings } = await import('../attention/operator-warnings.ts');
      // Not before: nobody would hear of a failure until the import ends, and the process would end.
      return findWarnings(store.read, around ?? surroundings());
    },
    /** For some sources or all. Throws UsageError like loadProfile. */
    async attention(of?: readonly string[]) {
      const { loadOfficerAttention } = await import('../attention/officer-attention.ts');
      return loadOfficerAttention({ cases, clock, followed: parts.sources.list(), pulled: listPulled() }, of);
    },
  };
}

/** Which notices are sent to people, and through which channels. */
function createNotifyDeps(
  parts: Base & Identity & Ledgers & Intake & Work & UseCases,
  { warnings, listPulled }: ReturnType<typeof createOverview>,
): NotifyDeps {
  const { config, cases, clock, keys } = parts;
  const { mail, notify, checkpointMail, adminHost, adminPort } = config;
  return {
    store: parts.store,
    jobs: parts.jobs,
    clock,
    timeZone: config.timeZone,
    channels: { mail, chatUrl: notify.chatUrl, webhook: notify.webhook },
    checkpointMailTo: checkpointMail.to,
    adminUrl:
      config.adminUrl ?? (adminPort === 0 ? null : publicUrlOf({ publicUrl: null, host: adminHost }, adminPort)),
    instance: parts.instance,
    sourceName: (slug) => parts.sources.findAny(slug)?.name ?? slug,
    epoch: parts.epoch,
    verifierKey: parts.verifierKey,
    seal: parts.seal,
    async find() {
      const { findNotices } = await import('../attention/find-notices.ts');
      return findNotices({ cases, clock, keys, pulled: listPulled(), warnings: await warnings() });
    },
  };
}

/** How long scheduled backups are kept; null: none are scheduled here. */
function backupKeepOf({ folder, bucket, keep, lock }: Config['backup']): ErasureDeps['backupKeep'] {
  if (folder === null && bucket === null) return null;
  return bucket === null || lock === null ? keep : { ...keep, lockedDays: lock.days };
}

/** Without a thread, for a command that does nothing else meanwhile. Imported when needed, as most commands need none of it. */
const outsideHere: OutsideReaders = {
  readOutsideFile: async (path) => (await import('../documents/outside-file.ts')).readOutsideFile(path),
  readBulkItems: async (bytes, called) =>
    (await import('../policies/bulk-file.ts')).parseBulkItems(Buffer.from(bytes), called),
  discoverFields: async (...of) => (await import('../../receivers/discover/discover.ts')).discover(...of),
  readOneDelivery: async (...of) => (await import('../../receivers/read.ts')).readDelivery(...of),
};

async function readDisk(folder: string): Promise<{ free: number; total: number } | null> {
  try {
    const found = await statfs(folder);
    return { free: found.bavail * found.bsize, total: found.blocks * found.bsize };
  } catch {
    return null;
  }
}
