import { z } from 'zod';

/** ISO 3166-1 alpha-2, US states in the style of ISO 3166-2, and EU (docs/service.md §2.7). */
const jurisdictions = new Set([
  'EU',
  ...(
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO ' +
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE ' +
    'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW ' +
    'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM ' +
    'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' '),
  ...'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY'
    .split(' ')
    .map((state) => `US-${state}`),
]);
/** ISO 639-1. */
const languages = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en ' +
    'eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja ' +
    'jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb ' +
    'nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq ' +
    'sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'
  ).split(' '),
);

const jurisdiction = z
  .string()
  .regex(/^[A-Z]{2}(-[A-Z]{2})?$/, 'is not a jurisdiction code')
  .refine((code) => jurisdictions.has(code), 'is not a supported jurisdiction');
const language = z
  .string()
  .regex(/^[a-z]{2}$/, 'is not an ISO 639-1 code')
  .refine((code) => languages.has(code), 'is not an ISO 639-1 code')
  .default('en');

/** Form A of generate (docs/service.md §4.1). */
export const formA = z.object({
  policy_type: z.string().regex(/^(?!hub$)[a-z0-9]+(-[a-z0-9]+)*$/, 'is not a policy type'),
  jurisdiction,
  language,
  business_name: z.string().max(200).optional(),
  domain: z.string().max(500).optional(),
  industry: z.string().max(100).optional(),
  business_type: z.string().max(100).optional(),
});

/** Form B of generate: other names, distinguished from form A by its `type`. */
export const formB = z.object({
  type: z.string().regex(/^(?!hub$)[a-z0-9]+(_[a-z0-9]+)*$/, 'is not a policy type'),
  jurisdiction: z.array(jurisdiction).min(1),
  language,
  tone: z.string().max(100).optional(),
  custom_clauses: z.array(z.string().max(2000)).default([]),
});
