import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageSchema = z.object({ name: z.literal('consent-ledger'), version: z.string() });

/** The version of this program, out of its package.json (beside src/ in a checkout, beside dist/ when built). */
export function loadVersion(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const found = packageSchema.safeParse(JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')));
      if (found.success) return found.data.version;
    } catch {
      // Not there: the next place.
    }
  }
  return 'unknown';
}
