import type { KnownEvent } from '../core/vocabulary.ts';
import { drawChoice } from './decisions.ts';
import type { Happening, PolicyHappening } from './happenings.ts';
import { deriveText } from './keys.ts';
import { titleOf } from './policies.ts';
import { mix, mulberry32, pick } from './prng.ts';
import { drawPerson, visitorOf } from './visitors.ts';
import type { World } from './world.ts';

/** The n-th happening of a kind made on demand, at `at`. Same world, kind, number and time: same happening. */
export function drawMoment(world: World, event: KnownEvent, n: number, at: Date): Happening {
  const { client, shelf } = world;
  const random = mulberry32(mix(client.seed ^ 0x6d6f6d65, n));
  const id = (prefix: string): string => `${prefix}_${deriveText(16, client.seed, 'moment', event, n)}`;
  switch (event) {
    case 'consent.recorded': {
      const visitor = visitorOf(client, 2_000_000_000 + n);
      const policy = shelf.list(at).find(({ policyType }) => policyType === 'cookie-policy');
      return {
        event,
        recordId: id('cr'),
        visitorHash: visitor.hash,
        bannerId: pick(random, client.banners).id,
        ...drawChoice(random, null),
        region: visitor.region,
        language: visitor.language,
        policyId: policy?.id ?? null,
        policyVersion: policy?.version ?? null,
        domain: client.domain,
        expiresAt: new Date(at.getTime() + 365 * 86_400_000),
        at,
      };
    }
    case 'dsar.submitted': {
      const person = drawPerson(client.seed, 950_000_000 + n);
      const kind = pick(random, ['access', 'erasure', 'opt-out', 'portability'] as const);
      const jurisdiction = kind === 'opt-out' ? 'US-CA' : client.home;
      return {
        event,
        requestId: id('dsr'),
        kind,
        ...person,
        visitorHash: null,
        jurisdiction,
        language: 'en',
        message: 'Made by the sandbox.',
        at,
      };
    }
    case 'cookie_scan.completed':
      return {
        event,
        scanId: id('scn'),
        domain: client.domain,
        pages: 40,
        cookiesFound: 21,
        trackersFound: 7,
        uncategorised: 1,
        score: 94,
        at,
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return { event, integrationId: id('int'), name: 'newsletter', site: `https://${client.domain}`, at };
    default:
      return policyMoment(world, event, id('pol'), at);
  }
}

function policyMoment(
  { client, shelf }: World,
  event: PolicyHappening['event'],
  id: string,
  at: Date,
): PolicyHappening {
  const known = event === 'policy.created' ? undefined : shelf.list(at)[0];
  const policyType = known?.policyType ?? 'disclaimer';
  return {
    event,
    policyId: known?.id ?? id,
    policyType,
    title: known?.title ?? titleOf(policyType),
    brandName: client.name,
    jurisdiction: client.home,
    language: client.language,
    userId: client.userId,
    version: known?.version ?? 1,
    hostedUrl: null,
    at,
  };
}
