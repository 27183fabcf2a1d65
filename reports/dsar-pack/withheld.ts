import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import type { WithheldType } from '../letters/texts.ts';
import type { DsarPackInput } from './input.ts';

/** What stands in place of a piece that may not be disclosed, by its kind: the reader has to be told what is held (11 CCR 7024(d)). */
export const WITHHELD: Readonly<Record<WithheldType, string>> = {
  socialSecurity: '[withheld: Social Security number, 11 CCR 7024(d)]',
  longNumber: '[withheld: account, card or identification number, 11 CCR 7024(d)]',
};

const SOCIAL_SECURITY = /^\d{3}-\d{2}-\d{4}$/;
// Social security numbers, and long runs of digits that look like account, card or licence numbers.
const FORBIDDEN = /(?<![\dA-Za-z])(?:\d{3}-\d{2}-\d{4}|\d{9}|\d(?:[ -]?\d){12,18})(?![\dA-Za-z])/g;

/**
 * Whether a law of the case bars government ids and account numbers from the answer, verified requester or not (11 CCR 7024(d)). It does so
 * where another law decides the date as well: a rule of one law never loosens another.
 */
export function withholdsIdentifiers({ letter, deadline }: Pick<DsarPackInput, 'letter' | 'deadline'>): boolean {
  return (letter?.laws ?? [deadline.regime]).includes('us-ca');
}

/**
 * A decision without what may never be disclosed (11 CCR 7024(d)). The records hold hashed subjects; but what the service or a site
 * put into their texts is not ours to choose, so every text of them is searched. `found` takes the kinds of what was left out.
 */
export function withholdIdentifiers(row: JudgedRow, found: Set<WithheldType>): JudgedRow {
  const texts = [
    'record_id',
    'subject',
    'banner_id',
    'banner_version',
    'purposes',
    'withdraws',
    'stands',
    'action',
    'method',
    'domain',
    'page',
    'signals',
    'policy_id',
    'policy_version',
    'region',
    'language',
    'decision_id',
  ] as const;
  const safe: Record<string, unknown> = { ...row };
  for (const name of texts) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    safe[name] = value.replace(FORBIDDEN, (number) => {
      const type = SOCIAL_SECURITY.test(number) ? 'socialSecurity' : 'longNumber';
      found.add(type);
      return WITHHELD[type];
    });
  }
  return safe as unknown as JudgedRow;
}
