import type { z } from 'zod';
import type { LegalPeriod, Regime, regimeRowSchema } from './regime-schema.ts';
import { moreRegimes, moreRows } from './regimes-more.ts';
import { usRegimes, usRows } from './regimes-us.ts';

/**
 * The built-in regimes and their rows. Keep docs/deadlines.md in step: a test compares them. Figures marked `confirmed:
 * false` were not read in a primary or near-primary text; they count, and are marked. If a law here says nothing about
 * identity checks, disclosing and deleting kinds require one and the others allow one on a recorded doubt: the careful
 * reading, which a file can override.
 */
const euStates = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');
/** The GDPR applies there through the EEA Agreement (Joint Committee Decision 154/2018). */
const eeaStates = ['IS', 'LI', 'NO'];
/** Parts of Finland and France with their own codes in which Union law applies (TFEU Art. 355). */
const euRegions = ['AX', 'GF', 'GP', 'MF', 'MQ', 'RE', 'YT'];

/** Notices for places without a recorded law, with the reason. A code includes its parts. */
export const notices: Readonly<Record<string, string>> = {
  US: 'The United States has no federal law that gives a right to an answer, and no act of this state is recorded here: choose the requester’s state, and check with counsel.',
};

/** A law under which a controller established in its places answers everyone. */
function law(id: string, name: string, places: string, reach: string, more: Partial<Regime> = {}): Regime {
  const jurisdictions = places.split(' ');
  const territory = [...new Set(jurisdictions.map((code) => code.slice(0, 2)))];
  return {
    id,
    law: name,
    jurisdictions,
    territory,
    reach,
    calendar: 'territory',
    otherwise: 'not-recorded',
    workingDay: null,
    ...more,
  };
}

export const builtInRegimes: readonly Regime[] = [
  {
    id: 'eu-gdpr',
    law: 'GDPR (EU) 2016/679',
    jurisdictions: ['EU', ...euStates, ...eeaStates, ...euRegions],
    territory: [...euStates, ...eeaStates, ...euRegions],
    reach: 'GDPR Art. 3(1), recital 14',
    calendar: 'territory',
    otherwise: 'not-recorded',
    workingDay: null,
  },
  law('uk-gdpr', 'UK GDPR, as amended by the Data (Use and Access) Act 2025', 'GB', 'UK GDPR Art. 3(1)'),
  law('ch', 'FADP, Switzerland', 'CH', 'FADP Art. 3'),
  law('gg', 'Data Protection (Bailiwick of Guernsey) Law 2017', 'GG', 'DP Law 2017 s 2'),
  law('je', 'Data Protection (Jersey) Law 2018', 'JE', 'DPJL Art. 4'),
  law('im', 'Applied GDPR, Isle of Man', 'IM', 'Applied GDPR Art. 3(1)'),
  law('tr', 'KVKK (Law 6698), Turkey', 'TR', 'KVKK Art. 2'),
  law('il', 'Protection of Privacy Law 1981, Israel', 'IL', 'PPL s 1'),
  ...usRegimes,
  law('ca-pipeda', 'PIPEDA, Canada', 'CA', 'PIPEDA s 4'),
  law('ca-qc', 'Quebec, P-39.1', 'CA-QC', 'P-39.1 s 1'),
  law('ca-ab', 'PIPA, Alberta', 'CA-AB', 'PIPA (Alberta) s 4'),
  law('ca-bc', 'PIPA, British Columbia', 'CA-BC', 'PIPA (BC) s 3', {
    calendar: 'ca-bc',
    workingDay: 'a day is neither a Saturday nor a holiday (PIPA s 1; Interpretation Act s 29)',
  }),
  law('br-lgpd', 'LGPD, Brazil', 'BR', 'LGPD Art. 3'),
  law('mx', 'LFPDPPP 2025, Mexico', 'MX', 'LFPDPPP Art. 1'),
  law('ar', 'Ley 25.326, Argentina', 'AR', 'Ley 25.326 art. 44'),
  law('co', 'Ley 1581 de 2012, Colombia', 'CO', 'Ley 1581 art. 2'),
  law('nz', 'Privacy Act 2020, New Zealand', 'NZ', 'Privacy Act 2020 s 4', {
    calendar: 'nz',
    otherwise: 'no-right',
    workingDay: 'working days as Privacy Act 2020 s 7(1) defines them',
  }),
  law('au', 'Privacy Act 1988, Australia', 'AU', 'Privacy Act 1988 s 5B', { otherwise: 'no-right' }),
  law('kr', 'PIPA, South Korea', 'KR', 'PIPA Art. 2(5)'),
  law('jp', 'APPI, Japan', 'JP', 'APPI Art. 16'),
  law('cn', 'PIPL, China', 'CN', 'PIPL Art. 3'),
  law('hk', 'PDPO, Hong Kong', 'HK', 'PDPO s 2(1)', { otherwise: 'no-right' }),
  law('tw', 'PDPA, Taiwan', 'TW', 'PDPA Art. 51'),
  law('sg', 'PDPA 2012, Singapore', 'SG', 'PDPA 2012 s 2', { otherwise: 'no-right' }),
  law('th', 'PDPA, Thailand', 'TH', 'PDPA s 5'),
  law('ph', 'Data Privacy Act 2012, Philippines', 'PH', 'DPA 2012 s 4'),
  law('in', 'DPDP Act 2023 and Rules 2025, India', 'IN', 'DPDP Act s 3'),
  law('za', 'POPIA, South Africa', 'ZA', 'POPIA s 3'),
  law('ke', 'Data Protection Act 2019, Kenya', 'KE', 'DPA 2019 s 4'),
  law('ng', 'Data Protection Act 2023, Nigeria', 'NG', 'NDPA 2023 s 2'),
  ...moreRegimes,
];

type Row = z.input<typeof regimeRowSchema>;
const READ = '2026-11-22';
const careful = ['access', 'portability', 'erasure', 'rectification'] as const;
const months = (amount: number): LegalPeriod => ({ amount, unit: 'months' });
const days = (amount: number): LegalPeriod => ({ amount, unit: 'days' });
const businessDays = (amount: number): LegalPeriod => ({ amount, unit: 'business-days' });
const unread = { readOn: null, confirmed: false } as const;
const asNotified = (inside: string) => ({
  by: 'as-notified' as const,
  notice: `notice of the new date within the first ${inside}`,
});
const longer = (by: LegalPeriod, inside: string) => ({
  by,
  notice: `notice with the reasons within the first ${inside}`,
});

/** A withdrawn consent stops counting when the withdrawal arrives: there is no period. */
function atOnce(regime: string, citation: string, confirmed = false): Row {
  return {
    regime,
    kinds: ['withdraw-consent'],
    period: 'at-once',
    identity: 'on-recorded-doubt',
    // Other laws have exceptions (PIPEDA: legal or contractual restrictions), or were not read.
    refusable: !confirmed,
    citation,
    readOn: confirmed ? READ : null,
    confirmed,
  };
}

/** One rule for several kinds: those that disclose or delete require a check, the others allow one on a recorded doubt. */
function both(row: Omit<Row, 'identity' | 'kinds'>, kinds: readonly (typeof careful)[number][] = careful): Row[] {
  return [
    { ...row, kinds: [...kinds], identity: 'required' },
    { ...row, kinds: 'all', identity: 'on-recorded-doubt' },
  ];
}

/** Art. 12A came into force (Data (Use and Access) Act 2025 s 76). */
const UK_REFORM = '2026-02-05';
const gdprRefusal = 'A refusal names its reasons, the complaint to the authority and the judicial remedy (Art. 12(4)).';

export const builtInRows: readonly Row[] = [
  atOnce('eu-gdpr', 'GDPR Art. 7(3)', true),
  {
    regime: 'eu-gdpr',
    kinds: 'all',
    period: months(1),
    rollOver: 'next-working-day',
    stopClock: 'guidance',
    extension: longer(months(2), 'month'),
    identity: 'on-recorded-doubt',
    citation: 'GDPR Art. 12(3), Reg. 1182/71 Art. 3(2)(c), 3(4)',
    readOn: READ,
    notes: [gdprRefusal],
  },
  atOnce('uk-gdpr', 'UK GDPR Art. 7(3)', true),
  {
    regime: 'uk-gdpr',
    kinds: ['access'],
    from: UK_REFORM,
    period: months(1),
    runsFrom: 'latest-of-receipt-identity-fee',
    rollOver: 'next-working-day',
    stopClock: 'clarification',
    extension: longer(months(2), 'month; three months from the original start in all'),
    identity: 'on-recorded-doubt',
    citation: 'UK GDPR Art. 12A',
    readOn: READ,
    notes: [
      gdprRefusal,
      'The clock stops for a clarification of a request under Art. 15 only (DPA 2018 s 54(3C) is its counterpart).',
    ],
  },
  {
    regime: 'uk-gdpr',
    kinds: 'all',
    from: UK_REFORM,
    period: months(1),
    runsFrom: 'latest-of-receipt-identity-fee',
    rollOver: 'next-working-day',
    extension: longer(months(2), 'month; three months from the original start in all'),
    identity: 'on-recorded-doubt',
    citation: 'UK GDPR Art. 12A',
    readOn: READ,
    notes: [gdprRefusal],
  },
  {
    regime: 'uk-gdpr',
    kinds: 'all',
    before: UK_REFORM,
    period: months(1),
    rollOver: 'next-working-day',
    stopClock: 'guidance',
    extension: longer(months(2), 'month'),
    identity: 'on-recorded-doubt',
    citation: 'UK GDPR Art. 12(3), as it stood before 5 February 2026',
    readOn: READ,
    notes: [gdprRefusal, 'Art. 12(3) had the words of Regulation (EU) 2016/679, which the UK had retained.'],
  },
  atOnce('ch', 'FADP Art. 6(6), 30(2)(b)'),
  {
    regime: 'ch',
    kinds: ['access'],
    period: days(30),
    extension: asNotified('30 days'),
    identity: 'required',
    citation: 'FADP Art. 25(7), DPO Art. 18',
    readOn: READ,
  },
  {
    regime: 'ch',
    kinds: ['portability'],
    period: days(30),
    extension: asNotified('30 days'),
    identity: 'required',
    citation: 'FADP Art. 28, DPO Art. 22',
    ...unread,
  },
  ...both({ regime: 'ch', period: days(30), citation: 'FADP Art. 32 (no period is stated)', ...unread }, [
    'erasure',
    'rectification',
  ]),
  atOnce('gg', 'DP Law 2017 s 10'),
  {
    regime: 'gg',
    kinds: 'all',
    period: months(1),
    extension: longer(months(2), 'month'),
    identity: 'on-recorded-doubt',
    citation: 'Data Protection (Bailiwick of Guernsey) Law 2017 s 27',
    ...unread,
  },
  atOnce('je', 'DPJL Art. 11'),
  {
    regime: 'je',
    kinds: 'all',
    period: days(28),
    extension: longer(days(56), '4 weeks'),
    identity: 'on-recorded-doubt',
    citation: 'DPJL Art. 27 (4 weeks, and 8 more)',
    ...unread,
  },
  atOnce('im', 'Applied GDPR Art. 7(3)'),
  {
    regime: 'im',
    kinds: 'all',
    period: months(1),
    extension: longer(months(2), 'month'),
    identity: 'on-recorded-doubt',
    citation: 'Applied GDPR (Isle of Man) Art. 12(3)',
    ...unread,
  },
  atOnce('tr', 'KVKK Art. 5'),
  ...both({ regime: 'tr', period: days(30), citation: 'KVKK Art. 13(2)', ...unread }),
  {
    regime: 'il',
    kinds: ['access', 'erasure', 'rectification'],
    period: days(30),
    identity: 'required',
    citation: 'PPL ss 13–14 and the Regulations of 1981',
    ...unread,
  },
  ...usRows,
  {
    regime: 'ca-pipeda',
    kinds: ['access', 'rectification'],
    period: days(30),
    extension: {
      by: days(30),
      notice: 'notice within 30 days with the new limit, the reasons and the right to complain',
    },
    identity: 'required',
    citation: 'PIPEDA s 8(3)–(5)',
    readOn: READ,
    notes: ['Silence counts as a refusal. A refusal is in writing, with reasons and recourse.'],
  },
  atOnce('ca-pipeda', 'PIPEDA Sch. 1 cl. 4.3.8 (on reasonable notice)'),
  ...both(
    { regime: 'ca-pipeda', period: days(30), citation: 'PIPEDA Sch. 1 cl. 4.9, 4.10 (no period is stated)', ...unread },
    ['portability', 'erasure'],
  ),
  {
    regime: 'ca-qc',
    kinds: ['access', 'portability', 'rectification', 'erasure'],
    period: days(30),
    identity: 'required',
    citation: 'P-39.1 s 32',
    ...unread,
    notes: ['The act has no extension. Silence counts as a refusal.'],
  },
  atOnce('ca-qc', 'P-39.1 ss 8, 22'),
  {
    regime: 'ca-qc',
    kinds: 'all',
    period: days(30),
    identity: 'on-recorded-doubt',
    citation: 'P-39.1 s 32',
    ...unread,
  },
  {
    regime: 'ca-ab',
    kinds: ['access', 'rectification'],
    period: days(45),
    extension: longer(days(30), '45 days'),
    identity: 'required',
    citation: 'PIPA (Alberta) ss 28, 31',
    readOn: READ,
  },
  atOnce('ca-ab', 'PIPA (Alberta) s 9 (on reasonable notice)'),
  {
    regime: 'ca-bc',
    kinds: ['access'],
    period: businessDays(30),
    extension: longer(businessDays(30), '30 days'),
    identity: 'required',
    citation: 'PIPA (BC) ss 29, 31',
    readOn: READ,
  },
  {
    regime: 'ca-bc',
    kinds: ['rectification'],
    period: businessDays(30),
    identity: 'required',
    citation: 'PIPA (BC) s 24 (no period is stated)',
    ...unread,
  },
  atOnce('ca-bc', 'PIPA (BC) s 9 (on reasonable notice)'),
  atOnce('br-lgpd', 'LGPD Art. 8 §5', true),
  {
    regime: 'br-lgpd',
    kinds: ['access'],
    period: days(15),
    identity: 'required',
    citation: 'LGPD Art. 19 II',
    readOn: READ,
    notes: ['A simplified confirmation is due at once (Art. 19 I).'],
  },
  ...both(
    {
      regime: 'br-lgpd',
      period: days(15),
      citation: 'LGPD Art. 18',
      ...unread,
      notes: ['Art. 19 gives a period for access only.'],
    },
    ['portability', 'erasure', 'rectification'],
  ),
  atOnce('mx', 'LFPDPPP Art. 7'),
  ...both(
    {
      regime: 'mx',
      period: businessDays(20),
      extension: longer(businessDays(20), '20 days'),
      citation: 'LFPDPPP 2025 Art. 31',
      readOn: READ,
    },
    ['access', 'erasure', 'rectification'],
  ),
  {
    regime: 'ar',
    kinds: ['access'],
    period: days(10),
    identity: 'required',
    citation: 'Ley 25.326 art. 14',
    readOn: READ,
  },
  {
    regime: 'ar',
    kinds: ['erasure', 'rectification'],
    period: businessDays(5),
    identity: 'required',
    citation: 'Ley 25.326 art. 16',
    ...unread,
  },
  atOnce('ar', 'Ley 25.326 art. 5'),
  {
    regime: 'ar',
    kinds: ['restriction', 'limit', 'objection', 'opt-out'],
    period: businessDays(5),
    identity: 'on-recorded-doubt',
    citation: 'Ley 25.326 arts. 16, 27',
    ...unread,
  },
  {
    regime: 'co',
    kinds: ['access'],
    period: businessDays(10),
    extension: longer(businessDays(5), '10 days'),
    identity: 'required',
    citation: 'Ley 1581 art. 14',
    ...unread,
  },
  ...both(
    {
      regime: 'co',
      period: businessDays(15),
      extension: longer(businessDays(8), '15 days'),
      citation: 'Ley 1581 art. 15',
      ...unread,
    },
    ['erasure', 'rectification'],
  ),
  {
    regime: 'nz',
    kinds: ['access'],
    period: businessDays(20),
    extension: asNotified('20 working days (s 48)'),
    identity: 'required',
    citation: 'Privacy Act 2020 s 44',
    readOn: READ,
  },
  {
    regime: 'nz',
    kinds: ['rectification', 'erasure'],
    period: businessDays(20),
    extension: asNotified('20 working days (s 65)'),
    identity: 'required',
    citation: 'Privacy Act 2020 s 63',
    ...unread,
    notes: ['To correct includes to delete (s 7(1)).'],
  },
  {
    regime: 'au',
    kinds: ['access'],
    period: days(30),
    identity: 'required',
    citation: 'APP 12.4 (a reasonable period; 30 days by the guidance of the OAIC)',
    ...unread,
  },
  {
    regime: 'au',
    kinds: ['rectification'],
    period: days(30),
    identity: 'required',
    citation: 'APP 13.5 (a reasonable period; 30 days by the guidance of the OAIC)',
    ...unread,
  },
  {
    regime: 'au',
    kinds: ['opt-out', 'objection', 'withdraw-consent'],
    period: days(30),
    identity: 'on-recorded-doubt',
    citation: 'APP 7.6–7.7 (a reasonable period)',
    ...unread,
  },
  {
    regime: 'kr',
    kinds: ['access'],
    period: days(10),
    identity: 'required',
    citation: 'PIPA Art. 35, Enforcement Decree Art. 41–42',
    readOn: READ,
  },
  ...both({ regime: 'kr', period: days(10), citation: 'PIPA Art. 36–37, Enforcement Decree Art. 43–44', ...unread }, [
    'portability',
    'erasure',
    'rectification',
  ]),
  ...both({
    regime: 'jp',
    period: days(14),
    citation: 'APPI Art. 33–35 (without delay), Art. 39 (two weeks before an action)',
    ...unread,
  }),
  atOnce('cn', 'PIPL Art. 15'),
  ...both({ regime: 'cn', period: businessDays(15), citation: 'PIPL Art. 50 (in a timely manner)', ...unread }),
  {
    regime: 'hk',
    kinds: ['access'],
    period: days(40),
    identity: 'required',
    citation: 'PDPO s 19',
    ...unread,
  },
  {
    regime: 'hk',
    kinds: ['rectification', 'erasure'],
    period: days(40),
    identity: 'required',
    citation: 'PDPO s 23',
    ...unread,
  },
  {
    regime: 'hk',
    kinds: ['opt-out', 'objection', 'withdraw-consent'],
    period: 'at-once',
    identity: 'on-recorded-doubt',
    citation: 'PDPO ss 35G, 35L (direct marketing)',
    ...unread,
  },
  {
    regime: 'tw',
    kinds: ['access', 'portability'],
    period: days(15),
    extension: longer(days(15), '15 days'),
    identity: 'required',
    citation: 'PDPA Art. 13(1)',
    ...unread,
  },
  atOnce('tw', 'PDPA Art. 7, 11'),
  ...both(
    {
      regime: 'tw',
      period: days(30),
      extension: longer(days(30), '30 days'),
      citation: 'PDPA Art. 13(2)',
      ...unread,
    },
    ['erasure', 'rectification'],
  ),
  {
    regime: 'sg',
    kinds: ['access'],
    period: days(30),
    extension: asNotified('30 days'),
    identity: 'required',
    citation: 'PDP Regulations 2021 reg 5',
    readOn: READ,
  },
  {
    regime: 'sg',
    kinds: ['rectification'],
    period: days(30),
    extension: asNotified('30 days'),
    identity: 'required',
    citation: 'PDPA 2012 s 22, PDP Regulations 2021',
    ...unread,
  },
  {
    regime: 'sg',
    kinds: ['withdraw-consent', 'opt-out', 'objection'],
    period: businessDays(10),
    identity: 'on-recorded-doubt',
    citation: 'PDPA 2012 s 16 (on reasonable notice)',
    ...unread,
  },
  atOnce('th', 'PDPA s 19'),
  {
    regime: 'th',
    kinds: ['access'],
    period: days(30),
    identity: 'required',
    citation: 'PDPA s 30',
    readOn: READ,
  },
  ...both({ regime: 'th', period: days(30), citation: 'PDPA ss 31–36 (no period is stated)', ...unread }, [
    'portability',
    'erasure',
    'rectification',
  ]),
  atOnce('ph', 'DPA 2012 IRR s 34(b)'),
  ...both({
    regime: 'ph',
    period: days(15),
    citation: 'DPA 2012 s 16 (no period is stated)',
    ...unread,
    notes: ['After 15 days a complaint may be filed; NPC Advisory 2021-01 allows up to 30 working days.'],
  }),
  { ...atOnce('in', 'DPDP Act s 6(4)'), from: '2027-05-13' },
  ...both({
    regime: 'in',
    from: '2027-05-13',
    period: days(90),
    citation: 'DPDP Rules 2025 r 14',
    ...unread,
    notes: ['An outer limit; sources conflict. In force 18 months after the publication of the rules (r 1(4)).'],
  }),
  atOnce('za', 'POPIA s 11(2)(b)'),
  {
    regime: 'za',
    kinds: ['access'],
    period: days(30),
    extension: longer(days(30), '30 days (PAIA s 57)'),
    identity: 'required',
    citation: 'POPIA s 25, PAIA s 56(1)',
    readOn: READ,
  },
  ...both({ regime: 'za', period: days(30), citation: 'POPIA ss 11(3), 24 (no period is stated)', ...unread }, [
    'erasure',
    'rectification',
  ]),
  atOnce('ke', 'DPA 2019 s 32(2)'),
  {
    regime: 'ke',
    kinds: ['access'],
    period: days(7),
    identity: 'required',
    citation: 'DP (General) Regulations 2021 reg 9',
    ...unread,
  },
  {
    regime: 'ke',
    kinds: ['portability'],
    period: days(30),
    identity: 'required',
    citation: 'DP (General) Regulations 2021 reg 11',
    ...unread,
  },
  ...both({ regime: 'ke', period: days(14), citation: 'DP (General) Regulations 2021 regs 7, 8, 10, 12', ...unread }, [
    'erasure',
    'rectification',
  ]),
  atOnce('ng', 'NDPA 2023 s 35'),
  ...both({ regime: 'ng', period: days(30), citation: 'NDPA 2023 ss 34–38', ...unread }),
  ...moreRows,
];
