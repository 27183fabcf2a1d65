import { onTestFinished } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import type { Fact } from '../../receivers/index.ts';
import type { Reading } from '../../receivers/read.ts';
import type { Action } from '../../src/core/action.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Readers } from '../../src/projections/projection.ts';
import { createProjector, type Projector, type ProjectorOptions } from '../../src/projections/run.ts';
import { readModelNames } from '../../src/projections/tables.ts';
import { keyOf } from '../../src/store/schema.ts';
import type { Query, Store } from '../../src/store/store.ts';
import { temporaryLedger, testKeys } from '../temporary.ts';

/** Test bodies that state directly what a reader finds in them. */
export interface TestBody {
  readonly event: string;
  readonly fact?: Fact;
  /** Makes the body unreadable, or the reader throw. */
  readonly fails?: 'unreadable' | 'throws';
  /** Makes otherwise equal bodies different. */
  readonly nonce?: number;
  /** The other events of the same body. */
  readonly more?: readonly TestBody[];
}

function readBody(body: Uint8Array): Reading {
  const parsed = JSON.parse(Buffer.from(body).toString('utf8')) as TestBody;
  const { more } = parsed;
  return more === undefined ? readingOf(parsed) : { ...readingOf(parsed), more: more.map(readingOf) };
}

function readingOf(parsed: TestBody): Reading {
  if (parsed.fails === 'throws') throw new Error('the reader has a bug');
  if (parsed.fails === 'unreadable')
    return { outcome: 'unreadable', event: parsed.event, reason: 'a field is missing' };
  if (parsed.fact === undefined) return { outcome: 'unknown-event', event: parsed.event, reason: 'not known' };
  return { outcome: 'read', event: parsed.event, fact: parsed.fact, unread: [] };
}

export const testReaders: Readers = {
  readDelivery: readBody,
  readConsentRow: readBody,
};

const defaults = sourceOptionsSchema.parse({});

/** The rules of every projector and rebuild in these tests: each page has a transaction of its own, unless a test asks for more. */
export function rules(store: Store): ProjectorOptions {
  return { store, read: testReaders, optionsUpTo: async () => ({ of: () => defaults, rereadAt: 0 }), togetherMs: 0 };
}

export function webhook(source: string, body: TestBody, receivedAt: string): NewEntry {
  const bytes = Buffer.from(JSON.stringify(body));
  const meta = canonicalJson({ verdict: 'verified', secretId: 's1', contentType: 'application/json' });
  return { source, kind: 'webhook', dedupeKey: sha256(bytes), receivedAt, meta, body: bytes };
}

export function pulledRow(source: string, body: TestBody, receivedAt: string): NewEntry {
  return { ...webhook(source, body, receivedAt), kind: 'consent-log', meta: canonicalJson({ bannerId: 'b1' }) };
}

export function officerAction(source: string, action: Action, receivedAt: string): NewEntry {
  const body = Buffer.from(JSON.stringify(action));
  return {
    source,
    kind: 'action',
    dedupeKey: sha256(body),
    receivedAt,
    meta: canonicalJson({ action: action.action, actor: action.actor }),
    body,
  };
}

/** A decision with only the given fields. */
export function decisionFact(said: Partial<DecisionFact>): DecisionFact {
  return {
    type: 'decision',
    via: 'webhook',
    recordId: null,
    subject: 's1',
    bannerId: 'b1',
    bannerVersion: null,
    action: null,
    method: null,
    domain: null,
    page: null,
    signals: {},
    state: 'given',
    doubts: [],
    purposes: {},
    policyId: null,
    policyVersion: null,
    region: null,
    language: null,
    expiresAt: null,
    occurred: { at: '2026-03-01T09:00:00.000Z', basis: 'payload', counts: true },
    ...said,
  };
}

export interface World {
  readonly store: Store;
  readonly ledger: Ledger;
  projector(options?: Partial<ProjectorOptions>): Projector;
}

/** A ledger and its projector, closed when the test ends. */
export async function createWorld(): Promise<World> {
  const { store, ledger } = await temporaryLedger();
  return {
    store,
    ledger,
    projector(options = {}) {
      const projector = createProjector({ ...rules(store), ...options });
      onTestFinished(() => projector.close());
      return projector;
    },
  };
}

/** Every row of every read model, in the order of its key. */
export async function dump(query: Query): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of readModelNames) {
    let rows = query.selectFrom(table).selectAll() as unknown as {
      orderBy(column: string): typeof rows;
      execute(): Promise<unknown[]>;
    };
    for (const column of keyOf(table)) rows = rows.orderBy(column);
    tables[table] = await rows.execute();
  }
  return tables;
}

/** Empties everything and begins a new ledger: one in use refuses when entries vanish. */
export async function beginAnew(store: Store): Promise<Ledger> {
  await store.transaction(async (tx) => {
    await tx.query.deleteFrom('entries').execute();
    await tx.query.deleteFrom('arrivals').execute();
  });
  await forgetProjections(store);
  return createLedger({ store, keys: testKeys });
}

/** Empties the read models and their position, as if nothing had been projected yet. */
export async function forgetProjections(store: Store): Promise<void> {
  await store.foldTransaction(async (tx) => {
    for (const table of readModelNames) await tx.query.deleteFrom(table).execute();
    await tx.query.deleteFrom('fold_positions').execute();
  });
}
