import { CompiledQuery, type RootOperationNode } from 'kysely';
import { expect, test } from 'vitest';
import type { Fact, Occurred } from '../../src/core/fact.ts';
import { createShadows, overShadows } from '../../src/projections/shadow.ts';
import type { Query } from '../../src/store/store.ts';
import { createWorld, decisionFact, officerAction, webhook, type World } from './world.ts';

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
      occurred,
    },
    { type: 'integration', change: 'connected', integrationId: `i${n}`, name: null, site: null, occurred },
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

/** The same query builder, which notes every query. */
function noting(query: Query, noted: RootOperationNode[]): Query {
  return query.withPlugin({
    transformQuery({ node }) {
      noted.push(node);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}

/** How the database would find the rows of a query. */
async function explain(query: Query, node: RootOperationNode): Promise<{ sql: string; steps: string[] }> {
  const executor = query.getExecutor();
  const queryId = { queryId: 'explained' };
  const { sql, parameters } = executor.compileQuery(executor.transformQuery(node, queryId), queryId);
  const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
  const { rows } = await query.executeQuery<{ detail: string }>(explained);
  return { sql, steps: rows.map(({ detail }) => detail) };
}

test('every look-up of a projection is answered from an index, in the live tables and in those of a rebuild', async () => {
  const world = await createWorld();
  await fill(world);
  const noted: RootOperationNode[] = [];
  await world.projector({ store: { ...world.store, read: noting(world.store.read, noted) }, batchSize: 120 }).catchUp();
  await world.store.transaction((tx) => createShadows(tx.query));
  for (const query of [world.store.read, overShadows(world.store.read)]) {
    const plans = await Promise.all(noted.map((node) => explain(query, node)));
    const lookups = plans.filter(({ sql }) => !/"positions"|"entries"/.test(sql));
    const tables = new Set(lookups.map(({ sql }) => /from "(?:rebuild_)?(\w+)"/.exec(sql)?.[1]));
    const read = [
      'decision_history',
      'decisions',
      'policies',
      'cases',
      'scans',
      'integrations',
      'delivery_counts',
      'documents',
    ];
    expect([...tables].sort()).toEqual(read.sort());
    for (const { sql, steps } of lookups) {
      const found = steps.filter((step) => /^(?:SCAN|SEARCH)/.test(step));
      expect(found.length).toBeGreaterThan(0);
      // By the key itself: an index that only tells the source would go through all that a client ever sent.
      for (const step of found) {
        expect(step, sql).toMatch(/^SEARCH \w+ USING .*\((?:source=\? AND \w+=\?.*|case_id=\?|document_id=\?)\)$/);
      }
    }
  }
});

test('shadow names reach every table of a query and nothing else of it', () => {
  return createWorld().then(({ store }) => {
    const { sql, parameters } = overShadows(store.read)
      .selectFrom('decisions as d')
      .innerJoin('decision_history', 'decision_history.seq', 'd.last_seq')
      .select(['d.subject', 'decision_history.source'])
      .where('d.subject', '=', 'decisions')
      .where('d.source', 'in', ['policies'])
      .compile();
    expect(sql).not.toMatch(/"decision/);
    expect(sql).toBe(
      'select "d"."subject", "decision_history"."source" from "decisions" as "d" inner join "decision_history" on "decision_history"."seq" = "d"."last_seq" where "d"."subject" = ? and "d"."source" in (?)'
        .replaceAll('"decision_history"', '"rebuild_decision_history"')
        .replaceAll('"decisions"', '"rebuild_decisions"'),
    );
    expect(parameters).toEqual(['decisions', 'policies']);
  });
});
