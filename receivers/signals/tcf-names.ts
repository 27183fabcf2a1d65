/** The purposes of the IAB's framework as published with TCF 2.2 (policy version 4). */
const purposes: readonly string[] = [
  'Store and/or access information on a device',
  'Use limited data to select advertising',
  'Create profiles for personalised advertising',
  'Use profiles to select personalised advertising',
  'Create profiles to personalise content',
  'Use profiles to select personalised content',
  'Measure advertising performance',
  'Measure content performance',
  'Understand audiences through statistics or combinations of data from different sources',
  'Develop and improve services',
  'Use limited data to select content',
];

/** As published with TCF 2.0, used until policy version 3. */
const earlierPurposes: readonly string[] = [
  'Store and/or access information on a device',
  'Select basic ads',
  'Create a personalised ads profile',
  'Select personalised ads',
  'Create a personalised content profile',
  'Select personalised content',
  'Measure ad performance',
  'Measure content performance',
  'Apply market research to generate audience insights',
  'Develop and improve products',
];

/** The names by which one platform sends them (Didomi, purposes of the IAB). Its `cookies` could be anything, and is left out. */
const didomiPurposes: readonly (readonly [name: string, purpose: number])[] = [
  ['select_basic_ads', 2],
  ['create_ads_profile', 3],
  ['select_personalized_ads', 4],
  ['create_content_profile', 5],
  ['select_personalized_content', 6],
  ['measure_ad_performance', 7],
  ['measure_content_performance', 8],
  ['market_research', 9],
  ['improve_products', 10],
];

const specialFeatures: readonly string[] = [
  'Use precise geolocation data',
  'Actively scan device characteristics for identification',
];

/** The published name of a purpose with its number: `1 Store and/or access information on a device`. */
export function tcfPurposeName(purpose: number, policyVersion: number): string {
  const name = (policyVersion < 4 ? earlierPurposes : purposes)[purpose - 1];
  return name === undefined ? `${purpose} (not in the published list)` : `${purpose} ${name}`;
}

export function tcfSpecialFeatureName(feature: number): string {
  const name = specialFeatures[feature - 1];
  return name === undefined ? `${feature} (not in the published list)` : `${feature} ${name}`;
}

const letters = (name: string) =>
  name
    .toLowerCase()
    .replaceAll('z', 's')
    .replace(/[^a-z]+/g, '');

const purposeByName: ReadonlyMap<string, number> = new Map([
  ...earlierPurposes.map((name, index) => [letters(name), index + 1] as const),
  ...purposes.map((name, index) => [letters(name), index + 1] as const),
  ...didomiPurposes.map(([name, purpose]) => [letters(name), purpose] as const),
]);

/**
 * The purpose of the framework that a record names: by its published name, or by its number with a word that says so
 * (`tcf.3`, `IABV2_3`, `purpose 3`). Null for a bare number, which is any platform's.
 */
export function tcfPurposeOf(name: string): number | null {
  if (name.length > 120) return null;
  const numbered = /^(?:(?:iab|tcf)(?:2?v?2)?[\s._:-]+(?:purposes?[\s._:-]*)?|purposes?[\s._:-]*)0?(\d{1,2})$/i.exec(
    name.trim(),
  );
  const number = Number(numbered?.[1] ?? 0);
  if (number >= 1 && number <= purposes.length) return number;
  return purposeByName.get(letters(name.replace(/^\s*\d{1,2}[.:)\s]+/, ''))) ?? null;
}
