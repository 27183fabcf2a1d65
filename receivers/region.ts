import { findRegion, mapJurisdiction } from '../src/law/jurisdictions.ts';
import type { FieldName } from './field-names.ts';
import type { Payload } from './payload.ts';
import { textOf } from './parse.ts';

/** Names that stand for a whole law or union rather than for a part of a country. */
const unions = new Set(['EU', 'EEA', 'UK', 'GB']);

/**
 * A jurisdiction as `DE` or `US-CA`: a country and a part of it given apart (`US`, `CA`) are put together; other words stay as given.
 * `state` may be the state of something else as well: only two letters are a state of the US.
 */
export function readRegion(payload: Payload, countryField: FieldName, regionField: FieldName): string | null {
  const country = payload.text(countryField);
  const region = payload.first(regionField, regionOf);
  if (region === null) return country;
  if (country === null) return region.ofState ? `US-${region.text.toUpperCase()}` : region.text;
  if (!/^[a-z]{2}$/i.test(country)) return country;
  const part = region.text.toUpperCase();
  if (/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(part)) return part;
  const ofCountry = /^[A-Z0-9]{1,3}$/.test(part) && part !== country.toUpperCase() && !unions.has(part);
  return ofCountry ? `${country.toUpperCase()}-${part}` : country;
}

function regionOf(value: unknown, path: string): { text: string; ofState: boolean } | null {
  const text = textOf(value);
  if (text === null) return null;
  if (!/state(?:_?code)?$/i.test(path)) return { text, ofState: false };
  return /^[a-z]{2}$/i.test(text) ? { text, ofState: true } : null;
}

/** Of these countries the parts have laws of their own: a part that is not understood must not be dropped in silence. */
const countriesOfStates: ReadonlySet<string> = new Set(['US', 'CA']);

/**
 * Where a requester is, in words that name one place: country and part put together (`US-CA` for `US` and `California`), else as given. What
 * no code can be found for is left in the service's words; the case then asks the officer.
 */
export function readPlace(payload: Payload, countryField: FieldName, regionField: FieldName): string | null {
  const country = payload.text(countryField);
  const region = payload.first(regionField, partOf);
  if (region === null) return country;
  if (country === null)
    return region.ofState && region.text.length === 2 ? `US-${region.text.toUpperCase()}` : region.text;
  const code = mapJurisdiction(country);
  if (code === null) return country === region.text ? country : `${region.text}, ${country}`;
  if (code.length > 2) return country;
  const part = findRegion(code, region.text);
  if (part !== null && !unions.has(region.text.toUpperCase())) return `${code}-${part}`;
  const mapped = mapJurisdiction(`${region.text}, ${country}`);
  if (mapped !== null) return mapped.length > 2 ? mapped : country;
  return countriesOfStates.has(code) && mapJurisdiction(region.text) === null ? `${region.text}, ${country}` : country;
}

/** `state` may be the state of something else as well: only a state of the US counts there. */
function partOf(value: unknown, path: string): { text: string; ofState: boolean } | null {
  const text = textOf(value);
  if (text === null) return null;
  const ofState = /state(?:_?code)?$/i.test(path);
  if (!ofState || /^[a-z]{2}$/i.test(text)) return { text, ofState };
  return mapJurisdiction(text)?.startsWith('US-') === true ? { text, ofState } : null;
}
