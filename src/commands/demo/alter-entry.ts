import type { Context } from '../../context/context.ts';

/**
 * Alters the first recorded refusal so that it reads as given, past the ledger, as someone with write access to the
 * database could; null: there is none. Nothing else may write an entry's row, so no room has a function for it.
 */
export async function alterOne(
  context: Pick<Context, 'store' | 'projector'>,
): Promise<{ seq: number; source: string } | null> {
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
  // The schema's type rightly forbids this: an entry is written once.
  await context.store.transaction((tx) =>
    tx.query
      .updateTable('entries')
      .set({ body: body as never })
      .where('seq', '=', refused.seq)
      .execute(),
  );
  return { seq: refused.seq, source: refused.source };
}
