import { createHash } from 'node:crypto';
import type { DeliveryIdForm, Dialect, JsonLayout } from './dialect.ts';
import { enveloped } from './dialects/enveloped.ts';
import { createMixed } from './dialects/mixed.ts';
import { nested } from './dialects/nested.ts';
import { plain } from './dialects/plain.ts';
import { terse } from './dialects/terse.ts';
import type { Happening, PolicyHappening } from './happenings.ts';
import { deriveText } from './keys.ts';

/** The dialects that are the same for every seed, by name. */
export const dialects = { plain, enveloped, nested, terse } as const satisfies Record<string, Dialect>;
export type DialectName = keyof typeof dialects;
export const dialectNames = Object.keys(dialects) as readonly DialectName[];

/** `mixed` draws each open choice from the seed. */
export type DialectChoice = DialectName | 'mixed';
export const dialectChoices: readonly DialectChoice[] = [...dialectNames, 'mixed'];

/** Choices that can be set independently of the dialect. */
export type DialectOverrides = Partial<
  Pick<Dialect, 'list' | 'limitHeaders' | 'errors' | 'embed' | 'tellsRemaining' | 'openapiNeedsKey' | 'publishBody'>
>;

/** The dialect with a name and, for `mixed`, a seed, with overrides applied. */
export function chooseDialect(name: DialectChoice, seed: number, overrides: DialectOverrides = {}): Dialect {
  return { ...(name === 'mixed' ? createMixed(seed) : dialects[name]), ...overrides };
}

/** The open choices of a dialect with their values, for the start-up table. */
export function describeDialect(dialect: Dialect): (readonly [string, string])[] {
  return [
    ['list of policies', dialect.list === 'count' ? '{count, policies}' : '{data, next_cursor}'],
    ['errors', errorExamples[dialect.errors]],
    ['rate limit headers', dialect.limitHeaders],
    ['rows', dialect.rowOrder],
    ['last page', { null: 'next_cursor null', absent: 'no next_cursor', empty: 'next_cursor ""' }[dialect.lastPage]],
    ['status of a generation', String(dialect.createdStatus)],
    ['embed endpoint', dialect.embed],
    ['quota left, in form A', dialect.tellsRemaining ? 'policies_remaining' : 'not told'],
    ['body of a publish', dialect.publishBody],
    ['OpenAPI below the base URL', dialect.openapiNeedsKey ? 'needs a key' : 'needs no key'],
    ...dialect.drawn,
  ];
}

const errorExamples: Record<Dialect['errors'], string> = {
  object: '{"error": {"code": "not_found", "message": "…"}}',
  numbered: '{"error": {"code": 404, "message": "…"}}',
  string: '{"error": "…"}',
  text: 'plain text',
};

/** The bytes of a delivery: policy.published with exactly the documented fields (docs/service.md §6), others by dialect. */
export function renderBody(dialect: Dialect, happening: Happening, deliveryId: string): Buffer {
  const payload =
    happening.event === 'policy.published' ? documentedPublished(happening) : dialect.payload(happening, deliveryId);
  return Buffer.from(layJson(dialect.layout, payload), 'utf8');
}

/** The id of a delivery in the dialect's form; it follows only from the parts. */
export function deliveryIdOf(
  { deliveryIds }: Pick<Dialect, 'deliveryIds'>,
  ...parts: readonly (string | number)[]
): string {
  return deliveryIdForms[deliveryIds](parts);
}

const deliveryIdForms: Record<DeliveryIdForm, (parts: readonly (string | number)[]) => string> = {
  dlv: (parts) => `dlv_${deriveText(18, ...parts)}`,
  evt: (parts) => `evt_${deriveText(24, ...parts)}`,
  uuid: (parts) => {
    const hex = digestOf(parts).toString('hex');
    // Version and variant of RFC 9562 §5.4; the random part follows from the seed.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  },
  number: (parts) => String(digestOf(parts).readUIntBE(0, 6)),
};

function digestOf(parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** A value as JSON text. */
export function layJson(layout: JsonLayout, value: unknown): string {
  switch (layout) {
    case 'compact':
      return JSON.stringify(value);
    case 'indented':
      return `${JSON.stringify(value, null, 2)}\n`;
    case 'ascii':
      return JSON.stringify(value).replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
  }
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
