import { addDays } from '../core/zoned-days.ts';
import type { DocumentRow } from './check.ts';

/**
 * A name for people: `consent-audit Acme 2026-10.pdf`. The registered, unique name has the beginning of its hash
 * instead; a letter keeps that of its case, an added file its own.
 */
export function readableName(
  row: Pick<DocumentRow, 'name' | 'file_name' | 'case_id' | 'format' | 'source' | 'parameters'>,
  sourceName: (slug: string) => string,
): string {
  if (row.name === 'letter' || row.name === 'attachment') return row.file_name;
  if (row.case_id !== null) return `${row.name} ${row.case_id}.${row.format}`;
  const { from, to } = JSON.parse(row.parameters) as { from?: unknown; to?: unknown };
  const period = typeof from === 'string' && typeof to === 'string' ? ` ${shortPeriod(from, to)}` : '';
  return safeFileName(`${row.name} ${sourceName(row.source)}${period}.${row.format}`);
}

/**
 * Removes everything from a name that a file system could read as a path, or that could hide its ending: separators,
 * wildcards, control characters, direction marks.
 */
export function safeFileName(name: string): string {
  return name.replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff/\\:*?"<>|]+/gu, '_');
}

/** `2026-10` for a whole month, otherwise `2026-10-22 to 2026-11-21`; `to` is exclusive. */
function shortPeriod(from: string, to: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(from) || !/^\d{4}-\d{2}-\d{2}$/.test(to)) return `${from} to ${to}`;
  const last = addDays(to, -1);
  const isMonth = from.endsWith('-01') && to.endsWith('-01') && from.slice(0, 7) === last.slice(0, 7);
  return isMonth ? from.slice(0, 7) : last === from ? from : `${from} to ${last}`;
}
