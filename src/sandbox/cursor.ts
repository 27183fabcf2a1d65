import { createHmac } from 'node:crypto';
import { isSameText } from './keys.ts';

/** Makes and reads the opaque cursors of one sandbox: a position, bound to the query that it belongs to. */
export interface Cursors {
  make(query: string, position: number): string;
  /** The position; null when the cursor was not made here, or for another query. */
  read(query: string, cursor: string): number | null;
}

export function createCursors(secret: string): Cursors {
  const tag = (query: string, position: string): string =>
    createHmac('sha256', secret).update(`${query}\u0000${position}`, 'utf8').digest('base64url').slice(0, 16);
  return {
    make: (query, position) => {
      const text = position.toString(36);
      return Buffer.from(`${tag(query, text)}.${text}`, 'utf8').toString('base64url');
    },
    read: (query, cursor) => {
      const match = /^([\w-]{16})\.([0-9a-z]{1,11})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
      const [, given, text] = match ?? [];
      if (given === undefined || text === undefined || !isSameText(given, tag(query, text))) return null;
      return Number.parseInt(text, 36);
    },
  };
}
