import { join } from 'node:path';
import type { AppendRefusal } from '../attention/operator-warnings.ts';
import { UsageError } from '../core/errors.ts';
import type { OpenPlace, Post } from '../ledger/ask-witness.ts';
import { readWitnessState, witnessNewest } from '../ledger/cosigned-checkpoints.ts';
import { createHighWater } from '../ledger/high-water.ts';
import { pinIdentity } from '../ledger/identity.ts';
import { createJournal } from '../ledger/journal.ts';
import { createLedger } from '../ledger/ledger.ts';
import { type Sealing, sealLedger } from '../ledger/seal.ts';
import { openTree } from '../ledger/tree.ts';
import { noteVerification, readLastVerification } from '../ledger/verify/last-verification.ts';
import type { Verification, VerifyOptions } from '../ledger/verify/verify-ledger.ts';
import { witnessPolicyIn } from '../ledger/witness-policy.ts';
import type { Log } from '../log/log.ts';
import { bucketOfCopies, openBucket } from '../outside/bucket.ts';
import { exchange } from '../service/outgoing-http.ts';
import { MOVED_TO, readSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import {
  findLoss,
  findRefusal,
  identityRefusal,
  refusalOfLoss,
  refusalOfMoved,
  refusalOfSchema,
  sentenceOf,
} from './append-refusals.ts';
import { highWaterPath, verifierKeyPath } from './data-directory.ts';
import type { Base, Identity } from './open-identity.ts';

/** The setting that holds why the last sealing was refused. */
export const SEAL_FAILURE = 'seal_failure';

export type Ledgers = Awaited<ReturnType<typeof openLedger>>;

/** Opens the ledger and its journal, and finds out whether it may grow. */
export async function openLedger({ config, log, clock, opened }: Base, identity: Identity) {
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
    cosigned: async () => ({ folder: witnessedFolder, policy: await witnessPolicy() }),
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
