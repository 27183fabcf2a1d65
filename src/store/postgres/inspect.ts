import type { StoreInspection } from '../store.ts';
import type { PostgresConnection } from './driver.ts';
import { schemaVersion } from './migrate.ts';

/** The oldest version of PostgreSQL that the program is made for. */
export const OLDEST_VERSION = 13;

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
