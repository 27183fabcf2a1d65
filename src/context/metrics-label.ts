import type { Context } from './context.ts';

/**
 * How /metrics names a source: anyone on the admin network can read it, so clients are not named unless the operator wants it
 * (METRICS_SOURCES). A label is the same in every process of the installation, and says nothing without its key.
 */
export function metricsLabelOf({ config, ledger }: Pick<Context, 'config' | 'ledger'>, slug: string): string {
  return config.metricsSources === 'names'
    ? slug
    : `source-${ledger.keyOf('metrics', slug).toString('hex').slice(0, 8)}`;
}
