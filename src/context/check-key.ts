import type { Clock } from '../core/clock.ts';
import type { DestinationRule } from '../core/destination.ts';
import type { Source } from '../core/source.ts';
import type { JobLog } from '../jobs/job.ts';
import { HUB } from '../policy-texts/snapshot.ts';
import { createServiceClient } from '../service/client.ts';
import { fetchEmbedPolicy } from '../service/public-fetch.ts';
import { ServiceError } from '../service/service-error.ts';

/**
 * The result of one read call with a source's API key. `works`: the key may read; `clockSkewMs` is our clock minus the
 * service's Date header (in whole seconds), null if there is none. The other sentences end with what to do.
 */
export type KeyCheck =
  | { readonly outcome: 'works'; readonly sentence: string; readonly clockSkewMs: number | null }
  | {
      readonly outcome: 'refused' | 'not-configured';
      readonly sentence: string;
      /** Nothing there answered as a web server does; the server’s operator may have to help. */
      readonly isUnreached?: boolean;
    };

/** The part of the context that a check needs. */
interface CheckDeps {
  readonly clock: Clock;
  readonly config: { readonly destinations: DestinationRule };
}

const TIMEOUT_MS = 15_000;

/**
 * Asks the service once whether a source's API key works: requests the first row of its consent log, as a sync would;
 * if the service refuses that request (no banner is known), the list of policies. Never retried, changes nothing.
 */
export async function checkKey(source: Source, { clock, config }: CheckDeps): Promise<KeyCheck> {
  const { slug, baseUrl, apiKey, options } = source;
  if (baseUrl === null || apiKey === null) {
    const missing = baseUrl === null ? 'API address' : 'API key';
    return {
      outcome: 'not-configured',
      sentence: `The source ${slug} has no ${missing}: deliveries are received, but nothing can be pulled.`,
    };
  }
  const client = createServiceClient({
    ...{ baseUrl, apiKey, destinations: config.destinations },
    ...{ retries: 0, timeoutMs: TIMEOUT_MS },
  });
  try {
    const bannerId = options.banners[0] ?? null;
    const page = await client.fetchConsentLogPage({ bannerId, from: null, to: null, limit: 1, cursor: null });
    return {
      outcome: 'works',
      sentence: `The API key of ${slug} works: the consent log${bannerId === null ? '' : ` of banner ${bannerId}`} can be read.`,
      clockSkewMs: page.serverDate === null ? null : clock().getTime() - page.serverDate.getTime(),
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind !== 'bad-request' && error.kind !== 'not-found') return refusedBy(slug, error);
    return checkByPolicies(slug, client, error);
  }
}

async function checkByPolicies(
  slug: string,
  client: ReturnType<typeof createServiceClient>,
  before: ServiceError,
): Promise<KeyCheck> {
  try {
    const policies = await client.listPolicies();
    const sentence = `The API key of ${slug} works: ${policies.length} published policies can be listed. The consent log cannot be read as requested: ${before.message}`;
    return { outcome: 'works', sentence, clockSkewMs: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refusedBy(slug, error);
  }
}

function refusedBy(slug: string, error: ServiceError): KeyCheck {
  // A name without an address, and an address that is not allowed, say nothing about any port.
  const isUnreached =
    error.kind === 'timeout' ||
    (error.kind === 'network' && error.fault !== 'no-address' && error.fault !== 'not-allowed');
  return { outcome: 'refused', sentence: `${slug}: ${error.message}`, isUnreached };
}

/**
 * {@link checkKey} for someone who is not at a shell of the server: a port that is closed, silent or not a web server's
 * gives the same sentence, so that a check cannot be used to scan ports. The reason goes to the operator's log.
 */
export async function checkKeyDiscreetly(
  source: Source,
  context: CheckDeps & { readonly log: JobLog },
): Promise<KeyCheck> {
  const check = await checkKey(source, context);
  if (check.outcome !== 'refused' || check.isUnreached !== true) return check;
  context.log.warn({ source: source.slug, reason: check.sentence }, 'a check did not reach the service');
  const sentence = `${source.slug}: The service could not be reached, or did not answer as a web server does in time. Check the source’s API address, its port, the network, and any firewall or proxy. The server’s log has the details.`;
  return { outcome: 'refused', sentence, isUnreached: true };
}

/** Requests the list of all texts from the embed endpoint with a source's site key; null if address or key is missing. */
export async function checkSiteKey(
  { slug, siteUrl, siteKey }: Source,
  { config: { destinations } }: Pick<CheckDeps, 'config'>,
): Promise<KeyCheck | null> {
  if (siteUrl === null || siteKey === null) return null;
  const fetched = await fetchEmbedPolicy({ siteUrl, destinations, siteKey, type: HUB }, { timeoutMs: TIMEOUT_MS });
  if (fetched.outcome === 'refused') return { outcome: 'refused', sentence: `${slug}: ${fetched.sentence}` };
  return {
    outcome: 'works',
    sentence: `The site key of ${slug} works: the embed endpoint returns texts.`,
    clockSkewMs: null,
  };
}
