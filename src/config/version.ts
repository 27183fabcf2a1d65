import { readFileSync } from 'node:fs';

/** The version of this program from its package.json (next to src/ in a checkout, next to dist/ when built). */
export function loadVersion(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const found: unknown = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8'));
      const { name, version } = found as { name?: unknown; version?: unknown };
      if (name === 'consent-ledger' && typeof version === 'string') return version;
    } catch {
      // Not there: try the next place.
    }
  }
  return 'unknown';
}
