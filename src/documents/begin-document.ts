import type { KeyObject } from 'node:crypto';
import { type CheckpointToPrint, type DocumentInput, digestOf } from '../../reports/report.ts';
import type { Clock } from '../core/clock.ts';
import type { Source, SourceOptions } from '../core/source.ts';
import { keyHashOf, parseTreeHead, verifierKeyOf } from '../crypto/checkpoint.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { RegimeTable } from '../law/regime-table.ts';
import type { Condition } from '../ledger/append-action.ts';
import { type Cited, createCited, ErasedMeanwhile, UntrustedEntry } from '../ledger/cited.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ProofOptions } from '../ledger/prove-entry.ts';
import { createHistory } from '../store/queries/history.ts';
import type { Query, StoreTransaction } from '../store/store.ts';

/** Something that the document would cite was altered: nothing is produced. */
export type RefusedDocument = { readonly outcome: 'refused'; readonly problem: string };

/** How often a document is begun: each time, another erasure must end before it does. */
const TRIES = 5;

/**
 * The result of `produce`, from its reading of the ledger to the registration; a refusal if it would cite an altered
 * entry. If one of the entries is erased meanwhile, it begins again without that.
 */
export async function refusing<T>(produce: () => Promise<T>): Promise<T | RefusedDocument> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await produce();
    } catch (error) {
      if (error instanceof ErasedMeanwhile && tries < TRIES) continue;
      if (error instanceof UntrustedEntry) return { outcome: 'refused', problem: error.message };
      throw error;
    }
  }
}

/** What producing documents needs. */
export interface DocumentDeps {
  readonly read: Query;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** DATA_DIR/documents. */
  readonly folder: string;
  /** DATA_DIR/evidence. */
  readonly evidenceFolder: string;
  readonly timeZone: string;
  readonly version: string;
  readonly epoch: number;
  readonly publicKey: KeyObject;
  /** Options for checking entries before a document cites them. */
  readonly proofs: ProofOptions;
  /** Compares the read models with the ledger if due; a sentence if they differ. */
  readonly readModelsFault: () => Promise<string | null>;
  readonly sources: { find(slug: string): Source | null; first(): string | null };
  /** Projects everything appended so far, without what was erased; resolves with the position. */
  readonly catchUp: () => Promise<number>;
  /** Seals everything appended so far. */
  readonly seal: () => Promise<unknown>;
  /** Throws if a job produces the document and another worker has taken the job over. */
  readonly assertHeld?: () => Promise<void>;
  /** Decides in that transaction whether the document may be registered. */
  readonly allowedIf?: Condition;
  /** The parts of the key of a form that makes one document, however often it is sent. */
  readonly formKey?: readonly string[];
  /**
   * Called in the transaction that registers the document: completes a job at the same time, so that repeating it does
   * not make a second document.
   */
  readonly registeredIn?: (tx: StoreTransaction, document: RegisteredDocument) => Promise<void>;
  readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
  /** Marks every page SAMPLE. */
  readonly sample: boolean;
  readonly regimes: RegimeTable;
}

/** A registered document: the file, and the entry with its hash. */
export interface RegisteredDocument {
  readonly documentId: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The last entry that the document takes into account. */
  readonly asOf: number;
  /** The entry `document.produced`. */
  readonly seq: number;
  /** Everything from which it was made besides the entries up to asOf. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A source that does not exist. */
export type UnknownSource = { readonly outcome: 'unknown-source'; readonly source: string };

/** When a document is made, and up to which entry; absent: now, and all entries. See {@link madeBefore}. */
export interface FrameRequest {
  readonly asOf?: number | undefined;
  /** ISO 8601 UTC. Reproduces a document as it was made then. */
  readonly madeAt?: string | undefined;
}

/** An impossible time: earlier than something in the document, or in the future. */
export type InvalidTime = { readonly outcome: 'invalid'; readonly problem: string };

/**
 * The input of every document, as of an entry and a time. Its checkpoint is the last one up to that entry, so that the
 * same document can be reproduced byte for byte.
 */
export async function frameOf(
  deps: DocumentDeps,
  slug: string,
  wanted: FrameRequest,
): Promise<(DocumentInput & { readonly cited: Cited }) | UnknownSource | InvalidTime> {
  const source = deps.sources.find(slug);
  if (source === null) return { outcome: 'unknown-source', source: slug };
  const position = await deps.catchUp();
  await deps.seal();
  const asOf = Math.min(wanted.asOf ?? position, position);
  const now = deps.clock().toISOString();
  if (wanted.madeAt !== undefined) {
    const problem = await problemOfTime(deps, wanted.madeAt, asOf, now);
    if (problem !== null) return { outcome: 'invalid', problem };
  }
  const cited = createCited(asOf, position);
  const history = createHistory(cited.over(deps.read));
  return {
    cited,
    source: slug,
    sourceName: source.name,
    asOf,
    timeZone: deps.timeZone,
    generatedAt: wanted.madeAt ?? now,
    version: deps.version,
    profile: await deps.loadProfile(source),
    history,
    bannerNames: await history.bannerNames({ source: slug, asOf }),
    checkpoint: await lastCheckpoint(deps, asOf),
    sample: deps.sample,
    regimes: deps.regimes,
    mappingSha256: mappingDigest(source.options),
    language: 'en',
  };
}

/**
 * The parameters with which a document requested as of an entry was first made. It is reproduced with its date, unless
 * another is given. Null: it never was, so it is dated now.
 */
export async function madeBefore(
  { read }: Pick<DocumentDeps, 'read'>,
  asked: { source: string; name: string; format: string; asOf: number; caseId: string | null },
  parameters: Readonly<Record<string, string | null>>,
): Promise<(Readonly<Record<string, unknown>> & { readonly madeAt: string }) | null> {
  let query = read
    .selectFrom('documents')
    .select('parameters')
    .where('source', '=', asked.source)
    .where('name', '=', asked.name)
    .where('format', '=', asked.format)
    .where('as_of', '=', asked.asOf);
  query = asked.caseId === null ? query.where('case_id', 'is', null) : query.where('case_id', '=', asked.caseId);
  for (const row of await query.orderBy('seq').execute()) {
    const known = JSON.parse(row.parameters) as Record<string, unknown>;
    const same = Object.entries(parameters).every(([name, value]) => (known[name] ?? null) === value);
    if (same && typeof known['madeAt'] === 'string') return { ...known, madeAt: known['madeAt'] };
  }
  return null;
}

async function problemOfTime(deps: DocumentDeps, madeAt: string, asOf: number, now: string): Promise<string | null> {
  if (madeAt > now) return `The time ${madeAt} is in the future: use a past time.`;
  const row = await deps.read.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
  return row !== undefined && madeAt < row.received_at
    ? `Entry ${asOf} was received at ${row.received_at}: a document as of it cannot have been made at ${madeAt}.`
    : null;
}

/** Without the salt of the recipe: a digest in the ledger must not allow testing salts. */
function mappingDigest(options: SourceOptions): string {
  const { fieldNames, eventNames, assumedOffset, subjectRecipe, necessaryPurposes } = options;
  const recipe = subjectRecipe === null ? null : { ...subjectRecipe, salt: subjectRecipe.salt !== '' };
  const necessary = necessaryPurposes === undefined ? {} : { necessaryPurposes };
  return digestOf({ fieldNames, eventNames: eventNames ?? {}, assumedOffset, recipe, ...necessary });
}

/** The last checkpoint up to an entry, as printed in documents. */
export async function lastCheckpoint(
  deps: Pick<DocumentDeps, 'read' | 'publicKey'>,
  asOf: number,
): Promise<CheckpointToPrint | null> {
  const row = await deps.read
    .selectFrom('checkpoints')
    .select(['size', 'root', 'note'])
    .where('size', '<=', asOf)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const origin = parseTreeHead(row.note)?.origin ?? '';
  return {
    note: row.note,
    size: row.size,
    rootHex: row.root.toString('hex'),
    keyId: keyHashOf(origin, deps.publicKey).toString('hex'),
    verifierKey: verifierKeyOf(origin, deps.publicKey),
  };
}
