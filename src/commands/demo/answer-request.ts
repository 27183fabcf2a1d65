import { listCases } from '../../cases/list-cases.ts';
import { moveCase } from '../../cases/move-case.ts';
import type { MoveName } from '../../cases/move-details.ts';
import type { CaseView } from '../../cases/view.ts';
import type { Context } from '../../context.ts';

export const DEMO_OFFICER = 'Sam Sample (demo)';

/** Takes the most urgent access request as far as an officer would before sending the answer; null when there is none. */
export async function prepareAnswer(context: Context, source: string): Promise<CaseView | null> {
  const [urgent] = (await open(context, source)).filter(({ kind }) => kind === 'access');
  if (urgent === undefined) return null;
  const caseId = urgent.row.case_id;
  const at = context.clock().toISOString();
  const profile = await context.loadProfile(context.sources.find(source));
  const moves: [MoveName, Record<string, string>][] = [
    ['acknowledge', { at, channel: 'e-mail' }],
    ['confirm-identity', { at, how: 'answered from the address that the request came from (SAMPLE)' }],
    ...(profile?.otherSystems ?? []).map(({ id }): [MoveName, Record<string, string>] => [
      'mark-system',
      { system: id, result: 'nothing-found' },
    ]),
  ];
  for (const [move, details] of moves) {
    await context.projector.catchUp();
    const [view] = (await open(context, source)).filter(({ row }) => row.case_id === caseId);
    if (view === undefined || !view.moves.includes(move)) continue;
    const moved = await moveCase(context.cases, {
      caseId,
      basedOn: view.row.version,
      move,
      details,
      actor: DEMO_OFFICER,
    });
    if (moved.outcome !== 'moved')
      throw new Error(`the demo's case could not be moved (${move}): ${JSON.stringify(moved)}`);
  }
  await context.projector.catchUp();
  return (await open(context, source)).find(({ row }) => row.case_id === caseId) ?? null;
}

/**
 * Answers the requests to withdraw consent whose requester was found: the withdrawal takes effect in the records with the answer
 * (GDPR Art. 7(3)). The cases.
 */
export async function answerWithdrawals(context: Context, source: string): Promise<readonly string[]> {
  const answered: string[] = [];
  const wanted = (await open(context, source)).filter(({ kind }) => kind === 'withdraw-consent');
  const profile = await context.loadProfile(context.sources.find(source));
  for (const { row } of wanted) {
    const at = context.clock().toISOString();
    const done = { what: 'Withdrawal of consent', outcome: 'done', note: 'applied to every banner (SAMPLE)' };
    const moves: [MoveName, Record<string, unknown>][] = [
      ['acknowledge', { at, channel: 'e-mail' }],
      ['start', {}],
      ...(profile?.otherSystems ?? []).map(({ id }): [MoveName, Record<string, string>] => [
        'mark-system',
        { system: id, result: 'nothing-found' },
      ]),
      ['mark-ready', {}],
      ['answer', { at, channel: 'e-mail', disclosure: 'categories-only', parts: [done] }],
    ];
    for (const [move, details] of moves) {
      await context.projector.catchUp();
      const view = (await open(context, source)).find((one) => one.row.case_id === row.case_id);
      if (view === undefined || !view.moves.includes(move)) continue;
      const basedOn = view.row.version;
      const moved = await moveCase(context.cases, { caseId: row.case_id, basedOn, move, details, actor: DEMO_OFFICER });
      if (moved.outcome !== 'moved')
        throw new Error(`the demo's withdrawal could not be answered (${move}): ${JSON.stringify(moved)}`);
    }
    await context.projector.catchUp();
    const took = await context.store.read
      .selectFrom('decision_history')
      .select('seq')
      .where('case_id', '=', row.case_id)
      .executeTakeFirst();
    if (took !== undefined) answered.push(row.case_id);
  }
  return answered;
}

function open(context: Context, source: string): Promise<readonly CaseView[]> {
  return listCases(context.cases, { source, open: true, now: context.clock().toISOString() });
}
