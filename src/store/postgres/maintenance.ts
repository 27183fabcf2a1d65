import { StoreUnavailable } from '../../core/errors.ts';
import type { StoreInspection } from '../store.ts';
import type { PostgresConnection } from './driver.ts';
import { schemaVersion } from './migrate.ts';

/** The oldest version of PostgreSQL that the program is made for. */
const OLDEST_VERSION = 13;

/** What the server must answer, for a commit to survive a power cut and texts to come back as they were written. */
const required: readonly [setting: string, fits: (value: string) => boolean, wanted: string][] = [
  ['server_version_num', (value) => Number(value) >= OLDEST_VERSION * 10_000, `at least ${OLDEST_VERSION * 10_000}`],
  ['server_encoding', (value) => value === 'UTF8', 'UTF8'],
  ['fsync', (value) => value === 'on', 'on'],
  ['full_page_writes', (value) => value === 'on', 'on'],
  ['synchronous_commit', (value) => value === 'on' || value === 'remote_apply', 'on'],
];

/**
 * Looks at the settings of a session that writes. PostgreSQL has no check of the whole database that an ordinary user may run: what
 * pg_amcheck and pg_checksums find is the database administrator's to look for (docs/configuration.md), and `damage` is null.
 */
export async function inspect(connection: PostgresConnection): Promise<StoreInspection> {
  const names = required.map(([setting]) => `current_setting('${setting}') as ${setting}`).join(', ');
  const { rows } = await connection.run(`select ${names}, pg_is_in_recovery() as standby`);
  const found = rows[0] as Record<string, string>;
  const deviations = required
    .filter(([setting, fits]) => !fits(found[setting] as string))
    .map(([setting, , wanted]) => `${setting} is ${found[setting]}, not ${wanted}`);
  if (found['standby'] === 't') deviations.push('the server is a standby: it can only be read');
  return { schemaVersion: await schemaVersion(connection), deviations, damage: null };
}

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
