import { type RootOperationNode, sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { loadDeliveries } from '../../src/attention/deliveries.ts';
import { loadDeliveryTimes, loadLastDeliveriesUntil } from '../../src/attention/delivery-ends.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { sealEntry } from '../../src/crypto/entry.ts';
import { claimIn, createJobs, loadDue } from '../../src/jobs/jobs.ts';
import { readEntryPages } from '../../src/ledger/read-entries.ts';
import { createPageReader } from '../../src/projections/load-entries.ts';
import * as postgres from '../../src/store/postgres/entries.ts';
import { binaryArray, oid } from '../../src/store/postgres/values.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { isFolded, type TableName } from '../../src/store/schema.ts';
import * as sqlite from '../../src/store/sqlite/entries.ts';
import type { Query, Store } from '../../src/store/store.ts';
import { loadBannerIds, loadBannersBeside } from '../../src/sync/banners.ts';
import { loadSyncStatus } from '../../src/sync/status.ts';
import { testReaders } from '../projections/world.ts';
import { engine } from '../servers/databases.ts';
import { openFreshStore, testKeys } from '../temporary.ts';
import { explain, explainSql, noting, type Plan } from './explain.ts';

/*
 * The plans of queries that run often or over many rows, of several sources and 100 days. PostgreSQL chooses them by the size
 * of its tables; SQLite, which keeps no statistics here, chooses the same ones for fewer rows.
 */

const ROWS = engine === 'postgres' ? 50_000 : 8_000;
const FEWER = ROWS * 0.4;
const SOURCES = engine === 'postgres' ? 25 : 4;
const sourceOf = (n: number) => `source-${n % SOURCES}`;
const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + Math.floor((n / ROWS) * 100 * 86_400_000)).toISOString();
const period = { source: 'source-3', asOf: ROWS, from: timeOf(ROWS * 0.6), to: timeOf(ROWS * 0.61) };

const testOptions = sourceOptionsSchema.parse({});

let store: Store;
beforeAll(async () => {
  const opened = await openFreshStore();
  store = opened.store;
  await fill();
  return opened.close;
});

/** Rows of the tables that grow, as projections and jobs write them. */
async function fill(): Promise<void> {
  const body = Buffer.from('{}');
  for (let from = 1; from <= ROWS; from += 1000) {
    const entries = Array.from({ length: 1000 }, (_, i) => {
      const n = from + i;
      const dedupeKey = Buffer.alloc(32);
      dedupeKey.writeUInt32BE(n);
      const fresh = { source: sourceOf(n), kind: 'webhook' as const, dedupeKey, receivedAt: timeOf(n) };
      return sealEntry(
        { ...fresh, meta: body, body },
        n,
        Math.floor((n - 1) / SOURCES) + 1,
        dedupeKey,
        testKeys.append,
      );
    });
    await store.transaction((tx) => tx.insertEntries(entries));
  }
  const history = (n: number) => ({ seq: n, source: sourceOf(n), received_at: timeOf(n) });
  const occurred = (n: number) => ({
    ...{ occurred_at: timeOf(n), occurred_basis: 'payload', occurred_counts: 1, at: timeOf(n) },
  });
  const insert = async (table: TableName, rows: number, row: (n: number) => Record<string, unknown>) => {
    for (let from = 1; from <= rows; from += 5000) {
      const page = Array.from({ length: Math.min(5000, rows - from + 1) }, (_, i) => row(from + i));
      await (isFolded(table) ? store.foldTransaction : store.transaction)((tx) => tx.insertMany(table, page));
    }
  };
  await insert('decision_history', ROWS, (n) => ({
    ...history(n),
    ...occurred(n),
    ...{
      via: n % 2 ? 'webhook' : 'pull',
      decision_id: `r:${n >> 1}`,
      record_id: `${n >> 1}`,
      subject: `subject-${n % 9000}`,
    },
    ...{
      banner_id: `banner-${n % 3}`,
      state: 'given',
      purposes: '{}',
      label: 'given',
      withdraws: '[]',
      stands: '["*"]',
      // In one of a hundred an earlier decision granted something.
      held: n % 100 < 2 ? '[{"purpose":"ads","decisionId":"r:0","at":"","doubt":null}]' : '[]',
      policy_id: 'p',
      policy_version: '1',
      region: 'EU',
    },
    ...{ language: 'en', expires_at: null, is_first: n % 2, conflicts: 0, commitment: '0' },
  }));
  await insert('decision_judgements', FEWER, (n) => ({
    ...{
      seq: n,
      source: sourceOf(n),
      decision_id: `r:${n >> 1}`,
      state: 'withdrawn',
      purposes: '{}',
      label: 'withdrawn',
      withdraws: '["*"]',
      stands: '[]',
      held: '[]',
    },
  }));
  await insert('delivery_history', ROWS, (n) => ({
    ...history(n),
    ...{
      event: `event-${n % 5}`,
      verdict: 'verified',
      outcome: 'read',
      reason: null,
      content_type: null,
      bytes: 9,
      commitment: '0',
    },
  }));
  await insert('policy_history', FEWER, (n) => ({
    ...history(n),
    ...occurred(n),
    ...{
      event: 'policy.updated',
      change: 'updated',
      policy_id: `p${n % 99}`,
      policy_type: null,
      title: null,
      brand_name: null,
    },
    ...{ jurisdiction: null, language: null, version: null, hosted_url: null },
  }));
  await insert('action_history', FEWER, (n) => ({
    ...history(n),
    ...{ action: 'document.produced', actor: 'ada', object: `d${n}`, details: '{}' },
  }));
  await insert('case_history', FEWER, (n) => ({
    ...history(n),
    ...{
      case_id: `c${n >> 2}`,
      version: n % 4,
      move: n % 4 ? 'x' : 'opened',
      from_state: null,
      to_state: 'new',
      actor: 'ada',
      details: '{}',
    },
  }));
  await insert('quarantine', FEWER, (n) => ({ ...history(n), event: 'x', reason: 'y' }));
  await insert('arrivals', ROWS / 10, (n) => ({ seq: n * 10, count: 1, times: '[]', last_at: timeOf(n) }));
  await insert('jobs', ROWS, (n) => ({
    ...{ id: `job-${n}`, kind: `kind-${n % 8}`, job_key: `key-${n}`, payload: 'null' },
    ...{
      state: n % 500 === 0 ? 'waiting' : n % 499 === 0 ? 'running' : 'done',
      priority: 0,
      run_at: timeOf(n),
      attempts: 1,
    },
    ...{
      max_attempts: 5,
      lease_owner: null,
      lease_token: 1,
      lease_until: timeOf(n),
      cancel_requested: 0,
      progress: null,
    },
    ...{ result: null, error: null, created_at: timeOf(n), updated_at: timeOf(n), finished_at: null },
  }));
  // As autovacuum does on PostgreSQL; SQLite has nothing like it.
  if (store.engine === 'postgres') await store.transaction(({ query }) => sql`analyze`.execute(query));
}

/** The plans of all queries that `work` runs. */
async function plansOf(work: (query: Query) => Promise<unknown>): Promise<readonly Plan[]> {
  const noted: RootOperationNode[] = [];
  await work(noting(store.read, noted));
  return plansOfNoted(noted);
}

async function plansOfNoted(noted: readonly RootOperationNode[]): Promise<readonly Plan[]> {
  expect(noted.length).toBeGreaterThan(0);
  return Promise.all(noted.map((node) => explain(store, store.read, node)));
}

function expectIndexed(plans: readonly Plan[]): void {
  for (const { sql: text, scanned, searched } of plans) {
    // Reading a dozen rows is faster than an index, and PostgreSQL hashes the few findings that were settled.
    const few = ['settings', 'settled_findings'];
    expect({ text, scanned: scanned.filter((table) => !few.includes(table)) }).toEqual({ text, scanned: [] });
    expect(searched.length, text).toBeGreaterThan(0);
  }
}

async function drain(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows) break;
}

test('a query without an index is detected', async () => {
  const [plan] = await plansOf((query) =>
    query.selectFrom('decision_history').select('seq').where('commitment', '=', '1').execute(),
  );
  expect(plan?.scanned).toEqual(['decision_history']);
});

test('existing keys and heads of an append are read by index', async () => {
  if (store.engine === 'postgres') {
    const text = (value: string) => binaryArray(oid.text, [value]);
    const key = [text('source-1'), text('webhook'), binaryArray(oid.bytea, [Buffer.alloc(32, 1)])];
    expectIndexed([
      await explainSql(store, postgres.FIND_SEQS, key),
      await explainSql(store, postgres.READ_HEADS, [text('source-1')]),
    ]);
  } else {
    expectIndexed([await explainSql(store, sqlite.READ_HEADS, [JSON.stringify(['source-1'])])]);
    // On SQLite, keys are looked up in tables of the writing connection: test/store/dedupe.sqlite.test.ts.
  }
});

test('pages of entries are read in the order of their numbers', async () => {
  const limits = { entries: 100, bytes: 1 << 20, togetherMs: 0 };
  expectIndexed(
    await plansOf(async (query) => {
      const pages = createPageReader(query, testReaders, async () => ({ of: () => testOptions, rereadAt: 0 }), limits);
      await pages.load({ seq: FEWER, generation: 0 });
      await pages.close();
      await drain(readEntryPages(query, FEWER, FEWER + 500));
    }),
  );
});

test('the rows of one source and period that documents need are read by index', async () => {
  expectIndexed(
    await plansOf(async (query) => {
      const history = createHistory(query);
      await history.receivedAtOf(500);
      await history.recordTotals(period);
      await history.decisionGroups(period);
      await drain(history.disputedDecisions(period));
      await history.decisionsByBanner(period);
      await history.reconciliationByBanner(period);
      await history.standingConsents(period, period.to, period.to);
      await drain(history.heldConsents(period, [1, 2, 3]));
      await drain(history.withdrawalTimes(period));
      await drain(history.decisionRows(period));
      await drain(history.decisionRowsOf(period, ['subject-3', 'subject-4']));
      await history.deliveryCounts(period, 'Asia/Kolkata');
      await drain(history.deliveryRows(period));
      await drain(history.policyRows(period));
      await drain(history.actionRows(period, ['document.produced']));
      await history.quarantineCounts(period);
      await history.rawEntries(period, [1, 2, 3]);
      await drain(history.caseOpenings(period));
      await history.caseMoves(period, 'c7');
    }),
  );
});

test('a page of decisions begins where the one before ended: with two lower time bounds SQLite would walk from the first', async () => {
  const all = { ...period, from: '2026-01-01', to: '2027-01-01' };
  const pages = await plansOf(async (query) => {
    const history = createHistory(query);
    await drain(history.decisionRows(all));
    await drain(history.reconciledDecisions(all, 'only-webhook'));
  });
  const inOrder = pages.filter(({ sql: text }) => text.includes('order by "d"."at"'));
  expect(inOrder.filter(({ sql: text }) => text.includes('or "d"."seq" > '))).not.toEqual([]);
  for (const { sql: text } of inOrder) expect(text.match(/"d"\."at" >= /g)).toHaveLength(1);
});

test('looks up by seq what lies between two undelivered decisions of the same time, since thousands may share it', async () => {
  const plans = await plansOf((query) => createHistory(query).undelivered(period, 1));
  const searched = plans.flatMap((plan) => plan.searched);
  const bySeq = searched.filter((index) => /^(?:INDEX )?decision_history_at\b.*\bseq ?>.*\bseq ?</.test(index));
  expect(bySeq, searched.join('\n')).not.toEqual([]);
});

test('banners, agreement of the two channels, and the list of deliveries are read by index', async () => {
  expectIndexed(
    await plansOf(async (query) => {
      await createHistory(query).disagreement(['source-3', 'source-1', 'unknown-source'], period);
      await loadDeliveries(query, { source: 'source-3', event: undefined, limit: 50 });
    }),
  );
  const banners = await plansOf(async (query) => {
    await loadBannerIds(query, { slug: 'source-3', options: testOptions });
    await loadBannersBeside(query, 'source-3', []);
  });
  expectIndexed(banners.filter(({ sql: text }) => text.includes('decision_history')));
  expectIndexed(await plansOf((query) => createHistory(query).bannersInLog(period)));
  const ends = await plansOf(async (query) => {
    expect([...(await loadDeliveryTimes(query, 'last', ['source-3', 'unknown-source'])).keys()]).toEqual(['source-3']);
    expect((await loadLastDeliveriesUntil(query, timeOf(ROWS))).size).toBe(SOURCES);
  });
  for (const { scanned, sql: text } of ends) expect({ text, scanned }).toEqual({ text, scanned: [] });
  // Of any number of sources with one statement, since Today shows all of them.
  const sources = ['source-3', 'source-1', 'unknown-source'].map((slug) => ({ slug, options: testOptions }));
  const statuses = await plansOf(async (query) => {
    const status = await loadSyncStatus(query, () => new Date(timeOf(ROWS)), sources);
    expect([...new Set(status.map(({ source }) => source))]).toEqual(['source-3', 'source-1']);
  });
  const ofBanners = statuses.filter(({ sql: text }) => text.includes('decision_history'));
  expect(ofBanners).toHaveLength(1);
  expectIndexed(ofBanners);
});

test('the list of decisions by choice walks its period by index, and continues where a page ended', async () => {
  const plans = await plansOf(async (query) => {
    const history = createHistory(query);
    await history.judgedDecisions(period, ['given', 'renewed-given'], 51, null);
    await history.judgedDecisions(period, null, 51, { at: period.from, seq: 3, part: 0 });
  });
  expectIndexed(plans);
  const pages = plans.filter(({ sql: text }) => text.includes('"d"."is_first"'));
  expect(pages).toHaveLength(2);
  for (const { searched, sql: text } of pages) expect(searched.join(), text).toContain('decision_history_at');
});

test('withdrawals by request, and their missing confirmations, are read by index', async () => {
  const plans = await plansOf(async (query) => {
    const history = createHistory(query);
    await history.consentsAfterWithdrawal({ source: 'source-3', asOf: ROWS });
    await history.withdrawalsToExtend('source-3');
    await history.casesThatWithdrew('source-3').execute();
  });
  expectIndexed(plans);
  expectIndexed(await plansOf((query) => createHistory(query).subjectsAmong('source-3', ['subject-3', 'nobody'])));
  for (const { searched, sql: text } of plans) {
    expect(searched.join(), text).toContain('decision_history_request');
    expect(searched.join(), text).not.toContain('decision_history_at');
  }
});

test('consent after a withdrawal is searched among the withdrawals, even over all sources', async () => {
  const ofAll = { asOf: Number.MAX_SAFE_INTEGER, receivedFrom: timeOf(0) };
  const plans = await plansOf((query) => createHistory(query).consentsAfterWithdrawal(ofAll));
  // PostgreSQL knows the numbers of rows, and may begin anywhere.
  if (store.engine === 'sqlite')
    for (const { searched, sql: text } of plans.filter((one) => one.sql.includes(`as "o"`)))
      expect(searched.join(), text).toContain('decision_history_subject');
});

test('decisions first known from the log are found without reading the others', async () => {
  const plans = await plansOf(async (query) => {
    const history = createHistory(query);
    await history.disagreement(['source-3', 'source-1', 'unknown-source'], period);
    await drain(history.reconciledDecisions(period, 'only-pulled', 51));
    await history.sourcesWith('only-pulled');
    await history.sourcesWith('conflicting');
  });
  const pulled = plans.filter(({ sql: text }) => text.includes('d.is_first = 1'));
  expect(pulled).toHaveLength(2);
  for (const { searched, sql: text } of pulled) expect(searched.join(), text).toContain('decision_history_pulled');
});

test('due jobs, unfinished jobs of a key and the newest jobs are read by index', async () => {
  const kinds = ['kind-1', 'kind-2'];
  const noted: RootOperationNode[] = [];
  const now = new Date(timeOf(ROWS / 2));
  const jobs = createJobs({ store: { ...store, read: noting(store.read, noted) }, clock: () => now });
  await loadDue(noting(store.read, noted), kinds, now.toISOString());
  await jobs.list({ limit: 20 });
  await jobs.find('job-7');
  await store.transaction(async (tx) => {
    const watched = { ...tx, query: noting(tx.query, noted) };
    await jobs.enqueueIn(watched, { kind: 'kind-1', key: 'key-9' });
    await claimIn(watched, { owner: 'worker', kinds, leaseMilliseconds: 1000 }, now, 8);
  });
  const plans = await plansOfNoted(noted.filter(({ kind }) => kind !== 'InsertQueryNode'));
  // The newest: read from the end of an index, and no further than the limit.
  const [newest, ...others] = [...plans].sort(
    (a, b) => Number(b.sql.includes('"created_at" desc')) - Number(a.sql.includes('"created_at" desc')),
  );
  expect(newest?.sql).toContain('jobs');
  expect([...(newest?.searched ?? []), ...(newest?.along ?? [])].join()).toContain('jobs_created');
  expectIndexed(others);
  // Ended jobs, a thousand times as many, are skipped.
  const due = others.filter(({ sql: text }) => text.includes('"lease_until" <='));
  expect(due.length).toBeGreaterThanOrEqual(2);
  for (const { searched, sql: text } of due) expect(searched.join(), text).not.toContain('jobs_key');
});
