import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import { onTestFinished, vi } from 'vitest';
import type { DsarPackInput } from '../../reports/dsar-pack/gather.ts';
import { type ReportInput, reportPeriod } from '../../reports/report.ts';
import { emptyFolded, foldedColumn } from '../../src/cases/folded.ts';
import { judgeChoice, type PurposeChoices } from '../../src/core/consent-judgement.ts';
import { type StoredJudgement, storedJudgement, timelineOf } from '../../src/core/consent-timeline.ts';
import { periodKey, readCounters } from '../../src/store/queries/counters.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import { isFolded, type TableName, type Tables } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { openFreshStore } from '../temporary.ts';
import { profile } from './profile.ts';

/** A separate store with a month of history. */
export interface World {
  readonly store: Store;
  insert<T extends TableName>(table: T, rows: readonly Insertable<Tables[T]>[]): Promise<void>;
  input(changes?: Partial<ReportInput>): ReportInput;
  close(): Promise<void>;
}

/** Sets the clock of the process an hour ahead for the rest of the test. */
export function anHourLater(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
}

export const SHA = 'ab'.repeat(32);

export { profile };

export const checkpoint = {
  note: 'consent-ledger/3f2a9c/1\n900\nqINS1GRFeGl0EGqPUm3mBbBYJjyeeN2pxCOJ0YbA2kQ=\n\n— consent-ledger/3f2a9c/1 Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4\n',
  size: 900,
  rootHex: 'a88352d4645178697410 6a8f526de605b058263c9e78dda9c42389d186c0da44'.replace(' ', ''),
  keyId: '5b2c91aa',
  verifierKey: 'consent-ledger/3f2a9c/1+5b2c91aa+AWZvb2JhcmJhenF1eGZvb2JhcmJhenF1eGZvb2JhcmI=',
};

export async function openWorld(): Promise<World> {
  const { store, close } = await openFreshStore();
  return {
    store,
    insert: (table, rows) =>
      (isFolded(table) ? store.foldTransaction : store.transaction)((tx) => tx.insertMany(table, rows)),
    input: (changes = {}) => ({
      format: 'json',
      source: 'default',
      sourceName: 'Förster shop',
      from: '2026-06-01',
      to: '2026-07-01',
      asOf: 1000,
      timeZone: 'Europe/Berlin',
      generatedAt: '2026-07-02T08:15:00.000Z',
      version: '0.1.0',
      profile,
      history: createHistory(store.read),
      checkpoint,
      sample: false,
      language: 'en',
      ...changes,
    }),
    close,
  };
}

export type DecisionInsert = Insertable<Tables['decision_history']>;

/** A decision row; `at` is its time and, unless overridden, the time of receipt. */
export function decision(seq: number, at: string, changes: Partial<DecisionInsert> = {}): DecisionInsert {
  const { state = 'given', purposes = '{"analytics":"granted","marketing":"denied"}' } = changes;
  // As the projector judges a subject's first decision.
  const judged = judgeChoice([], { state, purposes: JSON.parse(purposes) as PurposeChoices });
  return {
    seq,
    source: 'default',
    received_at: at,
    occurred_at: at,
    occurred_basis: 'payload',
    occurred_counts: 1,
    at,
    via: 'webhook',
    decision_id: `r:rec-${seq}`,
    record_id: `rec-${seq}`,
    subject: `subject-${seq}`,
    banner_id: 'banner-main',
    state: 'given',
    purposes: '{"analytics":"granted","marketing":"denied"}',
    label: judged.label,
    withdraws: JSON.stringify(judged.withdraws),
    stands: JSON.stringify(judged.stands),
    held: '[]',
    banner_version: null,
    action: null,
    method: null,
    domain: null,
    page: null,
    signals: null,
    case_id: null,
    policy_id: 'pol-1',
    policy_version: '3',
    region: 'DE',
    language: 'de',
    expires_at: null,
    is_first: 1,
    conflicts: 0,
    commitment: SHA,
    ...changes,
  };
}

/** The rows of decisions as the projector leaves them once all are known. */
export function judged(rows: readonly DecisionInsert[]): DecisionInsert[] {
  const told = rows as unknown as readonly DecisionRow[];
  const stored = new Map<string, StoredJudgement>();
  for (const subject of new Set(told.map((row) => row.subject))) {
    for (const decision of timelineOf(told.filter((row) => row.subject === subject)))
      stored.set(decision.decisionId, storedJudgement(decision));
  }
  return rows.map((row) => ({ ...row, ...stored.get(row.decision_id) }));
}

export function policyChange(
  seq: number,
  at: string,
  changes: Partial<Insertable<Tables['policy_history']>> = {},
): Insertable<Tables['policy_history']> {
  return {
    seq,
    source: 'default',
    received_at: at,
    occurred_at: at,
    occurred_basis: 'payload',
    occurred_counts: 1,
    at,
    event: 'policy.published',
    change: 'published',
    policy_id: 'pol-1',
    policy_type: 'cookie-policy',
    title: 'Cookie policy',
    brand_name: 'Förster',
    jurisdiction: 'DE',
    language: 'de',
    version: '3',
    hosted_url: null,
    ...changes,
  };
}

/** A fetch of the public page of `pol-1`, at the time when its answer was made. */
export function textLook(
  seq: number,
  at: string,
  textSha256: string | null,
  changes: Partial<Insertable<Tables['snapshot_history']>> = {},
): Insertable<Tables['snapshot_history']> {
  return {
    seq,
    source: 'default',
    received_at: at,
    what: 'policy',
    fetch_id: `fetch-${seq}`,
    why: 'schedule',
    phase: 'settled',
    target: 'hosted:pol-1',
    policy_type: 'cookie-policy',
    policy_id: 'pol-1',
    status: textSha256 === null ? 404 : 200,
    outcome: textSha256 === null ? 'absent' : 'present',
    unchanged: 0,
    url: 'https://service.example/policy/cookie-policy/pol-1',
    bytes: 300,
    body_sha256: SHA,
    body_seq: seq,
    text_sha256: textSha256,
    text_form: 'html/1',
    content_type: 'text/html; charset=utf-8',
    date_header: null,
    age: null,
    etag: null,
    origin_from: at,
    origin_to: at,
    findings: null,
    ...changes,
  };
}

/** A ledger row with this body; null: erased. */
export function ledgerEntry(
  seq: number,
  body: Buffer | null,
  changes: Partial<Insertable<Tables['entries']>> = {},
): Insertable<Tables['entries']> {
  const hash = (part: string) => createHash('sha256').update(`${part} ${seq}`).digest();
  return {
    seq,
    source: 'default',
    source_seq: seq,
    kind: 'webhook' as const,
    dedupe_key: hash('key'),
    received_at: '2026-06-03T10:00:00.000Z',
    meta: body as Buffer,
    body: body as Buffer,
    salt: (body === null ? null : hash('salt')) as Buffer,
    commitment: hash('c'),
    leaf_hash: hash('l'),
    mac: hash('m'),
    ...changes,
  };
}

export function delivery(
  seq: number,
  receivedAt: string,
  changes: Partial<Insertable<Tables['delivery_history']>> = {},
): Insertable<Tables['delivery_history']> {
  return {
    seq,
    source: 'default',
    received_at: receivedAt,
    event: 'consent.recorded',
    verdict: 'verified',
    outcome: 'read',
    reason: null,
    content_type: 'application/json',
    bytes: 412,
    commitment: SHA,
    ...changes,
  };
}

export function syncRun(
  seq: number,
  receivedAt: string,
  from: string | null,
  to: string | null,
  changes: object = {},
): Insertable<Tables['action_history']> {
  const details = {
    action: 'sync.finished',
    actor: 'scheduler',
    bannerId: 'banner-main',
    runId: `run-${seq}`,
    from,
    to,
    pages: 3,
    rows: 420,
    stored: 12,
    duplicates: 408,
    malformed: 0,
    earliest: from,
    latest: to,
    error: null,
    ...changes,
  };
  return {
    seq,
    source: 'default',
    received_at: receivedAt,
    action: details.action,
    actor: 'scheduler',
    object: 'banner-main',
    details: JSON.stringify(details),
  };
}

/** Records the counters of the period, as producing a report does. Counts deliveries up to `seq`. */
export async function observe(world: World, seq: number, changes: Partial<ReportInput> = {}): Promise<void> {
  const input = world.input(changes);
  const period = { ...reportPeriod(input), asOf: seq };
  const details = {
    action: 'counters.observed',
    actor: 'weiss',
    ...(await readCounters(world.store.read, period, input.generatedAt)),
  };
  await world.insert('action_history', [
    {
      seq,
      source: input.source,
      received_at: input.generatedAt,
      action: 'counters.observed',
      actor: 'weiss',
      object: periodKey(period),
      details: JSON.stringify(details),
    },
  ]);
}

export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** A month with some data of every kind, also used for looking at the pages. */
export async function fillMonth(world: World): Promise<void> {
  const states = [
    'given',
    'given',
    'given',
    'refused',
    'given',
    'refused',
    'renewed-given',
    'given',
    'withdrawn',
    'given',
  ] as const;
  const regions = ['DE', 'DE', 'AT', 'FR', 'DE', null] as const;
  const rows: DecisionInsert[] = [];
  const deliveries: Insertable<Tables['delivery_history']>[] = [];
  let seq = 10;
  for (let day = 1; day <= 30; day += 1) {
    const n = 6 + ((day * 7) % 11) + (day % 7 < 2 ? -4 : 3);
    for (let i = 0; i < n; i += 1) {
      const at = new Date(Date.UTC(2026, 5, day, 6 + (i % 12), (i * 13) % 60, day)).toISOString();
      const state = states[(day + i * 3) % states.length] ?? 'given';
      const granted = state === 'given' || state === 'renewed-given';
      seq += 1;
      const first = decision(seq, at, {
        received_at: new Date(Date.parse(at) + 1500 + i * 900).toISOString(),
        state,
        subject: `9f${(day * 31 + i).toString(16).padStart(6, '0')}`,
        purposes: JSON.stringify({
          analytics: granted ? 'granted' : 'denied',
          marketing: granted && i % 2 === 0 ? 'granted' : 'denied',
          necessary: 'granted',
        }),
        region: regions[(day + i) % regions.length] ?? null,
        policy_version: day < 12 ? '3' : '4',
        expires_at: granted ? new Date(Date.parse(at) + (20 + i * 12) * 86_400_000).toISOString() : null,
      });
      rows.push(first);
      deliveries.push(delivery(seq, first.received_at));
      if ((day + i) % 9 !== 0) {
        seq += 1;
        rows.push({
          ...first,
          seq,
          via: 'pull',
          is_first: 0,
          occurred_basis: 'row',
          received_at: new Date(Date.UTC(2026, 5, day, 23, 50)).toISOString(),
          conflicts: day === 17 && i === 2 ? 1 : 0,
        });
      }
    }
  }
  await world.insert('decision_history', rows);
  await world.insert('policy_history', [
    policyChange(1, '2026-03-02T09:00:00.000Z'),
    policyChange(2, '2026-06-12T07:30:00.000Z', { version: '4' }),
  ]);
  await world.insert('delivery_history', [
    delivery(1, '2026-03-02T09:00:00.900Z', { event: 'policy.published' }),
    delivery(2, '2026-06-12T07:30:01.000Z', { event: 'policy.updated' }),
    delivery(3, '2026-06-14T10:00:00.000Z', { event: 'dsar.submitted' }),
    delivery(4, '2026-06-15T10:00:00.000Z', { event: 'loyalty.joined', outcome: 'unknown-event' }),
    ...deliveries,
  ]);
  const runs = [];
  for (let day = 1; day <= 30; day += 1) {
    if (day === 20) continue;
    const to = new Date(Date.UTC(2026, 5, day, 23, 45)).toISOString();
    runs.push(syncRun(800 + day, to, new Date(Date.UTC(2026, 5, day - 1, 23, 30)).toISOString(), to));
  }
  runs.push(
    syncRun(840, '2026-06-20T23:45:00.000Z', '2026-06-19T23:30:00.000Z', '2026-06-20T23:45:00.000Z', {
      action: 'sync.failed',
      error: '503 from the service',
    }),
  );
  runs.push(syncRun(841, '2026-07-01T00:00:00.000Z', '2026-06-30T20:00:00.000Z', '2026-07-01T00:00:00.000Z'));
  await world.insert('action_history', [
    ...runs.sort((a, b) => a.seq - b.seq),
    {
      seq: 860,
      source: 'default',
      received_at: '2026-06-21T08:00:00.000Z',
      action: 'document.produced',
      actor: 'weiss',
      object: '3f2a9c0d11e0aa01',
      details: '{}',
    },
    {
      seq: 861,
      source: 'default',
      received_at: '2026-06-21T08:01:10.000Z',
      action: 'document.downloaded',
      actor: 'weiss',
      object: '3f2a9c0d11e0aa01',
      details: '{}',
    },
  ]);
  await world.insert('rejected_counts', [
    { source: 'default', minute: '2026-06-09T11:31', reason: 'signature-mismatch', count: 3 },
  ]);
  await world.insert('arrivals', [{ seq: 11, count: 2, times: '[]', last_at: '2026-06-02T00:00:00.000Z' }]);
  await observe(world, 900);
}

/** The input of a pack: an access request under the GDPR, matched and verified. */
export function packInput(world: World, changes: Partial<DsarPackInput> = {}): DsarPackInput {
  const { format: _, from: _from, to: _to, ...document } = world.input();
  const row: DsarPackInput['case'] = {
    case_id: 'default-3',
    source: 'default',
    request_id: 'req-77',
    kind: 'access',
    jurisdiction: 'DE',
    requester_name: 'Zoë Krüger-Łącka',
    requester_email: 'zoe@example.net',
    subject: '9f00001f',
    language: 'en',
    message: 'What do you know about me? My number is 078-05-1120.',
    channel: 'webhook',
    receipt_at: '2026-07-01T12:02:00.000Z',
    receipt_basis: 'payload',
    state: 'in-progress',
    version: 2,
    opened_seq: 3,
    last_seq: 870,
    folded: foldedColumn(emptyFolded(null)),
    closed_at: null,
  };
  return {
    ...document,
    case: row,
    deadline: {
      regime: 'eu-gdpr',
      aimFor: '2026-08-01',
      legalLimit: '2026-08-03',
      notRecorded: [],
      ownTarget: null,
      explanation: [
        'received Wed 1 Jul 2026, 14:02 (Europe/Berlin)',
        'one month ends Sat 1 Aug 2026',
        'not a working day',
        'due Mon 3 Aug 2026',
      ],
      citation: 'GDPR Art. 12(3), Reg. 1182/71 Art. 3(2)(c), 3(4)',
    },
    disclosure: 'full',
    match: { status: 'from-device', subjects: ['9f00001f'] },
    identity: { status: 'met', how: 'answered from the address on file, call back on 2 July' },
    systems: [
      { name: 'Customer database', result: 'nothing-found' },
      { name: 'Newsletter', result: 'attached' },
    ],
    ...changes,
  };
}
