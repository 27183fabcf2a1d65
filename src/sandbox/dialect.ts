import type { DecisionHappening, Happening, PolicyHappening } from './happenings.ts';
import type { LimitHeaderForm } from './limits.ts';

/** Form of GET /policies: `{count, policies}`, form A, or `{data, next_cursor}` (docs/service.md §4.3). */
export const listForms = ['count', 'cursor'] as const;
type ListForm = (typeof listForms)[number];

/**
 * How a refusal looks. `object` is the documented envelope, `{"error": {"code", "message"}}`; `numbered` is that
 * envelope with a number as code; `string` is `{"error": "…"}`; `text` is plain text. The service documents only the
 * envelope (docs/service.md §7); proxies and gateways in front of it answer in the other forms.
 */
export const errorForms = ['object', 'numbered', 'string', 'text'] as const;
export type ErrorForm = (typeof errorForms)[number];

/**
 * The response of the embed endpoint; not documented (docs/service.md §4.7). `fields` contains everything about a
 * policy including its text; `content` has the Markdown under that name, `html` nothing but HTML (and a plain list as
 * hub), `data` an envelope; `web page` and `markdown` are not JSON.
 */
export const embedForms = ['fields', 'content', 'html', 'data', 'web page', 'markdown'] as const;
export type EmbedForm = (typeof embedForms)[number];

/** The body that publish requires: none, or at least `{}`. */
export const publishBodies = ['optional', 'required'] as const;
type PublishBody = (typeof publishBodies)[number];

/** The form of a delivery's id. */
export type DeliveryIdForm = 'dlv' | 'evt' | 'uuid' | 'number';

/** The layout of JSON: without white space, over several lines, or with everything beyond ASCII escaped. */
export type JsonLayout = 'compact' | 'indented' | 'ascii';

/**
 * One way to fill the gaps in the service's documentation: shapes of payloads and rows, words, forms of time, order and
 * end of lists. Whatever is documented is the same in every dialect.
 */
export interface Dialect {
  readonly name: string;
  readonly summary: string;
  readonly rowOrder: 'oldest-first' | 'newest-first';
  /** How the last page is marked. */
  readonly lastPage: 'null' | 'absent' | 'empty';
  /** HTTP status of a successful generate. */
  readonly createdStatus: 200 | 201;
  readonly list: ListForm;
  readonly embed: EmbedForm;
  /** Whether form A of a generation states the rest of the quota: one of two documented answers does (docs/service.md §2.1). */
  readonly tellsRemaining: boolean;
  /**
   * Whether {base_url}/openapi needs a key, as documented for every REST endpoint (docs/service.md §5);
   * {site_url}/openapi never does.
   */
  readonly openapiNeedsKey: boolean;
  /** Whether publish takes no body or requires a JSON object; not documented (docs/service.md §4.4). */
  readonly publishBody: PublishBody;
  readonly contentType: string;
  /** Spelling of the rate limit headers. */
  readonly limitHeaders: LimitHeaderForm;
  readonly errors: ErrorForm;
  readonly deliveryIds: DeliveryIdForm;
  /** For deliveries and for pages of the consent log. */
  readonly layout: JsonLayout;
  /** Choices drawn from the seed in addition to the fields above, with their values; empty for fixed dialects. */
  readonly drawn: readonly (readonly [string, string])[];
  /** Unsigned headers that identify the delivery. */
  headers(event: string, deliveryId: string): Record<string, string>;
  /** The body of any event except policy.published. */
  payload(happening: Exclude<Happening, PublishedHappening>, deliveryId: string): unknown;
  row(decision: DecisionHappening): unknown;
}

/** The only documented payload (docs/service.md §6); no dialect may change it. */
type PublishedHappening = PolicyHappening & { readonly event: 'policy.published' };
