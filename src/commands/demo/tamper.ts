import pc from 'picocolors';
import { loadConfig } from '../../config.ts';
import type { Context } from '../../context.ts';
import { type CommandIo, printResult } from '../command-io.ts';
import { withContextOf } from '../run-context.ts';
import { findFolder } from './demo-folder.ts';

/** Does what the ledger is there to find: alters one recorded choice behind its back, then verifies. Ends with exit code 3. */
export async function tamper(io: CommandIo, options: { folder: string; json?: boolean }): Promise<void> {
  const folder = findFolder(options.folder);
  await withContextOf(loadConfig({}, folder), async (context) => {
    const altered = await alterOne(context);
    const verification = await context.verify();
    io.exitCode = verification.faults.length > 0 ? 3 : 1;
    printResult(io, options, { altered, faults: verification.faults }, () =>
      [
        altered === null
          ? 'Nothing was altered: the demo has no refused choice left to change.'
          : `Someone with write access to the database changed entry ${altered.seq} of ${altered.source}: a refused choice now reads as given.`,
        '',
        verification.faults.length > 0 ? pc.red(`✗ ledger verify finds it:`) : pc.red('✗ ledger verify found nothing'),
        ...verification.faults.map(({ seq, fault, sentence }) => `  entry ${seq ?? '–'}: ${fault}: ${sentence}`),
        '',
        'Run `npm run demo` again for an intact ledger.',
      ].join('\n'),
    );
  });
}

async function alterOne(context: Context): Promise<{ seq: number; source: string } | null> {
  await context.projector.catchUp();
  const refused = await context.store.read
    .selectFrom('decision_history')
    .innerJoin('entries', 'entries.seq', 'decision_history.seq')
    .select(['entries.seq', 'entries.source', 'entries.body'])
    .where('decision_history.state', '=', 'refused')
    .where('decision_history.via', '=', 'webhook')
    .orderBy('entries.seq')
    .limit(1)
    .executeTakeFirst();
  if (!refused?.body) return null;
  const text = refused.body.toString('utf8');
  const changed = text.replaceAll('false', 'true').replaceAll('reject', 'accept');
  const body = Buffer.from(changed === text ? `${text} ` : changed);
  // The schema's type forbids it, as it should: an entry is written once.
  await context.store.transaction((tx) =>
    tx.query
      .updateTable('entries')
      .set({ body: body as never })
      .where('seq', '=', refused.seq)
      .execute(),
  );
  return { seq: refused.seq, source: refused.source };
}
