import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { deriveText } from '../keys.ts';
import { invalidRequest } from './answers.ts';
import { worldFor } from './authenticate.ts';
import { newPolicyOf } from './generate.ts';
import { formA } from './forms.ts';
import type { PolicyRoutes } from './policies.ts';

const MOST_ITEMS = 20;
const bodySchema = z.object({ items: z.array(z.unknown()).min(1).max(MOST_ITEMS) });

interface BulkResult {
  readonly id: string | null;
  readonly policy_type: string | null;
  readonly status: 'created' | 'skipped' | 'failed';
}

interface BulkRoutes extends PolicyRoutes {
  /** Numbers the batches, from 1. */
  readonly nextBatch: () => number;
}

/** POST /policies/bulk (docs/service.md §4.2): items beyond the quota are skipped, items that make no sense failed. */
export function addBulkRoute(app: FastifyInstance, { authenticate, clock, notify, nextBatch }: BulkRoutes): void {
  app.post('/policies/bulk', { config: { target: 'bulk' } }, async (request) => {
    const caller = authenticate(request);
    const body = bodySchema.safeParse(request.body);
    if (!body.success) throw invalidRequest(`items: must be an array of 1 to ${MOST_ITEMS} objects`);
    const results = body.data.items.map((item): BulkResult => {
      const parsed = formA.safeParse(item);
      if (!parsed.success) return { id: null, policy_type: typeOf(item), status: 'failed' };
      const world = worldFor(caller, parsed.data.domain);
      const policy = world.shelf.generate(newPolicyOf(parsed.data), clock());
      if (policy === null) return { id: null, policy_type: parsed.data.policy_type, status: 'skipped' };
      notify(world, world.shelf.happening(policy, 'policy.created', policy.createdAt));
      return { id: policy.id, policy_type: policy.policyType, status: 'created' };
    });
    const count = (status: BulkResult['status']): number => results.filter((result) => result.status === status).length;
    return {
      batch_id: `bat_${deriveText(16, caller[0].client.seed, 'batch', nextBatch())}`,
      total: results.length,
      created: count('created'),
      failed: count('failed'),
      results,
    };
  });
}

function typeOf(item: unknown): string | null {
  return typeof item === 'object' && item !== null && 'policy_type' in item && typeof item.policy_type === 'string'
    ? item.policy_type
    : null;
}
