import type { DecisionHappening, Happening, PolicyHappening } from './happenings.ts';
import type { LimitHeaderForm } from './limits.ts';

/** Form of GET /policies: `{count, policies}`, form A, or `{data, next_cursor}` (docs/service.md §4.3). */
export const listForms = ['count', 'cursor'] as const;
type ListForm = (typeof listForms)[number];

/**
 * How a refusal looks. `object` is the documented envelope, `{"error": {"code", "message"}}`; `numbered` is that envelope with a number as
 * code; `string` is `{"error": "…"}`; `text` is plain text. The service documents the envelope and no more (docs/service.md §7); proxies
 * and gateways before it answer in the other forms.
 */
export const errorForms = ['object', 'numbered', 'string', 'text'] as const;
export type ErrorForm = (typeof errorForms)[number];

/**
 * What the embed endpoint answers; not documented (docs/service.md §4.7). `fields` tells of a policy everything, text included; `content` has the
 * Markdown under that name, `html` nothing but HTML (and a bare list as hub), `data` an envelope; `web page` and `markdown` are no JSON.
 */
export const embedForms = ['fields', 'content', 'html', 'data', 'web page', 'markdown'] as const;
export type EmbedForm = (typeof embedForms)[number];

/** What publish wants as its body: nothing need be sent, or at least `{}`. */
export const publishBodies = ['optional', 'required'] as const;
type PublishBody = (typeof publishBodies)[number];

/** How the id of a delivery looks. */
export type DeliveryIdForm = 'dlv' | 'evt' | 'uuid' | 'number';

/** How JSON is laid out: without blanks, over several lines, or with everything beyond ASCII escaped. */
export type JsonLayout = 'compact' | 'indented' | 'ascii';

/**
 * One way to fill in what the service's documentation leaves open: shapes of payloads and rows, words, forms of time,
 * order and end of lists. What is documented is the same in every dialect.
 */
export interface Dialect {
  readonly name: string;
  readonly summary: string;
  readonly rowOrder: 'oldest-first' | 'newest-first';
  /** How the last page says so. */
  readonly lastPage: 'null' | 'absent' | 'empty';
  /** HTTP status of a successful generate. */
  readonly createdStatus: 200 | 201;
  readonly list: ListForm;
  readonly embed: EmbedForm;
  /** Whether form A of a generation tells what is left of the quota: one of two documented answers does (docs/service.md §2.1). */
  readonly tellsRemaining: boolean;
  /** Whether {base_url}/openapi needs a key, as documented of every REST endpoint (docs/service.md §5); {site_url}/openapi never does. */
  readonly openapiNeedsKey: boolean;
  /** Whether publish takes no body, or asks for a JSON object: not documented (docs/service.md §4.4). */
  readonly publishBody: PublishBody;
  readonly contentType: string;
  /** Spelling of the rate limit headers. */
  readonly limitHeaders: LimitHeaderForm;
  readonly errors: ErrorForm;
  readonly deliveryIds: DeliveryIdForm;
  /** Of deliveries and of pages of the consent log. */
  readonly layout: JsonLayout;
  /** What was drawn from the seed beyond the fields above: what, and how; empty where a name fixes everything. */
  readonly drawn: readonly (readonly [string, string])[];
  /** Unsigned headers that name the delivery. */
  headers(event: string, deliveryId: string): Record<string, string>;
  /** The body of any event but policy.published. */
  payload(happening: Exclude<Happening, PublishedHappening>, deliveryId: string): unknown;
  row(decision: DecisionHappening): unknown;
}

/** The one payload that is documented (docs/service.md §6); no dialect may change it. */
type PublishedHappening = PolicyHappening & { readonly event: 'policy.published' };
