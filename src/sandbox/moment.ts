import type { KnownEvent } from '../core/vocabulary.ts';
import { cookiesAt, countsOf } from './calendar.ts';
import { drawChoice } from './decisions.ts';
import type { Happening, PolicyHappening } from './happenings.ts';
import { deriveText } from './keys.ts';
import { titleOf } from './policies.ts';
import { mix, mulberry32, pick } from './prng.ts';
import { drawPerson, visitorOf } from './visitors.ts';
import type { World } from './world.ts';

/**
 * The n-th happening of a kind made on demand, at `at`, of the policy that is named. Same world, kind, number and time: same happening.
 * Errors: the client has no such policy.
 */
export function drawMoment(world: World, event: KnownEvent, n: number, at: Date, policyId?: string): Happening {
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
        ...countsOf(cookiesAt(client.domain, n + 4)),
        at,
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return {
        event,
        // The same each time, so that what is connected can be lost.
        integrationId: `int_${deriveText(12, client.seed, 'integration', 'newsletter')}`,
        ...{ name: 'newsletter', site: `https://${client.domain}`, at },
        ...(event === 'integration.disconnected' ? { reason: 'The API key was rejected (401 Unauthorized).' } : {}),
      };
    default:
      return policyMoment(world, event, id('pol'), at, policyId);
  }
}

/** Errors: none of the client's policies fits. */
function policyMoment(
  { client, shelf }: World,
  event: PolicyHappening['event'],
  newId: string,
  at: Date,
  wanted: string | undefined,
): PolicyHappening {
  const known = wanted === undefined ? shelf.candidate(event, at) : shelf.find(wanted, at);
  if (known === null && event !== 'policy.created')
    throw new Error(
      `the client ${client.slug} has no ${wanted === undefined ? 'published policy' : `policy ${wanted}`}`,
    );
  if (known !== null && event !== 'policy.created') {
    const version = known.version + (event === 'policy.updated' ? 1 : 0);
    return shelf.happening({ ...known, version }, event, at);
  }
  return {
    event,
    policyId: wanted ?? newId,
    policyType: 'disclaimer',
    title: titleOf('disclaimer'),
    brandName: client.name,
    jurisdiction: client.home,
    language: client.language,
    userId: client.userId,
    version: 1,
    at,
  };
}

/** Lets a happening take place at the service: what it answers from now on says so. Scans, requests and integrations are in no answer. */
export function takePlace(world: World, happening: Happening): void {
  switch (happening.event) {
    case 'consent.recorded':
      return world.log.record(happening);
    case 'policy.created':
    case 'policy.updated':
    case 'policy.published':
    case 'policy.deleted':
      return world.shelf.apply(happening);
    default:
  }
}
