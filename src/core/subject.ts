import { createHash, createHmac } from 'node:crypto';
import type { SourceOptions } from './source.ts';

export type SubjectRecipe = NonNullable<SourceOptions['subjectRecipe']>;

/**
 * The consent subject that a source would have recorded for an e-mail address, according to that source's recipe:
 * `sha256` hashes salt and address concatenated, `hmac-sha256` uses the salt as the key. Lower-case hex.
 */
export function subjectOfEmail(email: string, recipe: SubjectRecipe): string {
  const text = recipe.normalise === 'trim-lowercase' ? email.trim().toLowerCase() : email;
  const hash =
    recipe.algorithm === 'sha256'
      ? createHash('sha256').update(recipe.salt, 'utf8')
      : createHmac('sha256', recipe.salt);
  return hash.update(text, 'utf8').digest('hex');
}

/** The forms in which one subject may appear in the records: as given, in lower case, with and without the name of its hash. */
export function subjectForms(subject: string): readonly string[] {
  const given = subject.trim();
  const forms = new Set([given, given.toLowerCase()]);
  const bare = /^sha-?256[:=]([0-9a-f]{64})$/i.exec(given)?.[1]?.toLowerCase();
  const hex = bare ?? (/^[0-9a-f]{64}$/i.test(given) ? given.toLowerCase() : null);
  if (hex !== null) for (const form of [hex, hex.toUpperCase(), `sha256:${hex}`, `sha256=${hex}`]) forms.add(form);
  return [...forms].filter((form) => form !== '');
}

/** The one canonical form for all of {@link subjectForms}, so that keyed hashes of one subject are equal. */
export function canonicalSubject(subject: string): string {
  const given = subject.trim().toLowerCase();
  return /^sha-?256[:=]([0-9a-f]{64})$/.exec(given)?.[1] ?? given;
}

// Mailboxes usually read by several people. Records derived from them are never released.
const sharedMailboxes = new Set(
  'accounts admin administrator billing bookings buero careers contact customerservice enquiries enquiry family familie feedback finance hello help hi hr info inquiries jobs kontakt legal mail marketing office orders post postmaster press privacy reception sales service support team webmaster'.split(
    ' ',
  ),
);

/** Whether an address looks shared: `info@…`, `family@…`. */
export function isSharedMailbox(email: string): boolean {
  const local = email.trim().toLowerCase().split('@')[0] ?? '';
  return sharedMailboxes.has(local.split('+')[0]?.replaceAll(/[._-]/g, '') ?? '');
}
