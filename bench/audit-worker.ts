import { performance } from 'node:perf_hooks';
import sqlite3 from 'sqlite3';
import { findReport } from '../reports/index.ts';
import { createHistory } from '../src/store/queries/history.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';

/**
 * One half of the audit benchmark, in its own process: a report, or the SQL that someone would write by hand to get its
 * numbers.
 */
const [mode, name, path] = process.argv.slice(2) as ['report' | 'by-hand', string, string];
const period = `source = 'default' and at >= '2026-06-01T00:00:00.000Z' and at < '2026-07-01T00:00:00.000Z'`;
const first = `from decision_history where ${period} and is_first = 1`;

/** How each decision was reported. */
const told = `select decision_id, min(at) as at, min(seq) as seq, min(banner_id) as banner_id, max(via = 'webhook') as delivered,
  max(via = 'pull') as pulled, max(conflicts) as conflicts from decision_history where ${period} group by decision_id`;
const agreement = [
  `select banner_id, delivered, pulled, conflicts, count(*) from (${told}) group by 1, 2, 3, 4`,
  `select count(*), min(at), max(at), min(seq), max(seq) from (
     select at, seq, delivered, sum(delivered) over (order by at, seq) as island from (${told}))
   where delivered = 0 group by island order by count(*) desc limit 50`,
  `select d.* from decision_history d join (select decision_id from (${told}) where conflicts = 1 order by at, seq limit 50) using (decision_id)`,
];
const byHand: Readonly<Record<string, readonly string[]>> = {
  'consent-audit': [
    `select count(*), sum(is_first), sum(conflicts), sum(is_first and subject is null), sum(occurred_counts = 0),
       count(distinct case when is_first = 1 then subject end) from decision_history where ${period}`,
    `select state, count(*) ${first} group by state`,
    `select substr(at, 1, 10), state, count(*) ${first} group by 1, 2`,
    `select substr(at, 1, 7), state, count(*) ${first} group by 1, 2`,
    `select purposes, count(*) ${first} group by purposes`,
    `select region, state, count(*) ${first} group by region, state`,
    `select banner_id, count(*) ${first} group by banner_id`,
    `select policy_id, policy_version, state, count(*) ${first} group by 1, 2, 3`,
    `select policy_id, policy_version, count(*), sum(expires_at is null) from (
       select *, row_number() over (partition by subject, banner_id order by at desc, seq desc) as latest ${first})
     where latest = 1 and state in ('given', 'renewed-given') group by 1, 2`,
    `select count(*), max(julianday(received_at) - julianday(at)) ${first} and state = 'withdrawn'`,
    ...agreement,
    `select event, verdict, outcome, count(*) from delivery_history where source = 'default' group by 1, 2, 3`,
    `select substr(received_at, 1, 10), count(*) from delivery_history where source = 'default' group by 1`,
  ],
  reconciliation: [
    ...agreement,
    `select * from (${told}) where pulled = 0 order by at, seq limit 50`,
    `select * from (${told}) where delivered = 0 order by at, seq limit 50`,
  ],
};

async function askByHand(): Promise<void> {
  const database = new sqlite3.Database(`${path}-read-models`, sqlite3.OPEN_READONLY);
  const all = (text: string) =>
    new Promise<unknown[]>((resolve, reject) =>
      database.all(text, (error: Error | null, rows: unknown[]) => (error === null ? resolve(rows) : reject(error))),
    );
  await all('pragma cache_size = -16384');
  for (const text of byHand[name] ?? []) {
    const rows = await all(text);
    if (rows.length === 0) throw new Error(`no rows: ${text}`);
  }
  await new Promise((resolve) => database.close(resolve));
}

async function makeReport(): Promise<void> {
  const store = await openSqliteStore({ path });
  let bytes = 0;
  for await (const piece of findReport(name)?.produce({
    ...{ format: 'pdf', source: 'default', sourceName: 'bench', from: '2026-06-01', to: '2026-07-01', timeZone: 'UTC' },
    ...{ asOf: Number.MAX_SAFE_INTEGER, generatedAt: '2026-07-03T00:00:00.000Z', version: 'bench', profile: null },
    ...{ history: createHistory(store.read), checkpoint: null, sample: false, language: 'en' },
  }) ?? [])
    bytes += piece.length;
  if (bytes < 10_000) throw new Error(`a report of ${bytes} bytes`);
  await store.close();
}

const MIB = 1_048_576;
const before = process.memoryUsage.rss() / MIB;
let highest = before;
const sampling = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss() / MIB);
}, 20);
const [started, used] = [performance.now(), process.cpuUsage()];
await (mode === 'report' ? makeReport() : askByHand());
const seconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(used);
clearInterval(sampling);
process.send?.({ seconds, processor: (user + system) / 1e6, memory: highest - before });
process.disconnect?.();
