/*
 * Keys of the advisory locks, the same in every version of the program. They belong to a database, and mean nothing outside it;
 * another program that uses advisory locks in the same database is unlikely to draw the same 60 bits.
 */

/** Held by every transaction that writes, until it has committed. */
export const WRITE_LOCK = '771490348120614921';
/** Held while the schema is brought up to date. */
export const MIGRATION_LOCK = '771490348120614922';
