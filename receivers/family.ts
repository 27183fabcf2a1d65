import type { Fact } from '../src/core/fact.ts';
import type { FieldName } from './field-names.ts';
import type { Asked } from './field-table.ts';
import type { Payload } from './payload.ts';

/** One family of events: what they are called, and how a payload becomes a fact. */
export interface Family extends Asked {
  /** The events it reads, as docs/service.md §6 spells them. */
  readonly events: readonly string[];
  /** Reads any other event whose name starts with this word, too. */
  readonly anyOf?: string;
  /** Fields of things in its lists, looked up within each of them. */
  readonly fieldsWithin?: readonly FieldName[];
  /** The fact, or a sentence that says why there is none. */
  readonly read: (event: string, payload: Payload) => Fact | { readonly unreadable: string };
}
