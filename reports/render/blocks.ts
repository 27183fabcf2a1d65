import type { StackedBars } from './chart.ts';

/** Rows of a table, all at once or as they come. Each row has one text per column. */
type Rows = Iterable<readonly string[]> | AsyncIterable<readonly string[]>;

/** One column of a table. `share` is its width relative to the other columns. */
export interface Column {
  readonly title: string;
  readonly share: number;
  readonly align?: 'left' | 'right';
  /** `mono` for hashes and identifiers. */
  readonly face?: 'text' | 'mono';
  /**
   * Its cells are single words (case ids, domains): the column takes from the others the width of its widest cell, up
   * to a third of the table, and as far as their titles stay whole.
   */
  readonly whole?: true;
}

/** A column and the text that it shows for a row: on paper, on a page and on a terminal. */
export interface ShownColumn<T> extends Column {
  readonly value: (row: T, time: (iso: string) => string) => string;
}

/** A table of these rows. `time` formats times for the reader. */
export function table<T>({
  caption,
  columns,
  rows,
  total,
  empty = '',
  time = (iso) => iso,
}: {
  readonly caption: string;
  readonly columns: readonly ShownColumn<T>[];
  readonly rows: readonly T[];
  readonly total?: readonly string[];
  /** Can be omitted if rows cannot be missing. */
  readonly empty?: string;
  readonly time?: (iso: string) => string;
}): Block {
  return {
    block: 'table',
    caption,
    columns: columns.map(({ value: _, ...column }) => column),
    rows: rows.map((row) => columns.map(({ value }) => value(row, time))),
    ...(total === undefined ? {} : { total }),
    empty,
  };
}

/** A paragraph in small print. */
export function fine(text: string): Block {
  return { block: 'paragraph', look: 'fine', text };
}

/**
 * The blocks of a document. The PDF and HTML renderers understand the same blocks, so a document is written once. All
 * text is plain text; the renderers escape it.
 */
export type Block =
  | { readonly block: 'title'; readonly text: string; readonly subtitle?: string }
  | { readonly block: 'heading'; readonly level: 1 | 2; readonly text: string }
  | { readonly block: 'paragraph'; readonly text: string; readonly look?: 'normal' | 'lead' | 'fine' | 'strong' }
  | { readonly block: 'list'; readonly items: readonly string[]; readonly ordered?: boolean }
  /** Label and value, one pair a line. */
  | { readonly block: 'facts'; readonly pairs: readonly (readonly [label: string, value: string])[] }
  /** Key figures, next to each other. */
  | {
      readonly block: 'figures';
      readonly figures: readonly { readonly value: string; readonly label: string; readonly note?: string }[];
    }
  | {
      readonly block: 'table';
      readonly caption: string;
      readonly columns: readonly Column[];
      readonly rows: Rows;
      readonly total?: readonly string[];
      /** Printed instead of a table without rows. */
      readonly empty: string;
    }
  | { readonly block: 'chart'; readonly chart: StackedBars }
  /** A framed remark: something to know, or something wrong or missing. */
  | {
      readonly block: 'notice';
      readonly tone: 'information' | 'warning';
      readonly title: string;
      readonly text: string;
      readonly items?: readonly string[];
    }
  /** Lines of a postal address or a signature. */
  | {
      readonly block: 'lines';
      readonly lines: readonly string[];
      readonly look?: 'normal' | 'muted';
      readonly align?: 'left' | 'right';
    }
  /** Text that must be kept exactly, such as a signed note. */
  | {
      readonly block: 'verbatim';
      readonly text: string;
      /** The same text for programs, attached to a PDF. */
      readonly file?: { readonly name: string; readonly description: string; readonly content: string };
    }
  | { readonly block: 'gap'; readonly points: number }
  | { readonly block: 'page-break' };

/** Printed around the blocks: on every page of a PDF, and in the head and foot of an HTML page. */
export interface Frame {
  /** Title of the document, also in its metadata. */
  readonly title: string;
  /** In whose name it is made; printed at the top left of every page. */
  readonly owner: string;
  /** Printed at the foot of every page: document id, period, position in the ledger. */
  readonly footer: string;
  /** BCP 47, e.g. `en`. */
  readonly language: string;
  /** Program and version, for the metadata. */
  readonly producer: string;
  /** ISO 8601: the only date in the file's metadata. */
  readonly createdAt: string;
  /** Printed across every page, e.g. SAMPLE; null for none. */
  readonly watermark: string | null;
  /** `letter` has slightly larger text, and no header on the first page. */
  readonly kind: 'report' | 'letter';
  /** The page number line, with `{page}` and `{pages}`; absent: in English. */
  readonly page?: string;
}
