import { z } from 'zod';
import type { Sending } from './generate.ts';
import { countOrNull, idSchema, readJson, slugOf, textOrNull } from './answer-json.ts';
import { ServiceError } from './service-error.ts';
import type { ServiceAnswer, Transport } from './transport.ts';

/** Items of one batch at most (docs/service.md §4.2, §8). */
export const MAX_BATCH_ITEMS = 20;

/** How long a batch may take is not documented; beyond 300 s the runtime gives up by itself (docs/assumptions.md). */
export const BULK_TIMEOUT_MS = 290_000;

/** POST /policies/bulk (docs/service.md §4.2) with these exact bytes. Never tried again. Errors as {@link generatePolicy}. */
export function generateBulk(transport: Transport, body: Buffer, sending: Sending = {}): Promise<ServiceAnswer> {
  return transport.request({
    method: 'POST',
    path: '/policies/bulk',
    body,
    about: 'policies',
    signal: sending.signal,
    timeoutMs: sending.timeoutMs ?? BULK_TIMEOUT_MS,
    read: (answer) => answer,
  });
}

/** What became of one item (docs/service.md §3); `unknown` for a status that is not documented. */
export type BulkStatus = 'created' | 'skipped' | 'failed' | 'unknown';

export interface BulkItemResult {
  readonly id: string | null;
  readonly policyType: string | null;
  readonly status: BulkStatus;
}

/** A batch result (docs/service.md §2.4). */
export interface BulkResult {
  readonly batchId: string | null;
  /** In the order of the answer. */
  readonly results: readonly BulkItemResult[];
}

const itemSchema = z.looseObject({
  id: idSchema.nullish().catch(null),
  policy_type: textOrNull,
  type: textOrNull,
  status: textOrNull,
});
const bulkSchema = z.looseObject({
  batch_id: idSchema.nullish().catch(null),
  total: countOrNull,
  results: z.array(z.unknown()),
});

/** Reads the answer to a batch. Items that make no sense count as `unknown`. Errors: ServiceError `unreadable`. */
export function readBulkResult(bytes: Buffer): BulkResult {
  const json = readJson(bytes, 'policies');
  const inner = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined;
  const parsed = [json, inner].map((one) => bulkSchema.safeParse(one)).find(({ success }) => success)?.data;
  if (parsed === undefined) throw new ServiceError('unreadable', { detail: 'no list of results', about: 'policies' });
  return { batchId: parsed.batch_id ?? null, results: parsed.results.map(readItem) };
}

function readItem(value: unknown): BulkItemResult {
  const item = itemSchema.safeParse(value);
  if (!item.success) return { id: null, policyType: null, status: 'unknown' };
  const { id = null, policy_type: policyType, type, status } = item.data;
  return { id, policyType: slugOf(policyType ?? type), status: statusOf(status) };
}

function statusOf(word: string | null): BulkStatus {
  switch (word?.toLowerCase()) {
    case 'created':
    case 'success':
    case 'ok':
      return 'created';
    case 'skipped':
      return 'skipped';
    case 'failed':
    case 'error':
      return 'failed';
    default:
      return 'unknown';
  }
}
