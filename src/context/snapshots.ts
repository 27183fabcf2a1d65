import type { Source } from '../core/source.ts';
import { createServiceClient } from '../service/client.ts';
import { fetchEmbedPolicy } from '../service/embed.ts';
import { fetchHostedPolicy } from '../service/hosted-policy.ts';
import { fetchDescription } from '../service/openapi.ts';
import { isTransient, ServiceError } from '../service/service-error.ts';
import type { AddressList, SnapshotDeps } from '../snapshots/deps.ts';
import type { WatchDeps } from '../snapshots/openapi-watch.ts';
import type { Context } from './contract.ts';

/** What fetching texts needs, out of the parts of an installation. */
export function createSnapshotDeps(
  parts: Pick<Context, 'store' | 'ledger' | 'jobs' | 'clock' | 'projector'>,
): SnapshotDeps & WatchDeps {
  const { store, ledger, jobs, clock, projector } = parts;
  return {
    store,
    ledger,
    jobs,
    clock,
    catchUp: () => projector.catchUp(),
    fetchEmbed: (request) => fetchEmbedPolicy(request, { now: clock }),
    fetchHosted: (request) => fetchHostedPolicy(request, { now: clock }),
    listAddresses,
    fetchDescription: ({ baseUrl, apiKey }, signal) =>
      baseUrl === null || apiKey === null ? null : fetchDescription({ baseUrl, apiKey, retries: 1 }, signal),
  };
}

async function listAddresses(source: Source, signal?: AbortSignal): Promise<AddressList> {
  const { slug, baseUrl, apiKey } = source;
  if (baseUrl === null || apiKey === null) return { outcome: 'not-configured' };
  try {
    const policies = await createServiceClient({ baseUrl, apiKey, retries: 2 }).listPolicies(signal);
    return {
      outcome: 'listed',
      policies: policies.map(({ id, policy_type: policyType, url }) => ({
        policyId: id,
        policyType: policyType ?? null,
        url: url ?? null,
      })),
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { outcome: 'failed', transient: isTransient(error.kind), sentence: `${slug}: ${error.message}` };
  }
}
