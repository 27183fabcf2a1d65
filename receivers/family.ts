import type { Fact } from '../src/core/fact.ts';
import type { FieldName } from './field-names.ts';
import type { Payload } from './payload.ts';

/** One family of events: what they are called, and how a payload becomes a fact. */
export interface Family {
  /** The events it reads, as docs/service.md §6 spells them. */
  readonly events: readonly string[];
  /** Reads any other event whose name starts with this word, too. */
  readonly anyOf?: string;
  /** Names of the object that such an event is about: `{"policy": {…}}`. */
  readonly objects: readonly string[];
  /** The fields it asks for (field-names.ts). */
  readonly fields: readonly FieldName[];
  /** Names besides those of `fields` that it reads. */
  readonly alsoReads?: readonly string[];
  /** The fact, or a sentence that says why there is none. */
  readonly read: (event: string, payload: Payload) => Fact | { readonly unreadable: string };
}
