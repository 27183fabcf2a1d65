import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { computeDeadlines, type Deadlines, type DeadlinesInput } from '../../src/law/deadlines.ts';
import { datelessText, unrecordedCodes, unrecordedText } from '../../src/law/not-recorded.ts';
import { regimesFileSchema } from '../../src/law/regime-schema.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
import { moreRegimes } from '../../src/law/regimes-more.ts';
import { runs } from '../temporary.ts';

const regimes = createRegimeTable();
const noon = (date: string) => `${date}T12:00:00.000Z`;

type More = Partial<Omit<DeadlinesInput, 'controller'>>;
/** A request to a controller in a place such as `DE-BE`, from a person in another. */
function due(
  kind: DeadlinesInput['kind'],
  received: string,
  from: string | null,
  to: string,
  more: More = {},
): Deadlines {
  const [country = null, region = null] = to === '' ? [] : to.split('-');
  return computeDeadlines({
    kind,
    place: from,
    receivedAt: noon(received),
    receiptBasis: 'payload',
    controller: { country, region, timeZone: 'UTC' },
    regimes,
    ...more,
  });
}
const ids = (deadlines: Deadlines) => deadlines.laws.map((law) => law.id);

describe('every law that applies', () => {
  it('is computed, and the strictest limit decides', () => {
    const virginia = due('access', '2026-11-01', 'US-VA', 'DE-BE');
    expect([virginia.limit, virginia.law, ids(virginia)]).toEqual(['2026-12-01', 'eu-gdpr', ['eu-gdpr', 'us-45']]);
    const korea = due('access', '2026-11-02', 'KR', 'DE-BE');
    expect([korea.limit, korea.law]).toEqual(['2026-11-12', 'kr']);
  });

  it('counts its own steps: the acknowledgement of one and the limit of another', () => {
    const both = due('access', '2026-06-26', 'US-CA', 'DE-BE');
    expect([both.limit, both.law, both.acknowledgeBy]).toEqual(['2026-07-27', 'eu-gdpr', '2026-07-10']);
  });

  it('is extended separately: a law without an extension keeps its date', () => {
    const notice = { extension: { noticeAt: noon('2026-07-10') } };
    expect(due('access', '2026-07-01', 'CA-QC', 'CA-QC', notice).limit).toBe('2026-07-31');
    const two = due('access', '2026-07-01', 'CA-QC', 'CA-ON', notice);
    expect([two.limit, two.law]).toEqual(['2026-07-31', 'ca-qc']);
    expect(due('access', '2026-07-01', 'CA-ON', 'CA-ON', notice).limit).toBe('2026-08-30');
  });

  it('is not extended by a notice that came after its first period, even if another law is', () => {
    // Virginia's first period ends on 15 August, the GDPR's month on 3 August.
    const late = due('access', '2026-07-01', 'US-VA', 'DE-BE', { extension: { noticeAt: noon('2026-08-10') } });
    expect([late.limit, late.law, late.firstLimit]).toEqual(['2026-08-03', 'eu-gdpr', '2026-08-03']);
    expect(late.laws.map((law) => law.flags.includes('extended'))).toEqual([false, true]);
  });

  it('stops only its own clock: the UK’s never moves a date of the GDPR', () => {
    const asked = { clarifications: [{ askedAt: noon('2026-07-05'), receivedAt: noon('2026-07-20') }] };
    expect(due('access', '2026-07-01', 'GB', 'GB-ENG', asked).limit).toBe('2026-08-17');
    const irish = due('access', '2026-07-01', 'GB', 'IE', asked);
    // The month ends on Saturday 1 August; the Monday is a holiday in Ireland.
    expect([irish.limit, irish.law]).toEqual(['2026-08-04', 'eu-gdpr']);
    const identity = { identity: { askedAt: noon('2026-07-02'), receivedAt: noon('2026-07-20') } };
    expect(due('access', '2026-07-01', 'GB', 'IE', identity).law).toBe('eu-gdpr');
  });

  it('stops the UK’s clock for access only', () => {
    const asked = { clarifications: [{ askedAt: noon('2026-07-05'), receivedAt: noon('2026-07-20') }] };
    for (const kind of ['erasure', 'rectification', 'restriction', 'objection', 'portability', 'unknown'] as const)
      expect(due(kind, '2026-07-01', 'GB', 'GB-ENG', asked).limit, kind).toBe('2026-08-03');
  });
});

describe('a law that has changed', () => {
  it('is that of the day of receipt: the UK counted from receipt alone before 5 February 2026', () => {
    const asked = {
      clarifications: [{ askedAt: noon('2026-02-06'), receivedAt: noon('2026-02-20') }],
      identity: { askedAt: noon('2026-02-05'), receivedAt: noon('2026-02-12') },
    };
    const [before, since] = [
      due('access', '2026-02-04', 'GB', 'GB-ENG', asked),
      due('access', '2026-02-05', 'GB', 'GB-ENG', asked),
    ];
    expect([before.limit, before.laws[0]?.citation]).toEqual([
      '2026-03-04',
      'UK GDPR Art. 12(3), as it stood before 5 February 2026',
    ]);
    expect([since.limit, since.laws[0]?.citation]).toEqual(['2026-03-20', 'UK GDPR Art. 12A']);
    const unknown = due('unknown', '2026-02-05', 'GB', 'GB-ENG', asked);
    expect(unknown.laws.map(({ citation }) => citation)).toEqual(['UK GDPR Art. 12A']);
    expect(unknown.limit).toBe('2026-03-12');
  });
});

describe('laws of further countries', () => {
  it.each([
    ['access', 'ID', '2026-07-01', '2026-07-04'],
    ['withdraw-consent', 'ID', '2026-07-01', '2026-07-04'],
    ['access', 'VN', '2026-07-01', '2026-07-11'],
    ['objection', 'VN', '2026-07-01', '2026-07-16'],
    ['erasure', 'VN', '2026-07-01', '2026-07-21'],
    ['erasure', 'VN', '2025-12-30', '2026-01-02'],
    ['access', 'MY', '2026-07-01', '2026-07-22'],
    ['erasure', 'SA', '2026-07-01', '2026-07-31'],
    ['access', 'CL', '2026-12-01', '2026-12-23'],
    ['access', 'CL', '2026-11-23', '2026-11-25'],
    ['restriction', 'CL', '2026-12-01', '2026-12-03'],
    ['access', 'UY', '2026-11-02', '2026-11-09'],
    ['access', 'EC', '2026-07-01', '2026-07-16'],
    ['access', 'RU', '2026-07-01', '2026-07-15'],
    ['access', 'MD', '2026-09-01', '2026-10-01'],
    ['access', 'GI', '2026-07-01', '2026-08-01'],
    ['access', 'XK', '2026-07-01', '2026-08-01'],
    ['erasure', 'US-NV', '2026-07-01', '2026-07-31'],
    ['access', 'US-AL', '2027-05-03', '2027-06-17'],
    ['access', 'US-VT', '2028-01-03', '2028-02-17'],
  ] as const)('%s from %s, received %s, is due %s', (kind, place, received, limit) => {
    const [country = ''] = place.split('-');
    expect(due(kind, received, place, country === 'US' ? 'US-NY' : country).limit).toBe(limit);
  });

  it('are unconfirmed unless the statute was read, say what they rest on, and never extend until confirmed', () => {
    const more = new Set(moreRegimes.map(({ id }) => id));
    const rows = regimes.rows.filter(({ regime }) => more.has(regime));
    expect(new Set(rows.map(({ regime }) => regime))).toEqual(more);
    for (const { confirmed, notes, readOn, citation } of rows)
      expect(confirmed ? readOn : notes.join(), citation).toMatch(
        confirmed ? /^2026-/ : /Rests on |No source was read/,
      );
    const notice = { extension: { noticeAt: noon('2026-07-03') } };
    expect(due('access', '2026-07-01', 'MY', 'MY', notice).limit).toBe('2026-07-22');
  });

  it('have no row for a kind whose period is not known', () => {
    for (const [kind, place] of [
      ['erasure', 'ID'],
      ['erasure', 'UA'],
      ['portability', 'UY'],
      ['access', 'MD'],
    ] as const)
      expect(unrecordedCodes(due(kind, '2026-07-01', place, place).unrecorded), place).toEqual([place]);
    expect(due('access', '2027-04-30', 'US-AL', 'US-NY').limit).toBeNull();
    expect(due('access', '2026-07-01', 'VN', 'VN').acknowledgeBy).toBe('2026-07-03');
  });
});

describe('a business day in California', () => {
  it('is every weekday on which state employees work, also Lincoln Day, Admission Day and Columbus Day', () => {
    // 12 February 2026 is a Thursday, 9 September a Wednesday, 12 October a Monday.
    const optOut = (received: string) => due('opt-out', received, 'US-CA', 'US-CA').limit;
    expect([optOut('2026-02-02'), optOut('2026-09-01'), optOut('2026-10-01')]).toEqual([
      '2026-02-24',
      '2026-09-23',
      '2026-10-22',
    ]);
  });
});

describe('a withdrawal of consent', () => {
  it('takes effect at once, whatever day it comes on', () => {
    const saturday = due('withdraw-consent', '2026-07-04', 'DE', 'DE-BE');
    expect([saturday.atOnce, saturday.limit, saturday.aimFor, saturday.warnOn]).toEqual([
      true,
      '2026-07-04',
      '2026-07-04',
      null,
    ]);
  });

  it('due at once is stricter than another law’s number of days', () => {
    const connecticut = due('withdraw-consent', '2026-07-04', 'US-CT', 'DE-BE');
    expect([connecticut.atOnce, connecticut.law]).toEqual([true, 'eu-gdpr']);
    const home = due('withdraw-consent', '2026-07-04', 'US-CT', 'US-CT');
    expect([home.atOnce, home.limit]).toEqual([false, '2026-07-19']);
  });
});

describe('when no law is known', () => {
  it('no date is invented: the officer chooses the place', () => {
    const unknown = due('access', '2026-07-01', null, 'US-CA');
    expect([unknown.limit, unknown.law, unknown.aimFor, unknown.placeMissing]).toEqual([null, null, null, true]);
    expect(unknown.says[0]).toContain('choose the place now');
    const german = due('access', '2026-07-01', null, 'DE-BE');
    expect([german.limit, german.placeMissing]).toEqual(['2026-08-03', true]);
    expect(german.says[0]).toContain('another may be stricter');
  });

  it('the US has no federal law, and the GDPR is not cited', () => {
    const us = due('access', '2026-07-01', 'US', 'US-NY');
    expect([us.limit, us.law, us.laws]).toEqual([null, null, []]);
    expect(us.says.join(' ')).toContain('no federal law');
    expect(JSON.stringify(us)).not.toContain('GDPR');
    expect(us.identity.rule).toBe('required');
  });

  it('a law that gives no right of this kind is not among the laws', () => {
    const iowa = due('rectification', '2026-07-01', 'US-IA', 'US-IA');
    expect([iowa.limit, iowa.laws]).toEqual([null, []]);
    expect(iowa.says.join(' ')).toContain('gives no right of this kind');
    const kentucky = due('access', '2025-12-31', 'US-KY', 'US-KY');
    expect([kentucky.limit, kentucky.laws]).toEqual([null, []]);
    expect(kentucky.says.join(' ')).toContain('applies only to requests received on or after 2026-01-01');
    expect(ids(due('rectification', '2026-07-01', 'US-IA', 'DE-BE'))).toEqual(['eu-gdpr']);
  });

  it('an erasure in Brazil cites Brazilian law', () => {
    const brazil = due('erasure', '2026-07-01', 'BR', 'BR');
    expect([brazil.law, brazil.limit, brazil.laws[0]?.confirmed]).toEqual(['br-lgpd', '2026-07-16', false]);
    expect(brazil.laws[0]?.citation).not.toContain('Art. 17');
  });
});

describe('a law that is not recorded', () => {
  it('is named instead of a statement that no answer is due', () => {
    const mongolia = due('access', '2026-07-01', 'MN', 'MN');
    expect([mongolia.limit, mongolia.laws]).toEqual([null, []]);
    expect(unrecordedCodes(mongolia.unrecorded)).toEqual(['MN']);
    expect(unrecordedText(mongolia)).toBe('no date computed: the law of Mongolia is not recorded here; it may set one');
    expect(mongolia.says).toEqual([
      'The law of Mongolia is not recorded here: check with counsel whether it sets a date.',
    ]);
  });

  it('is named beside the date of another law', () => {
    const german = due('access', '2026-07-01', 'MN', 'DE-BE');
    expect([german.limit, german.law]).toEqual(['2026-08-03', 'eu-gdpr']);
    expect(unrecordedText(german)).toBe('the law of Mongolia is not recorded here; it may set an earlier date');
    const home = due('access', '2026-07-01', 'DE', 'MN');
    expect([home.limit, unrecordedCodes(home.unrecorded)]).toEqual(['2026-08-03', ['MN']]);
    const both = due('access', '2026-07-01', 'TD', 'MN');
    expect(unrecordedText(both)).toBe(
      'no date computed: the law of Mongolia is not recorded here; the law of Chad is not recorded here; they may set one',
    );
  });

  it('is that of the state in the United States, which has none for the whole country', () => {
    expect(unrecordedCodes(due('access', '2026-07-01', 'US-NY', 'US-NY').unrecorded)).toEqual(['US-NY']);
    expect(unrecordedText(due('access', '2026-07-01', 'US', 'US-NY'))).toContain('until the state is chosen');
    // A controller in the US answers nobody elsewhere under an act of a state.
    expect(due('access', '2026-07-01', 'DE', 'US-NY').unrecorded).toEqual([]);
  });

  it('is said of a kind for which no rule is recorded, unless the law was read and gives no such right', () => {
    const israel = due('portability', '2026-07-01', 'IL', 'IL');
    expect(unrecordedText(israel)).toBe(
      'no date computed: what the law of Israel says about this kind of request is not recorded here; it may set one',
    );
    expect(israel.says.join()).not.toContain('gives no right');
    const iowa = due('rectification', '2026-07-01', 'US-IA', 'US-IA');
    expect([iowa.unrecorded, datelessText(iowa)]).toEqual([[], 'no date: no law recorded here gives this right']);
  });

  it('is said of the time before the rules that are recorded', () => {
    expect(unrecordedText(due('access', '2026-07-01', 'IN', 'IN'))).toContain('the law of India before 2027-05-13');
    expect(due('access', '2025-12-31', 'US-KY', 'US-KY').unrecorded).toEqual([]);
  });

  it('gets the controller’s own target, which is no limit; where every law is recorded there is none', () => {
    const target = { ownTargetDays: 10 };
    const mongolia = due('access', '2026-07-01', 'MN', 'MN', target);
    expect([mongolia.ownTarget, mongolia.limit, mongolia.aimFor, mongolia.law]).toEqual([
      '2026-07-11',
      null,
      null,
      null,
    ]);
    expect(due('access', '2026-07-01', 'MN', 'DE-BE', target).ownTarget).toBe('2026-07-11');
    expect(due('access', '2026-07-01', 'DE', 'DE-BE', target).ownTarget).toBeNull();
    expect(due('access', '2026-07-01', 'MN', 'MN').ownTarget).toBeNull();
  });
});

describe('a row that is not confirmed', () => {
  it('does not extend: the notice moves the date only once counsel has confirmed the law', () => {
    const notice = { extension: { noticeAt: noon('2026-07-03') } };
    const confirmed = createRegimeTable(regimesFileSchema.parse({ confirm: ['gg', 'je', 'tw', 'co'] }));
    const dates = (['GG', 'JE', 'TW', 'CO'] as const).map((place) => {
      const [plain, extended, trusted] = [
        due('access', '2026-07-01', place, place),
        due('access', '2026-07-01', place, place, notice),
        due('access', '2026-07-01', place, place, { ...notice, regimes: confirmed }),
      ];
      expect(extended.flags).toContain('extension-unavailable');
      expect(extended.laws[0]?.explanation).toContain('the extension is not confirmed: not counted');
      return [plain.limit, extended.limit, trusted.limit];
    });
    expect(dates).toEqual([
      ['2026-08-01', '2026-08-01', '2026-10-01'],
      ['2026-07-29', '2026-07-29', '2026-09-23'],
      ['2026-07-16', '2026-07-16', '2026-07-31'],
      ['2026-07-16', '2026-07-16', '2026-07-24'],
    ]);
  });

  it('counts if it gives the earlier date, and is marked', () => {
    const japan = due('access', '2026-07-01', 'JP', 'DE-BE');
    expect([japan.limit, japan.law]).toEqual(['2026-07-15', 'jp']);
    expect(japan.flags).toContain('unconfirmed');
    expect(japan.laws[1]?.explanation).toContain('this rule is unconfirmed: check with counsel');
  });

  it('counts even if the installation switched its law off, and the case says so', () => {
    const off = createRegimeTable(regimesFileSchema.parse({ disable: ['jp'] }));
    const japan = due('access', '2026-07-01', 'JP', 'DE-BE', { regimes: off });
    expect([japan.limit, japan.law]).toEqual(['2026-07-15', 'jp']);
    expect(japan.flags).toContain('switched-off');
    expect(japan.says.join()).toContain('jp is switched off');
  });
});

describe('for any request', () => {
  const day = fc
    .integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2036, 0, 1) })
    .map((ms) => new Date(ms).toISOString());
  const codes = [...regimes.regimes.values()].flatMap((regime) => regime.jurisdictions);
  const place = fc.constantFrom(null, 'US', 'US-NY', 'ZZ', 'CA-ON', ...codes);
  const controller = fc
    .constantFrom('DE-BY', 'GB-ENG', 'US-NY', 'CA-ON', 'CA-QC', 'NZ', 'BR', 'CH-ZH', 'JP', '', 'VN')
    .map((code) => {
      const [country = '', region = null] = code.split('-');
      return { country: country === '' ? null : country, region, timeZone: 'Europe/Berlin' };
    });
  const kind = fc.constantFrom(...requestKinds);
  const waits = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 }));
  const compute = (input: Pick<DeadlinesInput, 'kind' | 'place' | 'controller' | 'receivedAt'> & More) =>
    computeDeadlines({ receiptBasis: 'payload', regimes, ...input });
  const after = (at: string, days: number) => new Date(Date.parse(at) + days * 86_400_000).toISOString();

  it('an additional law never makes a date later', () => {
    fc.assert(
      fc.property(kind, place, controller, day, (asked, from, to, receivedAt) => {
        const together = compute({ kind: asked, place: from, controller: to, receivedAt });
        const alone = [
          compute({ kind: asked, place: null, controller: to, receivedAt }),
          compute({ kind: asked, place: from, controller: { ...to, country: null, region: null }, receivedAt }),
        ];
        for (const one of alone) {
          // Without the controller's state the law of the place has different days off.
          if (one.limit === null || one.laws.some((law) => law.flags.includes('rolled-over'))) continue;
          expect(together.limit !== null && together.limit <= one.limit).toBe(true);
        }
        expect(together.limit).toBe(together.laws.map((law) => law.limit).sort()[0] ?? null);
      }),
      { numRuns: runs(40) },
    );
  });

  it('the date to aim for is never after the limit, and the warning never on a weekend', () => {
    fc.assert(
      fc.property(
        kind,
        place,
        controller,
        day,
        fc.array(waits, { maxLength: 2 }),
        fc.boolean(),
        (asked, from, to, receivedAt, pauses, extended) => {
          const deadlines = compute({
            kind: asked,
            place: from,
            controller: to,
            receivedAt,
            clarifications: pauses.map(([start, length]) => ({
              askedAt: after(receivedAt, start),
              receivedAt: after(receivedAt, start + length),
            })),
            extension: extended ? { noticeAt: after(receivedAt, 3) } : null,
          });
          const { limit, aimFor, warnOn, receivedOn } = deadlines;
          expect((limit === null) === (deadlines.law === null)).toBe(true);
          if (limit === null || aimFor === null) return;
          expect(aimFor <= limit && receivedOn <= aimFor).toBe(true);
          if (deadlines.atOnce) expect(limit).toBe(receivedOn);
          if (warnOn !== null) expect(warnOn < limit && ![0, 6].includes(new Date(warnOn).getUTCDay())).toBe(true);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('an extension never makes a date earlier, and a wait for the requester never moves a date of the GDPR', () => {
    fc.assert(
      fc.property(kind, place, controller, day, waits, (asked, from, to, receivedAt, [start, length]) => {
        const request = { kind: asked, place: from, controller: to, receivedAt };
        const plain = compute(request);
        const extended = compute({ ...request, extension: { noticeAt: after(receivedAt, 2) } });
        if (plain.limit !== null) expect((extended.limit ?? '') >= plain.limit).toBe(true);
        const wait = { askedAt: after(receivedAt, start), receivedAt: after(receivedAt, start + length) };
        const waited = compute({ ...request, clarifications: [wait], identity: wait, fee: wait });
        const gdpr = (deadlines: Deadlines) => deadlines.laws.find((law) => law.id === 'eu-gdpr')?.limit;
        expect(gdpr(waited)).toBe(gdpr(plain));
      }),
      { numRuns: runs(40) },
    );
  });
});
