import { CompiledQuery, type RootOperationNode, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Fact } from '../../receivers/index.ts';
import type { Occurred } from '../../receivers/occurred.ts';
import { createShadows, overShadows } from '../../src/projections/shadow.ts';
import { readModelNames } from '../../src/projections/tables.ts';
import type { Query, Store } from '../../src/store/store.ts';
import { engine } from '../servers/databases.ts';
import { createWorld, decisionFact, officerAction, type World, webhook } from './world.ts';

const at = '2026-03-01T10:00:00.000Z';
const occurred: Occurred = { at, basis: 'payload', counts: true };

/** Facts of every family, from several sources. */
async function fill(world: World): Promise<void> {
  const nothing = { title: null, brandName: null, jurisdiction: null, language: null, userId: null, version: null };
  const facts = (n: number): Fact[] => [
    decisionFact({ recordId: `r${n}`, subject: `s${n}` }),
    {
      type: 'policy',
      event: 'x',
      change: 'updated',
      policyId: `p${n}`,
      policyType: null,
      hostedUrl: null,
      ...nothing,
      occurred,
    },
    {
      type: 'scan',
      scanId: null,
      domain: `d${n}`,
      status: null,
      cookiesFound: 1,
      trackersFound: 1,
      uncategorised: 1,
      score: 1,
      beforeConsent: 1,
      failed: false,
      items: [],
      isInventory: true,
      unreadItems: 0,
      occurred,
    },
    { type: 'integration', change: 'connected', error: null, integrationId: `i${n}`, name: null, site: null, occurred },
    {
      ...{
        type: 'request',
        requestId: `q${n}`,
        kind: 'access',
        kindAsGiven: null,
        requesterName: null,
        requesterEmail: null,
      },
      ...{ subject: null, jurisdiction: null, language: null, message: null, occurred },
    },
  ];
  const entries = Array.from({ length: 60 }, (_, n) =>
    facts(n).map((fact) => webhook(`source-${n % 5}`, { event: 'x', fact, nonce: n }, at)),
  ).flat();
  for (let from = 0; from < entries.length; from += 100) await world.ledger.append(entries.slice(from, from + 100));
  await world.ledger.append([
    officerAction(
      'source-1',
      { action: 'case.moved', actor: 'ada', caseId: 'case-5', basedOn: 0, move: 'x', details: {} },
      at,
    ),
    officerAction('source-1', { action: 'document.downloaded', actor: 'ada', documentId: 'd', sha256: '0' }, at),
  ]);
}

/** The same query builder, recording every query. */
function noting(query: Query, noted: RootOperationNode[]): Query {
  return query.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'SelectQueryNode') noted.push(node);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}

/** How the database would find the rows of a query: for each table it reads, the columns that it looks up in an index. */
async function explain(query: Query, node: RootOperationNode): Promise<{ sql: string; steps: (string[] | 'scan')[] }> {
  const executor = query.getExecutor();
  const queryId = { queryId: 'explained' };
  const { sql, parameters } = executor.compileQuery(executor.transformQuery(node, queryId), queryId);
  const ask = async <R>(text: string) => (await query.executeQuery<R>(CompiledQuery.raw(text, [...parameters]))).rows;
  if (engine === 'postgres') {
    const [row] = await ask<{ 'QUERY PLAN': string }>(`explain (format json) ${sql}`);
    const plans = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as { Plan: PlanNode }[];
    return { sql, steps: plans.flatMap(({ Plan }) => lookupsOf(Plan)) };
  }
  const rows = await ask<{ detail: string }>(`explain query plan ${sql}`);
  // The rows found by a part of the query are read from one end to the other.
  const parts = new Set(rows.flatMap(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(detail)?.[1] ?? []));
  const steps = rows
    .map(({ detail }) => detail)
    .filter((step) => /^(?:SCAN|SEARCH)/.test(step) && !parts.has(step.replace(/^SCAN /, '')));
  return {
    sql,
    steps: steps.map((step) => {
      const [, found] = /^SEARCH \w+ USING .*\((.*)\)$/.exec(step) ?? [];
      return found === undefined ? 'scan' : [...found.matchAll(/(\w+)=\?/g)].map(([, column = '']) => column);
    }),
  };
}

/**
 * PostgreSQL reads small tables whole, whatever the indexes. Here each row costs much and a page nothing, as if the
 * tables were large.
 */
async function chargeForRows(query: Query): Promise<void> {
  for (const [name, value] of [
    ['enable_seqscan', 'off'],
    ['cpu_tuple_cost', '1000'],
    ['cpu_index_tuple_cost', '1000'],
    ['random_page_cost', '0'],
    ['seq_page_cost', '0'],
  ])
    await sql`select set_config(${name}, ${value}, true)`.execute(query);
}

/**
 * Copies the rows of the live tables to the shadows, multiplies them to the size of a year, and updates PostgreSQL's
 * statistics.
 */
async function fillToMatter(query: Query): Promise<void> {
  for (const name of readModelNames) {
    await sql`insert into ${sql.table(`rebuild_${name}`)} select * from ${sql.table(name)}`.execute(query);
  }
  for (const table of ['delivery_counts', 'rebuild_delivery_counts'].map((name) => sql.table(name))) {
    await sql`insert into ${table} select 'client-' || n % 100, 'day-' || n / 100, 'x', 1 from generate_series(1, 36500) n`.execute(
      query,
    );
  }
  for (const table of ['delivery_quarters', 'rebuild_delivery_quarters'].map((name) => sql.table(name))) {
    await sql`insert into ${table} select 'client-' || n % 100, 'quarter-' || n / 100, 1 from generate_series(1, 36500) n`.execute(
      query,
    );
  }
  for (const table of ['decision_quarters', 'rebuild_decision_quarters'].map((name) => sql.table(name))) {
    await sql`insert into ${table} select 'client-' || n % 100, 'quarter-' || n / 100, 1, 0, 0, 0, 0 from generate_series(1, 36500) n`.execute(
      query,
    );
  }
  await sql`analyze`.execute(query);
}

/** A node of a plan of PostgreSQL. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

function lookupsOf(node: PlanNode): (string[] | 'scan')[] {
  const below = (node.Plans ?? []).flatMap(lookupsOf);
  // The node itself filters the result of the index scan below it.
  if (!/Scan$/.test(node['Node Type']) || ['Bitmap Heap Scan', 'Subquery Scan'].includes(node['Node Type']))
    return below;
  const condition = node['Index Cond'];
  if (condition === undefined) return ['scan', ...below];
  return [[...condition.matchAll(/\(?(\w+) = /g)].map(([, column = '']) => column), ...below];
}

test('every look-up of a projection is answered from an index, in the live tables and in those of a rebuild', async () => {
  const world = await createWorld();
  await fill(world);
  const noted: RootOperationNode[] = [];
  const store: Store = {
    ...world.store,
    foldTransaction: (work) => world.store.foldTransaction((tx) => work({ ...tx, query: noting(tx.query, noted) })),
  };
  await world.projector({ store, batchSize: 120 }).catchUp();
  await world.store.foldTransaction((tx) => createShadows(tx.query));
  if (engine === 'postgres') await world.store.foldTransaction(({ query }) => fillToMatter(query));
  for (const over of [(query: Query) => query, overShadows]) {
    const plans = await world.store.foldTransaction(async ({ query }) => {
      if (engine === 'postgres') await chargeForRows(query);
      const explained = [];
      for (const node of noted) explained.push(await explain(over(query), node));
      return explained;
    });
    const lookups = plans.filter(({ sql }) => !/"fold_positions"|"entries"/.test(sql));
    const tables = new Set(lookups.map(({ sql }) => /from "(?:rebuild_)?(\w+)"/.exec(sql)?.[1]));
    const read = [
      'decision_history',
      'decisions',
      'policies',
      'cases',
      'scans',
      'integrations',
      'delivery_counts',
      'delivery_quarters',
      'decision_quarters',
      'documents',
    ];
    expect([...tables].sort()).toEqual(read.sort());
    for (const { sql, steps } of lookups) {
      expect(steps.length).toBeGreaterThan(0);
      // By the key itself: an index on the source alone would read everything that a client ever sent. `rowid`: by seq.
      for (const step of steps) {
        const isByKey =
          step !== 'scan' && (step.length > 1 || ['case_id', 'document_id', 'seq', 'rowid'].includes(step[0] ?? ''));
        expect([isByKey, step], sql).toEqual([true, step]);
      }
    }
  }
});

test('shadow names reach every table of a query and nothing else of it', () => {
  return createWorld().then(({ store }) => {
    const compiled = overShadows(store.read)
      .selectFrom('decisions as d')
      .innerJoin('decision_history', 'decision_history.seq', 'd.last_seq')
      .select(['d.subject', 'decision_history.source'])
      .where('d.subject', '=', 'decisions')
      .where('d.source', 'in', ['policies'])
      .compile();
    const { parameters } = compiled;
    const text = engine === 'sqlite' ? compiled.sql.replace('?', '$1').replace('?', '$2') : compiled.sql;
    expect(text).not.toMatch(/"decision/);
    expect(text).toBe(
      'select "d"."subject", "decision_history"."source" from "decisions" as "d" inner join "decision_history" on "decision_history"."seq" = "d"."last_seq" where "d"."subject" = $1 and "d"."source" in ($2)'
        .replaceAll('"decision_history"', '"rebuild_decision_history"')
        .replaceAll('"decisions"', '"rebuild_decisions"'),
    );
    expect(parameters).toEqual(['decisions', 'policies']);
  });
});
