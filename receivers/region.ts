import type { FieldName } from './field-names.ts';
import type { Payload } from './payload.ts';
import { textOf } from './text.ts';

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
