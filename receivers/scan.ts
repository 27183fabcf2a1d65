import { foundBeforeConsent, type ScanFact, type ScanItem } from '../src/core/fact.ts';
import type { Family } from './family.ts';
import { itemFields, readScanItems } from './scan-items.ts';
import { hostOf } from './text.ts';

/** A finished scan (docs/service.md §6, cookie_scan.completed; its payload is not documented). */
export const scanFamily: Family = {
  events: ['cookie_scan.completed'],
  objects: ['scan', 'cookie_scan', 'result', 'results', 'summary', 'report', 'totals'],
  fields: [
    'eventId',
    'occurredAt',
    'scanId',
    'scanDomain',
    'scanStatus',
    'cookiesFound',
    'trackersFound',
    'uncategorised',
    'trackersBeforeConsent',
    'score',
    'scanCookies',
    'scanTrackers',
    'foundBeforeConsent',
    'scannedAt',
    'scanCreatedAt',
  ],
  fieldsWithin: itemFields,
  alsoReads: ['pages', 'pages_scanned'],
  read: (_event, payload): ScanFact => {
    const { items, unreadItems } = readScanItems(payload);
    const count = (of: (item: ScanItem) => boolean) => (items === null ? null : items.filter(of).length);
    const status = payload.text('scanStatus');
    const stated = payload.first('trackersBeforeConsent', countOf);
    const failed = status !== null && /fail|error|abort|cancel|partial|incomplete|timed?.?out|interrupt/i.test(status);
    const shown =
      items?.some(({ beforeConsent }) => beforeConsent !== null) === true ? foundBeforeConsent(items).length : null;
    const before = stated === null || shown === null ? (stated ?? shown) : Math.max(stated, shown);
    return {
      type: 'scan',
      scanId: payload.text('scanId'),
      domain: payload.first('scanDomain', hostOf),
      status,
      cookiesFound: payload.first('cookiesFound', countOf) ?? count(({ kind }) => kind === 'cookie'),
      trackersFound: payload.first('trackersFound', countOf) ?? count(({ kind }) => kind === 'tracker'),
      uncategorised: payload.first('uncategorised', countOf) ?? count(({ category }) => category === null),
      // That a scan which failed found none says nothing.
      beforeConsent: failed && before === 0 ? null : before,
      score: payload.first('score', numberOf),
      failed,
      items,
      unreadItems,
      occurred: payload.occurred('scannedAt', 'occurredAt', 'scanCreatedAt'),
    };
  },
};

/** A count: a whole number not below zero, its digits, or the length of a list. */
function countOf(value: unknown): number | null {
  if (Array.isArray(value)) return value.length;
  const number = numberOf(value);
  return number !== null && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** A number, its digits, or such with a percent sign or `/100` behind. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string') return null;
  const digits = /^\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*(?:(?:%|\/\s*100)\s*)?$/.exec(value)?.[1];
  return digits === undefined ? null : Number(digits);
}
