import { createHmac } from 'node:crypto';
import { isSameText } from './keys.ts';

/** Makes and reads the opaque cursors of one sandbox: a position, bound to the query that it belongs to. */
export interface Cursors {
  /** @param nonce makes cursors of one position look different */
  make(query: string, position: number, nonce?: number): string;
  /** The position; null when the cursor was not made here, or for another query. */
  read(query: string, cursor: string): number | null;
}

export function createCursors(secret: string): Cursors {
  const tag = (query: string, text: string): string =>
    createHmac('sha256', secret).update(`${query}\u0000${text}`, 'utf8').digest('base64url').slice(0, 16);
  return {
    make: (query, position, nonce = 0) => {
      const text = `${position.toString(36)}.${nonce.toString(36)}`;
      return Buffer.from(`${tag(query, text)}.${text}`, 'utf8').toString('base64url');
    },
    read: (query, cursor) => {
      const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
      const match = /^([\w-]{16})\.(([0-9a-z]{1,11})\.[0-9a-z]{1,11})$/.exec(decoded);
      const [, given, text, position] = match ?? [];
      if (given === undefined || text === undefined || position === undefined) return null;
      return isSameText(given, tag(query, text)) ? Number.parseInt(position, 36) : null;
    },
  };
}
