import { randomBytes } from 'node:crypto';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import '../core/validation.ts';
import type { AppendRefusal, Surroundings } from '../attention/operator-warnings.ts';
import type { NotifyDeps } from '../attention/send-notices.ts';
import type { CaseWriting } from '../cases/view.ts';
import { type Config, controllerFileOf } from '../config/config.ts';
import { loadKeys } from '../config/load-keys.ts';
import { loadControllerFile, loadRegimesFile } from '../config/settings-files.ts';
import { loadVersion } from '../config/version.ts';
import { publicUrlOf } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { originOf, parseTreeHead, readCheckpoint, verifierKeyOf } from '../crypto/checkpoint.ts';
import type { DocumentDeps } from '../documents/begin-document.ts';
import { takeRowsFound, takeRowsLeft } from '../erasure/erase.ts';
import type { ErasureDeps } from '../erasure/plan.ts';
import type { RetentionDeps } from '../erasure/retention.ts';
import { createJobs } from '../jobs/jobs.ts';
import { intervalOf } from '../jobs/schedule.ts';
import { closeWithin } from '../jobs/time-limits.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { OpenPlace, Post } from '../ledger/ask-witness.ts';
import type { Loss } from '../ledger/commit.ts';
import { readWitnessState, witnessNewest } from '../ledger/cosigned-checkpoints.ts';
import { parseOrigin } from '../ledger/epochs.ts';
import { createHighWater, type HighWater } from '../ledger/high-water.ts';
import { pinIdentity } from '../ledger/identity.ts';
import { createJournal, type Journal } from '../ledger/journal.ts';
import { createLedger } from '../ledger/ledger.ts';
import { type Sealing, sealLedger } from '../ledger/seal.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import { openTree } from '../ledger/tree.ts';
import { noteVerification, readLastVerification } from '../ledger/verify/last-verification.ts';
import type { Verification, VerifyOptions } from '../ledger/verify/verify-ledger.ts';
import { witnessPolicyIn } from '../ledger/witness-policy.ts';
import type { Log } from '../log/log.ts';
import { bucketOfCopies, openBucket } from '../outside/bucket.ts';
import { createPolicyDeps } from '../policies/callable-source.ts';
import { createSnapshotDeps } from '../policy-snapshots/fetching.ts';
import { createReadModelCheck } from '../projections/last-check.ts';
import { createReadings } from '../projections/readings.ts';
import { compareWithRebuild, inTurn, type RebuildReport, rebuild } from '../projections/rebuild.ts';
import { createProjector, pauseFor } from '../projections/run.ts';
import { createRejectedRing } from '../rejected/ring.ts';
import { createServiceClient } from '../service/client.ts';
import { exchange } from '../service/outgoing-http.ts';
import { createReadPaces } from '../service/rate-limit.ts';
import { createOptionsInForce } from '../sources/options-in-force.ts';
import { createSources } from '../sources/sources.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { MOVED_TO, readSetting, UNFINISHED_COPY, UNFINISHED_RESTORE, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { SyncDeps } from '../sync/sync-source.ts';
import { startTracing } from '../tracing/start.ts';
import { tracedFold } from '../tracing/trace.ts';
import { assertSharedDirectory, highWaterPath, publishVerifierKey, verifierKeyPath } from './data-directory.ts';
import { assertInstallationBegun, createDistribution, noInstallationIn, openStore } from './engines.ts';
import { createOutsideThread, type OutsideReaders } from './outside-thread.ts';
import { createOwnRegimes } from './own-regimes.ts';
import { createProjectorThread } from './projector-thread.ts';

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

/** Everything that commands, listeners and jobs need. Its parts are opened here and nowhere else. */
export type Context = Awaited<ReturnType<typeof openContext>>;

/** If no schedule verifies the ledger, someone has to run the verification, as often as the default schedule would. */
const VERIFY_EVERY_MS = 7 * 86_400_000;

const SEAL_FAILURE = 'seal_failure';

/**
 * Milliseconds that a part may take to close; the store may take longer, because SQLite then writes its log into the
 * database file.
 */
const CLOSE_MS = 10_000;
const STORE_CLOSE_MS = 30_000;

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

/** Passed to every step of opening. */
interface Base {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly opened: Closers;
  readonly foldsInThread: boolean;
}
type Identity = Awaited<ReturnType<typeof openIdentity>>;
type Ledgers = Awaited<ReturnType<typeof openLedger>>;
type Intake = Awaited<ReturnType<typeof openIntake>>;
type ReadModels = ReturnType<typeof openReadModels>;
type Work = ReturnType<typeof openJobs>;
type UseCases = Awaited<ReturnType<typeof createUseCases>>;

/** If a part does not close in time, the others are closed anyway. */
function createClosers(log: Log) {
  const opened: { readonly part: string; readonly close: () => Promise<unknown> }[] = [];
  return {
    add(part: string, close: () => Promise<unknown>): void {
      opened.push({ part, close });
    },
    async close(): Promise<void> {
      for (const { part, close } of opened.splice(0).reverse())
        await closeWithin(part === 'store' ? STORE_CLOSE_MS : CLOSE_MS, part, close, log);
    },
  };
}

type Closers = ReturnType<typeof createClosers>;

/** Opens the database, the matching keys and the identity of this installation. */
async function openIdentity(
  { config, opened }: Base,
  { restoring, creates }: { readonly restoring: boolean; readonly creates: boolean },
) {
  if (!creates) await assertInstallationBegun(config);
  const store = await openStore(config.database);
  opened.add('store', async () => store.close());
  if (!restoring) await assertWhole(store);
  if (!creates && (await readSetting(store, 'instance_id')) === null) throw noInstallationIn(config);
  const keys = await loadKeys(config, store);
  /** `instance`: random name of this installation, part of every checkpoint's origin. */
  const { instance, epoch } = await loadIdentity(store);
  if (store.engine === 'postgres') await assertSharedDirectory(store, config.dataDir, instance);
  const verifierKey = verifierKeyOf(originOf(instance, epoch), keys.verifying);
  await publishVerifierKey(config.dataDir, verifierKey);
  return {
    store,
    keys,
    instance,
    epoch,
    /** The key for checking its checkpoints, in the form used by C2SP tools. */
    verifierKey,
    /** Version of this program. */
    version: loadVersion(),
    /** DATA_DIR/evidence: files that entries commit to by their SHA-256. */
    evidenceFolder: join(config.dataDir, 'evidence'),
    documentsFolder: join(config.dataDir, 'documents'),
  };
}

async function openLedger({ config, log, clock, opened }: Base, identity: Identity) {
  const { store, keys, instance, epoch, evidenceFolder, documentsFolder } = identity;
  const journal = createJournal(join(config.dataDir, 'journal'));
  const seen = createHighWater(highWaterPath(config.dataDir));
  opened.add('high-water mark', async () => seen.close());
  let refusal =
    refusalOfMoved(await readSetting(store, MOVED_TO)) ??
    ((await pinIdentity(store, journal, keys.instance, { instance, epoch, publicKey: keys.verifying }))
      ? null
      : identityRefusal) ??
    (await findRefusal(store, journal, instance, epoch)) ??
    (await findLoss(store, seen)) ??
    refusalOfSchema(await store.schemaDifferences({ quick: true }));
  const ledger = createLedger({
    store,
    keys: keys.instance,
    refuse: () => (refusal === null ? null : sentenceOf(refusal)),
    seen,
    onLost: (loss) => refuseAfter(refusalOfLoss(loss)),
  });
  /** Refuses appends from now on if the database ends below what any process saw. */
  async function noticeLoss(): Promise<void> {
    const lost = refusal === null ? await findLoss(store, seen) : null;
    if (lost !== null) refuseAfter(lost);
  }
  function refuseAfter(found: AppendRefusal): void {
    refusal = found;
    log.error({ code: found.code }, sentenceOf(found));
  }
  opened.add('ledger', async () => ledger.close());
  const sealed = { store, journal, instance, epoch };
  /** Seals all appended entries; a refusal is kept for the warnings. */
  const seal = async (): Promise<Sealing> => {
    await noticeLoss();
    const sealing = await sealLedger({
      ...{ ...sealed, appendKey: keys.instance.append, signingKey: keys.signing, clock },
      seen: seen.highest(),
    });
    await noteSealing(store, sealing, log);
    return sealing;
  };
  const openPlace: OpenPlace = (address) => bucketOfCopies(openBucket(config.storage, address), config.checkpointLock);
  const witnessedFolder = join(config.dataDir, 'witnessed');
  /** The policy named by WITNESSES, or in another file; null if not set. Throws UsageError if the file is invalid. */
  const witnessPolicy = (path = config.witnesses) => witnessPolicyIn(path);
  const verifyStore = async (
    of: Pick<VerifyOptions, 'since' | 'upTo' | 'onProgress'> & { readonly store?: Store },
  ): Promise<Verification> => {
    const { verifyLedger } = await import('../ledger/verify/verify-ledger.ts');
    return verifyLedger({
      witnessed: { folder: witnessedFolder, policy: await witnessPolicy(), openPlace },
      ...sealed,
      keys: keys.instance,
      now: clock(),
      publicKey: keys.verifying,
      evidenceFolder,
      documentsFolder,
      erasuresFolder: join(config.dataDir, 'erasures'),
      keyFile: verifierKeyPath(config.dataDir),
      ...of,
    });
  };
  return {
    ledger,
    journal,
    /** Why appends are refused at the moment; null if they are not. */
    refusal: () => refusal,
    noticeLoss,
    seal,
    witnessPolicy,
    /** What witnesses have signed, for proofs. */
    cosigned: async () => ({ folder: witnessedFolder, policy: await witnessPolicy(), now: clock() }),
    /** How far checkpoints have been witnessed, according to the last runs. */
    witnessState: () => readWitnessState(store),
    /**
     * Seals, and shows the newest checkpoint to the witnesses of WITNESSES or of another file. `again`: also to those
     * that have seen it. Throws UsageError without a valid policy.
     */
    async witness({ path = config.witnesses, again = false }: { path?: string | null; again?: boolean } = {}) {
      const policy = await witnessPolicy(path);
      if (policy === null)
        throw new UsageError(['WITNESSES is not set: set it to a file with witnesses (docs/proofs.md).']);
      const tree = () => openTree(store.read);
      const deps = {
        store,
        ledger,
        epoch,
        folder: witnessedFolder,
        seal,
        tree,
        publicKey: keys.verifying,
        post,
        openPlace,
        clock,
      };
      return witnessNewest(deps, policy, { again });
    },
    /** The last verification of the whole ledger; null if there was none. */
    lastVerification: () => readLastVerification(store, ledger),
    verify: async (onProgress?: (done: number, total: number) => void, since = 0) => {
      const at = clock().toISOString();
      const found = await verifyStore({ since, ...(onProgress ? { onProgress } : {}) });
      if (found.since === 0)
        await noteVerification(store, ledger, { at, faults: found.faults.length + found.moreFaults }).catch(
          (error: unknown) => log.warn({ err: error }, 'could not note the verification'),
        );
      return found;
    },
    /** Verifies a copy of the database, which has entries up to `upTo`, with the same keys and files. */
    verifyCopy: (copy: Store, of: { upTo: number; since: number; onProgress: (done: number, total: number) => void }) =>
      verifyStore({ ...of, store: copy }),
  };
}

const WITNESS_REQUEST_MS = 20_000;
const WITNESS_ANSWER_BYTES = 64 * 1024;

const post: Post = async (url, body, contentType) => {
  const { status, bytes } = await exchange({
    url,
    // From the operator’s file WITNESSES.
    destinations: 'anywhere',
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
    timeoutMs: WITNESS_REQUEST_MS,
    maxBytes: WITNESS_ANSWER_BYTES,
  });
  return { status, bytes: bytes ?? Buffer.alloc(0) };
};

async function noteSealing(store: Store, sealing: Sealing, log: Log): Promise<void> {
  const failure = sealing.outcome === 'refused' ? `entry ${sealing.seq}: ${sealing.reason}` : '';
  if (sealing.outcome === 'refused') log.error({ seq: sealing.seq }, `not sealed: ${failure}`);
  if (failure !== ((await readSetting(store, SEAL_FAILURE)) ?? '')) await writeSetting(store, SEAL_FAILURE, failure);
}

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

async function sealedEntries({ store, keys }: Pick<Identity, 'store' | 'keys'>): Promise<number> {
  const newest = await newestCheckpoint(store.read);
  const reading = newest === null ? null : readCheckpoint(newest.note, keys.verifying);
  return reading?.outcome === 'valid' ? reading.head.size : 0;
}

function openReadModels(
  { config, log, clock, opened, foldsInThread }: Base,
  { store, keys }: Identity,
  { ledger }: Ledgers,
) {
  // Created for each fold: its cache of the ledger must not survive a change of the database from outside.
  const rules = (over: Store) => ({ store: over, optionsUpTo: createOptionsInForce(over.read), log });
  const readings = createReadings({
    store,
    ledger,
    clock,
    optionsUpTo: () => createOptionsInForce(store.read),
    rebuild: (onProgress, takesOver) => rebuildOnly(onProgress, takesOver),
  });
  const readModels = createReadModelCheck({
    store,
    pendingReading: () => readings.pending(),
    ledger,
    clock,
    sealedEntries: () => sealedEntries({ store, keys }),
    compare: (takesOver, onProgress) =>
      thread !== null
        ? thread.compare(takesOver, onProgress)
        : compareWithRebuild({ ...rules(store), takesOver, ...(onProgress ? { onProgress } : {}) }),
  });
  type OnProgress = (done: number, total: number) => void;
  const rebuildOnly = async (onProgress?: OnProgress, takesOver = true): Promise<RebuildReport> => {
    const report =
      thread !== null
        ? await thread.rebuild(takesOver, onProgress)
        : await rebuild({ ...rules(store), takesOver, ...(onProgress ? { onProgress } : {}) });
    await readModels.note(null);
    return report;
  };
  // Whatever folds everything again also puts a new reading in force, and records what changes.
  const rebuildAll = async (onProgress?: OnProgress, takesOver = true): Promise<RebuildReport> => {
    const adopted = await readings.adopt('consent-ledger', { takesOver, ...(onProgress ? { onProgress } : {}) });
    return adopted?.report ?? rebuildOnly(onProgress, takesOver);
  };
  const onMisplaced = async (reason: string) => {
    // Prevents documents until the rebuild is finished, even if the process ends before.
    await readModels.note(reason);
    await rebuildAll();
  };
  const thread = foldsInThread ? createProjectorThread({ database: config.database, log, onMisplaced }) : null;
  const projector =
    thread ??
    createProjector({ ...rules(store), onMisplaced, ...(config.tracing === null ? {} : { onFolded: tracedFold }) });
  opened.add('projector', async () => projector.close());
  ledger.pauseBy(() => pauseFor(projector.behindMs()));
  return {
    projector,
    rebuild: rebuildAll,
    /** Like rebuild, but waits for a rebuild or comparison that runs elsewhere, and starts again if another takes over. */
    rebuildInTurn: (onProgress: OnProgress, waiting: { readonly signal: AbortSignal; readonly onWait: () => void }) =>
      inTurn(store, (takesOver) => rebuildAll(onProgress, takesOver), waiting),
    /** Whether they match the ledger. */
    readModels,
    /** What this version reads differently from an earlier one. */
    readings,
    /** A projector with the same rules for another store. */
    projectorOver: (other: Store) => createProjector(rules(other)),
  };
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
    sources: { find },
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

/** The controller profile of a source; null if none is configured. Rejects with UsageError if the file is invalid. */
async function loadProfileOf(config: Config, source: Source | null): Promise<ControllerProfile | null> {
  const { path, isNamed } = controllerFileOf(config, source);
  const key = `${isNamed} ${path}`;
  const asked = loading.get(key) ?? loadProfileAt(path, isNamed);
  if (loading.size === 0) queueMicrotask(() => loading.clear());
  loading.set(key, asked);
  return asked;
}

/** Profiles asked for in this turn, by file: a list of requests asks for those of all sources, which usually share one. */
const loading = new Map<string, Promise<ControllerProfile | null>>();

async function loadProfileAt(path: string, isNamed: boolean): Promise<ControllerProfile | null> {
  const version = await stat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    (error: unknown) => (!isNamed && codeOf(error) === 'ENOENT' ? null : String(error)),
  );
  if (version === null) return null;
  const kept = profiles.get(path);
  if (kept?.version === version) return kept.profile;
  const loaded = await loadControllerFile(path);
  if (loaded.outcome === 'invalid') throw new UsageError(loaded.problems);
  profiles.set(path, { version, profile: loaded.value });
  return loaded.value;
}

/** Profiles as last read, by file: a list of requests needs those of all sources. */
const profiles = new Map<string, { readonly version: string; readonly profile: ControllerProfile }>();

/** The installation's name and epoch; the name is generated at the first start. */
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

/** Refuses a database that `store copy` or `restore` has not finished: it looks like the installation but is incomplete. */
async function assertWhole(store: Store): Promise<void> {
  if ((await readSetting(store, UNFINISHED_RESTORE)) !== null)
    throw new UsageError(['A restore into this database did not finish: run `consent-ledger restore` again.']);
  if ((await readSetting(store, UNFINISHED_COPY)) === null) return;
  throw new UsageError([
    'The database is an unfinished copy: run `consent-ledger store copy` again from the original installation.',
  ]);
}

function refusalOfMoved(name: string | null): AppendRefusal | null {
  if (name === null) return null;
  return {
    code: 'installation-moved',
    reason: `the installation has moved to ${name}`,
    remedy:
      'Set DATABASE_URL to the new database and start the server again. To undo the move, run `consent-ledger store reopen` (docs/scaling.md).',
  };
}

/** What a command that could not append says. */
function sentenceOf({ reason, remedy }: AppendRefusal): string {
  return `The ledger refuses new entries: ${reason}. ${remedy}`;
}

/** Sealing under another name would ignore every earlier checkpoint. */
const identityRefusal: AppendRefusal = {
  code: 'identity-altered',
  reason: 'the ledger’s name or epoch in the database (instance_id, epoch) differs from the pinned one',
  remedy:
    'Restore the newest backup of the database, or the settings that match the checkpoints in DATA_DIR/journal, and start again.',
};

/** Without a thread, for a command that does nothing else meanwhile. Imported when needed, as most commands need none of it. */
const outsideHere: OutsideReaders = {
  readOutsideFile: async (path) => (await import('../documents/outside-file.ts')).readOutsideFile(path),
  readBulkItems: async (bytes, called) =>
    (await import('../policies/bulk-file.ts')).parseBulkItems(Buffer.from(bytes), called),
  discoverFields: async (...of) => (await import('../../receivers/discover/discover.ts')).discover(...of),
  readOneDelivery: async (...of) => (await import('../../receivers/read.ts')).readDelivery(...of),
};

/** The journal is ahead of the database: an old backup was restored. Continuing would assign numbers a second time. */
async function findRefusal(
  store: Store,
  journal: Journal,
  instance: string,
  epoch: number,
): Promise<AppendRefusal | null> {
  const note = await journal.newest(epoch);
  const head = note === null ? null : parseTreeHead(note);
  // Entries that an earlier epoch signed beyond its end were lost when this one began, as its first entry records.
  const named = head === null ? null : parseOrigin(head.origin);
  if (head === null || (named?.instance === instance && named.epoch < epoch)) return null;
  const last = await lastSeq(store.read);
  if (head.size <= last) return null;
  return {
    code: 'journal-ahead',
    reason: `the journal holds a checkpoint over ${head.size} entries, but the database ends at ${last}: the database is in an older state, and appending would assign ${last + 1} to ${head.size} a second time`,
    remedy:
      'Restore the newest backup of the database, or the journal that belongs to this one. If what is missing is lost for good, `consent-ledger restore --database-as-it-is` records the loss and continues.',
  };
}

/** The database is behind what a process saw: its tail was lost, as in a fail-over to a replica that lacked it. */
async function findLoss(store: Store, seen: HighWater): Promise<AppendRefusal | null> {
  // Read in this order: a mark is noted after its entry was committed.
  const highest = seen.highest();
  const end = await lastSeq(store.read);
  return end < highest ? refusalOfLoss({ end, seen: highest }) : null;
}

function refusalOfLoss({ end, seen }: Loss): AppendRefusal {
  return {
    code: 'journal-ahead',
    reason: `the database ends at ${end}, but entries up to ${seen} were stored: ${end + 1} to ${seen} are missing, as after a fail-over to a replica that lacked them, and appending would assign these numbers a second time`,
    remedy:
      'Return to the database that has them and restart, or restore the newest backup. If they are lost for good, stop all processes; `consent-ledger restore --database-as-it-is` records the loss and continues as a new epoch. The next sync then pulls the lost rows of the consent log again.',
  };
}

/**
 * Objects attached to our tables (a trigger, for instance) could drop or alter deliveries that were acknowledged as
 * stored.
 */
function refusalOfSchema(differences: readonly string[]): AppendRefusal | null {
  if (differences.length === 0) return null;
  const more = differences.length > 3 ? `, and ${differences.length - 3} more` : '';
  return {
    code: 'schema-altered',
    reason: `the database schema differs from the one this program creates: ${differences.slice(0, 3).join('; ')}${more}`,
    remedy:
      'Find out who changed it, undo the change or restore a backup, and start again. `consent-ledger ledger verify` lists every difference.',
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
