import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isoNow } from '../core/clock.ts';
import { can, type TokenScope, tokenRole, tokenScopes } from '../core/roles.ts';
import { lineOf } from '../core/validation.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import type { Store } from '../store/store.ts';
import { type Person, personAction, type Refused, recordForPerson } from './people.ts';
import { actorOf, type PeopleDeps, type Session, slugsOf } from './sessions.ts';

/** The most valid tokens per person. */
export const TOKENS_PER_PERSON = 20;
/** Maximum lifetime of a token, days. */
export const TOKEN_DAYS_MAX = 366;
export const TOKEN_DAYS = 90;
const TOKEN_BYTES = 32;
/** The prefix lets scanners for leaked secrets recognise a token. */
const tokenPattern = /^clt_[A-Za-z0-9_-]{43}$/;
/** The last use is recorded to the minute, to avoid writing a row for each request. */
const LAST_USE_MS = 60_000;

/** A token as listed: what it allows, never the secret. */
export interface ApiToken {
  readonly tokenId: string;
  readonly personId: string;
  readonly label: string;
  readonly scope: TokenScope;
  /** Slugs; null: whatever its person may see. */
  readonly sources: readonly string[] | null;
  /** Times are ISO 8601 UTC. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}

export const newTokenSchema = z.object({
  label: lineOf(100, {
    missing: 'Say what the token is for.',
    long: 'The purpose of the token is longer than 100 characters.',
  }),
  scope: z.enum(tokenScopes, 'Choose what the token may do.'),
  sources: z.array(z.string()).min(1, 'Choose at least one source, or every source.').nullable(),
  days: z
    .int('Enter a whole number of days.')
    .min(1, 'A token is valid for at least a day.')
    .max(TOKEN_DAYS_MAX, `A token is valid for at most ${TOKEN_DAYS_MAX} days.`),
});
export type NewApiToken = z.infer<typeof newTokenSchema>;

export type MadeToken =
  /** `secret` is shown once: only its HMAC is kept. */
  { readonly outcome: 'made'; readonly secret: string; readonly token: ApiToken } | Refused;

/** Thrown inside the transaction that would have created the token. */
class TooMany extends Error {
  override readonly name = 'TooMany';
}

/**
 * Creates a token for other programs, which acts as its person and never has more rights, but fewer if its scope or
 * sources say so. An entry in the same commit records it. `by`: who requested it, the person or the command line.
 */
export async function createApiToken(
  deps: PeopleDeps,
  person: Person,
  input: NewApiToken,
  by: { readonly officer: string },
): Promise<MadeToken> {
  const read = newTokenSchema.safeParse(input);
  if (!read.success) return { outcome: 'refused', problems: read.error.issues.map(({ message }) => message) };
  const { label, scope, sources, days } = read.data;
  const problems = problemsOf(person, scope, sources);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const now = isoNow(deps.clock);
  const secret = `clt_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const row = {
    token_id: `t-${randomBytes(4).toString('hex')}`,
    token_hash: hashOf(deps, secret),
    person_id: person.personId,
    label,
    scope,
    sources: sources === null ? null : JSON.stringify(sources),
    created_at: now,
    expires_at: new Date(Date.parse(now) + days * 86_400_000).toISOString(),
    last_used_at: null,
  };
  const reach = sources === null ? 'every source of the person' : sources.join(', ');
  const detail = `${row.token_id}: ${scope}, ${reach}, until ${row.expires_at}`;
  try {
    await recordForPerson(deps, personAction('person.token-created', by, person, detail), async (tx) => {
      await tx.query.deleteFrom('api_tokens').where('expires_at', '<', now).execute();
      const open = await tx.query
        .selectFrom('api_tokens')
        .select('token_id')
        .where('person_id', '=', person.personId)
        .execute();
      if (open.length >= TOKENS_PER_PERSON) throw new TooMany();
      await tx.insertMany('api_tokens', [row]);
    });
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return {
      outcome: 'refused',
      problems: [`An account has at most ${TOKENS_PER_PERSON} tokens: revoke one that is no longer used.`],
    };
  }
  return { outcome: 'made', secret, token: tokenOf(row) };
}

function problemsOf(person: Person, scope: TokenScope, sources: readonly string[] | null): readonly string[] {
  if (person.disabledAt !== null) return ['The account is disabled: enable it first.'];
  if (person.joinedAt === null) return ['The account is not active yet: its owner has to choose a password first.'];
  if (scope !== 'read' && !can(person.role, 'work'))
    return ['An auditor cannot change anything, so neither can an auditor’s token: choose read.'];
  if (scope === 'administer' && !can(person.role, 'administer'))
    return ['Only a token of an owner or admin can administer: choose read or work.'];
  const foreign = sources?.filter((slug) => person.sources?.includes(slug) === false) ?? [];
  return foreign.length === 0 ? [] : [`The account may not see the source ${foreign.join(', ')}.`];
}

/** Valid tokens of one person or of everyone, newest first. */
export async function listApiTokens(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  personId?: string,
): Promise<readonly ApiToken[]> {
  const rows = await store.read
    .selectFrom('api_tokens')
    .selectAll()
    .$if(personId !== undefined, (some) => some.where('person_id', '=', personId ?? ''))
    .where('expires_at', '>', isoNow(clock))
    .orderBy('created_at', 'desc')
    .orderBy('token_id')
    .execute();
  return rows.map(tokenOf);
}

/** Revokes a token at once. False if the person has no token with this id. */
export async function revokeApiToken(
  deps: PeopleDeps,
  person: Person,
  tokenId: string,
  by: { readonly officer: string },
): Promise<boolean> {
  class Unknown extends Error {}
  try {
    await recordForPerson(deps, personAction('person.token-revoked', by, person, tokenId), async ({ query }) => {
      const { numDeletedRows } = await query
        .deleteFrom('api_tokens')
        .where('token_id', '=', tokenId)
        .where('person_id', '=', person.personId)
        .executeTakeFirst();
      if (Number(numDeletedRows) !== 1) throw new Unknown();
    });
  } catch (error) {
    if (error instanceof Unknown) return false;
    throw error;
  }
  return true;
}

/**
 * The person a token acts for, and what it may do now; null if it is unknown, expired or revoked, or if its person was
 * disabled. The result has the shape of a session, so every rule for a person applies to a token: its role is the
 * person's, reduced to what the scope allows.
 */
export async function findApiToken(
  deps: Pick<PeopleDeps, 'store' | 'keys' | 'clock'>,
  secret: string,
): Promise<Session | null> {
  if (!tokenPattern.test(secret)) return null;
  const hash = hashOf(deps, secret);
  const now = isoNow(deps.clock);
  const row = await deps.store.read
    .selectFrom('api_tokens as t')
    .innerJoin('people as p', 'p.person_id', 't.person_id')
    .select(['t.token_id', 't.scope', 't.sources', 't.last_used_at', 'p.person_id', 'p.name', 'p.role'])
    .select('p.sources as personSources')
    .where('t.token_hash', '=', hash)
    .where('t.expires_at', '>', now)
    .where('p.disabled_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  await noteUse(deps.store, row.token_id, row.last_used_at, now);
  const { name } = row;
  return {
    officer: `${actorOf(row.person_id, name)} by token ${row.token_id}`,
    name,
    personId: row.person_id,
    role: tokenRole(row.role, row.scope),
    sources: narrowed(slugsOf(row.personSources), slugsOf(row.sources)),
    current: null,
    handle: hash.toString('hex'),
  };
}

/** Read-only requests must be answered even if nothing can be written. */
async function noteUse(store: Store, tokenId: string, before: string | null, now: string): Promise<void> {
  if (before !== null && Date.parse(now) - Date.parse(before) < LAST_USE_MS) return;
  await store
    .transaction((tx) =>
      tx.query.updateTable('api_tokens').set({ last_used_at: now }).where('token_id', '=', tokenId).execute(),
    )
    .catch(() => undefined);
}

/** The sources in both lists; null: all. */
function narrowed(person: readonly string[] | null, token: readonly string[] | null): readonly string[] | null {
  if (person === null || token === null) return person ?? token;
  return token.filter((slug) => person.includes(slug));
}

function tokenOf(row: {
  readonly token_id: string;
  readonly person_id: string;
  readonly label: string;
  readonly scope: TokenScope;
  readonly sources: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
}): ApiToken {
  return {
    tokenId: row.token_id,
    personId: row.person_id,
    label: row.label,
    scope: row.scope,
    sources: slugsOf(row.sources),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}

function hashOf({ keys }: Pick<PeopleDeps, 'keys'>, secret: string): Buffer {
  return hmacSha256(keys.instance.session, Buffer.from(`api token ${secret}`));
}
