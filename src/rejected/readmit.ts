import type { Source, WebhookSecret } from '../core/source.ts';
import { appendDelivery } from '../ledger/append-delivery.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RejectedContent, RejectedRing } from './ring.ts';

/** The signature check (receivers/signature-node.ts), as needed here. */
type Verify = (input: {
  readonly headers: RejectedContent['headers'];
  readonly rawBody: Uint8Array;
  readonly secrets: readonly WebhookSecret[];
}) => { readonly outcome: 'verified'; readonly secretId: string } | { readonly outcome: 'missing' | 'mismatch' };

interface ReadmitOptions {
  readonly ring: RejectedRing;
  readonly sources: { find(slug: string): Source | null };
  readonly ledger: Ledger;
  readonly verify: Verify;
}

/** The result for one rejected delivery. `unreadable`: altered in the database, or gone. */
export type Readmitted =
  | { readonly id: number; readonly source: string; readonly outcome: 'stored' | 'duplicate'; readonly seq: number }
  | {
      readonly id: number;
      readonly source: string;
      readonly outcome: 'missing' | 'mismatch' | 'unknown-source' | 'unreadable';
    };

/**
 * Verifies rejected deliveries again with their source's current secrets, and appends valid ones with the verdict
 * `verified-late`. They keep their time of arrival, for periods that run from it. Oldest first. Appended deliveries are
 * removed from the ring; after a crash in between, the next run finds a duplicate. Rejects with StoreUnavailable like
 * the ledger.
 */
export async function readmitRejected(
  options: ReadmitOptions,
  which: { readonly source?: string; readonly ids?: readonly number[] } = {},
): Promise<readonly Readmitted[]> {
  const { ring, sources, ledger, verify } = options;
  await ring.flush();
  const wanted = which.ids === undefined ? null : new Set(which.ids);
  const listed = await ring.list(which.source === undefined ? {} : { source: which.source });
  const results: Readmitted[] = [];
  for (const { id, source: slug } of listed.filter((item) => wanted?.has(item.id) ?? true).reverse()) {
    const result = await readmitOne(id, slug);
    if (result.outcome === 'stored' || result.outcome === 'duplicate') await ring.remove([id]);
    results.push(result);
  }
  return results;

  async function readmitOne(id: number, slug: string): Promise<Readmitted> {
    const item = await ring.read(id);
    if (item === null) return { id, source: slug, outcome: 'unreadable' };
    const source = sources.find(slug);
    if (source === null) return { id, source: slug, outcome: 'unknown-source' };
    const { headers, rawBody, receivedAt } = item;
    const verdict = verify({ headers, rawBody, secrets: source.webhookSecrets });
    if (verdict.outcome !== 'verified') return { id, source: slug, outcome: verdict.outcome };
    const type = headers['content-type'];
    const delivery = {
      source: slug,
      rawBody,
      headers,
      secretId: verdict.secretId,
      verdict: 'verified-late',
      contentType: typeof type === 'string' ? type : null,
    } as const;
    const { outcome, seq } = await appendDelivery(ledger, delivery, receivedAt);
    return { id, source: slug, outcome, seq };
  }
}
