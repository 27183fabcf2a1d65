import { counted } from '../../../../reports/format.ts';
import type { RetentionPeriod } from '../../../law/profile.ts';

/** A retention period in words. */
export function periodText(period: RetentionPeriod): string {
  if ('forEver' in period) return `for ever: ${period.forEver}`;
  return 'days' in period ? counted(period.days, 'day', 'days') : counted(period.months, 'month', 'months');
}
