import { randomUUID } from 'node:crypto';
import { addBannerEvidence, nameBanner } from '../../banners/evidence.ts';
import { listCases } from '../../cases/list-cases.ts';
import { moveCase } from '../../cases/move-case.ts';
import type { MoveName } from '../../cases/moves.ts';
import type { CaseView } from '../../cases/view.ts';
import type { Context } from '../../context/context.ts';
import { loadKnownPolicies } from '../../policy-snapshots/request.ts';
import { createHostedUrls, takeSnapshots } from '../../policy-snapshots/take.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { createHistory } from '../../store/queries/history.ts';

/** Fetches the current texts of every known policy as visitors see them. Returns how many fetches were recorded. */
export async function fetchTexts(context: Pick<Context, 'sources' | 'snapshots' | 'projector'>): Promise<number> {
  const urls = createHostedUrls(context.snapshots);
  let looks = 0;
  await context.projector.catchUp();
  for (const source of context.sources.list()) {
    for (const policy of await loadKnownPolicies(context.snapshots, source)) {
      const request = { source, ...policy, why: 'schedule', changedAt: null, fetchId: randomUUID() } as const;
      const taking = await takeSnapshots(context.snapshots, urls, request);
      if (taking.outcome === 'looked') looks += taking.looks.filter((look) => look.outcome !== 'refused').length;
    }
  }
  return looks;
}

/**
 * Does what an officer would: names the banners, and adds two versions of how the first banner of each client was
 * shown. Other banners have no evidence, so reports show where it is missing. Returns the entries of the evidence.
 */
export async function showBanners(
  context: Pick<Context, 'store' | 'ledger' | 'evidenceFolder' | 'sources' | 'projector' | 'clock'>,
  sandbox: Sandbox,
): Promise<number[]> {
  const { start, end } = sandbox.window;
  const changed = new Date((start.getTime() + end.getTime()) / 2).toISOString();
  const versions = [
    { from: start.toISOString(), to: changed, buttons: ['Accept all', 'Settings'] },
    { from: changed, to: null, buttons: ['Accept all', 'Reject all', 'Settings'] },
  ];
  const seqs: number[] = [];
  for (const [place, client] of sandbox.clients.entries()) {
    const source = place === 0 ? 'default' : client.slug;
    for (const { id, name } of client.banners)
      await nameBanner(context, { source, actor: DEMO_OFFICER, bannerId: id, name });
    const [banner] = client.banners;
    if (banner === undefined) continue;
    for (const [version, { from, to, buttons }] of versions.entries()) {
      const added = await addBannerEvidence(context, {
        source,
        actor: DEMO_OFFICER,
        bannerId: banner.id,
        fileName: `banner-${version + 1}.html`,
        bytes: Buffer.from(bannerPage(client.name, buttons)),
        from,
        to,
        note: `first layer, version ${version + 1} (SAMPLE)`,
      });
      if (added.outcome === 'refused') throw new Error(`no evidence of a banner: ${added.problems.join(' ')}`);
      seqs.push(added.seq);
    }
  }
  await context.projector.catchUp();
  return seqs;
}

/** A made-up banner, as a browser would save it. */
function bannerPage(name: string, buttons: readonly string[]): string {
  return `<!doctype html>
<title>${name} (SAMPLE)</title>
<section role="dialog" aria-label="Cookies">
  <h1>${name} uses cookies (SAMPLE)</h1>
  <p>Besides those that are necessary, we use cookies for preferences, analytics and marketing. You can withdraw your choice at any time under “Cookie settings”.</p>
  ${buttons.map((button) => `<button>${button}</button>`).join('\n  ')}
</section>
`;
}

export const DEMO_OFFICER = 'Sam Sample (demo)';

/** Prepares the most urgent access request as far as an officer would before sending the answer; null if there is none. */
export async function prepareAnswer(
  context: Pick<Context, 'sources' | 'projector' | 'cases' | 'loadProfile' | 'clock'>,
  source: string,
): Promise<CaseView | null> {
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
 * Answers the requests to withdraw consent whose requester was found: with the answer, the withdrawal takes effect in
 * the records (GDPR Art. 7(3)). Returns the cases.
 */
export async function answerWithdrawals(
  context: Pick<Context, 'store' | 'sources' | 'projector' | 'cases' | 'loadProfile' | 'clock'>,
  source: string,
): Promise<readonly string[]> {
  const answered: string[] = [];
  const history = createHistory(context.store.read);
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
    const withdrawals = await history.withdrawalsByRequest({ source, asOf: Number.MAX_SAFE_INTEGER });
    if (withdrawals.some(({ caseId }) => caseId === row.case_id)) answered.push(row.case_id);
  }
  return answered;
}

function open(context: Pick<Context, 'cases' | 'clock'>, source: string): Promise<readonly CaseView[]> {
  return listCases(context.cases, { source, open: true, now: context.clock().toISOString() });
}
