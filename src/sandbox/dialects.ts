import { enveloped } from './dialects/enveloped.ts';
import { nested } from './dialects/nested.ts';
import { plain } from './dialects/plain.ts';
import { terse } from './dialects/terse.ts';
import type { Dialect } from './dialect.ts';
import type { Happening, PolicyHappening } from './happenings.ts';

/** The dialects by name. */
export const dialects = { plain, enveloped, nested, terse } as const satisfies Record<string, Dialect>;
export type DialectName = keyof typeof dialects;
export const dialectNames = Object.keys(dialects) as readonly DialectName[];

export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(dialects, name);
}

/** The bytes of a delivery: policy.published exactly as documented (docs/service.md §6), the rest by dialect. */
export function renderBody(dialect: Dialect, happening: Happening, deliveryId: string): Buffer {
  if (happening.event === 'policy.published')
    return Buffer.from(JSON.stringify(documentedPublished(happening)), 'utf8');
  return Buffer.from(JSON.stringify(dialect.payload(happening, deliveryId)), 'utf8');
}

function documentedPublished(happening: PolicyHappening): Record<string, string> {
  return {
    event: happening.event,
    policy_id: happening.policyId,
    policy_type: happening.policyType,
    brand_name: happening.brandName,
    jurisdiction: happening.jurisdiction,
    language: happening.language,
    user_id: happening.userId,
    timestamp: happening.at.toISOString(),
  };
}
