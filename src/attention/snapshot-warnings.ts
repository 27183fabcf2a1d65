import type { Query } from '../store/store.ts';
import type { Warning } from './warning.ts';

const DAY = 86_400_000;

/** What the service's own description lost, and texts of policies that could not be fetched. */
export async function findSnapshotWarnings(read: Query, now: Date): Promise<Warning[]> {
  return [...(await descriptionWarnings(read)), ...(await failedFetches(read, now))];
}

/** One for each address of the service, whichever source's key was used: another one may watch it by now. */
async function descriptionWarnings(read: Query): Promise<Warning[]> {
  const newest = read
    .selectFrom('snapshot_history')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('target', '=', 'openapi')
    .groupBy('url');
  const rows = await read
    .selectFrom('snapshot_history')
    .select(['source', 'findings', 'received_at', 'url'])
    .where('seq', 'in', newest)
    .orderBy('source')
    .execute();
  return rows.flatMap(({ source, findings, received_at: at, url }): Warning[] => {
    const gone = findings === null ? [] : (JSON.parse(findings) as string[]);
    if (gone.length === 0) return [];
    const more = gone.length > 3 ? ` (and ${gone.length - 3} more)` : '';
    return [
      {
        code: 'api-changed',
        source,
        sentence: `The service’s description of its API (${url}) lacks what this program relies on, seen first ${at.slice(0, 10)}: ${gone.slice(0, 3).join(' ')}${more}`,
        remedy:
          'Look for a newer version of this program; `consent-ledger doctor --public` compares again, and the next sync shows whether it still works.',
      },
    ];
  });
}

async function failedFetches(read: Query, now: Date): Promise<Warning[]> {
  const failed = await read
    .selectFrom('jobs')
    .select(['error', 'payload'])
    .where('kind', '=', 'snapshot')
    .where('state', '=', 'failed')
    .where('finished_at', '>=', new Date(now.getTime() - DAY).toISOString())
    .orderBy('finished_at', 'desc')
    .limit(1000)
    .execute();
  const bySource = new Map<string, { count: number; error: string }>();
  for (const { error, payload } of failed) {
    const source = sourceOf(payload);
    const before = bySource.get(source);
    bySource.set(source, { count: (before?.count ?? 0) + 1, error: before?.error ?? error ?? 'unknown' });
  }
  return [...bySource].map(([source, { count, error }]) => ({
    code: 'snapshot-failing',
    source,
    sentence: `${count} ${count === 1 ? 'text of a policy' : 'texts of policies'} of ${source} could not be fetched in the last 24 hours. The last one: ${error}`,
    remedy: `Run \`consent-ledger policy snapshot --source ${source}\` and read what it says.`,
  }));
}

function sourceOf(payload: string): string {
  const { source } = JSON.parse(payload) as { source?: unknown };
  return typeof source === 'string' ? source : 'unknown';
}
