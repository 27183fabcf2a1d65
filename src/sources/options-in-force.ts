import { actionSchema } from '../core/action.ts';
import { optionsOfRecord, type SourceOptions, sourceOptionsSchema } from '../core/source.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import type { Query } from '../store/store.ts';

/** The options used to read entries. */
export interface OptionsInForce {
  /** A source's options when one of its entries was appended. */
  of(source: string, seq: number): SourceOptions;
  /** The newest entry that changes how earlier ones are read (`source.reread`); 0: none. */
  readonly rereadAt: number;
}

/** The options of one source over time. */
interface Course {
  /** In order of seq. */
  readonly recorded: { readonly seq: number; readonly options: SourceOptions }[];
  /** Earlier entries are read as if they had been appended at this one. */
  rereadAt: number;
}

const PAGE = 500;

/**
 * Finds the options for reading the entries of each source: those last recorded in the ledger before the entry, or
 * before the source was last read again (`source.reread`). The table of sources is not used: editing it does not change
 * the result of a rebuild.
 */
export function createOptionsInForce(read: Query): () => Promise<OptionsInForce> {
  const defaults = sourceOptionsSchema.parse({});
  const courses = new Map<string, Course>();
  let last = 0;
  let rereadAt = 0;
  let reading: Promise<void> = Promise.resolve();

  function take(seq: number, body: Buffer | null): void {
    if (!Buffer.isBuffer(body) || !body.includes('"source.')) return;
    const action = parseAction(body);
    if (action === null || !('sourceSlug' in action) || !('options' in action) || action.options === undefined) return;
    const course = courses.get(action.sourceSlug) ?? { recorded: [], rereadAt: 0 };
    courses.set(action.sourceSlug, course);
    course.recorded.push({ seq, options: optionsOfRecord(action.options) });
    if (action.action === 'source.reread') rereadAt = course.rereadAt = seq;
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const rows = await read
        .selectFrom('entries')
        .select(['seq', 'source_seq', 'kind', 'body'])
        .where('source', '=', INSTALLATION)
        .where('source_seq', '>', last)
        .orderBy('source_seq')
        .limit(PAGE)
        .execute();
      for (const { seq, kind, body } of rows) if (kind === 'action') take(seq, body);
      last = rows.at(-1)?.source_seq ?? last;
      if (rows.length < PAGE) return;
    }
  }

  return async () => {
    reading = reading.then(readOn, readOn);
    await reading;
    return {
      of(source, seq) {
        const course = courses.get(source);
        if (course === undefined) return defaults;
        const at = Math.max(seq, course.rereadAt);
        return course.recorded.findLast((record) => record.seq <= at)?.options ?? defaults;
      },
      rereadAt,
    };
  };
}

function parseAction(body: Buffer) {
  try {
    return actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
