import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from './contract.ts';
import type { PolicyDeps } from '../policies/deps.ts';
import { withoutToken } from '../service/answer-json.ts';
import { readBulkResult } from '../service/bulk.ts';
import { createServiceClient } from '../service/client.ts';
import { readGenerated } from '../service/generate.ts';
import { readPublished } from '../service/publish.ts';
import { changedNothing, neverSent } from '../service/service-error.ts';

/** What the use-cases about policies need, out of an open installation. */
export function createPolicyDeps(
  context: Pick<Context, 'store' | 'ledger' | 'clock' | 'projector' | 'log'>,
): PolicyDeps {
  const { store, ledger, clock, projector, log } = context;
  return {
    store,
    ledger,
    clock,
    read: {
      generated: readGenerated,
      bulk: readBulkResult,
      published: readPublished,
      withoutToken,
      changedNothing,
      neverSent,
    },
    clientFor: ({ slug, baseUrl, apiKey }) =>
      createServiceClient({
        baseUrl,
        apiKey,
        onRetry: (error, attempt) =>
          log.warn({ source: slug, attempt, reason: error.message }, 'the service is asked again'),
      }),
    catchUp: () => projector.catchUp(),
    sleep: (milliseconds, signal) =>
      delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  };
}
