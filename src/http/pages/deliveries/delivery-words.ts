import type { StoredDelivery } from '../../../attention/deliveries.ts';
import type { Worded } from '../parts/words.ts';

/** How a delivery was read, for people. */
export const outcomeTexts: Readonly<Record<StoredDelivery['outcome'], Worded>> = {
  read: { text: 'read', tone: 'good' },
  'unknown-event': { text: 'unknown event', tone: 'warn' },
  unreadable: { text: 'could not be read', tone: 'bad' },
};

const verdictTexts: Readonly<Record<string, string>> = {
  verified: 'valid',
  'verified-headers-disagree': 'one of two headers valid',
  'verified-late': 'valid, verified later',
};

/** The verdict on a delivery's signature, in words. */
export function verdictText(verdict: string): string {
  return verdictTexts[verdict] ?? verdict;
}
