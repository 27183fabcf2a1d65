import { type LogRequest, type ReadyPage, walkLog } from './log-pages.ts';
import type { PullDeps } from './contract.ts';
import { ServiceError } from '../service/service-error.ts';
import { afterPage, divide, giveUpPeriod, ignoresPeriod, nothingSeen, type Plan, see } from './plan.ts';
import type { WalkFault } from './walk.ts';

/** `page`: to be stored together with the plan that it leads to. `fault`: the plan cannot go on. `read`: all that can be reached was read. */
export type ReadStep =
  | { readonly type: 'page'; readonly page: ReadyPage; readonly plan: Plan }
  | { readonly type: 'fault'; readonly fault: WalkFault }
  | { readonly type: 'read'; readonly plan: Plan };

interface ReadRequest extends LogRequest {
  readonly runId: string;
  /** Banners to ask for one by one where a period cannot be read otherwise. */
  readonly loadBannerIds: () => Promise<readonly string[]>;
}

/** More pieces than a log that is read in one go needs: the next run goes on with those that are left. */
const MAX_DIVISIONS = 5000;

/**
 * Reads the pieces of a plan, one after the other. After a refusal of a cursor, of whatever kind, it reads the piece once more from its
 * beginning; when a cursor is refused again, it divides the piece (src/sync/plan.ts). Errors: those of requests without a cursor, and those that are
 * no refusal.
 */
export async function* readPlan(
  deps: Pick<PullDeps, 'ledger' | 'clock' | 'service'>,
  request: ReadRequest,
  begun: Plan,
): AsyncGenerator<ReadStep, void, undefined> {
  let plan = begun;
  let divisions = 0;
  for (let [piece] = plan.pieces; piece !== undefined; [piece] = plan.pieces) {
    const seen = nothingSeen();
    const isResumed = plan.cursor !== null;
    let ignored = false;
    try {
      for await (const step of walkLog(deps, request, { runId: request.runId, piece }, plan.cursor)) {
        if (step.type === 'fault') return yield step;
        const { page } = step;
        see(seen, piece, page.rows);
        const isEnded = page.nextCursor === null && page.isCut !== true;
        ignored = ignoresPeriod(piece, seen, isEnded && !isResumed);
        if (ignored) plan = giveUpPeriod(plan, await request.loadBannerIds());
        else plan = page.isCut === true ? { ...plan, cursor: page.asked } : afterPage(plan, page.nextCursor);
        yield { type: 'page', page, plan };
        if (ignored) break;
      }
    } catch (error) {
      if (piece.isTight === true && plan.cursor === null && isRefusal(error)) {
        plan = giveUpPeriod(plan, await request.loadBannerIds());
        continue;
      }
      if (plan.cursor === null || !isCursorRefusal(error)) throw error;
      if (!plan.hasRestarted || (isResumed && seen.pages === 0)) plan = { ...plan, cursor: null, hasRestarted: true };
      else {
        divisions += 1;
        if (divisions > MAX_DIVISIONS) throw error;
        const isByDay = plan.isByDay || request.asking.form.period === 'date';
        plan = divide({ ...plan, isByDay }, seen, deps.clock().getTime(), await request.loadBannerIds());
      }
    }
  }
  yield { type: 'read', plan };
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === 'bad-request';
}

/** Whether the service would not go on from a cursor, for whatever reason: all but what concerns the account, or the way to the service. */
function isCursorRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status === null) return error instanceof ServiceError && error.unsent;
  return error.status >= 400 && ![401, 402, 407, 408, 429].includes(error.status);
}
