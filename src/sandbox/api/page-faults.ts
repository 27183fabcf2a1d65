import type { LogPage, LogQuery } from '../consent-log.ts';
import type { Drawn } from '../faults.ts';
import type { DecisionHappening } from '../happenings.ts';
import { mix } from '../prng.ts';
import { ServiceError } from './answers.ts';

/** A page as a fault makes it, and which nonce its cursor gets. */
interface FaultyPage extends LogPage {
  readonly nonce: number;
}

/**
 * Lets the page faults of a request happen. An expired cursor throws; a page that comes twice is one whose cursor leads to
 * itself; a shift moves the next page, so that rows come twice (below zero) or never (above).
 */
export function disturbPage(query: LogQuery, page: LogPage, drawn: Drawn): FaultyPage {
  const expired = drawn.find('expired-cursor');
  if (expired !== null && query.position !== null)
    throw new ServiceError(expired.status, 'cursor_expired', 'The cursor has expired.');
  if (drawn.find('empty-page') !== null) return { ...page, rows: [], next: page.start, nonce: 0 };
  let { rows, next } = page;
  let nonce = 0;
  const looping = drawn.find('looping-cursor');
  if (looping !== null || drawn.find('repeated-page') !== null) {
    next = page.start;
    // Without a disguise the cursor is the one that was given; with it, it looks new each time.
    if (looping?.disguised === true) nonce = query.now + drawn.number;
  }
  const shifted = drawn.find('shifted-page');
  if (shifted !== null && next !== null) {
    next = Math.max(0, next + (query.order === 'oldest-first' ? shifted.by : -shifted.by));
  }
  if (drawn.find('reordered-page') !== null) rows = shuffle(rows, page.start);
  return { rows, next, start: page.start, nonce };
}

function shuffle(rows: readonly DecisionHappening[], seed: number): DecisionHappening[] {
  return rows
    .map((row, index) => ({ row, key: mix(seed, index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
}
