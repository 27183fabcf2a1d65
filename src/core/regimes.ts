import type { z } from 'zod';
import type { Regime, regimeRowSchema } from './regime-schema.ts';

/**
 * The built-in regimes and their rows. Keep docs/deadlines.md equal: a test compares them.
 * Figures marked `confirmed: false` were not read in a primary or near-primary text; they ship switched off.
 * Where a law gathered here says nothing of identity checks, disclosing and deleting kinds require one and the others
 * allow one on a recorded doubt: the careful reading, to be overridden in a file.
 */
const euStates = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');
/** The GDPR applies there through the EEA Agreement (Joint Committee Decision 154/2018). */
const eeaStates = ['IS', 'LI', 'NO'];
const us45States = 'VA CO CT UT TX OR MT NE DE NH NJ TN MN MD IN KY RI'.split(' ');

export const builtInRegimes: readonly Regime[] = [
  {
    id: 'eu-gdpr',
    law: 'GDPR (EU) 2016/679',
    jurisdictions: ['EU', ...euStates, ...eeaStates],
    territory: [...euStates, ...eeaStates],
  },
  {
    id: 'uk-gdpr',
    law: 'UK GDPR, as amended by the Data (Use and Access) Act 2025',
    jurisdictions: ['GB'],
    territory: ['GB'],
  },
  { id: 'us-ca', law: 'California, CCPA as amended by the CPRA', jurisdictions: ['US-CA'], territory: ['US'] },
  {
    id: 'us-45',
    law: 'State privacy acts with 45 days (US)',
    jurisdictions: us45States.map((state) => `US-${state}`),
    territory: ['US'],
  },
  { id: 'us-fl', law: 'Florida Digital Bill of Rights', jurisdictions: ['US-FL'], territory: ['US'] },
  { id: 'us-ia', law: 'Iowa Consumer Data Protection Act', jurisdictions: ['US-IA'], territory: ['US'] },
  { id: 'br-lgpd', law: 'LGPD, Brazil', jurisdictions: ['BR'], territory: ['BR'] },
  { id: 'ca-pipeda', law: 'PIPEDA, Canada', jurisdictions: ['CA'], territory: ['CA'] },
  { id: 'ca-qc', law: 'Quebec, P-39.1', jurisdictions: ['CA-QC'], territory: ['CA'] },
  { id: 'nz', law: 'Privacy Act 2020, New Zealand', jurisdictions: ['NZ'], territory: ['NZ'] },
  { id: 'ch', law: 'FADP, Switzerland', jurisdictions: ['CH'], territory: ['CH'] },
  { id: 'au', law: 'Privacy Act 1988, Australia (APP 12)', jurisdictions: ['AU'], territory: ['AU'] },
  { id: 'kr', law: 'PIPA, South Korea', jurisdictions: ['KR'], territory: ['KR'] },
  { id: 'in', law: 'DPDP Rules 2025, India', jurisdictions: ['IN'], territory: ['IN'] },
];

type Row = z.input<typeof regimeRowSchema>;
const careful = ['access', 'portability', 'erasure', 'rectification'] as const;
const days = (amount: number) => ({ amount, unit: 'days' as const });

const usState = {
  period: days(45),
  warnDaysEarly: 1,
  extension: { by: days(45), notice: 'notice with the reason inside the first 45 days' },
  citation: 'the state’s privacy act (45 days)',
  notes: ['A denial must carry instructions for an appeal.'],
} satisfies Partial<Row>;
const florida = {
  ...usState,
  extension: { by: days(15), notice: 'notice with the reason inside the first 45 days', confirmed: false },
  citation: 'Florida Digital Bill of Rights (45 days)',
} satisfies Partial<Row>;
const iowa = {
  ...usState,
  period: days(90),
  extension: { by: days(45), notice: 'notice with the reason inside the first 90 days' },
  citation: 'Iowa Consumer Data Protection Act (90 days)',
} satisfies Partial<Row>;
const unconfirmedDays = (regime: string, amount: number, citation: string, notes: string[] = []): Row[] => [
  {
    regime,
    kinds: [...careful],
    period: days(amount),
    warnDaysEarly: 1,
    identity: 'required',
    citation,
    confirmed: false,
    notes,
  },
  {
    regime,
    kinds: 'all',
    period: days(amount),
    warnDaysEarly: 1,
    identity: 'on-recorded-doubt',
    citation,
    confirmed: false,
    notes,
  },
];

export const builtInRows: readonly Row[] = [
  {
    regime: 'eu-gdpr',
    kinds: 'all',
    period: { amount: 1, unit: 'months' },
    rollOver: 'next-working-day',
    stopClock: 'guidance',
    extension: { by: { amount: 2, unit: 'months' }, notice: 'notice with reasons inside the first month' },
    identity: 'on-recorded-doubt',
    citation: 'GDPR Art. 12(3), Reg. 1182/71 Art. 3(2)(c), 3(4)',
    notes: ['A refusal names its reasons, the complaint to the authority and the judicial remedy (Art. 12(4)).'],
  },
  {
    regime: 'uk-gdpr',
    kinds: 'all',
    period: { amount: 1, unit: 'months' },
    runsFrom: 'latest-of-receipt-identity-fee',
    rollOver: 'next-working-day',
    stopClock: 'clarification',
    extension: {
      by: { amount: 2, unit: 'months' },
      notice: 'notice with reasons inside the first month; three months from the original start in all',
    },
    identity: 'on-recorded-doubt',
    citation: 'UK GDPR Art. 12A',
    notes: ['A refusal names its reasons, the complaint to the authority and the judicial remedy (Art. 12(4)).'],
  },
  {
    regime: 'us-ca',
    kinds: ['opt-out', 'limit'],
    period: { amount: 15, unit: 'business-days' },
    warnDaysEarly: 1,
    identity: 'forbidden',
    citation: '11 CCR 7026(f), 7027; no identity check: 7026(d), 7027(e), 7060(b)',
    notes: ['Since 1 January 2026 an opt-out is confirmed to the consumer (details: check with counsel).'],
  },
  {
    regime: 'us-ca',
    kinds: ['withdraw-consent'],
    period: { amount: 15, unit: 'business-days' },
    warnDaysEarly: 1,
    identity: 'forbidden',
    citation: '11 CCR 7060(b)',
    notes: ['No period is stated for a withdrawal of consent: that of an opt-out is used.'],
  },
  {
    regime: 'us-ca',
    kinds: 'all',
    period: days(45),
    warnDaysEarly: 1,
    extension: { by: days(45), notice: 'notice with an explanation; 90 days from receipt at most' },
    acknowledge: { amount: 10, unit: 'business-days' },
    identity: 'required',
    unverified: 'categories-only',
    citation: '11 CCR 7021',
    notes: [
      'The period starts on the day of receipt, regardless of the time that verification takes. No roll-over is stated.',
      'A request to know may name a range of dates (details: check with counsel).',
    ],
  },
  { regime: 'us-45', kinds: [...careful], ...usState, identity: 'required' },
  { regime: 'us-45', kinds: 'all', ...usState, identity: 'on-recorded-doubt' },
  { regime: 'us-fl', kinds: [...careful], ...florida, identity: 'required' },
  { regime: 'us-fl', kinds: 'all', ...florida, identity: 'on-recorded-doubt' },
  { regime: 'us-ia', kinds: [...careful], ...iowa, identity: 'required' },
  { regime: 'us-ia', kinds: 'all', ...iowa, identity: 'on-recorded-doubt' },
  {
    regime: 'br-lgpd',
    kinds: ['access'],
    period: days(15),
    warnDaysEarly: 1,
    identity: 'required',
    citation: 'LGPD Art. 19 II',
    notes: ['A simplified confirmation is due at once (Art. 19 I).'],
  },
  ...unconfirmedDays('br-lgpd', 15, 'LGPD Art. 18', ['Art. 19 gives a period for access only.']).filter(
    (row) => row.kinds === 'all',
  ),
  {
    regime: 'ca-pipeda',
    kinds: [...careful],
    period: days(30),
    warnDaysEarly: 1,
    extension: {
      by: days(30),
      notice: 'notice inside 30 days with the new limit, the reasons and the right to complain',
    },
    identity: 'required',
    citation: 'PIPEDA s 8(3)–(5)',
    notes: ['Silence counts as a refusal. A refusal is in writing, with reasons and recourse.'],
  },
  {
    regime: 'ca-pipeda',
    kinds: 'all',
    period: days(30),
    warnDaysEarly: 1,
    extension: {
      by: days(30),
      notice: 'notice inside 30 days with the new limit, the reasons and the right to complain',
    },
    identity: 'on-recorded-doubt',
    citation: 'PIPEDA s 8(3)–(5)',
    notes: ['Silence counts as a refusal. A refusal is in writing, with reasons and recourse.'],
  },
  ...unconfirmedDays('ca-qc', 30, 'P-39.1 s 32'),
  {
    regime: 'nz',
    kinds: [...careful],
    period: { amount: 20, unit: 'business-days' },
    warnDaysEarly: 1,
    extension: { by: 'as-notified', notice: 'notice of the new date inside the first 20 working days' },
    identity: 'required',
    citation: 'Privacy Act 2020 (20 working days)',
  },
  {
    regime: 'nz',
    kinds: 'all',
    period: { amount: 20, unit: 'business-days' },
    warnDaysEarly: 1,
    extension: { by: 'as-notified', notice: 'notice of the new date inside the first 20 working days' },
    identity: 'on-recorded-doubt',
    citation: 'Privacy Act 2020 (20 working days)',
  },
  ...unconfirmedDays('ch', 30, 'FADP'),
  ...unconfirmedDays('au', 30, 'Privacy Act 1988, APP 12'),
  ...unconfirmedDays('kr', 10, 'PIPA'),
  ...unconfirmedDays('in', 90, 'DPDP Rules 2025 r 14', [
    'An outer limit; sources conflict. Duties from about May 2027.',
  ]),
];
