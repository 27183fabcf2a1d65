import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Tables } from '../schema.ts';

const columns = ['case_id', 'request_id', 'requester_name', 'requester_email', 'subject'] as const;

/** Cases that hold a text in a name, an address, an identifier or their own number, in any case of its letters. For `where`. */
export function mentionsText(text: string) {
  return (eb: ExpressionBuilder<Tables, 'cases'>): ExpressionWrapper<Tables, 'cases', SqlBool> =>
    eb.or(
      columns.flatMap((column) =>
        spellingsOf(text).map(
          (spelling) => sql<boolean>`lower(${eb.ref(column)}) like ${`%${escaped(spelling)}%`} escape '!'`,
        ),
      ),
    );
}

/** SQLite lowers ASCII letters only: a name that begins with `É` is looked for with both. */
function spellingsOf(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const asciiLower = (some: string) => some.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const titled = lower.replace(/(?<![\p{L}\p{M}])\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([lower, asciiLower(text), asciiLower(titled)])];
}

function escaped(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}
