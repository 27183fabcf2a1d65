import type { LimitHeaderForm } from './limits.ts';
import type { DecisionHappening, Happening, PolicyHappening } from './happenings.ts';

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
  /** Form of GET /policies. */
  readonly list: 'count' | 'cursor';
  readonly contentType: string;
  /** Spelling of the rate limit headers. */
  readonly limitHeaders: LimitHeaderForm;
  /** Unsigned headers that name the delivery. */
  headers(event: string, deliveryId: string): Record<string, string>;
  /** The body of any event but policy.published. */
  payload(happening: Exclude<Happening, PublishedHappening>, deliveryId: string): unknown;
  row(decision: DecisionHappening): unknown;
}

/** The one payload that is documented (docs/service.md §6); no dialect may change it. */
export type PublishedHappening = PolicyHappening & { readonly event: 'policy.published' };
