import type { z } from 'zod';
import type { Regime, regimeRowSchema } from './regime-schema.ts';

/**
 * The acts of US states. They protect only residents, wherever the controller is; there is no federal law. Each state
 * in the group `us-45` has its own section, appeal and rule for a revoked consent. Keep docs/deadlines.md in step: a
 * test compares them.
 */
type Row = z.input<typeof regimeRowSchema>;
const READ = '2026-11-22';
const days = (amount: number) => ({ amount, unit: 'days' as const });
const attorneyGeneral = (state: string) => `the Attorney General of ${state}`;

interface StateAct {
  readonly code: string;
  readonly state: string;
  /** False: its text was not read; absent: it was. */
  readonly confirmed?: boolean;
  /** The day it came into force: requests received before give no right under it. */
  readonly since: string;
  /** The section that sets the 45 days. */
  readonly section: string;
  /** Who takes complaints if an appeal is denied; absent: the Attorney General. */
  readonly complaintTo?: string;
  /** Days for the decision on an appeal, and by how many it may be postponed; null: no appeal; `unread`: not known. */
  readonly appeal: readonly [days: number, extension: number] | 'unread' | null;
  /** Days within which processing must end after a consent was revoked, with the section; null: no period is stated. */
  readonly revocation: { readonly days: number; readonly section: string; readonly confirmed: boolean } | null;
}

const of = (days: number, section: string, confirmed = true) => ({ days, section, confirmed });
const acts: readonly StateAct[] = [
  {
    code: 'VA',
    since: '2023-01-01',
    state: 'Virginia',
    section: 'Va. Code § 59.1-577(B)',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'CO',
    since: '2023-07-01',
    state: 'Colorado',
    section: 'C.R.S. § 6-1-1306(2)',
    appeal: [45, 60],
    revocation: null,
  },
  {
    code: 'CT',
    since: '2023-07-01',
    state: 'Connecticut',
    section: 'Conn. Gen. Stat. § 42-518(c)',
    appeal: [60, 0],
    revocation: of(15, 'Conn. Gen. Stat. § 42-520(a)(6)'),
  },
  { code: 'UT', since: '2023-12-31', state: 'Utah', section: 'Utah Code § 13-61-203', appeal: null, revocation: null },
  {
    code: 'TX',
    since: '2024-07-01',
    state: 'Texas',
    section: 'Tex. Bus. & Com. Code § 541.052',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'OR',
    since: '2024-07-01',
    state: 'Oregon',
    section: 'ORS 646A.576',
    appeal: [45, 0],
    revocation: of(15, 'ORS 646A.578'),
  },
  {
    code: 'MT',
    since: '2024-10-01',
    state: 'Montana',
    section: 'Mont. Code § 30-14-2808',
    appeal: [60, 0],
    revocation: of(45, 'Mont. Code § 30-14-2812(1)(c)'),
  },
  {
    code: 'NE',
    since: '2025-01-01',
    state: 'Nebraska',
    section: 'Neb. Rev. Stat. § 87-1108',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'DE',
    since: '2025-01-01',
    state: 'Delaware',
    section: '6 Del. C. § 12D-104',
    appeal: [60, 0],
    revocation: of(15, '6 Del. C. § 12D-106', false),
  },
  {
    code: 'NH',
    since: '2025-01-01',
    state: 'New Hampshire',
    section: 'RSA 507-H:4',
    appeal: [60, 0],
    revocation: of(15, 'RSA 507-H:6', false),
  },
  {
    code: 'NJ',
    since: '2025-01-15',
    state: 'New Jersey',
    complaintTo: 'the Division of Consumer Affairs of New Jersey',
    section: 'N.J.S.A. 56:8-166.7',
    appeal: [45, 0],
    revocation: of(15, 'N.J.S.A. 56:8-166.12(a)(6)'),
  },
  {
    code: 'TN',
    since: '2025-07-01',
    state: 'Tennessee',
    section: 'Tenn. Code § 47-18-3304',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'MN',
    since: '2025-07-31',
    state: 'Minnesota',
    section: 'Minn. Stat. § 325M.14',
    appeal: [45, 60],
    revocation: of(15, 'Minn. Stat. § 325M.16'),
  },
  {
    code: 'MD',
    since: '2025-10-01',
    state: 'Maryland',
    section: 'Md. Code, Com. Law § 14-4705',
    appeal: [60, 0],
    revocation: of(30, 'Md. Code, Com. Law § 14-4707'),
  },
  {
    code: 'IN',
    since: '2026-01-01',
    state: 'Indiana',
    section: 'Ind. Code 24-15-3-1',
    appeal: [60, 0],
    revocation: null,
  },
  { code: 'KY', since: '2026-01-01', state: 'Kentucky', section: 'KRS 367.3615', appeal: [60, 0], revocation: null },
  {
    code: 'RI',
    since: '2026-01-01',
    state: 'Rhode Island',
    section: 'R.I. Gen. Laws § 6-48.1-5',
    appeal: [60, 0],
    revocation: of(15, 'R.I. Gen. Laws § 6-48.1-4(e)'),
  },
  {
    code: 'OK',
    since: '2027-01-01',
    state: 'Oklahoma',
    confirmed: false,
    section: 'Oklahoma Consumer Data Privacy Act (S.B. 546, 2026)',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'LA',
    since: '2027-01-01',
    state: 'Louisiana',
    confirmed: false,
    section: 'La. R.S. 51:1780.1–1780.5 (S.B. 386, 2026)',
    appeal: [60, 0],
    revocation: null,
  },
  {
    code: 'AL',
    since: '2027-05-01',
    state: 'Alabama',
    confirmed: false,
    section: 'Alabama Personal Data Protection Act (Act 2026-552, H.B. 351)',
    appeal: 'unread',
    revocation: null,
  },
  {
    code: 'VT',
    since: '2028-01-01',
    state: 'Vermont',
    confirmed: false,
    section: 'Vermont Data Privacy Act (S.71)',
    appeal: 'unread',
    revocation: null,
  },
];

function rowsOfAct({
  code,
  state,
  confirmed = true,
  since,
  section,
  complaintTo,
  appeal,
  revocation,
}: StateAct): Row[] {
  const authority = complaintTo ?? attorneyGeneral(state);
  const common = {
    regime: 'us-45',
    places: [`US-${code}`],
    from: since,
    citation: section,
    readOn: confirmed ? READ : null,
    confirmed,
    appeal:
      appeal === null || appeal === 'unread'
        ? null
        : { days: appeal[0], extension: appeal[1], then: `complaint to ${authority}` },
    notes:
      appeal === null
        ? ['The act provides no appeal.']
        : appeal === 'unread'
          ? [
              'Rests on summaries of the bill. The act was not read, nor whether it provides an appeal: check with counsel.',
            ]
          : [`A refusal says why, and how to appeal; a denied appeal says how to complain to ${authority}.`],
  } satisfies Partial<Row>;
  const answered = {
    ...common,
    period: days(45),
    extension: { by: days(45), notice: 'notice with the reason within the first 45 days' },
  } satisfies Partial<Row>;
  // Utah's right to correction came later than its act. Like Iowa and Florida, Utah lets people opt out of sensitive
  // data where other states require consent.
  const utah = code === 'UT';
  const rows: Row[] = [
    {
      ...answered,
      kinds: ['access', 'portability', 'erasure', ...(utah ? [] : (['rectification'] as const))],
      identity: 'required',
    },
    {
      ...answered,
      kinds: ['opt-out', 'objection', ...(utah ? (['limit'] as const) : [])],
      identity: 'on-recorded-doubt',
    },
  ];
  if (utah) {
    rows.push({
      ...answered,
      kinds: ['rectification'],
      from: '2026-07-01',
      identity: 'required',
      citation: `${section}, as amended by H.B. 418 (2025)`,
      readOn: null,
      confirmed: false,
    });
  }
  rows.push(
    revocation === null
      ? {
          ...answered,
          kinds: ['withdraw-consent'],
          identity: 'on-recorded-doubt',
          readOn: null,
          confirmed: false,
          extension: null,
          notes: [
            ...common.notes,
            'The act states no period for a consent that is revoked: the period for requests is the outer bound.',
          ],
        }
      : {
          ...common,
          kinds: ['withdraw-consent'],
          period: days(revocation.days),
          identity: 'on-recorded-doubt',
          citation: revocation.section,
          readOn: revocation.confirmed ? READ : null,
          confirmed: revocation.confirmed,
          notes: [
            ...common.notes,
            'Processing ends as soon as practicable after a consent is revoked, and by the limit at the latest.',
          ],
        },
  );
  return rows;
}

const states = acts.map(({ code }) => `US-${code}`);
export const usRegimes: readonly Regime[] = [
  regime('us-ca', 'California, CCPA as amended by the CPRA', ['US-CA'], {
    calendar: 'us-ca',
    workingDay:
      'the regulation does not define the business day: Saturdays and the holidays of Gov. Code §§ 6700–6701 were left out, not those on which state employees work or that they take by choice (Civ. Code § 9 can be read as counting Saturdays)',
  }),
  regime('us-45', 'State privacy acts with 45 days (US)', states),
  regime('us-fl', 'Florida Digital Bill of Rights', ['US-FL']),
  regime('us-ia', 'Iowa Consumer Data Protection Act', ['US-IA']),
  regime('us-nv', 'Nevada, NRS 603A (opt-out of sale; consumer health data)', ['US-NV']),
  regime('us-wa', 'Washington, My Health My Data Act (consumer health data)', ['US-WA']),
];

function regime(id: string, law: string, jurisdictions: string[], more: Partial<Regime> = {}): Regime {
  return {
    id,
    law,
    jurisdictions,
    territory: ['US'],
    reach: null,
    calendar: 'territory',
    otherwise: 'no-right',
    workingDay: null,
    ...more,
  };
}

const california = { regime: 'us-ca', readOn: READ } as const;
const florida = {
  regime: 'us-fl',
  from: '2024-07-01',
  period: days(45),
  extension: { by: days(15), notice: 'notice with the reason within the first 45 days' },
  citation: 'Fla. Stat. § 501.706(2)',
  readOn: READ,
  appeal: { days: 60, then: `complaint to ${attorneyGeneral('Florida')}` },
  notes: ['A refusal says why, and how to appeal (Fla. Stat. § 501.707).'],
} satisfies Partial<Row>;
const iowa = {
  regime: 'us-ia',
  from: '2025-01-01',
  period: days(90),
  extension: { by: days(45), notice: 'notice with the reason within the first 90 days' },
  citation: 'Iowa Code § 715D.3(2)',
  readOn: READ,
  appeal: { days: 60, then: `complaint to ${attorneyGeneral('Iowa')}` },
  notes: ['A refusal says why, and how to appeal. The act gives no right of correction.'],
} satisfies Partial<Row>;
const washington = {
  regime: 'us-wa',
  from: '2024-03-31',
  period: days(45),
  extension: { by: days(45), notice: 'notice with the reason within the first 45 days' },
  citation: 'RCW 19.373.040',
  readOn: READ,
  appeal: { days: 45, then: `complaint to ${attorneyGeneral('Washington')}` },
  notes: ['Consumer health data only. A refusal says why, and how to appeal.'],
} satisfies Partial<Row>;
const nevadaAppeal = 'A refusal can be appealed; the period was not read: check with counsel.';
const nevadaHealth = {
  regime: 'us-nv',
  from: '2024-03-31',
  period: days(45),
  extension: { by: days(45), notice: 'notice with the reason within the first 45 days' },
  citation: 'NRS 603A.505 ff. (S.B. 370, 2023)',
  readOn: null,
  confirmed: false,
  notes: ['Consumer health data only.', nevadaAppeal],
} satisfies Partial<Row>;
const noPeriod = 'The act states no period for a consent that is revoked: the period for requests is the outer bound.';

export const usRows: readonly Row[] = [
  {
    ...california,
    kinds: ['opt-out', 'objection'],
    period: { amount: 15, unit: 'business-days' },
    identity: 'forbidden',
    citation: '11 CCR 7026(f); no identity check: 7026(d), 7060(b)',
    notes: ['Since 1 January 2026 an opt-out is confirmed to the consumer (details: check with counsel).'],
  },
  {
    ...california,
    kinds: ['limit'],
    period: { amount: 15, unit: 'business-days' },
    identity: 'forbidden',
    citation: '11 CCR 7027(g); no identity check: 7027(e), 7060(b)',
  },
  {
    ...california,
    kinds: ['withdraw-consent'],
    period: { amount: 15, unit: 'business-days' },
    identity: 'forbidden',
    citation: '11 CCR 7026(f); no identity check: 7060(b)',
    readOn: null,
    confirmed: false,
    notes: ['No period is stated for a withdrawal of consent: that of an opt-out is used.'],
  },
  {
    ...california,
    kinds: ['access', 'portability', 'erasure', 'rectification'],
    period: days(45),
    extension: {
      by: days(45),
      notice: 'notice with an explanation within the first 45 days; 90 days from receipt at most',
    },
    acknowledge: { amount: 10, unit: 'business-days' },
    identity: 'required',
    unverified: 'categories-only',
    citation: '11 CCR 7021',
    notes: [
      'The period starts on the day of receipt, regardless of the time that verification takes. California provides no appeal.',
      'A request to know may name a range of dates (details: check with counsel).',
    ],
  },
  ...acts.flatMap(rowsOfAct),
  { ...florida, kinds: ['access', 'portability', 'erasure', 'rectification'], identity: 'required' },
  { ...florida, kinds: ['opt-out', 'objection', 'limit'], identity: 'on-recorded-doubt' },
  {
    ...florida,
    kinds: ['withdraw-consent'],
    extension: null,
    identity: 'on-recorded-doubt',
    readOn: null,
    confirmed: false,
    notes: [...florida.notes, noPeriod],
  },
  { ...iowa, kinds: ['access', 'portability', 'erasure'], identity: 'required' },
  { ...iowa, kinds: ['opt-out', 'objection', 'limit'], identity: 'on-recorded-doubt' },
  {
    ...iowa,
    kinds: ['withdraw-consent'],
    extension: null,
    identity: 'on-recorded-doubt',
    readOn: null,
    confirmed: false,
    notes: [...iowa.notes, noPeriod],
  },
  {
    regime: 'us-nv',
    kinds: ['opt-out', 'objection'],
    period: days(60),
    extension: { by: days(30), notice: 'notice that more time is reasonably necessary, within the first 60 days' },
    identity: 'on-recorded-doubt',
    citation: 'NRS 603A.345',
    readOn: READ,
    notes: ['Of data other than health data, Nevada gives a right to opt out of sale only; a verified request.'],
  },
  {
    ...nevadaHealth,
    kinds: ['erasure'],
    period: days(30),
    extension: null,
    identity: 'required',
    citation: 'NRS 603A.515 (30 days from authentication)',
    readOn: '2026-11-28',
    confirmed: true,
    notes: [
      'Consumer health data only. The act counts from the authentication of the request; from the receipt is earlier.',
      nevadaAppeal,
    ],
  },
  { ...nevadaHealth, kinds: ['access'], identity: 'required' },
  { ...nevadaHealth, kinds: ['withdraw-consent'], identity: 'on-recorded-doubt' },
  { ...washington, kinds: ['access', 'erasure'], identity: 'required' },
  { ...washington, kinds: ['withdraw-consent'], identity: 'on-recorded-doubt' },
];
