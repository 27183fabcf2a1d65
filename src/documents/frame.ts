import type { CheckpointToPrint, DocumentInput } from '../../reports/report.ts';
import { keyHashOf, parseTreeHead } from '../core/checkpoint.ts';
import type { Clock } from '../core/clock.ts';
import type { ControllerProfile } from '../core/profile.ts';
import type { RegimeTable } from '../core/regime-table.ts';
import type { Source } from '../core/source.ts';
import type { KeyObject } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, StoreTransaction } from '../store/store.ts';
import type { RegisteredDocument } from './register.ts';

/** What producing documents works with. */
export interface DocumentDeps {
  readonly read: Query;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** DATA_DIR/documents. */
  readonly folder: string;
  readonly history: DocumentInput['history'];
  readonly timeZone: string;
  readonly version: string;
  readonly epoch: number;
  readonly publicKey: KeyObject;
  readonly sources: { find(slug: string): Source | null };
  /** Projects everything appended so far; resolves with the position. */
  readonly catchUp: () => Promise<number>;
  /** Seals everything appended so far. */
  readonly seal: () => Promise<unknown>;
  /** Throws when a job produces the document and another worker has taken it over. */
  readonly assertHeld?: () => Promise<void>;
  /** Told in the transaction that registers the document: a job is done there and then, and makes no second one when it is repeated. */
  readonly registeredIn?: (tx: StoreTransaction, document: RegisteredDocument) => Promise<void>;
  readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
  /** Marks every page SAMPLE. */
  readonly sample: boolean;
  readonly regimes: RegimeTable;
}

/** A source that is not there, or was never there. */
export type UnknownSource = { readonly outcome: 'unknown-source'; readonly source: string };

/**
 * What every document is made from, as of an entry: the given one, or the newest. Its time is the time of that entry and its checkpoint
 * the last one up to it, so that the same document can be made again, byte for byte.
 */
export async function frameOf(
  deps: DocumentDeps,
  slug: string,
  wantedAsOf?: number,
): Promise<DocumentInput | UnknownSource> {
  const source = deps.sources.find(slug);
  if (source === null) return { outcome: 'unknown-source', source: slug };
  const position = await deps.catchUp();
  await deps.seal();
  const asOf = Math.min(wantedAsOf ?? position, position);
  const newest = await deps.read.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
  return {
    source: slug,
    sourceName: source.name,
    asOf,
    timeZone: deps.timeZone,
    generatedAt: newest?.received_at ?? deps.clock().toISOString(),
    version: deps.version,
    profile: await deps.loadProfile(source),
    history: deps.history,
    checkpoint: await lastCheckpoint(deps, asOf),
    sample: deps.sample,
    regimes: deps.regimes,
    language: 'en',
  };
}

async function lastCheckpoint(deps: DocumentDeps, asOf: number): Promise<CheckpointToPrint | null> {
  const row = await deps.read
    .selectFrom('checkpoints')
    .select(['size', 'root', 'note'])
    .where('epoch', '=', deps.epoch)
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
  };
}
