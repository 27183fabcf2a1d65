import '../core/validation.ts';
import { z } from 'zod';
import { purposeKey } from '../core/consent-judgement.ts';
import { countrySchema, findJurisdiction, shortenRegion } from './jurisdictions.ts';

/**
 * The controller profile: what the operator must say about itself in every pack and report (docs/configuration.md).
 * Missing parts are named in the case and in the document, never silently left out. Therefore only the name is
 * required. Sources: GDPR Art. 13–15, 26, 30; 11 CCR 7024; LGPD Art. 19 II.
 */
const text = z.string().trim().min(1).max(4000);
const purposes = z.array(
  z.strictObject({
    purpose: text,
    lawfulBasis: text,
    retention: text,
    /** Names of the purpose on consent banners, separated by commas: {@link statedPurpose} finds it by them. */
    names: text.nullable().optional(),
  }),
);
/** The actual recipients (CJEU C-154/21). */
const recipients = z.array(
  z.strictObject({
    name: text,
    purpose: text,
    country: text.nullable().default(null),
    /** For consent records, which must state both for each party. */
    address: text.nullable().optional(),
    contact: text.nullable().optional(),
  }),
);
/** A country (ISO 3166-1 alpha-2), a part of one (ISO 3166-2), or `EU`. */
const placeCode = z
  .string()
  .trim()
  .transform((code) => code.toUpperCase())
  .refine((code) => findJurisdiction(code) !== null, 'use the code of a country, such as DE, or EU');
const transfers = z.array(z.strictObject({ recipient: text, country: text, safeguard: text }));
const authority = z.strictObject({
  name: text,
  address: text.nullable().default(null),
  website: text.nullable().default(null),
});
/** The controller's other systems: a case is ready only when each is marked nothing found, attached or not applicable. */
const otherSystems = z.array(z.strictObject({ id: text, name: text }));

/** Scheme, host and port of a website. */
const origin = z
  .string()
  .trim()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'use the address of a website, such as https://www.example.com',
  )
  .transform((text) => new URL(text).origin);

/** A retention period; unlimited only with a reason. */
const retentionPeriod = z.union(
  [
    z.strictObject({ days: z.number().int().min(1).max(36_500) }),
    z.strictObject({ months: z.number().int().min(1).max(1200) }),
    z.strictObject({ forEver: text }),
  ],
  { error: 'use a number of days or months, or "for ever" (forEver) with a reason in words' },
);
export type RetentionPeriod = z.infer<typeof retentionPeriod>;

/** A retention period in words: `36 months`, `for ever: ordered by the court`. */
export function retentionPeriodText(period: RetentionPeriod): string {
  if ('forEver' in period) return `for ever: ${period.forEver}`;
  const [count, unit] = 'days' in period ? [period.days, 'day'] : [period.months, 'month'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
const retention = z
  .strictObject({
    deliveries: retentionPeriod,
    decisions: retentionPeriod,
    cases: retentionPeriod,
    packs: retentionPeriod,
    accessLog: retentionPeriod,
  })
  .partial();

/** The periods of a controller that has set no others (src/erasure/retention.ts says why). */
const usualRetention: Readonly<Record<keyof z.infer<typeof retention>, RetentionPeriod>> = {
  deliveries: { days: 90 },
  decisions: { months: 36 },
  cases: { months: 36 },
  packs: { days: 30 },
  accessLog: { months: 24 },
};

/** The parts that letters quote, in another language. For a part that is missing here, the profile's own text is used. */
const translation = z
  .strictObject({
    dataProtectionOfficer: text,
    purposes,
    dataCategories: z.array(text),
    dataSources: z.array(text),
    recipients,
    transfers,
    automatedDecisions: text,
    supervisoryAuthority: authority,
    withdrawalMethod: text,
    otherSystems,
    signatory: text,
  })
  .partial();

/** Moves of a request that can require a second person. */
export const secondPersonMoves = ['answer', 'refuse'] as const;

export const profileSchema = z
  .strictObject({
    name: text,
    /** controller, processor (drafts only; the controller releases) or joint (GDPR Art. 26). */
    role: z.enum(['controller', 'processor', 'joint']).default('controller'),
    address: z.array(text).default([]),
    /** ISO 3166-1 alpha-2 of the establishment, with an optional region for its holidays, e.g. `DE` and `BY`. */
    country: countrySchema.nullable().default(null),
    region: text.nullable().default(null),
    email: text.nullable().default(null),
    phone: text.nullable().default(null),
    website: text.nullable().default(null),
    dataProtectionOfficer: text.nullable().default(null),
    /** The controller if role is `processor`; the Art. 26 contact if it is `joint`. */
    controllerOrJointContact: text.nullable().default(null),
    /**
     * An additional law, by the id of its regime, under which the controller answers everyone (a branch elsewhere);
     * null: only that of `country`.
     */
    homeRegime: text.nullable().default(null),
    /**
     * The controller's own target for requests under a law that is not recorded here, days from receipt: shown as its
     * own, never as a legal limit. Absent: none.
     */
    ownTargetDays: z.number().int().min(1).max(400).optional(),
    purposes: purposes.default([]),
    dataCategories: z.array(text).default([]),
    dataSources: z.array(text).default([]),
    /** Where the data is stored; absent: not stated. */
    storedIn: z.array(placeCode).max(300).optional(),
    recipients: recipients.default([]),
    /** Transfers to third countries and their safeguards (Art. 46); an empty list means "none" only with noTransfers. */
    transfers: transfers.default([]),
    noTransfers: z.boolean().default(false),
    automatedDecisions: text.nullable().default(null),
    supervisoryAuthority: authority.nullable().default(null),
    withdrawalMethod: text.nullable().default(null),
    otherSystems: otherSystems.default([]),
    signatory: text.nullable().default(null),
    /** Whether manual erasures need a second officer; absent: they do not. */
    erasureNeedsSecondOfficer: z.boolean().optional(),
    /** Steps of a request that another person with an account must approve: sending the answer, refusing. Absent: none. */
    secondPersonFor: z.array(z.enum(secondPersonMoves)).optional(),
    /**
     * Retention periods that differ from the usual ones (src/erasure/retention.ts). If present, the nightly job erases
     * what is due; absent: nothing is erased automatically.
     */
    retention: retention.optional(),
    /** Whether there is a page on which anyone can send a request (docs/request-form.md); absent: there is none. */
    requestForm: z.boolean().optional(),
    /**
     * Further sources whose form may name this controller although they have no profile of their own. The first source
     * need not be listed.
     */
    requestFormFor: z.array(text).max(1000).optional(),
    /** Websites that may show the form in a frame. */
    requestFormOn: z.array(origin).max(50).optional(),
    /**
     * BCP 47: the language of this profile; proposed, never taken, for requesters whose language is not known; null:
     * English.
     */
    language: text.nullable().default(null),
    /** The parts that letters quote, by language (`de`). */
    translations: z.record(z.string().regex(/^[a-z]{2,3}$/, 'a language code such as de'), translation).optional(),
  })
  .superRefine(({ translations = {}, ...own }, { addIssue }) => {
    for (const [language, parts] of Object.entries(translations)) {
      for (const part of ['purposes', 'dataCategories', 'dataSources', 'recipients', 'transfers'] as const) {
        const translated = parts[part];
        if (translated !== undefined && translated.length !== own[part].length)
          addIssue({
            code: 'custom',
            path: ['translations', language, part],
            message: `has ${translated.length} item${translated.length === 1 ? '' : 's'}, but ${part} has ${own[part].length}: translate each`,
          });
      }
      for (const { id } of parts.otherSystems ?? [])
        if (!own.otherSystems.some((system) => system.id === id))
          addIssue({
            code: 'custom',
            path: ['translations', language, 'otherSystems'],
            message: `unknown system ${JSON.stringify(id)}: use an id of otherSystems`,
          });
    }
  })
  .transform(shortenRegion);
export type ControllerProfile = z.infer<typeof profileSchema>;

/** How long a kind of data is kept under a profile: its own period, or else the usual one. */
export function retentionPeriodOf(
  profile: Pick<ControllerProfile, 'retention'> | null,
  kind: keyof typeof usualRetention,
): RetentionPeriod {
  return profile?.retention?.[kind] ?? usualRetention[kind];
}

/** The profile as quoted by letters in a language, with the parts that it has in that language. */
export function profileIn(profile: ControllerProfile, language: string): ControllerProfile {
  const { otherSystems: names = [], ...parts } = profile.translations?.[language] ?? {};
  const given = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
  return {
    ...profile,
    ...given,
    otherSystems: profile.otherSystems.map((system) => names.find(({ id }) => id === system.id) ?? system),
  };
}

export type StatedPurpose = ControllerProfile['purposes'][number];

/**
 * What the profile states about a purpose that records name: the purpose of that name, or the one that has it among its
 * `names`. Null: it states nothing about it. Letters list the same purposes, so both state one legal basis and retention.
 */
export function statedPurpose(profile: ControllerProfile, name: string): StatedPurpose | null {
  const key = purposeKey(name.trim());
  const isNamed = (words: string) => purposeKey(words.trim()) === key;
  return (
    profile.purposes.find(({ purpose }) => isNamed(purpose)) ??
    profile.purposes.find(({ names }) => names?.split(/[,;]/).some(isNamed)) ??
    null
  );
}

/** Whether a letter in a language would quote the profile in another language. */
export function isUntranslated(profile: ControllerProfile, language: string): boolean {
  const own = profile.language?.split(/[-_]/)[0]?.toLowerCase() ?? 'en';
  return own !== language && profile.translations?.[language] === undefined;
}

/** Parts required by an answer under GDPR Art. 15, in words. */
const partWords = {
  address: 'postal address',
  email: 'contact e-mail',
  country: 'country of establishment',
  purposes: 'purposes, lawful bases and retention',
  dataCategories: 'categories of data',
  dataSources: 'sources of the data',
  recipients: 'recipients',
  transfers: 'transfers to third countries and their safeguards',
  automatedDecisions: 'automated decisions',
  supervisoryAuthority: 'supervisory authority',
  withdrawalMethod: 'how to withdraw consent',
  controller: 'the controller on whose behalf this is drafted',
  jointContact: 'the contact point of the joint controllers (Art. 26)',
} as const;
export type ProfilePart = keyof typeof partWords;

/** The parts required by an answer under GDPR Art. 15 that this profile lacks; without a profile, all that every answer needs. */
export function missingPartsOf(profile: ControllerProfile | null): readonly ProfilePart[] {
  const lacks: Readonly<Record<ProfilePart, boolean>> = {
    address: profile === null || profile.address.length === 0,
    email: profile === null || profile.email === null,
    country: profile === null || profile.country === null,
    purposes: profile === null || profile.purposes.length === 0,
    dataCategories: profile === null || profile.dataCategories.length === 0,
    dataSources: profile === null || profile.dataSources.length === 0,
    recipients: profile === null || profile.recipients.length === 0,
    transfers: profile === null || (profile.transfers.length === 0 && !profile.noTransfers),
    automatedDecisions: profile === null || profile.automatedDecisions === null,
    supervisoryAuthority: profile === null || profile.supervisoryAuthority === null,
    withdrawalMethod: profile === null || profile.withdrawalMethod === null,
    controller: profile?.role === 'processor' && profile.controllerOrJointContact === null,
    jointContact: profile?.role === 'joint' && profile.controllerOrJointContact === null,
  };
  return (Object.keys(partWords) as ProfilePart[]).filter((part) => lacks[part]);
}

/** The missing parts in words. */
export function missingProfileParts(profile: ControllerProfile): readonly string[] {
  return missingPartsOf(profile).map((part) => partWords[part]);
}
