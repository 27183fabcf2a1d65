import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { computeDeadlines, type Deadlines, type DeadlinesInput } from '../../src/law/deadlines.ts';
import { regimesFileSchema } from '../../src/law/regime-schema.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
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

describe('a row that is not confirmed', () => {
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
