import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a consent package gave in one form after a visitor's choice, and what may be read from it. */
export interface Capture {
  readonly scenario: string;
  /** Where the package gave it: a cookie's text, an event, the body of a request. */
  readonly form: string;
  /** What the visitor did. */
  readonly means: string;
  readonly payload: unknown;
  /**
   * `granted`: names that count as granted (`a|b`: either name; `*`: consent that names no purpose). `denied`: refused,
   * or never answered. `either`: names that may count as granted, such as necessary ones. No other name may be granted.
   * `time`: of the choice, if the payload states it.
   */
  readonly expect: {
    readonly granted: readonly string[];
    readonly denied: readonly string[];
    readonly either: readonly string[];
    readonly time: string | null;
  };
}

/** The captures of one version of a package. */
export interface CapturedPackage {
  readonly package: string;
  readonly version: string;
  /** Only the site knows that the names in `either` are necessary: neither they nor the payloads say it. */
  readonly necessaryUnsaid?: true;
  readonly captures: readonly Capture[];
}

/** All captures that are kept, by the name of their file. */
export function keptCaptures(): readonly (readonly [file: string, captured: CapturedPackage])[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.json'));
  return files
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as CapturedPackage]);
}
