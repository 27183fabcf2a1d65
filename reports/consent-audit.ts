import { createBannerCitation } from '../src/store/queries/history-banners.ts';
import { auditBlocks } from './consent-audit/blocks.ts';
import { gatherConsentAudit } from './consent-audit/gather.ts';
import { createReport } from './create-report.ts';
import { decisionColumns } from './decision-columns.ts';
import { loadPolicyTextIntervals, createTextCitation } from './policy-texts.ts';
import { renderCsv } from './render/csv-json.ts';
import { periodOf } from './report.ts';
import { scanAuditJson } from './scan-audit/findings.ts';

/** Consent decisions of a period, with how complete they are and what they rest on (GDPR Art. 7(1); EDPB 05/2020 §104–108). */
export const consentAudit = createReport({
  name: 'consent-audit',
  title: 'Consent audit',
  description:
    'Consent decisions of a period by purpose, state, region, policy version and month, how complete they are, and how to verify them. CSV: one row per decision told, with the policy text of its time.',
  tellsCounters: true,
  takesSubject: true,
  async *csv(input) {
    const period = periodOf(input);
    // Includes texts first seen after the period: for a decision it matters that they were not seen before.
    const texts = await loadPolicyTextIntervals(input.history.textLooks(period), period.from, input.generatedAt);
    const citeBanner = createBannerCitation(await input.history.bannerEvidence(period));
    yield* renderCsv(decisionColumns(createTextCitation(texts), citeBanner), input.history.decisionRows(period));
  },
  async json(input) {
    const audit = await gatherConsentAudit(input);
    return { ...audit, scans: scanAuditJson(audit.scans) };
  },
  async *blocks(input) {
    yield* auditBlocks(await gatherConsentAudit(input), input);
  },
});
