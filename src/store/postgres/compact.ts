import { StoreUnavailable } from '../../core/errors.ts';
import type { PostgresConnection } from './driver.ts';

const ATTEMPTS = 20;
const PAUSE_MS = 500;

/**
 * Writes the table of entries anew, without what was erased; it can be neither read nor written meanwhile. A plain VACUUM frees the place of
 * old versions of rows, but leaves their bytes in the pages until something else is written there.
 *
 * VACUUM FULL takes along versions that a transaction under way may still see (a long report, pg_dump, for an instant even a session
 * that is just being opened): it says how many, and then it is done again. Rejects with StoreUnavailable when they stay.
 */
export async function compact(connection: PostgresConnection): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    // The number stands first in the detail, in all languages: "3 dead row versions cannot be removed yet."
    const details = await connection.script('vacuum (full, verbose) entries');
    const kept = details.reduce((sum, detail) => sum + Number(/^\d+/.exec(detail)?.[0] ?? 0), 0);
    if (kept === 0) return;
    if (attempt === ATTEMPTS) {
      throw new StoreUnavailable(
        `${kept} old versions of entries are still in the table, because a transaction under way may see them: end it (pg_stat_activity), and compact again`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
