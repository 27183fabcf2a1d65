import { z } from 'zod';

const erasureSchema = z.object({ seqs: z.array(z.number()) });

/** The entries that an `erasure` entry took the content of, out of its body; none when that cannot be read. */
export function erasedSeqs(body: Buffer | null): readonly number[] {
  try {
    return erasureSchema.parse(JSON.parse(body?.toString('utf8') ?? 'null')).seqs;
  } catch {
    return [];
  }
}
