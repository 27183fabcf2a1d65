import { lastName, roleOf } from '../consent-names.ts';
import type { FieldName } from '../field-names.ts';

const choices: ReadonlySet<FieldName> = new Set(['consentState', 'purposes', 'grantedPurposes']);
const CREATED = /creat|insert|first|initial|begin|start|angelegt|erstellt|cree|creado|creato/i;
const INTERACTION =
  /interact|clicked|click$|shown|display|visible|seen|prompt|expand|open|dismiss|model|mode$|method|source|type$|trigger/i;

/**
 * Whether a field's name says the opposite of what would be read from it, or something else: an opt-out is not a choice whose yes
 * grants, nor is an interaction; an expiry is not the time of a choice, and neither is the time of creation if there is one of a
 * change among `others`, the paths of the same payloads.
 */
export function isMisnamed(field: FieldName, path: string, others: readonly string[]): boolean {
  const names = path.split('.').map(roleOf);
  const role = roleOf(lastName(path));
  if (choices.has(field)) {
    const isOther =
      role.isCircumstance || role.isCount || role.isFormer || role.isLegitimateInterest || role.isTerms || role.isBasis;
    const isManner = role.notChosenIf !== null || role.isMethod || INTERACTION.test(lastName(path));
    return isOther || isManner || names.some(({ polarity, isFormer }) => polarity === 'refusing' || isFormer);
  }
  if (field === 'deniedPurposes')
    return names.some(({ polarity }) => polarity === 'granting') && role.lists !== 'denied';
  if (field === 'consentedAt') {
    if (role.time === 'withdrawal') return true;
    return CREATED.test(lastName(path)) && others.some((other) => roleOf(lastName(other)).time === 'change');
  }
  return false;
}
