import { randomUUID } from 'node:crypto';
import { addBannerEvidence } from '../../banners/evidence.ts';
import type { Context } from '../../context.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { createHostedUrls } from '../../snapshots/hosted-url.ts';
import { loadKnownPolicies } from '../../snapshots/routine.ts';
import { takeSnapshots } from '../../snapshots/take.ts';
import { DEMO_OFFICER } from './answer-request.ts';

/** Fetches the texts of every known policy as visitors get them at this moment. How many looks were kept. */
export async function fetchTexts(context: Context): Promise<number> {
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
 * Adds what an officer would: how the first banner of each client was shown, in two versions. The other banners have none, so that reports
 * say where it lacks. The entries.
 */
export async function showBanners(context: Context, sandbox: Sandbox): Promise<number[]> {
  const { start, end } = sandbox.window;
  const changed = new Date((start.getTime() + end.getTime()) / 2).toISOString();
  const versions = [
    { from: start.toISOString(), to: changed, buttons: ['Accept all', 'Settings'] },
    { from: changed, to: null, buttons: ['Accept all', 'Reject all', 'Settings'] },
  ];
  const seqs: number[] = [];
  for (const [place, client] of sandbox.clients.entries()) {
    const [banner] = client.banners;
    if (banner === undefined) continue;
    for (const [version, { from, to, buttons }] of versions.entries()) {
      const added = await addBannerEvidence(context, {
        source: place === 0 ? 'default' : client.slug,
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
