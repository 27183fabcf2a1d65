import { type CiteBanner, createBannerCitation } from '../src/store/queries/history-banners.ts';
import type { JudgedRow } from '../src/store/queries/history-decisions.ts';
import { auditBlocks } from './consent-audit/blocks.ts';
import { gatherConsentAudit } from './consent-audit/gather.ts';
import { createReport } from './create-report.ts';
import { type CiteText, createTextCitation, loadPolicyTextIntervals, textColumns } from './policy-texts.ts';
import { type CsvColumn, renderCsv } from './render/csv-json.ts';
import { reportPeriod } from './report.ts';
import { scanAuditJson } from './scan-audit/findings.ts';

/**
 * A decision as a row of a file: what was recorded, under which text, how it came in, and its entry in the ledger.
 * Times are UTC.
 */
export function decisionColumns(cite: CiteText, citeBanner: CiteBanner): readonly CsvColumn<JudgedRow>[] {
  const banner: CsvColumn<JudgedRow> = {
    title: 'banner_evidence',
    value: (row) =>
      citeBanner({ bannerId: row.banner_id, at: row.at })
        .map(({ seq }) => seq)
        .join(' ') || 'not evidenced',
  };
  return [...recorded, ...textColumns(cite), banner];
}

const recorded: readonly CsvColumn<JudgedRow>[] = [
  { title: 'entry', value: (row) => row.seq },
  { title: 'decision', value: (row) => row.decision_id },
  { title: 'record_id', value: (row) => row.record_id },
  { title: 'subject', value: (row) => row.subject },
  { title: 'banner', value: (row) => row.banner_id },
  // First as the record states it, then as judged by purpose, given what the subject had granted before.
  { title: 'state', value: (row) => row.state },
  { title: 'judged', value: (row) => (row.disputed === 1 ? 'disputed' : row.label) },
  { title: 'purposes', value: (row) => row.purposes },
  { title: 'withdraws', value: (row) => row.withdraws },
  // Only what is proven (GDPR Art. 7(1)): no grant of a disputed decision, whether this one or an earlier one.
  { title: 'granted_afterwards', value: (row) => row.stands },
  { title: 'action', value: (row) => row.action },
  { title: 'method', value: (row) => row.method },
  { title: 'domain', value: (row) => row.domain },
  { title: 'page', value: (row) => row.page },
  { title: 'banner_version', value: (row) => row.banner_version },
  { title: 'signals', value: (row) => row.signals },
  { title: 'case', value: (row) => row.case_id },
  { title: 'time', value: (row) => row.at },
  { title: 'time_stated', value: (row) => row.occurred_at },
  { title: 'time_basis', value: (row) => row.occurred_basis },
  { title: 'time_counts', value: (row) => yesNo(row.occurred_counts) },
  { title: 'received', value: (row) => row.received_at },
  { title: 'way_in', value: (row) => row.via },
  { title: 'policy', value: (row) => row.policy_id },
  { title: 'policy_version', value: (row) => row.policy_version },
  { title: 'region', value: (row) => row.region },
  { title: 'language', value: (row) => row.language },
  { title: 'expires', value: (row) => row.expires_at },
  { title: 'first_of_decision', value: (row) => yesNo(row.is_first) },
  { title: 'contradicts_earlier', value: (row) => yesNo(row.conflicts) },
  { title: 'commitment', value: (row) => row.commitment },
];

function yesNo(flag: number): string {
  return Number(flag) === 1 ? 'yes' : 'no';
}

/** Consent decisions of a period, with their completeness and evidence (GDPR Art. 7(1); EDPB 05/2020 §104–108). */
export const consentAudit = createReport({
  name: 'consent-audit',
  title: 'Consent audit',
  description:
    'Consent decisions of a period by purpose, state, region, policy version and month, how complete they are, and how to verify them. CSV: one row per reported decision, with the policy text at that time.',
  tellsCounters: true,
  takesSubject: true,
  async *csv(input) {
    const period = reportPeriod(input);
    // Includes texts first seen after the period: it matters for a decision that they were not seen before.
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
