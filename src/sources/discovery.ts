import { z } from 'zod';
import { canonicalJson } from '../crypto/canonical.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { secretEncodings } from '../core/source.ts';
import type { Query, Store } from '../store/store.ts';
import type { FieldMapping } from './changes.ts';

/** A delivery or a pulled row out of the ledger. */
interface LedgerSample {
  readonly seq: number;
  readonly body: Buffer;
  readonly receivedAt: string;
  /** Headers that were recorded beside a delivery. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The newest entries of a kind of a source, newest first; erased ones are left out. */
export async function loadSamples(
  read: Query,
  source: string,
  kind: 'webhook' | 'consent-log',
  limit: number,
): Promise<readonly LedgerSample[]> {
  const rows = await read
    .selectFrom('entries')
    .select(['seq', 'body', 'meta', 'received_at'])
    .where('source', '=', source)
    .where('kind', '=', kind)
    .orderBy('source_seq', 'desc')
    .limit(limit)
    .execute();
  return rows.flatMap(({ seq, body, meta, received_at }) =>
    body === null ? [] : [{ seq, body, receivedAt: received_at, headers: headersOf(meta) }],
  );
}

/** The highest seq of a source's deliveries, 0 without any. */
export async function lastDelivery(read: Query, source: string): Promise<number> {
  const [newest] = await loadSamples(read, source, 'webhook', 1);
  return newest?.seq ?? 0;
}

/** How many deliveries of a source came after an entry. */
export async function countDeliveriesAfter(read: Query, source: string, seq: number): Promise<number> {
  const { n } = await read
    .selectFrom('entries')
    .select((eb) => eb.fn.countAll().as('n'))
    .where('source', '=', source)
    .where('kind', '=', 'webhook')
    .where('seq', '>', seq)
    .executeTakeFirstOrThrow();
  return Number(n);
}

const proposalSchema = z.object({
  proposalId: z.string(),
  fieldNames: z.record(z.string(), z.array(z.string())),
  eventNames: z.record(z.string(), z.string()),
  secretEncodings: z.record(z.string(), z.enum(secretEncodings)),
  samples: z.number(),
});

/** Names a proposal by what it says: the same findings have the same id. */
export function proposalOf(source: string, mapping: Omit<FieldMapping, 'proposalId'>): FieldMapping {
  const { fieldNames, eventNames, secretEncodings: encodings } = mapping;
  const id = sha256Hex(canonicalJson({ source, fieldNames, eventNames, secretEncodings: encodings })).slice(0, 12);
  return { ...mapping, proposalId: id };
}

/** Whether a proposal changes anything. */
export function isEmptyProposal({ fieldNames, eventNames, secretEncodings: encodings }: FieldMapping): boolean {
  return [fieldNames, eventNames, encodings].every((one) => Object.keys(one).length === 0);
}

/** Keeps the newest proposal for a source, until it is accepted or another takes its place. It holds names only. */
export async function saveProposal(store: Store, source: string, proposal: FieldMapping): Promise<void> {
  const row = { name: settingOf(source), value: canonicalJson(proposal).toString('utf8') };
  await store.transaction((tx) => tx.insertMany('settings', [row], 'replace'));
}

/** The newest proposal for a source; null if there is none. */
export async function loadProposal(read: Query, source: string): Promise<FieldMapping | null> {
  const row = await read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', settingOf(source))
    .executeTakeFirst();
  if (row === undefined) return null;
  try {
    const parsed = proposalSchema.safeParse(JSON.parse(row.value));
    // The stored proposal is checked against its id: only what was shown can be accepted.
    return parsed.success && proposalOf(source, parsed.data).proposalId === parsed.data.proposalId ? parsed.data : null;
  } catch {
    return null;
  }
}

function settingOf(source: string): string {
  return `discovery_proposal:${source}`;
}

function headersOf(meta: Buffer | null): Record<string, string> {
  try {
    const { headers } = JSON.parse(String(meta)) as { headers?: Record<string, unknown> };
    return Object.fromEntries(
      Object.entries(headers ?? {}).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
  } catch {
    return {};
  }
}
