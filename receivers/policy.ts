import { type FieldName, fieldsOfFamilies } from './field-names.ts';
import type { Occurred } from './occurred.ts';
import { textOf } from './parse.ts';
import type { Family, Payload } from './payload.ts';

/** A change of a policy (policy.published, .updated, .deleted, .created). */
export interface PolicyFact {
  readonly type: 'policy';
  readonly event: string;
  readonly change: 'created' | 'updated' | 'published' | 'deleted';
  readonly policyId: string;
  readonly policyType: string | null;
  readonly title: string | null;
  readonly brandName: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly userId: string | null;
  readonly version: string | null;
  /** Without its query: the service puts a token there. */
  readonly hostedUrl: string | null;
  readonly occurred: Occurred;
}

const changes = {
  'policy.created': 'created',
  'policy.updated': 'updated',
  'policy.published': 'published',
  'policy.deleted': 'deleted',
} as const satisfies Record<string, PolicyFact['change']>;

/** A time of another change (created_at in policy.updated) says nothing about this one. */
const times = {
  created: ['policyCreatedAt', 'occurredAt'],
  updated: ['policyUpdatedAt', 'occurredAt'],
  published: ['policyPublishedAt', 'occurredAt'],
  deleted: ['policyDeletedAt', 'occurredAt'],
} as const satisfies Record<PolicyFact['change'], readonly FieldName[]>;

/**
 * Events about policies (docs/service.md §6). Only the payload of policy.published is documented; policy.created is mentioned without
 * being listed. A policy event without the id of its policy cannot be read.
 */
export const policyFamily: Family<PolicyFact> = {
  type: 'policy',
  events: Object.keys(changes),
  objects: ['policy', 'document'],
  fields: fieldsOfFamilies('every', 'policy'),
  // Policy texts stay in the body and are not needed here.
  alsoReads: ['content', 'html', 'markdown', 'policies_remaining', 'webhook_deliveries_queued'],
  read: (event, payload) => readPolicy(event as keyof typeof changes, payload),
  eventIdOf: () => null,
};

function readPolicy(event: keyof typeof changes, payload: Payload): PolicyFact | { unreadable: string } {
  const policyId = payload.text('policyId');
  if (policyId === null) return { unreadable: 'It contains no policy id.' };
  const change = changes[event];
  return {
    type: 'policy',
    event,
    change,
    policyId,
    policyType: payload.first('policyType', slugOf),
    title: payload.text('policyTitle'),
    brandName: payload.text('brandName'),
    jurisdiction: payload.first('policyJurisdiction', codesOf),
    language: payload.text('language'),
    userId: payload.text('userId'),
    version: payload.text('policyVersion'),
    hostedUrl: payload.first('hostedUrl', withoutQuery),
    occurred: payload.occurred(...times[change]),
  };
}

/** A policy type spelled like the listed slugs: `privacy_policy` (generate, form B) is `privacy-policy`. */
function slugOf(value: unknown): string | null {
  const text = textOf(value);
  // `type` often contains the event's name.
  if (text === null || text.includes('.') || text.toLowerCase() === 'policy') return null;
  return text.toLowerCase().replaceAll('_', '-');
}

/** One jurisdiction code, or several (generate, form B) joined by commas. */
function codesOf(value: unknown): string | null {
  if (!Array.isArray(value)) return textOf(value);
  const codes = value.map((code) => textOf(code)).filter((code) => code !== null);
  return codes.length === 0 || codes.length !== value.length ? null : textOf(codes.join(','));
}

/** An address without query and fragment: the service puts a token into the query (docs/service.md §2.2). */
function withoutQuery(value: unknown): string | null {
  const text = textOf(value, 4000);
  if (text === null || !/^https?:\/\//i.test(text)) return null;
  const end = text.search(/[?#]/);
  const address = end < 0 ? text : text.slice(0, end);
  // Credentials in the address are secret too.
  return address.length > 1000 ? null : address.replace(/^(https?:\/\/)[^/@]*@/i, '$1');
}
