import type { Context } from '../../context.ts';
import { loadLastDescription, sourcesToWatch } from '../../snapshots/openapi-watch.ts';
import { type Line, note, ok } from './line.ts';

const ABOUT = 'API description';
const REMEDY =
  'The service changed its API: look for a newer version of this program, and watch the next sync and the next generation.';

/** An installation that follows many addresses of the service is asked about some of them only. */
const ADDRESSES_ASKED = 10;

/** What the service's own description lacked when it was last stored; asks nobody. */
export async function checkStoredDescriptions(context: Context): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of sourcesToWatch(context.sources.list())) {
    const last = await loadLastDescription(context.store.read, source.slug);
    if (last === null || last.gone.length === 0) continue;
    lines.push(note(ABOUT, `${source.slug}: ${last.gone.join(' ')} (entry ${last.seq}, ${last.receivedAt})`, REMEDY));
  }
  return lines;
}

/** Fetches the description now and compares it with what the client relies on; stores nothing. A service without one is no fault. */
export async function checkDescriptions(context: Context): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of sourcesToWatch(context.sources.list()).slice(0, ADDRESSES_ASKED)) {
    const fetched = await context.snapshots.fetchDescription(source);
    if (fetched === null) continue;
    if (fetched.outcome !== 'fetched') {
      lines.push(
        note(
          ABOUT,
          `${source.slug}: ${fetched.sentence}`,
          'Not required, but API changes are detected later without it.',
        ),
      );
      continue;
    }
    const { gone } = fetched.description;
    lines.push(
      gone.length === 0
        ? ok(ABOUT, `${source.slug}: the API description still covers everything this program uses.`)
        : note(ABOUT, `${source.slug}: ${gone.join(' ')}`, REMEDY),
    );
  }
  return lines;
}
