import type { z } from 'zod';
import type { LegalPeriod, Regime, regimeRowSchema } from './regime-schema.ts';

/**
 * Laws of further countries, none of whose statutes was read in full. Except where a row says otherwise it is
 * unconfirmed, and its notes say on which descriptions it rests, or that no source was read. A kind for which no period
 * is known has no row: it is not recorded. Keep docs/deadlines.md in step: a test compares them.
 */
type Row = z.input<typeof regimeRowSchema>;
type Kinds = Exclude<Row['kinds'], 'all'>;
const months = (amount: number): LegalPeriod => ({ amount, unit: 'months' });
const days = (amount: number): LegalPeriod => ({ amount, unit: 'days' });
const businessDays = (amount: number): LegalPeriod => ({ amount, unit: 'business-days' });

function law(id: string, name: string, place: string, reach: string): Regime {
  return {
    id,
    law: name,
    jurisdictions: [place],
    territory: [place],
    reach,
    calendar: 'territory',
    otherwise: 'not-recorded',
    workingDay: null,
  };
}

export const moreRegimes: readonly Regime[] = [
  law('id', 'UU 27/2022, Indonesia', 'ID', 'UU 27/2022 Art. 2'),
  law('vn', 'Law on Personal Data Protection 2025, Vietnam', 'VN', 'Law 91/2025/QH15 Art. 1'),
  law('my', 'PDPA 2010, Malaysia', 'MY', 'PDPA 2010 s 2'),
  law('sa', 'PDPL, Saudi Arabia', 'SA', 'PDPL Art. 2'),
  law('cl', 'Ley 19.628, Chile, as amended by Ley 21.719', 'CL', 'Ley 19.628 art. 1 bis'),
  law('pe', 'Ley 29733, Peru', 'PE', 'Ley 29733 art. 3'),
  law('uy', 'Ley 18.331, Uruguay', 'UY', 'Ley 18.331 art. 3'),
  law('ec', 'LOPDP, Ecuador', 'EC', 'LOPDP art. 3'),
  law('pa', 'Ley 81 de 2019, Panama', 'PA', 'Decreto Ejecutivo 285 de 2021 art. 2'),
  law('cr', 'Ley 8968, Costa Rica', 'CR', 'Ley 8968 art. 2'),
  law('ua', 'Law 2297-VI on Personal Data Protection, Ukraine', 'UA', 'Law 2297-VI Art. 1'),
  law('rs', 'Law on Personal Data Protection 2018, Serbia', 'RS', 'LPDP Art. 3'),
  law('ru', 'Federal Law 152-FZ, Russia', 'RU', '152-FZ Art. 1'),
  law('kz', 'Law 94-V on Personal Data, Kazakhstan', 'KZ', 'Law 94-V Art. 3'),
  law('ge', 'Law on Personal Data Protection 2023, Georgia', 'GE', 'LPDP 2023 Art. 2'),
  law('md', 'Law 195/2024, Moldova', 'MD', 'Law 195/2024 Art. 3'),
  law('al', 'Law 124/2024, Albania', 'AL', 'Law 124/2024 Art. 4'),
  law('mk', 'Law on Personal Data Protection 2020, North Macedonia', 'MK', 'LPDP 2020 Art. 3'),
  law('ba', 'Law on Personal Data Protection 2025, Bosnia and Herzegovina', 'BA', 'LPDP (Official Gazette BiH 12/25)'),
  law('eg', 'Law 151/2020, Egypt', 'EG', 'Law 151/2020'),
  law('gh', 'Data Protection Act 2012, Ghana', 'GH', 'Act 843 s 45'),
  law('ug', 'Data Protection and Privacy Act 2019, Uganda', 'UG', 'DPPA 2019 s 1'),
  law('rw', 'Law 058/2021, Rwanda', 'RW', 'Law 058/2021 Art. 2'),
  law('mu', 'Data Protection Act 2017, Mauritius', 'MU', 'DPA 2017 s 3'),
  law('bm', 'PIPA 2016, Bermuda', 'BM', 'PIPA 2016 s 3'),
  law('ky', 'Data Protection Act (2021 Revision), Cayman Islands', 'KY', 'DPA s 6'),
  law('jm', 'Data Protection Act 2020, Jamaica', 'JM', 'DPA 2020 s 3'),
  law('gi', 'Gibraltar GDPR', 'GI', 'Gibraltar GDPR Art. 3(1)'),
  law('qa', 'Law 13 of 2016, Qatar', 'QA', 'Law 13 of 2016 Art. 2'),
  law('bh', 'Law 30 of 2018, Bahrain', 'BH', 'Law 30 of 2018 Art. 2'),
  law('xk', 'Law 06/L-082, Kosovo', 'XK', 'Law 06/L-082 Art. 2'),
];

const careful: readonly string[] = ['access', 'portability', 'erasure', 'rectification'];
const objecting: Kinds = ['objection', 'opt-out'];
const restricting: Kinds = ['restriction', 'limit'];

/**
 * Rows for some kinds with a period and its citation: those that disclose or delete require a check, the others allow one
 * on a recorded doubt.
 */
function of(
  regime: string,
  kinds: Kinds,
  [period, citation]: readonly [Row['period'], citation: string],
  more: Partial<Row> = {},
): Row[] {
  const common = { regime, period, citation, readOn: null, confirmed: false, ...more };
  const checked = kinds.filter((kind) => careful.includes(kind));
  const others = kinds.filter((kind) => !careful.includes(kind));
  return [
    ...(checked.length === 0 ? [] : [{ ...common, kinds: checked, identity: 'required' as const }]),
    ...(others.length === 0 ? [] : [{ ...common, kinds: others, identity: 'on-recorded-doubt' as const }]),
  ];
}

/**
 * One rule for every kind, as in laws made after the GDPR, with the citations of the period and of the withdrawal of
 * consent, which takes effect at once.
 */
function likeGdpr(
  regime: string,
  [period, by]: readonly [period: LegalPeriod, extension: LegalPeriod],
  [citation, withdrawal]: readonly [string, string],
  more: Partial<Row>,
): Row[] {
  const all = { ...extended(by), ...more };
  return [
    ...of(regime, ['withdraw-consent'], ['at-once', withdrawal], more),
    ...of(regime, ['access', 'portability', 'erasure', 'rectification'], [period, citation], all),
    {
      regime,
      kinds: 'all',
      period,
      citation,
      readOn: null,
      confirmed: false,
      identity: 'on-recorded-doubt',
      ...all,
    },
  ];
}

const extended = (by: LegalPeriod | 'as-notified') => ({
  extension: { by, notice: 'notice with the reasons within the first period' },
});
const rests = (on: string) => `Rests on ${on}; the statute was not read.`;
const firms = rests('descriptions by law firms');
const unsourced = 'No source was read for this rule: compare it with the statute before you rely on it.';
const VIETNAM = '2026-01-01';
const CHILE = '2026-12-01';

export const moreRows: readonly Row[] = [
  ...of('id', ['access'], [days(3), 'UU 27/2022 Art. 32(2) (3 × 24 hours)'], { notes: hours() }),
  ...of('id', ['rectification'], [days(3), 'UU 27/2022 Art. 30(1) (3 × 24 hours)'], { notes: hours() }),
  ...of('id', ['withdraw-consent'], [days(3), 'UU 27/2022 Art. 40(2) (3 × 24 hours)'], { notes: hours() }),
  ...of('id', restricting, [days(3), 'UU 27/2022 Art. 41(2) (3 × 24 hours)'], { notes: hours() }),

  ...of('vn', ['access', 'rectification', 'portability'], [days(10), 'Decree 356/2025 (10 days)'], vietnam()),
  ...of('vn', ['erasure'], [days(20), 'Decree 356/2025 (20 days)'], vietnam()),
  ...of(
    'vn',
    ['withdraw-consent', ...restricting, ...objecting],
    [days(15), 'Decree 356/2025 (15 days; 20 if a processor or a third party must stop)'],
    {
      ...vietnam(),
      ...extended(days(15)),
    },
  ),
  ...of('vn', ['access', 'erasure', ...restricting, ...objecting], [days(3), 'Decree 13/2023 (72 hours)'], {
    from: '2023-07-01',
    before: VIETNAM,
    notes: ['The period ends 72 hours after receipt, at the same time of day.', firms],
  }),

  ...of('my', ['access'], [days(21), 'PDPA 2010 s 31'], {
    ...extended(days(14)),
    notes: [rests('s 31(2)–(3), which was read, and descriptions of s 31(1)')],
  }),
  ...of('my', ['rectification'], [days(21), 'PDPA 2010 s 35'], {
    ...extended(days(14)),
    notes: [rests('s 35(2)–(3), which was read, and descriptions of s 35(1)')],
  }),
  ...of('my', ['withdraw-consent'], ['at-once', 'PDPA 2010 s 38(2)'], { notes: [unsourced] }),

  ...likeGdpr('sa', [days(30), days(30)], ['PDPL Implementing Regulation Art. 3', 'PDPL Art. 5(2)'], {
    notes: [firms],
  }),

  ...of(
    'cl',
    ['access', 'portability', 'erasure', 'rectification', ...objecting],
    [businessDays(15), 'Ley 19.628 art. 11, as amended by Ley 21.719'],
    {
      from: CHILE,
      ...extended(businessDays(15)),
      notes: ['Sources conflict: others name 30 calendar days.', rests('a description by a law firm')],
    },
  ),
  ...of('cl', restricting, [businessDays(2), 'Ley 19.628 art. 11, as amended by Ley 21.719 (temporary blocking)'], {
    from: CHILE,
    notes: [unsourced],
  }),
  ...of(
    'cl',
    ['access', 'erasure', 'rectification', ...restricting],
    [businessDays(2), 'Ley 19.628 art. 16, as it stood before 1 December 2026'],
    { before: CHILE, notes: [unsourced] },
  ),

  ...of('pe', ['access'], [businessDays(20), 'DS 016-2024-JUS (20 days), as DS 003-2013-JUS art. 55 before'], {
    ...extended(businessDays(20)),
    notes: [unsourced],
  }),
  ...of(
    'pe',
    ['erasure', 'rectification', ...objecting],
    [businessDays(10), 'DS 016-2024-JUS (10 days), as DS 003-2013-JUS art. 55 before'],
    { ...extended(businessDays(10)), notes: [unsourced] },
  ),

  ...of('uy', ['access'], [businessDays(5), 'Ley 18.331 art. 14'], {
    notes: [rests('a press report')],
  }),
  ...of('uy', ['erasure', 'rectification'], [businessDays(5), 'Ley 18.331 art. 15'], { notes: [unsourced] }),

  ...of('ec', ['access'], [days(15), 'LOPDP art. 13'], { readOn: '2026-11-28', confirmed: true }),
  ...of('ec', ['rectification'], [days(15), 'LOPDP art. 14'], { readOn: '2026-11-28', confirmed: true }),
  ...of('ec', ['erasure', ...objecting], [days(15), 'LOPDP arts. 15–16'], { notes: [unsourced] }),

  ...of('pa', ['access'], [businessDays(10), 'Ley 81 de 2019 (10 business days)'], { notes: [unsourced] }),
  ...of('pa', ['erasure', 'rectification'], [businessDays(5), 'Ley 81 de 2019 (5 business days)'], {
    notes: [unsourced],
  }),

  ...of('cr', ['access', 'erasure', 'rectification'], [businessDays(5), 'Ley 8968 art. 7'], { notes: [unsourced] }),

  ...of('ua', ['access'], [days(30), 'Law 2297-VI Art. 8(2)'], { notes: [unsourced] }),

  ...likeGdpr('rs', [days(30), days(60)], ['LPDP 2018 Art. 21', 'LPDP 2018 Art. 15'], { notes: [unsourced] }),

  ...of('ru', ['access'], [businessDays(10), '152-FZ Arts. 14(3), 20(1)'], {
    ...extended(businessDays(5)),
    notes: [rests('rules of a Russian authority that repeat Art. 20(1)')],
  }),
  ...of('ru', ['erasure', 'rectification'], [businessDays(7), '152-FZ Art. 20(3)'], { notes: [unsourced] }),
  ...of('ru', objecting, [businessDays(10), '152-FZ Art. 21(5.1)'], {
    ...extended(businessDays(5)),
    notes: [unsourced],
  }),
  ...of('ru', ['withdraw-consent'], [days(30), '152-FZ Art. 21(5)'], { notes: [unsourced] }),

  ...of('kz', ['access'], [businessDays(3), 'Law 94-V Art. 25'], { notes: [unsourced] }),
  ...of('kz', ['erasure', 'rectification', ...restricting], [businessDays(1), 'Law 94-V Art. 25'], {
    notes: [unsourced],
  }),

  ...of(
    'ge',
    ['access', 'erasure', 'rectification', 'withdraw-consent'],
    [businessDays(10), 'LPDP 2023 Arts. 13–16, 20'],
    {
      from: '2024-03-01',
      ...extended(businessDays(10)),
      notes: [unsourced],
    },
  ),
  ...likeGdpr('md', [months(1), months(2)], ['Law 195/2024 Art. 12', 'Law 195/2024 Art. 7'], {
    from: '2026-08-23',
    notes: [unsourced],
  }),
  ...likeGdpr('al', [days(30), days(60)], ['Law 124/2024 (30 days), as Law 9887 before', 'Law 124/2024'], {
    notes: [unsourced],
  }),
  ...likeGdpr('mk', [days(30), days(60)], ['LPDP 2020 Art. 16', 'LPDP 2020 Art. 11'], { notes: [unsourced] }),
  ...likeGdpr(
    'ba',
    [days(30), days(60)],
    ['LPDP (Official Gazette BiH 12/25), 30 days', 'LPDP (Official Gazette BiH 12/25)'],
    { notes: [unsourced] },
  ),

  ...of(
    'eg',
    ['access', 'erasure', 'rectification', ...restricting, ...objecting],
    [days(6), 'Law 151/2020 (6 working days)'],
    {
      notes: ['Counted as calendar days, which is earlier: the weekend is Friday and Saturday.', unsourced],
    },
  ),
  ...of('gh', ['access'], [days(40), 'Act 843 s 35'], { notes: [unsourced] }),
  ...of('gh', objecting, [days(21), 'Act 843 s 39'], { notes: [unsourced] }),
  ...of('ug', ['access'], [days(30), 'DPPA 2019 s 24'], { notes: [unsourced] }),
  ...of('ug', objecting, [days(14), 'DPPA 2019 s 25'], { notes: [unsourced] }),
  ...of(
    'rw',
    ['access', 'portability', 'erasure', 'rectification', ...restricting, ...objecting],
    [days(30), 'Law 058/2021 (30 days)'],
    { notes: [unsourced] },
  ),
  ...of('mu', ['access', 'erasure', 'rectification', ...restricting], [months(1), 'DPA 2017 ss 37, 39'], {
    ...extended(months(1)),
    notes: [unsourced],
  }),
  ...of('bm', ['access', 'erasure', 'rectification'], [days(45), 'PIPA 2016 s 20'], {
    from: '2025-01-01',
    ...extended(days(30)),
    notes: [unsourced],
  }),
  ...of('ky', ['access'], [days(30), 'DPA (2021 Revision) s 8'], { ...extended(days(30)), notes: [unsourced] }),
  ...of('ky', objecting, [days(21), 'DPA (2021 Revision) s 10'], { notes: [unsourced] }),
  ...of('jm', ['access'], [days(30), 'DPA 2020 s 6'], { ...extended(days(30)), notes: [unsourced] }),
  ...of('jm', objecting, [days(21), 'DPA 2020 s 10'], { notes: [unsourced] }),
  ...likeGdpr('gi', [months(1), months(2)], ['Gibraltar GDPR Art. 12(3)', 'Gibraltar GDPR Art. 7(3)'], {
    notes: [rests('the text of Regulation (EU) 2016/679, which Gibraltar retained')],
  }),
  ...of(
    'qa',
    ['access', 'erasure', 'rectification', ...objecting],
    [days(30), 'Law 13 of 2016, guidelines of the authority (30 days)'],
    { notes: [unsourced] },
  ),
  ...of('bh', ['access'], [days(15), 'Law 30 of 2018 Art. 18 (15 working days)'], {
    notes: ['Counted as calendar days, which is earlier: the weekend is Friday and Saturday.', unsourced],
  }),
  ...of(
    'bh',
    ['erasure', 'rectification', ...restricting, ...objecting],
    [days(10), 'Law 30 of 2018 Arts. 20–23 (10 working days)'],
    {
      notes: ['Counted as calendar days, which is earlier: the weekend is Friday and Saturday.', unsourced],
    },
  ),
  ...likeGdpr('xk', [months(1), months(2)], ['Law 06/L-082 (one month)', 'Law 06/L-082 Art. 6'], {
    notes: [unsourced],
  }),
];

function hours(): string[] {
  return ['The period ends 72 hours after receipt, at the same time of day.', unsourced];
}

function vietnam(): Partial<Row> {
  return {
    from: VIETNAM,
    acknowledge: businessDays(2),
    ...extended('as-notified'),
    notes: ['An answer that needs a processor or a third party has more days.', firms],
  };
}
