import type { Selectable } from 'kysely';
import type { CallItemsTable, CallsTable } from '../store/schema.ts';

/** A call to the service, as the read models have it. */
export type CallRow = Selectable<CallsTable>;
/** One item of a bulk plan. */
export type ItemRow = Selectable<CallItemsTable>;
