import type { StoreTransaction } from '../store.ts';

const TIMES_KEPT = 100;

/** Counts repeats of entries: their number, the times of the first hundred, and the last time. */
export async function countArrivals(
  tx: Pick<StoreTransaction, 'query' | 'insertMany'>,
  repeats: readonly { readonly seq: number; readonly at: string }[],
): Promise<void> {
  if (repeats.length === 0) return;
  const known = await tx.query
    .selectFrom('arrivals')
    .selectAll()
    .where('seq', 'in', [...new Set(repeats.map(({ seq }) => seq))])
    .execute();
  const rows = new Map(known.map((row) => [row.seq, { ...row, times: JSON.parse(row.times) as string[] }]));
  for (const { seq, at } of repeats) {
    const row = rows.get(seq) ?? { seq, count: 0, times: [], last_at: at };
    row.count += 1;
    if (row.times.length < TIMES_KEPT) row.times.push(at);
    if (at > row.last_at) row.last_at = at;
    rows.set(seq, row);
  }
  await tx.insertMany(
    'arrivals',
    [...rows.values()].map((row) => ({ ...row, times: JSON.stringify(row.times) })),
    'replace',
  );
}
