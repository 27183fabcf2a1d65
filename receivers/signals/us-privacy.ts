import type { Damaged } from './bits.ts';

/** What a US Privacy string says; null where it says that this does not apply. */
export interface UsPrivacy {
  /** Whether the opportunity to opt out was explained. */
  readonly notice: boolean | null;
  readonly optedOutOfSale: boolean | null;
  /** Whether it is a transaction under the Limited Service Provider Agreement. */
  readonly limitedServiceProvider: boolean | null;
}

/** Decodes a US Privacy string (IAB, U.S. Privacy String 1.0): `1YNN`. */
export function decodeUsPrivacy(text: string): UsPrivacy | Damaged {
  const [, version, notice, sale, agreement] = /^(\d)([YN-])([YN-])([YN-])$/i.exec(text) ?? [];
  if (version === undefined) return { damaged: 'it is not a digit followed by three of Y, N and -' };
  if (version !== '1') return { damaged: `it has version ${version} of the format, not 1` };
  const flag = (letter = '-') => (letter === '-' ? null : letter.toUpperCase() === 'Y');
  return { notice: flag(notice), optedOutOfSale: flag(sale), limitedServiceProvider: flag(agreement) };
}
