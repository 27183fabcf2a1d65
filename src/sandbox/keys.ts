import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The rights of a named key (docs/service.md §2.5). */
export type Scope = 'read' | 'write' | 'webhooks';

/** One key of the sandbox. */
export interface ApiKey {
  readonly value: string;
  readonly scopes: readonly Scope[];
  /** Slugs that the key reaches: one client, or all for an agency-wide key. */
  readonly clients: readonly string[];
  /** May change at any time: later requests are refused. */
  revoked: boolean;
  /** When it was last used; null: not since the start. */
  lastUsedAt: Date | null;
}

/** The verdict on an Authorization header; the service documents 401 for the first two, 403 for the third. */
type KeyVerdict =
  | { readonly outcome: 'accepted'; readonly key: ApiKey }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'invalid'; readonly reason: 'unknown' | 'revoked' | 'malformed' }
  | { readonly outcome: 'scope-missing'; readonly needed: Scope };

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Text that looks random and follows only from the seed. Used for the sandbox's keys, which are useless elsewhere. */
export function deriveText(length: number, ...parts: readonly (string | number)[]): string {
  let text = '';
  for (let block = 0; text.length < length; block += 1) {
    const bytes = createHash('sha256')
      .update(JSON.stringify([...parts, block]))
      .digest();
    for (const byte of bytes) text += alphabet[byte % alphabet.length];
  }
  return text.slice(0, length);
}

/** Compares texts in constant time, whatever their lengths. */
export function isSameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Judges `Authorization: Bearer <key>` against the keys of the sandbox (docs/service.md §5). */
export function judgeKey(keys: readonly ApiKey[], header: string | undefined, needed: Scope): KeyVerdict {
  if (header === undefined || header.trim() === '') return { outcome: 'missing' };
  const value = /^Bearer +(\S+)$/i.exec(header)?.[1];
  if (value === undefined) return { outcome: 'invalid', reason: 'malformed' };
  const key = keys.find((candidate) => isSameText(candidate.value, value));
  if (key === undefined) return { outcome: 'invalid', reason: 'unknown' };
  if (key.revoked) return { outcome: 'invalid', reason: 'revoked' };
  if (!key.scopes.includes(needed)) return { outcome: 'scope-missing', needed };
  return { outcome: 'accepted', key };
}

/** Makes and reads the opaque cursors of one sandbox: a position, bound to its query. */
export function createCursors(secret: string) {
  const tag = (query: string, text: string): string =>
    createHmac('sha256', secret).update(`${query}\u0000${text}`, 'utf8').digest('base64url').slice(0, 16);
  return {
    /** @param nonce makes cursors for one position look different */
    make: (query: string, position: number, nonce: number = 0): string => {
      const text = `${position.toString(36)}.${nonce.toString(36)}`;
      return Buffer.from(`${tag(query, text)}.${text}`, 'utf8').toString('base64url');
    },
    /** The position; null if the cursor was not made here, or for another query. */
    read: (query: string, cursor: string): number | null => {
      const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
      const match = /^([\w-]{16})\.(([0-9a-z]{1,11})\.[0-9a-z]{1,11})$/.exec(decoded);
      const [, given, text, position] = match ?? [];
      if (given === undefined || text === undefined || position === undefined) return null;
      return isSameText(given, tag(query, text)) ? Number.parseInt(position, 36) : null;
    },
  };
}

export type Cursors = ReturnType<typeof createCursors>;
