import { choiceMeant } from './choice-words.ts';
import { isStatementName, type NameRole, roleOf, saysNotChosen, saysNotChosenBeside } from './consent-names.ts';
import { shortly } from './consent-purposes.ts';
import { isBlank, isJsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/** The most values looked at, and how deep; beyond, a record counts as if something in it dissented. */
const MAX_VALUES = 2000;
const MAX_DEPTH = 6;

/** Names of what was before, in plain form. */
const earlier: ReadonlySet<string> = new Set([
  'changes',
  'log',
  'logs',
  'timeline',
  'revisions',
  'audit',
  'auditlog',
  'versions',
]);

/**
 * A statement somewhere in a payload that speaks against consent and was not read as the choice for a purpose, as its path and value:
 * `properties.action=reject`, `notice.type=shown`. Whatever else the record grants is then in doubt. Null: there is none. `isRead`: whether an
 * object was read as purposes.
 */
export function dissentIn(payload: Payload, isRead: (object: unknown) => boolean): string | null {
  let left = MAX_VALUES;
  let isBeside = false;

  function within(value: unknown, path: string, depth: number): string | null {
    if (typeof value !== 'object' || value === null || isRead(value)) return null;
    if (depth > MAX_DEPTH) return path;
    if (Array.isArray(value)) {
      for (const item of value) {
        const found = within(item, path, depth + 1);
        if (found !== null) return found;
      }
      return null;
    }
    if (!isJsonObject(value)) return null;
    for (const [key, inner] of Object.entries(value)) {
      if ((left -= 1) < 0) return path;
      const role = roleOf(key);
      if (isBlank(inner) || isApart(role)) continue;
      const at = `${path}.${key}`;
      const found =
        typeof inner === 'object'
          ? within(inner, at, depth + 1)
          : says(inner, role, isBeside)
            ? `${at}=${shortly(inner)}`
            : null;
      if (found !== null) return found;
    }
    return null;
  }

  for (const { key, found } of payload.fields()) {
    const { value, path, beside } = found;
    if (typeof value !== 'object' || payload.isOpened(value) || isApart(roleOf(key))) continue;
    isBeside = beside;
    const dissent = within(value, path, 0);
    if (dissent !== null) return dissent;
  }
  return null;
}

/** Whether what is under a name is about something else, or about an earlier time. */
function isApart({
  isTerms,
  isLegitimateInterest,
  isFormer,
  isSetting,
  isCircumstance,
  isScope,
  plain,
}: NameRole): boolean {
  return (
    isTerms ||
    isLegitimateInterest ||
    isFormer ||
    isSetting ||
    isScope ||
    earlier.has(plain) ||
    (isCircumstance && !isStatementName(plain))
  );
}

/** `isBeside`: next to an envelope, where a state may be that of the delivery. */
function says(value: unknown, role: NameRole, isBeside: boolean): boolean {
  if (isBeside ? saysNotChosenBeside(role, value) : saysNotChosen(role, value)) return true;
  if (role.polarity === 'refusing' && !role.isCount) return choiceMeant(value) === 'given';
  if (typeof value !== 'string' || !(isStatementName(role.plain) || role.isWhole)) return false;
  // `ON` and `NO` under `state` are places.
  if (role.plain === 'state' && value.length === 2) return false;
  switch (choiceMeant(value)) {
    case 'refused':
    case 'withdrawn':
      return true;
    case 'expired':
    case 'terminated':
    case 'invalidated':
    case 'requested':
    case 'request-deferred':
    case 'unknown':
      return !isBeside;
    default:
      return false;
  }
}
