import { consentAudit } from './consent-audit.ts';
import { deliveryLog } from './delivery-log.ts';
import { dsarRegister } from './dsar-register.ts';
import { reconciliation } from './reconciliation.ts';
import type { Report } from './report.ts';
import { scanAudit } from './scan-audit.ts';

/** All reports. */
export const reports: readonly Report[] = [consentAudit, dsarRegister, deliveryLog, reconciliation, scanAudit];

/** The report with this name; null if there is none. */
export function findReport(name: string): Report | null {
  return reports.find((report) => report.name === name) ?? null;
}
