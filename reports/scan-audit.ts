import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { renderCsv } from './render/csv.ts';
import { periodOf, type ReportInput } from './report.ts';
import { scanBlocks } from './scan-audit/blocks.ts';
import { findingColumns, findingsOf, scanAuditJson } from './scan-audit/findings.ts';
import { gatherScanAudit, type ScanAudit } from './scan-audit/gather.ts';

const title = 'Scans and integrations';

const gather = (input: ReportInput): Promise<ScanAudit> => gatherScanAudit(input.history, periodOf(input));

/** What the scans of a period found on each site, how that changed, and which integrations came and went. */
export const scanAudit = createReport({
  name: 'scan-audit',
  title,
  description:
    'Cookies and trackers of each site at the end of a period, what became new, gone or changed in it, what was set before consent, and integrations connected and lost. CSV: one row per cookie, change and integration.',
  async *csv(input) {
    yield* renderCsv(findingColumns, findingsOf(await gather(input)));
  },
  json: async (input) => ({ ...scanAuditJson(await gather(input)) }),
  async *blocks(input) {
    yield* openingBlocks(title, input, { scope: 'all sites and integrations', time: 'scanned or changed' });
    yield { block: 'heading', level: 1, text: '1  Scans and integrations' };
    yield* scanBlocks(await gather(input), input, { rows: 5000 });
    yield* closingBlocks(input, 2);
  },
});
