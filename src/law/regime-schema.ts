import { z } from 'zod';
import { requestKinds } from '../core/vocabulary.ts';

/**
 * A regime is a law whose rules a case follows. Rows are data: nothing in the program branches on the name of a law.
 * The built-in rows are in law/regimes.ts; an installation adds or replaces rows with a file of
 * {@link regimesFileSchema}.
 */
const sentence = z.string().trim().min(1).max(1000);
const regimeId = z.string().regex(/^[a-z]{2}(?:-[a-z0-9]+)*$/, 'a regime id looks like `eu-gdpr` or `us-ca`');
const placeCode = z.string().regex(/^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/, 'a place looks like `DE`, `US-CA` or `EU`');

/** A length of time: calendar months, calendar days or business days. */
const periodSchema = z.strictObject({
  amount: z.number().int().min(1).max(400),
  unit: z.enum(['months', 'days', 'business-days']),
});
export type LegalPeriod = z.infer<typeof periodSchema>;

/** When an identity check may or must be made before an answer, always expressed by one of these words. */
const identityRules = ['required', 'on-recorded-doubt', 'forbidden'] as const;
export type IdentityRule = (typeof identityRules)[number];

export const regimeRowSchema = z
  .strictObject({
    regime: regimeId,
    /** The kinds of request that this row covers; `all`: every kind that no other row of the regime names. */
    kinds: z.union([z.literal('all'), z.array(z.enum(requestKinds)).min(1)]),
    /** Only for requests from these places of the regime; null: from all of them. */
    places: z.array(placeCode).min(1).nullable().default(null),
    /** Only for requests received on or after this day. */
    from: z.iso.date().nullable().default(null),
    /** Only for requests received before this day: the rule that it replaced. */
    before: z.iso.date().nullable().default(null),
    /** The period for the answer; `at-once`: the request takes effect when it is received. */
    period: z.union([periodSchema, z.literal('at-once')], {
      error: 'use an amount (1 to 400) and a unit (months, days or business-days), or the word at-once',
    }),
    /** Whether the day of receipt is the first day of the period (true) or day 0 (false). */
    countsReceiptDay: z.boolean().default(false),
    /** Start of the period: the receipt, or the latest of receipt, identity information and fee. */
    runsFrom: z.enum(['receipt', 'latest-of-receipt-identity-fee']).default('receipt'),
    /** What happens if the period ends on a day that is not a working day. */
    rollOver: z.enum(['none', 'next-working-day']).default('none'),
    /** `clarification`: the law stops the clock. `guidance`: an authority says that it may be stopped; off unless enabled. */
    stopClock: z.enum(['none', 'clarification', 'guidance']).default('none'),
    extension: z
      .strictObject({
        /** The additional period, counted from the same start; `as-notified`: until the date in the notice. */
        by: z.union([periodSchema, z.literal('as-notified')]),
        /** What the notice must say, in words. It must always be sent within the first period. */
        notice: sentence,
        /** An unconfirmed extension is not counted, nor is one of an unconfirmed row: the date without it is earlier. */
        confirmed: z.boolean().default(true),
      })
      .nullable()
      .default(null),
    /** The period within which receipt must be confirmed. */
    acknowledge: periodSchema.nullable().default(null),
    identity: z.enum(identityRules),
    /** False: the law leaves no ground for refusing such a request (GDPR Art. 7(3)). */
    refusable: z.boolean().default(true),
    /** What a requester may receive whose identity was requested but not confirmed. */
    unverified: z.enum(['nothing', 'categories-only']).default('nothing'),
    /** After a refusal: the controller decides an appeal within this many days; null: the law provides no appeal. */
    appeal: z
      .strictObject({
        days: z.number().int().min(1).max(400),
        /** By how many days the decision on the appeal may be postponed, with notice; 0: not at all. */
        extension: z.number().int().min(0).max(400).default(0),
        /** Where the requester may turn if the appeal is denied. */
        then: sentence,
      })
      .nullable()
      .default(null),
    citation: sentence,
    /** The day on which the source of this row was read; null: never. */
    readOn: z.iso.date().nullable().default(null),
    /** False: not read in a primary or near-primary text. Such rows count but print "check with counsel". */
    confirmed: z.boolean().default(true),
    /** What else an officer must know. */
    notes: z.array(sentence).default([]),
  })
  .refine((row) => row.period === 'at-once' || row.period.unit !== 'business-days' || row.stopClock === 'none', {
    message: 'a period of business days cannot be paused: set stopClock to `none`',
    path: ['stopClock'],
  });
export type RegimeRow = z.infer<typeof regimeRowSchema> & {
  /** An installation wrote it, and it differs from the built-in rules: set by law/regime-table.ts, with the citation. */
  readonly isOwn?: true;
};

/** Whose days off count: those of the law's territory, or those listed in a statute (law/calendars.ts). */
const calendarNames = ['territory', 'us-ca', 'nz', 'ca-bc'] as const;

export const regimeSchema = z.strictObject({
  id: regimeId,
  /** Name of the law, for people. */
  law: sentence,
  /** Places whose people it protects (ISO 3166-1 alpha-2 or ISO 3166-2, `EU`). */
  jurisdictions: z.array(placeCode).min(1),
  /** Countries whose public holidays can count: those of the controller's establishment, if it is in one of them. */
  territory: z.array(z.string().regex(/^[A-Z]{2}$/)).min(1),
  /**
   * The article that makes a controller established in one of the jurisdictions answer everyone under this law,
   * wherever they are (GDPR Art. 3(1)); null: the law protects only residents.
   */
  reach: sentence.nullable().default(null),
  calendar: z.enum(calendarNames).default('territory'),
  /**
   * What it means that no row names a kind of request. `no-right`: the law was read, and gives no such right.
   * `not-recorded`: it was not looked at, or only in part.
   */
  otherwise: z.enum(['not-recorded', 'no-right']).default('not-recorded'),
  /** The law's definition of a working or business day, with the citation; null: it does not define the term. */
  workingDay: sentence.nullable().default(null),
});
export type Regime = z.infer<typeof regimeSchema>;

/** The file that changes the rules of an installation; every part is optional. */
export const regimesFileSchema = z.strictObject({
  /** Regimes whose unconfirmed rows and extensions counsel has confirmed. */
  confirm: z.array(regimeId).default([]),
  /** Regimes that this installation considers not applicable. They are marked, and still count if their date is earlier. */
  disable: z.array(regimeId).default([]),
  /** Count the optional pause that an authority's guidance allows (EDPB: "may"). */
  suspendByGuidance: z.boolean().default(false),
  /** Additional regimes, or other descriptions of built-in ones. */
  regimes: z.array(regimeSchema).default([]),
  /** Additional rows; a row replaces built-in ones for the kinds it names. */
  rows: z.array(regimeRowSchema).default([]),
});
export type RegimesFile = z.infer<typeof regimesFileSchema>;
