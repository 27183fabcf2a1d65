import type { DecisionRow } from '../src/store/queries/history-decisions.ts';
import { auditBlocks } from './consent-audit/blocks.ts';
import { gatherConsentAudit } from './consent-audit/gather.ts';
import { decisionColumns } from './decision-columns.ts';
import { renderCsv } from './render/csv.ts';
import { renderHtml } from './render/html.tsx';
import { renderJson } from './render/json.ts';
import { renderPdf } from './render/pdf.ts';
import { periodOf, reportFrame, unknownFormat, type Report } from './report.ts';

const name = 'consent-audit';
const title = 'Consent audit';

/** Consent decisions of a period, with how complete they are and what they rest on (GDPR Art. 7(1); EDPB 05/2020 §104–108). */
export const consentAudit: Report = {
  name,
  title,
  description:
    'Consent decisions of a period by purpose, state, region, policy version and month, how complete they are, and how to verify them. CSV: one row per decision told.',
  formats: ['pdf', 'html', 'json', 'csv'],
  async *produce(input) {
    switch (input.format) {
      case 'csv':
        yield* renderCsv<DecisionRow>(decisionColumns, input.history.decisionRows(periodOf(input)));
        return;
      case 'json':
        yield* renderJson({ ...(await gatherConsentAudit(name, title, input)) });
        return;
      case 'pdf':
        yield* renderPdf(
          reportFrame(name, title, input),
          auditBlocks(await gatherConsentAudit(name, title, input), input),
        );
        return;
      case 'html':
        yield* renderHtml(
          reportFrame(name, title, input),
          auditBlocks(await gatherConsentAudit(name, title, input), input),
        );
        return;
      default:
        throw unknownFormat(name, input.format);
    }
  },
};
