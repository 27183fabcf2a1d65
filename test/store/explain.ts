import { CompiledQuery, type RootOperationNode } from 'kysely';
import type { Query, Store } from '../../src/store/store.ts';

/** The same query builder, recording every query that it runs. */
export function noting(query: Query, noted: RootOperationNode[]): Query {
  return query.withPlugin({
    transformQuery({ node }) {
      noted.push(node);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}

export interface Plan {
  readonly sql: string;
  /** Tables read from beginning to end, with or without an index. */
  readonly scanned: readonly string[];
  /** Indexes in which rows are looked up, with their conditions on PostgreSQL; each once. */
  readonly searched: readonly string[];
  /** Indexes read in order from an end. */
  readonly along: readonly string[];
}

/** How the database would find the rows of a recorded query. */
export function explain(store: Store, query: Query, node: RootOperationNode): Promise<Plan> {
  const executor = query.getExecutor();
  const queryId = { queryId: 'explained' };
  const { sql, parameters } = executor.compileQuery(executor.transformQuery(node, queryId), queryId);
  return explainSql(store, sql, parameters);
}

/** The same for a statement as text. */
export async function explainSql(store: Store, sql: string, parameters: readonly unknown[]): Promise<Plan> {
  const verb = store.engine === 'postgres' ? 'explain (format json)' : 'explain query plan';
  const explained = CompiledQuery.raw(`${verb} ${sql}`, [...parameters]);
  const { rows } = await store.read.executeQuery<Record<string, string>>(explained);
  return { sql, ...(store.engine === 'postgres' ? planOfPostgres(rows) : planOfSqlite(rows)) };
}

function planOfSqlite(rows: readonly Record<string, string>[]): Omit<Plan, 'sql'> {
  const details = rows.map(({ detail }) => detail ?? '');
  const found = (pattern: RegExp) => [...new Set(details.flatMap((detail) => pattern.exec(detail)?.[1] ?? []))];
  const derived = found(/^(?:CO-ROUTINE|MATERIALIZE) (\w+)/);
  return {
    scanned: found(/^SCAN (?!CONSTANT|\d)(\w+)(?! VIRTUAL)\b/).filter((name) => !derived.includes(name)),
    searched: found(/^SEARCH \w+ USING (.*)$/),
    along: found(/^SCAN \w+ USING (?:COVERING )?INDEX (\w+)/),
  };
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

function planOfPostgres(rows: readonly Record<string, string>[]): Omit<Plan, 'sql'> {
  const [{ Plan: root }] = JSON.parse(rows[0]?.['QUERY PLAN'] ?? '') as [{ Plan: PlanNode }];
  const scanned = new Set<string>();
  const searched = new Set<string>();
  const along = new Set<string>();
  const walk = (node: PlanNode): void => {
    const type = node['Node Type'];
    const index = node['Index Name'];
    if (type === 'Seq Scan') scanned.add(node['Relation Name'] ?? '');
    const condition = node['Index Cond'];
    if (index !== undefined && condition === undefined) along.add(index);
    if (index !== undefined && condition !== undefined) searched.add(`${index} ${condition}`);
    node.Plans?.forEach(walk);
  };
  walk(root);
  return { scanned: [...scanned], searched: [...searched], along: [...along] };
}
