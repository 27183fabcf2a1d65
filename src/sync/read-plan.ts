import { ServiceError } from '../service/service-error.ts';
import type { WalkFault } from './follow-cursors.ts';
import { type LogRequest, type ReadyPage, readLogPages } from './log-pages.ts';
import {
  type Attempt,
  ignoresPeriod,
  nextPlan,
  nothingSeen,
  type Plan,
  type PlanEvent,
  see,
} from './periods-to-read.ts';
import type { PullDeps } from './pull-result.ts';

export interface PageStep {
  readonly type: 'page';
  readonly page: ReadyPage;
  readonly plan: Plan;
}

/**
 * `page`: to be stored together with the next plan. `fault`: the plan cannot go on. `read`: everything reachable was
 * read.
 */
type ReadStep =
  | PageStep
  | { readonly type: 'fault'; readonly fault: WalkFault }
  | { readonly type: 'read'; readonly plan: Plan };

interface ReadRequest extends LogRequest {
  readonly runId: string;
  /** Banners to request one by one if a period cannot be read otherwise. */
  readonly loadBannerIds: () => Promise<readonly string[]>;
}

/** More refusals than any log should cause: the run fails, and the next one continues with the remaining pieces. */
const MAX_REFUSALS = 5000;
/** Consecutive pages over the size limit; halving the whole log down to a second takes about thirty. */
const MAX_TOO_LARGE = 40;

/**
 * Reads the pieces of a plan one after the other; nextPlan (src/sync/periods-to-read.ts) says what follows from each page or
 * refusal. Errors: those of requests without a cursor, and those that are not refusals; `too-large` if smaller pieces
 * do not help.
 */
export async function* readPlan(
  deps: Pick<PullDeps, 'ledger' | 'clock' | 'service' | 'store'>,
  request: ReadRequest,
  begun: Plan,
): AsyncGenerator<ReadStep, void, undefined> {
  let plan = begun;
  let refusals = 0;
  let tooLarge = 0;
  for (let [piece] = plan.pieces; piece !== undefined; [piece] = plan.pieces) {
    const seen = nothingSeen();
    const isResumed = plan.cursor !== null;
    try {
      for await (const step of readLogPages(deps, request, { runId: request.runId, piece }, plan.cursor)) {
        if (step.type === 'fault') return yield step;
        const { page } = step;
        tooLarge = 0;
        const isCut = page.isCut === true;
        see(seen, piece, page.rows);
        const isEnded = page.nextCursor === null && !isCut;
        const isIgnored = ignoresPeriod(piece, seen, isEnded && !isResumed);
        plan = isIgnored
          ? nextPlan(plan, { type: 'period-ignored' }, await request.loadBannerIds())
          : nextPlan(plan, { type: 'page', nextCursor: page.nextCursor, asked: page.asked, isCut }, []);
        yield { type: 'page', page, plan };
        if (isIgnored) break;
      }
    } catch (error) {
      const isByDay = request.asking.form.period === 'date';
      const event = refusalOf(error, plan, { seen, isResumed, isByDay, now: deps.clock().getTime() });
      refusals += 1;
      if (event?.type === 'too-large') tooLarge += 1;
      if (event === null || refusals > MAX_REFUSALS || tooLarge > MAX_TOO_LARGE) throw error;
      plan = nextPlan(plan, event, await request.loadBannerIds());
    }
  }
  yield { type: 'read', plan };
}

/** What a refused request means for the plan; null: the run cannot continue. */
function refusalOf(error: unknown, { cursor, pieces }: Plan, attempt: Attempt): PlanEvent | null {
  const kind = error instanceof ServiceError ? error.kind : null;
  if (kind === 'too-large') return { type: 'too-large', ...attempt };
  if (cursor !== null) return isCursorRefusal(error) ? { type: 'cursor-refused', ...attempt } : null;
  return kind === 'bad-request' && pieces[0]?.isTight === true ? { type: 'period-ignored' } : null;
}

/**
 * Whether the service refused to continue from a cursor, for any reason except those that concern the account or the
 * connection.
 */
function isCursorRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status === null) return error instanceof ServiceError && error.unsent;
  return error.status >= 400 && ![401, 402, 407, 408, 429].includes(error.status);
}
