import type { Query } from '../store/store.ts';
import { loadPosition, type SyncPosition } from './position.ts';

/** A refusal may have been a mishap of the service's: after this long the whole log is asked for once more. */
const ASK_AGAIN_MS = 24 * 60 * 60 * 1000;

type Given = Pick<SyncPosition, 'run_id' | 'rows_total' | 'last_success_at'>;
type Refused = Given & Pick<SyncPosition, 'banner_id' | 'last_error'>;

/** How the log of a source that names no banner is asked for: whether it ever came without a banner, and whether it was refused lately. */
export async function loadWholeLog(
  read: Query,
  source: string,
  now: Date,
): Promise<{ readonly wasGiven: boolean; readonly isRefused: boolean }> {
  const position = await loadPosition(read, source, '');
  if (position === null) return { wasGiven: false, isRefused: false };
  const isLate = now.getTime() - Date.parse(position.updated_at) > ASK_AGAIN_MS;
  return { wasGiven: wasGiven(position), isRefused: isRefusal(position) && !isLate };
}

/** Whether a position only says that the log was not given without a banner; a request that failed otherwise leaves its error there. */
export function isRefusal(position: Refused): boolean {
  return position.banner_id === '' && !wasGiven(position) && position.last_error === null;
}

/** Remembers that the log of a source is not given without a banner. In a write transaction. */
export async function noteRefusal(query: Query, source: string, at: string): Promise<void> {
  const position = await loadPosition(query, source, '');
  if (position !== null && wasGiven(position)) return;
  const refusal = { cursor: null, run_plan: null, last_error: null, last_error_at: null, updated_at: at };
  if (position !== null) {
    const own = query.updateTable('sync_positions').where('source', '=', source).where('banner_id', '=', '');
    await own.set(refusal).execute();
    return;
  }
  const nothing = { run_id: null, run_from: null, run_to: null, run_as_of: null, watermark: null };
  const unknown = { earliest: null, read_to: null, gaps: null, form: null, dismissed_at: null };
  const never = { rows_total: 0, last_success_at: null, recounted_at: null, recount: null };
  await query
    .insertInto('sync_positions')
    .values({ source, banner_id: '', ...nothing, ...unknown, ...never, ...refusal })
    .execute();
}

function wasGiven({ run_id, rows_total, last_success_at }: Given): boolean {
  return run_id !== null || rows_total > 0 || last_success_at !== null;
}
