import { createPool } from './driver.ts';
import { asMisconfiguration } from './outages.ts';

/**
 * Whether an installation has been begun in a database; changes nothing in it.
 * Rejects as {@link openPostgresStore} does when the server cannot be reached or refuses.
 */
export async function isBegunInPostgres(url: string): Promise<boolean> {
  const settings = { default_transaction_read_only: 'on' };
  const pool = createPool({ url, size: 1, connectTimeout: 10_000, answerTimeout: 30_000, idleTimeout: 0, settings });
  try {
    const { rows } = await pool.use((connection) =>
      connection.run(`select (to_regclass('schema_version') is not null)::int as begun`),
    );
    return rows[0]?.begun === 1;
  } catch (error) {
    throw asMisconfiguration(error);
  } finally {
    await pool.close();
  }
}
