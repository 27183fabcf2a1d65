import type { ScanFact } from '../src/core/fact.ts';
import type { Family } from './family.ts';
import { textOf } from './text.ts';

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
    'score',
    'scannedAt',
    'scanCreatedAt',
  ],
  alsoReads: ['pages', 'pages_scanned'],
  read: (_event, payload): ScanFact => ({
    type: 'scan',
    scanId: payload.text('scanId'),
    domain: payload.first('scanDomain', hostOf),
    status: payload.text('scanStatus'),
    cookiesFound: payload.first('cookiesFound', countOf),
    trackersFound: payload.first('trackersFound', countOf),
    uncategorised: payload.first('uncategorised', countOf),
    score: payload.first('score', numberOf),
    occurred: payload.occurred('scannedAt', 'occurredAt', 'scanCreatedAt'),
  }),
};

/** The host of an address, or a bare domain, in lower case: an address may carry a token in its query. */
export function hostOf(value: unknown): string | null {
  const text = textOf(value, 4000)?.toLowerCase() ?? null;
  if (text === null) return null;
  const host =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@)?([^/?#:]+)/.exec(text)?.[1] ??
    /^([^\s/?#:@]+\.[^\s/?#:@]+)/.exec(text)?.[1];
  return host === undefined || host.length > 253 ? null : host;
}

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
  const digits = /^\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*(?:%|\/\s*100)?\s*$/.exec(value)?.[1];
  return digits === undefined ? null : Number(digits);
}
