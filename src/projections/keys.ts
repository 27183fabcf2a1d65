import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { TableName, Tables } from '../store/schema.ts';

/** Collects the keys of a batch, source by source, so that one query loads the rows of all of them. */
export class KeysBySource {
  readonly #ids = new Map<string, Set<string>>();

  add(source: string, id: string): void {
    const ids = this.#ids.get(source);
    if (ids === undefined) this.#ids.set(source, new Set([id]));
    else ids.add(id);
  }

  /** Every key. */
  *pairs(): Generator<readonly [source: string, id: string]> {
    for (const [source, ids] of this.#ids) for (const id of ids) yield [source, id];
  }

  get empty(): boolean {
    return this.#ids.size === 0;
  }

  /**
   * `(source = a and column in (…)) or (source = b and …)`: both databases answer each branch from an index on
   * (source, column). Row values would read better, but SQLite takes them only from a subquery.
   */
  where<T extends TableName>(column: string) {
    return (eb: ExpressionBuilder<Tables, T>): Expression<SqlBool> => {
      const plain = eb as unknown as ExpressionBuilder<Record<string, Record<string, unknown>>, string>;
      return plain.or(
        [...this.#ids].map(([source, ids]) =>
          plain.and([plain('source', '=', source), plain(column, 'in', padded(ids))]),
        ),
      );
    };
  }
}

/** The ids, the last one repeated up to a power of four: few shapes of statements, which the databases keep prepared. */
function padded(ids: ReadonlySet<string>): string[] {
  const list = [...ids];
  const last = list.at(-1);
  if (last === undefined) return list;
  let size = 1;
  while (size < list.length) size *= 4;
  while (list.length < size) list.push(last);
  return list;
}

/** One text of several key parts. NUL cannot be part of a stored text, so two part lists never meet. */
export function joinKey(...parts: readonly string[]): string {
  return parts.join('\0');
}
