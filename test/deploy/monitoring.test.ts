import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/http/metrics.ts';
import { quietSources } from '../http/quiet-metrics.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: object }[];
  }[];
}
const alerts = (parse(read('deploy/prometheus/alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules);

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}
const dashboard = JSON.parse(read('deploy/grafana/consent-ledger.json')) as Dashboard;

/** The series in /metrics, with the labels that each may carry. */
async function exposed(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { registry } = createMetrics(quietSources({ wakeUps: true }));
  const series = new Map<string, ReadonlySet<string>>();
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: readonly string[] };
    const labels = new Set([...labelNames, 'job', 'instance']);
    if (String(type) === 'histogram') {
      series.set(`${name}_bucket`, new Set([...labels, 'le']));
      for (const suffix of ['sum', 'count']) series.set(`${name}_${suffix}`, labels);
    } else series.set(name, labels);
  }
  return series;
}

/** The parts of a query, and of the text that names its results, that /metrics does not have. */
function unknownIn(query: string, series: ReadonlyMap<string, ReadonlySet<string>>, texts = ''): string[] {
  const unknown: string[] = [];
  const kept = new Set<string>();
  for (const [, name = '', matchers = ''] of query.matchAll(/\b(consent_ledger_\w+)(?:\{([^}]*)\})?/g)) {
    const labels = series.get(name);
    if (labels === undefined) unknown.push(name);
    for (const label of labels ?? []) kept.add(label);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (labels !== undefined && !labels.has(label)) unknown.push(`${name}{${label}}`);
  }
  const groups = [...query.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const named = [...texts.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)/g)].map(([, label = '']) => label);
  for (const label of [...groups, ...named])
    if (kept.size > 0 && !kept.has(label)) unknown.push(`${label} of ${query}`);
  return unknown;
}

test('every alert and panel uses metrics and labels that /metrics has', async () => {
  const series = await exposed();
  const queries = [
    ...alerts.map(({ alert, expr, annotations }) => ({ of: alert, expr, texts: JSON.stringify(annotations) })),
    ...dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat: texts = '' }) => ({ of: title, expr, texts })),
    ),
    ...dashboard.templating.list.map(({ query }) => ({ of: 'variable', expr: query, texts: '' })),
  ];
  expect(alerts.length).toBeGreaterThan(10);
  expect(dashboard.panels.length).toBeGreaterThan(10);
  expect(
    queries.flatMap(({ of, expr, texts }) => unknownIn(expr, series, texts).map((what) => `${of}: ${what}`)),
  ).toEqual([]);
  for (const { of, expr } of queries)
    if (!['ConsentLedgerDown', 'variable'].includes(of)) expect(expr, of).toContain('consent_ledger_');
  expect(unknownIn('sum(consent_ledger_deliveries{x="1"})', series)).toEqual(['consent_ledger_deliveries']);
  expect(unknownIn('sum by (x) (consent_ledger_dsar_due)', series)).toHaveLength(1);
  expect(unknownIn('consent_ledger_dsar_due', series, '{{ $labels.state }} {{x}}')).toHaveLength(1);
  expect(unknownIn('consent_ledger_dsar_due{x="1"}', series)).toEqual(['consent_ledger_dsar_due{x}']);
});

test('every code, outcome and state in an alert or panel exists in the program', () => {
  const sources = [
    'src/attention/operator-warnings.ts',
    'src/attention/figures.ts',
    'src/http/receive.ts',
    'src/core/errors.ts',
  ]
    .concat([
      'receivers/signature-node.ts',
      'receivers/endpoint.ts',
      'src/jobs/queue-figures.ts',
      'src/http/metrics.ts',
    ])
    .map(read)
    .join('\n');
  const exprs = [
    ...alerts.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const values = exprs.flatMap((expr) =>
    [...expr.matchAll(/\b(?:code|outcome|state)\s*(?:=~|!~|=)\s*"([^"]+)"/g)].flatMap(([, value = '']) =>
      value.split('|'),
    ),
  );
  expect(values.length).toBeGreaterThan(10);
  expect(values.filter((value) => !new RegExp(`'${value}'|^ {2}${value}:`, 'm').test(sources))).toEqual([]);
});

test('every alert has a unit test in which it fires', () => {
  const fired = new Set(
    [...read('deploy/prometheus/alerts.test.yml').matchAll(/alertname="(\w+)"/g)].map(([, name]) => name),
  );
  expect(alerts.map(({ alert }) => alert).filter((alert) => !fired.has(alert))).toEqual([]);
});
