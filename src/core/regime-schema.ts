import { z } from 'zod';
import { requestKinds } from './vocabulary.ts';

/**
 * What a regime (the law whose rules a case follows) is made of. Rows are data: nothing in the program branches on the
 * name of a law. The built-in rows are in core/regimes.ts; a deployment adds or replaces rows in a file of {@link regimesFileSchema}.
 */
const sentence = z.string().trim().min(1).max(1000);
const regimeId = z.string().regex(/^[a-z]{2}(?:-[a-z0-9]+)*$/, 'a regime id looks like `eu-gdpr` or `us-ca`');

/** A length of time: calendar months, calendar days or business days. */
export const periodSchema = z.strictObject({
  amount: z.number().int().min(1).max(400),
  unit: z.enum(['months', 'days', 'business-days']),
});
export type Period = z.infer<typeof periodSchema>;

/** When an identity check may or must be made before an answer: never a branch, always this word. */
export const identityRules = ['required', 'on-recorded-doubt', 'forbidden'] as const;
export type IdentityRule = (typeof identityRules)[number];

export const regimeRowSchema = z
  .strictObject({
    regime: regimeId,
    /** The kinds of request that this row is for; `all`: every kind that no other row of the regime names. */
    kinds: z.union([z.literal('all'), z.array(z.enum(requestKinds)).min(1)]),
    /** The period inside which the request is answered. */
    period: periodSchema,
    /** Whether the day of receipt is the first day of the period (true) or day 0 (false). */
    countsReceiptDay: z.boolean().default(false),
    /** From when the period runs: the receipt, or the latest of receipt, identity information asked for, and fee. */
    runsFrom: z.enum(['receipt', 'latest-of-receipt-identity-fee']).default('receipt'),
    /** What happens when the period ends on a day that is no working day. */
    rollOver: z.enum(['none', 'next-working-day']).default('none'),
    /** `clarification`: the law stops the clock. `guidance`: an authority says it may stand still; off unless enabled. */
    stopClock: z.enum(['none', 'clarification', 'guidance']).default('none'),
    extension: z
      .strictObject({
        /** How much longer, counted on from the same start; `as-notified`: until the date in the notice. */
        by: z.union([periodSchema, z.literal('as-notified')]),
        /** What the notice must say, in words. The notice goes out inside the first period, always. */
        notice: sentence,
        confirmed: z.boolean().default(true),
      })
      .nullable()
      .default(null),
    /** Inside which time the receipt has to be confirmed. */
    acknowledge: periodSchema.nullable().default(null),
    /** Days before the legal limit from which to warn, where no roll-over is stated. */
    warnDaysEarly: z.number().int().min(0).max(30).default(0),
    identity: z.enum(identityRules),
    /** What a requester may get whose identity was asked for and not confirmed. */
    unverified: z.enum(['nothing', 'categories-only']).default('nothing'),
    citation: sentence,
    /** False: not read in a primary text. Such rows are off unless enabled, and print "check with counsel". */
    confirmed: z.boolean().default(true),
    /** What an officer must know besides. */
    notes: z.array(sentence).default([]),
  })
  .refine((row) => row.period.unit !== 'business-days' || row.stopClock === 'none', {
    message: 'a period of business days cannot stand still: set stopClock to `none`',
    path: ['stopClock'],
  });
export type RegimeRow = z.infer<typeof regimeRowSchema>;

export const regimeSchema = z.strictObject({
  id: regimeId,
  /** Name of the law, for people. */
  law: sentence,
  /** Codes of requests that fall under it (ISO 3166-1 alpha-2 or ISO 3166-2, `EU`). */
  jurisdictions: z.array(z.string().regex(/^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/)).min(1),
  /** Countries whose public holidays can count: the controller's establishment when it lies in one of them. */
  territory: z.array(z.string().regex(/^[A-Z]{2}$/)).min(1),
});
export type Regime = z.infer<typeof regimeSchema>;

/** The file with which a deployment changes the rules: every part is optional. */
export const regimesFileSchema = z.strictObject({
  /** Regimes whose unconfirmed rows and extensions are switched on. */
  enable: z.array(regimeId).default([]),
  /** Count the optional standstill that an authority's guidance allows (EDPB: "may"). */
  suspendByGuidance: z.boolean().default(false),
  /** Further regimes, or other jurisdictions for a built-in one. */
  regimes: z.array(regimeSchema).default([]),
  /** Further rows; a row takes the place of built-in ones for the kinds it names. Rows from a file are always on. */
  rows: z.array(regimeRowSchema).default([]),
});
export type RegimesFile = z.infer<typeof regimesFileSchema>;
