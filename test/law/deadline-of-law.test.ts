import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { dateIn } from '../../src/core/zoned-days.ts';
import { findHoliday } from '../../src/law/calendars.ts';
import { deadlineOfLaw } from '../../src/law/deadline-of-law.ts';
import type { OneLawInput } from '../../src/law/deadline-words.ts';
import type { RegimeRow } from '../../src/law/regime-schema.ts';
import { createRegimeTable, findRegimeRows } from '../../src/law/regime-table.ts';
import { runs } from '../temporary.ts';

const table = createRegimeTable();
/** `1 Jul 2026`, with the runtime's names of months. */
const formatDay = (date: string) =>
  new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
    .formatToParts(new Date(`${date}T00:00:00Z`))
    .filter(({ type }) => type !== 'literal')
    .sort((a, b) => a.type.localeCompare(b.type))
    .map(({ value }) => value)
    .join(' ');
function row(regime: string, kind: RequestKind = 'access', place: string | null = null): RegimeRow {
  const found = findRegimeRows(table, regime, kind, { place, receivedOn: '2026-12-31' })[0];
  if (found === undefined) throw new Error(`no row for ${regime}`);
  return found;
}
/** A request under one row, for a controller in the country of the law. */
function under(rule: RegimeRow, receivedAt: string, more: Partial<OneLawInput> = {}): OneLawInput {
  const regime = table.regimes.get(rule.regime);
  if (regime === undefined) throw new Error(`no regime ${rule.regime}`);
  const country = rule.regime === 'eu-gdpr' ? 'DE' : (regime.territory[0] ?? 'DE');
  return {
    regime,
    row: rule,
    why: 'establishment',
    receivedAt,
    receiptBasis: 'payload',
    timeZone: 'UTC',
    home: { country, region: null },
    place: null,
    ...more,
  };
}
const input = (regime: string, receivedAt: string, more: Partial<OneLawInput> = {}): OneLawInput =>
  under(row(regime, 'access', regime === 'us-45' ? 'US-VA' : null), receivedAt, more);
const isWorkingDay = (date: string, country: string) =>
  ![0, 6].includes(new Date(`${date}T00:00:00Z`).getUTCDay()) && findHoliday(date, { country, region: null }) === null;

describe('one month under the GDPR', () => {
  it.each([
    // received, aim for, legal limit
    ['2026-03-05', '2026-04-05', '2026-04-07'], // Easter Sunday, then Easter Monday
    ['2027-03-05', '2027-04-05', '2027-04-05'],
    ['2026-08-31', '2026-09-30', '2026-09-30'],
    ['2027-01-31', '2027-02-28', '2027-03-01'], // a Sunday
    ['2025-01-31', '2025-02-28', '2025-02-28'], // a Friday
    ['2024-01-31', '2024-02-29', '2024-02-29'], // a leap year, a Thursday
    ['2028-01-31', '2028-02-29', '2028-02-29'], // a leap year, a Tuesday
    ['2026-11-25', '2026-12-25', '2026-12-28'], // Christmas Day, Boxing Day on a Saturday, a Sunday
    ['2025-11-25', '2025-12-25', '2025-12-29'], // two holidays and a weekend
    ['2026-03-31', '2026-04-30', '2026-04-30'],
    ['2026-12-31', '2027-01-31', '2027-02-01'],
    ['2028-02-29', '2028-03-29', '2028-03-29'],
  ])('a request of %s: aim for %s, due %s', (received, aimFor, limit) => {
    const deadline = deadlineOfLaw(input('eu-gdpr', `${received}T10:00:00.000Z`));
    expect([deadline.aimFor, deadline.limit]).toEqual([aimFor, limit]);
  });

  it('is explained in words and dates with its citation', () => {
    const deadline = deadlineOfLaw(input('eu-gdpr', '2026-07-01T14:02:00.000Z', { timeZone: 'Europe/Berlin' }));
    expect(deadline.explanation.join('; ')).toBe(
      'received Wed 1 Jul 2026, 16:02 (Europe/Berlin); one month ends Sat 1 Aug 2026; not a working day; ' +
        'due Mon 3 Aug 2026; GDPR Art. 12(3), Reg. 1182/71 Art. 3(2)(c), 3(4)',
    );
    expect(deadline.flags).toEqual(['rolled-over']);
  });

  it('names the holiday that moves it', () => {
    const deadline = deadlineOfLaw(input('eu-gdpr', '2026-11-25T10:00:00.000Z', { timeZone: 'Europe/Berlin' }));
    expect(deadline.explanation).toContain('not a working day (Christmas Day)');
    expect(deadline.explanation).toContain('due Mon 28 Dec 2026');
  });

  it('follows the holidays of the region if one is given', () => {
    const received = '2026-05-04T10:00:00.000Z'; // one month on: Thursday 4 June 2026, Corpus Christi in Bavaria
    const bavaria = deadlineOfLaw(input('eu-gdpr', received, { home: { country: 'DE', region: 'BY' } }));
    const berlin = deadlineOfLaw(input('eu-gdpr', received, { home: { country: 'DE', region: 'BE' } }));
    expect([bavaria.limit, berlin.limit]).toEqual(['2026-06-05', '2026-06-04']);
  });

  it('counts the day of receipt in the zone of the controller, on either side of midnight', () => {
    const late = '2026-06-30T22:30:00.000Z'; // already 1 July in Berlin, still 30 June in New York
    expect(deadlineOfLaw(input('eu-gdpr', late, { timeZone: 'Europe/Berlin' })).aimFor).toBe('2026-08-01');
    expect(deadlineOfLaw(input('eu-gdpr', late, { timeZone: 'America/New_York' })).aimFor).toBe('2026-07-30');
    expect(deadlineOfLaw(input('eu-gdpr', late, { timeZone: 'Europe/Berlin' })).explanation[0]).toBe(
      'received Wed 1 Jul 2026, 00:30 (Europe/Berlin)',
    );
  });

  it.each([
    // The clocks of Berlin go forward at 01:00 UTC on 29 March 2026 and back at 01:00 UTC on 25 October 2026.
    ['2026-03-28T22:59:59.999Z', '2026-04-28'],
    ['2026-03-28T23:00:00.000Z', '2026-04-29'],
    ['2026-03-29T01:30:00.000Z', '2026-04-29'],
    ['2026-03-29T22:00:00.000Z', '2026-04-30'],
    ['2026-10-24T21:59:59.999Z', '2026-11-24'],
    ['2026-10-24T22:00:00.000Z', '2026-11-25'],
    ['2026-10-25T22:59:59.999Z', '2026-11-25'],
    ['2026-10-25T23:00:00.000Z', '2026-11-26'],
  ])('a receipt at %s around the change of clocks: aim for %s', (receiptAt, aimFor) => {
    expect(deadlineOfLaw(input('eu-gdpr', receiptAt, { timeZone: 'Europe/Berlin' })).aimFor).toBe(aimFor);
  });

  it('is three months from receipt when extended inside the first month', () => {
    const deadline = deadlineOfLaw(
      input('eu-gdpr', '2026-01-31T10:00:00.000Z', { extension: { noticeAt: '2026-02-20T09:00:00.000Z' } }),
    );
    expect([deadline.aimFor, deadline.limit, deadline.firstLimit]).toEqual(['2026-04-30', '2026-04-30', '2026-03-02']);
    expect(deadline.explanation).toContain('three months end Thu 30 Apr 2026');
    expect(deadline.flags).toContain('extended');
  });

  it('does not count an extension whose notice came after the first month', () => {
    const deadline = deadlineOfLaw(
      input('eu-gdpr', '2026-03-09T10:00:00.000Z', { extension: { noticeAt: '2026-04-10T09:00:00.000Z' } }),
    );
    expect(deadline.limit).toBe('2026-04-09');
    expect(deadline.flags).toContain('extension-late');
    expect(deadline.flags).not.toContain('extended');
  });

  it('does not pause while the requester is asked, unless guidance is enabled, and then says so', () => {
    const asked = { askedAt: '2026-03-10T09:00:00.000Z', receivedAt: '2026-03-14T09:00:00.000Z' };
    const received = '2026-03-09T10:00:00.000Z';
    const off = deadlineOfLaw(input('eu-gdpr', received, { clarifications: [asked], identity: asked }));
    expect(off.limit).toBe('2026-04-09');
    expect(off.explanation).toContain('waiting for the requester does not move the date');
    const on = deadlineOfLaw(
      input('eu-gdpr', received, { clarifications: [asked], identity: asked, suspendByGuidance: true }),
    );
    expect([on.aimFor, on.limit]).toEqual(['2026-04-09', '2026-04-14']); // overlapping waits count once
    expect(on.flags).toContain('pause-by-guidance');
  });

  it('flags a receipt that is only the arrival of the notice, and an assumed offset', () => {
    const at = '2026-03-09T10:00:00.000Z';
    expect(deadlineOfLaw(input('eu-gdpr', at, { receiptBasis: 'received' })).flags).toContain('receipt-is-arrival');
    expect(deadlineOfLaw(input('eu-gdpr', at, { receiptBasis: 'assumed-offset' })).flags).toContain(
      'receipt-offset-assumed',
    );
    expect(deadlineOfLaw(input('eu-gdpr', at, { receiptBasis: 'officer' })).flags).toEqual([]);
  });

  it('counts only weekends if no holidays are known, and says so', () => {
    const deadline = deadlineOfLaw(
      input('eu-gdpr', '2026-11-25T10:00:00.000Z', { home: { country: 'ZZ', region: null } }),
    );
    expect(deadline.limit).toBe('2026-12-25');
    expect(deadline.flags).toContain('holidays-unknown');
    const region = deadlineOfLaw(
      input('eu-gdpr', '2026-11-25T10:00:00.000Z', { home: { country: 'DE', region: 'ZZ' } }),
    );
    expect(region.limit).toBe('2026-12-28');
    expect(region.flags).toContain('holidays-unknown');
  });
});

describe('the UK', () => {
  it('leaves out the day of the question and the day of the answer, over the end of a month', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-03-20T10:00:00.000Z', {
        timeZone: 'Europe/London',
        clarifications: [{ askedAt: '2026-03-28T10:00:00.000Z', receivedAt: '2026-04-02T10:00:00.000Z' }],
      }),
    );
    // 20 April and six days (28 March to 2 April): Sunday 26 April, so Monday.
    expect([deadline.aimFor, deadline.limit]).toEqual(['2026-04-20', '2026-04-27']);
    expect(deadline.explanation).toContain(
      'clarification asked: clock stopped Sat 28 Mar 2026 to Thu 2 Apr 2026 (6 days left out)',
    );
  });

  it('leaves out one day if the answer comes on the day of the question', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-06-01T10:00:00.000Z', {
        clarifications: [{ askedAt: '2026-06-03T08:00:00.000Z', receivedAt: '2026-06-03T16:00:00.000Z' }],
      }),
    );
    expect(deadline.limit).toBe('2026-07-02');
  });

  it('leaves out nothing if the question is asked and answered on the day of receipt, which does not count anyway', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-06-01T10:00:00.000Z', {
        clarifications: [{ askedAt: '2026-06-01T11:00:00.000Z', receivedAt: '2026-06-01T16:00:00.000Z' }],
      }),
    );
    expect(deadline.limit).toBe('2026-07-01');
  });

  it('does not stop a clock that has run out', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-06-01T10:00:00.000Z', {
        clarifications: [{ askedAt: '2026-07-02T08:00:00.000Z', receivedAt: '2026-07-09T16:00:00.000Z' }],
      }),
    );
    expect(deadline.limit).toBe('2026-07-01');
    expect(deadline.flags).toContain('pause-uncounted');
  });

  it('moves day by day while the clarification is awaited', () => {
    const waiting = (asOf: string) =>
      deadlineOfLaw(
        input('uk-gdpr', '2026-06-01T10:00:00.000Z', {
          asOf,
          clarifications: [{ askedAt: '2026-06-03T08:00:00.000Z', receivedAt: null }],
        }),
      );
    expect(waiting('2026-06-03T09:00:00.000Z').limit).toBe('2026-07-02');
    expect(waiting('2026-06-07T09:00:00.000Z').limit).toBe('2026-07-06');
    expect(waiting('2026-06-07T09:00:00.000Z').flags).toContain('clock-stopped');
  });

  it('starts with the request, the identity information or the fee, whichever comes last', () => {
    const request = '2026-06-01T10:00:00.000Z';
    const identity = { askedAt: '2026-06-02T10:00:00.000Z', receivedAt: '2026-06-09T10:00:00.000Z' };
    const fee = { askedAt: '2026-06-02T10:00:00.000Z', receivedAt: '2026-06-05T10:00:00.000Z' };
    expect(deadlineOfLaw(input('uk-gdpr', request, { identity, fee })).startsOn).toBe('2026-06-09');
    expect(deadlineOfLaw(input('uk-gdpr', request, { identity, fee })).limit).toBe('2026-07-09');
    expect(deadlineOfLaw(input('uk-gdpr', request, { fee })).startsOn).toBe('2026-06-05');
    expect(deadlineOfLaw(input('uk-gdpr', request)).startsOn).toBe('2026-06-01');
  });

  it('does not start with the identity information if the law counts from receipt', () => {
    const identity = { askedAt: '2026-06-02T10:00:00.000Z', receivedAt: '2026-06-09T10:00:00.000Z' };
    expect(deadlineOfLaw(input('eu-gdpr', '2026-06-01T10:00:00.000Z', { identity })).startsOn).toBe('2026-06-01');
    expect(deadlineOfLaw(input('us-ca', '2026-06-01T10:00:00.000Z', { identity })).startsOn).toBe('2026-06-01');
  });

  it('says that the clock has not started while identity information is awaited', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-06-01T10:00:00.000Z', {
        asOf: '2026-06-20T10:00:00.000Z',
        identity: { askedAt: '2026-06-02T10:00:00.000Z', receivedAt: null },
      }),
    );
    expect(deadline.flags).toContain('clock-not-started');
    expect(deadline.startsOn).toBe('2026-06-20');
  });

  it('extends to three months from the original start, with the pause on top', () => {
    const deadline = deadlineOfLaw(
      input('uk-gdpr', '2026-03-31T10:00:00.000Z', {
        extension: { noticeAt: '2026-04-20T10:00:00.000Z' },
        clarifications: [{ askedAt: '2026-04-10T10:00:00.000Z', receivedAt: '2026-04-11T10:00:00.000Z' }],
      }),
    );
    expect([deadline.aimFor, deadline.limit]).toEqual(['2026-06-30', '2026-07-02']);
  });
});

describe('California and the others', () => {
  it('gives 45 calendar days from the day of receipt as day 0, and warns one day early', () => {
    const deadline = deadlineOfLaw(input('us-ca', '2026-07-01T18:00:00.000Z', { timeZone: 'America/Los_Angeles' }));
    expect([deadline.aimFor, deadline.limit, deadline.warnOn]).toEqual(['2026-08-15', '2026-08-15', '2026-08-14']);
  });

  it('extends to 90 days from receipt and never beyond', () => {
    const received = '2026-07-01T18:00:00.000Z';
    const notice = { noticeAt: '2026-08-10T18:00:00.000Z' };
    const extended = deadlineOfLaw(input('us-ca', received, { extension: notice }));
    expect(extended.limit).toBe('2026-09-29');
    const told = deadlineOfLaw(input('us-ca', received, { extension: { ...notice, until: '2027-01-01' } }));
    expect(told.limit).toBe('2026-09-29');
    const less = deadlineOfLaw(input('us-ca', received, { extension: { ...notice, until: '2026-09-01' } }));
    expect([less.aimFor, less.limit]).toEqual(['2026-09-01', '2026-09-01']);
  });

  it('confirms receipt in ten business days, over a holiday', () => {
    const deadline = deadlineOfLaw(input('us-ca', '2026-06-26T18:00:00.000Z'));
    // Independence Day 2026 is a Saturday: in California Friday 3 July is a business day (Gov. Code § 6701).
    expect(deadline.acknowledgeBy).toBe('2026-07-10');
  });

  it('answers an opt-out in 15 business days', () => {
    const optOut = deadlineOfLaw(input('us-ca', '2026-06-26T18:00:00.000Z', { row: row('us-ca', 'opt-out') }));
    expect(optOut.limit).toBe('2026-07-17');
    expect(optOut.explanation).toContain('15 business days end Fri 17 Jul 2026');
  });

  it('does not stop the clock for a clarification', () => {
    const asked = { askedAt: '2026-07-03T10:00:00.000Z', receivedAt: '2026-07-23T10:00:00.000Z' };
    const deadline = deadlineOfLaw(input('us-ca', '2026-07-01T18:00:00.000Z', { clarifications: [asked] }));
    expect(deadline.limit).toBe('2026-08-15');
    expect(deadline.flags).not.toContain('paused');
  });

  it.each([
    ['us-45', '2026-08-15'],
    ['us-ia', '2026-09-29'],
    ['br-lgpd', '2026-07-16'],
    ['ca-pipeda', '2026-07-31'],
    ['nz', '2026-07-30'], // 20 working days, with Matariki on 10 July 2026
  ])('%s: a request of 1 July 2026 is due %s', (regime, limit) => {
    expect(deadlineOfLaw(input(regime, '2026-07-01T02:00:00.000Z')).limit).toBe(limit);
  });

  it('takes the date of the notice if the law leaves it to the notice', () => {
    const notice = { noticeAt: '2026-07-10T02:00:00.000Z' };
    const until = deadlineOfLaw(
      input('nz', '2026-07-01T02:00:00.000Z', { extension: { ...notice, until: '2026-09-30' } }),
    );
    expect(until.limit).toBe('2026-09-30');
    const none = deadlineOfLaw(input('nz', '2026-07-01T02:00:00.000Z', { extension: notice }));
    expect(none.flags).toContain('extension-unavailable');
  });

  it('counts the day of receipt as the first day if a row says so', () => {
    const counted = { ...row('us-45', 'access', 'US-VA'), countsReceiptDay: true };
    expect(deadlineOfLaw(input('us-45', '2026-07-01T12:00:00.000Z', { row: counted })).limit).toBe('2026-08-14');
  });

  it('does not count an extension that nobody confirmed', () => {
    const extension = { noticeAt: '2026-07-10T02:00:00.000Z' };
    const florida = row('us-fl');
    const doubtful = {
      ...florida,
      extension: { ...florida.extension, by: { amount: 15, unit: 'days' }, confirmed: false },
    };
    const off = deadlineOfLaw(under(doubtful as RegimeRow, '2026-07-01T12:00:00.000Z', { extension }));
    expect([off.limit, off.flags.includes('extension-unavailable')]).toEqual(['2026-08-15', true]);
    expect(deadlineOfLaw(under(florida, '2026-07-01T12:00:00.000Z', { extension })).limit).toBe('2026-08-30');
  });

  it('warns on the working day before the limit, and never on a day off', () => {
    // 45 days from 1 July 2026 end on Saturday 15 August; from 24 July on Monday 7 September, Labor Day.
    expect(deadlineOfLaw(input('us-45', '2026-07-01T12:00:00.000Z')).warnOn).toBe('2026-08-14');
    expect(deadlineOfLaw(input('us-45', '2026-07-25T12:00:00.000Z')).warnOn).toBe('2026-09-04');
    expect(deadlineOfLaw(input('eu-gdpr', '2026-07-01T12:00:00.000Z')).warnOn).toBeNull();
  });

  it('takes effect at once if the law gives no period, whatever else was recorded', () => {
    const withdrawn = deadlineOfLaw(
      under(row('eu-gdpr', 'withdraw-consent'), '2026-07-04T12:00:00.000Z', {
        extension: { noticeAt: '2026-07-05T12:00:00.000Z' },
        clarifications: [{ askedAt: '2026-07-04T13:00:00.000Z', receivedAt: null }],
      }),
    );
    expect([withdrawn.atOnce, withdrawn.limit, withdrawn.aimFor, withdrawn.warnOn]).toEqual([
      true,
      '2026-07-04',
      '2026-07-04',
      null,
    ]);
  });
});

describe('for any request', () => {
  const minute = fc.integer({ min: Date.UTC(2020, 0, 1) / 60_000, max: Date.UTC(2040, 0, 1) / 60_000 });
  const moment = minute.map((minutes) => new Date(minutes * 60_000).toISOString());
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/Los_Angeles',
    'Pacific/Auckland',
    'Asia/Kolkata',
    'Pacific/Apia',
  );
  const wait = fc.tuple(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 40 }));
  const rows = fc.constantFrom(...table.rows);

  it('the legal limit is never before the date to aim for, nor before the receipt', () => {
    fc.assert(
      fc.property(
        rows,
        moment,
        zone,
        fc.array(wait, { maxLength: 3 }),
        fc.boolean(),
        (regimeRow, at, timeZone, waits, extended) => {
          const after = (days: number) => new Date(Date.parse(at) + days * 86_400_000).toISOString();
          const deadline = deadlineOfLaw({
            ...under(regimeRow, at, { timeZone, home: { country: 'DE', region: null } }),
            suspendByGuidance: true,
            clarifications: waits.map(([from, length]) => ({ askedAt: after(from), receivedAt: after(from + length) })),
            extension: extended ? { noticeAt: after(2), until: null } : null,
          });
          expect(deadline.limit >= deadline.aimFor).toBe(true);
          expect(deadline.aimFor >= dateIn(at, timeZone)).toBe(true);
          expect(deadline.explanation.join('; ')).toContain(formatDay(deadline.limit));
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('a limit that rolls over is a working day, at most a week beyond the plain one', () => {
    const country = fc.constantFrom('DE', 'FR', 'IE', 'AT', 'PL', 'ES');
    fc.assert(
      fc.property(moment, zone, country, (at, timeZone, place) => {
        const deadline = deadlineOfLaw({
          ...input('eu-gdpr', at, { timeZone }),
          home: { country: place, region: null },
        });
        expect(isWorkingDay(deadline.limit, place)).toBe(true);
        expect(deadline.limit === deadline.aimFor).toBe(isWorkingDay(deadline.aimFor, place));
        expect(Date.parse(deadline.limit) - Date.parse(deadline.aimFor)).toBeLessThanOrEqual(7 * 86_400_000);
      }),
      { numRuns: runs(60) },
    );
  });

  it('the next month has the same date, or its last day if it is shorter', () => {
    fc.assert(
      fc.property(moment, (at) => {
        const [year = 0, month = 0, day = 0] = at.slice(0, 10).split('-').map(Number);
        const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
        const expected = new Date(Date.UTC(year, month, Math.min(day, last))).toISOString().slice(0, 10);
        expect(deadlineOfLaw(input('eu-gdpr', at)).aimFor).toBe(expected);
      }),
      { numRuns: runs(60) },
    );
  });

  it('a later receipt is never due earlier', () => {
    fc.assert(
      fc.property(rows, moment, fc.integer({ min: 1, max: 40 * 1440 }), (regimeRow, at, later) => {
        const due = (receiptAt: string) => deadlineOfLaw(under(regimeRow, receiptAt)).limit;
        expect(due(new Date(Date.parse(at) + later * 60_000).toISOString()) >= due(at)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});
