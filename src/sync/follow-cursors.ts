import { sha256 } from '../crypto/hash.ts';

/** A fetched page whose rows have not been read. */
interface FetchedPage {
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** The page arrived broken and its cursor was lost: there may be more pages. */
  readonly isCut?: boolean;
}

/** What a walk needs to know about a page. */
export interface WalkPage extends FetchedPage {
  /** Identifies the rows of the page, ignoring volatile fields; null for a page without rows. */
  readonly identity: string | null;
}

/** Why a walk cannot continue although the service answers. */
export type WalkFault =
  /**
   * The cursor of an earlier page came again. `earlierPage` gave it first; 0: the walk began with it. `standsStill`: it
   * leads to its own page, so the next run can still continue from it.
   */
  | {
      readonly reason: 'looping-cursor';
      readonly page: number;
      readonly earlierPage: number;
      readonly standsStill: boolean;
    }
  /** The service keeps giving new cursors with the same rows. */
  | { readonly reason: 'repeating-page'; readonly page: number; readonly earlierPage: number }
  /** The page arrived broken, and its cursor was in the unreadable part. */
  | { readonly reason: 'cut-page'; readonly page: number }
  /** Too many consecutive pages without a row, each with a next cursor. */
  | { readonly reason: 'endless-empty-pages'; readonly page: number };

/** One step of a walk: a page, or finally a fault if the walk had to stop early. */
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

interface WalkOptions<F extends FetchedPage, P extends WalkPage> {
  readonly fetchPage: (request: PageRequest) => Promise<F>;
  /** Reads a fetched page while the next one is being requested. */
  readonly readPage: (fetched: F, request: PageRequest) => Promise<P>;
  /** Where to start; null: at the first page. */
  readonly cursor: string | null;
  readonly signal: AbortSignal | undefined;
  /** Consecutive pages allowed without a row, default 100. */
  readonly maxEmptyPages?: number;
  /**
   * How often the same rows may come as separate pages, default 3: a page that repeats once, even when requested again,
   * is only a nuisance.
   */
  readonly maxRepeats?: number;
}

/** A requested page. */
interface Arriving<F> {
  readonly request: PageRequest;
  readonly fetched: Promise<F>;
}
interface Arrived<F, P> {
  readonly page: P;
  readonly fault: WalkFault | null;
  readonly next: Promise<Arriving<F>> | null;
}

/**
 * Walks over the pages of a window. While the caller works on one page, the next is fetched and read; the one after it
 * is requested once the caller is done. So a killed process has requested at most one page beyond the current one. Ends
 * after the last page, or with a fault. Remembers a few bytes per page to recognise cursors and pages. Errors: those of
 * fetchPage and readPage, after all earlier pages were yielded. Leaving the loop aborts the current fetch.
 */
export async function* followCursors<F extends FetchedPage, P extends WalkPage>(
  options: WalkOptions<F, P>,
): AsyncGenerator<WalkStep<P>, void, undefined> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(options.signal?.reason);
  options.signal?.throwIfAborted();
  options.signal?.addEventListener('abort', onAbort, { once: true });

  const ask = (cursor: string | null, number: number): Arriving<F> => {
    const request = { cursor, number, signal: controller.signal };
    return { request, fetched: unwatched(options.fetchPage(request)) };
  };

  const memory = createMemory(options);
  /** `pageBefore`: resolves when the caller is done with the previous page. */
  const arrive = async ({ request, fetched }: Arriving<F>, pageBefore: Promise<void>): Promise<Arrived<F, P>> => {
    const came = await fetched;
    const cursorFault = memory.lookAtCursor(came.nextCursor, request);
    const follow = (cursor: string) => pageBefore.then(() => ask(cursor, request.number + 1));
    const next = came.nextCursor !== null && cursorFault === null ? follow(came.nextCursor) : null;
    const page = await options.readPage(came, request);
    const cut = came.isCut === true ? { reason: 'cut-page' as const, page: request.number } : null;
    const { fault, askAgain } = memory.lookAtRows(page, request);
    if (askAgain !== null && cut === null && cursorFault === null) {
      // The pending request follows a doubtful page: its response is ignored.
      memory.forgetCursor(came.nextCursor, request);
      return { page: { ...page, nextCursor: askAgain }, fault: null, next: follow(askAgain) };
    }
    return { page, fault: cut ?? cursorFault ?? fault, next };
  };

  try {
    let ahead: Promise<Arrived<F, P>> | null = unwatched(arrive(ask(options.cursor, 1), Promise.resolve()));
    while (ahead !== null) {
      const { page, fault, next }: Arrived<F, P> = await ahead;
      options.signal?.throwIfAborted();
      let done = (): void => undefined;
      const worked = new Promise<void>((resolve) => {
        done = resolve;
      });
      ahead = next !== null && fault === null ? unwatched(next.then((asked) => arrive(asked, worked))) : null;
      yield { type: 'page', page };
      done();
      if (fault !== null) yield { type: 'fault', fault };
    }
  } finally {
    controller.abort(new Error('the walk over the pages has ended'));
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** Avoids an unhandled rejection if the consumer stops early; one that continues still gets the failure. */
function unwatched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Recognises repeated cursors and pages. A last page is never a fault: the walk ends there anyway. */
function createMemory(options: Pick<WalkOptions<FetchedPage, WalkPage>, 'cursor' | 'maxEmptyPages' | 'maxRepeats'>) {
  const { maxEmptyPages = 100, maxRepeats = 3 } = options;
  const cursors = new Map<string, number>();
  const pages = new Map<string, { count: number; readonly first: number }>();
  let empty = 0;
  let standing = 0;
  let askedBefore: string | null | undefined;
  if (options.cursor !== null) cursors.set(shortOf(options.cursor), 0);

  return {
    /**
     * A cursor that leads to its own page is requested a few more times, because the page may merely have come twice.
     */
    lookAtCursor(next: string | null, { cursor: asked, number: page }: PageRequest): WalkFault | null {
      if (next === null) return null;
      standing = next === asked ? standing + 1 : 0;
      const earlierPage = cursors.get(shortOf(next));
      if (earlierPage === undefined) cursors.set(shortOf(next), page);
      else if (next !== asked) return { reason: 'looping-cursor', page, earlierPage, standsStill: false };
      else if (standing > maxRepeats) return { reason: 'looping-cursor', page, earlierPage, standsStill: true };
      return null;
    },
    /** A page that is requested again may give its next cursor again. */
    forgetCursor(next: string | null, { number: page }: PageRequest): void {
      if (next !== null && cursors.get(shortOf(next)) === page) cursors.delete(shortOf(next));
    },
    /**
     * If an earlier page's rows come under another cursor, they may have replaced the right ones: that cursor is
     * requested once more.
     */
    lookAtRows(
      { nextCursor, identity }: WalkPage,
      { cursor: asked, number: page }: PageRequest,
    ): { readonly fault: WalkFault | null; readonly askAgain: string | null } {
      // The same rows under the same cursor: we asked again, so the service did not repeat itself.
      const isAskedAgain = asked !== null && asked === askedBefore;
      askedBefore = asked;
      if (identity === null) {
        if (!isAskedAgain) empty += 1;
        const isEndless = nextCursor !== null && empty > maxEmptyPages;
        return { fault: isEndless ? { reason: 'endless-empty-pages', page } : null, askAgain: null };
      }
      if (!isAskedAgain) empty = 0;
      const seen = pages.get(identity) ?? { count: 0, first: page };
      pages.set(identity, seen);
      if (isAskedAgain && seen.count > 0) return { fault: null, askAgain: null };
      seen.count += 1;
      const isTooOften = nextCursor !== null && seen.count > maxRepeats;
      return {
        fault: isTooOften ? { reason: 'repeating-page', page, earlierPage: seen.first } : null,
        askAgain: !isTooOften && seen.count > 1 ? asked : null,
      };
    },
  };
}

function shortOf(text: string): string {
  return sha256(Buffer.from(text, 'utf8')).toString('latin1', 0, 16);
}
