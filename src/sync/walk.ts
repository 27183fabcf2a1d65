import { sha256 } from '../core/hash.ts';

/** What a walk needs to know of a page. */
export interface WalkPage {
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** Names the rows of the page, whatever is volatile in them; null for a page without rows. */
  readonly identity: string | null;
}

/** Why a walk over the pages cannot go on although the service answers. */
export type WalkFault =
  /**
   * The cursor of an earlier page came again. `earlierPage` gave it first, 0: the walk began with it. `standsStill`: it leads to its own
   * page, so it is still the place to go on from.
   */
  | {
      readonly reason: 'looping-cursor';
      readonly page: number;
      readonly earlierPage: number;
      readonly standsStill: boolean;
    }
  /** The service gives new cursors but the same rows, again and again. */
  | { readonly reason: 'repeating-page'; readonly page: number; readonly earlierPage: number }
  /** Page after page without a row, each with a next cursor. */
  | { readonly reason: 'endless-empty-pages'; readonly page: number };

/** One step of a walk: a page, and last a fault where the walk had to stop before its end. */
export type WalkStep<P extends WalkPage> =
  | { readonly type: 'page'; readonly page: P }
  | { readonly type: 'fault'; readonly fault: WalkFault };

/** Which page to fetch. */
export interface PageRequest {
  /** Null: the first page. */
  readonly cursor: string | null;
  /** From 1, within this walk. */
  readonly number: number;
  readonly signal: AbortSignal;
}

export interface WalkOptions<P extends WalkPage> {
  readonly fetchPage: (request: PageRequest) => Promise<P>;
  /** Where to start; null: at the first page. */
  readonly cursor: string | null;
  readonly signal: AbortSignal | undefined;
  /** Pages in a row without a row of data, default 100. */
  readonly maxEmptyPages?: number;
  /** How often the same rows may come as a page of their own, default 3: a page that repeats once is only a nuisance. */
  readonly maxRepeats?: number;
}

/**
 * Walks over the pages of a window, the next page being fetched while the caller works on this one.
 * Ends after the last page, or with a fault. Remembers a few bytes per page, to know cursors and pages again.
 * Errors: those of fetchPage, after the pages before it were handed over. Leaving the loop stops the fetch under way.
 */
export async function* walkPages<P extends WalkPage>(
  options: WalkOptions<P>,
): AsyncGenerator<WalkStep<P>, void, undefined> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(options.signal?.reason);
  options.signal?.throwIfAborted();
  options.signal?.addEventListener('abort', onAbort, { once: true });

  const fetchAhead = (cursor: string | null, number: number): Promise<P> => {
    const page = options.fetchPage({ cursor, number, signal: controller.signal });
    // Whoever leaves the loop never awaits it; its failure is told to whoever stays.
    page.catch(() => undefined);
    return page;
  };

  const memory = createMemory(options);
  try {
    let { cursor } = options;
    let ahead = fetchAhead(cursor, 1);
    for (let number = 1; ; number += 1) {
      const page = await ahead;
      options.signal?.throwIfAborted();
      const fault = memory.look(page, number, cursor);
      cursor = page.nextCursor;
      if (cursor !== null && fault === null) ahead = fetchAhead(cursor, number + 1);
      yield { type: 'page', page };
      if (fault !== null) yield { type: 'fault', fault };
      if (cursor === null || fault !== null) return;
    }
  } finally {
    controller.abort(new Error('the walk over the pages has ended'));
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** Knows cursors and pages again. A last page is never a fault: the walk ends there anyway. */
function createMemory(options: Pick<WalkOptions<WalkPage>, 'cursor' | 'maxEmptyPages' | 'maxRepeats'>) {
  const { maxEmptyPages = 100, maxRepeats = 3 } = options;
  const cursors = new Map<string, number>();
  const pages = new Map<string, { count: number; readonly first: number }>();
  let empty = 0;
  let standing = 0;
  let askedBefore: string | null | undefined;
  if (options.cursor !== null) cursors.set(shortOf(options.cursor), 0);

  /** A cursor that leads to its own page is asked again a few times: the page may only have come twice. */
  function lookAtCursor(next: string, page: number, asked: string | null): WalkFault | null {
    standing = next === asked ? standing + 1 : 0;
    const earlierPage = cursors.get(shortOf(next));
    if (earlierPage === undefined) cursors.set(shortOf(next), page);
    else if (next !== asked) return { reason: 'looping-cursor', page, earlierPage, standsStill: false };
    else if (standing > maxRepeats) return { reason: 'looping-cursor', page, earlierPage, standsStill: true };
    return null;
  }

  function lookAtRows(identity: string | null, page: number): WalkFault | null {
    empty = identity === null ? empty + 1 : 0;
    if (identity === null) return empty > maxEmptyPages ? { reason: 'endless-empty-pages', page } : null;
    const seen = pages.get(identity) ?? { count: 0, first: page };
    pages.set(identity, seen);
    seen.count += 1;
    return seen.count > maxRepeats ? { reason: 'repeating-page', page, earlierPage: seen.first } : null;
  }

  return {
    /** `asked`: the cursor that the page was asked with. */
    look({ nextCursor, identity }: WalkPage, page: number, asked: string | null): WalkFault | null {
      if (nextCursor === null) return null;
      // The same rows under the same cursor are our asking again, not a repetition of the service's.
      const isAskedAgain = asked !== null && asked === askedBefore;
      askedBefore = asked;
      return lookAtCursor(nextCursor, page, asked) ?? (isAskedAgain ? null : lookAtRows(identity, page));
    },
  };
}

function shortOf(text: string): string {
  return sha256(Buffer.from(text, 'utf8')).toString('latin1', 0, 16);
}
