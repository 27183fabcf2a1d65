import { findRegion, mapJurisdiction, ownCode } from '../src/law/jurisdictions.ts';
import type { FieldName } from './field-names.ts';
import { textOf } from './parse.ts';
import type { Payload } from './payload.ts';

/** Names that stand for a law or union instead of a part of a country. */
const unions = new Set(['EU', 'EEA', 'UK', 'GB']);

/**
 * A jurisdiction as `DE` or `US-CA`. A country and its part given separately (`US`, `CA`) are joined; other words stay
 * as given. `state` may also mean other things: only two letters are taken as a US state.
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

/** Countries whose parts have their own laws: a part that is not understood must not be dropped silently. */
const countriesOfStates: ReadonlySet<string> = new Set(['US', 'CA']);

/**
 * The requester's place in words that name one place: country and part joined (`US-CA` for `US` and `California`),
 * otherwise as given. If no code can be found, the service's words are kept and the case asks the officer.
 */
export function readPlace(payload: Payload, countryField: FieldName, regionField: FieldName): string | null {
  const words = payload.text(countryField);
  const mapped = payload.first(countryField, (value) => mappedText(value));
  const country = mapped ?? words;
  // Words that name no place, such as a tool's own code, may still stand for a part of the country.
  const rest = mapped === null || words === mapped || words === null ? null : { text: words, ofState: false };
  const region = payload.first(regionField, partOf) ?? rest;
  if (region === null) return country;
  if (country === null)
    return region.ofState && region.text.length === 2 ? `US-${region.text.toUpperCase()}` : region.text;
  const code = mapJurisdiction(country);
  if (code === null) return country === region.text ? country : `${region.text}, ${country}`;
  if (code.length > 2) return country;
  const part = findRegion(code, region.text);
  if (part !== null && !unions.has(region.text.toUpperCase())) return ownCode(`${code}-${part}`);
  const joined = mapJurisdiction(`${region.text}, ${country}`);
  if (joined !== null) return joined === code ? country : joined;
  return countriesOfStates.has(code) && mapJurisdiction(region.text) === null ? `${region.text}, ${country}` : country;
}

function mappedText(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && mapJurisdiction(text) !== null ? text : null;
}

/** `state` may also mean other things: only a US state counts there. */
function partOf(value: unknown, path: string): { text: string; ofState: boolean } | null {
  const text = textOf(value);
  if (text === null) return null;
  const ofState = /state(?:_?code)?$/i.test(path);
  if (!ofState || /^[a-z]{2}$/i.test(text)) return { text, ofState };
  return mapJurisdiction(text)?.startsWith('US-') === true ? { text, ofState } : null;
}
