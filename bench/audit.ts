import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { type Figure, median, withFolder } from './figures.ts';

const ROUNDS = 3;

interface Measured {
  readonly seconds: number;
  /** CPU seconds, which depend less on what else the machine is doing. */
  readonly processor: number;
  /** Peak resident memory above that of the process before, MiB. */
  readonly memory: number;
}

/**
 * Reports over a month of decisions in SQLite, compared with the GROUP BYs that someone would write by hand for the
 * same numbers, using the bare driver with the same cache. Nine in ten decisions came both ways, one in twenty each way
 * alone. Each run is a separate process, after one that is not counted; reports and baseline alternate.
 */
export function benchAudit(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const decisions = Math.max(20_000, Math.round(1_000_000 * scale));
    const path = `${folder}/audit.sqlite`;
    await fill(path, decisions);
    const figures: Figure[] = [];
    for (const report of ['consent-audit', 'reconciliation']) {
      const rounds: { ours: Measured; theirs: Measured }[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const pair = { theirs: await run('by-hand', report, path), ours: await run('report', report, path) };
        if (round > 0) rounds.push(pair);
      }
      const time = (of: 'ours' | 'theirs') =>
        `${median(rounds.map((pair) => pair[of].seconds)).toFixed(1)} s, ${median(rounds.map((pair) => pair[of].processor)).toFixed(1)} s of CPU time`;
      const ratio = median(rounds.map(({ ours, theirs }) => ours.seconds / theirs.seconds));
      const memory = median(rounds.map(({ ours }) => ours.memory));
      figures.push(
        {
          name: `${report} of ${count(decisions)} decisions (PDF)`,
          value: time('ours'),
          baseline: `by hand ${time('theirs')}`,
          ratio,
          wanted: '≤ 2',
          reached: ratio <= 2,
        },
        {
          name: `memory of the ${report}`,
          value: `${memory.toFixed(0)} MiB above the start`,
          baseline: `by hand ${median(rounds.map(({ theirs }) => theirs.memory)).toFixed(0)} MiB`,
          ratio: null,
          wanted: '< 256 MiB',
          reached: memory < 256,
        },
      );
    }
    return figures;
  });
}

async function run(mode: 'report' | 'by-hand', report: string, path: string): Promise<Measured> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./audit-worker.ts', import.meta.url)), [mode, report, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [measured] = (await Promise.race([once(child, 'message'), exited.then(() => [null])])) as [Measured | null];
  if (measured === null) throw new Error(`the ${mode} of ${report} ended without a result`);
  await exited;
  return measured;
}

/** Fills the month. The database generates the rows itself, since only reading them is measured. */
async function fill(path: string, decisions: number): Promise<void> {
  const store = await openSqliteStore({ path });
  const step = 50_000;
  for (let start = 0; start < decisions; start += step) {
    const end = Math.min(start + step, decisions);
    // `way` 0: only delivered, 1: only pulled, otherwise both, with the row after the delivery. Every thousand
    // decisions have an outage of ten.
    await store.foldTransaction(({ query }) =>
      sql`
        with recursive n(i) as (select ${start} union all select i + 1 from n where i + 1 < ${end}),
        told as (
          select i, (i * 7919) % 20 as way, w.column1 as place,
            strftime('%Y-%m-%dT%H:%M:%S.', 1780272000 + (i * 2591000) / ${decisions}, 'unixepoch') || substr('00' || (i % 1000), -3) || 'Z' as at
          from n cross join (values (0), (1)) as w)
        insert into decision_history (seq, source, received_at, occurred_at, occurred_basis, occurred_counts, at, via, decision_id, record_id,
          subject, banner_id, state, purposes, label, withdraws, stands, held, policy_id, policy_version, region, language, expires_at, is_first, conflicts, commitment)
        select i * 2 + place + 1, 'default', at, at, case place when 0 then 'payload' else 'row' end, 1, at,
          case when place = 1 or way = 1 or i % 1000 < 10 then 'pull' else 'webhook' end,
          'r:' || hex((i * 2654435761) % 4294967296) || '-' || i, 'rec-' || i,
          'subject-' || ((i * 48271) % (${decisions} * 2 / 3)), 'banner-' || (i % 5),
          case (i * 31) % 10 when 8 then 'withdrawn' when 7 then 'refused' when 6 then 'refused' when 5 then 'renewed-given' else 'given' end,
          case (i * 31) % 4 when 0 then '{"analytics":"granted","marketing":"denied","necessary":"granted"}'
            when 1 then '{"analytics":"granted","marketing":"granted","necessary":"granted"}'
            when 2 then '{"analytics":"denied","marketing":"denied","necessary":"granted"}'
            else '{"analytics":"denied","marketing":"granted","necessary":"granted"}' end,
          case (i * 31) % 10 when 8 then 'withdrawn' when 7 then 'refused' when 6 then 'refused' when 5 then 'partly-given' else 'given' end,
          case (i * 31) % 10 when 8 then '["analytics"]' else '[]' end,
          case when (i * 31) % 10 < 5 then '["analytics","marketing"]' when (i * 31) % 10 = 5 then '["analytics"]' else '[]' end, '[]',
          'policy-' || (i % 3), cast(1 + i % 4 as text), substr('DEFRATUSGBNL', 1 + 2 * (i % 6), 2), 'de',
          '2027-06-01T00:00:00.000Z', 1 - place, case when place = 1 and i % 5000 = 4321 then 1 else 0 end, ''
        from told where place = 0 or (way > 1 and i % 1000 >= 10)`.execute(query),
    );
  }
  await store.foldTransaction(async ({ query }) => {
    await sql`
      insert into delivery_history (seq, source, received_at, event, verdict, outcome, reason, content_type, bytes, commitment)
      select seq, source, received_at, 'consent.recorded', 'verified', 'read', null, 'application/json', 400, ''
      from decision_history where via = 'webhook' order by seq`.execute(query);
    const details = {
      ...{
        action: 'sync.finished',
        actor: 'bench',
        bannerId: null,
        runId: 'r',
        from: null,
        to: null,
        pages: 1,
        rows: 1,
      },
      ...{ stored: 1, duplicates: 0, malformed: 0, earliest: '2026-05-01T00:00:00.000Z', latest: null, error: null },
    };
    await query
      .insertInto('action_history')
      .values({
        ...{ seq: decisions * 2 + 1, source: 'default', received_at: '2026-07-02T00:00:00.000Z' },
        ...{ action: 'sync.finished', actor: 'bench', object: null, details: JSON.stringify(details) },
      })
      .execute();
  });
  await store.close();
}

function count(rows: number): string {
  return new Intl.NumberFormat('en').format(rows);
}
