import type { z } from 'zod';
import type { PolicyHappening } from '../happenings.ts';
import type { NewPolicy, Policy } from '../policies.ts';
import type { World } from '../world.ts';
import { ServiceError } from './answers.ts';
import type { formA } from './forms.ts';

export interface GenerateOptions {
  readonly clock: () => Date;
  readonly siteUrl: () => string;
  /** How long a generation takes, milliseconds. */
  readonly generateMs: number;
  /** Waits by the sandbox's clock. */
  readonly wait: (ms: number) => Promise<void>;
  /** Queues webhooks; answers how many. */
  readonly notify: (world: World, happening: PolicyHappening) => number;
}

/** One generation, by REST or MCP: takes its time, counts against the quota, fires policy.created. 402 when the quota is used up. */
export async function generatePolicy(world: World, input: NewPolicy, options: GenerateOptions): Promise<Policy> {
  const spent = (): ServiceError => new ServiceError(402, 'quota_exhausted', 'The quota of the plan is used up.');
  if (world.shelf.remaining() === 0) throw spent();
  if (options.generateMs > 0) await options.wait(options.generateMs);
  const policy = world.shelf.generate(input, options.clock());
  // Others may have used it up meanwhile.
  if (policy === null) throw spent();
  options.notify(world, world.shelf.happening(policy, 'policy.created', policy.createdAt));
  return policy;
}

/** A new policy out of form A. */
export function newPolicyOf(asked: z.infer<typeof formA>): NewPolicy {
  const { policy_type: policyType, jurisdiction: code, language: lang, business_name: brandName = null } = asked;
  return { policyType, jurisdiction: code, language: lang, brandName, domain: asked.domain ?? null, clauses: [] };
}
