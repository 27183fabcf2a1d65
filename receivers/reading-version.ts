/**
 * The version of how bodies are read. It grows with every change after which the same body may say something else about a choice or a
 * request: what was read before is then compared with what would be read now, and the difference is listed before it is applied
 * (src/projections/readings.ts). test/receivers/reading-version.test.ts fails if the readings of all known shapes change without it.
 */
export const READING_VERSION = 2;
